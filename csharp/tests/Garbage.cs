using System;
using Kinepack;

/// <summary>The calls of each tick allocate no managed memory.</summary>
internal static class Garbage
{
    private static readonly uint[] Ids = new uint[Session.Balls];

    internal static void Run()
    {
        using (Session session = new Session())
        {
            // The first ticks compile the methods, and connect.
            Ticks(session, 1, 100);
            long before = GC.GetAllocatedBytesForCurrentThread();
            Ticks(session, 101, 200);
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Check.That(bytes == 0, "no garbage from a hub and a receiver, not " + bytes);
        }
        using (Schema schema = Ship.Schema())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Encoder encoder = new Encoder(codec))
        using (Decoder decoder = new Decoder(codec))
        using (Snapshot world = new Snapshot(schema))
        using (View sent = new View(schema))
        using (View received = new View(schema))
        {
            Ship[] ships = new Ship[20];
            uint[] ids = Ship.Ids();
            byte[] packet = new byte[2000];
            Columns columns = Ship.Columns(schema, ships);
            long before = 0;
            for (int tick = 1; tick <= 50; tick++)
            {
                if (tick == 20)
                {
                    before = GC.GetAllocatedBytesForCurrentThread();
                }
                Ship.Move(ships, tick);
                world.Clear((uint)tick);
                world.Add(ids, ships.Length, columns);
                bool fits = encoder.TryEncode(sent, world, packet, out int size, sent);
                bool valid = decoder.TryDecode(received, packet, size, (uint)tick, received);
                received.CopyTo(world);
                world.Read(columns);
                world.ReadIds(0, ids);
                Check.That(fits && valid, "a packet");
            }
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Check.That(bytes == 0, "no garbage from coders, not " + bytes);
        }
    }

    private static void Ticks(Session session, int first, int last)
    {
        for (int tick = first; tick <= last; tick++)
        {
            if (session.Step(tick) && session.Receiver.Count(0) == Session.Balls)
            {
                session.Receiver.ReadIds(0, Ids);
                session.Receiver.TryNewest(session.Newest);
            }
        }
    }
}
