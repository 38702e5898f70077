using System;
using Kinepack;

/// <summary>
/// A client predicts its own walkers with the server's step, on a network that loses datagrams.
/// </summary>
internal static class Predictions
{
    private const int TickHz = 60;
    private const uint First = 100;
    private const uint Me = 7;

    private static int steps;

    internal static void Run()
    {
        using (Schema schema = MakeSchema())
        using (Schema inputs = MakeInputs())
        {
            Play(schema, inputs);
            Throws(schema, inputs);
            Refuses(schema, inputs);
            Rounds(schema);
        }
        LateStates();
    }

    private static Schema MakeSchema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder
                .Floats("place", 2, -64.0, 64.0, 1.0 / 512.0)
                .Floats("velocity", 2, -16.0, 16.0, 1.0 / 256.0)
                .Role(Role.Velocity)
                .Integer("health", 0, 100)
                .Build();
        }
    }

    private static Schema MakeInputs()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder.Floats("stick", 2, -1.0, 1.0, 1.0 / 64.0).Bool("runs").Build();
        }
    }

    private static Columns ColumnsOf(Schema schema, Walker[] walkers)
    {
        return new Columns(schema)
            .Set("place", walkers, nameof(Walker.Place))
            .Set("velocity", walkers, nameof(Walker.Velocity))
            .Set("health", walkers, nameof(Walker.Health))
            .Clamp("velocity");
    }

    private static Predicted<Walker, Input> Make(
        Schema schema, Schema inputs, PredictConfig config = null, int capacity = 4)
    {
        return new Predicted<Walker, Input>(
            schema,
            walkers => ColumnsOf(schema, walkers),
            inputs,
            all => new Columns(inputs)
                .Set("stick", all, nameof(Input.Stick))
                .Set("runs", all, nameof(Input.Runs)),
            config ?? new PredictConfig(TickHz),
            capacity);
    }

    /// <summary>The client and the server share this function.</summary>
    private static void Move(ref Walker walker, in Input input)
    {
        float push = input.Runs != 0 ? 1.0f : 0.5f;
        walker.Velocity.X += (input.Stick.X * push) - (walker.Velocity.X * 0.125f);
        walker.Velocity.Y += (input.Stick.Y * push) - (walker.Velocity.Y * 0.125f);
        walker.Place.X += walker.Velocity.X / TickHz;
        walker.Place.Y += walker.Velocity.Y / TickHz;
    }

    private static void Step(uint[] ids, Walker[] walkers, int count, Input input, uint tick)
    {
        steps++;
        for (int nth = 0; nth < count; nth++)
        {
            Move(ref walkers[nth], input);
        }
    }

    private static Input InputOf(uint tick)
    {
        float phase = ((tick % 64) / 32.0f) - 1.0f;
        Input input = default(Input);
        input.Stick.X = phase;
        input.Stick.Y = 1.0f - Math.Abs(phase);
        input.Runs = (byte)(tick % 2);
        return input;
    }

    private static void Play(Schema schema, Schema inputs)
    {
        byte[] bytes = new byte[1300];
        uint[] id = { Me };
        Walker[] server = new Walker[1];
        Columns ofServer = ColumnsOf(schema, server);
        LossyLink down = new LossyLink(3, 9, 5);
        LossyLink up = new LossyLink(3, 9, 6);
        Step<Walker, Input> step = Step;
        int corrections = 0;
        long garbage = 0;
        double longest = 0.0;
        int size;
        Walker shown = default(Walker);
        server[0].Health = 50;
        schema.Round(ofServer, 1);
        steps = 0;
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Hub hub = new Hub(codec))
        using (Receiver receiver = new Receiver(codec, TickHz))
        using (Snapshot world = new Snapshot(schema))
        using (Predicted<Walker, Input> me = Make(schema, inputs))
        {
            hub.Add(1, 0, 0);
            me.Add(Me, First, server[0], step);
            Check.That(me.TryNewest(out uint client) && client == First, "the first tick");
            for (uint tick = First + 1; tick < First + 400; tick++)
            {
                ulong now = Network.TimeNs((int)tick);
                garbage = tick == First + 300 ? GC.GetAllocatedBytesForCurrentThread() : garbage;
                Move(ref server[0], InputOf(tick));
                server[0].Velocity.Y += tick == First + 200 ? 4.0f : 0.0f;
                schema.Round(ofServer, 1);
                world.Clear(tick);
                world.Add(id, 1, ofServer);
                while (up.TryTake((int)tick, bytes, out size))
                {
                    hub.Handle(1, now, bytes, size);
                }
                hub.Tick(now, world);
                while (hub.TryPoll(out ulong whom, bytes, out size))
                {
                    down.Send((int)tick, bytes, size);
                }
                while (down.TryTake((int)tick, bytes, out size))
                {
                    receiver.Handle(now, bytes, size);
                }
                while (receiver.TryPoll(now, bytes, out size))
                {
                    up.Send((int)tick, bytes, size);
                }
                while (client < tick + 8)
                {
                    client++;
                    me.Push(client, InputOf(client), step);
                }
                Correction correction = me.CorrectFrom(receiver, step);
                bool isCorrected = correction.Outcome == Outcome.Corrected;
                Check.That(!isCorrected || tick > First + 200, "no correction before the push");
                Check.That(!isCorrected || correction.RepeatedTicks > 5, "repeated ticks");
                Check.That(!isCorrected || correction.Distance > 0.1, "a distance");
                Check.That(!correction.IsSnapped && correction.TurnRad == 0.0, "no jump");
                corrections += isCorrected ? 1 : 0;
                float x = shown.Place.X;
                float y = shown.Place.Y;
                Check.That(me.TryShown(Me, client - 0.5, out shown), "a state to draw");
                x = shown.Place.X - x;
                y = shown.Place.Y - y;
                double way = Math.Sqrt((x * x) + (y * y));
                longest = tick > First + 2 ? Math.Max(longest, way) : 0.0;
            }
            garbage = GC.GetAllocatedBytesForCurrentThread() - garbage;
            Check.That(me.TryState(Me, First + 399, out Walker known), "the server's last tick");
            Check.That(known.Place.X == server[0].Place.X, "the server's place");
            Check.That(known.Velocity.Y == server[0].Velocity.Y, "the server's velocity");
            Check.Equal((int)known.Health, 50);
            PredictStats stats = me.ReadStats();
            Check.Equal(stats.Inputs + stats.RepeatedTicks, (ulong)steps);
            Check.That(stats.Confirmed > 200 && stats.Corrected == (ulong)corrections, "counters");
            Check.That(stats.Unquantized + stats.FilledTicks + stats.Restarts == 0, "counters");
            Check.Equal(stats.TooOld + stats.Snapped + stats.Ahead, 0ul);
        }
        Check.That(garbage == 0, "no garbage from a prediction, not " + garbage);
        Check.That(corrections >= 1 && longest < 0.3, "a smooth correction");
        Console.WriteLine(
            "  {0} steps, {1} corrections, at most {2:0.0} cm from frame to frame",
            steps,
            corrections,
            100.0 * longest);
    }

    private static void Throws(Schema schema, Schema inputs)
    {
        Step<Walker, Input> step = Step;
        Walker walker = default(Walker);
        walker.Place.X = 3.0f;
        using (Predicted<Walker, Input> me = Make(schema, inputs))
        using (Predicted<Walker, Input> other = Make(schema, inputs))
        {
            me.Add(9, First, walker, step);
            me.Add(Me, First, walker, step);
            other.Add(Me, First, walker, step);
            Step<Walker, Input> throws = (ids, walkers, count, input, tick) =>
            {
                Check.That(count == 2 && ids[0] == Me && ids[1] == 9, "both entities by id");
                walkers[0].Place.X = tick - 50.0f;
                if (tick == First + 2)
                {
                    throw new InvalidOperationException("at tick " + tick);
                }
            };
            try
            {
                me.Push(First + 4, InputOf(1), throws);
                Check.That(false, "an exception");
            }
            catch (InvalidOperationException exception)
            {
                Check.Equal(exception.Message, "at tick 102");
            }
            Check.That(me.TryNewest(out uint newest) && newest == First + 4, "everything else");
            Check.That(me.TryState(Me, newest, out Walker kept), "the newest state");
            Check.That(kept.Place.X == 51.0f, "the state of the tick before the exception");
            Check.Refused(
                Status.Step,
                () => me.Push(First + 5, InputOf(5), (ids, all, count, input, tick) =>
                    all[1].Place.Y = float.NaN));
            Check.That(me.TryState(9, First + 5, out kept) && kept.Place.Y == 0.0f, "kept");
            Check.Equal(me.ReadStats().Unquantized, 1ul);
            // A step may use other predictions, but not its own.
            Columns one = ColumnsOf(schema, new Walker[1]);
            int refused = 0;
            Step<Walker, Input> callsBack = (ids, walkers, count, input, tick) =>
            {
                Action[] calls =
                {
                    () => me.Push(tick + 1, InputOf(1), step),
                    () => me.Add(11, tick, default(Walker), step),
                    () => me.TryCorrect(Me, tick, default(Walker), step, out _),
                    () => me.RepeatLast(1, step),
                    () => me.TryShown(Me, tick, out _),
                    () => me.TryState(Me, tick, out _),
                    () => me.Remove(Me),
                    () => me.Clear(),
                    () => me.TryNewest(out _),
                    () => me.ReadIds(new uint[4]),
                    () => me.ReadStats(),
                };
                foreach (Action call in calls)
                {
                    Check.Refused(Status.Argument, call);
                    refused++;
                }
                other.Push(tick, input, step);
                schema.Round(one, 1);
                Step(ids, walkers, count, input, tick);
            };
            me.Push(First + 6, InputOf(6), callsBack);
            Check.Equal(refused, 11);
            Check.That(other.TryNewest(out newest) && newest == First + 6, "the other one");
            me.Push(First + 7, InputOf(7), step);
            Check.That(me.TryCorrect(9, First + 7, walker, step, out Correction far), "corrected");
            Check.That(far.Outcome == Outcome.Corrected && far.RepeatedTicks == 0, "the newest");
            GC.KeepAlive(me.RepeatLast(3, step));
            uint[] all4 = new uint[4];
            Check.Equal(me.ReadIds(all4), 2);
            Check.That(all4[0] == Me && all4[1] == 9, "ids");
            Check.That(me.Remove(9) && !me.Remove(9), "removed once");
            me.Clear();
            Check.That(!me.TryNewest(out newest), "nothing is predicted");
        }
    }

    private static void Refuses(Schema schema, Schema inputs)
    {
        Step<Walker, Input> step = Step;
        PredictConfig[] refused =
        {
            new PredictConfig(0),
            new PredictConfig(TickHz) { HistoryTicks = 1 },
            new PredictConfig(TickHz) { HistoryTicks = 1025 },
            new PredictConfig(TickHz) { Repair = (Repair)2 },
            new PredictConfig(TickHz) { SnapDistance = double.NaN },
        };
        foreach (PredictConfig config in refused)
        {
            Check.Refused(Status.Argument, () => Make(schema, inputs, config));
        }
        Check.Throws<ArgumentOutOfRangeException>(() => new PredictConfig(-1));
        PredictConfig negative = new PredictConfig(TickHz) { PositionFadeMs = -1 };
        Check.Throws<ArgumentOutOfRangeException>(() => Make(schema, inputs, negative));
        Check.Throws<ArgumentNullException>(() => Make(schema, null));
        Check.Throws<ArgumentOutOfRangeException>(() => Make(schema, inputs, null, -1));
        Check.Throws<ArgumentException>(() => new Predicted<Walker, Input>(
            schema,
            walkers => ColumnsOf(schema, walkers),
            inputs,
            all => new Columns(inputs),
            new PredictConfig(TickHz)));
        Predicted<Walker, Input> me = Make(schema, inputs, null, 1);
        me.Add(Me, First, default(Walker), step);
        Check.Refused(Status.Argument, () => me.Add(Me, First, default(Walker), step));
        Check.Refused(Status.Argument, () => me.Add(8, First, default(Walker), step));
        Check.Refused(Status.Argument, () => me.Push(First, InputOf(1), step));
        Input far = default(Input);
        far.Stick.X = 2.0f;
        Check.Refused(Status.Value, () => me.Push(First + 1, far, step));
        Walker nan = default(Walker);
        nan.Place.X = float.NaN;
        Check.Refused(Status.Value, () => me.TryCorrect(Me, First, nan, step, out _));
        Check.That(!me.TryCorrect(8, First, default(Walker), step, out _), "not added");
        Check.That(!me.TryShown(8, First, out _) && !me.TryState(Me, First + 1, out _), "no state");
        Check.Throws<ArgumentNullException>(() => me.Push(First + 1, InputOf(1), null));
        Check.Throws<ArgumentNullException>(() => me.CorrectFrom(null, step));
        foreach (ulong wrong in new ulong[] { 0, schema.Id, me.Id + 1 })
        {
            Check.Equal(Native.kp_prediction_free(wrong), Status.Handle);
            Check.Equal(Native.kp_prediction_clear(wrong), Status.Handle);
        }
        me.Dispose();
        me.Dispose();
        Check.Throws<ObjectDisposedException>(() => me.Push(First + 1, InputOf(1), step));
        Check.Throws<ObjectDisposedException>(() => me.TryShown(Me, First, out _));
        Check.Throws<ObjectDisposedException>(() => me.ReadStats());
    }

    private static void Rounds(Schema schema)
    {
        Walker[] walkers = new Walker[3];
        Columns columns = ColumnsOf(schema, walkers);
        walkers[1].Place.X = 1.0f / 3.0f;
        walkers[2].Velocity.Y = 99.0f;
        schema.Round(columns, 2);
        Check.That(walkers[1].Place.X == 171.0f / 512.0f, "a rounded place");
        Check.That(walkers[2].Velocity.Y == 99.0f, "not the third");
        schema.Round(columns, 3);
        Check.That(walkers[2].Velocity.Y == 16.0f, "a clamped velocity");
        walkers[0].Place.X = 65.0f;
        Check.Refused(Status.Value, () => schema.Round(columns, 3));
        Check.Throws<ArgumentException>(() => schema.Round(columns, 4));
    }

    /// <summary>For how long states are late, and what is shown then.</summary>
    private static void LateStates()
    {
        double[] waits = new double[64];
        using (Session session = new Session())
        {
            session.Receiver.SetExtrapolation(0, Extrapolation.Straight, 150);
            session.Receiver.SetSmoothing(0, 200);
            session.Hub.SetExtrapolation(0, Extrapolation.Straight, 150);
            int late = 0;
            for (int tick = 1; tick < 300; tick++)
            {
                if (!session.Step(tick))
                {
                    continue;
                }
                int count = session.Receiver.ReadStarved(0, waits);
                Check.Equal(count, session.Receiver.Count(0));
                for (int nth = 0; nth < count; nth++)
                {
                    Check.That(waits[nth] >= 0.0 && waits[nth] <= 5000.0, "a time");
                    late += waits[nth] > 0.0 ? 1 : 0;
                }
                Check.That(session.ErrorOf(session.Playback.Tick) < 2.0, "near the true places");
            }
            Console.WriteLine("  {0} states were late", late);
            Receiver receiver = session.Receiver;
            Check.Refused(
                Status.Argument, () => receiver.SetExtrapolation(1, Extrapolation.Hold, 0));
            Check.Refused(
                Status.Argument, () => receiver.SetExtrapolation(0, (Extrapolation)3, 0));
            Check.Refused(
                Status.Argument, () => receiver.SetExtrapolation(0, Extrapolation.Game, 1001));
            Check.Throws<ArgumentOutOfRangeException>(
                () => receiver.SetExtrapolation(0, Extrapolation.Game, -1));
            Check.Throws<ArgumentOutOfRangeException>(() => receiver.SetSmoothing(0, -1));
            Check.Throws<ArgumentOutOfRangeException>(() => receiver.SetSmoothing(-1, 1));
            Check.Refused(Status.Argument, () => receiver.SetSmoothing(1, 1));
            Check.Refused(
                Status.Argument, () => session.Hub.SetExtrapolation(9, Extrapolation.Hold, 0));
            Check.Throws<ArgumentNullException>(() => receiver.ReadStarved(0, null));
            Check.Refused(Status.Size, () => receiver.ReadStarved(0, new double[0]));
        }
    }

    private struct Vector
    {
        internal float X;
        internal float Y;
    }

    private struct Walker
    {
        internal Vector Place;
        internal Vector Velocity;
        internal byte Health;
    }

    private struct Input
    {
        internal Vector Stick;
        internal byte Runs;
    }
}
