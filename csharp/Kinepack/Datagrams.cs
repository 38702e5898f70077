using System;

namespace Kinepack
{
    public readonly partial struct Part
    {
        /// <summary>The type of endpoint that the part must be passed to.</summary>
        public DatagramKind Kind => kind;

        /// <summary>The channel of the endpoint.</summary>
        public int Channel => (int)channel;

        /// <summary>Returns the bytes of the part, for the method Handle of the endpoint.</summary>
        /// <param name="datagram">The datagram that was split.</param>
        public ArraySegment<byte> In(byte[] datagram)
        {
            int begin = Interop.ToSize(offset);
            return new ArraySegment<byte>(datagram, begin, Interop.ToSize(size));
        }
    }

    /// <summary>Splits datagrams that were sent as one.</summary>
    public static class Datagrams
    {
        /// <summary>
        /// Splits a received datagram, such as an acknowledgement of a stream followed by a
        /// snapshot. To combine datagrams, append one to the other.
        /// </summary>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The size of the datagram in bytes.</param>
        /// <param name="parts">The array to write the parts to.</param>
        /// <param name="count">The number of parts.</param>
        /// <returns>False if the datagram is invalid.</returns>
        /// <exception cref="KinepackException">The array of parts is too short.</exception>
        public static unsafe bool TrySplit(
            byte[] datagram, int size, Part[] parts, out int count)
        {
            Library.RequireAbi();
            Require.Holds(datagram, size, nameof(datagram));
            Require.NotNull(parts, nameof(parts));
            fixed (byte* first = datagram)
            fixed (Part* to = parts)
            {
                UIntPtr capacity = (UIntPtr)parts.Length;
                Status status = Native.kp_split_datagram(
                    first, (UIntPtr)size, to, capacity, out UIntPtr found);
                bool valid = Interop.Succeeds(status, Status.Data);
                count = valid ? Interop.ToSize(found) : 0;
                return valid;
            }
        }
    }
}
