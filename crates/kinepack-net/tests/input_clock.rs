//! Tests of the clock of inputs. A client and a server run under virtual time over seeded links.

use std::time::Duration;

use allocation_counter::measure;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Pack, Tick};
use kinepack_net::{
    InputClock, InputClockConfig, InputClockError, Link, LinkConfig, ReceiverStatus, Sequence,
    StreamAcknowledgement, StreamConfig, StreamReceiver, StreamSender, StreamTiming,
};
use proptest::prelude::*;

use crate::runner::for_all;

const HZ: u32 = 60;
/// The server's tick at the beginning. The numbers of inputs wrap soon.
const FIRST_TICK: u32 = 65_400;

#[derive(Pack, Clone, Copy)]
struct Input {
    forward: bool,
}

/// A client that plays on a server of 60 ticks per second.
struct Game {
    clock: InputClock,
    inputs: StreamSender,
    server: StreamReceiver,
    up: Link,
    down: Link,
    now: Duration,
    drawn_at: Duration,
    tick: u32,
    /// What the client simulated, and which of these ticks the server missed.
    simulated: Vec<u32>,
    missed: Vec<u32>,
    /// While this is true, the client draws no frames.
    hangs: bool,
    frame_ms: u64,
}

impl Game {
    fn new(link: LinkConfig, config: InputClockConfig) -> Self {
        let codec = StreamCodec::of::<Input>(StreamLevel::Adaptive).unwrap();
        let stream = StreamConfig {
            repeats: 3,
            longest_round_trip: Duration::from_secs(1),
            ..StreamConfig::at_hz(HZ)
        };
        let mut clock = InputClock::new(config).unwrap();
        clock.start(Duration::ZERO, f64::from(FIRST_TICK) + 4.0);
        Self {
            clock,
            inputs: StreamSender::new(&codec, stream).unwrap(),
            server: StreamReceiver::new(&codec, stream).unwrap(),
            up: Link::new(link, 3).unwrap(),
            down: Link::new(link, 4).unwrap(),
            now: Duration::ZERO,
            drawn_at: Duration::ZERO,
            tick: FIRST_TICK,
            simulated: Vec::new(),
            missed: Vec::new(),
            hangs: false,
            frame_ms: 16,
        }
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += Duration::from_millis(1);
            while let Some(datagram) = self.up.poll(self.now) {
                self.server.handle(self.now, &datagram).ok();
            }
            let due = FIRST_TICK + (self.now.as_secs_f64() * f64::from(HZ)) as u32;
            for tick in self.tick..due {
                if self.server.read_for_tick::<Input>(self.now, Tick(tick)).unwrap().is_none() {
                    self.missed.push(tick);
                }
                let mut back = Vec::new();
                if self.server.write_acknowledgement(&mut back) {
                    self.down.send(self.now, &back);
                }
            }
            self.tick = due.max(self.tick);
            if (self.now.as_millis() as u64).is_multiple_of(self.frame_ms) && !self.hangs {
                self.draw();
            }
        }
    }

    fn draw(&mut self) {
        self.drawn_at = self.now;
        while let Some(datagram) = self.down.poll(self.now) {
            if let Ok(acknowledgement) = self.inputs.handle(&datagram) {
                self.clock.observe(self.now, &acknowledgement);
            }
        }
        for tick in self.clock.ticks(self.now) {
            self.inputs.push_for_tick(tick, &Input { forward: true }).unwrap();
            self.simulated.push(tick.0);
        }
        if let Some(datagram) = self.inputs.poll_transmit() {
            self.up.send(self.now, datagram);
        }
    }

    /// The missed ticks since `since`.
    fn missed_since(&self, since: u32) -> usize {
        self.missed.iter().filter(|tick| **tick >= since).count()
    }

    /// How far the client was ahead of the server in its last frame.
    fn ahead_ticks(&self) -> f64 {
        self.clock.tick() - f64::from(FIRST_TICK) - self.drawn_at.as_secs_f64() * f64::from(HZ)
    }
}

fn latency(ms: u64) -> LinkConfig {
    LinkConfig { latency: Duration::from_millis(ms), ..LinkConfig::PERFECT }
}

#[test]
fn inputs_arrive_just_in_time_over_a_steady_link() {
    let mut game = Game::new(latency(40), InputClockConfig::at_hz(HZ));
    game.run(4.0);
    let since = game.tick;
    game.run(4.0);
    assert_eq!(game.missed_since(since), 0);
    // 40 ms are 2.4 ticks. Frames delay inputs by up to a tick, and the margin is 2 ms.
    assert!((2.4..4.2).contains(&game.ahead_ticks()), "{}", game.ahead_ticks());
    assert_eq!(game.clock.stats().jumps, 0);
    assert!(game.clock.stats().early_ticks >= 0.0);
    // Each tick is simulated once, in order.
    assert!(game.simulated.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn a_bad_link_gets_a_longer_lead() {
    for (name, most_missed_ratio, most_ahead_ticks) in
        [("wifi", 0.008, 6.0), ("mobile", 0.016, 9.0)]
    {
        let mut game = Game::new(LinkConfig::named(name).unwrap(), InputClockConfig::at_hz(HZ));
        game.run(5.0);
        let since = game.tick;
        game.run(20.0);
        let missed_ratio = game.missed_since(since) as f64 / f64::from(game.tick - since);
        assert!(missed_ratio <= most_missed_ratio, "{name}: {missed_ratio}");
        assert!(game.ahead_ticks() < most_ahead_ticks, "{name}: {}", game.ahead_ticks());
    }
}

#[test]
fn a_longer_way_is_made_up_for_by_a_jump_and_a_shorter_one_slowly() {
    let mut game = Game::new(latency(20), InputClockConfig::at_hz(HZ));
    game.run(3.0);
    game.up.reconfigure(latency(170)).unwrap();
    game.run(1.5);
    assert_eq!(game.clock.stats().jumps, 1);
    let since = game.tick;
    game.run(3.0);
    assert_eq!(game.missed_since(since), 0);

    // The lead falls after the window of ten seconds, and nothing is missed meanwhile.
    let before = game.ahead_ticks();
    game.up.reconfigure(latency(20)).unwrap();
    game.run(9.0);
    assert!((game.ahead_ticks() - before).abs() < 1.0);
    game.run(6.0);
    assert!(game.ahead_ticks() < before - 7.0, "{} {before}", game.ahead_ticks());
    assert_eq!((game.missed_since(since), game.clock.stats().jumps), (0, 1));
}

#[test]
fn a_lead_that_is_far_too_long_is_cut_by_a_pause() {
    let mut game = Game::new(latency(20), InputClockConfig::at_hz(HZ));
    game.clock.start(Duration::ZERO, f64::from(FIRST_TICK) + 40.0);
    game.run(3.0);
    assert_eq!(game.clock.stats().jumps, 1);
    assert!(game.ahead_ticks() < 4.0);
    assert!(game.simulated.windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert!(game.missed_since(FIRST_TICK + 40) == 0);
}

#[test]
fn a_client_that_hangs_learns_nothing_from_it() {
    let mut game = Game::new(latency(20), InputClockConfig::at_hz(HZ));
    game.run(4.0);
    let (ahead, since) = (game.ahead_ticks(), game.tick);
    game.hangs = true;
    game.run(0.25);
    game.hangs = false;
    game.run(2.0);
    assert!((game.ahead_ticks() - ahead).abs() < 0.5, "{} {ahead}", game.ahead_ticks());
    // The ticks during the pause are simulated at once, up to 16.
    assert_eq!(game.clock.stats().skipped, 0);
    assert!((10..20).contains(&game.missed_since(since)));

    game.hangs = true;
    game.run(10.0);
    game.hangs = false;
    game.run(0.5);
    let skipped = game.clock.stats().skipped;
    assert!((570..600).contains(&skipped), "{skipped}");
    let since = game.tick;
    game.run(2.0);
    assert_eq!(game.missed_since(since), 0);
}

#[test]
fn a_server_that_hangs_does_not_make_the_client_run_ahead() {
    let mut game = Game::new(latency(20), InputClockConfig::at_hz(HZ));
    game.run(4.0);
    let ahead = game.ahead_ticks();
    // Two ticks are simulated together, because the server was late.
    for _ in 0..20 {
        game.tick += 1;
        game.server.read_for_tick::<Input>(game.now, Tick(game.tick)).unwrap();
        game.run(0.5);
    }
    assert!(game.ahead_ticks() < ahead + 2.0, "{} {ahead}", game.ahead_ticks());
}

#[test]
fn slow_and_fast_frames() {
    for frame_ms in [4, 7, 33, 66] {
        let mut game = Game::new(latency(30), InputClockConfig::at_hz(HZ));
        game.frame_ms = frame_ms;
        game.run(6.0);
        let since = game.tick;
        game.run(4.0);
        assert_eq!(game.missed_since(since), 0, "{frame_ms}");
        let most = 1.8 + frame_ms as f64 / 1000.0 * f64::from(HZ) + 1.2;
        assert!(game.ahead_ticks() < most, "{frame_ms}: {} {most}", game.ahead_ticks());
    }
}

#[test]
fn a_start_from_a_status() {
    let mut clock = InputClock::new(InputClockConfig::at_hz(HZ)).unwrap();
    let now = Duration::from_secs(5);
    let mut status = ReceiverStatus::default();
    assert!(!clock.start_from(now, &status) && !clock.is_started());
    assert_eq!(clock.ticks(now).len(), 0);
    status.server_tick = Some(1000.0);
    assert!(!clock.start_from(now, &status));
    status.round_trip = Some(Duration::from_millis(100));
    assert!(clock.start_from(now, &status) && clock.is_started());
    assert!((clock.tick() - 1005.0).abs() < 1e-3);
    let ticks: Vec<Tick> = clock.ticks(now + Duration::from_millis(20)).collect();
    assert_eq!(ticks, [Tick(1005), Tick(1006)]);
    assert_eq!(clock.ticks(now).len(), 0, "time does not run back");
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = InputClockConfig::at_hz(HZ);
    let zero = Duration::ZERO;
    for (config, error) in [
        (InputClockConfig { tick_hz: 0, ..good }, InputClockError::BadTickRate { tick_hz: 0 }),
        (
            InputClockConfig { in_time_ratio: 1.5, ..good },
            InputClockError::BadInTime { ratio: 1.5 },
        ),
        (InputClockConfig { slew_ratio: 0.0, ..good }, InputClockError::BadSlew { ratio: 0.0 }),
        (InputClockConfig { window: zero, ..good }, InputClockError::BadTime { time: zero }),
        (InputClockConfig { jump_back: zero, ..good }, InputClockError::BadTime { time: zero }),
    ] {
        assert_eq!(InputClock::new(config).err(), Some(error));
    }
    assert!(InputClock::new(InputClockConfig { in_time_ratio: f32::NAN, ..good }).is_err());
    assert!(InputClock::new(InputClockConfig { margin: zero, ..good }).is_ok());
}

#[test]
fn a_running_clock_allocates_nothing() {
    let mut clock = InputClock::new(InputClockConfig::at_hz(HZ)).unwrap();
    clock.start(Duration::ZERO, 100.0);
    let mut run = |seconds: std::ops::Range<u32>| {
        for frame in seconds.start * HZ..seconds.end * HZ {
            let now = Duration::from_secs(1) * frame / HZ;
            let newest = clock.ticks(now).last().unwrap_or(Tick(100)).into();
            let early_parts = (frame * 7919 % 37) as i16 - 5;
            let timing = Some(StreamTiming { number: newest, early_parts });
            clock.observe(now, &StreamAcknowledgement { newest, timing });
        }
    };
    run(0..30);
    assert_eq!(measure(|| run(30..60)).count_total, 0);
}

/// What happens to a clock.
#[derive(Clone, Debug)]
enum Event {
    Start(u64, f64),
    Ticks(u64),
    Observe(u64, u16, u16, i16),
}

fn any_event() -> impl Strategy<Value = Event> {
    let at = || prop_oneof![8 => 0u64..20_000, 1 => any::<u64>()];
    prop_oneof![
        1 => (at(), prop_oneof![8 => 0.0..70_000.0, 1 => any::<f64>()])
            .prop_map(|(at, tick)| Event::Start(at, tick)),
        8 => at().prop_map(Event::Ticks),
        8 => (at(), any::<u16>(), 0u16..20, any::<i16>())
            .prop_map(|(at, newest, index, early)| Event::Observe(at, newest, index, early)),
    ]
}

/// Whatever a server reports, ticks increase one by one unless some are skipped, and at most 16 are
/// returned at once.
#[test]
fn any_reports_at_any_time() {
    for_all(300, prop::collection::vec(any_event(), 0..200), |events| {
        let mut clock = InputClock::new(InputClockConfig::at_hz(HZ)).unwrap();
        let (mut next, mut skipped): (Option<u32>, u64) = (None, 0);
        for event in events {
            match event {
                Event::Start(at, tick) => {
                    clock.start(Duration::from_millis(at), tick);
                    (next, skipped) = (None, clock.stats().skipped);
                }
                Event::Ticks(at) => {
                    let ticks: Vec<u32> =
                        clock.ticks(Duration::from_millis(at)).map(|tick| tick.0).collect();
                    assert!(ticks.len() <= 16);
                    let now_skipped = clock.stats().skipped;
                    for tick in ticks {
                        if let Some(next) = next {
                            let left_out = u64::from(tick.checked_sub(next).unwrap());
                            assert_eq!(left_out, now_skipped - skipped);
                        }
                        (next, skipped) = (tick.checked_add(1), now_skipped);
                    }
                }
                Event::Observe(at, other, index, early_parts) => {
                    // Most reports are of a tick that the clock returned.
                    let shown = clock.tick().clamp(0.0, 1e9) as u32 as u16;
                    let newest = Sequence(if other < 8000 { other } else { shown });
                    let timing = Some(StreamTiming { number: newest.before(index), early_parts });
                    let acknowledgement = StreamAcknowledgement { newest, timing };
                    clock.observe(Duration::from_millis(at), &acknowledgement);
                }
            }
            assert!(clock.tick().is_finite());
        }
    });
}
