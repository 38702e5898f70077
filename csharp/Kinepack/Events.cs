using System;

namespace Kinepack
{
    /// <summary>
    /// Kinds of events, such as hits and sounds, which a hub sends in front of snapshots. Both
    /// sides need the same kinds. Immutable.
    /// </summary>
    public sealed class Events : NativeObject
    {
        /// <summary>Creates kinds of events from the schema of a codec.</summary>
        /// <param name="codec">A codec for the schema of the events.</param>
        /// <param name="longestTicks">
        /// For each kind, how many ticks an event may wait before it is dropped. A negative number
        /// marks a kind whose events must arrive. If null or empty, the events of all kinds must
        /// arrive.
        /// </param>
        public unsafe Events(Codec codec, int[] longestTicks = null)
        {
            Require.NotNull(codec, nameof(codec));
            fixed (int* first = longestTicks)
            {
                UIntPtr count = (UIntPtr)(longestTicks == null ? 0 : longestTicks.Length);
                codec.Check(Native.kp_events_new(codec.Id, first, count, out ulong made));
                Own(made);
            }
            Table = codec.Table;
        }

        /// <summary>The fields of each kind of event.</summary>
        internal Field[][] Table { get; }

        internal override Status Free(ulong freed) => Native.kp_events_free(freed);
    }

    public readonly partial struct Event
    {
        /// <summary>The tick at which the event happened.</summary>
        public uint Tick => tick;

        /// <summary>The index of the event's kind among the kinds of the events' schema.</summary>
        public int Kind => (int)kind;

        /// <summary>Whether an earlier moment had already shown the event's tick.</summary>
        public bool IsLate => is_late != 0;
    }
}
