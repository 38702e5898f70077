//! Writes and reads a clip database, which stores clips of one skeleton in one file. The file is
//! mapped into memory. Opening the database reads only its index. A clip is read and checked when
//! the game requests it.
//!
//! `cargo run -p kinepack-anim --example database`

mod walks;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use kinepack_anim::database::{ClipDatabase, DatabaseWriter};
use kinepack_anim::offline::{BlockOptions, BuildOptions, RigTrainer, Scheme, build};
use kinepack_anim::{Sampler, disk};
use memmap2::Mmap;

/// Builds clips into a database, as `kinepack anim build --database moves.kpb --rig` does.
fn write(path: &Path) -> Result<(), Box<dyn Error>> {
    let raw = walks::clips(3)?;
    // A rig stores the parameters of the tracks once for all clips.
    let mut trainer = RigTrainer::new(raw[0].skeleton());
    raw.iter().try_for_each(|raw| trainer.add(raw, &BuildOptions::default()))?;
    let rig = Arc::new(trainer.finish());
    let block = BlockOptions { rig: Some(Arc::clone(&rig)), ..BlockOptions::default() };
    let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };

    let mut writer = DatabaseWriter::with_rig(raw[0].skeleton(), &rig)?;
    for (index, raw) in raw.iter().enumerate() {
        let built = build(raw, &options)?.clip;
        let clip = built.as_block().ok_or("the options ask for block clips")?;
        // Disk files are smaller, but are unpacked each time the clip is read.
        let is_rare = raw.duration_s() > 4.0;
        let file = if is_rare { disk::pack(clip)? } else { clip.as_bytes().to_vec() };
        writer.add(format!("{}_{index}", raw.name()), file)?;
    }
    Ok(fs::write(path, writer.to_bytes())?)
}

/// Opens the database, and plays a clip, as a game does.
fn play(path: &Path) -> Result<(), Box<dyn Error>> {
    // SAFETY: no program changes the file while it is mapped.
    #[allow(unsafe_code)]
    let map = unsafe { Mmap::map(&File::open(path)?) }?;
    println!("{} bytes", map.len());
    let moves = ClipDatabase::from_bytes(map)?;
    for index in moves.starting_with("walk_") {
        let entry = moves.entry(index);
        println!("{}: {:.1} s, {} bytes", entry.name, entry.duration_s(), entry.bytes);
    }
    // The clip shares the map's bytes. The sampler keeps the database in memory.
    let walk = moves.clip_named("walk_2")?;
    let sampler = Sampler::new(walk, moves.skeleton())?;
    let mut pose = moves.skeleton().bind_pose();
    sampler.sample(1.0, &mut pose);
    let hips_cm = pose[0].translation[2];
    println!("after a second of walking, the hips are at {hips_cm:.0} cm");
    assert!(moves.len() == 18 && hips_cm > 90.0);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("moves.kpb");
    write(&path)?;
    play(&path)
}
