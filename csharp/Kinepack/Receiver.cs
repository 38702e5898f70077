using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
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
        private readonly Field[][] eventTable;

        // The kind of the event that ReadEvent reads. The lock keeps it equal to the library's.
        private readonly object eventLock = new object();
        private int eventKind = -1;

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
            table = codec.Table;
            eventTable = options.Events?.Table ?? new Field[0][];
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

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are shown for the first time.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadAdded(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_receiver_added(Id, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are not shown any more.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadRemoved(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_receiver_removed(Id, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Takes the next event that is due at the moment of the last <see cref="TryPlay"/>. The
        /// next moment drops events that you did not take.
        /// </summary>
        /// <param name="next">The event. <see cref="ReadEvent"/> gives its numbers.</param>
        /// <returns>False if there is none.</returns>
        public bool TryNextEvent(out Event next)
        {
            lock (eventLock)
            {
                Status status = Native.kp_receiver_next_event(Id, out next);
                bool found = Succeeds(status, Status.Nothing);
                eventKind = found ? next.Kind : -1;
                return found;
            }
        }

        /// <summary>Writes the numbers of the event that TryNextEvent gave last.</summary>
        /// <param name="columns">
        /// Memory for one event, of the kind of the event. Fields without memory are skipped.
        /// </param>
        public unsafe void ReadEvent(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            lock (eventLock)
            {
                if (columns.Kind != eventKind)
                {
                    throw new ArgumentException("The last event is of another kind.");
                }
                using (columns.PinToWrite(eventTable, out UIntPtr capacity))
                fixed (Native.KpTarget* to = columns.ToWrite)
                {
                    if (capacity == UIntPtr.Zero)
                    {
                        throw new ArgumentException("The columns have no memory.");
                    }
                    UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                    Check(Native.kp_receiver_read_event(Id, to, fields));
                }
            }
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

        internal override Status Free(ulong freed) => Native.kp_receiver_free(freed);
    }
}
