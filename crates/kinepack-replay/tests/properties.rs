//! Tests random matches: everything that is written, flushed, marked and emitted can be read, and
//! every moment shows the newest state before it.

use std::time::Duration;

use kinepack::{Level, Snapshot, Tick};
use kinepack_replay::{ReplayOptions, ReplayWriter};
use proptest::prelude::*;

use crate::support::{Hit, codec, open, options, world};

/// A step of a random match.
#[derive(Clone, Debug)]
enum Step {
    /// Writes a state this number of ticks later.
    Write(u32),
    /// Writes the same state again, one tick later.
    Repeat,
    Hit(u8),
    Mark,
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (1_u32..4).prop_map(Step::Write),
        1 => (1_u32..2_000_000_000).prop_map(Step::Write),
        2 => Just(Step::Repeat),
        2 => (0_u8..=100).prop_map(Step::Hit),
        1 => Just(Step::Mark),
        1 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        steps in steps(),
        row in prop::sample::select(vec![1_u8, 12, 13, 14]),
        group_ms in 0_u64..400,
        key_every in 1_u32..5,
    ) {
        let group = Duration::from_millis(group_ms);
        let options = ReplayOptions { group, key_every, ..options() };
        let codec = codec(Level::from_row(row).unwrap());
        let mut file = Vec::new();
        let mut writer = ReplayWriter::to_writer(&mut file, &codec, &options).unwrap();
        let (mut states, mut hits, mut marks): (Vec<Snapshot>, Vec<(u32, u8)>, Vec<u32>) =
            Default::default();
        let (mut tick, mut pending) = (0_u32, Vec::new());
        for step in steps {
            let mut state = match step {
                Step::Write(later) => {
                    let Some(next) = tick.checked_add(later) else { continue };
                    tick = next;
                    world(tick % 5_000)
                }
                Step::Repeat => {
                    let Some(last) = states.last().cloned() else { continue };
                    let Some(next) = tick.checked_add(1) else { continue };
                    tick = next;
                    last
                }
                Step::Hit(damage) => {
                    writer.emit(&Hit { damage }).unwrap();
                    pending.push(damage);
                    continue;
                }
                Step::Mark => {
                    writer.mark(Tick(tick), "here").unwrap();
                    marks.push(tick);
                    continue;
                }
                Step::Flush => {
                    writer.flush().unwrap();
                    continue;
                }
            };
            state.tick = Tick(tick);
            writer.write(&state).unwrap();
            hits.extend(pending.drain(..).map(|damage| (tick, damage)));
            states.push(state);
        }
        let summary = writer.finish().unwrap();
        prop_assert_eq!(summary.frames, states.len() as u64);

        let mut replay = open(&file);
        prop_assert_eq!(replay.verify().unwrap(), states.len() as u64);
        prop_assert!(replay.is_complete() && replay.damage().is_empty());
        let found: Vec<u32> = replay.markers().iter().map(|marker| marker.tick.0).collect();
        prop_assert_eq!(found, marks);
        // Plays backwards, and between two states.
        for (nth, state) in states.iter().enumerate().rev() {
            let at = replay.frame_at(state.tick).unwrap();
            prop_assert_eq!(at.as_deref(), Some(state));
            let before = replay.frame_before(state.tick).unwrap();
            prop_assert_eq!(before.as_deref(), nth.checked_sub(1).map(|before| &states[before]));
        }
        // Each event is shown once, if none of the steps is long enough to be a jump.
        let mut shown = Vec::new();
        let mut last = states.first().map(|state| state.tick.0);
        for state in &states {
            let is_jump = last.is_some_and(|last| state.tick.0 - last > 300);
            last = Some(state.tick.0);
            let playback = replay.playback(state.tick.0.into()).unwrap().unwrap();
            let events = playback.events().map(|event| {
                (event.tick.0, event.get::<Hit>().unwrap().unwrap().damage)
            });
            shown.extend(events);
            if is_jump {
                hits.retain(|(tick, _)| *tick != state.tick.0);
            }
        }
        prop_assert_eq!(shown, hits);
    }
}
