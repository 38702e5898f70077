//! Both worlds as one binary message. The page passes its bytes to the graphics hardware unchanged.
//!
//! The message consists of little-endian words of 4 bytes. The head: 1 for "a world", the message's
//! number, the tick, the number of simulated bodies, the number of shown bodies (`u32`), and the
//! shown tick with its fraction (`f32`). Then follow the simulated bodies and the shown ones. A
//! body has its position x y z in metres, its orientation x y z w (`f32`), and a mark. Bit 0 of the
//! mark is the flag "interacting". The bits above are the heat: the body's recent cost a packet, in
//! sixteenths of a bit.

use axum::body::Bytes;
use cube_data::cube::Measured;

use crate::cube_stream::Shown;

/// Words before the bodies.
const HEAD_WORDS: usize = 6;
/// Words of a body.
const BODY_WORDS: usize = 8;

/// A world to draw. Clones share the bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorldMessage {
    pub(super) number: u32,
    pub(crate) bytes: Bytes,
}

impl WorldMessage {
    pub(crate) fn new(
        number: u32,
        tick: u32,
        simulated: &[Measured],
        (shown_tick, shown): (f64, &[Shown]),
        heat: impl Fn(usize) -> f32,
    ) -> Self {
        let bodies = simulated.len() + shown.len();
        let mut bytes = Vec::with_capacity(4 * (HEAD_WORDS + BODY_WORDS * bodies));
        let mut word = |word: [u8; 4]| bytes.extend_from_slice(&word);
        for head in [1, number, tick, simulated.len() as u32, shown.len() as u32] {
            word(head.to_le_bytes());
        }
        word((shown_tick as f32).to_le_bytes());
        let mut body = |index: usize,
                        position: [f32; 3],
                        orientation: [f32; 4],
                        interacting: bool| {
            position.into_iter().chain(orientation).for_each(|number| word(number.to_le_bytes()));
            let heat = (heat(index) * 16.0).round() as u32;
            word((heat << 1 | u32::from(interacting)).to_le_bytes());
        };
        for (index, state) in simulated.iter().enumerate() {
            body(index, state.position, state.orientation, state.interacting);
        }
        for (index, state) in shown.iter().enumerate() {
            body(index, state.position, state.orientation, state.interacting);
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
        let shown = Shown {
            id: kinepack::EntityId(0),
            position: [4.0, 5.0, 6.0],
            orientation: [1.0, 0.0, 0.0, 0.0],
            interacting: false,
        };
        let message =
            WorldMessage::new(7, 60, &[state; 2], (59.5, &[shown]), |index| index as f32 + 0.5);
        let words: Vec<u32> = message
            .bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words.len(), 6 + 3 * 8);
        assert_eq!(words[..5], [1, 7, 60, 2, 1]);
        assert_eq!(f32::from_bits(words[5]), 59.5);
        assert_eq!(
            words[6..9].iter().map(|word| f32::from_bits(*word)).collect::<Vec<_>>(),
            [1.0, 2.0, 3.0]
        );
        assert_eq!([words[13], words[21], words[29]], [8 << 1 | 1, 24 << 1 | 1, 8 << 1]);
        assert_eq!(f32::from_bits(words[22]), 4.0);
    }
}
