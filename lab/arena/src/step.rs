//! A tick of a player: the function that the server and the client's prediction share. All
//! arithmetic is + − × ÷ and square roots, so that both get the same bits.

use kinepack::Tick;
use kinepack_net::Own;

use crate::map::{self, TICK_HZ};
use crate::rules::Rules;
use crate::state::{Input, Player, obey};

/// The time between two shots.
const RELOAD_TICKS: u8 = 15;
const TICK_S: f64 = 1.0 / TICK_HZ as f64;
const FULL_SPEED_M_PER_S: f64 = 6.0;
/// The part of the way to the wanted velocity that is left after each tick.
const INERTIA: f64 = 0.85;

/// Whether a player's input shoots in his next tick.
pub(crate) fn shoots(player: &Player, input: &Input) -> bool {
    input.fires && player.health > 0 && player.reload_ticks == 0
}

/// A tick of one client's players.
pub fn step(players: &mut [Own<Player>], input: &Input, tick: Tick, rules: &Rules) {
    for Own { state, .. } in players {
        step_one(state, input, tick, rules);
    }
}

/// A tick of a player.
pub(crate) fn step_one(player: &mut Player, input: &Input, tick: Tick, rules: &Rules) {
    if player.health == 0 {
        return;
    }
    let is_shot = shoots(player, input);
    player.reload_ticks =
        if is_shot { RELOAD_TICKS } else { player.reload_ticks.saturating_sub(1) };
    player.aim = input.aim;
    if player.is_aboard {
        ride(player, input, tick, rules);
    } else {
        walk(player, input, tick, rules);
    }
}

/// The velocity after a tick with the stick at `stick`.
fn accelerate(velocity: [f64; 2], stick: [f64; 2]) -> [f64; 2] {
    let reach = map::length(stick);
    let speed = FULL_SPEED_M_PER_S / if reach > 1.0 { reach } else { 1.0 };
    [0, 1].map(|axis| {
        let wanted = stick[axis] * speed;
        wanted + (velocity[axis] - wanted) * INERTIA
    })
}

fn after(point: [f64; 2], velocity: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| point[axis] + velocity[axis] * TICK_S)
}

/// The velocity of a player who wanted to go to `to`, and ended at `end`: what is in his way stops
/// him, so that playback, which follows velocities, does not draw him beyond it.
fn stopped(from: [f64; 2], to: [f64; 2], end: [f64; 2], motion: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| match to[axis] == end[axis] {
        true => motion[axis],
        false => (end[axis] - from[axis]) / TICK_S,
    })
}

/// A tick on a bank, which may end on the ferry or on the other bank.
fn walk(player: &mut Player, input: &Input, tick: Tick, rules: &Rules) {
    let from = player.point();
    let motion = accelerate(player.motion(), input.stick);
    let to = after(from, motion);
    if let Some(pad) = map::pad_at(to) {
        player.place(map::EXITS[1 - pad], [0.0; 2]);
        if rules.cuts {
            player.jumps = player.jumps.wrapping_add(1);
        }
        return;
    }
    let ferry = map::ferry_at(tick);
    if map::is_river(to)
        && map::gates_are_open(tick)
        && !map::is_off_deck(map::point_on_deck(&ferry, to))
    {
        player.is_aboard = true;
        player.place(to, motion);
        obey(player, rules, &ferry);
        return;
    }
    let end = map::keep_on_bank(from, to);
    player.place(end, stopped(from, to, end, motion));
}

/// A tick on the ferry, which may end on a bank.
fn ride(player: &mut Player, input: &Input, tick: Tick, rules: &Rules) {
    let [before, ferry] = [Tick(tick.0.saturating_sub(1)), tick].map(map::ferry_at);
    // Without frames, the player is carried along: his place on the deck is kept.
    obey(player, &Rules { frames: true, ..*rules }, &before);
    let from = player.point();
    let motion = accelerate(player.motion(), map::direction_on_deck(&ferry, input.stick));
    let to = after(from, motion);
    let land = map::point_in_world(&ferry, to);
    if map::is_off_deck(to) && map::gates_are_open(tick) && !map::is_river(land) {
        let motion = map::direction_in_world(&ferry, motion);
        player.place(map::keep_on_bank(land, land), motion);
        (player.ferry, player.is_aboard) = (None, false);
        return;
    }
    let end = map::keep_on_deck(to);
    player.place(end, stopped(from, to, end, motion));
    obey(player, rules, &ferry);
}

#[cfg(test)]
mod tests {
    use kinepack::{EntityId, Pack};

    use super::*;

    /// Walks east from the west bank to the ferry, and waits there. Returns the places in the world,
    /// and whether he was aboard.
    fn cross(rules: &Rules) -> Vec<([f64; 2], bool)> {
        let mut player = Player::new([-12.0, 0.0]);
        let mut places = Vec::new();
        for tick in (1..=1_080).map(Tick) {
            let is_east = map::ferry_at(tick).position[0] > 5.0;
            let stick = if player.is_aboard && !is_east { [0.0; 2] } else { [1.0, 0.0] };
            let input = Input { stick, aim: [1.0, 0.0], ..Input::default() };
            step_one(&mut player, &input, tick, rules);
            player = player.rounded().expect("valid");
            assert_eq!(player.ferry.is_some(), player.is_aboard && rules.frames);
            places.push((player.in_world(&map::ferry_at(tick)), player.is_aboard));
        }
        places
    }

    #[test]
    fn the_ferry_carries_a_player_across_with_and_without_frames() {
        let frames = cross(&Rules::default());
        let none = cross(&Rules { frames: false, ..Rules::default() });
        assert!(frames.iter().any(|(_, is_aboard)| *is_aboard));
        let (last, is_aboard) = frames[frames.len() - 1];
        assert!(!is_aboard && last[0] > map::RIVER_HALF_M, "{last:?}");
        for (tick, ((place, _), (other, _))) in frames.iter().zip(&none).enumerate() {
            let apart = map::length([place[0] - other[0], place[1] - other[1]]);
            assert!(apart < 0.05, "{apart} m after tick {tick}");
        }
    }

    #[test]
    fn a_teleporter_counts_a_jump_only_with_cuts() {
        for cuts in [false, true] {
            let mut player = Player::new([-22.0, 12.0]);
            let input = Input { stick: [-1.0, 0.0], ..Input::default() };
            for tick in (1..=60).map(Tick) {
                step_one(&mut player, &input, tick, &Rules { cuts, ..Rules::default() });
            }
            assert!(player.point()[0] > 15.0, "{:?}", player.point());
            assert_eq!(player.jumps, u8::from(cuts));
        }
    }

    #[test]
    fn the_bank_and_the_rail_stop_a_player() {
        let input = Input { stick: [1.0, 0.5], ..Input::default() };
        let mut player = Player::new([-9.0, 9.0]);
        for tick in (1..=60).map(Tick) {
            step_one(&mut player, &input, tick, &Rules::default());
        }
        assert_eq!((player.position[0], player.velocity[0]), (-map::RIVER_HALF_M, 0.0));
        assert!(player.velocity[1] > 2.0, "he slides along: {:?}", player.velocity);
    }

    #[test]
    fn a_shot_needs_a_loaded_gun_and_a_living_player() {
        let input = Input { fires: true, ..Input::default() };
        let mut player = Player::new([20.0, 0.0]);
        let mut shots = 0;
        for tick in (1..=60).map(Tick) {
            shots += u32::from(shoots(&player, &input));
            step(
                std::slice::from_mut(&mut Own { id: EntityId(16), state: player }),
                &input,
                tick,
                &Rules::default(),
            );
            step_one(&mut player, &input, tick, &Rules::default());
        }
        assert_eq!(shots, 4);
        player.health = 0;
        assert!(!shoots(&Player { reload_ticks: 0, ..player }, &input));
    }
}
