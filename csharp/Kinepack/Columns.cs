using System;

namespace Kinepack
{
    /// <summary>
    /// Describes where the numbers of a kind's fields are in your memory. Each field has an array,
    /// a field of an array of structs, or a pointer. Snapshots read entities from this memory.
    /// Snapshots and receivers write entities to it.
    /// </summary>
    /// <remarks>
    /// Create columns once and use them each tick, because using them allocates nothing. Call Set
    /// again if you replace an array. The columns keep your arrays alive, and pin them only during
    /// a call. If two threads use the same columns, the second one waits.
    /// </remarks>
    public sealed class Columns
    {
        private readonly Field[] fields;
        private readonly Sources sources;
        private readonly bool[] clamps;

        /// <summary>Creates columns for a kind, at first without memory.</summary>
        /// <param name="schema">The schema of the snapshots and receivers.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        public Columns(Schema schema, int kind = 0)
        {
            Require.NotNull(schema, nameof(schema));
            fields = Schema.OfKind(schema.Table, kind);
            Kind = kind;
            sources = new Sources(fields.Length);
            clamps = new bool[fields.Length];
            ToRead = new Native.KpColumn[fields.Length];
            ToWrite = new Native.KpTarget[fields.Length];
        }

        /// <summary>
        /// Creates columns for the kind with the given name, at first without memory.
        /// </summary>
        /// <param name="schema">The schema of the snapshots and receivers.</param>
        /// <param name="kind">The name of the kind.</param>
        public Columns(Schema schema, string kind)
            : this(schema, IndexOf(schema, kind))
        {
        }

        /// <summary>The index of the kind.</summary>
        public int Kind { get; }

        /// <summary>
        /// The description for the native library. It is valid while the memory is pinned.
        /// </summary>
        internal Native.KpColumn[] ToRead { get; }

        internal Native.KpTarget[] ToWrite { get; }

        /// <summary>
        /// Sets the memory of a field to an array. The array has numbers, one entity after the
        /// other, or structs of equal numbers such as a vector.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="values">
        /// Numbers (for a position 3 for each entity) or structs (1 for each entity). Real numbers
        /// and rotations must be float or double. All other fields must be integers.
        /// </param>
        public Columns Set<T>(FieldKey field, T[] values)
            where T : struct
        {
            int index = field.In(fields);
            return Put(index, Source.Of(values, fields[index].Numbers));
        }

        /// <summary>Sets the memory of a field to a field of an array of structs.</summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="structs">One struct for each entity.</param>
        /// <param name="member">
        /// The name of the struct's field: a number, a struct of equal numbers, or a fixed buffer.
        /// </param>
        public Columns Set<T>(FieldKey field, T[] structs, string member)
            where T : struct
        {
            int index = field.In(fields);
            return Put(index, Source.Of(structs, member, fields[index].Numbers));
        }

        /// <summary>
        /// Sets the memory of a field to consecutive numbers in an array of structs.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="structs">One struct for each entity.</param>
        /// <param name="offsetBytes">The offset in bytes of the first number in a struct.</param>
        /// <param name="number">The type of the numbers.</param>
        public Columns Set<T>(FieldKey field, T[] structs, int offsetBytes, Number number)
            where T : struct
        {
            int index = field.In(fields);
            return Put(index, Source.Of(structs, offsetBytes, number, fields[index].Numbers));
        }

        /// <summary>
        /// Sets the memory of a field to memory that does not move. The memory must stay valid
        /// until you set the field to other memory.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="data">
        /// The address of the first number of the first entity. Numbers need no alignment.
        /// </param>
        /// <param name="sizeBytes">The size of the memory from that address on, in bytes.</param>
        /// <param name="strideBytes">
        /// The number of bytes from one entity to the next. With 0, all entities have the same
        /// numbers.
        /// </param>
        /// <param name="number">The type of the numbers.</param>
        public Columns Set(
            FieldKey field, IntPtr data, long sizeBytes, int strideBytes, Number number)
        {
            int index = field.In(fields);
            int numbers = fields[index].Numbers;
            return Put(index, Source.Of(data, sizeBytes, strideBytes, number, numbers));
        }

        /// <summary>
        /// Sets the memory of the fields that <see cref="SchemaBuilder.Seen"/> added to a field of
        /// an array of structs.
        /// </summary>
        /// <param name="name">The name of the stamp.</param>
        /// <param name="structs">One struct for each entity.</param>
        /// <param name="member">
        /// The name of the struct's field, which is a <see cref="Kinepack.Seen"/>.
        /// </param>
        public Columns SetSeen<T>(string name, T[] structs, string member)
            where T : struct
        {
            Require.NotNull(name, nameof(name));
            Require.NotNull(member, nameof(member));
            int begin = Layout.OffsetOf<T>(member, typeof(Seen));
            PutSeen(name + "?", structs, begin, "is_shown", Number.U8);
            PutSeen(name + ".moment", structs, begin, "moment", Number.F32);
            PutSeen(name + ".newest", structs, begin, "newest", Number.F32);
            PutSeen(name + ".full_state", structs, begin, "full_state", Number.U8);
            PutSeen(name + ".missing", structs, begin, "missing_0", Number.U8);
            return this;
        }

        /// <summary>
        /// Skips a field when entities are read. Columns with a skipped field cannot add entities.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        public Columns Skip(FieldKey field)
        {
            return Put(field.In(fields), default(Source));
        }

        /// <summary>
        /// Sets whether values out of a field's range are clamped when entities are added. By
        /// default, such values are an error.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="clamps">True to clamp values.</param>
        public Columns Clamp(FieldKey field, bool clamps = true)
        {
            this.clamps[field.In(fields)] = clamps;
            return this;
        }

        /// <summary>
        /// Pins the memory of all fields to add <paramref name="count"/> entities, until the result
        /// is disposed.
        /// </summary>
        internal Sources.Pinned PinToRead(Field[][] table, int count)
        {
            Sources.Pinned pinned = Pin(table);
            for (int field = 0; field < sources.Count; field++)
            {
                if (!sources[field].IsSet || sources[field].Capacity < count)
                {
                    pinned.Dispose();
                    string name = fields[field].Name;
                    string text = name + " has no memory for " + count + " entities.";
                    throw new ArgumentException(text, "columns");
                }
            }
            return pinned;
        }

        /// <summary>
        /// Pins the memory of the fields that are set, until the result is disposed. The first
        /// <paramref name="count"/> columns to read then have one record of these fields.
        /// </summary>
        internal Sources.Pinned PinOne(Field[][] table, int kind, out int count)
        {
            if (kind != Kind)
            {
                throw new ArgumentException("The columns are of another kind.", "columns");
            }
            Sources.Pinned pinned = Pin(table);
            count = 0;
            for (int field = 0; field < sources.Count; field++)
            {
                if (!sources[field].IsSet)
                {
                    continue;
                }
                if (sources[field].Capacity < 1)
                {
                    pinned.Dispose();
                    string text = fields[field].Name + " has no memory for an entity.";
                    throw new ArgumentException(text, "columns");
                }
                ToRead[count++] = ToRead[field];
            }
            return pinned;
        }

        /// <summary>
        /// Pins the memory of all fields that are set, until the result is disposed.
        /// </summary>
        /// <param name="table">The fields of all kinds of the object to read from.</param>
        /// <param name="capacity">The number of entities that all fields have memory for.</param>
        internal Sources.Pinned PinToWrite(Field[][] table, out UIntPtr capacity)
        {
            Sources.Pinned pinned = Pin(table);
            capacity = (UIntPtr)(ulong)sources.Capacity;
            return pinned;
        }

        private unsafe Sources.Pinned Pin(Field[][] table)
        {
            bool fits = Kind < table.Length
                && (table[Kind] == fields || Schema.HaveSameNumbers(table[Kind], fields));
            if (!fits)
            {
                throw new ArgumentException("The columns are of another schema.", "columns");
            }
            Sources.Pinned pinned = sources.Pin();
            for (int field = 0; field < sources.Count; field++)
            {
                Source source = sources[field];
                ToRead[field].data = ToWrite[field].data = (byte*)sources.Begins[field];
                ToRead[field].stride = ToWrite[field].stride = source.Stride;
                ToRead[field].number = ToWrite[field].number = (int)source.Number;
                ToRead[field].clamp = clamps[field] ? 1 : 0;
            }
            return pinned;
        }

        private static int IndexOf(Schema schema, string kind)
        {
            Require.NotNull(schema, nameof(schema));
            if (!schema.TryFindKind(kind, out int index))
            {
                throw new ArgumentException("The schema has no kind " + kind + ".", nameof(kind));
            }
            return index;
        }

        /// <summary>Sets the memory of a field of a stamp.</summary>
        private void PutSeen<T>(
            FieldKey field, T[] structs, int begin, string member, Number number)
            where T : struct
        {
            Set(field, structs, begin + Layout.OffsetOf<Seen>(member, null), number);
        }

        private Columns Put(int field, Source source)
        {
            sources.Set(field, source);
            return this;
        }
    }
}
