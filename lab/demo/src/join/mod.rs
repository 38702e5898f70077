//! `kinepack-lab join`: receives a server's world, shows it and plays in it. Many joiners at once
//! measure the load that a server can bear.

mod connection;
mod display;
mod held;
mod joiner;
mod play;
mod player;
mod report;
mod tally;
mod terminal;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::{Failure, OutputError, print};
pub use connection::{ConnectionArguments, parse_server};
use display::Display;
pub use joiner::{ConnectionEvent, Joiner, Target};
use kinepack_net::{Mismatch, StreamError};
use kinepack_udp::SetupError;
use play::{Play, PlayOptions};
pub use player::Pilot;
use report::JoinReport;
use tally::Tally;
use terminal::{Pressed, Terminal};

use crate::secret_options::SecretOptionsError;
use crate::sender::due;
use crate::session_error::SessionError;

/// The number of frames between two refreshes of the display.
const REFRESH_FRAMES: u32 = 3;
/// The pause between two joiners. It is needed because a server limits new connections per second.
const STAGGER: Duration = Duration::from_millis(5);
/// The time between two polls of the sockets if there are many joiners.
const ROUND: Duration = Duration::from_millis(2);
/// If there are at least this many joiners, two threads share them.
const MANY: usize = 32;

/// Join a server of `kinepack-lab serve`, show its world and play in it.
///
/// Needs the server's secret, as a file or in the environment. Ctrl-C ends it and prints a summary.
#[derive(Args)]
pub struct Arguments {
    /// Address or host name of the server, and its port.
    #[arg(value_name = "ADDRESS:PORT", value_parser = parse_server)]
    server: SocketAddr,
    /// Seconds to run [default: until Ctrl-C]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Number of joiners at once. More than one have no display; they are a load test of the
    /// server.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    count: u32,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Connection")]
    connection: ConnectionArguments,
    #[command(flatten, next_help_heading = "Playing")]
    play: PlayOptions,
}

/// The reason why a joiner fails, or ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Secret(#[from] SecretOptionsError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The server and the joiner cannot understand each other.
    #[error("{server} refuses: {difference}; {}", advice(mismatch))]
    Mismatch { server: SocketAddr, mismatch: Mismatch, difference: String },
    /// The run ended before a state had arrived.
    #[error("nothing was received from {server}: {reason}")]
    NothingReceived { server: SocketAddr, reason: String },
    /// The options for playing contradict each other, or there is no terminal.
    #[error("{reason}")]
    Play { reason: String },
    /// The terminal does not report keys.
    #[error("the terminal does not report keys: {0}; --play none watches")]
    Terminal(io::Error),
}

/// Advice for a mismatch.
fn advice(mismatch: &Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Version { .. } => "use the same version of this program",
        _ => {
            "the server must offer this --level, and both sides need the same --velocities and \
             --time-precision-ms"
        }
    }
}

impl Failure for JoinError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::NothingReceived { .. } => 1,
            _ => 2,
        }
    }
}

impl From<StreamError> for JoinError {
    fn from(error: StreamError) -> Self {
        Self::Session(error.into())
    }
}

pub fn run(arguments: &Arguments) -> Result<(), JoinError> {
    let play = arguments.play.resolve(arguments.count)?;
    let target = arguments.connection.target(arguments.server)?;
    let course = Course::begin(arguments.seconds)?;
    let mut display = Display::new(arguments.count == 1);
    let tallies = if arguments.count == 1 {
        watch(&target, &course, play, &mut display).map(|tally| vec![tally])
    } else {
        let pilots = (0..arguments.count).map(|joiner| play.pilot(joiner));
        let first_tries = (0..).map(|joiner| STAGGER * joiner);
        let joiners = pilots
            .zip(first_tries)
            .map(|(pilot, first_try)| Joiner::new(&target, first_try, pilot));
        load(joiners.collect(), &target, &course, &display)
    };
    display.finish();
    let report = JoinReport::new(arguments.server, course.begin.elapsed().as_secs_f64(), &tallies?);
    if arguments.json {
        print(|out| report.write_json(out))?;
    } else if report.why_nothing_received.is_none() {
        print(|out| report.write_table(out))?;
    }
    match report.why_nothing_received {
        None => Ok(()),
        Some(reason) => Err(JoinError::NothingReceived { server: arguments.server, reason }),
    }
}

/// The time of a run, and the state that its threads share.
pub struct Course {
    begin: Instant,
    end: Option<Duration>,
    pub interrupt: Interrupt,
    /// The number of joiners that have a state.
    receiving: AtomicUsize,
}

impl Course {
    /// Begins a run that lasts for `seconds`, or until Ctrl-C.
    pub fn begin(seconds: Option<u32>) -> Result<Self, JoinError> {
        Ok(Self {
            begin: Instant::now(),
            end: seconds.map(|seconds| Duration::from_secs(u64::from(seconds))),
            interrupt: Interrupt::listen().map_err(OutputError::Signals)?,
            receiving: AtomicUsize::new(0),
        })
    }

    pub fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Returns the seconds until now and the length of the whole run, if a signal ended it early.
    pub fn cut(&self) -> Option<(f64, u32)> {
        let (now, end) = (self.now(), self.end.filter(|_| self.interrupt.is_raised())?);
        (now < end).then_some((now.as_secs_f64(), end.as_secs() as u32))
    }

    pub fn is_over(&self) -> bool {
        self.interrupt.is_raised() || self.end.is_some_and(|end| self.now() >= end)
    }
}

/// Runs one joiner with a display.
fn watch(
    target: &Target,
    course: &Course,
    play: Play,
    display: &mut Display,
) -> Result<Tally, JoinError> {
    let mut joiner = Joiner::new(target, Duration::ZERO, play.pilot(0));
    let mut terminal = matches!(play, Play::Keys).then(Terminal::open).transpose()?;
    if terminal.is_some() {
        display.explain("arrow keys or WASD steer @; space push, Z pull, Ctrl-C end");
    }
    let mut frame = 0;
    while !course.is_over() {
        let now = course.now();
        match terminal.as_mut().map(|terminal| terminal.poll(now)).transpose()? {
            Some(Pressed::Keys(input)) => joiner.hold(input),
            Some(Pressed::Quit) => course.interrupt.raise(),
            None => {}
        }
        if let Some(event) = joiner.step(now)? {
            display.say(&event.line(target.server));
        }
        if now < due(frame) {
            joiner.wait(due(frame) - now);
            continue;
        }
        joiner.show(now)?.iter().for_each(|line| display.say(line));
        if frame % REFRESH_FRAMES == 0 {
            display.show(now, joiner.viewer(), joiner.entity(), &joiner.tally(now));
        }
        // Missed frames are skipped.
        frame = (now.as_secs_f64() * f64::from(cubes::TICK_HZ)) as u32 + 1;
    }
    joiner.end(course.now());
    Ok(joiner.tally(course.now()))
}

/// Runs many joiners. Only the first prints its connection events.
fn load(
    mut joiners: Vec<Joiner<'_>>,
    target: &Target,
    course: &Course,
    display: &Display,
) -> Result<Vec<Tally>, JoinError> {
    let count = joiners.len();
    let share = if count < MANY { count } else { count.div_ceil(2) };
    thread::scope(|scope| {
        let threads: Vec<_> = joiners
            .chunks_mut(share)
            .enumerate()
            .map(|(index, share)| {
                scope.spawn(move || drive(share, course, (index == 0).then_some((target, display))))
            })
            .collect();
        while !course.is_over() {
            thread::sleep(Duration::from_millis(100));
            display.show_count(course.receiving.load(Ordering::Relaxed), count);
        }
        let joined =
            threads.into_iter().map(|thread| thread.join().expect("a joiner does not panic"));
        joined.collect::<Result<Vec<()>, JoinError>>()
    })?;
    let now = course.now();
    Ok(joiners.iter().map(|joiner| joiner.tally(now)).collect())
}

/// Runs a share of the joiners.
fn drive(
    joiners: &mut [Joiner<'_>],
    course: &Course,
    display: Option<(&Target, &Display)>,
) -> Result<(), JoinError> {
    let mut frame = 0;
    while !course.is_over() {
        let is_frame = course.now() >= due(frame);
        for (index, joiner) in joiners.iter_mut().enumerate() {
            let was_receiving = joiner.is_receiving();
            let now = course.now();
            // If the server refuses one joiner, all joiners end.
            let event = joiner.step(now).inspect_err(|_| course.interrupt.raise())?;
            match (was_receiving, joiner.is_receiving()) {
                (false, true) => drop(course.receiving.fetch_add(1, Ordering::Relaxed)),
                (true, false) => drop(course.receiving.fetch_sub(1, Ordering::Relaxed)),
                _ => {}
            }
            if let (0, Some(event), Some((target, display))) = (index, event, display) {
                display.say(&event.line(target.server));
            }
            if is_frame {
                joiner.pass(now).inspect_err(|_| course.interrupt.raise())?;
            }
        }
        if is_frame {
            frame = (course.now().as_secs_f64() * f64::from(cubes::TICK_HZ)) as u32 + 1;
        }
        thread::sleep(ROUND);
    }
    joiners.iter_mut().for_each(|joiner| joiner.end(course.now()));
    Ok(())
}
