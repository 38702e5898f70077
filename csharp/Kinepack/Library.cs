using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Kinepack
{
    /// <summary>The native library.</summary>
    public static class Library
    {
        private static bool isRightAbi;

        /// <summary>The version of the native library, such as "0.1.0".</summary>
        public static unsafe string Version =>
            Marshal.PtrToStringAnsi((IntPtr)Native.kp_version());

        /// <summary>
        /// Throws unless the native library has the interface that this package declares. Without
        /// this check, functions of another interface would read or write wrong memory. All
        /// constructors of objects begin with this check. So do all static methods that call native
        /// code.
        /// </summary>
        internal static void RequireAbi()
        {
            if (Volatile.Read(ref isRightAbi))
            {
                return;
            }
            uint abi;
            try
            {
                abi = Native.kp_abi();
            }
            catch (EntryPointNotFoundException)
            {
                // The library is so old that it lacks the function.
                abi = 0;
            }
            if (abi != Native.KP_ABI)
            {
                throw new InvalidOperationException(
                    "The native library " + Version + " has interface " + abi
                    + ", but this package needs " + Native.KP_ABI
                    + ". Use the library and the package of one release.");
            }
            Volatile.Write(ref isRightAbi, true);
        }
    }
}
