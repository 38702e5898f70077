//! Frames of reference: an entity that is seen brings the entities that it is relative to.

use kinepack::Snapshot;
use kinepack::frame::MOST_FRAMES;

/// For each entity of a world that is relative to another one in it, the indices of both, by
/// increasing index of the first.
pub(in crate::sender) type Riders = Vec<(u32, u32)>;

/// Finds the entities of a world that are relative to others.
pub(in crate::sender) fn find_riders(world: &Snapshot, riders: &mut Riders) {
    riders.clear();
    riders.extend(
        world
            .frames()
            .filter_map(|(rider, frame)| Some((rider as u32, world.position(frame)? as u32))),
    );
}

/// Adds to rows, which are by increasing index, the entities that those in the rows are relative
/// to. An added entity has the source of the first entity that brings it.
pub(in crate::sender) fn add_frames(riders: &Riders, rows: &mut Vec<(u32, u8)>) {
    let find = |rows: &[(u32, u8)], index| rows.binary_search_by_key(&index, |(index, _)| *index);
    for _ in 0..MOST_FRAMES {
        let mut added: Vec<(u32, u8)> = Vec::new();
        for (rider, frame) in riders {
            if let (Ok(row), Err(_)) = (find(rows, *rider), find(rows, *frame)) {
                added.push((*frame, rows[row].1));
            }
        }
        if added.is_empty() {
            return;
        }
        added.sort_by_key(|(index, _)| *index);
        added.dedup_by_key(|(index, _)| *index);
        rows.extend(added);
        rows.sort_unstable_by_key(|(index, _)| *index);
    }
}
