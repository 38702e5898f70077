using System;

namespace Kinepack
{
    public partial struct Axis
    {
        private Axis(double min, double max, double precision, bool isCyclic)
            : this()
        {
            this.min = min;
            this.max = max;
            this.precision = precision;
            is_cyclic = isCyclic ? 1 : 0;
        }

        /// <summary>A number with limits.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="max">The largest value, in your unit.</param>
        /// <param name="precision">
        /// The step, in your unit. The error is at most half a step.
        /// </param>
        public static Axis Real(double min, double max, double precision)
        {
            return new Axis(min, max, precision, false);
        }

        /// <summary>A number on a circle, such as an angle.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that is equivalent to <paramref name="min"/>.</param>
        /// <param name="precision">
        /// The step, in your unit. The error is at most half a step.
        /// </param>
        public static Axis Cyclic(double min, double end, double precision)
        {
            return new Axis(min, end, precision, true);
        }
    }

    public partial struct Magnitude
    {
        private Magnitude(MagnitudeForm form, int count, int stepsPerUnit)
            : this()
        {
            if (count < 1 || count > 4)
            {
                throw new ArgumentOutOfRangeException(nameof(count), count, "It is not 1 to 4.");
            }
            this.form = (int)form;
            this.count = (uint)count;
            steps_per_unit = (uint)stepsPerUnit;
        }

        private Magnitude(MagnitudeForm form, Axis[] axes)
            : this(form, axes.Length, 0)
        {
            for (int nth = 0; nth < axes.Length; nth++)
            {
                AxisOf(ref this, nth) = axes[nth];
            }
        }

        /// <summary>The count of numbers in the vector.</summary>
        public int Count => (int)count;

        /// <summary>The number to write, or the number read.</summary>
        /// <param name="nth">The index of the number, from 0.</param>
        public double this[int nth]
        {
            get
            {
                Magnitude copy = this;
                return AxisOf(ref copy, nth).value;
            }

            set => AxisOf(ref this, nth).value = value;
        }

        /// <summary>
        /// Real numbers, rounded to multiples of a precision. They take as many bits as Unreal's
        /// FVector_NetQuantize.
        /// </summary>
        /// <param name="count">The count of numbers, from 1 to 4.</param>
        /// <param name="stepsPerUnit">The steps per unit: 1, 10 or 100.</param>
        public static Magnitude Multiples(int count, int stepsPerUnit)
        {
            return new Magnitude(MagnitudeForm.Multiples, count, stepsPerUnit);
        }

        /// <summary>Integers from -2^32 to 2^32 - 1.</summary>
        /// <param name="count">The count of numbers, from 1 to 4.</param>
        public static Magnitude Steps(int count)
        {
            return new Magnitude(MagnitudeForm.Steps, count, 0);
        }

        /// <summary>
        /// Real numbers within limits, as differences from numbers that both sides hold.
        /// </summary>
        /// <param name="axes">The limits of 1 to 4 numbers.</param>
        public static Magnitude Difference(params Axis[] axes)
        {
            Require.NotNull(axes, nameof(axes));
            return new Magnitude(MagnitudeForm.Difference, axes);
        }

        /// <summary>
        /// Like <see cref="Difference"/>. If a number cannot be represented within its limits, all
        /// numbers are written unchanged, as <see cref="float"/>.
        /// </summary>
        /// <param name="axes">The limits of 1 to 4 numbers.</param>
        public static Magnitude Any(params Axis[] axes)
        {
            Require.NotNull(axes, nameof(axes));
            return new Magnitude(MagnitudeForm.Any, axes);
        }

        /// <summary>Returns the number that both sides hold, which is 0 at first.</summary>
        /// <param name="nth">The index of the number, from 0.</param>
        public double GetBefore(int nth)
        {
            Magnitude copy = this;
            return AxisOf(ref copy, nth).before;
        }

        /// <summary>Sets the number that both sides hold.</summary>
        /// <param name="nth">The index of the number, from 0.</param>
        /// <param name="before">The number that both sides hold.</param>
        public void SetBefore(int nth, double before)
        {
            AxisOf(ref this, nth).before = before;
        }

        private static ref Axis AxisOf(ref Magnitude of, int nth)
        {
            if (nth < 0 || nth >= of.count)
            {
                throw new ArgumentOutOfRangeException(nameof(nth), nth, "There is no such number.");
            }
            switch (nth)
            {
                case 0:
                    return ref of.components_0;
                case 1:
                    return ref of.components_1;
                case 2:
                    return ref of.components_2;
                default:
                    return ref of.components_3;
            }
        }
    }

    /// <summary>Writes and reads numbers by magnitude.</summary>
    public static class Magnitudes
    {
        /// <summary>
        /// Writes vectors. To get the values that the receiver will hold, read the bytes with
        /// <see cref="TryRead"/>.
        /// </summary>
        /// <param name="vectors">The vectors to write.</param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">
        /// The size of the vectors in bytes, even if the array is too short.
        /// </param>
        /// <returns>False if the array is too short.</returns>
        /// <exception cref="KinepackException">A number is out of its range.</exception>
        public static unsafe bool TryWrite(
            Magnitude[] vectors, int count, byte[] bytes, out int size)
        {
            Library.RequireAbi();
            Require.Holds(vectors, count, nameof(vectors));
            Require.NotNull(bytes, nameof(bytes));
            fixed (Magnitude* first = vectors)
            fixed (byte* to = bytes)
            {
                UIntPtr capacity = (UIntPtr)bytes.Length;
                Status status = Native.kp_magnitudes_write(
                    first, (UIntPtr)count, to, capacity, out UIntPtr written);
                return Interop.Fits(status, written, out size);
            }
        }

        /// <summary>Reads vectors that <see cref="TryWrite"/> wrote.</summary>
        /// <param name="vectors">
        /// The vectors, with the same forms, limits and earlier numbers as in the call that wrote
        /// the bytes.
        /// </param>
        /// <param name="count">
        /// The number of elements to use, from 0 to the length of the array.
        /// </param>
        /// <param name="bytes">An array that begins with the bytes of the vectors.</param>
        /// <param name="size">The size of the vectors in bytes.</param>
        /// <returns>False if the bytes are invalid. Then no number has changed.</returns>
        public static unsafe bool TryRead(Magnitude[] vectors, int count, byte[] bytes, int size)
        {
            Library.RequireAbi();
            Require.Holds(vectors, count, nameof(vectors));
            Require.Holds(bytes, size, nameof(bytes));
            fixed (Magnitude* first = vectors)
            fixed (byte* from = bytes)
            {
                Status status = Native.kp_magnitudes_read(
                    first, (UIntPtr)count, from, (UIntPtr)size);
                return Interop.Succeeds(status, Status.Data);
            }
        }
    }
}
