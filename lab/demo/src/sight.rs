//! The view of a joiner's scripted player, which consists of the bodies of a received snapshot.

use cubes::View;
use kinepack::{EntityId, Snapshot};

use crate::cube_stream::{CUBE, CubeStream};

/// A snapshot of the cubes, as one player sees it.
pub struct Sight<'a> {
    stream: &'a CubeStream,
    snapshot: &'a Snapshot,
    own_position: [f32; 3],
    /// The indices of the grid's cubes in the snapshot.
    cubes: std::ops::Range<usize>,
}

impl<'a> Sight<'a> {
    /// Returns the view of the player whose cube is `own`, or `None` while the snapshot lacks that
    /// cube.
    pub fn new(stream: &'a CubeStream, snapshot: &'a Snapshot, own: EntityId) -> Option<Self> {
        let own_position = stream.position(snapshot, snapshot.position(own)?)?;
        Some(Self { stream, snapshot, own_position, cubes: snapshot.of_kind(CUBE) })
    }
}

impl View for Sight<'_> {
    fn own_position(&self) -> [f32; 3] {
        self.own_position
    }

    fn cubes(&self) -> u32 {
        self.cubes.len() as u32
    }

    fn cube_position(&self, cube: u32) -> [f32; 3] {
        let position = self.stream.position(self.snapshot, self.cubes.start + cube as usize);
        position.unwrap_or(self.own_position)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use cube_data::cube::Measured;
    use cubes::{Config, Input, Script, Style, World};
    use kinepack::Tick;

    use super::*;
    use crate::states::States;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        stream: CubeStream,
    }

    #[test]
    fn a_script_plays_from_snapshots_as_from_the_world() {
        for options in [&["test"][..], &["test", "--velocities"]] {
            let stream = Options::parse_from(options).stream;
            let mut snapshot = Snapshot::new(stream.codec().schema(), Tick(0));
            let mut world = World::new(&Config { cubes: 100 }).expect("a valid number of cubes");
            let guest = world.add_player().expect("a free place");
            let [mut by_world, mut by_snapshot, mut of_guest] =
                [1, 1, 2].map(|seed| Script::new(Style::Typical, seed));
            let (mut same, mut pressed) = (0, 0);
            for tick in 0..600 {
                let mut states = States::default();
                for (number, body) in world.bodies() {
                    let cubes::Body { position, orientation, velocity, interacting } = body;
                    states.push(
                        EntityId(number),
                        Measured { position, orientation, velocity, interacting },
                    );
                }
                stream.quantize(&states, Tick(tick), &mut snapshot).expect("within the range");
                let sight = |own| Sight::new(&stream, &snapshot, EntityId(own));
                assert!(sight(guest + 1).is_none());
                let first = by_world.next_input(&world);
                let seen = by_snapshot.next_input(&sight(0).expect("it is there"));
                same += u32::from(first == seen);
                let own = of_guest.next_input(&sight(guest).expect("it is there"));
                pressed += u32::from(own != Input::default());
                world.step_players(&[(0, first), (guest, own)]);
            }
            // Positions differ by at most half a step, which can change a direction that is close
            // to the border between two directions.
            assert!(same > 400 && pressed > 300, "{same} inputs are equal, {pressed} have keys");
        }
    }
}
