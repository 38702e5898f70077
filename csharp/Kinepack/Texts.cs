using System.IO;

namespace Kinepack
{
    /// <summary>
    /// Texts as UTF-8 with terminating zeros, in one array, so that one statement pins all of them
    /// for the native library.
    /// </summary>
    internal sealed class Texts
    {
        private readonly MemoryStream bytes = new MemoryStream();

        /// <summary>Adds a text, and returns the index of its first byte.</summary>
        /// <param name="text">The text.</param>
        /// <param name="name">The name of the argument that contains the text.</param>
        internal int Add(string text, string name)
        {
            byte[] added = Interop.ToText(text, name);
            int begin = (int)bytes.Length;
            bytes.Write(added, 0, added.Length);
            return begin;
        }

        internal byte[] ToArray() => bytes.ToArray();
    }
}
