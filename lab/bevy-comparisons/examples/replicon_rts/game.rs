//! The game. Units of several teams march to the places that their players order, and keep a
//! distance from each other. The game is the same for all ways to replicate the transforms.
//!
//! The world is that of replicon's example `authoritative_rts` (`bevy_replicon` 0.44), written anew
//! and without a window. It has the same components, events, visibility, speeds, distances and
//! rate. Two things differ. A unit takes the nearest free place of a formation, while the original
//! solves the assignment of all units. Two units at the same place separate in a fixed direction.

use bevy_app::{App, FixedUpdate};
use bevy_ecs::entity::MapEntities;
use bevy_ecs::prelude::*;
use bevy_math::{Mat2, Quat, StableInterpolate, Vec2};
use bevy_replicon::prelude::*;
use bevy_state::condition::in_state;
use bevy_time::Time;
use bevy_transform::components::Transform;
use serde::{Deserialize, Serialize};

/// The distance between the units of a formation, and between units that march, in points.
const SPACING: f32 = 30.0;

#[derive(Component, Serialize, Deserialize)]
#[component(immutable)]
#[require(Order, Transform)]
pub(crate) struct Unit;

/// The team of a unit or of a client.
#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable)]
pub(crate) enum Team {
    Blue,
    Red,
    Teal,
    Purple,
    Yellow,
    Orange,
    Green,
    Pink,
}

impl Team {
    pub(crate) const ALL: [Self; 8] = [
        Self::Blue,
        Self::Red,
        Self::Teal,
        Self::Purple,
        Self::Yellow,
        Self::Orange,
        Self::Green,
        Self::Pink,
    ];
}

/// Players see only the orders of their own units.
impl VisibilityFilter for Team {
    type ClientComponent = Self;
    type Scope = SingleComponent<Order>;

    fn is_visible(&self, _: Entity, of_client: Option<&Self>) -> bool {
        of_client.is_some_and(|team| team == self)
    }
}

/// The order that a unit follows.
#[derive(Component, Serialize, Deserialize, Default, Clone, Copy)]
pub(crate) enum Order {
    #[default]
    None,
    Move(Vec2),
}

/// The server's own player.
#[derive(Resource, Clone, Copy)]
pub(crate) struct LocalTeam(pub(crate) Team);

/// The message by which a client chooses its team.
#[derive(Event, Serialize, Deserialize)]
pub(crate) struct TeamRequest(pub(crate) Team);

/// The message by which a player places a unit.
#[derive(Event, Serialize, Deserialize)]
pub(crate) struct UnitSpawn(pub(crate) Vec2);

/// A unit that a player has selected.
#[derive(Serialize, Deserialize, MapEntities, Clone, Copy)]
pub(crate) struct Selected(
    #[entities]
    #[serde(with = "bevy_replicon::compact_entity")]
    pub(crate) Entity,
);

/// The message by which a player sends units to a place.
#[derive(Event, Serialize, Deserialize, MapEntities, Clone)]
pub(crate) struct MoveUnits {
    #[entities]
    pub(crate) units: Vec<Selected>,
    pub(crate) position: Vec2,
}

/// The systems that move units.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Marching;

/// The whole game, except the replication of transforms.
pub(crate) fn plugin(app: &mut App) {
    app.replicate::<Unit>()
        .replicate::<Team>()
        .replicate::<Order>()
        .add_visibility_filter::<Team>()
        .add_client_event::<TeamRequest>(Channel::Unordered)
        .add_client_event::<UnitSpawn>(Channel::Unordered)
        .add_mapped_client_event::<MoveUnits>(Channel::Unordered)
        .add_observer(take_team)
        .add_observer(spawn_unit)
        .add_observer(order_units)
        .add_systems(
            FixedUpdate,
            (march, part).chain().in_set(Marching).run_if(in_state(ClientState::Disconnected)),
        );
}

fn take_team(request: On<FromClient<TeamRequest>>, mut commands: Commands) {
    if let ClientId::Client(client) = request.client_id {
        commands.entity(client).insert(request.0);
    }
}

fn team_of(client: ClientId, local: Team, teams: Query<&Team>) -> Option<Team> {
    match client {
        ClientId::Server => Some(local),
        ClientId::Client(client) => teams.get(client).copied().ok(),
    }
}

fn spawn_unit(
    spawn: On<FromClient<UnitSpawn>>,
    mut commands: Commands,
    local: Res<LocalTeam>,
    teams: Query<&Team>,
) {
    if let Some(team) = team_of(spawn.client_id, local.0, teams) {
        commands.spawn((Unit, team, Transform::from_translation(spawn.0.extend(0.0))));
    }
}

/// Each unit gets a place in a square formation around the position. The formation faces in the
/// direction of the march.
fn order_units(
    order: On<FromClient<MoveUnits>>,
    local: Res<LocalTeam>,
    teams: Query<&Team>,
    mut units: Query<(&Team, &Transform, &mut Order)>,
) {
    let Some(team) = team_of(order.client_id, local.0, teams) else { return };
    let mut all = Vec::new();
    for Selected(unit) in &order.units {
        match units.get(*unit) {
            Ok((of, transform, _)) if *of == team => {
                all.push((*unit, transform.translation.truncate()));
            }
            // The unit belongs to another player, or does not exist.
            _ => return,
        }
    }
    if all.is_empty() {
        return;
    }
    let columns = (all.len() as f32).sqrt().ceil() as usize;
    let rows = all.len().div_ceil(columns);
    let corner = Vec2::new(columns as f32 - 1.0, rows as f32 - 1.0) / -2.0;
    let centre = all.iter().map(|(_, position)| *position).sum::<Vec2>() / all.len() as f32;
    let forward = (order.position - centre).normalize_or(Vec2::Y);
    let rotation = Mat2::from_cols(Vec2::new(forward.y, -forward.x), forward);
    let place = |index: usize| {
        let cell = Vec2::new((index % columns) as f32, (index / columns) as f32);
        order.position + rotation * ((corner + cell) * SPACING)
    };
    let mut free: Vec<Vec2> = (0..all.len()).map(place).collect();
    for (unit, position) in all {
        let distance = |place: &Vec2| position.distance_squared(*place);
        let nearest =
            (0..free.len()).min_by(|a, b| distance(&free[*a]).total_cmp(&distance(&free[*b])));
        if let (Some(nearest), Ok((.., mut order))) = (nearest, units.get_mut(unit)) {
            *order = Order::Move(free.swap_remove(nearest));
        }
    }
}

/// Moves units towards their places. Other units nearby push them aside.
fn march(
    mut others: Local<Vec<(Entity, Vec2, bool)>>,
    time: Res<Time>,
    mut units: Query<(Entity, &mut Transform, &mut Order), With<Unit>>,
) {
    const TOP_SPEED: f32 = 240.0;
    const TURN_RATE: f32 = 8.0;
    const SLOW_WITHIN: f32 = 40.0;
    const THERE_WITHIN: f32 = 6.0;
    const PUSH: f32 = 600.0;
    const DAMPING: f32 = 0.97;

    others.clear();
    others.extend(units.iter().map(|(unit, transform, order)| {
        (unit, transform.translation.truncate(), matches!(order, Order::Move(_)))
    }));
    let seconds = time.delta_secs();
    for (unit, mut transform, mut order) in &mut units {
        let Order::Move(target) = *order else { continue };
        let position = transform.translation.truncate();
        let way = target - position;
        let distance = way.length();
        if distance <= THERE_WITHIN {
            *order = Order::None;
            continue;
        }
        let mut push = Vec2::ZERO;
        for (other, at, is_marching) in &*others {
            let least = least_distance(true, *is_marching);
            let distance = position.distance(*at);
            if *other != unit && distance > 0.0 && distance < least {
                push += (position - *at) / distance * ((least - distance) / least) * PUSH;
            }
        }
        let speed = TOP_SPEED * (distance / SLOW_WITHIN).clamp(0.15, 1.0);
        let velocity = (way / distance * speed + push * seconds) * DAMPING;
        let velocity = velocity.clamp_length_max(TOP_SPEED);
        transform.translation += (velocity * seconds).extend(0.0);
        let heading = Quat::from_rotation_z(velocity.to_angle());
        transform.rotation.smooth_nudge(&heading, TURN_RATE, seconds);
    }
}

/// Moves units apart that are too close to each other. Units at rest give way less.
fn part(mut units: Query<(&mut Transform, &Order), With<Unit>>) {
    let mut pairs = units.iter_combinations_mut();
    while let Some([(mut a, of_a), (mut b, of_b)]) = pairs.fetch_next() {
        let is_marching = [of_a, of_b].map(|order| matches!(order, Order::Move(_)));
        let least = least_distance(is_marching[0], is_marching[1]);
        let way = (b.translation - a.translation).truncate();
        let distance = way.length();
        if distance < least {
            let direction = if distance > 0.0 { way / distance } else { Vec2::X };
            let [mass_a, mass_b] = is_marching.map(|marches| if marches { 1.0 } else { 3.0 });
            let step = (direction * ((least - distance) / (mass_a + mass_b))).extend(0.0);
            a.translation -= step * mass_b;
            b.translation += step * mass_a;
        }
    }
}

/// Returns the minimum distance between two units. The distance is smaller if one unit marches and
/// the other rests, so that the marching unit can squeeze through.
fn least_distance(marches: bool, other_marches: bool) -> f32 {
    if marches == other_marches { SPACING } else { 18.0 }
}
