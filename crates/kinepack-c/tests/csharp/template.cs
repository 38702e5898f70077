// Generated from the sources of crates/kinepack-c. Its tests/header.rs writes and compares this file.
using System;
using System.Runtime.InteropServices;

// The native library writes the fields.
#pragma warning disable 0649

namespace Kinepack
{
%TYPES%

    /// <summary>
    /// The functions of <c>kinepack.h</c>. A handle is a struct of one 64-bit number in C, which
    /// all supported platforms pass like the number itself.
    /// </summary>
    internal static unsafe class Native
    {
#if (UNITY_IOS || UNITY_WEBGL) && !UNITY_EDITOR
        // The player is linked with the static library.
        private const string Name = "__Internal";
#else
        private const string Name = "kinepack_c";
#endif

        /// <summary>The version of the interface that is declared here.</summary>
        internal const uint KP_ABI = %ABI%;

        private const CallingConvention Convention = CallingConvention.Cdecl;

%NATIVE%
    }
}
