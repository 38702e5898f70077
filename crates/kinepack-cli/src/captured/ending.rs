//! Reports whether all frames of a file were read.

use std::path::Path;

use command_kit::{counted, say};

use super::{Captured, CapturedError, Source, sum};

/// The maximum number of damaged places that are listed.
const MOST_LISTED: usize = 5;

/// Whether a file was read completely. A command first processes the readable frames, and then
/// returns [`result`](Self::result).
#[must_use]
#[derive(Debug, Default)]
pub struct Ending(Option<CapturedError>);

impl Ending {
    /// Returns an error if frames were lost.
    pub fn result(self) -> Result<(), CapturedError> {
        self.0.map_or(Ok(()), Err)
    }

    /// Describes how the reading of a file ended. The arguments are the places that cannot be read,
    /// the number of further places that are not described, and the number of lost frames, if it is
    /// known. Lists the places on standard error. `frames` is the number of frames that were read.
    ///
    /// # Errors
    /// Returns [`CapturedError::NothingRead`] if no frame was read, because a command then has
    /// nothing to finish.
    pub(crate) fn of_places(
        path: &Path,
        places: impl IntoIterator<Item = impl ToString>,
        (undescribed, lost): (u64, Option<u64>),
        frames: u64,
    ) -> Result<Self, CapturedError> {
        let places: Vec<String> = places.into_iter().map(|place| place.to_string()).collect();
        let Some(first) = places.first() else { return Ok(Self::default()) };
        let (name, path) = (path.display(), path.to_owned());
        if frames == 0 {
            return Err(CapturedError::NothingRead { path, reason: first.clone() });
        }
        for place in places.iter().take(MOST_LISTED) {
            say(format_args!("{name}: {place}"));
        }
        let others = undescribed + places.len().saturating_sub(MOST_LISTED) as u64;
        if others > 0 {
            say(format_args!("{name}: and {}", counted(others, "other place")));
        }
        Ok(Self(Some(CapturedError::Incomplete { path, lost })))
    }

    /// Returns the first error of two endings.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

impl Captured {
    /// Describes how the reading ended, after the last of `frames` frames, for one stream or for
    /// all.
    ///
    /// # Errors
    /// Fails as [`Ending::of_places`] does.
    pub(crate) fn end(&self, stream: Option<usize>, frames: u64) -> Result<Ending, CapturedError> {
        let capture = match &self.source {
            Source::Challenge(_) => return Ok(Ending::default()),
            Source::Replay(replayed) => {
                return Ending::of_places(&self.path, replayed.damage(), (0, None), frames);
            }
            Source::Capture(capture) => capture,
        };
        let name = stream.map(|stream| &*self.streams[stream].name);
        let concerns = |of: Option<&str>| name.is_none() || of.is_none() || of == name;
        let damage = capture.damage();
        let places = damage.iter().filter(|damage| concerns(damage.stream.as_deref()));
        let mut places: Vec<String> = places.map(ToString::to_string).collect();
        let all = capture.streams().iter().enumerate();
        let wanted = all.filter(|(_, stream)| concerns(Some(stream.name())));
        let lost = sum(wanted.map(|(index, _)| capture.lost_frames(index)));
        let undescribed = capture.damaged_places() - damage.len() as u64;
        // The described damage may concern only other streams.
        if places.is_empty() && lost.map_or(undescribed > 0, |lost| lost > 0) {
            places.push("frames that the file counts are not in it".to_owned());
        }
        Ending::of_places(&self.path, places, (undescribed, lost), frames)
    }
}

/// Returns a sentence with the number of lost frames. `None` means that the number is not known.
pub(super) fn lost(frames: Option<u64>) -> String {
    match frames {
        Some(0) => "it is damaged, but all frames that it counts were read".to_owned(),
        Some(1) => "1 frame was lost; all others were read".to_owned(),
        Some(frames) => format!("{frames} frames were lost; all others were read"),
        None => "it is damaged: frames may be missing; all others were read".to_owned(),
    }
}
