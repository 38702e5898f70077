//! One receiver of a world.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, DecodeLimits, Decoder, Difference, Snapshot, Tick};

use super::assembly::{Added, Assembly};
use super::known::Known;
use super::playback::Playback;
use super::views::{Held, Views};
use super::window::Window;
use crate::handshake::{check_schema, hello, reference_zero};
use crate::packet::{Downstream, FragmentHeader, Hello, Mismatch, SnapshotHeader};
use crate::{Acknowledgement, JitterBuffer, NetError, PlayoutConfig, PlayoutStats, Pushed, Refused, Sequence};

/// What a receiver is willing to hold, and how it plays.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The most entities of a view. [`max_memory_bytes`](Self::max_memory_bytes) may allow fewer.
    pub limits: DecodeLimits,
    /// The most memory for views and states to show. A view may take 1/96 of it, at four bytes a lane and entity and four
    /// for the entity's id; a snapshot with more entities is refused. About 70 views are held usually, and up to 255 on long
    /// round trips; if they exceed three quarters of this, the oldest are dropped. States to show that are no views have the
    /// last quarter. The decoder's own memory, of a few views, and a block on its way come on top.
    pub max_memory_bytes: usize,
    /// The largest block, in bytes.
    pub max_block_bytes: usize,
    /// Time between two hellos while nothing comes.
    pub hello_every: Duration,
    /// An entity that was not refreshed for longer is not blended over the whole time: its motion ends in the newest state and
    /// takes this long at most.
    pub longest_blend: Duration,
    /// The jitter buffer.
    pub playout: PlayoutConfig,
}

impl Default for ReceiverConfig {
    /// 128 MiB have room for 34,952 entities of nine lanes: a few bytes can ask for as many, so a default must not be the
    /// largest world that there may be. Blocks of 4 MiB hold 65,536 entities of 64 bytes; a hello every 250 ms finds a server
    /// soon. A quarter of a second is what a snapshot takes at the slowest sensible rate, with a loss.
    fn default() -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: 128 << 20,
            max_block_bytes: 4 << 20,
            hello_every: Duration::from_millis(250),
            longest_blend: Duration::from_millis(250),
            playout: PlayoutConfig::default(),
        }
    }
}

/// A receiver's memory has room for so many views of the largest size, or states to show.
const VIEWS_IN_MEMORY: usize = 96;
/// One in so many bytes is for states to show that are no views. For views that leaves room for 72: a receiver should hold
/// 64 before the newest baseline, and those after it.
const STATES_SHARE: usize = 4;

impl ReceiverConfig {
    /// What a view of so many lanes an entity may hold.
    fn view_limits(&self, lanes: usize) -> DecodeLimits {
        let entity_bytes = (lanes + 1) * size_of::<u32>();
        let most = self.max_memory_bytes / VIEWS_IN_MEMORY / entity_bytes;
        DecodeLimits { max_entities: self.limits.max_entities.min(u32::try_from(most).unwrap_or(u32::MAX)) }
    }

    fn longest_blend_ticks(&self) -> f64 {
        self.longest_blend.as_secs_f64() * f64::from(self.playout.tick_hz)
    }
}

/// What a datagram brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// A state of the world.
    Snapshot {
        /// When it was the state.
        tick: Tick,
        /// True where the sender left something out.
        left_out: bool,
        /// True where one from later was there already.
        late: bool,
    },
    /// A part of a block that is not whole.
    Fragment,
    /// The last part of a block: a whole state.
    Block {
        /// When it was the state.
        tick: Tick,
    },
}

/// Counts of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Datagrams that were taken.
    pub received: u64,
    /// Datagrams that were refused, those that came twice included.
    pub refused: u64,
    /// Datagrams that came twice.
    pub duplicates: u64,
    /// Bytes of all datagrams.
    pub bytes: u64,
    /// Snapshots too late to be shown.
    pub late: u64,
    /// Blocks that became whole.
    pub blocks: u64,
    /// Views that were dropped though they could still be baselines, because of
    /// [`ReceiverConfig::max_memory_bytes`].
    pub dropped_views: u64,
    /// States that were dropped before they were shown, for the same reason.
    pub dropped_states: u64,
    /// Snapshots that were taken as baselines, but could not be merged into what is shown. 0, unless this
    /// library has a fault.
    pub unmerged: u64,
    /// Views held as baselines.
    pub views: usize,
}

/// Receives a world.
///
/// Order of calls: [`handle`](Self::handle) for each datagram, then [`poll_transmit`](Self::poll_transmit) until it has nothing more, at
/// least a few times a second; [`playback`](Self::playback) for each frame that is drawn. Time is the caller's.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    hello: Hello,
    /// `None` once something came.
    next_hello: Option<Duration>,
    mismatch: Option<Mismatch>,
    acknowledges: bool,
    window: Window,
    views: Views,
    assembly: Assembly,
    decoder: Decoder,
    difference: Difference,
    decoded: Snapshot,
    known: Option<Known>,
    newest: Option<Sequence>,
    buffer: JitterBuffer<Known>,
    /// The most that a state in `buffer` has taken.
    largest_state_bytes: usize,
    stats: ReceiverStats,
    out: Vec<u8>,
}

impl Receiver {
    /// A receiver that knows nothing yet.
    ///
    /// # Errors
    /// [`NetError`] for a configuration that makes no sense.
    pub fn new(codec: &Codec, config: ReceiverConfig) -> Result<Self, NetError> {
        Self::with_initial(codec, config, &Snapshot::new(codec.schema(), Tick(0)))
    }

    /// A receiver that knows the same `initial` state as the hub, of whatever tick.
    ///
    /// # Errors
    /// [`NetError`] for a configuration that makes no sense, and a state of another schema.
    pub fn with_initial(codec: &Codec, config: ReceiverConfig, initial: &Snapshot) -> Result<Self, NetError> {
        check_schema(codec.schema().hash(), initial.schema_hash())?;
        if config.hello_every.is_zero() {
            return Err(NetError::NoTime);
        }
        let empty = Snapshot::new(codec.schema(), Tick(0));
        let limits = config.view_limits(empty.lane_count());
        Ok(Self {
            hello: hello(codec, initial),
            next_hello: Some(Duration::ZERO),
            mismatch: None,
            acknowledges: false,
            window: Window::default(),
            views: Views::new(reference_zero(initial), empty.clone(), limits.max_entities),
            assembly: Assembly::default(),
            decoder: Decoder::with_limits(codec, limits),
            difference: Difference::default(),
            decoded: empty,
            known: None,
            newest: None,
            buffer: JitterBuffer::new(config.playout).map_err(NetError::Playout)?,
            largest_state_bytes: 0,
            stats: ReceiverStats::default(),
            out: Vec::new(),
            config,
        })
    }

    /// Takes a datagram from the sender.
    ///
    /// # Errors
    /// [`Refused`]; nothing has changed then but a counter.
    pub fn handle(&mut self, now: Duration, datagram: &[u8]) -> Result<Received, Refused> {
        self.stats.bytes += datagram.len() as u64;
        let taken = Downstream::parse(datagram).and_then(|parsed| match parsed {
            Downstream::Snapshot(header, snapshot) => self.take_snapshot(now, &header, snapshot),
            Downstream::Fragment(header, part) => self.take_fragment(now, &header, part),
            // Once states flow, nobody says that they cannot.
            Downstream::Refusal(_) if self.next_hello.is_none() => Err(Refused::Kind { first_byte: datagram[0] }),
            Downstream::Refusal(mismatch) => {
                self.mismatch = Some(mismatch);
                Err(Refused::Mismatch(mismatch))
            }
        });
        match taken {
            Ok(_) => {
                if let Some(newest) = self.window.newest() {
                    self.assembly.tidy(newest);
                }
                self.stats.received += 1;
                self.acknowledges = true;
                self.next_hello = None;
            }
            Err(refused) => {
                self.stats.refused += 1;
                self.stats.duplicates += u64::from(refused == Refused::Duplicate);
            }
        }
        taken
    }

    fn take_snapshot(&mut self, now: Duration, header: &SnapshotHeader, bytes: &[u8]) -> Result<Received, Refused> {
        let sequence = header.sequence;
        self.window.check(sequence)?;
        let resolved = self.views.resolve(header)?;
        let (tick, interval_ticks) = (resolved.tick, resolved.interval_ticks);
        self.decoder.decode(resolved.baselines(), bytes, tick, &mut self.decoded)?;
        let mut sent = None;
        if header.left_out {
            self.difference.find(resolved.baseline, &self.decoded);
            let sent = sent.insert(Snapshot::new_like(&self.decoded));
            sent.gather(&self.decoded, &self.difference.sent).map_err(|_| Refused::BadMerge)?;
        }

        // From here on nothing fails.
        self.window.note(sequence);
        let view = Arc::new(self.decoded.clone());
        let late = self.newest.is_some_and(|newest| sequence.since(newest) < 0);
        self.show(now, sequence, &view, sent.as_ref(), interval_ticks, late);
        let own_back = header.baseline.back();
        let newest = self.window.newest().unwrap_or(sequence);
        let learned = self.decoder.learned().cloned();
        self.views.add(Held { sequence, view, own_back, sent, learned }, header.baseline, newest);
        self.shed_memory();
        if !late {
            self.newest = Some(sequence);
        }
        Ok(Received::Snapshot { tick, left_out: header.left_out, late })
    }

    /// Brings what is known up to date and hands it to the jitter buffer.
    fn show(
        &mut self,
        now: Duration,
        sequence: Sequence,
        view: &Arc<Snapshot>,
        sent: Option<&Snapshot>,
        interval_ticks: u8,
        late: bool,
    ) {
        let tick = view.tick;
        let Some(sent) = sent else {
            let whole = Known::whole(Arc::clone(view));
            if !late {
                self.known = Some(whole.clone());
            }
            // The pause before this snapshot is known to be one only where the snapshot before it came.
            let before = self.views.find(sequence.before(1)).filter(|held| held.sent.is_none() && interval_ticks > 0);
            let unchanged_until = before.map_or(0, |_| tick.0.saturating_sub(u32::from(interval_ticks)));
            self.push(now, Tick(unchanged_until), None, whole);
            return;
        };
        if late {
            let merged = self.known.as_mut().map_or(Ok(()), |known| known.add_late(tick, sent));
            self.stats.unmerged += u64::from(merged.is_err());
            return;
        }
        let mut known = self.known.take().unwrap_or_else(|| Known::whole(Arc::clone(view)));
        let reach = known.reach(sent, self.config.longest_blend_ticks());
        if known.advance(tick, &self.difference.left, sent).is_err() {
            self.stats.unmerged += 1;
            known = Known::whole(Arc::clone(view));
        }
        self.largest_state_bytes = self.largest_state_bytes.max(known.all_bytes());
        self.known = Some(known.clone());
        // One of several datagrams of a tick.
        match self.buffer.state_mut(tick) {
            Some(state) => *state = known,
            None => self.push(now, Tick(0), Some(reach), known),
        }
    }

    fn push(&mut self, now: Duration, unchanged_until: Tick, reach: Option<Tick>, known: Known) {
        let tick = known.state.tick;
        self.largest_state_bytes = self.largest_state_bytes.max(known.all_bytes());
        let pushed = match reach {
            Some(reach) => self.buffer.push_part(now, tick, unchanged_until, reach, known),
            None => self.buffer.push(now, tick, unchanged_until, known),
        };
        if pushed == Pushed::Late {
            self.stats.late += 1;
        }
    }

    fn take_fragment(&mut self, now: Duration, header: &FragmentHeader, part: &[u8]) -> Result<Received, Refused> {
        self.window.check(header.sequence)?;
        let received = match self.assembly.add(header, part, self.config.max_block_bytes)? {
            Added::Part => Received::Fragment,
            Added::Whole(number, bytes) => {
                let (head, snapshot) = bytes.split_first_chunk().ok_or(Refused::BadFragment)?;
                let [a, b, c, d, reference] = *head;
                let tick = Tick(u32::from_le_bytes([a, b, c, d]));
                let base = self.views.reference(reference)?;
                self.decoder.decode(&**base, snapshot, tick, &mut self.decoded)?;
                let state = Arc::new(self.decoded.clone());
                self.assembly.finish(number, header.sequence);
                self.views.add_reference(number, reference, Arc::clone(&state));
                match &mut self.known {
                    // Snapshots overtook it.
                    Some(known) if known.state.tick >= tick => {
                        self.stats.unmerged += u64::from(known.add_late(tick, &state).is_err());
                    }
                    known => *known = Some(Known::whole(Arc::clone(&state))),
                }
                self.push(now, Tick(0), None, Known::whole(state));
                self.shed_memory();
                self.stats.blocks += 1;
                Received::Block { tick }
            }
        };
        self.window.note(header.sequence);
        Ok(received)
    }

    /// Drops the oldest views, and the oldest states to show, until each fit into their share of the memory.
    fn shed_memory(&mut self) {
        let states_bytes = self.config.max_memory_bytes / STATES_SHARE;
        self.stats.dropped_views += self.views.shed(self.config.max_memory_bytes - states_bytes);
        // An exact sum each time would take longer than to decode a small snapshot.
        if (self.buffer.len() + 1) * self.largest_state_bytes <= states_bytes {
            return;
        }
        let mut own_bytes = self.buffer.states().map(Known::own_bytes).sum::<usize>();
        while own_bytes > states_bytes
            && let Some(dropped) = self.buffer.drop_oldest()
        {
            own_bytes = own_bytes.saturating_sub(dropped.own_bytes());
            self.stats.dropped_states += 1;
        }
    }

    /// The next datagram to send: hello until something came, then what was received. Valid until the next call.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<&[u8]> {
        self.out.clear();
        if self.next_hello.is_some_and(|due| now >= due) {
            self.next_hello = Some(now.saturating_add(self.config.hello_every));
            self.hello.write(&mut self.out);
        } else {
            self.poll_acknowledgement()?.write(&mut self.out);
        }
        Some(&self.out)
    }

    /// What was received, once after each time that something was: for callers that put it into messages of their own.
    pub fn poll_acknowledgement(&mut self) -> Option<Acknowledgement> {
        if !std::mem::take(&mut self.acknowledges) {
            return None;
        }
        self.window.acknowledgement()
    }

    /// Why the sender refuses this receiver, where it does.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.mismatch
    }

    /// The newest that is known of each entity; `None` before the first state.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.known.as_ref().map(|known| &*known.state)
    }

    /// The tick of which the entity at `index` of [`newest`](Self::newest) is: that of the newest state, or an earlier one where later
    /// snapshots left the entity out.
    ///
    /// # Panics
    /// Where there is no such entity.
    pub fn fresh(&self, index: usize) -> Tick {
        self.known.as_ref().map_or(Tick(0), |known| known.fresh(index))
    }

    /// The view of a sequence, while it is held: what the sender must know exactly.
    pub fn view(&self, sequence: Sequence) -> Option<&Snapshot> {
        self.views.find(sequence).map(|held| &*held.view)
    }

    /// The sequence of the newest snapshot.
    pub fn newest_sequence(&self) -> Option<Sequence> {
        self.newest
    }

    /// What to show now; `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        let tick_hz = self.config.playout.tick_hz;
        let longest_blend_ticks = self.config.longest_blend_ticks();
        self.buffer.at(now).map(|playout| Playback::new(playout, tick_hz, longest_blend_ticks))
    }

    /// Changes the bounds of the playout delay from now on; see [`JitterBuffer::set_delays`].
    ///
    /// # Errors
    /// [`NetError::Playout`], where [`PlayoutConfig::validate`] refuses them; nothing has changed then.
    pub fn set_playout_delays(&mut self, min: Duration, max: Duration) -> Result<(), NetError> {
        self.buffer.set_delays(min, max).map_err(NetError::Playout)?;
        self.config.playout = *self.buffer.config();
        Ok(())
    }

    /// Counts.
    pub fn stats(&self) -> ReceiverStats {
        ReceiverStats { views: self.views.len(), ..self.stats }
    }

    /// How playback does.
    pub fn playout_stats(&self) -> PlayoutStats {
        self.buffer.stats()
    }

    /// Parts that came of a block on its way, and all.
    pub fn block_progress(&self) -> Option<(usize, usize)> {
        self.assembly.progress()
    }
}
