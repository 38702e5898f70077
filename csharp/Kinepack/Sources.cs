using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Kinepack
{
    /// <summary>
    /// Several sources of numbers, which are pinned together during a call. If two threads use the
    /// same object, the second one waits.
    /// </summary>
    internal sealed class Sources
    {
        private readonly Source[] list;
        private readonly GCHandle[] pins;

        internal Sources(int count)
        {
            list = new Source[count];
            pins = new GCHandle[count];
            Begins = new IntPtr[count];
        }

        internal int Count => list.Length;

        /// <summary>
        /// The addresses of the numbers while they are pinned. 0 for a source without memory.
        /// </summary>
        internal IntPtr[] Begins { get; }

        /// <summary>The number of rows for which all set sources have memory.</summary>
        internal long Capacity
        {
            get
            {
                long least = int.MaxValue;
                foreach (Source source in list)
                {
                    least = source.IsSet ? Math.Min(least, source.Capacity) : least;
                }
                return least;
            }
        }

        internal Source this[int nth] => list[nth];

        internal void Set(int nth, Source source)
        {
            lock (list)
            {
                list[nth] = source;
            }
        }

        /// <summary>
        /// Pins all memory, and blocks other threads, until the result is disposed.
        /// </summary>
        internal unsafe Pinned Pin()
        {
            Monitor.Enter(list);
            Pinned pinned = new Pinned(this);
            try
            {
                byte* begin = null;
                Source before = default(Source);
                for (int nth = 0; nth < list.Length; nth++)
                {
                    Begins[nth] = (IntPtr)list[nth].Pin(before, ref pins[nth], ref begin);
                    before = list[nth];
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
            for (int nth = 0; nth < pins.Length; nth++)
            {
                if (pins[nth].IsAllocated)
                {
                    pins[nth].Free();
                }
            }
            Monitor.Exit(list);
        }

        /// <summary>Memory that is pinned until Dispose.</summary>
        internal struct Pinned : IDisposable
        {
            private readonly Sources owner;

            internal Pinned(Sources owner)
            {
                this.owner = owner;
            }

            public void Dispose() => owner.Unpin();
        }
    }
}
