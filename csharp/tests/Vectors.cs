using System;
using System.Collections.Generic;
using System.IO;
using Kinepack;

/// <summary>
/// Runs the script of the frozen vectors (crates/kinepack-c/tests/vectors/script.rs has its
/// commands) through the public classes. The argument is the script. The run ends at the first
/// command that fails, with the exit code 1.
/// </summary>
internal static class Vectors
{
    private const int LeastCommands = 500;

    private static readonly byte[] Result = new byte[100000];

    /// <summary>For each command how many words it has, with its name, and what it does.</summary>
    private static readonly Dictionary<string, KeyValuePair<int, Action<string[]>>> Commands =
        new Dictionary<string, KeyValuePair<int, Action<string[]>>>();

    /// <summary>What writes bytes, if there are any.</summary>
    internal delegate bool Written(byte[] bytes, out int size);

    /// <summary>Adds a command.</summary>
    internal static void Add(string name, int words, Action<string[]> run)
    {
        Commands.Add(name, new KeyValuePair<int, Action<string[]>>(words, run));
    }

    /// <summary>A function wrote these bytes into <see cref="Result"/>.</summary>
    internal static void Writes(string hex, Written write)
    {
        Check.That(write(Result, out int size), "bytes");
        Check.Equal(Words.Hex(Result, size), hex);
    }

    private static int Main(string[] arguments)
    {
        Add("schema", 4, ReadSchema);
        Add("codec", 5, MakeCodec);
        Add("profile", 3, DescribeProfile);
        Add("view", 8, DecodeView);
        Add("check", 3, CheckState);
        Add("group", 4, CodeGroup);
        VectorNumbers.AddTo();
        VectorNetwork.AddTo();
        VectorStreams.AddTo();
        VectorClips.AddTo();
        VectorBroadcasts.AddTo();
        int commands = 0;
        foreach (string line in File.ReadLines(arguments[0]))
        {
            commands++;
            Run(line.Split(' '));
            if (Check.Failures > 0)
            {
                string begin = line.Substring(0, Math.Min(line.Length, 70));
                Console.WriteLine("command {0}: {1}", commands, begin);
                return 1;
            }
        }
        Check.That(commands >= LeastCommands, LeastCommands + " commands, not " + commands);
        Console.WriteLine("{0} commands", commands);
        return Check.Failures == 0 ? 0 : 1;
    }

    private static void Run(string[] words)
    {
        if (!Commands.TryGetValue(words[0], out KeyValuePair<int, Action<string[]>> command)
            || command.Key != words.Length)
        {
            Check.That(false, "a command with its number of words");
            return;
        }
        try
        {
            command.Value(words);
        }
        catch (Exception thrown)
        {
            Check.That(false, "no exception: " + thrown);
        }
    }

    private static void ReadSchema(string[] words)
    {
        Schema schema = Schema.FromBytes(Words.Bytes(words[3]));
        Check.Equal(schema.Hash, Words.Hash(words[2]));
        Check.Equal(Words.Hex(schema.ToBytes()), words[3]);
        Words.Keep(words[1], schema);
    }

    private static void MakeCodec(string[] words)
    {
        Schema schema = Words.Kept<Schema>(words[2]);
        Codec codec = new Codec(schema, words[3], Words.Bytes(words[4]));
        Words.Keep(words[1], new CodecWithSchema(codec, schema));
    }

    private static void DescribeProfile(string[] words)
    {
        Codec codec = Words.Kept<CodecWithSchema>(words[1]).Codec;
        Check.Equal(Words.Hex(codec.DescribeProfile()), words[2]);
    }

    private static void DecodeView(string[] words)
    {
        CodecWithSchema of = Words.Kept<CodecWithSchema>(words[2]);
        uint tick = uint.Parse(words[3]);
        View[] known = { new View(of.Schema) };
        if (words[6] != "-")
        {
            known = Array.ConvertAll(words[6].Split(','), Words.Kept<View>);
        }
        byte[] packet = Words.Bytes(words[7]);
        View view = new View(of.Schema);
        using (Decoder decoder = new Decoder(of.Codec))
        using (Encoder encoder = new Encoder(of.Codec))
        using (Snapshot state = new Snapshot(of.Schema))
        {
            Check.That(
                decoder.TryDecode(known, known.Length, packet, packet.Length, tick, view),
                "a valid packet");
            view.CopyTo(state);
            Check.Equal(state.Tick, tick);
            Check.Equal(state.Hash, Words.Hash(words[4]));
            if (words[5] == "1")
            {
                Writes(words[7], (byte[] bytes, out int size) =>
                    encoder.TryEncode(known, known.Length, state, bytes, out size, null));
            }
        }
        Words.Keep(words[1], view);
    }

    private static void CheckState(string[] words)
    {
        Check.Equal(Words.Kept<View>(words[1]).StateCheck, Words.Hash(words[2]));
    }

    private static void CodeGroup(string[] words)
    {
        CodecWithSchema of = Words.Kept<CodecWithSchema>(words[1]);
        byte[] frames = Words.Bytes(words[3]);
        int at = 0;
        using (GroupReader reader = new GroupReader(of.Codec))
        using (GroupWriter writer = new GroupWriter(of.Codec))
        using (Snapshot state = new Snapshot(of.Schema))
        {
            foreach (string expected in words[2].Split(','))
            {
                ArraySegment<byte> rest = new ArraySegment<byte>(frames, at, frames.Length - at);
                Check.That(reader.TryRead(rest, state, out int used), "a valid frame");
                at += used;
                string[] parts = expected.Split(':');
                Check.Equal(state.Tick, uint.Parse(parts[0]));
                Check.Equal(state.Hash, Words.Hash(parts[1]));
                writer.Write(state);
            }
            Check.Equal(at, frames.Length);
            Writes(words[3], writer.TryTake);
        }
    }
}

/// <summary>A codec of the script, and the schema that it is of.</summary>
internal sealed class CodecWithSchema
{
    internal CodecWithSchema(Codec codec, Schema schema)
    {
        Codec = codec;
        Schema = schema;
    }

    internal Codec Codec { get; }

    internal Schema Schema { get; }
}
