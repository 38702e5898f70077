//! Tests of files of the asset server: every form of a clip, and every way in which files can be
//! wrong.

use std::path::Path;
use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_asset::io::memory::Dir;
use bevy_asset::{Asset, AssetServer, Assets, Handle, LoadState};
use kinepack_anim::offline::{BlockOptions, BuildOptions, RigTrainer, Scheme, build};
use kinepack_anim::{RawClip, disk};
use kinepack_bevy::clips::{ClipAsset, ClipPlayer, ClipSettings, SkeletonAsset};

use super::support::*;

fn dir() -> Dir {
    Dir::new(Path::new("").into())
}

fn put(dir: &Dir, path: &str, bytes: impl Into<Vec<u8>>) {
    dir.insert_asset(Path::new(path), bytes.into());
}

/// Updates the app until the asset is loaded, or returns the error.
fn wait<A: Asset>(app: &mut App, handle: &Handle<A>) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        app.update();
        match app.world().resource::<AssetServer>().load_state(handle) {
            LoadState::Loaded => return Ok(()),
            LoadState::Failed(error) => return Err(error.to_string()),
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "the asset never loads"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn load<A: Asset>(app: &mut App, path: &str) -> Result<Handle<A>, String> {
    let handle = app.world().resource::<AssetServer>().load(path.to_owned());
    wait(app, &handle).map(|()| handle)
}

fn load_with(app: &mut App, settings: ClipSettings) -> Result<Handle<ClipAsset>, String> {
    let set = move |own: &mut ClipSettings| *own = settings.clone();
    let server = app.world().resource::<AssetServer>();
    let handle = server.load_builder().with_settings(set).load("clips/walk.kpa");
    wait(app, &handle).map(|()| handle)
}

fn asset<'a>(app: &'a App, handle: &Handle<ClipAsset>) -> &'a ClipAsset {
    app.world().resource::<Assets<ClipAsset>>().get(handle).unwrap()
}

fn with_rig(raw: &RawClip) -> (Vec<u8>, Vec<u8>, u64) {
    let mut trainer = RigTrainer::new(raw.skeleton());
    trainer.add(raw, &BuildOptions::default()).unwrap();
    let rig = std::sync::Arc::new(trainer.finish());
    let block = BlockOptions { rig: Some(rig.clone()), ..BlockOptions::default() };
    let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };
    let clip = build(raw, &options).unwrap().clip;
    (clip.as_bytes().to_vec(), rig.to_bytes(), rig.hash())
}

#[test]
fn clips_find_their_skeleton_by_its_hash() {
    let (dir, skeleton) = (dir(), skeleton());
    let [walk, run] = [1.0, 2.0].map(|seed| block(&raw(&skeleton, seed)));
    let hop = keyed(&raw(&skeleton, 3.0));
    put(&dir, "clips/Man__walk.kpa", walk.as_bytes());
    put(&dir, "clips/Man__run.kpd", disk::pack(run.as_block().unwrap()).unwrap());
    // The name before the hash is another one, so the loader searches the folder.
    put(&dir, "clips/Other__hop.kpa", hop.as_bytes());
    put(&dir, &format!("clips/Man-{:016x}.kps", skeleton.hash()), skeleton.to_bytes());
    let mut app = app_with(&dir);
    let paths = ["clips/Man__walk.kpa", "clips/Man__run.kpd", "clips/Other__hop.kpa"];
    let handles = paths.map(|path| load::<ClipAsset>(&mut app, path).unwrap());
    for (handle, clip) in handles.iter().zip([&walk, &run, &hop]) {
        assert_eq!(asset(&app, handle).clip().as_bytes(), clip.as_bytes());
        assert_eq!(**asset(&app, handle).skeleton(), *skeleton);
    }
    // The clips share the memory of one skeleton.
    let skeletons = handles.each_ref().map(|handle| asset(&app, handle).skeleton().clone());
    assert!(std::sync::Arc::ptr_eq(&skeletons[0], &skeletons[1]));
    let handle = handles[1].clone();
    let (root, joints) = spawn(&mut app, ClipPlayer::new(handle));
    update(&mut app, 3);
    let time_s = current(&app, root).time_s;
    assert_eq!(transforms(&app, joints), expected(&run, &skeleton, time_s));
}

#[test]
fn the_folder_is_searched_for_the_first_clip_too() {
    let (dir, skeleton) = (dir(), skeleton());
    put(&dir, "hop.kpa", keyed(&raw(&skeleton, 3.0)).as_bytes());
    put(&dir, &format!("any-{:016x}.kps", skeleton.hash()), skeleton.to_bytes());
    load::<ClipAsset>(&mut app_with(&dir), "hop.kpa").unwrap();
}

#[test]
fn clips_of_a_rig() {
    let (dir, skeleton) = (dir(), skeleton());
    let (clip, rig, hash) = with_rig(&raw(&skeleton, 1.0));
    put(&dir, "clips/walk.kpa", clip.clone());
    put(&dir, "man.kps", skeleton.to_bytes());
    let mut app = app_with(&dir);
    let settings = |rig: Option<&str>| ClipSettings {
        skeleton: Some("../man.kps".into()),
        rig: rig.map(Into::into),
    };
    let error = load_with(&mut app, settings(None)).unwrap_err();
    let file = format!("{hash:016x}.kpr is in the folder 'clips'");
    assert!(error.contains("clips/walk.kpa") && error.contains(&file), "{error}");
    assert!(error.contains("ClipSettings::rig"), "{error}");

    put(&dir, "clips/rig.kpr", rig.clone());
    let handle = load_with(&mut app, settings(Some("rig.kpr"))).unwrap();
    assert_eq!(asset(&app, &handle).clip().as_bytes(), clip);
    drop(handle);

    // The clip fails to load with another rig, an empty rig, and without a file.
    let (_, other, _) = with_rig(&raw(&skeleton, 2.0));
    put(&dir, "clips/other.kpr", other);
    put(&dir, "clips/empty.kpr", Vec::new());
    for (path, part) in [
        ("other.kpr", "another one"),
        ("empty.kpr", "clips/empty.kpr"),
        ("gone.kpr", "clips/gone.kpr"),
        ("../man.kps", "Skeleton::from_bytes"),
        ("a#b#c://", "ClipSettings"),
    ] {
        let mut app = app_with(&dir);
        let error = load_with(&mut app, settings(Some(path))).unwrap_err();
        assert!(error.contains(part), "{path}: {error}");
    }
    put(&dir, &format!("clips/x-{hash:016x}.kpr"), rig);
    load_with(&mut app_with(&dir), settings(None)).unwrap();
}

#[test]
fn skeletons_are_assets() {
    let (dir, skeleton) = (dir(), skeleton());
    put(&dir, "man.kps", skeleton.to_bytes());
    put(&dir, "bad.kps", &skeleton.to_bytes()[..40]);
    put(&dir, "clip.kps", block(&raw(&skeleton, 1.0)).as_bytes());
    let mut app = app_with(&dir);
    let handle = load::<SkeletonAsset>(&mut app, "man.kps").unwrap();
    let assets = app.world().resource::<Assets<SkeletonAsset>>();
    assert_eq!(*assets.get(&handle).unwrap().0, *skeleton);
    for (path, part) in [("bad.kps", "truncated"), ("clip.kps", "a block clip")] {
        let error = load::<SkeletonAsset>(&mut app, path).unwrap_err();
        assert!(error.contains(part) && error.contains(path), "{error}");
    }
}

#[test]
fn wrong_skeletons() {
    let (dir, skeleton) = (dir(), skeleton());
    put(&dir, "clips/walk.kpa", block(&raw(&skeleton, 1.0)).as_bytes());
    put(&dir, "clips/none.kps", b"KPSK".to_vec());
    let less = kinepack_anim::Skeleton::new(skeleton.joints()[..3].to_vec()).unwrap();
    put(&dir, "clips/less.kps", less.to_bytes());
    let mut app = app_with(&dir);
    for (path, part) in [
        (None, "no file *"),
        (Some("none.kps"), "clips/none.kps"),
        (Some("less.kps"), "6 in the clip and 3 in the skeleton"),
        (Some("gone.kps"), "clips/gone.kps"),
    ] {
        let settings = ClipSettings { skeleton: path.map(Into::into), ..ClipSettings::default() };
        let error = load_with(&mut app, settings).unwrap_err();
        assert!(error.contains(part), "{path:?}: {error}");
    }
}

#[test]
fn damaged_clips_never_panic() {
    let skeleton = skeleton();
    let (of_rig, rig, rig_hash) = with_rig(&raw(&skeleton, 1.0));
    let clip = block(&raw(&skeleton, 1.0));
    let packed = disk::pack(clip.as_block().unwrap()).unwrap();
    let files =
        [clip.as_bytes().to_vec(), keyed(&raw(&skeleton, 1.0)).as_bytes().to_vec(), packed, of_rig];
    for file in files {
        let dir = dir();
        put(&dir, &format!("walk-{:016x}.kps", skeleton.hash()), skeleton.to_bytes());
        put(&dir, &format!("walk-{rig_hash:016x}.kpr"), rig.clone());
        let mut app = app_with(&dir);
        let step = file.len() / 10;
        // Each file has its own path, so that no file is already known.
        for length in (0..file.len()).step_by(step) {
            let mut flipped = file.clone();
            flipped[length] ^= 0x41;
            put(&dir, &format!("walk__{length}.kpa"), &file[..length]);
            put(&dir, &format!("walk__flipped{length}.kpa"), flipped);
            assert!(load::<ClipAsset>(&mut app, &format!("walk__{length}.kpa")).is_err());
            // Some bits may be flipped without an error.
            drop(load::<ClipAsset>(&mut app, &format!("walk__flipped{length}.kpa")));
        }
        put(&dir, "walk.kpa", file);
        load::<ClipAsset>(&mut app, "walk.kpa").unwrap();
    }
}

#[test]
fn a_changed_file_is_played_from_then_on() {
    let (dir, skeleton) = (dir(), skeleton());
    let [before, after] = [1.0, 2.0].map(|seed| block(&raw(&skeleton, seed)));
    put(&dir, "walk.kpa", before.as_bytes());
    put(&dir, &format!("walk-{:016x}.kps", skeleton.hash()), skeleton.to_bytes());
    let mut app = app_with(&dir);
    let handle = load::<ClipAsset>(&mut app, "walk.kpa").unwrap();
    let (root, joints) = spawn(&mut app, ClipPlayer::new(handle.clone()));
    update(&mut app, 3);
    let check = |app: &App, clip| {
        let time_s = current(app, root).time_s;
        assert_eq!(transforms(app, joints), expected(clip, &skeleton, time_s));
    };
    check(&app, &before);
    // A damaged file changes nothing.
    put(&dir, "walk.kpa", &before.as_bytes()[..50]);
    app.world().resource::<AssetServer>().reload("walk.kpa");
    for _ in 0..50 {
        app.update();
        std::thread::sleep(Duration::from_millis(1));
    }
    check(&app, &before);
    put(&dir, "walk.kpa", after.as_bytes());
    app.world().resource::<AssetServer>().reload("walk.kpa");
    let begun = Instant::now();
    while asset(&app, &handle).clip().as_bytes() != after.as_bytes() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the file is never read again");
        app.update();
    }
    app.update();
    check(&app, &after);
}
