using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>The endpoint that a datagram is for.</summary>
    public enum DatagramKind
    {
        /// <summary>A hub.</summary>
        ToHub = 0,

        /// <summary>A receiver.</summary>
        ToReceiver = 1,

        /// <summary>A receiver of a stream.</summary>
        ToStreamReceiver = 2,

        /// <summary>A sender of a stream.</summary>
        ToStreamSender = 3,
    }

    /// <summary>A part of what arrived as one datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Part
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly DatagramKind kind;
        private readonly uint channel;
        private readonly UIntPtr offset;
        private readonly UIntPtr size;
#pragma warning restore 0649

        /// <summary>The endpoint that it is for.</summary>
        public DatagramKind Kind => kind;

        /// <summary>The channel of the endpoint.</summary>
        public int Channel => (int)channel;

        /// <summary>Its place in the datagram, for the method Handle of the endpoint.</summary>
        /// <param name="datagram">The datagram that was split.</param>
        public ArraySegment<byte> In(byte[] datagram)
        {
            int begin = Interop.ToSize(offset);
            return new ArraySegment<byte>(datagram, begin, Interop.ToSize(size));
        }
    }

    /// <summary>Several datagrams that travel as one.</summary>
    public static class Datagrams
    {
        /// <summary>
        /// Splits what arrived as one datagram, such as an acknowledgement of a stream in front of
        /// a snapshot. To combine datagrams, append one to the other.
        /// </summary>
        /// <param name="datagram">An array that begins with the datagram.</param>
        /// <param name="size">The bytes of the datagram.</param>
        /// <param name="parts">The array to write the parts to.</param>
        /// <param name="count">The number of parts.</param>
        /// <returns>False if the datagram is not valid.</returns>
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
