//! The opaque bytes that a game's own code adds to each move.
//!
//! | bytes | content |
//! |---|---|
//! | 0 to 3 | the number of actions: shots, jumps, abilities, weapons drawn |
//! | 4 | the weapon |
//! | 5 | the remaining shots in its magazine |
//! | 6, 7 | abilities: which are recovering, and which the player has |
//! | 8 to 11 | the target in the crosshair: a slot and how often it was used, or 0 |
//! | 12 | the pose within a stride, which advances while the character moves |
//! | 13 to 15 | skin, team and build: constant |
//!
//! Numbers are little-endian. In most tenths of a second, 0 to 4 bytes change. More bytes change if
//! the target changes.

use core::ops::RangeInclusive;

use crate::random::Random;

/// A weapon, with the number of shots in its magazine and the time between two shots.
struct Weapon {
    magazine: u8,
    shot_ms: u32,
}

const WEAPONS: [Weapon; 3] = [
    Weapon { magazine: 30, shot_ms: 100 },
    Weapon { magazine: 12, shot_ms: 240 },
    Weapon { magazine: 6, shot_ms: 800 },
];
const RELOAD_MS: u32 = 1900;
/// The chance that a fight begins with a change of weapon.
const OTHER_WEAPON_PERCENT: u32 = 30;

/// The length of fights, and of the time between them.
const PEACE_MS: RangeInclusive<u32> = 4000..=25_000;
const FIGHT_MS: RangeInclusive<u32> = 1500..=8000;
/// The time for which the trigger is held within a fight, and the time between two such spells.
const TRIGGER_HELD_MS: RangeInclusive<u32> = 100..=900;
const TRIGGER_FREE_MS: RangeInclusive<u32> = 150..=900;

/// The number of abilities. The next constants are how often one is used and how long it recovers.
const ABILITIES: u32 = 5;
const ABILITY_MS: RangeInclusive<u32> = 3000..=15_000;
const RECOVERY_MS: RangeInclusive<u32> = 3000..=12_000;

/// The time for which a target is in the crosshair, in peace and in a fight. The last constant is
/// the chance that there is no target.
const TARGET_MS: RangeInclusive<u32> = 800..=6000;
const FIGHT_TARGET_MS: RangeInclusive<u32> = 300..=2500;
const NO_TARGET_PERCENT: u32 = 35;

/// The number of poses in each stride.
const POSES: f64 = 64.0;
/// The distance that the character moves for each pose.
const POSE_CM: f64 = 12.0;

/// The player's weapons, abilities and target.
pub(crate) struct Gear {
    actions: u32,
    weapon: usize,
    ammunition: [u8; WEAPONS.len()],
    /// The time until the next shot is possible.
    busy_ms: u32,
    fight: Spell,
    trigger: Spell,
    /// The remaining recovery time of each ability.
    recovery_ms: [u32; ABILITIES as usize],
    until_ability_ms: u32,
    target: u32,
    until_target_ms: u32,
    way_cm: f64,
    has: u8,
    constant: [u8; 3],
}

/// A state that alternates between on and off.
struct Spell {
    is_on: bool,
    left_ms: u32,
}

impl Gear {
    pub(crate) fn new(random: &mut Random) -> Self {
        let constant = [random.below(200) as u8, random.below(2) as u8, 0x17];
        Self {
            actions: random.below(100_000),
            weapon: 0,
            ammunition: core::array::from_fn(|weapon| WEAPONS[weapon].magazine),
            busy_ms: 0,
            fight: Spell { is_on: false, left_ms: random.within(PEACE_MS) },
            trigger: Spell { is_on: false, left_ms: 0 },
            recovery_ms: [0; ABILITIES as usize],
            until_ability_ms: random.within(ABILITY_MS),
            target: 0,
            until_target_ms: 0,
            way_cm: 0.0,
            has: random.below(256) as u8,
            constant,
        }
    }

    /// Advances by a frame. While the player does nothing, only timers, a reload and the pose
    /// advance.
    pub(crate) fn step(
        &mut self,
        hands_are_on: bool,
        moved_cm: f64,
        frame_ms: u32,
        random: &mut Random,
    ) {
        self.way_cm = (self.way_cm + moved_cm) % (POSES * POSE_CM);
        self.busy_ms = self.busy_ms.saturating_sub(frame_ms);
        for left_ms in &mut self.recovery_ms {
            *left_ms = left_ms.saturating_sub(frame_ms);
        }
        if self.ammunition[self.weapon] == 0 && self.busy_ms == 0 {
            self.ammunition[self.weapon] = WEAPONS[self.weapon].magazine;
        }
        if !hands_are_on {
            return;
        }
        self.aim(frame_ms, random);
        self.shoot(frame_ms, random);
        self.until_ability_ms = self.until_ability_ms.saturating_sub(frame_ms);
        if self.until_ability_ms == 0 {
            self.until_ability_ms = random.within(ABILITY_MS);
            let ability = &mut self.recovery_ms[random.below(ABILITIES) as usize];
            if *ability == 0 {
                *ability = random.within(RECOVERY_MS);
                self.count_action();
            }
        }
    }

    /// Adds 1 to the number of actions.
    pub(crate) fn count_action(&mut self) {
        self.actions = self.actions.wrapping_add(1);
    }

    /// Returns whether the player is in a fight, and therefore aims.
    pub(crate) fn is_fighting(&self) -> bool {
        self.fight.is_on
    }

    pub(crate) fn bytes(&self) -> [u8; 16] {
        let recovering = self.recovery_ms.iter().enumerate();
        let recovering =
            recovering.fold(0, |bits, (ability, &left_ms)| bits | u8::from(left_ms > 0) << ability);
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.actions.to_le_bytes());
        bytes[4] = 0x40 + self.weapon as u8;
        bytes[5] = self.ammunition[self.weapon];
        bytes[6] = recovering;
        bytes[7] = self.has;
        bytes[8..12].copy_from_slice(&self.target.to_le_bytes());
        bytes[12] = (self.way_cm / POSE_CM) as u8;
        bytes[13..].copy_from_slice(&self.constant);
        bytes
    }

    fn aim(&mut self, frame_ms: u32, random: &mut Random) {
        self.until_target_ms = self.until_target_ms.saturating_sub(frame_ms);
        if self.until_target_ms > 0 {
            return;
        }
        self.until_target_ms =
            random.within(if self.fight.is_on { FIGHT_TARGET_MS } else { TARGET_MS });
        // The lower bits are one of 4096 slots, and the bits above are how many times that slot was
        // assigned.
        let is_none = random.chance(NO_TARGET_PERCENT);
        self.target = if is_none { 0 } else { random.below(4096) | random.within(1..=900) << 16 };
    }

    fn shoot(&mut self, frame_ms: u32, random: &mut Random) {
        if self.fight.step(PEACE_MS, FIGHT_MS, frame_ms, random)
            && random.chance(OTHER_WEAPON_PERCENT)
        {
            self.weapon = random.below(WEAPONS.len() as u32) as usize;
            self.count_action();
        }
        if !self.fight.is_on {
            return;
        }
        self.trigger.step(TRIGGER_FREE_MS, TRIGGER_HELD_MS, frame_ms, random);
        if self.trigger.is_on && self.busy_ms == 0 {
            self.count_action();
            let left = &mut self.ammunition[self.weapon];
            *left -= 1;
            self.busy_ms = if *left == 0 { RELOAD_MS } else { WEAPONS[self.weapon].shot_ms };
        }
    }
}

impl Spell {
    /// Advances by a frame, and returns whether the spell turned on in this frame.
    fn step(
        &mut self,
        off: RangeInclusive<u32>,
        on: RangeInclusive<u32>,
        frame_ms: u32,
        random: &mut Random,
    ) -> bool {
        self.left_ms = self.left_ms.saturating_sub(frame_ms);
        if self.left_ms > 0 {
            return false;
        }
        self.is_on = !self.is_on;
        self.left_ms = random.within(if self.is_on { on } else { off });
        self.is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_change_in_a_tenth_of_a_second() {
        let mut random = Random::new(5);
        let mut gear = Gear::new(&mut random);
        let bytes: Vec<[u8; 16]> = (0..36_000)
            .map(|_| {
                gear.step(true, 10.0, 16, &mut random);
                gear.bytes()
            })
            .collect();
        let changed = |pair: (&[u8; 16], &[u8; 16])| {
            pair.0.iter().zip(pair.1).filter(|(now, then)| now != then).count()
        };
        let counts: Vec<usize> = bytes[6..].iter().zip(&bytes).map(changed).collect();
        let few = counts.iter().filter(|&&count| count <= 4).count();
        assert!(few * 100 > counts.len() * 97, "{few} of {}", counts.len());
        assert!(counts.iter().any(|&count| count > 4), "targets change as well");
        assert!(bytes.iter().all(|later| later[13..] == bytes[0][13..]), "constant");
    }

    #[test]
    fn a_magazine_is_never_below_empty() {
        let mut random = Random::new(6);
        let mut gear = Gear::new(&mut random);
        let mut emptied = 0;
        for _ in 0..100_000 {
            gear.step(true, 0.0, 33, &mut random);
            emptied += u32::from(gear.bytes()[5] == 0);
            assert!(gear.bytes()[5] <= 30);
        }
        assert!(emptied > 0);
    }
}
