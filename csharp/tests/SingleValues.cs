using System;
using Kinepack;

/// <summary>Numbers without a schema, and bytes that mostly equal earlier ones.</summary>
internal static class SingleValues
{
    internal static void Run()
    {
        Integers();
        BadValues();
        RunsOfBytes();
        NumbersByMagnitude();
        BadMagnitudes();
        FewBytes();
    }

    private static void Integers()
    {
        const long Most = 9007199254740992;
        byte[] bytes = new byte[64];
        Value[] values = { Value.Integer(-Most, Most).WithSmall(-8.0, 7.0) };
        values[0].Before = -1e15;
        for (int step = -20; step < 20; step++)
        {
            values[0].Current = -1e15 + step;
            Check.That(Values.TryWrite(values, 1, bytes, out int size), "bytes");
            Check.Equal(size, step >= -8 && step < 8 ? 1 : 8);
            values[0].Current = 0.0;
            Check.That(Values.TryRead(values, 1, bytes, size), "a value");
            Check.Equal(values[0].Current, -1e15 + step);
        }
        Check.That(!Values.TryWrite(values, 1, new byte[0], out int needed), "too short an array");
        Check.Equal(needed, 8);
        Check.That(Values.TryWrite(values, 0, bytes, out needed) && needed == 0, "no values");
    }

    private static void BadValues()
    {
        byte[] bytes = new byte[64];
        Value[] values = { Value.Real(-1.0, 1.0, 0.1), Value.Cyclic(0.0, 360.0, 1.0) };
        Action write = () => Values.TryWrite(values, 2, bytes, out int size);
        write();
        values[0].Current = 2.0;
        Check.Refused(Status.Value, write);
        values[0].Current = double.NaN;
        Check.Refused(Status.Value, write);
        values[0] = Value.Real(1.0, -1.0, 0.1);
        Check.Refused(Status.Argument, write);
        values[0] = Value.Real(-1.0, 1.0, 0.0);
        Check.Refused(Status.Argument, write);
        values[0] = Value.Integer(0, 10);
        values[0].Current = 0.5;
        Check.Refused(Status.Value, write);
        values[0].Current = 7.0;
        Check.That(!Values.TryRead(values, 2, bytes, 0), "no bytes to be refused");
        Check.That(!Values.TryRead(values, 2, new byte[9], 9), "spare bytes to be refused");
        Check.Equal(values[0].Current, 7.0);
        foreach (byte[] noise in Random.Noise(500))
        {
            Values.TryRead(values, 2, noise, noise.Length);
        }
        Check.Throws<ArgumentNullException>(() => Values.TryWrite(null, 0, bytes, out _));
        Check.Throws<ArgumentNullException>(() => Values.TryWrite(values, 2, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Values.TryWrite(values, 3, bytes, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Values.TryWrite(values, -1, bytes, out _));
        Check.Throws<ArgumentNullException>(() => Values.TryRead(null, 0, bytes, 1));
        Check.Throws<ArgumentNullException>(() => Values.TryRead(values, 2, null, 0));
        Check.Throws<ArgumentOutOfRangeException>(() => Values.TryRead(values, 3, bytes, 1));
        Check.Throws<ArgumentOutOfRangeException>(() => Values.TryRead(values, 2, bytes, 65));
    }

    private static void RunsOfBytes()
    {
        byte[] before = new byte[200];
        byte[] state = new byte[200];
        byte[] runs = new byte[300];
        byte[] decoded = new byte[200];
        for (int nth = 0; nth < 200; nth++)
        {
            before[nth] = (byte)(nth * 37);
            state[nth] = (byte)(before[nth] ^ (nth == 150 ? 9 : 0));
        }
        Check.That(Runs.TryEncode(before, state, 200, runs, out int size), "runs");
        Check.That(size < 10, "few bytes, not " + size);
        Check.That(Runs.TryDecode(before, runs, size, decoded, out int read), "bytes");
        Check.Equal(read, 200);
        Check.Equal(System.Convert.ToBase64String(decoded), System.Convert.ToBase64String(state));
        Check.That(!Runs.TryDecode(before, runs, size, new byte[199], out read), "a refusal");
        Check.That(!Runs.TryDecode(before, runs, size - 1, decoded, out read), "a refusal");
        Check.That(!Runs.TryEncode(before, state, 200, new byte[3], out read), "a refusal");
        Check.Equal(read, size);
        Check.That(Runs.TryEncode(new byte[0], state, 0, new byte[0], out read), "no bytes");
        Check.Throws<ArgumentNullException>(() => Runs.TryEncode(null, state, 1, runs, out _));
        Check.Throws<ArgumentNullException>(() => Runs.TryEncode(before, null, 0, runs, out _));
        Check.Throws<ArgumentNullException>(() => Runs.TryEncode(before, state, 1, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Runs.TryEncode(before, state, 201, runs, out _));
        Check.Throws<ArgumentNullException>(() => Runs.TryDecode(null, runs, 1, state, out _));
        Check.Throws<ArgumentNullException>(() => Runs.TryDecode(before, null, 0, state, out _));
        Check.Throws<ArgumentNullException>(() => Runs.TryDecode(before, runs, 1, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Runs.TryDecode(before, runs, 301, state, out _));
    }

    private static void NumbersByMagnitude()
    {
        Axis angle = Axis.Cyclic(0.0, 360.0, 0.5);
        Func<Magnitude[]> make = () => new[]
        {
            Magnitude.Multiples(3, 10),
            Magnitude.Steps(1),
            Magnitude.Difference(angle, Axis.Real(-10.0, 10.0, 0.1)),
            Magnitude.Any(angle, angle, angle, angle),
        };
        Magnitude[] sent = make();
        Magnitude[] received = make();
        foreach (Magnitude[] vectors in new[] { sent, received })
        {
            vectors[2].SetBefore(0, 359.5);
            vectors[2].SetBefore(1, -5.0);
            Check.Equal(vectors[2].GetBefore(1), -5.0);
        }
        sent[0][0] = 0.25;
        sent[0][2] = -16.0;
        sent[1][0] = -4294967296.0;
        sent[2][0] = 1.0;
        sent[2][1] = 0.02;
        sent[3][3] = double.NegativeInfinity;
        byte[] bytes = new byte[64];
        Check.That(Magnitudes.TryWrite(sent, 4, bytes, out int size), "bytes");
        Check.That(!Magnitudes.TryRead(received, 4, bytes, size - 1), "a refusal");
        Check.That(Magnitudes.TryRead(received, 4, bytes, size), "vectors");
        Check.Equal(received[0].Count, 3);
        Check.Equal((float)received[0][0], 0.3f);
        Check.Equal(received[0][2], -16.0);
        Check.Equal(received[1][0], -4294967296.0);
        Check.Equal(received[2][0], 1.0);
        Check.That(Math.Abs(received[2][1]) < 0.0501, "at most half a step");
        Check.Equal(received[3][3], double.NegativeInfinity);
        Check.That(!Magnitudes.TryWrite(sent, 4, new byte[3], out int needed), "too short");
        Check.Equal(needed, size);
        Check.That(Magnitudes.TryWrite(sent, 0, bytes, out needed) && needed == 0, "no vectors");
        foreach (byte[] noise in Random.Noise(500))
        {
            Magnitudes.TryRead(received, 4, noise, noise.Length);
        }
    }

    private static void BadMagnitudes()
    {
        byte[] bytes = new byte[64];
        Magnitude[] vectors = { Magnitude.Steps(2) };
        Action write = () => Magnitudes.TryWrite(vectors, 1, bytes, out _);
        write();
        vectors[0][1] = 0.5;
        Check.Refused(Status.Value, write);
        vectors[0][1] = double.NaN;
        Check.Refused(Status.Value, write);
        vectors[0] = Magnitude.Multiples(1, 1000);
        Check.Refused(Status.Argument, write);
        vectors[0] = Magnitude.Any(Axis.Real(1.0, -1.0, 0.1));
        Check.Refused(Status.Argument, write);
        vectors[0] = default(Magnitude);
        Check.Refused(Status.Argument, write);
        vectors[0] = Magnitude.Difference(Axis.Real(-1.0, 1.0, 0.1));
        vectors[0][0] = 2.0;
        Check.Refused(Status.Value, write);
        Check.Throws<ArgumentOutOfRangeException>(() => Magnitude.Steps(0));
        Check.Throws<ArgumentOutOfRangeException>(() => Magnitude.Multiples(5, 1));
        Check.Throws<ArgumentOutOfRangeException>(() => Magnitude.Any());
        Check.Throws<ArgumentOutOfRangeException>(() => Magnitude.Any(new Axis[5]));
        Check.Throws<ArgumentNullException>(() => Magnitude.Difference(null));
        Check.Throws<ArgumentOutOfRangeException>(() => vectors[0][1] = 1.0);
        Check.Throws<ArgumentOutOfRangeException>(() => vectors[0].SetBefore(-1, 1.0));
        Check.Throws<ArgumentNullException>(() => Magnitudes.TryWrite(null, 0, bytes, out _));
        Check.Throws<ArgumentNullException>(() => Magnitudes.TryWrite(vectors, 1, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => Magnitudes.TryWrite(vectors, 2, bytes, out _));
        Check.Throws<ArgumentNullException>(() => Magnitudes.TryRead(null, 0, bytes, 1));
        Check.Throws<ArgumentNullException>(() => Magnitudes.TryRead(vectors, 1, null, 0));
        Check.Throws<ArgumentOutOfRangeException>(() => Magnitudes.TryRead(vectors, 1, bytes, 65));
    }

    private static void FewBytes()
    {
        byte[] before = { 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        byte[] state = (byte[])before.Clone();
        state[2] = 9;
        byte[] sparse = new byte[20];
        byte[] read = new byte[16];
        Check.That(SparseBytes.TryEncode(before, state, 16, sparse, out int size), "bytes");
        Check.Equal(size, 3);
        Check.That(!SparseBytes.TryDecode(before, sparse, size - 1, read, 16), "a refusal");
        Check.That(!SparseBytes.TryDecode(before, sparse, size + 1, read, 16), "a refusal");
        Check.Equal(read[0], (byte)0);
        Check.That(SparseBytes.TryDecode(before, sparse, size, read, 16), "bytes");
        Check.Equal(System.Convert.ToBase64String(read), System.Convert.ToBase64String(state));
        Check.That(!SparseBytes.TryEncode(before, state, 16, new byte[2], out size), "too short");
        Check.Equal(size, 3);
        byte[] none = new byte[0];
        Check.That(SparseBytes.TryEncode(none, none, 0, none, out size) && size == 0, "nothing");
        Check.That(SparseBytes.TryDecode(none, none, 0, none, 0), "nothing");
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryEncode(null, state, 16, sparse, out _));
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryEncode(before, null, 0, sparse, out _));
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryEncode(before, state, 16, null, out _));
        Check.Throws<ArgumentOutOfRangeException>(
            () => SparseBytes.TryEncode(before, state, 17, sparse, out _));
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryDecode(null, sparse, 3, read, 16));
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryDecode(before, null, 0, read, 16));
        Check.Throws<ArgumentNullException>(
            () => SparseBytes.TryDecode(before, sparse, 3, null, 0));
        Check.Throws<ArgumentOutOfRangeException>(
            () => SparseBytes.TryDecode(before, sparse, 3, read, 17));
    }
}
