//! Tests of the counts of bits by entity: they add up to the whole packet at every level, and are
//! off unless requested.

use kinepack::codec::{Chosen, Difference};
use kinepack::{Baselines, Codec, Encoder, Level, Profile, Schema, Snapshot, View};

use crate::support::{
    bodies, bodies_run, bodies_schema, frames, profiles, schema, schemas, trained, views,
};

fn counting(codec: &Codec) -> Encoder {
    let mut encoder = Encoder::new(codec);
    encoder.count_entity_bits(true);
    encoder
}

fn indices(encoder: &Encoder) -> Vec<u32> {
    encoder.entity_bits().iter().map(|(index, _)| *index).collect()
}

fn sum(encoder: &Encoder) -> u64 {
    encoder.entity_bits().iter().map(|(_, bits)| u64::from(*bits)).sum()
}

/// Returns the entities that `before` and `after` share, with their lanes in `after`.
fn same_entities(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let mut rows = after.clone();
    rows.retain(before.ids());
    let mut snapshot = before.clone();
    snapshot.patch(&[], &rows).unwrap();
    snapshot.tick = after.tick;
    snapshot
}

/// Returns the indices of the entities that differ in a lane. An entity that the baseline lacks is
/// compared with zeros.
fn changed(before: &Snapshot, after: &Snapshot) -> Vec<u32> {
    let lane = |snapshot: &Snapshot, lane, index: Option<usize>| {
        index.map_or(0, |index| snapshot.lane(lane)[index])
    };
    let differs = |index: &u32| {
        let index = *index as usize;
        let place = before.position(after.ids()[index]);
        (0..after.lane_count()).any(|nth| lane(before, nth, place) != after.lane(nth)[index])
    };
    (0..after.len() as u32).filter(differs).collect()
}

/// The lanes of a field take at most the field's bits. They take all of them if there are no
/// classes and no entity is at rest.
fn check_lanes(schema: &Schema, encoder: &Encoder, level: Level) {
    let lanes = encoder.lane_bits();
    assert_eq!(lanes.len(), schema.lanes().len());
    for (field, &bits) in schema.fields().iter().zip(&encoder.size().fields_bits) {
        let sum: u64 = lanes[field.lanes()].iter().sum();
        // Levels that predict round the bits of each entity, and the end of their code may be cut.
        let slack = if level.adaptive() { field.lanes().len() as u64 + 9 } else { 0 };
        assert!(sum <= bits + slack, "{}, {}: {sum} of {bits} bits", level.row(), field.name);
        if !level.at_rest() && !level.relative_numbers() && !level.relative_rotations() {
            assert_eq!(sum, bits, "{}, {}", level.row(), field.name);
        }
    }
}

#[test]
fn in_packed_form_they_add_up_to_the_fields_bits() {
    for (name, schema) in schemas()
        .into_iter()
        .chain(["optional", "coarser", "breaks"].map(|name| (name, schema(name))))
    {
        let frames = views(frames(&schema, 21, 25, 8));
        for (_, profile) in profiles(&schema) {
            for level in Level::TABLE.into_iter().filter(|level| !level.adaptive()) {
                let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
                let (mut encoder, mut plain) = (counting(&codec), Encoder::new(&codec));
                for pair in frames.windows(2) {
                    let (mut packet, mut bytes) = (Vec::new(), Vec::new());
                    let after = encoder.encode(&pair[0], &pair[1], &mut packet).unwrap();
                    let sent = if level.row() < 7 {
                        (0..after.len() as u32).collect()
                    } else {
                        changed(&pair[0], &after)
                    };
                    assert_eq!(indices(&encoder), sent, "{name}, {}", level.row());
                    assert_eq!(sum(&encoder), encoder.size().fields_bits.iter().sum::<u64>());

                    check_lanes(&schema, &encoder, level);

                    plain.encode(&pair[0], &after, &mut bytes).unwrap();
                    assert_eq!(plain.size(), encoder.size());
                    assert!(
                        plain.entity_bits().is_empty()
                            && plain.lane_bits().is_empty()
                            && bytes == packet
                    );

                    if level.row() >= 7 {
                        let after = same_entities(&pair[0], &after);
                        let some: Vec<u32> = changed(&pair[0], &after)
                            .into_iter()
                            .filter(|index| index % 3 > 0)
                            .collect();
                        let chosen = Chosen::Some { indices: &some, limit_bytes: 5 };
                        encoder.write(&pair[0], &after, chosen, &mut packet).unwrap();
                        assert_eq!(indices(&encoder), some);
                        assert_eq!(sum(&encoder), encoder.size().fields_bits.iter().sum::<u64>());
                    }
                }
                encoder.count_entity_bits(false);
                encoder.encode(&frames[0], &frames[0], &mut Vec::new()).unwrap();
                assert!(encoder.entity_bits().is_empty());
            }
        }
    }
}

/// Makes an encoder that predicts, and the encoder of the packed form.
fn predicting(schema: &Schema, level: Level, profile: &Profile) -> (Encoder, Encoder) {
    let codec = |level| Codec::new(schema.clone(), level, profile.clone()).unwrap();
    (counting(&codec(level)), counting(&codec(Level::PACKED)))
}

/// Returns whether a packet of a level that predicts has the packed form.
fn is_packed(packet: &[u8]) -> bool {
    packet[0] & 3 == 3
}

#[test]
fn in_predicted_form_they_add_up_to_the_fields_and_added_entities() {
    let schema = bodies_schema();
    let run = views(bodies_run(&schema, 5, 40, 60));
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        for (profile, has_bodies) in
            [(trained(&schema, None), false), (trained(&schema, Some(bodies(&schema))), true)]
        {
            let (mut encoder, mut packed) = predicting(&schema, level, &profile);
            let (mut predicted, mut fell_back, mut added, mut moved) = (0, 0, 0, 0);
            let (mut lanes_took, mut took) = (0, 0);
            let mut before = run[2].clone();
            for states in run.windows(4) {
                let mut packet = Vec::new();
                let baselines = Baselines::new([&before, &states[1], &states[0]]).unwrap();
                let after = encoder.encode(baselines, &states[3], &mut packet).unwrap();
                let before = std::mem::replace(&mut before, after.clone());
                if is_packed(&packet) {
                    packed.encode(&before, &after, &mut Vec::new()).unwrap();
                    assert_eq!(encoder.entity_bits(), packed.entity_bits());
                    fell_back += 1;
                    continue;
                }
                let mut difference = Difference::default();
                difference.find(&before, &after);
                assert_eq!(indices(&encoder), difference.sent);
                assert!(sum(&encoder) <= 8 * packet.len() as u64);
                check_lanes(&schema, &encoder, level);
                lanes_took += encoder.lane_bits().iter().sum::<u64>();
                let is_added = |index: u32| before.position(after.ids()[index as usize]).is_none();
                let (new, known): (Vec<_>, Vec<_>) =
                    encoder.entity_bits().iter().copied().partition(|(index, _)| is_added(*index));
                // The model cannot predict the values of these added entities. They take the bits
                // of full values, plus the bits until the model has learned the values'
                // frequencies.
                let in_full = schema.bits_per_entity();
                assert!(
                    new.iter().all(|(_, bits)| (in_full / 2..in_full + 60).contains(bits)),
                    "{new:?}"
                );
                let fields: u64 = encoder.size().fields_bits.iter().sum();
                let [known_bits, new_bits] = [&known, &new]
                    .map(|entities| entities.iter().map(|(_, bits)| u64::from(*bits)).sum::<u64>());
                took += known_bits;
                // The bits of each field are rounded down. The flag of a body that did not move
                // also costs bits, which belong to no field.
                let slack = known.len() as u64 / 2 + 1;
                let bits = known_bits + new_bits;
                assert!(bits + slack + 8 >= fields, "{bits} of {fields}");
                let flags = if has_bodies { 2 * known.len() as u64 } else { 0 };
                // The bits of an added entity also code its origin.
                let origins = 12 * new.len() as u64;
                assert!(
                    bits <= fields + slack + schema.fields().len() as u64 + flags + origins,
                    "{bits}, {fields}"
                );
                predicted += 1;
                added += new.len();
                moved += known.len();
            }
            assert!(2 * lanes_took > took, "lanes took {lanes_took} of {took} bits");
            assert!(
                predicted > 40 && moved > 500 && added > 0,
                "{predicted} {moved} {added} {fell_back}"
            );
        }
    }
}

#[test]
fn a_single_entity_takes_its_fields_bits() {
    let schema = bodies_schema();
    let run = views(bodies_run(&schema, 7, 30, 20));
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let (mut encoder, _) = predicting(&schema, level, &trained(&schema, None));
        let mut alone = 0;
        for pair in run.windows(2) {
            let after = same_entities(&pair[0], &pair[1]);
            for index in changed(&pair[0], &after) {
                let mut packet = Vec::new();
                encoder.write(&pair[0], &after, Chosen::entities(&[index]), &mut packet).unwrap();
                let [(entity, bits)] = *encoder.entity_bits() else {
                    panic!("{:?}", encoder.entity_bits())
                };
                let fields: u64 = encoder.size().fields_bits.iter().sum();
                let most =
                    if is_packed(&packet) { fields } else { fields + schema.fields().len() as u64 };
                assert!(
                    entity == index && (fields..=most).contains(&u64::from(bits)),
                    "{bits} of {fields}"
                );
                alone += usize::from(!is_packed(&packet));
            }
        }
        assert!(alone > 20, "{alone}");
    }
}

#[test]
fn skipped_entities_take_no_bits() {
    let schema = bodies_schema();
    let run = views(bodies_run(&schema, 5, 60, 40));
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let (mut encoder, _) = predicting(&schema, level, &trained(&schema, Some(bodies(&schema))));
        let mut ended = 0;
        for pair in run.windows(2).filter(|pair| pair[0].ids() == pair[1].ids()) {
            let all = changed(&pair[0], &pair[1]);
            let mut whole = Vec::new();
            encoder.write(&pair[0], &pair[1], Chosen::entities(&all), &mut whole).unwrap();
            for share in 0..=8 {
                let mut packet = Vec::new();
                let limit_bytes = whole.len() * share / 7;
                let chosen = Chosen::Some { indices: &all, limit_bytes };
                encoder.write(&pair[0], &pair[1], chosen, &mut packet).unwrap();
                let mut both = [&indices(&encoder)[..], encoder.unsent()].concat();
                both.sort_unstable();
                assert_eq!(both, all);
                assert_eq!(encoder.size().changed_entities, encoder.entity_bits().len());
                assert!(sum(&encoder) <= 8 * packet.len() as u64);
                ended += usize::from(!encoder.unsent().is_empty());
            }
        }
        assert!(ended > 10, "{ended}");
    }
}

#[test]
fn a_packet_without_changes_lists_no_entities() {
    let schema = bodies_schema();
    let run = views(bodies_run(&schema, 5, 10, 2));
    let empty = View::empty(&schema);
    for level in Level::TABLE.into_iter().filter(|level| level.row() >= 7) {
        let mut encoder =
            counting(&Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap());
        for states in [[&empty, &run[0]], [&run[0], &run[0]]] {
            encoder.encode(states[0], states[1], &mut Vec::new()).unwrap();
        }
        assert!(encoder.entity_bits().is_empty(), "{}", level.row());
    }
}
