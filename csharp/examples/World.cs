using System;
using Kinepack;

/// <summary>
/// A server's world of balls crosses a network that loses every tenth datagram. The program prints
/// the bytes per tick, and the largest error of the balls that the client shows.
/// </summary>
public static class World
{
    private const int Balls = 100;
    private const int TickHz = 60;
    private const int Ticks = 600;
    private const ulong Client = 1;

    /// <summary>The program.</summary>
    public static void Main()
    {
        Ball[] balls = new Ball[Balls];
        Ball[] shown = new Ball[Balls];
        uint[] ids = new uint[Balls];
        byte[] datagram = new byte[1200];
        LossyLink down = new LossyLink(delayTicks: 3, lossPercent: 10, seed: 1);
        LossyLink up = new LossyLink(delayTicks: 3, lossPercent: 10, seed: 2);
        for (uint ball = 0; ball < Balls; ball++)
        {
            ids[ball] = ball;
        }

        // Both sides build the same schema. Positions are metres.
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder
            .Floats("position", count: 3, min: -64.0, max: 64.0, precision: 0.001)
            .Choice("colour", max: 2)
            .Build())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Snapshot world = new Snapshot(schema))
        using (Hub hub = new Hub(codec))
        using (Receiver receiver = new Receiver(codec, TickHz))
        {
            Columns sent = ColumnsOf(schema, balls);
            Columns read = ColumnsOf(schema, shown);
            hub.Add(Client, nowNs: 0);
            long bytes = 0;
            double worst = 0.0;
            int size;
            for (int tick = 1; tick <= Ticks; tick++)
            {
                ulong now = (ulong)tick * 1000000000 / TickHz;

                // The server.
                while (up.TryTake(tick, datagram, out size))
                {
                    hub.Handle(Client, now, datagram, size);
                }
                Move(balls, tick);
                world.Clear((uint)tick);
                world.Add(ids, Balls, sent);
                hub.Tick(now, world);
                while (hub.TryPoll(out ulong _, datagram, out size))
                {
                    bytes += size;
                    down.Send(tick, datagram, size);
                }

                // The client.
                while (down.TryTake(tick, datagram, out size))
                {
                    receiver.Handle(now, datagram, size);
                }
                while (receiver.TryPoll(now, datagram, out size))
                {
                    up.Send(tick, datagram, size);
                }
                if (receiver.TryPlay(now, out Playback playback) && receiver.Count(0) == Balls)
                {
                    receiver.Read(read);
                    worst = Math.Max(worst, ErrorOf(shown, playback.Tick));
                }
            }
            double perTick = (double)bytes / Ticks;
            Console.WriteLine("{0:0.0} bytes per tick for {1} balls", perTick, Balls);
            Console.WriteLine("{0:0.0000} m off at most", worst);
        }
    }

    private static Columns ColumnsOf(Schema schema, Ball[] balls)
    {
        return new Columns(schema)
            .Set("position", balls, nameof(Ball.Position))
            .Set("colour", balls, nameof(Ball.Colour));
    }

    private static void Move(Ball[] balls, double tick)
    {
        for (int ball = 0; ball < balls.Length; ball++)
        {
            // Every second ball rests.
            double angle = ball % 2 == 0 ? (0.02 * tick) + ball : ball;
            balls[ball].Position.X = (float)(30.0 * Math.Cos(angle));
            balls[ball].Position.Y = 0.1f * ball;
            balls[ball].Position.Z = (float)(30.0 * Math.Sin(angle));
            balls[ball].Colour = (byte)(ball % 3);
        }
    }

    private static double ErrorOf(Ball[] shown, double tick)
    {
        Ball[] exact = new Ball[shown.Length];
        Move(exact, tick);
        double worst = 0.0;
        for (int ball = 0; ball < shown.Length; ball++)
        {
            double x = shown[ball].Position.X - exact[ball].Position.X;
            double y = shown[ball].Position.Y - exact[ball].Position.Y;
            double z = shown[ball].Position.Z - exact[ball].Position.Z;
            worst = Math.Max(worst, Math.Sqrt((x * x) + (y * y) + (z * z)));
        }
        return worst;
    }

    private struct Vector3
    {
        public float X;
        public float Y;
        public float Z;
    }

    private struct Ball
    {
        public Vector3 Position;
        public byte Colour;
    }
}
