using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// The functions of <c>kinepack.h</c>, as they are declared there. A handle is a struct of one
    /// 64-bit number in C, which all supported platforms pass like the number itself.
    /// </summary>
    internal static unsafe partial class Native
    {
#if (UNITY_IOS || UNITY_WEBGL) && !UNITY_EDITOR
        // The player is linked with the static library.
        private const string Name = "__Internal";
#else
        private const string Name = "kinepack_c";
#endif

        /// <summary>The version of the interface that is declared here.</summary>
        internal const uint KP_ABI = 1;

        private const CallingConvention Convention = CallingConvention.Cdecl;

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern UIntPtr kp_error_text(byte* text, UIntPtr capacity);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern uint kp_abi();

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern IntPtr kp_version();
    }
}
