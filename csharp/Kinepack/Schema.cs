using System;

namespace Kinepack
{
    /// <summary>A field of a kind of entities.</summary>
    public readonly struct Field
    {
        internal Field(string name, in Native.KpField described)
        {
            Name = name;
            Kind = described.kind;
            Numbers = (int)described.numbers;
            Lanes = (int)described.lanes;
            FirstLane = (int)described.first_lane;
        }

        /// <summary>The name of the field.</summary>
        public string Name { get; }

        /// <summary>The type of the field.</summary>
        public FieldKind Kind { get; }

        /// <summary>
        /// The number of column values per entity: 3 for a position, 4 for a rotation.
        /// </summary>
        public int Numbers { get; }

        /// <summary>
        /// The number of the field's lanes, which are the integers that packets contain.
        /// </summary>
        public int Lanes { get; }

        /// <summary>The index of the field's first lane among the lanes of its kind.</summary>
        public int FirstLane { get; }
    }

    /// <summary>
    /// The kinds of entities, and the fields of each kind. Immutable. Build a schema with a
    /// <see cref="SchemaBuilder"/>, or read a schema file.
    /// </summary>
    public sealed class Schema : NativeObject
    {
        private readonly string[] kindNames;

        /// <summary>Creates a schema that owns a handle.</summary>
        internal Schema(ulong made)
        {
            Own(made);
            Check(Native.kp_schema_kinds(Id, out uint kinds));
            Table = new Field[kinds][];
            kindNames = new string[kinds];
            for (uint kind = 0; kind < kinds; kind++)
            {
                Check(Native.kp_schema_fields(Id, kind, out uint fields));
                Table[kind] = new Field[fields];
                kindNames[kind] = ReadKindName(kind);
                for (uint field = 0; field < fields; field++)
                {
                    Check(Native.kp_schema_field(Id, kind, field, out Native.KpField described));
                    Table[kind][field] = new Field(ReadFieldName(kind, field), described);
                }
            }
        }

        /// <summary>The number of kinds.</summary>
        public int Kinds => Table.Length;

        /// <summary>
        /// The hash of the schema. Two sides with the same hash have the same schema.
        /// </summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_schema_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>The fields of each kind. Immutable.</summary>
        internal Field[][] Table { get; }

        /// <summary>
        /// Reads a schema file, as written by <see cref="ToBytes"/> and Rust's
        /// <c>Schema::to_bytes</c>.
        /// </summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not a valid schema file.</exception>
        public static unsafe Schema FromBytes(byte[] bytes)
        {
            Library.RequireAbi();
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(Native.kp_schema_from_bytes(first, size, out ulong made));
                return new Schema(made);
            }
        }

        /// <summary>Returns the bytes of a schema file, in a new array.</summary>
        public unsafe byte[] ToBytes()
        {
            return ReadBytes((byte* bytes, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_schema_to_bytes(Id, bytes, capacity, out size));
        }

        /// <summary>Returns the fields of a kind, in a new array.</summary>
        /// <param name="kind">The index of the kind, from 0 to <see cref="Kinds"/> - 1.</param>
        public Field[] Fields(int kind)
        {
            return (Field[])OfKind(Table, kind).Clone();
        }

        /// <summary>
        /// Returns the name of a kind. If a schema has only one kind, its name may be empty.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0 to <see cref="Kinds"/> - 1.</param>
        public string KindName(int kind)
        {
            OfKind(Table, kind);
            return kindNames[kind];
        }

        /// <summary>Finds a kind by its name.</summary>
        /// <param name="name">The name to find.</param>
        /// <param name="kind">The index of the kind, or -1.</param>
        /// <returns>False if there is no such kind.</returns>
        public bool TryFindKind(string name, out int kind)
        {
            Require.NotNull(name, nameof(name));
            kind = Array.IndexOf(kindNames, name);
            return kind >= 0;
        }

        /// <summary>Finds a kind's field by its name.</summary>
        /// <param name="kind">The index of the kind, from 0 to <see cref="Kinds"/> - 1.</param>
        /// <param name="name">The name to find.</param>
        /// <param name="field">The index of the field in its kind, or -1.</param>
        /// <returns>False if there is no such field.</returns>
        public bool TryFindField(int kind, string name, out int field)
        {
            Require.NotNull(name, nameof(name));
            field = IndexOf(OfKind(Table, kind), name);
            return field >= 0;
        }

        /// <summary>
        /// Rounds states as the other side gets them, where they are. A server that simulates
        /// entities which clients predict rounds them after each step: see
        /// <see cref="Predicted{TState, TInput}"/>.
        /// </summary>
        /// <param name="columns">The memory of every field of a kind.</param>
        /// <param name="count">The number of entities.</param>
        /// <exception cref="KinepackException">
        /// A value is out of its range. Nothing has changed.
        /// </exception>
        public unsafe void Round(Columns columns, int count)
        {
            Require.NotNull(columns, nameof(columns));
            Require.NotNegative(count, nameof(count));
            using (columns.PinToRead(Table, count))
            fixed (Native.KpColumn* from = columns.ToRead)
            fixed (Native.KpTarget* to = columns.ToWrite)
            {
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                uint kind = (uint)columns.Kind;
                UIntPtr rows = (UIntPtr)count;
                Check(Native.kp_schema_rounded(Id, kind, rows, from, fields, to, fields));
            }
        }

        /// <summary>Returns the index of the first field with the given name, or -1.</summary>
        internal static int IndexOf(Field[] fields, string name)
        {
            return Array.FindIndex(fields, field => field.Name == name);
        }

        /// <summary>Returns the fields of a kind.</summary>
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
        /// Returns whether the fields of two kinds have equally many numbers. Then memory for one
        /// kind fits the other.
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

        private unsafe string ReadKindName(uint kind)
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_schema_kind_name(Id, kind, text, capacity, out size));
        }

        private unsafe string ReadFieldName(uint kind, uint field)
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_schema_field_name(Id, kind, field, text, capacity, out size));
        }
    }
}
