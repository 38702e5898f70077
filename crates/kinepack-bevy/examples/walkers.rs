//! A hundred characters walk, run and limp for a second, without a window. The example compresses
//! clips, and writes them to a folder. Then it loads and plays the clips as a game does.
//!
//! `cargo run -p kinepack-bevy --features clips --example walkers`
//!
//! In a game, `kinepack anim build` writes the files, and Bevy's glTF loader spawns the joints.

mod figure;
#[path = "../../kinepack-anim/examples/walks/mod.rs"]
mod walks;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bevy_app::{App, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, AssetServer, Handle, LoadState};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::TransformPlugin;
use bevy_transform::components::{GlobalTransform, Transform};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Skeleton, disk};
use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer, ClipsPlugin};

const CHARACTERS: usize = 100;
const FRAMES: u32 = 60;

/// Writes the clips of a figure into a folder, as `kinepack anim build` does. Returns the names of
/// the clips.
fn write_clips(folder: &Path) -> Result<(Vec<String>, Skeleton), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let raw = walks::clips(1)?;
    let skeleton = Skeleton::clone(raw[0].skeleton());
    let file = format!("figure-{:016x}.kps", skeleton.hash());
    fs::write(folder.join(file), skeleton.to_bytes())?;
    let mut names = Vec::new();
    let mut bytes = 0;
    for raw in &raw {
        let built = build(raw, &BuildOptions::default())?.clip;
        // In files, block clips are even smaller.
        let (file, end) = match built.as_block() {
            Some(clip) => (disk::pack(clip)?, "kpd"),
            None => (built.as_bytes().to_vec(), "kpa"),
        };
        bytes += file.len();
        names.push(format!("figure__{}.{end}", raw.name()));
        fs::write(folder.join(&names[names.len() - 1]), file)?;
    }
    println!("{} clips of {} joints: {bytes} bytes on disk", names.len(), skeleton.len());
    Ok((names, skeleton))
}

/// An app without a window. A game adds `DefaultPlugins` and `ClipsPlugin`.
fn app(folder: &Path) -> App {
    let mut app = App::new();
    let file_path = folder.to_string_lossy().into_owned();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, TransformPlugin))
        .add_plugins((AssetPlugin { file_path, ..AssetPlugin::default() }, ClipsPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1) / FRAMES));
    app.finish();
    app.cleanup();
    app
}

/// Waits until all clips are loaded.
fn load(app: &mut App, names: Vec<String>) -> Result<Vec<Handle<ClipAsset>>, Box<dyn Error>> {
    let server = app.world().resource::<AssetServer>().clone();
    let clips: Vec<Handle<ClipAsset>> = names.into_iter().map(|name| server.load(name)).collect();
    for clip in &clips {
        loop {
            app.update();
            match server.load_state(clip) {
                LoadState::Loaded => break,
                LoadState::Failed(error) => return Err(error.into()),
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
    Ok(clips)
}

fn play(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (names, skeleton) = write_clips(folder)?;
    let mut app = app(folder);
    let clips = load(&mut app, names)?;
    let mut random = walks::Random(1);
    for index in 0..CHARACTERS {
        let clip = clips[index % clips.len()].clone();
        let layer = ClipLayer::new(clip).starting_at(random.between(0.0, 10.0));
        let bundle = (ClipPlayer::new(layer), Transform::from_xyz(index as f32, 0.0, 0.0));
        let root = app.world_mut().spawn(bundle).id();
        figure::spawn_joints(app.world_mut(), root, &skeleton);
    }
    for frame in 0..FRAMES {
        if frame == FRAMES / 2 {
            // All characters begin to limp within 0.2 s.
            let mut players = app.world_mut().query::<&mut ClipPlayer>();
            for mut player in players.iter_mut(app.world_mut()) {
                let limp = ClipLayer::new(clips[4].clone());
                player.crossfade(limp.starting_at(random.between(0.0, 5.0)), 0.2);
            }
        }
        app.update();
    }
    let mut heads = app.world_mut().query::<(&Name, &GlobalTransform)>();
    let heights_m = heads
        .iter(app.world())
        .filter(|(name, _)| name.as_str() == "head")
        .map(|(_, transform)| transform.translation().y);
    let (lowest_m, highest_m) =
        heights_m.fold((f32::MAX, 0.0_f32), |(low, high), y| (low.min(y), high.max(y)));
    println!(
        "{CHARACTERS} characters, {FRAMES} frames: heads at {lowest_m:.2} to {highest_m:.2} m"
    );
    assert!(lowest_m > 1.3 && highest_m < 1.8, "the characters stand");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("kinepack-walkers-{}", std::process::id()));
    let result = play(&folder);
    fs::remove_dir_all(&folder)?;
    result
}
