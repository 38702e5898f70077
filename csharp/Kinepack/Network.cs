using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// Sends one world to many receivers. It has no sockets and no clock: datagrams and the time go
    /// in, datagrams come out. All times are nanoseconds since any fixed moment.
    /// </summary>
    public sealed class Hub : NativeObject
    {
        /// <summary>A hub without receivers.</summary>
        /// <param name="codec">The codec, which the receivers have too.</param>
        /// <param name="datagramBytes">The most bytes of a datagram. 0 means 1,200.</param>
        public Hub(Codec codec, int datagramBytes = 0)
        {
            Require.NotNull(codec, nameof(codec));
            Require.NotNegative(datagramBytes, nameof(datagramBytes));
            codec.Check(Native.kp_hub_new(codec.Id, (uint)datagramBytes, out ulong made));
            Own(made);
        }

        /// <summary>Adds a receiver.</summary>
        /// <param name="receiver">A number that no other receiver of the hub has.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="budgetBytesPerSecond">The most bytes to send it. 0 sets no limit.</param>
        public void Add(ulong receiver, ulong nowNs, int budgetBytesPerSecond = 0)
        {
            Require.NotNegative(budgetBytesPerSecond, nameof(budgetBytesPerSecond));
            Check(Native.kp_hub_add(Id, receiver, (uint)budgetBytesPerSecond, nowNs));
        }

        /// <summary>Removes a receiver.</summary>
        /// <param name="receiver">Its number.</param>
        /// <exception cref="KinepackException">The hub has no such receiver.</exception>
        public void Remove(ulong receiver)
        {
            Check(Native.kp_hub_remove(Id, receiver));
        }

        /// <summary>Takes a datagram of a receiver.</summary>
        /// <param name="receiver">The number of the receiver that sent it.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The bytes of the datagram.</param>
        /// <returns>False if the datagram was refused. Only counters have changed then.</returns>
        public bool Handle(ulong receiver, ulong nowNs, byte[] datagram, int size)
        {
            Require.Holds(datagram, size, nameof(datagram));
            return Handle(receiver, nowNs, new ArraySegment<byte>(datagram, 0, size));
        }

        /// <summary>Takes a datagram of a receiver from a part of an array.</summary>
        /// <param name="receiver">The number of the receiver that sent it.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="datagram">The datagram.</param>
        /// <returns>False if the datagram was refused. Only counters have changed then.</returns>
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
        /// Takes the world of a tick, and encodes what each receiver needs. Then poll the
        /// datagrams.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="world">The world. Its tick is above the one before.</param>
        public void Tick(ulong nowNs, Snapshot world)
        {
            Require.NotNull(world, nameof(world));
            Check(Native.kp_hub_tick(Id, nowNs, world.Id));
            GC.KeepAlive(world);
        }

        /// <summary>Gives the next datagram to send.</summary>
        /// <param name="receiver">The number of the receiver to send it to.</param>
        /// <param name="datagram">
        /// The array to write it to. It should have as many bytes as the constructor allows.
        /// </param>
        /// <param name="size">The bytes of the datagram.</param>
        /// <returns>False if there is none until the next tick.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The datagram stays.
        /// </exception>
        public unsafe bool TryPoll(out ulong receiver, byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                Status status = Native.kp_hub_poll(
                    Id, out receiver, first, (UIntPtr)datagram.Length, out UIntPtr written);
                bool found = Succeeds(status, Status.Nothing);
                size = found ? Interop.ToSize(written) : 0;
                return found;
            }
        }

        internal override Status Free(ulong freed) => Native.kp_hub_free(freed);
    }

    /// <summary>What a receiver plays.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Playback
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly double tick;
        private readonly int isStarved;
#pragma warning restore 0649

        /// <summary>The tick that is shown, with its fraction.</summary>
        public double Tick => tick;

        /// <summary>Whether a newer state was needed but has not arrived.</summary>
        public bool IsStarved => isStarved != 0;
    }

    /// <summary>
    /// Receives the world of a hub. It has no socket and no clock. All times are nanoseconds since
    /// any fixed moment.
    /// </summary>
    public sealed class Receiver : NativeObject
    {
        private readonly Field[][] table;

        /// <summary>A receiver.</summary>
        /// <param name="codec">The codec, which the hub has too.</param>
        /// <param name="tickHz">The ticks of the hub in a second.</param>
        public Receiver(Codec codec, int tickHz)
        {
            Require.NotNull(codec, nameof(codec));
            Require.NotNegative(tickHz, nameof(tickHz));
            codec.Check(Native.kp_receiver_new(codec.Id, (uint)tickHz, out ulong made));
            Own(made);
            table = codec.Table;
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
        /// Computes what to show now, a little in the past and interpolated. <see cref="Count"/>,
        /// <see cref="ReadIds"/> and <see cref="Read"/> give it.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="playback">What is shown.</param>
        /// <returns>False before the first state.</returns>
        public bool TryPlay(ulong nowNs, out Playback playback)
        {
            return Succeeds(Native.kp_receiver_play(Id, nowNs, out playback), Status.Nothing);
        }

        /// <summary>The number of entities of a kind that are shown.</summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        public unsafe int Count(int kind)
        {
            Status status = Native.kp_receiver_ids(
                Id, (uint)kind, null, UIntPtr.Zero, out UIntPtr count);
            Succeeds(status, Status.Size);
            return Interop.ToSize(count);
        }

        /// <summary>
        /// Writes the ids of the entities of a kind that are shown, which increase.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="ids">An array with at least <see cref="Count"/> elements.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadIds(int kind, uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_receiver_ids(Id, (uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the numbers of the entities of a kind that are shown, in the order of their ids.
        /// </summary>
        /// <param name="columns">The memory of the fields to write. Others are skipped.</param>
        /// <exception cref="KinepackException">
        /// The memory is too small, or a type does not hold all values of its field.
        /// </exception>
        public unsafe void Read(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToWrite(table, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            {
                uint kind = (uint)columns.Kind;
                UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                Check(Native.kp_receiver_read(Id, kind, capacity, to, fields));
            }
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

        internal override Status Free(ulong freed) => Native.kp_receiver_free(freed);
    }
}
