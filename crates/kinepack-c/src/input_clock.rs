//! Input clocks, which tell a client the tick to simulate, so that its input reaches the server
//! just before the server simulates the same tick.

use std::sync::Mutex;
use std::time::Duration;

use kinepack_net::{InputClock, InputClockConfig};

use crate::KpStatus;
use crate::handles::{Handles, lock};
use crate::memory::{check_out, duration, optional, or_default, put, slice, time};
use crate::receiver::{KpReceiver, RECEIVERS};
use crate::status::{Failure, call};
use crate::stream::{KpStreamSender, SENDERS};

/// The clock of a client that simulates its own inputs ahead of the server. It leads the server by
/// the time that inputs need, plus a margin for their jitter. It follows the network by running a
/// few per cent faster or slower. The tick never goes backwards until the next start.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpInputClock {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static INPUT_CLOCKS: Handles<Mutex<InputClock>> = Handles::new(30, "an input clock");

/// How an input clock trades delay for inputs that arrive in time. A number of 0 selects the
/// default, which suits the open Internet.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpInputClockOptions {
    /// The share of inputs that should arrive in time, at most 1. A late input costs a wrong
    /// prediction; a longer lead costs delay in each input's effect. Default: 0.998.
    pub in_time_ratio: f32,
    /// How much faster or slower the clock may run, at most 0.5. Default: 0.05.
    pub slew_ratio: f32,
    /// How early the latest of these inputs should arrive, for the server's own delays, such as
    /// reading its socket only once in each tick. Default: 2. A negative number means no margin.
    pub margin_ms: i32,
    /// If inputs are later than they should be by more than this, the clock jumps forward. Until
    /// then, the clock only runs faster. Default: 70.
    pub jump_forward_ms: u32,
    /// If inputs are earlier than they should be by more than this, the clock jumps back: there are
    /// no ticks for that time. Until then, the clock only runs slower. Default: 500.
    pub jump_back_ms: u32,
    /// How long a late input is remembered. Default: 10,000.
    pub window_ms: u32,
    /// The longest time between two calls of `kp_input_clock_ticks` that counts as usual. The clock
    /// learns nothing from the inputs after a longer pause. Default: 100.
    pub longest_frame_ms: u32,
}

/// Measurements of an input clock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpInputClockStatus {
    /// Not 0 if the clock was started.
    pub started: i32,
    /// The number of ticks that the clock returned.
    pub ticks: u64,
    /// The number of ticks that the clock skipped, because they were too many to simulate at once.
    pub skipped: u64,
    /// How many times the clock jumped forward or back, instead of running faster or slower.
    pub jumps: u64,
    /// The number of reports that the clock learned from.
    pub reports: u64,
    /// How early the input of the last report arrived, in ticks. Negative if it was late. About
    /// half of the reports are of the least early of 16 inputs.
    pub early_ticks: f64,
    /// How far the clock is from the lead that it needs. Positive if the clock runs faster to get
    /// there.
    pub error_ms: f64,
}

/// Creates an input clock for a server with `tick_hz` ticks per second, and one input for each
/// tick. `options` may be null. The clock waits for its start. The caller frees `*out` with
/// `kp_input_clock_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_input_clock_new(
    tick_hz: u32,
    options: *const KpInputClockOptions,
    out: *mut KpInputClock,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let mut config = InputClockConfig::at_hz(tick_hz);
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        if let Some(options) = unsafe { optional(options)? } {
            set(&mut config, options);
        }
        let clock = InputClock::new(config).map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpInputClock { id: INPUT_CLOCKS.add(Mutex::new(clock)) }) }
    })
}

/// Starts the clock at `tick`, which may have a fraction. It should be the server's tick when an
/// input that is sent now arrives, plus one or two. An error costs late inputs, or a longer delay,
/// for one round trip. Start the clock again after a reconnection, or if the server's ticks start
/// again. This forgets what the clock learned.
#[unsafe(no_mangle)]
pub extern "C" fn kp_input_clock_start(clock: KpInputClock, now_ns: u64, tick: f64) -> KpStatus {
    call(|| {
        if !(0.0..=f64::from(u32::MAX)).contains(&tick) {
            return Err(Failure::argument(format!("{tick} is no tick of a server")));
        }
        lock(&*INPUT_CLOCKS.get(clock.id)?).start(time(now_ns), tick);
        Ok(())
    })
}

/// Starts the clock from what a receiver of the same server knows: the server's tick, and the round
/// trip. Returns `KP_STATUS_NOTHING`, and does nothing, as long as these are not known.
#[unsafe(no_mangle)]
pub extern "C" fn kp_input_clock_start_from(
    clock: KpInputClock,
    now_ns: u64,
    receiver: KpReceiver,
) -> KpStatus {
    call(|| {
        let (clock, receiver) = (INPUT_CLOCKS.get(clock.id)?, RECEIVERS.get(receiver.id)?);
        let status = lock(&receiver).receiver.status(time(now_ns));
        if lock(&clock).start_from(time(now_ns), &status) {
            Ok(())
        } else {
            Err(Failure::nothing("the receiver does not know the server's tick yet"))
        }
    })
}

/// Writes the ticks to simulate at `now_ns`: `*count` consecutive ticks from `*first` on, at most
/// 16. Call this function in each frame, and `kp_stream_push_for_tick` for each tick. If more ticks
/// became due since the last call, for example because the game was in the background, the earlier
/// ones are skipped. Both numbers are 0 if no tick is due, as before the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_input_clock_ticks(
    clock: KpInputClock,
    now_ns: u64,
    first: *mut u32,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(first)?;
        check_out(count)?;
        let mut ticks = lock(&*INPUT_CLOCKS.get(clock.id)?).ticks(time(now_ns));
        let due = ticks.len();
        // SAFETY: the caller guarantees that `first` and `count` are writable until this call
        // returns.
        unsafe {
            put(first, ticks.next().map_or(0, |tick| tick.0))?;
            put(count, due)
        }
    })
}

/// Writes the clock's tick at the last call, with its fraction. Returns `KP_STATUS_NOTHING` before
/// the start. The newest tick of `kp_input_clock_ticks` is the whole part, unless the clock jumped
/// back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_input_clock_tick(clock: KpInputClock, tick: *mut f64) -> KpStatus {
    call(|| {
        check_out(tick)?;
        let clock = INPUT_CLOCKS.get(clock.id)?;
        let clock = lock(&clock);
        if !clock.is_started() {
            return Err(Failure::nothing("the clock was not started"));
        }
        // SAFETY: the caller guarantees that `tick` is writable until this call returns.
        unsafe { put(tick, clock.tick()) }
    })
}

/// Handles an acknowledgement of the stream of inputs, like `kp_stream_sender_handle`, and shows it
/// to the clock, which learns how early the inputs arrive. Call this function instead of that one.
/// The server must read the inputs with `kp_stream_read_for_tick`. Returns `KP_STATUS_DATA` for an
/// invalid acknowledgement, which changes only a counter of the sender.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_input_clock_handle(
    clock: KpInputClock,
    now_ns: u64,
    sender: KpStreamSender,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
        let datagram = unsafe { slice(datagram, size)? };
        let (clock, sender) = (INPUT_CLOCKS.get(clock.id)?, SENDERS.get(sender.id)?);
        let acknowledgement = lock(&sender).sender.handle(datagram).map_err(Failure::data)?;
        lock(&clock).observe(time(now_ns), &acknowledgement);
        Ok(())
    })
}

/// Writes measurements of the clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_input_clock_status(
    clock: KpInputClock,
    out: *mut KpInputClockStatus,
) -> KpStatus {
    call(|| {
        let clock = INPUT_CLOCKS.get(clock.id)?;
        let clock = lock(&clock);
        let stats = clock.stats();
        let described = KpInputClockStatus {
            started: clock.is_started().into(),
            ticks: stats.ticks,
            skipped: stats.skipped,
            jumps: stats.jumps,
            reports: stats.reports,
            early_ticks: stats.early_ticks,
            error_ms: 1000.0 * stats.error_s,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Frees an input clock.
#[unsafe(no_mangle)]
pub extern "C" fn kp_input_clock_free(clock: KpInputClock) -> KpStatus {
    call(|| INPUT_CLOCKS.remove(clock.id))
}

/// Sets those options that are not 0.
fn set(config: &mut InputClockConfig, options: &KpInputClockOptions) {
    let set = |to: &mut Duration, ms: u32| *to = or_default(duration(ms), *to);
    set(&mut config.jump_forward, options.jump_forward_ms);
    set(&mut config.jump_back, options.jump_back_ms);
    set(&mut config.window, options.window_ms);
    set(&mut config.longest_frame, options.longest_frame_ms);
    if options.margin_ms != 0 {
        config.margin = duration(u32::try_from(options.margin_ms).unwrap_or(0));
    }
    config.in_time_ratio = or_default(options.in_time_ratio, config.in_time_ratio);
    config.slew_ratio = or_default(options.slew_ratio, config.slew_ratio);
}
