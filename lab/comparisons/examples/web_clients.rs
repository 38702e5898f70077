//! Connects many clients of WebTransport to a running `kinepack-lab serve --web`. Each client joins
//! as a page does, and decodes and acknowledges all snapshots.
//!
//! `cargo run --release -p comparisons --example web_clients -- 127.0.0.1:4655 100 60`

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use kinepack::{Codec, Level, Profile, Schema};
use kinepack_net::{
    DatagramKind, EventKinds, Receiver, ReceiverConfig, ReceiverStats, datagram_kind,
    split_datagram,
};
use kinepack_webtransport::{WebClient, WebClientOptions, WebClientState};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The pause between two polls of a client.
const POLL: Duration = Duration::from_millis(1);
/// The pause between the starts of two clients, which is needed because a server limits handshakes.
const PAUSE: Duration = Duration::from_millis(10);

/// The settings that all clients share.
struct World {
    address: SocketAddr,
    codec: Codec,
    events: EventKinds,
    tick_hz: u32,
}

/// The result of one client.
struct Report {
    stats: ReceiverStats,
    lost_ratio: f64,
    /// Whether the client stayed connected until the end.
    stayed: bool,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, clients, seconds] = &arguments[..] else {
        return Err("give the page's address, a number of clients, and seconds".into());
    };
    let (clients, seconds) = (clients.parse::<usize>()?, seconds.parse::<u64>()?);
    let world = World::ask(address.parse()?)?;
    let time = Duration::from_secs(seconds);
    let reports: Vec<Outcome<Report>> = thread::scope(|scope| {
        let start = |_| {
            thread::sleep(PAUSE);
            scope.spawn(|| world.watch(time))
        };
        let clients: Vec<_> = (0..clients).map(start).collect();
        let ended = clients.into_iter().map(thread::ScopedJoinHandle::join);
        ended.map(|report| report.unwrap_or(Err("a client panicked".into()))).collect()
    });
    for error in reports.iter().filter_map(|report| report.as_ref().err()).take(3) {
        println!("failed: {error}");
    }
    let good: Vec<&Report> = reports.iter().flatten().collect();
    let sum =
        |of: fn(&ReceiverStats) -> u64| good.iter().map(|report| of(&report.stats)).sum::<u64>();
    let client_seconds = good.len().max(1) as f64 * seconds as f64;
    println!("{} of {clients} clients joined", good.len());
    println!("{} stayed to the end", good.iter().filter(|report| report.stayed).count());
    println!("{:.1} datagrams a second each", sum(|of| of.received) as f64 / client_seconds);
    println!("{:.1} kbit/s each", sum(|of| of.bytes) as f64 * 8e-3 / client_seconds);
    println!("{} refused, {} mismatches", sum(|of| of.refused), sum(|of| of.mismatches));
    let lost: f64 = good.iter().map(|report| report.lost_ratio).sum();
    println!("{:.2} % lost", 100.0 * lost / good.len().max(1) as f64);
    Ok(())
}

/// Requests a path from the server, and returns the answer.
fn get(address: SocketAddr, path: &str) -> Outcome<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let header = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("no answer")?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        return Err(String::from_utf8_lossy(&answer[..header]).into_owned().into());
    }
    Ok(answer.split_off(header + 4))
}

fn text<'a>(value: &'a Value, name: &str) -> Outcome<&'a str> {
    value[name].as_str().ok_or_else(|| format!("the answer has no {name}").into())
}

fn bytes(hex: &str) -> Outcome<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}

impl World {
    fn ask(address: SocketAddr) -> Outcome<Self> {
        let of: Value = serde_json::from_slice(&get(address, "/join")?)?;
        let codec = |of: &Value, profile: Option<&[u8]>| -> Outcome<Codec> {
            let schema = Schema::from_bytes(&bytes(text(of, "schema")?)?)?;
            let level = Level::named(text(of, "level")?).ok_or("no such level")?;
            let profile = match profile {
                Some(bytes) => Profile::from_bytes(bytes, &schema)?,
                None => Profile::untrained(&schema),
            };
            Ok(Codec::new(schema, level, profile)?)
        };
        let profile = get(address, "/profile")?;
        Ok(Self {
            address,
            codec: codec(&of, Some(&profile))?,
            events: EventKinds::new(&codec(&of["events"], None)?),
            tick_hz: of["tick_hz"].as_u64().ok_or("no rate")? as u32,
        })
    }

    /// Begins a session with a new token.
    fn connect(&self) -> Outcome<WebClient> {
        let of: Value = serde_json::from_slice(&get(self.address, "/join")?)?;
        let token = of["tokens"][0].as_str().ok_or("no token")?;
        let hash = bytes(text(&of, "certificate_hash")?)?;
        let options = WebClientOptions {
            certificate_hash: Some(hash.try_into().map_err(|_| "not a SHA-256 hash")?),
            origin: Some(format!("http://{}", self.address)),
            ..WebClientOptions::default()
        };
        let url = format!("https://{}{}?token={token}", self.address, text(&of, "path")?);
        Ok(WebClient::connect(&url, options)?)
    }

    /// Runs one client. Fails if the client cannot join.
    fn watch(&self, time: Duration) -> Outcome<Report> {
        let mut client = self.connect()?;
        let config = ReceiverConfig::at_hz(self.tick_hz);
        let mut receiver = Receiver::new(&self.codec, config)?.with_events(&self.events);
        let (start, mut has_joined, mut stayed) = (Instant::now(), false, true);
        while start.elapsed() < time {
            let now = start.elapsed();
            client.poll(&mut |datagram| {
                for part in split_datagram(datagram).into_iter().flatten() {
                    if datagram_kind(part) == Some(DatagramKind::ToReceiver) {
                        // The receiver counts the datagrams that it refuses.
                        let _ = receiver.handle(now, part);
                    }
                }
            });
            match client.state() {
                WebClientState::Connecting => {}
                WebClientState::Connected => {
                    has_joined = true;
                    while let Some(datagram) = receiver.poll_transmit(now) {
                        client.send(datagram)?;
                    }
                }
                WebClientState::Lost { reason } if has_joined => {
                    println!("lost: {reason}");
                    stayed = false;
                    break;
                }
                WebClientState::Lost { reason } => return Err(reason.to_string().into()),
            }
            thread::sleep(POLL);
        }
        let lost_ratio = receiver.status(start.elapsed()).lost_ratio();
        Ok(Report { stats: receiver.stats(), lost_ratio, stayed })
    }
}
