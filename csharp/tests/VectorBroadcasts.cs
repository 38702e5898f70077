using System;
using System.Collections.Generic;
using Kinepack;

/// <summary>The commands of broadcasts.</summary>
internal static class VectorBroadcasts
{
    internal static void AddTo()
    {
        Vectors.Add("catalogue", 5, ReadCatalogue);
        Vectors.Add("publisher", 5, MakePublisher);
        Vectors.Add("selects", 4, Selects);
        Vectors.Add("publishes", 3, Publishes);
        Vectors.Add("gives", 8, Gives);
        Vectors.Add("viewer", 4, MakeViewer);
        Vectors.Add("piece", 11, TakePiece);
    }

    private static void ReadCatalogue(string[] words)
    {
        Catalogue catalogue = Catalogue.FromBytes(Words.Bytes(words[4]));
        Check.Equal(catalogue.TickHz, int.Parse(words[2]));
        List<string> tiers = new List<string>();
        for (int nth = 0; nth < catalogue.Tiers; nth++)
        {
            TierInfo tier = catalogue.Tier(nth);
            tiers.Add(string.Join(
                ":",
                tier.Name,
                (int)tier.Carry,
                tier.TicksPerFrame,
                tier.TicksPerGroup,
                tier.FramesPerObject));
            Check.That(catalogue.TryFind(tier.Name, out int found) && found == nth, "its name");
        }
        Check.Equal(Words.Listed(tiers), words[3]);
        Check.Equal(Words.Hex(catalogue.ToBytes()), words[4]);
        Words.Keep(words[1], catalogue);
    }

    private static void MakePublisher(string[] words)
    {
        Catalogue catalogue = Words.Kept<Catalogue>(words[2]);
        ulong group = ulong.Parse(words[3]);
        Words.Keep(words[1], new Publisher(catalogue, group, int.Parse(words[4])));
        Words.Keep("world of " + words[1], new Snapshot(catalogue.Schema));
    }

    private static void Selects(string[] words)
    {
        uint[] ids = words[3] == "-"
            ? new uint[0]
            : Array.ConvertAll(words[3].Split(','), uint.Parse);
        Words.Kept<Publisher>(words[1]).SetEntities(int.Parse(words[2]), ids, ids.Length);
    }

    private static void Publishes(string[] words)
    {
        Publisher publisher = Words.Kept<Publisher>(words[1]);
        Snapshot world = Words.Kept<Snapshot>("world of " + words[1]);
        Check.That(!publisher.TryPoll(out _, new byte[0], out _), "all pieces to be taken");
        Words.Kept<View>(words[2]).CopyTo(world);
        publisher.Publish(world);
    }

    private static void Gives(string[] words)
    {
        Piece piece = default(Piece);
        Vectors.Writes(words[7], (byte[] bytes, out int size) =>
            Words.Kept<Publisher>(words[1]).TryPoll(out piece, bytes, out size));
        string given = string.Join(
            " ",
            piece.Track.Tier,
            (int)piece.Track.Kind,
            piece.Group,
            piece.IsDatagram ? "-" : piece.Number.ToString(),
            piece.Tick);
        Check.Equal(given, string.Join(" ", words, 2, 5));
    }

    private static void MakeViewer(string[] words)
    {
        Catalogue catalogue = Words.Kept<Catalogue>(words[2]);
        Viewer viewer = new Viewer(catalogue);
        viewer.Watch(int.Parse(words[3]));
        Words.Keep(words[1], viewer);
        Words.Keep("newest of " + words[1], new Snapshot(catalogue.Schema));
    }

    private static void TakePiece(string[] words)
    {
        Viewer viewer = Words.Kept<Viewer>(words[1]);
        Track track = new Track(int.Parse(words[2]), (TrackKind)int.Parse(words[3]));
        Piece piece = words[5] == "-"
            ? new Piece(track)
            : new Piece(track, ulong.Parse(words[4]), ulong.Parse(words[5]));
        ArraySegment<byte> bytes = new ArraySegment<byte>(Words.Bytes(words[10]));
        bool isTaken = viewer.TryTake(ulong.Parse(words[7]), piece, bytes, out uint? tick);
        Check.That(isTaken, "a valid piece");
        Check.Equal(tick.HasValue ? "1" : "0", words[8]);
        Check.Equal(tick ?? uint.Parse(words[6]), uint.Parse(words[6]));
        Snapshot newest = Words.Kept<Snapshot>("newest of " + words[1]);
        bool exists = viewer.TryNewest(newest);
        Check.Equal(exists ? newest.Hash.ToString("x16") : "-", words[9]);
    }
}
