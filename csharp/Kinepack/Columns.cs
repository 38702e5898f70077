using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Kinepack
{
    /// <summary>
    /// Says where the numbers of a kind's fields are in your memory: for each field an array, a
    /// field of an array of structs, or a pointer. Snapshots read entities from there. Snapshots
    /// and receivers write entities to there.
    /// </summary>
    /// <remarks>
    /// Make it once and use it each tick: a use allocates nothing. Call Set again if you replace an
    /// array. The columns keep your arrays alive, and pin them only during a call. If two threads
    /// use the same columns, the second one waits.
    /// </remarks>
    public sealed class Columns
    {
        private readonly Field[] fields;
        private readonly Source[] sources;
        private readonly bool[] clamps;
        private readonly GCHandle[] pins;

        /// <summary>Columns for a kind, without memory yet.</summary>
        /// <param name="schema">The schema of the snapshots and receivers.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        public Columns(Schema schema, int kind = 0)
        {
            Require.NotNull(schema, nameof(schema));
            fields = Schema.OfKind(schema.Table, kind);
            Kind = kind;
            sources = new Source[fields.Length];
            clamps = new bool[fields.Length];
            pins = new GCHandle[fields.Length];
            ToRead = new Native.KpColumn[fields.Length];
            ToWrite = new Native.KpTarget[fields.Length];
        }

        /// <summary>The index of the kind.</summary>
        public int Kind { get; }

        /// <summary>What the native library gets, valid while the memory is pinned.</summary>
        internal Native.KpColumn[] ToRead { get; }

        internal Native.KpTarget[] ToWrite { get; }

        /// <summary>
        /// The numbers of a field are an array: numbers, one entity after the other, or structs of
        /// equal numbers such as a vector.
        /// </summary>
        /// <param name="field">The index of the field in its kind.</param>
        /// <param name="values">
        /// Numbers (for a position 3 for each entity) or structs (1 for each entity). Real numbers
        /// and rotations take float and double. All other fields take integers.
        /// </param>
        public Columns Set<T>(int field, T[] values)
            where T : struct
        {
            Require.NotNull(values, nameof(values));
            Layout layout = Layout.Of<T>();
            Number number = NumberOf(field, layout, typeof(T).IsPrimitive || typeof(T).IsEnum);
            long entity = EntityBytes(field, number);
            long size = (long)values.Length * layout.SizeBytes;
            return Put(field, new Source(values, size, 0, entity, entity, number));
        }

        /// <summary>The numbers of a field are a field of an array of structs.</summary>
        /// <param name="field">The index of the field in its kind.</param>
        /// <param name="structs">One struct for each entity.</param>
        /// <param name="member">
        /// The name of the struct's field: a number, a struct of equal numbers, or a fixed buffer.
        /// </param>
        public Columns Set<T>(int field, T[] structs, string member)
            where T : struct
        {
            Require.NotNull(member, nameof(member));
            Layout layout = Layout.OfMember<T>(member, out int offsetBytes);
            return Set(field, structs, offsetBytes, NumberOf(field, layout, false));
        }

        /// <summary>
        /// The numbers of a field are consecutive numbers in an array of structs.
        /// </summary>
        /// <param name="field">The index of the field in its kind.</param>
        /// <param name="structs">One struct for each entity.</param>
        /// <param name="offsetBytes">
        /// The bytes from the begin of a struct to the first number.
        /// </param>
        /// <param name="number">The type of the numbers.</param>
        public Columns Set<T>(int field, T[] structs, int offsetBytes, Number number)
            where T : struct
        {
            Require.NotNull(structs, nameof(structs));
            Layout layout = Layout.Of<T>();
            long entity = EntityBytes(field, number);
            if (offsetBytes < 0 || offsetBytes + entity > layout.SizeBytes)
            {
                string text = "The numbers are not within the struct.";
                throw new ArgumentOutOfRangeException(nameof(offsetBytes), offsetBytes, text);
            }
            long size = (long)structs.Length * layout.SizeBytes;
            return Put(
                field, new Source(structs, size, offsetBytes, layout.SizeBytes, entity, number));
        }

        /// <summary>
        /// The numbers of a field are in memory that does not move. It must stay valid until you
        /// set the field to other memory.
        /// </summary>
        /// <param name="field">The index of the field in its kind.</param>
        /// <param name="data">The first number of the first entity. It needs no alignment.</param>
        /// <param name="sizeBytes">The bytes of the memory from there.</param>
        /// <param name="strideBytes">
        /// The bytes from one entity to the next. With 0, all entities have the same numbers.
        /// </param>
        /// <param name="number">The type of the numbers.</param>
        public Columns Set(int field, IntPtr data, long sizeBytes, int strideBytes, Number number)
        {
            if (data == IntPtr.Zero)
            {
                throw new ArgumentNullException(nameof(data));
            }
            Require.NotNegative(sizeBytes, nameof(sizeBytes));
            Require.NotNegative(strideBytes, nameof(strideBytes));
            long entity = EntityBytes(field, number);
            return Put(field, new Source(data, sizeBytes, strideBytes, entity, number));
        }

        /// <summary>
        /// Leaves a field out when entities are read. These columns cannot add entities then.
        /// </summary>
        /// <param name="field">The index of the field in its kind.</param>
        public Columns Skip(int field)
        {
            FieldAt(field);
            return Put(field, default(Source));
        }

        /// <summary>
        /// Says whether values beyond a field's limits become the nearest limit when entities are
        /// added. By default they are an error.
        /// </summary>
        /// <param name="field">The index of the field in its kind.</param>
        /// <param name="clamps">True to clamp.</param>
        public Columns Clamp(int field, bool clamps = true)
        {
            FieldAt(field);
            lock (sources)
            {
                this.clamps[field] = clamps;
            }
            return this;
        }

        /// <summary>
        /// Pins the memory of all fields, until the result is disposed, to add
        /// <paramref name="count"/> entities.
        /// </summary>
        internal Pinned PinToRead(Field[][] table, int count)
        {
            Pinned pinned = Pin(table);
            for (int field = 0; field < sources.Length; field++)
            {
                if (!sources[field].IsSet || sources[field].Capacity < count)
                {
                    pinned.Dispose();
                    string text = "Field " + field + " has no memory for " + count + " entities.";
                    throw new ArgumentException(text, "columns");
                }
            }
            return pinned;
        }

        /// <summary>
        /// Pins the memory of all fields that are set, until the result is disposed.
        /// </summary>
        /// <param name="table">The fields of all kinds of the object to read from.</param>
        /// <param name="capacity">The entities that all fields have memory for.</param>
        internal Pinned PinToWrite(Field[][] table, out UIntPtr capacity)
        {
            Pinned pinned = Pin(table);
            long least = int.MaxValue;
            foreach (Source source in sources)
            {
                least = source.IsSet ? Math.Min(least, source.Capacity) : least;
            }
            capacity = (UIntPtr)(ulong)least;
            return pinned;
        }

        private unsafe Pinned Pin(Field[][] table)
        {
            bool fits = Kind < table.Length
                && (table[Kind] == fields || Schema.HaveSameNumbers(table[Kind], fields));
            if (!fits)
            {
                throw new ArgumentException("The columns are of another schema.", "columns");
            }
            Monitor.Enter(sources);
            Pinned pinned = new Pinned(this);
            try
            {
                byte* begin = null;
                Source before = default(Source);
                for (int field = 0; field < sources.Length; field++)
                {
                    Source source = sources[field];
                    byte* data = source.Pin(before, ref pins[field], ref begin);
                    before = source;
                    ToRead[field].data = ToWrite[field].data = data;
                    ToRead[field].stride = ToWrite[field].stride = source.Stride;
                    ToRead[field].number = ToWrite[field].number = source.Number;
                    ToRead[field].clamp = clamps[field] ? 1 : 0;
                }
                return pinned;
            }
            catch
            {
                pinned.Dispose();
                throw;
            }
        }

        private void Unpin()
        {
            for (int field = 0; field < pins.Length; field++)
            {
                if (pins[field].IsAllocated)
                {
                    pins[field].Free();
                }
            }
            Monitor.Exit(sources);
        }

        private Columns Put(int field, in Source source)
        {
            lock (sources)
            {
                sources[field] = source;
            }
            return this;
        }

        private Field FieldAt(int field)
        {
            if (field < 0 || field >= fields.Length)
            {
                string text = "The kind has " + fields.Length + " fields.";
                throw new ArgumentOutOfRangeException(nameof(field), field, text);
            }
            return fields[field];
        }

        private long EntityBytes(int field, Number number)
        {
            return (long)FieldAt(field).Numbers * Numbers.SizeBytes(number);
        }

        /// <summary>
        /// The type of the numbers of a layout, which must have as many as the field.
        /// </summary>
        private Number NumberOf(int field, Layout layout, bool mayBeSeveral)
        {
            int needed = FieldAt(field).Numbers;
            if (layout.Number == null || (layout.Count != needed && !mayBeSeveral))
            {
                string text = "Field " + field + " needs " + needed + " numbers of one type.";
                throw new ArgumentException(text);
            }
            return layout.Number.Value;
        }

        /// <summary>Memory that is pinned until Dispose.</summary>
        internal struct Pinned : IDisposable
        {
            private readonly Columns owner;

            internal Pinned(Columns owner)
            {
                this.owner = owner;
            }

            public void Dispose() => owner.Unpin();
        }
    }
}
