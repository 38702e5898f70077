using System;
using System.Text;

namespace Kinepack
{
    /// <summary>Checks arguments before a pointer is passed to the native library.</summary>
    internal static class Require
    {
        internal static void NotNull(object argument, string name)
        {
            if (argument == null)
            {
                throw new ArgumentNullException(name);
            }
        }

        internal static void NotNegative(long value, string name)
        {
            if (value < 0)
            {
                throw new ArgumentOutOfRangeException(name, value, "It is negative.");
            }
        }

        internal static void AtMost(int value, int most, string name)
        {
            if (value > most)
            {
                throw new ArgumentOutOfRangeException(name, value, "It is above " + most + ".");
            }
        }

        /// <summary>Checks that an array has at least <paramref name="count"/> elements.</summary>
        internal static void Holds(Array array, int count, string name)
        {
            NotNull(array, name);
            if (count < 0 || count > array.Length)
            {
                string text = "The array has " + array.Length + " elements, not " + count + ".";
                throw new ArgumentOutOfRangeException(name, text);
            }
        }

        /// <summary>
        /// Checks a part of an array. Also refuses a segment that another thread was changing
        /// meanwhile.
        /// </summary>
        internal static void Holds(ArraySegment<byte> segment, string name)
        {
            NotNull(segment.Array, name);
            long end = (long)segment.Offset + segment.Count;
            if (segment.Offset < 0 || segment.Count < 0 || end > segment.Array.Length)
            {
                throw new ArgumentOutOfRangeException(name, "The segment exceeds its array.");
            }
        }
    }

    /// <summary>Converts texts and sizes for the native library.</summary>
    internal static class Interop
    {
        private static readonly Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>Returns a text as UTF-8 with a terminating zero.</summary>
        internal static byte[] ToText(string text, string name)
        {
            Require.NotNull(text, name);
            if (text.IndexOf('\0') >= 0)
            {
                throw new ArgumentException("The text contains the character 0.", name);
            }
            return Strict.GetBytes(text + '\0');
        }

        internal static int ToSize(UIntPtr size)
        {
            return checked((int)(ulong)size);
        }

        /// <summary>
        /// Returns whether a call succeeded. Throws after any failure except the expected one.
        /// </summary>
        internal static bool Succeeds(Status status, Status expected)
        {
            if (status == expected)
            {
                return false;
            }
            KinepackException.Check(status);
            return true;
        }

        /// <summary>
        /// Returns whether the bytes fitted into the array. The size is set in either case.
        /// </summary>
        internal static bool Fits(Status status, UIntPtr written, out int size)
        {
            bool fits = Succeeds(status, Status.Size);
            size = ToSize(written);
            return fits;
        }
    }
}
