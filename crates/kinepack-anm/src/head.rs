//! The fields of a file's header, and their checks. See `spec/ANM.md`, section 2.

use kinepack_anim::Channel;
use kinepack_anim::keyed::{Parametrization, VectorRange};

use crate::AnmError;

/// The exporter's note on its error in one channel. Playback does not need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorMargin {
    /// The largest allowed deviation.
    pub margin: f32,
    /// The smallest change between two keys that counts as a jump.
    pub discontinuity: f32,
}

impl Default for ErrorMargin {
    /// Returns the usual values in files, which are 2 and 10.
    fn default() -> Self {
        Self { margin: 2.0, discontinuity: 10.0 }
    }
}

/// The fields of a file other than counts and offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct AnmHead {
    /// The version, which is 1, 2 or 3. The three versions have no known differences.
    pub version: u32,
    /// A field of unknown meaning, which is usually 0.
    pub format_token: u32,
    /// The flags: [`AnmHead::TIMES`], and other bits that only exporters use.
    pub flags: u32,
    /// The duration that key times span, in seconds. It is not negative.
    pub duration_s: f32,
    /// The sample rate of the source in Hz. Playback does not need it.
    pub rate_hz: f32,
    /// The error margins of the channels, in the order of their codes.
    pub errors: [ErrorMargin; 3],
    /// The quantization range of translations, in cm.
    pub translation: VectorRange,
    /// The quantization range of scales.
    pub scale: VectorRange,
}

impl AnmHead {
    /// The flag that selects [`Parametrization::Times`]. Without it, splines are
    /// [`Parametrization::Uniform`].
    pub const TIMES: u32 = 1 << 2;

    /// Returns a header of version 3, parametrized by times, with default error margins.
    pub fn new(
        duration_s: f32,
        rate_hz: f32,
        translation: VectorRange,
        scale: VectorRange,
    ) -> Self {
        Self {
            version: 3,
            format_token: 0,
            flags: Self::TIMES,
            duration_s,
            rate_hz,
            errors: [ErrorMargin::default(); 3],
            translation,
            scale,
        }
    }

    /// Returns the parametrization of tangents that the flags select.
    pub fn parametrization(&self) -> Parametrization {
        if self.flags & Self::TIMES == 0 {
            Parametrization::Uniform
        } else {
            Parametrization::Times
        }
    }

    /// Converts seconds to a key time, which counts 65535ths of the duration and is truncated to an
    /// integer. Times outside of the clip give the time of the nearer end.
    pub fn key_time(&self, time_s: f32) -> u16 {
        if self.duration_s > 0.0 { ((time_s / self.duration_s) * 65535.0) as u16 } else { 0 }
    }

    /// Checks all fields except the ranges, whose rules depend on the keys.
    pub(crate) fn validate(&self) -> Result<(), AnmError> {
        if !(1..=3).contains(&self.version) {
            return Err(AnmError::UnknownVersion { version: self.version });
        }
        if !(self.duration_s >= 0.0 && self.duration_s.is_finite()) {
            return Err(AnmError::BadDuration { duration_s: self.duration_s });
        }
        if !(self.rate_hz >= 0.0 && self.rate_hz.is_finite()) {
            return Err(AnmError::BadRate { rate_hz: self.rate_hz });
        }
        for (channel, error) in Channel::ALL.into_iter().zip(&self.errors) {
            if !(error.margin.is_finite() && error.discontinuity.is_finite()) {
                return Err(AnmError::BadErrorMargin { channel });
            }
        }
        Ok(())
    }
}
