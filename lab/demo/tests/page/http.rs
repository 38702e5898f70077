//! A minimal HTTP client. It sends one request over a plain socket, and reads one answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::support::running::PATIENCE;

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    /// The body as text. It is empty if the body is not text.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    /// Returns the value of the header `name`. The value is empty if there is no such header.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map_or("", |(_, value)| value)
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, &address.to_string())
}

pub(crate) fn request(address: SocketAddr, method: &str, path: &str, host: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end =
        bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("the end of the head");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let bytes = bytes.split_off(end + 4);
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap_or((line, "")));
    let headers = headers.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let body = String::from_utf8(bytes.clone()).unwrap_or_default();
    Answer { status, headers, body, bytes }
}
