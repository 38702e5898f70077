using System;
using Kinepack;

/// <summary>
/// A pose of the script: for each joint its rotation, translation in centimetres and scale, as
/// ten numbers of eight digits.
/// </summary>
internal sealed class Transforms
{
    private const int NumbersOfJoint = 10;

    private readonly float[] rotations;
    private readonly float[] translations;
    private readonly float[] scales;

    internal Transforms(string hex)
    {
        byte[] bytes = Words.Bytes(hex);
        Check.That(bytes.Length % (4 * NumbersOfJoint) == 0, "ten numbers a joint");
        int joints = bytes.Length / (4 * NumbersOfJoint);
        rotations = new float[4 * joints];
        translations = new float[3 * joints];
        scales = new float[3 * joints];
        for (int joint = 0; joint < joints; joint++)
        {
            int at = joint * NumbersOfJoint;
            Read(bytes, at, rotations, 4 * joint, 4);
            Read(bytes, at + 4, translations, 3 * joint, 3);
            Read(bytes, at + 7, scales, 3 * joint, 3);
        }
        Pose = new Pose { UnitsPerMetre = 100.0f }
            .Set(PosePart.Rotation, rotations)
            .Set(PosePart.Translation, translations)
            .Set(PosePart.Scale, scales);
    }

    internal Pose Pose { get; }

    /// <summary>Numbers of eight digits each.</summary>
    internal static float[] Numbers(string hex)
    {
        byte[] bytes = Words.Bytes(hex.Length == 0 ? "-" : hex);
        float[] numbers = new float[bytes.Length / 4];
        Read(bytes, 0, numbers, 0, numbers.Length);
        return numbers;
    }

    /// <summary>Whether all numbers are equal, up to the signs of rotations.</summary>
    internal bool Equals(Transforms other)
    {
        ChooseSigns(rotations);
        ChooseSigns(other.rotations);
        return AreEqual(rotations, other.rotations)
            && AreEqual(translations, other.translations)
            && AreEqual(scales, other.scales);
    }

    private static void Read(byte[] bytes, int number, float[] to, int begin, int count)
    {
        for (int nth = 0; nth < count; nth++)
        {
            // The highest digit comes first.
            byte[] low = new byte[4];
            Array.Copy(bytes, 4 * (number + nth), low, 0, 4);
            if (BitConverter.IsLittleEndian)
            {
                Array.Reverse(low);
            }
            to[begin + nth] = BitConverter.ToSingle(low, 0);
        }
    }

    /// <summary>Makes the last nonzero number of each rotation positive.</summary>
    private static void ChooseSigns(float[] rotations)
    {
        for (int begin = 0; begin < rotations.Length; begin += 4)
        {
            int last = begin + 3;
            while (last > begin && rotations[last] == 0.0f)
            {
                last--;
            }
            bool isNegative = rotations[last] < 0.0f;
            for (int nth = begin; isNegative && nth < begin + 4; nth++)
            {
                rotations[nth] = -rotations[nth];
            }
        }
    }

    /// <summary>Equal numbers have equal bits, except +0 and -0.</summary>
    private static bool AreEqual(float[] one, float[] other)
    {
        bool equal = one.Length == other.Length;
        for (int nth = 0; equal && nth < one.Length; nth++)
        {
            equal = one[nth] == other[nth];
        }
        return equal;
    }
}
