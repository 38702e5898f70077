//! Quantizes the poses of a page's own body.
//!
//! JavaScript writes a pose into this module's memory, and copies the lanes into the module of
//! streams, whose `InputSender` sends them.

use std::rc::Rc;

use kinepack::Tick;
use kinepack_anim::figure::{ClipPlay, Figure, FigureError, FigurePose, UnsentMotion};
use kinepack_anim::{PoseWriter, Transform};
use wasm_bindgen::prelude::*;

use crate::failed;
use crate::figures::{BodyFigure, FigureSetup};
use crate::pose::Columns;

/// The numbers of a slot: the index of its clip, which is −1 if the slot is empty, a tick, the
/// clip's time at this tick, its speed and its weight.
const PLAY_NUMBERS: usize = 5;

/// How far the length of a rotation may be from 1. Rounding to half precision loses less.
const LENGTH_TOLERANCE: f64 = 0.01;

/// Quantizes poses, one at a time.
#[wasm_bindgen]
pub struct FigureLanes {
    figure: Figure,
    setup: Rc<FigureSetup>,
    /// The pose. JavaScript writes it.
    pose: Columns,
    joints: Vec<Transform>,
    plays: Vec<Option<ClipPlay>>,
}

#[wasm_bindgen]
impl FigureLanes {
    /// Makes a quantizer. Its pose is the bind pose, and its curves are as near to 0 as they may
    /// be.
    #[wasm_bindgen(constructor)]
    pub fn new(body: &BodyFigure) -> Self {
        let BodyFigure { figure, setup, .. } = body;
        let joints = setup.skeleton.bind_pose();
        let mut pose = Columns::new(joints.len(), figure.curve_count());
        pose.pose(&joints);
        for (value, curve) in pose.curves.iter_mut().zip(&setup.options.curves) {
            *value = value.max(curve.min).min(curve.max);
        }
        Self {
            pose,
            joints,
            plays: Vec::with_capacity(figure.clip_slot_count()),
            figure: figure.clone(),
            setup: Rc::clone(setup),
        }
    }

    /// The addresses of the pose's translations (metres), rotations (x, y, z, w), scales and
    /// curves. They do not change.
    pub fn places(&self) -> Vec<u32> {
        self.pose.places()
    }

    /// Returns the lanes of the pose. `absent` has the indices of the absent parts, and `plays` has
    /// five numbers for each slot of clips.
    ///
    /// # Errors
    /// Fails if the figure cannot send the pose.
    pub fn quantize(
        &mut self,
        absent: &[usize],
        plays: &[f64],
        tier: usize,
    ) -> Result<Vec<u32>, JsError> {
        self.pose.read(&mut self.joints);
        self.check_lengths(absent).map_err(failed)?;
        self.plays.clear();
        let (plays, _) = plays.as_chunks();
        for numbers in plays {
            self.plays.push(play(numbers).map_err(failed)?);
        }
        let Self { figure, pose, joints, plays, .. } = self;
        let pose = FigurePose { joints, curves: &pose.curves, absent, clips: plays, tier };
        let mut lanes = vec![0; figure.lane_count()];
        let quantized = figure.quantize(&pose, &mut lanes);
        quantized.map(|()| lanes).map_err(|error| failed(self.advice(&error)))
    }
}

impl FigureLanes {
    /// Refuses rotations that are not normalized, except in absent parts.
    fn check_lengths(&self, absent: &[usize]) -> Result<(), String> {
        for (joint, transform) in self.joints.iter().enumerate() {
            let squares = transform.rotation.map(|number| f64::from(number) * f64::from(number));
            let length = squares.iter().sum::<f64>().sqrt();
            // Not "greater than", so that a length that is not a number is refused too.
            let is_normalized = (length - 1.0).abs() <= LENGTH_TOLERANCE;
            if !is_normalized && !self.is_absent(joint, absent) {
                return Err(format!(
                    "the rotation of joint {joint} {:?} has the length {length}, not 1: normalize \
                     the quaternion; if the joint is not tracked, send its last rotation, or name \
                     its part in `absent`",
                    self.name(joint),
                ));
            }
        }
        Ok(())
    }

    fn is_absent(&self, joint: usize, absent: &[usize]) -> bool {
        let mut parts = absent.iter().filter_map(|part| self.setup.options.parts.get(*part));
        parts.any(|part| part.joints.contains(&joint))
    }

    fn name(&self, joint: usize) -> &str {
        self.setup.skeleton.joints().get(joint).map_or("", |joint| &joint.name)
    }

    /// Describes an error, and what to do in JavaScript.
    fn advice(&self, error: &FigureError) -> String {
        match error {
            FigureError::NotANumber { joint } => format!(
                "{error} ({:?}): send its last transform, or name its part in `absent`",
                self.name(*joint)
            ),
            FigureError::OutOfRange { joint, .. } => format!(
                "{error} ({:?}): give it a larger `rangeCm` in the figure's `motions`; \
                 translations are in metres",
                self.name(*joint)
            ),
            FigureError::BadCurve { curve, .. } => match self.setup.options.curves.get(*curve) {
                Some(of) => {
                    format!("{error}: {:?} must be from {} to {}", of.name, of.min, of.max)
                }
                None => error.to_string(),
            },
            FigureError::Unsent { motion, .. } => {
                let advice = match motion {
                    UnsentMotion::Moves => {
                        "keep its translation, in metres, or give it a `rangeCm` in the figure's \
                         `motions`"
                    }
                    UnsentMotion::Scales => "keep its scale",
                    _ => "keep its rotation, or let it turn in the figure's `motions`",
                };
                format!("{error}; {advice}")
            }
            _ => error.to_string(),
        }
    }
}

/// The play of a slot.
fn play(numbers: &[f64; PLAY_NUMBERS]) -> Result<Option<ClipPlay>, FigureError> {
    let [clip, since, time, speed, weight] = *numbers;
    if clip < 0.0 {
        return Ok(None);
    }
    let since = Tick(since as u32);
    let play = ClipPlay::start(clip as usize, since).with_speed(since, speed)?;
    play.with_time(since, time)?.with_weight(weight as f32).map(Some)
}
