//! Tests the sockets of the game's page: a real client plays over them, and bad messages are
//! refused.

use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use arena::client::{Client, Wish};
use arena::rules::Rules;
use kinepack::EntityId;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Error, HandshakeError, Message, WebSocket, client};

use super::serving::assert_files_are_protected;
use crate::support::running::{PATIENCE, Running};

/// A page without a browser: the client of the game, and its socket.
struct Player {
    socket: WebSocket<TcpStream>,
    me: u64,
    client: Client,
    begin: Instant,
    status: Value,
    /// The number of players whose true places the program told last.
    places: usize,
    last_error: Option<String>,
}

/// Requests the socket. Returns it, or the status of the refusal.
fn knock(address: SocketAddr, origin: &str) -> Result<WebSocket<TcpStream>, u16> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("ws://{address}/socket").into_client_request().unwrap();
    request.headers_mut().insert("Origin", HeaderValue::from_str(origin).unwrap());
    match client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

impl Player {
    fn open(address: SocketAddr) -> Self {
        let mut socket = knock(address, &format!("http://{address}")).expect("a free place");
        let hello: Value = match socket.read() {
            Ok(Message::Text(text)) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        };
        let me = hello["hello"]["me"].as_u64().expect("the player's id");
        assert_eq!(hello["hello"]["rules"], json!(Rules::default()));
        let client = Client::new(EntityId(me as u32), Rules::default()).unwrap();
        let (status, places, last_error) = (Value::Null, 0, None);
        Self { socket, me, client, begin: Instant::now(), status, places, last_error }
    }

    /// Plays frames until `is_over`.
    fn play(&mut self, wish: Wish, mut is_over: impl FnMut(&Self) -> bool) {
        let begin = Instant::now();
        while !is_over(self) {
            assert!(begin.elapsed() < PATIENCE, "{}", self.status);
            self.frame(wish);
        }
    }

    /// Reads until the next datagram, then plays a frame and sends what is due.
    fn frame(&mut self, wish: Wish) {
        loop {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) if bytes[0] == 0 => {
                    self.client.handle(self.begin.elapsed(), &bytes[1..]);
                    break;
                }
                Ok(Message::Binary(bytes)) => self.places = (bytes.len() - 1) / 13,
                Ok(Message::Text(text)) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    if let Some(status) = message.get("status") {
                        self.status = status.clone();
                        break;
                    }
                    self.last_error = message["error"].as_str().map(str::to_owned);
                }
                Ok(Message::Ping(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        let now = self.begin.elapsed();
        self.client.frame(now, &wish).unwrap();
        while let Some(datagram) = self.client.poll_transmit(now) {
            let datagram = datagram.to_vec();
            self.say(Message::binary(datagram));
        }
    }

    fn say(&mut self, message: Message) {
        self.socket.send(message).unwrap();
    }

    /// The entry of a player in the newest status.
    fn shots(&self, id: u64) -> &Value {
        let players = self.status["players"].as_array().expect("a status");
        players.iter().find(|player| player["id"] == id).map_or(&Value::Null, |of| &of["shots"])
    }
}

const EAST: Wish = Wish { stick: [1.0, 0.0], aim: [1.0, 0.0], fires: true };

#[test]
fn a_client_walks_and_shoots_over_its_socket() {
    let (_arena, address) = Running::arena(&["--bots", "2", "--link", "cable"]);
    let mut player = Player::open(address);
    player.play(EAST, |player| player.client.mine().is_some());
    let begin = player.client.mine().unwrap().place;
    player.play(EAST, |player| {
        !player.status.is_null() && player.shots(player.me)["fired"].as_u64() > Some(2)
    });
    let here = player.client.mine().unwrap().place;
    assert!(here[0] > begin[0] + 1.0, "from {begin:?} to {here:?}");
    assert_eq!((player.places, player.client.refused()), (3, 0));
    let shots = player.shots(player.me);
    let [in_time, missed] = ["in_time", "missed"].map(|key| shots[key].as_u64().unwrap());
    assert!(in_time > missed, "{shots}");
}

#[test]
fn the_files_of_the_page_are_protected() {
    let (_arena, address) = Running::arena(&[]);
    assert_files_are_protected(address);
}

#[test]
fn rules_and_the_network_are_shared_by_all_pages() {
    let (_arena, address) = Running::arena(&["--bots", "1"]);
    let mut pages = [Player::open(address), Player::open(address)];
    let rules = Rules { frames: false, cuts: false, ..Rules::default() };
    let net = json!({ "link": "mobile", "longer": true, "kbps": 32 });
    pages[0].say(Message::text(json!({ "rules": rules }).to_string()));
    pages[0].say(Message::text(json!({ "net": net }).to_string()));
    for page in &mut pages {
        page.play(Wish::default(), |page| {
            page.status["rules"] == json!(rules) && page.status["net"] == net
        });
        assert_eq!(page.status["pages"], 2);
    }
}

#[test]
fn bad_messages_are_refused_and_change_nothing() {
    let (_arena, address) = Running::arena(&["--bots", "0"]);
    let mut page = Player::open(address);
    page.play(Wish::default(), |page| !page.status.is_null());
    let before = [&page.status["rules"], &page.status["net"]].map(Value::clone);
    let some_rules = json!({ "rules": { "rewind": "exact" } }).to_string();
    let net = |link: &str, kbps: i64| {
        json!({ "net": { "link": link, "longer": false, "kbps": kbps } }).to_string()
    };
    let texts = [
        "".to_owned(),
        "{}".to_owned(),
        "[1]".to_owned(),
        "{\"rules\":null}".to_owned(),
        some_rules,
        net("moon", 32),
        net("wifi", 2),
        net("wifi", -1),
        net("wifi", 1 << 40),
    ];
    for text in texts {
        page.last_error = None;
        page.say(Message::text(text.clone()));
        page.play(Wish::default(), |page| page.last_error.is_some());
    }
    for datagram in [&[][..], &[0], &[7; 3], &[5; 7], &[255; 1_200]] {
        page.say(Message::binary(datagram.to_vec()));
    }
    page.play(Wish::default(), |page| page.status["refused"].as_u64() > Some(2));
    assert_eq!([&page.status["rules"], &page.status["net"]].map(Value::clone), before);
}

#[test]
fn the_ninth_page_is_refused_and_a_closed_page_leaves() {
    let (_arena, address) = Running::arena(&["--bots", "1"]);
    let mut pages: Vec<_> = (0..8).map(|_| Player::open(address)).collect();
    assert_eq!(knock(address, &format!("http://{address}")).err(), Some(503));
    assert_eq!(knock(address, "http://evil.example").err(), Some(403));
    pages.truncate(1);
    pages[0].play(Wish::default(), |page| {
        page.status["players"].as_array().is_some_and(|players| players.len() == 2)
    });
    Player::open(address);
}

#[test]
fn a_page_that_floods_is_closed() {
    let (_arena, address) = Running::arena(&["--bots", "0"]);
    let mut page = Player::open(address);
    for _ in 0..700 {
        let _ = page.socket.send(Message::binary(vec![0]));
    }
    let begin = Instant::now();
    let code = loop {
        assert!(begin.elapsed() < PATIENCE);
        match page.socket.read() {
            Ok(Message::Close(frame)) => break frame.map(|frame| u16::from(frame.code)),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(code, Some(1008));
}

#[test]
fn an_interrupt_ends_the_game_and_tells_the_pages() {
    let (arena, address) = Running::arena(&["--bots", "3"]);
    let mut page = Player::open(address);
    page.play(Wish::default(), |page| page.client.mine().is_some());
    arena.signal("-INT");
    let mut has_ended = false;
    loop {
        match page.socket.read() {
            Ok(Message::Text(text)) => has_ended |= text.contains("end"),
            Ok(Message::Close(frame)) => {
                assert_eq!(frame.map(|frame| u16::from(frame.code)), Some(1000));
                let _ = page.socket.flush();
                break;
            }
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(has_ended);
    assert_eq!(arena.end().code, Some(0));
}
