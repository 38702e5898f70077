//! `kinepack-lab demo --export DIR`: writes the demo as a folder of static files, for any web host.
//! The page contains a recorded world, and sends it to itself through a simulated link.

use std::path::Path;

use command_kit::SentLevel;
use command_kit::output::Outputs;
use command_kit::page::File;
use cubes::{CUBE_EDGE_M, PLAYER_EDGE_M};
use kinepack::Level;
use kinepack::group::GroupWriter;
use serde_json::json;

use crate::demo::page::server::{RECEIVING, WORLDS};
use crate::module::MODULE;
use crate::sender::{SendOptions, Sender};
use crate::session_error::SessionError;
use crate::static_files;
use crate::world::Played;

/// The files that only this page uses.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "index.html", "main.js", "style.css",
];
/// The number of ticks in a group, which lasts a second.
const GROUP_TICKS: u32 = cubes::TICK_HZ;
/// The levels that the page offers.
const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

/// Writes the folder.
pub fn export(
    directory: &Path,
    outputs: &Outputs,
    world: Played,
    ticks: u32,
    send: &SendOptions,
) -> Result<(), SessionError> {
    let (bodies, half_width_m) = world.extent();
    let (recorded, stream) = (record(world, ticks, send)?, &send.stream);
    let codec = stream.codec();
    let about = json!({
        "program": concat!("kinepack ", env!("CARGO_PKG_VERSION")),
        "tick_hz": cubes::TICK_HZ,
        "level": codec.level().name(),
        "levels": LEVELS.map(|level| level.name()),
        "bodies": bodies,
        "half_width_m": half_width_m.unwrap_or(0.0),
        "cube_edge_m": CUBE_EDGE_M,
        "player_edge_m": PLAYER_EDGE_M,
    });
    let made = [
        ("world.bin", recorded),
        ("world.schema", codec.schema().to_bytes()),
        ("world.profile", codec.profile().to_bytes()),
        ("world.json", about.to_string().into_bytes()),
    ];
    let fixed = FILES.iter().chain(RECEIVING).chain(WORLDS).chain(MODULE);
    static_files::write(directory, outputs, made, fixed)?;
    Ok(())
}

/// Records a run of the world as groups, each preceded by its length.
fn record(world: Played, ticks: u32, send: &SendOptions) -> Result<Vec<u8>, SessionError> {
    let level = SentLevel::named(Level::LEARNING.name()).expect("it is a level that can be sent");
    let stream = send.stream.at(level);
    let mut sender = Sender::new(world, send, kinepack_net::HubConfig::default())?;
    let mut writer = GroupWriter::new(&stream.codec());
    let (mut file, mut group) = (Vec::new(), Vec::new());
    for tick in 1..=ticks {
        if sender.step()? {
            // The snapshot has the codec's schema, so the codec accepts it.
            writer.write(&sender.snapshot, &mut group).expect("a snapshot of the same schema");
        }
        if tick % GROUP_TICKS == 0 || tick == ticks {
            file.extend((group.len() as u32).to_le_bytes());
            file.append(&mut group);
            writer.begin(None);
        }
    }
    Ok(file)
}
