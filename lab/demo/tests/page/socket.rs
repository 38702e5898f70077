//! A page without a browser. The page opens the socket, receives the program's messages and sends
//! its own.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Error, HandshakeError, Message, WebSocket, client};

use crate::support::running::PATIENCE;

pub(crate) struct Page {
    socket: WebSocket<TcpStream>,
    /// Whether the page answers each world with `taken`, as a visible page does.
    pub(crate) draws: bool,
}

/// A message from the program.
#[derive(Debug)]
pub(crate) enum Said {
    /// A message with a single key and its value.
    Text(String, Value),
    World(World),
    Datagrams(Datagrams),
    /// The end of the socket, with the code of the close frame if there was one.
    Closed(Option<u16>),
}

/// The header of a world message, and the player's position.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) number: u32,
    pub(crate) tick: u32,
    pub(crate) bodies: u32,
    /// The player's position in metres, or NaN before the first state.
    pub(crate) player_x: f32,
    pub(crate) bytes: usize,
}

/// The datagrams of a tick for the page's receiver.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) connection: u32,
    pub(crate) row: u32,
    pub(crate) delays_ms: [f32; 2],
    pub(crate) time_s: f64,
    /// Each datagram, with the time at which it arrived.
    pub(crate) list: Vec<(f64, Vec<u8>)>,
}

impl Page {
    /// Opens the socket as a browser does that loaded the page from `address`.
    pub(crate) fn open(address: SocketAddr) -> Self {
        let host = address.to_string();
        Self::knock(address, &host, Some(&format!("http://{host}")))
            .unwrap_or_else(|status| panic!("refused: {status}"))
    }

    /// Requests the socket with these headers. Returns a page, or the HTTP status of the refusal.
    pub(crate) fn knock(
        address: SocketAddr,
        host: &str,
        origin: Option<&str>,
    ) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{address}/socket").into_client_request().unwrap();
        request.headers_mut().insert("Host", HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", HeaderValue::from_str(origin).unwrap());
        }
        match client(request, stream) {
            Ok((socket, _)) => Ok(Self { socket, draws: true }),
            Err(HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits for the next message and returns it. If the message is a world, also answers it.
    pub(crate) fn next(&mut self) -> Said {
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let said: Value =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                let mut entries = said.as_object().expect("an object").clone().into_iter();
                let (key, value) = entries.next().expect("a key");
                assert!(entries.next().is_none(), "more than one key: {said}");
                Said::Text(key, value)
            }
            Ok(Message::Binary(bytes)) => {
                if bytes[..4] == 2u32.to_le_bytes() {
                    return Said::Datagrams(Datagrams::read(&bytes));
                }
                let world = World::read(&bytes);
                if self.draws {
                    self.say(&json!({ "taken": world.number }));
                }
                Said::World(world)
            }
            Ok(Message::Close(frame)) => {
                // The answer waits in the socket until then. A browser sends it at once.
                let _ = self.socket.flush();
                Said::Closed(frame.map(|frame| frame.code.into()))
            }
            Ok(_) => self.next(),
            Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("silent for {PATIENCE:?}")
            }
            Err(_) => Said::Closed(None),
        }
    }

    /// Waits for the first message that `wanted` accepts. Returns what `wanted` made of it.
    pub(crate) fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(Said) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            let said = self.next();
            let closed = matches!(said, Said::Closed(_)).then(|| format!("{said:?}"));
            match (wanted(said), closed) {
                (Some(found), _) => return found,
                (None, Some(closed)) => panic!("{closed} before {what}"),
                (None, None) => assert!(begin.elapsed() < PATIENCE, "never {what}"),
            }
        }
    }

    /// Waits for the next text message of this kind, and returns its value.
    pub(crate) fn hear(&mut self, kind: &str) -> Value {
        self.until(kind, |said| match said {
            Said::Text(key, value) if key == kind => Some(value),
            _ => None,
        })
    }

    /// Waits for the next status that fulfils `condition`, and returns it.
    pub(crate) fn status(&mut self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        self.until(what, |said| match said {
            Said::Text(key, value) if key == "status" => Some(value).filter(&condition),
            _ => None,
        })
    }

    pub(crate) fn world(&mut self) -> World {
        self.until("a world", |said| match said {
            Said::World(world) => Some(world),
            _ => None,
        })
    }

    pub(crate) fn datagrams(&mut self) -> Datagrams {
        self.until("datagrams", |said| match said {
            Said::Datagrams(datagrams) => Some(datagrams),
            _ => None,
        })
    }

    /// Sends the answers of the page's receiver.
    pub(crate) fn answer(&mut self, connection: u32, datagrams: &[&[u8]]) {
        let mut message = connection.to_le_bytes().to_vec();
        for datagram in datagrams {
            message.extend((datagram.len() as u16).to_le_bytes());
            message.extend(*datagram);
        }
        self.send(Message::binary(message));
    }

    /// Waits for the end of the socket. Returns the code with which the program closed it.
    pub(crate) fn closed(&mut self) -> Option<u16> {
        self.until("the end of the socket", |said| match said {
            Said::Closed(code) => Some(code),
            _ => None,
        })
    }

    /// Collects all messages that arrive within `time`.
    pub(crate) fn listen(&mut self, time: Duration) -> Vec<Said> {
        let end = Instant::now() + time;
        let mut heard = Vec::new();
        while Instant::now() < end {
            heard.push(self.next());
        }
        heard
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.send(Message::text(message.to_string()));
    }

    /// Sends any message. If the program has closed the socket, `next` reports it.
    pub(crate) fn send(&mut self, message: Message) {
        let _ = self.socket.send(message);
    }
}

/// Returns the `N` bytes at `at`.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

impl World {
    fn read(bytes: &[u8]) -> Self {
        let [kind, number, bodies] = [0, 4, 8].map(|at| u32::from_le_bytes(bytes_at(bytes, at)));
        assert_eq!(kind, 1, "a world");
        let player_x = if bodies > 0 { f32::from_le_bytes(bytes_at(bytes, 20)) } else { f32::NAN };
        let tick = f64::from_le_bytes(bytes_at(bytes, 12)) as u32;
        Self { number, tick, bodies, player_x, bytes: bytes.len() }
    }
}

impl Datagrams {
    fn read(bytes: &[u8]) -> Self {
        let [connection, row, count] = [4, 8, 12].map(|at| u32::from_le_bytes(bytes_at(bytes, at)));
        let delays_ms = [16, 20].map(|at| f32::from_le_bytes(bytes_at(bytes, at)));
        let (mut list, mut at) = (Vec::new(), 32);
        while at < bytes.len() {
            let length = u32::from_le_bytes(bytes_at(bytes, at + 8)) as usize;
            let arrived_s = f64::from_le_bytes(bytes_at(bytes, at));
            list.push((arrived_s, bytes[at + 12..at + 12 + length].to_vec()));
            at += 12 + length;
        }
        assert_eq!((at, list.len()), (bytes.len(), count as usize));
        let time_s = f64::from_le_bytes(bytes_at(bytes, 24));
        Self { connection, row, delays_ms, time_s, list }
    }
}
