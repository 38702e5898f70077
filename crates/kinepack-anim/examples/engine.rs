//! The loop of an engine. The engine loads a clip once. In each frame, it samples the clip directly
//! into its own transforms (here with `glam`, as in Bevy) and converts the pose to model space.
//! `cargo run --release -p kinepack-anim --example engine`

use std::error::Error;
use std::sync::Arc;

use glam::{Quat, Vec3};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Clip, Joint, Metres, PoseWriter, RawClip, Sampler, Skeleton, Transform};

/// A joint in the engine.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    rotation: Quat,
    translation: Vec3,
    scale: Vec3,
}

/// A character in the scene.
struct Character {
    nodes: Vec<Node>,
    time_s: f32,
}

/// Kinepack writes each channel into the engine's transforms.
struct IntoNodes<'a>(&'a mut [Node]);

impl PoseWriter for IntoNodes<'_> {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.0[joint].rotation = Quat::from_array(rotation);
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.0[joint].translation = Vec3::from_array(translation);
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.0[joint].scale = Vec3::from_array(scale);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // This part runs offline. `import::read` would read a file instead. `kinepack anim build` would
    // write a .kpa to load.
    let raw = tail()?;
    let skeleton = Arc::clone(raw.skeleton());
    let file = build(&raw, &BuildOptions { precision_cm: 0.01, ..BuildOptions::default() })?
        .clip
        .as_bytes()
        .to_vec();
    println!(
        "{} joints, {} samples: {} bytes of floats, {} of a clip",
        raw.joints(),
        raw.samples(),
        raw.raw_bytes(),
        file.len()
    );

    // This part runs when the game loads. The clip keeps the bytes of its file.
    let clip = Arc::new(Clip::from_bytes(file)?);
    // The sampler shares the clip, so an asset or a component can store it. A clip of another
    // skeleton is refused here.
    let sampler = Sampler::new(Arc::clone(&clip), &skeleton)?;

    // The following lines run in each frame.
    let mut character = Character { nodes: vec![Node::default(); skeleton.len()], time_s: 0.0 };
    let (mut pose, mut model) = (skeleton.bind_pose(), skeleton.bind_pose());
    for frame in 0..180 {
        character.time_s = (character.time_s + 1.0 / 60.0) % clip.duration_s();
        // Clips are in cm, and this engine uses metres.
        sampler.write(character.time_s, &mut Metres(&mut IntoNodes(&mut character.nodes)));
        // An engine with a scene graph needs no further step. Other engines convert the pose to
        // model space, for skinning or for hit boxes.
        if frame % 30 == 0 {
            sampler.write(character.time_s, &mut Metres(&mut pose[..]));
            skeleton.model_pose(&pose, &mut model);
            let [x, y, z] = model[skeleton.len() - 1].translation;
            println!(
                "{:.2} s: the tip is at ({x:.3}, {y:.3}, {z:.3}) m, {:.3} m from its parent",
                character.time_s,
                character.nodes[skeleton.len() - 1].translation.length()
            );
        }
    }
    Ok(())
}

/// Returns a tail of twelve joints that swings for two seconds.
fn tail() -> Result<RawClip, Box<dyn Error>> {
    const JOINTS: u16 = 12;
    let joint = |index: u16| Joint {
        name: format!("tail {index}"),
        parent: index.checked_sub(1),
        bind: Transform {
            translation: [0.0, if index == 0 { 90.0 } else { 8.0 }, 0.0],
            ..Transform::IDENTITY
        },
    };
    let skeleton = Arc::new(Skeleton::new((0..JOINTS).map(joint).collect())?);
    let samples = (0..61).flat_map(|sample| {
        let phase = std::f32::consts::TAU * sample as f32 / 60.0;
        skeleton.joints().iter().enumerate().map(move |(index, joint)| {
            let half = 0.12 * (phase - 0.4 * index as f32).sin();
            Transform { rotation: [half.sin(), 0.0, 0.0, half.cos()], ..joint.bind }
        })
    });
    Ok(RawClip::new("swing", Arc::clone(&skeleton), 30.0, samples.collect())?)
}
