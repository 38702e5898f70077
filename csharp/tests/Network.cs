using System;
using Kinepack;

/// <summary>
/// A hub and a receiver with a network between them that loses every fifth datagram.
/// </summary>
internal static class Network
{
    private const int TickHz = 60;
    private const ulong Receiver = 42;

    internal static void Run()
    {
        using (Session session = new Session())
        {
            Plays(session);
            Refuses(session);
        }
    }

    internal static ulong TimeNs(int tick) => (ulong)tick * 1000000000 / TickHz;

    private static void Plays(Session session)
    {
        const int Ticks = 300;
        int played = 0;
        double worst = 0.0;
        double lastTick = 0.0;
        uint[] ids = new uint[Session.Balls];
        Check.That(!session.Receiver.TryPlay(0, out Playback playback), "no state yet");
        Check.That(!session.Receiver.TryNewest(session.Newest), "no state yet");
        Check.That(!session.Receiver.InjectFault(7, 0), "no state yet");
        Check.That(!session.Hub.TryPoll(out _, new byte[9], out int size), "no datagram yet");
        Check.Equal(session.Receiver.Count(0), 0);
        for (int tick = 1; tick <= Ticks; tick++)
        {
            if (tick == Ticks - 60)
            {
                session.Down.LossPercent = session.Up.LossPercent = 0;
            }
            if (!session.Step(tick))
            {
                continue;
            }
            playback = session.Playback;
            Check.That(playback.Tick >= lastTick, "playback that does not go back");
            lastTick = playback.Tick;
            Check.Equal(session.Receiver.ReadIds(0, ids), Session.Balls);
            Check.Equal(ids[9], 63u);
            worst = Math.Max(worst, tick > 100 ? session.ErrorOf(playback.Tick) : 0.0);
            played++;
        }
        Check.That(played > 220, "more than 220 ticks played, not " + played);
        Check.That(worst < 0.1, "balls less than 0.1 m off, not " + worst);
        Check.That(session.Receiver.TryNewest(session.Newest), "a newest state");
        Check.That(session.Newest.Tick + 4 >= Ticks, "a recent state");
        Check.Equal(session.Newest.Count(0), Session.Balls);
        Console.WriteLine(
            "  {0} bytes for {1} ticks, {2:0.000} m off at most", session.SentBytes, Ticks, worst);
    }

    private static void Refuses(Session session)
    {
        Hub hub = session.Hub;
        Kinepack.Receiver receiver = session.Receiver;
        ulong now = TimeNs(300);
        byte[] three = new byte[3];
        Check.That(!receiver.Handle(now, three, 3), "a datagram without meaning to be refused");
        Check.That(!receiver.Handle(now, three, 0), "an empty datagram to be refused");
        Check.That(!hub.Handle(43, now, three, 3), "a datagram of a stranger to be refused");
        ArraySegment<byte> part = new ArraySegment<byte>(three, 1, 2);
        Check.That(!receiver.Handle(now, part), "a part without meaning to be refused");
        Check.That(!hub.Handle(Receiver, now, part), "a part without meaning to be refused");
        Check.Throws<ArgumentNullException>(() => hub.Handle(Receiver, now, null, 3));
        Check.Throws<ArgumentNullException>(
            () => hub.Handle(Receiver, now, default(ArraySegment<byte>)));
        Check.Throws<ArgumentNullException>(
            () => receiver.Handle(now, default(ArraySegment<byte>)));
        Check.Throws<ArgumentNullException>(() => receiver.Handle(now, null, 0));
        Check.Throws<ArgumentOutOfRangeException>(() => receiver.Handle(now, three, 4));
        Check.Throws<ArgumentOutOfRangeException>(() => receiver.Handle(now, three, -1));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.Handle(Receiver, now, three, 4));
        Check.Throws<ArgumentNullException>(() => hub.Tick(now, null));
        Check.Throws<ArgumentNullException>(() => hub.TryPoll(out _, null, out _));
        Check.Throws<ArgumentNullException>(() => receiver.TryPoll(now, null, out _));
        Check.Throws<ArgumentNullException>(() => receiver.TryNewest(null));
        Check.Throws<ArgumentNullException>(() => receiver.ReadIds(0, null));
        Check.Throws<ArgumentNullException>(() => receiver.Read(null));
        Check.Refused(Status.Argument, () => hub.Tick(now, session.World));
        Check.Refused(Status.Argument, () => hub.Add(Receiver, now));
        Check.Refused(Status.Argument, () => hub.Remove(43));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.Add(44, now, -1));
        Check.Refused(Status.Size, () => receiver.ReadIds(0, new uint[Session.Balls - 1]));
        Check.Refused(Status.Argument, () => receiver.ReadIds(1, new uint[Session.Balls]));
        Check.Refused(Status.Argument, () => receiver.Count(-1));
        Ball[] few = new Ball[Session.Balls - 1];
        Check.Refused(Status.Size, () => receiver.Read(Session.Columns(session.Schema, few)));

        // A datagram that does not fit is kept.
        now = TimeNs(301);
        session.World.Clear(301);
        hub.Tick(now, session.World);
        byte[] datagram = new byte[1300];
        Check.Refused(Status.Size, () => hub.TryPoll(out _, new byte[1], out _));
        Check.Refused(Status.Size, () => hub.TryPoll(out _, new byte[0], out _));
        Check.That(hub.TryPoll(out ulong whom, datagram, out int size), "the datagram");
        Check.That(whom == Receiver && size > 1, "the datagram");
        Check.That(receiver.Handle(now, datagram, size), "a valid datagram");
        Check.That(!receiver.Handle(now, datagram, size), "a duplicate to be refused");
        Check.That(!receiver.InjectFault(7, 1000), "no such lane");
        Check.Throws<ArgumentOutOfRangeException>(() => receiver.InjectFault(7, -1));

        // Random bytes may be valid datagrams, so playback is not checked after them.
        foreach (byte[] noise in Random.Noise(500))
        {
            receiver.Handle(now, noise, noise.Length);
            hub.Handle(Receiver, now, noise, noise.Length);
        }
        hub.Remove(Receiver);
        Check.That(!hub.Handle(Receiver, now, three, 3), "a datagram of a removed receiver");
    }
}
