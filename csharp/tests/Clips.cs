using System;
using Kinepack;

/// <summary>
/// Clips: loaded, sampled into an engine's layout by bone, blended with a mask. The files are those
/// of the test in C (crates/kinepack-c/tests/programs.rs): an arm of three joints, and two clips.
/// </summary>
internal static class Clips
{
    private const string Arm =
        "S1BTSwEAAwD//wAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AACAPwAAgD8AAAAAAAAA"
        + "AAAAAAAAAAAAgD8AAPBBAAAAAAAAAAAAAIA/AACAPwAAgD8BAAAAAAAAAAAAAAAAAAAAgD8AAMhB"
        + "AAAAAAAAAAAAAIA/AACAPwAAgD8IAHNob3VsZGVyBQBlbGJvdwQAaGFuZA==";

    private const string Wave =
        "S1BBQgIJA4A9AAAAAADwQQIAAQAIAgAAgACAFZBWVVZVVlWdAAAAAPBBAAAAPwAAAAAAAIA+AAAA"
        + "AAAAAAC1qLUAtQAAIT9dY2SzUAAARtgo4AoSifxjvFMBSAtgAieQkChsWxJAgZAHZWSaPAAAv60s"
        + "wAsUqtzx4i1AIDAFK1QolSpSYMk6ZmSaPAAAz0EuIAwVq/zYYC8AI3AFLVgoNdFVcNE6ZGSzUAAA"
        + "KZdo4AoSiVxYw1EBOAtYAiaQgCD70EgABUIeBABncmlwBABnYWluAgAAAHBBBABncmFiAAA0QgcA"
        + "cmVsZWFzZWbDQjpR9px4Wkkh8g==";

    private const string Walk =
        "S1BBRAJaPwqYXjjkvClyCQ2bFaO5KVueCfaic6AsT9nwGOdvfCjy4pj13d1moTWPu+9BmbXNo1MD"
        + "MaHREzyQddpbfjSIO+ijEm4=";

    internal static void Run()
    {
        using (Skeleton skeleton = new Skeleton(Convert.FromBase64String(Arm)))
        using (Clip wave = new Clip(Convert.FromBase64String(Wave)))
        using (Clip walk = new Clip(Convert.FromBase64String(Walk)))
        using (Player player = new Player(wave, skeleton))
        using (Player other = new Player(walk, skeleton))
        {
            Describes(skeleton, wave);
            BindPoses(skeleton, wave);
            // Players remain valid without their clips.
            wave.Dispose();
            walk.Dispose();
            Samples(player);
            Curves(player, other);
            Blends(skeleton, player, other);
            Refuses(skeleton, player, other);
            player.Dispose();
            Pose pose = new Pose().Set(PosePart.Scale, new float[9]);
            Check.Throws<ObjectDisposedException>(() => player.Sample(0.0f, pose));
            Check.Throws<ObjectDisposedException>(
                () => other.Blend(0.0f, player, 0.0f, 0.5f, null, pose));
            Check.Throws<ObjectDisposedException>(() => new Player(wave, skeleton));
            Check.Throws<ObjectDisposedException>(() => wave.Info.ToString());
        }
        Damaged(Convert.FromBase64String(Wave));
    }

    private static void Describes(Skeleton skeleton, Clip wave)
    {
        Check.Equal(skeleton.Joints, 3);
        Check.Equal(skeleton.Name(2), "hand");
        Check.That(skeleton.TryFind("elbow", out int joint) && joint == 1, "the elbow");
        Check.That(!skeleton.TryFind("tail", out joint) && joint == -1, "no tail");
        Check.That(skeleton.Parent(2) == 1 && skeleton.Parent(0) == -1, "parents");
        Check.Refused(Status.Argument, () => skeleton.Parent(3));
        Check.Refused(Status.Argument, () => skeleton.Name(-1));
        Check.Throws<ArgumentNullException>(() => skeleton.TryFind(null, out joint));
        ClipInfo info = wave.Info;
        Check.That(info.Joints == 3 && info.Samples == 61 && info.RateHz == 30.0f, "its size");
        Check.That(info.DurationSeconds == 2.0f && info.Bytes > 0, "two seconds");
        Check.Equal(info.SkeletonHash, skeleton.Hash);
        Check.That(info.Curves == 2 && info.Markers == 2, "curves and markers");
        Check.Equal(wave.CurveName(1), "gain");
        Check.Refused(Status.Argument, () => wave.CurveName(2));
        ClipMarker release = wave.Marker(1);
        Check.That(release.Name == "release" && release.TimeSeconds == 1.5f, "a marker");
        Check.Refused(Status.Argument, () => wave.Marker(-1));
    }

    private static void Curves(Player player, Player other)
    {
        float[] values = new float[2];
        player.Curves(1.0f, values);
        // The first curve rises by 0.5 a second, and the second one is constant.
        Check.That(Math.Abs(values[0] - 0.5f) < 1e-3f && values[1] == 0.25f, "curves");
        Check.Refused(Status.Argument, () => player.Curves(1.0f, new float[3]));
        Check.Refused(Status.Argument, () => player.Curves(float.NaN, values));
        Check.Throws<ArgumentNullException>(() => player.Curves(1.0f, null));
        other.Curves(1.0f, new float[0]);
    }

    /// <summary>A player with a bind pose instead of a skeleton.</summary>
    private static void BindPoses(Skeleton skeleton, Clip wave)
    {
        float[] translations = new float[9];
        float[] rotations = new float[12];
        float[] scales = new float[9];
        Pose pose = new Pose()
            .Set(PosePart.Translation, translations)
            .Set(PosePart.Rotation, rotations)
            .Set(PosePart.Scale, scales);
        skeleton.BindPose(pose);
        using (Player player = new Player(wave, pose))
        {
            player.Sample(1.0f, pose);
            Check.That(Math.Abs(translations[0] - 0.3f) < 1e-3f, "30 cm");
            Check.That(scales[4] == 1.0f, "the scale of the bind pose");
        }
        Pose few = new Pose().Set(PosePart.Translation, new float[6]);
        Check.Refused(Status.Argument, () => new Player(wave, few));
        Pose two = new Pose(new uint[2]).Set(PosePart.Translation, translations);
        Check.Refused(Status.Argument, () => new Player(wave, two));
        Check.Throws<ArgumentNullException>(() => new Player(wave, (Pose)null));
        Check.Throws<ArgumentNullException>(() => new Player(null, pose));
    }

    /// <summary>An array of structs, with further bones before and between.</summary>
    private static unsafe void Samples(Player player)
    {
        Bone[] bones = new Bone[6];
        Pose pose = new Pose(new uint[] { 1, 3, 5 })
        {
            IsWFirst = true,
            UnitsPerMetre = 100.0f,
        };
        pose.Set(PosePart.Translation, bones, nameof(Bone.TranslationCm));
        pose.Set(PosePart.Rotation, bones, nameof(Bone.RotationWxyz));
        pose.Set(PosePart.Scale, bones, nameof(Bone.Scale));
        player.Sample(1.0f, pose);
        long before = GC.GetAllocatedBytesForCurrentThread();
        player.Sample(1.0f, pose);
        long garbage = GC.GetAllocatedBytesForCurrentThread() - before;
        Check.That(garbage == 0, "no garbage from a pose, not " + garbage);
        fixed (Bone* bone = bones)
        {
            // The clip moves the shoulder by 30 cm and turns the elbow by 0.5 rad a second.
            Check.That(Math.Abs(bone[1].TranslationCm[0] - 30.0) < 0.1, "30 cm");
            Check.That(Math.Abs(bone[3].RotationWxyz[0] - Math.Cos(0.25)) < 1e-3, "w");
            Check.That(Math.Abs(bone[3].RotationWxyz[3] - Math.Sin(0.25)) < 1e-3, "z");
            Check.That(bone[0].Scale[0] == 0.0 && bone[1].Scale[0] == 1.0, "scales");
            Check.That(bone[4].Scale[2] == 0.0 && bone[5].Flags == 0, "other bones untouched");
            Pose direct = new Pose();
            long size = 3 * sizeof(Bone);
            IntPtr first = (IntPtr)bone[0].TranslationCm;
            direct.Set(PosePart.Translation, first, size - 32, sizeof(Bone), Number.F64);
            player.Sample(2.0f, direct);
            Check.That(Math.Abs(bone[0].TranslationCm[0] - 0.6) < 1e-3, "0.6 m");
        }
    }

    private static void Blends(Skeleton skeleton, Player player, Player other)
    {
        float[] translations = new float[9];
        Rotation[] rotations = new Rotation[3];
        Pose pose = new Pose()
            .Set(PosePart.Translation, translations)
            .Set(PosePart.Rotation, rotations);
        skeleton.BindPose(pose);
        Check.That(translations[0] == 0.0f && rotations[1].W == 1.0f, "the bind pose");
        player.SampleAt(30.0, pose);
        Check.That(Math.Abs(translations[0] - 0.3f) < 1e-3f, "the thirtieth sample");
        Check.Throws<ArgumentNullException>(() => player.SampleAt(0.0, null));
        Check.Refused(Status.Argument, () => player.SampleAt(double.NaN, pose));
        player.Blend(1.0f, other, 1.0f, 0.5f, null, pose);
        Check.That(Math.Abs(translations[0] - 0.15f) < 2e-3f, "half of each clip");
        player.Blend(0.0f, other, 1.0f, 0.5f, null, pose);
        player.Blend(1.0f, other, 1.0f, 0.5f, new float[0], pose);
        Check.That(Math.Abs(translations[0] - 0.15f) < 2e-3f, "no mask");
        player.Blend(1.0f, other, 1.0f, 1.0f, new[] { 1.0f, 0.0f, 0.0f }, pose);
        Check.That(Math.Abs(translations[0]) < 2e-3f, "the shoulder of the other clip");
        Check.That(Math.Abs(rotations[1].W - Math.Cos(0.25)) < 1e-3, "the elbow of this one");
        player.Blend(1.0f, player, 0.0f, 0.5f, null, pose);
        Check.That(Math.Abs(translations[0] - 0.15f) < 2e-3f, "a mix with itself");
    }

    private static void Refuses(Skeleton skeleton, Player player, Player other)
    {
        Pose pose = new Pose().Set(PosePart.Translation, new float[9]);
        Check.Throws<ArgumentNullException>(() => player.Sample(0.0f, null));
        Check.Throws<ArgumentNullException>(() => skeleton.BindPose(null));
        Check.Throws<ArgumentNullException>(() => new Player(null, skeleton));
        Check.Throws<ArgumentNullException>(
            () => player.Blend(0.0f, null, 0.0f, 0.5f, null, pose));
        Check.Throws<ArgumentNullException>(
            () => player.Blend(0.0f, other, 0.0f, 0.5f, null, null));
        foreach (int length in new[] { 2, 4 })
        {
            float[] mask = new float[length];
            Check.Refused(
                Status.Argument, () => player.Blend(0.0f, other, 0.0f, 0.5f, mask, pose));
        }
        Check.Refused(Status.Argument, () => player.Sample(float.NaN, pose));
        Check.Refused(
            Status.Argument, () => player.Blend(0.0f, other, 0.0f, float.NaN, null, pose));
        // Too few bones, or joints of bones that do not exist.
        Pose few = new Pose().Set(PosePart.Translation, new float[8]);
        Check.Refused(Status.Argument, () => player.Sample(0.0f, few));
        Pose beyond = new Pose(new uint[] { 0, 1, 3 }).Set(PosePart.Scale, new float[9]);
        Check.Refused(Status.Argument, () => player.Sample(0.0f, beyond));
        // Too few joints, and too many.
        foreach (uint[] joints in new[] { new uint[] { 0, 1 }, new uint[4] })
        {
            Pose unknown = new Pose(joints).Set(PosePart.Scale, new float[12]);
            Check.Refused(Status.Argument, () => player.Sample(0.0f, unknown));
            Check.Refused(Status.Argument, () => skeleton.BindPose(unknown));
        }
        // Bad types.
        Pose mixed = new Pose()
            .Set(PosePart.Translation, new float[9])
            .Set(PosePart.Scale, new double[9]);
        Check.Throws<ArgumentException>(() => player.Sample(0.0f, mixed));
        Pose integers = new Pose().Set(PosePart.Translation, new int[9]);
        Check.Refused(Status.Argument, () => player.Sample(0.0f, integers));
        Check.Throws<ArgumentException>(() => pose.Set(PosePart.Scale, new Rotation[3]));
        Check.Throws<ArgumentException>(() => pose.Set(PosePart.Scale, new Bone[3], "Flags"));
        Check.Throws<ArgumentOutOfRangeException>(() => pose.Set((PosePart)3, new float[9]));
        Check.Throws<ArgumentNullException>(() => pose.Set<float>(PosePart.Scale, null));
        player.Sample(0.0f, new Pose());
        // An engine with no bone for each joint, or with joint 0 as bone 0.
        player.Sample(0.0f, new Pose(new[] { 0u, uint.MaxValue, uint.MaxValue })
            .Set(PosePart.Scale, new float[3]));
        player.Sample(0.0f, new Pose(new uint[0]).Set(PosePart.Scale, new float[9]));
        player.Sample(0.0f, pose);
    }

    /// <summary>Damaged files are refused, or read as other clips.</summary>
    private static void Damaged(byte[] file)
    {
        Check.Throws<ArgumentNullException>(() => new Skeleton(null));
        Check.Throws<ArgumentNullException>(() => new Rig(null));
        Check.Throws<ArgumentNullException>(() => new Clip(null));
        Check.Refused(Status.Data, () => new Skeleton(file));
        Check.Refused(Status.Data, () => new Rig(file));
        Check.Refused(Status.Data, () => new Clip(new byte[0]));
        for (int round = 0; round < 300; round++)
        {
            file[(round * 7919) % file.Length] ^= (byte)(round | 1);
            try
            {
                new Clip(file).Dispose();
            }
            catch (KinepackException refused)
            {
                Check.Equal(refused.Status, Status.Data);
            }
        }
    }

    /// <summary>An engine's transform: another order, doubles, centimetres.</summary>
    private unsafe struct Bone
    {
        internal fixed double RotationWxyz[4];
        internal fixed double TranslationCm[3];
        internal fixed double Scale[3];
        internal int Flags;
    }
}
