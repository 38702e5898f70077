//! The sources of `figure send`: a clip, a recording of a face, or a tracker.

mod tracker;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use command_kit::interrupt::Interrupt;
use command_kit::{counted, say};
use kinepack_anim::figure::FigureOptions;
use kinepack_anim::import::{self, Import, ImportOptions};
use kinepack_anim::live::{ClipSource, FaceClip, OddRows, VmcBody, VmcFrame};
use kinepack_anim::{RawClip, Skeleton, Transform};

use super::{FigureFailure, address};
use crate::anim::{self, AnimError, FileFacts};
use tracker::Tracker;

/// The beginning of the address of a tracker, and the port at which programs receive VMC.
const VMC: &str = "vmc://";
const VMC_PORT: u16 = 39_539;

/// What the user asks for.
pub(super) struct Wanted<'a> {
    pub(super) source: &'a str,
    pub(super) clip: Option<&'a str>,
    pub(super) loops: bool,
    /// How fast a file plays, where 1 is its own speed.
    pub(super) speed: f64,
    pub(super) facts: &'a FileFacts,
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
    /// Whether the poses are those of a tracker, which may lose the body for a moment.
    pub(super) is_live: bool,
    speed: f64,
    kind: Kind,
}

enum Kind {
    Clip(ClipSource),
    Face { clip: FaceClip, loops: bool },
    Tracker { tracker: Box<Tracker>, body: Box<VmcBody> },
}

impl Source {
    /// Opens a source. For a tracker, waits until a body arrives.
    pub(super) fn open(wanted: &Wanted<'_>, interrupt: &Interrupt) -> Result<Self, FigureFailure> {
        if let Some((option, only)) = wanted.facts.unfit(Path::new(wanted.source)) {
            return Err(FigureFailure::OtherSource { option, only });
        }
        let Some(address) = wanted.source.strip_prefix(VMC) else {
            return Self::of_file(wanted);
        };
        for (given, option) in [
            (wanted.clip.is_some(), "--clip"),
            (wanted.loops, "--loop"),
            (wanted.speed != 1.0, "--speed"),
        ] {
            if given {
                return Err(FigureFailure::OtherSource { option, only: "files" });
            }
        }
        let skeleton = wanted.skeleton.map(read_skeleton).transpose()?;
        if let Some(skeleton) = &skeleton {
            // A skeleton that no frame fits is refused before a tracker arrives.
            VmcBody::from_skeleton(Skeleton::clone(skeleton), &VmcFrame::default())?;
        }
        let mut tracker = Box::new(Tracker::bind(address::parse(address, VMC_PORT)?)?);
        say(format_args!("waiting for a tracker that sends VMC to {}", tracker.address()));
        let body = tracker.wait(skeleton.as_deref(), wanted.patience, interrupt)?;
        Ok(Self {
            name: wanted.source.to_owned(),
            skeleton: body.skeleton().clone(),
            options: body.options(),
            pose: Vec::new(),
            curves: Vec::new(),
            is_live: true,
            speed: 1.0,
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
            let clip = read_clip(path, wanted.clip, &wanted.facts.options())?;
            let clip = ClipSource::new(clip, wanted.loops);
            (clip.skeleton().clone(), clip.options(), Kind::Clip(clip))
        };
        let (pose, curves, name) = (Vec::new(), Vec::new(), wanted.source.to_owned());
        let speed = wanted.speed;
        Ok(Self { name, skeleton, options, pose, curves, is_live: false, speed, kind })
    }

    /// Returns a recording of a face.
    #[cfg(test)]
    pub(super) fn of_face(text: &[u8]) -> Self {
        let clip = FaceClip::read(text).unwrap();
        let (skeleton, options) = (FaceClip::skeleton(), clip.options());
        let (pose, curves, name) = (Vec::new(), Vec::new(), "a face".to_owned());
        let kind = Kind::Face { clip, loops: false };
        Self { name, skeleton, options, pose, curves, is_live: false, speed: 1.0, kind }
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
        let Self { skeleton, pose, curves, speed, kind, .. } = self;
        let time_s = *speed * time_s;
        match kind {
            Kind::Clip(clip) => clip.sample(time_s, pose, curves),
            Kind::Face { clip, loops } => {
                *pose = skeleton.bind_pose();
                clip.sample(time_s, *loops, curves)
            }
            Kind::Tracker { tracker, body } => {
                tracker.note_late(body);
                body.pose(tracker.frame(), pose, curves);
                true
            }
        }
    }
}

fn read_face(path: &Path) -> Result<FaceClip, FigureFailure> {
    let bytes = read_at_most(path, ImportOptions::default().max_bytes)?;
    let clip = FaceClip::read(&bytes);
    let clip = clip.map_err(|error| FigureFailure::Face { path: path.to_owned(), error })?;
    for line in remarks(&clip) {
        say(format_args!("{}: {line}", path.display()));
    }
    Ok(clip)
}

/// Describes what is odd about a recording.
fn remarks(clip: &FaceClip) -> Vec<String> {
    let mut lines = Vec::new();
    if clip.untracked() > 0 {
        lines.push(format!("{} without a face left out", counted(clip.untracked(), "row")));
    }
    let OddRows { count, line } = clip.backwards();
    if count > 0 {
        lines.push(format!(
            "the timecode goes backwards or is repeated at line {line}: {} left out; were several \
             recordings joined?",
            counted(count, "row")
        ));
    }
    let OddRows { count, line } = clip.jumps();
    if count > 0 {
        lines.push(format!(
            "the timecode jumps at line {line} ({}): the face holds still until then; cut the \
             file there to leave that out",
            counted(count, "jump")
        ));
    }
    if clip.is_cut() {
        lines
            .push("the last line has no end, so its row may be cut off and is left out".to_owned());
    }
    lines
}

/// Reads a file that has at most this many bytes.
fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, FigureFailure> {
    let failed = |error| AnimError::ClipFile { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > most {
        true => Err(FigureFailure::LargeFile { path: path.to_owned(), most }),
        false => Ok(bytes),
    }
}

/// Reads a clip of a file, which may be one of several.
fn read_clip(
    path: &Path,
    name: Option<&str>,
    options: &ImportOptions,
) -> Result<RawClip, FigureFailure> {
    let Import { mut clips, notes, .. } = anim::read_played(path, options)?;
    notes.iter().for_each(say);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("face.csv");
        std::fs::write(&file, [b'a'; 100]).unwrap();
        assert_eq!(read_at_most(&file, 100).unwrap().len(), 100);
        let refused = read_at_most(&file, 99);
        assert!(matches!(refused, Err(FigureFailure::LargeFile { most: 99, .. })), "{refused:?}");
    }

    #[test]
    fn the_speed_stretches_the_time_of_a_file() {
        let text = b"Timecode,BlendShapeCount,JawOpen\n00:00:00:00,61,0\n00:00:02:00,61,1\n";
        for (speed, end_s) in [(0.25, 8.0), (1.0, 2.0), (4.0, 0.5)] {
            let mut source = Source { speed, ..Source::of_face(text) };
            assert!(source.sample(0.5 * end_s) && source.sample(0.99 * end_s), "{speed}");
            assert!(source.sample(0.25 * end_s));
            assert_eq!(source.curves, [0.25], "{speed}");
            assert!(!source.sample(end_s), "{speed}");
        }
    }

    #[test]
    fn remarks_name_the_lines_of_odd_timecodes() {
        let of = |rows: &str| {
            let text = format!("Timecode,BlendShapeCount,JawOpen\n{rows}");
            remarks(&FaceClip::read(text.as_bytes()).unwrap())
        };
        assert!(of("00:00:00:00,61,0\n00:00:00:01,61,0\n").is_empty());
        let lines = of("10:00:00:00,61,0\n10:00:01:00,0\n15:00:00:00,61,0\n\n10:00:00:00,61,0\n\
            15:00:00:01,61,0.5");
        assert_eq!(lines.len(), 4, "{lines:?}");
        for (line, part) in lines.iter().zip([
            "1 row without a face",
            "backwards or is repeated at line 6: 1 row left out",
            "jumps at line 4 (1 jump)",
            "the last line has no end",
        ]) {
            assert!(line.contains(part), "{line}");
        }
    }
}
