using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_new(
            ulong codec, int* longest_ticks, UIntPtr count, out ulong events);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_free(ulong events);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_to(
            ulong hub,
            uint kind,
            KpColumn* columns,
            UIntPtr column_count,
            ulong* receivers,
            UIntPtr receiver_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_seeing(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count, uint entity);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_take_events(ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_next_event(ulong receiver, out Event next);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_read_event(
            ulong receiver, uint kind, KpTarget* targets, UIntPtr target_count);
    }
}
