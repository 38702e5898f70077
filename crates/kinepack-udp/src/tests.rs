//! Tests of both ends over loopback.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::*;

const PROTOCOL: u64 = 0x1234_5678;

/// How long the tests wait. This is enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(10);

/// The secret of these tests. It is given in digits, which take no time to derive.
fn secret() -> Secret {
    Secret::parse(&"01".repeat(32)).unwrap()
}

/// A server, and the payloads that it received.
pub(crate) struct Host {
    pub(crate) server: UdpServer,
    pub(crate) events: Vec<ServerEvent>,
    pub(crate) payloads: Vec<Vec<u8>>,
}

impl Host {
    fn bind(address: SocketAddr, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let mut options = ServerOptions::new(PROTOCOL);
        change(&mut options);
        let server = UdpServer::bind(address, &secret(), options).unwrap();
        Self { server, events: Vec::new(), payloads: Vec::new() }
    }

    pub(crate) fn new() -> Self {
        Self::bind(SocketAddr::from(([127, 0, 0, 1], 0)), |_| {})
    }

    pub(crate) fn poll(&mut self) {
        let first = self.events.len();
        self.server.poll(&mut self.events);
        for event in &self.events[first..] {
            if let ServerEvent::Datagram { payload, .. } = event {
                self.payloads.push(self.server.payload(payload).to_vec());
            }
        }
    }

    pub(crate) fn join(&self) -> UdpClient {
        self.join_with(&secret(), |_| {})
    }

    fn join_with(&self, secret: &Secret, change: impl FnOnce(&mut ClientOptions)) -> UdpClient {
        let mut options = ClientOptions::new(PROTOCOL);
        change(&mut options);
        UdpClient::connect(self.server.local_addr(), secret, options).unwrap()
    }

    fn connects(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, ServerEvent::Connected { .. })).count()
    }

    pub(crate) fn departures(&self) -> Vec<(u64, DisconnectReason)> {
        let departure = |event: &ServerEvent| match *event {
            ServerEvent::Disconnected { client, reason } => Some((client, reason)),
            _ => None,
        };
        self.events.iter().filter_map(departure).collect()
    }
}

/// Calls `step` once a millisecond until it returns true.
pub(crate) fn until(what: &str, mut step: impl FnMut() -> bool) {
    let start = Instant::now();
    while !step() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn connect(host: &mut Host, client: &mut UdpClient) {
    let before = host.connects();
    until("connected", || {
        host.poll();
        client.poll(&mut |_| {});
        host.connects() > before && client.state() == ClientState::Connected
    });
}

fn lost(client: &mut UdpClient) -> LostReason {
    let mut reason = None;
    until("lost", || {
        client.poll(&mut |_| {});
        if let ClientState::Lost { reason: why } = client.state() {
            reason = Some(why);
        }
        reason.is_some()
    });
    reason.unwrap()
}

#[test]
fn udp_payloads_go_both_ways() {
    let mut host = Host::new();
    let mut client = host.join();
    assert_eq!(client.send(b"early"), Err(SendError::NotConnected));
    assert_eq!(host.server.send(client.client_id(), b"early"), Err(SendError::NotConnected));
    connect(&mut host, &mut client);
    let longest = vec![7; MAX_PAYLOAD_BYTES];
    client.send(b"up").unwrap();
    client.send(&longest).unwrap();
    host.server.send(client.client_id(), b"down").unwrap();
    host.server.send(client.client_id(), &longest).unwrap();
    let mut heard = Vec::new();
    until("four payloads", || {
        host.poll();
        client.poll(&mut |payload| heard.push(payload.to_vec()));
        heard.len() + host.payloads.len() >= 4
    });
    assert_eq!(host.payloads, [b"up".to_vec(), longest.clone()]);
    assert_eq!(heard, [b"down".to_vec(), longest]);

    let too_long = vec![7; MAX_PAYLOAD_BYTES + 1];
    let refusal = Err(SendError::TooLong { bytes: MAX_PAYLOAD_BYTES + 1 });
    assert_eq!(client.send(&too_long), refusal);
    assert_eq!(host.server.send(client.client_id(), &too_long), refusal);
    assert_eq!(client.send(&[]), Err(SendError::Empty));
    assert!(
        matches!(&host.events[0], ServerEvent::Connected { client: id, .. } if *id == client.client_id())
    );
    assert_eq!(host.server.stats().refused, 0);
}

/// Linux grants twice the requested size, and no more than twice its limit.
#[cfg(target_os = "linux")]
#[test]
fn the_socket_has_the_buffer_that_the_system_allows() {
    let limit = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
    let granted = 2 * limit.trim().parse::<usize>().unwrap().min(4 << 20);
    assert_eq!(Host::new().server.receive_buffer_bytes(), granted);
}

/// The send buffer is smaller on purpose: see `SEND_BUFFER_BYTES`.
#[cfg(target_os = "linux")]
#[test]
fn the_socket_holds_fewer_long_datagrams_than_an_interface() {
    let limit = std::fs::read_to_string("/proc/sys/net/core/wmem_max").unwrap();
    let granted = 2 * limit.trim().parse::<usize>().unwrap().min(1 << 20);
    let bytes = Host::new().server.send_buffer_bytes();
    assert_eq!(bytes, granted);
    assert!(bytes / 2304 < 1000);
}

/// More datagrams wait than the 256 by which `renetcode` lets a packet be late.
#[test]
fn udp_what_waits_arrives_in_order() {
    let mut host = Host::bind(SocketAddr::from(([127, 0, 0, 1], 0)), |options| {
        (options.pace, options.max_wait) = (Some(Duration::from_millis(20)), PATIENCE);
    });
    let mut client = host.join();
    connect(&mut host, &mut client);
    host.server.hold(PATIENCE);
    let before = host.server.stats().datagrams_out;
    let numbers: Vec<u16> = (0..400).collect();
    for number in &numbers {
        let payload = [number.to_le_bytes(); 50].concat();
        host.server.send(client.client_id(), &payload).unwrap();
    }
    assert_eq!(host.server.stats().datagrams_out, before, "all wait");
    host.server.hold(Duration::ZERO);
    let mut heard = Vec::new();
    until("all arrive", || {
        host.poll();
        client.poll(&mut |payload| heard.push(u16::from_le_bytes([payload[0], payload[1]])));
        heard.len() == numbers.len()
    });
    assert_eq!(heard, numbers);
    assert_eq!((host.server.flush(), host.server.stats().unsent), (None, 0));
}

#[test]
fn udp_what_waits_arrives_before_the_goodbye() {
    let mut host = Host::bind(SocketAddr::from(([127, 0, 0, 1], 0)), |options| {
        (options.pace, options.max_wait) = (Some(Duration::from_millis(20)), PATIENCE);
    });
    let (mut kicked, mut stays) = (host.join(), host.join());
    connect(&mut host, &mut kicked);
    connect(&mut host, &mut stays);
    host.server.hold(PATIENCE);
    for client in [&kicked, &stays] {
        (0..40).for_each(|byte| {
            host.server.send(client.client_id(), &[byte; 1000]).unwrap();
        });
    }
    host.server.disconnect(kicked.client_id());
    let mut heard = 0;
    until("the goodbye", || {
        kicked.poll(&mut |_| heard += 1);
        kicked.state() == ClientState::Lost { reason: LostReason::Dropped }
    });
    assert_eq!(heard, 40);
    host.server.close();
    until("the other goodbye", || {
        stays.poll(&mut |_| heard += 1);
        stays.state() == ClientState::Lost { reason: LostReason::Dropped }
    });
    assert_eq!(heard, 80);
}

#[test]
fn udp_many_clients_join_at_once() {
    let mut host =
        Host::bind(SocketAddr::from(([127, 0, 0, 1], 0)), |options| options.max_clients = 200);
    let mut clients: Vec<UdpClient> = (0..200).map(|_| host.join()).collect();
    until("200 clients", || {
        host.poll();
        clients.iter_mut().for_each(|client| client.poll(&mut |_| {}));
        host.server.clients() == 200
    });
    let mut one_more = host.join();
    until("refused", || {
        host.poll();
        one_more.poll(&mut |_| {});
        one_more.state() == ClientState::Lost { reason: LostReason::Full }
    });
}

#[test]
fn udp_another_secret_or_protocol_never_connects() {
    let mut host = Host::new();
    let timeout = Duration::from_millis(300);
    let mut clients = [
        host.join_with(&Secret::parse(&"02".repeat(32)).unwrap(), |options| {
            options.timeout = timeout;
        }),
        host.join_with(&secret(), |options| {
            (options.timeout, options.protocol_id) = (timeout, PROTOCOL + 1);
        }),
    ];
    until("given up", || {
        host.poll();
        clients.iter_mut().for_each(|client| client.poll(&mut |_| {}));
        clients
            .iter()
            .all(|client| client.state() == ClientState::Lost { reason: LostReason::NoAnswer })
    });
    assert_eq!(host.events, []);
    let stats = host.server.stats();
    assert_eq!(stats.datagrams_out, 0, "no answer to who shows no secret");
    assert!(stats.refused >= 1 && stats.junk >= 1, "{stats:?}");
}

#[test]
fn udp_a_server_that_vanishes_is_lost_and_another_on_its_port_is_found() {
    let mut host = Host::new();
    let address = host.server.local_addr();
    let mut client =
        host.join_with(&secret(), |options| options.timeout = Duration::from_millis(150));
    connect(&mut host, &mut client);
    drop(host);
    let start = Instant::now();
    assert_eq!(lost(&mut client), LostReason::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(client.send(b"late"), Err(SendError::NotConnected));

    let mut host = Host::bind(address, |_| {});
    let mut client = host.join();
    connect(&mut host, &mut client);
}

#[test]
fn udp_goodbyes_are_heard_at_once() {
    let mut host = Host::new();
    let (mut leaves, mut stays) = (host.join(), host.join());
    connect(&mut host, &mut leaves);
    connect(&mut host, &mut stays);
    let mut dropped = host.join();
    connect(&mut host, &mut dropped);
    host.server.disconnect(dropped.client_id());
    assert_eq!(lost(&mut dropped), LostReason::Dropped);

    let id = leaves.client_id();
    leaves.close();
    until("the goodbye", || {
        host.poll();
        !host.departures().is_empty()
    });
    assert_eq!(host.departures(), [(id, DisconnectReason::Left)]);
    host.server.close();
    assert_eq!(lost(&mut stays), LostReason::Dropped);
}

#[test]
fn udp_a_client_that_vanishes_is_dropped_and_a_quiet_one_is_not() {
    let mut host = Host::bind(SocketAddr::from(([127, 0, 0, 1], 0)), |options| {
        options.timeout = Duration::from_millis(600);
    });
    let (mut vanishes, mut quiet) = (host.join(), host.join());
    connect(&mut host, &mut vanishes);
    connect(&mut host, &mut quiet);
    let id = vanishes.client_id();
    drop(vanishes);
    let start = Instant::now();
    until("dropped", || {
        host.poll();
        quiet.poll(&mut |_| {});
        start.elapsed() > Duration::from_millis(700) && !host.departures().is_empty()
    });
    assert_eq!(host.departures(), [(id, DisconnectReason::TimedOut)]);
    assert_eq!(quiet.state(), ClientState::Connected);
}

#[test]
fn udp_waiting_ends_with_a_datagram_or_in_time() {
    let mut host = Host::new();
    let mut client = host.join();
    connect(&mut host, &mut client);
    host.server.send(client.client_id(), b"one").unwrap();
    let start = Instant::now();
    client.wait(PATIENCE);
    assert!(start.elapsed() < PATIENCE / 2);
    client.poll(&mut |_| {});
    let start = Instant::now();
    client.wait(Duration::from_millis(30));
    assert!(start.elapsed() >= Duration::from_millis(20));
    client.poll(&mut |_| panic!("nothing was sent"));
}

/// A client's request, as bytes on the wire.
pub(crate) fn recorded_request() -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let options = ClientOptions::new(PROTOCOL);
    let _client = UdpClient::connect(socket.local_addr().unwrap(), &secret(), options).unwrap();
    let mut buffer = [0; 2048];
    let bytes = socket.recv(&mut buffer).unwrap();
    buffer[..bytes].to_vec()
}

#[test]
fn udp_an_answer_to_an_unproven_address_is_smaller_than_the_question() {
    let mut host = Host::new();
    let request = recorded_request();
    assert_eq!(request.len(), screen::REQUEST_BYTES);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    (0..100).for_each(|_| assert!(socket.send_to(&request, host.server.local_addr()).is_ok()));
    until("all are read", || {
        host.poll();
        host.server.stats().datagrams_in == 100
    });
    host.poll();
    let mut answers = Vec::new();
    let mut buffer = [0; 2048];
    while let Ok(bytes) = socket.recv(&mut buffer) {
        answers.push(bytes);
    }
    assert!((1..=20).contains(&answers.len()), "{answers:?}");
    assert!(answers.iter().all(|&bytes| bytes <= 333), "{answers:?}");
    // The same request from another address is refused: the token belongs to the first address.
    let replay = UdpSocket::bind("127.0.0.1:0").unwrap();
    replay.send_to(&request, host.server.local_addr()).unwrap();
    let sent = host.server.stats().datagrams_out;
    until("refused", || {
        host.poll();
        host.server.stats().refused >= 1
    });
    assert_eq!(host.server.stats().datagrams_out, sent);
}

#[test]
fn udp_the_overhead_is_what_it_says() {
    let mut host = Host::new();
    let mut client = host.join();
    connect(&mut host, &mut client);
    let before = host.server.stats();
    host.server.send(client.client_id(), &[1; 100]).unwrap();
    let after = host.server.stats();
    let overhead = (after.bytes_out - before.bytes_out) as usize - 100;
    assert_eq!(overhead, MAX_OVERHEAD_BYTES - 7, "the number of an early packet is one byte");
}
