using System;
using Kinepack;

/// <summary>
/// A client sends what it saw with its inputs, over a network that loses every fifth datagram. The
/// server finds the same numbers.
/// </summary>
internal static unsafe class Rewinding
{
    private const int Ticks = 300;
    private const ulong Client = 42;
    private const int Balls = Session.Balls;

    internal static void Run()
    {
        using (Session session = new Session())
        using (Schema inputs = SchemaOfInputs())
        using (StreamSender client = new StreamSender(inputs, Level.Adaptive, 60))
        using (StreamReceiver server = new StreamReceiver(inputs, Level.Adaptive, 60))
        {
            session.Hub.SetRewind(new RewindOptions { TickHz = 60, LongestMs = 800 });
            // Too few bytes for all changes, so that balls are of different ticks.
            session.Hub.SetBudget(Client, Budget.Fixed(3000), 0);
            Game game = new Game(session, inputs);
            Seen last = game.Play(client, server);
            Refuses(session, last);
            RefusesColumns(session.Schema, inputs);
        }
    }

    private static Schema SchemaOfInputs()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            builder.Bool("fires").Seen("seen");
            Check.Refused(Status.Argument, () => builder.Role(Role.Cut));
            Check.Throws<ArgumentNullException>(() => builder.Seen(null));
            return builder.Build();
        }
    }

    private static void Refuses(Session session, Seen last)
    {
        Hub hub = session.Hub;
        uint[] ids = new uint[Balls];
        Status reason;
        Check.That(hub.TryRewindAll(Client, last, out double tick, out reason), "a past");
        int found = hub.Past.ReadIds(0, ids);
        Check.That(found > Balls / 2, "balls of the past, not " + found);
        Check.That(!hub.TryRewindAll(Client, default(Seen), out _, out reason), "no stamp");
        Check.Equal(reason, Status.Nothing);
        Seen earlier = Moved(last, 255.0f);
        Check.That(!hub.TryRewind(Client, earlier, ids, 0, out _, out reason), "an earlier stamp");
        Check.Equal(reason, Status.Data);
        Seen old = Moved(last, 155.0f);
        Check.That(!hub.TryRewind(Client, old, ids, 0, out _, out reason), "an old stamp");
        Check.Equal(reason, Status.Nothing);
        Seen forged = Moved(last, float.NaN);
        Check.Refused(
            Status.Argument, () => hub.TryRewind(Client, forged, ids, 0, out _, out reason));
        Check.Refused(Status.Argument, () => hub.TryRewindAll(7, last, out _, out reason));
        uint[] wrong = { 7, 7 };
        Check.Refused(
            Status.Argument, () => hub.TryRewind(Client, last, wrong, 2, out _, out reason));
        Check.Throws<ArgumentNullException>(
            () => hub.TryRewind(Client, last, null, 0, out _, out reason));
        Check.Throws<ArgumentOutOfRangeException>(
            () => hub.TryRewind(Client, last, wrong, 3, out _, out reason));
        Check.Throws<ArgumentOutOfRangeException>(
            () => hub.TryRewind(Client, last, wrong, -1, out _, out reason));
        Check.Refused(Status.Argument, () => hub.SetRewind(new RewindOptions()));
        RewindOptions options = new RewindOptions { TickHz = 60, LongestMs = 5000 };
        Check.Refused(Status.Argument, () => hub.SetRewind(options));
        options.LongestMs = -1;
        Check.Throws<ArgumentOutOfRangeException>(() => hub.SetRewind(options));
        options = new RewindOptions { TickHz = 1, LongestBlendMs = 2, LongestMs = 3 };
        Check.Equal(options.ToNative().longest_blend_ms, 2u);
        // After all refusals, the past is as it was.
        Check.Equal(hub.Past.ReadIds(0, ids), found);
        Check.That(!hub.Past.TryNextEvent(out _) && hub.Past.ReadAdded(ids) == 0, "no events");
        hub.SetRewind(null);
        Check.Refused(Status.Argument, () => hub.TryRewindAll(Client, last, out tick, out reason));

        // The past ends with its hub.
        Shown past = hub.Past;
        Receiver receiver = session.Receiver;
        hub.Dispose();
        receiver.Dispose();
        Check.Throws<ObjectDisposedException>(() => past.Count(0));
        Check.Throws<ObjectDisposedException>(() => hub.SetRewind(null));
        Check.Throws<ObjectDisposedException>(
            () => hub.TryRewindAll(Client, last, out tick, out reason));
        Check.Throws<ObjectDisposedException>(() => receiver.TrySeen(out last));
    }

    /// <summary>A stamp with another moment. Moments wrap after 256 ticks.</summary>
    private static Seen Moved(Seen seen, float ticks)
    {
        float* moment = (float*)&seen;
        *moment = (*moment + ticks) % 256.0f;
        return seen;
    }

    private static void RefusesColumns(Schema balls, Schema inputs)
    {
        Input[] input = new Input[1];
        Columns columns = new Columns(inputs);
        const string Member = nameof(Input.Seen);
        Check.Throws<ArgumentNullException>(() => columns.SetSeen(null, input, Member));
        Check.Throws<ArgumentNullException>(() => columns.SetSeen("seen", input, null));
        Check.Throws<ArgumentNullException>(() => columns.SetSeen<Input>("seen", null, Member));
        Check.Throws<ArgumentException>(() => columns.SetSeen("saw", input, Member));
        Check.Throws<ArgumentException>(() => columns.SetSeen("seen", input, "Saw"));
        Check.Throws<ArgumentException>(
            () => columns.SetSeen("seen", input, nameof(Input.Fires)));
        Columns others = new Columns(balls);
        Check.Throws<ArgumentException>(() => others.SetSeen("seen", input, Member));
    }

    private struct Input
    {
        internal byte Fires;
        internal Seen Seen;
    }

    /// <summary>What the client drew of a moment.</summary>
    private sealed class Frame
    {
        internal readonly uint[] Ids = new uint[Balls];
        internal readonly Ball[] Shown = new Ball[Balls];
        internal int Count;
        internal double Tick;
    }

    private sealed class Game
    {
        private readonly Session session;
        private readonly Frame[] drawn = new Frame[Ticks];
        private readonly Frame found = new Frame();
        private readonly Columns ofFound;
        private readonly Columns[] ofDrawn = new Columns[Ticks];
        private readonly Input[] input = new Input[1];
        private readonly Input[] got = new Input[StreamReceiver.MaxRecords];
        private readonly Record[] records = new Record[StreamReceiver.MaxRecords];
        private readonly Columns toSend;
        private readonly Columns toRead;
        private readonly LossyLink up = new LossyLink(4, 20, 3);
        private readonly LossyLink answers = new LossyLink(4, 20, 4);
        private readonly byte[] bytes = new byte[1300];
        private readonly uint[] some = { 7, 8, 21, 49 };
        private int compared;
        private Seen last;

        internal Game(Session session, Schema inputs)
        {
            this.session = session;
            ofFound = Session.Columns(session.Schema, found.Shown);
            for (int nth = 0; nth < Ticks; nth++)
            {
                drawn[nth] = new Frame();
                ofDrawn[nth] = Session.Columns(session.Schema, drawn[nth].Shown);
            }
            toSend = Of(inputs, input);
            toRead = Of(inputs, got);
        }

        /// <summary>Plays for some seconds. Returns the last stamp that arrived.</summary>
        internal Seen Play(StreamSender client, StreamReceiver server)
        {
            long garbage = 0;
            for (int tick = 1; tick < Ticks; tick++)
            {
                garbage = tick == 100 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
                bool plays = session.Step(tick);
                Draw(tick, plays, client);
                Serve(tick, server);
                while (answers.TryTake(tick, bytes, out int size))
                {
                    client.Handle(new ArraySegment<byte>(bytes, 0, size));
                }
            }
            garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
            Check.That(garbage == 0, "no garbage from stamps, not " + garbage);
            Check.That(compared > 5000, "5000 compared balls, not " + compared);
            Console.WriteLine("  {0} balls were found as they were drawn", compared);
            return last;
        }

        private static Columns Of(Schema inputs, Input[] of)
        {
            return new Columns(inputs)
                .Set("fires", of, nameof(Input.Fires))
                .SetSeen("seen", of, nameof(Input.Seen));
        }

        private void Draw(int tick, bool plays, StreamSender client)
        {
            Receiver receiver = session.Receiver;
            input[0].Fires = 1;
            Check.That(receiver.TrySeen(out input[0].Seen) == plays, "a stamp of what is drawn");
            Check.That(input[0].Seen.IsShown == plays, "a stamp that says whether there is one");
            Frame frame = drawn[tick];
            frame.Tick = -1.0;
            if (plays)
            {
                frame.Tick = session.Playback.Tick;
                frame.Count = receiver.ReadIds(0, frame.Ids);
                receiver.Read(ofDrawn[tick]);
            }
            // The first tick is 1, and the first number is 0.
            Check.That(client.Push(toSend) == tick - 1, "the number of the input");
            Check.That(client.TryPoll(bytes, out int size), "a packet");
            up.Send(tick, bytes, size);
        }

        private void Serve(int tick, StreamReceiver server)
        {
            while (up.TryTake(tick, bytes, out int size))
            {
                ArraySegment<byte> packet = new ArraySegment<byte>(bytes, 0, size);
                Check.That(server.Handle(Network.TimeNs(tick), packet, out int count), "a packet");
                Check.That(server.Read(records, toRead) == count, "all inputs");
                for (int nth = 0; nth < count; nth++)
                {
                    Find(drawn[records[nth].Number + 1], got[nth].Seen);
                }
                if (server.TryAcknowledge(bytes, out size))
                {
                    answers.Send(tick, bytes, size);
                }
            }
        }

        private void Find(Frame expected, Seen seen)
        {
            Hub hub = session.Hub;
            bool isFound = hub.TryRewindAll(Client, seen, out double tick, out Status reason);
            Check.That(isFound == (expected.Tick >= 0.0), "a past if there is one");
            if (!isFound)
            {
                Check.Equal(reason, Status.Nothing);
                return;
            }
            last = seen;
            found.Count = hub.Past.ReadIds(0, found.Ids);
            hub.Past.Read(ofFound);
            bool isSame = tick.Equals(expected.Tick) && found.Count == expected.Count;
            for (int nth = 0; nth < found.Count; nth++)
            {
                isSame &= found.Ids[nth] == expected.Ids[nth];
                isSame &= AreEqual(found.Shown[nth], expected.Shown[nth]);
            }
            Check.That(isSame, "the balls as they were drawn");
            compared += found.Count;

            // No ball has the id 8.
            Check.That(hub.TryRewind(Client, seen, some, 4, out tick, out reason), "some balls");
            found.Count = hub.Past.ReadIds(0, found.Ids);
            hub.Past.Read(ofFound);
            int at = 0;
            for (int nth = 0; nth < expected.Count; nth++)
            {
                uint id = expected.Ids[nth];
                if (id == 7 || id == 21 || id == 49)
                {
                    isSame &= found.Ids[at] == id;
                    isSame &= AreEqual(found.Shown[at++], expected.Shown[nth]);
                }
            }
            Check.That(isSame && at == found.Count, "only some balls");
        }

        private static bool AreEqual(Ball one, Ball other)
        {
            return one.Place[0].Equals(other.Place[0])
                && one.Place[1].Equals(other.Place[1])
                && one.Colour == other.Colour;
        }
    }
}
