using Kinepack;

/// <summary>A game's struct, with a field that is not sent.</summary>
internal unsafe struct Ship
{
    internal const int Count = 900;

    internal ulong Name;
    internal fixed float Position[3];
    internal Rotation Rotation;
    internal int Score;
    internal byte IsLit;

    internal static Schema Schema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder
                .Kind("ship")
                .Floats("position", 3, -64.0, 64.0, 0.001)
                .Role(Role.Body)
                .Rotation("rotation", 9)
                .Role(Role.Body)
                .Integer("score", -1000000, 1000000)
                .Bool("is_lit")
                .Build();
        }
    }

    internal static uint[] Ids()
    {
        uint[] ids = new uint[Count];
        for (uint nth = 0; nth < Count; nth++)
        {
            ids[nth] = (3 * nth) + 1;
        }
        return ids;
    }

    internal static Columns Columns(Schema schema, Ship[] ships)
    {
        return new Columns(schema)
            .Set(0, ships, nameof(Position))
            .Set(1, ships, nameof(Rotation))
            .Set(2, ships, nameof(Score))
            .Set(3, ships, nameof(IsLit));
    }

    /// <summary>Every ninth ship moves.</summary>
    internal static void Move(Ship[] ships, int tick)
    {
        for (int nth = 0; nth < ships.Length; nth++)
        {
            fixed (Ship* ship = &ships[nth])
            {
                float way = nth % 9 == 0 ? 0.05f * tick : 0.0f;
                ship->Position[0] = (nth % 60) - 30.0f + way;
                ship->Position[1] = nth / 60;
                ship->Position[2] = 1.0f;
                ship->Rotation.Z = 0.6f;
                ship->Rotation.W = 0.8f;
                ship->Score = -nth * tick;
                ship->IsLit = (byte)(nth % 7 == tick % 7 ? 1 : 0);
            }
        }
    }

    /// <summary>The largest difference of two ships along an axis, in metres.</summary>
    internal static float Distance(in Ship one, in Ship other)
    {
        float most = 0.0f;
        fixed (float* of_one = one.Position, of_other = other.Position)
        {
            for (int axis = 0; axis < 3; axis++)
            {
                most = System.Math.Max(most, System.Math.Abs(of_one[axis] - of_other[axis]));
            }
        }
        return most;
    }
}

internal struct Rotation
{
    internal float X;
    internal float Y;
    internal float Z;
    internal float W;
}
