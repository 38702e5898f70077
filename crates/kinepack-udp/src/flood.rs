//! Tests of a server under a flood of junk, from an unknown address and from a client's address.

use std::net::UdpSocket;

use super::tests::{Host, connect, recorded_request, until};
use super::*;

/// Random junk of any kind. `state` is the state of the generator.
fn junk(state: &mut u64, request: &[u8]) -> Vec<u8> {
    let mut random = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let kind = random() % 8;
    let bytes = match kind {
        0 => random() as usize % 2000,
        1 => 1 + 308 + 16,
        2 => 1 + 8 + 16,
        3 => 18,
        _ => 20 + random() as usize % 1300,
    };
    if kind >= 6 {
        // The junk is a request in which only the token is wrong.
        let mut request = request.to_vec();
        request[60] ^= random() as u8 | 1;
        return request;
    }
    let mut datagram: Vec<u8> = (0..bytes).map(|_| random() as u8).collect();
    if let (Some(first), true) = (datagram.first_mut(), kind >= 4) {
        *first = (random() % 16) as u8 * 16 + 5;
    }
    datagram
}

#[test]
fn udp_data_flows_through_a_flood_of_junk() {
    let mut host = Host::new();
    let mut client = host.join();
    connect(&mut host, &mut client);
    let flooder = UdpSocket::bind("127.0.0.1:0").unwrap();
    flooder.set_nonblocking(true).unwrap();
    let (request, mut state) = (recorded_request(), 0x9e37_79b9_7f4a_7c15);
    let mut heard = 0;
    for round in 0..200u8 {
        for _ in 0..100 {
            let _ = flooder.send_to(&junk(&mut state, &request), host.server.local_addr());
        }
        client.send(&[round; 50]).unwrap();
        host.server.send(client.client_id(), &[round; 50]).unwrap();
        host.poll();
        client.poll(&mut |_| heard += 1);
    }
    until("the reader is through", || {
        host.poll();
        client.poll(&mut |_| heard += 1);
        let stats = host.server.stats();
        // On systems without a filter, the server reads everything.
        let is_through = if cfg!(target_os = "linux") {
            stats.silenced > 0
        } else {
            stats.junk + stats.limited > 10_000
        };
        host.payloads.len() > 100 && heard > 100 && is_through
    });
    let stats = host.server.stats();
    assert!(stats.refused <= 20, "what reaches the tick is limited: {stats:?}");
    assert_eq!(flooder.recv(&mut [0; 2048]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(client.state(), ClientState::Connected);
}

/// Junk arrives from the client's own address, as if forged. Some packets would make renetcode
/// panic.
#[test]
fn udp_junk_from_a_connected_address_is_bounded() {
    let mut host = Host::new();
    let mut client = host.join();
    connect(&mut host, &mut client);
    let (request, mut state) = (recorded_request(), 0x1234_5678_9abc_def1);
    for _ in 0..3000 {
        client.send_raw(&junk(&mut state, &request));
    }
    until("the reader is through", || {
        host.poll();
        let stats = host.server.stats();
        stats.limited > 0 && stats.junk > 0
    });
    assert!(host.server.stats().refused < 1000);
    assert_eq!(host.departures(), []);
    until("its bucket has leaked", || {
        let _ = client.send(b"still here");
        host.poll();
        client.poll(&mut |_| {});
        !host.payloads.is_empty()
    });
}
