using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_new(ulong codec, out ulong writer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_begin(ulong writer, ulong given);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_write(ulong writer, ulong world);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_take(
            ulong writer, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_free(ulong writer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_new(ulong codec, out ulong reader);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_begin(ulong reader, ulong given);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_read(
            ulong reader, byte* bytes, UIntPtr size, ulong snapshot, out UIntPtr used);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_free(ulong reader);
    }
}
