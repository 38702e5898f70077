//! `kinepack-lab broadcast`: runs a publisher, a relay and three spectators on this machine.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use command_kit::interrupt::Interrupt;
use command_kit::table::{table, write_json};
use command_kit::{OutputError, announce, print};
use kinepack::{Snapshot, Tick};
use kinepack_crowd::moq::{Address, Identity, LocalRelay, Trust};
use serde::Serialize;

use super::spectator::{Spectator, SpectatorReport};
use super::{Arguments, BroadcastError, outgoing, relay};
use crate::codes::hex;
use crate::lines::Lines;
use crate::sender::due;
use crate::states::States;

/// The tiers of the three spectators.
const TIERS: [&str; 3] = ["full", "eighth", "fast"];
/// The name of the broadcast.
const NAME: &str = "cubes";

/// The report of a broadcast on this machine.
#[derive(Serialize)]
struct Report {
    world: String,
    seconds: f64,
    spectators: Vec<SpectatorReport>,
}

pub fn run(arguments: &Arguments) -> Result<(), BroadcastError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let mut world = arguments.world.play()?;
    let codec = arguments.stream.codec();
    let regions = arguments.regions.cover(world.grid_half_width_m());
    let identity = Identity::self_signed()?;
    let (runtime, connector) = relay::connector(&Trust::Certificates(vec![identity.hash()]))?;
    let relay = {
        let _within = runtime.enter();
        LocalRelay::listen(arguments.listen, &identity)?
    };
    let text = format!("https://{}/{NAME}", relay.address());
    let address: Address = text.parse()?;
    let hash = hex(&identity.hash());
    announce(format_args!(
        "a relay listens on {}. To watch through it:\n\n    kinepack-lab watch {text} \
         --relay-certificate {hash}\n",
        relay.address()
    ));
    let mut spectators: Vec<Spectator> = {
        let _within = runtime.enter();
        TIERS
            .iter()
            .map(|tier| Spectator::new(&connector, &address, &[(*tier).to_owned()]))
            .collect()
    };
    let mut outgoing = outgoing::publish(
        runtime,
        &connector,
        &address,
        &codec,
        cubes::TICK_HZ as u16,
        0,
        regions,
    )?;
    let lines = Lines::new(spectators.len());
    let (mut states, mut snapshot) = (States::default(), Snapshot::new(codec.schema(), Tick(0)));
    let begin = Instant::now();
    let end = arguments.world.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    for tick in 1_u32.. {
        if interrupt.is_raised() || end.is_some_and(|end| begin.elapsed() >= end) {
            break;
        }
        world.next_frame(&mut states);
        arguments.stream.quantize(&states, Tick(tick), &mut snapshot)?;
        std::thread::sleep(due(tick).saturating_sub(begin.elapsed()));
        outgoing.write(&snapshot)?;
        for (nth, spectator) in spectators.iter_mut().enumerate() {
            spectator.frame();
            if tick.is_multiple_of(cubes::TICK_HZ / 4) {
                lines.show(nth, [spectator.status()]);
            }
        }
    }
    lines.finish();
    let report = Report {
        world: arguments.world.name(),
        seconds: begin.elapsed().as_secs_f64(),
        spectators: spectators.into_iter().filter_map(Spectator::report).collect(),
    };
    outgoing.finish(&interrupt)?;
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    if report.spectators.is_empty() {
        let reason = "the spectators saw nothing".to_owned();
        return Err(BroadcastError::NothingReceived { address: text, reason });
    }
    Ok(())
}

impl Report {
    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.spectators.iter().map(SpectatorReport::row);
        writeln!(out, "{}, broadcast for {:.1} s", self.world, self.seconds)?;
        writeln!(out, "{}", table(SpectatorReport::HEADERS, 1, rows).trim_fmt())
    }
}
