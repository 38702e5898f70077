using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Text.RegularExpressions;
using Kinepack;

/// <summary>
/// The generated declarations fit the C header: each function's parameters, and each enum's values.
/// This test reads the header itself, because a mistake of the generator would not fail otherwise:
/// a call would read or write wrong memory.
/// </summary>
internal static unsafe class Header
{
    private static readonly Dictionary<string, Type> Enums = new Dictionary<string, Type>
    {
        { "STATUS", typeof(Status) },
        { "FIELD_KIND", typeof(FieldKind) },
        { "NUMBER", typeof(Number) },
        { "ROLE", typeof(Role) },
        { "BUDGET_KIND", typeof(BudgetKind) },
        { "LINK_LIMIT", typeof(LinkLimit) },
        { "MOTION", typeof(Motion) },
        { "DATAGRAM_KIND", typeof(DatagramKind) },
        { "TRACK_KIND", typeof(TrackKind) },
        { "CARRY", typeof(Carry) },
        { "VALUE_KIND", typeof(ValueKind) },
        { "EXTRAPOLATION", typeof(Extrapolation) },
        { "OUTCOME", typeof(Outcome) },
        { "REPAIR", typeof(Repair) },
        { "MAGNITUDE_FORM", typeof(MagnitudeForm) },
    };

    private static readonly Dictionary<string, Type> Results = new Dictionary<string, Type>
    {
        { "KpStatus", typeof(Status) },
        { "uint32_t", typeof(uint) },
        { "size_t", typeof(UIntPtr) },
        { "const char *", typeof(byte*) },
    };

    private static readonly Dictionary<string, Type> Values = new Dictionary<string, Type>
    {
        { "uint64_t", typeof(ulong) },
        { "int64_t", typeof(long) },
        { "uint32_t", typeof(uint) },
        { "int32_t", typeof(int) },
        { "size_t", typeof(UIntPtr) },
        { "uint16_t", typeof(ushort) },
        { "double", typeof(double) },
        { "float", typeof(float) },
    };

    internal static void Run(string path)
    {
        string header = Regex.Replace(File.ReadAllText(path), "//.*", string.Empty);
        header = Regex.Replace(header, @"\s+", " ");
        Functions(header);
        EnumValues(header);
        Match abi = Regex.Match(header, @"#define KP_ABI (\d+)");
        Check.Equal(abi.Groups[1].Value, Native.KP_ABI.ToString());
    }

    private static void Functions(string header)
    {
        Dictionary<string, MethodInfo> declared = new Dictionary<string, MethodInfo>();
        foreach (MethodInfo method in typeof(Native).GetMethods(
            BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
        {
            declared.Add(method.Name, method);
        }
        const string Function = @"(KpStatus|uint32_t|size_t|const char \*) ?(kp_\w+)\(([^)]*)\);";
        foreach (Match match in Regex.Matches(header, Function))
        {
            string name = match.Groups[2].Value;
            if (!declared.TryGetValue(name, out MethodInfo method))
            {
                Check.That(false, name + " in C#");
                continue;
            }
            declared.Remove(name);
            Type result = Results[match.Groups[1].Value];
            Check.That(method.ReturnType == result, name + " to return " + result.Name);
            CompareParameters(match.Groups[3].Value, method);
        }
        foreach (string name in declared.Keys)
        {
            Check.That(false, name + " in the header");
        }
    }

    private static void CompareParameters(string list, MethodInfo method)
    {
        string[] expected = list == "void" ? new string[0] : list.Split(',');
        ParameterInfo[] actual = method.GetParameters();
        if (expected.Length != actual.Length)
        {
            Check.That(false, method.Name + " with " + expected.Length + " parameters");
            return;
        }
        for (int nth = 0; nth < expected.Length; nth++)
        {
            string parameter = expected[nth].Trim();
            Type type = actual[nth].ParameterType;
            bool isPointer = type.IsPointer || type.IsByRef || type.IsArray;
            bool fits = parameter.Contains("*")
                ? isPointer && SizeOfPointee(parameter) == SizeOf(type.GetElementType())
                : type == ValueOf(parameter);
            Check.That(fits, method.Name + ": " + parameter + ", not " + type.Name);
        }
    }

    private static Type ValueOf(string parameter)
    {
        // Each handle is a struct of one number.
        return parameter.StartsWith("struct Kp", StringComparison.Ordinal)
            ? typeof(ulong)
            : Values[parameter.Split(' ')[0]];
    }

    private static int SizeOfPointee(string parameter)
    {
        string type = parameter.Replace("const ", string.Empty);
        switch (type.Substring(0, type.IndexOf('*')).Trim())
        {
            case "char":
            case "uint8_t":
                return 1;
            case "struct KpColumn":
            case "struct KpTarget":
                // A pointer, a size, and one or two numbers of 32 bits.
                return type.Contains("Column") || IntPtr.Size == 8 ? 8 + (2 * IntPtr.Size) : 12;
            case "struct KpSeen":
                // Two numbers of 32 bits and 34 bytes, which are padded.
                return 44;
            case "struct KpTrack":
            case "struct KpTaken":
            case "struct KpBudget":
                return 8;
            case "struct KpRecord":
                return 4;
            case "struct KpEvent":
            case "struct KpRewindOptions":
                return 12;
            case "struct KpPart":
                return 8 + (2 * IntPtr.Size);
            case "struct KpValue":
                return 64;
            case "struct KpPlace":
                return 80;
            case "struct KpMagnitude":
                return 208;
            case "struct KpFigureOptions":
                // Two numbers of 64 bits, six lists and a count.
                return 16 + (13 * IntPtr.Size);
            case "struct KpJoint":
                return 2 * IntPtr.Size;
            case "struct KpField":
            case "struct KpTierInfo":
            case "struct KpPublisherOptions":
            case "struct KpPlayback":
                return 16;
            case "struct KpShownClip":
            case "struct KpReplaySummary":
            case "struct KpReplayInfo":
            case "struct KpHubOptions":
            case "struct KpStreamOptions":
            case "struct KpViewerOptions":
                return 24;
            case "struct KpFigureInfo":
            case "struct KpInputClockOptions":
                return 28;
            case "struct KpRing":
                // Two numbers of 64 bits and three of 32 bits, which are padded.
                return 32;
            case "struct KpRings":
                // Three lists, a number of 64 bits and two of 32 bits.
                return 16 + (6 * IntPtr.Size);
            case "struct KpFigurePose":
                return 10 * IntPtr.Size;
            case "struct KpAnmInfo":
                return 20;
            case "struct KpPose":
                return IntPtr.Size == 8 ? 88 : 48;
            case "struct KpClipInfo":
                return 40;
            case "struct KpClipPlay":
            case "struct KpReceiverOptions":
            case "struct KpPiece":
            case "struct KpTier":
            case "struct KpPredictConfig":
            case "struct KpCorrection":
                return 32;
            case "struct KpLinkStatus":
                return 48;
            case "struct KpHubStatus":
                return 72;
            case "struct KpReceiverStatus":
            case "struct KpViewerStatus":
            case "struct KpInputClockStatus":
            case "struct KpStreamReceiverStatus":
                return 56;
            case "struct KpPredictStats":
                return 80;
            case "struct KpStep":
                return 9 * IntPtr.Size;
            default:
                return SizeOf(ValueOf(type.Replace(" *", " ")));
        }
    }

    private static int SizeOf(Type type)
    {
        return System.Runtime.InteropServices.Marshal.SizeOf(type);
    }

    private static void EnumValues(string header)
    {
        int found = 0;
        const string Constant =
            @"KP_(STATUS|[A-Z]+_KIND|NUMBER|ROLE|MOTION|CARRY|MAGNITUDE_FORM|LINK_LIMIT"
            + @"|EXTRAPOLATION|OUTCOME|REPAIR)"
            + @"_(\w+) = (\d+)";
        foreach (Match match in Regex.Matches(header, Constant))
        {
            Type type = Enums[match.Groups[1].Value];
            object value = Enum.ToObject(type, int.Parse(match.Groups[3].Value));
            string name = match.Groups[2].Value.Replace("_", string.Empty);
            bool equal = string.Equals(value.ToString(), name, StringComparison.OrdinalIgnoreCase);
            Check.That(equal, match.Value + ", not " + value);
            found++;
        }
        int inCSharp = 0;
        foreach (Type type in Enums.Values)
        {
            inCSharp += Enum.GetValues(type).Length;
        }
        Check.Equal(found, inCSharp);
    }
}
