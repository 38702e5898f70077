//! Stamps of what a client drew: written by its receiver, sent as a field of its inputs, and given
//! to the hub, which rewinds to what the player saw.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use kinepack::Pack;
use kinepack_net::Seen;

use crate::KpStatus;
use crate::columns::{KpColumn, KpNumber, KpTarget};
use crate::handles::lock;
use crate::memory::{self, give_list};
use crate::schema_builder::{BUILDERS, KpSchemaBuilder};
use crate::status::{Failure, call};

/// The number of fields that `kp_schema_builder_seen` adds to a kind, and so of the columns and
/// targets of a stamp.
pub const KP_SEEN_FIELDS: usize = 5;

/// What a client drew when it made an input: the moment of its playback, and which snapshots it had
/// then. `kp_receiver_seen` writes it. Store it in the struct of your input, send it with the
/// input, and give it to `kp_hub_rewind`. A stamp whose bytes are all 0 says that nothing was shown
/// yet.
///
/// The members are the numbers of the fields that `kp_schema_builder_seen` adds. As fields and not
/// opaque bytes, a stream of level "adaptive" codes a stamp in about a byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KpSeen {
    /// The moment: a tick with its fraction, modulo 256, in steps of 1/64.
    pub moment: f32,
    /// The newest datagram that had arrived: the lower eight bits of its number.
    pub newest: f32,
    /// 1 if a state was shown. If 0, the stamp's other fields are absent in the input.
    pub is_shown: u8,
    /// The number of the newest full state. It is 0 before the first.
    pub full_state: u8,
    /// Up to 16 runs of missing datagrams. Each has the number of its newest datagram, as in
    /// `newest`, and a count of datagrams, which is 0 without a run.
    pub missing: [u8; 32],
}

/// The lanes before those of `missing`.
const HEAD: usize = 3;
/// A moment has this many steps in a tick.
const STEPS: f32 = 64.0;
const _: () = assert!(Seen::LANES == HEAD + size_of::<[u8; 32]>());

/// Where the numbers of each field are in a stamp, and their type.
const MEMBERS: [(usize, KpNumber); KP_SEEN_FIELDS] = [
    (offset_of!(KpSeen, is_shown), KpNumber::U8),
    (offset_of!(KpSeen, moment), KpNumber::F32),
    (offset_of!(KpSeen, newest), KpNumber::F32),
    (offset_of!(KpSeen, full_state), KpNumber::U8),
    (offset_of!(KpSeen, missing), KpNumber::U8),
];

/// Adds the `KP_SEEN_FIELDS` fields of a stamp, for the inputs of players. They are those of a
/// field `name` of the type `Option<Seen>` in Rust, so both schemas are the same. The first of them
/// is named `name` with a question mark.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_seen(
    builder: KpSchemaBuilder,
    name: *const c_char,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        let mut fields = Vec::new();
        Option::<Seen>::fields(name, &mut fields);
        lock(&*BUILDERS.get(builder.id)?).add_fixed(fields);
        Ok(())
    })
}

/// Writes the `KP_SEEN_FIELDS` columns of a stamp, if they fit into `capacity`: for
/// `kp_stream_push`, in their place among the columns of the input. `stride` is the number of bytes
/// from the stamp of one input to that of the next. The stamp itself is read later, by the call
/// that gets the columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_seen_columns(
    seen: *const KpSeen,
    stride: usize,
    columns: *mut KpColumn,
    capacity: usize,
) -> KpStatus {
    let of_member = |(offset, number): (usize, KpNumber)| KpColumn {
        data: member(seen, offset),
        stride,
        number: number as i32,
        clamp: 0,
    };
    // SAFETY: the caller guarantees that `columns` has `capacity` writable values until this call
    // returns.
    unsafe { write_members(of_member, columns, capacity) }
}

/// Writes the `KP_SEEN_FIELDS` targets of a stamp, if they fit into `capacity`: for
/// `kp_stream_read`, in their place among the targets of the input. `stride` is the number of bytes
/// from the stamp of one input to that of the next. The stamp itself is written later, by the call
/// that gets the targets. If `seen` is null, that call skips the stamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_seen_targets(
    seen: *mut KpSeen,
    stride: usize,
    targets: *mut KpTarget,
    capacity: usize,
) -> KpStatus {
    let of_member = |(offset, number): (usize, KpNumber)| KpTarget {
        data: member(seen, offset).cast_mut(),
        stride,
        number: number as i32,
    };
    // SAFETY: the caller guarantees that `targets` has `capacity` writable values until this call
    // returns.
    unsafe { write_members(of_member, targets, capacity) }
}

impl KpSeen {
    /// The stamp of a receiver. `None` before the first state.
    pub(crate) fn of(seen: Option<Seen>) -> Result<Self, Failure> {
        let mut lanes = [0; Seen::LANES];
        if let Some(seen) = seen {
            seen.quantize(&mut lanes).map_err(Failure::argument)?;
        }
        Ok(Self {
            moment: lanes[0] as f32 / STEPS,
            newest: lanes[1] as f32,
            is_shown: seen.is_some().into(),
            full_state: lanes[2] as u8,
            missing: std::array::from_fn(|byte| lanes[HEAD + byte] as u8),
        })
    }

    /// The stamp for a hub. `None` if nothing was shown.
    pub(crate) fn seen(&self) -> Result<Option<Seen>, Failure> {
        if self.is_shown == 0 {
            return Ok(None);
        }
        let whole = |number: f32, end: f32| {
            let is_whole = number.fract() == 0.0 && (0.0..end).contains(&number);
            let text = "the stamp has a number that no kp_receiver_seen and no stream writes";
            if is_whole { Ok(number as u32) } else { Err(Failure::argument(text)) }
        };
        let mut lanes = [0; Seen::LANES];
        lanes[0] = whole(self.moment * STEPS, 256.0 * STEPS)?;
        lanes[1] = whole(self.newest, 256.0)?;
        lanes[2] = self.full_state.into();
        lanes[HEAD..].copy_from_slice(&self.missing.map(u32::from));
        Ok(Some(Seen::reconstruct(&lanes)))
    }
}

/// The address of a stamp's member. It is null without a stamp.
fn member(seen: *const KpSeen, offset: usize) -> *const c_void {
    if seen.is_null() { std::ptr::null() } else { seen.wrapping_byte_add(offset).cast() }
}

/// Writes what `of_member` returns for each field of a stamp.
///
/// # Safety
/// `list` is null or has `capacity` writable values.
unsafe fn write_members<T>(
    of_member: impl Fn((usize, KpNumber)) -> T,
    list: *mut T,
    capacity: usize,
) -> KpStatus {
    call(|| {
        let mut count = 0;
        // SAFETY: the caller guarantees that `list` has `capacity` writable values. `count` is a
        // variable of this function.
        unsafe { give_list(MEMBERS.into_iter().map(of_member), list, capacity, &raw mut count) }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use kinepack::Schema;

    use super::*;
    use crate::columns::{World, write_rows};
    use crate::schema::SCHEMAS;
    use crate::schema_builder::{
        kp_schema_builder_bool, kp_schema_builder_build, kp_schema_builder_new,
        kp_schema_builder_role,
    };

    #[derive(Pack)]
    struct Input {
        fires: bool,
        seen: Option<Seen>,
    }

    /// The schema of inputs as a program in C builds it.
    fn schema_of_c() -> Schema {
        let (mut builder, mut schema) =
            (KpSchemaBuilder { id: 0 }, crate::schema::KpSchema { id: 0 });
        // SAFETY: the texts are zero-terminated, and the results are variables of this function.
        let all = unsafe {
            [
                kp_schema_builder_new(&raw mut builder),
                kp_schema_builder_bool(builder, c"fires".as_ptr()),
                kp_schema_builder_seen(builder, c"seen".as_ptr()),
                // The server would not find the stamp if its last field could be changed.
                kp_schema_builder_role(builder, 6),
                kp_schema_builder_build(builder, &raw mut schema),
            ]
        };
        let [ok, refused] = [KpStatus::Ok, KpStatus::Argument];
        assert_eq!(all, [ok, ok, ok, refused, ok]);
        let built = Schema::clone(&*SCHEMAS.get(schema.id).unwrap());
        SCHEMAS.remove(schema.id).unwrap();
        built
    }

    /// Stamps with all moments and many missing datagrams.
    fn stamps() -> impl Iterator<Item = Option<Seen>> {
        let stamp = |nth: u32| {
            let bits = |byte: u32| nth.wrapping_mul(2_654_435_761).rotate_left(byte) & 255;
            let mut lanes: Vec<u32> = (0..Seen::LANES as u32).map(bits).collect();
            lanes[0] = nth;
            Seen::reconstruct(&lanes)
        };
        std::iter::once(None).chain((0..=u16::MAX.into()).step_by(7).map(stamp).map(Some))
    }

    #[test]
    fn a_program_in_c_has_the_same_schema_as_one_in_rust() {
        assert_eq!(schema_of_c().hash(), Schema::of::<Input>().hash());
    }

    #[test]
    fn stamps_pass_through_columns_and_targets() {
        let schema = schema_of_c();
        let mut records = World::new(&schema);
        for seen in stamps() {
            let of_c = KpSeen::of(seen).unwrap();
            assert_eq!(of_c.seen().unwrap(), seen);
            let fires = 1u8;
            let fires = (&raw const fires).cast();
            let mut columns =
                [KpColumn { data: fires, stride: 0, number: 6, clamp: 0 }; 1 + KP_SEEN_FIELDS];
            let mut expected = [0; Input::LANES];
            Input { fires: true, seen }.quantize(&mut expected).unwrap();
            // SAFETY: all columns have readable numbers, and there is room for all of a stamp's.
            unsafe {
                let rest = columns[1..].as_mut_ptr();
                assert_eq!(kp_seen_columns(&raw const of_c, 0, rest, KP_SEEN_FIELDS), KpStatus::Ok);
                records.set_record(0, &columns).unwrap();
            }
            let lanes: Vec<u32> = records.snapshot.lanes_at(0).collect();
            assert_eq!(lanes, expected);

            let mut read = KpSeen::of(None).unwrap();
            let nothing = KpTarget { data: std::ptr::null_mut(), stride: 0, number: 6 };
            let mut targets = [nothing; 1 + KP_SEEN_FIELDS];
            // SAFETY: all targets have writable numbers, and there is room for all of a stamp's.
            unsafe {
                let rest = targets[1..].as_mut_ptr();
                assert_eq!(kp_seen_targets(&raw mut read, 0, rest, KP_SEEN_FIELDS), KpStatus::Ok);
                let words = |_: usize, words: &mut [u64]| schema.reconstruct_raw(&lanes, words);
                write_rows(schema.fields(), &targets, 1, 1, words).unwrap();
            }
            assert_eq!(read, of_c);
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let step = 1.0 / STEPS;
        let good = KpSeen { is_shown: 1, moment: 256.0 - step, ..KpSeen::of(None).unwrap() };
        assert!(good.seen().is_ok());
        for moment in [-step, 256.0, step / 2.0, f32::NAN, f32::INFINITY] {
            assert!(KpSeen { moment, ..good }.seen().is_err(), "{moment}");
        }
        for newest in [-1.0, 256.0, 0.5, f32::NAN] {
            assert!(KpSeen { newest, ..good }.seen().is_err(), "{newest}");
        }
    }
}
