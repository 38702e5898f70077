//! The client of the game in the page of `arena`.

use arena::client::{Client, Drawn, Wish};
use arena::rules::{Rewind, Rules};
use kinepack::EntityId;
use kinepack_web::{failed, time};
use wasm_bindgen::prelude::*;

/// Plays the game of `arena` for one player.
#[wasm_bindgen]
pub struct ArenaClient {
    client: Client,
}

#[wasm_bindgen]
impl ArenaClient {
    /// Returns a client for the player `me`, with the default rules.
    ///
    /// # Errors
    /// None that a page could cause.
    #[wasm_bindgen(constructor)]
    pub fn new(me: u32) -> Result<Self, JsError> {
        let client = Client::new(EntityId(me), Rules::default()).map_err(failed)?;
        Ok(Self { client })
    }

    /// Sets the rules that concern clients.
    ///
    /// # Errors
    /// None that a page could cause.
    pub fn set_rules(
        &mut self,
        prediction: bool,
        fade: bool,
        clock: bool,
        frames: bool,
        cuts: bool,
        straight: bool,
    ) -> Result<(), JsError> {
        let rewind = Rewind::default();
        let rules = Rules { rewind, prediction, fade, clock, frames, cuts, straight };
        self.client.set_rules(rules).map_err(failed)
    }

    /// Takes a datagram. What is not valid is counted, and changes nothing.
    pub fn handle(&mut self, now_ms: f64, datagram: &[u8]) {
        self.client.handle(time(now_ms), datagram);
    }

    /// A frame: finds out what to draw, and makes the inputs that are due. The stick is where to
    /// walk in the world, 1 is full speed; the aim is a direction in the world.
    ///
    /// # Errors
    /// Returns an error if a direction is not a number.
    pub fn frame(
        &mut self,
        now_ms: f64,
        stick_x: f64,
        stick_y: f64,
        aim_x: f64,
        aim_y: f64,
        fires: bool,
    ) -> Result<(), JsError> {
        let wish = Wish { stick: [stick_x, stick_y], aim: [aim_x, aim_y], fires };
        self.client.frame(time(now_ms), &wish).map_err(failed)
    }

    /// Returns the next datagram for the server, if one is due.
    pub fn poll_transmit(&mut self, now_ms: f64) -> Option<Vec<u8>> {
        self.client.poll_transmit(time(now_ms)).map(<[u8]>::to_vec)
    }

    /// The players to draw: for each the numbers of [`player_names`](Self::player_names). The own
    /// player comes first if he is known, which [`numbers`](Self::numbers) says.
    pub fn players(&self) -> Vec<f64> {
        let players = self.client.mine().into_iter().chain(self.client.others().iter().copied());
        players.flat_map(|player| named_player(&player).map(|(_, number)| number)).collect()
    }

    /// Returns the names of a player's numbers, with spaces between them.
    pub fn player_names(&self) -> String {
        let nobody = Drawn {
            id: EntityId(0),
            place: [0.0; 2],
            aim: [0.0; 2],
            is_aboard: false,
            jumps: 0,
            health: 0,
            has_shot: false,
        };
        named_player(&nobody).map(|(name, _)| name).join(" ")
    }

    /// Where the ferry is, and what the client counts, in the order of
    /// [`number_names`](Self::number_names).
    pub fn numbers(&self) -> Vec<f64> {
        self.named_numbers().map(|(_, number)| number).to_vec()
    }

    /// Returns the names of the [`numbers`](Self::numbers), with spaces between them.
    pub fn number_names(&self) -> String {
        self.named_numbers().map(|(name, _)| name).join(" ")
    }
}

fn named_player(player: &Drawn) -> [(&'static str, f64); 8] {
    [
        ("id", f64::from(player.id.0)),
        ("x", player.place[0]),
        ("y", player.place[1]),
        ("aim_x", player.aim[0]),
        ("aim_y", player.aim[1]),
        ("health", f64::from(player.health)),
        ("is_aboard", f64::from(u8::from(player.is_aboard))),
        ("has_shot", f64::from(u8::from(player.has_shot))),
    ]
}

impl ArenaClient {
    fn named_numbers(&self) -> [(&'static str, f64); 14] {
        let (ferry, screen) = (self.client.ferry(), self.client.screen());
        let [_, _, z, w] = ferry.rotation;
        let [hits, shots] = self.client.shots();
        [
            ("has_own", f64::from(u8::from(self.client.mine().is_some()))),
            ("ferry_x", ferry.position[0]),
            ("ferry_y", ferry.position[1]),
            ("ferry_rad", 2.0 * z.atan2(w)),
            ("tick", self.client.tick()),
            ("ahead_ticks", self.client.ahead_ticks()),
            ("hits", hits as f64),
            ("shots", shots as f64),
            ("confirmed", screen.confirmed as f64),
            ("corrected", screen.corrected as f64),
            ("largest_m", screen.largest_m),
            ("leaps", screen.leaps as f64),
            ("in_flight", screen.in_flight as f64),
            ("refused", self.client.refused() as f64),
        ]
    }
}
