//! A receiver written from `spec/NET.md` alone: maps, copies, no scratch memory, no playback.
//!
//! Tests compare it with the library's [`Receiver`](kinepack_net::Receiver). It gets the same
//! datagrams, refuses what "a reader must refuse", and holds the same views. [`kinepack::Decoder`]
//! decodes the snapshots, because CODEC.md has its own checks. If the specification allows a choice
//! (which old views are dropped), this receiver drops as early as it may.
//! [`NaiveReceiver::is_choice`] then reports that another receiver may decide otherwise. Cost: a
//! copy of the world for each datagram.

#![allow(unreachable_pub, reason = "a module of a test")]

pub mod events;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use events::{List, NaiveEvents};
use kinepack::{Baselines, Codec, Decoder, EntityId, Snapshot, Tick};

const HELLO_EVERY: Duration = Duration::from_millis(250);
/// After this time without a datagram, a receiver sends hellos again.
const SILENCE: Duration = Duration::from_secs(1);
const MAX_BLOCK_BYTES: usize = 4 << 20;
const MAX_ENTITIES: usize = 65_536;

/// Why a datagram was refused.
pub type Refusal = &'static str;

/// The lanes of each entity, by id.
pub type Entities = BTreeMap<u32, Vec<u32>>;

/// The input of the codec: a state and its tick.
type State = (u32, Entities);

/// The distance `a − b` of two sequences (section 1).
pub fn since(a: u16, b: u16) -> i16 {
    a.wrapping_sub(b) as i16
}

/// The header of a snapshot (section 4).
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub left_out: bool,
    pub merge: Option<u32>,
    pub stride: u8,
    pub sequence: u16,
    /// The number of sequences from the baseline to the snapshot. 0 if the snapshot is coded
    /// against a reference state.
    pub back: u8,
    pub reference: u8,
    /// The tick, if the stride is 0.
    pub tick: u32,
    pub interval: u8,
    /// The distances of section 4.3; unused ones are 0.
    pub older: [u8; 3],
    pub bytes: usize,
}

impl Header {
    pub fn read(datagram: &[u8]) -> Result<Self, Refusal> {
        let mut bytes = Bytes(datagram);
        let first = bytes.u8()?;
        if first & 7 != 0 && first & 7 != 3 {
            return Err("not a snapshot");
        }
        let stride = first >> 5;
        let (sequence, back) = (bytes.u16()?, bytes.u8()?);
        let reference = if back == 0 { bytes.u8()? } else { 0 };
        let (tick, interval) = if stride == 0 { (bytes.u32()?, bytes.u8()?) } else { (0, stride) };
        let merge = if first & 16 != 0 { Some(bytes.u32()?) } else { None };
        if stride != 0 && back == 0 {
            return Err("a stride from a reference state");
        }
        let mut older = [0; 3];
        if first & 7 == 3 {
            if back == 0 {
                return Err("older views beside a reference state");
            }
            for nth in 0.. {
                let byte = bytes.u8()?;
                *older.get_mut(nth).ok_or("too many older views")? = byte & 0x7F;
                if byte & 0x7F == 0 {
                    return Err("an older view at distance 0");
                }
                if byte >> 7 == 0 {
                    break;
                }
            }
        }
        let bytes = datagram.len() - bytes.0.len();
        Ok(Self {
            left_out: first & 8 != 0,
            merge,
            stride,
            sequence,
            back,
            reference,
            tick,
            interval,
            older,
            bytes,
        })
    }

    /// The sequences of the older views, newest first.
    pub fn older_views(&self) -> Vec<u16> {
        let mut sequence = self.baseline();
        let distances = self.older.iter().take_while(|distance| **distance != 0);
        let before = |distance: &u8| {
            sequence = sequence.wrapping_sub(u16::from(*distance));
            sequence
        };
        distances.map(before).collect()
    }

    pub fn baseline(&self) -> u16 {
        self.sequence.wrapping_sub(u16::from(self.back))
    }

    /// The sequences that the merge field names, newest first.
    pub fn merged(&self, field: u32) -> Vec<u16> {
        (0..32)
            .filter(|bit| field >> bit & 1 == 1)
            .map(|bit| self.baseline().wrapping_sub(1 + bit))
            .collect()
    }
}

/// The content of one snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub tick: u32,
    pub entities: Entities,
    pub left_out: bool,
    /// Whether there were turns in front (section 4.7).
    pub turns: bool,
    pub own_back: u8,
    /// The ids of the entities that the snapshot sent. The set is empty for a complete view.
    pub sent: BTreeSet<u32>,
}

impl View {
    /// The sequences `b − 1` to `b − n` of section 4.1.
    pub fn mergeable(&self, sequence: u16) -> Vec<u16> {
        (1..=u16::from(self.own_back).saturating_sub(1).min(32))
            .map(|back| sequence.wrapping_sub(back))
            .collect()
    }
}

#[derive(Clone, Debug, Default)]
struct Assembly {
    number: u8,
    count: u16,
    newest_sequence: u16,
    parts: BTreeMap<u16, Vec<u8>>,
}

#[derive(Clone)]
pub struct NaiveReceiver {
    codec: Codec,
    initial_hash: u64,
    views: BTreeMap<u16, View>,
    newest: Option<u16>,
    /// The received sequences within 32 of the newest.
    received: BTreeSet<u16>,
    newest_baseline: Option<u16>,
    references: BTreeMap<u8, State>,
    newest_reference: u8,
    assembly: Option<Assembly>,
    /// The number and the newest sequence of the last complete full state.
    whole: Option<(u8, u16)>,
    /// The time of the datagram that is handled next.
    pub now: Duration,
    next_hello: Duration,
    /// Whether the receiver has sent hellos again after a silence.
    seeks: bool,
    /// The tick of the newest state at the time when a fragment ended a silence. `None` once a
    /// state has arrived.
    sought: Option<u32>,
    /// The tick of the newest state.
    shown: Option<u32>,
    newest_snapshot: Option<u16>,
    /// Whether the next state does not build on the shown one.
    shows_anew: bool,
    /// Whether a session has begun, and none of its states has arrived.
    is_new_session: bool,
    /// How many states have arrived.
    states: u32,
    /// Whether the datagram that is handled has turns in front.
    turns: bool,
    is_to_acknowledge: bool,
    /// Whether a state check has failed before.
    has_lost_views: bool,
    anew: Option<u16>,
    events: Option<NaiveEvents>,
}

/// Splits turns from what they precede (section 4.7). Returns whether there are any.
fn split_turns(datagram: &[u8]) -> Result<(bool, &[u8]), Refusal> {
    match datagram {
        [0x4A, 2..=255, rest @ ..] => match rest.first().ok_or("nothing behind turns")? {
            first if *first == 10 || matches!(first & 7, 0 | 3) => Ok((true, rest)),
            _ => Err("turns in front of something else"),
        },
        [0x4A, ..] => Err("turns of less than 2"),
        _ => Ok((false, datagram)),
    }
}

impl NaiveReceiver {
    pub fn new(codec: &Codec, initial: &Snapshot) -> Self {
        Self {
            codec: codec.clone(),
            initial_hash: initial.state_hash(),
            views: BTreeMap::new(),
            newest: None,
            received: BTreeSet::new(),
            newest_baseline: None,
            references: BTreeMap::from([(0, (0, entities(initial)))]),
            newest_reference: 0,
            assembly: None,
            whole: None,
            now: Duration::ZERO,
            next_hello: Duration::ZERO,
            seeks: false,
            sought: None,
            shown: None,
            newest_snapshot: None,
            shows_anew: false,
            is_new_session: false,
            states: 0,
            turns: false,
            is_to_acknowledge: false,
            has_lost_views: false,
            anew: None,
            events: None,
        }
    }

    pub fn with_events(mut self, codec: &Codec) -> Self {
        self.events = Some(NaiveEvents::new(codec));
        self
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<events::Event> {
        self.events.as_mut().map_or(Vec::new(), |events| std::mem::take(&mut events.following))
    }

    /// Changes a lane as the library's `inject_fault` does.
    pub fn inject_fault(&mut self, sequence: u16, id: u32, lane: usize) {
        let value =
            &mut self.views.get_mut(&sequence).unwrap().entities.get_mut(&id).unwrap()[lane];
        *value = value.checked_sub(1).unwrap_or(1);
    }

    pub fn view(&self, sequence: u16) -> Option<&View> {
        self.views.get(&sequence)
    }

    pub fn newest(&self) -> Option<u16> {
        self.newest
    }

    /// The next datagram to send (sections 3, 4.6 and 6).
    pub fn poll_transmit(&mut self, now: Duration) -> Option<Vec<u8>> {
        if let Some(sequence) = self.anew.take() {
            return Some([&[12], &sequence.to_le_bytes()[..]].concat());
        }
        if now >= self.next_hello {
            self.next_hello = now + HELLO_EVERY;
            self.seeks = self.newest.is_some();
            let mut hello = vec![4, 4];
            let of_events = self.events.as_ref().map_or(0, NaiveEvents::hash);
            let of_schema = self.codec.schema().hash();
            for hash in [of_schema, self.codec.hash(), self.initial_hash, of_events] {
                hello.extend(hash.to_le_bytes());
            }
            let outline = self.codec.schema().outline();
            hello.extend(outline.take(256).flat_map(u32::to_le_bytes));
            return Some(hello);
        }
        let newest = self.newest?;
        if !std::mem::take(&mut self.is_to_acknowledge) {
            return None;
        }
        let is_received = |bit: &u16| self.received.contains(&newest.wrapping_sub(1 + bit));
        let before = (0..32).filter(is_received).fold(0_u32, |before, bit| before | 1 << bit);
        let mut datagram = vec![5];
        datagram.extend(newest.to_le_bytes());
        datagram.extend(before.to_le_bytes());
        Some(datagram)
    }

    pub fn handle(&mut self, datagram: &[u8]) -> Result<(), Refusal> {
        let sought = self.shown.filter(|_| self.seeks);
        let (list, behind_events) = events::split(datagram)?;
        let datagram;
        (self.turns, datagram) = split_turns(behind_events)?;
        let states = self.states;
        self.handle_kind(datagram, list)?;
        let is_fragment = datagram[0] & 7 == 1;
        if self.states > states {
            self.sought = None;
        } else if is_fragment {
            self.sought = sought.or(self.sought);
        }
        Ok(())
    }

    fn handle_kind(&mut self, datagram: &[u8], list: Option<&[u8]>) -> Result<(), Refusal> {
        match datagram.first().ok_or("empty")? & 7 {
            0 | 3 => self.handle_snapshot(datagram, None, list),
            1 => self.handle_fragment(datagram),
            2 if datagram[0] == 10 => {
                let mut bytes = Bytes(&datagram[1..]);
                let check = bytes.u16()?;
                match bytes.0.first().ok_or("no snapshot behind a check")? & 7 {
                    0 | 3 => self.handle_snapshot(bytes.0, Some(check), list),
                    _ => Err("a check in front of something else"),
                }
            }
            2 if datagram[0] == 0x2A => self.handle_events(datagram),
            2 => Err(
                if matches!((datagram, datagram.len()), ([2, 0..5, ..], 10) | ([2, 1, ..], 12)) {
                    "mismatch"
                } else {
                    "bad refusal"
                },
            ),
            _ => Err("kind"),
        }
    }

    pub fn newest_baseline(&self) -> Option<u16> {
        self.newest_baseline
    }

    /// Whether the datagram needs a view that a receiver may have dropped or may still hold
    /// (section 4.2). Then the reader may accept or refuse it.
    pub fn is_choice(&self, datagram: &[u8]) -> bool {
        let Ok((_, datagram)) = events::split(datagram) else { return false };
        let Ok((_, datagram)) = split_turns(datagram) else { return false };
        let Ok(header) = Header::read(datagram) else { return false };
        if header.back == 0 {
            return false;
        }
        let baseline = header.baseline();
        let mut needed = [vec![baseline], header.older_views()].concat();
        for older in header.older_views() {
            let Some(view) = self.views.get(&older).filter(|view| view.left_out) else { continue };
            needed.extend(self.parts_and_end(older, view));
        }
        match (header.merge, self.views.get(&baseline)) {
            (Some(field), _) => needed.extend(header.merged(field)),
            (None, Some(view)) if view.left_out => needed.extend(view.mergeable(baseline)),
            _ => {}
        }
        needed.into_iter().any(|sequence| self.is_droppable(sequence))
    }

    fn is_droppable(&self, sequence: u16) -> bool {
        self.newest.is_some_and(|newest| since(newest, sequence) > 255)
            || self.newest_baseline.is_some_and(|baseline| since(baseline, sequence) > 64)
    }

    fn check_fresh(&self, sequence: u16) -> Result<(), Refusal> {
        let Some(newest) = self.newest else { return Ok(()) };
        if since(newest, sequence) > 32 {
            return Err("too old");
        }
        if self.received.contains(&sequence) { Err("received already") } else { Ok(()) }
    }

    fn take(&mut self, sequence: u16) {
        let newest = self.newest.filter(|newest| since(*newest, sequence) > 0).unwrap_or(sequence);
        self.newest = Some(newest);
        self.received.insert(sequence);
        self.received.retain(|received| (0..=32).contains(&since(newest, *received)));
        let oldest_kept =
            |held: u16| self.newest_baseline.is_none_or(|baseline| since(baseline, held) <= 64);
        self.views
            .retain(|held, _| (0..=255).contains(&since(newest, *held)) && oldest_kept(*held));
        let is_known = |sequence: u16| since(newest, sequence) <= 16_384;
        self.assembly.take_if(|assembly| !is_known(assembly.newest_sequence));
        self.whole.take_if(|(_, sequence)| !is_known(*sequence));
        self.is_to_acknowledge = true;
        self.next_hello = self.now + SILENCE;
        self.seeks = false;
    }

    /// Whether a datagram with this sequence can only belong to a new session (section 3.1).
    fn is_other_session(&self, sequence: u16) -> bool {
        let distance = self.newest.map_or(0, |newest| since(sequence, newest));
        distance > 8_192 || self.seeks && distance < -32
    }

    /// Whether a datagram is newer by its sequence, but older by its tick (section 3.1).
    fn runs_back(&self, sequence: u16, tick: u32) -> bool {
        let is_newest = self.newest.is_some_and(|newest| since(sequence, newest) > 0);
        is_newest && !self.is_new_session && self.shown.is_some_and(|shown| shown > tick)
    }

    /// Begins a new session (section 3.1).
    fn begin_session(&mut self) {
        (self.newest, self.newest_baseline, self.assembly, self.whole) = (None, None, None, None);
        self.received.clear();
        self.views.clear();
        self.references.retain(|number, _| *number == 0);
        (self.seeks, self.has_lost_views, self.anew) = (false, true, None);
        (self.newest_snapshot, self.shows_anew, self.is_new_session) = (None, true, true);
        self.events.iter_mut().for_each(NaiveEvents::begin_session);
    }

    /// Forgets the shown state, if necessary, before a new state is shown.
    fn forget_shown(&mut self) {
        self.states += 1;
        self.is_new_session = false;
        if std::mem::take(&mut self.shows_anew) {
            self.shown = None;
        }
    }

    /// Handles a datagram with events alone (section 10.1).
    fn handle_events(&mut self, datagram: &[u8]) -> Result<(), Refusal> {
        let mut bytes = Bytes(&datagram[1..]);
        let (sequence, tick) = (bytes.u16()?, bytes.u32()?);
        if self.is_other_session(sequence) || self.runs_back(sequence, tick) {
            return Err("of another session");
        }
        self.check_fresh(sequence)?;
        let list = self.check_events(tick, bytes.0)?;
        self.events.as_mut().ok_or("no event codec")?.take(list);
        self.take(sequence);
        Ok(())
    }

    fn check_events(&self, tick: u32, list: &[u8]) -> Result<List, Refusal> {
        let events = self.events.as_ref().ok_or("no event codec")?;
        let list = events.read(tick, list)?;
        events.check(&list)?;
        Ok(list)
    }

    fn handle_snapshot(
        &mut self,
        datagram: &[u8],
        check: Option<u16>,
        list: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        let header = Header::read(datagram)?;
        let is_start = header.back == 0 && header.reference == 0;
        if is_start
            && (self.is_other_session(header.sequence)
                || self.runs_back(header.sequence, header.tick))
        {
            let mut anew = self.clone();
            anew.begin_session();
            anew.decode_snapshot(&header, &datagram[header.bytes..], check, list)?;
            *self = anew;
            return Ok(());
        }
        self.check_fresh(header.sequence)?;
        self.ask_anew(header.sequence, |receiver| {
            receiver.decode_snapshot(&header, &datagram[header.bytes..], check, list)
        })
    }

    /// Asks for the state anew if a datagram lacks its baseline (section 4.6).
    fn ask_anew(
        &mut self,
        sequence: u16,
        take: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let taken = take(self);
        let is_lacking = matches!(taken, Err(refusal) if refusal.ends_with("not held"));
        if is_lacking && self.has_lost_views || taken == Err(WRONG_STATE) {
            let newest = self.anew.filter(|asked| since(*asked, sequence) > 0);
            self.anew = newest.or(Some(sequence));
        }
        taken
    }

    /// Drops the views after a failed state check (section 4.6).
    fn lose_views(&mut self) -> Result<(), Refusal> {
        self.views.clear();
        self.references.retain(|number, _| *number == 0);
        self.newest_baseline = None;
        (self.has_lost_views, self.shows_anew) = (true, true);
        Err(WRONG_STATE)
    }

    fn decode_snapshot(
        &mut self,
        header: &Header,
        bytes: &[u8],
        check: Option<u16>,
        list: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        let (baseline, tick) = if header.back == 0 {
            let reference =
                self.references.get(&header.reference).ok_or("reference state not held")?;
            if header.merge.is_some() {
                return Err("merges a reference state");
            }
            (reference.clone(), header.tick)
        } else {
            let view = self.views.get(&header.baseline()).ok_or("baseline not held")?;
            let ahead = u32::from(header.back) * u32::from(header.stride);
            let tick = if header.stride == 0 {
                header.tick
            } else {
                view.tick.checked_add(ahead).ok_or("tick")?
            };
            ((view.tick, self.merge(header, view)?), tick)
        };
        let older = self.older(header)?;
        let ticks: Vec<u32> =
            [tick, baseline.0].into_iter().chain(older.iter().map(|(tick, _)| *tick)).collect();
        if !older.is_empty() && !ticks.windows(2).all(|pair| pair[0] > pair[1]) {
            return Err("older views whose ticks do not fall");
        }
        let list = list.map(|list| self.check_events(tick, list)).transpose()?;
        let decoded = match (self.decode(&baseline, &older, bytes, tick), check) {
            (Ok(decoded), Some(check)) if state_check(tick, &decoded) != check => {
                return self.lose_views();
            }
            (Err(_), Some(_)) => return self.lose_views(),
            (decoded, _) => decoded?,
        };
        let is_sent = |(id, lanes): &(&u32, &Vec<u32>)| baseline.1.get(id) != Some(lanes);
        let sent =
            decoded.iter().filter(is_sent).map(|(id, _)| *id).filter(|_| header.left_out).collect();
        let view = View {
            tick,
            entities: decoded,
            left_out: header.left_out,
            turns: self.turns,
            own_back: header.back,
            sent,
        };
        self.views.insert(header.sequence, view);
        self.forget_shown();
        let newest = self.newest_snapshot;
        if newest.is_none_or(|newest| since(header.sequence, newest) > 0) {
            self.newest_snapshot = Some(header.sequence);
            self.shown = self.shown.max(Some(tick));
        }
        if let (Some(events), Some(list)) = (&mut self.events, list) {
            events.take(list);
        }
        if header.back == 0 {
            if header.reference == self.newest_reference {
                self.references.retain(|number, _| *number == header.reference || *number == 0);
            }
        } else if self.newest_baseline.is_none_or(|newest| since(header.baseline(), newest) > 0) {
            self.newest_baseline = Some(header.baseline());
        }
        self.take(header.sequence);
        Ok(())
    }

    /// Merges partial views into a baseline (section 4.1).
    fn merge(&self, header: &Header, baseline: &View) -> Result<Entities, Refusal> {
        if !baseline.left_out {
            return if header.merge.is_some() {
                Err("merges a whole baseline")
            } else {
                Ok(baseline.entities.clone())
            };
        }
        let Some(field) = header.merge else { return self.merge_all(header.baseline(), baseline) };
        let others = header.merged(field);
        let is_partial = |view: &u16| self.views.get(view).is_some_and(|view| view.left_out);
        if !others.iter().all(is_partial) {
            return Err("merges what is not held, or was whole");
        }
        self.merge_with(baseline, &others)
    }

    /// Merges a view of this sequence by the rule for merge 0 (section 4.1).
    fn merge_all(&self, sequence: u16, view: &View) -> Result<Entities, Refusal> {
        let others = view.mergeable(sequence);
        // The sender may have meant a partial view that this receiver has dropped.
        if others.iter().any(|other| self.is_droppable(*other)) {
            return Err("merges what may be dropped");
        }
        self.merge_with(view, &others)
    }

    fn merge_with(&self, view: &View, others: &[u16]) -> Result<Entities, Refusal> {
        let mut merged = view.entities.clone();
        let others = others.iter().rev().filter_map(|other| self.views.get(other));
        for other in others.filter(|other| other.left_out) {
            for id in other.sent.difference(&view.sent) {
                if !view.turns || view.entities.contains_key(id) {
                    merged.insert(*id, other.entities[id].clone());
                }
            }
        }
        if merged.len() > MAX_ENTITIES { Err("entities") } else { Ok(merged) }
    }

    /// The older views of a snapshot (section 4.3).
    fn older(&self, header: &Header) -> Result<Vec<State>, Refusal> {
        let state = |sequence| {
            let view: &View = self.views.get(&sequence).ok_or("older view not held")?;
            if view.turns && view.left_out {
                return Ok((view.tick, self.merge_all(sequence, view)?));
            }
            let mut merged = view.entities.clone();
            if view.left_out && self.parts_and_end(sequence, view).any(|at| self.is_droppable(at)) {
                return Err("a part of an older view not held");
            }
            for part in self.parts(sequence, view).into_iter().rev() {
                let part = &self.views[&part];
                for id in part.sent.difference(&view.sent) {
                    merged.insert(*id, part.entities[id].clone());
                }
            }
            if merged.len() > MAX_ENTITIES { Err("entities") } else { Ok((view.tick, merged)) }
        };
        header.older_views().into_iter().map(state).collect()
    }

    /// The other parts of a partial older view, newest first (section 4.3).
    fn parts(&self, sequence: u16, view: &View) -> Vec<u16> {
        let before = (1..=32).map(|back| sequence.wrapping_sub(back));
        let is_part = |before: &u16| {
            let before = self.views.get(before);
            before.is_some_and(|before| before.left_out && before.tick == view.tick)
        };
        before.take_while(is_part).filter(|_| view.left_out).collect()
    }

    /// The result of `parts`, and the sequence just before these parts: it may be a part that was
    /// dropped.
    fn parts_and_end(&self, sequence: u16, view: &View) -> impl Iterator<Item = u16> {
        let parts = self.parts(sequence, view);
        let end = parts.last().unwrap_or(&sequence).wrapping_sub(1);
        parts.into_iter().chain([end])
    }

    fn decode(
        &self,
        baseline: &State,
        older: &[State],
        bytes: &[u8],
        tick: u32,
    ) -> Result<Entities, Refusal> {
        let snapshot = |(tick, entities): &State| {
            let mut snapshot = Snapshot::new(self.codec.schema(), Tick(*tick));
            for (id, lanes) in entities {
                snapshot.push_lanes(EntityId(*id), lanes).map_err(|_| "a bug: ids increase")?;
            }
            Ok(kinepack::View::from(snapshot))
        };
        let views = [baseline].into_iter().chain(older).map(snapshot);
        let views = views.collect::<Result<Vec<_>, Refusal>>()?;
        let baselines = Baselines::new(&views).map_err(|_| "ticks that do not fall")?;
        let decoded = Decoder::new(&self.codec).decode(baselines, bytes, Tick(tick));
        let decoded = decoded.map_err(|_| "not a snapshot")?;
        Ok(entities(&decoded))
    }

    /// Handles a fragment (section 5).
    fn handle_fragment(&mut self, datagram: &[u8]) -> Result<(), Refusal> {
        let mut bytes = Bytes(datagram);
        let first = bytes.u8()?;
        let (sequence, number, index, count) =
            (bytes.u16()?, bytes.u8()?, bytes.u16()?, bytes.u16()?);
        let part = bytes.0;
        if first != 1 || index >= count || part.is_empty() || number == 0 {
            // Section 5 lists these reasons to refuse a fragment.
            return Err("malformed fragment");
        }
        if self.is_other_session(sequence) && count > 1 {
            self.begin_session();
        }
        self.check_fresh(sequence)?;
        let at_hand = self.assembly.as_ref().map(|assembly| assembly.newest_sequence);
        let newest = at_hand.or(self.whole.map(|(_, sequence)| sequence));
        let is_newer = newest.is_none_or(|newest| since(sequence, newest) > 0);
        let mut assembly = match &self.assembly {
            Some(assembly) if assembly.number == number => assembly.clone(),
            _ if !is_newer || self.whole.is_some_and(|(whole, _)| whole == number) => {
                self.take(sequence);
                return Ok(());
            }
            _ => Assembly { number, count, newest_sequence: sequence, ..Assembly::default() },
        };
        if assembly.count != count {
            return Err("another count");
        }
        if since(sequence, assembly.newest_sequence) > 0 {
            assembly.newest_sequence = sequence;
        }
        if assembly.parts.entry(index).or_insert_with(|| part.to_vec()) != part {
            return Err("another part");
        }
        if assembly.parts.values().map(Vec::len).sum::<usize>() > MAX_BLOCK_BYTES {
            return Err("full state too large");
        }
        if assembly.parts.len() < usize::from(count) {
            // Section 5 drops fragments of the last completed full state only while no parts are
            // kept, so its number is forgotten now.
            self.whole = None;
            self.assembly = Some(assembly);
            self.take(sequence);
            return Ok(());
        }
        let full_state = assembly.parts.values().flatten().copied().collect::<Vec<u8>>();
        let mut decoded = None;
        self.ask_anew(sequence, |receiver| {
            decoded = Some(receiver.decode_full_state(&full_state)?);
            Ok(())
        })?;
        let (base, state) = decoded.ok_or("a bug: it is decoded")?;
        let is_of_other = |shown: u32| shown.saturating_sub(state.0) > 1024;
        if base == 0 && !self.is_new_session && self.sought.is_some_and(is_of_other) {
            self.begin_session();
        }
        self.forget_shown();
        self.shown = self.shown.max(Some(state.0));
        self.assembly = None;
        self.whole = Some((number, assembly.newest_sequence));
        self.references.retain(|held, _| *held == base || *held == 0);
        self.references.insert(number, state);
        self.newest_reference = number;
        self.take(sequence);
        Ok(())
    }

    fn decode_full_state(&self, full_state: &[u8]) -> Result<(u8, State), Refusal> {
        let mut bytes = Bytes(full_state);
        let (tick, reference) = (bytes.u32()?, bytes.u8()?);
        let baseline =
            self.references.get(&reference).ok_or("full state of a reference state not held")?;
        Ok((reference, (tick, self.decode(baseline, &[], bytes.0, tick)?)))
    }
}

const WRONG_STATE: Refusal = "not the sender's state";

/// The state check of a view (CODEC.md, section 18).
fn state_check(tick: u32, entities: &Entities) -> u16 {
    let step = |sum: u64, first: u32, second: u32| {
        let both = u64::from(second) * (1 << 32) + u64::from(first);
        (sum ^ both).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
    };
    let mut sums: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    let lanes = entities.values().next().map_or(0, Vec::len);
    let ids = entities.keys().copied().collect::<Vec<u32>>();
    let columns = (0..lanes).map(|lane| entities.values().map(|row| row[lane]).collect());
    for list in std::iter::once(ids).chain(columns) {
        for block in list.chunks(16) {
            let value = |index: usize| block.get(index).copied().unwrap_or(0);
            for (index, sum) in sums.iter_mut().enumerate() {
                *sum = step(*sum, value(2 * index), value(2 * index + 1));
            }
        }
    }
    let mut all = step(0, tick, entities.len() as u32);
    for sum in sums {
        all = step(all, sum as u32, (sum >> 32) as u32);
    }
    (all >> 16) as u16
}

/// The entities of a snapshot, lane for lane.
pub fn entities(snapshot: &Snapshot) -> Entities {
    let lanes = |index| (0..snapshot.lane_count()).map(|lane| snapshot.lane(lane)[index]).collect();
    snapshot.ids().iter().enumerate().map(|(index, id)| (id.0, lanes(index))).collect()
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Refusal> {
        let (taken, rest) = self.0.split_first_chunk().ok_or("too short")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, Refusal> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, Refusal> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        self.take().map(u32::from_le_bytes)
    }
}
