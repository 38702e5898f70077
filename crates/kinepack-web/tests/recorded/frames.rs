//! Records a world with frames of reference: a ship that turns, a sailor who steps off, a sailor
//! ashore, and one whose ship never arrives.

use kinepack::frame::{FrameError, Moment, Motion, Place};

use super::*;

const STEPS_OFF_AT: u32 = 30;

#[derive(Pack)]
struct Ferry {
    #[pack(body, range = -512.0..512.0, precision = 0.004)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 12)]
    rotation: [f32; 4],
}

#[derive(Pack)]
struct Sailor {
    #[pack(frame = ship, range = -512.0..512.0, precision = 0.004)]
    position: [f32; 3],
    #[pack(frame = ship, rotation, bits = 10)]
    rotation: [f32; 4],
    ship: Option<EntityId>,
}

/// The index of the kind in the schema.
const SAILOR: usize = 1;

fn voyage(schema: &Schema, tick: u32) -> Snapshot {
    let ferry_at = |tick: u32| {
        let (sin, cos) = (tick as f32 * 0.007).sin_cos();
        Ferry { position: [tick as f32 / 6.0, 0.0, 0.0], rotation: [0.0, 0.0, sin, cos] }
    };
    let mut world = Snapshot::new(schema, Tick(tick));
    world.push(EntityId(1), &ferry_at(tick)).unwrap();
    let deck = [10.0, 2.0, 3.0];
    let ferry = Place {
        position: ferry_at(STEPS_OFF_AT).position.map(f64::from),
        rotation: ferry_at(STEPS_OFF_AT).rotation.map(f64::from),
    };
    let is_aboard = tick < STEPS_OFF_AT;
    let passenger =
        if is_aboard { deck } else { ferry.point(deck.map(f64::from)).map(|axis| axis as f32) };
    for (id, position, ship) in
        [(7, passenger, is_aboard.then_some(1)), (8, [-20.0, 5.0, 0.5], None), (9, deck, Some(99))]
    {
        let rotation = [0.0, 0.0, 0.0, 1.0];
        let sailor = Sailor { position, rotation, ship: ship.map(EntityId) };
        world.push(EntityId(id), &sailor).unwrap();
    }
    world
}

/// A hash of the ids of a kind's entities, and of their positions, rotations and velocities.
fn hash_places(places: Vec<(EntityId, Result<Motion, FrameError>)>) -> u64 {
    let (ids, motions): (Vec<_>, Vec<_>) = places.into_iter().unzip();
    let mut hash = Fnv1a::new();
    ids.iter().for_each(|id| hash.add(&id.0.to_le_bytes()));
    let columns: [fn(&Motion) -> Vec<f64>; 3] = [
        |motion| motion.place.position.to_vec(),
        |motion| motion.place.rotation.to_vec(),
        |motion| motion.velocity.to_vec(),
    ];
    for column in columns {
        for motion in &motions {
            let numbers = column(motion.as_ref().unwrap_or(&Motion::ORIGIN));
            let known = |number| if motion.is_ok() { number } else { f64::NAN };
            numbers.into_iter().for_each(|number| hash.add(&known(number).to_le_bytes()));
        }
    }
    hash.finish()
}

fn write_frame(text: &mut String, ms: f64, playback: &Playback<'_>) {
    let samples = playback.samples_of_kind(SAILOR);
    let places = samples.map(|sample| (sample.id, playback.motion(&sample))).collect();
    let _ = writeln!(text, "play {ms} {} {:016x}", playback.tick, hash_places(places));
}

fn write_newest(text: &mut String, state: &Snapshot) {
    let moment = |index| Moment::of((state, index));
    let place = |index| {
        let motion = moment(index).motion(|id| state.position(id).map(moment));
        (state.ids()[index], motion)
    };
    let places = state.of_kind(SAILOR).map(place).collect();
    let _ = writeln!(text, "newest {:016x}", hash_places(places));
}

#[test]
fn places_in_the_world() {
    let schema = Schema::builder().kind::<Ferry>("ferry").kind::<Sailor>("sailor").build().unwrap();
    let profile = Profile::untrained(&schema);
    let of_events = Schema::builder().kind::<Hit>("hit").build().unwrap();
    let events = Profile::untrained(&of_events);
    let codec = Codec::new(schema.clone(), Level::PACKED, profile.clone()).unwrap();
    let of_hits = Codec::new(of_events.clone(), Level::PACKED, events.clone()).unwrap();
    let kinds = EventKinds::new(&of_hits);
    let catalogue = Catalogue::new(60, vec![Tier::new("full", &codec, 30)]).unwrap();
    let mut receiver_text = format!(
        "receiver packed 60 {} {} packed {} {}\n",
        hex(&schema.to_bytes()),
        hex(&profile.to_bytes()),
        hex(&of_events.to_bytes()),
        hex(&events.to_bytes()),
    );
    let mut viewer_text = format!("viewer {}\n", hex(&catalogue.to_bytes()));

    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap().with_events(&kinds);
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver =
        Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap().with_events(&kinds);
    let mut publisher = Publisher::new(&catalogue);
    let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60)).unwrap();
    viewer.watch(0).unwrap();
    for tick in 1..=2 * STEPS_OFF_AT {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        let world = voyage(&schema, tick);
        while let Some(datagram) = receiver.poll_transmit(now) {
            hub.handle(PLAYER, now, datagram).unwrap();
            let _ = writeln!(receiver_text, "transmit {ms}");
        }
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
            let _ = writeln!(receiver_text, "handle {ms} {}", hex(datagram));
        }
        for piece in publisher.publish(&world).unwrap() {
            let Carried::Object(number) = piece.carried else { panic!("an object") };
            if !viewer.wanted().any(|track| track == piece.track) {
                continue;
            }
            viewer.object(now, piece.track, piece.group, number, &piece.bytes).unwrap();
            let track = catalogue.name_of(piece.track).unwrap();
            let bytes = hex(&piece.bytes);
            let _ = writeln!(viewer_text, "object {ms} {track} {} {number} {bytes}", piece.group);
        }
        // A third of a tick later, so that the moment is between two states.
        let ms = ms + TICK_MS / 3.0;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        if let Some(playback) = receiver.playback(now) {
            write_frame(&mut receiver_text, ms, &playback);
        }
        if let Some(playback) = viewer.playback(now) {
            write_frame(&mut viewer_text, ms, &playback);
        }
    }
    write_newest(&mut receiver_text, receiver.newest().unwrap());
    write_newest(&mut viewer_text, viewer.newest().unwrap());
    let head = "# A receiver's and a viewer's calls: recorded by tests/recorded.rs.\n";
    check("frames", &[head, &receiver_text, &viewer_text].concat());
}
