using System;
using System.Collections.Generic;
using System.IO;
using Kinepack;

/// <summary>
/// Runs the script of the frozen vectors (crates/kinepack-c/tests/vectors/script.rs has its
/// commands) through the public classes. The first argument is the script. The first command that
/// fails ends the run with the exit code 1. Further arguments are names of commands: the first command
/// of each name must fail if its last digit is changed.
/// </summary>
internal static class Vectors
{
    private const int LeastCommands = 500;

    private static readonly byte[] Result = new byte[100000];

    /// <summary>For each command its number of words, including its name, and its action.</summary>
    private static readonly Dictionary<string, KeyValuePair<int, Action<string[]>>> Commands =
        new Dictionary<string, KeyValuePair<int, Action<string[]>>>();

    /// <summary>A function that writes bytes, if there are any.</summary>
    internal delegate bool Written(byte[] bytes, out int size);

    /// <summary>Adds a command.</summary>
    internal static void Add(string name, int words, Action<string[]> run)
    {
        Commands.Add(name, new KeyValuePair<int, Action<string[]>>(words, run));
    }

    /// <summary>Checks that a function writes these bytes.</summary>
    internal static void Writes(string hex, Written write)
    {
        Check.That(write(Result, out int size), "bytes");
        Check.Equal(Words.Hex(Result, size), hex);
    }

    private static int Main(string[] arguments)
    {
        Add("schema", 4, ReadSchema);
        Add("codec", 5, MakeCodec);
        Add("hash", 3, words => Check.Equal(
            Words.Kept<CodecWithSchema>(words[1]).Codec.Hash, Words.Hash(words[2])));
        Add("profile", 3, DescribeProfile);
        Add("view", 8, DecodeView);
        Add("check", 3, CheckState);
        Add("group", 4, CodeGroup);
        VectorNumbers.AddTo();
        VectorNetwork.AddTo();
        VectorStreams.AddTo();
        VectorClips.AddTo();
        VectorFigures.AddTo();
        VectorBroadcasts.AddTo();
        string[] script = File.ReadAllLines(arguments[0]);
        int failed = FirstFailure(script);
        if (failed < script.Length)
        {
            string begin = script[failed].Substring(0, Math.Min(script[failed].Length, 70));
            Console.WriteLine("command {0}: {1}", failed + 1, begin);
            return 1;
        }
        if (script.Length < LeastCommands)
        {
            Console.WriteLine("{0} commands, of at least {1}", script.Length, LeastCommands);
            return 1;
        }
        bool areNoticed = true;
        for (int nth = 1; nth < arguments.Length; nth++)
        {
            areNoticed &= IsWrongNoticed(script, arguments[nth]);
        }
        Console.WriteLine("{0} commands, {1} wrong ones", script.Length, arguments.Length - 1);
        return areNoticed ? 0 : 1;
    }

    /// <summary>Runs a script. Returns the index of the first command that fails, or the number of
    /// commands if all succeed.</summary>
    private static int FirstFailure(string[] script)
    {
        int before = Check.Failures;
        int at = 0;
        while (at < script.Length)
        {
            Run(script[at].Split(' '));
            if (Check.Failures > before)
            {
                break;
            }
            at++;
        }
        return at;
    }

    /// <summary>Whether the first command of a name fails if its last digit is changed.</summary>
    private static bool IsWrongNoticed(string[] script, string name)
    {
        int at = Array.FindIndex(script, line => line.Split(' ')[0] == name);
        if (at < 0)
        {
            Console.WriteLine("no command: {0}", name);
            return false;
        }
        string right = script[at];
        int last = right.Length - 1;
        script[at] = right.Substring(0, last) + (right[last] == '0' ? '1' : '0');
        TextWriter console = Console.Out;
        Console.SetOut(TextWriter.Null);
        int failed = FirstFailure(script);
        Console.SetOut(console);
        script[at] = right;
        if (failed != at)
        {
            Console.WriteLine("a wrong vector was not noticed: {0}", name);
        }
        return failed == at;
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

/// <summary>A codec of the script, and its schema.</summary>
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
