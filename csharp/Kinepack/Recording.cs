using System;

namespace Kinepack
{
    /// <summary>Records the snapshots and events of a world.</summary>
    public abstract class Recording : NativeObject
    {
        private Field[][] eventTable;

        internal Recording()
        {
        }

        /// <summary>Adds a snapshot.</summary>
        /// <param name="world">
        /// The world. Its tick must be above the tick of the previous world.
        /// </param>
        public void Write(Snapshot world)
        {
            Require.NotNull(world, nameof(world));
            Check(Add(world.Id));
            GC.KeepAlive(world);
        }

        /// <summary>Adds an event to the snapshot that is written next.</summary>
        /// <param name="columns">Memory with one event, for each field of the event's kind.</param>
        public unsafe void Emit(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            if (eventTable == null)
            {
                throw new InvalidOperationException("The recording has no events.");
            }
            using (columns.PinToRead(eventTable, 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                Check(AddEvent((uint)columns.Kind, from, (UIntPtr)columns.ToRead.Length));
            }
        }

        /// <summary>
        /// Takes ownership of the first handle, and stores the kinds of events, in a constructor.
        /// </summary>
        internal void Own(ulong made, Events events)
        {
            Own(made);
            GC.KeepAlive(events);
            eventTable = events?.Table;
        }

        internal abstract Status Add(ulong world);

        internal abstract unsafe Status AddEvent(
            uint kind, Native.KpColumn* columns, UIntPtr columnCount);
    }

    public readonly partial struct ReplaySummary
    {
        /// <summary>The number of snapshots.</summary>
        public ulong Frames => frames;

        /// <summary>The number of groups, each a second long.</summary>
        public ulong Groups => groups;

        /// <summary>The size of the file in bytes.</summary>
        public ulong Bytes => bytes;
    }

    /// <summary>
    /// Writes a replay file. If the process is killed, the file lacks at most the last second.
    /// </summary>
    public sealed class ReplayWriter : Recording
    {
        /// <summary>Begins a replay file, and replaces an existing one.</summary>
        /// <param name="path">The path of the file.</param>
        /// <param name="codec">The codec of the snapshots.</param>
        /// <param name="rateHz">The ticks per second of the world.</param>
        /// <param name="events">The kinds of events, or null for no events.</param>
        public ReplayWriter(string path, Codec codec, double rateHz, Events events = null)
        {
            byte[] text = Interop.ToText(path, nameof(path));
            Require.NotNull(codec, nameof(codec));
            ulong kinds = events == null ? 0 : events.Id;
            codec.Check(
                Native.kp_replay_writer_new(text, codec.Id, kinds, rateHz, out ulong made));
            Own(made, events);
        }

        /// <summary>Gives a name to a tick.</summary>
        /// <param name="tick">The tick.</param>
        /// <param name="name">The name for the tick.</param>
        public void Mark(uint tick, string name)
        {
            byte[] text = Interop.ToText(name, nameof(name));
            Check(Native.kp_replay_writer_mark(Id, tick, text));
        }

        /// <summary>Stores a value under a key of your choice.</summary>
        /// <param name="key">The key.</param>
        /// <param name="value">The value.</param>
        public void Note(string key, string value)
        {
            byte[] name = Interop.ToText(key, nameof(key));
            byte[] text = Interop.ToText(value, nameof(value));
            Check(Native.kp_replay_writer_note(Id, name, text));
        }

        /// <summary>
        /// Ends the file. A file that was not finished lacks its last second and its index, but can
        /// still be read.
        /// </summary>
        public unsafe ReplaySummary Finish()
        {
            ReplaySummary summary;
            Check(Native.kp_replay_writer_finish(Id, &summary));
            return summary;
        }

        internal override Status Free(ulong freed) => Native.kp_replay_writer_free(freed);

        internal override Status Add(ulong world) => Native.kp_replay_writer_write(Id, world);

        internal override unsafe Status AddEvent(
            uint kind, Native.KpColumn* columns, UIntPtr columnCount)
        {
            return Native.kp_replay_writer_emit(Id, kind, columns, columnCount);
        }
    }

    /// <summary>Keeps the last seconds of a world in memory.</summary>
    public sealed class KillCam : Recording
    {
        // The native library keeps only the part that was cut last.
        private readonly object cutLock = new object();

        /// <summary>Creates a kill cam without snapshots.</summary>
        /// <param name="codec">The codec of the snapshots.</param>
        /// <param name="rateHz">The ticks per second of the world.</param>
        /// <param name="seconds">The number of seconds to keep.</param>
        /// <param name="events">The kinds of events, or null for no events.</param>
        public KillCam(Codec codec, double rateHz, double seconds, Events events = null)
        {
            Require.NotNull(codec, nameof(codec));
            ulong kinds = events == null ? 0 : events.Id;
            codec.Check(
                Native.kp_kill_cam_new(codec.Id, kinds, rateHz, seconds, out ulong made));
            Own(made, events);
        }

        /// <summary>
        /// Cuts a part of the recording, and returns it as the bytes of a replay file.
        /// </summary>
        /// <param name="fromTick">The first tick of the part.</param>
        /// <param name="toTick">The last tick of the part.</param>
        /// <exception cref="KinepackException">
        /// There is no snapshot between these ticks.
        /// </exception>
        public unsafe byte[] Cut(uint fromTick, uint toTick)
        {
            lock (cutLock)
            {
                Check(Native.kp_kill_cam_cut(Id, fromTick, toTick, out UIntPtr size));
                byte[] bytes = new byte[Interop.ToSize(size)];
                fixed (byte* first = bytes)
                {
                    Check(Native.kp_kill_cam_take(Id, first, size, out size));
                }
                return bytes;
            }
        }

        internal override Status Free(ulong freed) => Native.kp_kill_cam_free(freed);

        internal override Status Add(ulong world) => Native.kp_kill_cam_write(Id, world);

        internal override unsafe Status AddEvent(
            uint kind, Native.KpColumn* columns, UIntPtr columnCount)
        {
            return Native.kp_kill_cam_emit(Id, kind, columns, columnCount);
        }
    }
}
