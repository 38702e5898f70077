//! Measures the bits that bodies take which play clips, beside their live poses or instead of them.
//! 64 bodies of 43 joints are in a snapshot, 30 times per second, and a packet is coded against the
//! state 100 ms before it.
//!
//! `cargo run --release -p kinepack-anim --example clip_bits`

mod walks;

use std::collections::VecDeque;
use std::error::Error;

use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_anim::RawClip;
use kinepack_anim::figure::{
    ClipPlay, Figure, FigureClips, FigureError, FigureOptions, FigurePart, FigurePose,
};

const BODIES: u32 = 64;
/// The first tick, an hour after the start of a game.
const FIRST: u32 = 30 * 3600;
const TICKS: u32 = 120;
/// The number of ticks after which a state is a baseline.
const DELAY_TICKS: usize = 3;
/// The number of ticks before the first change, which do not count.
const WARM_UP: u32 = 20;
/// The parts of the figure: the legs. The other figure has one part, the whole body.
const PART: &[usize] = &[0];

/// What a body does at a tick: whether its pose moves, its absent parts, and the clip in each slot.
struct State {
    is_live: bool,
    absent: &'static [usize],
    clips: [Option<ClipPlay>; 2],
}

type Scene = fn(u32, Tick) -> Result<State, FigureError>;

/// A row of the table: what happens, the part of its figure, and the scene.
const ROWS: [(&str, Part, Scene); 8] = [
    ("the live pose", Part::Legs, |_, _| Ok(state(true, &[]))),
    ("legs by a clip, the rest live", Part::Legs, |_, _| Ok(state(true, PART))),
    ("a body that rests", Part::Body, |_, _| Ok(State { clips: [None; 2], ..state(false, PART) })),
    ("a body that plays a clip", Part::Body, |_, _| Ok(state(false, PART))),
    ("a weight that changes in each tick", Part::Body, fading),
    ("a speed that changes in each tick", Part::Body, turning),
    (STARTS, Part::Body, |body, tick| toggled(body, tick, true)),
    (ENDS, Part::Body, |body, tick| toggled(body, tick, false)),
];

/// The rows whose numbers are for a body that changes once.
const STARTS: &str = "a clip's start, until it is acknowledged";
const ENDS: &str = "a clip's end, until it is acknowledged";

#[derive(Clone, Copy)]
enum Part {
    Legs,
    Body,
}

fn main() -> Result<(), Box<dyn Error>> {
    let raw = walks::clips(1)?;
    let live = raw.last().ok_or("no clip")?;
    println!("bits per body and packet                   packed  adaptive");
    for (name, part, scene) in ROWS {
        let is_of_changes = [STARTS, ENDS].contains(&name);
        let [packed, adaptive] = [Level::PACKED, Level::ADAPTIVE]
            .map(|level| bits(live, part, level, scene, is_of_changes));
        println!("{name:<42}{:>7.1}{:>10.1}", packed?, adaptive?);
    }
    Ok(())
}

/// A body that plays clip 1 since the beginning.
fn state(is_live: bool, absent: &'static [usize]) -> State {
    State { is_live, absent, clips: [Some(ClipPlay::start(1, Tick(FIRST))), None] }
}

fn fading(body: u32, tick: Tick) -> Result<State, FigureError> {
    let share = f64::from((tick.0 + body) % 15) / 15.0;
    let play = ClipPlay::start(1, Tick(FIRST)).with_weight(share as f32)?;
    Ok(State { clips: [Some(play), None], ..state(false, PART) })
}

/// The speed follows a wave, as that of a character who accelerates and brakes.
fn turning(body: u32, tick: Tick) -> Result<State, FigureError> {
    let mut play = ClipPlay::start(1, Tick(FIRST));
    for tick in FIRST + 1..=tick.0 {
        play = play.with_speed(Tick(tick), 1.0 + 0.5 * (f64::from(tick + body) * 0.1).sin())?;
    }
    Ok(State { clips: [Some(play), None], ..state(false, PART) })
}

/// Each body starts one of the clips, or ends it, at another tick.
fn toggled(body: u32, tick: Tick, starts: bool) -> Result<State, FigureError> {
    let changed = Tick(FIRST + WARM_UP + body * 37 % (TICKS - WARM_UP - 10));
    let play = ClipPlay::start(body as usize % 6, if starts { changed } else { Tick(FIRST) });
    let plays = (tick.0 >= changed.0) == starts;
    Ok(State { clips: [plays.then_some(play), None], ..state(false, PART) })
}

/// Returns the mean of the bits that a packet has for each body, or for each body that changes.
fn bits(
    live: &RawClip,
    part: Part,
    level: Level,
    scene: Scene,
    is_of_changes: bool,
) -> Result<f64, Box<dyn Error>> {
    let mut figure = figure(live, part)?;
    let schema = Schema::new(figure.fields());
    let codec = Codec::new(schema.clone(), level, Profile::magnitudes(&schema))?;
    let mut encoder = Encoder::new(&codec);
    let empty = View::from(Snapshot::new(&schema, Tick(0)));
    let mut views = VecDeque::from(vec![empty; DELAY_TICKS]);
    let mut bits = 0;
    for tick in (FIRST..FIRST + TICKS).map(Tick) {
        let mut world = Snapshot::new(&schema, tick);
        for body in 0..BODIES {
            let State { is_live, absent, clips } = scene(body, tick)?;
            let sample = if is_live { (tick.0 + 7 * body) as usize % live.samples() } else { 0 };
            let pose = FigurePose { absent, clips: &clips, ..FigurePose::new(live.pose(sample)) };
            figure.push(&mut world, 0, EntityId(body), &pose)?;
        }
        let view = views.pop_front().ok_or("no baseline")?;
        let mut packet = Vec::new();
        views.push_back(encoder.encode(&view, &world, &mut packet)?);
        if tick.0 >= FIRST + WARM_UP {
            // A packet without any change has one byte.
            bits += 8 * (packet.len() - usize::from(is_of_changes));
        }
    }
    let packets = if is_of_changes { DELAY_TICKS as u32 } else { TICKS - WARM_UP };
    Ok(bits as f64 / f64::from(packets * BODIES))
}

/// Makes a figure of half a centimetre. Its part is the legs, or the whole body.
fn figure(live: &RawClip, part: Part) -> Result<Figure, Box<dyn Error>> {
    let skeleton = live.skeleton();
    let is_in = |index: usize| match part {
        Part::Body => true,
        Part::Legs => ["hip", "knee", "foot", "toes"]
            .iter()
            .any(|bone| skeleton.joints()[index].name.ends_with(&format!(" {bone}"))),
    };
    let joints = (0..skeleton.len()).filter(|index| is_in(*index)).collect();
    let part = FigurePart { name: "part".into(), joints, curves: vec![] };
    let names = ["hop", "run", "walk", "stroll", "limp", "wander"].map(String::from).to_vec();
    let clips = FigureClips { slots: 2, names };
    let options = FigureOptions { parts: vec![part], clips, ..FigureOptions::default() };
    Ok(Figure::new(skeleton, &options)?)
}
