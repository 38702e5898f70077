//! Records the stamps of what a page shows, in its inputs. States are late now and then, and ships
//! continue straight on. The server finds what the page drew.

use super::*;

use kinepack_net::{Extrapolation, RewindConfig, Seen};

#[derive(Pack)]
struct Shot {
    fires: bool,
    seen: Option<Seen>,
}

/// A ship that is in the world most of the time.
const TARGET: EntityId = EntityId(5);

#[test]
fn stamps_of_what_a_page_showed() {
    let schema = schema();
    let profile = Profile::untrained(&schema);
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, profile.clone()).unwrap();
    let inputs = StreamCodec::of::<Shot>(StreamLevel::Adaptive).unwrap();
    let straight = Extrapolation::Straight { at_most: Duration::from_millis(100) };
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_rewind(Some(RewindConfig::at_hz(60))).unwrap();
    hub.set_extrapolation("ship", straight).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
    receiver.set_extrapolation("ship", straight).unwrap();
    let config = StreamConfig::at_hz(60);
    let mut sender = StreamSender::new(&inputs, config).unwrap();
    let mut server = StreamReceiver::new(&inputs, config).unwrap();
    let mut text = format!(
        "# Stamps of what a receiver showed: recorded by tests/recorded.rs.\n\
         receiver adaptive 60 {} {}\nsender adaptive 60 1 {}\n",
        hex(&schema.to_bytes()),
        hex(&profile.to_bytes()),
        hex(&inputs.schema().to_bytes()),
    );
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(15),
        loss: Loss::bursts(0.2, 4.0),
        ..LinkConfig::PERFECT
    };
    let [mut down, mut up] = [1, 2].map(|seed| Link::new(link, seed).unwrap());
    let (mut table, mut found, mut starved) = (ValueTable::new(&schema), 0, 0);
    for tick in 1..=2 * TICKS {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        while let Some(datagram) = up.poll(now) {
            hub.handle(PLAYER, now, &datagram).unwrap();
        }
        hub.tick(now, &world(&schema, tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        while let Some(datagram) = down.poll(now) {
            let taken = receiver.handle(now, &datagram).is_ok();
            let word = if taken { "handle" } else { "refuse" };
            let _ = writeln!(text, "{word} {ms} {}", hex(&datagram));
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            let _ = writeln!(text, "transmit {ms} {}", hex(datagram));
            up.send(now, datagram);
        }
        let mut drawn = None;
        if let Some(playback) = receiver.playback(now) {
            table.clear();
            for sample in playback.samples() {
                table.push(sample.from, sample.to, sample.between).unwrap();
                if sample.id == TARGET {
                    drawn = Some(sample.state::<Ship>().unwrap().position);
                }
            }
            starved += u32::from(playback.is_starved());
            let lists = [playback.added(), playback.removed(), playback.cut()];
            let _ = writeln!(text, "play {ms} {:016x}", hash(&table, &lists));
        }
        let shot = Shot { fires: tick.is_multiple_of(7), seen: receiver.seen() };
        sender.push(&shot).unwrap();
        let packet = sender.poll_transmit().unwrap();
        let _ = writeln!(text, "shot {} {}", shot.fires, hex(packet));
        for record in server.handle(now, packet).unwrap().records() {
            let Some(seen) = record.read::<Shot>().unwrap().seen else { continue };
            let there = hub.rewind(PLAYER, seen).unwrap().state::<Ship>(TARGET).ok();
            assert_eq!(there.map(|ship| ship.position), drawn, "tick {tick}");
            found += u32::from(drawn.is_some());
        }
        let mut acknowledgement = Vec::new();
        if server.write_acknowledgement(&mut acknowledgement) {
            sender.handle(&acknowledgement).unwrap();
            let _ = writeln!(text, "acknowledge {}", hex(&acknowledgement));
        }
    }
    assert!(found > 100 && starved > 3, "{found} found, starved {starved} times");
    check("seen", &text);
}
