using System;
using Kinepack;

/// <summary>A world of ships from an array of structs to packets and back, at each level.</summary>
internal static class Ships
{
    internal static void Run()
    {
        using (Schema schema = Ship.Schema())
        {
            DescribesItself(schema);
            int packed = Travel(schema, Level.Packed);
            Travel(schema, Level.Adaptive);
            int learning = Travel(schema, Level.Learning);
            Check.That(learning < packed, "fewer bytes at the level that learns");
            Check.That(packed < 9 * Ship.Count * 8, "packets below 8 bytes a ship");
        }
    }

    private static void DescribesItself(Schema schema)
    {
        Check.Equal(schema.Kinds, 1);
        Field[] fields = schema.Fields(0);
        Check.Equal(fields.Length, 4);
        Check.Equal(fields[1].Kind, FieldKind.Rotation);
        Check.Equal(fields[1].Numbers, 4);
        Check.Equal(fields[1].FirstLane, 3);
        Check.Equal(fields[1].Lanes, 4);
        Check.Equal(fields[3].Kind, FieldKind.Bool);
        byte[] file = schema.ToBytes();
        using (Schema again = Schema.FromBytes(file))
        {
            Check.Equal(again.Hash, schema.Hash);
        }
        for (int cut = 0; cut < file.Length; cut++)
        {
            byte[] part = new byte[cut];
            Array.Copy(file, part, cut);
            Check.Refused(Status.Data, () => Schema.FromBytes(part));
        }
    }

    /// <summary>Sends some ticks. Returns the bytes of all packets after the first.</summary>
    private static int Travel(Schema schema, string level)
    {
        Ship[] ships = new Ship[Ship.Count];
        Ship[] read = new Ship[Ship.Count];
        uint[] ids = Ship.Ids();
        uint[] readIds = new uint[Ship.Count];
        byte[] packet = new byte[65536];
        int bytes = 0;
        Columns from = Ship.Columns(schema, ships);
        Columns to = Ship.Columns(schema, read);
        Codec codec = new Codec(schema, level);
        using (Encoder encoder = new Encoder(codec))
        using (Decoder decoder = new Decoder(codec))
        using (Snapshot world = new Snapshot(schema))
        using (Snapshot seen = new Snapshot(schema))
        {
            // The objects that were created with it remain valid.
            codec.Dispose();
            View[] sent = { new View(schema), new View(schema) };
            View[] received = { new View(schema), new View(schema) };
            for (int tick = 1; tick <= 10; tick++)
            {
                // Newest first. An older view serves to predict velocities.
                int views = tick == 1 ? 1 : 2;
                Ship.Move(ships, tick);
                world.Clear((uint)tick);
                world.Add(ids, Ship.Count, from);
                bool fits = encoder.TryEncode(sent, views, world, new byte[3], out int size, null);
                Check.That(!fits && size > 3, "the size of a packet that does not fit");
                Check.That(
                    encoder.TryEncode(sent, views, world, packet, out size, sent[1]), "a packet");
                Check.That(
                    decoder.TryDecode(received, views, packet, size, (uint)tick, received[1]),
                    "a valid packet");
                // The encoder stored the result in the older view, which is now the newest.
                Array.Reverse(sent);
                Array.Reverse(received);
                bytes += tick > 1 ? size : 0;
                Check.Equal(received[0].Tick, (uint)tick);
                received[0].CopyTo(seen);
                Check.Equal(seen.Hash, world.Hash);
                Check.Equal(seen.Tick, (uint)tick);
                Check.Equal(seen.Count(0), Ship.Count);
                Check.Equal(seen.ReadIds(0, readIds), Ship.Count);
                Check.Equal(readIds[17], ids[17]);
                seen.Read(to);
                AreClose(read, ships);
            }
            Noise(decoder, received);
        }
        Console.WriteLine("  {0}: {1} bytes for 9 ticks of {2} ships", level, bytes, Ship.Count);
        return bytes;
    }

    private static void AreClose(Ship[] read, Ship[] exact)
    {
        bool equal = true;
        float worst = 0.0f;
        for (int nth = 0; nth < Ship.Count; nth++)
        {
            worst = Math.Max(worst, Ship.Distance(read[nth], exact[nth]));
            equal &= read[nth].Score == exact[nth].Score && read[nth].IsLit == exact[nth].IsLit;
            equal &= Math.Abs(read[nth].Rotation.W - 0.8f) < 0.01f && read[nth].Name == 0;
        }
        Check.That(worst <= 0.0011f, "positions within the precision, not " + worst);
        Check.That(equal, "the same scores, lights and rotations");
    }

    /// <summary>Random bytes are refused, or decode to another view.</summary>
    private static void Noise(Decoder decoder, View[] views)
    {
        using (Schema schema = Ship.Schema())
        using (View result = new View(schema))
        {
            int valid = 0;
            foreach (byte[] noise in Random.Noise(500))
            {
                valid += decoder.TryDecode(views, 2, noise, noise.Length, 99, result) ? 1 : 0;
            }
            Check.That(valid < 250, "most random packets to be refused, not " + valid);
        }
    }
}
