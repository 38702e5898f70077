//! Prediction, extrapolation and smoothing through the C interface: the bits of the Rust library, and
//! bad arguments.

mod game;
mod hostile;
mod late;

use std::collections::VecDeque;
use std::ptr::null;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_c::KpStatus;
use kinepack_c::codec::{KpCodec, kp_codec_new};
use kinepack_c::predict::KpRepair;
use kinepack_c::predict_correct::{KpCorrection, KpOutcome, kp_prediction_correct_from};
use kinepack_c::receiver::{KpReceiver, kp_receiver_handle, kp_receiver_new};
use kinepack_c::schema::kp_schema_rounded;
use kinepack_net::{
    Correction, Hub, HubConfig, Outcome, Own, PredictConfig, Predicted, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Repair,
};

use game::{Game, Input, Walker, columns_of, config, input, ok, rest, schema_of, step, targets_of};

const ID: ReceiverId = ReceiverId(1);
const OWN: [u32; 2] = [7, 9];

pub(crate) fn no_correction() -> KpCorrection {
    KpCorrection { outcome: -1, repeated_ticks: 0, distance: 0.0, turn_rad: 0.0, is_snapped: 0 }
}

/// A hub with a receiver of the library, and one of the C interface that gets the same datagrams.
pub(crate) struct Session {
    pub(crate) hub: Hub,
    pub(crate) receiver: Receiver,
    pub(crate) of_c: KpReceiver,
    /// What is on its way, with the tick of its arrival.
    flying: VecDeque<(u32, Vec<u8>)>,
}

impl Session {
    pub(crate) fn new<T: Pack>() -> Self {
        let schema = Schema::of::<T>();
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
        let (mut codec, mut of_c) = (KpCodec { id: 0 }, KpReceiver { id: 0 });
        // SAFETY: all pointers are of live values, and the level is a text.
        unsafe {
            let level = c"packed".as_ptr();
            ok(kp_codec_new(schema_of::<T>(), level, null(), 0, &raw mut codec));
            ok(kp_receiver_new(codec, 60, null(), &raw mut of_c));
        }
        Self { hub, receiver, of_c, flying: VecDeque::new() }
    }

    /// Sends the world of a tick, and delivers what has arrived after three ticks.
    pub(crate) fn tick(&mut self, tick: u32, world: &Snapshot, is_lost: bool) -> Duration {
        let now = Duration::from_secs(1) * tick / 60;
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            let _ = self.hub.handle(ID, now, datagram);
        }
        self.hub.tick(now, world).unwrap();
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            if !is_lost {
                self.flying.push_back((tick + 3, datagram.to_vec()));
            }
        }
        while let Some((_, datagram)) = self.flying.pop_front_if(|(arrives, _)| *arrives <= tick) {
            let now_ns = now.as_nanos() as u64;
            let handled = self.receiver.handle(now, &datagram);
            // SAFETY: the datagram has its number of bytes.
            let status =
                unsafe { kp_receiver_handle(self.of_c, now_ns, datagram.as_ptr(), datagram.len()) };
            assert_eq!(status == KpStatus::Ok, handled.is_ok());
        }
        now
    }
}

fn equal(of_c: &KpCorrection, of_rust: &Correction) {
    let outcome = match of_rust.outcome {
        Outcome::Stale => KpOutcome::Stale,
        Outcome::Confirmed => KpOutcome::Confirmed,
        Outcome::Ahead => KpOutcome::Ahead,
        Outcome::TooOld => KpOutcome::TooOld,
        Outcome::Corrected => KpOutcome::Corrected,
    };
    assert_eq!(of_c.outcome, outcome as i32);
    assert_eq!(of_c.repeated_ticks, of_rust.repeated_ticks);
    assert_eq!((of_c.distance, of_c.turn_rad), (of_rust.distance, of_rust.turn_rad));
    assert_eq!(of_c.is_snapped != 0, of_rust.is_snapped);
}

/// A session with loss in which others push the walkers. Returns how often it was corrected.
fn play(repair: Repair) -> u64 {
    let schema = Schema::of::<Walker>();
    let settings = PredictConfig { repair, ..PredictConfig::at_hz(60) };
    let mut rust = Predicted::<Walker, Input>::new(&schema, settings).unwrap();
    let repair = if repair == Repair::Repeat { KpRepair::Repeat } else { KpRepair::Blend };
    let game =
        Game::new(&kinepack_c::predict::KpPredictConfig { repair: repair as i32, ..config() });
    let mut session = Session::new::<Walker>();
    let mut server = OWN.map(|id| Own { id: EntityId(id), state: rest() });
    for id in OWN {
        ok(game.add(id, 100, &rest()));
        rust.add(EntityId(id), Tick(100), &rest(), step).unwrap();
    }
    let (mut client, mut shown) = (100, 0);
    for tick in 101..500u32 {
        step(&mut server, &input(tick).rounded().unwrap(), Tick(tick));
        if tick % 37 == 0 {
            server[(tick % 2) as usize].state.velocity = [3.0, -2.0];
            server[0].state.teleports = (tick / 150) as u8;
        }
        let mut world = Snapshot::new(&schema, Tick(tick));
        for own in &mut server {
            own.state = own.state.rounded().unwrap();
            world.push(own.id, &own.state).unwrap();
        }
        session.tick(tick, &world, tick % 7 == 3 || (200..215).contains(&tick));
        // The client runs six ticks ahead, and skips some.
        while client < tick + 6 {
            client += 1;
            if client % 50 == 0 {
                continue;
            }
            ok(game.push(client, &input(client)));
            rust.push(Tick(client), &input(client), step).unwrap();
        }
        let (mut of_c, before) = (no_correction(), rust.stats());
        // SAFETY: the step's memory is live, and so is `of_c`.
        ok(unsafe {
            kp_prediction_correct_from(game.prediction, session.of_c, &game.step(), &raw mut of_c)
        });
        equal(&of_c, &rust.correct_from(&session.receiver, step).unwrap());
        if tick % 61 == 0 && before.corrected != rust.stats().corrected {
            let pushed = Walker { place: [1.0, 2.0], ..rest() };
            ok(game.correct(7, client - 1, &pushed, &mut of_c));
            equal(&of_c, &rust.correct(EntityId(7), Tick(client - 1), &pushed, step).unwrap());
        }
        for id in OWN {
            let at = f64::from(client) - f64::from(tick % 5) / 5.0;
            assert_eq!(game.shown(id, at).ok(), rust.shown(EntityId(id), at), "at {at}");
            shown +=
                u32::from(rust.shown(EntityId(id), f64::from(client)) != rust.state(EntityId(id)));
            assert_eq!(
                game.shown(id, f64::from(client)).ok(),
                rust.shown(EntityId(id), f64::from(client))
            );
            for back in (0..70).skip((tick % 16) as usize).step_by(16) {
                let expected = rust.state_at(EntityId(id), Tick(client - back));
                assert_eq!(game.state(id, client - back).ok(), expected);
            }
        }
    }
    let (of_c, of_rust) = (game.stats(), rust.stats());
    assert_eq!(
        [of_c.inputs, of_c.filled_ticks, of_c.confirmed, of_c.corrected, of_c.repeated_ticks],
        [
            of_rust.inputs,
            of_rust.filled_ticks,
            of_rust.confirmed,
            of_rust.corrected,
            of_rust.repeated_ticks
        ]
    );
    assert!(shown > 100, "{shown} shown states had an offset");
    of_rust.corrected
}

#[test]
fn a_session_with_loss_gives_the_bits_of_rust() {
    for repair in [Repair::Repeat, Repair::Blend] {
        assert!(play(repair) > 10);
    }
}

#[test]
fn states_are_rounded_as_the_type_rounds_them() {
    let schema = schema_of::<Walker>();
    let walker = |nth: u32| Walker {
        place: [f64::from(nth) / 7.0, -f64::from(nth) / 3.0],
        velocity: [f64::from(nth) * 9.0, 0.1],
        ..rest()
    };
    let mut walkers: Vec<Walker> = (0..10).map(walker).collect();
    let round = |walkers: &mut [Walker], kind: u32, fields: usize| {
        let targets = targets_of(walkers.as_mut_ptr());
        let (columns, targets, count) = (columns_of(targets), targets, walkers.len());
        let (from, to) = (columns.as_ptr(), targets.as_ptr());
        // SAFETY: the columns and targets are those of live walkers.
        unsafe { kp_schema_rounded(schema, kind, count, from, fields, to, fields) }
    };
    ok(round(&mut walkers, 0, 5));
    for (nth, rounded) in (0..).zip(&walkers) {
        assert_eq!(*rounded, walker(nth).rounded().unwrap());
    }
    ok(round(&mut [], 0, 5));
    assert_eq!(round(&mut walkers, 1, 5), KpStatus::Argument);
    assert_eq!(round(&mut walkers, 0, 4), KpStatus::Argument);
    walkers[8].place[0] = f64::NAN;
    walkers[0].place[0] = 0.0001;
    let before = walkers.clone();
    assert_eq!(round(&mut walkers, 0, 5), KpStatus::Value);
    assert_eq!(walkers[..8], before[..8], "nothing is written");
}
