//! Tests of snapshots and streams with types of other schemas, even of schemas with as many lanes.
//! Also tests lanes above their maximum. Such values are refused, and no state is read as another
//! type.

use std::sync::atomic::{AtomicUsize, Ordering};

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind, PackWith};
use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
use kinepack::{Between, DecodeError, EncodeError, EntityId, Pack, Schema, Snapshot, Tick, View};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Door {
    #[pack(range = 0.0..1.0, precision = 0.1)]
    open: f32,
    locked: bool,
}

/// This type has as many lanes as [`Door`], most of them wider.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(range = 0.0..1000.0, precision = 0.01)]
    place: f32,
    health: u8,
}

/// This type has the fields of [`Door`], but another name.
#[derive(Pack, Clone, Debug, PartialEq)]
#[allow(dead_code)]
struct Gate {
    #[pack(range = 0.0..1.0, precision = 0.1)]
    open: f32,
    locked: bool,
}

const DOOR: Door = Door { open: 0.5, locked: true };
const PLAYER: Player = Player { place: 700.0, health: 90 };

fn mismatch<T: Pack, U: Pack>(id: Option<u32>) -> EncodeError {
    EncodeError::TypeMismatch {
        id,
        expected_hash: Schema::of::<T>().hash(),
        hash: Schema::of::<U>().hash(),
    }
}

#[test]
fn a_type_of_another_schema_with_as_many_lanes_is_not_pushed() {
    assert_eq!(Door::LANES, Player::LANES);
    let mut snapshot = Snapshot::new(&Schema::of::<Door>(), Tick(1));
    for round in 0..3 {
        assert_eq!(
            snapshot.push(EntityId(7 + round), &PLAYER),
            Err(mismatch::<Door, Player>(Some(7 + round)))
        );
        assert_eq!(snapshot.len() as u32, round, "a refused entity is not added");
        snapshot.push(EntityId(7 + round), &DOOR).unwrap();
    }
    let message = snapshot.push(EntityId(42), &PLAYER).unwrap_err().to_string();
    assert!(message.contains("entity 42"), "{message}");
}

#[test]
fn a_type_of_another_schema_with_as_many_lanes_is_not_read() {
    let mut snapshot = Snapshot::new(&Schema::of::<Door>(), Tick(1));
    snapshot.push(EntityId(7), &DOOR).unwrap();
    let refusal = mismatch::<Door, Player>(Some(7));
    assert_eq!(snapshot.get_at_index::<Player>(0), Err(refusal.clone()));
    let at = Between { ratio: 0.5, seconds: 0.1 };
    assert_eq!(snapshot.interpolate_at_index::<Player>(0, &snapshot, 0, at), Err(refusal));
    assert_eq!(snapshot.get_at_index::<Door>(0), Ok(DOOR));
    assert_eq!(snapshot.interpolate_at_index::<Door>(0, &snapshot, 0, at), Ok(DOOR));
}

#[test]
fn entities_are_read_by_id_index_or_iterator() {
    let mut snapshot = Snapshot::new(&Schema::of::<Door>(), Tick(1));
    for id in [3, 7, 900] {
        snapshot.push(EntityId(id), &DOOR).unwrap();
    }
    let view = View::from(snapshot.clone());
    assert_eq!(snapshot.get(EntityId(7)), Ok(Some(DOOR)));
    assert_eq!(view.get(EntityId(900)), Ok(Some(DOOR)));
    assert_eq!(view.get::<Door>(EntityId(4)), Ok(None));
    assert_eq!(snapshot.get_at_index(2), Ok(DOOR));
    let all: Vec<(EntityId, Door)> = view.iter().unwrap().collect();
    assert_eq!(all, [3, 7, 900].map(|id| (EntityId(id), DOOR)));
    assert_eq!(view.iter::<Door>().unwrap().len(), 3);

    // Another type is refused even if there is no entity with that id.
    let refused = |id| Err(mismatch::<Door, Player>(Some(id)));
    assert_eq!(view.get::<Player>(EntityId(7)), refused(7));
    assert_eq!(view.get::<Player>(EntityId(4)), refused(4));
    assert_eq!(view.iter::<Player>().err(), Some(mismatch::<Door, Player>(Some(3))));
}

#[test]
fn an_index_out_of_range_is_an_error() {
    let mut snapshot = Snapshot::new(&Schema::of::<Door>(), Tick(1));
    let at = Between { ratio: 0.5, seconds: 0.1 };
    for entities in 0..3 {
        for index in [entities, entities + 1, usize::MAX] {
            let error = Err(EncodeError::IndexOutOfRange { index, entities });
            assert_eq!(snapshot.get_at_index::<Door>(index), error);
            assert_eq!(snapshot.interpolate_at_index::<Door>(index, &snapshot, 0, at), error);
            if entities > 0 {
                assert_eq!(snapshot.interpolate_at_index::<Door>(0, &snapshot, index, at), error);
            }
        }
        let mut copy = Snapshot::new_like(&snapshot);
        let error = Err(EncodeError::IndexOutOfRange { index: entities, entities });
        assert_eq!(copy.push_row(&snapshot, entities), error);
        assert!(copy.is_empty());
        snapshot.push(EntityId(entities as u32), &DOOR).unwrap();
    }
}

#[test]
fn an_entity_that_one_snapshot_lacks_is_not_interpolated() {
    let schema = Schema::of::<Door>();
    let (mut from, mut to) = (Snapshot::new(&schema, Tick(1)), Snapshot::new(&schema, Tick(7)));
    from.push(EntityId(3), &DOOR).unwrap();
    from.push(EntityId(5), &DOOR).unwrap();
    to.push(EntityId(5), &DOOR).unwrap();
    let at = Between { ratio: 0.5, seconds: 0.1 };
    assert_eq!(from.interpolate(EntityId(5), &to, at), Ok(Some(DOOR)));
    assert_eq!(from.interpolate::<Door>(EntityId(3), &to, at), Ok(None));
    assert_eq!(to.interpolate::<Door>(EntityId(3), &from, at), Ok(None));
    let refused = Err(mismatch::<Door, Player>(Some(5)));
    assert_eq!(from.interpolate::<Player>(EntityId(5), &to, at), refused);
}

/// Only the schema matters, not the type or the way in which the schema was made.
#[test]
fn types_of_one_schema_are_interchangeable() {
    let of_fields = Schema::new(Schema::of::<Gate>().fields().to_vec());
    for schema in [Schema::of::<Gate>(), of_fields] {
        let mut snapshot = Snapshot::new(&schema, Tick(1));
        for id in [1, 2] {
            snapshot.push(EntityId(id), &DOOR).unwrap();
            assert_eq!(snapshot.get_at_index::<Gate>(0).unwrap().open, 0.5);
        }
        assert_eq!(snapshot.push(EntityId(3), &PLAYER), Err(mismatch::<Door, Player>(Some(3))));
        let like = Snapshot::new_like(&snapshot);
        for mut other in [like, snapshot.clone()] {
            assert_eq!(other.push(EntityId(3), &PLAYER), Err(mismatch::<Door, Player>(Some(3))));
            other.push(EntityId(3), &DOOR).unwrap();
        }
    }
}

/// Packs a number in `LAST` steps, and makes its field anew on each request.
struct UpTo<const LAST: u32>;

impl<const LAST: u32> PackWith<f32> for UpTo<LAST> {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let limits = FloatLimits::new(0.0, f64::from(LAST), 1.0).unwrap();
        fields.push(Field::new(path, FieldKind::Floats(vec![limits])));
    }

    fn quantize(value: &f32, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = *value as u32;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> f32 {
        lanes[0] as f32
    }
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Few {
    #[pack(with = UpTo<5>)]
    count: f32,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Many {
    #[pack(with = UpTo<500>)]
    count: f32,
}

#[test]
fn types_that_differ_only_in_a_with_parameter_are_distinguished() {
    let mut snapshot = Snapshot::new(&Schema::of::<Few>(), Tick(1));
    assert_eq!(
        snapshot.push(EntityId(1), &Many { count: 3.0 }),
        Err(mismatch::<Few, Many>(Some(1)))
    );
    snapshot.push(EntityId(1), &Few { count: 3.0 }).unwrap();
    assert_eq!(snapshot.get_at_index::<Many>(0), Err(mismatch::<Few, Many>(Some(1))));
}

/// [`UpTo`] does not check its value, so a lane may exceed the maximum of its field.
#[test]
fn lanes_above_their_largest_value_are_not_pushed() {
    let mut snapshot = Snapshot::new(&Schema::of::<Few>(), Tick(1));
    snapshot.push(EntityId(1), &Few { count: 5.0 }).unwrap();
    let refusal = EncodeError::LaneOutOfRange { id: Some(2), lane: 0, value: 6 };
    assert_eq!(snapshot.push(EntityId(2), &Few { count: 6.0 }), Err(refusal.clone()));
    assert_eq!(snapshot.push_lanes(EntityId(2), &[6]), Err(refusal.clone()));
    assert_eq!(
        refusal.to_string(),
        "entity 2, lane 0: 6 is above its maximum, which is 0 if its field is absent"
    );
    assert_eq!(snapshot.ids(), [EntityId(1)]);
    snapshot.push_lanes(EntityId(2), &[5]).unwrap();
    assert_eq!(snapshot.lane(0), [5, 5]);
}

#[test]
fn a_stream_takes_and_gives_only_values_of_its_own_schema() {
    for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
        let codec = StreamCodec::of::<Door>(level).unwrap();
        let mut record = [0; Door::LANES];
        assert_eq!(codec.quantize(&PLAYER, &mut record), Err(mismatch::<Door, Player>(None)));
        codec.quantize(&DOOR, &mut record).unwrap();
        assert_eq!(codec.reconstruct::<Door>(&record), Ok(DOOR));
        let [expected_hash, hash] = [Schema::of::<Door>().hash(), Schema::of::<Player>().hash()];
        assert_eq!(
            codec.reconstruct::<Player>(&record),
            Err(DecodeError::TypeMismatch { expected_hash, hash })
        );
        let refusal = Err(DecodeError::LaneOutOfRange { lane: 1, value: 2 });
        assert_eq!(codec.reconstruct::<Door>(&[record[0], 2]), refusal);
        let count = |lanes| Err(EncodeError::LaneCount { expected_lanes: 2, lanes });
        assert_eq!(codec.quantize(&DOOR, &mut [0; 3]), count(3));
        let count = |lanes| Err(DecodeError::LaneCount { expected_lanes: 2, lanes });
        assert_eq!(codec.reconstruct::<Door>(&[0]), count(1));
    }
    let few = StreamCodec::of::<Few>(StreamLevel::Packed).unwrap();
    let refusal = Err(EncodeError::LaneOutOfRange { id: None, lane: 0, value: 6 });
    assert_eq!(few.quantize(&Few { count: 6.0 }, &mut [0]), refusal);
}

#[test]
fn a_base_with_lanes_above_their_largest_value_is_refused() {
    for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
        let codec = StreamCodec::of::<Door>(level).unwrap();
        let learned = codec.nothing_learned();
        let [good, bad] = [[3, 1], [3, 2]];
        let base = |lanes| Some(StreamBase { lanes, learned: &learned, lag: 1 });
        let (mut after, mut packet) = (codec.nothing_learned(), Vec::new());
        let refusal = Err(EncodeError::LaneOutOfRange { id: None, lane: 1, value: 2 });
        assert_eq!(codec.encode(base(&bad), &good, &mut after, &mut packet), refusal);
        assert!(packet.is_empty());
        codec.encode(base(&good), &good, &mut after, &mut packet).unwrap();
        let refusal = Err(DecodeError::LaneOutOfRange { lane: 1, value: 2 });
        assert_eq!(codec.decode(base(&bad), &mut [0; 2], &mut after, &packet), refusal);
    }
}

static ASKED: AtomicUsize = AtomicUsize::new(0);

/// A type that counts the requests for its fields.
struct Counted(u8);

impl Pack for Counted {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        ASKED.fetch_add(1, Ordering::Relaxed);
        u8::fields(path, fields);
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.0.quantize(lanes)
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self(u8::reconstruct(lanes))
    }
}

#[test]
fn a_push_does_not_rebuild_the_types_schema() {
    let of_fields = Schema::new(Schema::of::<Counted>().fields().to_vec());
    for schema in [Schema::of::<Counted>(), of_fields] {
        let mut snapshot = Snapshot::new(&schema, Tick(0));
        let before = ASKED.load(Ordering::Relaxed);
        for id in 0..1000 {
            snapshot.push(EntityId(id), &Counted(id as u8)).unwrap();
            assert_eq!(snapshot.get_at_index::<Counted>(id as usize).unwrap().0, id as u8);
        }
        // The compiler may make more than one copy of `fields`.
        assert!(ASKED.load(Ordering::Relaxed) - before <= 3);
    }
}
