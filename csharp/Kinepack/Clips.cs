using System;

namespace Kinepack
{
    /// <summary>A joint of a skeleton to create.</summary>
    public readonly struct SkeletonJoint
    {
        /// <summary>Describes a joint.</summary>
        /// <param name="name">The name, which may be empty and need not be unique.</param>
        /// <param name="parent">
        /// The index of the parent, which is lower than the joint's own index; -1 for a root.
        /// </param>
        public SkeletonJoint(string name, int parent)
        {
            Name = name;
            Parent = parent;
        }

        /// <summary>The name of the joint.</summary>
        public string Name { get; }

        /// <summary>The index of the parent; -1 for a root.</summary>
        public int Parent { get; }
    }

    /// <summary>The joints of a character. Immutable.</summary>
    public sealed class Skeleton : NativeObject
    {
        /// <summary>Creates a skeleton of joints.</summary>
        /// <param name="joints">The joints, parents first.</param>
        /// <param name="bind">
        /// The bind pose. Parts without memory have the value of a joint that does not move, turn
        /// or scale.
        /// </param>
        /// <exception cref="KinepackException">
        /// A parent does not precede its child, or the bind pose does not fit.
        /// </exception>
        public unsafe Skeleton(SkeletonJoint[] joints, Pose bind)
        {
            Require.NotNull(joints, nameof(joints));
            Require.NotNull(bind, nameof(bind));
            Texts names = new Texts();
            Native.KpJoint[] native = new Native.KpJoint[joints.Length];
            int[] begins = new int[joints.Length];
            for (int nth = 0; nth < joints.Length; nth++)
            {
                begins[nth] = names.Add(joints[nth].Name, nameof(joints));
                native[nth].parent = joints[nth].Parent;
            }
            using (bind.Pin(out Native.KpPose from))
            fixed (uint* bones = bind.BoneOfJoint)
            fixed (byte* texts = names.ToArray())
            fixed (Native.KpJoint* first = native)
            {
                from.bone_of_joint = bones;
                for (int nth = 0; nth < joints.Length; nth++)
                {
                    first[nth].name = texts + begins[nth];
                }
                UIntPtr count = (UIntPtr)joints.Length;
                KinepackException.Check(
                    Native.kp_skeleton_new(first, count, ref from, out ulong made));
                Own(made);
            }
            Joints = joints.Length;
        }

        /// <summary>Reads a skeleton file.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not a skeleton.</exception>
        public unsafe Skeleton(byte[] bytes)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(
                    Native.kp_skeleton_from_bytes(first, size, out ulong made));
                Own(made);
            }
            Check(Native.kp_skeleton_joints(Id, out uint joints));
            Joints = (int)joints;
        }

        /// <summary>The number of joints.</summary>
        public int Joints { get; }

        /// <summary>The hash of the skeleton. The skeleton's clips store the same hash.</summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_skeleton_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>
        /// The index of a joint's parent, which is lower than the joint's own index; -1 for a root.
        /// </summary>
        /// <param name="joint">The joint, from 0.</param>
        public int Parent(int joint)
        {
            Check(Native.kp_skeleton_parent(Id, (uint)joint, out int parent));
            return parent;
        }

        /// <summary>The name of a joint.</summary>
        /// <param name="joint">The joint, from 0.</param>
        public unsafe string Name(int joint)
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_skeleton_name(Id, (uint)joint, text, capacity, out size));
        }

        /// <summary>Finds the first joint with a name.</summary>
        /// <param name="name">The name to find.</param>
        /// <param name="joint">The index of the joint.</param>
        /// <returns>False if there is no such joint.</returns>
        public bool TryFind(string name, out int joint)
        {
            byte[] text = Interop.ToText(name, nameof(name));
            Status status = Native.kp_skeleton_find(Id, text, out uint found);
            bool exists = Succeeds(status, Status.Nothing);
            joint = exists ? (int)found : -1;
            return exists;
        }

        /// <summary>Writes the bind pose.</summary>
        /// <param name="pose">The memory to write to.</param>
        public unsafe void BindPose(Pose pose)
        {
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            {
                to.bone_of_joint = bones;
                Check(Native.kp_skeleton_bind_pose(Id, ref to));
            }
        }

        internal override Status Free(ulong freed) => Native.kp_skeleton_free(freed);
    }

    /// <summary>The parameters that many clips of one skeleton share. Immutable.</summary>
    public sealed class Rig : NativeObject
    {
        /// <summary>Reads a rig file.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <exception cref="KinepackException">The bytes are not a rig.</exception>
        public unsafe Rig(byte[] bytes)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(Native.kp_rig_from_bytes(first, size, out ulong made));
                Own(made);
            }
        }

        internal override Status Free(ulong freed) => Native.kp_rig_free(freed);
    }

    public readonly partial struct ClipInfo
    {
        /// <summary>The number of joints.</summary>
        public int Joints => (int)joints;

        /// <summary>
        /// The number of sample times of the raw clip from which the clip was built.
        /// </summary>
        public int Samples => (int)samples;

        /// <summary>The number of samples per second.</summary>
        public float RateHz => rate_hz;

        /// <summary>The number of seconds from the first sample to the last.</summary>
        public float DurationSeconds => duration_s;

        /// <summary>The hash of the clip's skeleton.</summary>
        public ulong SkeletonHash => skeleton_hash;

        /// <summary>The size of the clip in memory in bytes, without its players.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The number of curves, which are values besides the joints, such as weights of blend
        /// shapes.
        /// </summary>
        public int Curves => (int)curves;

        /// <summary>The number of markers, which are named times, such as footsteps.</summary>
        public int Markers => (int)markers;
    }

    /// <summary>A named time of a clip, such as a footstep.</summary>
    public readonly struct ClipMarker
    {
        /// <summary>Creates a marker.</summary>
        /// <param name="name">The name of the marker.</param>
        /// <param name="timeSeconds">
        /// The time of the marker, in seconds from the clip's first sample.
        /// </param>
        public ClipMarker(string name, float timeSeconds)
        {
            Name = name;
            TimeSeconds = timeSeconds;
        }

        /// <summary>The name of the marker. Several markers may have the same name.</summary>
        public string Name { get; }

        /// <summary>The time of the marker, in seconds from the clip's first sample.</summary>
        public float TimeSeconds { get; }
    }

    /// <summary>A compressed animation clip. Immutable.</summary>
    public sealed class Clip : NativeObject
    {
        /// <summary>Reads a clip in memory form or disk form.</summary>
        /// <param name="bytes">The whole file.</param>
        /// <param name="rig">The rig of the clip, or null for a clip without a rig.</param>
        /// <exception cref="KinepackException">The bytes are not a clip.</exception>
        public unsafe Clip(byte[] bytes, Rig rig = null)
        {
            Require.NotNull(bytes, nameof(bytes));
            ulong shared = rig == null ? 0 : rig.Id;
            fixed (byte* first = bytes)
            {
                UIntPtr size = (UIntPtr)bytes.Length;
                KinepackException.Check(
                    Native.kp_clip_from_bytes(first, size, shared, out ulong made));
                Own(made);
            }
            GC.KeepAlive(rig);
        }

        /// <summary>The size, duration and other properties of the clip.</summary>
        public ClipInfo Info
        {
            get
            {
                Check(Native.kp_clip_info(Id, out ClipInfo info));
                return info;
            }
        }

        /// <summary>Returns the name of a curve.</summary>
        /// <param name="curve">The index of the curve, from 0.</param>
        public unsafe string CurveName(int curve)
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_clip_curve_name(Id, (uint)curve, text, capacity, out size));
        }

        /// <summary>Returns a marker.</summary>
        /// <param name="marker">
        /// The index of the marker, from 0, in the order of their times.
        /// </param>
        public unsafe ClipMarker Marker(int marker)
        {
            float time = 0.0f;
            string name = ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_clip_marker(Id, (uint)marker, out time, text, capacity, out size));
            return new ClipMarker(name, time);
        }

        internal override Status Free(ulong freed) => Native.kp_clip_free(freed);
    }

    /// <summary>
    /// Plays one clip on one character. Players of a clip share its memory, and remain valid after
    /// the clip is disposed.
    /// </summary>
    public sealed class Player : NativeObject
    {
        /// <summary>Creates a player of a clip on its skeleton.</summary>
        /// <param name="clip">The clip.</param>
        /// <param name="skeleton">The skeleton of the clip.</param>
        public Player(Clip clip, Skeleton skeleton)
        {
            Require.NotNull(clip, nameof(clip));
            Require.NotNull(skeleton, nameof(skeleton));
            clip.Check(Native.kp_player_new(clip.Id, skeleton.Id, out ulong made));
            GC.KeepAlive(skeleton);
            Own(made);
        }

        /// <summary>
        /// Creates a player on an engine's skeleton, without comparing that skeleton with the
        /// clip's.
        /// </summary>
        /// <param name="clip">The clip.</param>
        /// <param name="bind">
        /// The bind pose. Channels that the clip does not store keep the values of this pose.
        /// </param>
        public unsafe Player(Clip clip, Pose bind)
        {
            Require.NotNull(clip, nameof(clip));
            Require.NotNull(bind, nameof(bind));
            using (bind.Pin(out Native.KpPose from))
            fixed (uint* bones = bind.BoneOfJoint)
            {
                from.bone_of_joint = bones;
                clip.Check(
                    Native.kp_player_with_bind_pose(clip.Id, ref from, out ulong made));
                Own(made);
            }
        }

        /// <summary>Writes the pose at a position in samples.</summary>
        /// <param name="position">
        /// The position in samples from the first. Whole numbers are the sample times.
        /// </param>
        /// <param name="pose">The memory to write to.</param>
        public unsafe void SampleAt(double position, Pose pose)
        {
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            {
                to.bone_of_joint = bones;
                Check(Native.kp_player_sample_at(Id, position, ref to));
            }
        }

        /// <summary>Writes the pose at a time.</summary>
        /// <param name="timeSeconds">
        /// The time, in seconds. Times outside the clip give its first or last pose.
        /// </param>
        /// <param name="pose">The memory to write to.</param>
        public unsafe void Sample(float timeSeconds, Pose pose)
        {
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            {
                to.bone_of_joint = bones;
                Check(Native.kp_player_sample(Id, timeSeconds, ref to));
            }
        }

        /// <summary>Writes the values of all curves at a time.</summary>
        /// <param name="timeSeconds">The time, in seconds.</param>
        /// <param name="values">An array with as many elements as the clip has curves.</param>
        public unsafe void Curves(float timeSeconds, float[] values)
        {
            Require.NotNull(values, nameof(values));
            fixed (float* first = values)
            {
                UIntPtr count = (UIntPtr)values.Length;
                Check(Native.kp_player_curves(Id, timeSeconds, first, count));
            }
        }

        /// <summary>Writes a blend of the poses of two players of the same skeleton.</summary>
        /// <param name="timeSeconds">The time in this clip, in seconds.</param>
        /// <param name="other">The other player.</param>
        /// <param name="otherSeconds">The time in the other clip, in seconds.</param>
        /// <param name="weight">0 gives this player's pose, 1 the other player's.</param>
        /// <param name="mask">
        /// A factor for each joint, which scales the weight. If null or empty, there is no mask.
        /// </param>
        /// <param name="pose">The memory to write to.</param>
        public unsafe void Blend(
            float timeSeconds,
            Player other,
            float otherSeconds,
            float weight,
            float[] mask,
            Pose pose)
        {
            Require.NotNull(other, nameof(other));
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            fixed (float* factors = mask)
            {
                to.bone_of_joint = bones;
                UIntPtr count = (UIntPtr)(mask == null ? 0 : mask.Length);
                Check(Native.kp_player_blend(
                    Id, timeSeconds, other.Id, otherSeconds, weight, factors, count, ref to));
            }
            GC.KeepAlive(other);
        }

        internal override Status Free(ulong freed) => Native.kp_player_free(freed);
    }
}
