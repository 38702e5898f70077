using System;
using Kinepack;

/// <summary>The commands of packets of streams without headers.</summary>
internal static class VectorStreams
{
    internal static void AddTo()
    {
        Vectors.Add("stream_codec", 6, MakeCodec);
        Vectors.Add("packet", 9, CodePacket);
    }

    private static void MakeCodec(string[] words)
    {
        Schema schema = Words.Kept<Schema>(words[2]);
        StreamCodec codec = new StreamCodec(schema, words[3]);
        Check.Equal(codec.Hash, Words.Hash(words[5]));
        Words.Keep(words[1], codec);
        Words.Keep("of stream codec " + words[1], schema);
        Words.Keep("numbers of " + words[1], words[4]);
    }

    private static void CodePacket(string[] words)
    {
        StreamCodec codec = Words.Kept<StreamCodec>(words[2]);
        int lag = int.Parse(words[4]);
        int count = int.Parse(words[5]);
        StreamBase before = words[3] == "-"
            ? new StreamBase(codec)
            : Words.Kept<StreamBase>(words[3]);
        string letters = Words.Kept<string>("numbers of " + words[2]);
        Field[] fields = Words.Kept<Schema>("of stream codec " + words[2]).Fields(0);
        Columns columns = new Columns(Words.Kept<Schema>("of stream codec " + words[2]));
        Array[] memory = new Array[fields.Length];
        for (int field = 0; field < fields.Length; field++)
        {
            memory[field] = Put(columns, field, letters[field], fields[field].Numbers * count);
        }
        byte[] packet = Words.Bytes(words[8]);
        StreamBase last = new StreamBase(codec);
        ArraySegment<byte> whole = new ArraySegment<byte>(packet);
        Check.That(codec.TryDecode(before, lag, whole, count, columns, last), "a valid packet");
        Check.Equal(HashOf(memory, fields, count), Words.Hash(words[6]));
        if (words[7] == "1")
        {
            Vectors.Writes(words[8], (byte[] bytes, out int size) =>
                codec.TryEncode(before, lag, columns, count, bytes, out size, null));
        }
        Words.Keep(words[1], last);
    }

    /// <summary>Sets the memory of a field, whose type of numbers a letter selects.</summary>
    private static Array Put(Columns columns, int field, char letter, int numbers)
    {
        switch (letter)
        {
            case 'f':
                double[] reals = new double[numbers];
                columns.Set(field, reals);
                return reals;
            case 'i':
                long[] integers = new long[numbers];
                columns.Set(field, integers);
                return integers;
            default:
                ulong[] naturals = new ulong[numbers];
                columns.Set(field, naturals);
                return naturals;
        }
    }

    /// <summary>FNV-1a over the bytes of all numbers, record after record.</summary>
    private static ulong HashOf(Array[] memory, Field[] fields, int count)
    {
        ulong hash = 0xcbf29ce484222325;
        for (int record = 0; record < count; record++)
        {
            for (int field = 0; field < fields.Length; field++)
            {
                int numbers = fields[field].Numbers;
                for (int nth = record * numbers; nth < (record + 1) * numbers; nth++)
                {
                    hash = Fnv(hash, Bits(memory[field].GetValue(nth)));
                }
            }
        }
        return hash;
    }

    private static ulong Bits(object number)
    {
        if (number is double)
        {
            return (ulong)BitConverter.DoubleToInt64Bits((double)number);
        }
        return number is long ? (ulong)(long)number : (ulong)number;
    }

    private static ulong Fnv(ulong hash, ulong number)
    {
        for (int shift = 0; shift < 64; shift += 8)
        {
            hash = unchecked((hash ^ ((number >> shift) & 255)) * 0x100000001b3);
        }
        return hash;
    }
}
