//! A hub's tick: checks the world, collects the snapshots that are due, and sends them receiver by
//! receiver.

use std::time::Duration;

use kinepack::{EntityId, Snapshot};

use super::Hub;
use crate::NetError;
use crate::sender::config::Priority;
use crate::sender::moment::Moment;
use crate::sender::sharing::{self, Outliers, Overdrawn, RUN_CREDITS, Schedule};
use crate::sender::uplink::Shares;
use crate::sender::work::Threads;
use crate::sender::worlds::Worlds;

impl Hub {
    pub(super) fn run_tick(
        &mut self,
        now: Duration,
        worlds: Worlds<'_>,
        priority: Option<Priority<'_>>,
        threads: Option<Threads<'_>>,
    ) -> Result<(), NetError> {
        let world = worlds.finest();
        worlds.check(self.hello.schema_hash).inspect_err(|error| {
            if matches!(error, NetError::TierDiffers { .. }) {
                self.note_absent(world);
            }
        })?;
        let interval = self.check_world(now, world).inspect_err(|_| self.note_absent(world))?;
        self.spawned = None;
        let tick = world.tick;
        self.last_tick = Some((now, tick));
        let mut errors = Vec::new();
        self.look(worlds);
        self.hand_out_events(world, &mut errors);
        let interval_ticks = interval.min(255) as u8;
        self.sending.begin(world);
        let sources = self.sights.as_ref().map(|sights| sights.sources(worlds));
        let sources = &sources.unwrap_or_default();
        let moment = Moment { now, tick, interval_ticks, config: &self.config, priority, sources };
        let sending = &mut self.sending;
        let mut ready = Vec::new();
        if let Some(uplink) = &mut self.uplink {
            let savings = self.peers.values_mut().map(|peer| &mut peer.saved_bytes);
            uplink.divide(now, savings.len(), savings);
        }
        let mut shares = Shares::new(self.uplink.as_mut(), self.peers.len());
        for peer in self.peers.values_mut() {
            match shares.give(peer, |peer| peer.begin(&moment, sending)) {
                Ok(Some(due)) => ready.push((peer, due)),
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        let Schedule { served, outliers } = sharing::schedule(&mut ready, &moment);
        let mut shares = Shares::new(self.uplink.as_mut(), ready.len());
        if let Some(threads) = threads {
            sending.encode_ahead(&ready, &served, &moment, threads);
        }
        for index in served {
            let (peer, due) = &mut ready[index];
            errors.extend(shares.give(peer, |peer| peer.send_due(due, &moment, sending)).err());
        }
        if outliers.is_empty() {
            self.overdrawn = Overdrawn::default();
        }
        for Outliers { pace, groups, rest, credits } in outliers {
            let overdrawn = self.overdrawn.for_pace(pace);
            let before = sending.runs();
            for group in &groups {
                let before_group = sending.runs();
                let may_encode = *overdrawn == 0 && (before_group - before) * RUN_CREDITS < credits;
                for index in group {
                    let (peer, due) = &mut ready[*index];
                    let sent = shares.give(peer, |peer| match may_encode {
                        true => peer.send_due(due, &moment, sending),
                        false => peer.postpone(due, &moment, sending),
                    });
                    errors.extend(sent.err());
                }
            }
            for index in rest {
                let (peer, due) = &mut ready[index];
                errors.extend(shares.give(peer, |peer| peer.postpone(due, &moment, sending)).err());
            }
            let spent = (sending.runs() - before) * RUN_CREDITS;
            *overdrawn = (*overdrawn + spent).saturating_sub(credits);
        }
        NetError::combine(errors)
    }

    /// Finds what each receiver sees by distance.
    fn look(&mut self, worlds: Worlds<'_>) {
        let Some(sights) = &mut self.sights else { return };
        let visible = &self.sending.visible;
        sights.begin(worlds, visible.world(), &visible.groups);
        self.peers.values_mut().for_each(|peer| sights.look(worlds.finest(), &mut peer.eye));
        sights.end();
    }

    /// Compares `world` with the previous world. Returns the number of ticks between the two
    /// worlds.
    fn check_world(&self, now: Duration, world: &Snapshot) -> Result<u32, NetError> {
        let before = self.spawned.as_ref().or_else(|| self.sending.visible.world());
        if let Some((id, lane)) = before.and_then(|before| world.changed_spawn_lane(before)) {
            return Err(NetError::SpawnChanged { id, field: self.schema.lane_name(lane) });
        }
        let tick = world.tick;
        let Some((last_now, last_tick)) = self.last_tick else { return Ok(1) };
        if tick <= last_tick {
            return Err(NetError::TickNotRising { last: last_tick, tick });
        }
        if now < last_now {
            return Err(NetError::TimeRanBack { last: last_now, now });
        }
        Ok(tick.0 - last_tick.0)
    }

    /// Notes which entities a refused world lacks. Later entities with the same ids are other
    /// entities, whose spawn fields may differ.
    fn note_absent(&mut self, world: &Snapshot) {
        let before = self.spawned.take().or_else(|| self.sending.visible.world().cloned());
        let Some(mut before) = before else { return };
        let is_absent = |(kind, id): &(usize, EntityId)| world.position_of(*kind, *id).is_none();
        let mut absent: Vec<EntityId> =
            before.entities().filter(is_absent).map(|(_, id)| id).collect();
        absent.sort_unstable();
        let none = Snapshot::new_like(&before);
        // The patch always succeeds, because `none` has the schema of `before`.
        if before.patch(&absent, &none).is_ok() {
            self.spawned = Some(before);
        }
    }
}
