//! Tests of groups of fields that only some receivers may see. Each receiver holds the world
//! without the fields that it may not see, over bad links, and no datagram reveals these fields.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, NetError, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Refused,
};

use crate::support::{Random, TICK_HZ};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(max = 3)]
    team: u8,
    weapon: Option<Weapon>,
    /// Only the team may see the health.
    #[pack(max = 100)]
    health: Option<u8>,
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Weapon {
    Fists,
    Rocket {
        #[pack(max = 8)]
        ammunition: u8,
        locked_on: Option<u16>,
    },
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Crate {
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(spawn)]
    content: Option<u8>,
    #[pack(max = 15)]
    fire: Option<u8>,
}

fn schema() -> Schema {
    Schema::builder().kind::<Crate>("crate").kind::<Player>("player").build().unwrap()
}

fn codec(level: Level) -> Codec {
    let schema = schema();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// 12 crates, and 8 players with the ids 100 to 107.
struct World {
    crates: Vec<Crate>,
    players: Vec<Player>,
    random: Random,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut place = || [0; 3].map(|_| random.unit() * 60.0);
        let crates = (0..12).map(|index| Crate {
            position: place(),
            content: (index % 3 == 0).then_some(index),
            fire: None,
        });
        let crates = crates.collect();
        let players = (0..8).map(|index| Player {
            position: place(),
            team: index % 4,
            weapon: None,
            health: Some(100),
        });
        Self { crates, players: players.collect(), random }
    }

    fn step(&mut self) {
        let random = &mut self.random;
        for player in &mut self.players {
            player.position.iter_mut().for_each(|axis| *axis += random.unit() * 0.1);
            if random.chance(10) {
                player.weapon = match random.below(3) {
                    0 => None,
                    1 => Some(Weapon::Fists),
                    _ => Some(Weapon::Rocket {
                        ammunition: random.below(9) as u8,
                        locked_on: random.chance(2).then(|| random.below(500) as u16),
                    }),
                };
            }
            player.health = (!random.chance(20)).then(|| random.below(101) as u8);
        }
        for burning in &mut self.crates {
            burning.fire = random.chance(3).then(|| random.below(16) as u8);
        }
    }

    /// The world as the owner of one player sees it: without the weapons of other players and the
    /// health of other teams. `None` for the whole world.
    fn seen_by(&self, tick: u32, owner: Option<usize>) -> Snapshot {
        let mut seen = Snapshot::new(&schema(), Tick(tick));
        for (id, state) in (0..).map(EntityId).zip(&self.crates) {
            seen.push(id, state).unwrap();
        }
        for (index, player) in self.players.iter().enumerate() {
            let mut player = player.clone();
            if owner.is_some_and(|owner| owner != index) {
                player.weapon = None;
            }
            if owner.is_some_and(|owner| owner % 4 != index % 4) {
                player.health = None;
            }
            seen.push(player_id(index), &player).unwrap();
        }
        seen
    }
}

fn player_id(index: usize) -> EntityId {
    EntityId(100 + index as u32)
}

fn session(level: Level, seed: u64, budget_bytes_per_s: Option<u32>) {
    let codec = codec(level);
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add_group("own", &["player.weapon"]).unwrap();
    let link = LinkConfig {
        latency: Duration::from_millis(30),
        loss: Loss::bursts(0.1, 3.0),
        ..LinkConfig::default()
    };
    let mut ends = Vec::new();
    for owner in 0..3 {
        let id = ReceiverId(owner as u64);
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
        hub.add(id, &options, Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let links = [0, 1].map(|way| Link::new(link, 10 * seed + 2 * owner as u64 + way).unwrap());
        ends.push((id, owner, receiver, links));
    }
    // Groups can be added after the receivers.
    hub.add_group("team", &["player.health"]).unwrap();
    let may_see = |hub: &mut Hub, id: ReceiverId, owner: usize| {
        let team = (0..8).filter(|index| index % 4 == owner % 4).map(player_id);
        hub.set_visible(id, "own", Some(Arc::from([player_id(owner)]))).unwrap();
        hub.set_visible(id, "team", Some(team.collect())).unwrap();
    };
    for (id, owner, ..) in &ends {
        may_see(&mut hub, *id, *owner);
    }
    let mut world = World::new(seed);
    let mut compared = 0;
    for tick in 1..=900u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        for (id, owner, receiver, [down, up]) in &mut ends {
            while let Some(datagram) = down.poll(now) {
                match receiver.handle(now, &datagram) {
                    Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                    Err(refused) => panic!("{refused}"),
                }
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            while let Some(datagram) = up.poll(now) {
                let _ = hub.handle(*id, now, &datagram);
            }
            if tick % 200 == 0 && tick <= 600 {
                *owner = (*owner + 3) % 8;
                may_see(&mut hub, *id, *owner);
            }
            // Whatever arrives, a receiver never holds more than it may see.
            for (id, player) in
                receiver.newest().iter().flat_map(|newest| newest.iter::<Player>().unwrap())
            {
                let is_own = id == player_id(*owner) || tick % 200 < 60 && tick > 60;
                assert!(is_own || player.weapon.is_none(), "tick {tick}: {id:?} {player:?}");
            }
        }
        if tick <= 700 {
            world.step();
        }
        hub.tick(now, &world.seen_by(tick, None)).unwrap();
        while let Some((to, datagram)) = hub.poll_transmit() {
            ends[to.0 as usize].3[0].send(now, datagram);
        }
    }
    for (_, owner, receiver, _) in &ends {
        let seen = world.seen_by(0, Some(*owner));
        assert!(receiver.newest().unwrap().holds_same(&seen), "{level:?} {seed} {owner}");
        compared += 1;
    }
    assert_eq!(compared, 3);
}

#[test]
fn each_receiver_has_what_it_may_see() {
    for (seed, level) in (1..).zip([Level::PACKED, Level::ADAPTIVE, Level::LEARNING]) {
        session(level, seed, None);
        session(level, 10 + seed, Some(4_000));
    }
}

/// Two receivers that have joined.
fn two_receivers(hub: &mut Hub) -> [Receiver; 2] {
    [1, 2].map(|id| {
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let codec = codec(Level::PACKED);
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let hello = receiver.poll_transmit(Duration::ZERO).unwrap().to_vec();
        hub.handle(ReceiverId(id), Duration::ZERO, &hello).unwrap();
        receiver
    })
}

#[test]
fn no_datagram_tells_of_hidden_changes_and_equal_sights_share_work() {
    let mut hub = Hub::new(&codec(Level::PACKED), HubConfig::default()).unwrap();
    hub.add_group("own", &["player.weapon", "player.health"]).unwrap();
    let mut receivers = two_receivers(&mut hub);
    let mut world = World::new(1);
    let mut sent = Vec::new();
    for tick in 1..=10 {
        let now = Duration::from_millis(16) * tick;
        for (index, player) in world.players.iter_mut().enumerate() {
            player.weapon = (tick > 5 && index % 2 == 0).then_some(Weapon::Fists);
            player.health = Some((90 + tick) as u8);
        }
        hub.tick(now, &world.seen_by(tick, None)).unwrap();
        assert!(hub.encoded() <= 1, "both see the same");
        let mut datagrams = 0;
        while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
            receivers[id as usize - 1].handle(now, datagram).unwrap();
            datagrams += 1;
        }
        for (receiver, id) in receivers.iter_mut().zip([1, 2].map(ReceiverId)) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                hub.handle(id, now, datagram).unwrap();
            }
        }
        sent.push(datagrams);
    }
    assert_eq!(sent, [2, 0, 0, 0, 0, 0, 0, 0, 0, 0], "nothing changed for them");
    hub.set_visible(ReceiverId(2), "own", None).unwrap();
    hub.tick(Duration::from_secs(1), &world.seen_by(11, None)).unwrap();
    while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
        receivers[id as usize - 1].handle(Duration::from_secs(1), datagram).unwrap();
    }
    assert!(receivers[1].newest().unwrap().holds_same(&world.seen_by(11, None)));
    let newest = receivers[0].newest().unwrap();
    assert!(newest.iter::<Player>().unwrap().all(|(_, player)| player.health.is_none()));
}

#[test]
fn only_options_can_be_hidden() {
    let mut hub = Hub::new(&codec(Level::PACKED), HubConfig::default()).unwrap();
    hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO).unwrap();
    for field in
        ["player.position", "weapon", "player.weapon.Rocket.ammunition", "crate.content", ""]
    {
        let refused = hub.add_group("own", &["player.health", field]);
        assert_eq!(refused, Err(NetError::NotOptional { field: field.into() }));
    }
    hub.add_group("own", &["player.weapon.Rocket.locked_on", "crate.fire"]).unwrap();
    let taken = NetError::GroupTaken { name: "own".into() };
    assert_eq!(hub.add_group("own", &[]), Err(taken));
    let missing = NetError::NoSuchGroup { name: "other".into() };
    assert_eq!(hub.set_visible(ReceiverId(1), "other", None), Err(missing));
    let ids = |ids: [u32; 2]| Some(Arc::from(ids.map(EntityId)));
    let unsorted = Err(NetError::NotSorted { id: EntityId(3) });
    assert_eq!(hub.set_visible(ReceiverId(1), "own", ids([3, 3])), unsorted);
    assert_eq!(hub.set_visible(ReceiverId(2), "own", ids([3, 4])), Err(NetError::UnknownReceiver));
    assert_eq!(hub.set_visible(ReceiverId(1), "own", ids([3, 4])), Ok(()));
}
