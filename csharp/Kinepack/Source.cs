using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>Where the numbers of a field are: in an array, or at a pointer.</summary>
    internal readonly struct Source
    {
        private readonly Array array;
        private readonly IntPtr data;
        private readonly long offsetBytes;
        private readonly long sizeBytes;
        private readonly long strideBytes;
        private readonly long entityBytes;

        /// <summary>The numbers are in an array of <paramref name="sizeBytes"/>.</summary>
        internal Source(
            Array array,
            long sizeBytes,
            long offsetBytes,
            long strideBytes,
            long entityBytes,
            Number number)
            : this(IntPtr.Zero, sizeBytes, strideBytes, entityBytes, number)
        {
            this.array = array;
            this.offsetBytes = offsetBytes;
        }

        /// <summary>The numbers are at a pointer to <paramref name="sizeBytes"/>.</summary>
        internal Source(
            IntPtr data, long sizeBytes, long strideBytes, long entityBytes, Number number)
        {
            array = null;
            offsetBytes = 0;
            this.data = data;
            this.sizeBytes = sizeBytes;
            this.strideBytes = strideBytes;
            this.entityBytes = entityBytes;
            Number = number;
        }

        internal bool IsSet => array != null || data != IntPtr.Zero;

        internal Number Number { get; }

        internal UIntPtr Stride => (UIntPtr)(ulong)strideBytes;

        /// <summary>The entities whose numbers are within the memory.</summary>
        internal long Capacity
        {
            get
            {
                long afterFirst = sizeBytes - offsetBytes - entityBytes;
                if (afterFirst < 0)
                {
                    return 0;
                }
                return strideBytes == 0 ? int.MaxValue : (afterFirst / strideBytes) + 1;
            }
        }

        /// <summary>
        /// The first number of the first entity. If the source before has the same array, that is
        /// pinned already, and begins at <paramref name="begin"/>.
        /// </summary>
        internal unsafe byte* Pin(in Source before, ref GCHandle pin, ref byte* begin)
        {
            if (array == null)
            {
                return (byte*)data;
            }
            if (before.array != array)
            {
                pin = GCHandle.Alloc(array, GCHandleType.Pinned);
                begin = (byte*)pin.AddrOfPinnedObject();
            }
            return begin + offsetBytes;
        }
    }
}
