//! Parses a moment of a replay, as users write it.

use std::str::FromStr;

use command_kit::escaped;
use kinepack_replay::Marker;

/// A moment: a time from the beginning, or a time before or after a marker.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Moment {
    /// A time in seconds from the first frame.
    Time(f64),
    /// A marker's name, and a number of seconds after the marker.
    Marker(String, f64),
}

/// The formats of a moment, for error messages.
pub(super) const HELP: &str = "seconds, M:SS, H:MM:SS, @MARKER, or @MARKER-5 and @MARKER+5";

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(marker) = text.strip_prefix('@') else { return clock(text).map(Self::Time) };
        // The text after the last sign is the offset, if it is a time.
        let offset = marker.rfind(['+', '-']).and_then(|sign| {
            let seconds = clock(&marker[sign + 1..]).ok()?;
            let is_before = marker[sign..].starts_with('-');
            Some((sign, if is_before { -seconds } else { seconds }))
        });
        let (end, seconds) = offset.unwrap_or((marker.len(), 0.0));
        Ok(Self::Marker(marker[..end].to_owned(), seconds))
    }
}

/// Parses a time with colons, and returns its seconds.
fn clock(text: &str) -> Result<f64, String> {
    let bad = || format!("{text:?} is no moment; give {HELP}");
    let mut seconds = 0.0;
    let parts: Vec<&str> = text.split(':').collect();
    for (nth, part) in parts.iter().enumerate() {
        // A number here has no sign, not even 0.
        let value: f64 = match part.as_bytes().first() {
            Some(b'0'..=b'9' | b'.') => part.parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        };
        let is_last = nth + 1 == parts.len();
        let fits = value.is_finite() && (nth == 0 || value < 60.0);
        if !fits || (!is_last && value.fract() != 0.0) || parts.len() > 3 {
            return Err(bad());
        }
        seconds = 60.0 * seconds + value;
    }
    Ok(seconds)
}

/// Formats seconds as a clock: M:SS.S, or H:MM:SS.S.
pub(super) fn shown(seconds: f64) -> String {
    let tenths = (seconds.max(0.0) * 10.0).round() as u64;
    let (minutes, rest) = (tenths / 600, tenths % 600);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let rest = format!("{:02}.{}", rest / 10, rest % 10);
    if hours > 0 { format!("{hours}:{minutes:02}:{rest}") } else { format!("{minutes}:{rest}") }
}

impl Moment {
    /// Returns the tick of this moment in a replay that begins at the tick `first`.
    pub(super) fn tick(&self, first: u32, rate_hz: f64, markers: &[Marker]) -> Result<f64, String> {
        match self {
            Self::Time(seconds) => Ok(f64::from(first) + seconds * rate_hz),
            Self::Marker(name, seconds) => {
                let found = markers.iter().find(|marker| marker.name == *name);
                let names: Vec<&str> = markers.iter().map(|marker| marker.name.as_str()).collect();
                let marker = found.ok_or_else(|| match names.is_empty() {
                    true => format!("no marker {name:?}: the replay has none"),
                    false => {
                        let names = names.join(", ");
                        format!("no marker {name:?}; there are {}", escaped(&names))
                    }
                })?;
                Ok(f64::from(marker.tick.0) + seconds * rate_hz)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kinepack::Tick;

    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        let time = |text: &str| text.parse();
        assert_eq!(time("83.5"), Ok(Moment::Time(83.5)));
        assert_eq!(time("1:23.5"), Ok(Moment::Time(83.5)));
        assert_eq!(time("1:00:00"), Ok(Moment::Time(3600.0)));
        assert_eq!(time("@goal"), Ok(Moment::Marker("goal".into(), 0.0)));
        assert_eq!(time("@first-blood-2.5"), Ok(Moment::Marker("first-blood".into(), -2.5)));
        assert_eq!(time("@first-blood"), Ok(Moment::Marker("first-blood".into(), 0.0)));
        assert_eq!(time("@goal+1:00"), Ok(Moment::Marker("goal".into(), 60.0)));
        for bad in ["", "x", "1:60", "-3", "-0:01", "+3", "1.5:30", "1:2:3:4", "inf"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_marker_that_is_not_there_is_an_error_with_those_that_are() {
        let markers = [Marker { tick: Tick(120), name: "goal".into() }];
        let moment = Moment::Marker("goal".into(), -1.0);
        assert_eq!(moment.tick(0, 60.0, &markers), Ok(60.0));
        let other = Moment::Marker("gaol".into(), 0.0).tick(0, 60.0, &markers);
        assert!(other.is_err_and(|reason| reason.contains("goal")));
        assert_eq!(Moment::Time(2.0).tick(30, 60.0, &markers), Ok(150.0));
    }

    #[test]
    fn times_are_shown_as_a_clock() {
        assert_eq!(
            [0.0, 9.94, 83.5, 3_725.0].map(shown),
            ["0:00.0", "0:09.9", "1:23.5", "1:02:05.0"]
        );
    }
}
