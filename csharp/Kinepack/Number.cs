using System;

namespace Kinepack
{
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

        /// <summary>Returns the number type of a primitive type, or null.</summary>
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
