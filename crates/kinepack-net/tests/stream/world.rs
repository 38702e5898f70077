//! Inputs of a player, and a client and a server connected by two links.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Bytes, Pack};
use kinepack_net::{
    Link, LinkConfig, Sequence, StreamConfig, StreamReceiver, StreamRefused, StreamSender,
};

use crate::support::Random;

#[derive(Pack, Clone, Debug, PartialEq)]
pub(crate) struct Input {
    #[pack(range = 0.0..360.0, bits = 16, wrap)]
    pub(crate) view: [f32; 2],
    #[pack(range = -1.0..=1.0, bits = 8)]
    pub(crate) stick: [f32; 2],
    pub(crate) jump: bool,
    #[pack(max = 8)]
    pub(crate) weapon: u8,
    #[pack(with = Bytes)]
    pub(crate) call: [u8; 12],
}

pub(crate) fn codec() -> StreamCodec {
    StreamCodec::of::<Input>(StreamLevel::Packed).unwrap()
}

/// Generates plausible inputs, with small changes and rare large ones.
pub(crate) struct Player {
    random: Random,
    input: Input,
}

impl Player {
    pub(crate) fn new(seed: u64) -> Self {
        let input =
            Input { view: [0.0; 2], stick: [0.0; 2], jump: false, weapon: 0, call: [0; 12] };
        Self { random: Random::new(seed), input }
    }

    pub(crate) fn step(&mut self) -> &Input {
        let Self { random, input } = self;
        for axis in &mut input.view {
            *axis = (*axis + random.unit() * 2.0).rem_euclid(360.0).min(359.99);
        }
        if random.chance(6) {
            input.stick = [random.unit(), random.unit()];
        }
        input.jump = random.chance(20);
        if random.chance(40) {
            input.weapon = random.below(9) as u8;
            input.call[random.below(12) as usize] = random.next() as u8;
        }
        input
    }
}

pub(crate) fn lanes(input: &Input) -> Vec<u32> {
    let mut lanes = vec![0; Input::LANES];
    input.quantize(&mut lanes).unwrap();
    lanes
}

pub(crate) fn at(step: u32, hz: u32) -> Duration {
    Duration::from_secs(1) * step / hz
}

/// The packet's number, and the number of the base that the packet names.
pub(crate) fn header(datagram: &[u8]) -> (Sequence, Option<Sequence>) {
    let number = Sequence(u16::from_le_bytes([datagram[1], datagram[2]]));
    (number, (datagram[0] & 8 == 0).then(|| number.before(u16::from(datagram[3]))))
}

/// A client that sends at `hz`, and a server that answers at the same rate.
pub(crate) struct Session {
    pub(crate) sender: StreamSender,
    pub(crate) receiver: StreamReceiver,
    pub(crate) up: Link,
    pub(crate) down: Link,
    pub(crate) hz: u32,
    pub(crate) steps: u32,
    /// Whether the links drop everything that is sent: first from client to server, then from
    /// server to client.
    pub(crate) cut: [bool; 2],
    player: Player,
    /// The lanes of the last record pushed with each number.
    pushed: HashMap<Sequence, Vec<u32>>,
    /// The numbers whose acknowledgements reached the sender.
    acknowledged: HashSet<Sequence>,
    pub(crate) given: HashSet<Sequence>,
    pub(crate) refused: Vec<StreamRefused>,
}

impl Session {
    pub(crate) fn new(config: StreamConfig, link: LinkConfig, seed: u64) -> Self {
        Self {
            sender: StreamSender::new(&codec(), config).unwrap(),
            receiver: StreamReceiver::new(&codec(), config).unwrap(),
            up: Link::new(link, seed).unwrap(),
            down: Link::new(link, seed + 1000).unwrap(),
            hz: config.rate_hz,
            steps: 0,
            cut: [false; 2],
            player: Player::new(seed),
            pushed: HashMap::new(),
            acknowledged: HashSet::new(),
            given: HashSet::new(),
            refused: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        at(self.steps, self.hz)
    }

    pub(crate) fn run(&mut self, steps: u32) {
        (0..steps).for_each(|_| self.step());
    }

    /// Delivers the datagrams that are due, answers, pushes an input and sends it.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
        let now = self.now();
        self.deliver(now);
        if let Some(acknowledgement) = self.receiver.acknowledgement()
            && !self.cut[1]
        {
            self.down.send(now, &acknowledgement.to_bytes());
        }
        let input = self.player.step();
        let number = self.sender.push(input).unwrap();
        self.pushed.insert(number, lanes(input));
        // The test forgets the record from half of all numbers ago, because numbers repeat.
        let old = number.before(0x8000);
        self.given.remove(&old);
        self.acknowledged.remove(&old);
        let datagram = self.sender.poll_transmit().unwrap();
        let (sent, base) = header(datagram);
        assert_eq!(sent, number);
        assert!(
            base.is_none_or(|base| self.acknowledged.contains(&base)),
            "a base that was not acknowledged"
        );
        if !self.cut[0] {
            self.up.send(now, datagram);
        }
        assert_eq!(self.sender.poll_transmit(), None);
    }

    fn deliver(&mut self, now: Duration) {
        while let Some(datagram) = self.up.poll(now) {
            let handled = match self.receiver.handle(now, &datagram) {
                Ok(handled) => handled,
                Err(refused) => {
                    self.refused.push(refused);
                    continue;
                }
            };
            let number = handled.number;
            let mut before = None;
            for record in handled.records() {
                assert_eq!(
                    record.lanes, self.pushed[&record.number],
                    "drift at {:?}",
                    record.number
                );
                assert!(self.given.insert(record.number), "{:?} was given twice", record.number);
                assert!(
                    before.is_none_or(|before| record.number.since(before) > 0),
                    "out of order"
                );
                before = Some(record.number);
            }
            let newest_of_packet = self.receiver.record(number).unwrap();
            assert_eq!(newest_of_packet, self.pushed[&number], "drift");
        }
        while let Some(datagram) = self.down.poll(now) {
            let number = Sequence(u16::from_le_bytes([datagram[1], datagram[2]]));
            if self.sender.handle(&datagram).is_ok() {
                self.acknowledged.insert(number);
            }
        }
    }

    /// The share of pushed records that were handed on, among the records that had a second to
    /// arrive. Sends nothing more.
    pub(crate) fn delivered_ratio(&mut self) -> f64 {
        let end = self.now() + Duration::from_secs(2);
        self.deliver(end);
        self.given.len() as f64 / self.pushed.len() as f64
    }
}
