using System;

namespace Kinepack
{
    /// <summary>
    /// Builds a schema, kind by kind and field by field. Each method returns the builder. A refused
    /// call throws <see cref="KinepackException"/> and leaves the builder unchanged.
    /// <see cref="Build"/> checks conditions, and <see cref="Codec"/> checks time precisions.
    /// </summary>
    public sealed class SchemaBuilder : NativeObject
    {
        /// <summary>Begins a schema.</summary>
        public SchemaBuilder()
        {
            KinepackException.Check(Native.kp_schema_builder_new(out ulong made));
            Own(made);
        }

        /// <summary>
        /// Begins the next kind. A schema with one kind may omit this call. Then its kind has no
        /// name.
        /// </summary>
        /// <param name="name">The name of the kind.</param>
        public SchemaBuilder Kind(string name)
        {
            return Done(Native.kp_schema_builder_kind(Id, Text(name)));
        }

        /// <summary>
        /// Begins a kind of entities with the body of a figure. Fields that are added next are
        /// other fields of the same kind, until another kind begins.
        /// </summary>
        /// <param name="name">The name of the kind.</param>
        /// <param name="figure">The figure.</param>
        public SchemaBuilder Figure(string name, Figure figure)
        {
            Require.NotNull(figure, nameof(figure));
            Status status = Native.kp_schema_builder_figure(Id, Text(name), figure.Id);
            GC.KeepAlive(figure);
            return Done(status);
        }

        /// <summary>
        /// Adds a field of real numbers, all with the same limits. A decoded value is off by at
        /// most half of the precision.
        /// </summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="count">The count of numbers, from 1 to 255: 3 for a position.</param>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="max">The largest value, in your unit.</param>
        /// <param name="precision">The step between values, in your unit, above 0.</param>
        public SchemaBuilder Floats(
            string name, int count, double min, double max, double precision)
        {
            byte[] text = Text(name);
            return Done(
                Native.kp_schema_builder_floats(Id, text, (uint)count, min, max, precision));
        }

        /// <summary>
        /// Adds a real number on a circle, such as an angle, which wraps from <paramref
        /// name="end"/> to <paramref name="min"/>.
        /// </summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that is equivalent to <paramref name="min"/>.</param>
        /// <param name="precision">The step between values, in your unit, above 0.</param>
        public SchemaBuilder Cyclic(string name, double min, double end, double precision)
        {
            byte[] text = Text(name);
            return Done(Native.kp_schema_builder_cyclic(Id, text, min, end, precision));
        }

        /// <summary>Adds an integer field.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="min">The least value.</param>
        /// <param name="max">The largest value.</param>
        public SchemaBuilder Integer(string name, long min, long max)
        {
            return Done(Native.kp_schema_builder_integer(Id, Text(name), min, max));
        }

        /// <summary>Adds a rotation field with the numbers x, y, z, w.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="bits">The bits for each of three components, from 2 to 20.</param>
        public SchemaBuilder Rotation(string name, int bits)
        {
            return Done(Native.kp_schema_builder_rotation(Id, Text(name), (uint)bits));
        }

        /// <summary>Adds a flag, which is 0 or 1.</summary>
        /// <param name="name">The name of the field.</param>
        public SchemaBuilder Bool(string name)
        {
            return Done(Native.kp_schema_builder_bool(Id, Text(name)));
        }

        /// <summary>Adds a field with one of several alternatives without an order.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="max">The last alternative. The first one is 0.</param>
        public SchemaBuilder Choice(string name, uint max)
        {
            return Done(Native.kp_schema_builder_choice(Id, Text(name), max));
        }

        /// <summary>Sets the role that the last field has in motion.</summary>
        /// <param name="role">The role of the field.</param>
        public SchemaBuilder Role(Role role)
        {
            return Done(Native.kp_schema_builder_role(Id, (int)role));
        }

        /// <summary>
        /// Declares the last field to be the velocity of another field. Playback then follows
        /// curves.
        /// </summary>
        /// <param name="name">The name of the other field.</param>
        public SchemaBuilder VelocityOf(string name)
        {
            return Done(Native.kp_schema_builder_velocity_of(Id, Text(name)));
        }

        /// <summary>
        /// Adds the fields of a stamp, for the inputs of players. They are those of a field of the
        /// type <c>Option&lt;Seen&gt;</c> in Rust, so both schemas are the same.
        /// </summary>
        /// <param name="name">The name of the stamp.</param>
        public SchemaBuilder Seen(string name)
        {
            return Done(Native.kp_schema_builder_seen(Id, Text(name)));
        }

        /// <summary>
        /// Makes the last field relative to another entity, such as the ship under a passenger. The
        /// last field is a rotation, or a position or velocity of three axes.
        /// </summary>
        /// <param name="name">
        /// The name of the field with the entity's id, an integer with the role Frame. If it is
        /// conditional on a bool with the same role, the last field is relative to the world while
        /// the bool is 0.
        /// </param>
        public SchemaBuilder Frame(string name)
        {
            return Done(Native.kp_schema_builder_frame(Id, Text(name)));
        }

        /// <summary>
        /// Makes the last field conditional. It is present only if another field of its kind has
        /// certain values.
        /// </summary>
        /// <param name="selector">The name of the other field.</param>
        /// <param name="least">The first of these values.</param>
        /// <param name="most">The last of these values.</param>
        public SchemaBuilder Condition(string selector, uint least, uint most)
        {
            byte[] text = Text(selector);
            return Done(Native.kp_schema_builder_condition(Id, text, least, most));
        }

        /// <summary>
        /// Lets the last field be off by the distance that it moves in a given time, while it
        /// moves.
        /// </summary>
        /// <param name="milliseconds">The time, in milliseconds.</param>
        /// <param name="ticksPerSecond">The ticks per second of the simulation.</param>
        public SchemaBuilder TimePrecision(double milliseconds, double ticksPerSecond)
        {
            return Done(
                Native.kp_schema_builder_time_precision(Id, milliseconds, ticksPerSecond));
        }

        /// <summary>
        /// Lets the last field be coarser in some entities: by as many bits as an earlier integer
        /// field of its kind holds. If a state has 0 there, the field is exact.
        /// </summary>
        /// <param name="coarseness">The name of the integer field.</param>
        /// <param name="mostBits">The most bits by which the last field becomes coarser.</param>
        public SchemaBuilder Coarser(string coarseness, uint mostBits)
        {
            byte[] text = Text(coarseness);
            return Done(Native.kp_schema_builder_coarser(Id, text, mostBits));
        }

        /// <summary>Builds the schema, and disposes the builder.</summary>
        /// <exception cref="KinepackException">
        /// The fields are not a valid schema. The builder is unchanged.
        /// </exception>
        public Schema Build()
        {
            Check(Native.kp_schema_builder_build(Id, out ulong made));
            Forget();
            return new Schema(made);
        }

        internal override Status Free(ulong freed) => Native.kp_schema_builder_free(freed);

        private static byte[] Text(string name) => Interop.ToText(name, nameof(name));

        private SchemaBuilder Done(Status status)
        {
            Check(status);
            return this;
        }
    }
}
