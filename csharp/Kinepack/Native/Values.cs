using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_values_write(
            Value* values, UIntPtr count, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_values_read(
            Value* values, UIntPtr count, byte* bytes, UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_magnitudes_write(
            Magnitude* vectors,
            UIntPtr count,
            byte* bytes,
            UIntPtr capacity,
            out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_magnitudes_read(
            Magnitude* vectors, UIntPtr count, byte* bytes, UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_sparse_encode(
            byte* before,
            UIntPtr before_size,
            byte* bytes,
            UIntPtr byte_count,
            byte* sparse,
            UIntPtr capacity,
            out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_sparse_decode(
            byte* before,
            UIntPtr before_size,
            byte* sparse,
            UIntPtr sparse_size,
            byte* bytes,
            UIntPtr byte_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_runs_encode(
            byte* before,
            UIntPtr before_size,
            byte* bytes,
            UIntPtr byte_count,
            byte* runs,
            UIntPtr capacity,
            out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_runs_decode(
            byte* before,
            UIntPtr before_size,
            byte* runs,
            UIntPtr run_bytes,
            byte* bytes,
            UIntPtr capacity,
            out UIntPtr size);
    }
}
