using System;
using System.Text;
using System.Threading;

namespace Kinepack
{
    /// <summary>
    /// An object of the native library. Dispose an object when you no longer need it. Otherwise its
    /// finalizer frees it. Any thread may call any method, including Dispose. After Dispose, every
    /// other method throws <see cref="ObjectDisposedException"/>.
    /// </summary>
    /// <remarks>
    /// If a thread disposes an object while another one calls it, that call finishes as usual or
    /// throws <see cref="KinepackException"/> with <see cref="Status.Handle"/>. A handle contains a
    /// generation, so the native library recognizes freed handles. So this class needs no lock and
    /// no reference count. (A SafeHandle would hold only 32 bits on some platforms.)
    /// </remarks>
    public abstract class NativeObject : IDisposable
    {
        /// <summary>The handle. It is 0 after Dispose, and if the constructor failed.</summary>
        private long id;

        internal NativeObject()
        {
            Library.RequireAbi();
        }

        /// <summary>
        /// A native function that writes bytes, or UTF-8 with a terminating zero.
        /// </summary>
        internal unsafe delegate Status BytesWriter(
            byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees the native object.</summary>
        ~NativeObject()
        {
            Release();
        }

        /// <summary>The handle, for one call. Throws after Dispose.</summary>
        internal ulong Id
        {
            get
            {
                ulong current = (ulong)Interlocked.Read(ref id);
                return current != 0 ? current : throw Disposed();
            }
        }

        /// <summary>Frees the native object. A second call has no effect.</summary>
        public void Dispose()
        {
            Release();
            GC.SuppressFinalize(this);
        }

        /// <summary>Frees a handle of this object's type.</summary>
        internal abstract Status Free(ulong freed);

        /// <summary>Takes ownership of the first handle, in a constructor.</summary>
        internal void Own(ulong made)
        {
            id = (long)made;
        }

        /// <summary>Frees the current handle and takes ownership of a newer one.</summary>
        internal void Replace(ulong newer)
        {
            long seen = Interlocked.Read(ref id);
            while (seen != 0)
            {
                long before = Interlocked.CompareExchange(ref id, (long)newer, seen);
                if (before == seen)
                {
                    Free((ulong)before);
                    return;
                }
                seen = before;
            }
            Free(newer);
            throw Disposed();
        }

        /// <summary>Forgets the handle, because the native library has freed it.</summary>
        internal void Forget()
        {
            Interlocked.Exchange(ref id, 0);
            GC.SuppressFinalize(this);
        }

        /// <summary>
        /// Throws unless a call with this object succeeded. Since this is called after the native
        /// function, the finalizer cannot free the object during the call.
        /// </summary>
        internal void Check(Status status)
        {
            GC.KeepAlive(this);
            KinepackException.Check(status);
        }

        /// <summary>Like Check, but returns false for one expected status.</summary>
        internal bool Succeeds(Status status, Status expected)
        {
            GC.KeepAlive(this);
            return Interop.Succeeds(status, expected);
        }

        /// <summary>
        /// Like Check, but returns false for one expected status. Then the size is 0.
        /// </summary>
        internal bool Succeeds(Status status, Status expected, UIntPtr written, out int size)
        {
            bool succeeds = Succeeds(status, expected);
            size = succeeds ? Interop.ToSize(written) : 0;
            return succeeds;
        }

        /// <summary>
        /// Returns the bytes that a native function writes, or null if there are none.
        /// </summary>
        internal unsafe byte[] ReadBytes(BytesWriter write)
        {
            Status status = write(null, UIntPtr.Zero, out UIntPtr size);
            if (status == Status.Nothing)
            {
                return null;
            }
            Succeeds(status, Status.Size);
            byte[] bytes = new byte[Interop.ToSize(size)];
            fixed (byte* first = bytes)
            {
                Check(write(first, size, out size));
            }
            return bytes;
        }

        /// <summary>
        /// Returns the text that a native function writes, or null if there is none.
        /// </summary>
        internal string ReadText(BytesWriter write)
        {
            byte[] text = ReadBytes(write);
            return text == null ? null : Encoding.UTF8.GetString(text, 0, text.Length - 1);
        }

        private void Release()
        {
            long freed = Interlocked.Exchange(ref id, 0);
            if (freed != 0)
            {
                Free((ulong)freed);
            }
        }

        private ObjectDisposedException Disposed()
        {
            return new ObjectDisposedException(GetType().Name);
        }
    }
}
