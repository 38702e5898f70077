//! The caller's step of a prediction: a function, and the memory through which it gets and returns
//! states.

use std::ffi::c_void;

use kinepack::{EncodeError, Schema, Tick};
use kinepack_net::{OwnLanes, PredictError};

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, World, check_targets, write_rows};
use crate::memory::{slice, slice_mut};
use crate::status::Failure;

/// The game's step, and the memory that it works on. Each call that may step gets one, and keeps
/// none of its pointers.
///
/// The library writes the entities' states of the tick before to `targets`, and the input of the
/// tick to `input_targets`. Then it calls `step`, which changes the states where they are. The
/// library reads them through `columns`, which are the same numbers. It rounds them as a packet does.
/// The lists of targets and columns must not change during the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpStep {
    /// Steps `count` entities to the tick `tick`, and returns 0. If it returns another number, the
    /// entities keep their states, `step` is not called again, and the call returns
    /// `KP_STATUS_STEP`. It must not throw an exception or jump out. It may use other objects, but a
    /// call with the prediction that calls it returns `KP_STATUS_ARGUMENT`. The steps of two threads
    /// must not use each other's predictions, because both would wait.
    pub step: Option<unsafe extern "C" fn(user: *mut c_void, count: usize, tick: u32) -> i32>,
    /// Is passed to `step`.
    pub user: *mut c_void,
    /// For how many entities there is room: at least as many as were added, including the entity
    /// that `kp_prediction_add` adds.
    pub capacity: usize,
    /// Room for `capacity` ids of the entities, in increasing order. It may be null.
    pub ids: *mut u32,
    /// A target for each field of the entities, with room for `capacity` entities.
    pub targets: *const KpTarget,
    /// A column for each field of the entities, in general of the same numbers as its target. A
    /// field that the step does not change needs one too.
    pub columns: *const KpColumn,
    /// The number of targets, and of columns.
    pub fields: usize,
    /// A target for each field of the input, with room for one input.
    pub input_targets: *const KpTarget,
    /// The number of input targets.
    pub input_fields: usize,
}

/// A step while a call runs.
pub(crate) struct Stepping<'a> {
    step: unsafe extern "C" fn(*mut c_void, usize, u32) -> i32,
    user: *mut c_void,
    capacity: usize,
    ids: *mut u32,
    targets: &'a [KpTarget],
    columns: &'a [KpColumn],
    input_targets: &'a [KpTarget],
    states: &'a mut World,
    inputs: &'a World,
    /// Why the first of the failed steps failed.
    failure: Option<Failure>,
    /// After this, the step is not called again.
    is_stopped: bool,
}

impl<'a> Stepping<'a> {
    /// Checks a step for up to `rooms` entities, so that wrong memory is refused before anything
    /// changes.
    ///
    /// # Safety
    /// The function and the memory of `step` are valid for `'a`.
    pub(crate) unsafe fn new(
        step: &KpStep,
        states: &'a mut World,
        inputs: &'a World,
        rooms: usize,
    ) -> Result<Self, Failure> {
        let function = step.step;
        let function =
            function.ok_or_else(|| Failure::new(KpStatus::Pointer, "the step is null"))?;
        if step.capacity < rooms {
            let text =
                format!("{rooms} entities do not fit into the {} of the step", step.capacity);
            return Err(Failure::argument(text));
        }
        if !step.ids.is_null() {
            // SAFETY: the caller guarantees that `ids` has `capacity` writable values for `'a`.
            unsafe { slice_mut(step.ids, rooms)? };
        }
        // SAFETY: the caller guarantees that `targets`, `columns` and `input_targets` have their
        // counts of valid values for `'a`.
        let (targets, columns, input_targets) = unsafe {
            (
                slice(step.targets, step.fields)?,
                slice(step.columns, step.fields)?,
                slice(step.input_targets, step.input_fields)?,
            )
        };
        check_targets(one_kind(states)?.fields(), targets, rooms)?;
        check_targets(one_kind(inputs)?.fields(), input_targets, 1)?;
        states.check_columns(columns, rooms)?;
        Ok(Self {
            step: function,
            user: step.user,
            capacity: step.capacity,
            ids: step.ids,
            targets,
            columns,
            input_targets,
            states,
            inputs,
            failure: None,
            is_stopped: false,
        })
    }

    /// Steps entities.
    pub(crate) fn run(&mut self, own: &mut OwnLanes<'_>, input: &[u32], tick: Tick) {
        if self.is_stopped {
            return;
        }
        if let Err(failure) = self.step(own, input, tick) {
            self.is_stopped = true;
            self.failure.get_or_insert(failure);
        }
    }

    fn step(&mut self, own: &mut OwnLanes<'_>, input: &[u32], tick: Tick) -> Result<(), Failure> {
        let (count, states, inputs) =
            (own.ids().len(), one_kind(self.states)?, one_kind(self.inputs)?);
        let read = |row: usize, words: &mut [u64]| states.reconstruct_raw(own.lanes(row), words);
        let read_input = |_: usize, words: &mut [u64]| inputs.reconstruct_raw(input, words);
        // SAFETY: the caller of `new` guarantees that the targets have writable memory for
        // `capacity` entities and one input, and that `ids` is null or has `capacity` writable ids,
        // for longer than `self` lives. Only this function and the step use that memory.
        unsafe {
            write_rows(states.fields(), self.targets, count, self.capacity, read)?;
            write_rows(inputs.fields(), self.input_targets, 1, 1, read_input)?;
            if !self.ids.is_null() {
                let ids = slice_mut(self.ids, count)?;
                ids.iter_mut().zip(own.ids()).for_each(|(to, id)| *to = id.0);
            }
        }
        // SAFETY: the caller of `new` guarantees that the function may be called with `user` for
        // longer than `self` lives. No reference to its memory exists while it runs, except to the
        // lists of targets and columns, which it only reads.
        let result = unsafe { (self.step)(self.user, count, tick.0) };
        if result != 0 {
            let text = format!("the step of tick {} returned {result}", tick.0);
            return Err(Failure::new(KpStatus::Step, text));
        }
        // SAFETY: the caller of `new` guarantees that the columns have readable numbers of
        // `capacity` entities.
        if unsafe { self.states.set_rows(own.ids(), self.columns) }.is_ok() {
            for index in 0..count {
                self.states.copy_row(index, own.lanes_mut(index));
            }
            return Ok(());
        }
        for index in 0..count {
            // SAFETY: as above; `index` is below the number of entities.
            match unsafe { self.states.set_row(own.ids()[index], self.columns, index) } {
                Ok(()) => self.states.copy_row(0, own.lanes_mut(index)),
                Err(failure) => {
                    let text =
                        format!("entity {} at tick {}: {failure}", own.ids()[index].0, tick.0);
                    self.failure.get_or_insert(Failure::new(KpStatus::Step, text));
                    own.refuse(index, EncodeError::NotANumber { id: None, field: "" });
                }
            }
        }
        Ok(())
    }

    /// The result of a call, after all of its steps.
    pub(crate) fn end<R>(self, done: Result<R, PredictError>) -> Result<R, Failure> {
        match (self.failure, done) {
            (Some(failure), _) => Err(failure),
            (None, Err(error @ PredictError::UnknownEntity { .. })) => {
                Err(Failure::new(KpStatus::Nothing, error))
            }
            (None, done) => done.map_err(Failure::argument),
        }
    }
}

/// The only kind of a quantizer.
fn one_kind(world: &World) -> Result<&Schema, Failure> {
    crate::schema::one_of(world.kinds(), 0)
}
