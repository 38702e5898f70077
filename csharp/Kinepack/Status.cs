using System;
using System.Text;

namespace Kinepack
{
    /// <summary>What a function of the native library returns.</summary>
    public enum Status
    {
        /// <summary>The call succeeded.</summary>
        Ok = 0,

        /// <summary>A pointer is null that must not be.</summary>
        Pointer = 1,

        /// <summary>A handle was freed, for example by another thread during the call.</summary>
        Handle = 2,

        /// <summary>An argument is out of its range, or does not fit the others.</summary>
        Argument = 3,

        /// <summary>An array of the caller is too small.</summary>
        Size = 4,

        /// <summary>Bytes from outside are not valid: a file, a packet or a datagram.</summary>
        Data = 5,

        /// <summary>A value cannot be quantized: it is NaN, or out of its range.</summary>
        Value = 6,

        /// <summary>There is nothing yet, or nothing more.</summary>
        Nothing = 7,

        /// <summary>A defect of the library. Please report it.</summary>
        Panic = 8,

        /// <summary>A file cannot be read or written.</summary>
        File = 9,

        /// <summary>The call did its work, but not for all receivers.</summary>
        Receivers = 10,
    }

    /// <summary>
    /// The native library refused a call. The message is the reason. The call has changed nothing.
    /// </summary>
    public sealed class KinepackException : Exception
    {
        private KinepackException(Status status, string text)
            : base(text)
        {
            Status = status;
        }

        /// <summary>The status that the native function returned. It is never Ok.</summary>
        public Status Status { get; }

        /// <summary>Throws unless a call succeeded.</summary>
        internal static void Check(Status status)
        {
            if (status != Status.Ok)
            {
                throw new KinepackException(status, LastText());
            }
        }

        /// <summary>The text of the last error of this thread.</summary>
        internal static unsafe string LastText()
        {
            int size = Interop.ToSize(Native.kp_error_text(null, UIntPtr.Zero));
            byte[] text = new byte[size + 1];
            fixed (byte* first = text)
            {
                Native.kp_error_text(first, (UIntPtr)text.Length);
            }
            return Encoding.UTF8.GetString(text, 0, size);
        }
    }
}
