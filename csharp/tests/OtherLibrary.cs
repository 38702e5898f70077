using System;
using Kinepack;

/// <summary>
/// A program that finds a native library with another interface. Every way into the package must
/// throw a clear exception, before it calls another function. The argument is the expected text.
/// </summary>
internal static class OtherLibrary
{
    private static int Main(string[] arguments)
    {
        byte[] bytes = new byte[1];
        Value[] values = new Value[1];
        Action[] ways =
        {
            () => new SchemaBuilder(),
            () => Schema.FromBytes(bytes),
            () => new Skeleton(bytes),
            () => new Rig(bytes),
            () => new Clip(bytes),
            () => Replay.Open("x"),
            () => Replay.FromBytes(bytes),
            () => Datagrams.TrySplit(bytes, 1, new Part[1], out _),
            () => Values.TryWrite(values, 1, bytes, out _),
            () => Values.TryRead(values, 1, bytes, 1),
            () => Runs.TryEncode(bytes, bytes, 1, bytes, out _),
            () => Runs.TryDecode(bytes, bytes, 1, bytes, out _),
        };
        foreach (Action way in ways)
        {
            try
            {
                way();
                Check.That(false, "an exception");
            }
            catch (Exception thrown)
            {
                bool isClear = thrown is InvalidOperationException
                    && thrown.Message.Contains(arguments[0]);
                Check.That(isClear, arguments[0] + ", not " + thrown);
            }
        }
        Console.WriteLine("{0} ways in, {1} wrong", ways.Length, Check.Failures);
        return Check.Failures == 0 ? 0 : 1;
    }
}
