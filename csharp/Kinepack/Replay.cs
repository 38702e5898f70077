using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>What a replay is.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct ReplayInfo
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly double rateHz;
        private readonly uint firstTick;
        private readonly uint lastTick;
        private readonly uint markers;
        private readonly int isComplete;
#pragma warning restore 0649

        /// <summary>Ticks in a second.</summary>
        public double RateHz => rateHz;

        /// <summary>The first tick.</summary>
        public uint FirstTick => firstTick;

        /// <summary>The last tick.</summary>
        public uint LastTick => lastTick;

        /// <summary>The number of markers.</summary>
        public int Markers => (int)markers;

        /// <summary>
        /// Whether its writer ended it. Otherwise it is still written, or its writer was killed.
        /// </summary>
        public bool IsComplete => isComplete != 0;
    }

    /// <summary>A replay file that is read.</summary>
    public sealed class Replay : Shown
    {
        private Replay(ulong made)
        {
            Own(made);
            Check(Native.kp_replay_schema(Id, out ulong schema));
            Schema = new Schema(schema);
            Status status = Native.kp_replay_event_schema(Id, out ulong events);
            if (Succeeds(status, Status.Nothing))
            {
                EventSchema = new Schema(events);
            }
            Shows(Schema.Table, EventSchema?.Table);
        }

        /// <summary>
        /// The schema of its snapshots. Dispose it yourself, or leave it to its finalizer.
        /// </summary>
        public Schema Schema { get; }

        /// <summary>The schema of its events, or null if it has none.</summary>
        public Schema EventSchema { get; }

        /// <summary>Its ticks, rate and markers.</summary>
        /// <exception cref="KinepackException">It has no snapshot.</exception>
        public ReplayInfo Info
        {
            get
            {
                Check(Native.kp_replay_info(Id, out ReplayInfo info));
                return info;
            }
        }

        /// <summary>Opens a replay file, and keeps it open.</summary>
        /// <param name="path">The path of the file.</param>
        /// <exception cref="KinepackException">
        /// The file cannot be read (<see cref="Status.File"/>), or is not a replay.
        /// </exception>
        public static Replay Open(string path)
        {
            Library.RequireAbi();
            byte[] text = Interop.ToText(path, nameof(path));
            KinepackException.Check(Native.kp_replay_open(text, out ulong made));
            return new Replay(made);
        }

        /// <summary>Reads a replay from a copy of these bytes.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not a replay.</exception>
        public static unsafe Replay FromBytes(byte[] bytes)
        {
            Library.RequireAbi();
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(Native.kp_replay_from_bytes(first, size, out ulong made));
                return new Replay(made);
            }
        }

        /// <summary>The name of a marker, and its tick.</summary>
        /// <param name="nth">The index of the marker, from 0.</param>
        /// <param name="tick">Its tick.</param>
        public unsafe string Marker(int nth, out uint tick)
        {
            uint found = 0;
            string name = ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_replay_marker(Id, (uint)nth, out found, text, capacity, out size));
            tick = found;
            return name;
        }

        /// <summary>What the writer stored under a key, or null.</summary>
        /// <param name="key">The key.</param>
        public unsafe string Value(string key)
        {
            byte[] name = Interop.ToText(key, nameof(key));
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_replay_value(Id, name, text, capacity, out size));
        }

        /// <summary>Copies the snapshot of a tick, or the one before it.</summary>
        /// <param name="tick">The tick.</param>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False if there is none.</returns>
        public bool TryGet(uint tick, Snapshot snapshot)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Status status = Native.kp_replay_get(Id, tick, snapshot.Id);
            GC.KeepAlive(snapshot);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>
        /// Computes what to show at a moment, for the methods of <see cref="Shown"/>. Moments may
        /// come in any order. Events are due if a moment follows the one before by at most 5
        /// seconds.
        /// </summary>
        /// <param name="tick">The tick, with its fraction.</param>
        /// <param name="playback">What is shown.</param>
        /// <returns>False if the replay has no snapshot.</returns>
        public bool TryPlay(double tick, out Playback playback)
        {
            return Succeeds(Native.kp_replay_play(Id, tick, out playback), Status.Nothing);
        }

        /// <summary>Jumps: the next moment shows no events before this tick.</summary>
        /// <param name="tick">The tick, with its fraction.</param>
        public void Seek(double tick)
        {
            Check(Native.kp_replay_seek(Id, tick));
        }

        internal override Status Free(ulong freed) => Native.kp_replay_free(freed);

        internal override unsafe Status Ids(
            uint kind, uint* ids, UIntPtr capacity, out UIntPtr count)
        {
            return Native.kp_replay_ids(Id, kind, ids, capacity, out count);
        }

        internal override unsafe Status Rows(
            uint kind, UIntPtr capacity, Native.KpTarget* targets, UIntPtr targetCount)
        {
            return Native.kp_replay_read(Id, kind, capacity, targets, targetCount);
        }

        internal override Status NextEvent(out Event next)
        {
            return Native.kp_replay_next_event(Id, out next);
        }

        internal override unsafe Status EventNumbers(
            uint kind, Native.KpTarget* targets, UIntPtr targetCount)
        {
            return Native.kp_replay_read_event(Id, kind, targets, targetCount);
        }
    }
}
