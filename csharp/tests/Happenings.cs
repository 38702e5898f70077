using System;
using Kinepack;

/// <summary>
/// Events of a hub, the entities that receivers may see, and the status of the connection.
/// </summary>
internal static class Happenings
{
    internal static void Run()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder
            .Kind("hit")
            .Integer("strength", 0, 1000)
            .Kind("blast")
            .Floats("place", 2, -32.0, 32.0, 0.01)
            .Build())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Events events = new Events(codec, new[] { -1, 5 }))
        using (Session session = new Session(events))
        {
            Check.Refused(Status.Argument, () => new Events(codec, new int[3]));
            Check.Throws<ArgumentNullException>(() => new Events(null));
            new Events(codec).Dispose();
            Travel(schema, session);
            Connections(session);
            Sight(schema, session);
            Refuses(schema, session);
        }
    }

    private static void Travel(Schema schema, Session session)
    {
        const int Ticks = 300;
        Hub hub = session.Hub;
        Receiver receiver = session.Receiver;
        ushort[] strength = new ushort[1];
        uint[] readStrength = new uint[1];
        float[] place = { 1.0f, 2.0f };
        float[] readPlace = new float[2];
        uint[] ids = new uint[Session.Balls];
        Columns hit = new Columns(schema).Set(0, strength);
        Columns blast = new Columns(schema, 1).Set(0, place);
        Columns readHit = new Columns(schema).Set(0, readStrength);
        Columns readBlast = new Columns(schema, 1).Set(0, readPlace);
        uint lastHit = 0;
        int blasts = 0;
        bool hasPlayed = false;
        long garbage = 0;
        for (int tick = 1; tick <= Ticks; tick++)
        {
            garbage = tick == 100 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
            strength[0] = (ushort)tick;
            if (tick == Ticks - 60)
            {
                session.Down.LossPercent = session.Up.LossPercent = 0;
            }
            if (tick % 10 == 0)
            {
                hub.Emit(hit);
                hub.EmitSeeing(blast, 7);
            }
            if (!session.Step(tick))
            {
                continue;
            }
            while (receiver.TryNextEvent(out Event next))
            {
                if (next.Kind == 1)
                {
                    receiver.ReadEvent(readBlast);
                    Check.That(Math.Abs(readPlace[1] - 2.0f) < 0.01f, "the place of the blast");
                    blasts++;
                    continue;
                }
                receiver.ReadEvent(readHit);
                Check.That(next.Tick == readStrength[0], "the hit of its tick");
                Check.That(next.Tick <= session.Playback.Tick, "no hit of the future");
                Check.That(lastHit == 0 || next.Tick == lastHit + 10, "all hits in order");
                lastHit = next.Tick;
            }
            int added = receiver.ReadAdded(ids);
            Check.That(added == (hasPlayed ? 0 : Session.Balls), "all entities added once");
            Check.That(receiver.ReadRemoved(ids) == 0, "no entity removed");
            hasPlayed = true;
        }
        garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
        Check.That(garbage == 0, "no garbage from events, not " + garbage);
        Check.That(lastHit > Ticks - 40, "recent hits, not only until " + lastHit);
        Check.That(blasts > 15, "most blasts, not " + blasts);
    }

    private static void Connections(Session session)
    {
        HubStatus sent = session.Hub.StatusOf(42);
        Check.That(sent.HasJoined && sent.Lost > 10 && sent.Acknowledged > 100, "losses");
        Check.That(sent.RoundTripMs > 80.0 && sent.Sent > sent.Acknowledged, "a round trip");
        Check.That(sent.Waiting == 0 && sent.Bytes == (ulong)session.SentBytes, "all sent");
        ReceiverStatus received = session.Receiver.StatusAt(Network.TimeNs(300));
        Check.That(received.HasJoined && received.Lost > 10, "losses");
        Check.That(received.Received > 100 && received.Bytes < sent.Bytes, "bytes");
        Check.That(Math.Abs(received.ServerTick - 300.0) < 3.0, "the server's tick");
        Check.That(received.RoundTripMs > 0.0 && received.Refused == 0, "a round trip");
        Check.Refused(Status.Argument, () => session.Hub.StatusOf(43));
    }

    /// <summary>The receiver may see only some balls, and then none.</summary>
    private static void Sight(Schema schema, Session session)
    {
        Hub hub = session.Hub;
        uint[] two = { 0, 7, 14 };
        hub.SetWeights(42, two, new[] { 1.0f, 100.0f }, 2);
        hub.SetRelevant(42, two, 2);
        uint[] removed = new uint[Session.Balls];
        int gone = 0;
        for (int tick = 301; tick < 340; tick++)
        {
            session.Step(tick);
            gone += session.Receiver.ReadRemoved(removed);
        }
        Check.Equal(gone, Session.Balls - 2);
        Check.That(session.Receiver.TryNewest(session.Newest), "a state");
        Check.Equal(session.Newest.Count(0), 2);
        hub.SetRelevant(42, new uint[0], 0);
        Check.Equal(CountAfter(session, 341), 0);
        hub.SetAllRelevant(42);
        Check.Equal(CountAfter(session, 351), Session.Balls);

        // All events that have arrived are due, and playback does not show them again.
        Columns early = new Columns(schema).Set(0, new ushort[] { 5 });
        int taken = 0;
        hub.Emit(early);
        for (int tick = 361; tick < 380; tick++)
        {
            session.Step(tick);
            session.Receiver.TakeEvents();
            Check.Refused(Status.Nothing, () => session.Receiver.ReadEvent(early));
            while (session.Receiver.TryNextEvent(out Event next))
            {
                session.Receiver.ReadEvent(early);
                taken++;
            }
        }
        Check.Equal(taken, 1);

        // With an empty list, no receiver gets the event.
        Columns hit = new Columns(schema).Set(0, new ushort[] { 1000 });
        int events = 0;
        ulong[] receivers = { 42, 43 };
        hub.EmitTo(hit, new ulong[0], 0);
        hub.EmitTo(hit, receivers, 0);
        hub.EmitTo(hit, receivers, 1);
        for (int tick = 380; tick < 400; tick++)
        {
            session.Step(tick);
            while (session.Receiver.TryNextEvent(out Event next))
            {
                events += next.Tick >= 380 ? 1 : 0;
            }
        }
        Check.Equal(events, 1);
    }

    private static int CountAfter(Session session, int first)
    {
        for (int tick = first; tick < first + 10; tick++)
        {
            session.Step(tick);
        }
        session.Receiver.TryNewest(session.Newest);
        return session.Newest.Count(0);
    }

    private static void Refuses(Schema schema, Session session)
    {
        Hub hub = session.Hub;
        Receiver receiver = session.Receiver;
        ushort[] strength = { 1001 };
        uint[] ids = { 7, 7 };
        float[] weights = { 1.0f, 1.0f };
        Columns hit = new Columns(schema).Set(0, strength);
        Columns blast = new Columns(schema, 1).Set(0, new float[2]);
        Columns balls = Session.Columns(session.Schema, new Ball[9]);
        Check.Refused(Status.Value, () => hub.Emit(hit));
        Check.Refused(Status.Value, () => hub.EmitSeeing(hit, 7));
        Check.Throws<ArgumentNullException>(() => hub.Emit(null));
        Check.Throws<ArgumentNullException>(() => hub.EmitSeeing(null, 7));
        Check.Throws<ArgumentException>(() => hub.Emit(balls));
        Check.Throws<ArgumentException>(() => hub.Emit(new Columns(schema)));
        Check.Refused(Status.Argument, () => hub.SetRelevant(42, ids, 2));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.SetRelevant(42, ids, 3));
        Check.Throws<ArgumentNullException>(() => hub.SetRelevant(42, null, 0));
        Check.Refused(Status.Argument, () => hub.SetRelevant(43, ids, 0));
        Check.Refused(Status.Argument, () => hub.SetAllRelevant(43));
        Check.Throws<ArgumentNullException>(() => hub.EmitTo(hit, null, 0));
        Check.Throws<ArgumentNullException>(() => hub.EmitTo(null, new ulong[1], 1));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.EmitTo(hit, new ulong[1], 2));
        Check.Refused(Status.Argument, () => hub.SetWeights(42, ids, weights, 2));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.SetWeights(42, ids, weights, 3));
        Check.Throws<ArgumentNullException>(() => hub.SetWeights(42, null, weights, 0));
        Check.Throws<ArgumentNullException>(() => hub.SetWeights(42, ids, null, 0));
        Check.Refused(Status.Argument, () => hub.SetKind("cup", 2, 1.0f));
        Check.Throws<ArgumentNullException>(() => hub.SetKind(null, 2, 1.0f));
        Check.Throws<ArgumentNullException>(() => receiver.ReadAdded(null));
        Check.Throws<ArgumentNullException>(() => receiver.ReadRemoved(null));
        Check.Throws<ArgumentNullException>(() => receiver.ReadCut(null));

        // The memory must be for the kind of the event.
        Check.Refused(Status.Nothing, () => receiver.ReadEvent(hit));
        strength[0] = 9;
        hub.Emit(hit);
        int found = 0;
        for (int tick = 400; tick < 440 && found == 0; tick++)
        {
            session.Step(tick);
            found += receiver.TryNextEvent(out Event _) ? 1 : 0;
        }
        Check.Equal(found, 1);
        Check.Throws<ArgumentNullException>(() => receiver.ReadEvent(null));
        Check.Refused(Status.Argument, () => receiver.ReadEvent(blast));
        Check.Throws<ArgumentException>(() => receiver.ReadEvent(balls));
        Columns empty = new Columns(schema).Set(0, new ushort[0]);
        Check.Throws<ArgumentException>(() => receiver.ReadEvent(empty));
        strength[0] = 0;
        receiver.ReadEvent(hit);
        Check.Equal(strength[0], (ushort)9);
        using (Session silent = new Session())
        {
            Check.Throws<InvalidOperationException>(() => silent.Hub.Emit(hit));
            Check.Throws<ArgumentException>(() => silent.Receiver.ReadEvent(hit));
            Check.That(!silent.Receiver.TryNextEvent(out Event _), "no event");
        }
    }
}
