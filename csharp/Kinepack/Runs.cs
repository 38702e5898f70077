using System;

namespace Kinepack
{
    /// <summary>Codes bytes that mostly equal earlier bytes, as runs of unchanged bytes.</summary>
    public static class Runs
    {
        /// <summary>Writes bytes relative to other bytes that both sides hold.</summary>
        /// <param name="before">
        /// The bytes that both sides hold. If there are fewer than bytes to write, zeros extend
        /// them.
        /// </param>
        /// <param name="bytes">The bytes to write.</param>
        /// <param name="byteCount">The number of bytes to write.</param>
        /// <param name="runs">The array to write to.</param>
        /// <param name="size">
        /// The size of the runs in bytes, even if the array is too short.
        /// </param>
        /// <returns>False if the array is too short.</returns>
        public static unsafe bool TryEncode(
            byte[] before, byte[] bytes, int byteCount, byte[] runs, out int size)
        {
            Library.RequireAbi();
            Require.NotNull(before, nameof(before));
            Require.Holds(bytes, byteCount, nameof(bytes));
            Require.NotNull(runs, nameof(runs));
            fixed (byte* held = before)
            fixed (byte* from = bytes)
            fixed (byte* to = runs)
            {
                Status status = Native.kp_runs_encode(
                    held,
                    (UIntPtr)before.Length,
                    from,
                    (UIntPtr)byteCount,
                    to,
                    (UIntPtr)runs.Length,
                    out UIntPtr written);
                return Interop.Fits(status, written, out size);
            }
        }

        /// <summary>Reads runs that were written relative to the same bytes.</summary>
        /// <param name="before">The bytes that both sides hold.</param>
        /// <param name="runs">An array that begins with the runs.</param>
        /// <param name="runBytes">The size of the runs in bytes.</param>
        /// <param name="bytes">
        /// The array to write to. Runs that decode to more bytes are refused.
        /// </param>
        /// <param name="size">The number of bytes read.</param>
        /// <returns>False if the runs are invalid, or the array is too short.</returns>
        public static unsafe bool TryDecode(
            byte[] before, byte[] runs, int runBytes, byte[] bytes, out int size)
        {
            Library.RequireAbi();
            Require.NotNull(before, nameof(before));
            Require.Holds(runs, runBytes, nameof(runs));
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* held = before)
            fixed (byte* from = runs)
            fixed (byte* to = bytes)
            {
                Status status = Native.kp_runs_decode(
                    held,
                    (UIntPtr)before.Length,
                    from,
                    (UIntPtr)runBytes,
                    to,
                    (UIntPtr)bytes.Length,
                    out UIntPtr read);
                bool valid = Interop.Succeeds(status, Status.Data);
                size = valid ? Interop.ToSize(read) : 0;
                return valid;
            }
        }
    }

    /// <summary>
    /// Codes short structs that mostly equal the previous struct, such as inputs. Flags in the
    /// message mark the few changed bytes.
    /// </summary>
    public static class SparseBytes
    {
        /// <summary>
        /// Writes bytes relative to other bytes that both sides hold. Both sides need to know the
        /// number of bytes, because it is not written.
        /// </summary>
        /// <param name="before">
        /// The bytes that both sides hold. If there are fewer than bytes to write, zeros extend
        /// them.
        /// </param>
        /// <param name="bytes">The bytes to write.</param>
        /// <param name="byteCount">The number of bytes to write.</param>
        /// <param name="sparse">The array to write to.</param>
        /// <param name="size">The size of the sparse bytes, even if the array is too short.</param>
        /// <returns>False if the array is too short.</returns>
        public static unsafe bool TryEncode(
            byte[] before, byte[] bytes, int byteCount, byte[] sparse, out int size)
        {
            Library.RequireAbi();
            Require.NotNull(before, nameof(before));
            Require.Holds(bytes, byteCount, nameof(bytes));
            Require.NotNull(sparse, nameof(sparse));
            fixed (byte* held = before)
            fixed (byte* from = bytes)
            fixed (byte* to = sparse)
            {
                Status status = Native.kp_sparse_encode(
                    held,
                    (UIntPtr)before.Length,
                    from,
                    (UIntPtr)byteCount,
                    to,
                    (UIntPtr)sparse.Length,
                    out UIntPtr written);
                return Interop.Fits(status, written, out size);
            }
        }

        /// <summary>Reads bytes that were written relative to the same bytes.</summary>
        /// <param name="before">The bytes that both sides hold.</param>
        /// <param name="sparse">An array that begins with the sparse bytes.</param>
        /// <param name="sparseBytes">The number of sparse bytes.</param>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="byteCount">The number of bytes that were encoded.</param>
        /// <returns>False if the sparse bytes are invalid. Then nothing has changed.</returns>
        public static unsafe bool TryDecode(
            byte[] before, byte[] sparse, int sparseBytes, byte[] bytes, int byteCount)
        {
            Library.RequireAbi();
            Require.NotNull(before, nameof(before));
            Require.Holds(sparse, sparseBytes, nameof(sparse));
            Require.Holds(bytes, byteCount, nameof(bytes));
            fixed (byte* held = before)
            fixed (byte* from = sparse)
            fixed (byte* to = bytes)
            {
                Status status = Native.kp_sparse_decode(
                    held,
                    (UIntPtr)before.Length,
                    from,
                    (UIntPtr)sparseBytes,
                    to,
                    (UIntPtr)byteCount);
                return Interop.Succeeds(status, Status.Data);
            }
        }
    }
}
