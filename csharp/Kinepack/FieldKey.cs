using System;

namespace Kinepack
{
    /// <summary>
    /// Selects a field of a kind by its index or its name. An int or a string converts to a key.
    /// </summary>
    public readonly struct FieldKey
    {
        private readonly string name;
        private readonly int index;

        private FieldKey(string name, int index)
        {
            this.name = name;
            this.index = index;
        }

        /// <summary>Selects the field with the given index.</summary>
        /// <param name="index">The index of the field in its kind, from 0.</param>
        public static implicit operator FieldKey(int index) => new FieldKey(null, index);

        /// <summary>Selects the field with the given name.</summary>
        /// <param name="name">The name of the field.</param>
        public static implicit operator FieldKey(string name)
        {
            Require.NotNull(name, nameof(name));
            return new FieldKey(name, -1);
        }

        /// <summary>Returns the index of the selected field in <paramref name="fields"/>.</summary>
        internal int In(Field[] fields)
        {
            if (name != null)
            {
                int found = Schema.IndexOf(fields, name);
                return found >= 0
                    ? found
                    : throw new ArgumentException("The kind has no field " + name + ".", "field");
            }
            if (index < 0 || index >= fields.Length)
            {
                string text = "The kind has " + fields.Length + " fields.";
                throw new ArgumentOutOfRangeException("field", index, text);
            }
            return index;
        }
    }
}
