//! A server, its clients, and the simulated links between them, in virtual time. Bots play here;
//! what goes to other clients waits to be taken.

use std::collections::BTreeMap;
use std::time::Duration;

use kinepack::EntityId;
use kinepack_net::{Budget, Link, LinkConfig};

use crate::ArenaError;
use crate::bot::Bot;
use crate::client::Client;
use crate::counts::{Screen, Shots};
use crate::map::TICK_HZ;
use crate::rules::Rules;
use crate::server::Server;

/// A tick is this many steps of a room.
const STEPS: u32 = 4;
/// The most datagrams that wait for a client that does not take them.
const MOST_WAITING: usize = 256;

/// The connection of a client.
#[derive(Debug)]
struct Line {
    up: Link,
    down: Link,
    /// What came out of the link for a client outside.
    arrived: Vec<Vec<u8>>,
    bot: Option<Bot>,
    next_frame: Duration,
}

/// A server and its clients.
#[derive(Debug)]
pub struct Room {
    server: Server,
    lines: BTreeMap<EntityId, Line>,
    link: LinkConfig,
    seed: u64,
    steps: u32,
    down_bytes: u64,
    up_bytes: u64,
}

impl Room {
    /// A room without clients. All links have the same settings, and seeds of their own.
    ///
    /// # Errors
    /// Returns [`ArenaError::Link`] for an invalid link.
    pub fn new(rules: Rules, link: LinkConfig, seed: u64) -> Result<Self, ArenaError> {
        link.validate()?;
        let server = Server::new(rules)?;
        let (lines, steps) = (BTreeMap::new(), 0);
        Ok(Self { server, lines, link, seed, steps, down_bytes: 0, up_bytes: 0 })
    }

    /// Adds a client outside of the room. Its player's id is also the connection's.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn join(&mut self) -> Result<EntityId, ArenaError> {
        let now = self.now();
        let id = self.server.join(now)?;
        let seed = self.seed.wrapping_mul(1_000).wrapping_add(2 * u64::from(id.0));
        let line = Line {
            up: Link::new(self.link, seed)?,
            down: Link::new(self.link, seed + 1)?,
            arrived: Vec::new(),
            bot: None,
            next_frame: now,
        };
        self.lines.insert(id, line);
        Ok(id)
    }

    /// Adds a bot.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn add_bot(&mut self) -> Result<EntityId, ArenaError> {
        let id = self.join()?;
        let bot = Bot::new(Client::new(id, self.server.rules())?, self.seed ^ u64::from(id.0));
        if let Some(line) = self.lines.get_mut(&id) {
            line.bot = Some(bot);
        }
        Ok(id)
    }

    /// Removes a client.
    pub fn leave(&mut self, id: EntityId) {
        self.lines.remove(&id);
        self.server.leave(id);
    }

    /// Changes the rules for all.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn set_rules(&mut self, rules: Rules) -> Result<(), ArenaError> {
        self.server.set_rules(rules)?;
        let mut bots = self.lines.values_mut().filter_map(|line| line.bot.as_mut());
        bots.try_for_each(|bot| bot.client.set_rules(rules))
    }

    /// Changes all links.
    ///
    /// # Errors
    /// Returns [`ArenaError::Link`] for an invalid link; then nothing has changed.
    pub fn set_link(&mut self, link: LinkConfig) -> Result<(), ArenaError> {
        link.validate()?;
        for line in self.lines.values_mut() {
            line.up.reconfigure(link)?;
            line.down.reconfigure(link)?;
        }
        self.link = link;
        Ok(())
    }

    /// Limits what the server sends to each client.
    ///
    /// # Errors
    /// Returns [`ArenaError::Net`] for a budget that is too small.
    pub fn set_budget(&mut self, budget: Budget) -> Result<(), ArenaError> {
        self.server.set_budget(self.now(), budget)
    }

    /// Takes a datagram from a client outside, which goes onto its link.
    pub fn send(&mut self, id: EntityId, datagram: &[u8]) {
        let now = self.now();
        if let Some(line) = self.lines.get_mut(&id) {
            self.up_bytes += datagram.len() as u64;
            line.up.send(now, datagram);
        }
    }

    /// What has arrived for a client outside.
    pub fn take(&mut self, id: EntityId) -> Vec<Vec<u8>> {
        self.lines.get_mut(&id).map(|line| std::mem::take(&mut line.arrived)).unwrap_or_default()
    }

    /// The time in the room.
    pub fn now(&self) -> Duration {
        Duration::from_secs(1) * self.steps / (TICK_HZ * STEPS)
    }

    /// Plays until the time `until`.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn advance(&mut self, until: Duration) -> Result<(), ArenaError> {
        while self.now() < until {
            self.steps += 1;
            self.step()?;
        }
        Ok(())
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The shots of all bots, and what their screens showed.
    pub fn bots(&self) -> (Shots, Screen) {
        let (mut shots, mut screen) = (Shots::default(), Screen::default());
        for (id, line) in &self.lines {
            if let Some(bot) = &line.bot {
                shots += self.server.shots_of(*id).unwrap_or_default();
                screen += bot.client.screen();
            }
        }
        (shots, screen)
    }

    /// The bots.
    pub fn each_bot(&self) -> impl Iterator<Item = (EntityId, &Bot)> {
        self.lines.iter().filter_map(|(id, line)| Some((*id, line.bot.as_ref()?)))
    }

    /// The bytes that the server sent and got, without headers.
    pub fn bytes(&self) -> [u64; 2] {
        [self.down_bytes, self.up_bytes]
    }

    fn step(&mut self) -> Result<(), ArenaError> {
        let now = self.now();
        for (id, line) in &mut self.lines {
            while let Some(datagram) = line.up.poll(now) {
                self.server.handle(*id, now, &datagram);
            }
        }
        if self.steps.is_multiple_of(STEPS) {
            self.server.tick(now)?;
            while let Some((id, datagram)) = self.server.poll_transmit() {
                if let Some(line) = self.lines.get_mut(&id) {
                    self.down_bytes += datagram.len() as u64;
                    line.down.send(now, datagram);
                }
            }
        }
        for line in self.lines.values_mut() {
            self.up_bytes += line.play(now)?;
        }
        Ok(())
    }
}

impl Line {
    /// Takes what arrived, and lets a bot play. Returns how many bytes it sent.
    fn play(&mut self, now: Duration) -> Result<u64, ArenaError> {
        while let Some(datagram) = self.down.poll(now) {
            match &mut self.bot {
                Some(bot) => bot.client.handle(now, &datagram),
                // A client that takes nothing loses what comes, as on any network.
                None if self.arrived.len() < MOST_WAITING => self.arrived.push(datagram),
                None => {}
            }
        }
        let Some(bot) = self.bot.as_mut().filter(|_| now >= self.next_frame) else { return Ok(0) };
        bot.frame(now)?;
        self.next_frame = bot.next_frame(now);
        let mut bytes = 0;
        while let Some(datagram) = bot.client.poll_transmit(now) {
            bytes += datagram.len() as u64;
            self.up.send(now, datagram);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rewind;

    fn play(rules: Rules, link: &str, seconds: u64) -> Room {
        let link = LinkConfig::named(link).expect("a link");
        let mut room = Room::new(rules, link, 7).expect("valid");
        for _ in 0..6 {
            room.add_bot().expect("room for a bot");
        }
        room.advance(Duration::from_secs(seconds)).expect("plays");
        room
    }

    #[test]
    fn every_shot_hits_what_the_shooter_saw() {
        let room = play(Rules::default(), "wifi", 40);
        let (shots, screen) = room.bots();
        assert!(shots.on_screen > 100, "{shots:?}");
        // Who stands where his client believes hits what it showed.
        assert_eq!(shots.exact.confirmed_in_place, shots.on_screen - shots.displaced);
        let in_place = [&shots.exact, &shots.tick, &shots.none].map(|way| way.confirmed_in_place);
        assert!(in_place.is_sorted_by(|more, fewer| more > fewer), "{shots:?}");
        assert!(screen.confirmed > 20 * screen.corrected, "{screen:?}");
    }

    #[test]
    fn rules_can_change_while_everybody_plays() {
        let mut room = play(Rules::default(), "mobile", 5);
        let all = [
            Rules { rewind: Rewind::Tick, frames: false, ..Rules::default() },
            Rules { rewind: Rewind::None, cuts: false, fade: false, ..Rules::default() },
            Rules { prediction: false, clock: false, straight: true, ..Rules::default() },
            Rules::default(),
        ];
        for rules in all {
            room.set_rules(rules).expect("valid");
            room.advance(room.now() + Duration::from_secs(5)).expect("plays");
        }
        let (shots, _) = room.bots();
        assert!(shots.fired > 0);
    }
}
