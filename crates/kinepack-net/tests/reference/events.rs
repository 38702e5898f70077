//! The receiver's events, written from section 10 of `spec/NET.md` alone.

use std::collections::BTreeMap;

use kinepack::{Codec, Decoder, Snapshot, Tick};

use super::{Bytes, Refusal, since};

/// An event: its tick, a snapshot of all events of its list, and its index in that snapshot.
pub type Event = (u32, Snapshot, usize);

/// The state that a receiver keeps for events.
#[derive(Clone)]
pub struct NaiveEvents {
    codec: Codec,
    next: u16,
    held: BTreeMap<u16, Event>,
    /// The events that "follow" in the sense of section 10.3, in their order.
    pub following: Vec<Event>,
}

/// A list of events (section 10.2).
pub struct List {
    pub floor: u16,
    /// The events, each with its number.
    pub events: Vec<(u16, Event)>,
}

/// Splits a datagram into the list in front of the snapshot and the rest (section 10.1).
pub fn split(datagram: &[u8]) -> Result<(Option<&[u8]>, &[u8]), Refusal> {
    let mut bytes = Bytes(datagram);
    if bytes.u8()? != 0x1A {
        return Ok((None, datagram));
    }
    let low = bytes.u8()?;
    let len = if low < 128 {
        usize::from(low)
    } else {
        let high = bytes.u8()?;
        if high == 0 || high > 127 {
            return Err("a length that is not short or too long");
        }
        usize::from(low - 128) + 128 * usize::from(high)
    };
    let (list, rest) = bytes.0.split_at_checked(len).ok_or("a list that is cut off")?;
    let first = rest.first().ok_or("nothing behind events")?;
    if first & 7 == 0 || first & 7 == 3 || *first == 10 {
        Ok((Some(list), rest))
    } else {
        Err("events in front of something else")
    }
}

/// Reads a gamma code (CODEC.md, section 1.1).
fn gamma(bytes: &[u8], at: &mut usize) -> Result<u64, Refusal> {
    let mut bit = || {
        let byte = bytes.get(*at / 8).ok_or("the bits end")?;
        *at += 1;
        Ok::<u64, Refusal>(u64::from(byte >> ((*at - 1) % 8) & 1))
    };
    let mut zeros = 0;
    while bit()? == 0 {
        zeros += 1;
        if zeros > 32 {
            return Err("too many zeros");
        }
    }
    let mut number = 1 << zeros;
    for place in 0..zeros {
        number |= bit()? << place;
    }
    Ok(number)
}

impl NaiveEvents {
    pub fn new(codec: &Codec) -> Self {
        Self { codec: codec.clone(), next: 0, held: BTreeMap::new(), following: Vec::new() }
    }

    /// Begins a new session (section 3.1).
    pub fn begin_session(&mut self) {
        self.next = 0;
        self.held.clear();
    }

    pub fn hash(&self) -> u64 {
        self.codec.hash()
    }

    /// Reads a list (section 10.2).
    pub fn read(&self, tick: u32, list: &[u8]) -> Result<List, Refusal> {
        let mut bytes = Bytes(list);
        let first = bytes.u16()?;
        let (bits, mut at) = (bytes.0, 0);
        let before = gamma(bits, &mut at)? - 1;
        if before > 0xFFFF {
            return Err("a floor that is no number");
        }
        let floor = first.wrapping_sub(before as u16);
        let count = gamma(bits, &mut at)? - 1;
        if count > 256 {
            return Err("too many events");
        }
        let mut ticks: Vec<u64> = Vec::new();
        for _ in 0..count {
            let distance = gamma(bits, &mut at)? - 1;
            ticks.push(match ticks.last() {
                None => u64::from(tick).checked_sub(distance).ok_or("before tick 0")?,
                Some(last) => last + distance,
            });
        }
        if ticks.iter().any(|event| *event > u64::from(tick)) {
            return Err("an event after its datagram");
        }
        while !at.is_multiple_of(8) {
            if bits[at / 8] >> (at % 8) & 1 == 1 {
                return Err("bits that are not 0");
            }
            at += 1;
        }
        let rest = &bits[at / 8..];
        if count == 0 {
            let list = List { floor, events: Vec::new() };
            return if rest.is_empty() { Ok(list) } else { Err("a rest without events") };
        }
        let empty = kinepack::View::from(Snapshot::new(self.codec.schema(), Tick(0)));
        let events = Decoder::new(&self.codec)
            .decode(&empty, rest, Tick(1))
            .map_err(|_| "events that do not decode")?;
        let by_id: BTreeMap<u32, usize> = events.ids().iter().map(|id| id.0).zip(0..).collect();
        let is_wrong = by_id.len() != events.len()
            || events.len() as u64 != count
            || !by_id.contains_key(&0)
            || by_id.keys().any(|id| *id >= 1024);
        if is_wrong {
            return Err("ids of events");
        }
        let snapshot = events.snapshot();
        let event = |((id, index), tick): ((u32, usize), u64)| {
            (first.wrapping_add(id as u16), (tick as u32, (**snapshot).clone(), index))
        };
        Ok(List { floor, events: by_id.into_iter().zip(ticks).map(event).collect() })
    }

    /// Checks the rules of section 10.3 for refusing a list.
    pub fn check(&self, list: &List) -> Result<(), Refusal> {
        let next = if since(list.floor, self.next) > 0 { list.floor } else { self.next };
        if since(list.floor, self.next) >= 1 << 14 {
            return Err("a floor too far ahead");
        }
        if list.events.iter().any(|(number, _)| since(*number, next) >= 1024) {
            return Err("an event too far ahead");
        }
        Ok(())
    }

    /// Takes a checked list (section 10.3).
    pub fn take(&mut self, list: List) {
        while since(list.floor, self.next) > 0 {
            self.following.extend(self.held.remove(&self.next));
            self.next = self.next.wrapping_add(1);
        }
        for (number, event) in list.events {
            if since(number, self.next) >= 0 {
                self.held.entry(number).or_insert(event);
            }
        }
        while let Some(event) = self.held.remove(&self.next) {
            self.following.push(event);
            self.next = self.next.wrapping_add(1);
        }
    }
}
