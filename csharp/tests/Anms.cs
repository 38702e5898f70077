using System;
using Kinepack;

/// <summary>The file of spec/ANM.md, section 8: one moving joint.</summary>
internal static class Anms
{
    private const string File =
        "7233643263616e6d03000000fe00000000000000040000000100000009000000020000000000004" +
        "00000f0410000004000002041000000400000204100000040000020410000000000000000000000" +
        "000000000000000041000000000000803f0000803f0000803f0000803f0000803f0000803f74000" +
        "000ce000000fe0000000000000000c0263b00700000000000c0263b00700000000000c0263b0070" +
        "0000000000c0263b00700000004000000000000000000040000000000000004000400000ffff000" +
        "0ffff0040000000800000ffff004000000080000000000100020003000400050006000700ffffff" +
        "ffffffffff00000100020003000500060007000800ffffffffffffffff64960700";

    internal static void Run()
    {
        byte[] bytes = Words.Bytes(File);
        float[] place = new float[3];
        Pose pose = new Pose { UnitsPerMetre = 100.0f }.Set(PosePart.Translation, place);
        Anm anm = new Anm(bytes);
        Check.Equal(anm.Info.Version, 3);
        Check.Equal(anm.Info.Joints, 1);
        Check.Equal(anm.Info.Keys, 9);
        Check.Equal(anm.Info.DurationSeconds, 2.0f);
        Check.Equal(anm.Info.RateHz, 30.0f);
        Check.Equal(anm.JointHash(0), Anm.HashOf("root"));
        Check.Equal(Words.Hex(anm.ToBytes()), File);
        anm.Sample(0.5f, pose);
        float before = place[1];
        anm.Sample(1.5f, pose);
        Check.That(place[1] != before, "a joint that moves");
        Check.Refused(Status.Argument, () => anm.Sample(float.NaN, pose));
        Check.Refused(Status.Argument, () => anm.JointHash(1));
        Check.Refused(Status.Argument, () => anm.JointHash(-1));
        Check.Refused(Status.Data, () => new Anm(new byte[9]));
        Check.Throws<ArgumentNullException>(() => new Anm(null));
        Check.Throws<ArgumentNullException>(() => Anm.HashOf(null));
        Check.Throws<ArgumentNullException>(() => anm.Sample(0.0f, null));
        for (int at = 0; at < bytes.Length; at++)
        {
            bytes[at] ^= 16;
            TrySample(bytes, pose);
            bytes[at] ^= 16;
        }
        anm.Dispose();
        Check.Throws<ObjectDisposedException>(() => anm.Sample(0.0f, pose));
        Check.Throws<ObjectDisposedException>(() => anm.ToBytes());
    }

    /// <summary>Random files are refused, or sampled if they have one joint.</summary>
    private static void TrySample(byte[] bytes, Pose pose)
    {
        try
        {
            using (Anm changed = new Anm(bytes))
            {
                changed.Sample(0.7f, pose);
            }
        }
        catch (KinepackException refused)
        {
            Check.That(refused.Status != Status.Panic, "no panic: " + refused.Message);
        }
    }
}
