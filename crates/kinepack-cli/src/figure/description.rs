//! Describes a body as bytes, so that the program that watches needs no files: the skeleton, the
//! options of the figure, and the rate. The other side trusts none of it.

use std::fmt;

use kinepack::{Codec, Level, Schema};
use kinepack_anim::figure::{Figure, FigureCurve, FigureOptions, Motion};
use kinepack_anim::{Skeleton, SkeletonFileError};

use super::FigureFailure;

/// The name of the kind of entity.
const KIND: &str = "figure";
const VERSION: u8 = 1;
/// The largest description. A skeleton of 250 joints with long names takes 25 kB.
pub(super) const MAX_BYTES: usize = 128 << 10;
/// The maximum numbers of joints and curves, which bound the time to make a figure.
const MAX_JOINTS: usize = 1_024;
const MAX_CURVES: usize = 1_024;
const MAX_RATE_HZ: u32 = 240;
/// The maximum memory of the codec.
const MAX_CODEC_BYTES: usize = 256 << 20;

/// The reason why a description is refused.
#[derive(Debug)]
pub(super) enum BadDescription {
    Malformed(&'static str),
    Skeleton(SkeletonFileError),
    Body(FigureFailure),
}

impl fmt::Display for BadDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "{reason}"),
            Self::Skeleton(error) => error.fmt(f),
            Self::Body(error) => error.fmt(f),
        }
    }
}

/// A body that is sent, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    pub(super) skeleton: Skeleton,
    pub(super) options: FigureOptions,
    pub(super) rate_hz: u32,
}

/// What both sides make of a description.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) figure: Figure,
    pub(super) codec: Codec,
    /// The largest error that a joint may have, in cm, over all joints.
    pub(super) max_error_cm: f64,
}

impl Description {
    /// Refuses a body that the other side would refuse for its size.
    pub(super) fn check(&self) -> Result<(), FigureFailure> {
        let curves = self.options.curves.len();
        for (what, count, most) in
            [("joints", self.skeleton.len(), MAX_JOINTS), ("curves", curves, MAX_CURVES)]
        {
            if count > most {
                return Err(FigureFailure::TooMany { what, count, most });
            }
        }
        let bytes = self.to_bytes().len();
        match bytes > MAX_BYTES {
            true => Err(FigureFailure::TooLarge { bytes, most: MAX_BYTES }),
            false => Ok(()),
        }
    }

    /// Makes the figure and its codec, which learns from what it sends.
    pub(super) fn body(&self) -> Result<Body, FigureFailure> {
        let figure = Figure::new(&self.skeleton, &self.options)?;
        let schema = Schema::builder().kind_of_fields(KIND, figure.fields()).build()?;
        let profile = Figure::profile(&schema);
        let codec = Codec::within(schema, Level::LEARNING, profile, MAX_CODEC_BYTES)?;
        let errors_cm = (0..self.skeleton.len()).map(|joint| figure.max_error_cm(joint));
        let max_error_cm = errors_cm.fold(0.0, f64::max);
        Ok(Body { figure, codec, max_error_cm })
    }

    /// Encodes the description: the version, the rate, the precision, the shell, the skeleton with
    /// its length, the motions and the curves. Precisions of single joints and parts are not sent.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { skeleton, options, rate_hz } = self;
        let mut bytes = vec![VERSION];
        bytes.extend(rate_hz.to_le_bytes());
        bytes.extend(options.precision_cm.to_le_bytes());
        bytes.extend(options.shell_cm.to_le_bytes());
        let skeleton = skeleton.to_bytes();
        bytes.extend((skeleton.len() as u32).to_le_bytes());
        bytes.extend(skeleton);
        bytes.extend((options.motions.len() as u32).to_le_bytes());
        for (joint, motion) in &options.motions {
            let (kind, numbers) = match motion {
                Motion::Still => (0, [0.0; 3]),
                Motion::Hinge(axis) => (1, *axis),
                Motion::Turns => (2, [0.0; 3]),
                Motion::Moves { range_cm } => (3, [*range_cm, 0.0, 0.0]),
            };
            bytes.extend((*joint as u32).to_le_bytes());
            bytes.push(kind);
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend((options.curves.len() as u32).to_le_bytes());
        for FigureCurve { name, min, max, precision } in &options.curves {
            bytes.extend((name.len() as u32).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend([min, max, precision].into_iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }

    /// Decodes a description of any bytes. The memory is proportional to their number.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, BadDescription> {
        let mut bytes = Reader(bytes);
        if bytes.take::<1>()? != [VERSION] {
            return Err(BadDescription::Malformed("the sender is of another version"));
        }
        let rate_hz = u32::from_le_bytes(bytes.take()?);
        if !(1..=MAX_RATE_HZ).contains(&rate_hz) {
            return Err(BadDescription::Malformed("its rate is out of range"));
        }
        let mut options = FigureOptions {
            precision_cm: f64::from_le_bytes(bytes.take()?),
            shell_cm: f64::from_le_bytes(bytes.take()?),
            ..FigureOptions::default()
        };
        let length = bytes.count(MAX_BYTES)?;
        let skeleton =
            Skeleton::from_bytes(bytes.slice(length)?).map_err(BadDescription::Skeleton)?;
        if skeleton.len() > MAX_JOINTS {
            return Err(BadDescription::Malformed("it has too many joints"));
        }
        for _ in 0..bytes.count(MAX_JOINTS)? {
            let joint = bytes.count(MAX_JOINTS)?;
            let [kind] = bytes.take()?;
            let numbers = [bytes.float()?, bytes.float()?, bytes.float()?];
            let motion = match kind {
                0 => Motion::Still,
                1 => Motion::Hinge(numbers),
                2 => Motion::Turns,
                3 => Motion::Moves { range_cm: numbers[0] },
                _ => return Err(BadDescription::Malformed("it has an unknown motion")),
            };
            options.motions.push((joint, motion));
        }
        for _ in 0..bytes.count(MAX_CURVES)? {
            let length = bytes.count(MAX_BYTES)?;
            let name = std::str::from_utf8(bytes.slice(length)?)
                .map_err(|_| BadDescription::Malformed("a curve's name is not UTF-8"))?;
            let [min, max, precision] = [bytes.float()?, bytes.float()?, bytes.float()?];
            options.curves.push(FigureCurve { name: name.to_owned(), min, max, precision });
        }
        match bytes.0.is_empty() {
            true => Ok(Self { skeleton, options, rate_hz }),
            false => Err(BadDescription::Malformed("bytes follow its end")),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn slice(&mut self, length: usize) -> Result<&'a [u8], BadDescription> {
        let end = BadDescription::Malformed("it is cut off");
        let (taken, rest) = self.0.split_at_checked(length).ok_or(end)?;
        self.0 = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], BadDescription> {
        let mut taken = [0; N];
        taken.copy_from_slice(self.slice(N)?);
        Ok(taken)
    }

    fn float(&mut self) -> Result<f32, BadDescription> {
        Ok(f32::from_le_bytes(self.take()?))
    }

    /// Reads a number that is at most `most`.
    fn count(&mut self, most: usize) -> Result<usize, BadDescription> {
        let count = u32::from_le_bytes(self.take()?) as usize;
        let too_many = BadDescription::Malformed("it has a number that is too large");
        if count > most { Err(too_many) } else { Ok(count) }
    }
}

#[cfg(test)]
mod tests {
    use kinepack_anim::{Joint, Transform};

    use super::*;

    fn description() -> Description {
        let joint = |name: &str, parent, x_cm| {
            let bind = Transform { translation: [x_cm, 0.0, 0.0], ..Transform::IDENTITY };
            Joint { name: name.into(), parent, bind }
        };
        let joints = vec![
            joint("shoulder", None, 0.0),
            joint("elbow", Some(0), 30.0),
            joint("hand", Some(1), 25.0),
        ];
        let curve =
            |name: &str| FigureCurve { name: name.into(), min: -1.0, max: 2.0, precision: 0.01 };
        Description {
            skeleton: Skeleton::new(joints).unwrap(),
            options: FigureOptions {
                precision_cm: 0.25,
                shell_cm: 2.0,
                motions: vec![
                    (0, Motion::Moves { range_cm: 50.0 }),
                    (1, Motion::Hinge([0.0, 1.0, 0.0])),
                    (2, Motion::Still),
                ],
                curves: vec![curve("jawOpen"), curve("まばたき")],
                ..FigureOptions::default()
            },
            rate_hz: 30,
        }
    }

    #[test]
    fn a_description_is_read_back_and_gives_the_same_body() {
        let written = description();
        let read = Description::from_bytes(&written.to_bytes()).unwrap();
        assert_eq!(read, written);
        let [one, other] = [written, read].map(|description| description.body().unwrap());
        assert_eq!(one.codec.hash(), other.codec.hash());
        assert!(one.max_error_cm > 0.0 && one.max_error_cm <= 0.25, "{}", one.max_error_cm);
    }

    #[test]
    fn bodies_that_are_too_large_are_refused_before_they_are_sent() {
        let small = description();
        small.check().unwrap();
        let joint = |index: u16, name: &str| Joint {
            name: name.into(),
            parent: index.checked_sub(1),
            bind: Transform::IDENTITY,
        };
        let of = |count: u16, name: &str| {
            let joints = (0..count).map(|index| joint(index, name)).collect();
            Description { skeleton: Skeleton::new(joints).unwrap(), ..small.clone() }
        };
        of(1_024, "a").check().unwrap();
        let refused = of(1_025, "a").check().unwrap_err();
        assert_eq!(refused.to_string(), "the body has 1025 joints, and at most 1024 can be sent");
        let refused = of(1_000, &"a".repeat(200)).check();
        assert!(matches!(refused, Err(FigureFailure::TooLarge { .. })), "{refused:?}");
        let mut curves = small.clone();
        curves.options.curves = vec![curves.options.curves[0].clone(); 1_025];
        let refused = curves.check().unwrap_err();
        assert_eq!(refused.to_string(), "the body has 1025 curves, and at most 1024 can be sent");
    }

    #[test]
    fn any_bytes_are_refused_or_give_a_description_without_a_panic() {
        let bytes = description().to_bytes();
        for end in 0..bytes.len() {
            assert!(Description::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(Description::from_bytes(&longer).is_err());
        let mut bytes = bytes;
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Description::from_bytes(&bytes) {
                // The options may be impossible, which is an error.
                let _ = Figure::new(&read.skeleton, &read.options);
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn large_numbers_are_refused_before_memory_is_taken() {
        let written = description();
        let skeleton = written.skeleton.to_bytes();
        let at = 1 + 4 + 16;
        for (place, value) in [(1, 0), (1, 241), (at, u32::MAX), (at + 4 + skeleton.len(), 1_025)] {
            let mut bytes = written.to_bytes();
            bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
            assert!(Description::from_bytes(&bytes).is_err(), "{place}");
        }
    }
}
