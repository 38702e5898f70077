//! Checks that many silent connections cannot keep a user from the page.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::http::get;
use super::socket::Page;
use crate::support::figure;
use crate::support::running::{PATIENCE, Running};

/// The number of connections, which is more than twice the limit of the program.
const CROWD: usize = 300;

/// Opens connections that send no complete request.
fn half_open(address: SocketAddr) -> Vec<TcpStream> {
    let open = |number| {
        let mut stream = TcpStream::connect(address).unwrap();
        if number % 2 == 0 {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
        }
        stream
    };
    (0..CROWD).map(open).collect()
}

/// Asserts that the program has closed the connection.
fn assert_closed(mut stream: &TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match stream.read(&mut [0]) {
        Ok(0) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("the connection is open: {other:?}"),
    }
}

#[test]
fn half_open_connections_do_not_block_the_demo() {
    let (_demo, address) = Running::demo(&["--cubes", "20"]);
    let mut before = Page::open(address);
    before.hear("hello");
    let crowd = half_open(address);
    assert_eq!(get(address, "/").status, 200);
    assert_closed(&crowd[0]);
    Page::open(address).hear("hello");
    let tick =
        before.status("its status", |status| status["pages"].as_u64() > Some(0))["tick"].as_u64();
    before.status("later ticks", |status| status["tick"].as_u64() > tick);
}

#[test]
fn half_open_connections_do_not_block_the_viewer() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let crowd = half_open(address);
    assert_eq!(get(address, "/clips").status, 200);
    assert_closed(&crowd[0]);
}
