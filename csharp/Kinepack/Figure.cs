using System;

namespace Kinepack
{
    /// <summary>
    /// The body of one kind of entity. A figure turns poses into the fields of a schema, and back.
    /// It chooses the steps of the fields, so that no pose is farther off than the precision. <see
    /// cref="SchemaBuilder.Figure"/> makes the kind.
    /// </summary>
    public sealed partial class Figure : NativeObject
    {
        /// <summary>Creates a figure of a skeleton.</summary>
        /// <param name="skeleton">The skeleton, which must be the same on both sides.</param>
        /// <param name="options">
        /// What the figure sends, and how precisely. Null selects the defaults.
        /// </param>
        /// <exception cref="KinepackException">
        /// The options do not fit the skeleton, or a precision is finer than the numbers of a pose.
        /// </exception>
        public Figure(Skeleton skeleton, FigureOptions options = null)
        {
            Require.NotNull(skeleton, nameof(skeleton));
            Status status = (options ?? new FigureOptions()).Make(skeleton.Id, out ulong made);
            skeleton.Check(status);
            Own(made);
            Check(Native.kp_figure_info(Id, out Native.KpFigureInfo info));
            Joints = (int)info.joints;
            Curves = (int)info.curves;
            Parts = (int)info.parts;
            Lanes = (int)info.lanes;
            Clips = (int)info.clips;
            ClipSlots = (int)info.clip_slots;
            Tiers = (int)info.tiers;
            PositionField = NameOfPosition();
        }

        /// <summary>The number of joints of the skeleton.</summary>
        public int Joints { get; }

        /// <summary>The number of curves.</summary>
        public int Curves { get; }

        /// <summary>The number of parts that may be absent.</summary>
        public int Parts { get; }

        /// <summary>The number of integers that an entity of this kind has.</summary>
        public int Lanes { get; }

        /// <summary>
        /// The number of tiers: 1 and those of <see cref="FigureOptions.Coarser"/>.
        /// </summary>
        public int Tiers { get; }

        /// <summary>
        /// The name of the field with the position of the first joint that moves, or null if no
        /// joint moves. After the kind's name and a dot, it is one of <see
        /// cref="Rings.Positions"/>.
        /// </summary>
        public string PositionField { get; }

        /// <summary>
        /// Returns the largest error, in centimetres, that a joint can have in poses that move only
        /// as the options say. It is at most the joint's precision in the tier. In other poses the
        /// error may reach the precision.
        /// </summary>
        /// <param name="joint">The joint, from 0.</param>
        /// <param name="tier">The tier, from 0.</param>
        public double MaxErrorCm(int joint, int tier = 0)
        {
            Status status = Native.kp_figure_max_error_cm(
                Id, (uint)tier, (uint)joint, out double errorCm);
            Check(status);
            return errorCm;
        }

        /// <summary>
        /// Quantizes a pose relative to the parents, and adds it to a snapshot, as an entity of a
        /// kind that has the fields of this figure.
        /// </summary>
        /// <param name="world">The snapshot.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity, which must be above the ids before.</param>
        /// <param name="pose">
        /// The pose. Where it has no numbers for a joint, the joint has its bind pose.
        /// </param>
        /// <param name="curves">A value for each curve, or null if there are no curves.</param>
        /// <param name="absent">
        /// The parts that are absent, or null if all are present. The joints and curves of absent
        /// parts are ignored.
        /// </param>
        /// <param name="plays">At most one clip for each slot, or null for none.</param>
        /// <param name="tier">
        /// The tier in which the pose is sent: 0 for the precision of the options, and from 1 on
        /// those of <see cref="FigureOptions.Coarser"/>.
        /// </param>
        /// <param name="others">
        /// For a kind that has other fields too: columns of this kind, with one record for each of
        /// the other fields. Those of the figure's fields are not set. Null if there are no other
        /// fields.
        /// </param>
        /// <exception cref="KinepackException">
        /// A number is not finite or beyond its limits, or a joint moves in a way that the figure
        /// does not send (<see cref="Status.Value"/>). Or the kind, a part, a clip, a slot or the
        /// tier is not of this figure, two clips are in one slot, or the id is not above the ids
        /// before. The snapshot is unchanged.
        /// </exception>
        public unsafe void Push(
            Snapshot world,
            int kind,
            uint id,
            Pose pose,
            float[] curves = null,
            int[] absent = null,
            ClipPlay[] plays = null,
            int tier = 0,
            Columns others = null)
        {
            Require.NotNull(world, nameof(world));
            Require.NotNull(pose, nameof(pose));
            Require.NotNegative(tier, nameof(tier));
            using (pose.Pin(out Native.KpPose from))
            fixed (uint* bones = pose.BoneOfJoint)
            fixed (float* values = curves)
            fixed (int* parts = absent)
            fixed (ClipPlay* clips = plays)
            {
                from.bone_of_joint = bones;
                Native.KpFigurePose body = new Native.KpFigurePose
                {
                    joints = &from,
                    curves = values,
                    curve_count = CountOf(curves),
                    absent = (uint*)parts,
                    absent_count = CountOf(absent),
                    clips = clips,
                    clip_count = CountOf(plays),
                    tier = (uint)tier,
                };
                Check(others == null
                    ? Native.kp_figure_push(Id, world.Id, (uint)kind, id, ref body)
                    : PushWith(others, world, kind, id, ref body));
                GC.KeepAlive(world);
            }
        }

        /// <summary>
        /// Writes the pose of an entity in a snapshot, relative to the parents. The kind may have
        /// other fields besides those of this figure. The joints and curves of absent parts are not
        /// written.
        /// </summary>
        /// <param name="world">The snapshot.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="pose">The memory to write to.</param>
        /// <param name="curves">
        /// An array for the values of all curves, or null to write only joints.
        /// </param>
        /// <returns>False if the kind has no such entity.</returns>
        public unsafe bool TryRead(
            Snapshot world, int kind, uint id, Pose pose, float[] curves = null)
        {
            Require.NotNull(world, nameof(world));
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            fixed (float* values = curves)
            {
                to.bone_of_joint = bones;
                UIntPtr count = CountOf(curves);
                Status status = Native.kp_figure_read(
                    Id, world.Id, (uint)kind, id, ref to, values, count);
                GC.KeepAlive(world);
                return Succeeds(status, Status.Nothing);
            }
        }

        /// <summary>
        /// Writes the pose of an entity that a receiver, a viewer or a replay shows. It is
        /// interpolated between two states: joints turn the shorter way at constant speed. A part
        /// that is present in only one of the states is as in the earlier one, until the later is
        /// reached. The kind may have other fields too.
        /// </summary>
        /// <param name="shown">The receiver, the viewer or the replay.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="pose">The memory to write to.</param>
        /// <param name="curves">
        /// An array for the values of all curves, or null to write only joints.
        /// </param>
        /// <returns>False if no such entity is shown.</returns>
        public unsafe bool TryShow(
            Shown shown, int kind, uint id, Pose pose, float[] curves = null)
        {
            Require.NotNull(shown, nameof(shown));
            Require.NotNull(pose, nameof(pose));
            using (pose.Pin(out Native.KpPose to))
            fixed (uint* bones = pose.BoneOfJoint)
            fixed (float* values = curves)
            {
                to.bone_of_joint = bones;
                UIntPtr count = CountOf(curves);
                Status status = Native.kp_figure_show(
                    Id, shown.ShownId, (uint)kind, id, ref to, values, count);
                GC.KeepAlive(shown);
                return Succeeds(status, Status.Nothing);
            }
        }

        /// <summary>
        /// Returns whether a snapshot has the entity, and the part of the entity is present.
        /// </summary>
        /// <param name="world">The snapshot.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="part">The part, from 0.</param>
        public bool IsPresent(Snapshot world, int kind, uint id, int part)
        {
            Require.NotNull(world, nameof(world));
            Status status = Native.kp_figure_is_present(
                Id, world.Id, (uint)kind, id, (uint)part, out int isPresent);
            GC.KeepAlive(world);
            return Succeeds(status, Status.Nothing) && isPresent != 0;
        }

        /// <summary>
        /// Returns whether the entity is shown, and <see cref="TryShow"/> writes the part of it.
        /// </summary>
        /// <param name="shown">The receiver, the viewer or the replay.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="part">The part, from 0.</param>
        public bool IsShown(Shown shown, int kind, uint id, int part)
        {
            Require.NotNull(shown, nameof(shown));
            Status status = Native.kp_figure_is_shown(
                Id, shown.ShownId, (uint)kind, id, (uint)part, out int isShown);
            GC.KeepAlive(shown);
            return Succeeds(status, Status.Nothing) && isShown != 0;
        }

        internal override Status Free(ulong freed) => Native.kp_figure_free(freed);

        private unsafe Status PushWith(
            Columns others, Snapshot world, int kind, uint id, ref Native.KpFigurePose body)
        {
            using (others.PinOne(world.Table, kind, out int count))
            fixed (Native.KpColumn* columns = others.ToRead)
            {
                body.others = columns;
                body.other_count = (UIntPtr)count;
                return Native.kp_figure_push(Id, world.Id, (uint)kind, id, ref body);
            }
        }

        private unsafe string NameOfPosition()
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_figure_position_field(Id, text, capacity, out size));
        }

        private static UIntPtr CountOf(Array list)
        {
            return (UIntPtr)(list == null ? 0 : list.Length);
        }
    }
}
