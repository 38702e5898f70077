using System;
using Kinepack;

/// <summary>
/// Live bodies: an arm that turns around and around, through a hub and a receiver, and a kill cam.
/// Its hand is absent for a while.
/// </summary>
internal static class Figures
{
    private const int Ticks = 240;
    private const int TicksPerState = 3;
    private const int Gone = 90;
    private const int Back = 150;
    private const int Door = 0;
    private const int Player = 1;
    private const uint Id = 7;

    // The bones of the joints in the engine's order, which has two further bones.
    private const int Shoulder = 4;
    private const int Elbow = 0;
    private const int Hand = 2;

    private static readonly uint[] BoneOfJoint = { Shoulder, Elbow, Hand };
    private static readonly int[] Absent = { 0 };

    internal static void Run()
    {
        Bone[] bones = new Bone[5];
        Move(bones, 0.0);
        using (Skeleton skeleton = MakeSkeleton(bones))
        using (Figure figure = MakeFigure(skeleton))
        using (Schema schema = MakeSchema(figure))
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (Snapshot world = new Snapshot(schema))
        {
            Options(skeleton);
            WithClips(skeleton);
            Travels(figure, world);
            Refuses(figure, world, skeleton);
            // A figure remains valid without its skeleton.
            skeleton.Dispose();
            Check.Throws<ObjectDisposedException>(() => new Figure(skeleton));
            OverANetwork(figure, codec, schema, world);
            InAReplay(figure, codec, schema, world);
            figure.Dispose();
            Pose pose = Layout(bones);
            Check.Throws<ObjectDisposedException>(
                () => figure.Push(world, Player, 9, pose, new float[2]));
            Check.Throws<ObjectDisposedException>(() => figure.TryRead(world, Player, Id, pose));
            Check.Throws<ObjectDisposedException>(() => figure.MaxErrorCm(0));
            using (SchemaBuilder builder = new SchemaBuilder())
            {
                Check.Throws<ObjectDisposedException>(() => builder.Figure("player", figure));
                Check.Throws<ArgumentNullException>(() => builder.Figure("player", null));
            }
        }
    }

    private static Skeleton MakeSkeleton(Bone[] bones)
    {
        SkeletonJoint[] joints =
        {
            new SkeletonJoint("shoulder", -1),
            new SkeletonJoint("elbow", 0),
            new SkeletonJoint("hand", 1),
        };
        Pose bind = Layout(bones);
        Check.Throws<ArgumentNullException>(() => new Skeleton(null, bind));
        Check.Throws<ArgumentNullException>(() => new Skeleton(joints, null));
        Check.Throws<ArgumentNullException>(() => new Skeleton(new SkeletonJoint[3], bind));
        Check.Refused(Status.Argument, () => new Skeleton(new[] { joints[0] }, bind));
        SkeletonJoint[] lost = { joints[0], joints[1], new SkeletonJoint("hand", 2) };
        Check.Refused(Status.Argument, () => new Skeleton(lost, bind));
        Skeleton skeleton = new Skeleton(joints, bind);
        Check.That(skeleton.Joints == 3 && skeleton.Name(1) == "elbow", "an arm");
        Check.That(skeleton.Parent(2) == 1 && skeleton.Parent(0) == -1, "parents");
        return skeleton;
    }

    /// <summary>Half a centimetre, but a millimetre for the hand.</summary>
    private static Figure MakeFigure(Skeleton skeleton)
    {
        FigureOptions options = new FigureOptions
        {
            JointPrecisionsCm = { { 2, 0.1 } },
            Curves =
            {
                new FigureCurve("grip", 0.0f, 1.0f, 0.01f),
                new FigureCurve("jawOpen", 0.0f, 1.0f, 0.1f),
            },
            Parts = { new FigurePart("hand", new[] { 2 }, new[] { 0 }) },
        };
        Figure figure = new Figure(skeleton, options);
        Check.That(figure.Joints == 3 && figure.Curves == 2 && figure.Parts == 1, "its numbers");
        Check.That(figure.Tiers == 1, "one tier");
        Check.That(figure.MaxErrorCm(0) > 0.0 && figure.MaxErrorCm(0) <= 0.5, "half a centimetre");
        Check.That(figure.MaxErrorCm(2) > 0.0 && figure.MaxErrorCm(2) <= 0.1, "a millimetre");
        Check.Refused(Status.Argument, () => figure.MaxErrorCm(3));
        Check.Refused(Status.Argument, () => figure.MaxErrorCm(-1));
        Check.Refused(Status.Argument, () => figure.MaxErrorCm(0, 1));
        return figure;
    }

    private static void Options(Skeleton skeleton)
    {
        using (Figure usual = new Figure(skeleton))
        using (Figure hinged = new Figure(
            skeleton,
            new FigureOptions { Motions = { { 1, JointMotion.Hinge(0.0f, 0.0f, 1.0f) } } }))
        using (Figure others = new Figure(
            skeleton,
            new FigureOptions
            {
                PrecisionCm = 2.0,
                ShellCm = -1.0,
                Motions = { { 0, JointMotion.Turns }, { 2, JointMotion.Still } },
            }))
        using (Figure moving = new Figure(
            skeleton, new FigureOptions { Motions = { { 1, JointMotion.Moves(5.0f) } } }))
        {
            Check.That(usual.Lanes == 12 && hinged.Lanes == 10, "a hinge takes one number");
            Check.That(others.Lanes == 6 && moving.Lanes == 15, "still and moving joints");
            Check.That(others.MaxErrorCm(1) > 0.5, "a coarser figure");
        }
        FigureOptions options = new FigureOptions { PrecisionCm = -1.0 };
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.PrecisionCm = 1e-12;
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.PrecisionCm = 0.0;
        options.JointPrecisionsCm[3] = 0.1;
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.JointPrecisionsCm.Clear();
        options.Motions[-1] = JointMotion.Still;
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.Motions.Clear();
        options.Curves.Add(new FigureCurve("grip", 1.0f, 0.0f, 0.1f));
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.Curves[0] = default(FigureCurve);
        Check.Throws<ArgumentNullException>(() => new Figure(skeleton, options));
        options.Curves.Clear();
        options.Parts.Add(new FigurePart("tail", new[] { 3 }));
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.Parts[0] = new FigurePart(null, null);
        Check.Throws<ArgumentNullException>(() => new Figure(skeleton, options));
        Check.Throws<ArgumentNullException>(() => new Figure(null));
    }

    /// <summary>A body that plays a clip over its live pose.</summary>
    private static void WithClips(Skeleton skeleton)
    {
        Bone[] bones = new Bone[5];
        Move(bones, 5.0);
        Pose pose = Layout(bones);
        FigureOptions options = new FigureOptions { Clips = { "walk", "bow" } };
        Check.Refused(Status.Argument, () => new Figure(skeleton, options));
        options.ClipSlots = 2;
        using (Figure figure = new Figure(skeleton, options))
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder.Figure("player", figure).Build())
        using (Snapshot world = new Snapshot(schema))
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (KillCam killCam = new KillCam(codec, 60, 5.0))
        {
            Check.That(figure.Clips == 2 && figure.ClipSlots == 2, "two clips in two slots");
            Check.That(figure.Lanes == 12 + (2 * 6), "six numbers for a slot");
            ClipPlay bow = new ClipPlay(1, 1, 100).WithSpeed(120, -0.5);
            Check.That(bow.Since == 120 && bow.TimeTicks == 20.0, "the time at the change");
            Check.Refused(Status.Value, () => bow.WithSpeed(120, 17.0));
            ClipPlay[] plays = { bow.WithWeight(0.2f) };
            for (uint tick = 120; tick <= 150; tick += 10)
            {
                world.Clear(tick);
                figure.Push(world, 0, 6, pose, plays: plays);
                killCam.Write(world);
            }
            ulong before = world.Hash;
            ClipPlay[] twice = { bow, bow };
            Check.Refused(
                Status.Argument, () => figure.Push(world, 0, Id, pose, plays: twice));
            ClipPlay[] unknown = { new ClipPlay(0, 2, 100) };
            Check.Refused(
                Status.Argument, () => figure.Push(world, 0, Id, pose, plays: unknown));
            ClipPlay[] heavy = { bow.WithWeight(1.5f) };
            Check.Refused(Status.Value, () => figure.Push(world, 0, Id, pose, plays: heavy));
            Check.Equal(world.Hash, before);

            Check.That(figure.TryGetClip(world, 0, 6, 1, out ClipPlay read), "a clip");
            Check.That(read.Clip == 1 && read.Slot == 1 && read.Speed == -0.5, "the bow");
            Check.That(read.Since == 120 && read.TimeTicks == 20.0, "since its change");
            Check.That(Math.Abs(read.Weight - 0.2f) < 1e-6f, "its weight");
            Check.That(!figure.TryGetClip(world, 0, 6, 0, out read), "an empty slot");
            Check.That(!figure.TryGetClip(world, 0, Id, 1, out read), "no such player");
            Check.Refused(Status.Argument, () => figure.TryGetClip(world, 0, 6, 2, out read));
            using (Replay replay = Replay.FromBytes(killCam.Cut(120, 150)))
            {
                Check.That(replay.TryPlay(133.25, out Playback playback), "a moment");
                Check.That(
                    figure.TryShowClip(replay, 0, 6, playback.Tick, 1, out ShownClip shown),
                    "a shown clip");
                Check.That(shown.Clip == 1 && shown.TimeTicks == 20.0 - 6.625, "its time");
                Check.That(shown.Speed == -0.5, "its speed");
                Check.That(Math.Abs(shown.Weight - 0.2f) < 1e-6f, "its weight");
                Check.That(!figure.TryShowClip(replay, 0, 6, 130.0, 0, out shown), "no clip");
            }
        }
    }

    private static Schema MakeSchema(Figure figure)
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            builder.Kind("door").Bool("is_open").Figure("player", figure);
            // Nothing changes the fields of a figure.
            Check.Refused(Status.Argument, () => builder.Role(Role.Body));
            Schema schema = builder.Kind("lamp").Bool("is_lit").Build();
            Check.That(schema.Kinds == 3 && schema.Fields(Player).Length > 4, "three kinds");
            return schema;
        }
    }

    /// <summary>A pose into a snapshot and back, without garbage.</summary>
    private static void Travels(Figure figure, Snapshot world)
    {
        Bone[] bones = new Bone[5];
        Bone[] read = new Bone[5];
        float[] curves = { 0.4f, 0.2f };
        float[] values = new float[2];
        Move(bones, 20.0);
        Pose pose = Layout(bones);
        Pose to = Layout(read);
        long before = 0;
        for (int round = 0; round < 2; round++)
        {
            before = GC.GetAllocatedBytesForCurrentThread();
            world.Clear(1);
            figure.Push(world, Player, Id, pose, curves);
            figure.TryRead(world, Player, Id, to, values);
        }
        long garbage = GC.GetAllocatedBytesForCurrentThread() - before;
        Check.That(garbage == 0, "no garbage from a figure, not " + garbage);
        Check.That(ErrorCm(read, 20.0) < 0.11, "the pose");
        Check.That(Math.Abs(values[0] - 0.4f) <= 0.0101f, "the grip");
        Check.That(figure.TryRead(world, Player, Id, to), "a pose without curves");
        Check.That(figure.IsPresent(world, Player, Id, 0), "the hand");
        Check.That(!figure.TryRead(world, Player, 8, to), "no such player");
        Check.That(!figure.IsPresent(world, Player, 8, 0), "no such player");

        // An absent part is not read, and what was there before stays.
        read[Hand].Flags = 5;
        bones[Hand].Rotation.W = double.NaN;
        read[Hand].TranslationCm.X = 99.0;
        values[0] = 9.0f;
        figure.Push(world, Player, 8, pose, curves, Absent);
        Check.That(figure.TryRead(world, Player, 8, to, values), "the body without a hand");
        Check.That(!figure.IsPresent(world, Player, 8, 0), "no hand");
        Check.That(values[0] == 9.0f && read[Hand].Flags == 5, "an old grip");
        Check.That(read[Hand].TranslationCm.X == 99.0, "an old hand");

        // Without translations, joints have those of the bind pose.
        Pose turns = new Pose(BoneOfJoint) { IsWFirst = true }
            .Set(PosePart.Rotation, bones, nameof(Bone.Rotation));
        figure.Push(world, Player, 9, turns, curves, Absent);
        figure.TryRead(world, Player, 9, to);
        Check.That(Math.Abs(read[Elbow].TranslationCm.X - 30.0) < 1e-3, "the elbow's bone");
    }

    private static void Refuses(Figure figure, Snapshot world, Skeleton skeleton)
    {
        Bone[] bones = new Bone[5];
        float[] curves = { 0.5f, 0.5f };
        Move(bones, 5.0);
        Pose pose = Layout(bones);
        world.Clear(1);
        figure.Push(world, Player, 6, pose, curves);
        ulong before = world.Hash;
        Check.Throws<ArgumentNullException>(() => figure.Push(null, Player, Id, pose, curves));
        Check.Throws<ArgumentNullException>(() => figure.Push(world, Player, Id, null, curves));
        Check.Refused(Status.Argument, () => figure.Push(world, Door, Id, pose, curves));
        Check.Refused(Status.Argument, () => figure.Push(world, 3, Id, pose, curves));
        Check.Refused(Status.Argument, () => figure.Push(world, -1, Id, pose, curves));
        Check.Refused(Status.Argument, () => figure.Push(world, Player, 6, pose, curves));
        Check.Refused(Status.Argument, () => figure.Push(world, Player, Id, pose));
        Check.Refused(Status.Argument, () => figure.Push(world, Player, Id, pose, new float[3]));
        int[] unknown = { -1 };
        Check.Refused(
            Status.Argument, () => figure.Push(world, Player, Id, pose, curves, unknown));
        Check.Refused(
            Status.Argument, () => figure.Push(world, Player, Id, pose, curves, tier: 1));
        Check.Throws<ArgumentOutOfRangeException>(
            () => figure.Push(world, Player, Id, pose, curves, tier: -1));
        curves[1] = 1.5f;
        Check.Refused(Status.Value, () => figure.Push(world, Player, Id, pose, curves));
        curves[1] = 0.5f;
        bones[Elbow].TranslationCm.X = 40.0;
        Check.Refused(Status.Value, () => figure.Push(world, Player, Id, pose, curves));
        Check.Equal(world.Hash, before);
        Check.Throws<ArgumentNullException>(() => figure.TryRead(null, Player, 6, pose));
        Check.Throws<ArgumentNullException>(() => figure.TryRead(world, Player, 6, null));
        Check.Throws<ArgumentNullException>(() => figure.TryShow(null, Player, 6, pose));
        Check.Throws<ArgumentNullException>(() => figure.IsPresent(null, Player, 6, 0));
        Check.Throws<ArgumentNullException>(() => figure.IsShown(null, Player, 6, 0));
        Check.Refused(Status.Argument, () => figure.TryRead(world, Door, 6, pose));
        Check.Refused(
            Status.Argument, () => figure.TryRead(world, Player, 6, pose, new float[1]));
        Check.Refused(Status.Argument, () => figure.IsPresent(world, Player, 6, 1));
        Check.Refused(Status.Argument, () => figure.IsPresent(world, Player, 6, -1));
        using (Figure other = new Figure(skeleton))
        {
            Check.Refused(Status.Argument, () => other.TryRead(world, Player, 6, pose));
            Check.Refused(Status.Argument, () => other.Push(world, Player, Id, pose));
        }
    }

    private static void OverANetwork(Figure figure, Codec codec, Schema schema, Snapshot world)
    {
        byte[] bytes = new byte[2000];
        Body sent = new Body(figure, schema);
        int played = 0;
        int withoutHand = 0;
        int size;
        using (Hub hub = new Hub(codec))
        using (Receiver receiver = new Receiver(codec, 60))
        {
            hub.Add(42, 0);
            Check.That(!figure.TryShow(receiver, Player, Id, sent.Pose), "no state yet");
            for (int tick = 1; tick <= Ticks; tick++)
            {
                ulong now = Network.TimeNs(tick);
                while (receiver.TryPoll(now, bytes, out size))
                {
                    hub.Handle(42, now, bytes, size);
                }
                if (tick % TicksPerState == 0)
                {
                    sent.Fill(world, tick);
                    hub.Tick(now, world);
                }
                while (hub.TryPoll(out ulong whom, bytes, out size))
                {
                    receiver.Handle(now, bytes, size);
                }
                if (receiver.TryPlay(now, out Playback playback) && !playback.IsStarved)
                {
                    withoutHand += sent.HasHand(receiver, playback.Tick) ? 0 : 1;
                    played++;
                }
            }
            Check.That(played > Ticks / 2, "most ticks played, not " + played);
            Check.That(withoutHand > 40 && withoutHand < 70, "no hand for a while");
            Check.That(!figure.TryShow(receiver, Player, 2, sent.Pose), "no such player");
            Check.That(!figure.IsShown(receiver, Player, 2, 0), "no such player");
            Check.Refused(Status.Argument, () => figure.TryShow(receiver, Door, 2, sent.Pose));
            Check.Refused(Status.Argument, () => figure.IsShown(receiver, Player, Id, 1));
            receiver.Dispose();
            Check.Throws<ObjectDisposedException>(
                () => figure.TryShow(receiver, Player, Id, sent.Pose));
        }
    }

    private static void InAReplay(Figure figure, Codec codec, Schema schema, Snapshot world)
    {
        Body sent = new Body(figure, schema);
        int withHand = 0;
        using (KillCam killCam = new KillCam(codec, 60, 5.0))
        {
            for (int tick = TicksPerState; tick <= Ticks; tick += TicksPerState)
            {
                sent.Fill(world, tick);
                killCam.Write(world);
            }
            using (Replay replay = Replay.FromBytes(killCam.Cut(TicksPerState, Ticks)))
            {
                for (double tick = 70.25; tick < 190.0; tick += 7.25)
                {
                    Check.That(replay.TryPlay(tick, out Playback playback), "a moment");
                    withHand += sent.HasHand(replay, playback.Tick) ? 1 : 0;
                }
            }
        }
        Check.That(withHand > 4 && withHand < 13, "a hand before and after");
    }

    private static Pose Layout(Bone[] bones)
    {
        return new Pose(BoneOfJoint) { IsWFirst = true, UnitsPerMetre = 100.0f }
            .Set(PosePart.Translation, bones, nameof(Bone.TranslationCm))
            .Set(PosePart.Rotation, bones, nameof(Bone.Rotation));
    }

    /// <summary>The pose of a tick. All motions are even, so interpolation adds no error.</summary>
    private static void Move(Bone[] bones, double tick)
    {
        Array.Clear(bones, 0, bones.Length);
        Place(ref bones[Shoulder], 0.5 * tick, 0.05 * tick);
        Place(ref bones[Elbow], 30.0, 0.3 + (0.01 * tick));
        Place(ref bones[Hand], 25.0, 0.5 - (0.005 * tick));
    }

    private static void Place(ref Bone bone, double cm, double angle)
    {
        bone.TranslationCm.X = cm;
        bone.Rotation.W = Math.Cos(angle / 2.0);
        bone.Rotation.Z = Math.Sin(angle / 2.0);
    }

    /// <summary>
    /// How far the tip of the hand is from its place in the pose of a tick, in centimetres.
    /// </summary>
    private static double ErrorCm(Bone[] bones, double tick)
    {
        Bone[] exact = new Bone[5];
        Move(exact, tick);
        Tip(bones, out double x, out double y);
        Tip(exact, out double exactX, out double exactY);
        return Math.Sqrt(((x - exactX) * (x - exactX)) + ((y - exactY) * (y - exactY)));
    }

    private static void Tip(Bone[] bones, out double x, out double y)
    {
        double angle = 0.0;
        x = 0.0;
        y = 0.0;
        foreach (uint bone in BoneOfJoint)
        {
            Bone of = bones[bone];
            x += Math.Cos(angle) * of.TranslationCm.X;
            y += Math.Sin(angle) * of.TranslationCm.X;
            angle += 2.0 * Math.Atan2(of.Rotation.Z, of.Rotation.W);
        }
        x += 3.0 * Math.Cos(angle);
        y += 3.0 * Math.Sin(angle);
    }

    private struct Wxyz
    {
        internal double W;
        internal double X;
        internal double Y;
        internal double Z;
    }

    private struct Xyz
    {
        internal double X;
        internal double Y;
        internal double Z;
    }

    /// <summary>An engine's transform: another order, doubles, centimetres, no scale.</summary>
    private struct Bone
    {
        internal Wxyz Rotation;
        internal Xyz TranslationCm;
        internal int Flags;
    }

    /// <summary>The body that is sent, and a body for what is shown.</summary>
    private sealed class Body
    {
        private static readonly uint[] DoorIds = { 2 };

        private readonly Figure figure;
        private readonly Columns door;
        private readonly Bone[] bones = new Bone[5];
        private readonly Bone[] shown = new Bone[5];
        private readonly float[] curves = { 0.0f, 0.25f };
        private readonly float[] values = new float[2];
        private readonly Pose sent;

        internal Body(Figure figure, Schema schema)
        {
            this.figure = figure;
            door = new Columns(schema, Door).Set(0, new byte[] { 1 });
            sent = Layout(bones);
            Pose = Layout(shown);
        }

        /// <summary>The memory for what is shown.</summary>
        internal Pose Pose { get; }

        /// <summary>Fills the world of a tick.</summary>
        internal void Fill(Snapshot world, int tick)
        {
            bool isGone = tick >= Gone && tick < Back;
            Move(bones, tick);
            curves[0] = isGone ? float.NaN : Grip(tick);
            world.Clear((uint)tick);
            world.Add(DoorIds, 1, door);
            figure.Push(world, Player, Id, sent, curves, isGone ? Absent : null);
        }

        /// <summary>
        /// Compares what is shown with the pose of the shown tick. Returns whether the hand is
        /// present.
        /// </summary>
        internal bool HasHand(Shown from, double tick)
        {
            Array.Clear(shown, 0, shown.Length);
            values[0] = 9.0f;
            Check.That(figure.TryShow(from, Player, Id, Pose, values), "the player");
            Check.That(Math.Abs(values[1] - 0.25f) <= 0.1001f, "the jaw");
            if (!figure.IsShown(from, Player, Id, 0))
            {
                Check.That(tick >= Gone - TicksPerState && tick < Back, "a hand at " + tick);
                Check.That(values[0] == 9.0f, "an old grip");
                return false;
            }
            Check.That(tick < Gone || tick > Back - TicksPerState, "no hand at " + tick);
            if (Math.Abs(tick - Gone) >= TicksPerState && Math.Abs(tick - Back) >= TicksPerState)
            {
                double error = ErrorCm(shown, tick);
                Check.That(error < 0.15, "at most 0.15 cm off, not " + error);
                Check.That(Math.Abs(values[0] - Grip(tick)) < 0.011, "the grip");
            }
            return true;
        }

        private static float Grip(double tick) => (float)(0.2 + (0.002 * tick));
    }
}
