using System;
using Kinepack;

/// <summary>
/// Bodies in rings: a receiver sees the near one in fine steps and the far one in coarse steps, and
/// does not see the one beyond. The kind of the bodies has another field too.
/// </summary>
internal static class BodiesInRings
{
    private const int Player = 0;
    private const ulong Viewer = 42;
    private const int Tiers = 2;

    /// <summary>Instead of a tier: the body is not seen.</summary>
    private const int Hidden = -1;

    private static readonly uint[] Ids = { 7, 8, 9 };

    // Near the origin, farther away, and beyond all rings.
    private static readonly float[] PlacesCm = { 100.0f, 1000.0f, 5000.0f };

    internal static void Run()
    {
        Bone[] bones = new Bone[2];
        Stand(bones, 0.0f);
        SkeletonJoint[] joints = { new SkeletonJoint("hips", -1), new SkeletonJoint("chest", 0) };
        FigureOptions options = new FigureOptions { Coarser = { 10.0 } };
        using (Skeleton skeleton = new Skeleton(joints, Layout(bones)))
        using (Figure figure = new Figure(skeleton, options))
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder.Figure("player", figure).Bool("is_armed").Build())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (World world = new World(figure, schema, codec))
        {
            Check.Equal(figure.Tiers, Tiers);
            Check.That(figure.MaxErrorCm(1) <= 0.5, "half a centimetre");
            double coarse = figure.MaxErrorCm(1, 1);
            Check.That(coarse > 2.5 && coarse <= 5.0, "five centimetres, not " + coarse);
            Rings rings = new Rings
            {
                Positions = { "player." + figure.PositionField },
                Items = { new Ring(500.0, 550.0, 0), new Ring(2000.0, 2200.0, 1) },
                Urgent = { "player.is_armed" },
                Cell = 100.0,
            };
            world.Hub.SetRings(rings);
            world.Expect("everything without a viewpoint", 0, 0, 0);
            world.Hub.SetViewpoint(Viewer, 0.0, 0.0);
            world.Expect("the near one fine, the far one coarse", 0, 1, Hidden);
            world.Hub.SetViewpoint(Viewer, 1000.0, 0.0, 0.0);
            world.Expect("the far one fine, the near one coarse", 1, 0, Hidden);
            world.Hub.SetAlwaysSeen(Viewer, new uint[] { 9 }, 1);
            world.Expect("the one beyond as in the farthest ring", 1, 0, 1);
            world.Hub.SetAlwaysSeen(Viewer, new uint[0], 0);
            rings.Beyond = 1;
            rings.Items[1] = new Ring(2000.0, 2200.0, 1, 4);
            world.Hub.SetRings(rings);
            world.Expect("all three", 1, 0, 1);
            world.Hub.ClearViewpoint(Viewer);
            world.Expect("everything in tier 0", 0, 0, 0);
            world.Hub.SetViewpoint(Viewer, 0.0, 0.0);
            world.Hub.SetRings(null);
            world.Expect("everything without rings", 0, 0, 0);
            OtherFields(world, schema);
            Refuses(world, rings);
            IsWithoutGarbage(world);
        }
        using (Skeleton skeleton = new Skeleton(joints, Layout(bones)))
        using (Figure still = new Figure(
            skeleton, new FigureOptions { Motions = { { 0, JointMotion.Turns } } }))
        {
            Check.That(still.PositionField == null, "no joint that moves");
        }
    }

    private static void OtherFields(World world, Schema schema)
    {
        byte[] isArmed = new byte[Ids.Length];
        Columns read = new Columns(schema, Player).Set("is_armed", isArmed);
        Snapshot fine = world.Worlds[0];
        fine.Read(read);
        Check.That(isArmed[0] == 0 && isArmed[1] == 1 && isArmed[2] == 0, "one of three is armed");
        ulong before = fine.Hash;
        Check.Refused(Status.Argument, () => world.Push(fine, 20, null));
        Columns half = new Columns(schema, Player).Set("is_armed", new byte[] { 2 });
        Check.Refused(Status.Value, () => world.Push(fine, 20, half));
        Columns none = new Columns(schema, Player).Set("is_armed", new byte[0]);
        Check.Throws<ArgumentException>(() => world.Push(fine, 20, none));
        Columns empty = new Columns(schema, Player);
        Check.Refused(Status.Argument, () => world.Push(fine, 20, empty));
        Check.Equal(fine.Hash, before);
        half.Clamp("is_armed");
        world.Push(fine, 20, half);
    }

    private static void Refuses(World world, Rings rings)
    {
        Hub hub = world.Hub;
        rings.Items.Add(new Ring(3000.0, 2500.0, 1));
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Items.Clear();
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Items.Add(new Ring(3000.0, 3000.0, 255));
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Items[0] = new Ring(3000.0, 3000.0, 1);
        rings.Urgent.Add("player.health");
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Urgent.Clear();
        rings.Items[0] = new Ring(3000.0, 3000.0, 1, 256);
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Items[0] = new Ring(3000.0, 3000.0, 1);
        rings.Positions.Add("player.place");
        Check.Refused(Status.Argument, () => hub.SetRings(rings));
        rings.Positions[1] = null;
        Check.Throws<ArgumentNullException>(() => hub.SetRings(rings));
        rings.Positions.Clear();
        rings.Beyond = -1;
        Check.Throws<ArgumentOutOfRangeException>(() => hub.SetRings(rings));
        Check.Throws<ArgumentOutOfRangeException>(() => new Ring(1.0, 1.0, -1));
        Check.Throws<ArgumentOutOfRangeException>(() => new Ring(1.0, 1.0, 0, 0));
        Check.Refused(Status.Argument, () => hub.SetAlwaysSeen(9, new uint[0], 0));
        Check.Refused(Status.Argument, () => hub.SetAlwaysSeen(Viewer, new uint[] { 2, 1 }, 2));
        Check.Throws<ArgumentNullException>(() => hub.SetAlwaysSeen(Viewer, null, 0));
        Check.Refused(Status.Argument, () => hub.SetViewpoint(Viewer, double.NaN, 0.0));
        Check.Refused(Status.Argument, () => hub.SetViewpoint(9, 0.0, 0.0));
        Check.Refused(Status.Argument, () => hub.ClearViewpoint(9));
        Check.Throws<ArgumentNullException>(() => hub.TickTiers(0, null));
        Check.Throws<ArgumentNullException>(() => hub.TickTiers(0, new Snapshot[1]));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.TickTiers(0, new Snapshot[256]));
        Check.Refused(Status.Argument, () => hub.TickTiers(0, new Snapshot[0]));
        world.Fill();
        world.Worlds[1].Clear(1);
        Check.Refused(Status.Argument, () => hub.TickTiers(world.Now, world.Worlds));
    }

    private static void IsWithoutGarbage(World world)
    {
        long before = 0;
        for (int round = 0; round < 2; round++)
        {
            before = GC.GetAllocatedBytesForCurrentThread();
            world.Fill();
            world.Hub.SetViewpoint(Viewer, 0.0, 0.0);
            world.Hub.TickTiers(world.Now, world.Worlds);
        }
        long garbage = GC.GetAllocatedBytesForCurrentThread() - before;
        Check.That(garbage == 0, "no garbage from a tick with tiers, not " + garbage);
    }

    private static Pose Layout(Bone[] bones)
    {
        return new Pose { UnitsPerMetre = 100.0f }
            .Set(PosePart.Translation, bones, nameof(Bone.TranslationCm))
            .Set(PosePart.Rotation, bones, nameof(Bone.Rotation));
    }

    private static void Stand(Bone[] bones, float cm)
    {
        Array.Clear(bones, 0, bones.Length);
        bones[0].TranslationCm.X = cm;
        bones[0].Rotation.W = 1.0f;
        bones[1].TranslationCm.Y = 60.0f;
        bones[1].Rotation.Z = (float)Math.Sin(0.31);
        bones[1].Rotation.W = (float)Math.Cos(0.31);
    }

    private struct Xyz
    {
        internal float X;
        internal float Y;
        internal float Z;
    }

    private struct Xyzw
    {
        internal float X;
        internal float Y;
        internal float Z;
        internal float W;
    }

    private struct Bone
    {
        internal Xyzw Rotation;
        internal Xyz TranslationCm;
    }

    /// <summary>The worlds of a tick, a hub and a receiver.</summary>
    private sealed class World : IDisposable
    {
        private readonly Bone[] bones = new Bone[2];
        private readonly byte[] isArmed = new byte[1];
        private readonly byte[] bytes = new byte[1200];
        private readonly Figure figure;
        private readonly Pose pose;
        private readonly Columns others;
        private readonly Snapshot seen;
        private readonly Snapshot expected;
        private readonly Receiver receiver;
        private uint tick;

        internal World(Figure figure, Schema schema, Codec codec)
        {
            this.figure = figure;
            pose = Layout(bones);
            others = new Columns(schema, Player).Set("is_armed", isArmed);
            Worlds = new[] { new Snapshot(schema), new Snapshot(schema) };
            seen = new Snapshot(schema);
            expected = new Snapshot(schema);
            Hub = new Hub(codec);
            Hub.Add(Viewer, 0);
            receiver = new Receiver(codec, 60);
        }

        internal Hub Hub { get; }

        internal Snapshot[] Worlds { get; }

        internal ulong Now => tick * 16666667ul;

        public void Dispose()
        {
            receiver.Dispose();
            Hub.Dispose();
            Array.ForEach(Worlds, world => world.Dispose());
            seen.Dispose();
            expected.Dispose();
        }

        /// <summary>Fills the worlds of the next tick.</summary>
        internal void Fill()
        {
            tick++;
            for (int tier = 0; tier < Tiers; tier++)
            {
                Worlds[tier].Clear(tick);
                for (int nth = 0; nth < Ids.Length; nth++)
                {
                    Add(Worlds[tier], nth, tier);
                }
            }
        }

        internal void Push(Snapshot world, uint id, Columns columns)
        {
            figure.Push(world, Player, id, pose, others: columns);
        }

        /// <summary>
        /// Sends a tick, and compares what the receiver has with these tiers of the bodies.
        /// </summary>
        internal void Expect(string what, params int[] tiers)
        {
            Fill();
            while (receiver.TryPoll(Now, bytes, out int size))
            {
                Check.That(Hub.Handle(Viewer, Now, bytes, size), "a datagram");
            }
            Check.That(Hub.TickTiers(Now, Worlds), "a tick");
            while (Hub.TryPoll(out _, bytes, out size))
            {
                Check.That(receiver.Handle(Now, bytes, size), "a datagram");
            }
            Check.That(receiver.TryNewest(seen), "a state");
            expected.Clear(tick);
            for (int nth = 0; nth < Ids.Length; nth++)
            {
                if (tiers[nth] != Hidden)
                {
                    Add(expected, nth, tiers[nth]);
                }
            }
            Check.That(seen.Hash == expected.Hash, what);
        }

        private void Add(Snapshot world, int nth, int tier)
        {
            Stand(bones, PlacesCm[nth]);
            isArmed[0] = (byte)(nth == 1 ? 1 : 0);
            figure.Push(world, Player, Ids[nth], pose, tier: tier, others: others);
        }
    }
}
