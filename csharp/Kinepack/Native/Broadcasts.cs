using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTier
        {
            internal byte* name;
            internal ulong codec;
            internal int carry;
            internal uint ticks_per_frame;
            internal uint ticks_per_group;
            internal uint frames_per_object;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTierInfo
        {
            internal int carry;
            internal uint ticks_per_frame;
            internal uint ticks_per_group;
            internal uint frames_per_object;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPublisherOptions
        {
            internal ulong first_group;
            internal uint delay_ticks;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct KpViewerOptions
        {
            internal uint min_delay_ms;
            internal uint max_delay_ms;
            internal uint history_ms;
            internal ulong max_memory_bytes;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTaken
        {
            internal int is_read;
            internal uint tick;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_new(
            uint tick_hz, KpTier* tiers, UIntPtr count, out ulong catalogue);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_standard(
            uint tick_hz, ulong codec, out ulong catalogue);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_from_bytes(
            byte* bytes, UIntPtr size, out ulong catalogue);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_to_bytes(
            ulong catalogue, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_info(
            ulong catalogue, out uint tick_hz, out uint tiers);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_schema(ulong catalogue, out ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_tier(
            ulong catalogue, uint tier, out KpTierInfo info);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_find(
            ulong catalogue, byte[] name, out uint tier);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_track_name(
            ulong catalogue, Track* track, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_free(ulong catalogue);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_new(
            ulong catalogue, ref KpPublisherOptions options, out ulong publisher);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_entities(
            ulong publisher, uint tier, uint* ids, UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_all_entities(ulong publisher, uint tier);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_publish(ulong publisher, ulong world);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_poll(
            ulong publisher, out Piece piece, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_last(
            ulong publisher, uint tier, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_free(ulong publisher);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_new(
            ulong catalogue, ref KpViewerOptions options, out ulong viewer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_watch(ulong viewer, uint* tiers, UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_wanted(
            ulong viewer, Track* tracks, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_shown_tiers(
            ulong viewer, uint* tiers, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_take(
            ulong viewer, ulong now_ns, Piece* piece, byte* bytes, UIntPtr size, out KpTaken taken);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_rejoin(ulong viewer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_set_delays(
            ulong viewer, uint min_delay_ms, uint max_delay_ms);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_play(
            ulong viewer, ulong now_ns, out Playback playback);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_history(
            ulong viewer, out uint first, out uint last);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_play_at(
            ulong viewer, double tick, out Playback playback);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_ids(
            ulong viewer, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_added(
            ulong viewer, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_removed(
            ulong viewer, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_read(
            ulong viewer, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_newest(ulong viewer, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_status(ulong viewer, out ViewerStatus status);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_free(ulong viewer);
    }
}
