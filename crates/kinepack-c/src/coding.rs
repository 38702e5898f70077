//! Encoders and decoders. They convert snapshots to packets and back, coded against views that both
//! sides hold.

use std::sync::{Arc, Mutex};

use kinepack::{Baselines, Codec, DecodeError, Decoder, EncodeError, Encoder, Tick, View};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// The view that both sides hold after a packet. It contains a snapshot, and the trained state of
/// the models. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpView {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static VIEWS: Handles<View> = Handles::new(5, "a view");

/// Encodes snapshots.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpEncoder {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static ENCODERS: Handles<Mutex<Coder>> = Handles::new(6, "an encoder");

/// Decodes packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpDecoder {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static DECODERS: Handles<Mutex<Decoder>> = Handles::new(7, "a decoder");

/// An encoder, with a buffer for its packets.
#[derive(Debug)]
pub(crate) struct Coder {
    encoder: Encoder,
    packet: Vec<u8>,
}

/// Creates the empty view with which both sides begin. The caller frees `*out` with `kp_view_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_empty(schema: KpSchema, out: *mut KpView) -> KpStatus {
    call(|| {
        check_out(out)?;
        let view = View::empty(&*SCHEMAS.get(schema.id)?);
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpView { id: VIEWS.add(view) }) }
    })
}

/// Creates the view of a state that both sides hold, such as a saved state. The caller frees `*out`
/// with `kp_view_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_of(snapshot: KpSnapshot, out: *mut KpView) -> KpStatus {
    call(|| {
        check_out(out)?;
        let view = View::from(lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.clone());
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
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

/// Writes the tick of a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_tick(view: KpView, tick: *mut u32) -> KpStatus {
    call(|| {
        let value = VIEWS.get(view.id)?.tick.0;
        // SAFETY: the caller guarantees that `tick` is writable until this call returns.
        unsafe { put(tick, value) }
    })
}

/// Writes the state check of a view: a 16-bit hash of its tick and its state. Two sides that hold
/// the same tick and state have the same check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_view_check(view: KpView, check: *mut u16) -> KpStatus {
    call(|| {
        let value = VIEWS.get(view.id)?.check();
        // SAFETY: the caller guarantees that `check` is writable until this call returns.
        unsafe { put(check, value) }
    })
}

/// Frees a view.
#[unsafe(no_mangle)]
pub extern "C" fn kp_view_free(view: KpView) -> KpStatus {
    call(|| VIEWS.remove(view.id))
}

/// Creates an encoder. The caller frees `*out` with `kp_encoder_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_encoder_new(codec: KpCodec, out: *mut KpEncoder) -> KpStatus {
    call(|| {
        check_out(out)?;
        let encoder = Encoder::new(&codec_of(codec)?);
        let coder = Coder { encoder, packet: Vec::new() };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpEncoder { id: ENCODERS.add(Mutex::new(coder)) }) }
    })
}

/// Encodes a snapshot against one to four views that the other side holds, newest first. More than
/// one view helps the levels "adaptive" and "learning". Writes the packet, of `*size` bytes, and
/// returns the view that the other side will have in `*view`. If `capacity` is too small, only
/// `*size` is written. The caller frees `*view` with `kp_view_free`. `view` may be null.
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
        // SAFETY: the caller guarantees that `views` has `view_count` readable values until this
        // call returns.
        let held = views_of(unsafe { slice(views, view_count)? })?;
        let (coder, world) = (ENCODERS.get(encoder.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut coder, world) = (lock(&coder), lock(&world));
        let Coder { encoder, packet: bytes } = &mut *coder;
        bytes.clear();
        let known = Baselines::new(held.iter().map(|view| &**view)).map_err(Failure::argument)?;
        let refused = |error: EncodeError| Failure::argument(error);
        let sent = encoder.encode(known, &world.snapshot, bytes).map_err(refused)?;
        // SAFETY: the caller guarantees that `packet` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(bytes, packet, capacity, size)? };
        if view.is_null() {
            encoder.recycle(sent);
            return Ok(());
        }
        // SAFETY: the caller guarantees that `view` is writable until this call returns.
        unsafe { put(view, KpView { id: VIEWS.add(sent) }) }
    })
}

/// Frees an encoder.
#[unsafe(no_mangle)]
pub extern "C" fn kp_encoder_free(encoder: KpEncoder) -> KpStatus {
    call(|| ENCODERS.remove(encoder.id))
}

/// Creates a decoder. The caller frees `*out` with `kp_decoder_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_decoder_new(codec: KpCodec, out: *mut KpDecoder) -> KpStatus {
    call(|| {
        check_out(out)?;
        let decoder = Decoder::new(&codec_of(codec)?);
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpDecoder { id: DECODERS.add(Mutex::new(decoder)) }) }
    })
}

/// Decodes a packet against the views that it was encoded against, newest first. `tick` is the
/// snapshot's tick, which a packet does not contain. Returns the resulting view in `*view`, which
/// the caller frees with `kp_view_free`. Any bytes are either refused or decoded to a valid view.
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
        // SAFETY: the caller guarantees that `views` has `view_count` readable values and `packet`
        // has `size` readable bytes, until this call returns.
        let (held, packet) = unsafe { (slice(views, view_count)?, slice(packet, size)?) };
        let held = views_of(held)?;
        let decoder = DECODERS.get(decoder.id)?;
        let mut decoder = lock(&decoder);
        let known = Baselines::new(held.iter().map(|view| &**view)).map_err(Failure::argument)?;
        let refused = |error: DecodeError| Failure::data(error);
        let received = decoder.decode(known, packet, Tick(tick)).map_err(refused)?;
        // SAFETY: the caller guarantees that `view` is writable until this call returns.
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
