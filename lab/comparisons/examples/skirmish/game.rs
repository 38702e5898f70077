//! The game. 64 players roll among 300 crates, shoot 200 darts per second, and use 50 doors and
//! pickups.

use std::collections::BTreeMap;

use cubes::{Body, Config, Input, World};
use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};

use crate::common::Random;
use crate::kinds::{
    Being, Crate, Dart, Door, FIRST_DART, FIRST_DOOR, FIRST_PICKUP, FIRST_PLAYER, Happening, Hit,
    Impact, Pickup, Player, Taken, Weapon,
};

pub(crate) const RATE_HZ: u32 = 60;
/// The seconds in which the players spread out.
pub(crate) const WARM_UP_S: u32 = 3;
const TICK_S: f32 = 1.0 / RATE_HZ as f32;
const PLAYERS: usize = 64;
const CRATES: u32 = 300;
const DOORS: usize = 25;
const PICKUPS: usize = 25;
/// The number of darts after which ids repeat.
const DART_IDS: u32 = 2000;
const DART_SPEED_M_PER_S: f32 = 28.0;
const DART_LIFE_S: f32 = 1.2;
/// The time for which a player draws a bow. With this time, all players together shoot 200 darts
/// per second.
const DRAW_S: f32 = 0.25;
/// The distance at which a dart hits a target.
const HIT_M: f32 = 0.7;

/// A player, including state that is not sent.
struct Hero {
    player: Player,
    /// The player's number in the physics world.
    number: u32,
    goal: [f32; 2],
    rest_s: f32,
}

struct Flight {
    dart: Dart,
    velocity: [f32; 3],
    life_s: f32,
}

pub(crate) struct Game {
    bodies: World,
    random: Random,
    heroes: Vec<Hero>,
    fires: BTreeMap<u32, f32>,
    flights: BTreeMap<u32, Flight>,
    doors: Vec<Door>,
    pickups: Vec<(Pickup, f32)>,
    shots: u32,
    /// The events of the most recent step.
    pub(crate) happened: Vec<Happening>,
}

impl Game {
    fn new(seed: u64) -> Result<Self, Box<dyn std::error::Error>> {
        let mut random = Random::new(seed);
        let mut bodies = World::new(&Config { cubes: CRATES })?;
        let reach = bodies.half_width_m() - 1.0;
        let mut place = || [0; 2].map(|_| random.within(-reach, reach));
        let mut heroes = Vec::new();
        for index in 0..PLAYERS {
            let number = if index == 0 { 0 } else { bodies.add_player()? };
            let player = Player {
                team: index as u8 % 4,
                position: [0.0; 3],
                rotation: [0.0, 0.0, 0.0, 1.0],
                aim: 0.0,
                health: 100,
                weapon: None,
            };
            heroes.push(Hero { player, number, goal: place(), rest_s: 0.0 });
        }
        let doors = (0..DOORS).map(|_| Door { place: place(), open: 0.0 }).collect();
        let pickups = (0..PICKUPS).map(|_| (Pickup { place: place(), content: None }, 0.0));
        let pickups = pickups.collect();
        let (fires, flights, happened) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Ok(Self { bodies, random, heroes, fires, flights, doors, pickups, shots: 0, happened })
    }

    /// A game whose players have spread out.
    pub(crate) fn warmed_up(seed: u64) -> Result<Self, Box<dyn std::error::Error>> {
        let mut game = Self::new(seed)?;
        (0..WARM_UP_S * RATE_HZ).for_each(|_| game.step());
        Ok(game)
    }

    /// The sent state of the game at this moment.
    pub(crate) fn world(&self, schema: &Schema, tick: Tick) -> Result<Snapshot, EncodeError> {
        let mut world = Snapshot::new(schema, tick);
        self.show(|id, being| being.push_to(id, &mut world))?;
        Ok(world)
    }

    pub(crate) fn step(&mut self) {
        self.happened.clear();
        let inputs: Vec<(u32, Input)> = (0..PLAYERS).map(|index| self.play(index)).collect();
        self.bodies.step_players(&inputs);
        for Hero { player, number, .. } in &mut self.heroes {
            let Body { position, orientation, .. } = self.bodies.body(*number);
            (player.position, player.rotation) = (position, orientation);
        }
        self.fly();
        self.fires.retain(|_, heat| {
            *heat -= 3.0 * TICK_S;
            *heat > 0.0
        });
        self.open_doors();
        self.fill_pickups();
    }

    /// Chooses the keys of a player for one tick, turns its aim, and uses its weapon.
    fn play(&mut self, index: usize) -> (u32, Input) {
        let reach = self.bodies.half_width_m() - 1.0;
        let random = &mut self.random;
        let Hero { player, number, goal, rest_s } = &mut self.heroes[index];
        let way = [0, 1].map(|axis| goal[axis] - player.position[axis]);
        *rest_s -= TICK_S;
        if way[0].hypot(way[1]) < 1.5 {
            (*goal, *rest_s) =
                ([0; 2].map(|_| random.within(-reach, reach)), random.within(0.0, 3.0));
        }
        let wanted = way[1].atan2(way[0]).to_degrees().rem_euclid(360.0);
        let turn = (wanted - player.aim + 180.0).rem_euclid(360.0) - 180.0;
        // A player corrects only errors of aim that are visible.
        if turn.abs() > 2.0 {
            player.aim =
                (player.aim + (6.0 * turn).clamp(-270.0, 270.0) * TICK_S).rem_euclid(360.0);
        }
        player.weapon = match player.weapon {
            None if *rest_s < 0.0 => Some(Weapon::Bow { tension: 0.0 }),
            Some(Weapon::Bow { tension }) if tension >= 1.0 => {
                self.shots += 1;
                let (sin, cos) = player.aim.to_radians().sin_cos();
                let [x, y, z] = player.position;
                let dart = Dart {
                    shooter: FIRST_PLAYER + index as u32,
                    aim: player.aim,
                    position: [x + cos, y + sin, z + 0.4],
                };
                let speed = DART_SPEED_M_PER_S;
                let velocity = [speed * cos, speed * sin, random.within(1.0, 5.0)];
                let id = FIRST_DART + self.shots % DART_IDS;
                self.flights.insert(id, Flight { dart, velocity, life_s: DART_LIFE_S });
                (*rest_s < 0.0).then_some(Weapon::Bow { tension: 0.0 })
            }
            Some(Weapon::Bow { tension }) => {
                Some(Weapon::Bow { tension: tension + TICK_S / DRAW_S })
            }
            other => other.filter(|_| *rest_s < 0.0),
        };
        let direction = way.map(|way| if *rest_s < 0.0 { way.clamp(-1.0, 1.0) as i8 } else { 0 });
        (*number, Input::default().with_direction(direction))
    }

    /// Moves the darts. A dart ends when it hits something.
    fn fly(&mut self) {
        let reach = self.bodies.half_width_m();
        let crates: Vec<(u32, [f32; 3])> =
            (1..=CRATES).map(|number| (number, self.bodies.body(number).position)).collect();
        let Self { flights, heroes, fires, random, happened, .. } = self;
        flights.retain(|_, Flight { dart, velocity, life_s }| {
            velocity[2] -= 9.8 * TICK_S;
            dart.position
                .iter_mut()
                .zip(&*velocity)
                .for_each(|(place, speed)| *place += speed * TICK_S);
            *life_s -= TICK_S;
            let at = dart.position;
            let is_near = |place: [f32; 3]| {
                (0..3).map(|axis| (place[axis] - at[axis]).powi(2)).sum::<f32>() < HIT_M * HIT_M
            };
            if let Some((number, _)) = crates.iter().find(|(_, place)| is_near(*place)) {
                // Some crates catch fire.
                if random.unit() < 0.2 {
                    fires.insert(*number, 15.9);
                }
                happened.push(Happening::Impact(Impact { position: at, is_crate: true }));
                return false;
            }
            let hit = heroes
                .iter_mut()
                .zip(FIRST_PLAYER..)
                .find(|(hero, id)| *id != dart.shooter && is_near(hero.player.position));
            if let Some((hero, target)) = hit {
                let health = hero.player.health;
                hero.player.health = if health < 10 { 100 } else { health - 10 };
                let (shooter, health) = (dart.shooter, hero.player.health);
                happened.push(Happening::Hit(Hit { shooter, target, health }));
                return false;
            }
            if at[2] <= 0.0 {
                happened.push(Happening::Impact(Impact { position: at, is_crate: false }));
                return false;
            }
            *life_s > 0.0 && at[..2].iter().all(|place| place.abs() < reach)
        });
    }

    /// Opens each door while a player is near it, and closes it otherwise.
    fn open_doors(&mut self) {
        for door in &mut self.doors {
            let is_near = self.heroes.iter().any(|hero| is_near(hero, door.place, 3.0));
            let step = if is_near { 2.0 * TICK_S } else { -TICK_S };
            door.open = (door.open + step).clamp(0.0, 1.0);
        }
    }

    /// Lets players take the contents of pickups that they are near. Some seconds later, a pickup
    /// gets new contents.
    fn fill_pickups(&mut self) {
        for ((pickup, empty_s), id) in self.pickups.iter_mut().zip(FIRST_PICKUP..) {
            *empty_s -= TICK_S;
            if pickup.content.is_none() && *empty_s < 0.0 {
                pickup.content = Some(if self.random.unit() < 0.5 {
                    Weapon::Rocket { ammunition: self.random.within(1.0, 9.0) as u8 }
                } else {
                    Weapon::Fists
                });
            }
            let mut heroes = self.heroes.iter_mut().zip(FIRST_PLAYER..);
            let taker = heroes.find(|(hero, _)| is_near(hero, pickup.place, 1.5));
            if let (Some(_), Some((hero, player))) = (&pickup.content, taker) {
                self.happened.push(Happening::Taken(Taken { player, pickup: id }));
                hero.player.weapon = pickup.content.take();
                *empty_s = self.random.within(5.0, 15.0);
            }
        }
    }

    /// Passes each entity to `show`, kind by kind.
    ///
    /// # Errors
    /// Returns the errors of `show`.
    pub(crate) fn show<E>(
        &self,
        mut show: impl FnMut(EntityId, Being<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (hero, id) in self.heroes.iter().zip(FIRST_PLAYER..) {
            show(EntityId(id), Being::Player(&hero.player))?;
        }
        for number in 1..=CRATES {
            let Body { position, orientation: rotation, interacting, .. } =
                self.bodies.body(number);
            let fire = self.fires.get(&number).map(|heat| *heat as u8);
            let state = Crate { position, rotation, is_touched: interacting, fire };
            show(EntityId(number), Being::Crate(&state))?;
        }
        for (id, flight) in &self.flights {
            show(EntityId(*id), Being::Dart(&flight.dart))?;
        }
        for (door, id) in self.doors.iter().zip(FIRST_DOOR..) {
            show(EntityId(id), Being::Door(door))?;
        }
        for ((pickup, _), id) in self.pickups.iter().zip(FIRST_PICKUP..) {
            show(EntityId(id), Being::Pickup(pickup))?;
        }
        Ok(())
    }
}

fn is_near(hero: &Hero, place: [f32; 2], distance_m: f32) -> bool {
    let [x, y, _] = hero.player.position;
    (x - place[0]).hypot(y - place[1]) < distance_m
}
