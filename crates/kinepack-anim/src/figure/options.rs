//! Options for what a figure sends, and how precisely.

use super::ClipPlay;
use crate::Transform;

/// How a joint moves, relative to its parent.
///
/// ```
/// use kinepack_anim::figure::{FigureOptions, Motion};
///
/// // Joint 4 is an elbow, which turns about its x axis only. Joint 9 is a carried lamp.
/// let (elbow, lamp) = ((4, Motion::Hinge([1.0, 0.0, 0.0])), (9, Motion::Still));
/// let options = FigureOptions { motions: vec![elbow, lamp], ..FigureOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// The joint keeps its bind pose, and takes no bits.
    Still,
    /// The joint turns about an axis in its own space, and takes one lane.
    Hinge([f32; 3]),
    /// The joint turns about any axis, and takes three lanes.
    Turns,
    /// The joint turns, and moves from its bind pose by up to `range_cm` along each axis. It takes
    /// six lanes.
    Moves {
        /// The limit of the movement, in cm.
        range_cm: f32,
    },
}

/// A curve, which is a number besides the joints, for example the weight of a face shape.
///
/// ```
/// use kinepack_anim::figure::{FigureCurve, FigureOptions};
///
/// let jaw = FigureCurve { name: "jawOpen".into(), min: 0.0, max: 1.0, precision: 0.01 };
/// let options = FigureOptions { curves: vec![jaw], ..FigureOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FigureCurve {
    /// The name. The schema's hash covers it.
    pub name: String,
    /// The smallest value.
    pub min: f32,
    /// The largest value.
    pub max: f32,
    /// The largest error of a value.
    pub precision: f32,
}

/// A part of the body that may be absent, for example because it is not tracked: a hand, both legs
/// or the face. An absent part takes one bit.
///
/// ```
/// use kinepack_anim::figure::{FigureOptions, FigurePart};
///
/// // The joints 20 to 35 are the left hand and its fingers.
/// let hand = FigurePart { name: "left hand".into(), joints: (20..36).collect(), curves: vec![] };
/// let options = FigureOptions { parts: vec![hand], ..FigureOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigurePart {
    /// The name. The schema's hash covers it.
    pub name: String,
    /// The indices of the joints. The part has all joints below each of its joints, because they
    /// would hang on a joint that the receiver does not know. A joint belongs to one part at most.
    pub joints: Vec<usize>,
    /// The indices of the curves. A curve belongs to one part at most.
    pub curves: Vec<usize>,
}

/// The clips that a body can play beside its live pose, or instead of it. An entity that plays a
/// clip sends which one, and its time, speed and weight.
///
/// ```
/// use kinepack_anim::figure::{FigureClips, FigureOptions};
///
/// // Two clips play at once, for example while one fades into the other.
/// let names = ["walk", "run", "wave"].map(String::from).to_vec();
/// let options = FigureOptions { clips: FigureClips { slots: 2, names }, ..Default::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FigureClips {
    /// The number of clips that can play at once, at most 64. It is 0 for a figure without clips.
    pub slots: usize,
    /// The names of the clips, in the order of their indices. The schema's hash covers them, so both
    /// sides have the same clips at the same indices.
    pub names: Vec<String>,
}

/// A body at one moment.
///
/// ```
/// use kinepack_anim::Transform;
/// use kinepack_anim::figure::FigurePose;
///
/// let joints = [Transform::IDENTITY; 20];
/// // The part 0, a hand, is not tracked at the moment.
/// let pose = FigurePose { absent: &[0], ..FigurePose::new(&joints) };
/// # let _ = pose;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FigurePose<'a> {
    /// The joints' transforms, relative to their parents, in the order of the skeleton.
    pub joints: &'a [Transform],
    /// The values of the curves, in the order of the options.
    pub curves: &'a [f32],
    /// The indices of the parts that are absent, in any order. The values of their joints and
    /// curves are ignored.
    pub absent: &'a [usize],
    /// The clip that plays in each slot. Slots that are not listed are empty.
    pub clips: &'a [Option<ClipPlay>],
    /// The tier in which the pose is sent: 0 for the precision of the options, and from 1 on those
    /// of [`FigureOptions::coarser`].
    pub tier: usize,
}

impl<'a> FigurePose<'a> {
    /// Makes a pose that has all parts, and neither curves nor clips.
    pub fn new(joints: &'a [Transform]) -> Self {
        Self { joints, ..Self::default() }
    }
}

/// The description of what a [`Figure`](super::Figure) sends. Both sides need the same options.
///
/// ```
/// use kinepack_anim::figure::FigureOptions;
///
/// // Half a centimetre everywhere, but joint 7, a hand, must be exact to a millimetre.
/// let options = FigureOptions {
///     precision_cm: 0.5,
///     joint_precisions_cm: vec![(7, 0.1)],
///     ..FigureOptions::default()
/// };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FigureOptions {
    /// The largest error in cm, in model space, of any point within [`shell_cm`](Self::shell_cm) of
    /// a joint, in the joint's own space: the scales of the joint and its ancestors apply to it, as
    /// for clips.
    pub precision_cm: f64,
    /// Joints with a different precision. Each entry has the joint's index, and its precision in
    /// cm. The last entry for a joint counts.
    pub joint_precisions_cm: Vec<(usize, f64)>,
    /// The distance in cm from a joint to the skin around it, at least 0. It is measured before the
    /// scales of the joint and its ancestors.
    pub shell_cm: f64,
    /// Joints that move in another way than by default. By default, roots move by up to 100 m, and
    /// all other joints turn. The last entry for a joint counts.
    pub motions: Vec<(usize, Motion)>,
    /// The curves, in their order.
    pub curves: Vec<FigureCurve>,
    /// The parts that may be absent, in their order. What belongs to no part is always present.
    pub parts: Vec<FigurePart>,
    /// The clips that the body can play.
    pub clips: FigureClips,
    /// Further *tiers*, for viewers that are far away: how many times each is coarser than the
    /// precisions above, from the finest to the coarsest. With 0.5 cm and `[4.0, 10.0]`, a pose is
    /// sent in steps of 0.5, 2 or 5 cm. There are at most 254 further tiers. Each pose takes bits for
    /// one tier.
    ///
    /// ```
    /// use kinepack::{EntityId, Schema, Snapshot, Tick};
    /// use kinepack_anim::figure::{Figure, FigureOptions, FigurePose};
    /// use kinepack_anim::{Joint, Skeleton, Transform};
    ///
    /// let hips = Joint { name: "hips".into(), parent: None, bind: Transform::IDENTITY };
    /// let skeleton = Skeleton::new(vec![hips])?;
    /// let options = FigureOptions { coarser: vec![4.0, 10.0], ..FigureOptions::default() };
    /// let mut body = Figure::new(&skeleton, &options)?;
    /// let schema = Schema::builder().kind_of_fields("player", body.fields()).build()?;
    ///
    /// // A world for each tier. A hub with rings picks the tier for each viewer.
    /// let pose = skeleton.bind_pose();
    /// let mut worlds = [0, 1, 2].map(|_| Snapshot::new(&schema, Tick(1)));
    /// for (tier, world) in worlds.iter_mut().enumerate() {
    ///     body.push(world, 0, EntityId(7), &FigurePose { tier, ..FigurePose::new(&pose) })?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub coarser: Vec<f64>,
}

impl Default for FigureOptions {
    /// Returns a precision of half a centimetre at 3 cm from the joints, without curves, parts,
    /// clips or further tiers.
    fn default() -> Self {
        Self {
            precision_cm: 0.5,
            joint_precisions_cm: Vec::new(),
            shell_cm: 3.0,
            motions: Vec::new(),
            curves: Vec::new(),
            parts: Vec::new(),
            clips: FigureClips::default(),
            coarser: Vec::new(),
        }
    }
}
