//! The sources of `figure send`: a clip, a recording of a face, or a tracker.

use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::say;
use kinepack_anim::figure::FigureOptions;
use kinepack_anim::import::{self, ImportOptions};
use kinepack_anim::live::{ClipSource, FaceClip, VmcBody, VmcReceiver};
use kinepack_anim::{RawClip, Skeleton, Transform};

use super::FigureFailure;
use crate::anim::{self, AnimError};

/// The beginning of the address of a tracker, and the port at which programs receive VMC.
const VMC: &str = "vmc://";
const VMC_PORT: u16 = 39_539;
/// The largest packet of UDP.
pub(super) const MAX_PACKET_BYTES: usize = 1 << 16;
/// The time without a frame after which a message says that the tracker is silent.
const SILENCE: Duration = Duration::from_secs(2);
/// After the first frame, blend shapes may still arrive in later packets.
const SETTLING: Duration = Duration::from_millis(500);
/// The maximum number of packets that are read at once.
const PACKETS: usize = 512;

/// What the user asks for.
pub(super) struct Wanted<'a> {
    pub(super) source: &'a str,
    pub(super) clip: Option<&'a str>,
    pub(super) loops: bool,
    pub(super) skeleton: Option<&'a Path>,
    pub(super) patience: Duration,
}

/// A source, and its newest pose.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) skeleton: Skeleton,
    pub(super) options: FigureOptions,
    pub(super) pose: Vec<Transform>,
    pub(super) curves: Vec<f32>,
    kind: Kind,
}

enum Kind {
    Clip(ClipSource),
    Face { clip: FaceClip, loops: bool },
    Tracker { tracker: Box<Tracker>, body: Box<VmcBody> },
}

/// A socket to which a tracker sends.
struct Tracker {
    socket: UdpSocket,
    address: SocketAddr,
    receiver: VmcReceiver,
    clock: Instant,
    packet: Vec<u8>,
    /// The number of frames, and when the last one ended.
    frames: (u64, Duration),
}

impl Source {
    /// Opens a source. For a tracker, waits until a body arrives.
    pub(super) fn open(wanted: &Wanted<'_>, interrupt: &Interrupt) -> Result<Self, FigureFailure> {
        let Some(address) = wanted.source.strip_prefix(VMC) else {
            return Self::of_file(wanted);
        };
        for (given, option) in [(wanted.clip.is_some(), "--clip"), (wanted.loops, "--loop")] {
            if given {
                return Err(FigureFailure::OtherSource { option, only: "files" });
            }
        }
        let skeleton = wanted.skeleton.map(read_skeleton).transpose()?;
        let mut tracker = Box::new(Tracker::bind(parse_address(address, VMC_PORT)?)?);
        say(format_args!("waiting for a tracker that sends VMC to {}", tracker.address));
        let body = tracker.wait(skeleton.as_deref(), wanted.patience, interrupt)?;
        Ok(Self {
            name: wanted.source.to_owned(),
            skeleton: body.skeleton().clone(),
            options: body.options(),
            pose: Vec::new(),
            curves: Vec::new(),
            kind: Kind::Tracker { tracker, body: Box::new(body) },
        })
    }

    fn of_file(wanted: &Wanted<'_>) -> Result<Self, FigureFailure> {
        if wanted.skeleton.is_some() {
            return Err(FigureFailure::OtherSource { option: "--skeleton", only: VMC });
        }
        let path = Path::new(wanted.source);
        anim::check_played(path)
            .map_err(|error| FigureFailure::Source { error: Box::new(error) })?;
        let (skeleton, options, kind) = if anim::ends_in(path, &[".csv"]) {
            if wanted.clip.is_some() {
                return Err(FigureFailure::OtherSource { option: "--clip", only: "clips" });
            }
            let clip = read_face(path)?;
            let options = clip.options();
            (FaceClip::skeleton(), options, Kind::Face { clip, loops: wanted.loops })
        } else {
            let clip = ClipSource::new(read_clip(path, wanted.clip)?, wanted.loops);
            (clip.skeleton().clone(), clip.options(), Kind::Clip(clip))
        };
        let (pose, curves, name) = (Vec::new(), Vec::new(), wanted.source.to_owned());
        Ok(Self { name, skeleton, options, pose, curves, kind })
    }

    /// Takes what has arrived. Only a tracker has to be polled.
    pub(super) fn poll(&mut self) -> Result<(), FigureFailure> {
        match &mut self.kind {
            Kind::Tracker { tracker, .. } => tracker.poll(),
            _ => Ok(()),
        }
    }

    /// Writes the pose at a time since the beginning. Returns false after the end of a file.
    pub(super) fn sample(&mut self, time_s: f64) -> bool {
        let Self { skeleton, pose, curves, kind, .. } = self;
        match kind {
            Kind::Clip(clip) => clip.sample(time_s, pose, curves),
            Kind::Face { clip, loops } => {
                *pose = skeleton.bind_pose();
                clip.sample(time_s, *loops, curves)
            }
            Kind::Tracker { tracker, body } => {
                body.pose(tracker.receiver.frame(), pose, curves);
                true
            }
        }
    }
}

impl Tracker {
    fn bind(address: SocketAddr) -> Result<Self, FigureFailure> {
        let socket = bind(address)?;
        let address = socket.local_addr().map_err(|error| FigureFailure::Network { error })?;
        Ok(Self {
            socket,
            address,
            receiver: VmcReceiver::default(),
            clock: Instant::now(),
            packet: vec![0; MAX_PACKET_BYTES],
            frames: (0, Duration::ZERO),
        })
    }

    fn poll(&mut self) -> Result<(), FigureFailure> {
        for _ in 0..PACKETS {
            let Some((bytes, _)) = receive(&self.socket, &mut self.packet)? else { break };
            // A refused packet is counted, and changes nothing.
            let _ = self.receiver.handle(self.clock.elapsed(), &self.packet[..bytes]);
        }
        let now = self.clock.elapsed();
        self.receiver.poll(now);
        let frames = self.receiver.stats().frames;
        if frames > self.frames.0 {
            self.frames = (frames, now);
        } else if frames > 0 && now.saturating_sub(self.frames.1) >= SILENCE {
            say("the tracker is silent; its last pose stays");
            // The next report follows after frames and another silence.
            self.frames.1 = Duration::MAX;
        }
        Ok(())
    }

    /// Waits until the tracker has sent a whole body.
    fn wait(
        &mut self,
        skeleton: Option<&Skeleton>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<VmcBody, FigureFailure> {
        let mut first = None;
        loop {
            if interrupt.is_raised() {
                return Err(Interrupted::new("before a body arrived").into());
            }
            self.poll()?;
            let now = self.clock.elapsed();
            let is_late = now >= patience;
            if self.receiver.stats().frames > 0 {
                let settled = now.saturating_sub(*first.get_or_insert(now)) >= SETTLING;
                let frame = self.receiver.frame();
                let body = match skeleton {
                    Some(skeleton) => VmcBody::from_skeleton(skeleton.clone(), frame),
                    None => VmcBody::from_frame(frame),
                };
                match body {
                    Ok(body) if settled => return Ok(body),
                    Err(error) if is_late => return Err(error.into()),
                    _ => {}
                }
            } else if is_late {
                let (address, seen) = (self.address, self.seen());
                return Err(FigureFailure::NoTracker { address, patience, seen });
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Describes what has arrived instead of a body.
    fn seen(&self) -> String {
        let stats = self.receiver.stats();
        match (stats.packets, stats.refused, self.receiver.is_loaded()) {
            (_, _, Some(false)) => ": the sender has not loaded a model".to_owned(),
            (0, 0, _) => String::new(),
            (0, _, _) => ": the packets that arrived are not OSC".to_owned(),
            _ => ": the packets that arrived have no bones of VMC".to_owned(),
        }
    }
}

/// Opens a socket at an address, which does not wait.
pub(super) fn bind(address: SocketAddr) -> Result<UdpSocket, FigureFailure> {
    let failure = |error| FigureFailure::Bind { address, error };
    let socket = UdpSocket::bind(address).map_err(failure)?;
    socket.set_nonblocking(true).map_err(failure)?;
    Ok(socket)
}

/// Receives a packet if one has arrived. Its length, and its sender.
pub(super) fn receive(
    socket: &UdpSocket,
    packet: &mut [u8],
) -> Result<Option<(usize, SocketAddr)>, FigureFailure> {
    match socket.recv_from(packet) {
        Ok(received) => Ok(Some(received)),
        // The system reports here that an earlier packet of ours was refused, or that a packet is
        // larger than the buffer. Neither stops later ones.
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Ok(None),
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
            _ => Err(FigureFailure::Network { error }),
        },
    }
}

/// Reads HOST:PORT, HOST at the usual port, or a PORT of this machine.
pub(super) fn parse_address(given: &str, usual_port: u16) -> Result<SocketAddr, FigureFailure> {
    if let Ok(port) = given.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let is_name = !given.is_empty() && !given.contains(char::is_whitespace);
    let resolve = || given.to_socket_addrs().or_else(|_| (given, usual_port).to_socket_addrs());
    let resolved = is_name.then(resolve).and_then(Result::ok);
    let first = resolved.and_then(|mut addresses| addresses.next());
    first.ok_or_else(|| FigureFailure::BadAddress { given: given.to_owned() })
}

fn read_face(path: &Path) -> Result<FaceClip, FigureFailure> {
    let clip = FaceClip::read(&anim::read_bytes(path)?);
    let clip = clip.map_err(|error| FigureFailure::Face { path: path.to_owned(), error })?;
    let skipped = clip.untracked() + clip.backwards().count;
    if skipped > 0 {
        say(format_args!("{}: {} rows without a new face", path.display(), skipped));
    }
    if clip.is_cut() {
        say(format_args!("{}: the last row is cut off", path.display()));
    }
    Ok(clip)
}

/// Reads a clip of a file, which may be one of several.
fn read_clip(path: &Path, name: Option<&str>) -> Result<RawClip, FigureFailure> {
    let mut clips = anim::raw_clips(path)?;
    let no_clip = || FigureFailure::NoClip { path: path.to_owned(), name: name.map(str::to_owned) };
    let index = match name {
        Some(name) => clips.iter().position(|clip| clip.name() == name).ok_or_else(no_clip)?,
        None if clips.is_empty() => return Err(no_clip()),
        None => 0,
    };
    if name.is_none() && clips.len() > 1 {
        let names = clips.iter().map(|clip| clip.name().to_owned()).collect();
        let path = path.to_owned();
        return Err(FigureFailure::SeveralClips { path, clips: clips.len(), names });
    }
    Ok(clips.swap_remove(index))
}

/// Reads a skeleton from a model, a clip or a `.kps` file.
fn read_skeleton(path: &Path) -> Result<Arc<Skeleton>, FigureFailure> {
    let bad = |reason: String| AnimError::BadClip { path: path.to_owned(), reason };
    if anim::ends_in(path, anim::SKELETONS) {
        let skeleton = Skeleton::from_bytes(&anim::read_bytes(path)?);
        return Ok(Arc::new(skeleton.map_err(|error| bad(error.to_string()))?));
    }
    let options = ImportOptions { humanoid_names: true, ..ImportOptions::default() };
    let read = import::read_skeleton(path, &options).map_err(AnimError::from)?;
    read.ok_or_else(|| FigureFailure::NoJoints { path: path.to_owned() })
}
