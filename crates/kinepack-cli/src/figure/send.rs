//! `kinepack figure send`: sends a live body to `kinepack figure watch`.
//!
//! The description of the body goes first, again and again, until the other side's hello shows that
//! it has the same body. Then a snapshot follows at each tick. If the other side falls silent, or
//! says that it does not know the session, the description is sent again under a new session. So
//! either program may be restarted.

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::table::{write_json, write_rows};
use command_kit::{OutputError, print, say};
use kinepack::{EntityId, Snapshot, Tick};
use kinepack_anim::figure::{Figure, FigureError, FigurePose};
use kinepack_net::{Handled, Hub, HubConfig, PeerStatus, ReceiverId, ReceiverOptions};
use serde::Serialize;

use super::assembly::fragments;
use super::description::{Description, MAX_BYTES};
use super::framing::{self, Kind, MAX_CONTENTS_BYTES, OVERHEAD_BYTES};
use super::source::{self, MAX_PACKET_BYTES, Source, Wanted};
use super::{FigureFailure, PORT, random};

/// Send the motion of a tracker or a file as a live body, to `kinepack figure watch`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A clip: .bvh, .bvh.zst, .glb, .gltf, .vrma, .clip, .kpa, .kpd, FILE.kpb#CLIP or, with the
    /// feature fbx, .fbx. Or a recording of Live Link Face: .csv. Or a tracker: vmc://PORT or
    /// vmc://HOST:PORT, the address to which it sends VMC; 0.0.0.0 for trackers on other machines.
    #[arg(value_name = "FILE|vmc://PORT")]
    source: String,
    /// The address of `kinepack figure watch`: HOST:PORT, HOST, or a PORT of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4653")]
    to: String,
    /// The largest error of the body in cm, at 3 cm from the joints.
    #[arg(long, value_name = "CM", default_value_t = 0.5)]
    precision: f64,
    /// Poses per second.
    #[arg(long, value_name = "HZ", default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=240))]
    rate: u32,
    /// Play the file again and again.
    #[arg(long = "loop")]
    loops: bool,
    /// The clip to play, if the file has several.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// For a tracker: the model that it shows, .vrm or .glb with the bones of VRM, or .kps. Without
    /// it, the bones are as long as the tracker says.
    #[arg(long, value_name = "FILE")]
    skeleton: Option<PathBuf>,
    /// How long to wait for the tracker, and for the other side.
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The only receiver of the hub, and the only entity.
const RECEIVER: ReceiverId = ReceiverId(1);
const BODY: EntityId = EntityId(1);

/// The time between two copies of the description.
const OFFER_EVERY: Duration = Duration::from_millis(250);
/// After this silence, a new session begins.
const SILENCE: Duration = Duration::from_secs(3);
/// The end of a file is sent for this long, so that its last pose arrives.
const LINGER: Duration = Duration::from_millis(500);
/// The headers of IPv4 and UDP.
const IP_UDP_BYTES: usize = 28;

#[derive(Serialize)]
struct Report {
    source: String,
    to: String,
    joints: usize,
    curves: usize,
    rate_hz: u32,
    precision_cm: f64,
    max_error_cm: f64,
    seconds: f64,
    poses: u64,
    /// The poses that the figure refused, for example because the body was too far away.
    refused_poses: u64,
    /// How often the other side fell silent, and the session began anew.
    restarts: u64,
    bytes: u64,
    bytes_per_s: f64,
    bits_per_pose: f64,
    lost_ratio: f64,
    round_trip_ms: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), FigureFailure> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let to = source::parse_address(&arguments.to, PORT)?;
    let wanted = Wanted {
        source: &arguments.source,
        clip: arguments.clip.as_deref(),
        loops: arguments.loops,
        skeleton: arguments.skeleton.as_deref(),
        patience: Duration::from_secs(arguments.wait),
    };
    let mut source = Source::open(&wanted, &interrupt)?;
    source.options.precision_cm = arguments.precision;
    let mut sending = Sending::new(&source, to, arguments.rate, wanted.patience)?;
    say(format_args!(
        "{}: {} joints and {} curves to {to}, {} times per second (Ctrl-C ends this)",
        source.name,
        source.skeleton.len(),
        source.options.curves.len(),
        arguments.rate
    ));
    while !interrupt.is_raised() && sending.step(&mut source)? {
        thread::sleep(Duration::from_millis(1));
    }
    let report = sending.report(&source);
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    Ok(())
}

/// A body on its way.
struct Sending {
    socket: UdpSocket,
    to: SocketAddr,
    rate_hz: u32,
    patience: Duration,
    clock: Instant,
    description: Description,
    fragments: Vec<Vec<u8>>,
    max_error_cm: f64,
    session: Session,
    /// The counters of earlier sessions.
    earlier: PeerStatus,
    /// When the other side first joined. The file plays from then on.
    began: Option<Duration>,
    ended: Option<Duration>,
    tick: u32,
    /// The poses of the source, and the copies of the last one after its end.
    poses: u64,
    repeats: u64,
    refused_poses: u64,
    restarts: u64,
    packet: Vec<u8>,
    out: Vec<u8>,
}

/// The state that both sides share, under the number of the session.
struct Session {
    number: u32,
    hub: Hub,
    figure: Figure,
    world: Snapshot,
    is_joined: bool,
    /// When the other side was heard, or the session began.
    heard: Duration,
    next_offer: Duration,
}

impl Session {
    fn new(description: &Description, now: Duration) -> Result<Self, FigureFailure> {
        let body = description.body()?;
        let config = HubConfig {
            datagram_bytes: MAX_CONTENTS_BYTES,
            overhead_bytes: IP_UDP_BYTES + OVERHEAD_BYTES,
            ..HubConfig::default()
        };
        let mut hub = Hub::new(&body.codec, config)?;
        hub.add(RECEIVER, &ReceiverOptions::default(), now)?;
        Ok(Self {
            number: random::session(),
            hub,
            world: Snapshot::new(body.codec.schema(), Tick(0)),
            figure: body.figure,
            is_joined: false,
            heard: now,
            next_offer: now,
        })
    }

    fn status(&self) -> PeerStatus {
        self.hub.status(RECEIVER).unwrap_or_default()
    }
}

impl Sending {
    fn new(
        source: &Source,
        to: SocketAddr,
        rate_hz: u32,
        patience: Duration,
    ) -> Result<Self, FigureFailure> {
        let description = Description {
            skeleton: source.skeleton.clone(),
            options: source.options.clone(),
            rate_hz,
        };
        let bytes = description.to_bytes();
        if bytes.len() > MAX_BYTES {
            return Err(FigureFailure::TooLarge { bytes: bytes.len(), most: MAX_BYTES });
        }
        let any: SocketAddr = match to.is_ipv4() {
            true => ([0, 0, 0, 0], 0).into(),
            false => ([0u16; 8], 0).into(),
        };
        let max_error_cm = description.body()?.max_error_cm;
        Ok(Self {
            socket: source::bind(any)?,
            to,
            rate_hz,
            patience,
            clock: Instant::now(),
            session: Session::new(&description, Duration::ZERO)?,
            description,
            fragments: fragments(&bytes),
            max_error_cm,
            earlier: PeerStatus::default(),
            began: None,
            ended: None,
            tick: 0,
            poses: 0,
            repeats: 0,
            refused_poses: 0,
            restarts: 0,
            packet: vec![0; MAX_PACKET_BYTES],
            out: Vec::new(),
        })
    }

    /// Does what is due. Returns false at the end of the file.
    fn step(&mut self, source: &mut Source) -> Result<bool, FigureFailure> {
        let now = self.clock.elapsed();
        source.poll()?;
        self.receive(now)?;
        self.watch_over(now)?;
        if !self.session.is_joined {
            return Ok(true);
        }
        let began = *self.began.get_or_insert(now);
        let tick = ((now - began).as_secs_f64() * f64::from(self.rate_hz)) as u32 + 1;
        if tick > self.tick {
            self.tick = tick;
            let plays = source.sample(f64::from(tick - 1) / f64::from(self.rate_hz));
            self.send(now, source)?;
            if !plays {
                self.ended.get_or_insert(now);
            }
        }
        Ok(self.ended.is_none_or(|ended| now - ended < LINGER))
    }

    /// Takes the datagrams of the other side. Others change nothing.
    fn receive(&mut self, now: Duration) -> Result<(), FigureFailure> {
        for _ in 0..256 {
            let received = source::receive(&self.socket, &mut self.packet)?;
            let Some((bytes, from)) = received else { break };
            let Some((kind, number, contents)) = framing::read(&self.packet[..bytes]) else {
                continue;
            };
            let session = &mut self.session;
            if from != self.to || number != session.number {
                continue;
            }
            if kind == Kind::NoSession && session.is_joined {
                say(format_args!("{from} was restarted"));
                self.begin_again(now)?;
            } else if kind == Kind::Net
                && let Ok(handled) = session.hub.handle(RECEIVER, now, contents)
            {
                session.heard = now;
                if handled == Handled::Joined {
                    session.is_joined = true;
                    say(format_args!("{} watches", self.to));
                }
            }
        }
        Ok(())
    }

    /// Offers the description until the other side has joined, and notices its silence.
    fn watch_over(&mut self, now: Duration) -> Result<(), FigureFailure> {
        let (to, patience) = (self.to, self.patience);
        let silence = now.saturating_sub(self.session.heard);
        if self.session.is_joined && silence >= SILENCE {
            say(format_args!("{to} is silent"));
            self.begin_again(now)?;
        }
        if self.session.is_joined {
            return Ok(());
        }
        if silence >= patience {
            return Err(match self.began {
                None => FigureFailure::NoAnswer { to, patience },
                Some(_) => FigureFailure::Silent { to, patience: patience + SILENCE },
            });
        }
        if now >= self.session.next_offer {
            self.session.next_offer = now + OFFER_EVERY;
            for fragment in &self.fragments {
                framing::write(Kind::Description, self.session.number, fragment, &mut self.out);
                transmit(&self.socket, to, &self.out);
            }
        }
        Ok(())
    }

    /// Begins another session.
    fn begin_again(&mut self, now: Duration) -> Result<(), FigureFailure> {
        add(&mut self.earlier, &self.session.status());
        self.restarts += 1;
        self.session = Session::new(&self.description, now)?;
        Ok(())
    }

    /// Sends the pose of the source.
    fn send(&mut self, now: Duration, source: &Source) -> Result<(), FigureFailure> {
        let Session { hub, figure, world, number, .. } = &mut self.session;
        world.clear(Tick(self.tick));
        let pose =
            FigurePose { joints: &source.pose, curves: &source.curves, ..FigurePose::default() };
        match figure.push(world, 0, BODY, &pose) {
            Ok(()) if self.ended.is_some() => self.repeats += 1,
            Ok(()) => self.poses += 1,
            // A tracker may lose the body for a moment. The other side keeps the last pose then.
            Err(FigureError::OutOfRange { .. }) if self.poses > 0 => {
                self.refused_poses += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        hub.tick(now, world)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            framing::write(Kind::Net, *number, datagram, &mut self.out);
            transmit(&self.socket, self.to, &self.out);
        }
        Ok(())
    }

    fn report(&self, source: &Source) -> Report {
        let mut status = self.earlier;
        let newest = self.session.status();
        add(&mut status, &newest);
        // Rates are those of the whole time. A file's own time and poses end with it.
        let now = self.clock.elapsed();
        let since_begin = |end: Duration| end.saturating_sub(self.began.unwrap_or(end));
        let all_s = since_begin(now).as_secs_f64();
        let seconds = since_begin(self.ended.unwrap_or(now)).as_secs_f64();
        let bytes = status.bytes;
        Report {
            source: source.name.clone(),
            to: self.to.to_string(),
            joints: source.skeleton.len(),
            curves: source.options.curves.len(),
            rate_hz: self.rate_hz,
            precision_cm: source.options.precision_cm,
            max_error_cm: self.max_error_cm,
            seconds,
            poses: self.poses,
            refused_poses: self.refused_poses,
            restarts: self.restarts,
            bytes,
            bytes_per_s: if all_s > 0.0 { bytes as f64 / all_s } else { 0.0 },
            bits_per_pose: 8.0 * bytes as f64 / (self.poses + self.repeats).max(1) as f64,
            lost_ratio: status.lost_ratio(),
            round_trip_ms: newest.round_trip.map(|time| 1e3 * time.as_secs_f64()),
        }
    }
}

impl Report {
    fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        let round_trip = self.round_trip_ms.map_or("–".to_owned(), |ms| format!("{ms:.1} ms"));
        write_rows(
            out,
            [
                ("poses", format!("{} in {:.1} s", self.poses, self.seconds)),
                ("refused poses", self.refused_poses.to_string()),
                ("bytes per second", format!("{:.0}", self.bytes_per_s)),
                ("bits per pose", format!("{:.0}", self.bits_per_pose)),
                ("largest error", format!("{:.3} cm", self.max_error_cm)),
                ("lost", format!("{:.1} %", 100.0 * self.lost_ratio)),
                ("round trip", round_trip),
            ],
        )
    }
}

/// Adds the counters of a session.
fn add(sum: &mut PeerStatus, of: &PeerStatus) {
    sum.sent += of.sent;
    sum.acknowledged += of.acknowledged;
    sum.lost += of.lost;
    sum.bytes += of.bytes;
}

/// Sends a datagram. If the system cannot send it now, it is lost, as it might be on the way.
pub(super) fn transmit(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) {
    let _ = socket.send_to(datagram, to);
}
