//! Records the datagrams that a hub sends for captured cubes, and measures the time that a native
//! receiver takes for them. The browser's benchmark (`crates/kinepack-web/bench/`) reads the file.
//!
//! `cargo run --release -p comparisons --example datagrams -- typical.bin adaptive typical.kpdg`
//!
//! The file starts with the length of a JSON text (u32) and the text. Each datagram follows, with
//! its time in ms (f64), its length (u32) and its bytes. All numbers are little-endian.

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use cube_data::cube::{self, Quantized};
use kinepack::values::ValueTable;
use kinepack::{Codec, Level};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
};

const RATE_HZ: u32 = 60;
const PLAYER: ReceiverId = ReceiverId(1);
/// The latency of the link in each direction.
const LATENCY: Duration = Duration::from_millis(50);
const RUNS: usize = 5;

/// Datagrams with their arrival times.
type Arrivals = Vec<(Duration, Vec<u8>)>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [capture, level, out] = &arguments[..] else {
        return Err("give a capture (.bin), a level and a file to write".into());
    };
    let level = Level::named(level).ok_or("no such level")?;
    let (schema, profile) = (cube::schema(Quantized::Everything), cube::profile());
    let codec = Codec::new(schema.clone(), level, profile.clone())?;
    let datagrams = send(&codec, capture)?;

    let mut header = format!(
        "{{\"level\":\"{}\",\"tickHz\":{RATE_HZ},\"schema\":\"{}\",\"profile\":\"{}\"}}",
        level.name(),
        hex(&schema.to_bytes())?,
        hex(&profile.to_bytes())?
    );
    // The header is padded, so that the numbers after it are aligned.
    while header.len() % 8 != 4 {
        header.push(' ');
    }
    let mut file = (header.len() as u32).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    for (now, datagram) in &datagrams {
        file.extend((now.as_secs_f64() * 1e3).to_le_bytes());
        file.extend((datagram.len() as u32).to_le_bytes());
        file.extend(datagram);
    }
    std::fs::write(out, file)?;

    let [mut taken_us, mut played_us] = [f64::INFINITY; 2];
    for _ in 0..RUNS {
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(RATE_HZ))?;
        let mut table = ValueTable::new(&schema);
        let mut spent = [Duration::ZERO; 2];
        for (now, datagram) in &datagrams {
            let start = Instant::now();
            receiver.handle(*now, datagram)?;
            spent[0] += start.elapsed();
            while receiver.poll_transmit(*now).is_some() {}
            let start = Instant::now();
            if let Some(playback) = receiver.playback(*now) {
                table.clear();
                for sample in playback.samples() {
                    table.push(sample.from, sample.to, sample.between)?;
                }
            }
            spent[1] += start.elapsed();
        }
        let mean = |spent: Duration| spent.as_secs_f64() * 1e6 / datagrams.len() as f64;
        taken_us = taken_us.min(mean(spent[0]));
        played_us = played_us.min(mean(spent[1]));
    }
    println!(
        "{} at {}: {} datagrams, {taken_us:.1} µs to take one, {played_us:.1} µs to play a frame",
        capture,
        level.name(),
        datagrams.len(),
    );
    Ok(())
}

/// Returns the arrivals if a hub sends a capture over a link that has only latency.
fn send(codec: &Codec, capture: &str) -> Result<Arrivals, Box<dyn Error>> {
    let mut hub = Hub::new(codec, HubConfig::default())?;
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO)?;
    let mut receiver = Receiver::new(codec, ReceiverConfig::at_hz(RATE_HZ))?;
    let config = LinkConfig { latency: LATENCY, ..LinkConfig::PERFECT };
    let (mut down, mut up) = (Link::new(config, 1)?, Link::new(config, 2)?);
    let mut arrived = Vec::new();
    for (frame, snapshot) in (1..).zip(comparisons::runs::read(capture)?) {
        let now = Duration::from_secs(frame) / RATE_HZ;
        while let Some(datagram) = up.poll(now) {
            hub.handle(PLAYER, now, &datagram)?;
        }
        hub.tick(now, &snapshot)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        while let Some(datagram) = down.poll(now) {
            receiver.handle(now, &datagram)?;
            arrived.push((now, datagram));
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
    }
    Ok(arrived)
}

fn hex(bytes: &[u8]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
    Ok(text)
}
