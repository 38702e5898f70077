using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>What a field is made of.</summary>
    public enum FieldKind
    {
        /// <summary>Real numbers with limits.</summary>
        Floats = 0,

        /// <summary>An integer with limits.</summary>
        Integer = 1,

        /// <summary>A rotation x, y, z, w.</summary>
        Rotation = 2,

        /// <summary>A flag, 0 or 1.</summary>
        Bool = 3,

        /// <summary>One of several alternatives.</summary>
        Choice = 4,

        /// <summary>Bit patterns of 32 bits.</summary>
        Raw = 5,

        /// <summary>Opaque bytes.</summary>
        Bytes = 6,
    }

    /// <summary>A field of a kind.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Field
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly FieldKind kind;
        private readonly uint numbers;
        private readonly uint lanes;
        private readonly uint firstLane;
#pragma warning restore 0649

        /// <summary>What the field is made of.</summary>
        public FieldKind Kind => kind;

        /// <summary>The numbers of each entity: 3 for a position, 4 for a rotation.</summary>
        public int Numbers => (int)numbers;

        /// <summary>The number of its lanes, the integers that packets contain.</summary>
        public int Lanes => (int)lanes;

        /// <summary>The index of its first lane among those of its kind.</summary>
        public int FirstLane => (int)firstLane;
    }

    /// <summary>
    /// The kinds of entities, and the fields of each kind. It does not change. Make one with a
    /// <see cref="SchemaBuilder"/>, or read a schema file.
    /// </summary>
    public sealed class Schema : NativeObject
    {
        /// <summary>Takes over a handle.</summary>
        internal Schema(ulong made)
        {
            Own(made);
            Check(Native.kp_schema_kinds(Id, out uint kinds));
            Table = new Field[kinds][];
            for (uint kind = 0; kind < kinds; kind++)
            {
                Check(Native.kp_schema_fields(Id, kind, out uint fields));
                Table[kind] = new Field[fields];
                for (uint field = 0; field < fields; field++)
                {
                    Check(Native.kp_schema_field(Id, kind, field, out Table[kind][field]));
                }
            }
        }

        /// <summary>The number of kinds.</summary>
        public int Kinds => Table.Length;

        /// <summary>
        /// The hash of the schema. Two sides whose schemas have the same hash understand each
        /// other.
        /// </summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_schema_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>The fields of each kind. It does not change.</summary>
        internal Field[][] Table { get; }

        /// <summary>Reads a schema file of <see cref="ToBytes"/>, or of Rust.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not a valid schema file.</exception>
        public static unsafe Schema FromBytes(byte[] bytes)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(Native.kp_schema_from_bytes(first, size, out ulong made));
                return new Schema(made);
            }
        }

        /// <summary>The bytes of a schema file, in a new array.</summary>
        public unsafe byte[] ToBytes()
        {
            Status status = Native.kp_schema_to_bytes(Id, null, UIntPtr.Zero, out UIntPtr size);
            if (status != Status.Size)
            {
                Check(status);
            }
            byte[] bytes = new byte[Interop.ToSize(size)];
            fixed (byte* first = bytes)
            {
                Check(Native.kp_schema_to_bytes(Id, first, size, out size));
            }
            return bytes;
        }

        /// <summary>The fields of a kind, in a new array.</summary>
        /// <param name="kind">From 0 to <see cref="Kinds"/> - 1.</param>
        public Field[] Fields(int kind)
        {
            return (Field[])OfKind(Table, kind).Clone();
        }

        /// <summary>The fields of a kind.</summary>
        internal static Field[] OfKind(Field[][] table, int kind)
        {
            if (kind < 0 || kind >= table.Length)
            {
                string text = "The schema has " + table.Length + " kinds.";
                throw new ArgumentOutOfRangeException(nameof(kind), kind, text);
            }
            return table[kind];
        }

        /// <summary>
        /// Whether two kinds have equal numbers of numbers, so that memory for one fits the other.
        /// </summary>
        internal static bool HaveSameNumbers(Field[] one, Field[] other)
        {
            if (one.Length != other.Length)
            {
                return false;
            }
            for (int field = 0; field < one.Length; field++)
            {
                if (one[field].Numbers != other[field].Numbers)
                {
                    return false;
                }
            }
            return true;
        }

        internal override Status Free(ulong freed) => Native.kp_schema_free(freed);
    }
}
