//! A worked example of input streams. A player's character sends 60 moves a second, of 540 bits in
//! full, to a server that is 100 ms away. The network loses some of the moves.
//!
//! `cargo run --release -p kinepack-net --example character`
//!
//! The move type is that of the article "High-frequency upstream RPC compression" (Unreal), which
//! reduced 540 bits to 365. A scripted player makes the moves. `kinepack-lab inputs` measures the
//! same moves with many players, and also the time.

use std::error::Error;
use std::time::Duration;

use character::{Move, Script};
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack_net::{Link, LinkConfig, Loss, StreamConfig, StreamReceiver, StreamSender};

const SECONDS: u32 = 120;
const RATE_HZ: u32 = 60;

fn main() -> Result<(), Box<dyn Error>> {
    println!("level     loss  bits a packet  moves that arrived");
    for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
        for (loss_ratio, repeats) in [(0.0, 0), (0.05, 0), (0.2, 0), (0.2, 2)] {
            play(level, loss_ratio, repeats)?;
        }
    }
    Ok(())
}

/// Plays two minutes of one player.
fn play(level: StreamLevel, loss_ratio: f32, repeats: u8) -> Result<(), Box<dyn Error>> {
    // Both sides must agree only on the type and the level.
    let codec = StreamCodec::of::<Move>(level)?;
    let config = StreamConfig { repeats, ..StreamConfig::at_hz(RATE_HZ) };
    let mut client = StreamSender::new(&codec, config)?;
    let mut server = StreamReceiver::new(&codec, config)?;

    let loss = Loss::Independent { ratio: loss_ratio };
    let link = LinkConfig { latency: Duration::from_millis(50), loss, ..LinkConfig::PERFECT };
    let (mut up, mut down) = (Link::new(link, 1)?, Link::new(link, 2)?);

    let (mut sent, mut arrived) = (Vec::new(), 0);
    for (tick, played) in Script::new(7).take((SECONDS * RATE_HZ) as usize).enumerate() {
        let now = Duration::from_secs(1) * tick as u32 / RATE_HZ;
        // The client pushes a move each tick, and sends one packet.
        client.push(&played)?;
        sent.push(played);
        while let Some(datagram) = client.poll_transmit() {
            up.send(now, datagram);
        }
        // The server accepts packets in any order, and acknowledges them with each of its own
        // datagrams.
        while let Some(datagram) = up.poll(now) {
            for record in server.handle(now, &datagram)?.records() {
                let restored: Move = record.read()?;
                assert_is_near(&restored, &sent[usize::from(record.number.0)]);
                arrived += 1;
            }
        }
        if let Some(acknowledgement) = server.acknowledgement() {
            down.send(now, &acknowledgement.to_bytes());
        }
        while let Some(datagram) = down.poll(now) {
            client.handle(&datagram)?;
        }
    }
    let stats = client.stats();
    println!(
        "{:8} {:3.0} %  {:13.1}  {:6.2} %{}",
        format!("{level:?}").to_lowercase(),
        loss_ratio * 100.0,
        stats.bytes as f64 * 8.0 / stats.packets as f64,
        arrived as f64 * 100.0 / sent.len() as f64,
        if repeats > 0 {
            format!(", with {repeats} repeated in each packet")
        } else {
            String::new()
        }
    );
    Ok(())
}

/// Checks that each value of the server's move is within half a step of the client's: errors do not
/// add up.
fn assert_is_near(restored: &Move, sent: &Move) {
    assert_eq!((restored.time_ms, restored.payload), (sent.time_ms, sent.payload));
    assert!(restored.location.iter().zip(sent.location).all(|(a, b)| (a - b).abs() <= 0.05 + 1e-6));
}
