using System;

namespace Kinepack
{
    /// <summary>The type of a number in memory.</summary>
    public enum Number
    {
        /// <summary><c>float</c></summary>
        F32 = 0,

        /// <summary><c>double</c></summary>
        F64 = 1,

        /// <summary><c>sbyte</c></summary>
        I8 = 2,

        /// <summary><c>short</c></summary>
        I16 = 3,

        /// <summary><c>int</c></summary>
        I32 = 4,

        /// <summary><c>long</c></summary>
        I64 = 5,

        /// <summary><c>byte</c>, and flags that are 0 or 1</summary>
        U8 = 6,

        /// <summary><c>ushort</c></summary>
        U16 = 7,

        /// <summary><c>uint</c></summary>
        U32 = 8,

        /// <summary><c>ulong</c></summary>
        U64 = 9,
    }

    /// <summary>The sizes of numbers, and their types in C#.</summary>
    internal static class Numbers
    {
        private static readonly int[] Sizes = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };

        internal static int SizeBytes(Number number)
        {
            if (number < Number.F32 || number > Number.U64)
            {
                throw new ArgumentOutOfRangeException(nameof(number), number, "It is no Number.");
            }
            return Sizes[(int)number];
        }

        /// <summary>The number that a primitive type is, or null.</summary>
        internal static Number? Of(Type primitive)
        {
            switch (Type.GetTypeCode(primitive))
            {
                case TypeCode.Single: return Number.F32;
                case TypeCode.Double: return Number.F64;
                case TypeCode.SByte: return Number.I8;
                case TypeCode.Int16: return Number.I16;
                case TypeCode.Int32: return Number.I32;
                case TypeCode.Int64: return Number.I64;
                case TypeCode.Byte: return Number.U8;
                case TypeCode.UInt16: return Number.U16;
                case TypeCode.UInt32: return Number.U32;
                case TypeCode.UInt64: return Number.U64;
                default: return null;
            }
        }
    }
}
