using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    internal static unsafe partial class Native
    {
        /// <summary>Where a pose goes. A part whose pointer is null is left out.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPose
        {
            internal byte* translations;
            internal UIntPtr translation_stride;
            internal byte* rotations;
            internal UIntPtr rotation_stride;
            internal byte* scales;
            internal UIntPtr scale_stride;
            internal UIntPtr bones;
            internal uint* bone_of_joint;
            internal UIntPtr joints;
            internal Number number;
            internal int w_first;
            internal float units_per_m;
        }

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_from_bytes(
            byte* bytes, UIntPtr size, out ulong skeleton);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_joints(ulong skeleton, out uint joints);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_hash(ulong skeleton, out ulong hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_parent(
            ulong skeleton, uint joint, out int parent);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_name(
            ulong skeleton, uint joint, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_find(
            ulong skeleton, byte[] name, out uint joint);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_bind_pose(ulong skeleton, ref KpPose pose);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_free(ulong skeleton);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_rig_from_bytes(byte* bytes, UIntPtr size, out ulong rig);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_rig_free(ulong rig);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_from_bytes(
            byte* bytes, UIntPtr size, ulong rig, out ulong clip);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_info(ulong clip, out ClipInfo info);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_curve_name(
            ulong clip, uint curve, byte* name, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_marker(
            ulong clip,
            uint marker,
            out float time_s,
            byte* name,
            UIntPtr capacity,
            out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_free(ulong clip);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_new(
            ulong clip, ulong skeleton, out ulong player);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_with_bind_pose(
            ulong clip, ref KpPose bind, out ulong player);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample_at(
            ulong player, double position, ref KpPose pose);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample(
            ulong player, float time_s, ref KpPose pose);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_curves(
            ulong player, float time_s, float* curves, UIntPtr count);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_blend(
            ulong player,
            float time_s,
            ulong other,
            float other_time_s,
            float weight,
            float* mask,
            UIntPtr mask_count,
            ref KpPose pose);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_free(ulong player);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_from_bytes(
            byte* bytes, UIntPtr size, out ulong anm);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_to_bytes(
            ulong anm, byte* bytes, UIntPtr capacity, out UIntPtr size);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_info(ulong anm, out AnmInfo info);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_joint(ulong anm, uint joint, out uint hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_hash(byte[] name, out uint hash);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_sample(ulong anm, float time_s, ref KpPose pose);

        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_free(ulong anm);
    }
}
