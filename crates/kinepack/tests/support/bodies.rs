//! Makes worlds of rigid bodies, and profiles trained on them.

use kinepack::profile::{Bodies, BodyKind};
use kinepack::training::Training;
use kinepack::{EntityId, Profile, Schema, Snapshot, Tick};

use super::Random;

/// Makes a run of bodies that fall, slide and turn. Some bodies rest; now and then one is added,
/// removed, or jumps anywhere.
pub(crate) fn bodies_run(schema: &Schema, seed: u64, entities: u32, frames: u32) -> Vec<Snapshot> {
    let mut random = Random::new(seed);
    let maxima: Vec<u32> = schema.lanes().iter().map(|lane| lane.max).collect();
    let mut rows: Vec<(u32, Vec<u32>, Vec<i64>)> = Vec::new();
    let mut next_id = 3;
    let mut run = Vec::new();
    for tick in 0..frames {
        while rows.len() < entities as usize {
            let row = maxima.iter().map(|max| random.below(u64::from(*max) + 1) as u32).collect();
            let speeds = maxima
                .iter()
                .map(|max| random.below(u64::from(max / 100 + 1)) as i64 - i64::from(max / 200));
            rows.push((next_id, row, speeds.collect()));
            next_id += 1 + random.below(3) as u32;
        }
        let mut snapshot = Snapshot::new(schema, Tick(100 + tick));
        for (nth, (id, row, speeds)) in rows.iter_mut().enumerate() {
            for ((value, speed), max) in row.iter_mut().zip(speeds).zip(&maxima) {
                // A third of the bodies rest, and the values of choices change rarely.
                if nth % 3 == 0 || (*max < 5 && random.below(9) > 0) {
                    continue;
                }
                let noise = random.below(3) as i64 - 1;
                *value = (i64::from(*value) + *speed + noise).clamp(0, i64::from(*max)) as u32;
            }
            if random.below(60) == 0 {
                *row = maxima.iter().map(|max| random.below(u64::from(*max) + 1) as u32).collect();
            }
            let mut lanes = row.clone();
            schema.clear_absent(&mut lanes);
            schema.round_coarse(&mut lanes);
            snapshot.push_lanes(EntityId(*id), &lanes).unwrap();
        }
        run.push(snapshot);
        if random.below(4) == 0 && !rows.is_empty() {
            let gone = random.below(rows.len() as u64) as usize;
            rows.remove(gone);
        }
    }
    run
}

pub(crate) fn bodies(schema: &Schema) -> Bodies {
    let mut bodies = Bodies::from_schema(schema, 1, [0.5, 0.25, 1.0], Some(0.0)).unwrap();
    bodies.kinds.push(BodyKind { half_extents: [0; 3], mover: false });
    bodies.kinds.push(BodyKind { half_extents: [300; 3], mover: true });
    bodies.kind_of_ids = vec![(0, 0), (9, 1), (12, 2), (14, 0)];
    bodies
}

/// Trains a profile on a run of [`bodies_run`].
pub(crate) fn trained(schema: &Schema, bodies: Option<Bodies>) -> Profile {
    let mut training = Training::new(Profile::untrained(schema), bodies);
    training.passes = 2;
    training.max_lags_ticks = vec![2, 6];
    training.run(schema, &[bodies_run(schema, 1, 12, 40)], |_| {}).unwrap()
}
