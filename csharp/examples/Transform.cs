using System;
using Kinepack;

/// <summary>
/// Sends a transform of 20 bytes in 3: a position and two angles, relative to a transform that the
/// receiver has acknowledged. From the article "Delta compression and object quantization in C#".
/// </summary>
public static class Transform
{
    /// <summary>The program.</summary>
    public static void Main()
    {
        double[] before = { 10.0, 5.0, 10.0, 60.0, 30.0 };
        double[] after = { 10.53, 5.47, 10.52, 60.0, 30.0 };
        Value[] sent = Describe();
        Value[] received = Describe();
        for (int nth = 0; nth < sent.Length; nth++)
        {
            sent[nth].Before = received[nth].Before = before[nth];
            sent[nth].Current = after[nth];
        }

        byte[] packet = new byte[64];
        if (!Values.TryWrite(sent, sent.Length, packet, out int size)
            || !Values.TryRead(received, received.Length, packet, size))
        {
            throw new InvalidOperationException("A packet that was just written is valid.");
        }
        double worst = 0.0;
        for (int nth = 0; nth < received.Length; nth++)
        {
            worst = Math.Max(worst, Math.Abs(received[nth].Current - after[nth]));
        }
        int plain = received.Length * sizeof(float);
        Console.WriteLine("{0} bytes instead of {1}, {2:0.000} off at most", size, plain, worst);
    }

    /// <summary>Both sides need the same limits.</summary>
    private static Value[] Describe()
    {
        return new[]
        {
            // Metres. A small difference is up to a metre.
            Value.Real(min: -100.0, max: 100.0, precision: 0.1).WithSmall(-1.0, 1.0),
            Value.Real(min: -10.0, max: 10.0, precision: 0.1).WithSmall(-1.0, 1.0),
            Value.Real(min: -100.0, max: 100.0, precision: 0.1).WithSmall(-1.0, 1.0),
            // Degrees.
            Value.Cyclic(min: 0.0, end: 360.0, precision: 0.1),
            Value.Cyclic(min: 0.0, end: 360.0, precision: 0.1),
        };
    }
}
