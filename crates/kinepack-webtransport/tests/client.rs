//! Tests of a native client and a server, over loopback.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kinepack_udp::{DisconnectReason, Secret, ServerEvent};
use kinepack_webtransport::{
    MAX_PAYLOAD_BYTES, Token, WebClient, WebClientError, WebClientOptions, WebClientState,
    WebLostReason, WebOptions, WebSendError, WebServer,
};

const PATIENCE: Duration = Duration::from_secs(10);

fn server() -> WebServer {
    let local = "127.0.0.1:0".parse().unwrap();
    WebServer::bind(local, &Secret::insecure(), WebOptions::default()).unwrap()
}

fn url(address: SocketAddr, client: u64) -> String {
    let token = Token::new(&Secret::insecure(), client, Duration::from_secs(60));
    format!("https://{address}/kinepack?token={}", token.as_str())
}

fn options(server: &WebServer) -> WebClientOptions {
    let certificate_hash = Some(server.certificate_hash());
    WebClientOptions { certificate_hash, ..WebClientOptions::default() }
}

/// Polls the client until `is_met` returns true. Returns the datagrams that have arrived.
fn until(
    client: &mut WebClient,
    mut is_met: impl FnMut(&WebClient, usize) -> bool,
) -> Vec<Vec<u8>> {
    let (begin, mut arrived) = (Instant::now(), Vec::new());
    loop {
        client.poll(&mut |datagram| arrived.push(datagram.to_vec()));
        if is_met(client, arrived.len()) {
            return arrived;
        }
        assert!(begin.elapsed() < PATIENCE, "{:?}, {} datagrams", client.state(), arrived.len());
        thread::sleep(Duration::from_millis(1));
    }
}

fn connected(server: &WebServer, id: u64) -> WebClient {
    let mut client = WebClient::connect(&url(server.local_addr(), id), options(server)).unwrap();
    until(&mut client, |client, _| *client.state() == WebClientState::Connected);
    client
}

/// Waits until the session ends, and returns the reason.
fn reason(mut client: WebClient) -> WebLostReason {
    until(&mut client, |client, _| matches!(client.state(), WebClientState::Lost { .. }));
    match client.state() {
        WebClientState::Lost { reason } => reason.clone(),
        state => panic!("{state:?}"),
    }
}

/// Polls the server until there are `count` events.
fn events(server: &mut WebServer, count: usize) -> Vec<ServerEvent> {
    let (mut all, begin) = (Vec::new(), Instant::now());
    while all.len() < count {
        assert!(begin.elapsed() < PATIENCE, "only {all:?}");
        server.poll(&mut all);
        thread::sleep(Duration::from_millis(1));
    }
    all
}

#[test]
fn datagrams_go_both_ways_until_the_client_leaves() {
    let mut server = server();
    let mut client = connected(&server, 7);
    assert!(matches!(events(&mut server, 1)[..], [ServerEvent::Connected { client: 7, .. }]));
    client.send(b"hello").unwrap();
    let [ServerEvent::Datagram { client: 7, payload }] = &events(&mut server, 1)[..] else {
        panic!("another event");
    };
    assert_eq!(server.payload(payload), b"hello");
    server.send(7, &[5; 1_100]).unwrap();
    server.send(7, &[6; 3]).unwrap();
    let mut arrived = until(&mut client, |_, count| count == 2);
    arrived.sort();
    assert_eq!(arrived, [vec![5; 1_100], vec![6; 3]]);
    let stats = client.stats();
    assert_eq!((stats.datagrams_in, stats.bytes_in), (2, 1_103));
    assert_eq!((stats.datagrams_out, stats.bytes_out, stats.overflowed), (1, 5, 0));
    assert_eq!(client.send(b""), Err(WebSendError::Empty));
    let bytes = MAX_PAYLOAD_BYTES + 1;
    assert_eq!(client.send(&vec![0; bytes]), Err(WebSendError::TooLong { bytes }));
    drop(client);
    let left = ServerEvent::Disconnected { client: 7, reason: DisconnectReason::Left };
    assert_eq!(events(&mut server, 1), [left]);
}

#[test]
fn a_client_hears_that_the_server_is_gone() {
    let mut server = server();
    let (dismissed, other) = (connected(&server, 1), connected(&server, 2));
    server.disconnect(1);
    assert_eq!(reason(dismissed), WebLostReason::Dropped);
    drop(server);
    assert_eq!(reason(other), WebLostReason::Dropped);
}

#[test]
fn a_refused_client_is_told_where_and_what_to_check() {
    let server = server();
    let address = server.local_addr();
    let used = connected(&server, 1);
    let good = options(&server);
    let wrong_hash = WebClientOptions { certificate_hash: Some([1; 32]), ..good.clone() };
    let wrong_origin =
        WebClientOptions { origin: Some("https://evil.example".into()), ..good.clone() };
    for (url, options) in [
        (url(address, 1), good.clone()),
        (format!("https://{address}/kinepack?token=77"), good.clone()),
        (format!("https://{address}/elsewhere"), good),
        (url(address, 2), wrong_hash),
        // The system does not trust a certificate that the server signed itself.
        (url(address, 3), WebClientOptions::default()),
        (url(address, 4), wrong_origin),
    ] {
        let reason = reason(WebClient::connect(&url, options).unwrap());
        let WebLostReason::NoSession { server: place, .. } = &reason else {
            panic!("{url}: {reason}");
        };
        assert!(url.starts_with(place), "{place}");
        let text = reason.to_string();
        assert!(text.contains(&address.to_string()) && text.contains("token is wrong"), "{text}");
        assert!(!text.contains("token="), "{text}");
    }
    drop(used);
}

#[test]
fn a_client_gives_up_where_no_server_answers() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = url(silent.local_addr().unwrap(), 1);
    let timeout = Duration::from_millis(300);
    let options =
        WebClientOptions { certificate_hash: Some([1; 32]), timeout, ..Default::default() };
    let reason = reason(WebClient::connect(&url, options).unwrap());
    assert!(matches!(reason, WebLostReason::NoSession { .. }), "{reason}");
    for wrong in ["", "kinepack", "http://127.0.0.1:1/kinepack?token=7"] {
        let error = WebClient::connect(wrong, WebClientOptions::default()).err().unwrap();
        assert!(matches!(error, WebClientError::Address { .. }), "{error}");
        assert!(error.to_string().contains("https://") && !error.to_string().contains("token="));
    }
    let wrong = WebClient::connect("https://:0/kinepack", WebClientOptions::default());
    assert!(matches!(self::reason(wrong.unwrap()), WebLostReason::NoSession { .. }));
}

/// Makes a path to the server, which breaks once the flag is true. The path exists as long as the
/// flag.
fn path(to: SocketAddr) -> (SocketAddr, Arc<AtomicBool>) {
    let path = UdpSocket::bind("127.0.0.1:0").unwrap();
    path.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let on_path = path.local_addr().unwrap();
    let is_broken = Arc::new(AtomicBool::new(false));
    let of_path = Arc::clone(&is_broken);
    thread::spawn(move || {
        let (mut client, mut buffer) = (to, [0; 2_048]);
        while Arc::strong_count(&of_path) > 1 {
            let Ok((bytes, from)) = path.recv_from(&mut buffer) else { continue };
            if from != to {
                client = from;
            }
            if !of_path.load(Ordering::Relaxed) {
                path.send_to(&buffer[..bytes], if from == to { client } else { to }).unwrap();
            }
        }
    });
    (on_path, is_broken)
}

#[test]
fn what_a_full_queue_drops_is_counted_on_both_sides() {
    const SENT: u64 = 1_000;
    let mut server = server();
    let (on_path, is_broken) = path(server.local_addr());
    let mut client = WebClient::connect(&url(on_path, 1), options(&server)).unwrap();
    until(&mut client, |client, _| *client.state() == WebClientState::Connected);
    events(&mut server, 1);
    is_broken.store(true, Ordering::Relaxed);
    for _ in 0..SENT {
        server.send(1, &[7; 1_000]).unwrap();
        client.send(&[7; 1_000]).unwrap();
    }
    // 128 KiB are in flight. 64 KiB wait at the server, and 256 KiB at the client.
    let stats = server.stats();
    assert_eq!(stats.datagrams_out + stats.unsent, SENT);
    assert!((50..=210).contains(&stats.datagrams_out), "{stats:?}");
    let all = |client: &WebClient, _| client.stats().datagrams_out + client.stats().unsent == SENT;
    until(&mut client, all);
    let stats = client.stats();
    assert!((200..=410).contains(&stats.datagrams_out) && stats.overflowed == 0, "{stats:?}");
}

#[test]
fn all_of_a_burst_arrives_that_is_not_counted_as_unsent() {
    const SENT: u64 = 1_000;
    let mut server = server();
    let mut client = connected(&server, 1);
    events(&mut server, 1);
    for _ in 0..SENT {
        server.send(1, &[7; 100]).unwrap();
    }
    let stats = server.stats();
    assert_eq!(stats.datagrams_out + stats.unsent, SENT);
    let arrived = until(&mut client, |_, count| count as u64 == stats.datagrams_out);
    assert!(arrived.iter().all(|datagram| datagram == &[7; 100]));
}

#[test]
fn a_broken_connection_is_noticed_and_a_new_one_works() {
    let server = server();
    let (on_path, is_broken) = path(server.local_addr());
    let timeout = Duration::from_secs(2);
    let options = WebClientOptions { timeout, ..options(&server) };
    let mut client = WebClient::connect(&url(on_path, 1), options).unwrap();
    until(&mut client, |client, _| *client.state() == WebClientState::Connected);
    is_broken.store(true, Ordering::Relaxed);
    let reason = reason(client);
    assert!(matches!(reason, WebLostReason::Broken { .. }), "{reason}");
    drop(connected(&server, 2));
}
