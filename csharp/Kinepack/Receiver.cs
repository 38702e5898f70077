using System;

namespace Kinepack
{
    /// <summary>
    /// Receives the world of a hub. It has no socket and no clock. All times are nanoseconds since
    /// any fixed moment.
    /// </summary>
    public sealed class Receiver : Shown
    {
        /// <summary>A receiver.</summary>
        /// <param name="codec">The codec, which the hub has too.</param>
        /// <param name="tickHz">The ticks of the hub in a second.</param>
        /// <param name="options">How it works. Null takes the defaults.</param>
        public Receiver(Codec codec, int tickHz, ReceiverOptions options = null)
        {
            Require.NotNull(codec, nameof(codec));
            Require.NotNegative(tickHz, nameof(tickHz));
            options = options ?? new ReceiverOptions();
            Native.KpReceiverOptions native = options.ToNative();
            codec.Check(
                Native.kp_receiver_new(codec.Id, (uint)tickHz, ref native, out ulong made));
            Own(made);
            GC.KeepAlive(options.Events);
            Shows(codec.Table, options.Events?.Table);
        }

        /// <summary>Takes a datagram of the hub.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The bytes of the datagram.</param>
        /// <returns>
        /// False if it was refused, such as a duplicate. Only counters have changed then.
        /// </returns>
        public bool Handle(ulong nowNs, byte[] datagram, int size)
        {
            Require.Holds(datagram, size, nameof(datagram));
            return Handle(nowNs, new ArraySegment<byte>(datagram, 0, size));
        }

        /// <summary>Takes a datagram of the hub from a part of an array.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The datagram.</param>
        /// <returns>
        /// False if it was refused, such as a duplicate. Only counters have changed then.
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

        /// <summary>Gives the next datagram for the hub.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The array to write it to.</param>
        /// <param name="size">The bytes of the datagram.</param>
        /// <returns>False if there is none now.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The datagram stays.
        /// </exception>
        public unsafe bool TryPoll(ulong nowNs, byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                Status status = Native.kp_receiver_poll(
                    Id, nowNs, first, (UIntPtr)datagram.Length, out UIntPtr written);
                bool found = Succeeds(status, Status.Nothing);
                size = found ? Interop.ToSize(written) : 0;
                return found;
            }
        }

        /// <summary>
        /// Computes what to show now, a little in the past and interpolated, for the methods of
        /// <see cref="Shown"/>.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="playback">What is shown.</param>
        /// <returns>False before the first state.</returns>
        public bool TryPlay(ulong nowNs, out Playback playback)
        {
            return Succeeds(Native.kp_receiver_play(Id, nowNs, out playback), Status.Nothing);
        }

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are shown for the first time.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public int ReadAdded(uint[] ids) => ReadChanged(ids, true);

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are not shown any more.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public int ReadRemoved(uint[] ids) => ReadChanged(ids, false);

        /// <summary>
        /// Makes all events due that have arrived, for a program that shows the newest state and
        /// does not play. An event becomes due once: <see cref="TryPlay"/> does not show it then.
        /// </summary>
        public void TakeEvents()
        {
            Check(Native.kp_receiver_take_events(Id));
        }

        /// <summary>What the receiver knows of its connection.</summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        public ReceiverStatus StatusAt(ulong nowNs)
        {
            Check(Native.kp_receiver_status(Id, nowNs, out ReceiverStatus status));
            return status;
        }

        /// <summary>Copies the newest state, neither delayed nor interpolated.</summary>
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
        /// Changes a lane of an entity by one in the newest view, as a fault in memory would. For
        /// tests and tools: state checks find it, and the hub sends the state again.
        /// </summary>
        /// <param name="entity">The id of the entity.</param>
        /// <param name="lane">The index of one of its integers after quantization.</param>
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

        internal override unsafe Status Ids(
            uint kind, uint* ids, UIntPtr capacity, out UIntPtr count)
        {
            return Native.kp_receiver_ids(Id, kind, ids, capacity, out count);
        }

        internal override unsafe Status Rows(
            uint kind, UIntPtr capacity, Native.KpTarget* targets, UIntPtr targetCount)
        {
            return Native.kp_receiver_read(Id, kind, capacity, targets, targetCount);
        }

        internal override Status NextEvent(out Event next)
        {
            return Native.kp_receiver_next_event(Id, out next);
        }

        internal override unsafe Status EventNumbers(
            uint kind, Native.KpTarget* targets, UIntPtr targetCount)
        {
            return Native.kp_receiver_read_event(Id, kind, targets, targetCount);
        }

        private unsafe int ReadChanged(uint[] ids, bool added)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                UIntPtr count;
                Check(added
                    ? Native.kp_receiver_added(Id, first, capacity, out count)
                    : Native.kp_receiver_removed(Id, first, capacity, out count));
                return Interop.ToSize(count);
            }
        }
    }
}
