//! The component with the pose of a body.

use bevy_ecs::component::Component;
use kinepack::Between;
use kinepack_anim::figure::{ClipPlay, FigurePose, ShownClip};
use kinepack_anim::{PoseWriter, Transform};

use super::{FigureJoints, FigureKind};

/// The pose of a body: its joints, its curves, the parts that are absent, and the clips that play.
///
/// On the server, add this component to an entity of the kind. The plugin reads the pose from the
/// entities of the joints in each tick. If there are none, write the pose yourself. On a client,
/// the plugin inserts the component, writes it in each frame, and writes the joints' entities from
/// it.
///
/// Joints are in the order of the skeleton, relative to their parents, and in **centimetres**.
///
/// ```
/// use kinepack_anim::{Joint, Skeleton, Transform};
/// use kinepack_bevy::figure::{FigureBody, FigureKind};
///
/// let joint = Joint { name: "hips".into(), parent: None, bind: Transform::IDENTITY };
/// let kind = FigureKind::new(Skeleton::new(vec![joint])?, Default::default())?;
/// let mut body = FigureBody::new(&kind);
/// body.joints_mut()[0].translation = [0.0, 95.0, 0.0];
/// assert_eq!(body.joints()[0].translation_m(), [0.0, 0.95, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Debug)]
#[require(FigureJoints)]
pub struct FigureBody {
    kind: FigureKind,
    /// Invariant: there are as many joints and curves as in the kind.
    joints: Vec<Transform>,
    curves: Vec<f32>,
    /// The indices of the absent parts, in increasing order.
    absent: Vec<usize>,
    /// The clip in each slot. On a client, they are those of the state before the shown moment.
    clips: Vec<Option<ClipPlay>>,
    /// On a client, the clips of the state after the moment, and how far the moment is between.
    next_clips: Vec<Option<ClipPlay>>,
    between: Between,
}

impl FigureBody {
    /// A body in the bind pose. All parts are present. Each curve is 0, or has the limit that is
    /// nearest to 0.
    pub fn new(kind: &FigureKind) -> Self {
        let nearest = |min: f32, max: f32| 0.0_f32.max(min).min(max);
        let curves = &kind.options().curves;
        Self {
            joints: kind.skeleton().bind_pose(),
            curves: curves.iter().map(|curve| nearest(curve.min, curve.max)).collect(),
            absent: Vec::new(),
            clips: Vec::new(),
            next_clips: Vec::new(),
            between: Between { ratio: 0.0, seconds: 0.0 },
            kind: kind.clone(),
        }
    }

    /// The kind, with the skeleton and the names of parts and curves.
    pub fn kind(&self) -> &FigureKind {
        &self.kind
    }

    /// The joints.
    pub fn joints(&self) -> &[Transform] {
        &self.joints
    }

    /// The joints, to be written on the server. The plugin overwrites the joints whose entities it
    /// found.
    pub fn joints_mut(&mut self) -> &mut [Transform] {
        &mut self.joints
    }

    /// The values of the curves, in the order of the options.
    pub fn curves(&self) -> &[f32] {
        &self.curves
    }

    /// The values of the curves, to be written on the server.
    pub fn curves_mut(&mut self) -> &mut [f32] {
        &mut self.curves
    }

    /// The indices of the absent parts, in increasing order. On a client, the joints and curves of
    /// an absent part keep the values that they had when it was last present.
    pub fn absent(&self) -> &[usize] {
        &self.absent
    }

    /// Whether the part with the index `part` is absent.
    pub fn is_absent(&self, part: usize) -> bool {
        self.absent.binary_search(&part).is_ok()
    }

    /// Notes on the server that a part is absent, or present again. The server refuses to send a
    /// body with an absent part that the kind does not have.
    pub fn set_absent(&mut self, part: usize, is_absent: bool) {
        match (self.absent.binary_search(&part), is_absent) {
            (Err(place), true) => self.absent.insert(place, part),
            (Ok(place), false) => _ = self.absent.remove(place),
            _ => {}
        }
    }

    /// The clip that plays in a slot. On a client, it is the clip of the last state that is shown.
    pub fn clip(&self, slot: usize) -> Option<ClipPlay> {
        self.clips.get(slot).copied().flatten()
    }

    /// Plays a clip in a slot on the server, or ends it. Set it again when its speed or its weight
    /// changes; its time runs by itself. The server refuses to send a body with a clip or a slot
    /// that the kind does not have.
    pub fn set_clip(&mut self, slot: usize, play: Option<ClipPlay>) {
        if slot >= self.clips.len() {
            self.clips.resize(slot + 1, None);
        }
        self.clips[slot] = play;
    }

    /// The clip to show in a slot, with its time and its weight. `tick` is
    /// [`MotionClient::tick`](crate::MotionClient::tick), the shown tick with its fraction. Call
    /// this in each frame, because the time runs while the body stays the same.
    pub fn shown_clip(&self, slot: usize, tick: f64) -> Option<ShownClip> {
        let next = self.next_clips.get(slot).copied().flatten();
        ShownClip::between(self.clip(slot), next, self.between, tick)
    }

    /// The pose, as a [`Figure`](kinepack_anim::figure::Figure) takes it.
    pub fn pose(&self) -> FigurePose<'_> {
        FigurePose {
            curves: &self.curves,
            absent: &self.absent,
            clips: &self.clips,
            ..FigurePose::new(&self.joints)
        }
    }

    /// Whether a joint belongs to no absent part.
    pub(super) fn has(&self, joint: usize) -> bool {
        self.kind.part_of(joint).is_none_or(|part| !self.is_absent(part))
    }
}

/// Writes a body, and notes whether anything changes.
pub(super) struct BodyWriter<'a> {
    pub(super) body: &'a mut FigureBody,
    pub(super) is_changed: bool,
}

impl BodyWriter<'_> {
    /// Notes which parts are absent.
    pub(super) fn parts(&mut self, is_present: impl Fn(usize) -> bool) {
        for part in 0..self.body.kind.options().parts.len() {
            let is_absent = !is_present(part);
            if self.body.is_absent(part) != is_absent {
                self.body.set_absent(part, is_absent);
                self.is_changed = true;
            }
        }
    }

    /// Notes the clips in the slots of the two states of a moment.
    pub(super) fn clips(
        &mut self,
        between: Between,
        slots: usize,
        plays: impl Fn(usize) -> [Option<ClipPlay>; 2],
    ) {
        let Self { body, is_changed } = self;
        body.between = between;
        body.clips.resize(slots, None);
        body.next_clips.resize(slots, None);
        for (slot, (own, next)) in body.clips.iter_mut().zip(&mut body.next_clips).enumerate() {
            let [from, to] = plays(slot);
            Self::set(own, between.step(from, to), is_changed);
            *next = to;
        }
    }

    fn set<T: PartialEq>(own: &mut T, new: T, is_changed: &mut bool) {
        if *own != new {
            *own = new;
            *is_changed = true;
        }
    }
}

impl PoseWriter for BodyWriter<'_> {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        Self::set(&mut self.body.joints[joint].rotation, rotation, &mut self.is_changed);
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        Self::set(&mut self.body.joints[joint].translation, translation, &mut self.is_changed);
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        Self::set(&mut self.body.joints[joint].scale, scale, &mut self.is_changed);
    }

    fn curve(&mut self, curve: usize, value: f32) {
        Self::set(&mut self.body.curves[curve], value, &mut self.is_changed);
    }
}
