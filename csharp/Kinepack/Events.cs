using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// Kinds of events, which a hub sends in front of snapshots. Both sides need the same. It does
    /// not change.
    /// </summary>
    public sealed class Events : NativeObject
    {
        /// <summary>The kinds of the codec's schema.</summary>
        /// <param name="codec">A codec for the schema of the events.</param>
        /// <param name="longestTicks">
        /// For each kind, how many ticks an event may wait before it is dropped. A negative number
        /// means that it must arrive. Null or empty: all must arrive.
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

        /// <summary>The fields of each kind.</summary>
        internal Field[][] Table { get; }

        internal override Status Free(ulong freed) => Native.kp_events_free(freed);
    }

    /// <summary>An event that is due.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Event
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly uint tick;
        private readonly uint kind;
        private readonly int isLate;
#pragma warning restore 0649

        /// <summary>The tick at which it happened.</summary>
        public uint Tick => tick;

        /// <summary>The index of its kind in the schema of the events.</summary>
        public int Kind => (int)kind;

        /// <summary>Whether an earlier moment already showed its tick.</summary>
        public bool IsLate => isLate != 0;
    }
}
