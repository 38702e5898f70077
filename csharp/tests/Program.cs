using System;

/// <summary>Runs all tests. The exit code is 1 if any failed.</summary>
internal static class Program
{
    private static int Main()
    {
        Console.WriteLine("kinepack {0}", Kinepack.Library.Version);
        Run("ships", Ships.Run);
        Run("network", Network.Run);
        Run("columns", Memory.Run);
        Run("refusals", Refusals.Run);
        Run("disposal", Disposal.Run);
        Run("threads", Threads.Run);
        Run("garbage", Garbage.Run);
        Console.WriteLine(Check.Failures == 0 ? "all passed" : Check.Failures + " failed");
        return Check.Failures == 0 ? 0 : 1;
    }

    private static void Run(string name, Action test)
    {
        Console.WriteLine(name);
        try
        {
            test();
        }
        catch (Exception thrown)
        {
            Check.That(false, name + " to end, not " + thrown);
        }
    }
}
