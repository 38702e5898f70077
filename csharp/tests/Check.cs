using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;
using Kinepack;

/// <summary>The checks of all tests. A failure is counted, and the test continues.</summary>
internal static class Check
{
    private static int failures;

    internal static int Failures => failures;

    internal static void That(
        bool condition,
        string expected,
        [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        if (!condition)
        {
            Interlocked.Increment(ref failures);
            string place = Path.GetFileName(file) + ":" + line;
            Console.WriteLine("{0}: expected {1}", place, expected);
        }
    }

    internal static void Equal<T>(
        T actual,
        T expected,
        [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        That(actual.Equals(expected), expected + ", not " + actual, file, line);
    }

    /// <summary>Checks that the action throws exactly this exception.</summary>
    internal static void Throws<T>(
        Action action,
        [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
        where T : Exception
    {
        Exception thrown = Catch(action);
        bool expected = thrown != null && thrown.GetType() == typeof(T);
        That(expected, typeof(T).Name + ", not " + Describe(thrown), file, line);
    }

    /// <summary>Checks that the library refuses the action, with this status and a text.</summary>
    internal static void Refused(
        Status status,
        Action action,
        [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        Exception thrown = Catch(action);
        KinepackException refused = thrown as KinepackException;
        bool expected = refused != null && refused.Status == status && refused.Message.Length > 8;
        That(expected, status + ", not " + Describe(thrown), file, line);
    }

    private static Exception Catch(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (Exception thrown)
        {
            return thrown;
        }
    }

    private static string Describe(Exception thrown)
    {
        if (thrown is KinepackException refused)
        {
            return refused.Status + ": " + refused.Message;
        }
        return thrown == null ? "success" : thrown.GetType().Name + ": " + thrown.Message;
    }
}
