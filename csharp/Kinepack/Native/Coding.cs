using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_new(
            ulong schema, byte[] level, byte* profile, UIntPtr profile_size, out ulong codec);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_profile_text(
            ulong codec, byte* text, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_free(ulong codec);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_empty(ulong schema, out ulong view);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_of(ulong snapshot, out ulong view);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_get(ulong view, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_tick(ulong view, out uint tick);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_check(ulong view, out ushort check);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_free(ulong view);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encoder_new(ulong codec, out ulong encoder);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encode(
            ulong encoder,
            ulong* views,
            UIntPtr view_count,
            ulong snapshot,
            byte* packet,
            UIntPtr capacity,
            out UIntPtr size,
            ulong* view);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encoder_free(ulong encoder);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decoder_new(ulong codec, out ulong decoder);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decode(
            ulong decoder,
            ulong* views,
            UIntPtr view_count,
            byte* packet,
            UIntPtr size,
            uint tick,
            out ulong view);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decoder_free(ulong decoder);
    }
}
