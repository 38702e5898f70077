//! The level that learns: both sides learn the same whatever is lost, and nobody needs what was learned.

#![allow(clippy::unwrap_used)]

mod support;

use kinepack::{Baselines, Codec, DecodeError, Decoder, EncodeError, Encoder, Learned, Level, Profile, Snapshot, Tick};
use support::{Random, assert_valid, bodies, bodies_run as run, bodies_schema as schema, trained};

fn codec(level: Level) -> Codec {
    let schema = schema();
    let profile = trained(&schema, Some(bodies(&schema)));
    Codec::new(schema, level, profile).unwrap()
}

/// A view with what was learned when it was coded.
#[derive(Clone)]
struct View {
    state: Snapshot,
    learned: Option<Learned>,
}

impl View {
    fn baselines<'a>(&'a self, older: &'a [&'a Snapshot]) -> Baselines<'a> {
        Baselines::new(&self.state, older).with_learned(self.learned.as_ref())
    }
}

/// Sends a run over a link that loses every third packet or so and answers some packets later; returns the bytes of all packets.
fn send(codec: &Codec, run: &[Snapshot], seed: u64) -> usize {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let mut random = Random::new(seed);
    let empty = View { state: Snapshot::new(codec.schema(), Tick(0)), learned: None };
    // What each side has of the snapshots that arrived, and of all that were sent.
    let (mut ours, mut theirs) = (vec![Some(empty.clone())], vec![Some(empty)]);
    let mut bytes = 0;
    for snapshot in run {
        let newest = ours.len().saturating_sub(1 + random.below(5) as usize);
        let arrived: Vec<usize> = (0..=newest).rev().filter(|sent| theirs[*sent].is_some()).take(3).collect();
        let view = |side: &Vec<Option<View>>, nth: usize| side[arrived[nth]].clone().unwrap();
        let [our_base, their_base] = [view(&ours, 0), view(&theirs, 0)];
        let older: Vec<View> = (1..arrived.len()).map(|nth| view(&ours, nth)).collect();
        let older: Vec<&Snapshot> = older.iter().map(|view| &view.state).collect();
        let mut packet = Vec::new();
        encoder.encode(our_base.baselines(&older), snapshot, &mut packet).unwrap();
        bytes += packet.len();
        ours.push(Some(View { state: snapshot.clone(), learned: encoder.learned().cloned() }));
        if random.below(3) == 0 {
            theirs.push(None);
            continue;
        }
        let mut out = Snapshot::new(codec.schema(), Tick(0));
        decoder.decode(their_base.baselines(&older), &packet, snapshot.tick, &mut out).unwrap();
        assert!(out == *snapshot);
        assert!(encoder.learned() == decoder.learned(), "both sides learned the same");
        theirs.push(Some(View { state: out, learned: decoder.learned().cloned() }));
    }
    bytes
}

#[test]
fn loss_does_not_part_what_both_sides_learn() {
    let (learning, adaptive) = (codec(Level::LEARNING), codec(Level::ADAPTIVE));
    let untrained = Codec::new(schema(), Level::LEARNING, Profile::untrained(&schema())).unwrap();
    for seed in 0..4 {
        // Slow bodies where the profile knows fast ones.
        let run = run(&schema(), 20 + seed, 12, 120);
        let [learned, fixed] = [send(&learning, &run, seed), send(&adaptive, &run, seed)];
        assert!(learned < fixed, "{learned} bytes, without learning {fixed}");
        send(&untrained, &run, seed);
    }
}

#[test]
fn without_what_was_learned_a_packet_starts_from_the_profile() {
    let codec = codec(Level::LEARNING);
    let run = run(codec.schema(), 31, 8, 10);
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut packet = Vec::new();
    encoder.encode(&run[0], &run[1], &mut packet).unwrap();
    let learned = encoder.learned().cloned();
    assert!(learned.is_some());
    let mut out = run[0].clone();
    // The sender forgot; the receiver did not.
    packet.clear();
    encoder.encode(&run[1], &run[2], &mut packet).unwrap();
    decoder.decode(Baselines::from(&run[1]).with_learned(learned.as_ref()), &packet, run[2].tick, &mut out).unwrap();
    assert!(out == run[2] && encoder.learned() == decoder.learned());
    // The receiver forgot.
    let kept = decoder.learned().cloned();
    packet.clear();
    encoder.encode(Baselines::from(&run[1]).with_learned(learned.as_ref()), &run[2], &mut packet).unwrap();
    let refusal = decoder.decode(&run[1], &packet, run[2].tick, &mut out);
    assert_eq!(refusal, Err(DecodeError::NothingLearned));
    assert!(out == run[2] && decoder.learned() == kept.as_ref(), "a refused packet changes nothing");
}

#[test]
fn what_another_codec_learned_is_refused() {
    let schema = schema();
    let [ours, other] = [trained(&schema, Some(bodies(&schema))), trained(&schema, None)]
        .map(|profile| Codec::new(schema.clone(), Level::LEARNING, profile).unwrap());
    let run = run(&schema, 32, 8, 10);
    let (mut encoder, mut foreign) = (Encoder::new(&ours), Encoder::new(&other));
    let mut packet = Vec::new();
    foreign.encode(&run[0], &run[1], &mut packet).unwrap();
    packet.clear();
    let baselines = Baselines::from(&run[1]).with_learned(foreign.learned());
    assert_eq!(encoder.encode(baselines, &run[2], &mut packet).err(), Some(EncodeError::ForeignLearned));
    assert!(packet.is_empty());
    encoder.encode(&run[0], &run[1], &mut packet).unwrap();
    let learned = encoder.learned().cloned();
    packet.clear();
    encoder.encode(Baselines::from(&run[1]).with_learned(learned.as_ref()), &run[2], &mut packet).unwrap();
    let mut out = run[0].clone();
    let refusal = Decoder::new(&ours).decode(baselines, &packet, run[2].tick, &mut out);
    assert_eq!(refusal, Err(DecodeError::NothingLearned));
}

#[test]
fn a_packet_that_packs_bits_hands_on_what_was_learned_before() {
    let codec = codec(Level::LEARNING);
    let run = run(codec.schema(), 33, 30, 4);
    let mut random = Random::new(34);
    let mut noise = run[1].clone();
    noise.clear(run[2].tick);
    for id in run[1].ids() {
        let lanes = codec.schema().lanes().iter().map(|lane| random.below(u64::from(lane.max) + 1) as u32);
        noise.push_lanes(*id, &lanes.collect::<Vec<_>>()).unwrap();
    }
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut packet = Vec::new();
    encoder.encode(&run[0], &run[1], &mut packet).unwrap();
    let learned = encoder.learned().cloned();
    packet.clear();
    let baselines = Baselines::from(&run[1]).with_learned(learned.as_ref());
    encoder.encode(baselines, &noise, &mut packet).unwrap();
    assert_eq!(packet[0] & 1, 1, "noise is packed");
    let mut out = run[0].clone();
    decoder.decode(baselines, &packet, noise.tick, &mut out).unwrap();
    assert!(out == noise && decoder.learned() == learned.as_ref() && encoder.learned() == learned.as_ref());
}

#[test]
fn any_bytes_are_a_snapshot_or_an_error() {
    let codec = codec(Level::LEARNING);
    let run = run(codec.schema(), 35, 25, 20);
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut random = Random::new(36);
    let mut learned: Option<Learned> = None;
    for pair in run.windows(2) {
        let baselines = Baselines::from(&pair[0]).with_learned(learned.as_ref());
        let mut packet = Vec::new();
        encoder.encode(baselines, &pair[1], &mut packet).unwrap();
        for round in 0..100 {
            let bytes = random.damaged(&packet, round);
            let mut out = run[0].clone();
            let before = decoder.learned().cloned();
            match decoder.decode(baselines, &bytes, pair[1].tick, &mut out) {
                Err(_) => assert!(out == run[0] && decoder.learned() == before.as_ref()),
                Ok(()) => {
                    assert_valid(codec.schema(), &out);
                    // Whatever it learned can be gone on from.
                    let gone_on = Baselines::from(&out).with_learned(decoder.learned());
                    encoder.encode(gone_on, &pair[1], &mut Vec::new()).unwrap();
                }
            }
        }
        let mut out = run[0].clone();
        decoder.decode(baselines, &packet, pair[1].tick, &mut out).unwrap();
        assert!(out == pair[1], "the decoder is not what it was");
        learned = decoder.learned().cloned();
    }
}
