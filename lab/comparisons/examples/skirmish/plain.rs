//! The rival format. `bitcode` packs structs of the changed components, and zstd compresses them.

use std::collections::BTreeMap;
use std::error::Error;

use kinepack::{EntityId, Snapshot};
use zstd::bulk::Compressor;

/// The default level of zstd.
const ZSTD_LEVEL: i32 = 3;

type Id = u16;
/// The new values of a component, each with its entity's id.
type Changed<T> = Vec<(Id, T)>;
/// The entities of a kind.
type All<T> = BTreeMap<Id, T>;

#[derive(Clone, Copy, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Position {
    x: u16,
    y: u16,
    z: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Rotation {
    dropped: u8,
    first: u16,
    second: u16,
    third: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
enum Weapon {
    #[default]
    Fists,
    Bow {
        tension: u8,
    },
    Rocket {
        ammunition: u8,
    },
}

#[derive(Clone, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Player {
    team: u8,
    position: Position,
    rotation: Rotation,
    aim: u16,
    health: u8,
    weapon: Option<Weapon>,
}

#[derive(Clone, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Crate {
    position: Position,
    rotation: Rotation,
    is_touched: bool,
    fire: Option<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Dart {
    shooter: u8,
    aim: u16,
    position: Position,
}

#[derive(Clone, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Door {
    place: [u16; 2],
    open: u8,
}

#[derive(Clone, Debug, Default, PartialEq, bitcode::Encode, bitcode::Decode)]
struct Pickup {
    place: [u16; 2],
    content: Option<Weapon>,
}

/// The world with quantized values in the smallest types of the language.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    players: All<Player>,
    crates: All<Crate>,
    darts: All<Dart>,
    doors: All<Door>,
    pickups: All<Pickup>,
}

/// The difference between two worlds.
#[derive(Debug, bitcode::Encode, bitcode::Decode)]
struct Delta {
    removed: Vec<Id>,
    players: Changed<Player>,
    crates: Changed<Crate>,
    darts: Changed<Dart>,
    doors: Changed<Door>,
    pickups: Changed<Pickup>,
    player_positions: Changed<Position>,
    player_rotations: Changed<Rotation>,
    aims: Changed<u16>,
    healths: Changed<u8>,
    weapons: Changed<Option<Weapon>>,
    crate_positions: Changed<Position>,
    crate_rotations: Changed<Rotation>,
    touches: Changed<bool>,
    fires: Changed<Option<u8>>,
    dart_positions: Changed<Position>,
    openings: Changed<u8>,
    contents: Changed<Option<Weapon>>,
}

/// Entities that the baseline does not have.
fn added<T: Clone>(base: &All<T>, now: &All<T>) -> Changed<T> {
    let is_new = |(id, _): &(&Id, &T)| !base.contains_key(*id);
    now.iter().filter(is_new).map(|(id, state)| (*id, state.clone())).collect()
}

fn removed<'a, T>(base: &'a All<T>, now: &'a All<T>) -> impl Iterator<Item = Id> + 'a {
    base.keys().filter(|id| !now.contains_key(id)).copied()
}

/// Returns the new values of a component of entities that both worlds have.
fn changed<S, T: PartialEq>(base: &All<S>, now: &All<S>, get: fn(&S) -> T) -> Changed<T> {
    let pairs = now.iter().filter_map(|(id, state)| Some((*id, get(base.get(id)?), get(state))));
    pairs.filter(|(_, old, new)| old != new).map(|(id, _, new)| (id, new)).collect()
}

fn set<S, T>(all: &mut All<S>, changed: Changed<T>, component: fn(&mut S) -> &mut T) {
    for (id, value) in changed {
        if let Some(state) = all.get_mut(&id) {
            *component(state) = value;
        }
    }
}

impl Delta {
    fn between(base: &World, now: &World) -> Self {
        let mut gone: Vec<Id> = removed(&base.players, &now.players)
            .chain(removed(&base.crates, &now.crates))
            .chain(removed(&base.darts, &now.darts))
            .chain(removed(&base.doors, &now.doors))
            .chain(removed(&base.pickups, &now.pickups))
            .collect();
        gone.sort_unstable();
        let (players, crates) = ((&base.players, &now.players), (&base.crates, &now.crates));
        Self {
            removed: gone,
            players: added(players.0, players.1),
            crates: added(crates.0, crates.1),
            darts: added(&base.darts, &now.darts),
            doors: added(&base.doors, &now.doors),
            pickups: added(&base.pickups, &now.pickups),
            player_positions: changed(players.0, players.1, |player| player.position),
            player_rotations: changed(players.0, players.1, |player| player.rotation),
            aims: changed(players.0, players.1, |player| player.aim),
            healths: changed(players.0, players.1, |player| player.health),
            weapons: changed(players.0, players.1, |player| player.weapon),
            crate_positions: changed(crates.0, crates.1, |state| state.position),
            crate_rotations: changed(crates.0, crates.1, |state| state.rotation),
            touches: changed(crates.0, crates.1, |state| state.is_touched),
            fires: changed(crates.0, crates.1, |state| state.fire),
            dart_positions: changed(&base.darts, &now.darts, |dart| dart.position),
            openings: changed(&base.doors, &now.doors, |door| door.open),
            contents: changed(&base.pickups, &now.pickups, |pickup| pickup.content),
        }
    }

    fn apply(self, base: &World) -> World {
        let mut world = base.clone();
        for id in self.removed {
            world.players.remove(&id);
            world.crates.remove(&id);
            world.darts.remove(&id);
            world.doors.remove(&id);
            world.pickups.remove(&id);
        }
        world.players.extend(self.players);
        world.crates.extend(self.crates);
        world.darts.extend(self.darts);
        world.doors.extend(self.doors);
        world.pickups.extend(self.pickups);
        set(&mut world.players, self.player_positions, |player| &mut player.position);
        set(&mut world.players, self.player_rotations, |player| &mut player.rotation);
        set(&mut world.players, self.aims, |player| &mut player.aim);
        set(&mut world.players, self.healths, |player| &mut player.health);
        set(&mut world.players, self.weapons, |player| &mut player.weapon);
        set(&mut world.crates, self.crate_positions, |state| &mut state.position);
        set(&mut world.crates, self.crate_rotations, |state| &mut state.rotation);
        set(&mut world.crates, self.touches, |state| &mut state.is_touched);
        set(&mut world.crates, self.fires, |state| &mut state.fire);
        set(&mut world.darts, self.dart_positions, |dart| &mut dart.position);
        set(&mut world.doors, self.openings, |door| &mut door.open);
        set(&mut world.pickups, self.contents, |pickup| &mut pickup.content);
        world
    }
}

/// The lanes of an entity, field by field.
struct Lanes<'a>(std::slice::Iter<'a, u32>);

impl Lanes<'_> {
    fn next(&mut self) -> u32 {
        self.0.next().copied().unwrap_or(0)
    }

    fn position(&mut self) -> Position {
        let [x, y, z] = [(); 3].map(|()| self.next() as u16);
        Position { x, y, z }
    }

    fn rotation(&mut self) -> Rotation {
        let dropped = self.next() as u8;
        let [first, second, third] = [(); 3].map(|()| self.next() as u16);
        Rotation { dropped, first, second, third }
    }

    fn place(&mut self) -> [u16; 2] {
        [(); 2].map(|()| self.next() as u16)
    }

    fn weapon(&mut self) -> Option<Weapon> {
        let [is_some, kind, tension, ammunition] = [(); 4].map(|()| self.next() as u8);
        let weapon = match kind {
            0 => Weapon::Fists,
            1 => Weapon::Bow { tension },
            _ => Weapon::Rocket { ammunition },
        };
        (is_some != 0).then_some(weapon)
    }
}

/// A kind of entities that can be read from an entity's lanes.
trait Entity {
    fn read(lanes: Lanes<'_>) -> Self;
}

impl Entity for Player {
    fn read(mut lanes: Lanes<'_>) -> Self {
        Self {
            team: lanes.next() as u8,
            position: lanes.position(),
            rotation: lanes.rotation(),
            aim: lanes.next() as u16,
            health: lanes.next() as u8,
            weapon: lanes.weapon(),
        }
    }
}

impl Entity for Crate {
    fn read(mut lanes: Lanes<'_>) -> Self {
        Self {
            position: lanes.position(),
            rotation: lanes.rotation(),
            is_touched: lanes.next() != 0,
            fire: (lanes.next() != 0).then(|| lanes.next() as u8),
        }
    }
}

impl Entity for Dart {
    fn read(mut lanes: Lanes<'_>) -> Self {
        Self { shooter: lanes.next() as u8, aim: lanes.next() as u16, position: lanes.position() }
    }
}

impl Entity for Door {
    fn read(mut lanes: Lanes<'_>) -> Self {
        Self { place: lanes.place(), open: lanes.next() as u8 }
    }
}

impl Entity for Pickup {
    fn read(mut lanes: Lanes<'_>) -> Self {
        Self { place: lanes.place(), content: lanes.weapon() }
    }
}

/// Returns the entities of one kind of a snapshot.
fn all<T: Entity>(snapshot: &Snapshot, kind: usize) -> All<T> {
    let ids = snapshot.ids()[snapshot.of_kind(kind)].iter().enumerate();
    let entity = |(row, EntityId(id)): (usize, &EntityId)| {
        let lanes = snapshot.lanes_of(kind).map(|lane| snapshot.lane(lane)[row]);
        let lanes: Vec<u32> = lanes.collect();
        (*id as Id, T::read(Lanes(lanes.iter())))
    };
    ids.map(entity).collect()
}

impl World {
    /// Returns the world of a snapshot of the game's schema.
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        Self {
            players: all(snapshot, 0),
            crates: all(snapshot, 1),
            darts: all(snapshot, 2),
            doors: all(snapshot, 3),
            pickups: all(snapshot, 4),
        }
    }
}

/// Encodes worlds against baselines.
pub(crate) struct Rival {
    bitcode: bitcode::Buffer,
    zstd: Compressor<'static>,
}

/// The size of a packet before and after zstd, in bytes.
pub(crate) struct Bytes {
    pub(crate) bitcode: usize,
    pub(crate) zstd: usize,
}

impl Rival {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { bitcode: bitcode::Buffer::new(), zstd: Compressor::new(ZSTD_LEVEL)? })
    }

    /// Returns the size of a packet. The packet is also decoded and compared.
    pub(crate) fn measure(&mut self, base: &World, now: &World) -> Result<Bytes, Box<dyn Error>> {
        let packed = self.bitcode.encode(&Delta::between(base, now)).to_vec();
        let compressed = self.zstd.compress(&packed)?;
        let unpacked = zstd::bulk::decompress(&compressed, packed.len())?;
        let delta: Delta = self.bitcode.decode(&unpacked)?;
        if delta.apply(base) != *now {
            return Err("the rival's world is not what went in".into());
        }
        Ok(Bytes { bitcode: packed.len(), zstd: compressed.len() })
    }
}
