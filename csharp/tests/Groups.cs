using System;
using Kinepack;

/// <summary>Groups of frames, as over a reliable connection.</summary>
internal static class Groups
{
    internal static void Run()
    {
        byte[] bytes = new byte[1000];
        float[] heights = { 0.0f, 5.0f };
        uint[] ids = { 3, 4 };
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder.Floats("height", 1, 0.0, 100.0, 0.01).Build())
        using (Codec codec = new Codec(schema, Level.Adaptive))
        using (GroupWriter writer = new GroupWriter(codec))
        using (GroupReader reader = new GroupReader(codec))
        using (Snapshot world = new Snapshot(schema))
        using (Snapshot read = new Snapshot(schema))
        {
            Columns columns = new Columns(schema).Set("height", heights);
            Check.That(!writer.TryTake(bytes, out int size) && size == 0, "no frame");
            for (uint tick = 1; tick < 20; tick++)
            {
                heights[0] = 0.5f * tick;
                world.Clear(tick);
                world.Add(ids, 2, columns);
                writer.Write(world);
                Check.Throws<KinepackException>(() => writer.TryTake(new byte[1], out size));
                Check.That(writer.TryTake(bytes, out size), "a frame");
                ArraySegment<byte> cut = new ArraySegment<byte>(bytes, 0, size - 1);
                Check.That(!reader.TryRead(cut, read, out int used), "a frame that is cut off");
                ArraySegment<byte> all = new ArraySegment<byte>(bytes, 0, size);
                Check.That(reader.TryRead(all, read, out used) && used == size, "the frame");
                Check.Equal(read.Hash, world.Hash);
                Check.Equal(read.Tick, tick);
            }
            Check.Throws<KinepackException>(() => writer.Write(world));
            ArraySegment<byte> none = new ArraySegment<byte>(bytes, 0, 0);
            Check.That(!reader.TryRead(none, read, out int zero) && zero == 0, "no bytes");
            using (View given = new View(world))
            using (View other = new View(read))
            {
                Check.Equal(given.StateCheck, other.StateCheck);
                writer.Begin(given);
                reader.Begin(other);
                world.Clear(20);
                writer.Write(world);
                Check.That(writer.TryTake(bytes, out size), "the first frame of a group");
                ArraySegment<byte> frame = new ArraySegment<byte>(bytes, 0, size);
                Check.That(reader.TryRead(frame, read, out int used), "the frame");
                Check.Equal(read.Hash, world.Hash);
            }
            Check.Throws<ArgumentNullException>(() => writer.Write(null));
            Check.Throws<ArgumentNullException>(() => new GroupWriter(null));
            writer.Dispose();
            Check.Throws<ObjectDisposedException>(() => writer.Begin());
        }
    }
}
