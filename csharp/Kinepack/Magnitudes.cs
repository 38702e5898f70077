using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>The limits of one number of a <see cref="Magnitude"/>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Axis
    {
        internal double Value;
        internal double Before;
        private readonly double min;
        private readonly double max;
        private readonly double precision;
        private readonly int isCyclic;

        private Axis(double min, double max, double precision, int isCyclic)
        {
            Value = 0.0;
            Before = 0.0;
            this.min = min;
            this.max = max;
            this.precision = precision;
            this.isCyclic = isCyclic;
        }

        /// <summary>A number with limits.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="max">The largest value, in your unit.</param>
        /// <param name="precision">The step, in your unit. The error is at most half of it.</param>
        public static Axis Real(double min, double max, double precision)
        {
            return new Axis(min, max, precision, 0);
        }

        /// <summary>A number on a circle, such as an angle.</summary>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that means the same as <paramref name="min"/>.</param>
        /// <param name="precision">The step, in your unit. The error is at most half of it.</param>
        public static Axis Cyclic(double min, double end, double precision)
        {
            return new Axis(min, end, precision, 1);
        }
    }

    /// <summary>
    /// One to four numbers that are coded together, such as a vector, for messages of your own that
    /// need no schema. The largest one decides how many bits each of them takes. Both sides need
    /// the same form, count and limits.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Magnitude
    {
        private readonly int form;
        private readonly uint count;
        private readonly uint stepsPerUnit;
        private Axis first;
        private Axis second;
        private Axis third;
        private Axis fourth;

        private Magnitude(int form, int count, int stepsPerUnit)
            : this()
        {
            if (count < 1 || count > 4)
            {
                throw new ArgumentOutOfRangeException(nameof(count), count, "It is not 1 to 4.");
            }
            this.form = form;
            this.count = (uint)count;
            this.stepsPerUnit = (uint)stepsPerUnit;
        }

        private Magnitude(int form, Axis[] axes)
            : this(form, axes.Length, 0)
        {
            for (int nth = 0; nth < axes.Length; nth++)
            {
                AxisOf(ref this, nth) = axes[nth];
            }
        }

        /// <summary>How many numbers.</summary>
        public int Count => (int)count;

        /// <summary>A number to write, or that was read.</summary>
        /// <param name="nth">Which one, from 0.</param>
        public double this[int nth]
        {
            get
            {
                Magnitude copy = this;
                return AxisOf(ref copy, nth).Value;
            }

            set => AxisOf(ref this, nth).Value = value;
        }

        /// <summary>
        /// Real numbers, rounded to multiples of a precision. They take the bits of Unreal's
        /// FVector_NetQuantize.
        /// </summary>
        /// <param name="count">How many numbers, from 1 to 4.</param>
        /// <param name="stepsPerUnit">Steps in a unit: 1, 10 or 100.</param>
        public static Magnitude Multiples(int count, int stepsPerUnit)
        {
            return new Magnitude(0, count, stepsPerUnit);
        }

        /// <summary>Integers from -2^32 to 2^32 - 1.</summary>
        /// <param name="count">How many numbers, from 1 to 4.</param>
        public static Magnitude Steps(int count)
        {
            return new Magnitude(1, count, 0);
        }

        /// <summary>
        /// Numbers within limits, coded relative to numbers that both sides hold.
        /// </summary>
        /// <param name="axes">The limits of each number. There are 1 to 4.</param>
        public static Magnitude Difference(params Axis[] axes)
        {
            Require.NotNull(axes, nameof(axes));
            return new Magnitude(2, axes);
        }

        /// <summary>
        /// Like <see cref="Difference"/>. If one of the numbers is beyond its limits, all of them
        /// are written unchanged, as <see cref="float"/>.
        /// </summary>
        /// <param name="axes">The limits of each number. There are 1 to 4.</param>
        public static Magnitude Any(params Axis[] axes)
        {
            Require.NotNull(axes, nameof(axes));
            return new Magnitude(3, axes);
        }

        /// <summary>The number that both sides hold. At first it is 0.</summary>
        /// <param name="nth">Which one, from 0.</param>
        public double GetBefore(int nth)
        {
            Magnitude copy = this;
            return AxisOf(ref copy, nth).Before;
        }

        /// <summary>Sets the number that both sides hold.</summary>
        /// <param name="nth">Which one, from 0.</param>
        /// <param name="before">The number.</param>
        public void SetBefore(int nth, double before)
        {
            AxisOf(ref this, nth).Before = before;
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
                    return ref of.first;
                case 1:
                    return ref of.second;
                case 2:
                    return ref of.third;
                default:
                    return ref of.fourth;
            }
        }
    }

    /// <summary>Writes and reads numbers by magnitude.</summary>
    public static class Magnitudes
    {
        /// <summary>
        /// Writes vectors. To know what the receiver will hold, read the bytes with
        /// <see cref="TryRead"/>.
        /// </summary>
        /// <param name="vectors">The vectors.</param>
        /// <param name="count">How many of them, from 0 to the length of the array.</param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">The bytes of the vectors, also if the array is too short.</param>
        /// <returns>False if the array is too short.</returns>
        /// <exception cref="KinepackException">A number is not within its limits.</exception>
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

        /// <summary>Reads what <see cref="TryWrite"/> wrote into vectors.</summary>
        /// <param name="vectors">
        /// The vectors, with the same forms, limits and numbers before.
        /// </param>
        /// <param name="count">How many of them, from 0 to the length of the array.</param>
        /// <param name="bytes">An array that begins with the bytes of the vectors.</param>
        /// <param name="size">How many bytes.</param>
        /// <returns>False if the bytes are not valid. Then no number has changed.</returns>
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
