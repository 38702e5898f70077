//! The command `inputs`.

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, parse_seed, print, progress};

use super::{MAX_MOVES, Measured, Row, StreamRun, measure, write_table};
use crate::session_error::SessionError;

/// Measure input streams: the moves of players' characters over links that lose packets.
///
/// Each level is measured over links that lose 0, 5 and 20 %. Every move is decoded and compared.
#[derive(Args)]
pub struct Arguments {
    /// Levels by name: full, packed, adaptive [default: all]
    #[arg(long = "level", value_name = "LEVEL", value_delimiter = ',')]
    levels: Vec<String>,
    /// Number of clients. Each one has its own seed.
    #[arg(
        long,
        default_value_t = 32,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    clients: u32,
    /// How many earlier moves each packet repeats.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=15))]
    repeats: u8,
    /// Length of each measurement in seconds of the players' time.
    #[arg(
        long,
        default_value_t = 60,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=86_400)
    )]
    seconds: u32,
    /// Seed of the first client's choices.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = parse_seed)]
    seed: u64,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// The reason why streams cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(
        "--level {name}: no such level of a stream; there are {}",
        Row::ALL.map(Row::name).join(", ")
    )]
    UnknownLevel { name: String },
    #[error(
        "--clients {clients} and --seconds {seconds}: these are {moves} moves, whose sizes are \
         kept in memory; a measurement has {MAX_MOVES} at most, so give fewer clients or seconds"
    )]
    TooManyMoves { clients: u32, seconds: u32, moves: u64 },
}

impl Failure for InputsError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::UnknownLevel { .. } | Self::TooManyMoves { .. } => 2,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), InputsError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let named = |name: &String| {
        let row = Row::ALL.into_iter().find(|row| row.name() == name);
        row.ok_or_else(|| InputsError::UnknownLevel { name: name.clone() })
    };
    let rows = match &arguments.levels[..] {
        [] => Row::ALL.to_vec(),
        names => names.iter().map(named).collect::<Result<_, _>>()?,
    };
    let run = StreamRun {
        clients: arguments.clients,
        ticks: arguments.seconds * cubes::TICK_HZ,
        seed: arguments.seed,
        repeats: arguments.repeats,
    };
    run.check()?;
    let progress = progress(Some(run.ticks));
    let measured = measure(run, &rows, &progress, &interrupt)?;
    progress.finish_and_clear();
    let done: u64 = measured.iter().map(Measured::packets).sum();
    let all = run.all_ticks(&rows) * u64::from(run.clients);
    if done == 0 {
        let nothing = "none of them was measured";
        return Err(Interrupted::after("move", done, Some(all), nothing).into());
    }
    print(|out| {
        if arguments.json {
            return write_json(&measured, out);
        }
        write_table(run, &measured, out)
    })?;
    if done < all {
        let then = "the table is of these, and its last row may be of fewer moves";
        return Err(Interrupted::after("move", done, Some(all), then).into());
    }
    Ok(())
}
