//! The game's thread: lets time pass in the room, and executes the pages' orders.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use arena::ArenaError;
use arena::map::ferry_at;
use arena::room::Room;
use axum::body::Bytes;
use command_kit::interrupt::Interrupt;
use kinepack::EntityId;
use kinepack_net::LinkConfig;
use tokio::sync::mpsc::Sender;

use super::board::{Board, Joined, Order};
use super::protocol::{self, Net, PlayerStatus, Status};
use crate::arena::{Error, budget};

/// How long the game waits for orders before it lets time pass.
const STEP: Duration = Duration::from_millis(2);
const STATUS_EVERY: Duration = Duration::from_millis(200);
/// The longest pause after which the game catches up. A longer one, such as that of a computer that
/// slept, is skipped.
const MAX_LAG: Duration = Duration::from_millis(250);

pub(super) struct Game {
    room: Room,
    /// The link of the command line, and its name.
    own_link: (String, LinkConfig),
    net: Net,
    pages: BTreeMap<EntityId, Sender<Bytes>>,
    skipped: u64,
}

impl Game {
    pub(super) fn new(room: Room, link: LinkConfig, net: Net) -> Result<Self, Error> {
        let own_link = (net.link.clone(), link);
        let mut game =
            Self { room, own_link, net: net.clone(), pages: BTreeMap::new(), skipped: 0 };
        game.set_net(net)?.map_err(Error::Settings)?;
        Ok(game)
    }

    /// Runs until an interrupt.
    pub(super) fn run(
        mut self,
        board: &Board,
        orders: &Receiver<Order>,
        interrupt: &Interrupt,
    ) -> Result<(), ArenaError> {
        // The real time at which the room's time was 0.
        let mut begin = Instant::now();
        let mut status_at = Duration::ZERO;
        while !interrupt.is_raised() {
            match orders.recv_timeout(STEP) {
                Ok(order) => {
                    self.execute(order)?;
                    while let Ok(order) = orders.try_recv() {
                        self.execute(order)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let lag = begin.elapsed().saturating_sub(self.room.now());
            begin += lag.saturating_sub(MAX_LAG);
            let tick = self.room.server().now();
            self.room.advance(begin.elapsed())?;
            self.deliver(self.room.server().now() != tick);
            if self.room.now() >= status_at {
                status_at = self.room.now() + STATUS_EVERY;
                board.status.send_replace(self.status(board.pages()).into());
            }
        }
        Ok(())
    }

    fn execute(&mut self, order: Order) -> Result<(), ArenaError> {
        match order {
            Order::Join { joined, messages } => {
                let me = self.room.join()?;
                self.pages.insert(me, messages);
                let hello = protocol::hello(me, &self.room.server().rules(), &self.net);
                if joined.send(Joined { me, hello }).is_err() {
                    self.leave(me);
                }
            }
            Order::Leave(id) => self.leave(id),
            Order::Datagram(id, datagram) => self.room.send(id, &datagram),
            Order::Rules(rules) => self.room.set_rules(rules)?,
            // The page's socket has checked it.
            Order::Net(net) => drop(self.set_net(net)?),
        }
        Ok(())
    }

    fn leave(&mut self, id: EntityId) {
        self.pages.remove(&id);
        self.room.leave(id);
    }

    fn set_net(&mut self, net: Net) -> Result<Result<(), &'static str>, ArenaError> {
        let link = match net.config((&self.own_link.0, self.own_link.1)) {
            Ok(link) => link,
            Err(reason) => return Ok(Err(reason)),
        };
        self.room.set_link(link)?;
        self.room.set_budget(budget(net.kbps))?;
        self.net = net;
        Ok(Ok(()))
    }

    /// Sends what has arrived to the pages, and after a tick where everybody is.
    fn deliver(&mut self, is_tick: bool) {
        let Self { room, pages, skipped, .. } = self;
        let ferry = ferry_at(room.server().now());
        let players = room.server().players();
        let places = players.map(|(id, player)| (id, player.in_world(&ferry), player.health));
        let places = is_tick.then(|| protocol::places(places));
        for (id, page) in pages {
            let arrived = room.take(*id);
            let datagrams = arrived.iter().map(|datagram| protocol::datagram(datagram));
            for message in datagrams.chain(places.clone()) {
                // A page that has closed leaves soon.
                *skipped += u64::from(page.try_send(message).is_err());
            }
        }
    }

    fn status(&self, pages: usize) -> String {
        let server = self.room.server();
        let players = server.players().map(|(id, _)| PlayerStatus {
            id: id.0,
            is_bot: !self.pages.contains_key(&id),
            shots: server.shots_of(id).unwrap_or_default(),
        });
        let status = Status {
            rules: server.rules(),
            net: &self.net,
            pages,
            tick: server.now().0,
            players: players.collect(),
            refused: server.refused(),
            skipped: self.skipped,
        };
        status.to_json()
    }
}
