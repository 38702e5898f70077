using System;

namespace Kinepack
{
    /// <summary>A part of the transform of a bone.</summary>
    public enum PosePart
    {
        /// <summary>The translation, as x, y, z.</summary>
        Translation = 0,

        /// <summary>The rotation, as x, y, z, w.</summary>
        Rotation = 1,

        /// <summary>The scale, as x, y, z.</summary>
        Scale = 2,
    }

    /// <summary>
    /// Describes where a pose is in your memory. Each part has an array, a field of an array of
    /// structs, or a pointer. Either all parts are float or all are double. A part without memory
    /// is ignored.
    /// </summary>
    /// <remarks>
    /// Create a pose once and use it for each frame, because using it allocates nothing. If two
    /// threads use the same pose, the second one waits.
    /// </remarks>
    public sealed class Pose
    {
        private static readonly int[] NumbersOfPart = { 3, 4, 3 };

        private readonly Sources sources = new Sources(NumbersOfPart.Length);
        private readonly uint[] boneOfJoint;

        /// <summary>Creates a pose, at first without memory.</summary>
        /// <param name="boneOfJoint">
        /// The bone of each joint, or <see cref="uint.MaxValue"/> for no bone. If null or empty,
        /// joint 0 is bone 0, and so on.
        /// </param>
        public Pose(uint[] boneOfJoint = null)
        {
            this.boneOfJoint = (uint[])boneOfJoint?.Clone() ?? new uint[0];
        }

        /// <summary>Whether rotations are ordered w, x, y, z.</summary>
        public bool IsWFirst { get; set; }

        /// <summary>The number of units per metre: 1 for metres, 100 for centimetres.</summary>
        public float UnitsPerMetre { get; set; } = 1.0f;

        /// <summary>
        /// Sets the memory of a part to an array. The array has numbers, bone after bone, or
        /// structs.
        /// </summary>
        /// <param name="part">The part to set.</param>
        /// <param name="values">Numbers, or a struct of 3 or 4 numbers for each bone.</param>
        public Pose Set<T>(PosePart part, T[] values)
            where T : struct
        {
            return Put(part, Source.Of(values, NumbersOf(part)));
        }

        /// <summary>Sets the memory of a part to a field of an array of structs.</summary>
        /// <param name="part">The part to set.</param>
        /// <param name="bones">One struct for each bone.</param>
        /// <param name="member">The name of the struct's field.</param>
        public Pose Set<T>(PosePart part, T[] bones, string member)
            where T : struct
        {
            return Put(part, Source.Of(bones, member, NumbersOf(part)));
        }

        /// <summary>
        /// Sets the memory of a part to memory that does not move. The memory must stay valid until
        /// you set the part to other memory.
        /// </summary>
        /// <param name="part">The part to set.</param>
        /// <param name="data">
        /// The address of the first number of the first bone. Numbers need no alignment.
        /// </param>
        /// <param name="sizeBytes">The size of the memory from that address on, in bytes.</param>
        /// <param name="strideBytes">The number of bytes from one bone to the next.</param>
        /// <param name="number">The type of the numbers: F32 or F64.</param>
        public Pose Set(
            PosePart part, IntPtr data, long sizeBytes, int strideBytes, Number number)
        {
            int numbers = NumbersOf(part);
            return Put(part, Source.Of(data, sizeBytes, strideBytes, number, numbers));
        }

        /// <summary>
        /// Pins the memory until the result is disposed, and describes it except for bone_of_joint.
        /// </summary>
        /// <param name="native">The description for the native library.</param>
        internal unsafe Sources.Pinned Pin(out Native.KpPose native)
        {
            Sources.Pinned pinned = sources.Pin();
            native = default(Native.KpPose);
            Source translations = sources[0];
            Source rotations = sources[1];
            Source scales = sources[2];
            Number? number = null;
            for (int part = 0; part < sources.Count; part++)
            {
                if (!sources[part].IsSet)
                {
                    continue;
                }
                if (number != null && number != sources[part].Number)
                {
                    pinned.Dispose();
                    throw new ArgumentException("Parts of the pose differ in type.", "pose");
                }
                number = sources[part].Number;
            }
            native.translations = (byte*)sources.Begins[0];
            native.translation_stride = translations.Stride;
            native.rotations = (byte*)sources.Begins[1];
            native.rotation_stride = rotations.Stride;
            native.scales = (byte*)sources.Begins[2];
            native.scale_stride = scales.Stride;
            native.bones = (UIntPtr)(ulong)sources.Capacity;
            native.joints = (UIntPtr)boneOfJoint.Length;
            native.number = (int)(number ?? Number.F32);
            native.w_first = IsWFirst ? 1 : 0;
            native.units_per_m = UnitsPerMetre;
            return pinned;
        }

        /// <summary>
        /// The bone of each joint. The array is empty if joint 0 is bone 0, and so on. Immutable.
        /// </summary>
        internal uint[] BoneOfJoint => boneOfJoint;

        private static int NumbersOf(PosePart part)
        {
            if (part < PosePart.Translation || part > PosePart.Scale)
            {
                throw new ArgumentOutOfRangeException(nameof(part), part, "It is no part.");
            }
            return NumbersOfPart[(int)part];
        }

        private Pose Put(PosePart part, Source source)
        {
            sources.Set((int)part, source);
            return this;
        }
    }
}
