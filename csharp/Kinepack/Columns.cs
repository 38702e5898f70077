using System;

namespace Kinepack
{
    /// <summary>
    /// Says where the numbers of a kind's fields are in your memory: for each field an array, a
    /// field of an array of structs, or a pointer. Snapshots read entities from there. Snapshots
    /// and receivers write entities to there.
    /// </summary>
    /// <remarks>
    /// Create columns once and use them each tick, because a use allocates nothing. Call Set again
    /// if you replace an array. The columns keep your arrays alive, and pin them only during a
    /// call. If two threads use the same columns, the second one waits.
    /// </remarks>
    public sealed class Columns
    {
        private readonly Field[] fields;
        private readonly Sources sources;
        private readonly bool[] clamps;

        /// <summary>Creates columns for a kind, without memory yet.</summary>
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

        /// <summary>Creates columns for the kind with a name, without memory yet.</summary>
        /// <param name="schema">The schema of the snapshots and receivers.</param>
        /// <param name="kind">The name of the kind.</param>
        public Columns(Schema schema, string kind)
            : this(schema, IndexOf(schema, kind))
        {
        }

        /// <summary>The index of the kind.</summary>
        public int Kind { get; }

        /// <summary>
        /// The description for the native library, valid while the memory is pinned.
        /// </summary>
        internal Native.KpColumn[] ToRead { get; }

        internal Native.KpTarget[] ToWrite { get; }

        /// <summary>
        /// Sets the memory of a field to an array: of numbers, one entity after the other, or of
        /// structs of equal numbers such as a vector.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="values">
        /// Numbers (for a position 3 for each entity) or structs (1 for each entity). Real numbers
        /// and rotations take float and double. All other fields take integers.
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
        /// Sets the memory of a field to memory that does not move. That must stay valid until you
        /// set the field to other memory.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="data">
        /// The first number of the first entity. Numbers need no alignment.
        /// </param>
        /// <param name="sizeBytes">The bytes of the memory from there.</param>
        /// <param name="strideBytes">
        /// The bytes from one entity to the next. With 0, all entities have the same numbers.
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
        /// Skips a field when entities are read. Columns with a skipped field cannot add entities.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        public Columns Skip(FieldKey field)
        {
            return Put(field.In(fields), default(Source));
        }

        /// <summary>
        /// Sets whether values out of a field's range are clamped when entities are added. By
        /// default they are an error.
        /// </summary>
        /// <param name="field">The index or the name of the field.</param>
        /// <param name="clamps">True to clamp.</param>
        public Columns Clamp(FieldKey field, bool clamps = true)
        {
            this.clamps[field.In(fields)] = clamps;
            return this;
        }

        /// <summary>
        /// Pins the memory of all fields, until the result is disposed, to add
        /// <paramref name="count"/> entities.
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

        private Columns Put(int field, Source source)
        {
            sources.Set(field, source);
            return this;
        }
    }
}
