//! Simulates players. Each player places its units, and then sends some of them to a place every
//! three seconds.

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_replicon::prelude::*;
use bevy_state::state::OnEnter;

use crate::game::{Marching, MoveUnits, Selected, Team, TeamRequest, Unit, UnitSpawn};

/// The size of the original example's window.
const WINDOW: Vec2 = Vec2::new(1_280.0, 720.0);
/// The time between two orders of a player.
const PAUSE_TICKS: u32 = 3 * crate::TICK_HZ;

/// A player, on the server or on a client.
#[derive(Resource, Clone)]
pub(crate) struct Player {
    pub(crate) team: Team,
    pub(crate) units: usize,
    /// The last tick in which anything moves.
    pub(crate) last_tick: u32,
    pub(crate) seed: u64,
}

/// The current activity of a player.
#[derive(Default)]
struct State {
    ticks: u32,
    placed: usize,
    /// The player's units, in the order in which they appear.
    units: Vec<Entity>,
}

/// The number of ticks since the start.
#[derive(Resource, Default)]
struct Ticks(u32);

pub(crate) fn add(app: &mut App, player: Player) {
    app.insert_resource(player)
        .init_resource::<Ticks>()
        .add_systems(OnEnter(ClientState::Connected), choose_team)
        .add_systems(FixedUpdate, play.before(Marching).run_if(is_on))
        .configure_sets(FixedUpdate, Marching.run_if(is_on));
}

fn is_on(ticks: Res<Ticks>, player: Res<Player>) -> bool {
    ticks.0 <= player.last_tick
}

fn choose_team(mut commands: Commands, player: Res<Player>) {
    commands.client_trigger(TeamRequest(player.team));
}

fn play(
    mut state: Local<State>,
    mut commands: Commands,
    mut player: ResMut<Player>,
    mut ticks: ResMut<Ticks>,
    appeared: Query<(Entity, &Team), Added<Unit>>,
) {
    let State { placed, units, ticks: since } = &mut *state;
    ticks.0 += 1;
    let is_mine = |(unit, team): (Entity, &Team)| (*team == player.team).then_some(unit);
    units.extend(appeared.iter().filter_map(is_mine));
    // Places one unit in each tick, once the server knows the team.
    if ticks.0 > crate::TICK_HZ && *placed < player.units {
        *placed += 1;
        commands.client_trigger(UnitSpawn(player.point()));
    }
    // The players take turns, so that they do not give orders at the same time.
    let turn = player.team as u32 * PAUSE_TICKS / 8;
    *since = (ticks.0 + turn) % PAUSE_TICKS;
    if *since == 0 && units.len() == player.units {
        let (from, to) = (player.index(units.len()), player.index(units.len()));
        let units = units[from.min(to)..=from.max(to)].iter().copied().map(Selected).collect();
        commands.client_trigger(MoveUnits { units, position: player.point() });
    }
}

impl Player {
    /// Returns the next number of a SplitMix64 generator.
    fn random(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn index(&mut self, len: usize) -> usize {
        (self.random() % len as u64) as usize
    }

    /// Returns a random point in the window, whose centre is the origin.
    fn point(&mut self) -> Vec2 {
        let mut ratio = || (self.random() >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
        Vec2::new(ratio(), ratio()) * WINDOW
    }
}
