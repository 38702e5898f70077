using System;

namespace Kinepack
{
    /// <summary>
    /// Publishes one world for any number of viewers: it encodes each snapshot once for each tier,
    /// however many watch. It has no sockets: objects and datagrams come out, which relays or your
    /// servers pass on.
    /// </summary>
    public sealed class Publisher : NativeObject
    {
        /// <summary>A publisher of the tiers of a catalogue.</summary>
        /// <param name="catalogue">The catalogue.</param>
        /// <param name="firstGroup">
        /// The number of the first group. After a restart take one above all before, such as the
        /// seconds since 1970, so that relays and viewers do not mix the two.
        /// </param>
        /// <param name="delayTicks">
        /// How many ticks later it gives the pieces, against players who watch their own match.
        /// </param>
        public Publisher(Catalogue catalogue, ulong firstGroup = 0, int delayTicks = 0)
        {
            Require.NotNull(catalogue, nameof(catalogue));
            Require.NotNegative(delayTicks, nameof(delayTicks));
            Native.KpPublisherOptions options = new Native.KpPublisherOptions
            {
                first_group = firstGroup,
                delay_ticks = (uint)delayTicks,
            };
            catalogue.Check(Native.kp_publisher_new(catalogue.Id, ref options, out ulong made));
            Own(made);
        }

        /// <summary>
        /// Restricts a tier to these entities, such as those of a region. At first a tier has all.
        /// For a region, call it before each tick.
        /// </summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="ids">Ids that increase.</param>
        /// <param name="count">How many of them, from 0 to the length of the array.</param>
        public unsafe void SetEntities(int tier, uint[] ids, int count)
        {
            Require.NotNegative(tier, nameof(tier));
            Require.Holds(ids, count, nameof(ids));
            fixed (uint* first = ids)
            {
                Check(Native.kp_publisher_set_entities(Id, (uint)tier, first, (UIntPtr)count));
            }
        }

        /// <summary>Gives a tier all entities again.</summary>
        /// <param name="tier">The number of the tier.</param>
        public void SetAllEntities(int tier)
        {
            Require.NotNegative(tier, nameof(tier));
            Check(Native.kp_publisher_set_all_entities(Id, (uint)tier));
        }

        /// <summary>
        /// Takes the world of a tick, and encodes it for all tiers that are due. <see cref="TryPoll"/>
        /// gives the pieces. Take all of them each tick: they wait in memory.
        /// </summary>
        /// <param name="world">The world. Its tick is above the one before.</param>
        /// <exception cref="KinepackException">
        /// The world is of another schema, or its tick is not above the one before. Or it needs more
        /// datagrams than a viewer puts together: then other tiers may have taken it.
        /// </exception>
        public void Publish(Snapshot world)
        {
            Require.NotNull(world, nameof(world));
            Status status = Native.kp_publisher_publish(Id, world.Id);
            GC.KeepAlive(world);
            Check(status);
        }

        /// <summary>Gives the next piece for the transport.</summary>
        /// <param name="piece">What it is.</param>
        /// <param name="bytes">The array to write it to.</param>
        /// <param name="size">The bytes of the piece.</param>
        /// <returns>False if there is none until the next tick.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short (<see cref="Status.Size"/>). The piece stays, and
        /// <paramref name="size"/> says how many bytes it has.
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
        /// Copies the last snapshot of a tier in groups, as its viewers decode it: without the
        /// entities that the tier leaves out, and less precise if the tier is.
        /// </summary>
        /// <param name="tier">The number of the tier.</param>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False before the first one, and for a tier in datagrams.</returns>
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
