using System.Collections.Generic;

/// <summary>Random bytes, the same in each run.</summary>
internal static class Random
{
    /// <summary>Arrays of 0 to 39 bytes.</summary>
    internal static IEnumerable<byte[]> Noise(int rounds)
    {
        uint state = 1;
        for (int round = 0; round < rounds; round++)
        {
            byte[] noise = new byte[round % 40];
            for (int at = 0; at < noise.Length; at++)
            {
                state = (state * 1664525) + 1013904223;
                noise[at] = (byte)(state >> 24);
            }
            yield return noise;
        }
    }
}
