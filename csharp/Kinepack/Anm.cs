using System;

namespace Kinepack
{
    public readonly partial struct AnmInfo
    {
        /// <summary>The version of the format: 1, 2 or 3.</summary>
        public int Version => (int)version;

        /// <summary>The number of joints.</summary>
        public int Joints => (int)joints;

        /// <summary>The number of keys of all joints together.</summary>
        public int Keys => (int)keys;

        /// <summary>The duration, in seconds.</summary>
        public float DurationSeconds => duration_s;

        /// <summary>The sample rate of the source in Hz. Playback does not need it.</summary>
        public float RateHz => rate_hz;
    }

    /// <summary>
    /// An r3d2canm file, the animation format of League of Legends, for import and comparison. For
    /// playback, build a clip. Immutable.
    /// </summary>
    public sealed class Anm : NativeObject
    {
        /// <summary>Reads an r3d2canm file.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not an r3d2canm file.</exception>
        public unsafe Anm(byte[] bytes)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(Native.kp_anm_from_bytes(first, size, out ulong made));
                Own(made);
            }
        }

        /// <summary>The properties of the file.</summary>
        public AnmInfo Info
        {
            get
            {
                Check(Native.kp_anm_info(Id, out AnmInfo info));
                return info;
            }
        }

        /// <summary>
        /// The hash of a name, to compare with the hashes of <see cref="JointHash"/>.
        /// </summary>
        /// <param name="name">The name.</param>
        public static uint HashOf(string name)
        {
            Library.RequireAbi();
            byte[] text = Interop.ToText(name, nameof(name));
            KinepackException.Check(Native.kp_anm_hash(text, out uint hash));
            return hash;
        }

        /// <summary>
        /// The hash of a joint's name. The file does not contain the name itself.
        /// </summary>
        /// <param name="joint">The joint, from 0.</param>
        public uint JointHash(int joint)
        {
            Check(Native.kp_anm_joint(Id, (uint)joint, out uint hash));
            return hash;
        }

        /// <summary>The bytes of the file.</summary>
        public unsafe byte[] ToBytes()
        {
            return ReadBytes((byte* bytes, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_anm_to_bytes(Id, bytes, capacity, out size));
        }

        /// <summary>Writes the pose at a time.</summary>
        /// <param name="timeSeconds">
        /// The time, in seconds. A time outside of the file gives the pose of the nearer end.
        /// </param>
        /// <param name="pose">The memory to write to.</param>
        public unsafe void Sample(float timeSeconds, Pose pose)
        {
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            {
                to.bone_of_joint = bones;
                Check(Native.kp_anm_sample(Id, timeSeconds, ref to));
            }
        }

        internal override Status Free(ulong freed) => Native.kp_anm_free(freed);
    }
}
