//! Decides whom each shot hits, in three ways: as the shooter's screen showed it, by the nearest
//! tick, and by where everybody is now. All three are counted; the rules say which one hurts.

use kinepack::frame::Place;
use kinepack::{EntityId, Tick};
use kinepack_net::Past;

use super::{Places, Seat, Server, Shot};
use crate::ArenaError;
use crate::counts::Verdicts;
use crate::map::{ferry_at, length};
use crate::rules::Rewind;
use crate::shot::{Target, follow};
use crate::state::{FERRY, Player};
use crate::step::shoots;

impl Server {
    /// Judges the inputs of all players before the tick's steps.
    pub(super) fn judge(&mut self) -> Result<(), ArenaError> {
        let Self { hub, seats, history, shots, rules, tick, .. } = self;
        shots.clear();
        for seat in seats.iter_mut() {
            let is_shot = shoots(&seat.state, &seat.input);
            // The hub is asked for each input, so that nobody can choose a moment afterwards.
            let past = match seat.input.seen.map(|seen| hub.rewind(seat.receiver, seen)) {
                Some(Ok(past)) => Some(past),
                Some(Err(_)) => {
                    seat.shots.refused += 1;
                    None
                }
                None => None,
            };
            if !is_shot {
                continue;
            }
            let on_screen = seat.input.hit;
            let claimed = on_screen.map(|hit| hit.target);
            let is_displaced = on_screen.is_some_and(|hit| hit.from != seat.state.point());
            seat.shots.fired += 1;
            seat.shots.on_screen += u64::from(claimed.is_some());
            seat.shots.displaced += u64::from(is_displaced);

            let seen = past.as_ref().map(|past| seen_targets(past, seat.id)).unwrap_or_default();
            let seen_ferry = past.as_ref().and_then(|past| past.motion(FERRY).ok());
            let seen_ferry = seen_ferry.map_or_else(|| ferry_at(*tick), |motion| motion.place);
            let shown_tick = past.as_ref().map(|past| Tick(past.tick.round() as u32));
            let nearest = shown_tick.and_then(|tick| history.iter().find(|at| at.tick == tick));
            let present = history.back();

            let exact = shoot(seat, &seen_ferry, &seen);
            let by_tick = by_places(seat, nearest);
            let by_none = by_places(seat, present);
            let place = |targets: &[Target]| {
                targets.iter().find(|(id, _)| Some(*id) == claimed).map(|(_, place)| *place)
            };
            let drawn = place(&seen);
            let apart = |places: Option<&Places>| {
                let there = places.and_then(|places| place(&places.targets));
                drawn.zip(there).map_or(0.0, |(drawn, there)| {
                    length([0, 1].map(|axis| there[axis] - drawn[axis]))
                })
            };
            let on_screen = (claimed, is_displaced);
            count(&mut seat.shots.exact, on_screen, exact, 0.0);
            count(&mut seat.shots.tick, on_screen, by_tick, apart(nearest));
            count(&mut seat.shots.none, on_screen, by_none, apart(present));
            let hit = match rules.rewind {
                Rewind::Exact => exact,
                Rewind::Tick => by_tick,
                Rewind::None => by_none,
            };
            shots.push(Shot { shooter: seat.id, hit });
        }
        Ok(())
    }
}

/// The living players that a client showed, other than its own, in the world.
fn seen_targets(past: &Past<'_>, own: EntityId) -> Vec<Target> {
    let others = past.ids().filter(|id| *id != FERRY && *id != own);
    let players = others.filter_map(|id| Some((id, past.in_world::<Player>(id).ok()?)));
    players
        .filter(|(_, player)| player.health > 0)
        .map(|(id, player)| (id, player.point()))
        .collect()
}

/// Follows a player's shot from where he was at the end of the tick before.
fn shoot(seat: &Seat, ferry: &Place, targets: &[Target]) -> Option<EntityId> {
    follow(seat.state.in_world(ferry), seat.input.aim, targets.iter().copied()).0
}

fn by_places(seat: &Seat, places: Option<&Places>) -> Option<EntityId> {
    let places = places?;
    let ferry = ferry_at(places.tick);
    let others = places.targets.iter().copied().filter(|(id, _)| *id != seat.id);
    follow(seat.state.in_world(&ferry), seat.input.aim, others).0
}

fn count(
    verdicts: &mut Verdicts,
    (claimed, is_displaced): (Option<EntityId>, bool),
    hit: Option<EntityId>,
    distance_m: f64,
) {
    let is_confirmed = hit.is_some() && hit == claimed;
    verdicts.confirmed += u64::from(is_confirmed);
    verdicts.confirmed_in_place += u64::from(is_confirmed && !is_displaced);
    verdicts.wrong += u64::from(hit.is_some() && hit != claimed);
    verdicts.distance_m += distance_m;
}
