using System;

namespace Kinepack
{
    /// <summary>
    /// Publishes one world for any number of viewers. It encodes each snapshot once for each tier,
    /// however many viewers watch. A publisher has no sockets: it produces objects and datagrams,
    /// which relays or your servers forward.
    /// </summary>
    public sealed class Publisher : NativeObject
    {
        /// <summary>Creates a publisher of the tiers of a catalogue.</summary>
        /// <param name="catalogue">The catalogue.</param>
        /// <param name="firstGroup">
        /// The number of the first group, below 2^61. After a restart, use a number above all
        /// previous ones, such as the seconds since 1970. Then relays and viewers do not mix the
        /// two runs.
        /// </param>
        /// <param name="delayTicks">
        /// The number of ticks by which pieces are delayed. A delay protects against players who
        /// watch their own match. After the last world, <see cref="Drain"/> releases the pieces
        /// that still wait.
        /// </param>
        public unsafe Publisher(Catalogue catalogue, ulong firstGroup = 0, int delayTicks = 0)
        {
            Require.NotNull(catalogue, nameof(catalogue));
            Require.NotNegative(delayTicks, nameof(delayTicks));
            Native.KpPublisherOptions options = new Native.KpPublisherOptions
            {
                first_group = firstGroup,
                delay_ticks = (uint)delayTicks,
            };
            catalogue.Check(Native.kp_publisher_new(catalogue.Id, &options, out ulong made));
            Own(made);
        }

        /// <summary>
        /// Restricts a tier to certain entities, such as the entities of a region. At first, a tier
        /// has all entities. For a region, call this before each tick.
        /// </summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="ids">The ids of the entities, in increasing order.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        public unsafe void SetEntities(int tier, uint[] ids, int count)
        {
            Require.NotNegative(tier, nameof(tier));
            Require.Holds(ids, count, nameof(ids));
            fixed (uint* first = ids)
            {
                Check(Native.kp_publisher_set_entities(Id, (uint)tier, first, (UIntPtr)count));
            }
        }

        /// <summary>
        /// Removes the restriction of a tier. Then the tier has all entities again.
        /// </summary>
        /// <param name="tier">The number of the tier.</param>
        public void SetAllEntities(int tier)
        {
            Require.NotNegative(tier, nameof(tier));
            Check(Native.kp_publisher_set_all_entities(Id, (uint)tier));
        }

        /// <summary>
        /// Takes the world of a tick, and encodes it for all tiers that are due. <see
        /// cref="TryPoll"/> returns the pieces. Take all pieces in each tick, because they are kept
        /// in memory until then.
        /// </summary>
        /// <param name="world">
        /// The world. Its tick must be above the tick of the previous world.
        /// </param>
        /// <exception cref="KinepackException">
        /// The world has another schema, or its tick is not above the previous one. Or the world
        /// needs more datagrams than a viewer can reassemble. Then other tiers may have encoded it,
        /// and the tick is used up.
        /// </exception>
        public void Publish(Snapshot world)
        {
            Require.NotNull(world, nameof(world));
            Status status = Native.kp_publisher_publish(Id, world.Id);
            GC.KeepAlive(world);
            Check(status);
        }

        /// <summary>
        /// Releases, after the last world, the pieces that wait for the delay, and objects that
        /// have fewer snapshots than their tier allows. <see cref="TryPoll"/> returns the pieces.
        /// Call this at each tick until it returns true, or the end of the broadcast is lost. Calls
        /// between worlds make objects smaller.
        /// </summary>
        /// <param name="tick">The tick of the last world, or a later tick.</param>
        /// <returns>True once no piece waits for a later tick.</returns>
        public bool Drain(uint tick)
        {
            Check(Native.kp_publisher_drain(Id, tick, out int isDrained));
            return isDrained != 0;
        }

        /// <summary>Writes the next piece for the transport.</summary>
        /// <param name="piece">The description of the piece.</param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">The size of the piece in bytes.</param>
        /// <returns>False if there is no piece until the next tick.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short (<see cref="Status.Size"/>). The piece is kept, and
        /// <paramref name="size"/> is its size.
        /// </exception>
        public unsafe bool TryPoll(out Piece piece, byte[] bytes, out int size)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                Status status = Native.kp_publisher_poll(
                    Id, out piece, first, (UIntPtr)bytes.Length, out UIntPtr written);
                size = status == Status.Nothing ? 0 : Interop.ToSize(written);
                return Succeeds(status, Status.Nothing);
            }
        }

        /// <summary>
        /// Copies the last snapshot of a tier in groups, as its viewers decode it. It lacks the
        /// entities that the tier omits, and has only the precision of the tier.
        /// </summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False before the first snapshot, and for a tier in datagrams.</returns>
        public bool TryLast(int tier, Snapshot snapshot)
        {
            Require.NotNegative(tier, nameof(tier));
            Require.NotNull(snapshot, nameof(snapshot));
            Status status = Native.kp_publisher_last(Id, (uint)tier, snapshot.Id);
            GC.KeepAlive(snapshot);
            return Succeeds(status, Status.Nothing);
        }

        internal override Status Free(ulong freed) => Native.kp_publisher_free(freed);
    }
}
