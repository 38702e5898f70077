//! Records the clock of a page's inputs: the ticks that it asks for, the packets, and the
//! acknowledgements from which it learns.

use super::*;

use kinepack_net::{InputClock, InputClockConfig};

/// Frames are not even, and one takes longer than 16 ticks.
fn frame_ms(frame: u32) -> f64 {
    if frame == 150 { 400.0 } else { 12.5 + f64::from(frame * 7 % 9) }
}

#[test]
fn the_clock_of_a_pages_inputs() {
    let codec = StreamCodec::of::<Input>(StreamLevel::Packed).unwrap();
    let config = StreamConfig::at_hz(60);
    let mut sender = StreamSender::new(&codec, config).unwrap();
    let mut server = StreamReceiver::new(&codec, config).unwrap();
    let mut clock =
        InputClock::new(InputClockConfig { in_time_ratio: 0.99, ..InputClockConfig::at_hz(60) })
            .unwrap();
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(15),
        loss: Loss::Independent { ratio: 0.05 },
        ..LinkConfig::PERFECT
    };
    let [mut up, mut down] = [5, 6].map(|seed| Link::new(link, seed).unwrap());
    let mut text = format!(
        "# The calls of an input clock and its sender: recorded by tests/recorded.rs.\n\
         sender packed 60 1 {}\nclock 60 0.99\n",
        hex(&codec.schema().to_bytes())
    );
    let time = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).unwrap();
    // The server simulates tick 100 now. Inputs that the clock asks for first are late.
    let mut next_tick = 100;
    clock.start(Duration::ZERO, 98.0);
    text += "start 0 98\n";
    let mut ms = 0.0;
    for frame in 0..300 {
        ms += frame_ms(frame);
        let now = time(ms);
        while f64::from(next_tick - 100) * TICK_MS <= ms {
            let at = time(f64::from(next_tick - 100) * TICK_MS);
            while let Some(datagram) = up.poll(at) {
                let _ = server.handle(at, &datagram);
            }
            server.record_for_tick(at, Tick(next_tick));
            let mut acknowledgement = Vec::new();
            if server.write_acknowledgement(&mut acknowledgement) {
                down.send(at, &acknowledgement);
            }
            next_tick += 1;
        }
        while let Some(acknowledgement) = down.poll(now) {
            clock.observe(now, &sender.handle(&acknowledgement).unwrap());
            let _ = writeln!(text, "acknowledge {ms} {}", hex(&acknowledgement));
        }
        let ticks: Vec<Tick> = clock.ticks(now).collect();
        let first = ticks.first().map_or(0, |tick| tick.0);
        let _ = writeln!(text, "ticks {ms} {first} {} {}", ticks.len(), clock.tick());
        for tick in ticks {
            let thrust = [(tick.0 % 50) as f32 / 50.0, -0.25];
            let input = Input { thrust, fire: tick.0.is_multiple_of(9), weapon: 3 };
            let number = sender.push_for_tick(tick, &input).unwrap().0;
            let _ = writeln!(text, "push {number} {} {} {} 3", thrust[0], thrust[1], input.fire);
        }
        if let Some(datagram) = sender.poll_transmit() {
            up.send(now, datagram);
            let _ = writeln!(text, "transmit {}", hex(datagram));
        }
    }
    let stats = clock.stats();
    let _ = writeln!(
        text,
        "stats {} {} {} {} {} {}",
        stats.ticks,
        stats.skipped,
        stats.jumps,
        stats.reports,
        stats.early_ticks,
        stats.error_s * 1e3
    );
    assert!(stats.skipped > 0 && stats.jumps > 0 && stats.reports > 100, "{stats:?}");
    let of_server = server.stats();
    assert!(of_server.in_time > 200, "{of_server:?}");
    check("input-clock", &text);
}
