using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// A single number, coded relative to one that both sides hold, for messages of your own that
    /// need no schema. Both sides need the same limits and small differences.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Value
    {
        private readonly int kind;
        private int hasSmall;
        private readonly double min;
        private readonly double max;
        private readonly double precision;
        private double least;
        private double most;
        private double before;
        private double current;

        private Value(int kind, double min, double max, double precision)
            : this()
        {
            this.kind = kind;
            this.min = min;
            this.max = max;
            this.precision = precision;
        }

        /// <summary>What both sides hold.</summary>
        public double Before
        {
            get => before;
            set => before = value;
        }

        /// <summary>The number to write, or that was read.</summary>
        public double Current
        {
            get => current;
            set => current = value;
        }

        /// <summary>A real number with limits.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="max">The largest value, in your unit.</param>
        /// <param name="precision">The step, in your unit. The error is at most half of it.</param>
        public static Value Real(double min, double max, double precision)
        {
            return new Value(0, min, max, precision);
        }

        /// <summary>A real number on a circle, such as an angle.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that means the same as <paramref name="min"/>.</param>
        /// <param name="precision">The step, in your unit. The error is at most half of it.</param>
        public static Value Cyclic(double min, double end, double precision)
        {
            return new Value(1, min, end, precision);
        }

        /// <summary>An integer with limits.</summary>
        /// <param name="min">The least value, from -2^53.</param>
        /// <param name="max">The largest value, up to 2^53.</param>
        public static Value Integer(long min, long max)
        {
            return new Value(2, min, max, 0.0);
        }

        /// <summary>
        /// The same, with few bits for small differences. An unchanged number takes 1 bit, a small
        /// difference 2 bits and its own, any other number 2 bits and a whole code. Without small
        /// differences, a changed number takes 1 bit and a whole code.
        /// </summary>
        /// <param name="least">The least small difference, in your unit.</param>
        /// <param name="most">The largest small difference, in your unit.</param>
        public Value WithSmall(double least, double most)
        {
            Value with = this;
            with.hasSmall = 1;
            with.least = least;
            with.most = most;
            return with;
        }
    }

    /// <summary>Writes and reads single values.</summary>
    public static class Values
    {
        /// <summary>
        /// Writes values relative to their <see cref="Value.Before"/>. To know what the receiver
        /// will hold, read the bytes with <see cref="TryRead"/>.
        /// </summary>
        /// <param name="values">The values.</param>
        /// <param name="count">How many of them, from 0 to the length of the array.</param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">The bytes of the values, also if the array is too short.</param>
        /// <returns>False if the array is too short.</returns>
        /// <exception cref="KinepackException">A value is not within its limits.</exception>
        public static unsafe bool TryWrite(Value[] values, int count, byte[] bytes, out int size)
        {
            Library.RequireAbi();
            Require.Holds(values, count, nameof(values));
            Require.NotNull(bytes, nameof(bytes));
            fixed (Value* first = values)
            fixed (byte* to = bytes)
            {
                UIntPtr capacity = (UIntPtr)bytes.Length;
                Status status = Native.kp_values_write(
                    first, (UIntPtr)count, to, capacity, out UIntPtr written);
                return Interop.Fits(status, written, out size);
            }
        }

        /// <summary>
        /// Reads values that <see cref="TryWrite"/> wrote, into their <see cref="Value.Current"/>.
        /// </summary>
        /// <param name="values">
        /// The values, with the same limits and the same numbers before.
        /// </param>
        /// <param name="count">How many of them, from 0 to the length of the array.</param>
        /// <param name="bytes">An array that begins with the bytes of the values.</param>
        /// <param name="size">How many bytes.</param>
        /// <returns>False if the bytes are not valid. Then no value has changed.</returns>
        public static unsafe bool TryRead(Value[] values, int count, byte[] bytes, int size)
        {
            Library.RequireAbi();
            Require.Holds(values, count, nameof(values));
            Require.Holds(bytes, size, nameof(bytes));
            fixed (Value* first = values)
            fixed (byte* from = bytes)
            {
                Status status = Native.kp_values_read(first, (UIntPtr)count, from, (UIntPtr)size);
                return Interop.Succeeds(status, Status.Data);
            }
        }
    }
}
