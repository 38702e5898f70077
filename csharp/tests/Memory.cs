using System;
using System.Runtime.InteropServices;
using Kinepack;

/// <summary>Columns in every sort of memory, and columns that do not fit.</summary>
internal static class Memory
{
    private enum Colour : short
    {
        Red = 0,
        Blue = 2,
    }

    internal static void Run()
    {
        using (Schema schema = Ship.Schema())
        using (Snapshot world = new Snapshot(schema))
        {
            Arrays(schema, world);
            Pointers(schema, world);
            Limits(schema, world);
            WrongColumns(schema, world);
            WrongCounts(schema, world);
        }
        AllTypes();
        SeveralKinds();
        Names();
    }

    /// <summary>A plain array for each field: numbers and vectors.</summary>
    private static void Arrays(Schema schema, Snapshot world)
    {
        uint[] ids = { 3, 9 };
        float[] positions = { 1, 2, 3, 4, 5, 6 };
        Rotation[] rotations = { new Rotation { W = 1 }, new Rotation { X = 1 } };
        Columns columns = new Columns(schema)
            .Set(0, positions)
            .Set(1, rotations)
            .Set(2, new long[] { -7, 8 })
            .Set(3, new byte[] { 1, 0 });
        world.Clear(1);
        world.Add(ids, 2, columns);
        double[] readPositions = new double[9];
        float[] readRotations = new float[8];
        int[] readScores = new int[2];
        ulong[] readLights = new ulong[2];
        Columns targets = new Columns(schema)
            .Set(0, readPositions)
            .Set(1, readRotations)
            .Set(2, readScores)
            .Set(3, readLights);
        world.Read(targets);
        Check.That(Math.Abs(readPositions[5] - 6.0) <= 0.001, "the last position");
        Check.Equal(readPositions[6], 0.0);
        Check.That(readRotations[3] > 0.99f && readRotations[4] > 0.99f, "the rotations");
        Check.That(readScores[0] == -7 && readScores[1] == 8, "the scores");
        Check.That(readLights[0] == 1 && readLights[1] == 0, "the lights");

        // Skipped fields are unchanged, and the other fields need enough memory.
        readScores[0] = 99;
        targets.Skip(2).Skip(0);
        world.Read(targets);
        Check.Equal(readScores[0], 99);
        targets.Set(2, new int[1]);
        Check.Refused(Status.Size, () => world.Read(targets));
        world.Read(new Columns(schema));
    }

    private static unsafe void Pointers(Schema schema, Snapshot world)
    {
        Ship[] ships = new Ship[4];
        Ship.Move(ships, 3);
        uint[] ids = { 1, 2, 3, 4 };
        world.Clear(1);
        world.Add(ids, 4, Ship.Columns(schema, ships));
        ulong expected = world.Hash;
        fixed (Ship* first = ships)
        {
            Columns columns = new Columns(schema);
            long size = 4 * sizeof(Ship);
            PutAt(columns, 0, first, (byte*)first->Position, size, Number.F32);
            PutAt(columns, 1, first, (byte*)&first->Rotation, size, Number.F32);
            PutAt(columns, 2, first, (byte*)&first->Score, size, Number.I32);
            PutAt(columns, 3, first, &first->IsLit, size, Number.U8);
            world.Clear(1);
            world.Add(ids, 4, columns);
            Check.Equal(world.Hash, expected);
            uint[] five = { 1, 2, 3, 4, 5 };
            Check.Throws<ArgumentException>(() => world.Add(five, 5, columns));

            // All entities have the same numbers.
            int score = 5;
            columns.Set(2, (IntPtr)(&score), sizeof(int), 0, Number.I32);
            world.Clear(1);
            world.Add(ids, 4, columns);
            int[] scores = new int[4];
            world.Read(new Columns(schema).Set(2, scores));
            Check.That(scores[0] == 5 && scores[3] == 5, "the same score for all");
        }

        // The same from offsets that the caller computed.
        int at = (int)Marshal.OffsetOf(typeof(Ship), nameof(Ship.Score));
        Columns byOffset = Ship.Columns(schema, ships).Set(2, ships, at, Number.I32);
        world.Clear(1);
        world.Add(ids, 4, byOffset);
        Check.Equal(world.Hash, expected);
    }

    private static unsafe void PutAt(
        Columns columns, int field, Ship* first, byte* number, long size, Number type)
    {
        long rest = size - (number - (byte*)first);
        columns.Set(field, (IntPtr)number, rest, sizeof(Ship), type);
    }

    private static unsafe void Limits(Schema schema, Snapshot world)
    {
        Ship[] ships = new Ship[3];
        Ship.Move(ships, 1);
        ships[1].Score = 2000000;
        uint[] ids = { 1, 2, 3 };
        Columns columns = Ship.Columns(schema, ships);
        world.Clear(1);
        Check.Refused(Status.Value, () => world.Add(ids, 3, columns));
        Check.Equal(world.Count(0), 0);
        columns.Clamp(2);
        world.Add(ids, 3, columns);
        world.Read(columns);
        Check.Equal(ships[1].Score, 1000000);
        ships[1].Rotation.X = float.NaN;
        world.Clear(1);
        Check.Refused(Status.Value, () => world.Add(ids, 3, columns));
        ships[1].Rotation.X = 0.0f;
        ships[1].Score = 2000000;
        columns.Clamp(2, false);
        Check.Refused(Status.Value, () => world.Add(ids, 3, columns));
    }

    private static void WrongColumns(Schema schema, Snapshot world)
    {
        Ship[] ships = new Ship[3];
        Columns columns = new Columns(schema);
        Check.Throws<ArgumentNullException>(() => new Columns(null));
        Check.Throws<ArgumentOutOfRangeException>(() => new Columns(schema, 1));
        Check.Throws<ArgumentOutOfRangeException>(() => new Columns(schema, -1));
        Check.Throws<ArgumentNullException>(() => columns.Set<float>(0, null));
        Check.Throws<ArgumentNullException>(() => columns.Set<Ship>(2, null, "Score"));
        Check.Throws<ArgumentNullException>(() => columns.Set(2, ships, null));
        Check.Throws<ArgumentNullException>(() => columns.Set<Ship>(2, null, 0, Number.I32));
        Check.Throws<ArgumentException>(() => columns.Set(2, ships, "score"));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(4, ships, "Score"));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(-1, new int[3]));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Skip(4));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Clamp(4));
        // A rotation has 4 numbers, and a position 3.
        Check.Throws<ArgumentException>(() => columns.Set(0, ships, nameof(Ship.Rotation)));
        Check.Throws<ArgumentException>(() => columns.Set(1, ships, nameof(Ship.Position)));
        Check.Throws<ArgumentException>(() => columns.Set(1, ships, nameof(Ship.Score)));
        Check.Throws<ArgumentException>(() => columns.Set(0, new Rotation[3]));
        Check.Throws<ArgumentException>(() => columns.Set(0, ships));
        // Not numbers, or of another size in native memory.
        Check.Throws<ArgumentException>(() => columns.Set(3, new bool[3]));
        Check.Throws<ArgumentException>(() => columns.Set(3, new char[3]));
        Check.Throws<ArgumentException>(() => columns.Set(3, new DateTime[3]));
        Check.Throws<ArgumentException>(() => columns.Set(2, new WithBool[3], "Score"));
        Check.Throws<ArgumentException>(() => columns.Set(2, new WithText[3], "Score"));
        Check.Throws<ArgumentException>(() => columns.Set(2, new WithText[3], 8, Number.I32));
        Check.Throws<ArgumentException>(
            () => columns.Set(2, new WithReference[3], 0, Number.I32));
        // Numbers beyond the end of the struct.
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(2, ships, -1, Number.I32));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(0, ships, 40, Number.F32));
        Check.Throws<ArgumentOutOfRangeException>(
            () => columns.Set(2, ships, int.MaxValue, Number.I32));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(2, ships, 0, (Number)10));
        Check.Throws<ArgumentOutOfRangeException>(() => columns.Set(2, ships, 0, (Number)(-1)));
        Check.Throws<ArgumentNullException>(
            () => columns.Set(2, IntPtr.Zero, 12, 4, Number.I32));
        Check.Throws<ArgumentOutOfRangeException>(
            () => columns.Set(2, (IntPtr)16, -1, 4, Number.I32));
        Check.Throws<ArgumentOutOfRangeException>(
            () => columns.Set(2, (IntPtr)16, 12, -4, Number.I32));
        Check.Throws<ArgumentOutOfRangeException>(
            () => columns.Set(2, (IntPtr)16, 12, 4, (Number)10));
        // Types that the native library refuses.
        uint[] ids = { 1, 2, 3 };
        Columns real = Ship.Columns(schema, ships).Set(2, new float[3]);
        world.Clear(1);
        Check.Refused(Status.Argument, () => world.Add(ids, 3, real));
        Columns narrow = new Columns(schema).Set(2, new short[9]);
        Check.Refused(Status.Argument, () => world.Read(narrow));
    }

    private static void WrongCounts(Schema schema, Snapshot world)
    {
        Ship[] ships = new Ship[3];
        uint[] ids = { 1, 2, 3, 4 };
        Columns columns = Ship.Columns(schema, ships);
        Ship.Move(ships, 1);
        world.Clear(1);
        Check.Throws<ArgumentNullException>(() => world.Add(null, 0, columns));
        Check.Throws<ArgumentNullException>(() => world.Add(ids, 3, null));
        Check.Throws<ArgumentOutOfRangeException>(() => world.Add(ids, 5, columns));
        Check.Throws<ArgumentOutOfRangeException>(() => world.Add(ids, -1, columns));
        Check.Throws<ArgumentException>(() => world.Add(ids, 4, columns));
        Check.Throws<ArgumentException>(() => world.Add(ids, 3, new Columns(schema)));
        Columns one = Ship.Columns(schema, ships).Set(0, new float[8]);
        Check.Throws<ArgumentException>(() => world.Add(ids, 3, one));
        Check.Refused(Status.Argument, () => world.Add(new uint[3], 3, columns));
        Check.Throws<ArgumentNullException>(() => world.Read(null));
        Check.Throws<ArgumentNullException>(() => world.ReadIds(0, null));
        Check.Refused(Status.Argument, () => world.ReadIds(1, ids));
        Check.Refused(Status.Argument, () => world.Count(-1));
        world.Add(new uint[0], 0, Ship.Columns(schema, new Ship[0]));
        world.Add(ids, 3, columns);
        Check.Refused(Status.Size, () => world.ReadIds(0, new uint[2]));
        Check.Refused(Status.Size, () => world.ReadIds(0, new uint[0]));
        Check.Refused(Status.Size, () => world.Read(Ship.Columns(schema, new Ship[0])));
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema other = builder
            .Floats("place", 2, 0.0, 1.0, 0.1)
            .Rotation("rotation", 9)
            .Bool("one")
            .Bool("other")
            .Build())
        {
            // The same number of fields, but the first has 2 numbers instead of 3.
            Columns others = new Columns(other)
                .Set(0, new float[6])
                .Set(1, new Rotation[3])
                .Set(2, new int[3])
                .Set(3, new byte[3]);
            Check.Throws<ArgumentException>(() => world.Add(ids, 3, others));
            Check.Throws<ArgumentException>(() => world.Read(others));
        }
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema other = builder.Bool("is_lit").Build())
        {
            Columns others = new Columns(other).Set(0, new byte[3]);
            Check.Throws<ArgumentException>(() => world.Read(others));
        }
        using (Schema same = Ship.Schema())
        {
            // Another Schema object with an equal schema.
            world.Clear(1);
            world.Add(ids, 3, Ship.Columns(same, ships));
            Check.Equal(world.Count(0), 3);
        }
    }

    /// <summary>An integer as every type, and as an enum.</summary>
    private static void AllTypes()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder.Integer("value", 0, 100).Build())
        using (Snapshot world = new Snapshot(schema))
        {
            Travel(schema, world, new sbyte[] { 1, 100 });
            Travel(schema, world, new short[] { 1, 100 });
            Travel(schema, world, new int[] { 1, 100 });
            Travel(schema, world, new long[] { 1, 100 });
            Travel(schema, world, new byte[] { 1, 100 });
            Travel(schema, world, new ushort[] { 1, 100 });
            Travel(schema, world, new uint[] { 1, 100 });
            Travel(schema, world, new ulong[] { 1, 100 });
            Travel(schema, world, new[] { Colour.Red, Colour.Blue });
        }
    }

    private static void Travel<T>(Schema schema, Snapshot world, T[] values)
        where T : struct
    {
        T[] read = new T[values.Length];
        world.Clear(1);
        world.Add(new uint[] { 4, 5 }, 2, new Columns(schema).Set(0, values));
        world.Read(new Columns(schema).Set(0, read));
        Check.Equal(read[0], values[0]);
        Check.Equal(read[1], values[1]);
    }

    private static void SeveralKinds()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        using (Schema schema = builder
            .Kind("door")
            .Bool("is_open")
            .Choice("colour", 2)
            .Kind("lift")
            .Choice("mode", 3)
            .Floats("height", 1, 0.0, 10.0, 0.01)
            .Condition("mode", 1, 2)
            .TimePrecision(5.0, 60.0)
            .Cyclic("angle", 0.0, 360.0, 0.5)
            .Floats("speed", 1, -1.0, 1.0, 0.01)
            .VelocityOf("height")
            .Build())
        using (Snapshot world = new Snapshot(schema))
        {
            Check.Equal(schema.Kinds, 2);
            Check.Equal(schema.Fields(1).Length, 4);
            Check.Throws<ArgumentOutOfRangeException>(() => schema.Fields(2));
            Columns doors = new Columns(schema)
                .Set(0, new byte[] { 1, 0 })
                .Set(1, new[] { Colour.Blue, Colour.Red });
            float[] heights = { 1.0f, 2.0f };
            Columns lifts = new Columns(schema, 1)
                .Set(0, new uint[] { 0, 2 })
                .Set(1, heights)
                .Set(2, new double[] { 359.0, 20.0 })
                .Set(3, new float[2]);
            world.Add(new uint[] { 1, 2 }, 2, doors);
            world.Add(new uint[] { 3, 4 }, 2, lifts);
            Check.That(world.Count(0) == 2 && world.Count(1) == 2, "two of each kind");
            world.Read(lifts);
            Check.That(heights[0] == 0.0f, "0 for an absent field");
            Check.That(Math.Abs(heights[1] - 2.0f) < 0.011f, "the height of the present one");
        }
    }

    /// <summary>Kinds and fields by their names, also after the schema was disposed.</summary>
    private static void Names()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        using (SchemaBuilder other = new SchemaBuilder())
        using (Schema schema = builder.Kind("Tür").Bool("offen?").Kind("lift").Bool("up").Build())
        using (Schema nameless = other.Bool("up").Build())
        using (Snapshot world = new Snapshot(schema))
        {
            Check.Equal(schema.KindName(0), "Tür");
            Check.Equal(schema.KindName(1), "lift");
            Check.Equal(schema.Fields(0)[0].Name, "offen?");
            Check.Equal(nameless.KindName(0), string.Empty);
            Check.That(schema.TryFindKind("lift", out int found) && found == 1, "the lift");
            Check.That(schema.TryFindField(1, "up", out found) && found == 0, "its field");
            Check.That(!schema.TryFindKind("Lift", out found) && found == -1, "no such kind");
            Check.That(!schema.TryFindField(0, "up", out found) && found == -1, "no such field");
            Check.Throws<ArgumentOutOfRangeException>(() => schema.KindName(2));
            Check.Throws<ArgumentOutOfRangeException>(() => schema.TryFindField(-1, "up", out _));
            Check.Throws<ArgumentNullException>(() => schema.TryFindKind(null, out _));
            Check.Throws<ArgumentNullException>(() => schema.TryFindField(0, null, out _));
            schema.Dispose();
            Check.Equal(schema.KindName(1), "lift");

            byte[] flags = { 1, 0 };
            byte[] read = new byte[2];
            IntPtr none = IntPtr.Zero;
            Columns doors = new Columns(schema, "Tür").Set("offen?", new byte[0]);
            Columns lifts = new Columns(schema, "lift").Set("up", flags);
            world.Add(new uint[0], 0, doors);
            world.Add(new uint[] { 3, 4 }, 2, lifts);
            world.Read(new Columns(schema, 1).Set("up", read));
            Check.That(read[0] == 1 && read[1] == 0, "the flags");
            Check.Throws<ArgumentException>(() => new Columns(schema, "door"));
            Check.Throws<ArgumentNullException>(() => new Columns(schema, null));
            Check.Throws<ArgumentNullException>(() => new Columns(null, "lift"));
            Check.Throws<ArgumentException>(() => lifts.Set("offen?", flags));
            Check.Throws<ArgumentException>(() => lifts.Set("down", flags, 0, Number.U8));
            Check.Throws<ArgumentException>(() => lifts.Set("down", none, 2, 1, Number.U8));
            Check.Throws<ArgumentException>(() => lifts.Skip("down"));
            Check.Throws<ArgumentException>(() => lifts.Clamp("down"));
            Check.Throws<ArgumentNullException>(() => lifts.Skip(null));
            Check.Throws<ArgumentException>(() => world.Add(new uint[2], 2, lifts.Skip("up")));
        }
    }

    private struct WithBool
    {
        internal bool IsLit;
        internal int Score;
    }

    private struct WithText
    {
        internal string Name;
        internal int Score;
    }

    private struct WithReference
    {
        internal OneNumber Reference;
    }

    [StructLayout(LayoutKind.Sequential)]
    private sealed class OneNumber
    {
        // As large as a reference.
        internal long Score = 1;
    }
}
