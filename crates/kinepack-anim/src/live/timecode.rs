//! Timecodes of recordings: hours, minutes, seconds and frames, whose rate is not in the file.

/// The frames per second that timecodes have.
const TIMECODE_RATES_HZ: [u32; 6] = [24, 25, 30, 48, 50, 60];
/// A recording that lasts at least this many seconds has every frame number.
const LONG_S: u32 = 2;

/// A row, before the rate of the timecodes is known.
pub(super) struct Row {
    pub(super) line: u32,
    pub(super) whole_s: u32,
    pub(super) frame: f64,
    /// Whether a face was tracked, so that the row has values.
    pub(super) is_tracked: bool,
}

/// Reads `HH:MM:SS:FF`, whose frames may have a fraction.
pub(super) fn timecode(text: &str) -> Option<(u32, f64)> {
    let mut parts = text.split(':');
    let mut whole = |below: u32| {
        let part = parts.next()?;
        let is_whole = (1..=2).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_digit());
        part.parse::<u32>().ok().filter(|value| is_whole && *value < below)
    };
    let whole_s = 3600 * whole(24)? + 60 * whole(60)? + whole(60)?;
    let text = parts.next()?;
    let is_plain = text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let frame: f64 = text.parse().ok().filter(|frame| is_plain && (0.0..240.0).contains(frame))?;
    parts.next().is_none().then_some((whole_s, frame))
}

/// Returns the frames per second of the timecodes. In a short recording whose seconds are
/// incomplete, the rate is unknown; then it is that of the app, 60 Hz.
pub(super) fn rate_hz(rows: &[Row]) -> f64 {
    if let Some(rate_hz) = rate_of_a_whole_second(rows) {
        return f64::from(rate_hz);
    }
    let seconds = rows.first().zip(rows.last());
    let is_long = seconds.is_some_and(|(a, b)| a.whole_s.abs_diff(b.whole_s) >= LONG_S);
    let highest = rows.iter().map(|row| row.frame as u32).max().unwrap_or(0);
    let fits = |rate_hz: &&u32| is_long && **rate_hz > highest;
    let rate_hz = TIMECODE_RATES_HZ.iter().find(fits).copied().unwrap_or(60);
    f64::from(rate_hz.max(highest + 1))
}

/// Returns the number of frames of the first second that has a common rate's frames from 0 to the
/// last, if frame 0 of the next second follows.
fn rate_of_a_whole_second(rows: &[Row]) -> Option<u32> {
    let frame = |row: &Row| row.frame as u32;
    let seconds: Vec<&[Row]> = rows.chunk_by(|a, b| a.whole_s == b.whole_s).collect();
    let whole = seconds.windows(2).find(|pair| {
        let (own, next) = (pair[0], &pair[1][0]);
        let follows = next.whole_s == own[0].whole_s + 1 && frame(next) == 0;
        let has_all = own.iter().zip(0..).all(|(row, nth)| frame(row) == nth);
        follows && has_all && TIMECODE_RATES_HZ.contains(&(own.len() as u32))
    })?;
    Some(whole[0].len() as u32)
}
