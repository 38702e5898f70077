using System;
using Kinepack;

/// <summary>The commands of numbers and bytes without a schema.</summary>
internal static class VectorNumbers
{
    internal static void AddTo()
    {
        Vectors.Add("runs", 4, CodeRuns);
        Vectors.Add("sparse", 4, CodeSparse);
        Vectors.Add("magnitude", 9, CodeMagnitude);
    }

    private static void CodeRuns(string[] words)
    {
        byte[] before = Words.Bytes(words[1]);
        byte[] plain = Words.Bytes(words[2]);
        byte[] runs = Words.Bytes(words[3]);
        Vectors.Writes(words[3], (byte[] bytes, out int size) =>
            Runs.TryEncode(before, plain, plain.Length, bytes, out size));
        byte[] read = new byte[plain.Length];
        Check.That(Runs.TryDecode(before, runs, runs.Length, read, out int count), "valid runs");
        Check.Equal(Words.Hex(read, count), words[2]);
    }

    private static void CodeSparse(string[] words)
    {
        byte[] before = Words.Bytes(words[1]);
        byte[] plain = Words.Bytes(words[2]);
        byte[] sparse = Words.Bytes(words[3]);
        Vectors.Writes(words[3], (byte[] bytes, out int size) =>
            SparseBytes.TryEncode(before, plain, plain.Length, bytes, out size));
        byte[] read = new byte[plain.Length];
        Check.That(
            SparseBytes.TryDecode(before, sparse, sparse.Length, read, read.Length),
            "valid sparse bytes");
        Check.Equal(Words.Hex(read), words[2]);
    }

    private static void CodeMagnitude(string[] words)
    {
        double[] values = Reals(words[5]);
        double[] expected = Reals(words[6]);
        Magnitude[] vectors = { Described(words, values.Length) };
        byte[] packet = Words.Bytes(words[8]);
        Check.Equal(packet.Length, (int.Parse(words[7]) + 7) / 8);
        for (int nth = 0; nth < values.Length; nth++)
        {
            vectors[0][nth] = values[nth];
        }
        Vectors.Writes(words[8], (byte[] bytes, out int size) =>
            Magnitudes.TryWrite(vectors, 1, bytes, out size));
        Check.That(Magnitudes.TryRead(vectors, 1, packet, packet.Length), "a valid vector");
        for (int nth = 0; nth < values.Length; nth++)
        {
            Check.Equal((float)vectors[0][nth], (float)expected[nth]);
        }
    }

    /// <summary>A vector with its form, limits and earlier numbers.</summary>
    private static Magnitude Described(string[] words, int count)
    {
        switch (words[1])
        {
            case "0":
                return Magnitude.Multiples(count, int.Parse(words[2]));
            case "1":
                return Magnitude.Steps(count);
        }
        Axis[] axes = Array.ConvertAll(words[3].Split(','), limits =>
        {
            double[] numbers = Array.ConvertAll(limits.Split(':'), Words.Real);
            return numbers[3] == 0.0
                ? Axis.Real(numbers[0], numbers[1], numbers[2])
                : Axis.Cyclic(numbers[0], numbers[1], numbers[2]);
        });
        Magnitude vector = words[1] == "3" ? Magnitude.Any(axes) : Magnitude.Difference(axes);
        double[] before = Reals(words[4]);
        for (int nth = 0; nth < count; nth++)
        {
            vector.SetBefore(nth, before[nth]);
        }
        return vector;
    }

    private static double[] Reals(string list)
    {
        return Array.ConvertAll(list.Split(','), Words.Real);
    }
}
