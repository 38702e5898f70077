using System;
using Kinepack;

/// <summary>Bad input to the constructors, builders, encoders and decoders.</summary>
internal static class Refusals
{
    internal static void Run()
    {
        Nulls();
        Builders();
        using (Schema schema = Ship.Schema())
        {
            Codecs(schema);
            Coders(schema);
            Hubs(schema);
        }
    }

    private static void Nulls()
    {
        Check.Throws<ArgumentNullException>(() => Schema.FromBytes(null));
        Check.Throws<ArgumentNullException>(() => new Snapshot(null));
        Check.Throws<ArgumentNullException>(() => new View((Schema)null));
        Check.Throws<ArgumentNullException>(() => new Codec(null, Level.Packed));
        Check.Throws<ArgumentNullException>(() => new Encoder(null));
        Check.Throws<ArgumentNullException>(() => new Decoder(null));
        Check.Throws<ArgumentNullException>(() => new Hub(null));
        Check.Throws<ArgumentNullException>(() => new Receiver(null, 60));
    }

    private static void Builders()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            Check.Refused(Status.Argument, () => builder.Role(Role.Body));
            Check.Refused(Status.Argument, () => builder.Build());
            Check.Throws<ArgumentNullException>(() => builder.Bool(null));
            Check.Throws<ArgumentNullException>(() => builder.Kind(null));
            Check.Throws<ArgumentException>(() => builder.Bool("is\0lit"));
            Check.Refused(Status.Argument, () => builder.Floats("wrong", 3, 1.0, -1.0, 0.1));
            Check.Refused(Status.Argument, () => builder.Floats("wrong", 256, 0.0, 1.0, 0.1));
            Check.Refused(Status.Argument, () => builder.Floats("wrong", -1, 0.0, 1.0, 0.1));
            Check.Refused(Status.Argument, () => builder.Floats("wrong", 1, 0.0, 1.0, double.NaN));
            Check.Refused(Status.Argument, () => builder.Integer("wrong", 2, 1));
            Check.Refused(Status.Argument, () => builder.Rotation("wrong", 1));
            Check.Refused(Status.Argument, () => builder.Rotation("wrong", -1));
            builder.Bool("größe");
            Check.Refused(Status.Argument, () => builder.Role((Role)77));
            builder.Build().Dispose();
            Check.Throws<ObjectDisposedException>(() => builder.Bool("late"));
            Check.Throws<ObjectDisposedException>(() => builder.Build());
        }
        // Only the constructor of a codec finds these mistakes.
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder
            .Floats("height", 1, 0.0, 1.0, 0.1)
            .TimePrecision(-1.0, 60.0)
            .Build())
        {
            Check.Refused(Status.Argument, () => new Codec(schema, Level.Packed));
        }
        // A condition on a field that does not exist.
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            builder.Bool("is_lit").Condition("mode", 1, 1);
            Check.Refused(Status.Argument, () => builder.Build());
            Check.Refused(Status.Argument, () => builder.Build());
        }
        // A coarseness that does not exist, and too many bits.
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            Check.Refused(Status.Argument, () => builder.Coarser("bits", 3));
            builder.Integer("bits", 0, 4).Floats("place", 1, 0.0, 64.0, 0.25);
            Check.Throws<ArgumentNullException>(() => builder.Coarser(null, 3));
            Check.Refused(Status.Argument, () => builder.Coarser("bits", 256));
            builder.Coarser("bit", 3);
            Check.Refused(Status.Argument, () => builder.Build());
            builder.Coarser("bits", 32);
            Check.Refused(Status.Argument, () => builder.Build());
            using (Schema schema = builder.Coarser("bits", 3).Build())
            using (Snapshot world = new Snapshot(schema))
            {
                uint[] ids = { 1, 2 };
                float[] places = { 1.25f, 4.25f };
                Columns buoys = new Columns(schema).Set(0, new byte[] { 0, 4 }).Set(1, places);
                // The second place is not a multiple of 8 steps.
                Check.Refused(Status.Argument, () => world.Add(ids, 2, buoys));
                places[1] = 4.0f;
                world.Add(ids, 2, buoys);
                Check.Equal(world.Count(0), 2);
            }
        }
        foreach (byte[] noise in Random.Noise(500))
        {
            Check.Refused(Status.Data, () => Schema.FromBytes(noise));
        }
    }

    private static void Codecs(Schema schema)
    {
        byte[] file = schema.ToBytes();
        Check.Throws<ArgumentNullException>(() => new Codec(schema, null));
        Check.Refused(Status.Argument, () => new Codec(schema, "best"));
        Check.Refused(Status.Argument, () => new Codec(schema, string.Empty));
        Check.Throws<ArgumentException>(() => new Codec(schema, "packed\0"));
        Check.Refused(Status.Data, () => new Codec(schema, Level.Packed, file));
        new Codec(schema, Level.Packed, new byte[0]).Dispose();
    }

    private static void Coders(Schema schema)
    {
        byte[] packet = new byte[9000];
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema other = builder.Bool("is_lit").Build())
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Encoder encoder = new Encoder(codec))
        using (Decoder decoder = new Decoder(codec))
        using (Snapshot world = new Snapshot(schema))
        using (Snapshot stranger = new Snapshot(other))
        using (View view = new View(schema))
        using (View strange = new View(other))
        {
            View[] five = { view, view, view, view, view };
            View[] none = { null };
            int size = 0;
            Check.Throws<ArgumentNullException>(
                () => encoder.TryEncode((View)null, world, packet, out size, null));
            Check.Throws<ArgumentNullException>(
                () => encoder.TryEncode(null, 1, world, packet, out size, null));
            Check.Throws<ArgumentNullException>(
                () => encoder.TryEncode(none, 1, world, packet, out size, null));
            Check.Throws<ArgumentNullException>(
                () => encoder.TryEncode(view, null, packet, out size, null));
            Check.Throws<ArgumentNullException>(
                () => encoder.TryEncode(view, world, null, out size, null));
            Check.Throws<ArgumentOutOfRangeException>(
                () => encoder.TryEncode(five, 5, world, packet, out size, null));
            Check.Throws<ArgumentOutOfRangeException>(
                () => encoder.TryEncode(five, 0, world, packet, out size, null));
            Check.Throws<ArgumentOutOfRangeException>(
                () => encoder.TryEncode(five, 6, world, packet, out size, null));
            Check.Refused(
                Status.Argument, () => encoder.TryEncode(strange, world, packet, out size, view));
            Check.Refused(
                Status.Argument, () => encoder.TryEncode(view, stranger, packet, out size, view));
            Check.Refused(Status.Argument, () => view.CopyTo(stranger));
            Check.Throws<ArgumentNullException>(() => view.CopyTo(null));

            Check.That(encoder.TryEncode(view, world, packet, out size, null), "a packet");
            Check.Throws<ArgumentNullException>(
                () => decoder.TryDecode((View)null, packet, size, 1, view));
            Check.Throws<ArgumentNullException>(
                () => decoder.TryDecode(none, 1, packet, size, 1, view));
            Check.Throws<ArgumentNullException>(
                () => decoder.TryDecode(view, null, 0, 1, view));
            Check.Throws<ArgumentNullException>(
                () => decoder.TryDecode(view, packet, size, 1, null));
            Check.Throws<ArgumentOutOfRangeException>(
                () => decoder.TryDecode(view, packet, packet.Length + 1, 1, view));
            Check.Throws<ArgumentOutOfRangeException>(
                () => decoder.TryDecode(view, packet, -1, 1, view));
            Check.Throws<ArgumentOutOfRangeException>(
                () => decoder.TryDecode(five, 5, packet, size, 1, view));
            Check.That(!decoder.TryDecode(view, packet, size + 1, 1, view), "a refusal");
            Check.That(!decoder.TryDecode(view, new byte[0], 0, 1, view), "a refusal");
            Check.Equal(view.Tick, 0u);
            Check.That(decoder.TryDecode(view, packet, size, 7, view), "a valid packet");
            Check.Equal(view.Tick, 7u);
        }
    }

    private static void Hubs(Schema schema)
    {
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Hub hub = new Hub(codec, new HubOptions { DatagramBytes = 500 }))
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema other = builder.Bool("is_lit").Build())
        using (Snapshot stranger = new Snapshot(other))
        using (Receiver receiver = new Receiver(codec, 60))
        {
            HubOptions options = new HubOptions { DatagramBytes = -1 };
            Check.Throws<ArgumentOutOfRangeException>(() => new Hub(codec, options));
            options.DatagramBytes = 5;
            Check.Refused(Status.Argument, () => new Hub(codec, options));
            options.DatagramBytes = 0;
            options.Channel = 200;
            Check.Refused(Status.Argument, () => new Hub(codec, options));
            Check.Throws<ArgumentOutOfRangeException>(() => new Receiver(codec, -1));
            Check.Refused(Status.Argument, () => new Receiver(codec, 0));
            ReceiverOptions delays = new ReceiverOptions { MaxDelayMs = 90, LongestBlendMs = 70 };
            Check.Equal(delays.ToNative().max_delay_ms, 90u);
            Check.Equal(delays.ToNative().longest_blend_ms, 70u);
            delays.LongestBlendMs = -1;
            Check.Throws<ArgumentOutOfRangeException>(() => new Receiver(codec, 60, delays));
            Check.Refused(Status.Argument, () => hub.Tick(0, stranger));
            Columns narrow = new Columns(schema).Set(2, new short[1]);
            Check.Refused(Status.Argument, () => receiver.Read(narrow));
            Check.Throws<ArgumentException>(() => receiver.Read(new Columns(other)));
        }
    }
}
