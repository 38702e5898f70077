//! Measures what a flood of junk from one socket costs a server. It runs `kinepack-lab serve` with
//! joiners over loopback, alternately quiet and flooded.
//!
//! ```text
//! cargo build --release && cargo run --release -p comparisons --example flood -- [JOINERS] [SECONDS A TURN]
//! ```
//!
//! The flood's sender runs on the same machine and takes processor time too. For comparison, other
//! turns send a flood of the same rate *elsewhere*, to a socket without a reader. Processor time is
//! that of the server's ticking thread alone. Wall-clock time includes the time that other threads
//! took from this thread. No turn is longer than 30 seconds, and no flood leaves this machine.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The contents of a junk datagram, which looks like a client's packet. Only its sender's address
/// shows that it is junk.
const JUNK: [u8; 60] = [0x25; 60];
/// The maximum number of datagrams of one turn.
const MOST: u64 = 50_000_000;
/// The time before the flood for joining, and after it for leaving.
const MARGIN: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq)]
enum Flood {
    Quiet,
    Elsewhere { per_second: u64 },
    Server { per_second: u64 },
}

/// The rate of a flood without a pause between datagrams.
const UNLIMITED: u64 = u64::MAX;

const TURNS: [Flood; 11] = [
    Flood::Quiet,
    Flood::Server { per_second: 20_000 },
    Flood::Elsewhere { per_second: 20_000 },
    Flood::Quiet,
    Flood::Server { per_second: 100_000 },
    Flood::Elsewhere { per_second: 100_000 },
    Flood::Quiet,
    Flood::Server { per_second: UNLIMITED },
    Flood::Elsewhere { per_second: UNLIMITED },
    Flood::Quiet,
    Flood::Quiet,
];

/// A process that is killed when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let joiners = numbers.next().transpose()?.unwrap_or(20).clamp(1, 500);
    let seconds = numbers.next().transpose()?.unwrap_or(8).clamp(3, 30);
    println!(
        "{joiners} joiners, {seconds} s a turn; ticks in µs, and their ratio to the mean of all \
         quiet turns"
    );
    println!(
        "{:22} {:>9} {:>9} {:>8} {:>6} {:>6} {:>8} {:>6} {:>6} {:>7} {:>6} {:>6} {:>7}",
        "flood",
        "sent/s",
        "read/s",
        "tick",
        "p50",
        "p99",
        "CPU",
        "p50",
        "p99",
        "encode",
        "tick",
        "CPU",
        "p50"
    );
    let mut rows = Vec::new();
    for flood in TURNS {
        rows.push((flood, turn(flood, joiners, seconds)?));
    }
    let quiet = |key: &str, part: &str| {
        let times = rows.iter().filter(|(flood, _)| *flood == Flood::Quiet);
        let (sum, count) = times.fold((0.0, 0), |(sum, count), (_, (_, served))| {
            (sum + time(served, key, part), count + 1)
        });
        sum / f64::from(count.max(1))
    };
    for (flood, (sent, served)) in &rows {
        let ratio = |key, part| time(served, key, part) / quiet(key, part);
        println!(
            "{:22} {:>9.0} {:>9.0} {:>8.0} {:>6.0} {:>6.0} {:>8.0} {:>6.0} {:>6.0} {:>7.0} {:>6.2} \
             {:>6.2} {:>7.2}",
            name(*flood),
            *sent as f64 / seconds as f64,
            (number(served, "junk") + number(served, "limited")) / seconds as f64,
            time(served, "tick_us", "mean"),
            time(served, "tick_us", "p50"),
            time(served, "tick_us", "p99"),
            time(served, "tick_cpu_us", "mean"),
            time(served, "tick_cpu_us", "p50"),
            time(served, "tick_cpu_us", "p99"),
            time(served, "encode_us", "mean"),
            ratio("tick_us", "mean"),
            ratio("tick_cpu_us", "mean"),
            ratio("tick_us", "p50"),
        );
    }
    Ok(())
}

fn name(flood: Flood) -> String {
    let rate = |per_second| {
        if per_second == UNLIMITED { "unlimited".to_owned() } else { format!("{per_second}/s") }
    };
    match flood {
        Flood::Quiet => "none".to_owned(),
        Flood::Elsewhere { per_second } => format!("{} elsewhere", rate(per_second)),
        Flood::Server { per_second } => rate(per_second),
    }
}

/// Runs a server and its joiners for a while. Returns the number of junk datagrams and the server's
/// document.
fn turn(flood: Flood, joiners: u64, seconds: u64) -> Result<(u64, Value)> {
    let program = program()?;
    let start = |arguments: &[&str], stdout, stderr| {
        Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map(Running)
    };
    let run_s = (seconds + 1).to_string();
    let (count, clients) = (joiners.to_string(), (joiners + 1).to_string());
    let serve = [
        "serve",
        "--insecure",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--max-clients",
        &clients,
        "--seconds",
        &run_s,
    ];
    let mut server = start(&serve, Stdio::piped(), Stdio::piped())?;
    let mut lines = BufReader::new(server.0.stderr.take().ok_or("no stderr")?).lines();
    let address: SocketAddr = loop {
        let line = lines.next().ok_or("the server says no address")??;
        if let Some((_, address)) = line.split_once("listening on ") {
            break address.parse()?;
        }
    };
    // This thread reads the output, because the process would otherwise block.
    let drain = thread::spawn(move || lines.map_while(std::io::Result::ok).for_each(drop));
    let join = [
        "join",
        &address.to_string(),
        "--insecure",
        "--json",
        "--seconds",
        &run_s,
        "--count",
        &count,
    ];
    let joined = start(&join, Stdio::null(), Stdio::null())?;
    thread::sleep(MARGIN);

    let is_over = AtomicBool::new(false);
    let elsewhere = UdpSocket::bind("127.0.0.1:0")?;
    let sent = thread::scope(|scope| {
        let flooder = match flood {
            Flood::Quiet => None,
            Flood::Elsewhere { per_second } => Some((elsewhere.local_addr().ok(), per_second)),
            Flood::Server { per_second } => Some((Some(address), per_second)),
        };
        let is_over = &is_over;
        let flooder = flooder.map(|(to, per_second)| {
            scope.spawn(move || to.map_or(0, |to| send_junk(to, per_second, is_over)))
        });
        thread::sleep(Duration::from_secs(seconds));
        is_over.store(true, Ordering::Relaxed);
        flooder.and_then(|flooder| flooder.join().ok()).unwrap_or(0)
    });
    let document = serde_json::from_reader(server.0.stdout.take().ok_or("no stdout")?)?;
    drain.join().map_err(|_| "the reader of standard error panicked")?;
    drop(joined);
    Ok((sent, document))
}

/// Sends junk until the end of the turn. Returns the number of datagrams.
fn send_junk(to: SocketAddr, per_second: u64, is_over: &AtomicBool) -> u64 {
    assert!(to.ip().is_loopback(), "a flood is for this machine only");
    let Ok(socket) = UdpSocket::bind("127.0.0.1:0") else { return 0 };
    let (begin, mut sent) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) && sent < MOST {
        let due = if per_second == UNLIMITED {
            sent + 64
        } else {
            (begin.elapsed().as_secs_f64() * per_second as f64) as u64
        };
        while sent < due {
            let _ = socket.send_to(&JUNK, to);
            sent += 1;
        }
        if per_second != UNLIMITED {
            thread::sleep(Duration::from_millis(1));
        }
    }
    sent
}

/// Returns the path of the program from the same build, which is next to the folder of examples.
fn program() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(|examples| examples.parent()).ok_or("no folder")?;
    let program = folder.join(format!("kinepack-lab{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        Ok(program)
    } else {
        Err(format!("{} is not there: build it first", program.display()).into())
    }
}

fn number(document: &Value, key: &str) -> f64 {
    document[key].as_f64().unwrap_or(f64::NAN)
}

fn time(document: &Value, key: &str, part: &str) -> f64 {
    number(&document[key], part)
}
