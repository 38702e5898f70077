using System;

/// <summary>
/// Runs all tests. The arguments are the path of kinepack.h and a folder in which the tests may
/// create files. The exit code is 1 if any test failed.
/// </summary>
internal static class Program
{
    private static int Main(string[] arguments)
    {
        Console.WriteLine("kinepack {0}", Kinepack.Library.Version);
        Run("header", () => Header.Run(arguments[0]));
        Run("ships", Ships.Run);
        Run("groups", Groups.Run);
        Run("network", Network.Run);
        Run("frames", Frames.Run);
        Run("rewinding", Rewinding.Run);
        Run("budgets", Budgets.Run);
        Run("broadcasts", Broadcasts.Run);
        Run("events", Happenings.Run);
        Run("inputs", Inputs.Run);
        Run("input clocks", InputClocks.Run);
        Run("predictions", Predictions.Run);
        Run("replays", () => Replays.Run(arguments[1]));
        Run("clips", Clips.Run);
        Run("figures", Figures.Run);
        Run("rings", BodiesInRings.Run);
        Run("r3d2canm", Anms.Run);
        Run("values", SingleValues.Run);
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
