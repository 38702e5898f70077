//! A frame, converted to the form of each rival.

use kinepack::{Baselines, Snapshot, View};

/// The lane value of x and y that represents zero.
const POSITION_OFFSET: i32 = 1 << 17;

/// A frame in all forms that the rivals need.
pub(crate) struct Frame {
    pub(crate) view: View,
    pub(crate) cubes: Vec<PlainCube>,
    /// The records of a challenge file with this frame.
    pub(crate) records: Vec<[i32; 8]>,
}

/// The views that both sides hold.
pub(crate) struct Known<'a> {
    pub(crate) baseline: &'a Frame,
    /// The baseline and older views.
    pub(crate) views: Baselines<'a>,
}

/// The quantized cube in the smallest types of the language.
#[derive(Clone, Copy, Debug, PartialEq, bitcode::Encode, bitcode::Decode, compactly::Encode)]
pub(crate) struct PlainCube {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u16,
    pub(crate) dropped: u8,
    pub(crate) first: u16,
    pub(crate) second: u16,
    pub(crate) third: u16,
    pub(crate) interacting: bool,
}

/// A cube that differs from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, bitcode::Encode, bitcode::Decode, compactly::Encode)]
pub(crate) struct ChangedCube {
    #[compactly(Sorted)]
    pub(crate) index: u16,
    pub(crate) cube: PlainCube,
}

impl Frame {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        let rows = |index: usize| std::array::from_fn(|lane| snapshot.lane(lane)[index]);
        let cubes = (0..snapshot.len()).map(rows).map(
            |[x, y, z, dropped, first, second, third, interacting]: [u32; 8]| {
                let [z, first, second, third] = [z, first, second, third].map(|lane| lane as u16);
                PlainCube {
                    x,
                    y,
                    z,
                    dropped: dropped as u8,
                    first,
                    second,
                    third,
                    interacting: interacting != 0,
                }
            },
        );
        let records = (0..snapshot.len()).map(rows).map(|lanes: [u32; 8]| {
            let [x, y, z, dropped, first, second, third, interacting] =
                lanes.map(|lane| lane as i32);
            [
                dropped,
                first,
                second,
                third,
                x - POSITION_OFFSET,
                y - POSITION_OFFSET,
                z,
                interacting,
            ]
        });
        let (cubes, records) = (cubes.collect(), records.collect());
        Self { view: View::from(snapshot), cubes, records }
    }
}
