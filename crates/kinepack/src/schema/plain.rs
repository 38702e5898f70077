//! Implements `Pack` for plain values without an attribute: numbers, durations, arrays, tuples, and
//! glam's types.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::Components;
use super::lane::{load_wide, store_wide};
use super::{Field, FieldKind, Pack, Share, derived};
use crate::frame::Carrier;
use crate::{Between, EncodeError, EntityId};

/// Implements `Pack` for plain values: `$to` gives a value's bits, `$raw` its raw words, `$from`
/// makes a value from bits, `$between` interpolates, and `$displace` displaces.
macro_rules! plain {
    ($(
        $type:ty, $kind:expr, $lanes:literal, $to:expr, $raw:expr, $from:expr, $between:expr,
        $displace:expr;
    )*) => {$(
        impl Pack for $type {
            const LANES: usize = $lanes;

            fn fields(path: &str, fields: &mut Vec<Field>) {
                fields.push(Field::new(path, $kind));
            }

            #[inline]
            fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
                let bits: u64 = $to(*self);
                store_wide(lanes, bits);
                Ok(())
            }

            #[inline]
            fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
                let words: [u64; $lanes] = $raw(*self);
                raw.copy_from_slice(&words);
                Ok(())
            }

            #[inline]
            fn reconstruct(lanes: &[u32]) -> Self {
                $from(load_wide(lanes))
            }

            #[inline]
            fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
                let (from, to) = (Self::reconstruct(from), Self::reconstruct(to));
                at.end(from, to).unwrap_or_else(|| $between(at, from, to))
            }

            #[inline]
            fn displace(&mut self, from: &Self, to: &Self, share: Share) {
                $displace(self, from, to, share);
            }
        }
    )*};
}

/// Displaces a value that is not blended: it stays.
fn stay<T>(_: &mut T, _: &T, _: &T, _: Share) {}

/// Displaces a number without limits.
fn displace_raw<T: Components>(now: &mut T, from: &T, to: &T, share: Share) {
    derived::displace_floats(now, from, to, &[], share);
}

macro_rules! plain_integers {
    ($($type:ident, $lanes:literal;)*) => { plain! {$(
        $type,
        FieldKind::Integer(derived::full_range($type::MIN as i128, $type::MAX as i128)),
        $lanes,
        |value: $type| value.wrapping_sub($type::MIN) as u64 & (u64::MAX >> (64 - $type::BITS)),
        |value: $type| core::array::from_fn(|word| if word == 0 { value as u64 } else { 0 }),
        |bits: u64| $type::MIN.wrapping_add(bits as $type),
        Between::step,
        stay;
    )*} };
}

plain! {
    bool, FieldKind::Bool, 1, |value: bool| u64::from(value), |value: bool| [u64::from(value)], |bits: u64| bits != 0, Between::step, stay;
    f32, FieldKind::Raw { lanes: 1 }, 1, |value: f32| u64::from(value.to_bits()), |value: f32| [u64::from(value.to_bits())],
        |bits: u64| f32::from_bits(bits as u32),
        |at: Between, from, to| {
            let value = at.linear(f64::from(from), f64::from(to)) as f32;
            if value.is_infinite() { at.step(from, to) } else { value }
        }, displace_raw;
    f64, FieldKind::Raw { lanes: 2 }, 2, |value: f64| value.to_bits(),
        |value: f64| [value.to_bits() & u64::from(u32::MAX), value.to_bits() >> 32], f64::from_bits, Between::linear, displace_raw;
}

plain_integers! {
    u8, 1; u16, 1; u32, 1; u64, 2;
    i8, 1; i16, 1; i32, 1; i64, 2;
}

plain! {
    EntityId, FieldKind::Integer(derived::full_range(0, u32::MAX as i128)), 1, |id: EntityId| id.0.into(),
        |id: EntityId| [id.0.into()], |bits: u64| EntityId(bits as u32), Between::step, stay;
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const LANES: usize = N * T::LANES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let first = fields.len();
        for index in 0..N {
            T::fields(&alloc::format!("{path}[{index}]"), fields);
        }
        // An array of bare numbers is one field, because its elements change together.
        if N > 0
            && N < 128
            && fields[first..].iter().all(|field| matches!(field.kind, FieldKind::Raw { lanes: 1 }))
        {
            fields.truncate(first);
            fields.push(Field::new(String::from(path), FieldKind::Raw { lanes: N as u8 }));
        }
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.iter()
            .zip(lanes.chunks_mut(T::LANES.max(1)))
            .try_for_each(|(part, lanes)| part.quantize(lanes))
    }

    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        self.iter()
            .zip(raw.chunks_mut(T::LANES.max(1)))
            .try_for_each(|(part, raw)| part.store_raw(raw))
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        core::array::from_fn(|index| T::reconstruct(part::<T>(lanes, index)))
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        core::array::from_fn(|index| {
            T::interpolate(part::<T>(from, index), part::<T>(to, index), at)
        })
    }

    fn to_world(&mut self, ends: Option<[&Self; 2]>, carrier: &Carrier) {
        for (index, part) in self.iter_mut().enumerate() {
            part.to_world(ends.map(|ends| ends.map(|end| &end[index])), carrier);
        }
    }

    fn displace(&mut self, from: &Self, to: &Self, share: Share) {
        let ends = from.iter().zip(to);
        self.iter_mut().zip(ends).for_each(|(now, (from, to))| now.displace(from, to, share));
    }
}

/// Returns the lanes of one element of an array.
#[inline]
fn part<T: Pack>(lanes: &[u32], index: usize) -> &[u32] {
    &lanes[index * T::LANES..(index + 1) * T::LANES]
}

/// Implements `Pack` for tuples: `$lanes` is a variable for the lanes of each element.
macro_rules! tuples {
    ($($($type:ident $lanes:ident $index:tt),+;)*) => {$(
        // Without this attribute, compiler errors would list all eight tuples before the types that
        // the reader needs.
        #[diagnostic::do_not_recommend]
        impl<$($type: Pack),+> Pack for ($($type,)+) {
            const LANES: usize = 0 $(+ $type::LANES)+;

            fn fields(path: &str, fields: &mut Vec<Field>) {
                $($type::fields(&derived::join(path, stringify!($index)), fields);)+
            }

            #[inline]
            fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
                $(
                    let (part, lanes) = lanes.split_at_mut($type::LANES);
                    self.$index.quantize(part)?;
                )+
                let _ = lanes;
                Ok(())
            }

            #[inline]
            fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
                $(
                    let (part, raw) = raw.split_at_mut($type::LANES);
                    self.$index.store_raw(part)?;
                )+
                let _ = raw;
                Ok(())
            }

            #[inline]
            fn reconstruct(lanes: &[u32]) -> Self {
                $(let ($lanes, lanes) = lanes.split_at($type::LANES);)+
                let _ = lanes;
                ($($type::reconstruct($lanes),)+)
            }

            #[inline]
            fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
                let mut lanes = derived::LanePair::new(from, to, Self::LANES);
                $(let $lanes = lanes.split($type::LANES);)+
                ($($type::interpolate($lanes.from, $lanes.to, at),)+)
            }

            #[inline]
            fn to_world(&mut self, ends: Option<[&Self; 2]>, carrier: &Carrier) {
                $(self.$index.to_world(ends.map(|ends| ends.map(|end| &end.$index)), carrier);)+
            }

            #[inline]
            fn displace(&mut self, from: &Self, to: &Self, share: Share) {
                $(self.$index.displace(&from.$index, &to.$index, share);)+
            }
        }
    )*};
}

tuples! {
    A a 0;
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, D d 3;
    A a 0, B b 1, C c 2, D d 3, E e 4;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7;
}

/// A duration is coded as nanoseconds in a `u64`. A duration of more than `u64::MAX` nanoseconds,
/// 584 years, is an error.
impl Pack for Duration {
    const LANES: usize = u64::LANES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        u64::fields(path, fields);
    }

    #[inline]
    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        nanoseconds(self)?.quantize(lanes)
    }

    #[inline]
    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        nanoseconds(self)?.store_raw(raw)
    }

    #[inline]
    fn reconstruct(lanes: &[u32]) -> Self {
        Self::from_nanos(u64::reconstruct(lanes))
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        let (from, to) = (u64::reconstruct(from), u64::reconstruct(to));
        Self::from_nanos(at.within().end(from, to).unwrap_or_else(|| {
            // Scales the difference, because an `f64` does not hold large numbers of nanoseconds
            // exactly.
            let part = libm::round(from.abs_diff(to) as f64 * f64::from(at.ratio)) as u64;
            if from < to {
                from.saturating_add(part).min(to)
            } else {
                from.saturating_sub(part).max(to)
            }
        }))
    }
}

/// Returns the nanoseconds of `duration`. If they exceed a `u64`, the error has the duration in
/// seconds.
fn nanoseconds(duration: &Duration) -> Result<u64, EncodeError> {
    u64::try_from(duration.as_nanos()).map_err(|_| EncodeError::OutOfRange {
        id: None,
        field: "",
        value: duration.as_secs_f64(),
    })
}

/// Interpolates between two quaternions that are not quantized. If one of them has no direction,
/// the result is `from` below ratio 1, then `to`.
#[cfg(feature = "glam")]
fn interpolate_raw_rotation<T>(from: &[u32], to: &[u32], at: Between) -> [T; 4]
where
    T: Copy + PartialEq,
    [T; 4]: Pack + Components<Array = [f64; 4]>,
{
    let [from, to] = [from, to].map(<[T; 4] as Pack>::reconstruct);
    let end = if from == to { Some(from) } else { at.end(from, to) };
    end.or_else(|| at.slerp(from.components(), to.components()).map(Components::from_components))
        .unwrap_or(from)
}

#[cfg(feature = "glam")]
macro_rules! plain_glam {
    ($($type:ty, $array:ty, $interpolate:expr, $displace:expr;)*) => {$(
        impl Pack for $type {
            const LANES: usize = <$array as Pack>::LANES;

            fn fields(path: &str, fields: &mut Vec<Field>) {
                <$array as Pack>::fields(path, fields);
            }

            fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
                Pack::quantize(&self.to_array(), lanes)
            }

            fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
                self.to_array().store_raw(raw)
            }

            fn reconstruct(lanes: &[u32]) -> Self {
                <$type>::from_array(Pack::reconstruct(lanes))
            }

            fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
                <$type>::from_array($interpolate(from, to, at))
            }

            fn displace(&mut self, from: &Self, to: &Self, share: Share) {
                $displace(self, from, to, share);
            }
        }
    )*};
}

#[cfg(feature = "glam")]
plain_glam! {
    glam::Vec2, [f32; 2], Pack::interpolate, displace_raw;
    glam::Vec3, [f32; 3], Pack::interpolate, displace_raw;
    glam::Vec3A, [f32; 3], Pack::interpolate, displace_raw;
    glam::Vec4, [f32; 4], Pack::interpolate, displace_raw;
    glam::Quat, [f32; 4], interpolate_raw_rotation::<f32>, derived::displace_rotation;
    glam::DVec2, [f64; 2], Pack::interpolate, displace_raw;
    glam::DVec3, [f64; 3], Pack::interpolate, displace_raw;
    glam::DVec4, [f64; 4], Pack::interpolate, displace_raw;
    glam::DQuat, [f64; 4], interpolate_raw_rotation::<f64>, derived::displace_rotation;
    glam::IVec2, [i32; 2], Pack::interpolate, stay;
    glam::IVec3, [i32; 3], Pack::interpolate, stay;
    glam::IVec4, [i32; 4], Pack::interpolate, stay;
    glam::UVec2, [u32; 2], Pack::interpolate, stay;
    glam::UVec3, [u32; 3], Pack::interpolate, stay;
    glam::UVec4, [u32; 4], Pack::interpolate, stay;
}
