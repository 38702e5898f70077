using System;
using System.Text;

namespace Kinepack
{
    /// <summary>
    /// The native library refused a call, and nothing has changed. The message contains the reason.
    /// After <see cref="Status.Step"/>, everything else was done.
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

        /// <summary>Returns the text of the last error of this thread.</summary>
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
