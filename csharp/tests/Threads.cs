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
            DisposeDuringCalls(schema);
            TextsOfErrors(schema);
        }
    }

    /// <summary>Both use one codec, and each its own world and columns or the other's.</summary>
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

    /// <summary>A call during Dispose succeeds, or is refused.</summary>
    private static void DisposeDuringCalls(Schema schema)
    {
        int calls = 0;
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Encoder encoder = new Encoder(codec))
        using (Snapshot empty = new Snapshot(schema))
        {
            for (int round = 0; round < 200; round++)
            {
                Snapshot world = new Snapshot(schema);
                View view = new View(schema);
                Both(thread =>
                {
                    if (thread == 0)
                    {
                        Thread.Yield();
                        world.Dispose();
                        view.Dispose();
                        return;
                    }
                    byte[] packet = new byte[100];
                    try
                    {
                        for (int nth = 0; nth < 1000; nth++)
                        {
                            world.Clear(1);
                            encoder.TryEncode(view, empty, packet, out _, view);
                            Interlocked.Increment(ref calls);
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                    }
                    catch (KinepackException refused)
                    {
                        Check.Equal(refused.Status, Status.Handle);
                    }
                });
            }
        }
        Check.That(calls > 0, "some calls before Dispose");
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
