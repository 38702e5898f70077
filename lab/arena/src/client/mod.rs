//! A client: shows what arrives, predicts its own player, and sends his inputs. Without sockets and
//! screens: datagrams go in and out, and it says what to draw.

mod watch;

use std::time::Duration;

use kinepack::EntityId;
use kinepack::frame::Place;
use kinepack_net::{
    DatagramKind, InputClock, InputClockConfig, Outcome, Own, PredictConfig, Predicted, Receiver,
    ReceiverConfig, StreamSender, datagram_kind, split_datagram,
};

use crate::ArenaError;
use crate::client::watch::Watched;
use crate::counts::Screen;
use crate::map::{TICK_HZ, ferry_at};
use crate::rules::Rules;
use crate::shot::{Target, follow};
use crate::state::{self, FERRY, Ferry, Hit, Input, Player};
use crate::step::{shoots, step};

/// What the person at the screen, or a bot, wants to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Where to walk in the world; 1 is full speed.
    pub stick: [f64; 2],
    /// Where to aim: a direction in the world.
    pub aim: [f64; 2],
    /// Whether to shoot.
    pub fires: bool,
}

/// A player to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Who it is.
    pub id: EntityId,
    /// Where he is in the world.
    pub place: [f64; 2],
    /// Where he aims.
    pub aim: [f64; 2],
    /// Whether he is on the ferry.
    pub is_aboard: bool,
    /// Counts his teleports and lives.
    pub jumps: u8,
    /// 0 if he waits for a new life.
    pub health: u8,
    /// Whether he has just shot.
    pub has_shot: bool,
}

/// The game's client.
#[derive(Debug)]
pub struct Client {
    me: EntityId,
    rules: Rules,
    receiver: Receiver,
    sent: StreamSender,
    clock: InputClock,
    own: Predicted<Player, Input>,
    /// The ferry as it is drawn.
    ferry: Place,
    others: Vec<Drawn>,
    mine: Option<Drawn>,
    screen: Screen,
    watched: Watched,
    /// The shots that hit on this screen, of all.
    shots: [u64; 2],
    refused: u64,
    datagram: Vec<u8>,
}

impl Client {
    /// A client for the player `me`.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn new(me: EntityId, rules: Rules) -> Result<Self, ArenaError> {
        let codec = state::codec()?;
        let mut client = Self {
            me,
            rules,
            receiver: Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ))?,
            sent: StreamSender::new(&state::inputs()?, state::input_config())?,
            clock: InputClock::new(InputClockConfig::at_hz(TICK_HZ))?,
            own: prediction(&rules)?,
            ferry: ferry_at(kinepack::Tick(0)),
            others: Vec::new(),
            mine: None,
            screen: Screen::default(),
            watched: Watched::default(),
            shots: [0; 2],
            refused: 0,
            datagram: Vec::new(),
        };
        client.set_rules(rules)?;
        Ok(client)
    }

    /// Changes the rules. The server has to use the same.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn set_rules(&mut self, rules: Rules) -> Result<(), ArenaError> {
        self.receiver.set_extrapolation("player", rules.late_players())?;
        if rules.fade != self.rules.fade {
            self.own = prediction(&rules)?;
        }
        self.rules = rules;
        Ok(())
    }

    /// Takes what arrived. What is not valid is counted, and changes nothing.
    pub fn handle(&mut self, now: Duration, datagrams: &[u8]) {
        let Ok(parts) = split_datagram(datagrams) else {
            self.refused += 1;
            return;
        };
        for part in parts {
            let is_taken = if datagram_kind(part) == Some(DatagramKind::StreamAcknowledgement) {
                let taken = self.sent.handle(part);
                if let Ok(acknowledgement) = &taken
                    && self.rules.clock
                {
                    self.clock.observe(now, acknowledgement);
                }
                taken.is_ok()
            } else {
                self.receiver.handle(now, part).is_ok()
            };
            self.refused += u64::from(!is_taken);
        }
    }

    /// A frame: finds out what to draw, and makes the inputs of the ticks that are due.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn frame(&mut self, now: Duration, wish: &Wish) -> Result<(), ArenaError> {
        self.look(now);
        if !self.clock.is_started() {
            self.clock.start_from(now, &self.receiver.status(now));
        }
        let rules = self.rules;
        let play = move |players: &mut [Own<Player>], input: &Input, tick| {
            step(players, input, tick, &rules);
        };
        if self.own.ids().len() == 0
            && let Some(world) = self.receiver.newest()
            && let Some(player) = world.get::<Player>(self.me)?
        {
            self.own.add(self.me, world.tick, &player, play)?;
        }
        let correction = self.own.correct_from(&self.receiver, play)?;
        self.count(correction.outcome, correction.distance, correction.is_snapped);
        for tick in self.clock.ticks(now) {
            let input = self.input(wish);
            self.sent.push_for_tick(tick, &input)?;
            if self.own.ids().len() > 0 {
                self.own.push(tick, &input, play)?;
            }
        }
        self.draw_own();
        self.watch(now);
        Ok(())
    }

    /// The next datagram to send. An acknowledgement travels in front of the inputs, which saves
    /// the headers of a packet.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<&[u8]> {
        // A hello of a client that has not joined is not an acknowledgement, and travels alone.
        let joins = !self.receiver.status(now).joined;
        self.datagram.clear();
        self.datagram.extend_from_slice(self.receiver.poll_transmit(now).unwrap_or_default());
        if (self.datagram.is_empty() || !joins)
            && let Some(inputs) = self.sent.poll_transmit()
        {
            self.datagram.extend_from_slice(inputs);
        }
        (!self.datagram.is_empty()).then_some(&self.datagram)
    }

    /// The own player to draw, once he is known.
    pub fn mine(&self) -> Option<Drawn> {
        self.mine
    }

    /// The own player as he is predicted now, for decisions.
    pub fn me(&self) -> Option<Player> {
        self.own.state(self.me)
    }

    /// The other players to draw.
    pub fn others(&self) -> &[Drawn] {
        &self.others
    }

    /// The ferry to draw.
    pub fn ferry(&self) -> Place {
        self.ferry
    }

    /// The tick that this client simulates now, with its fraction.
    pub fn tick(&self) -> f64 {
        self.clock.tick()
    }

    /// By how many ticks this client is ahead of the newest state that it knows.
    pub fn ahead_ticks(&self) -> f64 {
        self.receiver.newest().map_or(0.0, |world| self.clock.tick() - f64::from(world.tick.0))
    }

    /// What the screen showed, and what the server's states did to the prediction.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// How many shots hit somebody on this screen, and how many were made.
    pub fn shots(&self) -> [u64; 2] {
        self.shots
    }

    /// The number of datagrams that were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Finds out what to draw of the others and of the ferry.
    fn look(&mut self, now: Duration) {
        self.others.clear();
        self.mine = None;
        let Some(playback) = self.receiver.playback(now) else { return };
        for sample in playback.samples() {
            if sample.id == FERRY {
                if let Ok(Ferry { position, rotation }) = sample.state() {
                    self.ferry = Place { position, rotation };
                }
                continue;
            }
            // Before the ferry has arrived, its passengers are nowhere.
            let Ok(player) = playback.in_world::<Player>(&sample) else { continue };
            let drawn = drawn(sample.id, &player, player.point());
            if sample.id == self.me {
                self.mine = Some(drawn);
            } else {
                self.others.push(drawn);
            }
        }
    }

    /// Replaces the own player as the server sent him by the predicted one.
    fn draw_own(&mut self) {
        if !self.rules.prediction {
            return;
        }
        if let Some(player) = self.own.shown(self.me, self.clock.tick() - 1.0) {
            self.mine = Some(drawn(self.me, &player, player.in_world(&self.ferry)));
        }
    }

    /// The input of the next tick, with what the screen shows.
    fn input(&mut self, wish: &Wish) -> Input {
        let mut input = Input {
            stick: wish.stick,
            aim: wish.aim,
            fires: wish.fires,
            seen: self.receiver.seen(),
            hit: None,
        };
        let Some(player) = self.own.state(self.me) else { return input };
        if shoots(&player, &input) {
            let from = match self.mine {
                Some(mine) if !self.rules.prediction => mine.place,
                _ => player.in_world(&self.ferry),
            };
            let alive = self.others.iter().filter(|other| other.health > 0);
            let targets = alive.map(|other| -> Target { (other.id, other.place) });
            let (hit, _) = follow(from, rounded_aim(&input), targets);
            input.hit = hit.map(|target| Hit { target, from: player.point() });
            self.shots[0] += u64::from(input.hit.is_some());
            self.shots[1] += 1;
        }
        input
    }

    fn count(&mut self, outcome: Outcome, distance_m: f64, is_snapped: bool) {
        match outcome {
            Outcome::Confirmed => self.screen.confirmed += 1,
            Outcome::Corrected => {
                self.screen.corrected += 1;
                if !is_snapped {
                    self.screen.largest_m = self.screen.largest_m.max(distance_m);
                }
            }
            _ => {}
        }
    }
}

/// The aim as the server will read it.
fn rounded_aim(input: &Input) -> [f64; 2] {
    use kinepack::Pack;
    input.rounded().map_or(input.aim, |input| input.aim)
}

fn prediction(rules: &Rules) -> Result<Predicted<Player, Input>, ArenaError> {
    let mut config = PredictConfig::at_hz(TICK_HZ);
    if !rules.fade {
        (config.position_fade, config.rotation_fade) = (Duration::ZERO, Duration::ZERO);
    }
    Ok(Predicted::new(&state::schema()?, config)?)
}

fn drawn(id: EntityId, player: &Player, place: [f64; 2]) -> Drawn {
    let Player { aim, is_aboard, jumps, health, reload_ticks, .. } = *player;
    Drawn { id, place, aim, is_aboard, jumps, health, has_shot: reload_ticks > 12 }
}
