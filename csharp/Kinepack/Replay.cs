using System;

namespace Kinepack
{
    public readonly partial struct ReplayInfo
    {
        /// <summary>The number of ticks per second.</summary>
        public double RateHz => rate_hz;

        /// <summary>The first tick.</summary>
        public uint FirstTick => first_tick;

        /// <summary>The last tick.</summary>
        public uint LastTick => last_tick;

        /// <summary>The number of markers.</summary>
        public int Markers => (int)markers;

        /// <summary>
        /// Whether the writer finished the file. If not, the file is still being written, or its
        /// writer was killed.
        /// </summary>
        public bool IsComplete => is_complete != 0;
    }

    /// <summary>A replay to read.</summary>
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
            status = Native.kp_replay_shown(Id, out ulong shown);
            Shows(status, shown, Schema.Table, EventSchema?.Table);
        }

        /// <summary>
        /// The schema of the replay's snapshots. Dispose it yourself, or let its finalizer free it.
        /// </summary>
        public Schema Schema { get; }

        /// <summary>The schema of the replay's events, or null if it has no events.</summary>
        public Schema EventSchema { get; }

        /// <summary>The ticks, the rate and the markers of the replay.</summary>
        /// <exception cref="KinepackException">The replay has no snapshot.</exception>
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

        /// <summary>Reads a replay from a copy of its bytes.</summary>
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

        /// <summary>Returns the name of a marker, and its tick.</summary>
        /// <param name="nth">The index of the marker, from 0.</param>
        /// <param name="tick">The tick of the marker.</param>
        public unsafe string Marker(int nth, out uint tick)
        {
            uint found = 0;
            string name = ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_replay_marker(Id, (uint)nth, out found, text, capacity, out size));
            tick = found;
            return name;
        }

        /// <summary>
        /// Returns the value that the writer stored under a key, or null if there is none.
        /// </summary>
        /// <param name="key">The key.</param>
        public unsafe string Value(string key)
        {
            byte[] name = Interop.ToText(key, nameof(key));
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_replay_value(Id, name, text, capacity, out size));
        }

        /// <summary>Copies the snapshot of a tick, or the last snapshot before that tick.</summary>
        /// <param name="tick">The tick.</param>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False if there is no such snapshot.</returns>
        public bool TryGet(uint tick, Snapshot snapshot)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Status status = Native.kp_replay_get(Id, tick, snapshot.Id);
            GC.KeepAlive(snapshot);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>
        /// Computes the state to show at a moment. The methods of <see cref="Shown"/> read this
        /// state. Moments may be in any order. Events are due only if a moment is at most 5 seconds
        /// after the previous one.
        /// </summary>
        /// <param name="tick">The fractional tick.</param>
        /// <param name="playback">The shown moment.</param>
        /// <returns>False if the replay has no snapshot.</returns>
        public bool TryPlay(double tick, out Playback playback)
        {
            return Succeeds(Native.kp_replay_play(Id, tick, out playback), Status.Nothing);
        }

        /// <summary>Jumps to a tick. The next moment shows no events before that tick.</summary>
        /// <param name="tick">The fractional tick.</param>
        public void Seek(double tick)
        {
            Check(Native.kp_replay_seek(Id, tick));
        }

        internal override Status Free(ulong freed) => Native.kp_replay_free(freed);
    }
}
