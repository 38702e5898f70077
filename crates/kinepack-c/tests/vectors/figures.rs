//! The script commands for figures: the poses of `figure.txt` become the frozen lanes, and these
//! become poses again. Each figure is also read in a kind that has other fields too.

use std::fmt::Write as _;

use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{ClipPlay, Figure, FigureOptions, FigurePose, Motion};
use kinepack_anim::{PoseAndCurves, Transform};

use super::cases::{Case, cases, figure_pose, plays};
use super::hex::hex;
use super::script::{integer, lines, packed, write_schema, write_state};

/// The bits of a number that nothing has written yet.
const UNWRITTEN: u32 = 0x1111_1111;

pub(crate) fn write(script: &mut String) {
    let mut stored = lines(vectors!("figure.txt")).filter(|words| words[0] == "lanes");
    for Case { name, skeleton, options, poses } in cases() {
        let mut figure = Figure::new(&skeleton, &options).unwrap();
        let skeleton = hex(&skeleton.to_bytes());
        writeln!(script, "figure {name} {} {skeleton}", described(&options)).unwrap();
        let alone = Kind::new(script, format!("alone_{name}"), figure.fields());
        let mixed = Kind::new(script, format!("mixed_{name}"), with_others(&figure));
        for (index, pose) in poses.iter().enumerate() {
            let words = stored.next().unwrap();
            let lanes = words[1..].iter().filter(|lane| !lane.is_empty());
            let lanes: Vec<u32> = lanes.map(|lane| lane.parse().unwrap()).collect();
            let plays = plays(index);
            let pose = figure_pose(&options, index, pose, &plays);
            let absent = list(pose.absent.iter().map(usize::to_string));
            let shown = shown(&mut figure, &alone.state(&lanes), &pose);
            let all = [&[1, 99][..], &lanes, &[1]].concat();
            for (kind, lanes, others) in [(&alone, &lanes, "-"), (&mixed, &all, "1,99,1")] {
                let (schema, hash) = (&kind.name, kind.state(lanes).state_hash());
                let (plays, numbers) = (played(pose.clips), numbers(pose.joints, pose.curves));
                let tier = pose.tier;
                writeln!(
                    script,
                    "pushes {name} {schema} {others} {tier} {plays} {absent} {numbers} {hash:016x}"
                )
                .unwrap();
                let view = kind.view(script, index, lanes);
                writeln!(script, "reads {name} {schema} {view} {absent} {shown}").unwrap();
            }
        }
    }
    assert!(stored.next().is_none());
}

/// A schema of one kind, and a codec that carries its states.
struct Kind {
    name: String,
    schema: Schema,
    codec: Codec,
}

impl Kind {
    fn new(script: &mut String, name: String, fields: Vec<Field>) -> Self {
        let schema = write_schema(script, &name, &Schema::new(fields).to_bytes());
        writeln!(script, "codec carry_{name} {name} packed -").unwrap();
        Self { name, codec: packed(&schema), schema }
    }

    fn state(&self, lanes: &[u32]) -> Snapshot {
        let mut state = Snapshot::new(&self.schema, Tick(1));
        state.push_lanes(EntityId(7), lanes).unwrap();
        state
    }

    /// Creates the view of a state, and returns its name.
    fn view(&self, script: &mut String, index: usize, lanes: &[u32]) -> String {
        let name = format!("{}_{index}", self.name);
        write_state(script, &name, &self.name, &self.codec, &self.state(lanes));
        name
    }
}

/// The fields of a figure after two others, and before a third one.
fn with_others(figure: &Figure) -> Vec<Field> {
    let mut fields = vec![Field::new("is_armed", FieldKind::Bool)];
    fields.push(integer("health", 100));
    fields.extend(figure.fields());
    fields.push(Field::new("is_seen", FieldKind::Bool));
    fields
}

/// The options as the words of a command.
fn described(options: &FigureOptions) -> String {
    let precisions = options.joint_precisions_cm.iter();
    let motions = options.motions.iter().map(|(joint, motion)| {
        let (number, [x, y, z], range_cm) = match *motion {
            Motion::Still => (0, [0.0; 3], 0.0),
            Motion::Hinge(axis) => (1, axis, 0.0),
            Motion::Turns => (2, [0.0; 3], 0.0),
            Motion::Moves { range_cm } => (3, [0.0; 3], range_cm),
        };
        format!("{joint}:{number}:{x}:{y}:{z}:{range_cm}")
    });
    let curves = options.curves.iter().map(|curve| {
        let name = hex(curve.name.as_bytes());
        format!("{name}:{}:{}:{}", curve.min, curve.max, curve.precision)
    });
    let parts = options.parts.iter().map(|part| {
        let indices = |of: &[usize]| -> String {
            of.iter().map(|index| char::from(b'0' + *index as u8)).collect()
        };
        let name = hex(part.name.as_bytes());
        format!("{name}:{}:{}", indices(&part.joints), indices(&part.curves))
    });
    [
        options.precision_cm.to_string(),
        options.shell_cm.to_string(),
        list(precisions.map(|(joint, cm)| format!("{joint}:{cm}"))),
        list(motions),
        list(curves),
        list(parts),
        options.clips.slots.to_string(),
        list(options.clips.names.iter().map(|name| hex(name.as_bytes()))),
        list(options.coarser.iter().map(f64::to_string)),
    ]
    .join(" ")
}

/// The clips in the slots, as a word.
fn played(plays: &[Option<ClipPlay>]) -> String {
    let slots = plays.iter().enumerate().filter_map(|(slot, play)| play.map(|play| (slot, play)));
    list(slots.map(|(slot, play)| {
        let (clip, since, speed) = (play.clip(), play.since().0, play.speed());
        let time_ticks = play.time_ticks(since.into());
        format!("{slot}:{clip}:{since}:{time_ticks}:{speed}:{}", play.weight())
    }))
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "-".into() } else { words.join(",") }
}

/// The values of curves and a pose, as two words.
fn numbers(joints: &[Transform], curves: &[f32]) -> String {
    let digits = |number: &f32| format!("{:08x}", number.to_bits());
    let curves: String = curves.iter().map(digits).collect();
    let joints = joints
        .iter()
        .flat_map(|joint| joint.rotation.into_iter().chain(joint.translation).chain(joint.scale));
    let joints: String = joints.map(|number| digits(&number)).collect();
    format!("{} {joints}", if curves.is_empty() { "-" } else { &curves })
}

/// The pose that the figure writes over unwritten numbers, and its curves.
fn shown(figure: &mut Figure, state: &Snapshot, of: &FigurePose<'_>) -> String {
    let unwritten = f32::from_bits(UNWRITTEN);
    let joint =
        Transform { rotation: [unwritten; 4], translation: [unwritten; 3], scale: [unwritten; 3] };
    let mut joints = vec![joint; of.joints.len()];
    let mut curves = vec![unwritten; of.curves.len()];
    figure.write((state, 0), &mut PoseAndCurves { pose: &mut joints[..], curves: &mut curves });
    numbers(&joints, &curves)
}
