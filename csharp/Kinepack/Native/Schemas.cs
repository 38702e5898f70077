using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpField
        {
            internal FieldKind kind;
            internal uint numbers;
            internal uint lanes;
            internal uint first_lane;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_from_bytes(
            byte* bytes, UIntPtr size, out ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_to_bytes(
            ulong schema, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_hash(ulong schema, out ulong hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kinds(ulong schema, out uint kinds);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_fields(ulong schema, uint kind, out uint fields);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field(
            ulong schema, uint kind, uint field, out KpField described);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kind_name(
            ulong schema, uint kind, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field_name(
            ulong schema, uint kind, uint field, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_free(ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_new(out ulong builder);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_kind(ulong builder, byte[] name);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_floats(
            ulong builder, byte[] name, uint count, double min, double max, double precision);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_cyclic(
            ulong builder, byte[] name, double min, double end, double precision);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_integer(
            ulong builder, byte[] name, long min, long max);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_rotation(
            ulong builder, byte[] name, uint bits);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_bool(ulong builder, byte[] name);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_choice(
            ulong builder, byte[] name, uint max);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_role(ulong builder, int role);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_velocity_of(ulong builder, byte[] name);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_condition(
            ulong builder, byte[] selector, uint least, uint most);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_time_precision(
            ulong builder, double milliseconds, double ticks_per_s);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_build(ulong builder, out ulong schema);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_free(ulong builder);
    }
}
