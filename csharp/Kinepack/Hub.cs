using System;

namespace Kinepack
{
    /// <summary>
    /// Sends one world to many receivers. A hub has no sockets and no clock: you pass in datagrams
    /// and the time, and poll datagrams to send. All times are nanoseconds since any fixed moment.
    /// </summary>
    public sealed partial class Hub : NativeObject
    {
        private readonly Field[][] eventTable;

        /// <summary>Creates a hub without receivers.</summary>
        /// <param name="codec">The codec, which the receivers need too.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe Hub(Codec codec, HubOptions options = null)
        {
            Require.NotNull(codec, nameof(codec));
            options = options ?? new HubOptions();
            Native.KpHubOptions native = options.ToNative();
            codec.Check(Native.kp_hub_new(codec.Id, &native, out ulong made));
            Own(made);
            GC.KeepAlive(options.Events);
            eventTable = options.Events?.Table;
            past = new Found(this, codec.Table);
        }

        /// <summary>Sets how the entities of a kind are sent.</summary>
        /// <param name="name">The name of the kind.</param>
        /// <param name="every">
        /// The number of ticks from one sending of changes to the next: 1, 2, 4 or 8.
        /// </param>
        /// <param name="weight">
        /// How much these entities matter if not everything fits, at least 0. The default is 1.
        /// </param>
        public void SetKind(string name, int every, float weight)
        {
            byte[] text = Interop.ToText(name, nameof(name));
            Check(Native.kp_hub_set_kind(Id, text, (uint)every, weight));
        }

        /// <summary>Adds a receiver.</summary>
        /// <param name="receiver">A number that no other receiver of the hub has.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="budgetBytesPerSecond">
        /// The maximum number of bytes per second for the receiver. 0 sets no limit.
        /// </param>
        public void Add(ulong receiver, ulong nowNs, int budgetBytesPerSecond = 0)
        {
            Require.NotNegative(budgetBytesPerSecond, nameof(budgetBytesPerSecond));
            Check(Native.kp_hub_add(Id, receiver, (uint)budgetBytesPerSecond, nowNs));
        }

        /// <summary>Removes a receiver.</summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <exception cref="KinepackException">The hub has no such receiver.</exception>
        public void Remove(ulong receiver)
        {
            Check(Native.kp_hub_remove(Id, receiver));
        }

        /// <summary>
        /// Sets which entities a receiver may see. At first, it may see all entities.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="ids">The ids of the entities, in increasing order.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        public unsafe void SetRelevant(ulong receiver, uint[] ids, int count)
        {
            Require.Holds(ids, count, nameof(ids));
            fixed (uint* first = ids)
            {
                Check(Native.kp_hub_set_relevant(Id, receiver, first, (UIntPtr)count));
            }
        }

        /// <summary>Lets a receiver see all entities again.</summary>
        /// <param name="receiver">The number of the receiver.</param>
        public void SetAllRelevant(ulong receiver)
        {
            Check(Native.kp_hub_set_all_relevant(Id, receiver));
        }

        /// <summary>
        /// Sets the weights of entities for a receiver, which are used if not everything fits. The
        /// weights apply until you set them again. All other entities weigh 1.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="ids">The ids of the entities, in increasing order.</param>
        /// <param name="weights">A weight for each id.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the arrays.
        /// </param>
        public unsafe void SetWeights(ulong receiver, uint[] ids, float[] weights, int count)
        {
            Require.Holds(ids, count, nameof(ids));
            Require.Holds(weights, count, nameof(weights));
            fixed (uint* first = ids)
            fixed (float* weight = weights)
            {
                Check(Native.kp_hub_set_weights(Id, receiver, first, weight, (UIntPtr)count));
            }
        }

        /// <summary>Returns the hub's view of a connection to a receiver.</summary>
        /// <param name="receiver">The number of the receiver.</param>
        public HubStatus StatusOf(ulong receiver)
        {
            Check(Native.kp_hub_status(Id, receiver, out HubStatus status));
            return status;
        }

        /// <summary>
        /// Adds an event to the next tick. All joined receivers get the event exactly once, in the
        /// order of these calls.
        /// </summary>
        /// <param name="columns">Memory with one event, for each field of the event's kind.</param>
        public unsafe void Emit(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToRead(EventTable(), 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                Check(Native.kp_hub_emit(Id, (uint)columns.Kind, from, fields));
            }
        }

        /// <summary>
        /// Adds an event to the next tick, but only for the receivers in <paramref
        /// name="receivers"/>.
        /// </summary>
        /// <param name="columns">Memory with one event, for each field of the event's kind.</param>
        /// <param name="receivers">The numbers of the receivers.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        public unsafe void EmitTo(Columns columns, ulong[] receivers, int count)
        {
            Require.NotNull(columns, nameof(columns));
            Require.Holds(receivers, count, nameof(receivers));
            using (columns.PinToRead(EventTable(), 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            fixed (ulong* list = receivers)
            {
                uint kind = (uint)columns.Kind;
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                Check(Native.kp_hub_emit_to(Id, kind, from, fields, list, (UIntPtr)count));
            }
        }

        /// <summary>
        /// Adds an event to the next tick, but only for the receivers that may see the given
        /// entity.
        /// </summary>
        /// <param name="columns">Memory with one event, for each field of the event's kind.</param>
        /// <param name="entity">The id of the entity.</param>
        public unsafe void EmitSeeing(Columns columns, uint entity)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToRead(EventTable(), 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                Check(Native.kp_hub_emit_seeing(Id, (uint)columns.Kind, from, fields, entity));
            }
        }

        /// <summary>Handles a datagram from a receiver.</summary>
        /// <param name="receiver">The number of the receiver that sent the datagram.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The size of the datagram in bytes.</param>
        /// <returns>
        /// False if the datagram was refused. A refused datagram changes only counters.
        /// </returns>
        public bool Handle(ulong receiver, ulong nowNs, byte[] datagram, int size)
        {
            Require.Holds(datagram, size, nameof(datagram));
            return Handle(receiver, nowNs, new ArraySegment<byte>(datagram, 0, size));
        }

        /// <summary>Handles a datagram from a receiver, in a part of an array.</summary>
        /// <param name="receiver">The number of the receiver that sent the datagram.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The datagram.</param>
        /// <returns>
        /// False if the datagram was refused. A refused datagram changes only counters.
        /// </returns>
        public unsafe bool Handle(ulong receiver, ulong nowNs, ArraySegment<byte> datagram)
        {
            Require.Holds(datagram, nameof(datagram));
            fixed (byte* first = datagram.Array)
            {
                byte* begin = first + datagram.Offset;
                UIntPtr size = (UIntPtr)datagram.Count;
                return Succeeds(
                    Native.kp_hub_handle(Id, receiver, nowNs, begin, size), Status.Data);
            }
        }

        /// <summary>
        /// Takes the world of a tick, and encodes what each receiver needs. After this call, poll
        /// the datagrams.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="world">
        /// The world. Its tick must be above the tick of the previous world.
        /// </param>
        /// <returns>
        /// False if some receivers do not get the whole world. The other receivers get the whole
        /// world, so poll the datagrams in this case too.
        /// </returns>
        public bool Tick(ulong nowNs, Snapshot world)
        {
            return Tick(nowNs, world, out _);
        }

        /// <summary>
        /// Like the other <c>Tick</c>, but also returns the reasons of a failure.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="world">
        /// The world. Its tick must be above the tick of the previous world.
        /// </param>
        /// <param name="failed">
        /// The receivers that do not get the whole world, with the reasons. Null if all receivers
        /// get the whole world.
        /// </param>
        /// <returns>False if some receivers do not get the whole world.</returns>
        public bool Tick(ulong nowNs, Snapshot world, out string failed)
        {
            Require.NotNull(world, nameof(world));
            Status status = Native.kp_hub_tick(Id, nowNs, world.Id);
            GC.KeepAlive(world);
            return HasAll(status, out failed);
        }

        /// <summary>Writes the next datagram to send, and its receiver.</summary>
        /// <param name="receiver">The number of the receiver to send it to.</param>
        /// <param name="datagram">
        /// The array to write to, of <see cref="HubOptions.DatagramBytes"/> bytes.
        /// </param>
        /// <param name="size">The size of the datagram in bytes.</param>
        /// <returns>False if there is no datagram until the next tick.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The datagram is kept.
        /// </exception>
        public unsafe bool TryPoll(out ulong receiver, byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                Status status = Native.kp_hub_poll(
                    Id, out receiver, first, (UIntPtr)datagram.Length, out UIntPtr written);
                return Succeeds(status, Status.Nothing, written, out size);
            }
        }

        internal override Status Free(ulong freed)
        {
            // The constructor may have failed before it made the past.
            past?.Forget();
            return Native.kp_hub_free(freed);
        }

        private Field[][] EventTable()
        {
            return eventTable ?? throw new InvalidOperationException("The hub has no events.");
        }
    }
}
