//! Synchronizes clips by their phases. A walk and a run have steps of different lengths. If both
//! clips are blended at the same time, the left foot of one meets the right foot of the other. If
//! they are blended at the same *phase*, they step together. Markers name the moments that must
//! coincide, like the sync markers of Unreal Engine. Between two markers, phase is linear in time.

use std::fmt;

use super::Passed;

/// The phases of a clip that loops. A phase counts markers: it grows by 1 from each marker to the
/// next. Because the clip repeats, every finite number is a valid phase. One round of the clip
/// spans as many phases as there are markers. Phases are `f64`, because a game may count them up
/// for days.
///
/// ```
/// use kinepack_anim::pose::SyncTrack;
///
/// // Feet touch the ground at these times.
/// let walk = SyncTrack::new(1.2, &[("left", 0.1), ("right", 0.7)])?;
/// let run = SyncTrack::new(0.8, &[("right", 0.0), ("left", 0.4)])?.aligned_to(&walk)?;
///
/// // Both touch it with the left foot at phase 0.
/// assert_eq!((walk.time_at(0.0), run.time_at(0.0)), (0.1, 0.4));
/// assert_eq!((walk.time_at(1.5), run.time_at(1.5)), (1.0, 0.2));
///
/// // Each frame: the pace is that of the mix.
/// let (run_weight, dt_s, mut phase) = (0.25, 0.01, 0.0);
/// let pace_hz = walk.rate_at(phase) * (1.0 - run_weight) + run.rate_at(phase) * run_weight;
/// phase += dt_s * pace_hz;
/// let (_walk_s, _run_s) = (walk.time_at(phase), run.time_at(phase));
/// # Ok::<(), kinepack_anim::pose::SyncError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SyncTrack {
    duration_s: f32,
    /// The markers, sorted by time.
    markers: Vec<Marker>,
    /// Index of the marker with phase 0.
    first: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Marker {
    name: String,
    time_s: f32,
}

impl SyncTrack {
    /// Returns the track of a clip whose markers are `markers`, each with a name and a time. The
    /// times must be at least 0, below the duration, and in ascending order. The first marker has
    /// phase 0.
    ///
    /// # Errors
    /// Returns [`SyncError`] if the duration is not positive and finite, or the markers break these
    /// rules.
    pub fn new(duration_s: f32, markers: &[(&str, f32)]) -> Result<Self, SyncError> {
        if !(duration_s > 0.0 && duration_s.is_finite()) {
            return Err(SyncError::BadDuration { duration_s });
        }
        if markers.is_empty() {
            return Err(SyncError::NoMarkers);
        }
        let mut before_s = None;
        for (marker, &(_, time_s)) in markers.iter().enumerate() {
            let is_later = before_s.is_none_or(|before_s| time_s > before_s);
            if !(is_later && (0.0..duration_s).contains(&time_s)) {
                return Err(SyncError::BadMarker { marker, time_s });
            }
            before_s = Some(time_s);
        }
        let marker = |&(name, time_s): &(&str, f32)| Marker { name: name.to_owned(), time_s };
        Ok(Self { duration_s, markers: markers.iter().map(marker).collect(), first: 0 })
    }

    /// Returns the track of a clip without markers, whose phase is the elapsed share of the
    /// duration.
    ///
    /// # Errors
    /// Returns [`SyncError`] if the duration is not positive and finite.
    pub fn plain(duration_s: f32) -> Result<Self, SyncError> {
        Self::new(duration_s, &[("", 0.0)])
    }

    /// Returns the same track with phases that fit another track: at each whole phase, both have a
    /// marker of the same name. The number of one track's markers may be a multiple of the other's,
    /// such as two double steps in one round. If several alignments fit, the one that begins with
    /// the earliest marker wins.
    ///
    /// # Errors
    /// Returns [`SyncError::OtherMarkers`] if the names do not repeat in the same order.
    pub fn aligned_to(mut self, leader: &Self) -> Result<Self, SyncError> {
        let (own, other) = (self.markers.len(), leader.markers.len());
        let fits = |first: usize| {
            (0..own.max(other)).all(|phase| {
                self.markers[(first + phase) % own].name == leader.marker(phase as i64).name
            })
        };
        let divides = own.is_multiple_of(other) || other.is_multiple_of(own);
        self.first =
            (0..own).find(|first| divides && fits(*first)).ok_or(SyncError::OtherMarkers)?;
        Ok(self)
    }

    /// Returns the number of markers, which is the phase length of a whole round.
    pub fn markers(&self) -> usize {
        self.markers.len()
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.duration_s
    }

    /// Returns the phase at `time_s`, which is at least 0 and below the number of markers. Times
    /// outside the clip wrap around. NaN and infinite times count as 0.
    pub fn phase_at(&self, time_s: f32) -> f64 {
        let time_s = if time_s.is_finite() { f64::from(time_s) } else { 0.0 };
        let time_s = time_s.rem_euclid(f64::from(self.duration_s));
        // `number` counts the last marker at or before this time. Before the first marker, that is
        // the last marker of the previous round.
        let after = self.markers.partition_point(|marker| f64::from(marker.time_s) <= time_s);
        let number = after as i64 - 1 - self.first as i64;
        let start_s = self.unrolled_s(number);
        let share = (time_s - start_s) / (self.unrolled_s(number + 1) - start_s);
        let phase = number as f64 + share;
        let phase = phase.rem_euclid(self.markers.len() as f64);
        if phase < self.markers.len() as f64 { phase } else { 0.0 }
    }

    /// Returns the time of `phase`, which is at least 0 and not after the end of the clip. NaN and
    /// infinite phases count as 0.
    pub fn time_at(&self, phase: f64) -> f32 {
        Passed::looped(self.duration_s, 0.0, self.line_s(phase)).to_s
    }

    /// Returns the speed of the phase while the clip plays at its own rate, in markers per second.
    pub fn rate_at(&self, phase: f64) -> f64 {
        let number = whole(phase);
        1.0 / (self.unrolled_s(number + 1) - self.unrolled_s(number))
    }

    /// Returns the interval of this clip that passes between two phases, for its root motion.
    pub fn passed(&self, from: f64, to: f64) -> Passed {
        Passed::looped(self.duration_s, self.line_s(from), self.line_s(to))
    }

    /// Returns the time of a phase, which grows from round to round instead of wrapping.
    fn line_s(&self, phase: f64) -> f64 {
        let number = whole(phase);
        let share = if phase.is_finite() { phase - number as f64 } else { 0.0 };
        let start_s = self.unrolled_s(number);
        start_s + share * (self.unrolled_s(number + 1) - start_s)
    }

    /// Returns the time of the marker with the whole phase `phase`, as [`line_s`](Self::line_s)
    /// counts times.
    fn unrolled_s(&self, phase: i64) -> f64 {
        let index = phase.saturating_add(self.first as i64);
        let round = index.div_euclid(self.markers.len() as i64);
        f64::from(self.marker(phase).time_s) + round as f64 * f64::from(self.duration_s)
    }

    fn marker(&self, phase: i64) -> &Marker {
        let index = phase.saturating_add(self.first as i64);
        &self.markers[index.rem_euclid(self.markers.len() as i64) as usize]
    }
}

/// Returns the largest whole phase that is not after `phase`.
fn whole(phase: f64) -> i64 {
    /// The smallest magnitude from which no number has a fractional part.
    const LIMIT: f64 = (1_u64 << 52) as f64;
    if phase.is_finite() { phase.clamp(-LIMIT, LIMIT).floor() as i64 } else { 0 }
}

/// The reason why clips cannot be synchronized.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SyncError {
    /// The duration is not positive and finite.
    BadDuration {
        /// The duration in seconds.
        duration_s: f32,
    },
    /// The list has no markers. See [`SyncTrack::plain`].
    NoMarkers,
    /// A marker is outside the clip, or not later than the previous one.
    BadMarker {
        /// Index of the marker.
        marker: usize,
        /// The marker's time in seconds.
        time_s: f32,
    },
    /// The marker names of the two tracks do not repeat in the same order.
    OtherMarkers,
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadDuration { duration_s } => {
                write!(f, "a duration of {duration_s} s, it must be positive and finite")
            }
            Self::NoMarkers => write!(f, "the list has no markers"),
            Self::BadMarker { marker, time_s } => write!(
                f,
                "marker {marker} is at {time_s} s, it must be in the clip and after the marker \
                 before"
            ),
            Self::OtherMarkers => {
                write!(f, "the names of the markers do not repeat in the same order in both clips")
            }
        }
    }
}

impl std::error::Error for SyncError {}
