//! Encodes the simulated world as a binary message. The page passes its bytes to the graphics
//! hardware.
//!
//! The message consists of little-endian words of 4 bytes. The header has 1 for "a world", the
//! message's number, the number of bodies (`u32`), and the tick (`f64`). Each body has its position
//! x y z in metres, its orientation x y z w (`f32`), and a mark. Bit 0 of the mark is the flag
//! "interacting". The other bits are 0 in the message. The page stores the body's recent bits per
//! tick in them, in sixteenths of a bit.

use axum::body::Bytes;
use cube_data::cube::Measured;

/// The number of words before the bodies.
const HEAD_WORDS: usize = 5;
/// The number of words of a body.
const BODY_WORDS: usize = 8;

/// The simulated world to draw. Clones share the bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorldMessage {
    pub(super) number: u32,
    pub(crate) bytes: Bytes,
}

impl WorldMessage {
    pub(crate) fn new(number: u32, tick: f64, bodies: &[Measured]) -> Self {
        let mut bytes = Vec::with_capacity(4 * (HEAD_WORDS + BODY_WORDS * bodies.len()));
        let [low, high] = [0, 32].map(|shift| (tick.to_bits() >> shift) as u32);
        let mut word = |word: [u8; 4]| bytes.extend_from_slice(&word);
        for head in [1, number, bodies.len() as u32, low, high] {
            word(head.to_le_bytes());
        }
        for Measured { position, orientation, interacting, .. } in bodies {
            position.iter().chain(orientation).for_each(|number| word(number.to_le_bytes()));
            word(u32::from(*interacting).to_le_bytes());
        }
        Self { number, bytes: bytes.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_documented() {
        let state = Measured {
            position: [1.0, 2.0, 3.0],
            orientation: [0.0, 0.0, 0.0, 1.0],
            velocity: [0.0; 3],
            interacting: true,
        };
        let message = WorldMessage::new(7, 59.5, &[state; 2]);
        let words: Vec<u32> = message
            .bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words.len(), 5 + 2 * 8);
        assert_eq!(words[..3], [1, 7, 2]);
        assert_eq!(message.bytes[12..20], 59.5f64.to_le_bytes());
        let numbers: Vec<f32> = words[5..12].iter().map(|word| f32::from_bits(*word)).collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(words[12], 1);
    }
}
