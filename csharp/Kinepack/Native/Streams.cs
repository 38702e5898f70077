using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpStreamOptions
        {
            internal uint longest_round_trip_ms;
            internal int repeats;
            internal uint burst_records;
            internal uint channel;
            internal uint datagram_bytes;
            internal ushort first_number;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_new(
            ulong schema,
            byte[] level,
            uint rate_hz,
            ref KpStreamOptions options,
            out ulong sender);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_push(
            ulong sender, KpColumn* columns, UIntPtr column_count, out ushort number);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_poll(
            ulong sender, byte* datagram, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_handle(
            ulong sender, byte* datagram, UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_free(ulong sender);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_new(
            ulong schema,
            byte[] level,
            uint rate_hz,
            ref KpStreamOptions options,
            out ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_read(
            ulong receiver,
            Record* records,
            UIntPtr capacity,
            KpTarget* targets,
            UIntPtr target_count,
            out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_acknowledgement(
            ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_free(ulong receiver);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_new(
            ulong schema, byte[] level, out ulong codec);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_hash(ulong codec, out ulong hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_free(ulong codec);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_new(ulong codec, out ulong made);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_free(ulong freed);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_encode(
            ulong codec,
            ulong before,
            ushort lag,
            KpColumn* columns,
            UIntPtr column_count,
            UIntPtr record_count,
            byte* packet,
            UIntPtr capacity,
            out UIntPtr size,
            ulong* last);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_decode(
            ulong codec,
            ulong before,
            ushort lag,
            byte* packet,
            UIntPtr size,
            UIntPtr record_count,
            KpTarget* targets,
            UIntPtr target_count,
            out ulong last);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_split_datagram(
            byte* datagram, UIntPtr size, Part* parts, UIntPtr capacity, out UIntPtr count);
    }
}
