using System;
using System.Collections.Generic;

namespace Kinepack
{
    /// <summary>How a joint of a figure moves, relative to its parent.</summary>
    public readonly struct JointMotion
    {
        private readonly float x;
        private readonly float y;
        private readonly float z;
        private readonly float rangeCm;

        private JointMotion(Motion kind, float x, float y, float z, float rangeCm)
        {
            Kind = kind;
            this.x = x;
            this.y = y;
            this.z = z;
            this.rangeCm = rangeCm;
        }

        /// <summary>The joint keeps its bind pose, and takes no bits.</summary>
        public static JointMotion Still => default(JointMotion);

        /// <summary>The joint turns about any axis, and takes three numbers.</summary>
        public static JointMotion Turns => new JointMotion(Motion.Turns, 0.0f, 0.0f, 0.0f, 0.0f);

        /// <summary>The sort of motion.</summary>
        public Motion Kind { get; }

        /// <summary>The joint turns about an axis in its own space, and takes one number.</summary>
        /// <param name="x">The axis, which need not have length 1: its x.</param>
        /// <param name="y">The y of the axis.</param>
        /// <param name="z">The z of the axis.</param>
        public static JointMotion Hinge(float x, float y, float z)
        {
            return new JointMotion(Motion.Hinge, x, y, z, 0.0f);
        }

        /// <summary>
        /// The joint turns, and moves from its bind pose. It takes six numbers.
        /// </summary>
        /// <param name="rangeCm">The largest movement along each axis, in centimetres.</param>
        public static JointMotion Moves(float rangeCm)
        {
            return new JointMotion(Motion.Moves, 0.0f, 0.0f, 0.0f, rangeCm);
        }

        internal Native.KpJointMotion ToNative(int joint)
        {
            return new Native.KpJointMotion
            {
                joint = (uint)joint,
                motion = (int)Kind,
                axis_0 = x,
                axis_1 = y,
                axis_2 = z,
                range_cm = rangeCm,
            };
        }
    }

    /// <summary>
    /// A curve of a figure, which is a number besides the joints, such as the weight of a face
    /// shape.
    /// </summary>
    public readonly struct FigureCurve
    {
        /// <summary>Describes a curve.</summary>
        /// <param name="name">The name. The schema's hash covers it.</param>
        /// <param name="min">The smallest value.</param>
        /// <param name="max">The largest value.</param>
        /// <param name="precision">The largest error of a value, above 0.</param>
        public FigureCurve(string name, float min, float max, float precision)
        {
            Name = name;
            Min = min;
            Max = max;
            Precision = precision;
        }

        /// <summary>The name.</summary>
        public string Name { get; }

        /// <summary>The smallest value.</summary>
        public float Min { get; }

        /// <summary>The largest value.</summary>
        public float Max { get; }

        /// <summary>The largest error of a value.</summary>
        public float Precision { get; }
    }

    /// <summary>
    /// A part of a body that may be absent, for example because it is not tracked: a hand, both legs
    /// or the face. An absent part takes one bit. Joints and curves belong to one part at most.
    /// </summary>
    public readonly struct FigurePart
    {
        private static readonly int[] None = new int[0];

        private readonly int[] joints;
        private readonly int[] curves;

        /// <summary>Describes a part.</summary>
        /// <param name="name">The name. The schema's hash covers it.</param>
        /// <param name="joints">
        /// The indices of the part's joints. A part has all joints below each of its joints.
        /// </param>
        /// <param name="curves">The indices of the part's curves, or null for no curves.</param>
        public FigurePart(string name, int[] joints, int[] curves = null)
        {
            Name = name;
            this.joints = (int[])joints?.Clone();
            this.curves = (int[])curves?.Clone();
        }

        /// <summary>The name.</summary>
        public string Name { get; }

        internal int[] Joints => joints ?? None;

        internal int[] Curves => curves ?? None;
    }

    /// <summary>
    /// Describes what a figure sends. Both sides need the same options. A number of 0 selects the
    /// default.
    /// </summary>
    public sealed class FigureOptions
    {
        /// <summary>
        /// The largest error in centimetres, in model space, of any point within <see
        /// cref="ShellCm"/> of a joint. The default is 0.5.
        /// </summary>
        public double PrecisionCm { get; set; }

        /// <summary>
        /// The distance in centimetres from a joint to the skin around it, before the scales of the
        /// joint and its ancestors. The default is 3. A negative number means 0.
        /// </summary>
        public double ShellCm { get; set; }

        /// <summary>
        /// Joints with a different precision: for the index of a joint, its precision in
        /// centimetres.
        /// </summary>
        public Dictionary<int, double> JointPrecisionsCm { get; } = new Dictionary<int, double>();

        /// <summary>
        /// Joints that move in another way than by default, by their indices. By default, roots
        /// move by up to 100 m, and all other joints turn.
        /// </summary>
        public Dictionary<int, JointMotion> Motions { get; } = new Dictionary<int, JointMotion>();

        /// <summary>The curves, in their order.</summary>
        public List<FigureCurve> Curves { get; } = new List<FigureCurve>();

        /// <summary>The parts that may be absent, in their order.</summary>
        public List<FigurePart> Parts { get; } = new List<FigurePart>();

        /// <summary>
        /// The names of the clips that a body can play, in their order. The schema's hash covers
        /// them.
        /// </summary>
        public List<string> Clips { get; } = new List<string>();

        /// <summary>
        /// The number of clips that can play at once, at most 64. It is 0 without clips, and
        /// otherwise at least 1.
        /// </summary>
        public int ClipSlots { get; set; }

        /// <summary>
        /// How many times coarser each further tier is than the precisions above, increasing from
        /// more than 1. A body that is sent in a coarser tier is read like any other.
        /// </summary>
        public List<double> Coarser { get; } = new List<double>();

        /// <summary>Makes a figure of the native library.</summary>
        internal unsafe Status Make(ulong skeleton, out ulong made)
        {
            Texts names = new Texts();
            List<uint> indices = new List<uint>();
            Native.KpJointPrecision[] precisions = NativePrecisions();
            Native.KpJointMotion[] motions = NativeMotions();
            Native.KpFigureCurve[] curves = NativeCurves(names, out int[] curveNames);
            int[] partNames = new int[Parts.Count];
            foreach (FigurePart part in Parts)
            {
                indices.AddRange(Array.ConvertAll(part.Joints, joint => (uint)joint));
                indices.AddRange(Array.ConvertAll(part.Curves, curve => (uint)curve));
            }
            for (int nth = 0; nth < partNames.Length; nth++)
            {
                partNames[nth] = names.Add(Parts[nth].Name, nameof(Parts));
            }
            int[] clipNames = Array.ConvertAll(
                Clips.ToArray(), name => names.Add(name, nameof(Clips)));
            fixed (byte* texts = names.ToArray())
            fixed (uint* list = indices.ToArray())
            fixed (Native.KpJointPrecision* firstPrecision = precisions)
            fixed (Native.KpJointMotion* firstMotion = motions)
            fixed (Native.KpFigureCurve* firstCurve = curves)
            fixed (Native.KpFigurePart* firstPart = new Native.KpFigurePart[partNames.Length])
            fixed (Native.KpFigureClip* firstClip = new Native.KpFigureClip[clipNames.Length])
            fixed (double* firstCoarser = Coarser.ToArray())
            {
                for (int nth = 0; nth < clipNames.Length; nth++)
                {
                    firstClip[nth].name = texts + clipNames[nth];
                }
                for (int nth = 0; nth < curves.Length; nth++)
                {
                    firstCurve[nth].name = texts + curveNames[nth];
                }
                uint* next = list;
                for (int nth = 0; nth < partNames.Length; nth++)
                {
                    int ofJoints = Parts[nth].Joints.Length;
                    int ofCurves = Parts[nth].Curves.Length;
                    firstPart[nth].name = texts + partNames[nth];
                    firstPart[nth].joints = next;
                    firstPart[nth].joint_count = (UIntPtr)ofJoints;
                    firstPart[nth].curves = next + ofJoints;
                    firstPart[nth].curve_count = (UIntPtr)ofCurves;
                    next += ofJoints + ofCurves;
                }
                Native.KpFigureOptions options = new Native.KpFigureOptions
                {
                    precision_cm = PrecisionCm,
                    shell_cm = ShellCm,
                    precisions = firstPrecision,
                    precision_count = (UIntPtr)precisions.Length,
                    motions = firstMotion,
                    motion_count = (UIntPtr)motions.Length,
                    curves = firstCurve,
                    curve_count = (UIntPtr)curves.Length,
                    parts = firstPart,
                    part_count = (UIntPtr)partNames.Length,
                    clips = firstClip,
                    clip_count = (UIntPtr)clipNames.Length,
                    clip_slots = (UIntPtr)(uint)ClipSlots,
                    coarser = firstCoarser,
                    coarser_count = (UIntPtr)Coarser.Count,
                };
                return Native.kp_figure_new(skeleton, &options, out made);
            }
        }

        private Native.KpJointPrecision[] NativePrecisions()
        {
            List<Native.KpJointPrecision> list = new List<Native.KpJointPrecision>();
            foreach (KeyValuePair<int, double> of in JointPrecisionsCm)
            {
                list.Add(new Native.KpJointPrecision
                {
                    joint = (uint)of.Key,
                    precision_cm = of.Value,
                });
            }
            return list.ToArray();
        }

        private Native.KpJointMotion[] NativeMotions()
        {
            List<Native.KpJointMotion> list = new List<Native.KpJointMotion>();
            foreach (KeyValuePair<int, JointMotion> of in Motions)
            {
                list.Add(of.Value.ToNative(of.Key));
            }
            return list.ToArray();
        }

        /// <summary>Returns the curves, and where their names begin.</summary>
        private Native.KpFigureCurve[] NativeCurves(Texts names, out int[] begins)
        {
            begins = new int[Curves.Count];
            Native.KpFigureCurve[] native = new Native.KpFigureCurve[Curves.Count];
            for (int nth = 0; nth < native.Length; nth++)
            {
                begins[nth] = names.Add(Curves[nth].Name, nameof(Curves));
                native[nth].min = Curves[nth].Min;
                native[nth].max = Curves[nth].Max;
                native[nth].precision = Curves[nth].Precision;
            }
            return native;
        }
    }
}
