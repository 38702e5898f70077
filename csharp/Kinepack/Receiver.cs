using System;

namespace Kinepack
{
    /// <summary>
    /// Receives the world of a hub. A receiver has no socket and no clock. All times are
    /// nanoseconds since any fixed moment.
    /// </summary>
    public sealed partial class Receiver : Shown
    {
        /// <summary>Creates a receiver.</summary>
        /// <param name="codec">The codec, which the hub needs too.</param>
        /// <param name="tickHz">The ticks per second of the hub.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe Receiver(Codec codec, int tickHz, ReceiverOptions options = null)
        {
            Require.NotNull(codec, nameof(codec));
            Require.NotNegative(tickHz, nameof(tickHz));
            options = options ?? new ReceiverOptions();
            Native.KpReceiverOptions native = options.ToNative();
            codec.Check(
                Native.kp_receiver_new(codec.Id, (uint)tickHz, &native, out ulong made));
            Own(made);
            GC.KeepAlive(options.Events);
            Status status = Native.kp_receiver_shown(Id, out ulong shown);
            Shows(status, shown, codec.Table, options.Events?.Table);
        }

        /// <summary>Handles a datagram from the hub.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The size of the datagram in bytes.</param>
        /// <returns>
        /// False if the datagram was refused, for example as a duplicate. A refused datagram
        /// changes only counters.
        /// </returns>
        public bool Handle(ulong nowNs, byte[] datagram, int size)
        {
            Require.Holds(datagram, size, nameof(datagram));
            return Handle(nowNs, new ArraySegment<byte>(datagram, 0, size));
        }

        /// <summary>Handles a datagram from the hub, in a part of an array.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The datagram.</param>
        /// <returns>
        /// False if the datagram was refused, for example as a duplicate. A refused datagram
        /// changes only counters.
        /// </returns>
        public unsafe bool Handle(ulong nowNs, ArraySegment<byte> datagram)
        {
            Require.Holds(datagram, nameof(datagram));
            fixed (byte* first = datagram.Array)
            {
                byte* begin = first + datagram.Offset;
                UIntPtr size = (UIntPtr)datagram.Count;
                Status status = Native.kp_receiver_handle(Id, nowNs, begin, size);
                return Succeeds(status, Status.Data);
            }
        }

        /// <summary>Writes the next datagram for the hub.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The array to write to.</param>
        /// <param name="size">The size of the datagram in bytes.</param>
        /// <returns>False if there is no datagram now.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The datagram is kept.
        /// </exception>
        public unsafe bool TryPoll(ulong nowNs, byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                Status status = Native.kp_receiver_poll(
                    Id, nowNs, first, (UIntPtr)datagram.Length, out UIntPtr written);
                return Succeeds(status, Status.Nothing, written, out size);
            }
        }

        /// <summary>
        /// Computes the state to show now, which is slightly delayed and interpolated. The methods
        /// of <see cref="Shown"/> read this state.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="playback">The shown moment.</param>
        /// <returns>False before the first state.</returns>
        public bool TryPlay(ulong nowNs, out Playback playback)
        {
            return Succeeds(Native.kp_receiver_play(Id, nowNs, out playback), Status.Nothing);
        }

        /// <summary>
        /// Returns the stamp of what the last <see cref="TryPlay"/> showed, for the inputs that the
        /// player makes in view of it: see <see cref="Hub.TryRewind"/>.
        /// </summary>
        /// <param name="seen">
        /// The stamp. Before the first state it says so, and an input may have it too.
        /// </param>
        /// <returns>False before the first state.</returns>
        public bool TrySeen(out Seen seen)
        {
            return Succeeds(Native.kp_receiver_seen(Id, out seen), Status.Nothing);
        }

        /// <summary>
        /// Makes all events due that have arrived, for programs that show the newest state and do
        /// not play. An event becomes due only once, so <see cref="TryPlay"/> will not show it
        /// again.
        /// </summary>
        public void TakeEvents()
        {
            Check(Native.kp_receiver_take_events(Id));
        }

        /// <summary>Returns the receiver's view of its connection.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        public ReceiverStatus StatusAt(ulong nowNs)
        {
            Check(Native.kp_receiver_status(Id, nowNs, out ReceiverStatus status));
            return status;
        }

        /// <summary>Copies the newest state, without delay or interpolation.</summary>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False before the first state.</returns>
        public bool TryNewest(Snapshot snapshot)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Status status = Native.kp_receiver_newest(Id, snapshot.Id);
            GC.KeepAlive(snapshot);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>
        /// Changes a lane of an entity by one in the newest view, like a memory fault, so that this
        /// side's state is wrong. Use this method only in tests and tools: state checks detect the
        /// fault, and the hub sends the state again.
        /// </summary>
        /// <param name="entity">The id of the entity.</param>
        /// <param name="lane">The index of one of the entity's integers after quantization.</param>
        /// <returns>
        /// False if there is no such view, entity or lane, or if the lane has only one value.
        /// </returns>
        public bool InjectFault(uint entity, int lane)
        {
            Require.NotNegative(lane, nameof(lane));
            Status status = Native.kp_receiver_inject_fault(Id, entity, (uint)lane);
            return Succeeds(status, Status.Nothing);
        }

        internal override Status Free(ulong freed) => Native.kp_receiver_free(freed);
    }
}
