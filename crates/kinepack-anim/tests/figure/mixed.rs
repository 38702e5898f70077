//! Tests figures in kinds that have other fields too.

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Condition, Field, FieldKind};
use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{Figure, FigureCurve, FigureOptions, FigurePart, FigurePose};
use kinepack_anim::{PoseWriter, Skeleton, Transform};

use super::{about, chain, with_motions};

/// The lanes of the fields before the figure's, and after them.
const BEFORE: [u32; 2] = [1, 77];
const AFTER: [u32; 1] = [1];

fn options() -> FigureOptions {
    let jaw = FigureCurve { name: "jaw".into(), min: 0.0, max: 1.0, precision: 0.01 };
    let hand = FigurePart { name: "hand".into(), joints: vec![2, 3], curves: vec![] };
    FigureOptions { curves: vec![jaw], parts: vec![hand], ..FigureOptions::default() }
}

fn mixed(figure: &Figure) -> Vec<Field> {
    let health = FieldKind::Integer(IntegerLimits::new(0, 100, 1).unwrap());
    let mut fields = vec![
        Field::new("is_armed", FieldKind::Bool),
        Field::new("health", health).with_condition(Condition::new("is_armed", 1..=1)),
    ];
    fields.extend(figure.fields());
    fields.push(Field::new("is_seen", FieldKind::Bool));
    fields
}

/// Three kinds: a flag, a body among other fields, and a body alone.
fn schema(figure: &Figure) -> Schema {
    Schema::builder()
        .kind_of_fields("door", vec![Field::new("is_open", FieldKind::Bool)])
        .kind_of_fields("player", mixed(figure))
        .kind_of_fields("statue", figure.fields())
        .build()
        .unwrap()
}

/// What a pose writer got.
#[derive(Debug, Default, PartialEq)]
struct Written(Vec<(usize, Vec<f32>)>);

impl PoseWriter for Written {
    fn rotation(&mut self, joint: usize, value: [f32; 4]) {
        self.0.push((joint, value.to_vec()));
    }
    fn translation(&mut self, joint: usize, value: [f32; 3]) {
        self.0.push((joint, value.to_vec()));
    }
    fn scale(&mut self, joint: usize, value: [f32; 3]) {
        self.0.push((joint, value.to_vec()));
    }
    fn curve(&mut self, curve: usize, value: f32) {
        self.0.push((curve, vec![value]));
    }
}

/// A world with the same body as a player and as a statue.
fn world(figure: &mut Figure, schema: &Schema, pose: &FigurePose<'_>) -> Snapshot {
    let mut lanes = vec![0; figure.lane_count()];
    figure.quantize(pose, &mut lanes).unwrap();
    let mut world = Snapshot::new(schema, Tick(1));
    let all = [&BEFORE[..], &lanes, &AFTER].concat();
    world.push_lanes_of(1, EntityId(3), &all).unwrap();
    world.push_lanes_of(2, EntityId(4), &lanes).unwrap();
    world
}

fn turned(skeleton: &Skeleton, angle_rad: f32) -> Vec<Transform> {
    let mut pose = skeleton.bind_pose();
    pose[0].translation = [70.0 * angle_rad, 0.0, 3.0];
    pose[3].rotation = about([0.0, 1.0, 1.0], angle_rad);
    pose
}

#[test]
fn a_body_among_other_fields_reads_like_a_body_alone() {
    let skeleton = chain(4, 20.0);
    let mut alone = Figure::new(&skeleton, &options()).unwrap();
    let schema = schema(&alone);
    // Also a schema from a file, which has no types.
    let stored = Schema::from_bytes(&schema.to_bytes()).unwrap();
    assert_eq!(alone.find(&stored, 1), Some(BEFORE.len()));
    assert_eq!(alone.find(&schema, 1), Some(BEFORE.len()));
    assert_eq!(alone.find(&schema, 2), Some(0));
    let mut among = alone.clone();
    among.set_first_lane(BEFORE.len());

    let states = [(0.25, &[][..]), (1.0, &[][..]), (0.5, &[0][..])].map(|(angle_rad, absent)| {
        let joints = turned(&skeleton, angle_rad);
        let curves = &[angle_rad];
        let pose = FigurePose { curves, absent, ..FigurePose::new(&joints) };
        world(&mut alone, &schema, &pose)
    });
    for (nth, state) in states.iter().enumerate() {
        assert_eq!(among.is_present((state, 0), 0), nth < 2);
        let [mut one, mut other] = [Written::default(), Written::default()];
        among.write((state, 0), &mut one);
        alone.write((state, 1), &mut other);
        assert_eq!(one, other);
        assert_eq!(one.0.len(), if nth < 2 { 4 * 3 + 1 } else { 2 * 3 + 1 });
        for (to, ratio) in states.iter().flat_map(|to| [0.0, 0.3, 1.0].map(|ratio| (to, ratio))) {
            let at = Between { ratio, seconds: 0.1 };
            let [mut one, mut other] = [Written::default(), Written::default()];
            among.interpolate((state, 0), (to, 0), at, &mut one);
            alone.interpolate((state, 1), (to, 1), at, &mut other);
            assert_eq!(one, other);
        }
    }
}

#[test]
fn only_the_same_fields_in_the_same_order_are_found() {
    let skeleton = chain(4, 20.0);
    let figure = Figure::new(&skeleton, &options()).unwrap();
    let schema = schema(&figure);
    assert_eq!(figure.find(&schema, 0), None);
    assert_eq!(figure.find(&schema, 3), None);
    let finer = FigureOptions { precision_cm: 0.4, ..options() };
    let finer = Figure::new(&skeleton, &finer).unwrap();
    let longer = Figure::new(&chain(4, 21.0), &options()).unwrap();
    let plain = Figure::new(&skeleton, &with_motions(0.5, Vec::new())).unwrap();
    for other in [finer, longer, plain] {
        assert_eq!((other.find(&schema, 1), other.find(&schema, 2)), (None, None));
    }
    let found = |fields| figure.find(&Schema::new(fields), 0);
    let fields = mixed(&figure);
    assert_eq!(found(fields.clone()), Some(BEFORE.len()));
    // The last of the figure's fields is missing, is in another place, or has a condition.
    let last = fields.len() - 2;
    let mut cut = fields[..last].to_vec();
    assert_eq!(found(cut.clone()), None);
    cut.extend([fields[last + 1].clone(), fields[last].clone()]);
    assert_eq!(found(cut), None);
    let mut optional = fields;
    let curve = optional.remove(last);
    optional.insert(last, curve.with_condition(Condition::new("is_armed", 1..=1)));
    assert_eq!(found(optional), None);
}

#[test]
#[should_panic(expected = "an entity of another kind")]
fn an_entity_with_too_few_lanes_is_another_kind() {
    let skeleton = chain(4, 20.0);
    let mut figure = Figure::new(&skeleton, &options()).unwrap();
    let joints = skeleton.bind_pose();
    let schema = schema(&figure);
    let state =
        world(&mut figure, &schema, &FigurePose { curves: &[0.5], ..FigurePose::new(&joints) });
    figure.set_first_lane(BEFORE.len());
    figure.write((&state, 1), &mut Written::default());
}
