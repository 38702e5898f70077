using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        /// <summary>The numbers of a field in memory, to read from.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpColumn
        {
            internal byte* data;
            internal UIntPtr stride;
            internal Number number;
            internal int clamp;
        }

        /// <summary>The numbers of a field in memory, to write to. Null leaves it out.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTarget
        {
            internal byte* data;
            internal UIntPtr stride;
            internal Number number;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_new(ulong schema, out ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_clear(ulong snapshot, uint tick);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_add(
            ulong snapshot,
            uint kind,
            uint* ids,
            UIntPtr count,
            KpColumn* columns,
            UIntPtr column_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_tick(ulong snapshot, out uint tick);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_count(
            ulong snapshot, uint kind, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_ids(
            ulong snapshot, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_read(
            ulong snapshot, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_hash(ulong snapshot, out ulong hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_free(ulong snapshot);
    }
}
