//! Frames of reference: an entity that is seen brings the entities that it is relative to.
//!
//! Cost: [`Riders::find`] is a pass over the world's entities, if any kind has frames.
//! [`Riders::add_frames`] is a pass over the rows, so that a sight costs no more in a large world.

use kinepack::Snapshot;
use kinepack::frame::MOST_FRAMES;

/// In place of the frame of an entity that is relative to the world, or to something that is not
/// there.
const NO_FRAME: u32 = u32::MAX;

/// The entities of a world that are relative to another one in it.
#[derive(Debug, Default, PartialEq)]
pub(in crate::sender) struct Riders {
    /// For each entity, the index of the one that it is relative to, or [`NO_FRAME`]. Empty if
    /// there are no riders.
    frames: Vec<u32>,
}

impl Riders {
    /// Finds the riders of a world.
    pub(in crate::sender) fn find(&mut self, world: &Snapshot) {
        self.frames.clear();
        // Most neighbours have the same frame.
        let mut last = None;
        for (rider, id) in world.frames() {
            let (_, frame) = match last.filter(|(known, _)| *known == id) {
                Some(found) => found,
                None => (id, world.position(id)),
            };
            last = Some((id, frame));
            let Some(frame) = frame else { continue };
            if self.frames.is_empty() {
                self.frames.resize(world.len(), NO_FRAME);
            }
            self.frames[rider] = frame as u32;
        }
    }

    pub(in crate::sender) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The index of the entity that the one at `index` is relative to, if that is in the world.
    pub(super) fn frame(&self, index: usize) -> Option<u32> {
        self.frames.get(index).copied().filter(|frame| *frame != NO_FRAME)
    }

    /// Adds to rows, which are by increasing index, the entities that those in the rows are
    /// relative to. An added entity has the source of the first entity that brings it.
    pub(in crate::sender) fn add_frames(&self, rows: &mut Vec<(u32, u8)>) {
        let mut added = self.missing(rows, rows);
        for _ in 1..MOST_FRAMES {
            if added.is_empty() {
                return;
            }
            rows.extend(&added);
            // The rows are two sorted runs, which this merges.
            rows.sort_by_key(|(index, _)| *index);
            // Only those that were added can bring others.
            added = self.missing(&added, rows);
        }
        rows.extend(added);
        rows.sort_by_key(|(index, _)| *index);
    }

    /// The frames of entities that `rows` do not have, by increasing index.
    fn missing(&self, riders: &[(u32, u8)], rows: &[(u32, u8)]) -> Vec<(u32, u8)> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut last = None;
        let brought = riders.iter().filter_map(|(rider, source)| {
            let frame = self.frame(*rider as usize).filter(|frame| last != Some(*frame))?;
            last = Some(frame);
            let has_it = rows.binary_search_by_key(&frame, |(index, _)| *index).is_ok();
            (!has_it).then_some((frame, *source))
        });
        let mut missing: Vec<(u32, u8)> = brought.collect();
        missing.sort_by_key(|(index, _)| *index);
        missing.dedup_by_key(|(index, _)| *index);
        missing
    }
}
