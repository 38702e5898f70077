//! Makes things to record, and places to record to.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{self, Cursor, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kinepack::{EntityId, Pack, Tick};
use kinepack_capture::{Capture, Recorder};

#[derive(Clone, Debug, PartialEq, Pack)]
pub(crate) struct Ship {
    #[pack(range = -512.0..=512.0, precision = 0.001)]
    pub(crate) position: [f32; 3],
    #[pack(rotation, bits = 11)]
    pub(crate) rotation: [f32; 4],
    pub(crate) is_docked: bool,
    #[pack(range = -20..=100)]
    pub(crate) health: i8,
}

/// Makes a ship, which differs at each tick and for each id.
pub(crate) fn ship(tick: u32, id: u32) -> Ship {
    let [t, n] = [tick, id].map(|number| (number % 1000) as f32);
    Ship {
        position: [0.1 * t, n / 3.0, -0.01 * n * (1.0 + t / 500.0)],
        rotation: [0.1, -0.2, 0.3 + 0.001 * n, 0.9 - 0.0005 * t],
        is_docked: (tick + id).is_multiple_of(5),
        health: (id % 120) as i8 - 20,
    }
}

/// Makes a file of `ticks` frames of 0 to 6 ships.
pub(crate) fn record_ships(ticks: u32) -> Vec<u8> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("ships", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    for tick in 0..ticks {
        let states: Vec<(EntityId, Ship)> =
            (0..tick % 7).map(|n| n * n + tick).map(|id| (EntityId(id), ship(tick, id))).collect();
        recorder.record(&ships, Tick(tick), states.iter().map(|(id, state)| (*id, state))).unwrap();
    }
    assert_eq!(recorder.finish().unwrap().frames, u64::from(ticks));
    sink.bytes()
}

/// Returns the readable part of a file (stream, tick and number of entities of each frame) and the
/// damage.
pub(crate) fn read_all(bytes: &[u8]) -> (Vec<(usize, u32, usize)>, Option<String>) {
    let mut capture = Capture::from_reader("any", Cursor::new(bytes.to_vec())).unwrap();
    let mut frames = Vec::new();
    while let Some((index, frame)) = capture.next_frame().unwrap() {
        frames.push((index, frame.tick().0, frame.ids().len()));
    }
    let damage = capture.damage();
    assert!(damage.iter().all(|damage| damage.at_byte <= bytes.len() as u64));
    let texts: Vec<String> = damage.iter().map(ToString::to_string).collect();
    (frames, (!texts.is_empty()).then(|| texts.join("; ")))
}

/// A file in memory, on a simulated disk with limited size and speed.
#[derive(Clone)]
pub(crate) struct Sink {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
    pause: Duration,
}

impl Default for Sink {
    fn default() -> Self {
        Self::with_room(usize::MAX)
    }
}

impl Sink {
    pub(crate) fn with_room(room: usize) -> Self {
        Self { bytes: Arc::default(), room, pause: Duration::ZERO }
    }

    pub(crate) fn slow() -> Self {
        Self { pause: Duration::from_millis(100), ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Write for Sink {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        std::thread::sleep(self.pause);
        let mut bytes = self.bytes.lock().unwrap();
        let room = self.room - bytes.len().min(self.room);
        if room == 0 && !buffer.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        let written = buffer.len().min(room);
        bytes.extend(&buffer[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
