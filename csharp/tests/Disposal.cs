using System;
using System.Runtime.CompilerServices;
using Kinepack;

/// <summary>Tests objects after Dispose, disposed twice, and never disposed.</summary>
internal static class Disposal
{
    internal static void Run()
    {
        AfterDispose();
        MadeWithDisposed();
        WrongHandles();
        ReplacedViews();
        Finalizers();
        PinnedArrays();
        ReferencesInCalls();
    }

    private static void AfterDispose()
    {
        Schema schema = Ship.Schema();
        Codec codec = new Codec(schema, Level.Packed);
        Encoder encoder = new Encoder(codec);
        Decoder decoder = new Decoder(codec);
        Hub hub = new Hub(codec);
        Receiver receiver = new Receiver(codec, 60);
        Snapshot world = new Snapshot(schema);
        View view = new View(schema);
        SchemaBuilder builder = new SchemaBuilder();
        byte[] bytes = new byte[100];
        int size = 0;

        View freed = new View(schema);
        freed.Dispose();
        Check.Throws<ObjectDisposedException>(
            () => encoder.TryEncode(view, world, bytes, out size, freed));
        Check.Throws<ObjectDisposedException>(
            () => encoder.TryEncode(freed, world, bytes, out size, view));
        Check.Throws<ObjectDisposedException>(
            () => encoder.TryEncode(new[] { view, freed }, 2, world, bytes, out size, view));
        Check.Throws<ObjectDisposedException>(() => decoder.TryDecode(view, bytes, 1, 1, freed));
        Check.Throws<ObjectDisposedException>(() => decoder.TryDecode(freed, bytes, 1, 1, view));

        NativeObject[] all =
        {
            schema, codec, encoder, decoder, hub, receiver, world, view, builder,
        };
        foreach (NativeObject each in all)
        {
            each.Dispose();
            each.Dispose();
        }
        Columns columns = Ship.Columns(schema, new Ship[1]);
        Check.Equal(schema.Kinds, 1);
        Check.Throws<ObjectDisposedException>(() => size += (int)schema.Hash);
        Check.Throws<ObjectDisposedException>(() => schema.ToBytes());
        Check.Throws<ObjectDisposedException>(() => new Snapshot(schema));
        Check.Throws<ObjectDisposedException>(() => new View(schema));
        Check.Throws<ObjectDisposedException>(() => new Codec(schema, Level.Packed));
        Check.Throws<ObjectDisposedException>(() => new Encoder(codec));
        Check.Throws<ObjectDisposedException>(() => new Decoder(codec));
        Check.Throws<ObjectDisposedException>(() => new Hub(codec));
        Check.Throws<ObjectDisposedException>(() => new Receiver(codec, 60));
        Check.Throws<ObjectDisposedException>(
            () => encoder.TryEncode(view, world, bytes, out size, null));
        Check.Throws<ObjectDisposedException>(() => decoder.TryDecode(view, bytes, 1, 1, view));
        Check.Throws<ObjectDisposedException>(() => hub.Add(1, 0));
        Check.Throws<ObjectDisposedException>(() => hub.Remove(1));
        Check.Throws<ObjectDisposedException>(() => hub.Handle(1, 0, bytes, 1));
        Check.Throws<ObjectDisposedException>(() => hub.Tick(0, world));
        Check.Throws<ObjectDisposedException>(() => hub.TryPoll(out _, bytes, out size));
        Check.Throws<ObjectDisposedException>(() => receiver.Handle(0, bytes, 1));
        Check.Throws<ObjectDisposedException>(() => receiver.TryPoll(0, bytes, out size));
        Check.Throws<ObjectDisposedException>(() => receiver.TryPlay(0, out _));
        Check.Throws<ObjectDisposedException>(() => receiver.TryNewest(world));
        Check.Throws<ObjectDisposedException>(() => receiver.Count(0));
        Check.Throws<ObjectDisposedException>(() => receiver.ReadIds(0, new uint[1]));
        Check.Throws<ObjectDisposedException>(() => receiver.Read(columns));
        Check.Throws<ObjectDisposedException>(() => world.Clear(1));
        Check.Throws<ObjectDisposedException>(() => world.Add(new uint[1], 1, columns));
        Check.Throws<ObjectDisposedException>(() => world.Read(columns));
        Check.Throws<ObjectDisposedException>(() => world.Count(0));
        Check.Throws<ObjectDisposedException>(() => world.ReadIds(0, new uint[1]));
        Check.Throws<ObjectDisposedException>(() => size += (int)world.Tick);
        Check.Throws<ObjectDisposedException>(() => size += (int)world.Hash);
        Check.Throws<ObjectDisposedException>(() => size += (int)view.Tick);
        Check.Throws<ObjectDisposedException>(() => view.CopyTo(world));
        Check.Throws<ObjectDisposedException>(() => builder.Bool("late"));
        Check.Throws<ObjectDisposedException>(() => builder.Build());
    }

    /// <summary>Objects remain valid after those that they were created from.</summary>
    private static void MadeWithDisposed()
    {
        Schema schema = Ship.Schema();
        Codec codec = new Codec(schema, Level.Adaptive);
        Snapshot world = new Snapshot(schema);
        View view = new View(schema);
        Ship[] ships = new Ship[2];
        Ship.Move(ships, 1);
        Columns columns = Ship.Columns(schema, ships);
        schema.Dispose();
        Encoder encoder = new Encoder(codec);
        codec.Dispose();
        world.Add(new uint[] { 1, 2 }, 2, columns);
        byte[] packet = new byte[500];
        Check.That(encoder.TryEncode(view, world, packet, out int size, view), "a packet");
        view.CopyTo(world);
        Check.Equal(world.Count(0), 2);
    }

    /// <summary>Handles that the public classes never pass.</summary>
    private static void WrongHandles()
    {
        using (Schema schema = Ship.Schema())
        using (View view = new View(schema))
        {
            ulong freed;
            using (Snapshot world = new Snapshot(schema))
            {
                freed = world.Id;
            }
            ulong[] wrong = { 0, freed, schema.Id, view.Id, freed + 1, ulong.MaxValue };
            foreach (ulong handle in wrong)
            {
                Check.Equal(Native.kp_snapshot_clear(handle, 1), Status.Handle);
                Check.Equal(Native.kp_snapshot_free(handle), Status.Handle);
                Check.Refused(
                    Status.Handle, () => KinepackException.Check(Native.kp_hub_free(handle)));
            }
            ulong shown;
            using (Codec codec = new Codec(schema, Level.Packed))
            using (Receiver receiver = new Receiver(codec, 60))
            {
                Check.Equal(Native.kp_receiver_shown(receiver.Id, out shown), Status.Ok);
                Check.Equal(Native.kp_shown_next_event(shown, out _), Status.Nothing);
                Check.Equal(Native.kp_shown_next_event(receiver.Id, out _), Status.Handle);
            }
            Check.Equal(Native.kp_shown_next_event(shown, out _), Status.Handle);
        }
    }

    /// <summary>
    /// Replacing a view frees the previous handle. A disposed view accepts no new handle.
    /// </summary>
    private static void ReplacedViews()
    {
        using (Schema schema = Ship.Schema())
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Encoder encoder = new Encoder(codec))
        using (Snapshot world = new Snapshot(schema))
        using (View view = new View(schema))
        {
            ulong before = view.Id;
            Check.That(encoder.TryEncode(view, world, new byte[99], out _, view), "a packet");
            Check.That(view.Id != before, "another view");
            using (View saved = new View(world))
            {
                Check.Equal(saved.Tick, world.Tick);
                Check.Throws<ArgumentNullException>(() => new View((Snapshot)null));
            }
            Check.Equal(Native.kp_view_tick(before, out _), Status.Handle);
            view.Dispose();
            Check.Equal(Native.kp_view_empty(schema.Id, out ulong made), Status.Ok);
            Check.Throws<ObjectDisposedException>(() => view.Replace(made));
            Check.Equal(Native.kp_view_tick(made, out _), Status.Handle);
        }
    }

    /// <summary>Objects that are not disposed are freed by the garbage collector.</summary>
    private static void Finalizers()
    {
        using (Schema schema = Ship.Schema())
        {
            ulong[] ids = Abandon(schema);
            Collect();
            int freed = 0;
            foreach (ulong id in ids)
            {
                freed += Native.kp_snapshot_clear(id, 1) == Status.Handle ? 1 : 0;
            }
            // The collector is conservative: a few may still be on its stack.
            Check.That(freed > ids.Length / 2, "most snapshots to be freed, not " + freed);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong[] Abandon(Schema schema)
    {
        ulong[] ids = new ulong[100];
        for (int nth = 0; nth < ids.Length; nth++)
        {
            ids[nth] = new Snapshot(schema).Id;
        }
        return ids;
    }

    /// <summary>Arrays are no longer pinned after the call.</summary>
    private static void PinnedArrays()
    {
        using (Schema schema = Ship.Schema())
        using (Snapshot world = new Snapshot(schema))
        {
            WeakReference[] arrays = new WeakReference[100];
            Use(schema, world, arrays);
            Collect();
            int alive = 0;
            foreach (WeakReference array in arrays)
            {
                alive += array.IsAlive ? 1 : 0;
            }
            Check.That(alive < arrays.Length / 2, "most arrays to be collected, not " + alive);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Use(Schema schema, Snapshot world, WeakReference[] arrays)
    {
        for (int nth = 0; nth < arrays.Length; nth++)
        {
            Ship[] ships = new Ship[2];
            Ship.Move(ships, 1);
            world.Clear(1);
            world.Add(new uint[] { 1, 2 }, 2, Ship.Columns(schema, ships));
            world.Read(Ship.Columns(schema, ships));
            arrays[nth] = new WeakReference(ships);
        }
    }

    private static void Collect()
    {
        for (int round = 0; round < 20; round++)
        {
            Clutter(50);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    /// <summary>Overwrites the unused part of the stack.</summary>
    private static int Clutter(int depth) => depth == 0 ? 0 : Clutter(depth - 1) + 1;

    /// <summary>An object is not freed during its own last call.</summary>
    private static void ReferencesInCalls()
    {
        using (Schema schema = Ship.Schema())
        {
            bool ends = false;
            System.Threading.Thread collector = new System.Threading.Thread(() =>
            {
                while (!System.Threading.Volatile.Read(ref ends))
                {
                    GC.Collect();
                }
            });
            collector.Start();
            for (int round = 0; round < 300; round++)
            {
                new Snapshot(schema).Clear(1);
                Check.Equal(new View(schema).Tick, 0u);
                new View(schema).CopyTo(new Snapshot(schema));
            }
            System.Threading.Volatile.Write(ref ends, true);
            collector.Join();
        }
    }
}
