//! Tests of entities whose next state is late: they continue straight, and return without a jump.

use std::collections::HashMap;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Extrapolation, Hub, HubConfig, KindOptions, Link, LinkConfig, Loss, NetError, Playback,
    Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Sample, Smoother, WordSmoother,
};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::{Random, TICK_HZ, near_and_far};

const ID: ReceiverId = ReceiverId(1);
const CAR: EntityId = EntityId(1);
const LEAF: EntityId = EntityId(2);
const RIDER: EntityId = EntityId(3);

#[derive(Pack, Clone, Debug, PartialEq)]
struct Car {
    #[pack(range = -256.0..=256.0, precision = 1.0 / 1024.0, clamp, body)]
    place: [f32; 3],
    #[pack(rotation, bits = 12, body)]
    rotation: [f32; 4],
    #[pack(velocity, range = -64.0..=64.0, precision = 1.0 / 256.0, clamp)]
    velocity: [f32; 3],
    #[pack(max = 100)]
    fuel: u8,
    #[pack(cut)]
    jumps: u8,
}

/// An entity without a velocity.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Leaf {
    #[pack(range = -256.0..=256.0, precision = 1.0 / 1024.0, clamp)]
    place: [f32; 2],
    #[pack(range = 0.0..360.0, precision = 0.25, wrap)]
    heading_degrees: f32,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Rider {
    #[pack(frame = car, range = -256.0..=256.0, precision = 1.0 / 1024.0, clamp)]
    place: [f32; 3],
    car: Option<EntityId>,
}

fn codec() -> Codec {
    let kinds = Schema::builder().kind::<Car>("car").kind::<Leaf>("leaf").kind::<Rider>("rider");
    let schema = kinds.build().unwrap();
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap()
}

fn turned(degrees: f32) -> [f32; 4] {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin(), half.cos()]
}

/// A car at 30 m/s that turns by 90 degrees in a second, a leaf at 6 m/s, and a rider who walks
/// through the car.
fn steady(schema: &Schema, tick: u32) -> Snapshot {
    let seconds = tick as f32 / TICK_HZ as f32;
    let mut world = Snapshot::new(schema, Tick(tick));
    let (place, velocity) = ([30.0 * seconds, 0.0, 0.0], [30.0, 0.0, 0.0]);
    let rotation = turned(90.0 * seconds);
    let car = Car { place, rotation, velocity, fuel: 50 - (tick / 60) as u8, jumps: 0 };
    world.push(CAR, &car).unwrap();
    let heading_degrees = (120.0 * seconds).rem_euclid(360.0);
    world.push(LEAF, &Leaf { place: [0.0, 6.0 * seconds], heading_degrees }).unwrap();
    world.push(RIDER, &Rider { place: [0.0, 0.0, 2.0 * seconds], car: Some(CAR) }).unwrap();
    world
}

/// A hub and a receiver without a network between them.
struct Direct {
    hub: Hub,
    receiver: Receiver,
    schema: Schema,
    tick: u32,
}

impl Direct {
    fn new(kinds: [Extrapolation; 3]) -> Self {
        let codec = codec();
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        for (kind, extrapolation) in ["car", "leaf", "rider"].into_iter().zip(kinds) {
            receiver.set_extrapolation(kind, extrapolation).unwrap();
        }
        Self { hub, receiver, schema: codec.schema().clone(), tick: 0 }
    }

    fn now(&self) -> Duration {
        Duration::from_secs(1) * self.tick / TICK_HZ
    }

    /// A tick. What is sent arrives unless the network `is_out`, and what arrives is shown.
    fn step(
        &mut self,
        is_out: bool,
        world: impl FnOnce(&Schema, u32) -> Snapshot,
    ) -> Option<Playback<'_>> {
        self.tick += 1;
        let now = self.now();
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            if !is_out {
                self.hub.handle(ID, now, datagram).unwrap();
            }
        }
        self.hub.tick(now, &world(&self.schema, self.tick)).unwrap();
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            if !is_out {
                self.receiver.handle(now, datagram).unwrap();
            }
        }
        self.receiver.playback(now)
    }
}

fn straight(ms: u64) -> Extrapolation {
    Extrapolation::Straight { at_most: Duration::from_millis(ms) }
}

fn sample<'a>(playback: &Playback<'a>, id: EntityId) -> Sample<'a> {
    playback.samples().find(|sample| sample.id == id).unwrap()
}

/// Where an entity is: on the x axis for a car, and so on.
fn along(playback: &Playback<'_>, id: EntityId) -> f32 {
    let sample = sample(playback, id);
    match id {
        CAR => sample.state::<Car>().unwrap().place[0],
        LEAF => sample.state::<Leaf>().unwrap().place[1],
        _ => sample.state::<Rider>().unwrap().place[2],
    }
}

#[test]
fn motion_continues_straight_and_stops() {
    let mut direct = Direct::new([straight(100), straight(200), straight(100)]);
    for _ in 0..90 {
        direct.step(false, steady);
    }
    let (mut shown, mut last_tick) = (Vec::new(), 0.0);
    for _ in 0..40 {
        let playback = direct.step(true, steady).unwrap();
        shown.push([CAR, LEAF, RIDER].map(|id| along(&playback, id)));
        assert!(playback.tick >= last_tick && playback.tick <= 90.0 + 0.301 * 60.0);
        last_tick = playback.tick;
        let car: Car = sample(&playback, CAR).state().unwrap();
        assert_eq!((car.velocity, car.fuel), ([30.0, 0.0, 0.0], 49));
        assert!(playback.cut().is_empty() && playback.removed().is_empty());
    }
    // The newest state is that of 1.5 s. The last places are 100 ms and 200 ms later.
    let last = shown.last().unwrap();
    assert!((last[0] - 48.0).abs() < 0.01, "{last:?}");
    assert!((last[1] - 10.2).abs() < 0.01, "{last:?}");
    assert!((last[2] - 3.2).abs() < 0.01, "{last:?}");
    for speeds in shown.windows(3) {
        for (kind, full) in [0.5f32, 0.1, 1.0 / 30.0].into_iter().enumerate() {
            let [first, second] = [0, 1].map(|at| speeds[at + 1][kind] - speeds[at][kind]);
            assert!(second <= first + 0.002 && first <= full + 0.002, "it only slows down");
        }
    }
    let playback = direct.step(true, steady).unwrap();
    assert!(playback.is_starved());
    let starved = sample(&playback, CAR).starved_for().as_secs_f64();
    assert!((starved - 0.3).abs() < 0.02, "playback runs on for 300 ms: {starved}");
    // Rotations and what wraps continue too, and so does a rider in the world.
    let car: Car = sample(&playback, CAR).state().unwrap();
    let dot: f32 = car.rotation.iter().zip(turned(90.0 * 1.6)).map(|(a, b)| a * b).sum();
    assert!(dot.abs() > 0.9999, "{:?}", car.rotation);
    let leaf: Leaf = sample(&playback, LEAF).state().unwrap();
    assert!((leaf.heading_degrees - 120.0 * 1.7).abs() < 1.0, "{}", leaf.heading_degrees);
    let rider: Rider = playback.in_world(&sample(&playback, RIDER)).unwrap();
    assert!((rider.place[0] - 48.0).abs() < 0.01, "{:?}", rider.place);
    assert!((rider.place[2] - 3.2).abs() < 0.01, "{:?}", rider.place);
}

/// Plays a session with an outage. Returns the places of the car by frame, and by how much the
/// delay grew.
fn outage(kinds: [Extrapolation; 3], ticks: u32) -> (Vec<f32>, f64) {
    let mut direct = Direct::new(kinds);
    let (mut places, mut smoother) = (Vec::new(), Smoother::<Car>::default());
    let mut delay_s = 0.0;
    for tick in 0..240 {
        if tick == 100 {
            delay_s = direct.receiver.playout_stats().delay.as_secs_f64();
        }
        let now = direct.now();
        let Some(playback) = direct.step((100..100 + ticks).contains(&tick), steady) else {
            continue;
        };
        smoother.begin(now);
        places.push(smoother.state(&playback, &sample(&playback, CAR)).unwrap().place[0]);
        if tick == 100 + ticks {
            delay_s = direct.receiver.playout_stats().delay.as_secs_f64() - delay_s;
        }
    }
    (places, delay_s)
}

#[test]
fn playback_does_not_stop_for_a_short_outage() {
    let (held, grown_s) = outage([Extrapolation::Hold; 3], 6);
    assert!(held.windows(2).filter(|step| step[0] == step[1]).count() > 2 && grown_s > 0.05);
    let kinds = [straight(250), Extrapolation::Hold, Extrapolation::Hold];
    let (places, grown_s) = outage(kinds, 6);
    assert!(grown_s.abs() < 0.01, "{grown_s}");
    let steps: Vec<f32> = places.windows(2).map(|step| step[1] - step[0]).collect();
    // The first states of a session arrive together.
    let rest = &steps[20..];
    assert!(rest.iter().all(|step| (step - 0.5).abs() < 0.05), "{rest:?}");
}

#[test]
fn after_a_long_outage_nothing_runs_backwards_or_jumps() {
    let (places, _) = outage([straight(100), Extrapolation::Hold, straight(50)], 24);
    let steps: Vec<f32> = places.windows(2).map(|step| step[1] - step[0]).collect();
    let rest = &steps[20..];
    assert!(rest.iter().all(|step| (-0.001..1.6).contains(step)), "{rest:?}");
    let changes = rest.windows(2).map(|steps| (steps[1] - steps[0]).abs());
    let most = changes.fold(0.0, f32::max);
    assert!(most < 0.35, "the speed changes smoothly: {most} {rest:?}");
}

/// What has just jumped, or changed its frame, is held; a late state after a jump does not fade.
#[test]
fn jumps_and_other_frames_are_not_extrapolated() {
    let jumping = |from: u32| {
        move |schema: &Schema, tick: u32| {
            let mut world = steady(schema, tick);
            let mut car: Car = world.get(CAR).unwrap().unwrap();
            let mut all = Snapshot::new(schema, Tick(tick));
            if tick >= from {
                (car.place[1], car.jumps) = (-200.0, 1);
            }
            all.push(CAR, &car).unwrap();
            all.push(LEAF, &world.get::<Leaf>(LEAF).unwrap().unwrap()).unwrap();
            let mut rider: Rider = world.get(RIDER).unwrap().unwrap();
            if tick >= from {
                rider = Rider { place: [9.0, 9.0, 9.0], car: None };
            }
            all.push(RIDER, &rider).unwrap();
            world = all;
            world
        }
    };
    for after in [0, 1, 3] {
        let mut direct = Direct::new([straight(200); 3]);
        let mut smoother = Smoother::<Car>::default();
        for tick in 1..=200 {
            // The first state after the jump is the last one before the outage, if `after` is 0.
            let is_out = (91 + after..120).contains(&tick);
            let now = direct.now();
            let Some(playback) = direct.step(is_out, jumping(90)) else { continue };
            smoother.begin(now);
            let car = sample(&playback, CAR);
            let shown = smoother.state(&playback, &car).unwrap().clone();
            assert!([0.0, -200.0].contains(&shown.place[1]), "{after} {tick}: {shown:?}");
            assert_eq!(shown.place[1] != 0.0, shown.jumps == 1, "{after} {tick}");
            let rider: Rider = sample(&playback, RIDER).state().unwrap();
            if rider.car.is_none() {
                assert_eq!(rider.place, [9.0; 3], "{after} {tick}");
            }
            if after == 0 && tick == 119 {
                assert_eq!(car.state::<Car>().unwrap().place[0], 45.0, "it is held");
                assert!(car.starved_for() > Duration::from_millis(250));
            }
        }
    }
    // The jump is in the outage: what is shown goes straight on, and is there at once later.
    let mut direct = Direct::new([straight(200); 3]);
    let mut smoother = Smoother::<Car>::default();
    let mut jumped = 0;
    for tick in 1..=200 {
        let now = direct.now();
        let Some(playback) = direct.step((91..100).contains(&tick), jumping(95)) else { continue };
        smoother.begin(now);
        jumped += playback.cut().len();
        let shown = smoother.state(&playback, &sample(&playback, CAR)).unwrap();
        assert_eq!(shown.place[1], if jumped > 0 { -200.0 } else { 0.0 }, "{tick}");
    }
    assert_eq!(jumped, 1);
}

#[test]
fn an_entity_at_rest_stays_although_the_stream_pauses() {
    let mut direct = Direct::new([straight(200); 3]);
    let resting = |schema: &Schema, tick: u32| {
        let mut world = Snapshot::new(schema, Tick(tick));
        let at = tick.min(60) as f32;
        let velocity = [if tick < 60 { 60.0 } else { 0.0 }, 0.0, 0.0];
        let place = [at, 0.0, 0.0];
        let car = Car { place, rotation: turned(0.0), velocity, fuel: 1, jumps: 0 };
        world.push(CAR, &car).unwrap();
        world
    };
    for tick in 1..=300 {
        let Some(playback) = direct.step(false, resting) else { continue };
        let place = along(&playback, CAR);
        assert!(place <= 60.0, "{tick}: {place}");
        if tick > 80 {
            assert_eq!(place, 60.0, "{tick}");
        }
    }
}

#[test]
fn frames_do_not_allocate() {
    let mut direct = Direct::new([straight(100), straight(200), Extrapolation::Hold]);
    let (mut cars, mut leaves) = (Smoother::<Car>::default(), Smoother::<Leaf>::default());
    let mut allocated = 0;
    for tick in 1..=400 {
        // The first outage reserves all memory.
        let is_out = tick % 100 > 80;
        direct.step(is_out, steady);
        let now = direct.now();
        let measured = allocation_counter::measure(|| {
            let Some(playback) = direct.receiver.playback(now) else { return };
            cars.begin(now);
            leaves.begin(now);
            for sample in playback.samples_of::<Car>().unwrap() {
                cars.state(&playback, &sample).unwrap();
            }
            for sample in playback.samples_of::<Leaf>().unwrap() {
                leaves.in_world(&playback, &sample).unwrap();
            }
        });
        allocated += if tick > 150 { measured.count_total } else { 0 };
    }
    assert_eq!(allocated, 0);
}

#[test]
fn settings_are_checked() {
    let codec = codec();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let no_such = Err(NetError::NoSuchKind { name: "boat".into() });
    assert_eq!(receiver.set_extrapolation("boat", straight(10)), no_such);
    assert_eq!(hub.set_extrapolation("boat", Extrapolation::Hold), no_such);
    let at_most = Duration::from_millis(1001);
    let too_long = Err(NetError::ExtrapolationTooLong { at_most });
    assert_eq!(receiver.set_extrapolation("car", straight(1001)), too_long);
    assert_eq!(hub.set_extrapolation("car", Extrapolation::Game { at_most }), too_long);
    assert_eq!(receiver.set_extrapolation("car", straight(1000)), Ok(()));
}

/// Cars that turn at random, and vanish.
struct Traffic {
    cars: Vec<(u32, Car)>,
    random: Random,
}

/// The speed of each car.
const SPEED: f32 = 12.0;

impl Traffic {
    fn step(&mut self, schema: &Schema, tick: u32) -> Snapshot {
        let random = &mut self.random;
        for (_, car) in &mut self.cars {
            if random.chance(40) {
                let way = random.unit() * 3.2;
                car.velocity = [way.cos() * SPEED, way.sin() * SPEED, 0.0];
            }
            for (along, speed) in car.place.iter_mut().zip(&mut car.velocity) {
                *along += *speed / TICK_HZ as f32;
                if along.abs() > 255.0 {
                    *speed = -*speed;
                }
            }
            car.rotation = turned(car.place[0] * 40.0);
        }
        if random.chance(60) && self.cars.len() > 2 {
            let gone = random.below(self.cars.len() as u64) as usize;
            let (id, car) = self.cars.remove(gone);
            self.cars.push((id + 100, car));
            self.cars.sort_by_key(|(id, _)| *id);
        }
        let mut world = Snapshot::new(schema, Tick(tick));
        world.extend(self.cars.iter().map(|(id, car)| (EntityId(*id), car.clone()))).unwrap();
        let leaves = (0..4u32).map(|id| {
            let seconds = tick as f32 / TICK_HZ as f32 + id as f32;
            let place = [seconds.sin() * 20.0, seconds.cos() * 20.0];
            let heading_degrees = (seconds * 57.0).rem_euclid(360.0);
            (EntityId(1_000_000 + id), Leaf { place, heading_degrees })
        });
        world.extend(leaves).unwrap();
        world
    }
}

/// A session over a random link with random settings. Returns the largest step of a car between two
/// frames, in units: as the smoother shows it, and as the samples are.
fn random_session(seed: u64, is_complete: bool) -> [f32; 2] {
    let mut random = Random::new(seed);
    let ms = |random: &mut Random, most: u64| Duration::from_millis(random.below(most));
    let link = LinkConfig {
        latency: ms(&mut random, 80),
        jitter: ms(&mut random, 60),
        loss: Loss::bursts(random.below(20) as f32 / 100.0, 1.0 + random.below(6) as f32),
        reorder_ratio: random.below(10) as f32 / 100.0,
        reorder_delay: ms(&mut random, 60),
        duplicate_ratio: 0.02,
        ..LinkConfig::default()
    };
    let codec = codec();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let mut options = ReceiverOptions::default();
    if !is_complete {
        let every = 1 << random.below(4);
        hub.set_kind("car", KindOptions { every, ..KindOptions::default() }).unwrap();
        if random.chance(2) {
            options.budget = Some(2_000 + random.below(6_000) as u32).into();
        }
        if random.chance(2) {
            hub.set_rings(Some(&near_and_far(&["car.place"], 20.0, 600.0, 4))).unwrap();
        }
    }
    hub.add(ID, &options, Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let at_most = ms(&mut random, 400);
    let choices =
        [Extrapolation::Hold, Extrapolation::Straight { at_most }, Extrapolation::Game { at_most }];
    for kind in ["car", "leaf", "rider"] {
        receiver.set_extrapolation(kind, choices[random.below(3) as usize]).unwrap();
    }
    if random.chance(2) {
        let delay = ms(&mut random, 100);
        receiver.set_playout_delays(delay, delay).unwrap();
    }
    let [mut down, mut up] = [0, 1].map(|way| Link::new(link, seed.wrapping_mul(2) + way).unwrap());
    let car = |id: u32| {
        let (place, velocity) = ([id as f32 * 9.0 - 40.0, 0.0, 0.0], [SPEED, 0.0, 0.0]);
        (id, Car { place, rotation: turned(0.0), velocity, fuel: 3, jumps: 0 })
    };
    let mut traffic = Traffic { cars: (1..=8).map(car).collect(), random: Random::new(seed) };
    let mut smoother = Smoother::<Car>::new(ms(&mut random, 300) + Duration::from_millis(150));
    let mut last: HashMap<EntityId, [[f32; 3]; 2]> = HashMap::new();
    let (mut most, mut last_tick) = ([0.0f32; 2], 0.0);
    for tick in 1..=360 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(ID, now, &datagram);
        }
        hub.tick(now, &traffic.step(codec.schema(), tick)).unwrap();
        let is_out = tick % 120 > 100;
        while let Some((_, datagram)) = hub.poll_transmit() {
            if !is_out {
                down.send(now, datagram);
            }
        }
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        let Some(playback) = receiver.playback(now) else { continue };
        assert!(playback.tick >= last_tick);
        last_tick = playback.tick;
        smoother.begin(now);
        for id in playback.added() {
            last.remove(id);
        }
        for sample in playback.samples_of::<Car>().unwrap() {
            let car: Car = sample.state().unwrap();
            let shown = smoother.state(&playback, &sample).unwrap();
            let mut lanes = [0; Car::LANES];
            for state in [&car, shown] {
                assert_eq!(state.quantize(&mut lanes), Ok(()));
                assert!(state.place.iter().all(|along| along.abs() <= 256.0));
            }
            let places = [shown.place, car.place];
            if let Some(before) = last.insert(sample.id, places).filter(|_| tick > 90) {
                for way in 0..2 {
                    let [x, y, _] = [0, 1, 2].map(|axis| places[way][axis] - before[way][axis]);
                    most[way] = most[way].max(x.hypot(y));
                }
            }
        }
        for sample in playback.samples_of::<Leaf>().unwrap() {
            let leaf: Leaf = sample.state().unwrap();
            assert!((0.0..360.0).contains(&leaf.heading_degrees));
            assert!(leaf.place.iter().all(|along| along.is_finite()));
        }
    }
    most
}

#[test]
fn whatever_is_lost_nothing_leaps_or_leaves_its_range() {
    for_all(24, any::<u64>(), |seed| {
        let [smooth, _] = random_session(seed, true);
        // A car moves by 0.2 in a frame. It may have to return from 10 away in 150 ms.
        assert!(smooth < 1.6, "{smooth}");
    });
}

#[test]
fn whatever_is_left_out_nothing_leaves_its_range() {
    for_all(24, any::<u64>(), |seed| {
        random_session(seed, false);
    });
}

#[test]
fn without_a_smoother_places_would_leap() {
    let leaps = (0..12).filter(|seed| random_session(*seed, true)[1] > 1.6);
    assert!(leaps.count() > 3);
}

#[derive(Pack, Clone, Debug)]
struct Boat {
    #[pack(range = -256.0..=256.0, precision = 1.0 / 1024.0, clamp)]
    place: [f64; 2],
    #[pack(rotation, bits = 12)]
    rotation: [f64; 4],
    #[pack(cut)]
    jumps: u8,
}

#[test]
fn words_are_smoothed_to_the_bits_of_the_type() {
    let schema = Schema::of::<Boat>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let straight = Extrapolation::Straight { at_most: Duration::from_millis(150) };
    receiver.set_extrapolation(schema.kinds()[0].name(), straight).unwrap();
    let fade = Duration::from_millis(200);
    let mut typed = Smoother::<Boat>::new(fade);
    let mut words = WordSmoother::new(&schema, fade).unwrap();
    assert!(WordSmoother::new(self::codec().schema(), fade).is_err(), "it has three kinds");
    let (mut random, mut velocity) = (Random::new(5), [8.0, 0.0]);
    let (mut place, mut smoothed) = ([0.0; 2], 0);
    for tick in 1..600u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = receiver.poll_transmit(now) {
            let _ = hub.handle(ID, now, datagram);
        }
        if tick % 25 == 0 {
            velocity = [0; 2].map(|_| f64::from(random.unit()) * 20.0);
        }
        place = [0, 1].map(|axis| place[axis] + velocity[axis] / f64::from(TICK_HZ));
        let rotation = turned(velocity[0] as f32 * 9.0).map(f64::from);
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(CAR, &Boat { place, rotation, jumps: (tick / 200) as u8 }).unwrap();
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            if tick % 60 < 50 {
                let _ = receiver.handle(now, datagram);
            }
        }
        let Some(playback) = receiver.playback(now) else { continue };
        typed.begin(now);
        words.begin(now);
        for sample in playback.samples() {
            let (mut expected, mut plain) = (vec![0; Boat::LANES], vec![0; Boat::LANES]);
            typed.state(&playback, &sample).unwrap().store_raw(&mut expected).unwrap();
            sample.state::<Boat>().unwrap().store_raw(&mut plain).unwrap();
            assert_eq!(words.state(&playback, &sample).unwrap(), expected, "at tick {tick}");
            smoothed += u32::from(expected != plain);
        }
    }
    assert!(smoothed > 50, "{smoothed} states were not those of the sample");
}
