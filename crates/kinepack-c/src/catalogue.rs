//! Catalogues: the tiers of a broadcast, which publishers make and viewers read.

use std::ffi::c_char;

use kinepack_crowd::{Carry, Catalogue, CrowdError, Tier, Track};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::Handles;
use crate::memory::{self, check_out, give, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// What a broadcast consists of: one world in several forms, its tiers. It does not change.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpCatalogue {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static CATALOGUES: Handles<Catalogue> = Handles::new(24, "a catalogue");

/// How a tier travels.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpCarry {
    /// In groups: each snapshot is coded against the one before, and takes the fewest bits. A viewer
    /// sees a lost packet as a delay.
    Groups = 0,
    /// In datagrams that are coded against the beginning of the group: a lost one costs one snapshot and
    /// no delay.
    Datagrams = 1,
}

/// A tier to make.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTier {
    /// The name of its track: up to 64 lower-case letters, digits, `-`, `.` and `_`.
    pub name: *const c_char,
    /// How its snapshots are coded. All tiers have the same schema; only the time precision of its fields
    /// may differ.
    pub codec: KpCodec,
    /// A `KpCarry`.
    pub carry: i32,
    /// Ticks from one snapshot to the next. 0: 1.
    pub ticks_per_frame: u32,
    /// The most ticks of a group, at most 127 in datagrams. A viewer joins at the beginning of one.
    pub ticks_per_group: u32,
    /// How many snapshots travel together in an object, at most 16. 0: 1. Each object has about 50 bytes
    /// of headers, and its first snapshot waits for the last.
    pub frames_per_object: u32,
}

/// What a tier is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTierInfo {
    /// A `KpCarry`.
    pub carry: i32,
    /// Ticks from one snapshot to the next.
    pub ticks_per_frame: u32,
    /// The most ticks of a group.
    pub ticks_per_group: u32,
    /// How many snapshots travel together.
    pub frames_per_object: u32,
}

/// A track of a tier.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpTrackKind {
    /// Its snapshots.
    Snapshots = 0,
    /// Its key snapshots, which viewers need to join.
    Keys = 1,
}

/// What a transport carries as one track: groups of objects, and datagrams.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTrack {
    /// The number of the tier.
    pub tier: u32,
    /// A `KpTrackKind`.
    pub kind: i32,
}

/// A catalogue of a simulation with this many ticks a second, and these tiers. Their numbers are their
/// places in the list. The caller frees `*out` with `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_new(
    tick_hz: u32,
    tiers: *const KpTier,
    count: usize,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends the tiers with their names.
        let tiers = unsafe { slice(tiers, count)?.iter().map(|tier| tier_of(tier)) };
        let tiers = tiers.collect::<Result<Vec<_>, Failure>>()?;
        let catalogue = Catalogue::new(ticks(tick_hz)?, tiers).map_err(Failure::argument)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// A catalogue with the tiers that suit most broadcasts: all snapshots ("full"), one in three ("third"),
/// one in eight ("eighth"), and all in datagrams ("fast"). If the schema has bodies, also one in three
/// with less precision for bodies that move ("coarse"). The caller frees `*out` with
/// `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_standard(
    tick_hz: u32,
    codec: KpCodec,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = CODECS.get(codec.id)?;
        let catalogue = Catalogue::standard(ticks(tick_hz)?, &codec).map_err(Failure::argument)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// Reads a catalogue: the object of the track "catalogue". The caller frees `*out` with
/// `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends `size` bytes.
        let bytes = unsafe { slice(bytes, size)? };
        let catalogue = Catalogue::from_bytes(bytes).map_err(Failure::data)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// The bytes of a catalogue, to publish as the object of the track "catalogue": `*size` bytes, if they
/// are at most `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_to_bytes(
    catalogue: KpCatalogue,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let written = CATALOGUES.get(catalogue.id)?.to_bytes();
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give(&written, bytes, capacity, size) }
    })
}

/// The ticks a second of a broadcast, and its number of tiers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_info(
    catalogue: KpCatalogue,
    tick_hz: *mut u32,
    tiers: *mut u32,
) -> KpStatus {
    call(|| {
        check_out(tiers)?;
        let catalogue = CATALOGUES.get(catalogue.id)?;
        // SAFETY: both are the caller's.
        unsafe {
            put(tick_hz, catalogue.tick_hz().into())?;
            put(tiers, catalogue.tiers().len() as u32)
        }
    })
}

/// The schema of the world. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_schema(
    catalogue: KpCatalogue,
    out: *mut KpSchema,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let schema = CATALOGUES.get(catalogue.id)?.tiers()[0].codec.schema().clone();
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// What a tier is. All tiers are numbered from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_tier(
    catalogue: KpCatalogue,
    tier: u32,
    out: *mut KpTierInfo,
) -> KpStatus {
    call(|| {
        let catalogue = CATALOGUES.get(catalogue.id)?;
        let tier = catalogue.tiers().get(tier as usize).ok_or_else(|| no_tier(tier))?;
        let described = KpTierInfo {
            carry: match tier.carry {
                Carry::Groups => KpCarry::Groups as i32,
                Carry::Datagrams => KpCarry::Datagrams as i32,
            },
            ticks_per_frame: tier.ticks_per_frame.into(),
            ticks_per_group: tier.ticks_per_group.into(),
            frames_per_object: tier.frames_per_object.into(),
        };
        // SAFETY: `out` is the caller's.
        unsafe { put(out, described) }
    })
}

/// The number of the tier with a name. `KP_STATUS_NOTHING` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_find(
    catalogue: KpCatalogue,
    name: *const c_char,
    tier: *mut u32,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends a text.
        let name = unsafe { memory::text(name)? };
        let found = CATALOGUES.get(catalogue.id)?.find(name);
        let nothing = || Failure::new(KpStatus::Nothing, format!("no tier is named {name:?}"));
        // SAFETY: `tier` is the caller's.
        unsafe { put(tier, found.ok_or_else(nothing)? as u32) }
    })
}

/// The name of a track for the transport, with a zero at the end: `*size` bytes, if they are at most
/// `capacity`. For the track of snapshots it is the name of the tier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_track_name(
    catalogue: KpCatalogue,
    track: *const KpTrack,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the track.
        let given = unsafe { memory::required(track)? };
        let track = track_of(given.tier, given.kind)?;
        let found = CATALOGUES.get(catalogue.id)?.name_of(track);
        let found = found.ok_or_else(|| no_tier(given.tier))?;
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give_text(&found, name, capacity, size) }
    })
}

/// Frees a catalogue. What was made with it lives on.
#[unsafe(no_mangle)]
pub extern "C" fn kp_catalogue_free(catalogue: KpCatalogue) -> KpStatus {
    call(|| CATALOGUES.remove(catalogue.id))
}

/// A track by its numbers.
pub(crate) fn track_of(tier: u32, kind: i32) -> Result<Track, Failure> {
    match kind {
        0 => Ok(Track::Snapshots(tier as usize)),
        1 => Ok(Track::Keys(tier as usize)),
        _ => Err(Failure::argument(format!("no KpTrackKind is {kind}"))),
    }
}

/// The numbers of a track.
pub(crate) fn track_to(track: Track) -> KpTrack {
    let kind = match track {
        Track::Snapshots(_) => KpTrackKind::Snapshots,
        Track::Keys(_) => KpTrackKind::Keys,
    };
    KpTrack { tier: track.tier() as u32, kind: kind as i32 }
}

pub(crate) fn no_tier(tier: u32) -> Failure {
    Failure::argument(CrowdError::NoTier { number: tier as usize })
}

fn ticks(tick_hz: u32) -> Result<u16, Failure> {
    let wrong = || Failure::argument(format!("{tick_hz} ticks a second; 65,535 at most"));
    u16::try_from(tick_hz).map_err(|_| wrong())
}

/// A tier of the caller.
///
/// # Safety
/// Its name is a text.
unsafe fn tier_of(given: &KpTier) -> Result<Tier, Failure> {
    // SAFETY: as for this function.
    let name = unsafe { memory::text(given.name)? };
    let too_large = || Failure::argument(format!("the tier {name:?}: a number is too large"));
    let short = |number: u32| u16::try_from(number).map_err(|_| too_large());
    let frames = u8::try_from(given.frames_per_object.max(1)).map_err(|_| too_large())?;
    Ok(Tier {
        name: name.to_owned(),
        carry: match given.carry {
            0 => Carry::Groups,
            1 => Carry::Datagrams,
            carry => return Err(Failure::argument(format!("no KpCarry is {carry}"))),
        },
        ticks_per_frame: short(given.ticks_per_frame.max(1))?,
        ticks_per_group: short(given.ticks_per_group)?,
        frames_per_object: frames,
        codec: Clone::clone(&*CODECS.get(given.codec.id)?),
    })
}
