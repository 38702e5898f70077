using System;
using Kinepack;

/// <summary>
/// A stream of inputs from a client to a server, with a network that loses every fourth packet.
/// </summary>
internal static class Inputs
{
    private const int Ticks = 600;
    private const int TickHz = 60;

    internal static void Run()
    {
        StreamOptions options = new StreamOptions { Repeats = 3 };
        using (Schema schema = Schema())
        using (StreamSender client = new StreamSender(schema, Level.Adaptive, TickHz, options))
        using (StreamReceiver server = new StreamReceiver(schema, Level.Adaptive, TickHz, options))
        {
            Travel(schema, client, server);
            Refuses(schema, client, server);
            WithoutHeaders(schema, Level.Packed);
            WithoutHeaders(schema, Level.Adaptive);
        }
    }

    private static Schema Schema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder
                .Floats("aim", 2, -180.0, 180.0, 0.01)
                .Bool("fires")
                .Integer("weapon", -2, 5)
                .Build();
        }
    }

    private static Columns ColumnsOf(Schema schema, Input[] inputs)
    {
        return new Columns(schema)
            .Set(0, inputs, nameof(Input.Aim))
            .Set(1, inputs, nameof(Input.Fires))
            .Set(2, inputs, nameof(Input.Weapon));
    }

    /// <summary>Each packet has the three inputs after those of the previous packet.</summary>
    private static void WithoutHeaders(Schema schema, string level)
    {
        const int Each = 3;
        Input[] inputs = new Input[Each];
        Input[] got = new Input[Each];
        Columns from = ColumnsOf(schema, inputs);
        Columns to = ColumnsOf(schema, got);
        byte[] packet = new byte[200];
        using (StreamCodec codec = new StreamCodec(schema, level))
        using (StreamBase sent = new StreamBase(codec))
        using (StreamBase received = new StreamBase(codec))
        {
            long garbage = 0;
            int size = 0;
            for (int tick = 0; tick < 60; tick += Each)
            {
                garbage = tick == 30 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
                for (int nth = 0; nth < Each; nth++)
                {
                    inputs[nth] = Input.At(tick + nth);
                }
                bool fits = codec.TryEncode(sent, 1, from, Each, packet, out size, sent);
                ArraySegment<byte> part = new ArraySegment<byte>(packet, 0, size);
                bool valid = codec.TryDecode(received, 1, part, Each, to, received);
                Check.That(fits && valid, "a packet");
                for (int nth = 0; nth < Each; nth++)
                {
                    Check.That(Input.AreClose(got[nth], inputs[nth]), "the same input");
                }
            }
            garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
            Check.That(garbage == 0, "no garbage from a codec of streams, not " + garbage);
            RefusesPackets(schema, codec, sent, from);
        }
    }

    private static void RefusesPackets(
        Schema schema, StreamCodec codec, StreamBase known, Columns columns)
    {
        byte[] packet = new byte[200];
        ArraySegment<byte> none = new ArraySegment<byte>(packet, 0, 0);
        StreamBase last = new StreamBase(codec);
        Check.That(!codec.TryDecode(known, 1, none, 3, columns, last), "no bytes to be refused");
        Check.That(!codec.TryEncode(known, 1, columns, 3, new byte[0], out int size, last), "size");
        Check.That(size > 0, "the size");
        foreach (byte[] noise in Random.Noise(500))
        {
            codec.TryDecode(known, 1, new ArraySegment<byte>(noise), 3, columns, last);
        }
        Check.Throws<ArgumentNullException>(
            () => codec.TryEncode(null, 1, columns, 1, packet, out size, null));
        Check.Throws<ArgumentNullException>(
            () => codec.TryEncode(known, 1, null, 1, packet, out size, null));
        Check.Throws<ArgumentNullException>(
            () => codec.TryEncode(known, 1, columns, 1, null, out size, null));
        Check.Throws<ArgumentException>(
            () => codec.TryEncode(known, 1, columns, 4, packet, out size, null));
        Check.Throws<ArgumentOutOfRangeException>(
            () => codec.TryEncode(known, 1, columns, -1, packet, out size, null));
        Check.Throws<ArgumentOutOfRangeException>(
            () => codec.TryEncode(known, 65536, columns, 1, packet, out size, null));
        Check.Refused(
            Status.Argument,
            () => codec.TryEncode(known, 0, columns, 1, packet, out size, null));
        Check.Refused(
            Status.Argument,
            () => codec.TryEncode(known, 1, columns, 0, packet, out size, null));
        Check.Throws<ArgumentNullException>(
            () => codec.TryDecode(null, 1, none, 1, columns, last));
        Check.Throws<ArgumentNullException>(
            () => codec.TryDecode(known, 1, default(ArraySegment<byte>), 1, columns, last));
        Check.Throws<ArgumentNullException>(
            () => codec.TryDecode(known, 1, none, 1, null, last));
        Check.Throws<ArgumentNullException>(
            () => codec.TryDecode(known, 1, none, 1, columns, null));
        Check.Throws<ArgumentException>(
            () => codec.TryDecode(known, 1, none, 4, columns, last));
        Check.Throws<ArgumentNullException>(() => new StreamCodec(null, Level.Packed));
        Check.Throws<ArgumentNullException>(() => new StreamBase(null));
        Check.Refused(Status.Argument, () => new StreamCodec(schema, Level.Learning));
        using (StreamCodec other = new StreamCodec(schema, Level.Packed))
        using (StreamCodec another = new StreamCodec(schema, Level.Adaptive))
        {
            StreamBase foreign = new StreamBase(codec.Hash == other.Hash ? another : other);
            Check.Refused(
                Status.Argument,
                () => codec.TryEncode(foreign, 1, columns, 1, packet, out size, null));
        }
        last.Dispose();
        Check.Throws<ObjectDisposedException>(
            () => codec.TryEncode(known, 1, columns, 1, packet, out size, last));
        Check.Throws<ObjectDisposedException>(
            () => codec.TryDecode(last, 1, none, 1, columns, known));
    }

    private static void Travel(Schema schema, StreamSender client, StreamReceiver server)
    {
        Input[] input = new Input[1];
        Input[] shown = new Input[StreamReceiver.MaxRecords];
        Record[] records = new Record[StreamReceiver.MaxRecords];
        Part[] parts = new Part[4];
        byte[] bytes = new byte[1300];
        Columns from = ColumnsOf(schema, input);
        Columns to = ColumnsOf(schema, shown);
        int received = 0;
        int repeated = 0;
        long sentBytes = 0;
        long garbage = 0;
        Check.That(!client.TryPoll(bytes, out int size), "no packet yet");
        Check.That(!server.TryAcknowledge(bytes, out size), "no acknowledgement yet");
        for (int tick = 0; tick < Ticks; tick++)
        {
            garbage = tick == 100 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
            ulong now = (ulong)tick * 1000000000 / TickHz;
            input[0] = Input.At(tick);
            Check.That(client.Push(from) == tick, "the number of the record");
            Check.That(client.TryPoll(bytes, out size), "a packet");
            Check.That(!client.TryPoll(bytes, out int count), "no second packet");
            sentBytes += size;
            if (tick % 4 == 1)
            {
                continue;
            }
            ArraySegment<byte> packet = new ArraySegment<byte>(bytes, 0, size);
            Check.That(server.Handle(now, packet, out count), "a valid packet");
            Check.That(!server.Handle(now, packet, out size), "a duplicate to be refused");
            Check.That(server.Read(records, to) == count, "all records");
            for (int nth = 0; nth < count; nth++)
            {
                Check.That(records[nth].Number == received, "every record, once");
                Check.That(Input.AreClose(shown[nth], Input.At(received)), "the same input");
                Check.That(!records[nth].IsLate, "records in order");
                repeated += records[nth].IsRepeated ? 1 : 0;
                received++;
            }
            // The acknowledgement is put in front of another datagram.
            Check.That(server.TryAcknowledge(bytes, out size), "an acknowledgement");
            bytes[size] = 0;
            Check.That(Datagrams.TrySplit(bytes, size + 1, parts, out count), "two parts");
            Check.That(count == 2 && parts[0].Kind == DatagramKind.ToStreamSender, "two parts");
            Check.That(parts[1].Kind == DatagramKind.ToReceiver, "a snapshot");
            Check.That(parts[1].In(bytes).Offset == size && parts[1].Channel == 0, "its place");
            Check.That(client.Handle(parts[0].In(bytes)), "a valid acknowledgement");
        }
        garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
        Check.That(garbage == 0, "no garbage from a stream, not " + garbage);
        Check.Equal(received, Ticks);
        Check.Equal(repeated, Ticks / 4);
        Console.WriteLine("  {0:0.0} bytes a packet of 4 inputs", (double)sentBytes / Ticks);
    }

    private static void Refuses(Schema schema, StreamSender client, StreamReceiver server)
    {
        byte[] bytes = new byte[100];
        Input[] input = { Input.At(0) };
        Columns columns = ColumnsOf(schema, input);
        Part[] parts = new Part[4];
        Record[] records = new Record[StreamReceiver.MaxRecords];
        StreamOptions many = new StreamOptions { Repeats = 16 };
        Check.Refused(
            Status.Argument, () => new StreamSender(schema, Level.Packed, TickHz, many));
        Check.Refused(Status.Argument, () => new StreamSender(schema, Level.Learning, TickHz));
        Check.Refused(Status.Argument, () => new StreamReceiver(schema, Level.Packed, 0));
        Check.Throws<ArgumentNullException>(() => new StreamSender(null, Level.Packed, TickHz));
        Check.Throws<ArgumentNullException>(() => new StreamReceiver(schema, null, TickHz));
        Check.Throws<ArgumentOutOfRangeException>(
            () => new StreamSender(schema, Level.Packed, -1));
        input[0].Weapon = 9;
        Check.Refused(Status.Value, () => client.Push(columns));
        Check.Throws<ArgumentNullException>(() => client.Push(null));
        Check.Throws<ArgumentException>(() => client.Push(new Columns(schema)));
        Check.Throws<ArgumentException>(() => client.Push(ColumnsOf(schema, new Input[0])));
        input[0].Weapon = 1;
        client.Push(columns);
        Check.Refused(Status.Size, () => client.TryPoll(new byte[1], out _));
        Check.That(client.TryPoll(bytes, out int size), "the packet that stayed");
        ArraySegment<byte> packet = new ArraySegment<byte>(bytes, 0, size);
        ulong now = 11000000000;
        Check.That(server.Handle(now, packet, out int count) && count > 0, "a valid packet");
        Check.Refused(Status.Size, () => server.Read(new Record[0], columns));
        Columns none = ColumnsOf(schema, new Input[0]);
        Check.Refused(Status.Size, () => server.Read(records, none));
        Check.Throws<ArgumentNullException>(() => server.Read(null, columns));
        Check.Throws<ArgumentNullException>(() => server.Read(records, null));
        Check.Refused(Status.Size, () => server.TryAcknowledge(new byte[0], out _));
        Check.Refused(Status.Size, () => Datagrams.TrySplit(bytes, size, new Part[0], out _));
        Check.Throws<ArgumentNullException>(() => Datagrams.TrySplit(null, 0, parts, out _));
        Check.Throws<ArgumentNullException>(() => Datagrams.TrySplit(bytes, 1, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Datagrams.TrySplit(bytes, 101, parts, out _));
        foreach (byte[] noise in Random.Noise(500))
        {
            ArraySegment<byte> segment = new ArraySegment<byte>(noise);
            server.Handle(now, segment, out _);
            client.Handle(segment);
            if (Datagrams.TrySplit(noise, noise.Length, new Part[64], out count))
            {
                Check.That(count > 0, "a part of a valid datagram");
            }
        }
        client.Dispose();
        server.Dispose();
        Check.Throws<ObjectDisposedException>(() => client.Push(columns));
        Check.Throws<ObjectDisposedException>(() => client.TryPoll(bytes, out _));
        Check.Throws<ObjectDisposedException>(() => client.Handle(packet));
        Check.Throws<ObjectDisposedException>(() => server.Handle(now, packet, out _));
        Check.Throws<ObjectDisposedException>(() => server.Read(records, columns));
        Check.Throws<ObjectDisposedException>(() => server.TryAcknowledge(bytes, out _));
    }

    private unsafe struct Input
    {
        internal fixed float Aim[2];
        internal byte Fires;
        internal int Weapon;

        internal static Input At(int tick)
        {
            Input input = default(Input);
            input.Aim[0] = (float)(90.0 * Math.Sin(0.05 * tick));
            input.Aim[1] = (float)(30.0 * Math.Cos(0.03 * tick));
            input.Fires = (byte)(tick % 20 < 3 ? 1 : 0);
            input.Weapon = (tick / 100) - 2;
            return input;
        }

        internal static bool AreClose(Input one, Input other)
        {
            return Math.Abs(one.Aim[0] - other.Aim[0]) < 0.0101f
                && Math.Abs(one.Aim[1] - other.Aim[1]) < 0.0101f
                && one.Fires == other.Fires
                && one.Weapon == other.Weapon;
        }
    }
}
