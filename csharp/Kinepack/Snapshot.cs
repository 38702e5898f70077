using System;

namespace Kinepack
{
    /// <summary>The quantized state of all entities at one tick.</summary>
    public sealed class Snapshot : NativeObject
    {
        private readonly Field[][] table;

        /// <summary>Creates a snapshot without entities, at tick 0.</summary>
        /// <param name="schema">The schema of the entities.</param>
        public Snapshot(Schema schema)
        {
            Require.NotNull(schema, nameof(schema));
            schema.Check(Native.kp_snapshot_new(schema.Id, out ulong made));
            Own(made);
            table = schema.Table;
        }

        /// <summary>The tick of the snapshot.</summary>
        public uint Tick
        {
            get
            {
                Check(Native.kp_snapshot_tick(Id, out uint tick));
                return tick;
            }
        }

        /// <summary>
        /// A hash of the entities, without the tick. Equal states have equal hashes.
        /// </summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_snapshot_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>Removes all entities, and sets the tick. Keeps the memory for reuse.</summary>
        /// <param name="tick">The new tick.</param>
        public void Clear(uint tick)
        {
            Check(Native.kp_snapshot_clear(Id, tick));
        }

        /// <summary>
        /// Adds entities of a kind. Add the kinds in their order. Numbers are quantized. If a field
        /// is absent for an entity, the entity's numbers in that column are not read.
        /// </summary>
        /// <param name="ids">
        /// The ids of the entities, in increasing order, and above the ids of the previous kind.
        /// </param>
        /// <param name="count">The number of entities, from 0 to the length of the arrays.</param>
        /// <param name="columns">The memory of every field of the kind.</param>
        /// <exception cref="KinepackException">
        /// A value is out of its range (<see cref="Status.Value"/>), or an argument is wrong. The
        /// snapshot is unchanged.
        /// </exception>
        public unsafe void Add(uint[] ids, int count, Columns columns)
        {
            Require.Holds(ids, count, nameof(ids));
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToRead(table, count))
            fixed (uint* first = ids)
            fixed (Native.KpColumn* from = columns.ToRead)
            {
                uint kind = (uint)columns.Kind;
                UIntPtr fields = (UIntPtr)columns.ToRead.Length;
                Check(Native.kp_snapshot_add(Id, kind, first, (UIntPtr)count, from, fields));
            }
        }

        /// <summary>Returns the number of entities of a kind.</summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        public int Count(int kind)
        {
            Check(Native.kp_snapshot_count(Id, (uint)kind, out UIntPtr count));
            return Interop.ToSize(count);
        }

        /// <summary>Writes the ids of a kind's entities, in increasing order.</summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="ids">An array with at least <see cref="Count"/> elements.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadIds(int kind, uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_snapshot_ids(
                    Id, (uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the numbers of the entities of a kind, in the order of their ids. If a field is
        /// absent for an entity, its numbers are 0.
        /// </summary>
        /// <param name="columns">
        /// The memory of the fields to write. Fields without memory are skipped.
        /// </param>
        /// <exception cref="KinepackException">
        /// The memory is too small, or a type does not hold all values of its field.
        /// </exception>
        public unsafe void Read(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToWrite(table, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            {
                uint kind = (uint)columns.Kind;
                UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                Check(Native.kp_snapshot_read(Id, kind, capacity, to, fields));
            }
        }

        internal Field[][] Table => table;

        internal override Status Free(ulong freed) => Native.kp_snapshot_free(freed);
    }
}
