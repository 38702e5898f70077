using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>How a tier of a broadcast travels.</summary>
    public enum Carry
    {
        /// <summary>
        /// In groups: each snapshot is coded against the one before, and takes the fewest bits. A
        /// viewer sees a lost packet as a delay.
        /// </summary>
        Groups = 0,

        /// <summary>
        /// In datagrams that are coded against the beginning of the group: a lost one costs one
        /// snapshot and no delay.
        /// </summary>
        Datagrams = 1,
    }

    /// <summary>A track of a tier.</summary>
    public enum TrackKind
    {
        /// <summary>Its snapshots.</summary>
        Snapshots = 0,

        /// <summary>Its key snapshots, which viewers need to join.</summary>
        Keys = 1,
    }

    /// <summary>A tier to make: one form of the world, whose viewers share its bytes.</summary>
    public sealed class Tier
    {
        /// <summary>Every snapshot in an object of its own.</summary>
        /// <param name="name">
        /// The name of its track: up to 64 lower-case letters, digits, "-", "." and "_".
        /// </param>
        /// <param name="codec">
        /// How its snapshots are coded. All tiers have the same schema; only the time precision of
        /// its fields may differ.
        /// </param>
        /// <param name="ticksPerGroup">
        /// The most ticks of a group, at most 127 in datagrams. A viewer joins at the beginning of
        /// one.
        /// </param>
        public Tier(string name, Codec codec, int ticksPerGroup)
        {
            Require.NotNull(name, nameof(name));
            Require.NotNull(codec, nameof(codec));
            Require.NotNegative(ticksPerGroup, nameof(ticksPerGroup));
            Name = name;
            Codec = codec;
            TicksPerGroup = ticksPerGroup;
        }

        /// <summary>The name of its track.</summary>
        public string Name { get; }

        /// <summary>How its snapshots are coded.</summary>
        public Codec Codec { get; }

        /// <summary>The most ticks of a group.</summary>
        public int TicksPerGroup { get; }

        /// <summary>How it travels. By default in groups.</summary>
        public Carry Carry { get; set; }

        /// <summary>Ticks from one snapshot to the next. The default is 1.</summary>
        public int TicksPerFrame { get; set; } = 1;

        /// <summary>
        /// How many snapshots travel together in an object, at most 16. The default is 1. Each
        /// object has about 50 bytes of headers, and its first snapshot waits for the last.
        /// </summary>
        public int FramesPerObject { get; set; } = 1;

        internal Native.KpTier ToNative()
        {
            Require.NotNegative(TicksPerFrame, nameof(TicksPerFrame));
            Require.NotNegative(FramesPerObject, nameof(FramesPerObject));
            return new Native.KpTier
            {
                codec = Codec.Id,
                carry = (int)Carry,
                ticks_per_frame = (uint)TicksPerFrame,
                ticks_per_group = (uint)TicksPerGroup,
                frames_per_object = (uint)FramesPerObject,
            };
        }
    }

    /// <summary>What a tier of a catalogue is.</summary>
    public sealed class TierInfo
    {
        internal TierInfo(string name, Native.KpTierInfo info)
        {
            Name = name;
            Carry = (Carry)info.carry;
            TicksPerFrame = (int)info.ticks_per_frame;
            TicksPerGroup = (int)info.ticks_per_group;
            FramesPerObject = (int)info.frames_per_object;
        }

        /// <summary>The name of its track.</summary>
        public string Name { get; }

        /// <summary>How it travels.</summary>
        public Carry Carry { get; }

        /// <summary>Ticks from one snapshot to the next.</summary>
        public int TicksPerFrame { get; }

        /// <summary>The most ticks of a group.</summary>
        public int TicksPerGroup { get; }

        /// <summary>How many snapshots travel together.</summary>
        public int FramesPerObject { get; }
    }

    /// <summary>What a transport carries as one track: groups of objects, and datagrams.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Track
    {
        private readonly uint tier;
        private readonly int kind;

        /// <summary>A track of a tier.</summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="kind">Which of its tracks.</param>
        public Track(int tier, TrackKind kind = TrackKind.Snapshots)
        {
            Require.NotNegative(tier, nameof(tier));
            this.tier = (uint)tier;
            this.kind = (int)kind;
        }

        /// <summary>The number of the tier.</summary>
        public int Tier => (int)tier;

        /// <summary>Which of its tracks.</summary>
        public TrackKind Kind => (TrackKind)kind;
    }

    /// <summary>What a transport carries: an object of a group, or a datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Piece
    {
        private readonly ulong group;
        private readonly ulong number;
        private readonly uint tier;
        private readonly int track;
        private readonly int isDatagram;
        private readonly uint tick;

        /// <summary>An object that a transport brought to a viewer.</summary>
        /// <param name="track">Its track.</param>
        /// <param name="group">The number of its group in the track.</param>
        /// <param name="number">Its number in the group.</param>
        public Piece(Track track, ulong group, ulong number)
            : this(track)
        {
            this.group = group;
            this.number = number;
            isDatagram = 0;
        }

        /// <summary>A datagram that a transport brought to a viewer.</summary>
        /// <param name="track">Its track.</param>
        public Piece(Track track)
        {
            group = 0;
            number = 0;
            tier = (uint)track.Tier;
            this.track = (int)track.Kind;
            isDatagram = 1;
            tick = 0;
        }

        /// <summary>Its track.</summary>
        public Track Track => new Track((int)tier, (TrackKind)track);

        /// <summary>The number of its group in the track.</summary>
        public ulong Group => group;

        /// <summary>
        /// The number of the object in its group. Object 0 begins the group, and ends the one before.
        /// </summary>
        public ulong Number => number;

        /// <summary>Whether it is a datagram, which has no number.</summary>
        public bool IsDatagram => isDatagram != 0;

        /// <summary>The tick of its last snapshot, if it comes from a publisher.</summary>
        public uint Tick => tick;
    }
}
