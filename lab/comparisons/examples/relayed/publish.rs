//! The process of the publisher. It writes a line for each tick, so that viewers can be compared
//! with the publisher.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kinepack_crowd::Publisher;
use kinepack_crowd::moq::{Address, Connector, Identity, Publication, Trust};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Arguments;
use crate::viewers::{Sent, Truth};
use comparisons::broadcast::{Cubes, catalogue};

/// Starts the process, and collects its lines.
pub fn start(
    arguments: &Arguments,
    relay: SocketAddr,
    identity: &Identity,
    truth: &Arc<Truth>,
) -> Result<Child, Box<dyn Error>> {
    let hash = identity.hash().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--publish", &format!("https://{relay}/cubes"), "--certificate", &hash]);
    if arguments.opaque {
        command.arg("--opaque");
    }
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let output = child.stdout.take().ok_or("the publisher has no output")?;
    let truth = Arc::clone(truth);
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut numbers = line.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
            let mut next = || numbers.next().unwrap_or(0);
            let (tick, hash, at_us, cost_ns) = (next(), next(), next(), next());
            truth.add(tick as u32, Sent { hash, at_us, cost_ns });
        }
    });
    Ok(child)
}

/// Returns the number of microseconds since 1970, on the clock that all processes share.
pub fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

/// Publishes until the process is killed.
pub async fn run(arguments: &Arguments, address: &Address) -> Result<(), Box<dyn Error>> {
    let text = arguments.certificate.as_deref().unwrap_or_default();
    let mut hash = [0; 32];
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2).unwrap_or_default(), 16)?;
    }
    let connector = Connector::new(&Trust::Certificates(vec![hash]))?;
    let (catalogue, mut cubes) = (catalogue()?, Cubes::new()?);
    let mut publication = Publication::start(&connector, address, &catalogue, 0)?;
    let mut publisher = Publisher::new(&catalogue);
    let (begin, mut random) = (Instant::now(), 1_u64);
    for tick in 0_u32.. {
        let snapshot = cubes.step(tick)?;
        let due = begin + Duration::from_secs(1) * tick / 60;
        tokio::time::sleep_until(due.into()).await;
        let (start, at_us) = (Instant::now(), now_us());
        let pieces = publisher.publish(snapshot)?;
        if arguments.opaque {
            let mut pieces = pieces.to_vec();
            for byte in pieces.iter_mut().flat_map(|piece| &mut piece.bytes) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (random >> 56) as u8;
            }
            publication.send(&pieces)?;
        } else {
            publication.send(pieces)?;
        }
        let cost_ns = start.elapsed().as_nanos();
        let hash = snapshot.state_hash();
        writeln!(std::io::stdout(), "{tick} {hash} {at_us} {cost_ns}")?;
    }
    Ok(())
}
