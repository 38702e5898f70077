//! A receiver's turn in a tick: codes and sends the snapshot that is due.
//!
//! ```text
//! send_due ─┬─ send_changes ────┬─ send_all_changes   no budget: everything, shared with others
//!           │                   └─ plan               with a budget: what is most important
//!           └─ send_everything ─── a snapshot, or a full state of fragments
//! ```

use std::sync::Arc;

use kinepack::EncodeError;

use super::{DueSnapshot, LEAST_BYTES, MOST_FULL_STATES, Peer, header_bytes};
use crate::NetError;
use crate::events::EventList;
use crate::packet::{LONGEST_IN_FRONT_BYTES, SnapshotHeader, write_in_front};
use crate::sender::config::HubConfig;
use crate::sender::full_state::{OutgoingFullState, full_state_bytes};
use crate::sender::history::Content;
use crate::sender::moment::Moment;
use crate::sender::parts::bytes_of;
use crate::sender::plan::Plan;
use crate::sender::sending::{Against, PlanRequest, Sending};
use crate::trace::event;

/// After this many snapshots in a row without room for a due event, snapshots wait until the event
/// is sent. At 60 Hz, this is half a second.
const EVENTS_WAIT: u32 = 30;

/// A receiver's turn in a tick.
struct Turn<'a, 'm> {
    moment: &'a Moment<'m>,
    sending: &'a mut Sending,
    /// The snapshot's baseline and target.
    against: Against<'a>,
    /// The events to send in front of the next snapshot.
    front: Option<EventList>,
}

impl Turn<'_, '_> {
    /// In how many ticks each entity that the receiver sees has a turn.
    fn turns(&self) -> u8 {
        self.sending.visible.view(self.against.target.visible).turns
    }

    /// The most bytes that the events take in front of a snapshot.
    fn front_bytes(&self) -> usize {
        self.front.as_ref().map_or(0, |front| front.bytes.len() + LONGEST_IN_FRONT_BYTES)
    }
}

/// Why a receiver gets nothing in a tick.
#[derive(Debug)]
enum Failed {
    Codec(EncodeError),
    /// The state needs more fragments than a full state can have.
    FullStateTooLarge {
        bytes: usize,
    },
}

impl From<EncodeError> for Failed {
    fn from(error: EncodeError) -> Self {
        Self::Codec(error)
    }
}

impl Peer {
    /// Codes and sends the snapshot that [`begin`](Self::begin) found due.
    ///
    /// # Errors
    /// Returns [`NetError::Receiver`] or [`NetError::FullStateTooLarge`].
    pub(in crate::sender) fn send_due(
        &mut self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        let DueSnapshot { target, silent, is_first, .. } = *due;
        self.waited_ticks = 0;
        if silent {
            self.checks.ask();
        }
        let limit_bytes = self.sendable_bytes(moment.config) / 2;
        let limit_bytes = limit_bytes.saturating_sub(LONGEST_IN_FRONT_BYTES);
        let copies = moment.config.event_copies;
        let front =
            self.event_list(moment, sending, copies, limit_bytes, LONGEST_IN_FRONT_BYTES)?;
        let waits = front.is_none() && self.allowance.is_limited() && self.events.is_due();
        self.events_waited = if waits { self.events_waited.saturating_add(1) } else { 0 };
        let may_save = self.events_waited > EVENTS_WAIT && !is_first && !silent;
        if may_save && self.saves_for_events(moment, sending)? {
            return self.end(moment, sending, target);
        }
        let against = sending.against(&due.base, target);
        let mut turn = Turn { moment, sending: &mut *sending, against, front };
        let taken = match is_first {
            false => {
                let taken = self.send_changes(&mut turn, due.keeps_alive).map_err(Failed::Codec);
                self.note_starved();
                taken
            }
            true => self.send_everything(&mut turn).map(|has_begun| {
                if has_begun {
                    self.send_fragments(moment, &mut sending.outbox, silent);
                }
            }),
        };
        let ended = self.end(moment, sending, target);
        let id = self.id;
        let taken = taken.map_err(|failed| match failed {
            Failed::Codec(error) => NetError::Receiver { id, error },
            Failed::FullStateTooLarge { bytes } => NetError::FullStateTooLarge { id, bytes },
        });
        taken.and(ended)
    }

    /// Sends all changes, or as many changes as fit in the datagrams that the configuration allows.
    fn send_changes(
        &mut self,
        turn: &mut Turn<'_, '_>,
        keeps_alive: bool,
    ) -> Result<(), EncodeError> {
        let Turn { moment, against, .. } = *turn;
        if !keeps_alive && !turn.sending.is_anything_due(against)? {
            return Ok(());
        }
        if self.tries_all(moment.config) && self.send_all_changes(turn)? {
            self.waiting = 0;
            return Ok(());
        }
        for nth in 0..moment.config.datagrams_per_tick {
            if !self.history.reaches(against.base, 1) {
                return Ok(());
            }
            let Some(header) = self.header(moment, against.base, turn.turns()) else {
                return Ok(());
            };
            let limit_bytes = self.limit_bytes(moment.config, &header);
            let limit_bytes = limit_bytes.saturating_sub(turn.front_bytes());
            if limit_bytes < LEAST_BYTES {
                self.allowance.note_short(moment.now);
                return Ok(());
            }
            let plan = self.plan(turn, limit_bytes, nth > 0)?;
            self.send_snapshot(turn, &header, &plan)?;
            if self.waiting == 0 {
                return Ok(());
            }
        }
        self.allowance.note_short(moment.now);
        Ok(())
    }

    /// Whether to try to send everything before a part. With a budget that does not adapt, entities
    /// are ranked at once, because what is sent first matters.
    fn tries_all(&self, config: &HubConfig) -> bool {
        match self.allowance.is_limited() {
            false => true,
            true if self.allowance.is_thrifty() || self.expects_part => false,
            true => self.sendable_bytes(config) >= LEAST_BYTES,
        }
    }

    /// Logs when a budget begins to skip entities.
    fn note_starved(&mut self) {
        let is_starved = self.allowance.is_limited() && self.waiting > 0;
        if is_starved && !self.is_starved {
            event!(debug, receiver = self.id.0, waiting = self.waiting, "budget too small");
        }
        self.is_starved = is_starved;
    }

    /// Sends everything that is due, in one or several datagrams. Returns false if that is not
    /// possible. All receivers with this baseline and codec get the same bytes.
    fn send_all_changes(&mut self, turn: &mut Turn<'_, '_>) -> Result<bool, EncodeError> {
        let Turn { moment, against, .. } = *turn;
        let Some(header) = self.header(moment, against.base, turn.turns()) else {
            return Ok(false);
        };
        // With a limit, a large snapshot must not take the room of the events.
        let front_bytes = if self.allowance.is_limited() { turn.front_bytes() } else { 0 };
        let limit_bytes = self.limit_bytes(moment.config, &header).saturating_sub(front_bytes);
        let most_bytes = self.allowance.bytes().saturating_sub(front_bytes);
        let division = turn.sending.division(against.target, moment);
        if let Some(last) = self.history.last_turns(against.base)
            && let Some(plan) = turn.sending.turn(against, last)?
            && plan.coded.bytes.len() <= limit_bytes
        {
            self.send_snapshot(turn, &header, &plan)?;
            return Ok(true);
        }
        // An attempt to code everything in one datagram takes as long as all parts together.
        let is_hopeless = self.expects_split && turn.sending.rates.are_all_due() && {
            let parts = turn.sending.split(against, division)?;
            // The parts take more bytes than the whole.
            parts.is_some_and(|parts| bytes_of(&parts) > limit_bytes + limit_bytes / 8)
        };
        let in_front = moment.config.paid_overhead_bytes() + header_bytes(moment.config, &header);
        if !is_hopeless {
            let plan = turn.sending.whole_due(against)?;
            if plan.coded.bytes.len() <= limit_bytes {
                self.expects_split = false;
                self.send_snapshot(turn, &header, &plan)?;
                return Ok(true);
            }
            // All parts together take more bytes than the whole.
            if plan.coded.bytes.len() + in_front > most_bytes {
                return Ok(false);
            }
        }
        let Some(parts) = turn.sending.split(against, division)? else { return Ok(false) };
        self.expects_split = turn.sending.saves_attempts(against);
        if !self.history.reaches(against.base, parts.len()) {
            return Ok(false);
        }
        if bytes_of(&parts) + parts.len() * in_front > most_bytes {
            self.expects_split = false;
            return Ok(false);
        }
        for plan in &*parts {
            let Some(header) = self.header(moment, against.base, turn.turns()) else { break };
            self.send_snapshot(turn, &header, plan)?;
        }
        Ok(true)
    }

    /// Sends the complete state coded against the reference state. If the state is too large for a
    /// datagram, begins a full state and returns true.
    fn send_everything(&mut self, turn: &mut Turn<'_, '_>) -> Result<bool, Failed> {
        let Turn { moment, against, .. } = *turn;
        let Some(header) = self.header(moment, against.base, turn.turns()) else {
            return Ok(false);
        };
        let limit_bytes = self.limit_bytes(moment.config, &header);
        if limit_bytes < LEAST_BYTES {
            self.allowance.note_short(moment.now);
            return Ok(false);
        }
        let plan = turn.sending.whole(against)?;
        if plan.coded.bytes.len() <= limit_bytes {
            self.send_snapshot(turn, &header, &plan)?;
            return Ok(false);
        }
        let full_bytes = moment.config.datagram_bytes - header_bytes(moment.config, &header);
        if plan.coded.bytes.len() <= full_bytes {
            // The snapshot fits once the budget has filled up.
            self.allowance.note_short(moment.now);
            return Ok(false);
        }
        let number = self.newest_full_state % 255 + 1;
        let bytes = full_state_bytes(moment.tick, self.reference.number, &plan.coded.bytes);
        let (full_state_bytes, datagram_bytes) = (bytes.len(), moment.config.datagram_bytes);
        let full_state = OutgoingFullState::new(
            number,
            Arc::clone(&plan.view),
            bytes,
            datagram_bytes,
            moment.now,
        );
        if self.full_states.len() == MOST_FULL_STATES {
            self.full_states.pop_front();
        }
        self.full_states.push_back((number, Arc::clone(&plan.view)));
        self.full_state =
            Some(full_state.ok_or(Failed::FullStateTooLarge { bytes: full_state_bytes })?);
        self.newest_full_state = number;
        event!(
            debug,
            receiver = self.id.0,
            full_state = number,
            bytes = full_state_bytes,
            "full state started"
        );
        Ok(true)
    }

    fn plan(
        &mut self,
        turn: &mut Turn<'_, '_>,
        limit_bytes: usize,
        is_later_datagram: bool,
    ) -> Result<Arc<Plan>, EncodeError> {
        let Turn { moment, against, .. } = *turn;
        let only_for = moment.priority.map(|_| self.id);
        let mut bad_priorities = 0;
        let kinds = Arc::clone(turn.sending.rates.options());
        let visible = Arc::clone(turn.sending.visible.view(against.target.visible));
        let ids = visible.whole.ids();
        let mut score = |kind: usize, index: u32| {
            let entity = ids[index as usize];
            let priority = moment.priority.map_or(1.0, |priority| priority(self.id, entity));
            if priority.is_nan() {
                bad_priorities += 1;
                return 0.0;
            }
            // An infinite priority times 0 would not be a number.
            // If not everything fits, far entities wait until near ones are there.
            let is_far = visible.turns > 1 && visible.near.binary_search(&index).is_err();
            let every = if is_far { f32::from(visible.turns) } else { 1.0 };
            let priority = priority.min(f32::MAX) * kinds[kind].priority / (every * every);
            priority.min(f32::MAX) * self.freshness.age_ticks(entity, moment.tick) as f32
        };
        let request = PlanRequest {
            against,
            limit_bytes,
            expects_part: self.expects_part,
            is_later_datagram,
            only_for,
        };
        let plan = turn.sending.plan(&request, self.history.in_flight(), &mut score);
        self.bad_priorities += bad_priorities;
        plan
    }

    fn send_snapshot(
        &mut self,
        turn: &mut Turn<'_, '_>,
        header: &SnapshotHeader,
        plan: &Plan,
    ) -> Result<(), EncodeError> {
        let moment = turn.moment;
        let check_every =
            moment.config.check_every_bytes.filter(|_| self.checks.is_due(moment.tick));
        let check =
            if check_every.is_some() { Some(turn.sending.check(&plan.view)?) } else { None };
        let (left_out, turns) = (!plan.view.is_complete(), plan.view.turns);
        let header = SnapshotHeader { check, left_out, turns, ..*header };
        let room = self
            .sendable_bytes(moment.config)
            .saturating_sub(header.bytes() + plan.coded.bytes.len() + LONGEST_IN_FRONT_BYTES);
        let front = turn.front.take_if(|front| front.bytes.len() <= room);
        if let Some(front) = &front {
            self.allowance.note_events(front.bytes.len() + LONGEST_IN_FRONT_BYTES);
        }
        let bytes = turn.sending.outbox.push(self.id, |out| {
            if let Some(front) = &front {
                write_in_front(&front.bytes, out);
            }
            header.write(out);
            out.extend_from_slice(&plan.coded.bytes);
        });
        let (mut sent_before, mut waiting) = (Vec::new(), 0);
        match &plan.view.skipped {
            None => self.freshness.note_complete(moment.tick),
            Some(part) if part.turn.is_some() => self.freshness.note_complete(moment.tick),
            // All parts together are the complete state.
            Some(part) if part.split.is_some() => self.freshness.note_complete(moment.tick),
            Some(part) => {
                sent_before = self.freshness.note(&part.sent);
                self.freshness.tidy(&plan.view.whole);
                waiting = part.waiting;
            }
        }
        let whole = plan.view.turn().unwrap_or(&plan.view);
        self.shown = whole.state.map(|state| (state, moment.tick));
        self.waiting = waiting;
        self.expects_part = waiting > 0;
        let own_back = header.baseline.back();
        let interval_ticks = header.time.interval_ticks();
        let carried = front.map(|front| self.events.note_sent(moment.tick, front));
        let (view, tick) = (Arc::clone(&plan.view), moment.tick);
        let (models, cost) = (plan.coded.models.clone(), plan.coded.cost.clone());
        self.note_sent(
            moment,
            bytes,
            Content::Snapshot {
                view,
                tick,
                turns,
                own_back,
                interval_ticks,
                sent_before,
                models,
                cost,
            },
            carried,
        );
        if let Some(every) = check_every {
            let whole = &plan.view.whole;
            self.checks.note_checked(every, whole.value_count());
        }
        Ok(())
    }
}
