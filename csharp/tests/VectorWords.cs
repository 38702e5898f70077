using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

/// <summary>The words of the vectors' script: bytes, numbers, and names of objects.</summary>
internal static class Words
{
    private static readonly Dictionary<string, object> Objects = new Dictionary<string, object>();

    /// <summary>Names an object. Objects of other types may have the same name.</summary>
    internal static void Keep<T>(string name, T kept)
    {
        Objects[typeof(T).Name + " " + name] = kept;
    }

    /// <summary>The object of a type with a name.</summary>
    internal static T Kept<T>(string name)
    {
        return (T)Objects[typeof(T).Name + " " + name];
    }

    /// <summary>The bytes of hexadecimal digits. "-" means no bytes.</summary>
    internal static byte[] Bytes(string hex)
    {
        if (hex == "-")
        {
            return new byte[0];
        }
        if (hex.Length % 2 != 0)
        {
            throw new FormatException("These are an odd number of digits.");
        }
        byte[] bytes = new byte[hex.Length / 2];
        for (int nth = 0; nth < bytes.Length; nth++)
        {
            bytes[nth] = (byte)((Digit(hex[2 * nth]) << 4) | Digit(hex[(2 * nth) + 1]));
        }
        return bytes;
    }

    /// <summary>A text from the hexadecimal digits of its UTF-8.</summary>
    internal static string Text(string hex) => Encoding.UTF8.GetString(Bytes(hex));

    /// <summary>The UTF-8 of a text as hexadecimal digits.</summary>
    internal static string Hex(string text) => Hex(Encoding.UTF8.GetBytes(text));

    internal static string Hex(byte[] bytes) => Hex(bytes, bytes.Length);

    /// <summary>The first bytes of an array as hexadecimal digits.</summary>
    internal static string Hex(byte[] bytes, int size)
    {
        StringBuilder hex = new StringBuilder(2 * size);
        for (int nth = 0; nth < size; nth++)
        {
            hex.Append(bytes[nth].ToString("x2"));
        }
        return size == 0 ? "-" : hex.ToString();
    }

    internal static ulong Hash(string hex) => ulong.Parse(hex, NumberStyles.HexNumber);

    /// <summary>Parses a number such as 0.4 or "inf", independent of the culture.</summary>
    internal static double Real(string word)
    {
        return word == "inf"
            ? double.PositiveInfinity
            : double.Parse(word, CultureInfo.InvariantCulture);
    }

    /// <summary>A list in the form of the script.</summary>
    internal static string Listed(List<string> list)
    {
        return list.Count == 0 ? "-" : string.Join(";", list);
    }

    private static int Digit(char digit)
    {
        int value = "0123456789abcdef".IndexOf(digit);
        return value >= 0 ? value : throw new FormatException("This is no digit.");
    }
}
