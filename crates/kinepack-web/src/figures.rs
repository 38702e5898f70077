//! The poses of live bodies.
//!
//! A receiver or a viewer is in another module. It keeps the lanes of the two states that a moment
//! is between. JavaScript copies them here, and this module computes the poses. So pages without
//! figures do not load the code for skeletons.

use std::rc::Rc;
use std::sync::Arc;

use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{
    Figure, FigureClips, FigureCurve, FigureOptions, FigurePart, Motion, ShownClip,
};
use kinepack_anim::{Joint, PoseWriter, Skeleton, Transform};
use wasm_bindgen::prelude::*;

use crate::failed;
use crate::pose::Columns;
use crate::skeleton::SkeletonJoints;

/// The numbers of a bind pose's transform: x, y, z, w of the rotation, x, y, z of the translation
/// in cm, and the factors of the scale.
const BIND_NUMBERS: usize = 10;

/// The numbers of an entity before its lanes: its id, and the bits of a [`Between`].
const HEAD: usize = 3;

/// The ids of an entity's two states in [`FigureBodies::states`].
const STATES: [EntityId; 2] = [EntityId(0), EntityId(1)];

#[wasm_bindgen]
impl SkeletonJoints {
    /// Makes a skeleton of joints given by hand. The parent of a root is negative. `binds` has ten
    /// numbers for each joint.
    ///
    /// # Errors
    /// Fails if a parent does not come before its child, or a number is not finite.
    pub fn of_joints(names: Vec<String>, parents: &[i32], binds: &[f32]) -> Result<Self, JsError> {
        let (binds, _) = binds.as_chunks::<BIND_NUMBERS>();
        let joints = names.into_iter().zip(parents).zip(binds).map(|((name, parent), bind)| {
            let [x, y, z, w, right, up, back, scale @ ..] = *bind;
            let bind = Transform { rotation: [x, y, z, w], translation: [right, up, back], scale };
            // The skeleton refuses a parent beyond `u16`, because it has fewer joints.
            let parent = (*parent >= 0).then(|| u16::try_from(*parent).unwrap_or(u16::MAX));
            Joint { name, parent, bind }
        });
        Skeleton::new(joints.collect()).map(Self).map_err(failed)
    }
}

/// The parameters from which a figure is made.
#[wasm_bindgen]
pub struct FigureSetup {
    pub(crate) skeleton: Skeleton,
    pub(crate) options: FigureOptions,
}

#[wasm_bindgen]
impl FigureSetup {
    /// Makes a setup with default options.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &SkeletonJoints) -> Self {
        Self { skeleton: skeleton.0.clone(), options: FigureOptions::default() }
    }

    /// Sets the precision of all joints.
    pub fn precision(&mut self, cm: f64) {
        self.options.precision_cm = cm;
    }

    /// Sets the distance from a joint to the skin around it.
    pub fn shell(&mut self, cm: f64) {
        self.options.shell_cm = cm;
    }

    /// Sets the precision of one joint.
    pub fn joint_precision(&mut self, joint: usize, cm: f64) {
        self.options.joint_precisions_cm.push((joint, cm));
    }

    /// Lets a joint keep its bind pose.
    pub fn still(&mut self, joint: usize) {
        self.options.motions.push((joint, Motion::Still));
    }

    /// Lets a joint turn about one axis.
    pub fn hinge(&mut self, joint: usize, x: f32, y: f32, z: f32) {
        self.options.motions.push((joint, Motion::Hinge([x, y, z])));
    }

    /// Lets a joint turn about any axis.
    pub fn turns(&mut self, joint: usize) {
        self.options.motions.push((joint, Motion::Turns));
    }

    /// Lets a joint turn, and move from its bind pose.
    pub fn moves(&mut self, joint: usize, range_cm: f32) {
        self.options.motions.push((joint, Motion::Moves { range_cm }));
    }

    /// Adds a curve.
    pub fn curve(&mut self, name: String, min: f32, max: f32, precision: f32) {
        self.options.curves.push(FigureCurve { name, min, max, precision });
    }

    /// Adds a part that may be absent.
    pub fn part(&mut self, name: String, joints: Vec<usize>, curves: Vec<usize>) {
        self.options.parts.push(FigurePart { name, joints, curves });
    }

    /// Sets the clips that a body can play, and how many at once.
    pub fn clips(&mut self, slots: usize, names: Vec<String>) {
        self.options.clips = FigureClips { slots, names };
    }

    /// Sets how many times coarser each further tier is.
    pub fn coarser(&mut self, times: Vec<f64>) {
        self.options.coarser = times;
    }

    /// Makes the figure.
    ///
    /// # Errors
    /// Fails if the options do not fit the skeleton.
    pub fn build(self) -> Result<BodyFigure, JsError> {
        let figure = Figure::new(&self.skeleton, &self.options).map_err(failed)?;
        let schema = Schema::try_new(figure.fields()).map_err(failed)?;
        Ok(BodyFigure { figure, schema, setup: Rc::new(self) })
    }
}

/// The body of one kind of entity.
#[wasm_bindgen]
pub struct BodyFigure {
    pub(crate) figure: Figure,
    /// The figure's fields as a schema of one kind.
    schema: Schema,
    pub(crate) setup: Rc<FigureSetup>,
}

#[wasm_bindgen]
impl BodyFigure {
    /// The hash of the fields, as the description of a schema has it for each kind.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.schema.hash())
    }

    /// The schema file of the fields.
    ///
    /// # Errors
    /// Fails if there are too many lanes for a file.
    pub fn schema_file(&self) -> Result<Vec<u8>, JsError> {
        let (lanes, most) = (self.schema.lanes().len(), Schema::MOST_LANES_IN_FILE);
        if lanes > most {
            return Err(failed(format!(
                "the figure has {lanes} numbers in all tiers, and a schema file at most {most}: \
                 give it fewer tiers"
            )));
        }
        Ok(self.schema.to_bytes())
    }

    /// The names of the fields.
    pub fn field_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name.clone()).collect()
    }

    /// The largest error of each joint in cm, in poses that move only as the options say.
    pub fn max_errors_cm(&self) -> Vec<f64> {
        (0..self.figure.joint_count()).map(|joint| self.figure.max_error_cm(joint)).collect()
    }
}

/// All bodies of one kind, at the moment that a receiver or a viewer shows.
#[wasm_bindgen]
pub struct FigureBodies {
    figure: Figure,
    /// The two states of one entity.
    states: Snapshot,
    /// The lanes of an entity before those of the figure, and after them.
    others: [usize; 2],
    bind: Arc<[Transform]>,
    /// The numbers that `Shown::kept_lanes` describes. JavaScript writes them.
    moment: Vec<u32>,
    ids: Vec<u32>,
    /// The bodies at this moment, and after them unused ones of earlier moments. Their numbers do
    /// not move in memory, so JavaScript keeps its arrays.
    bodies: Vec<Body>,
}

struct Body {
    shown: Columns,
    /// Whether each part is present.
    presence: Vec<bool>,
    /// The clip in each slot.
    clips: Vec<Option<ShownClip>>,
}

#[wasm_bindgen]
impl FigureBodies {
    /// Makes a list without bodies. `before` and `after` are the numbers of the lanes of an entity
    /// before those of the figure, and after them.
    #[wasm_bindgen(constructor)]
    pub fn new(figure: &BodyFigure, before: usize, after: usize) -> Self {
        Self {
            figure: figure.figure.clone(),
            others: [before, after],
            states: Snapshot::new(&figure.schema, Tick(0)),
            bind: figure.setup.skeleton.shared_bind_pose(),
            moment: Vec::new(),
            ids: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Makes room for the numbers of a moment, and returns their address.
    pub fn place(&mut self, numbers: usize) -> usize {
        self.moment.resize(numbers, 0);
        self.moment.as_ptr() as usize
    }

    /// Computes the poses and clips of the moment at a tick, and returns the number of bodies.
    ///
    /// # Errors
    /// Fails if the numbers are not those of this figure's kind. Then there are no bodies.
    pub fn play(&mut self, tick: f64) -> Result<usize, JsError> {
        self.ids.clear();
        let moment = std::mem::take(&mut self.moment);
        let numbers = HEAD + 2 * self.lanes();
        let played = if moment.len().is_multiple_of(numbers) {
            moment.chunks_exact(numbers).try_for_each(|entity| self.play_entity(entity, tick))
        } else {
            Err(failed("the moment is of another kind"))
        };
        self.moment = moment;
        if played.is_err() {
            self.ids.clear();
        }
        played.map(|()| self.ids.len())
    }

    /// The address of the bodies' ids.
    pub fn ids_at(&self) -> usize {
        self.ids.as_ptr() as usize
    }

    /// The addresses of a body's translations (metres), rotations (x, y, z, w), scales and curves.
    /// They do not change. The list is empty if there is no such body.
    pub fn places(&self, body: usize) -> Vec<u32> {
        self.bodies.get(body).map_or_else(Vec::new, |body| body.shown.places())
    }

    /// Whether a part of a body is present.
    pub fn is_present(&self, body: usize, part: usize) -> bool {
        let presence = self.bodies.get(body).map(|body| &body.presence);
        presence.and_then(|presence| presence.get(part)).copied().unwrap_or_default()
    }

    /// The clip that a body plays in a slot: its index, time in ticks, speed and weight. The list
    /// is empty if the slot is.
    pub fn clip(&self, body: usize, slot: usize) -> Vec<f64> {
        let clips = self.bodies.get(body).map(|body| &body.clips);
        let clip = clips.and_then(|clips| clips.get(slot)).copied().flatten();
        clip.map_or_else(Vec::new, |ShownClip { clip, time_ticks, speed, weight }| {
            vec![clip as f64, time_ticks, speed, weight.into()]
        })
    }
}

impl FigureBodies {
    fn play_entity(&mut self, entity: &[u32], tick: f64) -> Result<(), JsError> {
        let [id, ratio, seconds] = [entity[0], entity[1], entity[2]];
        let at = Between { ratio: f32::from_bits(ratio), seconds: f32::from_bits(seconds) };
        let (from, to) = entity[HEAD..].split_at(self.lanes());
        self.states.clear(Tick(0));
        for (id, lanes) in STATES.into_iter().zip([from, to]) {
            let own = &lanes[self.others[0]..][..self.figure.lane_count()];
            self.states.push_lanes_of(0, id, own).map_err(failed)?;
        }
        let index = self.ids.len();
        if index == self.bodies.len() {
            self.bodies.push(self.new_body());
        }
        let Self { figure, states, bodies, bind, .. } = self;
        let Body { shown, presence, clips } = &mut bodies[index];
        if !presence.is_empty() {
            // The figure writes nothing for absent parts, and the columns may have the pose of
            // another entity.
            shown.pose(bind);
            shown.curves.fill(0.0);
        }
        let (from, to) = ((&*states, 0), (&*states, 1));
        figure.interpolate(from, to, at, shown);
        for (part, is_present) in presence.iter_mut().enumerate() {
            *is_present = figure.is_present(at.step(from, to), part);
        }
        for (slot, clip) in clips.iter_mut().enumerate() {
            *clip = figure.interpolate_clip(from, to, at, tick, slot);
        }
        self.ids.push(id);
        Ok(())
    }

    /// The number of lanes of an entity.
    fn lanes(&self) -> usize {
        let [before, after] = self.others;
        before + self.figure.lane_count() + after
    }

    fn new_body(&self) -> Body {
        Body {
            shown: Columns::new(self.bind.len(), self.figure.curve_count()),
            presence: vec![false; self.figure.part_count()],
            clips: vec![None; self.figure.clip_slot_count()],
        }
    }
}
