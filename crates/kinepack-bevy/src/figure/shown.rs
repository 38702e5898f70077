//! The bodies of a figure's kind on a client: their lanes are interpolated and written into the
//! components.

use std::time::Duration;

use bevy_ecs::change_detection::{DetectChangesMut, Mut};
use bevy_ecs::query::QueryData;
use kinepack::EncodeError;
use kinepack::frame::{FrameError, Moment};
use kinepack_anim::figure::Figure;
use kinepack_net::{Playback, Sample};

use super::body::BodyWriter;
use super::{FigureBody, FigureKind};
use crate::MotionKind;
use crate::client::Shown;
use crate::late::{KindSetup, Late};

/// Writes the bodies that also have the components `K`.
pub(super) struct ShownBodies<K> {
    kind: FigureKind,
    figure: Figure,
    /// Scratch memory: the lanes of `K` of the two states.
    rows: [Vec<u32>; 2],
    late: Late<K>,
}

impl<K: MotionKind> ShownBodies<K> {
    pub(super) fn new(kind: &FigureKind) -> Self {
        let mut figure = kind.figure();
        figure.set_first_lane(K::LANES);
        let rows = [Vec::new(), Vec::new()];
        Self { kind: kind.clone(), figure, rows, late: Late::default() }
    }

    /// Returns the state of the components `K` in a sample of `playback`. `None` for a sample of
    /// another kind, and if the body's place is not known yet.
    fn state_of<'a>(&mut self, playback: &Playback<'a>, sample: &Sample<'a>) -> Option<K> {
        let expected_lanes = K::LANES + self.figure.lane_count();
        let rows = &mut self.rows;
        let mut state = |Moment { from, to, at }: &Moment<'a>| {
            for (row, (state, index)) in rows.iter_mut().zip([from, to]) {
                let lanes = state.lanes_at(*index);
                if lanes.len() != expected_lanes {
                    return Err(EncodeError::LaneCount { expected_lanes, lanes: lanes.len() });
                }
                row.clear();
                row.extend(lanes.take(K::LANES));
            }
            Ok(K::interpolate(&rows[0], &rows[1], *at))
        };
        let in_world = |playback: &Playback<'a>, sample: &Sample<'a>| -> Result<K, FrameError> {
            playback.in_world_with(sample, &mut state)
        };
        self.late.state(playback, sample, in_world).ok()
    }

    /// Checks that a sample has the lanes of this kind.
    pub(super) fn check(&self, sample: &Sample<'_>) -> Result<(), EncodeError> {
        let expected_lanes = K::LANES + self.figure.lane_count();
        [sample.from, sample.to].into_iter().try_for_each(|(state, index)| {
            let lanes = state.lanes_at(index).len();
            if lanes == expected_lanes {
                Ok(())
            } else {
                Err(EncodeError::LaneCount { expected_lanes, lanes })
            }
        })
    }

    /// Writes a sample of this kind into a body. Returns whether anything changed.
    pub(super) fn write_body(&mut self, sample: &Sample<'_>, body: &mut FigureBody) -> bool {
        let Sample { from, to, between, .. } = *sample;
        let mut writer = BodyWriter { body, is_changed: false };
        // A figure shows the parts of the state `from` until the ratio is 1.
        let parts_of = if between.ratio >= 1.0 { to } else { from };
        writer.parts(|part| self.figure.is_present(parts_of, part));
        writer.clips(between, self.figure.clip_slot_count(), |slot| {
            [from, to].map(|state| self.figure.clip(state, slot))
        });
        self.figure.interpolate(from, to, between, &mut writer);
        writer.is_changed
    }
}

impl<K: MotionKind> Shown for ShownBodies<K> {
    type Write = (K::Write, &'static mut FigureBody);
    type Components = (K::Components, FigureBody);

    fn set_up(&mut self, setup: &KindSetup) {
        self.late.set_up(setup);
    }

    fn begin(&mut self, now: Duration) {
        self.late.begin(now);
    }

    fn write<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        components: <Self::Write as QueryData>::Item<'_, '_>,
    ) {
        let (components, mut body): (_, Mut<'_, FigureBody>) = components;
        let Some(state) = self.state_of(playback, sample) else { return };
        state.write(components);
        if !self.kind.is_same(body.kind()) {
            *body = FigureBody::new(&self.kind);
        }
        if self.write_body(sample, body.bypass_change_detection()) {
            body.set_changed();
        }
    }

    fn make<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
    ) -> Option<Self::Components> {
        let state = self.state_of(playback, sample)?;
        let mut body = FigureBody::new(&self.kind);
        self.write_body(sample, &mut body);
        Some((state.into_components(), body))
    }
}
