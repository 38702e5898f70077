using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_new(
            byte[] path, ulong codec, ulong events, double rate_hz, out ulong writer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_write(ulong writer, ulong world);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_emit(
            ulong writer, uint kind, KpColumn* columns, UIntPtr column_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_mark(ulong writer, uint tick, byte[] name);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_note(
            ulong writer, byte[] key, byte[] value);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_finish(
            ulong writer, out ReplaySummary summary);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_free(ulong writer);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_new(
            ulong codec, ulong events, double rate_hz, double seconds, out ulong kill_cam);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_write(ulong kill_cam, ulong world);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_emit(
            ulong kill_cam, uint kind, KpColumn* columns, UIntPtr column_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_cut(
            ulong kill_cam, uint from_tick, uint to_tick, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_take(
            ulong kill_cam, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_free(ulong kill_cam);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_open(byte[] path, out ulong replay);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_from_bytes(
            byte* bytes, UIntPtr size, out ulong replay);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_info(ulong replay, out ReplayInfo info);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_schema(ulong replay, out ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_event_schema(ulong replay, out ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_marker(
            ulong replay, uint nth, out uint tick, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_value(
            ulong replay, byte[] key, byte* value, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_get(ulong replay, uint tick, ulong snapshot);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_play(
            ulong replay, double tick, out Playback playback);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_seek(ulong replay, double tick);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_ids(
            ulong replay, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_read(
            ulong replay, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_next_event(ulong replay, out Event next);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_read_event(
            ulong replay, uint kind, KpTarget* targets, UIntPtr target_count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_free(ulong replay);
    }
}
