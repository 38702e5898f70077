using System;
using System.Collections.Generic;
using Kinepack;

/// <summary>
/// A server publishes three tiers. A relay keeps the newest group of each track. A viewer joins in
/// the middle of a group, changes its tier, and rewinds in its history.
/// </summary>
internal static class Broadcasts
{
    private const int Ticks = 300;
    private const int TickHz = 60;
    private const int Joined = 100;
    private const int Changed = 180;
    private const int Full = 0;
    private const int Left = 1;
    private const int Fast = 2;

    internal static void Run()
    {
        using (Schema schema = Session.MakeSchema())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Catalogue catalogue = MakeCatalogue(codec))
        using (Catalogue received = Catalogue.FromBytes(catalogue.ToBytes()))
        using (Publisher publisher = new Publisher(catalogue, 1000, 3))
        using (Viewer viewer = new Viewer(received, new ViewerOptions { HistoryMs = 1000 }))
        {
            Catalogues(codec, received);
            Plays(schema, publisher, viewer);
            Refuses(publisher, viewer, catalogue);
            Drains(catalogue);
            Disposes(codec, catalogue);
        }
    }

    private static ulong TimeNs(int tick) => (ulong)tick * 1000000000 / TickHz;

    private static Catalogue MakeCatalogue(Codec codec)
    {
        return new Catalogue(
            TickHz,
            new Tier("full", codec, 60) { FramesPerObject = 2 },
            new Tier("left", codec, 60) { TicksPerFrame = 2 },
            new Tier("fast", codec, 60) { Carry = Carry.Datagrams });
    }

    private static void Catalogues(Codec codec, Catalogue received)
    {
        Check.Equal(received.Tiers, 3);
        Check.Equal(received.TickHz, TickHz);
        Check.Equal(received.Tier(Fast).Carry, Carry.Datagrams);
        Check.Equal(received.Tier(Left).TicksPerFrame, 2);
        Check.Equal(received.NameOf(new Track(Left, TrackKind.Keys)), "left.keys");
        Check.That(received.TryFind("fast", out int tier) && tier == Fast, "the tier");
        Check.That(!received.TryFind("slow", out tier), "no such tier");
        using (Catalogue standard = Catalogue.Standard(TickHz, codec))
        {
            Check.Equal(standard.Tier(0).Name, "full");
        }
        Check.Throws<ArgumentNullException>(() => Catalogue.Standard(TickHz, null));
        Check.Throws<ArgumentOutOfRangeException>(() => Catalogue.Standard(-1, codec));
        Check.Refused(Status.Argument, () => Catalogue.Standard(0, codec));
        Check.Throws<ArgumentNullException>(() => Catalogue.FromBytes(null));
        Check.Refused(Status.Data, () => Catalogue.FromBytes(new byte[9]));
        byte[] bytes = received.ToBytes();
        Array.Resize(ref bytes, bytes.Length - 1);
        Check.Refused(Status.Data, () => Catalogue.FromBytes(bytes));
        Check.Throws<ArgumentNullException>(() => new Catalogue(TickHz, null));
        Check.Throws<ArgumentNullException>(() => new Catalogue(TickHz, (Tier)null));
        Check.Refused(Status.Argument, () => new Catalogue(TickHz));
        Check.Refused(Status.Argument, () => new Catalogue(TickHz, new Tier("Full", codec, 9)));
        Tier one = new Tier("one", codec, 9);
        Check.Refused(Status.Argument, () => new Catalogue(TickHz, one, one));
        Check.Refused(Status.Argument, () => new Catalogue(0, one));
        one.TicksPerFrame = 10;
        Check.Refused(Status.Argument, () => new Catalogue(TickHz, one));
        one.TicksPerFrame = -1;
        Check.Throws<ArgumentOutOfRangeException>(() => new Catalogue(TickHz, one));
        Check.Throws<ArgumentNullException>(() => new Tier(null, codec, 9));
        Check.Throws<ArgumentNullException>(() => new Tier("one", null, 9));
        Check.Throws<ArgumentOutOfRangeException>(() => new Tier("one", codec, -1));
        Check.Throws<ArgumentOutOfRangeException>(() => received.Tier(3));
        Check.Throws<ArgumentOutOfRangeException>(() => new Track(-1));
        Check.Refused(Status.Argument, () => received.NameOf(new Track(3)));
        Check.Refused(Status.Argument, () => received.NameOf(new Track(0, (TrackKind)2)));
    }

    private static void Plays(Schema schema, Publisher publisher, Viewer viewer)
    {
        Ball[] balls = new Ball[Session.Balls];
        Ball[] shown = new Ball[Session.Balls];
        uint[] ids = new uint[Session.Balls];
        uint[] shownIds = new uint[Session.Balls];
        uint[] few = { 7, 21 };
        byte[] bytes = new byte[2000];
        Columns from = Session.Columns(schema, balls);
        Columns to = Session.Columns(schema, shown);
        Relay relay = new Relay();
        int played = 0;
        double worst = 0.0;
        double last = 0.0;
        Check.That(!viewer.TryPlay(0, out Playback playback), "no state yet");
        Check.That(!viewer.TryHistory(out uint first, out uint newestTick), "no history yet");
        Check.That(!viewer.TryPlayAt(1.0, out playback), "no history yet");
        Check.Equal(viewer.Wanted(new Track[0]), 0);
        using (Snapshot world = new Snapshot(schema))
        {
            Check.That(!viewer.TryNewest(world), "no state yet");
            Check.That(!publisher.TryLast(Full, world), "no snapshot yet");
            for (int nth = 0; nth < ids.Length; nth++)
            {
                ids[nth] = 7 * (uint)nth;
            }
            publisher.SetEntities(Left, few, few.Length);
            for (int tick = 1; tick <= Ticks; tick++)
            {
                Session.Move(balls, tick);
                world.Clear((uint)tick);
                world.Add(ids, ids.Length, from);
                publisher.Publish(world);
                if (tick == Joined || tick == Changed)
                {
                    viewer.Watch(tick == Joined ? Left : Fast);
                }
                while (publisher.TryPoll(out Piece piece, bytes, out int size))
                {
                    Check.That(piece.Tick + 3 <= tick && piece.Group >= 1000, "a delayed piece");
                    relay.Take(TimeNs(tick), piece, new ArraySegment<byte>(bytes, 0, size), viewer);
                }
                relay.Subscribe(TimeNs(tick), viewer);
                if (!viewer.TryPlay(TimeNs(tick), out playback))
                {
                    continue;
                }
                Check.That(playback.Tick >= last, "playback that does not go back");
                last = playback.Tick;
                int count = viewer.ReadIds(0, shownIds);
                viewer.Read(to);
                Check.That(count == few.Length || count == Session.Balls, "all of a tier");
                for (int nth = 0; count == Session.Balls && nth < count; nth++)
                {
                    worst = Math.Max(worst, Session.Distance(shown[nth], nth, playback.Tick));
                }
                played++;
            }
            Check.That(played > Ticks - Joined - 30, "most ticks played, not " + played);
            Check.That(worst < 0.1, "balls less than 0.1 m off, not " + worst);
            Check.That(viewer.TryNewest(world) && world.Tick == Ticks - 3, "the newest state");
            Check.Equal(world.Count(0), Session.Balls);
            Check.That(publisher.TryLast(Left, world), "the last of a tier");
            Check.Equal(world.Count(0), few.Length);
            Check.That(!publisher.TryLast(Fast, world), "none of a tier in datagrams");
        }
        uint[] tiers = new uint[3];
        Check.That(viewer.ReadShownTiers(tiers) == 1 && tiers[0] == Fast, "the new tier");
        Check.That(viewer.TryHistory(out first, out newestTick), "a history");
        Check.That(viewer.TryPlayAt(newestTick - 30.0, out playback), "a moment of it");
        Check.Equal(playback.Tick, newestTick - 30.0);
        viewer.Read(to);
        Check.That(Session.Distance(shown[3], 3, playback.Tick) < 0.1, "the state of then");
        ViewerStatus status = viewer.ReadStatus();
        Check.That(status.Snapshots > 150 && status.CaughtUp > 0, "snapshots");
        Check.That(status.Refused == 0 && status.Bytes > 1000, "no refusals");
        Console.WriteLine("  {0} ticks played, {1:0.000} m off at most", played, worst);
    }

    private static void Refuses(Publisher publisher, Viewer viewer, Catalogue catalogue)
    {
        byte[] bytes = new byte[50];
        ArraySegment<byte> part = new ArraySegment<byte>(bytes, 0, 9);
        Piece piece = new Piece(new Track(Full), 5, 0);
        Check.That(!viewer.TryTake(0, piece, part, out uint? tick) && tick == null, "a refusal");
        Check.Throws<ArgumentNullException>(
            () => viewer.TryTake(0, piece, default(ArraySegment<byte>), out tick));
        Piece wrong = new Piece(new Track(Fast, (TrackKind)2));
        Check.Refused(Status.Argument, () => viewer.TryTake(0, wrong, part, out tick));
        int round = 0;
        foreach (byte[] noise in Random.Noise(500))
        {
            Track track = new Track(round % 4, (TrackKind)(round / 4 % 2));
            ArraySegment<byte> all = new ArraySegment<byte>(noise);
            viewer.TryTake(0, new Piece(track), all, out tick);
            viewer.TryTake(0, new Piece(track, (ulong)(round / 9), 0), all, out tick);
            round++;
        }
        Check.Throws<ArgumentNullException>(() => viewer.Watch(null));
        Check.Refused(Status.Argument, () => viewer.Watch());
        Check.Refused(Status.Argument, () => viewer.Watch(3));
        Check.Refused(Status.Argument, () => viewer.Watch(-1));
        Check.Throws<ArgumentNullException>(() => viewer.Wanted(null));
        Check.Refused(Status.Size, () => viewer.Wanted(new Track[0]));
        Check.Refused(Status.Size, () => viewer.ReadShownTiers(new uint[0]));
        Check.Throws<ArgumentNullException>(() => viewer.ReadIds(0, null));
        Check.Refused(Status.Argument, () => viewer.Count(1));
        Check.Throws<ArgumentNullException>(() => viewer.TryNewest(null));
        Check.Throws<ArgumentOutOfRangeException>(() => viewer.SetDelays(-1, 5));
        Check.Refused(Status.Argument, () => viewer.SetDelays(6, 5));
        Check.Refused(Status.Argument, () => viewer.TryPlayAt(double.NaN, out _));
        viewer.SetDelays(5, 6);
        viewer.ReadAdded(new uint[Session.Balls]);
        viewer.ReadRemoved(new uint[Session.Balls]);
        Check.Equal(viewer.ReadCut(new uint[Session.Balls]), 0);
        Columns balls = Session.Columns(catalogue.Schema, new Ball[1]);
        Check.That(!viewer.TryNextEvent(out _), "no events of a viewer");
        Check.Throws<ArgumentException>(() => viewer.ReadEvent(balls));
        viewer.Rejoin();
        Check.Equal(viewer.Wanted(new Track[6]), 2);
        uint[] unsorted = { 7, 7 };
        Check.Refused(Status.Argument, () => publisher.SetEntities(Left, unsorted, 2));
        Check.Refused(Status.Argument, () => publisher.SetEntities(3, unsorted, 1));
        Check.Throws<ArgumentOutOfRangeException>(() => publisher.SetEntities(0, unsorted, 3));
        Check.Throws<ArgumentOutOfRangeException>(() => publisher.SetAllEntities(-1));
        publisher.SetAllEntities(Left);
        Check.Throws<ArgumentNullException>(() => publisher.Publish(null));
        using (Snapshot old = new Snapshot(catalogue.Schema))
        using (Schema ships = Ship.Schema())
        using (Snapshot foreign = new Snapshot(ships))
        {
            Check.Refused(Status.Argument, () => publisher.Publish(foreign));
            Check.Refused(Status.Argument, () => publisher.Publish(old));
            Check.Refused(Status.Argument, () => publisher.TryLast(Full, foreign));
            Check.Refused(Status.Argument, () => publisher.TryLast(3, old));
            old.Clear(Ticks + 1);
            publisher.Publish(old);
        }
        int size = 0;
        Check.Refused(Status.Size, () => publisher.TryPoll(out piece, new byte[1], out size));
        Check.That(size > 1 && publisher.TryPoll(out piece, new byte[size], out size), "a piece");
        Check.Throws<ArgumentNullException>(() => publisher.TryPoll(out piece, null, out size));
        Check.Throws<ArgumentNullException>(() => new Publisher(null));
        Check.Throws<ArgumentOutOfRangeException>(() => new Publisher(catalogue, 0, -1));
        Check.Throws<ArgumentNullException>(() => new Viewer(null));
        ViewerOptions options = new ViewerOptions { MinDelayMs = 700 };
        Check.Refused(Status.Argument, () => new Viewer(catalogue, options));
        options.MinDelayMs = -1;
        Check.Throws<ArgumentOutOfRangeException>(() => new Viewer(catalogue, options));
    }

    /// <summary>
    /// The end of a delayed broadcast: a publisher without a delay returns as many pieces.
    /// </summary>
    private static void Drains(Catalogue catalogue)
    {
        const int Last = 47;
        const int Delay = 20;
        int[] pieces = new int[2];
        using (Publisher live = new Publisher(catalogue))
        using (Publisher delayed = new Publisher(catalogue, 0, Delay))
        using (Snapshot world = new Snapshot(catalogue.Schema))
        {
            for (int tick = 1; tick <= Last; tick++)
            {
                world.Clear((uint)tick);
                live.Publish(world);
                delayed.Publish(world);
                pieces[0] += TakeAll(live, tick);
                pieces[1] += TakeAll(delayed, tick - Delay);
            }
            Check.That(live.Drain(Last), "the end without a delay");
            pieces[0] += TakeAll(live, Last);
            int now = Last;
            while (!delayed.Drain((uint)now) && now < Last + Delay)
            {
                pieces[1] += TakeAll(delayed, now - Delay);
                now++;
            }
            pieces[1] += TakeAll(delayed, now - Delay);
            Check.Equal(now, Last + Delay);
            Check.That(delayed.Drain((uint)now) && TakeAll(delayed, 0) == 0, "the end");
            Check.That(pieces[0] > Last, "pieces of each tick");
            Check.Equal(pieces[1], pieces[0]);
            delayed.Dispose();
            Check.Throws<ObjectDisposedException>(() => delayed.Drain(Last));
        }
    }

    /// <summary>
    /// Takes all pieces that a publisher has ready, and checks their ticks. Returns their number.
    /// </summary>
    private static int TakeAll(Publisher publisher, int newestTick)
    {
        byte[] bytes = new byte[2000];
        int pieces = 0;
        while (publisher.TryPoll(out Piece piece, bytes, out int size))
        {
            Check.That(piece.Tick <= newestTick, "a piece that is due");
            pieces++;
        }
        return pieces;
    }

    private static void Disposes(Codec codec, Catalogue catalogue)
    {
        Catalogue freed = MakeCatalogue(codec);
        Publisher publisher = new Publisher(freed);
        Viewer viewer = new Viewer(freed);
        freed.Dispose();
        viewer.Watch(Full);
        using (Snapshot world = new Snapshot(catalogue.Schema))
        {
            publisher.Publish(world);
            publisher.Dispose();
            viewer.Dispose();
            viewer.Dispose();
            int size = 0;
            Check.Throws<ObjectDisposedException>(() => new Publisher(freed));
            Check.Throws<ObjectDisposedException>(() => new Viewer(freed));
            Check.Throws<ObjectDisposedException>(() => freed.ToBytes());
            Check.Throws<ObjectDisposedException>(() => publisher.Publish(world));
            Check.Throws<ObjectDisposedException>(
                () => publisher.TryPoll(out _, new byte[9], out size));
            Check.Throws<ObjectDisposedException>(() => viewer.Watch(Full));
            Check.Throws<ObjectDisposedException>(() => viewer.TryPlay(0, out _));
            Check.Throws<ObjectDisposedException>(() => viewer.TryNewest(world));
            Check.Throws<ObjectDisposedException>(() => viewer.Count(0));
            Check.Throws<ObjectDisposedException>(() => viewer.ReadIds(0, new uint[1]));
            Check.Throws<ObjectDisposedException>(() => viewer.ReadAdded(new uint[1]));
            Check.Throws<ObjectDisposedException>(() => viewer.TryNextEvent(out _));
        }
    }

    /// <summary>
    /// Forwards the tracks that a viewer has subscribed to, and sends the newest group of a new track.
    /// </summary>
    private sealed class Relay
    {
        private readonly Dictionary<Track, List<KeyValuePair<Piece, byte[]>>> kept =
            new Dictionary<Track, List<KeyValuePair<Piece, byte[]>>>();

        private readonly HashSet<Track> subscribed = new HashSet<Track>();
        private readonly Track[] wanted = new Track[6];

        internal void Take(ulong nowNs, Piece piece, ArraySegment<byte> bytes, Viewer viewer)
        {
            if (!piece.IsDatagram)
            {
                if (piece.Number == 0)
                {
                    kept[piece.Track] = new List<KeyValuePair<Piece, byte[]>>();
                }
                byte[] copy = new byte[bytes.Count];
                Array.Copy(bytes.Array, bytes.Offset, copy, 0, copy.Length);
                kept[piece.Track].Add(new KeyValuePair<Piece, byte[]>(piece, copy));
            }
            if (subscribed.Contains(piece.Track))
            {
                bool isTaken = viewer.TryTake(nowNs, piece, bytes, out uint? tick);
                Check.That(isTaken && (tick == null || tick == piece.Tick), "a valid piece");
            }
        }

        internal void Subscribe(ulong nowNs, Viewer viewer)
        {
            int count = viewer.Wanted(wanted);
            HashSet<Track> before = new HashSet<Track>(subscribed);
            subscribed.Clear();
            for (int nth = 0; nth < count; nth++)
            {
                subscribed.Add(wanted[nth]);
            }
            foreach (Track track in subscribed)
            {
                if (before.Contains(track) || !kept.ContainsKey(track))
                {
                    continue;
                }
                foreach (KeyValuePair<Piece, byte[]> piece in kept[track])
                {
                    ArraySegment<byte> bytes = new ArraySegment<byte>(piece.Value);
                    Check.That(viewer.TryTake(nowNs, piece.Key, bytes, out _), "a kept piece");
                }
            }
        }
    }
}
