using System;

namespace Kinepack
{
    public readonly partial struct Playback
    {
        /// <summary>The shown tick, with its fraction.</summary>
        public double Tick => tick;

        /// <summary>Whether no newer state had arrived when one was needed.</summary>
        public bool IsStarved => is_starved != 0;
    }

    public readonly partial struct Place
    {
        /// <summary>Whether the place is known. If not, all numbers are NaN.</summary>
        public bool IsKnown => !double.IsNaN(position_0);

        /// <summary>The position along the first axis, in the unit of the entity's field.</summary>
        public double X => position_0;

        /// <summary>The position along the second axis.</summary>
        public double Y => position_1;

        /// <summary>The position along the third axis.</summary>
        public double Z => position_2;

        /// <summary>The x of the rotation, a unit quaternion.</summary>
        public double RotationX => rotation_0;

        /// <summary>The y of the rotation.</summary>
        public double RotationY => rotation_1;

        /// <summary>The z of the rotation.</summary>
        public double RotationZ => rotation_2;

        /// <summary>The w of the rotation.</summary>
        public double RotationW => rotation_3;

        /// <summary>The velocity along the first axis, in units per second.</summary>
        public double VelocityX => velocity_0;

        /// <summary>The velocity along the second axis.</summary>
        public double VelocityY => velocity_1;

        /// <summary>The velocity along the third axis.</summary>
        public double VelocityZ => velocity_2;
    }

    /// <summary>
    /// A receiver, a viewer, a replay, or the past of a hub. The methods of this class read the
    /// entities and events of the moment that the last TryPlay computed, or the last rewind found.
    /// So one method of yours can read all four.
    /// </summary>
    public abstract class Shown : NativeObject
    {
        private ulong shown;
        private Field[][] table;
        private Field[][] eventTable;

        internal Shown()
        {
        }

        /// <summary>
        /// The handle of the shown state, for one call. The native library frees this handle with
        /// the object, so this throws after Dispose as <see cref="NativeObject.Id"/> does.
        /// </summary>
        internal ulong ShownId => Id != 0 ? shown : 0;

        /// <summary>Returns the number of shown entities of a kind.</summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        public unsafe int Count(int kind)
        {
            Status status = Native.kp_shown_ids(
                ShownId, (uint)kind, null, UIntPtr.Zero, out UIntPtr count);
            Succeeds(status, Status.Size);
            return Interop.ToSize(count);
        }

        /// <summary>Writes the ids of the shown entities of a kind, in increasing order.</summary>
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
                Check(Native.kp_shown_ids(
                    ShownId, (uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes for how long each entity of a kind has waited for a newer state, in milliseconds,
        /// in the order of their ids. 0 if a later state is known. The time counts as far as
        /// playback runs on: see <see cref="Receiver.SetExtrapolation"/>. An entity at rest also
        /// has no later state.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="timesMs">An array with at least <see cref="Count"/> elements.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadStarved(int kind, double[] timesMs)
        {
            Require.NotNull(timesMs, nameof(timesMs));
            fixed (double* first = timesMs)
            {
                UIntPtr capacity = (UIntPtr)timesMs.Length;
                Check(Native.kp_shown_starved(
                    ShownId, (uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the ids of the entities that the previous moment did not show, of all kinds.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadAdded(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_shown_added(ShownId, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the ids of the entities that only the previous moment showed, of all kinds.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadRemoved(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_shown_removed(ShownId, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the ids of the entities that jumped since the previous moment, of all kinds. An
        /// entity jumps if a field with <see cref="Role.Cut"/> is shown with another value than at
        /// the previous moment, so exactly one moment lists each jump. Entities that
        /// <see cref="ReadAdded"/> writes are never among them.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadCut(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_shown_cut(ShownId, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes where the shown entities of a kind are in the world, in the order of their ids.
        /// The kind has fields that <see cref="SchemaBuilder.Frame"/> made relative.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="places">An array with at least <see cref="Count"/> elements.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">
        /// No field of the kind is relative to an entity (<see cref="Status.Argument"/>), so
        /// <see cref="Read"/> writes where its entities are. Or the array is too short.
        /// </exception>
        public unsafe int ReadPlaces(int kind, Place[] places)
        {
            Require.NotNull(places, nameof(places));
            fixed (Place* first = places)
            {
                UIntPtr capacity = (UIntPtr)places.Length;
                Check(Native.kp_shown_places(
                    ShownId, (uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the numbers of the shown entities of a kind, in the order of their ids.
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
                Check(Native.kp_shown_read(ShownId, kind, capacity, to, fields));
            }
        }

        /// <summary>
        /// Takes the next event that is due at the shown moment. The next moment drops events that
        /// you did not take. Viewers have no events.
        /// </summary>
        /// <param name="next">The event. <see cref="ReadEvent"/> writes its numbers.</param>
        /// <returns>False if no event is due.</returns>
        public bool TryNextEvent(out Event next)
        {
            return Succeeds(Native.kp_shown_next_event(ShownId, out next), Status.Nothing);
        }

        /// <summary>
        /// Writes the numbers of the event that TryNextEvent returned last, on any thread.
        /// </summary>
        /// <param name="columns">
        /// Memory for one event of the event's kind. Fields without memory are skipped.
        /// </param>
        /// <exception cref="KinepackException">
        /// The event has another kind (<see cref="Status.Argument"/>), or no event was taken
        /// (<see cref="Status.Nothing"/>).
        /// </exception>
        public unsafe void ReadEvent(Columns columns)
        {
            Require.NotNull(columns, nameof(columns));
            using (columns.PinToWrite(eventTable, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            {
                if (capacity == UIntPtr.Zero)
                {
                    throw new ArgumentException("The columns have no memory.", nameof(columns));
                }
                uint kind = (uint)columns.Kind;
                UIntPtr fields = (UIntPtr)columns.ToWrite.Length;
                Check(Native.kp_shown_read_event(ShownId, kind, to, fields));
            }
        }

        /// <summary>
        /// Stores the handle of the shown state, and the fields of each kind, in a constructor.
        /// </summary>
        internal void Shows(Status status, ulong handle, Field[][] ofKinds, Field[][] ofEvents)
        {
            Check(status);
            shown = handle;
            table = ofKinds;
            eventTable = ofEvents ?? new Field[0][];
        }
    }
}
