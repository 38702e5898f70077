//! Many clients of WebTransport against a running `kinepack serve --web`: each joins as a page does,
//! decodes everything, and acknowledges it.
//!
//! `cargo run --release -p kinepack-webtransport --example crowd -- 127.0.0.1:4655 100 60`

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinepack::{Codec, Level, Profile, Schema};
use kinepack_net::{
    DatagramKind, EventKinds, Receiver, ReceiverConfig, ReceiverStats, datagram_kind,
    split_datagram,
};
use serde_json::Value;
use wtransport::endpoint::ConnectOptions;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Connection, Endpoint};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A page acknowledges at once, and looks for something to send as often as this.
const FLUSH: Duration = Duration::from_millis(4);
/// The pause between two clients. A server limits handshakes.
const PAUSE: Duration = Duration::from_millis(10);

/// What all clients know.
struct World {
    address: SocketAddr,
    codec: Codec,
    events: EventKinds,
    tick_hz: u32,
}

/// How one client did.
struct Report {
    stats: ReceiverStats,
    lost_ratio: f64,
    /// Whether it was connected to the end.
    stayed: bool,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, clients, seconds] = &arguments[..] else {
        return Err("give the page's address, a number of clients, and seconds".into());
    };
    let address: SocketAddr = address.parse()?;
    let (clients, seconds) = (clients.parse::<usize>()?, seconds.parse()?);
    let world = Arc::new(World::ask(address)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let reports = runtime.block_on(async {
        let mut tasks = Vec::new();
        for _ in 0..clients {
            tasks.push(tokio::spawn(watch(Arc::clone(&world), Duration::from_secs(seconds))));
            tokio::time::sleep(PAUSE).await;
        }
        let mut reports = Vec::new();
        for task in tasks {
            reports.push(task.await?);
        }
        Outcome::Ok(reports)
    })?;
    let good: Vec<&Report> = reports.iter().filter_map(|report| report.as_ref().ok()).collect();
    for error in reports.iter().filter_map(|report| report.as_ref().err()).take(3) {
        println!("failed: {error}");
    }
    let count = good.len().max(1) as f64;
    let sum =
        |of: fn(&ReceiverStats) -> u64| good.iter().map(|report| of(&report.stats)).sum::<u64>();
    println!("{} of {clients} clients joined", good.len());
    println!("{} stayed to the end", good.iter().filter(|report| report.stayed).count());
    println!(
        "{:.1} datagrams a second each",
        sum(|of| of.received) as f64 / count / seconds as f64
    );
    println!("{:.1} kbit/s each", sum(|of| of.bytes) as f64 * 8e-3 / count / seconds as f64);
    println!("{} refused, {} mismatches", sum(|of| of.refused), sum(|of| of.mismatches));
    let lost: f64 = good.iter().map(|report| report.lost_ratio).sum();
    println!("{:.2} % lost", 100.0 * lost / count);
    Ok(())
}

/// What the server answers at a path.
fn get(address: SocketAddr, path: &str) -> Outcome<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("no answer")?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        return Err(String::from_utf8_lossy(&answer[..head]).into_owned().into());
    }
    Ok(answer.split_off(head + 4))
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

    fn receiver(&self) -> Outcome<Receiver> {
        let config = ReceiverConfig::at_hz(self.tick_hz);
        Ok(Receiver::new(&self.codec, config)?.with_events(&self.events))
    }

    async fn connect(&self) -> Outcome<Connection> {
        let address = self.address;
        let asked = tokio::task::spawn_blocking(move || get(address, "/join")).await??;
        let of: Value = serde_json::from_slice(&asked)?;
        let token = of["tokens"][0].as_str().ok_or("no token")?;
        let mut hash = [0; 32];
        hash.copy_from_slice(&bytes(text(&of, "certificate_hash")?)?);
        let config = ClientConfig::builder()
            .with_bind_default()
            .with_server_certificate_hashes([Sha256Digest::new(hash)])
            .build();
        let url = format!("https://{address}{}?token={token}", text(&of, "path")?);
        let options =
            ConnectOptions::builder(url).add_header("origin", format!("http://{address}"));
        Ok(Endpoint::client(config)?.connect(options.build()).await?)
    }
}

async fn watch(world: Arc<World>, time: Duration) -> Outcome<Report> {
    let connection = world.connect().await?;
    let mut receiver = world.receiver()?;
    let start = Instant::now();
    let mut flush = tokio::time::interval(FLUSH);
    let mut stayed = true;
    while start.elapsed() < time {
        tokio::select! {
            datagram = connection.receive_datagram() => {
                let Ok(datagram) = datagram else {
                    stayed = false;
                    break;
                };
                for part in split_datagram(&datagram).into_iter().flatten() {
                    if datagram_kind(part) == Some(DatagramKind::ToReceiver) {
                        // It counts what it refuses.
                        let _ = receiver.handle(start.elapsed(), part);
                    }
                }
            }
            _ = flush.tick() => {}
        }
        while let Some(datagram) = receiver.poll_transmit(start.elapsed()) {
            connection.send_datagram(datagram)?;
        }
    }
    let lost_ratio = receiver.status(start.elapsed()).lost_ratio();
    Ok(Report { stats: receiver.stats(), lost_ratio, stayed })
}
