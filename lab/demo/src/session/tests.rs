//! Tests that add and remove players while their world is sent. Every state must contain the
//! players of its tick.

use clap::Parser;
use command_kit::LinkOptions;
use cubes::{Config, FIRST_GUEST, Input, Script, Style};
use kinepack::EntityId;

use super::*;
use crate::game_events::GameEvent;
use crate::keys::Keys;
use crate::sender::due;
use crate::sight::Sight;

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    send: SendOptions,
    #[command(flatten)]
    link: LinkOptions,
}

/// A joiner whose script plays by the received views.
struct Joiner {
    script: Script,
    own: Option<EntityId>,
}

impl Joiner {
    fn keys(&mut self, session: &Session, options: &SendOptions, peer: usize) -> Option<Keys> {
        let newest = session.peers[peer].viewer().and_then(|viewer| viewer.receiver.newest());
        let sight = Sight::new(&options.stream, newest?, self.own?)?;
        Some(self.script.next_input(&sight).into())
    }
}

/// Returns the players that a viewer shows, without the first one.
fn guests(session: &Session, peer: usize) -> Vec<EntityId> {
    let shown = &session.peers[peer].viewer().expect("it is looked at").shown;
    shown.iter().map(|shown| shown.id).filter(|id| id.0 >= FIRST_GUEST).collect()
}

/// Runs a session with two joiners that play. One of them leaves and returns. Returns the sent
/// states.
fn play(options: &str) -> Vec<kinepack::Snapshot> {
    let Options { send, link } =
        Options::parse_from(["test"].into_iter().chain(options.split_whitespace()));
    let world =
        Played::cubes(&Config { cubes: 64 }, Style::Typical, 1).expect("a valid number of cubes");
    let mut session = Session::new(world, &send, HubConfig::default()).expect("valid options");
    let mut joiners =
        [2, 3].map(|seed| Joiner { script: Script::new(Style::Typical, seed), own: None });
    for seed in 0..2 {
        session.add(&send, link.config().expect("a valid link"), seed, true).expect("a valid link");
    }
    let (mut states, mut events) = (Vec::new(), [vec![], vec![]]);
    for tick in 1..=480 {
        for (peer, joiner) in (0..).zip(&mut joiners) {
            let world = &mut session.sender.world;
            match (tick, peer) {
                (60, _) | (300, 0) => joiner.own = world.admit(ReceiverId(peer)).ok(),
                (220, 0) => {
                    assert!(world.dismiss(ReceiverId(peer)));
                    joiner.own = None;
                }
                _ => {}
            }
            if let Some(keys) = joiner.keys(&session, &send, peer as usize) {
                assert!(session.sender.world.hold_for(ReceiverId(peer), Input::from(keys)));
            }
        }
        session.run_until(due(tick), &mut Direct).expect("nothing to fail");
        states.push(session.sender.snapshot.clone());
        for (peer, events) in events.iter_mut().enumerate() {
            let viewer = session.peers[peer].viewer().expect("it is looked at");
            events.extend(viewer.events.iter().copied());
        }
        let expected: &[u32] = match tick {
            59 => &[],
            219 => &[FIRST_GUEST, FIRST_GUEST + 1],
            299 => &[FIRST_GUEST + 1],
            480 => &[FIRST_GUEST + 1, FIRST_GUEST + 2],
            _ => continue,
        };
        for peer in 0..2 {
            let expected: Vec<EntityId> = expected.iter().copied().map(EntityId).collect();
            assert_eq!(guests(&session, peer), expected, "{options}: viewer {peer} at tick {tick}");
        }
    }
    for events in events {
        let (pushed, others): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|event| matches!(event, GameEvent::Pushed(_)));
        let [first, second, third] = [0, 1, 2].map(|guest| EntityId(FIRST_GUEST + guest));
        let (joined, left) = (GameEvent::Joined, GameEvent::Left);
        assert_eq!(others, [joined(first), joined(second), left(first), joined(third)]);
        assert!(!pushed.is_empty(), "{options}");
    }
    for peer in &session.peers {
        let viewer = peer.viewer().expect("it is looked at");
        assert_eq!(peer.wrong_lanes, 0, "{options}");
        assert!(viewer.snapshots > 200, "{options}: {} snapshots", viewer.snapshots);
        assert!(viewer.error.position_mm.percentile(0.5) < 20.0, "{options}");
    }
    let moved = |id| {
        let place = |state: &kinepack::Snapshot| Some(state.lane(0)[state.position(EntityId(id))?]);
        let places: Vec<u32> = states.iter().filter_map(place).collect();
        places.iter().max().zip(places.iter().min()).map_or(0, |(max, min)| max - min)
    };
    assert!(
        (FIRST_GUEST..FIRST_GUEST + 3).all(|id| moved(id) > 512),
        "{options}: each moved more than a metre"
    );
    states
}

#[test]
fn states_arrive_unchanged_while_players_are_added_and_removed() {
    for options in [
        "--link wifi",
        "--link terrible --velocities",
        "--link wifi --level adaptive --budget-kbps 96",
        "--link wifi --level learning --time-precision-ms 2",
        "--link mobile --level indices",
    ] {
        play(options);
    }
}

#[test]
fn the_profile_knows_all_players() {
    let stream = |level: &str| Options::parse_from(["test", "--level", level]).send.stream;
    let known = stream("adaptive").codec();
    let unknown = {
        let cubes = kinepack::Schema::of::<cube_data::cube::Cube>();
        let profile = cube_data::cube::profile().carried(&cubes, known.schema());
        let profile = profile.expect("it fits");
        kinepack::Codec::new(known.schema().clone(), kinepack::Level::ADAPTIVE, profile)
            .expect("it fits")
    };
    assert_ne!(known.hash(), unknown.hash());
    let states: Vec<kinepack::View> =
        play("--link lan").into_iter().map(kinepack::View::from).collect();
    let bytes = |codec: &kinepack::Codec| -> usize {
        let (mut encoder, mut packet) = (kinepack::Encoder::new(codec), Vec::new());
        let mut bytes = 0;
        for at in 84..210 {
            packet.clear();
            let baselines = kinepack::Baselines::new([6, 12, 18].map(|lag| &states[at - lag]))
                .expect("each is older");
            encoder.encode(baselines, &states[at], &mut packet).expect("of this schema");
            bytes += packet.len();
        }
        bytes
    };
    let [known, unknown] = [bytes(&known), bytes(&unknown)];
    println!("{known} bytes with the kinds of all players, {unknown} with only the first one's");
    assert!(known < unknown, "{known} bytes, {unknown} if further players count as small cubes");
}
