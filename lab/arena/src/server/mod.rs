//! The server: takes each player's input of each tick, decides whom shots hit, and sends the world.
//! Without sockets: datagrams go in and out.

mod judge;

use std::collections::VecDeque;
use std::time::Duration;

use kinepack::stream::StreamCodec;
use kinepack::{EntityId, Pack, Snapshot, Tick};
use kinepack_net::{
    Budget, DatagramKind, Hub, HubConfig, ReceiverId, ReceiverOptions, RewindConfig,
    StreamReceiver, datagram_kind, split_datagram,
};

use crate::ArenaError;
use crate::counts::Shots;
use crate::map::{TICK_HZ, ferry_at, length};
use crate::rules::Rules;
use crate::shot::Target;
use crate::state::{self, FERRY, FIRST_PLAYER, Ferry, HEALTH, Input, Player, obey};
use crate::step::step_one;

/// How long a player waits for a new life.
const OUT_TICKS: u32 = 2 * TICK_HZ;
/// How many ticks' places the server keeps, to rewind by tick.
const HISTORY_TICKS: usize = TICK_HZ as usize;
/// A hit pushes the target by this much, in metres per second.
const PUSH_M_PER_S: f64 = 3.0;
/// Where players begin.
const BEGINS: [[f64; 2]; 6] =
    [[-26.0, 0.0], [26.0, 0.0], [-18.0, -12.0], [18.0, 12.0], [-10.0, 14.0], [10.0, -14.0]];
/// Own players come first if a budget does not suffice for all.
const OWN_PRIORITY: f32 = 100.0;

/// A player's seat.
#[derive(Debug)]
struct Seat {
    id: EntityId,
    receiver: ReceiverId,
    inputs: StreamReceiver,
    state: Player,
    /// The last input, which is used again if one is late.
    input: Input,
    /// When a player who is out gets a new life.
    returns: Option<Tick>,
    shots: Shots,
}

/// Everybody who was alive at a tick, in the world.
#[derive(Debug)]
struct Places {
    tick: Tick,
    targets: Vec<Target>,
}

/// A shot that was let off in the last tick, for whoever draws the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Who shot.
    pub shooter: EntityId,
    /// Whom the rules let it hit.
    pub hit: Option<EntityId>,
}

/// The game's server.
#[derive(Debug)]
pub struct Server {
    hub: Hub,
    inputs: StreamCodec,
    rules: Rules,
    tick: Tick,
    seats: Vec<Seat>,
    next_player: u32,
    budget: Budget,
    history: VecDeque<Places>,
    shots: Vec<Shot>,
    world: Snapshot,
    datagram: Vec<u8>,
    /// What arrived and was refused.
    refused: u64,
}

impl Server {
    /// A server without players.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn new(rules: Rules) -> Result<Self, ArenaError> {
        let codec = state::codec()?;
        let mut hub = Hub::new(&codec, HubConfig::default())?;
        let longest = Duration::from_secs(1);
        hub.set_rewind(Some(RewindConfig { longest, ..RewindConfig::at_hz(TICK_HZ) }))?;
        let mut server = Self {
            hub,
            inputs: state::inputs()?,
            rules,
            tick: Tick(0),
            seats: Vec::new(),
            next_player: FIRST_PLAYER,
            budget: Budget::Unlimited,
            history: VecDeque::new(),
            shots: Vec::new(),
            world: Snapshot::new(codec.schema(), Tick(0)),
            datagram: Vec::new(),
            refused: 0,
        };
        server.set_rules(rules)?;
        Ok(server)
    }

    /// Changes the rules, from the next tick on.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn set_rules(&mut self, rules: Rules) -> Result<(), ArenaError> {
        self.hub.set_extrapolation("player", rules.late_players())?;
        let ferry = ferry_at(self.tick);
        self.seats.iter_mut().for_each(|seat| obey(&mut seat.state, &rules, &ferry));
        self.rules = rules;
        Ok(())
    }

    /// The rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Limits the bytes per second of each client.
    ///
    /// # Errors
    /// Returns [`ArenaError::Net`] if the budget is below 256 bytes per second.
    pub fn set_budget(&mut self, now: Duration, budget: Budget) -> Result<(), ArenaError> {
        let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
        for seat in &self.seats {
            self.hub.set_options(seat.receiver, &options, now)?;
        }
        self.budget = budget;
        Ok(())
    }

    /// Adds a player. Ids are not used again.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn join(&mut self, now: Duration) -> Result<EntityId, ArenaError> {
        let id = EntityId(self.next_player);
        let receiver = ReceiverId(id.0.into());
        let inputs = StreamReceiver::new(&self.inputs, state::input_config())?;
        let options = ReceiverOptions { budget: self.budget, ..ReceiverOptions::default() };
        self.hub.add(receiver, &options, now)?;
        self.next_player += 1;
        self.seats.push(Seat {
            id,
            receiver,
            inputs,
            state: Player::new(BEGINS[id.0 as usize % BEGINS.len()]),
            input: Input::default(),
            returns: None,
            shots: Shots::default(),
        });
        Ok(id)
    }

    /// Removes a player.
    pub fn leave(&mut self, id: EntityId) {
        self.seats.retain(|seat| seat.id != id);
        self.hub.remove(ReceiverId(id.0.into()));
    }

    /// Takes what arrived from a client. What is not valid is counted, and changes nothing.
    pub fn handle(&mut self, id: EntityId, now: Duration, datagrams: &[u8]) {
        let Some(seat) = self.seats.iter_mut().find(|seat| seat.id == id) else { return };
        let Ok(parts) = split_datagram(datagrams) else {
            self.refused += 1;
            return;
        };
        for part in parts {
            let is_taken = match datagram_kind(part) {
                Some(DatagramKind::StreamPacket) => seat.inputs.handle(now, part).is_ok(),
                _ => self.hub.handle(seat.receiver, now, part).is_ok(),
            };
            self.refused += u64::from(!is_taken);
        }
    }

    /// Simulates the next tick, and makes its datagrams.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn tick(&mut self, now: Duration) -> Result<(), ArenaError> {
        let tick = Tick(self.tick.0 + 1);
        self.read_inputs(now, tick)?;
        self.judge()?;
        self.tick = tick;
        for seat in &mut self.seats {
            step_one(&mut seat.state, &seat.input, tick, &self.rules);
        }
        self.hit();
        self.give_lives();
        for seat in &mut self.seats {
            seat.state = seat.state.rounded()?;
        }
        self.remember();
        self.send(now)
    }

    /// The next datagram to send, and for whom.
    pub fn poll_transmit(&mut self) -> Option<(EntityId, &[u8])> {
        let (receiver, datagram) = self.hub.poll_transmit()?;
        let id = EntityId(receiver.0 as u32);
        self.datagram.clear();
        // The acknowledgement of the inputs says how early they arrived.
        if let Some(seat) = self.seats.iter().find(|seat| seat.id == id) {
            seat.inputs.write_acknowledgement(&mut self.datagram);
        }
        self.datagram.extend_from_slice(datagram);
        Some((id, &self.datagram))
    }

    /// The newest tick.
    pub fn now(&self) -> Tick {
        self.tick
    }

    /// The players as they are now, by id.
    pub fn players(&self) -> impl Iterator<Item = (EntityId, &Player)> {
        self.seats.iter().map(|seat| (seat.id, &seat.state))
    }

    /// What a player's shots did.
    pub fn shots_of(&self, id: EntityId) -> Option<Shots> {
        let seat = self.seats.iter().find(|seat| seat.id == id)?;
        let stats = seat.inputs.stats();
        Some(Shots { in_time: stats.in_time, missed: stats.missed, ..seat.shots })
    }

    /// The shots of the last tick.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// The number of datagrams that were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn read_inputs(&mut self, now: Duration, tick: Tick) -> Result<(), ArenaError> {
        for seat in &mut self.seats {
            let arrived = seat.inputs.read_for_tick(now, tick)?;
            // A player most likely still walks there, but his gun must not go off by itself.
            seat.input =
                arrived.unwrap_or(Input { fires: false, seen: None, hit: None, ..seat.input });
        }
        Ok(())
    }

    /// Lets the shots of this tick hit.
    fn hit(&mut self) {
        for index in 0..self.shots.len() {
            let Shot { shooter, hit } = self.shots[index];
            let aim = self.seats.iter().find(|seat| seat.id == shooter).map(|seat| seat.input.aim);
            let target = self.seats.iter_mut().find(|seat| Some(seat.id) == hit);
            let (Some(aim), Some(target)) = (aim, target) else { continue };
            let player = &mut target.state;
            if player.health == 0 {
                continue;
            }
            player.health -= 1;
            if player.health == 0 {
                target.returns = Some(Tick(self.tick.0 + OUT_TICKS));
            } else if !player.is_aboard {
                let reach = length(aim).max(f64::MIN_POSITIVE);
                for (speed, part) in player.velocity.iter_mut().zip(aim) {
                    *speed += part / reach * PUSH_M_PER_S;
                }
            }
        }
    }

    fn give_lives(&mut self) {
        let now = self.tick;
        for seat in self.seats.iter_mut().filter(|seat| seat.returns == Some(now)) {
            let at = (seat.id.0 + now.0 / OUT_TICKS) as usize % BEGINS.len();
            let jumps = seat.state.jumps.wrapping_add(u8::from(self.rules.cuts));
            seat.state = Player { jumps, health: HEALTH, ..Player::new(BEGINS[at]) };
            seat.returns = None;
        }
    }

    fn remember(&mut self) {
        let mut places = match self.history.len() {
            HISTORY_TICKS => self.history.pop_front(),
            _ => None,
        }
        .unwrap_or(Places { tick: self.tick, targets: Vec::new() });
        let ferry = ferry_at(self.tick);
        places.tick = self.tick;
        places.targets.clear();
        let alive = self.seats.iter().filter(|seat| seat.state.health > 0);
        places.targets.extend(alive.map(|seat| (seat.id, seat.state.in_world(&ferry))));
        self.history.push_back(places);
    }

    fn send(&mut self, now: Duration) -> Result<(), ArenaError> {
        self.world.clear(self.tick);
        self.world.push(FERRY, &Ferry::from(ferry_at(self.tick)))?;
        for seat in &self.seats {
            self.world.push(seat.id, &seat.state)?;
        }
        let own = |receiver: ReceiverId, id: EntityId| match receiver.0 == u64::from(id.0) {
            true => OWN_PRIORITY,
            false => 1.0,
        };
        self.hub.tick_with(now, &self.world, Some(&own))?;
        Ok(())
    }
}
