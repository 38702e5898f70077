using System;

namespace Kinepack
{
    /// <summary>
    /// Describes the contents of a broadcast: one world in several forms, which are its tiers.
    /// Immutable.
    /// </summary>
    public sealed class Catalogue : NativeObject
    {
        /// <summary>The name of the track that carries the catalogue's bytes.</summary>
        public const string TrackName = "catalogue";

        private readonly TierInfo[] tiers;

        /// <summary>
        /// Creates a catalogue of <paramref name="tiers"/>, which are numbered in this order.
        /// </summary>
        /// <param name="tickHz">The ticks per second of the simulation.</param>
        /// <param name="tiers">1 to 64 tiers.</param>
        /// <exception cref="KinepackException">
        /// The name or the numbers of a tier are invalid, or its schema differs from that of the
        /// others.
        /// </exception>
        public Catalogue(int tickHz, params Tier[] tiers)
            : this(New(tickHz, tiers))
        {
        }

        private Catalogue(ulong made)
        {
            Own(made);
            Check(Native.kp_catalogue_schema(Id, out ulong schema));
            Schema = new Schema(schema);
            Check(Native.kp_catalogue_info(Id, out uint tickHz, out uint count));
            TickHz = (int)tickHz;
            tiers = new TierInfo[count];
            for (uint tier = 0; tier < count; tier++)
            {
                Check(Native.kp_catalogue_tier(Id, tier, out Native.KpTierInfo info));
                tiers[tier] = new TierInfo(NameOf(new Track((int)tier)), info);
            }
        }

        /// <summary>The ticks per second of the simulation.</summary>
        public int TickHz { get; }

        /// <summary>
        /// The schema of the world. Dispose it yourself, or let its finalizer free it.
        /// </summary>
        public Schema Schema { get; }

        /// <summary>The number of tiers.</summary>
        public int Tiers => tiers.Length;

        /// <summary>
        /// Creates a catalogue with the tiers that suit most broadcasts: "full" has all snapshots,
        /// "third" one in three, "eighth" one in eight, and "fast" has all in datagrams. If the
        /// schema has bodies, the tier "coarse" has one in three, with less precision for moving
        /// bodies.
        /// </summary>
        /// <param name="tickHz">The ticks per second of the simulation.</param>
        /// <param name="codec">The codec of the snapshots.</param>
        public static Catalogue Standard(int tickHz, Codec codec)
        {
            Require.NotNegative(tickHz, nameof(tickHz));
            Require.NotNull(codec, nameof(codec));
            codec.Check(
                Native.kp_catalogue_standard((uint)tickHz, codec.Id, out ulong made));
            return new Catalogue(made);
        }

        /// <summary>
        /// Reads a catalogue from the object of the track <see cref="TrackName"/>.
        /// </summary>
        /// <param name="bytes">The bytes of the catalogue.</param>
        /// <exception cref="KinepackException">The bytes are not a catalogue.</exception>
        public static unsafe Catalogue FromBytes(byte[] bytes)
        {
            Library.RequireAbi();
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(
                    Native.kp_catalogue_from_bytes(first, size, out ulong made));
                return new Catalogue(made);
            }
        }

        /// <summary>
        /// Returns the catalogue's bytes, to publish as the object of the track <see
        /// cref="TrackName"/>.
        /// </summary>
        public unsafe byte[] ToBytes()
        {
            return ReadBytes((byte* bytes, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_catalogue_to_bytes(Id, bytes, capacity, out size));
        }

        /// <summary>Returns the properties of a tier.</summary>
        /// <param name="tier">The number of the tier, from 0.</param>
        public TierInfo Tier(int tier)
        {
            if (tier < 0 || tier >= tiers.Length)
            {
                throw new ArgumentOutOfRangeException(nameof(tier), tier, "There is no such tier.");
            }
            return tiers[tier];
        }

        /// <summary>Finds a tier by its name.</summary>
        /// <param name="name">The name.</param>
        /// <param name="tier">The number of the tier.</param>
        /// <returns>False if there is no such tier.</returns>
        public bool TryFind(string name, out int tier)
        {
            byte[] text = Interop.ToText(name, nameof(name));
            bool found = Succeeds(
                Native.kp_catalogue_find(Id, text, out uint number), Status.Nothing);
            tier = found ? (int)number : 0;
            return found;
        }

        /// <summary>Returns the name of a track for the transport.</summary>
        /// <param name="track">The track.</param>
        public unsafe string NameOf(Track track)
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
            {
                Track copy = track;
                return Native.kp_catalogue_track_name(Id, ref copy, text, capacity, out size);
            });
        }

        internal override Status Free(ulong freed) => Native.kp_catalogue_free(freed);

        private static unsafe ulong New(int tickHz, Tier[] tiers)
        {
            Library.RequireAbi();
            Require.NotNegative(tickHz, nameof(tickHz));
            Require.NotNull(tiers, nameof(tiers));
            Native.KpTier[] native = new Native.KpTier[tiers.Length];
            int[] begins = new int[tiers.Length];
            Texts names = new Texts();
            for (int nth = 0; nth < tiers.Length; nth++)
            {
                Require.NotNull(tiers[nth], nameof(tiers));
                begins[nth] = names.Add(tiers[nth].Name, nameof(tiers));
                native[nth] = tiers[nth].ToNative();
            }
            fixed (byte* texts = names.ToArray())
            fixed (Native.KpTier* first = native)
            {
                for (int nth = 0; nth < tiers.Length; nth++)
                {
                    first[nth].name = texts + begins[nth];
                }
                Status status = Native.kp_catalogue_new(
                    (uint)tickHz, first, (UIntPtr)tiers.Length, out ulong made);
                GC.KeepAlive(tiers);
                KinepackException.Check(status);
                return made;
            }
        }
    }
}
