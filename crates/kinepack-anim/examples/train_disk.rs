//! Trains the initial model of disk files on block clips. Prints the number of bytes that the clips
//! take with this model.
//!
//! `cargo run --release -p kinepack-anim --example train_disk -- START.bin CLIP.kpa...`

use std::error::Error;

use kinepack_anim::{Clip, disk::train};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let out = paths.next().ok_or("give a file to write, and clips (.kpa)")?;
    let mut clips = Vec::new();
    for path in paths {
        clips.push(Clip::from_bytes(std::fs::read(&path)?)?);
    }
    let start = train::train(&clips);
    let memory: usize = clips.iter().map(|clip| clip.as_bytes().len()).sum();
    let disk: f64 = clips.iter().map(|clip| train::bits(clip, &start) / 8.0).sum();
    println!("{} clips: {memory} bytes in memory, {disk:.0} on disk", clips.len());
    std::fs::write(out, start)?;
    Ok(())
}
