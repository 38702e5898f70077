//! The bodies of a figure's kind on a client: their lanes are interpolated and written into the
//! components.

use core::marker::PhantomData;

use bevy_ecs::change_detection::{DetectChangesMut, Mut};
use bevy_ecs::query::QueryData;
use kinepack::{Between, EntityId, Schema, SetupError, Snapshot, Tick};
use kinepack_anim::figure::Figure;
use kinepack_net::Sample;

use super::body::BodyWriter;
use super::{FigureBody, FigureKind};
use crate::MotionKind;
use crate::client::Shown;

/// Writes the bodies that also have the components `K`.
pub(super) struct ShownBodies<K> {
    kind: FigureKind,
    figure: Figure,
    /// The two states of the current sample, without the lanes of `K`. A figure plays between
    /// entities that have its lanes alone.
    ends: Snapshot,
    /// Scratch memory: all lanes of the two states.
    rows: [Vec<u32>; 2],
    components: PhantomData<fn() -> K>,
}

impl<K: MotionKind> ShownBodies<K> {
    pub(super) fn new(kind: &FigureKind) -> Result<Self, SetupError> {
        let figure = kind.figure();
        let schema = Schema::builder().kind_of_fields("body", figure.fields()).build()?;
        Ok(Self {
            kind: kind.clone(),
            figure,
            ends: Snapshot::new(&schema, Tick(0)),
            rows: [Vec::new(), Vec::new()],
            components: PhantomData,
        })
    }

    /// Takes the two states of a sample, and returns the state of the components `K`. `None` for a
    /// sample of another kind.
    fn take(&mut self, sample: &Sample<'_>) -> Option<K> {
        self.ends.clear(Tick(0));
        let states = [sample.from, sample.to];
        for ((row, (state, index)), end) in self.rows.iter_mut().zip(states).zip(0..) {
            row.clear();
            row.extend(state.lanes_at(index));
            let of_body = row.get(K::LANES..)?;
            self.ends.push_lanes_of(0, EntityId(end), of_body).ok()?;
        }
        let [from, to] = &self.rows;
        Some(K::interpolate(&from[..K::LANES], &to[..K::LANES], sample.between))
    }

    /// Writes the sample that was taken last into a body. Returns whether anything changed.
    fn write_body(&mut self, between: Between, body: &mut FigureBody) -> bool {
        let (from, to) = ((&self.ends, 0), (&self.ends, 1));
        let mut writer = BodyWriter { body, is_changed: false };
        // A figure shows the parts of the state `from` until the ratio is 1.
        let parts_of = if between.ratio >= 1.0 { to } else { from };
        writer.parts(|part| self.figure.is_present(parts_of, part));
        self.figure.interpolate(from, to, between, &mut writer);
        writer.is_changed
    }
}

impl<K: MotionKind> Shown for ShownBodies<K> {
    type Write = (K::Write, &'static mut FigureBody);
    type Components = (K::Components, FigureBody);

    fn write(&mut self, sample: &Sample<'_>, components: <Self::Write as QueryData>::Item<'_, '_>) {
        let (components, mut body): (_, Mut<'_, FigureBody>) = components;
        let Some(state) = self.take(sample) else { return };
        state.write(components);
        if !self.kind.is_same(body.kind()) {
            *body = FigureBody::new(&self.kind);
        }
        if self.write_body(sample.between, body.bypass_change_detection()) {
            body.set_changed();
        }
    }

    fn make(&mut self, sample: &Sample<'_>) -> Option<Self::Components> {
        let state = self.take(sample)?;
        let mut body = FigureBody::new(&self.kind);
        self.write_body(sample.between, &mut body);
        Some((state.into_components(), body))
    }
}
