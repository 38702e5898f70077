using System;
using Kinepack;

/// <summary>The commands of skeletons, rigs, clips, r3d2canm files and poses.</summary>
internal static class VectorClips
{
    internal static void AddTo()
    {
        Vectors.Add("skeleton", 3, ReadSkeleton);
        Vectors.Add("rig", 3, words => Words.Keep(words[1], new Rig(Words.Bytes(words[2]))));
        Vectors.Add("clip", 4, ReadClip);
        Vectors.Add("bind", 3, Bind);
        Vectors.Add("pose", 4, Play);
        Vectors.Add("anm", 3, ReadAnm);
        Vectors.Add("anm_pose", 4, SampleAnm);
    }

    private static void ReadSkeleton(string[] words)
    {
        using (Skeleton skeleton = new Skeleton(Words.Bytes(words[2])))
        {
            Check.Equal(skeleton.Hash, Words.Hash(words[1]));
        }
    }

    private static void ReadClip(string[] words)
    {
        Rig rig = words[2] == "-" ? null : Words.Kept<Rig>(words[2]);
        Words.Keep(words[1], new Clip(Words.Bytes(words[3]), rig));
    }

    private static void Bind(string[] words)
    {
        Transforms bind = new Transforms(words[2]);
        Words.Keep(words[1], new Player(Words.Kept<Clip>(words[1]), bind.Pose));
    }

    private static void Play(string[] words)
    {
        Transforms expected = new Transforms(words[3]);
        // The memory begins with other numbers, to show that each is written.
        Transforms played = new Transforms(new string('1', words[3].Length));
        Words.Kept<Player>(words[1]).SampleAt(Words.Real(words[2]), played.Pose);
        Check.That(played.Equals(expected), "the pose");
    }

    private static void ReadAnm(string[] words)
    {
        Anm anm = new Anm(Words.Bytes(words[2]));
        Check.Equal(Words.Hex(anm.ToBytes()), words[2]);
        Words.Keep(words[1], anm);
    }

    private static void SampleAnm(string[] words)
    {
        Transforms expected = new Transforms(words[3]);
        Transforms sampled = new Transforms(new string('1', words[3].Length));
        Words.Kept<Anm>(words[1]).Sample((float)Words.Real(words[2]), sampled.Pose);
        Check.That(sampled.Equals(expected), "the pose");
    }
}
