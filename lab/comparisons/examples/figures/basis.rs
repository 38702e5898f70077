//! Makes the peers' packets. Poses in layouts of fixed fields are written to real packets, and read
//! back.
//!
//! Basis (a framework for social virtual worlds) published a pose codec in 2026. This file writes
//! its layout as its public source states it, without fingers and effectors:
//!
//! ```text
//! keyframe: 3 × 24 bits of position in mm; for each joint the codes of its rotation
//! delta:    37 bits, one for the position and one for each joint that differs from the keyframe;
//!           then for each of those:
//!             the number of the largest component (joints only)
//!             1 bit, then the codes (1), or their differences in Exp-Golomb code (0)
//! ```
//!
//! A keyframe comes once a second. A delta is against the newest keyframe, so a lost keyframe makes
//! a second of deltas useless, and the loss of a delta harms no other delta. Three tiers have fewer
//! bits for farther viewers. Collars and feet turn little, so a smaller range has the same bits.
//!
//! The plain layouts consist of keyframes only. Meta's Movement SDK sends 42 bits per joint. How
//! the SDK divides these bits is not public. This file uses the smallest three components in 14, 13
//! and 13 bits. The other plain layout has the smallest three components in 9 bits each. Positions
//! have 16 bits.
//!
//! A packet has neither its frame's number nor whether it is a keyframe. All peers get both at no
//! cost.

use std::f64::consts::FRAC_1_SQRT_2;

use kinepack::bits::{BitReader, BitSink, BitWriter, bits_for};
use kinepack_anim::Transform;

use crate::Outcome;
use crate::body::Body;
use crate::recordings::Recording;
use crate::smallest_three::{SmallestThree, Turn};

/// The number of flags in a delta, with a bit for each.
const MASK_BITS: u32 = 37;
/// The names of Basis's tiers, with the bits of a component, first of most joints and then of feet.
const TIERS: [(&str, u32, u32); 3] = [("high", 12, 12), ("medium", 8, 6), ("low", 6, 5)];

/// A layout of packets.
pub(crate) struct Layout {
    pub(crate) name: String,
    /// The number of frames from one keyframe to the next.
    pub(crate) keyframe_every: usize,
    position_bits: u32,
    /// The joints that are sent, each with its code. The root comes first.
    joints: Vec<(usize, SmallestThree)>,
}

/// A pose in the codes of a layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    /// The root's position in mm, in two's complement of the layout's width.
    position: [u32; 3],
    turns: Vec<Turn>,
}

/// The packets of a recording in a layout.
pub(crate) struct Sent {
    pub(crate) packets: Vec<Vec<u8>>,
    /// The poses that a reader of the packets gets.
    pub(crate) poses: Vec<Vec<Transform>>,
}

impl Layout {
    /// Makes Basis's tiers, at `hz` frames per second.
    pub(crate) fn basis(body: &Body, hz: u32) -> Outcome<Vec<Self>> {
        if body.moving.len() + 1 > MASK_BITS as usize {
            return Err(format!("{} joints are too many for Basis", body.moving.len()).into());
        }
        let tier = |(tier, bits, foot_bits): (&str, u32, u32)| {
            let code = |(place, joint): (usize, &usize)| {
                let name = &body.skeleton.joints()[*joint].name;
                let (index_bits, bits, limit) = match place {
                    0 => (8, 16, FRAC_1_SQRT_2),
                    _ if name.contains("Foot") => (2, foot_bits, 0.6),
                    _ if name.contains("Collar") => (2, bits, 0.5),
                    _ => (2, bits, FRAC_1_SQRT_2),
                };
                (*joint, SmallestThree { index_bits, component_bits: [bits; 3], limit })
            };
            Self {
                name: format!("Basis, {tier}"),
                keyframe_every: hz as usize,
                position_bits: 24,
                joints: body.moving.iter().enumerate().map(code).collect(),
            }
        };
        Ok(TIERS.map(tier).into())
    }

    /// Makes the layouts that consist of keyframes only.
    pub(crate) fn plain(body: &Body) -> Vec<Self> {
        let plain = |(name, component_bits): (&str, [u32; 3])| {
            let code = SmallestThree { index_bits: 2, component_bits, limit: FRAC_1_SQRT_2 };
            Self {
                name: name.to_owned(),
                keyframe_every: 1,
                position_bits: 16,
                joints: body.moving.iter().map(|joint| (*joint, code)).collect(),
            }
        };
        [("42 bits a joint", [14, 13, 13]), ("3 × 9 bits a joint", [9; 3])].map(plain).into()
    }

    /// Returns the keyframe that a frame is coded against. For a keyframe, this is the frame
    /// itself.
    pub(crate) fn keyframe_of(&self, frame: usize) -> usize {
        frame - frame % self.keyframe_every
    }

    /// Writes and reads all frames of a recording.
    pub(crate) fn send(&self, body: &Body, recording: &Recording) -> Outcome<Sent> {
        let mut sent = Sent { packets: Vec::new(), poses: Vec::new() };
        let mut keyframe = None;
        for (frame, pose) in recording.poses().enumerate() {
            let state = self.quantize(pose)?;
            let against = keyframe.as_ref().filter(|_| self.keyframe_of(frame) != frame);
            let packet = self.encode(&state, against)?;
            let decoded = self.decode(&packet, against)?;
            if decoded != state {
                return Err(format!("{}: frame {frame} does not come back", self.name).into());
            }
            let mut shown = body.skeleton.bind_pose();
            self.write_pose(&decoded, &mut shown);
            sent.packets.push(packet);
            sent.poses.push(shown);
            if self.keyframe_of(frame) == frame {
                keyframe = Some(state);
            }
        }
        Ok(sent)
    }

    fn quantize(&self, pose: &[Transform]) -> Outcome<State> {
        let mut position = [0; 3];
        for (code, cm) in position.iter_mut().zip(pose[self.joints[0].0].translation) {
            let mm = (f64::from(cm) * 10.0).round() as i32;
            *code = mm as u32 & mask(self.position_bits);
            if difference(*code, 0, self.position_bits) != mm {
                return Err(format!("{}: a position of {mm} mm", self.name).into());
            }
        }
        let turn = |(joint, code): &(usize, SmallestThree)| code.quantize(pose[*joint].rotation);
        Ok(State { position, turns: self.joints.iter().map(turn).collect() })
    }

    /// Writes the joints that are sent. The other joints of `pose` do not change.
    pub(crate) fn write_pose(&self, state: &State, pose: &mut [Transform]) {
        pose[self.joints[0].0].translation =
            state.position.map(|code| difference(code, 0, self.position_bits) as f32 / 10.0);
        for ((joint, code), turn) in self.joints.iter().zip(&state.turns) {
            pose[*joint].rotation = code.rotation(turn);
        }
    }

    fn encode(&self, state: &State, keyframe: Option<&State>) -> Outcome<Vec<u8>> {
        let mut packet = Vec::new();
        let mut out = BitWriter::append(&mut packet);
        let Some(keyframe) = keyframe else {
            state.position.iter().for_each(|code| out.write((*code).into(), self.position_bits));
            for (turn, (_, code)) in state.turns.iter().zip(&self.joints) {
                out.write(turn.largest as u64, code.index_bits);
                for (number, bits) in turn.codes.into_iter().zip(code.component_bits) {
                    out.write(number.into(), bits);
                }
            }
            out.finish()?;
            return Ok(packet);
        };
        let pairs = state.turns.iter().zip(&keyframe.turns);
        let differs = [state.position != keyframe.position].into_iter();
        let differs = differs.chain(pairs.clone().map(|(turn, base)| turn != base));
        out.write(differs.enumerate().map(|(place, is)| u64::from(is) << place).sum(), MASK_BITS);
        if state.position != keyframe.position {
            write_three(&mut out, state.position, keyframe.position, [self.position_bits; 3]);
        }
        for ((turn, base), (_, code)) in pairs.zip(&self.joints).filter(|((a, b), _)| a != b) {
            out.write(turn.largest as u64, code.index_bits);
            write_three(&mut out, turn.codes, base.codes, code.component_bits);
        }
        out.finish()?;
        Ok(packet)
    }

    /// Reads a packet. A delta needs its keyframe.
    pub(crate) fn decode(&self, packet: &[u8], keyframe: Option<&State>) -> Outcome<State> {
        let mut from = BitReader::new(packet);
        let Some(keyframe) = keyframe else {
            let mut state = State { position: [0; 3], turns: Vec::new() };
            for code in &mut state.position {
                *code = from.read(self.position_bits)? as u32;
            }
            for (_, code) in &self.joints {
                let largest = read_largest(&mut from, code)?;
                let mut codes = [0; 3];
                for (number, bits) in codes.iter_mut().zip(code.component_bits) {
                    *number = from.read(bits)? as u32;
                }
                state.turns.push(Turn { largest, codes });
            }
            from.finish()?;
            return Ok(state);
        };
        let mut state = keyframe.clone();
        let differs = from.read(MASK_BITS)?;
        if differs & 1 == 1 {
            read_three(&mut from, &mut state.position, [self.position_bits; 3])?;
        }
        for (place, (turn, (_, code))) in state.turns.iter_mut().zip(&self.joints).enumerate() {
            if differs >> (place + 1) & 1 == 1 {
                turn.largest = read_largest(&mut from, code)?;
                read_three(&mut from, &mut turn.codes, code.component_bits)?;
            }
        }
        from.finish()?;
        Ok(state)
    }
}

fn read_largest(from: &mut BitReader<'_>, code: &SmallestThree) -> Outcome<usize> {
    let largest = from.read(code.index_bits)? as usize;
    if largest < 4 { Ok(largest) } else { Err("a quaternion has four components".into()) }
}

/// Writes three codes, or their differences from `base`, whichever takes fewer bits.
fn write_three(out: &mut impl BitSink, codes: [u32; 3], base: [u32; 3], bits: [u32; 3]) {
    let numbers: [u64; 3] =
        std::array::from_fn(|place| exp_golomb(difference(codes[place], base[place], bits[place])));
    let gamma_bits: u32 = numbers.iter().map(|number| 2 * bits_for(*number) - 1).sum();
    let is_plain = gamma_bits >= bits.iter().sum();
    out.write_bool(is_plain);
    if is_plain {
        codes.iter().zip(bits).for_each(|(code, bits)| out.write((*code).into(), bits));
    } else {
        numbers.iter().for_each(|number| out.write_gamma(*number));
    }
}

/// Reads three codes. On entry, `codes` has the codes of the keyframe.
fn read_three(from: &mut BitReader<'_>, codes: &mut [u32; 3], bits: [u32; 3]) -> Outcome<()> {
    let is_plain = from.read_bool()?;
    for (code, bits) in codes.iter_mut().zip(bits) {
        *code = if is_plain {
            from.read(bits)? as u32
        } else {
            let number = from.read_gamma()?;
            let half = (number / 2) as u32;
            let difference = if number % 2 == 0 { half } else { half.wrapping_neg() };
            code.wrapping_add(difference) & mask(bits)
        };
    }
    Ok(())
}

/// Returns the number whose gamma code is the signed Exp-Golomb code of `difference`. The numbers
/// are 1, 2, 3, 4, 5 for 0, 1, −1, 2, −2.
fn exp_golomb(difference: i32) -> u64 {
    let twice = 2 * u64::from(difference.unsigned_abs());
    if difference > 0 { twice } else { twice + 1 }
}

/// Returns the shorter way round from `base` to `code`, which both have `bits` bits.
fn difference(code: u32, base: u32, bits: u32) -> i32 {
    let unused_bits = u32::BITS - bits;
    (code.wrapping_sub(base) << unused_bits) as i32 >> unused_bits
}

fn mask(bits: u32) -> u32 {
    u32::MAX >> (u32::BITS - bits)
}
