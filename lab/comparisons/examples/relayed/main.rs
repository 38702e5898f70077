//! Publishes 901 cubes through relays to many viewers, all over QUIC, and measures what each part
//! costs. The relays are processes of `moq-relay` (`cargo install moq-relay`). The program runs on
//! Linux only.
//!
//! `cargo run --release -p comparisons --example relayed -- --help`

#![allow(unreachable_pub, reason = "the parts of an example")]

mod process;
mod publish;
mod report;
mod viewers;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use indicatif::ProgressBar;
use kinepack_crowd::moq::{Address, Connector, Identity, Trust};
use process::Relay;
use viewers::{Crowd, Truth};

/// The tiers that some viewers decode and play.
const TIERS: [&str; 4] = ["full", "third", "eighth", "fast"];

/// Viewers of a broadcast through relays: bits, delay, and processor time of each part.
#[derive(Clone, Debug, Parser)]
struct Arguments {
    /// The program of the relay.
    #[arg(long, value_name = "FILE", default_value = "moq-relay")]
    relay: PathBuf,
    /// Relays in a chain. The publisher connects to the first one, the viewers to the last.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=8))]
    relays: u16,
    /// Viewers that receive everything and compare the bytes, but do not decode them.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    viewers: u32,
    /// The tier of these viewers: full, third or eighth.
    #[arg(long, value_name = "NAME", default_value = "full")]
    tier: String,
    /// The number of viewers that decode and play. They are divided among the tiers in turn.
    #[arg(long, value_name = "N", default_value_t = 8)]
    playing: u32,
    /// How long to measure.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// Sends random bytes of the same sizes, to compare the relay's work.
    #[arg(long)]
    opaque: bool,
    /// Kills the last relay after half of the time, and starts it again half a second later.
    #[arg(long)]
    kill: bool,
    /// Publishes to this address. Used by the process of the publisher.
    #[arg(long, hide = true, requires = "certificate")]
    publish: Option<Address>,
    /// The hash of the relay's certificate. Used by the process of the publisher.
    #[arg(long, hide = true)]
    certificate: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ended = match runtime {
        Ok(runtime) => match &arguments.publish {
            Some(address) => runtime.block_on(publish::run(&arguments, address)),
            None => runtime.block_on(measure(&arguments)),
        },
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let identity = Identity::self_signed()?;
    let mut relays: Vec<Relay> = Vec::new();
    for nth in 0..arguments.relays {
        let before = relays.last().map(Relay::address);
        relays.push(Relay::start(&arguments.relay, &identity, nth, before).await?);
    }
    let (first, last) = (relays[0].address(), relays[relays.len() - 1].address());
    let truth = Arc::new(Truth::default());
    let mut publisher = publish::start(arguments, first, &identity, &truth)?;
    let connector = Connector::new(&Trust::Certificates(vec![identity.hash()]))?;
    let address: Address = format!("https://{last}/cubes").parse()?;
    let mut crowd = Crowd::new(connector, address, Arc::clone(&truth));

    // The clients join before the measurement begins, at a rate of a hundred per second.
    let progress = ProgressBar::new(u64::from(arguments.viewers)).with_message("joining");
    for nth in 0..arguments.viewers.max(arguments.playing) {
        if nth < arguments.playing && !arguments.opaque {
            crowd.play(TIERS[nth as usize % TIERS.len()]);
        }
        if nth < arguments.viewers {
            crowd.receive(&arguments.tier);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        progress.inc(1);
    }
    progress.finish_and_clear();
    crowd.wait_until_all_receive(Duration::from_secs(30)).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;

    let progress = ProgressBar::new(arguments.seconds);
    let before = report::Measured::now(&relays, &publisher, &crowd)?;
    let begin = Instant::now();
    for second in 0..arguments.seconds {
        if arguments.kill && second == arguments.seconds / 2 {
            let last = relays.len() - 1;
            relays[last].kill().await?;
            tokio::time::sleep(Duration::from_millis(500)).await;
            relays[last].start_again().await?;
            crowd.relay_is_back();
        }
        let next = begin + Duration::from_secs(second + 1);
        tokio::time::sleep_until(next.into()).await;
        progress.inc(1);
    }
    progress.finish_and_clear();
    let after = report::Measured::now(&relays, &publisher, &crowd)?;
    report::print(arguments, &before, &after, begin.elapsed(), &crowd);
    publisher.kill().await?;
    for relay in &mut relays {
        relay.kill().await?;
    }
    if crowd.wrong() > 0 { Err("some viewers saw something else".into()) } else { Ok(()) }
}
