using System;

namespace Kinepack
{
    public partial struct Value
    {
        private Value(ValueKind kind, double min, double max, double precision)
            : this()
        {
            this.kind = (int)kind;
            this.min = min;
            this.max = max;
            this.precision = precision;
        }

        /// <summary>The number that both sides hold.</summary>
        public double Before
        {
            get => before;
            set => before = value;
        }

        /// <summary>The number to write, or the number read.</summary>
        public double Current
        {
            get => this.value;
            set => this.value = value;
        }

        /// <summary>A real number with limits.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="max">The largest value, in your unit.</param>
        /// <param name="precision">
        /// The step, in your unit. The error is at most half a step.
        /// </param>
        public static Value Real(double min, double max, double precision)
        {
            return new Value(ValueKind.Real, min, max, precision);
        }

        /// <summary>A real number on a circle, such as an angle.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that is equivalent to <paramref name="min"/>.</param>
        /// <param name="precision">
        /// The step, in your unit. The error is at most half a step.
        /// </param>
        public static Value Cyclic(double min, double end, double precision)
        {
            return new Value(ValueKind.Cyclic, min, end, precision);
        }

        /// <summary>An integer with limits.</summary>
        /// <param name="min">The least value, from -2^53.</param>
        /// <param name="max">The largest value, up to 2^53.</param>
        public static Value Integer(long min, long max)
        {
            return new Value(ValueKind.Integer, min, max, 0.0);
        }

        /// <summary>
        /// Returns the value with few bits for small differences. An unchanged number then takes 1
        /// bit, a small difference 2 bits plus its own code, and any other number 2 bits plus a
        /// full code. Without small differences, a changed number takes 1 bit plus a full code.
        /// </summary>
        /// <param name="least">The least small difference, in your unit.</param>
        /// <param name="most">The largest small difference, in your unit.</param>
        public Value WithSmall(double least, double most)
        {
            Value with = this;
            with.has_small = 1;
            with.least = least;
            with.most = most;
            return with;
        }
    }

    /// <summary>Writes and reads single values.</summary>
    public static class Values
    {
        /// <summary>
        /// Writes values relative to their <see cref="Value.Before"/>. To get the values that the
        /// receiver will hold, read the bytes with <see cref="TryRead"/>.
        /// </summary>
        /// <param name="values">The values to write.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">
        /// The size of the values in bytes, even if the array is too short.
        /// </param>
        /// <returns>False if the array is too short.</returns>
        /// <exception cref="KinepackException">A value is out of its range.</exception>
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
        /// Reads values that <see cref="TryWrite"/> wrote, each into its <see
        /// cref="Value.Current"/>.
        /// </summary>
        /// <param name="values">
        /// The values, with the same limits and earlier numbers as in the call that wrote the
        /// bytes.
        /// </param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        /// <param name="bytes">An array that begins with the bytes of the values.</param>
        /// <param name="size">The size of the values in bytes.</param>
        /// <returns>False if the bytes are invalid. Then no value has changed.</returns>
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
