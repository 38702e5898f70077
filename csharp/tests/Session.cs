using System;
using Kinepack;

internal unsafe struct Ball
{
    internal fixed double Place[2];
    internal byte Colour;
}

/// <summary>A hub, a receiver and a network between them. It allocates nothing in a tick.</summary>
internal sealed class Session : IDisposable
{
    internal const int Balls = 50;

    private readonly Ball[] balls = new Ball[Balls];
    private readonly Ball[] shown = new Ball[Balls];
    private readonly uint[] ids = new uint[Balls];
    private readonly byte[] datagram = new byte[1300];
    private readonly Codec codec;
    private readonly Columns sent;
    private readonly Columns read;

    internal Session(Events events = null)
    {
        for (uint nth = 0; nth < Balls; nth++)
        {
            ids[nth] = 7 * nth;
        }
        Schema = MakeSchema();
        codec = new Codec(Schema, Level.Adaptive);
        Check.Refused(Status.Argument, () => new Hub(codec, new HubOptions { DatagramBytes = 5 }));
        Hub = new Hub(codec, new HubOptions { Events = events });
        Hub.Add(42, 0);
        Receiver = new Receiver(codec, 60, new ReceiverOptions { Events = events });
        World = new Snapshot(Schema);
        Newest = new Snapshot(Schema);
        sent = Columns(Schema, balls);
        read = Columns(Schema, shown);
    }

    internal Schema Schema { get; }

    internal Hub Hub { get; }

    internal Receiver Receiver { get; }

    internal Snapshot World { get; }

    internal Snapshot Newest { get; }

    internal LossyLink Down { get; } = new LossyLink(3, 20, 1);

    internal LossyLink Up { get; } = new LossyLink(3, 20, 2);

    internal Playback Playback { get; private set; }

    internal long SentBytes { get; private set; }

    public void Dispose()
    {
        Hub.Dispose();
        Receiver.Dispose();
        World.Dispose();
        Newest.Dispose();
        codec.Dispose();
        Schema.Dispose();
    }

    internal static Schema MakeSchema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder.Floats("place", 2, -32.0, 32.0, 0.001).Choice("colour", 2).Build();
        }
    }

    internal static Columns Columns(Schema schema, Ball[] balls)
    {
        return new Columns(schema)
            .Set(0, balls, nameof(Ball.Place))
            .Set(1, balls, nameof(Ball.Colour));
    }

    /// <summary>Runs a tick of both sides. Returns whether the receiver plays.</summary>
    internal bool Step(int tick)
    {
        ulong now = Network.TimeNs(tick);
        int size;
        while (Up.TryTake(tick, datagram, out size))
        {
            Hub.Handle(42, now, datagram, size);
        }
        Move(balls, tick);
        World.Clear((uint)tick);
        World.Add(ids, Balls, sent);
        Hub.Tick(now, World);
        while (Hub.TryPoll(out ulong whom, datagram, out size))
        {
            Check.That(whom == 42, "a datagram for the receiver");
            SentBytes += size;
            Down.Send(tick, datagram, size);
        }
        while (Down.TryTake(tick, datagram, out size))
        {
            Receiver.Handle(now, datagram, size);
        }
        while (Receiver.TryPoll(now, datagram, out size))
        {
            Up.Send(tick, datagram, size);
        }
        if (!Receiver.TryPlay(now, out Playback playback))
        {
            return false;
        }
        Playback = playback;
        Receiver.Read(read);
        return true;
    }

    /// <summary>How far the shown balls are from the right place, in metres.</summary>
    internal double ErrorOf(double tick)
    {
        double worst = 0.0;
        for (int nth = 0; nth < Balls; nth++)
        {
            worst = Math.Max(worst, Distance(shown[nth], nth, tick));
        }
        return worst;
    }

    /// <summary>How far a ball is from its place at a tick, in metres.</summary>
    internal static unsafe double Distance(Ball ball, int nth, double tick)
    {
        Ball should = At(nth, tick);
        double x = ball.Place[0] - should.Place[0];
        double y = ball.Place[1] - should.Place[1];
        Check.Equal(ball.Colour, should.Colour);
        return Math.Sqrt((x * x) + (y * y));
    }

    internal static void Move(Ball[] balls, double tick)
    {
        for (int nth = 0; nth < Balls; nth++)
        {
            balls[nth] = At(nth, tick);
        }
    }

    private static unsafe Ball At(int nth, double tick)
    {
        double angle = nth % 2 == 0 ? (0.02 * tick) + nth : nth;
        Ball ball = default(Ball);
        ball.Place[0] = 30.0 * Math.Cos(angle);
        ball.Place[1] = 30.0 * Math.Sin(angle);
        ball.Colour = (byte)(nth % 3);
        return ball;
    }
}
