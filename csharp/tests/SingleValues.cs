using System;
using Kinepack;

/// <summary>Values without a schema, and bytes that are mostly as before.</summary>
internal static class SingleValues
{
    internal static void Run()
    {
        Integers();
        BadValues();
        RunsOfBytes();
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
}
