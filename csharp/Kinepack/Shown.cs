using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>What is shown.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Playback
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly double tick;
        private readonly int isStarved;
#pragma warning restore 0649

        /// <summary>The tick that is shown, with its fraction.</summary>
        public double Tick => tick;

        /// <summary>Whether a newer state was needed but has not arrived.</summary>
        public bool IsStarved => isStarved != 0;
    }

    /// <summary>
    /// The entities that a receiver, a viewer or a replay shows at the moment of its last TryPlay.
    /// </summary>
    public abstract class ShownEntities : NativeObject
    {
        private Field[][] table;

        internal ShownEntities()
        {
        }

        /// <summary>The number of entities of a kind that are shown.</summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        public unsafe int Count(int kind)
        {
            Status status = Ids((uint)kind, null, UIntPtr.Zero, out UIntPtr count);
            Succeeds(status, Status.Size);
            return Interop.ToSize(count);
        }

        /// <summary>
        /// Writes the ids of the entities of a kind that are shown, which increase.
        /// </summary>
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
                Check(Ids((uint)kind, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Writes the numbers of the entities of a kind that are shown, in the order of their ids.
        /// </summary>
        /// <param name="columns">The memory of the fields to write. Others are skipped.</param>
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
                Check(Rows(kind, capacity, to, fields));
            }
        }

        /// <summary>Takes the fields of each kind, in a constructor.</summary>
        internal void Shows(Field[][] ofKinds)
        {
            table = ofKinds;
        }

        internal abstract unsafe Status Ids(
            uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        internal abstract unsafe Status Rows(
            uint kind, UIntPtr capacity, Native.KpTarget* targets, UIntPtr targetCount);
    }

    /// <summary>
    /// What a receiver or a replay shows at the moment of its last TryPlay: entities, and events
    /// that are due.
    /// </summary>
    public abstract class Shown : ShownEntities
    {
        private Field[][] eventTable;

        internal Shown()
        {
        }

        /// <summary>
        /// Takes the next event that is due at the moment that is shown. The next moment drops
        /// events that you did not take.
        /// </summary>
        /// <param name="next">The event. <see cref="ReadEvent"/> gives its numbers.</param>
        /// <returns>False if there is none.</returns>
        public bool TryNextEvent(out Event next)
        {
            return Succeeds(NextEvent(out next), Status.Nothing);
        }

        /// <summary>
        /// Writes the numbers of the event that TryNextEvent gave last, to any thread.
        /// </summary>
        /// <param name="columns">
        /// Memory for one event, of the kind of the event. Fields without memory are skipped.
        /// </param>
        /// <exception cref="KinepackException">
        /// The event is of another kind (<see cref="Status.Argument"/>), or none was taken
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
                Check(EventNumbers(kind, to, (UIntPtr)columns.ToWrite.Length));
            }
        }

        /// <summary>Takes the fields of each kind, in a constructor.</summary>
        internal void Shows(Field[][] ofKinds, Field[][] ofEvents)
        {
            Shows(ofKinds);
            eventTable = ofEvents ?? new Field[0][];
        }

        internal abstract Status NextEvent(out Event next);

        internal abstract unsafe Status EventNumbers(
            uint kind, Native.KpTarget* targets, UIntPtr targetCount);
    }
}
