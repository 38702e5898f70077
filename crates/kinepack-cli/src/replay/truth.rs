//! What was recorded, of late: what a receiver's picture is compared with.

use std::collections::VecDeque;
use std::rc::Rc;

use kinepack::{EncodeError, EntityId, FieldKind, FloatLimits, Schema};
use kinepack_capture::analysis::Columns;

/// Frames that are kept: longer than any playout delay and round trip at 60 Hz.
const KEPT: usize = 240;

/// A recorded frame, entity by entity.
#[derive(Debug, Default)]
struct Moment {
    ids: Vec<EntityId>,
    words: Vec<u64>,
    lanes: Vec<u32>,
}

/// The last frames of a stream. The first is frame 1.
pub(super) struct Truth {
    schema: Rc<Schema>,
    moments: VecDeque<Moment>,
    count: u32,
}

impl Truth {
    pub(super) fn new(schema: &Rc<Schema>) -> Self {
        Self { schema: Rc::clone(schema), moments: VecDeque::new(), count: 0 }
    }

    /// Takes in the next frame; gives the lanes of each entity to `quantized`.
    pub(super) fn push(
        &mut self,
        ids: &[EntityId],
        columns: Columns<'_>,
        mut quantized: impl FnMut(EntityId, &[u32]) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let oldest = if self.moments.len() == KEPT { self.moments.pop_front() } else { None };
        let mut moment = oldest.unwrap_or_default();
        let count = self.schema.lanes().len();
        moment.ids.clear();
        moment.ids.extend_from_slice(ids);
        moment.words.resize(ids.len() * count, 0);
        moment.lanes.resize(ids.len() * count, 0);
        let last = self.moments.back();
        for (index, id) in ids.iter().enumerate() {
            let row = index * count..(index + 1) * count;
            let (raw, lanes) = (&mut moment.words[row.clone()], &mut moment.lanes[row.clone()]);
            match columns {
                Columns::Raw(columns) => {
                    raw.iter_mut().zip(columns).for_each(|(word, column)| *word = column[index]);
                    // Most are what they were.
                    match last.filter(|last| last.words.get(row.clone()) == Some(&*raw)) {
                        Some(last) => lanes.copy_from_slice(&last.lanes[row]),
                        None => {
                            self.schema.quantize_raw(raw, lanes)?;
                        }
                    }
                }
                Columns::Lanes(columns) => {
                    lanes.iter_mut().zip(columns).for_each(|(lane, column)| *lane = column[index] as u32);
                    self.schema.reconstruct_raw(lanes, raw)?;
                }
            }
            quantized(*id, lanes)?;
        }
        self.moments.push_back(moment);
        self.count += 1;
        Ok(())
    }

    /// How many frames there were so far.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The raw words of an entity before and after a moment, a frame with its fraction; `None` where they are not known.
    pub(super) fn around(&self, frame: f64, id: EntityId, guess: usize) -> Option<[&[u64]; 2]> {
        let of = |frame: f64| {
            let first = self.count - self.moments.len() as u32 + 1;
            let moment = self.moments.get((frame as u32).checked_sub(first)? as usize)?;
            let at = match moment.ids.get(guess) {
                Some(there) if *there == id => guess,
                _ => moment.ids.binary_search(&id).ok()?,
            };
            let lanes = self.schema.lanes().len();
            moment.words.get(at * lanes..(at + 1) * lanes)
        };
        let before = of(frame.floor())?;
        Some([before, of(frame.ceil()).unwrap_or(before)])
    }
}

/// How far a field that is shown is from where it was, `ratio` between two recorded values: in the field's unit, of rotations in degrees. `None` where
/// there is no distance.
pub(super) fn error(kind: &FieldKind, shown: &[u64], [before, after]: [&[u64]; 2], ratio: f64) -> Option<f64> {
    let number = |words: &[u64], index: usize| f64::from_bits(words[index]);
    match kind {
        FieldKind::Floats(axes) => {
            let off = |(index, axis): (usize, &FloatLimits)| {
                let [a, b, c] = [before, after, shown].map(|words| number(words, index));
                let around = |distance: f64| {
                    let period = axis.step() * (f64::from(axis.max_code()) + 1.0);
                    if axis.wraps() { distance - period * (distance / period).round() } else { distance }
                };
                around(c - (a + around(b - a) * ratio)).powi(2)
            };
            Some(axes.iter().enumerate().map(off).sum::<f64>().sqrt())
        }
        FieldKind::Rotation(_) => {
            let dot: f64 = (0..4).map(|axis| number(before, axis) * number(after, axis)).sum();
            let side = if dot < 0.0 { -1.0 } else { 1.0 };
            let quaternion = |words: &[u64]| std::array::from_fn(|axis| number(words, axis));
            let [a, b]: [[f64; 4]; 2] = [before, after].map(quaternion);
            let blend = std::array::from_fn(|axis| (a[axis] + (side * b[axis] - a[axis]) * ratio) as f32);
            let shown = quaternion(shown).map(|component| component as f32);
            let angle = kinepack_capture::cube::angle_rad(shown, blend).to_degrees();
            angle.is_finite().then_some(angle)
        }
        _ => None,
    }
}
