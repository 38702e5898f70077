//! The lanes of the clips that a body plays. See `spec/FIGURE.md`, sections 4 and 6.

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Condition, Field, FieldKind};
use kinepack::{Between, SetupError, Snapshot};

use super::play::{ClipPlay, MAX_SPEED, STEPS, ShownClip, WEIGHT_STEPS};
use super::{Figure, FigureClips, FigureError, read};

/// The maximum number of slots.
const MAX_SLOTS: usize = 64;
/// The number of lanes of a slot: its flag, the clip, the tick and the time there, the
/// speed and the weight.
const SLOT_LANES: usize = 6;
/// The code of speed 0.
const STOPPED: i32 = (MAX_SPEED * STEPS) as i32;

/// The slots of a figure, and how many clips there are.
#[derive(Clone, Debug)]
pub(super) struct PlannedClips {
    pub(super) slots: usize,
    pub(super) clips: usize,
}

impl PlannedClips {
    pub(super) fn new(options: &FigureClips) -> Result<Self, FigureError> {
        let (slots, clips) = (options.slots, options.names.len());
        // The largest index of a clip is an alternative of 32 bits.
        let is_valid = (slots == 0) == (clips == 0) && slots <= MAX_SLOTS;
        if !is_valid || u32::try_from(clips).is_err() {
            return Err(FigureError::BadClips { slots, clips });
        }
        Ok(Self { slots, clips })
    }

    /// Returns the number of lanes of all slots, which are the figure's first ones.
    pub(super) fn lanes(&self) -> usize {
        self.slots * SLOT_LANES
    }

    /// Returns the fields of all slots.
    pub(super) fn fields(&self) -> Vec<Field> {
        let choice = FieldKind::Choice { max: self.clips.saturating_sub(1) as u32 };
        let names = ["since", "time", "speed", "weight"];
        let numbers = names.into_iter().zip(limits().map(|one| FieldKind::Floats(vec![one])));
        let kinds: Vec<_> = std::iter::once(("clip", choice)).chain(numbers).collect();
        let mut fields = Vec::with_capacity(self.lanes());
        for slot in 0..self.slots {
            let flag = format!("clips[{slot}]?");
            fields.push(Field::new(flag.clone(), FieldKind::Bool));
            fields.extend(kinds.iter().map(|(name, kind)| {
                Field::new(format!("clips[{slot}].{name}"), kind.clone())
                    .with_condition(Condition::new(flag.clone(), 1..=1))
            }));
        }
        fields
    }

    /// Writes the lanes of all slots. A slot that `plays` does not name is empty.
    pub(super) fn quantize(
        &self,
        plays: &[Option<ClipPlay>],
        lanes: &mut [u32],
    ) -> Result<(), FigureError> {
        if let Some(slot) = plays.iter().skip(self.slots).position(Option::is_some) {
            return Err(FigureError::NoSlot { slot: self.slots + slot });
        }
        let lanes = &mut lanes[..self.lanes()];
        lanes.fill(0);
        for (slot, (lanes, play)) in lanes.chunks_exact_mut(SLOT_LANES).zip(plays).enumerate() {
            let Some(ClipPlay { clip, since, time, speed, weight }) = *play else { continue };
            if clip >= self.clips {
                return Err(FigureError::NoClip { slot, clip });
            }
            lanes.copy_from_slice(&[
                1,
                clip as u32,
                since,
                time,
                (speed + STOPPED) as u32,
                weight.into(),
            ]);
        }
        Ok(())
    }
}

impl Figure {
    /// Returns the number of clips that a body can play at once.
    pub fn clip_slot_count(&self) -> usize {
        self.layout.clips.slots
    }

    /// Returns the number of clips. A slot plays one of them at a time.
    pub fn clip_count(&self) -> usize {
        self.layout.clips.clips
    }

    /// Returns the clip that an entity, given by its index in the snapshot, plays in a slot.
    ///
    /// # Panics
    /// Panics if the figure has no such slot, the snapshot has no such entity, or the entity has too
    /// few lanes.
    pub fn clip(&self, (snapshot, index): (&Snapshot, usize), slot: usize) -> Option<ClipPlay> {
        assert!(slot < self.layout.clips.slots, "a slot of another figure");
        let mut lanes = [0; SLOT_LANES];
        read((snapshot, index), self.first_lane + slot * SLOT_LANES, &mut lanes);
        let [flag, clip, since, time, speed, weight] = lanes;
        // A snapshot has checked that no lane is above its maximum.
        let (speed, weight) = (speed as i32 - STOPPED, weight as u8);
        let clip = clip as usize;
        (flag == 1).then_some(ClipPlay { clip, since, time, speed, weight })
    }

    /// Returns the clip that an entity plays in a slot at a moment between two states: its time and
    /// its weight. `tick` is the moment as a tick with its fraction, which playback has too.
    ///
    /// If the same clip continues, its time at the moment is exact, and its weight is interpolated.
    /// If its speed changes, the new speed counts from its tick on. If the clip in `to` is another
    /// one, or the same one after a jump of more than a tick, or if there is none, the clip is as in
    /// `from` and its time runs on before the ratio is 1. Then it is as in `to`.
    ///
    /// # Panics
    /// Panics as [`clip`](Self::clip) does.
    pub fn interpolate_clip(
        &self,
        from: (&Snapshot, usize),
        to: (&Snapshot, usize),
        at: Between,
        tick: f64,
        slot: usize,
    ) -> Option<ShownClip> {
        ShownClip::between(self.clip(from, slot), self.clip(to, slot), at, tick)
    }
}

/// Returns the limits of the tick, the time, the speed and the weight.
fn limits() -> [FloatLimits; 4] {
    const SINCE: Result<FloatLimits, SetupError> =
        FloatLimits::until(0.0, (1u64 << 32) as f64, 1.0);
    const TIME: Result<FloatLimits, SetupError> =
        FloatLimits::until(0.0, (1u64 << 32) as f64 / STEPS, 1.0 / STEPS);
    const SPEED: Result<FloatLimits, SetupError> =
        FloatLimits::new(-MAX_SPEED, MAX_SPEED, 1.0 / STEPS);
    const WEIGHT: Result<FloatLimits, SetupError> =
        FloatLimits::new(0.0, 1.0, 1.0 / WEIGHT_STEPS as f64);
    const {
        match (SINCE, TIME, SPEED, WEIGHT) {
            (Ok(since), Ok(time), Ok(speed), Ok(weight)) => {
                [since.wrapping(), time.wrapping(), speed, weight]
            }
            _ => panic!("limits without codes"),
        }
    }
}
