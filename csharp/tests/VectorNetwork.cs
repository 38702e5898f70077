using System;
using System.Collections.Generic;
using Kinepack;

/// <summary>The commands of receivers, streams and replays.</summary>
internal static class VectorNetwork
{
    internal static void AddTo()
    {
        Vectors.Add("events", 4, MakeEvents);
        Vectors.Add("receiver", 4, MakeReceiver);
        Vectors.Add("sends", 3, Sends);
        Vectors.Add("takes", 6, Takes);
        Vectors.Add("fault", 4, InjectFault);
        Vectors.Add("stream", 7, MakeStream);
        Vectors.Add("records", 5, ReadRecords);
        Vectors.Add("acknowledges", 3, Acknowledges);
        Vectors.Add("splits", 3, Splits);
        Vectors.Add("replay", 9, ReadReplay);
        Vectors.Add("frame", 4, Frame);
        Vectors.Add("shows", 4, Shows);
    }

    private static void MakeEvents(string[] words)
    {
        CodecWithSchema of = Words.Kept<CodecWithSchema>(words[2]);
        int[] ticks = Array.ConvertAll(words[3].Split(','), int.Parse);
        Words.Keep(words[1], new Events(of.Codec, ticks));
        Words.Keep("of events " + words[1], of.Schema);
    }

    private static void MakeReceiver(string[] words)
    {
        CodecWithSchema of = Words.Kept<CodecWithSchema>(words[2]);
        ReceiverOptions options = new ReceiverOptions();
        Schema ofEvents = null;
        if (words[3] != "-")
        {
            options.Events = Words.Kept<Events>(words[3]);
            ofEvents = Words.Kept<Schema>("of events " + words[3]);
        }
        Words.Keep(words[1], new Receiver(of.Codec, 60, options));
        Words.Keep("of receiver " + words[1], of.Schema);
        Words.Keep("of events of " + words[1], ofEvents);
    }

    private static void Sends(string[] words)
    {
        Receiver receiver = Words.Kept<Receiver>(words[1]);
        Vectors.Writes(words[2], (byte[] bytes, out int size) =>
            receiver.TryPoll(0, bytes, out size));
    }

    private static void Takes(string[] words)
    {
        Receiver receiver = Words.Kept<Receiver>(words[1]);
        byte[] datagram = Words.Bytes(words[5]);
        bool isTaken = receiver.Handle(0, datagram, datagram.Length);
        Check.Equal(isTaken ? "ok" : "data", words[2]);
        using (Snapshot newest = new Snapshot(Words.Kept<Schema>("of receiver " + words[1])))
        {
            bool exists = receiver.TryNewest(newest);
            Check.Equal(exists ? newest.Hash.ToString("x16") : "-", words[3]);
        }
        receiver.TakeEvents();
        Schema ofEvents = Words.Kept<Schema>("of events of " + words[1]);
        Check.Equal(EventsOf(receiver, ofEvents), words[4]);
    }

    /// <summary>The due events, in the form of the script.</summary>
    private static string EventsOf(Shown shown, Schema schema)
    {
        List<string> events = new List<string>();
        while (shown.TryNextEvent(out Event next))
        {
            Integers numbers = new Integers(schema, next.Kind, 1);
            shown.ReadEvent(numbers.Columns);
            events.Add(next.Tick + ":" + next.Kind + ":" + numbers.Of(0));
        }
        return Words.Listed(events);
    }

    private static void InjectFault(string[] words)
    {
        Receiver receiver = Words.Kept<Receiver>(words[1]);
        Check.That(receiver.InjectFault(uint.Parse(words[2]), int.Parse(words[3])), "a fault");
    }

    private static void MakeStream(string[] words)
    {
        Schema schema = Words.Kept<Schema>(words[2]);
        StreamOptions options = new StreamOptions
        {
            Repeats = int.Parse(words[5]),
            FirstNumber = ushort.Parse(words[6]),
        };
        Words.Keep(words[1], new StreamReceiver(schema, words[3], int.Parse(words[4]), options));
        Words.Keep("of stream " + words[1], schema);
    }

    private static void ReadRecords(string[] words)
    {
        const int Most = StreamReceiver.MaxRecords;
        StreamReceiver stream = Words.Kept<StreamReceiver>(words[1]);
        ulong now = ulong.Parse(words[2]) * 1000000;
        ArraySegment<byte> packet = new ArraySegment<byte>(Words.Bytes(words[4]));
        Check.That(stream.Handle(now, packet, out int count), "a valid packet");
        Record[] records = new Record[Most];
        Integers numbers = new Integers(Words.Kept<Schema>("of stream " + words[1]), 0, Most);
        Check.Equal(stream.Read(records, numbers.Columns), count);
        List<string> listed = new List<string>();
        for (int nth = 0; nth < count; nth++)
        {
            listed.Add(records[nth].Number + ":" + numbers.Of(nth));
        }
        Check.Equal(Words.Listed(listed), words[3]);
    }

    private static void Acknowledges(string[] words)
    {
        StreamReceiver stream = Words.Kept<StreamReceiver>(words[1]);
        Vectors.Writes(words[2], stream.TryAcknowledge);
    }

    /// <summary>A stream acknowledgement of some size in front of a snapshot.</summary>
    private static void Splits(string[] words)
    {
        byte[] bytes = Words.Bytes(words[1]);
        Part[] parts = new Part[3];
        Check.That(Datagrams.TrySplit(bytes, bytes.Length, parts, out int count), "a valid datagram");
        Check.Equal(count, 2);
        Check.Equal(parts[0].Kind, DatagramKind.ToStreamSender);
        Check.Equal(parts[0].In(bytes).Count, int.Parse(words[2]));
        Check.Equal(parts[1].Kind, DatagramKind.ToReceiver);
    }

    private static void ReadReplay(string[] words)
    {
        Replay replay = Replay.FromBytes(Words.Bytes(words[2]));
        ReplayInfo info = replay.Info;
        Check.Equal(info.RateHz, Words.Real(words[3]));
        Check.Equal(info.FirstTick, uint.Parse(words[4]));
        Check.Equal(info.LastTick, uint.Parse(words[5]));
        Check.Equal(info.IsComplete ? "1" : "0", words[6]);
        List<string> markers = new List<string>();
        for (int nth = 0; nth < info.Markers; nth++)
        {
            string name = replay.Marker(nth, out uint tick);
            markers.Add(tick + ":" + Words.Hex(name));
        }
        Check.Equal(Words.Listed(markers), words[7]);
        foreach (string note in words[8] == "-" ? new string[0] : words[8].Split(';'))
        {
            string[] parts = note.Split(':');
            Check.Equal(Words.Hex(replay.Value(Words.Text(parts[0]))), parts[1]);
        }
        Words.Keep(words[1], replay);
    }

    private static void Frame(string[] words)
    {
        Replay replay = Words.Kept<Replay>(words[1]);
        uint tick = uint.Parse(words[2]);
        using (Snapshot state = new Snapshot(replay.Schema))
        {
            Check.That(replay.TryGet(tick, state), "a state");
            Check.Equal(state.Tick, tick);
            Check.Equal(state.Hash, Words.Hash(words[3]));
        }
    }

    private static void Shows(string[] words)
    {
        Replay replay = Words.Kept<Replay>(words[1]);
        Check.That(replay.TryPlay(Words.Real(words[2]), out Playback _), "a moment");
        Check.Equal(EventsOf(replay, replay.EventSchema), words[3]);
    }

    /// <summary>Memory for the fields of a kind, which are integers, flags and bytes.</summary>
    private sealed class Integers
    {
        private readonly long[][] fields;
        private readonly int records;

        internal Integers(Schema schema, int kind, int records)
        {
            Columns = new Columns(schema, kind);
            fields = Array.ConvertAll(
                schema.Fields(kind), field => new long[field.Numbers * records]);
            for (int field = 0; field < fields.Length; field++)
            {
                Columns.Set(field, fields[field]);
            }
            this.records = records;
        }

        internal Columns Columns { get; }

        /// <summary>The numbers of a record, separated by commas.</summary>
        internal string Of(int record)
        {
            List<long> numbers = new List<long>();
            foreach (long[] field in fields)
            {
                int count = field.Length / records;
                numbers.AddRange(new ArraySegment<long>(field, record * count, count));
            }
            return string.Join(",", numbers);
        }
    }
}
