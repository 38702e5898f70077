//! The ground: two banks with walls, a river between them, a ferry, and two teleporters. Lengths are
//! in metres; x points east, y points north. The river flows from north to south.

use kinepack::Tick;
use kinepack::frame::Place;

/// Ticks per second.
pub const TICK_HZ: u32 = 60;
/// The arena reaches this far from its middle.
pub const HALF_M: [f64; 2] = [28.0, 16.0];
/// The river reaches this far from the middle.
pub const RIVER_HALF_M: f64 = 8.0;
/// The ferry's deck is a square that reaches this far from its middle.
pub const DECK_HALF_M: f64 = 2.5;
/// A player is a disc of this radius.
pub const RADIUS_M: f64 = 0.4;
/// Where the teleporters are. Each leads to the [exit](EXITS) of the other.
pub const PADS: [[f64; 2]; 2] = [[-24.0, 12.0], [24.0, -12.0]];
/// Where a player leaves each teleporter.
pub const EXITS: [[f64; 2]; 2] = [[-21.0, 10.5], [21.0, -10.5]];
/// The radius of a teleporter.
pub const PAD_RADIUS_M: f64 = 1.0;

/// A wall: players and shots do not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// The middle.
    pub at: [f64; 2],
    /// How far it reaches from the middle.
    pub half: [f64; 2],
}

/// All walls.
pub const WALLS: [Wall; 8] = [
    Wall { at: [-17.0, 5.0], half: [3.0, 0.5] },
    Wall { at: [-14.0, -6.0], half: [0.5, 3.0] },
    Wall { at: [-22.0, -2.0], half: [1.0, 1.0] },
    Wall { at: [-12.0, 11.0], half: [1.0, 1.0] },
    Wall { at: [17.0, -5.0], half: [3.0, 0.5] },
    Wall { at: [14.0, 6.0], half: [0.5, 3.0] },
    Wall { at: [22.0, 2.0], half: [1.0, 1.0] },
    Wall { at: [12.0, -11.0], half: [1.0, 1.0] },
];

/// How long the ferry rests at a bank.
const REST_TICKS: u32 = 4 * TICK_HZ;
/// How long it takes to the other bank.
const CROSS_TICKS: u32 = 5 * TICK_HZ;
/// The gates are closed for this long before it leaves and after it arrived, so that they are open
/// only while each client sees it rest.
const CLOSED_TICKS: u32 = TICK_HZ / 2;
/// How far the ferry's middle is from the river's while it rests.
const DOCK_M: f64 = RIVER_HALF_M - DECK_HALF_M;

/// Where the ferry is at a tick. On its way to the east it turns by 90° to the left, and on its way
/// back to the right. All arithmetic is + − × ÷ and square roots, so that all sides agree.
pub fn ferry_at(tick: Tick) -> Place {
    let half = REST_TICKS + CROSS_TICKS;
    let phase = tick.0 % (2 * half);
    let ratio = f64::from((phase % half).saturating_sub(REST_TICKS)) / f64::from(CROSS_TICKS);
    let eased = ratio * ratio * (3.0 - 2.0 * ratio);
    let east = if phase < half { eased } else { 1.0 - eased };
    let length = (1.0 + east * east).sqrt();
    Place {
        position: [(2.0 * east - 1.0) * DOCK_M, 0.0, 0.0],
        rotation: [0.0, 0.0, east / length, 1.0 / length],
    }
}

/// Whether players can step on and off the ferry.
pub fn gates_are_open(tick: Tick) -> bool {
    let phase = tick.0 % (REST_TICKS + CROSS_TICKS);
    (CLOSED_TICKS..REST_TICKS - CLOSED_TICKS).contains(&phase)
}

/// A direction in the world, as one on the ferry that is at `ferry`.
pub fn direction_on_deck(ferry: &Place, direction: [f64; 2]) -> [f64; 2] {
    let [x, y, z, w] = ferry.rotation;
    let back = Place { position: [0.0; 3], rotation: [-x, -y, -z, w] };
    let [x, y, _] = back.vector([direction[0], direction[1], 0.0]);
    [x, y]
}

/// A point in the world, as one on the ferry that is at `ferry`.
pub fn point_on_deck(ferry: &Place, point: [f64; 2]) -> [f64; 2] {
    direction_on_deck(ferry, [0, 1].map(|axis| point[axis] - ferry.position[axis]))
}

/// A point on the ferry that is at `ferry`, as one in the world.
pub fn point_in_world(ferry: &Place, point: [f64; 2]) -> [f64; 2] {
    let [x, y, _] = ferry.point([point[0], point[1], 0.0]);
    [x, y]
}

/// A direction on the ferry that is at `ferry`, as one in the world.
pub fn direction_in_world(ferry: &Place, direction: [f64; 2]) -> [f64; 2] {
    let [x, y, _] = ferry.vector([direction[0], direction[1], 0.0]);
    [x, y]
}

/// Whether a player has left the deck, given his place on it.
pub fn is_off_deck(point: [f64; 2]) -> bool {
    point.iter().any(|coordinate| coordinate.abs() > DECK_HALF_M)
}

/// Whether a point in the world is over water.
pub fn is_river(point: [f64; 2]) -> bool {
    point[0].abs() < RIVER_HALF_M
}

/// The nearest point to `to` on the deck.
pub fn keep_on_deck(to: [f64; 2]) -> [f64; 2] {
    to.map(|coordinate| coordinate.clamp(-DECK_HALF_M, DECK_HALF_M))
}

/// Where a player on a bank ends who wants to go to `to`, outside of walls, in the arena, and not in
/// the river. `from` says on which bank.
pub fn keep_on_bank(from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
    let [x, y] = WALLS.iter().fold(to, |point, wall| keep_out(wall, point));
    let reach = HALF_M.map(|half| half - RADIUS_M);
    let bank = if from[0] < 0.0 { [-reach[0], -RIVER_HALF_M] } else { [RIVER_HALF_M, reach[0]] };
    [x.clamp(bank[0], bank[1]), y.clamp(-reach[1], reach[1])]
}

/// Pushes a player out of a wall.
fn keep_out(wall: &Wall, point: [f64; 2]) -> [f64; 2] {
    let offset = [0, 1].map(|axis| point[axis] - wall.at[axis]);
    let nearest = [0, 1].map(|axis| offset[axis].clamp(-wall.half[axis], wall.half[axis]));
    let away = [0, 1].map(|axis| offset[axis] - nearest[axis]);
    let distance = length(away);
    if distance >= RADIUS_M {
        return point;
    }
    if distance > 0.0 {
        let reach = RADIUS_M / distance;
        return [0, 1].map(|axis| wall.at[axis] + nearest[axis] + away[axis] * reach);
    }
    // His middle is in the wall: the shortest way out.
    let left = [0, 1].map(|axis| wall.half[axis] - offset[axis].abs());
    let axis = usize::from(left[1] < left[0]);
    let mut out = point;
    out[axis] = wall.at[axis] + (wall.half[axis] + RADIUS_M).copysign(offset[axis]);
    out
}

/// The teleporter that a player stands on.
pub fn pad_at(point: [f64; 2]) -> Option<usize> {
    PADS.iter().position(|pad| length([0, 1].map(|axis| point[axis] - pad[axis])) < PAD_RADIUS_M)
}

/// The length of a vector.
pub fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ferry_rests_at_both_banks_and_never_jumps() {
        let all = || (0..3_000).map(Tick);
        for tick in all() {
            let [here, next] = [tick, Tick(tick.0 + 1)].map(ferry_at);
            let moved = length([0, 1].map(|axis| next.position[axis] - here.position[axis]));
            assert!(moved < 4.0 / f64::from(TICK_HZ), "{moved} m in {tick:?}");
            let corner = [DECK_HALF_M; 2];
            let [from, to] = [here, next].map(|place| point_in_world(&place, corner));
            assert!(length([0, 1].map(|axis| to[axis] - from[axis])) < 0.12, "{tick:?}");
            assert!(!gates_are_open(tick) || moved == 0.0, "{tick:?}");
        }
        let docked = |side: f64| {
            all()
                .filter(|tick| gates_are_open(*tick))
                .any(|tick| (ferry_at(tick).position[0] - side * DOCK_M).abs() < 1e-9)
        };
        assert!(docked(1.0) && docked(-1.0));
    }

    #[test]
    fn the_deck_and_the_world_are_inverse() {
        for tick in (0..1_200).step_by(7).map(Tick) {
            let ferry = ferry_at(tick);
            let point = [1.25, -2.0];
            let there = point_on_deck(&ferry, point_in_world(&ferry, point));
            assert!(length([there[0] - point[0], there[1] - point[1]]) < 1e-12);
            let there = direction_on_deck(&ferry, direction_in_world(&ferry, point));
            assert!(length([there[0] - point[0], there[1] - point[1]]) < 1e-12);
        }
    }

    #[test]
    fn nobody_ends_in_a_wall_or_in_the_river() {
        for x in -300..300 {
            for y in -170..170 {
                let to = [f64::from(x) / 10.0, f64::from(y) / 10.0];
                let [x, y] = keep_on_bank([to[0].signum(), 0.0], to);
                assert!(!is_river([x, y]) && x.abs() < HALF_M[0] && y.abs() < HALF_M[1]);
                let is_inside = |wall: &Wall| {
                    let depth =
                        [0, 1].map(|axis| ([x, y][axis] - wall.at[axis]).abs() - wall.half[axis]);
                    depth.iter().all(|depth| *depth < RADIUS_M - 1e-9)
                        && (depth.iter().any(|depth| *depth < 0.0)
                            || length(depth) < RADIUS_M - 1e-9)
                };
                assert!(!WALLS.iter().any(is_inside), "{to:?} to {:?}", [x, y]);
            }
        }
    }

    #[test]
    fn exits_are_free() {
        for exit in EXITS {
            assert_eq!(keep_on_bank(exit, exit), exit);
            assert_eq!(pad_at(exit), None);
        }
        assert_eq!(PADS.map(pad_at), [Some(0), Some(1)]);
    }
}
