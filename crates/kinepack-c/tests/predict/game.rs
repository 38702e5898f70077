//! A game that predicts through the C interface: its walkers, their step, and the same step in Rust.

use std::ffi::c_void;
use std::ptr::null_mut;

use kinepack::{EntityId, Pack, Schema, Tick};
use kinepack_c::KpStatus;
use kinepack_c::columns::{KpColumn, KpNumber, KpTarget};
use kinepack_c::predict::{
    KpPredictConfig, KpPrediction, kp_predict_config_at_hz, kp_prediction_add, kp_prediction_free,
    kp_prediction_new, kp_prediction_push,
};
use kinepack_c::predict_correct::{KpCorrection, kp_prediction_correct};
use kinepack_c::predict_read::{
    KpPredictStats, kp_prediction_shown, kp_prediction_state, kp_prediction_stats,
};
use kinepack_c::predict_step::KpStep;
use kinepack_c::schema::{KpSchema, kp_schema_from_bytes};
use kinepack_net::Own;

pub(crate) const ROOM: usize = 3;

/// The numbers are `f64`, so that shown states are equal too.
#[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Walker {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    pub(crate) place: [f64; 2],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    pub(crate) velocity: [f64; 2],
    #[pack(rotation, bits = 12)]
    pub(crate) tilt: [f64; 4],
    #[pack(max = 100)]
    pub(crate) health: u8,
    #[pack(cut)]
    pub(crate) teleports: u8,
}

#[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Input {
    #[pack(range = -1.0..=1.0, bits = 8)]
    pub(crate) stick: [f64; 2],
    pub(crate) runs: bool,
}

pub(crate) fn rest() -> Walker {
    Walker { tilt: [0.1, 0.2, 0.3, 0.9], health: 100, ..Walker::default() }.rounded().unwrap()
}

pub(crate) fn input(tick: u32) -> Input {
    let phase = f64::from(tick % 40) / 20.0 - 1.0;
    Input { stick: [phase, 1.0 - phase.abs()], runs: tick.is_multiple_of(3) }
}

pub(crate) fn step(walkers: &mut [Own<Walker>], input: &Input, tick: Tick) {
    for Own { id, state } in walkers {
        let speed = if input.runs { 0.9 } else { 0.4 } + f64::from(id.0) / 100.0;
        for axis in 0..2 {
            state.velocity[axis] += input.stick[axis] * speed - state.velocity[axis] * 0.1;
            state.place[axis] += state.velocity[axis] / 60.0;
        }
        let [x, y, z, w] = state.tilt;
        state.tilt = [x + 0.01 * w, y - 0.02 * z, z, w];
        state.health = 100 - (tick.0 % 50) as u8;
    }
}

/// What a step of [`Game`] does in addition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Twist {
    #[default]
    None,
    /// The first entity's place is not a number.
    NotANumber,
    /// It returns 7 instead.
    Fails,
    /// It calls functions of its own prediction.
    CallsBack,
}

/// The memory of a step.
#[derive(Default)]
#[repr(C)]
struct Memory {
    ids: [u32; ROOM],
    walkers: [Walker; ROOM],
    input: Input,
    twist: Twist,
    prediction: u64,
    steps: u32,
    statuses: Vec<KpStatus>,
}

/// A prediction through the C interface.
pub(crate) struct Game {
    pub(crate) prediction: KpPrediction,
    memory: *mut Memory,
    targets: [KpTarget; 5],
    columns: [KpColumn; 5],
    input_targets: [KpTarget; 2],
}

pub(crate) fn schema_of<T: Pack>() -> KpSchema {
    let (file, mut schema) = (Schema::of::<T>().to_bytes(), KpSchema { id: 0 });
    // SAFETY: the file has its number of bytes, and `schema` is a live value.
    ok(unsafe { kp_schema_from_bytes(file.as_ptr(), file.len(), &raw mut schema) });
    schema
}

pub(crate) fn ok(status: KpStatus) {
    assert_eq!(status, KpStatus::Ok);
}

pub(crate) fn config() -> KpPredictConfig {
    let mut config = std::mem::MaybeUninit::uninit();
    // SAFETY: the function writes the whole value.
    unsafe {
        ok(kp_predict_config_at_hz(60, config.as_mut_ptr()));
        config.assume_init()
    }
}

/// The targets of walkers.
pub(crate) fn targets_of(walkers: *mut Walker) -> [KpTarget; 5] {
    let target = |offset: usize, number: KpNumber| KpTarget {
        data: walkers.wrapping_byte_add(offset).cast(),
        stride: size_of::<Walker>(),
        number: number as i32,
    };
    [
        target(std::mem::offset_of!(Walker, place), KpNumber::F64),
        target(std::mem::offset_of!(Walker, velocity), KpNumber::F64),
        target(std::mem::offset_of!(Walker, tilt), KpNumber::F64),
        target(std::mem::offset_of!(Walker, health), KpNumber::U8),
        target(std::mem::offset_of!(Walker, teleports), KpNumber::U8),
    ]
}

/// The columns of the same numbers. Velocities are clamped, as the type says.
pub(crate) fn columns_of(targets: [KpTarget; 5]) -> [KpColumn; 5] {
    let mut nth = 0;
    targets.map(|KpTarget { data, stride, number }| {
        nth += 1;
        KpColumn { data, stride, number, clamp: i32::from(nth == 2) }
    })
}

fn input_columns(input: *const Input) -> [KpColumn; 2] {
    let column = |offset: usize, number: KpNumber| KpColumn {
        data: input.wrapping_byte_add(offset).cast(),
        stride: size_of::<Input>(),
        number: number as i32,
        clamp: 0,
    };
    [
        column(std::mem::offset_of!(Input, stick), KpNumber::F64),
        column(std::mem::offset_of!(Input, runs), KpNumber::U8),
    ]
}

impl Game {
    pub(crate) fn new(config: &KpPredictConfig) -> Self {
        let (schema, inputs) = (schema_of::<Walker>(), schema_of::<Input>());
        let mut prediction = KpPrediction { id: 0 };
        // SAFETY: all pointers are of live values.
        ok(unsafe { kp_prediction_new(schema, 0, inputs, config, &raw mut prediction) });
        let memory =
            Box::into_raw(Box::new(Memory { prediction: prediction.id, ..Memory::default() }));
        // SAFETY: the memory is live. No reference is made.
        let (walkers, input) = unsafe { (&raw mut (*memory).walkers, &raw mut (*memory).input) };
        let targets = targets_of(walkers.cast());
        let input_targets =
            input_columns(input).map(|KpColumn { data, stride, number, .. }| KpTarget {
                data: data.cast_mut(),
                stride,
                number,
            });
        Self { prediction, memory, targets, columns: columns_of(targets), input_targets }
    }

    /// The step, and its memory.
    pub(crate) fn step(&self) -> KpStep {
        KpStep {
            step: Some(run_step),
            user: self.memory.cast(),
            capacity: ROOM,
            // SAFETY: the memory is live. No reference is made.
            ids: unsafe { &raw mut (*self.memory).ids }.cast(),
            targets: self.targets.as_ptr(),
            columns: self.columns.as_ptr(),
            fields: self.columns.len(),
            input_targets: self.input_targets.as_ptr(),
            input_fields: self.input_targets.len(),
        }
    }

    pub(crate) fn set_twist(&self, twist: Twist) {
        // SAFETY: the memory is live, and no step runs.
        unsafe { (*self.memory).twist = twist };
    }

    /// The number of steps until now, and the results of what they called.
    pub(crate) fn steps(&self) -> (u32, Vec<KpStatus>) {
        // SAFETY: the memory is live, and no step runs.
        let memory = unsafe { &*self.memory };
        (memory.steps, memory.statuses.clone())
    }

    pub(crate) fn add(&self, id: u32, tick: u32, walker: &Walker) -> KpStatus {
        let mut walker = *walker;
        let columns = columns_of(targets_of(&raw mut walker));
        let (columns, count) = (columns.as_ptr(), columns.len());
        // SAFETY: the columns are those of a live walker, and the step's memory is live.
        unsafe { kp_prediction_add(self.prediction, id, tick, columns, count, &self.step()) }
    }

    pub(crate) fn push(&self, tick: u32, input: &Input) -> KpStatus {
        let columns = input_columns(input);
        let (columns, count) = (columns.as_ptr(), columns.len());
        // SAFETY: the columns are those of a live input, and the step's memory is live.
        unsafe { kp_prediction_push(self.prediction, tick, columns, count, &self.step()) }
    }

    pub(crate) fn correct(
        &self,
        id: u32,
        tick: u32,
        walker: &Walker,
        out: &mut KpCorrection,
    ) -> KpStatus {
        let mut walker = *walker;
        let columns = columns_of(targets_of(&raw mut walker));
        let (columns, count, step) = (columns.as_ptr(), columns.len(), self.step());
        // SAFETY: the columns are those of a live walker, `out` is live, and so is the step's memory.
        unsafe { kp_prediction_correct(self.prediction, id, tick, columns, count, &step, out) }
    }

    pub(crate) fn shown(&self, id: u32, at: f64) -> Result<Walker, KpStatus> {
        let mut walker = Walker::default();
        let targets = targets_of(&raw mut walker);
        let (targets, count) = (targets.as_ptr(), targets.len());
        // SAFETY: the targets are those of a live walker.
        match unsafe { kp_prediction_shown(self.prediction, id, at, targets, count) } {
            KpStatus::Ok => Ok(walker),
            status => Err(status),
        }
    }

    pub(crate) fn state(&self, id: u32, tick: u32) -> Result<Walker, KpStatus> {
        let mut walker = Walker::default();
        let targets = targets_of(&raw mut walker);
        let (targets, count) = (targets.as_ptr(), targets.len());
        // SAFETY: the targets are those of a live walker.
        match unsafe { kp_prediction_state(self.prediction, id, tick, targets, count) } {
            KpStatus::Ok => Ok(walker),
            status => Err(status),
        }
    }

    pub(crate) fn stats(&self) -> KpPredictStats {
        let mut stats = std::mem::MaybeUninit::uninit();
        // SAFETY: the function writes the whole value.
        unsafe {
            ok(kp_prediction_stats(self.prediction, stats.as_mut_ptr()));
            stats.assume_init()
        }
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        ok(kp_prediction_free(self.prediction));
        // SAFETY: `new` made the memory, and no step runs.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

/// The step that the library calls.
unsafe extern "C" fn run_step(user: *mut c_void, count: usize, tick: u32) -> i32 {
    // SAFETY: `user` is the memory of a game, which the library does not use while a step runs.
    let memory = unsafe { &mut *user.cast::<Memory>() };
    memory.steps += 1;
    let states = memory.ids[..count].iter().zip(memory.walkers);
    let mut own: Vec<Own<Walker>> =
        states.map(|(id, state)| Own { id: EntityId(*id), state }).collect();
    step(&mut own, &memory.input, Tick(tick));
    for (walker, own) in memory.walkers.iter_mut().zip(own) {
        *walker = own.state;
    }
    match memory.twist {
        Twist::None => {}
        Twist::NotANumber => memory.walkers[0].place[1] = f64::NAN,
        Twist::Fails => return 7,
        Twist::CallsBack => call_back(memory),
    }
    0
}

/// Calls all functions with the prediction that steps.
fn call_back(memory: &mut Memory) {
    use kinepack_c::predict::{kp_prediction_clear, kp_prediction_remove};
    use kinepack_c::predict_correct::kp_prediction_repeat_last;
    use kinepack_c::predict_read::{kp_prediction_ids, kp_prediction_newest};
    let prediction = KpPrediction { id: memory.prediction };
    let (mut tick, mut count, mut id) = (0, 0, 0);
    let mut walker = rest();
    let targets = targets_of(&raw mut walker);
    let columns = columns_of(targets);
    let of_input = input_columns(&memory.input);
    let step = KpStep {
        step: Some(run_step),
        user: null_mut(),
        capacity: 0,
        ids: null_mut(),
        targets: targets.as_ptr(),
        columns: columns.as_ptr(),
        fields: 5,
        input_targets: targets.as_ptr(),
        input_fields: 2,
    };
    // SAFETY: all pointers are of live values with their counts.
    let statuses = unsafe {
        [
            kp_prediction_add(prediction, 77, 5, columns.as_ptr(), 5, &step),
            kp_prediction_push(prediction, u32::MAX, of_input.as_ptr(), 2, &step),
            kp_prediction_correct(prediction, 7, 101, columns.as_ptr(), 5, &step, null_mut()),
            kp_prediction_repeat_last(prediction, 1, &step, null_mut()),
            kp_prediction_shown(prediction, 7, 100.0, targets.as_ptr(), 5),
            kp_prediction_state(prediction, 7, 100, targets.as_ptr(), 5),
            kp_prediction_newest(prediction, &raw mut tick),
            kp_prediction_ids(prediction, &raw mut id, 1, &raw mut count),
            kp_prediction_remove(prediction, 7),
            kp_prediction_clear(prediction),
            kp_prediction_free(prediction),
        ]
    };
    memory.statuses.extend(statuses);
}
