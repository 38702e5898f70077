//! Reads one tier for a viewer: takes groups, key snapshots and datagrams, and returns views.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::group::GroupReader;
use kinepack::{Codec, DecodeLimits, Decoder, Snapshot, Tick, View};

use crate::catalogue::MAX_FRAMES;
use crate::datagram::{Header, Parts, is_group};
use crate::{Carry, Refused, Tier};

/// The number of groups of one tier that are read at the same time.
const GROUPS: usize = 2;
/// The number of states that are kept of each tier, so that they can be merged with the states of
/// the other shown tiers.
pub(crate) const RECENT: usize = 32;
/// The number of key snapshots that are kept of each tier.
const KEYS: usize = 2;
/// The time after which a waiting group shows that the previous group is probably lost, so a key
/// snapshot is needed.
const KEY_PATIENCE: Duration = Duration::from_millis(250);
/// A group that has waited for this time may be replaced by a third group with any number.
const WAIT: Duration = Duration::from_secs(2);
/// The number of bytes of a tick.
const TICK_BYTES: usize = 4;
/// The maximum number of objects and of bytes of a waiting group.
const MAX_WAITING_OBJECTS: usize = 1024;
const MAX_WAITING_BYTES: usize = 1 << 20;
/// If a snapshot follows the previous one within less than this share of the time between their
/// ticks, a relay had stored it. The viewer has not caught up while such snapshots arrive.
const CAUGHT_UP: f64 = 0.5;
/// The time within which a viewer reads the snapshots of a tier that a relay has stored.
const CATCH_UP: Duration = Duration::from_secs(1);
/// The number of snapshots that the groups and keys of two tiers hold, together with a group that
/// begins and an object that is being read.
pub(crate) const CHAIN_STATES: usize = 2 * ((GROUPS + 1) * 3 + KEYS) + MAX_FRAMES as usize;

/// The state of a tier that is being read.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) tier: usize,
    codec: Codec,
    limits: DecodeLimits,
    /// The maximum number of frames in an object.
    most_frames: usize,
    /// The groups that are being read, in the order of their numbers.
    groups: VecDeque<Group>,
    /// The newest key snapshots of the tier.
    keys: VecDeque<View>,
    pub(crate) needs_key: bool,
    /// The number of waiting groups whose objects were refused later. The viewer adds this number
    /// to its own counter.
    pub(crate) refused: u64,
    /// The newest states in the order of their ticks, if other tiers are shown together with this
    /// one.
    pub(crate) recent: VecDeque<Arc<Snapshot>>,
    /// The time at which the tier fell behind the other shown tiers. The time is `None` if the tier
    /// is not behind.
    pub(crate) behind_since: Option<Duration>,
    /// The decoder and the parts of datagrams, if the tier is carried in datagrams.
    datagrams: Option<(Box<Decoder>, Parts)>,
    /// The time at which the first snapshot arrived.
    first_at: Option<Duration>,
    /// The time at which the newest snapshot arrived, and its tick.
    last: Option<(Duration, Tick)>,
    /// The time at which the viewer had read all that the relay had stored.
    pub(crate) caught_up_at: Option<Duration>,
}

/// A group that is being read.
#[derive(Debug)]
struct Group {
    number: u64,
    reading: Reading,
}

#[derive(Debug)]
enum Reading {
    /// The group is coded against the snapshot of the tick `given`, which has not arrived.
    Waiting { since: Duration, given: Tick, objects: Vec<Vec<u8>> },
    /// The group can be read, and `next` is the number of its next object.
    Open { reader: Box<GroupReader>, given: Tick, next: u64 },
    /// An object of the group was missed or refused.
    Broken,
}

impl Watched {
    pub(crate) fn new(tier: usize, of: &Tier, limits: DecodeLimits) -> Self {
        let datagrams = (of.carry == Carry::Datagrams)
            .then(|| (Box::new(Decoder::with_limits(&of.codec, limits)), Parts::default()));
        Self {
            tier,
            codec: of.codec.clone(),
            limits,
            most_frames: of.frames_per_object.into(),
            groups: VecDeque::new(),
            keys: VecDeque::new(),
            needs_key: true,
            refused: 0,
            recent: VecDeque::new(),
            behind_since: None,
            datagrams,
            first_at: None,
            last: None,
            caught_up_at: None,
        }
    }

    /// Changes the limits for groups that begin after this call.
    pub(crate) fn with_limits(self, limits: DecodeLimits) -> Self {
        Self { limits, ..self }
    }

    /// Starts to read the tier anew, after the connection was lost.
    pub(crate) fn rejoin(&mut self) {
        self.groups.clear();
        self.keys.clear();
        self.needs_key = true;
        self.recent.clear();
        self.behind_since = None;
        (self.first_at, self.last, self.caught_up_at) = (None, None, None);
    }

    /// Keeps a state for [`recent_at`](Self::recent_at).
    pub(crate) fn remember(&mut self, state: &Arc<Snapshot>) {
        let place = self.recent.partition_point(|other| other.tick < state.tick);
        self.recent.insert(place, Arc::clone(state));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    /// Returns the newest state that is not after a tick.
    pub(crate) fn recent_at(&self, tick: Tick) -> Option<&Arc<Snapshot>> {
        let place = self.recent.partition_point(|state| state.tick <= tick);
        self.recent.get(place.checked_sub(1)?)
    }

    /// Handles an object of the track of key snapshots. Appends to `views` the views that can be
    /// decoded with this object.
    pub(crate) fn key(
        &mut self,
        number: u64,
        bytes: &[u8],
        views: &mut Vec<View>,
    ) -> Result<(), Refused> {
        if number > 0 {
            return Err(Refused::Broken);
        }
        let mut reader = GroupReader::with_limits(&self.codec, self.limits);
        let key = read(&mut reader, bytes, 1)?.remove(0).with_learned(None);
        self.keys.push_back(key);
        if self.keys.len() > KEYS {
            self.keys.pop_front();
        }
        self.settle(views);
        Ok(())
    }

    /// Handles an object of the track of snapshots. Appends to `views` the views that can be
    /// decoded with this object.
    pub(crate) fn object(
        &mut self,
        now: Duration,
        number: u64,
        object: u64,
        bytes: &[u8],
        views: &mut Vec<View>,
    ) -> Result<(), Refused> {
        if object > 0 && self.datagrams.is_some() {
            return Err(Refused::Broken);
        }
        if let Some(group) = self.groups.iter_mut().find(|group| group.number == number) {
            views.extend(group.object(object, bytes, self.most_frames)?);
            self.settle(views);
            return Ok(());
        }
        if object > 0 {
            let is_late = self.groups.back().is_some_and(|newest| number < newest.number);
            return Err(if is_late { Refused::Late } else { Refused::Broken });
        }
        let (given, _) = bytes.split_first_chunk().ok_or(Refused::Length)?;
        let given = Tick(u32::from_le_bytes(*given));
        if self.groups.iter().any(|group| group.is_after(number, given)) {
            return Err(Refused::Late);
        }
        let mut place = self.groups.partition_point(|group| group.number < number);
        let is_full = self.groups.len() == GROUPS;
        if is_full && place == 0 && !self.groups.iter().any(|group| group.has_waited(now)) {
            return Err(Refused::Late);
        }
        let reading = Reading::Waiting { since: now, given, objects: vec![bytes.to_vec()] };
        self.groups.insert(place, Group { number, reading });
        let opened = self.open(place, views);
        if is_full {
            let given_up = self.groups.iter().position(|group| group.has_waited(now)).unwrap_or(0);
            self.groups.remove(given_up);
            place -= usize::from(given_up < place);
        }
        opened?;
        let reading = &mut self.groups[place].reading;
        if matches!(reading, Reading::Waiting { .. }) && bytes.len() > MAX_WAITING_BYTES {
            *reading = Reading::Broken;
            return Err(Refused::Waiting);
        }
        Ok(())
    }

    /// Reads all waiting groups whose given snapshot has arrived.
    fn settle(&mut self, views: &mut Vec<View>) {
        for place in 0..self.groups.len() {
            // If an object of such a group is refused, only that group ends.
            self.refused += u64::from(self.open(place, views).is_err());
        }
    }

    /// Begins to read a group, if its given snapshot has arrived.
    fn open(&mut self, place: usize, views: &mut Vec<View>) -> Result<(), Refused> {
        let Reading::Waiting { given, .. } = &self.groups[place].reading else { return Ok(()) };
        let tick = *given;
        let chains = self.groups.iter().filter_map(|group| match &group.reading {
            Reading::Open { reader, .. } => reader.last(),
            _ => None,
        });
        let Some(given) = self.keys.iter().chain(chains).find(|view| view.tick == tick) else {
            return Ok(());
        };
        let mut reader = Box::new(GroupReader::with_limits(&self.codec, self.limits));
        reader.begin(Some(given.clone().with_learned(None)));
        self.needs_key = false;
        let group = &mut self.groups[place];
        let open = Reading::Open { reader, given: tick, next: 0 };
        let waited = std::mem::replace(&mut group.reading, open);
        let Reading::Waiting { objects, .. } = waited else { return Ok(()) };
        // Older groups that still wait are not needed any more.
        for older in self.groups.iter_mut().take(place) {
            if matches!(older.reading, Reading::Waiting { .. }) {
                older.reading = Reading::Broken;
            }
        }
        let group = &mut self.groups[place];
        for (number, object) in objects.iter().enumerate() {
            let frames = if number == 0 { &object[TICK_BYTES..] } else { object };
            views.extend(group.object(number as u64, frames, self.most_frames)?);
        }
        Ok(())
    }

    /// Requests a key snapshot if a group has waited for too long.
    pub(crate) fn wait(&mut self, now: Duration) {
        self.needs_key |= self.groups.iter().any(|group| match &group.reading {
            Reading::Waiting { since, .. } => now.saturating_sub(*since) > KEY_PATIENCE,
            _ => false,
        });
    }

    /// Handles a datagram. Returns the view of the snapshot that the datagram completes, if any.
    pub(crate) fn datagram(&mut self, datagram: &[u8]) -> Result<Option<View>, Refused> {
        let Some((decoder, parts)) = &mut self.datagrams else { return Err(Refused::NotWatched) };
        let (header, part) = Header::read(datagram)?;
        let found = self.groups.iter().rev().find(|group| is_group(group.number, header.group));
        let base = match found.map(|group| &group.reading) {
            Some(Reading::Open { reader, .. }) => reader.last().ok_or(Refused::NoHead)?,
            _ => return Err(Refused::NoHead),
        };
        let tick = Tick(base.tick.0.wrapping_add(header.ticks.into()));
        if header.part.1 == 1 {
            return Ok(Some(decoder.decode(base, part, tick)?));
        }
        let Some(packet) = parts.add(&header, part)? else { return Ok(None) };
        Ok(Some(decoder.decode(base, &packet, tick)?))
    }

    /// Returns the tick of the newest snapshot, if the tier has caught up.
    pub(crate) fn current_tick(&self) -> Option<Tick> {
        self.caught_up_at.and(self.last).map(|(_, tick)| tick)
    }

    /// Notes the arrival of a snapshot. Returns whether the snapshot is current: neither stored by
    /// a relay, nor older than an earlier snapshot. `is_past` is true if playback has passed the
    /// snapshot's tick. In that case, too, a relay had probably stored the snapshot. But if this
    /// lasts longer than it takes to read stored snapshots, the tier just arrives later than
    /// others.
    pub(crate) fn advance(
        &mut self,
        now: Duration,
        tick: Tick,
        tick_hz: f64,
        is_past: bool,
    ) -> bool {
        let Some((before, last)) = self.last else {
            (self.first_at, self.last) = (Some(now), Some((now, tick)));
            return false;
        };
        let ticks = tick.0.wrapping_sub(last.0) as i32;
        if ticks > 0 {
            let since = now.saturating_sub(before).as_secs_f64() * tick_hz;
            let lasts = now.saturating_sub(self.first_at.unwrap_or(now)) > CATCH_UP;
            if (!is_past || lasts) && since >= CAUGHT_UP * f64::from(ticks) {
                self.caught_up_at.get_or_insert(now);
            }
            self.last = Some((now, tick));
        }
        self.caught_up_at.is_some()
    }
}

impl Group {
    /// Returns whether this group is newer than another group, which has the number `number` and a
    /// given snapshot of tick `tick`. The number alone could be wrong, and a wrong number would
    /// make all later groups late. So the ticks must agree too, and a group that could not be read
    /// yet does not count.
    fn is_after(&self, number: u64, tick: Tick) -> bool {
        match &self.reading {
            Reading::Open { given, .. } => {
                number < self.number && tick.0.wrapping_sub(given.0) as i32 <= 0
            }
            _ => false,
        }
    }

    fn has_waited(&self, now: Duration) -> bool {
        match &self.reading {
            Reading::Waiting { since, .. } => now.saturating_sub(*since) > WAIT,
            _ => false,
        }
    }

    /// Handles an object, which may have to wait. `bytes` must not include the given tick.
    fn object(&mut self, number: u64, bytes: &[u8], most: usize) -> Result<Vec<View>, Refused> {
        match &mut self.reading {
            Reading::Broken => Err(Refused::Broken),
            Reading::Waiting { objects, .. } => {
                let waiting_bytes: usize = objects.iter().map(Vec::len).sum();
                let refused = if number != objects.len() as u64 {
                    Refused::Broken
                } else if objects.len() >= MAX_WAITING_OBJECTS
                    || waiting_bytes + bytes.len() > MAX_WAITING_BYTES
                {
                    Refused::Waiting
                } else {
                    objects.push(bytes.to_vec());
                    return Ok(Vec::new());
                };
                self.reading = Reading::Broken;
                Err(refused)
            }
            Reading::Open { reader, next, .. } => {
                let views = if *next == number {
                    *next += 1;
                    read(reader, bytes, most)
                } else {
                    Err(Refused::Broken)
                };
                if views.is_err() {
                    self.reading = Reading::Broken;
                }
                views
            }
        }
    }
}

/// Reads an object, which has 1 to `most` frames.
fn read(reader: &mut GroupReader, mut bytes: &[u8], most: usize) -> Result<Vec<View>, Refused> {
    let mut views = Vec::new();
    while views.len() < most
        && let Some(view) = reader.read(&mut bytes)?
    {
        views.push(view.clone());
    }
    if bytes.is_empty() && !views.is_empty() { Ok(views) } else { Err(Refused::Length) }
}
