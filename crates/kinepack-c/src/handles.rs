//! Handles: numbers that identify objects, with a generation that detects freed handles.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::KpStatus;
use crate::status::Failure;

/// The shift of the kind in a handle. A handle consists, from the highest bits down, of its kind,
/// its generation and its slot.
const KIND_SHIFT: u32 = 56;
const GENERATION_SHIFT: u32 = 32;
const GENERATIONS: u32 = 1 << (KIND_SHIFT - GENERATION_SHIFT);

/// All objects of one type. Each mutable object has its own lock.
pub(crate) struct Handles<T> {
    /// The name of the type, for error texts.
    name: &'static str,
    kind: u8,
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    list: Vec<Slot<T>>,
    free: Vec<u32>,
}

struct Slot<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

/// Locks an object. A panic may have left it half changed, but it is still sound to use.
pub(crate) fn lock<T>(object: &Mutex<T>) -> MutexGuard<'_, T> {
    object.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Handles<T> {
    /// Makes an empty list. `kind` must be unique among the types, and not 0.
    pub(crate) const fn new(kind: u8, name: &'static str) -> Self {
        let slots = Slots { list: Vec::new(), free: Vec::new() };
        Self { name, kind, slots: RwLock::new(slots) }
    }

    /// Adds an object, and returns its handle.
    pub(crate) fn add(&self, object: T) -> u64 {
        let object = Some(Arc::new(object));
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let place = match slots.free.pop() {
            Some(place) => {
                slots.list[place as usize].object = object;
                place
            }
            None => {
                slots.list.push(Slot { generation: 1, object });
                slots.list.len() as u32 - 1
            }
        };
        let generation = slots.list[place as usize].generation;
        u64::from(self.kind) << KIND_SHIFT
            | u64::from(generation) << GENERATION_SHIFT
            | u64::from(place)
    }

    /// Calls `of` with the object of `handle`. Meanwhile, no object of this type can be added or
    /// freed, so the call must be short. `with` is faster than [`get`](Self::get), because `with`
    /// clones no `Arc`.
    pub(crate) fn with<R>(
        &self,
        handle: u64,
        of: impl FnOnce(&T) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.with_shared(handle, |object| of(object))
    }

    fn with_shared<R>(
        &self,
        handle: u64,
        of: impl FnOnce(&Arc<T>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let place = self.place(handle)?;
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.list.get(place).filter(|slot| slot.generation == generation(handle));
        of(slot.and_then(|slot| slot.object.as_ref()).ok_or_else(|| self.freed())?)
    }

    /// The object of a handle. The object lives while it is in use, even if the handle is freed.
    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Failure> {
        self.with_shared(handle, |object| Ok(Arc::clone(object)))
    }

    pub(crate) fn remove(&self, handle: u64) -> Result<(), Failure> {
        let place = self.place(handle)?;
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let Slots { list, free } = &mut *slots;
        let slot = list.get_mut(place).filter(|slot| slot.generation == generation(handle));
        let object = slot.and_then(|slot| {
            let object = slot.object.take()?;
            slot.generation = (slot.generation + 1) % GENERATIONS;
            // A slot whose generations are used up stays empty, so that no handle ever repeats.
            if slot.generation != 0 {
                free.push(place as u32);
            }
            Some(object)
        });
        drop(slots);
        // The lock is already released when the object is dropped.
        object.map(drop).ok_or_else(|| self.freed())
    }

    fn place(&self, handle: u64) -> Result<usize, Failure> {
        let wrong = |text: String| Err(Failure::new(KpStatus::Handle, text));
        if handle == 0 {
            return wrong(format!("the handle of {} is zero", self.name));
        }
        if handle >> KIND_SHIFT != u64::from(self.kind) {
            return wrong(format!("this is not a handle of {}", self.name));
        }
        Ok(handle as u32 as usize)
    }

    fn freed(&self) -> Failure {
        Failure::new(KpStatus::Handle, format!("this handle of {} was freed", self.name))
    }
}

fn generation(handle: u64) -> u32 {
    (handle >> GENERATION_SHIFT) as u32 % GENERATIONS
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use super::*;

    #[test]
    fn freed_handles_are_told_from_new_ones() {
        static NUMBERS: Handles<u32> = Handles::new(9, "a number");
        let (one, two) = (NUMBERS.add(1), NUMBERS.add(2));
        assert_eq!(*NUMBERS.get(two).unwrap(), 2);
        let used = NUMBERS.get(one).unwrap();
        NUMBERS.remove(one).unwrap();
        assert_eq!(*used, 1, "it lives while it is used");
        let three = NUMBERS.add(3);
        assert_eq!(three as u32, one as u32, "the same place");
        for wrong in [one, 0, two ^ 1 << KIND_SHIFT, three + 7] {
            assert_eq!(NUMBERS.get(wrong).err().unwrap().status, KpStatus::Handle);
            assert_eq!(NUMBERS.remove(wrong).err().unwrap().status, KpStatus::Handle);
        }
        assert_eq!(*NUMBERS.get(three).unwrap(), 3);
    }

    #[test]
    fn generations_do_not_come_again() {
        static NUMBERS: Handles<u32> = Handles::new(9, "a number");
        let first = NUMBERS.add(0);
        NUMBERS.remove(first).unwrap();
        NUMBERS.slots.write().unwrap().list[0].generation = GENERATIONS - 1;
        let last = NUMBERS.add(1);
        assert_eq!(last as u32, 0);
        NUMBERS.remove(last).unwrap();
        assert_eq!(NUMBERS.add(2) as u32, 1, "another place");
        assert!(NUMBERS.get(first).is_err() && NUMBERS.get(last).is_err());
    }
}
