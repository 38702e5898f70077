//! What a receiver shows of entities whose next state is late.

use std::time::Duration;

use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_c::KpStatus;
use kinepack_c::columns::{KpNumber, KpTarget};
use kinepack_c::extrapolation::{
    KpExtrapolation, kp_hub_set_extrapolation, kp_receiver_set_extrapolation,
    kp_receiver_set_smoothing, kp_shown_starved,
};
use kinepack_c::hub::KpHub;
use kinepack_c::receiver::{KpReceiver, kp_receiver_play, kp_receiver_shown};
use kinepack_c::shown::{KpPlayback, KpShown, kp_shown_read};
use kinepack_net::{Extrapolation, Smoother};

use super::Session;
use super::game::ok;

#[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
struct Boat {
    #[pack(range = -512.0..512.0, precision = 1.0 / 1024.0)]
    place: [f64; 2],
    #[pack(rotation, bits = 12)]
    rotation: [f64; 4],
    #[pack(cut)]
    jumps: u8,
}

const FADE: Duration = Duration::from_millis(200);

/// Reads the only boat that is shown, and for how long it has waited in milliseconds.
fn read(shown: KpShown) -> (Boat, f64) {
    let (mut boat, mut waits_ms, mut count) = (Boat::default(), -1.0, 0);
    let target = |data: *mut u8, number: KpNumber| KpTarget {
        data: data.cast(),
        stride: size_of::<Boat>(),
        number: number as i32,
    };
    let targets = [
        target((&raw mut boat.place).cast(), KpNumber::F64),
        target((&raw mut boat.rotation).cast(), KpNumber::F64),
        target(&raw mut boat.jumps, KpNumber::U8),
    ];
    // SAFETY: the targets are those of a live boat, and the other pointers are of live values.
    unsafe {
        ok(kp_shown_read(shown, 0, 1, targets.as_ptr(), targets.len()));
        ok(kp_shown_starved(shown, 0, &raw mut waits_ms, 1, &raw mut count));
    }
    assert_eq!(count, 1);
    (boat, waits_ms)
}

/// A session with outages. Returns how many states waited, and how many were smoothed.
fn play(extrapolation: Extrapolation, of_c: KpExtrapolation, smooths: bool) -> [u32; 2] {
    let schema = Schema::of::<Boat>();
    let mut session = Session::new::<Boat>();
    session.receiver.set_extrapolation(schema.kinds()[0].name(), extrapolation).unwrap();
    ok(kp_receiver_set_extrapolation(session.of_c, 0, of_c as i32, 150));
    if smooths {
        ok(kp_receiver_set_smoothing(session.of_c, 0, FADE.as_millis() as u32));
    }
    let mut smoother = Smoother::<Boat>::new(FADE);
    let (mut place, mut velocity, mut counts) = ([0.0; 2], [9.0, 0.0], [0; 2]);
    let mut shown = KpShown { id: 0 };
    // SAFETY: `shown` is a live value.
    ok(unsafe { kp_receiver_shown(session.of_c, &raw mut shown) });
    for tick in 1..500u32 {
        if tick % 30 == 0 {
            velocity = [-velocity[1] - 1.0, velocity[0]];
        }
        place = [0, 1].map(|axis| place[axis] + velocity[axis] / 60.0);
        let rotation = [0.1, 0.2, f64::from(tick % 30) / 30.0, 0.9];
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(EntityId(5), &Boat { place, rotation, jumps: (tick / 200) as u8 }).unwrap();
        let now = session.tick(tick, &world, tick % 50 > 40);
        let mut out = KpPlayback { tick: 0.0, is_starved: 0 };
        // SAFETY: `out` is a live value.
        let status = unsafe { kp_receiver_play(session.of_c, now.as_nanos() as u64, &raw mut out) };
        let Some(playback) = session.receiver.playback(now) else {
            assert_eq!(status, KpStatus::Nothing);
            continue;
        };
        assert_eq!((status, out.tick), (KpStatus::Ok, playback.tick));
        smoother.begin(now);
        let sample = playback.samples().next().unwrap();
        let plain: Boat = sample.state().unwrap();
        let smoothed = *smoother.state(&playback, &sample).unwrap();
        let (boat, waits_ms) = read(shown);
        assert_eq!(boat, if smooths { smoothed } else { plain }, "at tick {tick}");
        assert_eq!(waits_ms, sample.starved_for().as_secs_f64() * 1_000.0);
        counts[0] += u32::from(waits_ms > 0.0);
        counts[1] += u32::from(smoothed != plain);
    }
    counts
}

#[test]
fn late_states_are_shown_as_in_rust() {
    let at_most = Duration::from_millis(150);
    let ways = [
        (Extrapolation::Hold, KpExtrapolation::Hold),
        (Extrapolation::Straight { at_most }, KpExtrapolation::Straight),
        (Extrapolation::Game { at_most }, KpExtrapolation::Game),
    ];
    for (extrapolation, of_c) in ways {
        let [_, faded] = play(extrapolation, of_c, true);
        let [waited, _] = play(extrapolation, of_c, false);
        let extrapolates = of_c != KpExtrapolation::Hold;
        assert_eq!([waited > 10, faded > 50], [extrapolates; 2], "{waited} waited, {faded} faded");
    }
}

#[test]
fn choices_are_checked() {
    let session = Session::new::<Boat>();
    let set = |kind, way, ms| kp_receiver_set_extrapolation(session.of_c, kind, way, ms);
    assert_eq!(set(0, 1, 1_000), KpStatus::Ok);
    for (kind, way, ms) in [(1, 1, 100), (0, 3, 100), (0, -1, 100), (0, 1, 1_001), (0, 2, u32::MAX)]
    {
        assert_eq!(set(kind, way, ms), KpStatus::Argument, "{kind}, {way}, {ms}");
    }
    let none = KpReceiver { id: 0 };
    assert_eq!(kp_receiver_set_extrapolation(none, 0, 0, 0), KpStatus::Handle);
    assert_eq!(kp_hub_set_extrapolation(KpHub { id: 0 }, 0, 0, 0), KpStatus::Handle);
    assert_eq!(kp_receiver_set_smoothing(session.of_c, 1, 100), KpStatus::Argument);
    assert_eq!(kp_receiver_set_smoothing(none, 0, 100), KpStatus::Handle);
    ok(kp_receiver_set_smoothing(session.of_c, 0, u32::MAX));
    ok(kp_receiver_set_smoothing(session.of_c, 0, 0));
}
