//! Tests of the level that learns: both sides learn the same whichever packets are lost, and a
//! packet can also start without learned state.

use kinepack::training::{TrainError, Training};
use kinepack::{
    Baselines, Codec, DecodeError, Decoder, Encoder, Level, Profile, SetupError, Snapshot, View,
};

use crate::support::{
    Random, assert_valid, bodies, bodies_run as run, bodies_schema as schema, trained, views,
};

fn codec(level: Level) -> Codec {
    let schema = schema();
    let profile = trained(&schema, Some(bodies(&schema)));
    Codec::new(schema, level, profile).unwrap()
}

/// Sends a run over a link that loses about every third packet and acknowledges some packets later.
/// Returns the bytes of all packets.
fn send(codec: &Codec, run: &[Snapshot], seed: u64) -> usize {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let mut random = Random::new(seed);
    let empty = View::empty(codec.schema());
    // The sender keeps the views of all packets, and the receiver keeps those of the packets that
    // arrived.
    let (mut ours, mut theirs) = (vec![empty.clone()], vec![Some(empty)]);
    let mut bytes = 0;
    for snapshot in run {
        let newest = ours.len().saturating_sub(1 + random.below(5) as usize);
        let arrived: Vec<usize> =
            (0..=newest).rev().filter(|sent| theirs[*sent].is_some()).take(3).collect();
        let our_baselines = Baselines::new(arrived.iter().map(|sent| &ours[*sent])).unwrap();
        let their_baselines =
            Baselines::new(arrived.iter().flat_map(|sent| &theirs[*sent])).unwrap();
        let mut packet = Vec::new();
        let view = encoder.encode(our_baselines, snapshot, &mut packet).unwrap();
        assert!(**view.snapshot() == *snapshot);
        bytes += packet.len();
        if random.below(3) == 0 {
            theirs.push(None);
        } else {
            let decoded = decoder.decode(their_baselines, &packet, snapshot.tick).unwrap();
            assert!(decoded == view, "both sides learned the same");
            theirs.push(Some(decoded));
        }
        ours.push(view);
    }
    bytes
}

/// A profile keeps what a session learned. The adaptive level uses this learned state too, and a
/// session that begins with this profile starts where the first one ended.
#[test]
fn a_profile_keeps_what_a_session_learned() {
    let schema = schema();
    let profile = trained(&schema, Some(bodies(&schema)));
    // The bodies are slow, but the profile was trained on fast ones.
    let [first, next] = [20, 21].map(|seed| run(&schema, seed, 12, 600));
    let training = Training {
        packed_lag_ticks: 3,
        ..Training::new(Profile::untrained(&schema), Some(bodies(&schema)))
    };
    let mut done = 0.0;
    let kept = training
        .learn(&schema, &profile, &[&first], |share| {
            assert!(done < share);
            done = share;
        })
        .unwrap();
    assert_eq!(done, 1.0);
    let bytes_of = |level, profile: &Profile, run: &[Snapshot]| {
        send(&Codec::new(schema.clone(), level, profile.clone()).unwrap(), run, 1)
    };
    let bytes = |level, profile: &Profile| bytes_of(level, profile, &next);
    // After one second, the learning level has not learned much yet.
    for (level, run) in [(Level::ADAPTIVE, &next[..]), (Level::LEARNING, &next[..60])] {
        let [without, with] = [&profile, &kept].map(|profile| bytes_of(level, profile, run));
        assert!(with < without, "{level:?}: {with} bytes, without {without}");
    }
    assert!(bytes(Level::ADAPTIVE, &kept) < bytes(Level::LEARNING, &profile) * 104 / 100);
    // A file stores the profile exactly.
    assert_eq!(Profile::from_bytes(&kept.to_bytes(), &schema).unwrap(), kept);
    // The word lengths stay, so packets of levels that pack bits are the same.
    assert_eq!(bytes(Level::PACKED, &kept), bytes(Level::PACKED, &profile));
    let short = training.learn(&schema, &profile, &[&first[..3]], |_| ());
    assert_eq!(short, Err(TrainError::TooShort));
}

#[test]
fn only_the_profile_of_a_session_keeps_what_it_learned() {
    let schema = schema();
    let untrained = Profile::untrained(&schema);
    let codec = Codec::new(schema.clone(), Level::LEARNING, untrained.clone()).unwrap();
    let mut view = View::empty(&schema);
    for snapshot in run(&schema, 3, 5, 10) {
        view = Encoder::new(&codec).encode(&view, &snapshot, &mut Vec::new()).unwrap();
    }
    let learned = view.learned().unwrap();
    let kept = untrained.with_learned(&schema, learned).unwrap();
    assert!(kept.model.is_some(), "an untrained profile gets a model");
    let other = trained(&schema, None).with_learned(&schema, learned);
    assert_eq!(other, Err(SetupError::ProfileMismatch));
    assert_eq!(kept.with_learned(&schema, learned), Err(SetupError::ProfileMismatch));
}

#[test]
fn lost_packets_train_neither_side() {
    let (learning, adaptive) = (codec(Level::LEARNING), codec(Level::ADAPTIVE));
    let untrained = Codec::new(schema(), Level::LEARNING, Profile::untrained(&schema())).unwrap();
    for seed in 0..4 {
        // The bodies are slow, but the profile was trained on fast ones.
        let run = run(&schema(), 20 + seed, 12, 120);
        let [learned, fixed] = [send(&learning, &run, seed), send(&adaptive, &run, seed)];
        assert!(learned < fixed, "{learned} bytes, without learning {fixed}");
        send(&untrained, &run, seed);
    }
}

#[test]
fn without_a_learned_state_a_packet_starts_from_the_profile() {
    let codec = codec(Level::LEARNING);
    let run = views(run(codec.schema(), 31, 8, 10));
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let view = encoder.encode(&run[0], &run[1], &mut Vec::new()).unwrap();
    assert!(view.learned().is_some());
    let forgotten = view.clone().with_learned(None);
    // The sender dropped the learned state; the receiver did not.
    let mut packet = Vec::new();
    let sent = encoder.encode(&forgotten, &run[2], &mut packet).unwrap();
    assert!(decoder.decode(&view, &packet, run[2].tick).unwrap() == sent);
    // The receiver dropped the learned state.
    packet.clear();
    let sent = encoder.encode(&view, &run[2], &mut packet).unwrap();
    assert_eq!(decoder.decode(&forgotten, &packet, run[2].tick), Err(DecodeError::NothingLearned));
    assert!(
        decoder.decode(&view, &packet, run[2].tick).unwrap() == sent,
        "a refused packet changes nothing"
    );
}

#[test]
fn the_learned_state_of_another_codec_is_ignored() {
    let schema = schema();
    let [ours, other] = [trained(&schema, Some(bodies(&schema))), trained(&schema, None)]
        .map(|profile| Codec::new(schema.clone(), Level::LEARNING, profile).unwrap());
    let run = views(run(&schema, 32, 8, 10));
    let (mut encoder, mut decoder) = (Encoder::new(&ours), Decoder::new(&ours));
    let foreign = Encoder::new(&other).encode(&run[0], &run[1], &mut Vec::new()).unwrap();
    assert!(foreign.learned().is_some());
    let own = encoder.encode(&run[0], &run[1], &mut Vec::new()).unwrap();
    // The sender starts from the profile, so the receiver may hold any of the three views.
    let (mut packet, mut plain) = (Vec::new(), Vec::new());
    let sent = encoder.encode(&foreign, &run[2], &mut packet).unwrap();
    let same = encoder.encode(&run[1], &run[2], &mut plain).unwrap();
    assert!(packet == plain && sent == same);
    for view in [&foreign, &run[1], &own] {
        assert!(decoder.decode(view, &packet, run[2].tick).unwrap() == sent);
    }
    // If a packet resumes from a learned state, the receiver needs exactly that state.
    packet.clear();
    let sent = encoder.encode(&own, &run[2], &mut packet).unwrap();
    for view in [&foreign, &run[1]] {
        assert_eq!(decoder.decode(view, &packet, run[2].tick), Err(DecodeError::NothingLearned));
    }
    assert!(decoder.decode(&own, &packet, run[2].tick).unwrap() == sent);
}

/// Makes random lanes for the entities of a snapshot.
fn noise(codec: &Codec, like: &Snapshot, random: &mut Random) -> Snapshot {
    let mut noise = Snapshot::new_like(like);
    for id in like.ids() {
        let lanes = codec.schema().lanes().iter().map(|lane| random.up_to(lane.max));
        noise.push_lanes(*id, &lanes.collect::<Vec<_>>()).unwrap();
    }
    noise
}

#[test]
fn a_packet_that_packs_bits_keeps_the_learned_state() {
    let codec = codec(Level::LEARNING);
    let run = views(run(codec.schema(), 33, 30, 4));
    let mut noise = noise(&codec, &run[1], &mut Random::new(34));
    noise.tick = run[2].tick;
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let before = encoder.encode(&run[0], &run[1], &mut Vec::new()).unwrap();
    let mut packet = Vec::new();
    let sent = encoder.encode(&before, &noise, &mut packet).unwrap();
    assert_eq!(packet[0] & 3, 3, "noise is packed");
    let decoded = decoder.decode(&before, &packet, noise.tick).unwrap();
    assert!(
        **decoded.snapshot() == noise && decoded == sent && decoded.learned() == before.learned()
    );
}

#[test]
fn any_bytes_are_a_snapshot_or_an_error() {
    let codec = codec(Level::LEARNING);
    let run = run(codec.schema(), 35, 25, 20);
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut random = Random::new(36);
    let mut before = View::from(run[0].clone());
    for snapshot in &run[1..] {
        let mut packet = Vec::new();
        let sent = encoder.encode(&before, snapshot, &mut packet).unwrap();
        for round in 0..100 {
            let bytes = random.damaged(&packet, round);
            if let Ok(view) = decoder.decode(&before, &bytes, snapshot.tick) {
                assert_valid(codec.schema(), &view);
                // An encoder can resume from any learned state.
                let gone_on = encoder.encode(&view, snapshot, &mut Vec::new()).unwrap();
                assert!(**gone_on.snapshot() == *snapshot);
            }
        }
        before = decoder.decode(&before, &packet, snapshot.tick).unwrap();
        assert!(before == sent, "the decoder's state has changed");
    }
}
