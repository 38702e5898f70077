using System;
using System.IO;
using Kinepack;

/// <summary>A replay file with events and markers, and a kill cam.</summary>
internal static class Replays
{
    private const int Ticks = 300;
    private const int TickHz = 60;

    internal static void Run(string folder)
    {
        string path = Path.Combine(folder, "größe.kpz");
        using (SchemaBuilder heights = new SchemaBuilder())
        using (SchemaBuilder hits = new SchemaBuilder())
        using (Schema schema = Fields(heights).Build())
        using (Schema events = hits.Kind("hit").Integer("damage", 0, 100).Build())
        using (Codec codec = new Codec(schema, Level.Learning))
        using (Codec eventCodec = new Codec(events, Level.Adaptive))
        using (Events kinds = new Events(eventCodec))
        using (ReplayWriter writer = new ReplayWriter(path, codec, TickHz, kinds))
        using (KillCam killCam = new KillCam(codec, TickHz, 3.0, kinds))
        using (Snapshot world = new Snapshot(schema))
        {
            Record(schema, events, world, writer, killCam);
            ReplaySummary summary = writer.Finish();
            Check.That(summary.Frames == Ticks && summary.Bytes > 500, "a whole file");
            Check.Equal(summary.Bytes, (ulong)new FileInfo(path).Length);
            Check.Refused(Status.Nothing, () => writer.Finish());
            Check.Refused(Status.Nothing, () => writer.Write(world));
            using (Replay replay = Replay.Open(path))
            {
                Check.That(replay.Info.FirstTick == 0 && replay.Info.LastTick == 299, "all ticks");
                Check.Equal(replay.Info.Markers, 1);
                Check.Equal(replay.Marker(0, out uint tick), "erstes Tor: ü");
                Check.Equal(tick, 200u);
                Check.Equal(replay.Value("map"), "harbour");
                Check.That(replay.Value("wind") == null, "no such value");
                Check.Refused(Status.Argument, () => replay.Marker(1, out tick));
                Check.Refused(Status.Argument, () => replay.Marker(-1, out tick));
                Plays(replay, schema);
            }
            byte[] cut = killCam.Cut(180, 240);
            using (Replay replay = Replay.FromBytes(cut))
            {
                Check.That(replay.Info.FirstTick == 180 && replay.Info.LastTick == 240, "a part");
                Check.That(replay.Info.RateHz == TickHz && replay.Info.IsComplete, "a part");
                Plays(replay, schema);
            }
            Refuses(codec, kinds, killCam, world, new Columns(events).Set(0, new byte[1]));
            Damaged(cut);
        }
    }

    private static SchemaBuilder Fields(SchemaBuilder builder)
    {
        return builder.Floats("height", 1, 0.0, 100.0, 0.01).Integer("jumps", 0, 9).Role(Role.Cut);
    }

    private static void Record(
        Schema schema, Schema events, Snapshot world, ReplayWriter writer, KillCam killCam)
    {
        float[] height = new float[1];
        byte[] jumps = new byte[1];
        byte[] damage = new byte[1];
        uint[] ids = { 7 };
        Columns columns = new Columns(schema).Set(0, height).Set(1, jumps);
        Columns hit = new Columns(events).Set(0, damage);
        writer.Note("map", "harbour");
        for (int tick = 0; tick < Ticks; tick++)
        {
            height[0] = 0.25f * tick;
            jumps[0] = (byte)(tick < 203 ? 0 : 1);
            world.Clear((uint)tick);
            world.Add(ids, 1, columns);
            if (tick == 200)
            {
                damage[0] = 30;
                writer.Emit(hit);
                killCam.Emit(hit);
                writer.Mark(200, "erstes Tor: ü");
                damage[0] = 101;
                Check.Refused(Status.Value, () => writer.Emit(hit));
                Check.Refused(Status.Value, () => killCam.Emit(hit));
                Check.Throws<ArgumentException>(() => writer.Emit(new Columns(events)));
                Check.Throws<ArgumentNullException>(() => writer.Emit(null));
                Check.Throws<ArgumentNullException>(() => writer.Write(null));
                Check.Throws<ArgumentNullException>(() => writer.Mark(1, null));
                Check.Throws<ArgumentNullException>(() => writer.Note("map", null));
            }
            writer.Write(world);
            killCam.Write(world);
        }
        Check.Refused(Status.Argument, () => writer.Write(world));
        Check.Refused(Status.Argument, () => killCam.Write(world));
    }

    private static void Plays(Replay replay, Schema schema)
    {
        float[] height = new float[1];
        byte[] damage = new byte[1];
        uint[] ids = new uint[1];
        Columns columns = new Columns(schema).Set(0, height);
        Columns hit = new Columns(replay.EventSchema).Set(0, damage);
        Check.Equal(replay.Schema.Hash, schema.Hash);
        using (Snapshot snapshot = new Snapshot(schema))
        {
            Check.That(replay.TryGet(190, snapshot), "a snapshot");
            Check.Equal(snapshot.Tick, 190u);
        }
        Check.Throws<ArgumentNullException>(() => replay.TryGet(190, null));
        Check.Refused(Status.Argument, () => replay.TryPlay(double.NaN, out Playback none));
        replay.Seek(199.0);
        Check.That(replay.TryPlay(200.5, out Playback playback), "a moment");
        Check.That(playback.Tick == 200.5 && !playback.IsStarved, "the moment");
        Check.Equal(replay.Count(0), 1);
        Check.Equal(replay.ReadAdded(ids), 1);
        Check.Equal(ids[0], 7u);
        Check.Equal(replay.ReadRemoved(ids), 0);
        Check.Equal(replay.ReadCut(ids), 0);
        Check.Equal(replay.ReadIds(0, ids), 1);
        Check.Equal(ids[0], 7u);
        replay.Read(columns);
        Check.That(Math.Abs(height[0] - 50.125f) < 0.011f, "the height");
        Check.Refused(Status.Nothing, () => replay.ReadEvent(hit));
        Check.That(replay.TryNextEvent(out Event next), "an event");
        replay.ReadEvent(hit);
        Check.That(next.Tick == 200 && damage[0] == 30, "the hit");
        Check.That(!replay.TryNextEvent(out next), "no more events");
        foreach (double tick in new[] { 202.0, 202.5, 203.25, 203.5 })
        {
            Check.That(replay.TryPlay(tick, out playback), "a later moment");
            Check.Equal(replay.ReadCut(ids), tick == 203.25 ? 1 : 0);
            Check.Equal(ids[0], 7u);
        }
    }

    private static void Refuses(
        Codec codec, Events kinds, KillCam killCam, Snapshot world, Columns hit)
    {
        Check.Refused(
            Status.File, () => new ReplayWriter("/no such folder/x", codec, TickHz, kinds));
        Check.Throws<ArgumentNullException>(() => new ReplayWriter(null, codec, TickHz));
        Check.Throws<ArgumentNullException>(() => new ReplayWriter("x", null, TickHz));
        Check.Throws<ArgumentNullException>(() => new KillCam(null, TickHz, 1.0));
        Check.Refused(Status.Argument, () => new KillCam(codec, TickHz, double.NaN));
        Check.Refused(Status.Argument, () => new KillCam(codec, -1.0, 1.0));
        Check.Refused(Status.Argument, () => killCam.Cut(900, 950));
        Check.Refused(Status.File, () => Replay.Open("/no such file"));
        Check.Throws<ArgumentNullException>(() => Replay.Open(null));
        Check.Throws<ArgumentNullException>(() => Replay.FromBytes(null));
        using (KillCam silent = new KillCam(codec, TickHz, 1.0))
        {
            Check.Throws<InvalidOperationException>(() => silent.Emit(hit));
            silent.Dispose();
            Check.Throws<ObjectDisposedException>(() => silent.Write(world));
            Check.Throws<ObjectDisposedException>(() => silent.Cut(1, 2));
        }
    }

    /// <summary>Damaged files are refused, or read as other replays.</summary>
    private static void Damaged(byte[] file)
    {
        foreach (byte[] noise in Random.Noise(100))
        {
            Check.Refused(Status.Data, () => Replay.FromBytes(noise));
        }
        for (int round = 0; round < 300; round++)
        {
            file[(round * 7919) % file.Length] ^= (byte)(round | 1);
            try
            {
                using (Replay replay = Replay.FromBytes(file))
                {
                    replay.TryPlay(200.0, out Playback playback);
                }
            }
            catch (KinepackException refused)
            {
                Check.Equal(refused.Status, Status.Data);
            }
        }
    }
}
