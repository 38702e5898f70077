//! The clock of the client's frames. There are about 60 per second, with a hitch from time to time.
//!
//! The screen sets the beat. A frame ends when the screen shows it, earlier or later by a delay of
//! the system. In whole milliseconds, a frame takes 16 or 17, and a frame with a hitch 20 to 33.
//! Each frame makes one move of the same length.

use crate::random::Random;

/// The length of a frame on a screen of 60 Hz.
const FRAME_US: u64 = 16_667;
/// The maximum difference between a frame's end and the beat.
const JITTER_US: u32 = 300;
/// One of every `HITCH_FRAMES` frames has a hitch, which is about every seven seconds.
const HITCH_FRAMES: u32 = 400;
/// A hitch makes its frame longer by 4 to 16 ms.
const MIN_HITCH_US: u32 = 4000;
const MAX_HITCH_US: u32 = 16_000;
/// At the start, the server has run for 3 to 12 hours.
const MIN_START_MS: u32 = 3 * 3_600_000;
const MAX_START_MS: u32 = 12 * 3_600_000;

/// A client's time, from frame to frame.
pub(crate) struct Clock {
    now_us: u64,
}

impl Clock {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { now_us: u64::from(random.within(MIN_START_MS..=MAX_START_MS)) * 1000 }
    }

    /// Advances by a frame and returns its length.
    pub(crate) fn next_frame_ms(&mut self, random: &mut Random) -> u32 {
        let before_ms = self.now_ms();
        self.now_us += FRAME_US - u64::from(JITTER_US) + u64::from(random.below(2 * JITTER_US));
        if random.below(HITCH_FRAMES) == 0 {
            self.now_us += u64::from(random.within(MIN_HITCH_US..=MAX_HITCH_US));
        }
        (self.now_ms() - before_ms) as u32
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_us / 1000
    }
}
