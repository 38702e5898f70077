//! Tests of the jitter buffer under virtual time, with states that arrive over the simulated link.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use kinepack::Tick;
use kinepack_net::{
    Handled, Hub, HubConfig, JitterBuffer, Link, LinkConfig, Loss, NetError, PRESETS,
    PlayoutConfig, PlayoutError, PlayoutStats, Pushed, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Refused,
};
use proptest::prelude::*;

use crate::support::{self, Net, World};

const MS: Duration = Duration::from_millis(1);

fn ms(milliseconds: f64) -> Duration {
    Duration::from_secs_f64(milliseconds / 1e3)
}

/// A stream of 60 ticks per second over a link, drawn at 60 Hz, with measurements of the frames.
struct Stream {
    link: Link,
    buffer: JitterBuffer<u32>,
    /// Ticks between two sent states.
    interval_ticks: u32,
    /// The speed of the sender's clock relative to the receiver's.
    sender_rate: f64,
    next_tick: u32,
    /// The time of `next_tick`.
    next_at: Duration,
    now: Duration,
    /// The receiver takes nothing until this time. Then the receiver takes everything that has
    /// arrived, all at once.
    deaf_until: Duration,
    last_shown: f64,
    frames: u64,
    starved_frames: u64,
    /// The delays of the frames since the last `measure`.
    delays: Vec<Duration>,
}

impl Stream {
    fn new(link: LinkConfig, interval_ticks: u32, seed: u64) -> Self {
        Self::with(link, interval_ticks, seed, PlayoutConfig::at_hz(60))
    }

    fn with(link: LinkConfig, interval_ticks: u32, seed: u64, config: PlayoutConfig) -> Self {
        Self {
            link: Link::new(link, seed).unwrap(),
            buffer: JitterBuffer::new(config).unwrap(),
            interval_ticks,
            sender_rate: 1.0,
            next_tick: 1000,
            next_at: Duration::ZERO,
            now: Duration::ZERO,
            deaf_until: Duration::ZERO,
            last_shown: 0.0,
            frames: 0,
            starved_frames: 0,
            delays: Vec::new(),
        }
    }

    /// Runs for `duration`. If `sending` is false, the sender's ticks continue without states.
    fn run(&mut self, duration: Duration, sending: bool) {
        let end = self.now + duration;
        // Frames drift relative to the ticks, so that no phase is special.
        let frame = ms(16.61);
        while self.now < end {
            let frame_at = self.now + frame;
            while self.next_at <= frame_at {
                self.receive(self.next_at);
                if sending && self.next_tick.is_multiple_of(self.interval_ticks) {
                    self.link.send(self.next_at, &self.next_tick.to_le_bytes().repeat(60));
                }
                self.next_tick += 1;
                self.next_at += ms(1e3 / 60.0 / self.sender_rate);
            }
            self.receive(frame_at);
            self.now = frame_at;
            self.draw();
        }
    }

    /// Takes no states for `duration`.
    fn stall(&mut self, duration: Duration) {
        self.deaf_until = self.now + duration;
        self.run(duration, true);
    }

    /// The time since the shown state arrived, or would have arrived without a stall. The link must
    /// have this latency and no jitter.
    fn lag(&self, latency: Duration) -> Duration {
        let since_tick = self.now.saturating_sub(self.next_at);
        let tick = f64::from(self.next_tick) + since_tick.as_secs_f64() * 60.0;
        ms((tick - self.last_shown) * 1e3 / 60.0).saturating_sub(latency)
    }

    fn receive(&mut self, until: Duration) {
        if until < self.deaf_until {
            return;
        }
        while let Some(due) = self.link.next_due().filter(|due| *due <= until) {
            let datagram = self.link.poll(due).expect("something is due");
            let tick = u32::from_le_bytes(datagram[..4].try_into().unwrap());
            let before = self.buffer.len();
            let pushed = self.buffer.push(due.max(self.deaf_until), Tick(tick), Tick(0), tick);
            assert!(pushed == Pushed::Stored || self.buffer.len() == before);
        }
    }

    fn draw(&mut self) {
        let Some(shown) = self.buffer.at(self.now) else { return };
        assert!(shown.tick >= self.last_shown, "{} after {}", shown.tick, self.last_shown);
        assert!((0.0..=1.0).contains(&shown.ratio));
        assert!(shown.starved <= (shown.from.tick == shown.to.tick && shown.ratio == 1.0));
        assert!(
            f64::from(shown.from.tick.0) <= shown.tick + 1e-6
                && shown.tick <= f64::from(shown.to.tick.0) + 1e-6
        );
        // The stored value is the tick, so the shown value is the tick too, unless the motion
        // rested.
        let [from, to] = [shown.from.state, shown.to.state].map(f64::from);
        assert!((from + f64::from(shown.ratio) * (to - from) - shown.tick).abs() < 0.01);
        assert!(shown.later().map(|entry| entry.tick).is_sorted());
        assert!(
            shown.later().all(|entry| entry.tick > shown.to.tick && entry.state == entry.tick.0)
        );
        self.last_shown = shown.tick;
        self.frames += 1;
        self.starved_frames += u64::from(shown.starved);
        self.delays.push(self.buffer.stats().delay);
    }

    /// The mean delay in milliseconds and the share of starved frames since the last call.
    fn measure(&mut self) -> (f64, f64) {
        let delays: f64 = self.delays.iter().map(Duration::as_secs_f64).sum();
        let measured = (
            1e3 * delays / self.delays.len() as f64,
            self.starved_frames as f64 / self.frames as f64,
        );
        self.delays.clear();
        (self.frames, self.starved_frames) = (0, 0);
        measured
    }

    fn stats(&self) -> PlayoutStats {
        self.buffer.stats()
    }
}

fn delayed(latency_ms: u32, jitter_ms: u32) -> LinkConfig {
    LinkConfig { latency: MS * latency_ms, jitter: MS * jitter_ms, ..LinkConfig::PERFECT }
}

#[test]
fn without_jitter_the_delay_is_the_interval() {
    for (interval_ticks, interval_ms) in [(1, 16.667), (2, 33.333), (6, 100.0)] {
        let mut stream = Stream::new(delayed(40, 0), interval_ticks, 1);
        stream.run(MS * 10_000, true);
        stream.measure();
        stream.run(MS * 60_000, true);
        let (delay_ms, starved_ratio) = stream.measure();
        assert!(
            (interval_ms - 0.01..interval_ms + 0.1).contains(&delay_ms),
            "{interval_ms}: {delay_ms}"
        );
        assert_eq!(starved_ratio, 0.0);
        let stats = stream.stats();
        assert!(stats.jitter < MS / 1000 && stats.starved_ratio < 0.002, "{stats:?}");
        assert_eq!((stats.late, stats.jumps), (0, 0));
    }
}

#[test]
fn the_bounds_of_the_delay_are_kept() {
    for (min_ms, max_ms, expected_ms) in [(150, 500, 150.0), (0, 60, 60.0), (0, 500, 100.0)] {
        let config = PlayoutConfig {
            min_delay: MS * min_ms,
            max_delay: MS * max_ms,
            ..PlayoutConfig::at_hz(60)
        };
        let mut stream = Stream::with(delayed(40, 0), 6, 1, config);
        stream.run(MS * 10_000, true);
        stream.measure();
        stream.run(MS * 10_000, true);
        let (delay_ms, starved_ratio) = stream.measure();
        assert!((delay_ms - expected_ms).abs() < 0.1, "{expected_ms}: {delay_ms}");
        // From 60 ms after a state, the clock waits for the next state at 100 ms.
        assert!(if max_ms == 60 {
            (starved_ratio - 0.4).abs() < 0.01
        } else {
            starved_ratio == 0.0
        });
    }
}

#[test]
fn a_delay_can_be_chosen_while_running() {
    let mut stream = Stream::new(delayed(40, 0), 1, 1);
    stream.run(MS * 5_000, true);
    let before = stream.stats().delay;
    assert!((ms(16.6)..ms(16.8)).contains(&before), "{before:?}");

    // The playout clock runs slower by a twentieth. After 2 s the clock lags by another tenth of a
    // second, and the delay reaches 300 ms within 6 s.
    stream.buffer.set_delays(MS * 300, MS * 300).unwrap();
    assert_eq!(stream.stats().target_delay, MS * 300);
    stream.run(MS * 2_000, true);
    let grown = stream.stats().delay - before;
    assert!((ms(99.0)..ms(101.0)).contains(&grown), "{grown:?}");
    stream.run(MS * 4_000, true);
    stream.measure();
    stream.run(MS * 5_000, true);
    let (delay_ms, starved_ratio) = stream.measure();
    assert!((delay_ms - 300.0).abs() < 0.1 && starved_ratio == 0.0, "{delay_ms}");

    // Meanwhile, the buffer has kept estimating what the network needs.
    stream.buffer.set_delays(Duration::ZERO, MS * 500).unwrap();
    assert!((ms(16.6)..ms(16.8)).contains(&stream.stats().target_delay), "{:?}", stream.stats());
    stream.run(MS * 6_000, true);
    stream.measure();
    stream.run(MS * 5_000, true);
    let (delay_ms, starved_ratio) = stream.measure();
    assert!((16.6..16.8).contains(&delay_ms) && starved_ratio == 0.0, "{delay_ms}");
    let stats = stream.stats();
    assert_eq!((stats.jumps, stats.late), (0, 0));
}

#[test]
fn a_receivers_delay_can_be_chosen_while_running() {
    let mut net = Net::new(World::new(20, 1), HubConfig::default());
    net.add(delayed(40, 5), 1, ReceiverOptions::default()).unwrap();
    let mut last_tick = 0.0;
    let mut run = |net: &mut Net, ticks| {
        for _ in 0..ticks {
            net.step(None);
            let now = net.now();
            if let Some(playback) = net.clients[0].receiver.playback(now) {
                assert!(playback.tick >= last_tick);
                last_tick = playback.tick;
            }
        }
        net.clients[0].receiver.playout_stats()
    };
    assert!(run(&mut net, 300).delay < MS * 50);
    let receiver = &mut net.clients[0].receiver;
    receiver.set_playout_delays(MS * 300, MS * 300).unwrap();
    let bad = PlayoutError::BadDelays { min: MS * 2, max: MS };
    assert_eq!(receiver.set_playout_delays(MS * 2, MS), Err(NetError::Playout(bad)));
    let stats = run(&mut net, 400);
    assert!((ms(299.0)..ms(301.0)).contains(&stats.delay) && stats.jumps == 0, "{stats:?}");
    net.clients[0].receiver.set_playout_delays(Duration::ZERO, MS * 500).unwrap();
    assert!(run(&mut net, 400).delay < MS * 50);
}

#[test]
fn delays_can_be_chosen_before_the_stream_and_for_the_next_one() {
    let config = PlayoutConfig { min_delay: MS * 200, ..PlayoutConfig::at_hz(60) };
    let mut buffer = JitterBuffer::new(config).unwrap();
    buffer.set_delays(MS * 100, MS * 500).unwrap();
    for begin_ms in [1000, 5000] {
        assert_eq!(buffer.push(MS * begin_ms, Tick(60), Tick(0), ()), Pushed::Stored);
        assert_eq!(buffer.stats().delay, MS * 100);
        buffer.reset();
    }
}

#[test]
fn there_is_no_delay_before_the_first_state() {
    let mut buffer = JitterBuffer::<u32>::new(PlayoutConfig::at_hz(60)).unwrap();
    assert!(buffer.at(MS * 90_000).is_none());
    assert_eq!(buffer.stats().delay, Duration::ZERO);
}

#[test]
fn impossible_delays_change_nothing() {
    let mut stream = Stream::new(delayed(40, 5), 1, 1);
    stream.run(MS * 2_000, true);
    stream.buffer.set_delays(MS * 50, MS * 400).unwrap();
    let (config, stats) = (*stream.buffer.config(), stream.stats());
    assert_eq!((config.min_delay, config.max_delay), (MS * 50, MS * 400));
    for (min, max) in
        [(MS * 401, MS * 400), (Duration::ZERO, MS * 60_001), (Duration::MAX, Duration::MAX)]
    {
        assert_eq!(stream.buffer.set_delays(min, max), Err(PlayoutError::BadDelays { min, max }));
        assert_eq!((*stream.buffer.config(), stream.stats()), (config, stats));
    }
}

#[test]
fn a_delay_without_enough_room_shows_the_oldest_state() {
    let config = PlayoutConfig { max_states: 30, ..PlayoutConfig::at_hz(60) };
    let mut stream = Stream::with(delayed(40, 0), 1, 1, config);
    stream.run(MS * 2_000, true);
    stream.buffer.set_delays(MS * 5_000, MS * 5_000).unwrap();
    stream.run(MS * 60_000, true);
    assert_eq!(stream.buffer.len(), 30);
    let newest = f64::from(stream.next_tick) - 4.0;
    assert!((28.0..32.0).contains(&(newest - stream.last_shown)), "{newest} {}", stream.last_shown);
}

/// Run `cargo test -p kinepack-net playout::presets -- --nocapture` to print the table.
#[test]
fn presets_starve_as_seldom_as_configured() {
    // For each rate: the largest mean delay, and the largest share of starved frames. The share is
    // 1 − coverage, plus the share that bursts of loss add.
    let bounds = [
        ("lan", [(18.0, 0.001), (102.0, 0.001)]),
        ("cable", [(21.0, 0.005), (112.0, 0.005)]),
        ("wifi", [(50.0, 0.010), (170.0, 0.014)]),
        ("mobile", [(75.0, 0.018), (200.0, 0.025)]),
        ("terrible", [(250.0, 0.035), (370.0, 0.110)]),
    ];
    for (preset, (name, bounds)) in PRESETS.iter().zip(bounds) {
        assert_eq!(preset.name, name);
        for (interval_ticks, (most_delay_ms, most_starved_ratio)) in [1, 6].into_iter().zip(bounds)
        {
            let (mut delay_ms, mut starved_ratio) = (0.0, 0.0);
            for seed in 0..3 {
                let mut stream = Stream::new(preset.config, interval_ticks, seed);
                stream.run(MS * 10_000, true);
                stream.measure();
                stream.run(MS * 200_000, true);
                let measured = stream.measure();
                delay_ms += measured.0 / 3.0;
                starved_ratio += measured.1 / 3.0;
                assert!(
                    (stream.stats().starved_ratio - measured.1).abs() < 0.003 + 0.1 * measured.1,
                    "{name}"
                );
            }
            println!(
                "{name:9} {:2} Hz: {delay_ms:6.1} ms, {:5.2} % starved",
                60 / interval_ticks,
                100.0 * starved_ratio
            );
            assert!(
                delay_ms <= most_delay_ms,
                "{name}, every {interval_ticks} ticks: {delay_ms} ms"
            );
            assert!(
                starved_ratio <= most_starved_ratio,
                "{name}, every {interval_ticks} ticks: {starved_ratio}"
            );
        }
    }
}

#[test]
fn the_delay_follows_the_jitter_up_and_down() {
    let mut stream = Stream::new(delayed(40, 5), 1, 3);
    stream.run(MS * 10_000, true);
    let calm = stream.stats();
    assert!((ms(17.0)..ms(23.0)).contains(&calm.delay), "{calm:?}");
    stream.link.reconfigure(delayed(40, 80)).unwrap();
    stream.run(MS * 4_000, true);
    let rough = stream.stats();
    assert!((ms(60.0)..ms(100.0)).contains(&rough.target_delay), "{rough:?}");
    assert!((ms(60.0)..ms(110.0)).contains(&rough.delay), "{rough:?}");
    assert!(rough.jitter > calm.jitter * 2);
    stream.measure();
    stream.run(MS * 20_000, true);
    assert!(stream.measure().1 < 0.02);
    stream.link.reconfigure(delayed(40, 5)).unwrap();
    // In 4.5 s, the rough arrivals leave the window of 2 s, and then the clock makes up 60 ms of
    // delay at 5 %.
    stream.run(MS * 4_500, true);
    let calm = stream.stats();
    assert!((ms(17.0)..ms(23.0)).contains(&calm.delay), "{calm:?}");
    assert_eq!(calm.jumps, 0);
}

#[test]
fn single_losses_are_covered_if_they_exceed_one_percent() {
    let config = LinkConfig { loss: Loss::Independent { ratio: 0.05 }, ..delayed(40, 0) };
    let mut stream = Stream::new(config, 1, 5);
    stream.run(MS * 10_000, true);
    stream.measure();
    stream.run(MS * 100_000, true);
    let (delay_ms, starved_ratio) = stream.measure();
    assert!((33.0..45.0).contains(&delay_ms), "{delay_ms}");
    assert!(starved_ratio < 0.01, "{starved_ratio}");
}

#[test]
fn a_stream_that_stops_is_live_again_when_it_resumes() {
    for (interval_ticks, interval) in [(1, ms(16.7)), (6, ms(100.0))] {
        let mut stream = Stream::new(delayed(40, 0), interval_ticks, 1);
        stream.run(MS * 5_000, true);
        stream.measure();
        stream.run(MS * 3_000, false);
        let held = stream.last_shown;
        assert!(stream.measure().1 > 0.9);
        stream.run(MS * 45, true);
        stream.run(interval + MS * 20, true);
        // Playback leaps to the position that it would have had without the stall.
        assert!(stream.last_shown > held + 170.0);
        assert_eq!(stream.stats().jumps, 1);
        stream.measure();
        stream.run(MS * 5_000, true);
        let (delay_ms, starved_ratio) = stream.measure();
        assert!((delay_ms - interval.as_secs_f64() * 1e3).abs() < 1.0, "{delay_ms}");
        assert_eq!(starved_ratio, 0.0);
        // The stream starved for 3 s of 8.
        assert!(
            (0.35..0.4).contains(&(stream.stats().starved_ratio * 13.13 / 8.0)),
            "{:?}",
            stream.stats()
        );
    }
}

#[test]
fn a_stall_is_made_up_for_within_three_seconds() {
    let latency = MS * 40;
    for (interval_ticks, interval) in [(1, ms(16.7)), (3, MS * 50), (6, MS * 100)] {
        for seconds in [1, 2, 5, 10, 30] {
            let mut stream = Stream::new(delayed(40, 0), interval_ticks, 1);
            stream.run(MS * 10_000, true);
            stream.stall(MS * 1_000 * seconds);
            let what = format!("{seconds} s, every {interval_ticks} ticks");
            let resumed = stream.now;
            while stream.now < resumed + MS * 15_000 {
                stream.run(ms(16.61), true);
                let (lag, stats) = (stream.lag(latency), stream.stats());
                let after = stream.now - resumed;
                assert!(after < MS * 1_000 || lag < MS * 500, "{what}, {after:?}: {lag:?}");
                let target = stats.target_delay + MS * 100;
                assert!(after < MS * 3_000 || lag < target, "{what}, {after:?}: {lag:?} {stats:?}");
                assert!(stats.delay <= MS * 500, "{what}, {after:?}: {stats:?}");
            }
            // The states that the stall held back do not raise the delay.
            let stats = stream.stats();
            assert!(stats.delay < interval + MS, "{what}: {stats:?}");
            assert!(stats.jumps <= 2, "{what}: {stats:?}");
        }
    }
}

#[test]
fn a_receiver_that_begins_late_is_soon_at_its_target() {
    // A level was loaded meanwhile, so five seconds of states wait in the socket.
    let mut stream = Stream::new(delayed(40, 0), 1, 1);
    stream.stall(MS * 5_000);
    stream.run(MS * 1_000, true);
    assert!(stream.lag(MS * 40) < MS * 500, "{:?}", stream.stats());
    stream.run(MS * 2_000, true);
    assert!(stream.lag(MS * 40) < MS * 120, "{:?}", stream.stats());
}

#[test]
fn shorter_stalls_are_made_up_for_without_a_jump() {
    // A delay of half a second covers these stalls, so they raise the target for two seconds. Then
    // the clock hurries.
    for stall_ms in [100, 200, 300, 400] {
        let mut stream = Stream::new(delayed(40, 0), 1, 1);
        stream.run(MS * 10_000, true);
        for _ in 0..3 {
            stream.stall(MS * stall_ms);
            let mut last_shown = stream.last_shown;
            for _ in 0..360 {
                stream.run(ms(16.61), true);
                let step = stream.last_shown - last_shown;
                assert!(step < 1.25, "{stall_ms} ms: {step} ticks in one");
                last_shown = stream.last_shown;
            }
            assert!(stream.lag(MS * 40) < MS * 120, "{stall_ms} ms: {:?}", stream.stats());
        }
        assert_eq!(stream.stats().jumps, 0);
    }
}

#[test]
fn a_stall_is_counted_once_however_many_states_arrive_after_it() {
    for stall_ms in [600, 700, 900, 1000] {
        let mut stream = Stream::new(delayed(40, 0), 1, 1);
        stream.run(MS * 20_000, true);
        stream.stall(MS * stall_ms);
        stream.run(MS * 20_000, true);
        let (starved, ran) = (MS * stall_ms, MS * (40_000 + stall_ms));
        let most = 1.1 * starved.as_secs_f64() / ran.as_secs_f64();
        let stats = stream.stats();
        assert!((0.2 * most..most).contains(&stats.starved_ratio), "{stall_ms} ms: {stats:?}");
    }
}

#[test]
fn ordinary_jitter_causes_no_jump() {
    for preset in &PRESETS {
        for (interval_ticks, seed) in [(1, 1), (3, 2), (6, 3)] {
            if preset.name == "terrible" && interval_ticks > 1 {
                // At these intervals, the loss bursts of this preset may last for more than a
                // second, which is not jitter.
                continue;
            }
            let mut stream = Stream::new(preset.config, interval_ticks, seed);
            stream.run(MS * 100_000, true);
            let stats = stream.stats();
            assert_eq!(stats.jumps, 0, "{} every {interval_ticks}: {stats:?}", preset.name);
            assert!(stats.delay <= MS * 500, "{stats:?}");
        }
    }
}

#[test]
fn events_and_presence_stay_in_order_over_a_stall() {
    let codec = support::codec();
    let kinds = support::event_kinds();
    for seconds in [1, 2, 5, 10, 30] {
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap().with_events(&kinds);
        let id = ReceiverId(1);
        hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let mut receiver =
            Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap().with_events(&kinds);
        let mut up: VecDeque<(Duration, Vec<u8>)> = VecDeque::new();
        let mut down: VecDeque<(Duration, Vec<u8>)> = VecDeque::new();
        let mut world = World::new(30, 7);
        let mut random = support::Random::new(seconds);
        let (mut emitted, mut received) = (Vec::new(), Vec::new());
        let (mut scene, mut last_tick) = (BTreeSet::new(), 0.0);
        let resumed_at = MS * (5_000 + 1_000 * seconds as u32);
        let end = (resumed_at + MS * 5_000).as_secs() as u32 * 60;
        let mut targets = Vec::new();
        for tick in 1..=end {
            let now = Duration::from_secs(1) * tick / 60;
            while let Some((_, datagram)) = up.pop_front_if(|(due, _)| *due <= now) {
                let _: Result<Handled, Refused> = hub.handle(id, now, &datagram);
            }
            let reliable = support::emit_some(&mut hub, tick, 1, &mut random);
            emitted.extend(reliable.into_iter().filter(|_| hub.status(id).unwrap().joined));
            world.step(Tick(tick));
            hub.tick(now, &world.snapshot).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                down.push_back((now + MS * 40, datagram.to_vec()));
            }
            if !(MS * 5_000..resumed_at).contains(&now) {
                while let Some((_, datagram)) = down.pop_front_if(|(due, _)| *due <= now) {
                    receiver.handle(now, &datagram).unwrap();
                }
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.push_back((now + MS * 40, datagram.to_vec()));
            }
            let target = receiver.playout_stats().target_delay;
            let Some(playback) = receiver.playback(now) else { continue };
            assert!(playback.tick >= last_tick);
            last_tick = playback.tick;
            received.extend(playback.events().map(|event| support::number_of(&event)));
            for id in playback.removed() {
                assert!(scene.remove(id), "{id:?} was not there");
            }
            for id in playback.added() {
                assert!(scene.insert(*id), "{id:?} was there");
            }
            assert!(playback.samples().map(|sample| sample.id).eq(scene.iter().copied()));
            let lag = ms((f64::from(tick) - last_tick) * 1e3 / 60.0).saturating_sub(MS * 40);
            if now >= resumed_at + MS * 1_000 {
                assert!(lag < MS * 500, "{seconds} s, at {now:?}: {lag:?}");
            }
            if now >= resumed_at + MS * 3_000 {
                targets.push((now, lag, target));
            }
        }
        for (now, lag, target) in targets {
            assert!(lag < target + MS * 100, "{seconds} s, at {now:?}: {lag:?} for {target:?}");
        }
        assert!(received.is_sorted_by(|one, next| one < next), "each once and in order");
        received.retain(|number| emitted.contains(number));
        assert!(received.len() + 5 >= emitted.len(), "reliable events arrive");
        assert!(emitted.starts_with(&received));
        let stats = receiver.playout_stats();
        assert!(stats.jumps <= 3, "{seconds} s: {stats:?}");
    }
}

#[test]
fn a_short_gap_resumes_without_a_leap() {
    let mut stream = Stream::new(delayed(40, 0), 1, 1);
    stream.run(MS * 5_000, true);
    stream.run(MS * 200, false);
    let held = stream.last_shown;
    stream.run(MS * 50, true);
    stream.run(ms(16.61), true);
    assert!((0.0..3.0).contains(&(stream.last_shown - held)), "{} after {held}", stream.last_shown);
    // The delay has grown by the missing time, and shrinks by 50 ms a second.
    let delay_ms = |stream: &Stream| stream.stats().delay.as_secs_f64() * 1e3;
    assert!((190.0..235.0).contains(&delay_ms(&stream)), "{}", delay_ms(&stream));
    stream.run(MS * 2_000, true);
    assert!((90.0..135.0).contains(&delay_ms(&stream)), "{}", delay_ms(&stream));
    stream.run(MS * 3_000, true);
    assert!((16.0..17.0).contains(&delay_ms(&stream)), "{}", delay_ms(&stream));
    assert_eq!(stream.stats().jumps, 0);
}

#[test]
fn ticks_that_leap_or_stand_still_are_followed() {
    let mut stream = Stream::new(delayed(40, 0), 1, 1);
    stream.run(MS * 5_000, true);
    // The sender leaps ten seconds ahead.
    stream.next_tick += 600;
    stream.run(MS * 100, true);
    assert!(stream.last_shown > 1000.0 + 5.0 * 60.0 + 595.0);
    assert_eq!(stream.stats().jumps, 1);
    // The sender pauses for ten seconds, and its ticks pause too.
    let tick = stream.next_tick;
    stream.run(MS * 10_000, false);
    stream.next_tick = tick;
    let held = stream.last_shown;
    stream.run(MS * 200, true);
    assert!(
        (5.0..15.0).contains(&(stream.last_shown - held)),
        "{} after {held}",
        stream.last_shown
    );
    stream.measure();
    stream.run(MS * 5_000, true);
    let (delay_ms, starved_ratio) = stream.measure();
    assert!((16.0..18.0).contains(&delay_ms), "{delay_ms}");
    assert_eq!(starved_ratio, 0.0);
    assert_eq!(stream.stats().jumps, 2);
}

#[test]
fn a_sender_that_restarts_is_late_until_the_reset() {
    let mut stream = Stream::new(delayed(40, 0), 1, 1);
    stream.run(MS * 2_000, true);
    stream.next_tick = 7;
    let shown = stream.last_shown;
    stream.run(MS * 1_000, true);
    assert!(stream.last_shown - shown < 5.0);
    assert!(stream.stats().late > 50);
    let late = stream.stats().late;
    stream.buffer.reset();
    stream.last_shown = 0.0;
    assert!(stream.buffer.is_empty() && stream.buffer.at(stream.now).is_none());
    stream.run(MS * 2_000, true);
    assert!((7.0 + 170.0..7.0 + 180.0).contains(&stream.last_shown), "{}", stream.last_shown);
    assert_eq!(stream.stats().late, late);
}

#[test]
fn clocks_that_drift_are_followed() {
    for sender_rate in [1.0 - 200e-6, 1.0 + 200e-6] {
        let mut stream = Stream::new(delayed(40, 5), 1, 9);
        stream.sender_rate = sender_rate;
        for _ in 0..10 {
            stream.run(MS * 60_000, true);
            let (delay_ms, _) = stream.measure();
            assert!((17.0..23.0).contains(&delay_ms), "{delay_ms} ms at {sender_rate}");
        }
        let stats = stream.stats();
        assert!(stats.starved_ratio < 0.01 && stats.jumps == 0, "{stats:?}");
    }
}

#[test]
fn reordered_and_repeated_states_do_not_change_what_is_shown() {
    let config = LinkConfig {
        duplicate_ratio: 0.3,
        reorder_ratio: 0.2,
        reorder_delay: MS * 30,
        ..delayed(40, 5)
    };
    let mut stream = Stream::new(config, 1, 4);
    // The methods `receive` and `draw` contain the assertions.
    stream.run(MS * 60_000, true);
    let (delay_ms, starved_ratio) = stream.measure();
    assert!((17.0..60.0).contains(&delay_ms), "{delay_ms}");
    assert!(starved_ratio < 0.02, "{starved_ratio}");
    assert!(stream.link.stats().reordered.count > 200);
}

#[test]
fn states_are_stored_in_order() {
    let mut buffer =
        JitterBuffer::new(PlayoutConfig { min_delay: MS * 100, ..PlayoutConfig::at_hz(60) })
            .unwrap();
    let push = |buffer: &mut JitterBuffer<()>, at_ms, tick| {
        buffer.push(MS * at_ms, Tick(tick), Tick(0), ())
    };
    assert_eq!(push(&mut buffer, 1000, 60), Pushed::Stored);
    assert_eq!(push(&mut buffer, 1100, 66), Pushed::Stored);
    assert_eq!(push(&mut buffer, 1101, 63), Pushed::Stored);
    assert_eq!(push(&mut buffer, 1102, 63), Pushed::Duplicate);
    // Nothing was shown yet, so an older state is accepted.
    assert_eq!(push(&mut buffer, 1103, 57), Pushed::Stored);
    let shown = buffer.at(MS * 1125).unwrap();
    let later: Vec<u32> = shown.later().map(|entry| entry.tick.0).collect();
    assert_eq!((shown.from.tick, shown.to.tick, later), (Tick(60), Tick(63), vec![66]));
    assert!((shown.tick - 61.5).abs() < 0.01 && (shown.ratio - 0.5).abs() < 0.01, "{}", shown.tick);
    assert_eq!(push(&mut buffer, 1126, 57), Pushed::Late);
    assert_eq!(push(&mut buffer, 1127, 61), Pushed::Late);
    assert_eq!(push(&mut buffer, 1128, 60), Pushed::Duplicate);
    assert_eq!(push(&mut buffer, 1129, 62), Pushed::Stored);
    assert_eq!((buffer.stats().late, buffer.len()), (2, 4));
}

#[test]
fn memory_is_bounded() {
    let config = PlayoutConfig { max_states: 8, ..PlayoutConfig::at_hz(60) };
    let mut buffer = JitterBuffer::new(config).unwrap();
    for tick in (100..200).step_by(2) {
        assert_eq!(buffer.push(MS, Tick(tick), Tick(0), ()), Pushed::Stored);
        assert!(buffer.len() <= 8);
    }
    // The oldest state has tick 184. That state is dropped once the state of tick 191 is stored
    // between the others.
    assert_eq!(buffer.push(MS, Tick(101), Tick(0), ()), Pushed::Late);
    assert_eq!(buffer.push(MS, Tick(191), Tick(0), ()), Pushed::Stored);
    // The clock has not reached the remaining states.
    let shown = buffer.at(MS).unwrap();
    assert_eq!((shown.from.tick, shown.to.tick, shown.later().len()), (Tick(186), Tick(186), 7));
    assert!(!shown.starved);
    // After the clock has passed all states, only the shown state remains.
    assert!(
        buffer.at(MS * 10_000).is_some_and(|shown| shown.starved && shown.to.tick == Tick(198))
    );
    assert_eq!(buffer.len(), 1);
}

/// A sender sends at 60 Hz while something moves, and every half second while everything is at
/// rest.
#[test]
fn a_rest_is_held_until_it_ends() {
    let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(60)).unwrap();
    let tick_time = |tick: u32| ms(f64::from(tick) * 1e3 / 60.0) + MS * 30;
    let mut last = 0.0;
    let mut previous = Tick(0);
    let mut shown_at = Vec::new();
    for tick in 0..600 {
        // The value is at rest at 5.0 from tick 300 to 495, then moves by one unit a tick.
        let moves = tick <= 300 || tick > 495;
        if moves || tick % 30 == 0 {
            let position = if tick <= 495 { 5.0 } else { f64::from(tick) - 490.0 };
            let unchanged_until = if tick > 300 && tick <= 496 { Tick(tick - 1) } else { previous };
            let _ = buffer.push(tick_time(tick), Tick(tick), unchanged_until, position);
            previous = Tick(tick);
        }
        let shown = buffer.at(tick_time(tick) + MS * 3).unwrap();
        let position =
            shown.from.state + f64::from(shown.ratio) * (shown.to.state - shown.from.state);
        assert!(shown.tick >= last);
        last = shown.tick;
        shown_at.push((shown.tick, position, buffer.stats()));
    }
    for (tick, (shown_tick, position, stats)) in shown_at.iter().enumerate() {
        // Playback shows no motion before the motion begins, and shows all of the motion
        // afterwards.
        let expected = if *shown_tick <= 495.0 { 5.0 } else { shown_tick - 490.0 };
        assert!((position - expected).abs() < 0.01, "tick {tick}: {position} at {shown_tick}");
        // The pause has not increased the delay, nor does it count as starved.
        assert!(tick < 30 || stats.target_delay < ms(17.0), "tick {tick}: {stats:?}");
        assert!(tick < 500 || stats.delay < ms(18.0), "tick {tick}: {stats:?}");
    }
    let stats = shown_at[599].2;
    assert!(stats.starved_ratio < 0.01 && stats.jumps == 0, "{stats:?}");
}

#[test]
fn time_may_stand_still_or_go_back() {
    let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(60)).unwrap();
    for tick in 0..10 {
        assert_eq!(buffer.push(MS * 1000, Tick(tick), Tick(0), ()), Pushed::Stored);
    }
    let tick = buffer.at(MS * 1000).unwrap().tick;
    assert_eq!(buffer.at(MS * 500).unwrap().tick, tick);
    assert_eq!(buffer.at(Duration::ZERO).unwrap().tick, tick);
    assert!(buffer.at(Duration::MAX).unwrap().starved);
    assert_eq!(buffer.push(Duration::MAX, Tick(u32::MAX), Tick(u32::MAX), ()), Pushed::Stored);
    assert!(buffer.at(Duration::MAX).is_some());
    assert!(buffer.stats().starved_ratio <= 1.0);
}

#[test]
fn impossible_configurations_are_refused() {
    let config = PlayoutConfig::at_hz(60);
    let refused = |config| JitterBuffer::<()>::new(config).map(|_| ()).unwrap_err();
    assert_eq!(refused(PlayoutConfig { tick_hz: 0, ..config }), PlayoutError::NoTickRate);
    let bad = PlayoutConfig { min_delay: MS * 501, ..config };
    assert_eq!(refused(bad), PlayoutError::BadDelays { min: MS * 501, max: MS * 500 });
    assert!(matches!(
        refused(PlayoutConfig { max_delay: MS * 60_001, ..config }),
        PlayoutError::BadDelays { .. }
    ));
    for ratio in [0.0, -1.0, 1.1, f32::NAN] {
        let coverage = refused(PlayoutConfig { coverage_ratio: ratio, ..config });
        assert!(matches!(coverage, PlayoutError::BadCoverage { .. }));
        assert!(matches!(
            refused(PlayoutConfig { slew_ratio: ratio, ..config }),
            PlayoutError::BadSlew { .. }
        ));
    }
    for window in [Duration::ZERO, MS * 60_001] {
        assert_eq!(refused(PlayoutConfig { window, ..config }), PlayoutError::BadWindow { window });
    }
    let error = refused(PlayoutConfig { max_states: 1, ..config });
    assert_eq!(error.to_string(), "1 states stored, at least 2 are needed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any link, pauses and leaps of the ticks, playout never goes backwards, shows the true
    /// value at its tick, and keeps its bounds (the assertions of `Stream`).
    #[test]
    fn playout_never_goes_backwards(
        seed: u64,
        [latency_ms, jitter_ms, reorder_ms] in [0u32..300, 0u32..400, 0u32..300],
        [loss, duplicates, reorders] in [0.0f32..0.6, 0.0f32..0.5, 0.0f32..0.5],
        interval_ticks in 1u32..20,
        max_states in 2usize..64,
        [coverage_ratio, slew_ratio] in [0.5f32..=1.0, 0.01f32..=0.5],
        spans in prop::collection::vec((0u32..4000, any::<bool>(), prop::option::weighted(0.2, -50i32..2000)), 1..8),
        delays_ms in prop::collection::vec(prop::option::weighted(0.3, (0u32..1000, 0u32..1000)), 8),
    ) {
        let link = LinkConfig {
            loss: Loss::bursts(loss, 3.0),
            duplicate_ratio: duplicates,
            reorder_ratio: reorders,
            reorder_delay: MS * reorder_ms,
            ..delayed(latency_ms, jitter_ms)
        };
        let config = PlayoutConfig { max_states, coverage_ratio, slew_ratio, ..PlayoutConfig::at_hz(60) };
        let mut stream = Stream::with(link, interval_ticks, seed, config);
        for ((span_ms, sending, leap_ticks), delays_ms) in spans.into_iter().zip(delays_ms) {
            if let Some((min_ms, more_ms)) = delays_ms {
                stream.buffer.set_delays(MS * min_ms, MS * (min_ms + more_ms)).unwrap();
            }
            stream.next_tick = stream.next_tick.saturating_add_signed(leap_ticks.unwrap_or(0));
            stream.run(MS * span_ms, sending);
            prop_assert!(stream.buffer.len() <= max_states);
            let PlayoutConfig { min_delay, max_delay, .. } = *stream.buffer.config();
            prop_assert!((min_delay..=max_delay).contains(&stream.stats().target_delay));
        }
    }

    /// For any calls in any order of time and ticks, the buffer does not panic, and playout never
    /// goes backwards.
    #[test]
    fn any_calls_are_survived(
        max_states in 2usize..10,
        tick_hz in prop::sample::select(vec![1u32, 30, 60, 1_000_000, u32::MAX]),
        calls in prop::collection::vec((any::<u64>(), 0u32..8, any::<u32>(), any::<u32>(), 0u8..32), 0..300),
    ) {
        let mut buffer = JitterBuffer::new(PlayoutConfig { max_states, ..PlayoutConfig::at_hz(tick_hz) }).unwrap();
        let mut last = 0.0;
        for (now, coarseness, tick, unchanged_until, kind) in calls {
            let now = Duration::from_nanos(now >> (8 * coarseness));
            let tick = Tick(tick >> (4 * coarseness));
            if kind == 0 {
                buffer.reset();
                last = 0.0;
            } else if kind == 1 {
                let _ = buffer.set_delays(MS * (tick.0 % 2000), MS * (unchanged_until % 2000));
            } else if kind < 20 {
                let _ = buffer.push(now, tick, Tick(unchanged_until >> (4 * coarseness)), tick);
                prop_assert!((1..=max_states).contains(&buffer.len()));
            } else if let Some(shown) = buffer.at(now) {
                prop_assert!(shown.tick >= last && (0.0..=1.0).contains(&shown.ratio));
                prop_assert!(shown.from.tick <= shown.to.tick && shown.from.state == shown.from.tick);
                last = shown.tick;
            }
            let stats = buffer.stats();
            prop_assert!((0.0..=1.0).contains(&stats.starved_ratio));
            prop_assert!(stats.target_delay <= buffer.config().max_delay);
        }
    }
}

#[test]
fn old_updates_raise_the_delay_and_set_nothing_back() {
    // Each state updates entities that were last updated nine ticks before, as under a small
    // budget.
    let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(60)).unwrap();
    let mut shown = 0.0;
    for tick in 10..400u32 {
        let now = Duration::from_secs(1) * tick / 60;
        let _ = buffer.push_part(now, Tick(tick), Tick(0), Tick(tick - 9), tick);
        let playout = buffer.at(now).unwrap();
        assert!(playout.tick >= shown, "tick {tick}: from {shown} to {}", playout.tick);
        shown = playout.tick;
    }
    let delay_ms = buffer.stats().delay.as_millis();
    assert!((140..160).contains(&delay_ms), "nine ticks: {delay_ms} ms");
}
