using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpHubOptions
        {
            internal uint datagram_bytes;
            internal uint channel;
            internal uint overhead_bytes;
            internal uint datagrams_per_tick;
            internal ulong events;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct KpReceiverOptions
        {
            internal uint channel;
            internal uint min_delay_ms;
            internal uint max_delay_ms;
            internal ulong max_memory_bytes;
            internal ulong events;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_new(
            ulong codec, ref KpHubOptions options, out ulong hub);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_kind(
            ulong hub, byte[] name, uint every, float weight);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_relevant(
            ulong hub, ulong receiver, uint* ids, UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_all_relevant(ulong hub, ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_weights(
            ulong hub, ulong receiver, uint* ids, float* weights, UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_status(
            ulong hub, ulong receiver, out HubStatus status);

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
            ulong codec, uint tick_hz, ref KpReceiverOptions options, out ulong receiver);

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
        internal static extern Status kp_receiver_added(
            ulong receiver, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_removed(
            ulong receiver, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_status(
            ulong receiver, ulong now_ns, out ReceiverStatus status);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_newest(ulong receiver, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_inject_fault(
            ulong receiver, uint entity, uint lane);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_free(ulong receiver);
    }
}
