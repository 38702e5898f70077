using System;
using System.Threading;
using Kinepack;

/// <summary>Two threads with the same objects.</summary>
internal static class Threads
{
    internal static void Run()
    {
        using (Schema schema = Ship.Schema())
        {
            SharedObjects(schema);
            RefusedColumns(schema);
            DisposeDuringCalls(schema);
            TextsOfErrors(schema);
        }
    }

    /// <summary>Both use one codec, and worlds and columns of their own or of the other.</summary>
    private static void SharedObjects(Schema schema)
    {
        Ship[] ships = new Ship[100];
        Ship.Move(ships, 1);
        uint[] ids = Ship.Ids();
        Columns columns = Ship.Columns(schema, ships);
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Encoder encoder = new Encoder(codec))
        using (View empty = new View(schema))
        {
            int expected = 0;
            Both(thread =>
            {
                byte[] packet = new byte[9000];
                using (Snapshot world = new Snapshot(schema))
                using (View view = new View(schema))
                {
                    for (int round = 0; round < 200; round++)
                    {
                        world.Clear((uint)round);
                        world.Add(ids, ships.Length, columns);
                        encoder.TryEncode(empty, world, packet, out int size, view);
                        int before = Interlocked.CompareExchange(ref expected, size, 0);
                        Check.That(before == 0 || before == size, "equal packets");
                        // The other thread may be using the columns.
                        columns.Set(0, ships, nameof(Ship.Position));
                    }
                }
            });
        }
    }

    /// <summary>After a refused call, other threads can use the columns.</summary>
    private static void RefusedColumns(Schema schema)
    {
        using (Snapshot world = new Snapshot(schema))
        {
            Columns columns = Ship.Columns(schema, new Ship[1]);
            Check.Throws<ArgumentException>(() => world.Add(new uint[2], 2, columns));
            Check.Refused(Status.Value, () => world.Add(new uint[1], 1, columns));
            Thread other = new Thread(() => world.Read(columns)) { IsBackground = true };
            other.Start();
            Check.That(other.Join(10000), "another thread to use the columns");
        }
    }

    /// <summary>A call during Dispose succeeds, or is refused.</summary>
    private static void DisposeDuringCalls(Schema schema)
    {
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Encoder encoder = new Encoder(codec))
        using (Snapshot empty = new Snapshot(schema))
        {
            for (int round = 0; round < 200; round++)
            {
                int calls = 0;
                Snapshot world = new Snapshot(schema);
                View view = new View(schema);
                Both(thread =>
                {
                    if (thread == 0)
                    {
                        SpinWait.SpinUntil(() => Volatile.Read(ref calls) > round % 20);
                        world.Dispose();
                        view.Dispose();
                        return;
                    }
                    byte[] packet = new byte[100];
                    Status status = Status.Ok;
                    while (status == Status.Ok)
                    {
                        status = CallBoth(world, view, encoder, empty, packet);
                        Interlocked.Increment(ref calls);
                    }
                    Check.Equal(status, Status.Handle);
                });
            }
        }
    }

    /// <summary>Calls each object. Returns Status.Handle if one was disposed.</summary>
    private static Status CallBoth(
        Snapshot world, View view, Encoder encoder, Snapshot empty, byte[] packet)
    {
        try
        {
            world.Clear(1);
            encoder.TryEncode(view, empty, packet, out _, view);
            return Status.Ok;
        }
        catch (ObjectDisposedException)
        {
            return Status.Handle;
        }
        catch (KinepackException refused)
        {
            return refused.Status;
        }
    }

    /// <summary>Each thread gets the text of its own error.</summary>
    private static void TextsOfErrors(Schema schema)
    {
        Both(thread =>
        {
            string level = "level" + thread;
            for (int round = 0; round < 200; round++)
            {
                try
                {
                    new Codec(schema, level);
                }
                catch (KinepackException refused)
                {
                    Check.That(refused.Message.Contains(level), "the text of this thread");
                }
            }
        });
    }

    private static void Both(Action<int> action)
    {
        Exception failure = null;
        Thread[] threads = new Thread[2];
        for (int nth = 0; nth < threads.Length; nth++)
        {
            int thread = nth;
            threads[nth] = new Thread(() =>
            {
                try
                {
                    action(thread);
                }
                catch (Exception thrown)
                {
                    failure = thrown;
                }
            });
            threads[nth].Start();
        }
        foreach (Thread thread in threads)
        {
            thread.Join();
        }
        Check.That(failure == null, "two threads to end, not " + failure);
    }
}
