using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>What an r3d2canm file is.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct AnmInfo
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly uint version;
        private readonly uint joints;
        private readonly uint keys;
        private readonly float durationS;
        private readonly float rateHz;
#pragma warning restore 0649

        /// <summary>The version of the format: 1, 2 or 3.</summary>
        public int Version => (int)version;

        /// <summary>The number of joints.</summary>
        public int Joints => (int)joints;

        /// <summary>The number of keys of all joints.</summary>
        public int Keys => (int)keys;

        /// <summary>The duration, in seconds.</summary>
        public float DurationSeconds => durationS;

        /// <summary>Samples in a second of the source. Playback does not need it.</summary>
        public float RateHz => rateHz;
    }

    /// <summary>
    /// An r3d2canm file, the animations of League of Legends, for import and comparison. To play,
    /// build a clip. It does not change.
    /// </summary>
    public sealed class Anm : NativeObject
    {
        /// <summary>Reads a file.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not such a file.</exception>
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

        /// <summary>What the file is.</summary>
        public AnmInfo Info
        {
            get
            {
                Check(Native.kp_anm_info(Id, out AnmInfo info));
                return info;
            }
        }

        /// <summary>The hash of a name, to compare with those of the joints.</summary>
        /// <param name="name">The name.</param>
        public static uint HashOf(string name)
        {
            Library.RequireAbi();
            byte[] text = Interop.ToText(name, nameof(name));
            KinepackException.Check(Native.kp_anm_hash(text, out uint hash));
            return hash;
        }

        /// <summary>The hash of the name of a joint. The file does not contain the name.</summary>
        /// <param name="joint">The joint, from 0.</param>
        public uint JointHash(int joint)
        {
            Check(Native.kp_anm_joint(Id, (uint)joint, out uint hash));
            return hash;
        }

        /// <summary>The bytes of the file.</summary>
        public unsafe byte[] ToBytes()
        {
            Status status = Native.kp_anm_to_bytes(Id, null, UIntPtr.Zero, out UIntPtr size);
            Succeeds(status, Status.Size);
            byte[] bytes = new byte[Interop.ToSize(size)];
            fixed (byte* first = bytes)
            {
                Check(Native.kp_anm_to_bytes(Id, first, size, out size));
            }
            return bytes;
        }

        /// <summary>Writes the pose at a time.</summary>
        /// <param name="timeSeconds">
        /// The time, in seconds. Outside of the file it gives the pose of the nearer end.
        /// </param>
        /// <param name="pose">Where it goes.</param>
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
