//! Encoders and decoders: snapshots to packets and back, relative to views that both sides hold.

use std::sync::{Arc, Mutex};

use kinepack::{Baselines, Codec, DecodeError, Decoder, EncodeError, Encoder, Tick, View};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// What both sides hold after a packet: a snapshot, and what the models have learned. It does not
/// change.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpView {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static VIEWS: Handles<View> = Handles::new(5, "a view");

/// Encodes snapshots.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpEncoder {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static ENCODERS: Handles<Mutex<Coder>> = Handles::new(6, "an encoder");

/// Decodes packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpDecoder {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static DECODERS: Handles<Mutex<Decoder>> = Handles::new(7, "a decoder");

/// An encoder, and memory for its packets.
#[derive(Debug)]
pub(crate) struct Coder {
    encoder: Encoder,
    packet: Vec<u8>,
}

/// The view without entities that both sides begin with. The caller frees `*out` with `kp_view_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_empty(schema: KpSchema, out: *mut KpView) -> KpStatus {
    call(|| {
        check_out(out)?;
        let view = View::empty(&*SCHEMAS.get(schema.id)?);
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpView { id: VIEWS.add(view) }) }
    })
}

/// The view of a state that both sides hold, such as a saved one. The caller frees `*out` with
/// `kp_view_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_of(snapshot: KpSnapshot, out: *mut KpView) -> KpStatus {
    call(|| {
        check_out(out)?;
        let view = View::from(lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.clone());
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpView { id: VIEWS.add(view) }) }
    })
}

/// Copies the state of a view into a snapshot of the same schema.
#[unsafe(no_mangle)]
pub extern "C" fn kp_view_get(view: KpView, snapshot: KpSnapshot) -> KpStatus {
    call(|| {
        let (view, world) = (VIEWS.get(view.id)?, SNAPSHOTS.get(snapshot.id)?);
        let mut world = lock(&world);
        world.check_schema(view.schema_hash(), "view")?;
        world.snapshot.copy_from(view.snapshot());
        Ok(())
    })
}

/// The tick of a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_tick(view: KpView, tick: *mut u32) -> KpStatus {
    call(|| {
        let value = VIEWS.get(view.id)?.tick.0;
        // SAFETY: `tick` is the caller's.
        unsafe { put(tick, value) }
    })
}

/// The state check of a view: a hash of 16 bits of its tick and its state. Two sides that hold the same
/// have the same check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_check(view: KpView, check: *mut u16) -> KpStatus {
    call(|| {
        let value = VIEWS.get(view.id)?.check();
        // SAFETY: `check` is the caller's.
        unsafe { put(check, value) }
    })
}

/// Frees a view.
#[unsafe(no_mangle)]
pub extern "C" fn kp_view_free(view: KpView) -> KpStatus {
    call(|| VIEWS.remove(view.id))
}

/// An encoder. The caller frees `*out` with `kp_encoder_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_encoder_new(codec: KpCodec, out: *mut KpEncoder) -> KpStatus {
    call(|| {
        check_out(out)?;
        let encoder = Encoder::new(&codec_of(codec)?);
        let coder = Coder { encoder, packet: Vec::new() };
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpEncoder { id: ENCODERS.add(Mutex::new(coder)) }) }
    })
}

/// Encodes a snapshot relative to one to four views that the other side holds, the newest first:
/// more than one helps the levels "adaptive" and "learning". Writes the packet, of `*size` bytes,
/// and gives the view that the other side will have. If `capacity` is too small, only `*size` is
/// written. The caller frees `*view` with `kp_view_free`; `view` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_encode(
    encoder: KpEncoder,
    views: *const KpView,
    view_count: usize,
    snapshot: KpSnapshot,
    packet: *mut u8,
    capacity: usize,
    size: *mut usize,
    view: *mut KpView,
) -> KpStatus {
    call(|| {
        if !view.is_null() {
            check_out(view)?;
        }
        // SAFETY: the caller lends the views.
        let held = views_of(unsafe { slice(views, view_count)? })?;
        let (coder, world) = (ENCODERS.get(encoder.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut coder, world) = (lock(&coder), lock(&world));
        let Coder { encoder, packet: bytes } = &mut *coder;
        bytes.clear();
        let known = Baselines::new(held.iter().map(|view| &**view)).map_err(Failure::argument)?;
        let refused = |error: EncodeError| Failure::argument(error);
        let sent = encoder.encode(known, &world.snapshot, bytes).map_err(refused)?;
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give(bytes, packet, capacity, size)? };
        if view.is_null() {
            encoder.recycle(sent);
            return Ok(());
        }
        // SAFETY: `view` is the caller's.
        unsafe { put(view, KpView { id: VIEWS.add(sent) }) }
    })
}

/// Frees an encoder.
#[unsafe(no_mangle)]
pub extern "C" fn kp_encoder_free(encoder: KpEncoder) -> KpStatus {
    call(|| ENCODERS.remove(encoder.id))
}

/// A decoder. The caller frees `*out` with `kp_decoder_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_decoder_new(codec: KpCodec, out: *mut KpDecoder) -> KpStatus {
    call(|| {
        check_out(out)?;
        let decoder = Decoder::new(&codec_of(codec)?);
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpDecoder { id: DECODERS.add(Mutex::new(decoder)) }) }
    })
}

/// Decodes a packet relative to the views that it was encoded against, the newest first. Gives the
/// view that it leads to; the caller frees `*view` with `kp_view_free`. Any bytes are refused or are
/// a valid view. `tick` is that of the snapshot; a packet does not contain it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_decode(
    decoder: KpDecoder,
    views: *const KpView,
    view_count: usize,
    packet: *const u8,
    size: usize,
    tick: u32,
    view: *mut KpView,
) -> KpStatus {
    call(|| {
        check_out(view)?;
        // SAFETY: the caller lends the views and the packet.
        let (held, packet) = unsafe { (slice(views, view_count)?, slice(packet, size)?) };
        let held = views_of(held)?;
        let decoder = DECODERS.get(decoder.id)?;
        let mut decoder = lock(&decoder);
        let known = Baselines::new(held.iter().map(|view| &**view)).map_err(Failure::argument)?;
        let refused = |error: DecodeError| Failure::data(error);
        let received = decoder.decode(known, packet, Tick(tick)).map_err(refused)?;
        // SAFETY: `view` is the caller's.
        unsafe { put(view, KpView { id: VIEWS.add(received) }) }
    })
}

/// Frees a decoder.
#[unsafe(no_mangle)]
pub extern "C" fn kp_decoder_free(decoder: KpDecoder) -> KpStatus {
    call(|| DECODERS.remove(decoder.id))
}

fn codec_of(codec: KpCodec) -> Result<Codec, Failure> {
    Ok(Codec::clone(&*CODECS.get(codec.id)?))
}

fn views_of(handles: &[KpView]) -> Result<Vec<Arc<View>>, Failure> {
    handles.iter().map(|view| VIEWS.get(view.id)).collect()
}
