using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>The location of a field's numbers: in an array, or at a pointer.</summary>
    internal readonly struct Source
    {
        private readonly Array array;
        private readonly IntPtr data;
        private readonly long offsetBytes;
        private readonly long sizeBytes;
        private readonly long strideBytes;
        private readonly long entityBytes;

        private Source(
            Array array,
            IntPtr data,
            long sizeBytes,
            long offsetBytes,
            long strideBytes,
            long entityBytes,
            Number number)
        {
            this.array = array;
            this.data = data;
            this.sizeBytes = sizeBytes;
            this.offsetBytes = offsetBytes;
            this.strideBytes = strideBytes;
            this.entityBytes = entityBytes;
            Number = number;
        }

        internal bool IsSet => array != null || data != IntPtr.Zero;

        internal Number Number { get; }

        internal UIntPtr Stride => (UIntPtr)(ulong)strideBytes;

        /// <summary>The number of entities for which the source has memory.</summary>
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
        /// Creates a source of an array of numbers, or of structs with <paramref name="numbers"/>
        /// numbers each.
        /// </summary>
        internal static Source Of<T>(T[] values, int numbers)
            where T : struct
        {
            Require.NotNull(values, nameof(values));
            Layout layout = Layout.Of<T>();
            bool mayBeSeveral = typeof(T).IsPrimitive || typeof(T).IsEnum;
            Number number = NumberOf(layout, mayBeSeveral ? layout.Count : numbers);
            long entity = (long)numbers * Numbers.SizeBytes(number);
            long size = (long)values.Length * layout.SizeBytes;
            return new Source(values, IntPtr.Zero, size, 0, entity, entity, number);
        }

        /// <summary>Creates a source of a field in an array of structs.</summary>
        internal static Source Of<T>(T[] structs, string member, int numbers)
            where T : struct
        {
            Require.NotNull(member, nameof(member));
            Layout layout = Layout.OfMember<T>(member, out int offsetBytes);
            return Of(structs, offsetBytes, NumberOf(layout, numbers), numbers);
        }

        /// <summary>Creates a source of consecutive numbers in an array of structs.</summary>
        internal static Source Of<T>(T[] structs, int offsetBytes, Number number, int numbers)
            where T : struct
        {
            Require.NotNull(structs, nameof(structs));
            Layout layout = Layout.Of<T>();
            long entity = (long)numbers * Numbers.SizeBytes(number);
            if (offsetBytes < 0 || offsetBytes + entity > layout.SizeBytes)
            {
                string text = "The numbers are not within the struct.";
                throw new ArgumentOutOfRangeException(nameof(offsetBytes), offsetBytes, text);
            }
            long size = (long)structs.Length * layout.SizeBytes;
            return new Source(
                structs, IntPtr.Zero, size, offsetBytes, layout.SizeBytes, entity, number);
        }

        /// <summary>Creates a source of memory that does not move.</summary>
        internal static Source Of(
            IntPtr data, long sizeBytes, int strideBytes, Number number, int numbers)
        {
            if (data == IntPtr.Zero)
            {
                throw new ArgumentNullException(nameof(data));
            }
            Require.NotNegative(sizeBytes, nameof(sizeBytes));
            Require.NotNegative(strideBytes, nameof(strideBytes));
            long entity = (long)numbers * Numbers.SizeBytes(number);
            return new Source(null, data, sizeBytes, 0, strideBytes, entity, number);
        }

        /// <summary>
        /// Returns the address of the first number of the first entity. If the previous source has
        /// the same array, the array is already pinned, and begins at <paramref name="begin"/>.
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

        /// <summary>
        /// Returns the type of a layout's numbers. Throws unless the layout has <paramref
        /// name="numbers"/> numbers.
        /// </summary>
        private static Number NumberOf(Layout layout, int numbers)
        {
            if (layout.Number == null || layout.Count != numbers)
            {
                throw new ArgumentException("It must have " + numbers + " numbers of one type.");
            }
            return layout.Number.Value;
        }
    }
}
