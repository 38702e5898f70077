using System;
using System.Collections.Generic;

namespace Kinepack
{
    /// <summary>
    /// A ring around a viewpoint: the entities that are within a distance of it, and not in a
    /// nearer ring.
    /// </summary>
    public readonly struct Ring
    {
        /// <summary>Describes a ring.</summary>
        /// <param name="within">
        /// An entity that comes closer than this belongs to the ring, in the unit of the position.
        /// </param>
        /// <param name="leave">
        /// An entity of the ring leaves it when it is farther than this, which is at least
        /// <paramref name="within"/>. The difference keeps an entity at the edge from changing its
        /// ring in every tick.
        /// </param>
        /// <param name="tier">
        /// The tier in which the ring's entities are sent: the index of one of the worlds of a
        /// tick, from 0 to 254. If there are fewer worlds, the last one counts.
        /// </param>
        /// <param name="every">
        /// The ring's entities are sent in every n-th tick, from 1 to 255. Each entity has its own
        /// turn, so about as many are sent in each tick. Until its next turn, an entity keeps its
        /// values, and playback blends from one turn to the next, with a delay that is longer by as
        /// many ticks.
        /// </param>
        /// <param name="coarser">
        /// By how many bits the fields that may be coarser are coarser in this ring, from 0 to 31,
        /// or by as many as they allow. Such fields take fewer bits while their entity moves.
        /// </param>
        public Ring(double within, double leave, int tier, int every = 1, int coarser = 0)
        {
            Require.NotNegative(tier, nameof(tier));
            Require.NotNegative(every - 1L, nameof(every));
            Require.NotNegative(coarser, nameof(coarser));
            Within = within;
            Leave = leave;
            Tier = tier;
            Every = every;
            Coarser = coarser;
        }

        /// <summary>The distance at which an entity enters the ring.</summary>
        public double Within { get; }

        /// <summary>The distance at which an entity leaves the ring.</summary>
        public double Leave { get; }

        /// <summary>The tier in which the ring's entities are sent.</summary>
        public int Tier { get; }

        /// <summary>The number of ticks from one turn of an entity to the next.</summary>
        public int Every { get; }

        /// <summary>By how many bits the ring's entities are coarser while they move.</summary>
        public int Coarser { get; }
    }

    /// <summary>
    /// What receivers see by distance from their viewpoints. A tier is a world in another
    /// precision. Each receiver gets each entity from the world that the entity's ring names.
    /// </summary>
    public sealed class Rings
    {
        /// <summary>
        /// The names of the fields that hold positions, each after its kind's name if the kind has
        /// one: <c>ship.position</c>. A position is a field of two or three real numbers that do
        /// not wrap. An entity that has no such field is always seen, in tier 0. Positions are
        /// those of the first world.
        /// </summary>
        public List<string> Positions { get; } = new List<string>();

        /// <summary>
        /// The names of fields whose changes do not wait for the entity's turn, such as
        /// <c>ship.health</c>. An entity that is new, or moves farther than <see cref="Cell"/> in a
        /// tick, does not wait either.
        /// </summary>
        public List<string> Urgent { get; } = new List<string>();

        /// <summary>The rings, from the smallest to the largest, at most 254.</summary>
        public List<Ring> Items { get; } = new List<Ring>();

        /// <summary>
        /// The edge length of the cells into which space is divided, in the unit of the position.
        /// Distances are measured from the nearest point of the viewpoint's cell, so receivers in
        /// the same cell see the same and share their snapshots.
        /// </summary>
        public double Cell { get; set; }

        /// <summary>
        /// The tier of the entities beyond all rings, which are sent in every tick. Null, the
        /// default, hides them.
        /// </summary>
        public int? Beyond { get; set; }

        /// <summary>
        /// After how many ticks without a change of its coarser fields an entity is sent exactly,
        /// in rings that are coarser. Null, the default: never. An entity that has never moved is
        /// exact.
        /// </summary>
        public int? ExactAfter { get; set; }

        internal unsafe Status Set(ulong hub)
        {
            Require.NotNegative(Beyond ?? 0, nameof(Beyond));
            Require.NotNegative((ExactAfter ?? 1) - 1L, nameof(ExactAfter));
            Texts names = new Texts();
            List<int> begins = Positions.ConvertAll(name => names.Add(name, nameof(Positions)));
            begins.AddRange(Urgent.ConvertAll(name => names.Add(name, nameof(Urgent))));
            Native.KpRing[] rings = Array.ConvertAll(
                Items.ToArray(),
                ring => new Native.KpRing
                {
                    within = ring.Within,
                    leave = ring.Leave,
                    every = (uint)ring.Every,
                    tier = (uint)ring.Tier,
                    coarser = (uint)ring.Coarser,
                });
            fixed (byte* texts = names.ToArray())
            fixed (Native.KpRing* firstRing = rings)
            {
                byte** fields = stackalloc byte*[begins.Count];
                for (int nth = 0; nth < begins.Count; nth++)
                {
                    fields[nth] = texts + begins[nth];
                }
                Native.KpRings native = new Native.KpRings
                {
                    positions = fields,
                    position_count = (UIntPtr)Positions.Count,
                    urgent = fields + Positions.Count,
                    urgent_count = (UIntPtr)Urgent.Count,
                    rings = firstRing,
                    ring_count = (UIntPtr)rings.Length,
                    cell = Cell,
                    beyond = Beyond ?? -1,
                    exact_after = (uint)(ExactAfter ?? 0),
                };
                return Native.kp_hub_set_rings(hub, &native);
            }
        }
    }

    /// <content>What receivers see by distance, and ticks of several worlds.</content>
    public sealed partial class Hub
    {
        private const int MostWorlds = 255;

        /// <summary>
        /// Sets what receivers with a viewpoint see by distance: how often and how precisely far
        /// entities are sent, and which entities are not sent at all. Of the entities that are
        /// relevant, a receiver sees those in its rings, and those that it always sees. An entity
        /// that comes into sight is added at the receiver, and one that leaves it is removed.
        /// </summary>
        /// <param name="rings">The rings, or null to remove them.</param>
        /// <exception cref="KinepackException">
        /// A ring, a cell or the name of a field is wrong. Nothing has changed.
        /// </exception>
        public unsafe void SetRings(Rings rings)
        {
            Check(rings == null ? Native.kp_hub_set_rings(Id, null) : rings.Set(Id));
        }

        /// <summary>
        /// Sets the place from which a receiver's rings are measured, in the unit of the positions.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="x">The place along the first axis.</param>
        /// <param name="y">The place along the second axis.</param>
        /// <param name="z">
        /// The place along the third axis. It does not matter for positions of two axes.
        /// </param>
        public unsafe void SetViewpoint(ulong receiver, double x, double y, double z = 0.0)
        {
            double* viewpoint = stackalloc double[3];
            viewpoint[0] = x;
            viewpoint[1] = y;
            viewpoint[2] = z;
            Check(Native.kp_hub_set_viewpoint(Id, receiver, viewpoint));
        }

        /// <summary>Lets a receiver see everything, in tier 0, as at first.</summary>
        /// <param name="receiver">The number of the receiver.</param>
        public unsafe void ClearViewpoint(ulong receiver)
        {
            Check(Native.kp_hub_set_viewpoint(Id, receiver, null));
        }

        /// <summary>
        /// Sets which entities a receiver sees at any distance from its viewpoint, such as the
        /// other members of a team. Beyond all rings, they are sent as in the farthest ring that is
        /// seen. Entities that are not relevant stay hidden.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="ids">The ids of the entities, in increasing order.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        public unsafe void SetAlwaysSeen(ulong receiver, uint[] ids, int count)
        {
            Require.Holds(ids, count, nameof(ids));
            fixed (uint* first = ids)
            {
                Check(Native.kp_hub_set_always_seen(Id, receiver, first, (UIntPtr)count));
            }
        }

        /// <summary>
        /// Takes the worlds of a tick, one for each tier, and encodes what each receiver needs.
        /// After this call, poll the datagrams.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="worlds">
        /// The worlds, from the finest to the coarsest, with the same entities. The tick of the
        /// first one must be above the previous tick.
        /// </param>
        /// <returns>
        /// False if some receivers do not get everything. The other receivers get everything, so
        /// poll the datagrams in this case too.
        /// </returns>
        public bool TickTiers(ulong nowNs, Snapshot[] worlds)
        {
            return TickTiers(nowNs, worlds, out _);
        }

        /// <summary>
        /// Like the other <c>TickTiers</c>, but also returns the reasons of a failure.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="worlds">
        /// The worlds, from the finest to the coarsest, with the same entities.
        /// </param>
        /// <param name="failed">
        /// The receivers that do not get everything, with the reasons. Null if all receivers get
        /// everything.
        /// </param>
        /// <returns>False if some receivers do not get everything.</returns>
        public unsafe bool TickTiers(ulong nowNs, Snapshot[] worlds, out string failed)
        {
            Require.NotNull(worlds, nameof(worlds));
            int count = worlds.Length;
            Require.AtMost(count, MostWorlds, nameof(worlds));
            ulong* list = stackalloc ulong[MostWorlds];
            for (int tier = 0; tier < count; tier++)
            {
                Require.NotNull(worlds[tier], nameof(worlds));
                list[tier] = worlds[tier].Id;
            }
            Status status = Native.kp_hub_tick_tiers(Id, nowNs, list, (UIntPtr)count);
            GC.KeepAlive(worlds);
            return HasAll(status, out failed);
        }

        private bool HasAll(Status status, out string failed)
        {
            bool all = Succeeds(status, Status.Receivers);
            failed = all ? null : KinepackException.LastText();
            return all;
        }
    }
}
