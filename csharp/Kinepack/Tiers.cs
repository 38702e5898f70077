using System;

namespace Kinepack
{
    /// <summary>
    /// A tier to create. A tier is one form of the world, and all its viewers share its bytes.
    /// </summary>
    public sealed class Tier
    {
        /// <summary>Creates a tier with an object for each snapshot.</summary>
        /// <param name="name">
        /// The name of the tier's track: up to 64 lower-case letters, digits, "-", "." and "_".
        /// </param>
        /// <param name="codec">
        /// The codec of the tier's snapshots. All tiers have the same schema. Only the time
        /// precision of the fields may differ.
        /// </param>
        /// <param name="ticksPerGroup">
        /// The maximum number of ticks in a group, at most 127 in datagrams. Viewers can join at
        /// the beginning of a group.
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

        /// <summary>The name of the tier's track.</summary>
        public string Name { get; }

        /// <summary>The codec of the tier's snapshots.</summary>
        public Codec Codec { get; }

        /// <summary>The maximum number of ticks in a group.</summary>
        public int TicksPerGroup { get; }

        /// <summary>How the tier is transported. The default is in groups.</summary>
        public Carry Carry { get; set; }

        /// <summary>The number of ticks from one snapshot to the next. The default is 1.</summary>
        public int TicksPerFrame { get; set; } = 1;

        /// <summary>
        /// The number of snapshots that share an object, at most 16. The default is 1. Each object
        /// has about 50 bytes of headers. Its first snapshot is delayed until the last one is
        /// added.
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

    /// <summary>The properties of a tier.</summary>
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

        /// <summary>The name of the tier's track.</summary>
        public string Name { get; }

        /// <summary>How the tier is transported.</summary>
        public Carry Carry { get; }

        /// <summary>The number of ticks from one snapshot to the next.</summary>
        public int TicksPerFrame { get; }

        /// <summary>The maximum number of ticks in a group.</summary>
        public int TicksPerGroup { get; }

        /// <summary>The number of snapshots that share an object.</summary>
        public int FramesPerObject { get; }
    }

    public readonly partial struct Track : IEquatable<Track>
    {
        /// <summary>Identifies a track of a tier.</summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="kind">The type of the track.</param>
        public Track(int tier, TrackKind kind = TrackKind.Snapshots)
        {
            Require.NotNegative(tier, nameof(tier));
            this.tier = (uint)tier;
            this.kind = (int)kind;
        }

        /// <summary>The number of the tier.</summary>
        public int Tier => (int)tier;

        /// <summary>The type of the track.</summary>
        public TrackKind Kind => (TrackKind)kind;

        /// <summary>Whether both are the same track.</summary>
        /// <param name="other">The other track.</param>
        public bool Equals(Track other) => tier == other.tier && kind == other.kind;

        /// <summary>Whether both are the same track.</summary>
        /// <param name="other">The other object.</param>
        public override bool Equals(object other) => other is Track && Equals((Track)other);

        /// <summary>A hash of the track.</summary>
        public override int GetHashCode() => (int)((2 * tier) + (uint)kind);
    }

    public readonly partial struct Piece
    {
        /// <summary>Describes an object that a transport brought to a viewer.</summary>
        /// <param name="track">The track of the object.</param>
        /// <param name="group">The number of the object's group in the track.</param>
        /// <param name="number">The number of the object in the group.</param>
        public Piece(Track track, ulong group, ulong number)
            : this(track)
        {
            this.group = group;
            @object = number;
            is_datagram = 0;
        }

        /// <summary>Describes a datagram that a transport brought to a viewer.</summary>
        /// <param name="track">The track of the datagram.</param>
        public Piece(Track track)
        {
            group = 0;
            @object = 0;
            tier = (uint)track.Tier;
            this.track = (int)track.Kind;
            is_datagram = 1;
            tick = 0;
        }

        /// <summary>The track of the piece.</summary>
        public Track Track => new Track((int)tier, (TrackKind)track);

        /// <summary>The number of the piece's group in the track.</summary>
        public ulong Group => group;

        /// <summary>
        /// The number of the object in its group. Object 0 begins a group, and ends the previous
        /// group.
        /// </summary>
        public ulong Number => @object;

        /// <summary>Whether the piece is a datagram, which has no number.</summary>
        public bool IsDatagram => is_datagram != 0;

        /// <summary>The tick of the piece's last snapshot. Only a publisher sets it.</summary>
        public uint Tick => tick;
    }
}
