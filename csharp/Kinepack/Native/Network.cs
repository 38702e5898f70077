using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_new(
            ulong codec, uint datagram_bytes, out ulong hub);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_add(
            ulong hub, ulong receiver, uint budget_bytes_per_s, ulong now_ns);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_remove(ulong hub, ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_handle(
            ulong hub, ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_tick(ulong hub, ulong now_ns, ulong world);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_poll(
            ulong hub, out ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_free(ulong hub);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_new(
            ulong codec, uint tick_hz, out ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_poll(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_play(
            ulong receiver, ulong now_ns, out Playback playback);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_ids(
            ulong receiver, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_read(
            ulong receiver, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_newest(ulong receiver, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_free(ulong receiver);
    }
}
