using System;
using Kinepack;

/// <summary>
/// A client simulates just far enough ahead of its server that its inputs arrive in time.
/// </summary>
internal static class InputClocks
{
    private const int Ticks = 400;
    private const int TickHz = 60;

    internal static void Run()
    {
        using (Schema schema = MakeSchema())
        using (StreamSender client = new StreamSender(schema, Level.Adaptive, TickHz))
        using (StreamReceiver server = new StreamReceiver(schema, Level.Adaptive, TickHz))
        using (InputClock clock = new InputClock(TickHz))
        {
            Travel(schema, client, server, clock);
            RefusesOptions();
            Refuses(schema, client, server);
        }
    }

    private static Schema MakeSchema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder.Integer("number", 0, 65535).Bool("fires").Build();
        }
    }

    private static Columns ColumnsOf(Schema schema, Input[] inputs)
    {
        return new Columns(schema)
            .Set(0, inputs, nameof(Input.Number))
            .Set(1, inputs, nameof(Input.Fires));
    }

    /// <summary>
    /// Datagrams take three ticks in each direction, and one in 20 is lost.
    /// </summary>
    private static void Travel(
        Schema schema, StreamSender client, StreamReceiver server, InputClock clock)
    {
        Input[] input = new Input[1];
        Input[] used = new Input[1];
        Columns from = ColumnsOf(schema, input);
        Columns to = ColumnsOf(schema, used);
        LossyLink up = new LossyLink(3, 5, 3);
        LossyLink down = new LossyLink(3, 5, 4);
        byte[] bytes = new byte[1300];
        long garbage = 0;
        int lateTicks = 0;
        uint newest = 0;
        bool isStarted = false;
        Check.That(!clock.TryTick(out double tick), "no tick before the start");
        using (Session session = new Session())
        {
            for (int serverTick = 1; serverTick <= Ticks; serverTick++)
            {
                garbage = serverTick == 200 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
                ulong now = Network.TimeNs(serverTick);
                session.Step(serverTick);
                while (up.TryTake(serverTick, bytes, out int packet))
                {
                    ArraySegment<byte> segment = new ArraySegment<byte>(bytes, 0, packet);
                    Check.That(server.Handle(now, segment, out _), "a valid packet");
                }
                int before = used[0].Number;
                bool inTime = server.TryReadForTick(now, (uint)serverTick, to);
                Check.That(used[0].Number == (inTime ? serverTick : before), "the tick's input");
                Check.That(used[0].Fires == used[0].Number % 2, "the same input");
                lateTicks += serverTick > 200 && !inTime ? 1 : 0;
                if (server.TryAcknowledge(bytes, out int size))
                {
                    Check.That(size == 3 || size == 5, "an acknowledgement of 3 or 5 bytes");
                    down.Send(serverTick, bytes, size);
                }
                while (down.TryTake(serverTick, bytes, out size))
                {
                    ArraySegment<byte> segment = new ArraySegment<byte>(bytes, 0, size);
                    Check.That(clock.Handle(now, client, segment), "a valid acknowledgement");
                }
                isStarted = isStarted || clock.TryStart(now, session.Receiver);
                int count = clock.Ticks(now, out uint first);
                Check.That(count == 0 || (isStarted && first > newest), "each tick once");
                for (int nth = 0; nth < count; nth++)
                {
                    newest = first + (uint)nth;
                    input[0].Number = (ushort)newest;
                    input[0].Fires = (byte)(newest % 2);
                    client.PushForTick(newest, from);
                }
                if (client.TryPoll(bytes, out size))
                {
                    up.Send(serverTick, bytes, size);
                }
            }
            garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
        }
        Check.That(garbage == 0, "no garbage from an input clock, not " + garbage);
        Check.That(lateTicks <= 4, "inputs in time, not " + lateTicks + " late ones");
        Check.That(clock.TryTick(out tick), "a tick");
        StreamReceiverStatus seen = server.ReadStatus();
        Check.Equal(seen.InTime + seen.Missed, (ulong)Ticks);
        Check.That(seen.InTime > Ticks - 60 && seen.Records >= seen.InTime, "inputs in time");
        Check.That(seen.Packets + seen.Refused > 300 && seen.Recovered > 0, "packets");
        Check.That(seen.Bytes > seen.Packets, "bytes");
        double lead = tick - Ticks;
        Check.That(lead > 3.0 && lead < 6.0, "a lead of 3 to 6 ticks, not " + lead);
        InputClockStatus status = clock.ReadStatus();
        Check.That(status.IsStarted && status.Reports > 20, "reports");
        Check.That(status.Ticks > Ticks - 60 && status.Skipped < 60, "ticks");
        Check.That(status.EarlyTicks > -3.0 && Math.Abs(status.ErrorMs) < 70.0, "a small error");
        Check.That(status.Jumps < 5, "few jumps");
        Console.WriteLine("  a lead of {0:0.0} ticks, {1} inputs late or lost", lead, lateTicks);
    }

    private static void RefusesOptions()
    {
        Check.Refused(Status.Argument, () => new InputClock(0));
        Check.Refused(Status.Argument, () => new InputClock(10001));
        Check.Throws<ArgumentOutOfRangeException>(() => new InputClock(-1));
        InputClockOptions[] refused =
        {
            new InputClockOptions { InTimeRatio = float.NaN },
            new InputClockOptions { InTimeRatio = 1.5f },
            new InputClockOptions { SlewRatio = -0.1f },
            new InputClockOptions { MarginMs = 60001 },
            new InputClockOptions { WindowMs = int.MaxValue },
        };
        foreach (InputClockOptions options in refused)
        {
            Check.Refused(Status.Argument, () => new InputClock(TickHz, options));
        }
        InputClockOptions[] negative =
        {
            new InputClockOptions { JumpForwardMs = -1 },
            new InputClockOptions { JumpBackMs = -1 },
            new InputClockOptions { WindowMs = -1 },
            new InputClockOptions { LongestFrameMs = -1 },
        };
        foreach (InputClockOptions options in negative)
        {
            Check.Throws<ArgumentOutOfRangeException>(() => new InputClock(TickHz, options));
        }
        new InputClock(TickHz, new InputClockOptions { MarginMs = int.MinValue }).Dispose();
    }

    private static void Refuses(Schema schema, StreamSender client, StreamReceiver server)
    {
        Input[] input = new Input[1];
        Columns columns = ColumnsOf(schema, input);
        InputClock clock = new InputClock(TickHz);
        ArraySegment<byte> none = new ArraySegment<byte>(new byte[5], 0, 0);
        foreach (double tick in new[] { double.NaN, double.PositiveInfinity, -1.0, 5e9 })
        {
            Check.Refused(Status.Argument, () => clock.Start(0, tick));
        }
        Check.That(!clock.ReadStatus().IsStarted, "no start");
        clock.Start(0, 10.25);
        Check.That(clock.TryTick(out double now) && Math.Abs(now - 10.25) < 1e-6, "the tick");
        Check.Equal(clock.Ticks(3600000000000, out uint first), InputClock.MaxTicks);
        Check.Equal(first, 216010u - 15u);
        Check.That(clock.Ticks(ulong.MaxValue, out first) <= InputClock.MaxTicks, "few ticks");
        foreach (byte[] noise in Random.Noise(500))
        {
            clock.Handle(0, client, new ArraySegment<byte>(noise));
        }
        Check.That(!clock.Handle(0, client, none), "an empty acknowledgement to be refused");
        Check.Throws<ArgumentNullException>(() => clock.Handle(0, null, none));
        Check.Throws<ArgumentNullException>(
            () => clock.Handle(0, client, default(ArraySegment<byte>)));
        Check.Throws<ArgumentNullException>(() => clock.TryStart(0, null));
        Check.Throws<ArgumentNullException>(() => client.PushForTick(1, null));
        Check.Throws<ArgumentException>(() => client.PushForTick(1, new Columns(schema)));
        input[0].Fires = 2;
        Check.Refused(Status.Value, () => client.PushForTick(1, columns));
        Check.That(!server.TryReadForTick(0, uint.MaxValue, columns), "no such record");
        Check.That(!server.TryReadForTick(ulong.MaxValue, 0, new Columns(schema)), "no record");
        Check.Equal((int)input[0].Fires, 2);
        Check.Throws<ArgumentNullException>(() => server.TryReadForTick(0, 1, null));
        Columns empty = ColumnsOf(schema, new Input[0]);
        Check.Throws<ArgumentException>(() => server.TryReadForTick(0, 1, empty));

        foreach (ulong wrong in new ulong[] { 0, client.Id, clock.Id + 1 })
        {
            Check.Equal(Native.kp_input_clock_free(wrong), Status.Handle);
            Check.Equal(Native.kp_input_clock_start(wrong, 0, 1.0), Status.Handle);
            Check.Equal(Native.kp_input_clock_start_from(clock.Id, 0, wrong), Status.Handle);
        }
        clock.Dispose();
        clock.Dispose();
        Check.Throws<ObjectDisposedException>(() => clock.Start(0, 1.0));
        Check.Throws<ObjectDisposedException>(() => clock.Ticks(0, out _));
        Check.Throws<ObjectDisposedException>(() => clock.TryTick(out _));
        Check.Throws<ObjectDisposedException>(() => clock.Handle(0, client, none));
        Check.Throws<ObjectDisposedException>(() => clock.ReadStatus());
        client.Dispose();
        server.Dispose();
        Check.Throws<ObjectDisposedException>(() => client.PushForTick(1, columns));
        Check.Throws<ObjectDisposedException>(() => server.TryReadForTick(0, 1, columns));
    }

    private struct Input
    {
        internal ushort Number;
        internal byte Fires;
    }
}
