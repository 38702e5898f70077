using System;

namespace Kinepack
{
    /// <summary>
    /// The settings of a stream. Both ends need the same options. A number of 0 selects the
    /// default.
    /// </summary>
    public sealed class StreamOptions
    {
        /// <summary>
        /// The longest round trip without extra cost, in milliseconds. The default is 500.
        /// </summary>
        public int LongestRoundTripMs { get; set; }

        /// <summary>
        /// How many earlier records each packet repeats, up to 15. The default is 1. A negative
        /// number means no repeats.
        /// </summary>
        public int Repeats { get; set; }

        /// <summary>
        /// The maximum number of records that a receiver accepts at once, at least 16. The default
        /// is 64.
        /// </summary>
        public int BurstRecords { get; set; }

        /// <summary>
        /// The channel of the stream, which distinguishes streams on one connection.
        /// </summary>
        public int Channel { get; set; }

        /// <summary>
        /// The largest datagram that the transport carries, in bytes. The default is 1,200.
        /// </summary>
        public int DatagramBytes { get; set; }

        /// <summary>The number of the first record.</summary>
        public ushort FirstNumber { get; set; }

        internal Native.KpStreamOptions ToNative()
        {
            Require.NotNegative(LongestRoundTripMs, nameof(LongestRoundTripMs));
            Require.NotNegative(BurstRecords, nameof(BurstRecords));
            Require.NotNegative(Channel, nameof(Channel));
            Require.NotNegative(DatagramBytes, nameof(DatagramBytes));
            return new Native.KpStreamOptions
            {
                longest_round_trip_ms = (uint)LongestRoundTripMs,
                repeats = Repeats,
                burst_records = (uint)BurstRecords,
                channel = (uint)Channel,
                datagram_bytes = (uint)DatagramBytes,
                first_number = FirstNumber,
            };
        }
    }

    public readonly partial struct Record
    {
        /// <summary>
        /// The number that the sender's Push returned. Numbers wrap to 0 after 65,535.
        /// </summary>
        public int Number => number;

        /// <summary>
        /// Whether the record arrived as a repeat, because its own packet is missing.
        /// </summary>
        public bool IsRepeated => is_repeated != 0;

        /// <summary>Whether a newer record arrived before this one.</summary>
        public bool IsLate => is_late != 0;
    }

    public readonly partial struct StreamReceiverStatus
    {
        /// <summary>The number of packets accepted.</summary>
        public ulong Packets => packets;

        /// <summary>The number of packets refused, including duplicates.</summary>
        public ulong Refused => refused;

        /// <summary>The bytes of the accepted packets.</summary>
        public ulong Bytes => bytes;

        /// <summary>The number of records that arrived, each once.</summary>
        public ulong Records => records;

        /// <summary>
        /// How many of these arrived as repeats, because their own packet is missing.
        /// </summary>
        public ulong Recovered => recovered;

        /// <summary>
        /// The number of ticks whose record had arrived in time for
        /// <see cref="StreamReceiver.TryReadForTick"/>.
        /// </summary>
        public ulong InTime => in_time;

        /// <summary>
        /// The number of ticks without a record, because it was lost or late.
        /// </summary>
        public ulong Missed => missed;
    }

    /// <summary>
    /// Sends the records of a client, such as a player's inputs. A sender has no socket and no
    /// clock.
    /// </summary>
    public sealed class StreamSender : NativeObject
    {
        private readonly Field[][] table;

        /// <summary>Creates a sender.</summary>
        /// <param name="schema">The schema of the records, with one kind.</param>
        /// <param name="level"><see cref="Level.Packed"/> or <see cref="Level.Adaptive"/>.</param>
        /// <param name="rateHz">The maximum number of records per second.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe StreamSender(
            Schema schema, string level, int rateHz, StreamOptions options = null)
        {
            Require.NotNull(schema, nameof(schema));
            Require.NotNegative(rateHz, nameof(rateHz));
            byte[] name = Interop.ToText(level, nameof(level));
            Native.KpStreamOptions native = (options ?? new StreamOptions()).ToNative();
            schema.Check(Native.kp_stream_sender_new(
                schema.Id, name, (uint)rateHz, &native, out ulong made));
            Own(made);
            table = schema.Table;
        }

        /// <summary>Adds a record.</summary>
        /// <param name="columns">Memory with one record, for each field.</param>
        /// <returns>The number of the record.</returns>
        /// <exception cref="KinepackException">
        /// A value is out of its range. Nothing was added.
        /// </exception>
        public unsafe int Push(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToRead(table, 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                ushort number;
                Check(Native.kp_stream_push(Id, from, fields, &number));
                return number;
            }
        }

        /// <summary>
        /// Adds the record of a tick of the server, as <see cref="InputClock.Ticks"/> asks for it.
        /// Its number is the tick modulo 65,536. Ticks that the clock skipped have no record. If
        /// the tick is not after that of the newest record, or 32,768 or more after it, the sender
        /// forgets all records and begins anew.
        /// </summary>
        /// <param name="tick">The tick.</param>
        /// <param name="columns">Memory with one record, for each field.</param>
        /// <exception cref="KinepackException">
        /// A value is out of its range. Nothing was added.
        /// </exception>
        public unsafe void PushForTick(uint tick, Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToRead(table, 1))
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                Check(Native.kp_stream_push_for_tick(Id, tick, from, fields));
            }
        }

        /// <summary>
        /// Writes the packet of the newest records. Each packet is written only once.
        /// </summary>
        /// <param name="datagram">The array to write to.</param>
        /// <param name="size">The size of the packet in bytes.</param>
        /// <returns>False if there is no packet now.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The packet is kept.
        /// </exception>
        public unsafe bool TryPoll(byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                UIntPtr capacity = (UIntPtr)datagram.Length;
                Status status = Native.kp_stream_poll(Id, first, capacity, out UIntPtr written);
                return Succeeds(status, Status.Nothing, written, out size);
            }
        }

        /// <summary>Handles an acknowledgement.</summary>
        /// <param name="datagram">The acknowledgement.</param>
        /// <returns>
        /// False if it was refused. A refused acknowledgement changes only a counter.
        /// </returns>
        public unsafe bool Handle(ArraySegment<byte> datagram)
        {
            Require.Holds(datagram, nameof(datagram));
            fixed (byte* first = datagram.Array)
            {
                byte* begin = first + datagram.Offset;
                UIntPtr size = (UIntPtr)datagram.Count;
                return Succeeds(Native.kp_stream_sender_handle(Id, begin, size), Status.Data);
            }
        }

        internal override Status Free(ulong freed) => Native.kp_stream_sender_free(freed);
    }

    /// <summary>Receives the records of one client.</summary>
    public sealed class StreamReceiver : NativeObject
    {
        /// <summary>The maximum number of records that a packet contains.</summary>
        public const int MaxRecords = 16;

        private readonly Field[][] table;

        /// <summary>Creates a receiver, with the same arguments as its sender.</summary>
        /// <param name="schema">The schema of the records, with one kind.</param>
        /// <param name="level"><see cref="Level.Packed"/> or <see cref="Level.Adaptive"/>.</param>
        /// <param name="rateHz">The maximum number of records per second.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe StreamReceiver(
            Schema schema, string level, int rateHz, StreamOptions options = null)
        {
            Require.NotNull(schema, nameof(schema));
            Require.NotNegative(rateHz, nameof(rateHz));
            byte[] name = Interop.ToText(level, nameof(level));
            Native.KpStreamOptions native = (options ?? new StreamOptions()).ToNative();
            schema.Check(Native.kp_stream_receiver_new(
                schema.Id, name, (uint)rateHz, &native, out ulong made));
            Own(made);
            table = schema.Table;
        }

        /// <summary>Handles a packet. <see cref="Read"/> writes its new records.</summary>
        /// <param name="nowNs">The time, in nanoseconds since any fixed moment.</param>
        /// <param name="datagram">The packet.</param>
        /// <param name="count">The number of new records, at most <see cref="MaxRecords"/>.</param>
        /// <returns>
        /// False if the packet was refused, for example as a duplicate. A refused packet changes
        /// only a counter.
        /// </returns>
        public unsafe bool Handle(ulong nowNs, ArraySegment<byte> datagram, out int count)
        {
            Require.Holds(datagram, nameof(datagram));
            fixed (byte* first = datagram.Array)
            {
                byte* begin = first + datagram.Offset;
                UIntPtr size = (UIntPtr)datagram.Count;
                Status status = Native.kp_stream_receiver_handle(
                    Id, nowNs, begin, size, out UIntPtr found);
                return Succeeds(status, Status.Data, found, out count);
            }
        }

        /// <summary>Writes the records of the last packet, oldest first.</summary>
        /// <param name="records">
        /// The array to which the properties of each record are written.
        /// </param>
        /// <param name="columns">
        /// The memory of the fields to write. Fields without memory are skipped.
        /// </param>
        /// <returns>The number of records.</returns>
        /// <exception cref="KinepackException">The memory is too small.</exception>
        public unsafe int Read(Record[] records, Columns columns)
        {
            Require.NotNull(records, nameof(records));
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToWrite(table, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            fixed (Record* first = records)
            {
                UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                UIntPtr least = (UIntPtr)Math.Min((ulong)records.Length, (ulong)capacity);
                Check(Native.kp_stream_read(Id, first, least, to, fields, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Reads the record for a tick, which the server simulates now. Call it once for each tick,
        /// in order, instead of <see cref="Read"/>. From then on, acknowledgements tell the
        /// client's <see cref="InputClock"/> how early its records arrive. Send one after each tick,
        /// because the clock follows the network only as fast as they arrive.
        /// <see cref="StreamOptions.LongestRoundTripMs"/> must be at least the time from sending a
        /// record until its tick.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds since any fixed moment.</param>
        /// <param name="tick">The tick.</param>
        /// <param name="columns">
        /// The memory of the fields to write, for one record. Fields without memory are skipped.
        /// </param>
        /// <returns>
        /// False if the record did not arrive in time. Then the memory keeps its numbers. Most
        /// games repeat the last input, so let the columns be where that is.
        /// </returns>
        /// <exception cref="ArgumentException">A field has memory for no record.</exception>
        public unsafe bool TryReadForTick(ulong nowNs, uint tick, Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToWrite(table, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            {
                if (capacity == UIntPtr.Zero)
                {
                    string text = "A field has memory for no record.";
                    throw new ArgumentException(text, nameof(columns));
                }
                UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                int inTime;
                Check(Native.kp_stream_read_for_tick(Id, nowNs, tick, to, fields, &inTime));
                return inTime != 0;
            }
        }

        /// <summary>
        /// Writes the acknowledgement for the sender. Send it a few times within the longest round
        /// trip, alone or in front of another datagram. If you put it in front of a hub's
        /// datagrams, reduce <see cref="HubOptions.DatagramBytes"/> by 6.
        /// </summary>
        /// <param name="datagram">The array to write to. 6 bytes suffice.</param>
        /// <param name="size">The size of the acknowledgement in bytes.</param>
        /// <returns>False before the first packet.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe bool TryAcknowledge(byte[] datagram, out int size)
        {
            Require.NotNull(datagram, nameof(datagram));
            fixed (byte* first = datagram)
            {
                UIntPtr capacity = (UIntPtr)datagram.Length;
                Status status = Native.kp_stream_acknowledgement(
                    Id, first, capacity, out UIntPtr written);
                return Succeeds(status, Status.Nothing, written, out size);
            }
        }

        /// <summary>Returns the receiver's view of its stream.</summary>
        public StreamReceiverStatus ReadStatus()
        {
            Check(Native.kp_stream_receiver_status(Id, out StreamReceiverStatus status));
            return status;
        }

        internal override Status Free(ulong freed) => Native.kp_stream_receiver_free(freed);
    }
}
