using System;
using System.Globalization;
using Kinepack;

/// <summary>The commands of figures.</summary>
internal static class VectorFigures
{
    private const uint Id = 7;

    internal static void AddTo()
    {
        Vectors.Add("figure", 12, MakeFigure);
        Vectors.Add("pushes", 10, Push);
        Vectors.Add("reads", 7, Read);
    }

    private static void MakeFigure(string[] words)
    {
        FigureOptions options = new FigureOptions
        {
            PrecisionCm = Words.Real(words[2]),
            ShellCm = Words.Real(words[3]),
        };
        foreach (string[] item in Items(words[4]))
        {
            options.JointPrecisionsCm[Index(item[0])] = Words.Real(item[1]);
        }
        foreach (string[] item in Items(words[5]))
        {
            options.Motions[Index(item[0])] = MotionOf(item);
        }
        foreach (string[] item in Items(words[6]))
        {
            string name = Words.Text(item[0]);
            options.Curves.Add(
                new FigureCurve(name, Number(item[1]), Number(item[2]), Number(item[3])));
        }
        foreach (string[] item in Items(words[7]))
        {
            options.Parts.Add(
                new FigurePart(Words.Text(item[0]), Digits(item[1]), Digits(item[2])));
        }
        options.ClipSlots = Index(words[8]);
        foreach (string[] item in Items(words[9]))
        {
            options.Clips.Add(Words.Text(item[0]));
        }
        foreach (string[] item in Items(words[10]))
        {
            options.Coarser.Add(Words.Real(item[0]));
        }
        using (Skeleton skeleton = new Skeleton(Words.Bytes(words[11])))
        {
            Words.Keep(words[1], new Figure(skeleton, options));
        }
    }

    private static void Push(string[] words)
    {
        Schema schema = Words.Kept<Schema>(words[2]);
        int tier = Index(words[4]);
        ClipPlay[] plays = Array.ConvertAll(Items(words[5]), PlayOf);
        int[] absent = Array.ConvertAll(Items(words[6]), item => Index(item[0]));
        float[] curves = Transforms.Numbers(words[7]);
        Transforms pose = new Transforms(words[8]);
        using (Snapshot state = new Snapshot(schema))
        {
            state.Clear(1);
            Columns others = OthersOf(schema, words[3]);
            Figure figure = Words.Kept<Figure>(words[1]);
            figure.Push(state, 0, Id, pose.Pose, curves, absent, plays, tier, others);
            Check.Equal(state.Hash, Words.Hash(words[9]));
        }
    }

    /// <summary>The numbers of two fields before the figure's, and of one after them.</summary>
    private static Columns OthersOf(Schema schema, string word)
    {
        string[][] items = Items(word);
        if (items.Length == 0)
        {
            return null;
        }
        int last = schema.Fields(0).Length - 1;
        int[] fields = { 0, 1, last };
        Columns others = new Columns(schema);
        for (int nth = 0; nth < items.Length; nth++)
        {
            others.Set(fields[nth], new[] { Index(items[nth][0]) });
        }
        return others;
    }

    private static ClipPlay PlayOf(string[] item)
    {
        uint since = uint.Parse(item[2], CultureInfo.InvariantCulture);
        return new ClipPlay(Index(item[0]), Index(item[1]), since, Words.Real(item[3]))
            .WithSpeed(since, Words.Real(item[4]))
            .WithWeight(Number(item[5]));
    }

    private static void Read(string[] words)
    {
        Figure figure = Words.Kept<Figure>(words[1]);
        CodecWithSchema carrier = Words.Kept<CodecWithSchema>("carry_" + words[2]);
        using (Snapshot state = new Snapshot(carrier.Schema))
        using (KillCam killCam = new KillCam(carrier.Codec, 60, 5.0))
        {
            Words.Kept<View>(words[3]).CopyTo(state);
            killCam.Write(state);
            using (Replay replay = Replay.FromBytes(killCam.Cut(1, 1)))
            {
                Check.That(replay.TryPlay(1.0, out Playback _), "the tick");
                IsRight(words, (pose, curves) => figure.TryRead(state, 0, Id, pose, curves));
                IsRight(words, (pose, curves) => figure.TryShow(replay, 0, Id, pose, curves));
                int[] absent = Array.ConvertAll(Items(words[4]), item => Index(item[0]));
                for (int part = 0; part < figure.Parts; part++)
                {
                    bool isPresent = Array.IndexOf(absent, part) < 0;
                    Check.Equal(figure.IsPresent(state, 0, Id, part), isPresent);
                    Check.Equal(figure.IsShown(replay, 0, Id, part), isPresent);
                }
            }
        }
    }

    /// <summary>Compares what a function writes with the words of a command.</summary>
    private static void IsRight(string[] words, Func<Pose, float[], bool> write)
    {
        // The memory begins with other numbers, to show what is written.
        Transforms written = new Transforms(new string('1', words[6].Length));
        float[] expected = Transforms.Numbers(words[5]);
        float[] curves = Transforms.Numbers(new string('1', 8 * expected.Length));
        Check.That(write(written.Pose, curves), "the entity");
        Check.That(written.Equals(new Transforms(words[6])), "the pose");
        for (int curve = 0; curve < curves.Length; curve++)
        {
            Check.Equal(curves[curve], expected[curve]);
        }
    }

    /// <summary>The items of a list, divided at colons.</summary>
    private static string[][] Items(string list)
    {
        return list == "-"
            ? new string[0][]
            : Array.ConvertAll(list.Split(','), item => item.Split(':'));
    }

    private static JointMotion MotionOf(string[] item)
    {
        switch ((Motion)Index(item[1]))
        {
            case Motion.Hinge:
                return JointMotion.Hinge(Number(item[2]), Number(item[3]), Number(item[4]));
            case Motion.Turns:
                return JointMotion.Turns;
            case Motion.Moves:
                return JointMotion.Moves(Number(item[5]));
            default:
                return JointMotion.Still;
        }
    }

    private static int[] Digits(string digits)
    {
        return Array.ConvertAll(digits.ToCharArray(), digit => digit - '0');
    }

    private static int Index(string word) => int.Parse(word, CultureInfo.InvariantCulture);

    private static float Number(string word) => float.Parse(word, CultureInfo.InvariantCulture);
}
