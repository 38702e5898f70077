//! The server under junk: from a stranger, and from the address of a client.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use super::tests::{Host, connect, recorded_request, until};
use super::*;

/// Junk of all kinds, always the same for one seed.
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
        // A request that only its token gives away.
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
        // Where nobody is silenced, all is read.
        let is_through =
            if cfg!(target_os = "linux") { stats.silenced > 0 } else { stats.junk + stats.limited > 10_000 };
        host.payloads.len() > 100 && heard > 100 && is_through
    });
    let stats = host.server.stats();
    assert!(stats.refused <= 20, "what reaches the tick is limited: {stats:?}");
    assert_eq!(flooder.recv(&mut [0; 2048]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(client.state(), ClientState::Connected);
}

/// Junk that comes from the client's own address, as if it were forged: also what makes renetcode panic.
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

/// The price of a flood for the thread that ticks: with the flood's sender on the same machine, so a flood that goes
/// elsewhere stands beside for what the sender alone takes. Run with
/// `cargo test --release -p kinepack-cli -- --ignored --nocapture measure_a_flood`.
#[test]
#[ignore = "a measurement"]
fn measure_a_flood() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    let mut host = Host::new();
    let mut clients: Vec<UdpClient> = (0..20).map(|_| host.join()).collect();
    clients.iter_mut().for_each(|client| connect(&mut host, client));
    let request = recorded_request();
    let elsewhere = UdpSocket::bind("127.0.0.1:0").unwrap();
    for flood in ["nothing", "elsewhere", "requests", "payloads", "100 a ms", "nothing"] {
        let (is_over, sent) = (Arc::new(AtomicBool::new(flood == "nothing")), Arc::new(AtomicU64::new(0)));
        let (theirs, count) = (Arc::clone(&is_over), Arc::clone(&sent));
        let to_server = flood != "elsewhere";
        let address = if to_server { host.server.local_addr() } else { elsewhere.local_addr().unwrap() };
        let mut datagram = if flood == "requests" { request.clone() } else { vec![0x25; 60] };
        datagram[50] ^= 1;
        let flooder = std::thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            while !theirs.load(Ordering::Relaxed) {
                let _ = socket.send_to(&datagram, address);
                if count.fetch_add(1, Ordering::Relaxed) % 100 == 99 && flood == "100 a ms" {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let (before, start) = (host.server.stats(), Instant::now());
        let (mut heard, mut polls, mut ticks) = (0, Vec::new(), Vec::new());
        while start.elapsed() < Duration::from_secs(5) {
            clients.iter_mut().for_each(|client| {
                let _ = client.send(&[1; 60]);
                client.poll(&mut |_| {});
            });
            std::thread::sleep(Duration::from_millis(10));
            host.events.clear();
            let tick = Instant::now();
            host.server.poll(&mut host.events);
            polls.push(tick.elapsed().as_nanos() as f64 / 1e3);
            // What a world would do in its tick: the same work each time.
            std::hint::black_box((0..3_000_000u64).fold(1u64, |state, step| state.rotate_left(5) ^ step));
            ticks.push(tick.elapsed().as_nanos() as f64 / 1e3);
            heard += host.events.len();
        }
        is_over.store(true, Ordering::Relaxed);
        flooder.join().unwrap();
        let after = host.server.stats();
        let payloads_per_tick = heard as f64 / ticks.len() as f64;
        let summary = |times_us: &mut Vec<f64>| {
            times_us.sort_unstable_by(f64::total_cmp);
            let mean_us = times_us.iter().sum::<f64>() / times_us.len() as f64;
            format!("{:6.0} us (mean {mean_us:6.0})", times_us[times_us.len() / 2])
        };
        println!(
            "flood of {flood:9}: {:7} a second sent, {:7} read, {payloads_per_tick:.1} payloads a tick; poll {}, tick {}",
            sent.load(Ordering::Relaxed) / 5,
            (after.datagrams_in - before.datagrams_in) / 5,
            summary(&mut polls),
            summary(&mut ticks),
        );
    }
}
