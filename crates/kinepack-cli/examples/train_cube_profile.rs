//! Trains the cube's profile and prints it as the Rust source of `kinepack-capture/src/cube/profile/trained.rs`.
//!
//! `cargo run --release -p kinepack-cli --example train_cube_profile [FILE...]`: on captures, or without any on the
//! built-in world: four runs of a minute in each style but rest, seeds 1000 to 1003, which no measurement uses.

use std::collections::VecDeque;
use std::error::Error;

use cubes::{Body, Config, Script, Style, World};
use kinepack::{EntityId, Quantized, Snapshot, Tick, Trainer};
use kinepack_capture::cube::{self, Measured};
use kinepack_capture::{Challenge, Frame};

const LAG_FRAMES: usize = 6;
const WORLD_FRAMES: u32 = 60 * cubes::TICK_HZ;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = cube::schema(Quantized::Everything);
    let mut trainer = Trainer::new(schema.clone(), cube::structure())?;
    let mut recent = VecDeque::new();
    let mut add = |snapshot: Snapshot| -> Result<(), Box<dyn Error>> {
        if snapshot.tick == Tick(0) {
            recent.clear();
        }
        if recent.len() == LAG_FRAMES {
            trainer.observe(&recent[0], &snapshot)?;
            recent.pop_front();
        }
        recent.push_back(snapshot);
        Ok(())
    };
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        let mut capture = Challenge::open(file)?;
        let mut tick = 0;
        while let Some(frame) = capture.next_frame()? {
            let mut snapshot = Snapshot::new(&schema, Tick(tick));
            match frame {
                Frame::Quantized(frame) => frame.push_into(&mut snapshot)?,
                Frame::Floats(frame) => push_all(&mut snapshot, frame.states())?,
            }
            add(snapshot)?;
            tick += 1;
        }
    }
    for (style, seed) in [Style::Typical, Style::Push, Style::Pull]
        .into_iter()
        .flat_map(|style| (1000..1004).map(move |seed| (style, seed)))
    {
        if !files.is_empty() {
            break;
        }
        let mut world = World::new(&Config::default())?;
        let mut script = Script::new(style, seed);
        for tick in 0..WORLD_FRAMES {
            let mut snapshot = Snapshot::new(&schema, Tick(tick));
            let measured = |Body { position, orientation, velocity, interacting }| Measured {
                position,
                orientation,
                velocity,
                interacting,
            };
            push_all(&mut snapshot, world.bodies().map(measured))?;
            add(snapshot)?;
            let input = script.next_input(&world);
            world.step(input);
        }
    }
    let profile = trainer.finish();
    let source = if files.is_empty() { "the built-in world" } else { "captures" };
    println!(
        "//! Word lengths for cubes, trained on {source} by the example `train_cube_profile` of `kinepack-cli`.\n"
    );
    print_lengths("ENTITIES", "Of the distances between changed cubes", &profile.entities.lengths_bits);
    print_lengths("FLAGS", "Of the distances between cubes that changed a field", &profile.flags.lengths_bits);
    print_states("POSITION", "Of positions, for each class of the cube before", &profile.fields[0].lengths_bits);
    print_states("ORIENTATION", "Of orientations, for each class of the position", &profile.fields[1].lengths_bits);
    Ok(())
}

fn push_all(snapshot: &mut Snapshot, states: impl Iterator<Item = Measured>) -> Result<(), Box<dyn Error>> {
    for (object, state) in (0..).zip(states) {
        cube::push(snapshot, Quantized::Everything, EntityId(object), state)?;
    }
    Ok(())
}

fn print_lengths(name: &str, what: &str, lengths_bits: &[u8]) {
    println!("/// {what}.\npub(super) const {name}: [u8; {}] = {lengths_bits:?};\n", lengths_bits.len());
}

fn print_states(name: &str, what: &str, states: &[Vec<u8>]) {
    let classes = states.first().map_or(0, Vec::len);
    println!("/// {what}.\n#[rustfmt::skip]\npub(super) const {name}: [[u8; {classes}]; {}] = [", states.len());
    for lengths_bits in states {
        println!("    {lengths_bits:?},");
    }
    println!("];\n");
}
