using System;

namespace Kinepack
{
    /// <summary>What a field means for motion.</summary>
    public enum Role
    {
        /// <summary>No special meaning.</summary>
        Plain = 0,

        /// <summary>A velocity, which is zero at rest.</summary>
        Velocity = 1,

        /// <summary>The position (three real numbers) or the rotation of a rigid body.</summary>
        Body = 2,

        /// <summary>The flag of a body that something moves.</summary>
        Touched = 3,

        /// <summary>The flag of a body that moves others.</summary>
        Mover = 4,

        /// <summary>A time stamp by which the fields of a stream move.</summary>
        Clock = 5,
    }

    /// <summary>
    /// Builds a schema, kind by kind and field by field. Each method returns the builder. A refused
    /// call throws <see cref="KinepackException"/> and leaves the builder as it was.
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
        /// Begins the next kind. A schema with one kind may leave this out; its kind has no name.
        /// </summary>
        /// <param name="name">The name of the kind.</param>
        public SchemaBuilder Kind(string name)
        {
            return Done(Native.kp_schema_builder_kind(Id, Text(name)));
        }

        /// <summary>
        /// Adds a field of real numbers, all with the same limits. A value is off by at most half
        /// of the precision.
        /// </summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="count">How many numbers, from 1 to 255: 3 for a position.</param>
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
        /// Adds a real number on a circle, such as an angle: after the end it begins again.
        /// </summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="min">The least value, in your unit.</param>
        /// <param name="end">The value that means the same as <paramref name="min"/>.</param>
        /// <param name="precision">The step between values, in your unit, above 0.</param>
        public SchemaBuilder Cyclic(string name, double min, double end, double precision)
        {
            byte[] text = Text(name);
            return Done(Native.kp_schema_builder_cyclic(Id, text, min, end, precision));
        }

        /// <summary>Adds an integer.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="min">The least value.</param>
        /// <param name="max">The largest value.</param>
        public SchemaBuilder Integer(string name, long min, long max)
        {
            return Done(Native.kp_schema_builder_integer(Id, Text(name), min, max));
        }

        /// <summary>Adds a rotation x, y, z, w.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="bits">The bits of each of three components, from 2 to 20.</param>
        public SchemaBuilder Rotation(string name, int bits)
        {
            return Done(Native.kp_schema_builder_rotation(Id, Text(name), (uint)bits));
        }

        /// <summary>Adds a flag, 0 or 1.</summary>
        /// <param name="name">The name of the field.</param>
        public SchemaBuilder Bool(string name)
        {
            return Done(Native.kp_schema_builder_bool(Id, Text(name)));
        }

        /// <summary>Adds one of several alternatives without an order.</summary>
        /// <param name="name">The name of the field.</param>
        /// <param name="max">The last alternative; the first is 0.</param>
        public SchemaBuilder Choice(string name, uint max)
        {
            return Done(Native.kp_schema_builder_choice(Id, Text(name), max));
        }

        /// <summary>Says what the field that was added last means for motion.</summary>
        /// <param name="role">Its role.</param>
        public SchemaBuilder Role(Role role)
        {
            return Done(Native.kp_schema_builder_role(Id, (int)role));
        }

        /// <summary>
        /// Says that the field that was added last is the velocity of another one. Playback follows
        /// curves then.
        /// </summary>
        /// <param name="name">The name of the other field.</param>
        public SchemaBuilder VelocityOf(string name)
        {
            return Done(Native.kp_schema_builder_velocity_of(Id, Text(name)));
        }

        /// <summary>
        /// Says that the field that was added last is present only if another field of its kind has
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
        /// Allows the field that was added last a larger error while it moves: the distance that it
        /// moves in this time.
        /// </summary>
        /// <param name="milliseconds">The time, in milliseconds.</param>
        /// <param name="ticksPerSecond">The ticks of the simulation in a second.</param>
        public SchemaBuilder TimePrecision(double milliseconds, double ticksPerSecond)
        {
            return Done(
                Native.kp_schema_builder_time_precision(Id, milliseconds, ticksPerSecond));
        }

        /// <summary>Makes the schema, and disposes the builder.</summary>
        /// <exception cref="KinepackException">
        /// The fields do not make a schema. The builder stays as it was.
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
