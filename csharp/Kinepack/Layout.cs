using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// The layout of a type in memory. Only types of plain numbers are accepted. A reference must
    /// not reach native code, and a bool or char has another size in native code than in C#.
    /// </summary>
    internal sealed class Layout
    {
        private Layout(int sizeBytes, Number? number, int count)
        {
            SizeBytes = sizeBytes;
            Number = number;
            Count = count;
        }

        /// <summary>The number of bytes from one element of an array to the next.</summary>
        internal int SizeBytes { get; }

        /// <summary>The type of the numbers, or null if the numbers have different types.</summary>
        internal Number? Number { get; }

        /// <summary>The count of numbers of that type, or 0 if they have different types.</summary>
        internal int Count { get; }

        /// <summary>Returns the layout of a type. It is cached after the first call.</summary>
        internal static Layout Of<T>()
            where T : struct
        {
            return Remembered<T>.Layout ?? (Remembered<T>.Layout = Measure(typeof(T)));
        }

        /// <summary>Returns the layout of a struct's field, and the offset of that field.</summary>
        internal static Layout OfMember<T>(string member, out int offsetBytes)
            where T : struct
        {
            FieldInfo found = Find<T>(member);
            offsetBytes = (int)Marshal.OffsetOf(typeof(T), member);
            return Measure(found.FieldType);
        }

        /// <summary>
        /// Returns the offset of a struct's field, which has this type unless it is null.
        /// </summary>
        internal static int OffsetOf<T>(string member, Type type)
            where T : struct
        {
            FieldInfo found = Find<T>(member);
            if (type != null && found.FieldType != type)
            {
                string text = member + " is not a " + type.Name + ".";
                throw new ArgumentException(text, nameof(member));
            }
            return (int)Marshal.OffsetOf(typeof(T), member);
        }

        private static FieldInfo Find<T>(string member)
            where T : struct
        {
            Of<T>();
            const BindingFlags Any =
                BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
            FieldInfo found = typeof(T).GetField(member, Any);
            if (found == null)
            {
                string text = typeof(T).Name + " has no field " + member + ".";
                throw new ArgumentException(text, nameof(member));
            }
            return found;
        }

        private static Layout Measure(Type type)
        {
            Number? number = null;
            bool isMixed = false;
            Walk(type, type, ref number, ref isMixed);
            int sizeBytes = Marshal.SizeOf(type.IsEnum ? Enum.GetUnderlyingType(type) : type);
            if (sizeBytes != Distance(type))
            {
                throw new ArgumentException(type.Name + " has another size in native memory.");
            }
            if (isMixed || number == null)
            {
                return new Layout(sizeBytes, null, 0);
            }
            return new Layout(sizeBytes, number, sizeBytes / Numbers.SizeBytes(number.Value));
        }

        /// <summary>Visits all numbers of a type.</summary>
        private static void Walk(Type type, Type whole, ref Number? number, ref bool isMixed)
        {
            if (type.IsPrimitive || type.IsEnum)
            {
                Number? found = Numbers.Of(type);
                if (found == null)
                {
                    throw Refused(type, whole);
                }
                isMixed |= number != null && number != found;
                number = found;
                return;
            }
            if (!type.IsValueType || type.IsAutoLayout)
            {
                throw Refused(type, whole);
            }
            const BindingFlags All =
                BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
            foreach (FieldInfo field in type.GetFields(All))
            {
                Walk(field.FieldType, whole, ref number, ref isMixed);
            }
        }

        /// <summary>Returns the number of bytes from one element of an array to the next.</summary>
        private static long Distance(Type type)
        {
            Array two = Array.CreateInstance(type, 2);
            GCHandle pin = GCHandle.Alloc(two, GCHandleType.Pinned);
            try
            {
                return (long)Marshal.UnsafeAddrOfPinnedArrayElement(two, 1)
                    - (long)Marshal.UnsafeAddrOfPinnedArrayElement(two, 0);
            }
            finally
            {
                pin.Free();
            }
        }

        private static ArgumentException Refused(Type type, Type whole)
        {
            string inside = type == whole ? string.Empty : " in " + whole.Name;
            return new ArgumentException(
                type.Name + inside + " is not a plain number. Use byte for bool, or a pointer.");
        }

        private static class Remembered<T>
        {
            internal static Layout Layout;
        }
    }
}
