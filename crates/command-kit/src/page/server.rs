//! The connections of a page's server. The number of connections is limited. At the limit, a new
//! connection closes the oldest silent one, so idle connections cannot lock a user out of the page.
//! If an address holds more than a quarter of the connections, a connection of that address is
//! closed first.
//!
//! A connection that became a web socket no longer counts, because the code that opens sockets
//! limits their number.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::patient::Patient;

/// The maximum number of connections at once. A browser opens six for a page, and a process may
/// often have only 256 open files.
const MAX_CONNECTIONS: usize = 128;
/// The longest time from the beginning of a connection, or from its last answer, to the end of a
/// request's header. A browser sends a header in a single packet. If the connection is closed, the
/// browser reconnects by itself.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// If an address holds more than this fraction (one in `PART`) of the connections, its own
/// connections are closed first.
const PART: usize = 4;
/// The longest time for which the other side may read nothing of an answer.
const ANSWER_TIME: Duration = Duration::from_secs(20);
/// The largest header of a request. Browsers send a few hundred bytes, and the cookies of other
/// servers on this machine.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// The limits that apply to connections.
#[derive(Clone, Copy, Debug)]
struct Limits {
    connections: usize,
    head_time: Duration,
    answer_time: Duration,
    head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: MAX_CONNECTIONS,
            head_time: HEAD_TIME,
            answer_time: ANSWER_TIME,
            head_bytes: MAX_HEAD_BYTES,
        }
    }
}

/// Answers all connections until `end` completes. The listener must not block.
pub fn serve(
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_within(Limits::default(), listener, router, end)
}

fn serve_within(
    limits: Limits,
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = accept(listener, router, limits) => {}
            () = end => {}
        }
        Ok(())
    })
}

async fn accept(mut listener: tokio::net::TcpListener, router: Router, limits: Limits) {
    let table = Arc::new(Mutex::new(Table::default()));
    loop {
        let (stream, address) = Listener::accept(&mut listener).await;
        // With no delay, answers and a socket's messages are sent at once. If the connection is
        // closed, a later call reports it.
        let _ = stream.set_nodelay(true);
        let mut open = lock(&table);
        if open.connections.len() >= limits.connections {
            open.close_one(limits.connections / PART);
        }
        open.count += 1;
        let place = Place { table: Arc::clone(&table), number: open.count };
        let number = place.number;
        let router = router.clone().layer(Extension(ConnectInfo(address)));
        let task = tokio::spawn(answer(stream, router, limits, place)).abort_handle();
        let address = address.ip();
        open.connections.insert(number, Connection { stage: Stage::Silent, address, task });
    }
}

/// Answers one connection until it ends or becomes a socket.
async fn answer(stream: TcpStream, router: Router, limits: Limits, place: Place) {
    let (place, router) = (&place, &TowerToHyperService::new(router));
    let requests = service_fn(|request| async move {
        place.is_at(Stage::Asked);
        let answer = router.call(request).await;
        place.is_at(Stage::Answered);
        answer
    });
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_header_size(limits.head_bytes);
    // An error means that the other side has closed the connection, so it cannot be reported.
    let stream = TokioIo::new(Patient::new(stream, limits.answer_time));
    let _ = protocol.serve_connection(stream, requests).with_upgrades().await;
}

/// The progress of a connection. At the limit, a connection of the lowest stage is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// No complete request has arrived yet.
    Silent,
    /// The last request was answered.
    Answered,
    /// A request waits for its answer.
    Asked,
}

struct Connection {
    stage: Stage,
    address: IpAddr,
    task: AbortHandle,
}

/// The open connections, by number.
#[derive(Default)]
struct Table {
    connections: BTreeMap<u64, Connection>,
    /// The number of connections that were opened so far.
    count: u64,
}

impl Table {
    /// Closes the oldest connection of the lowest stage. Only connections of addresses that hold
    /// more than `share` connections are considered, or all connections if there are no such
    /// addresses.
    fn close_one(&mut self, share: usize) {
        let mut held = HashMap::<IpAddr, usize>::new();
        for connection in self.connections.values() {
            *held.entry(connection.address).or_default() += 1;
        }
        let first = self.connections.iter().min_by_key(|(number, connection)| {
            let is_within = held.get(&connection.address).is_none_or(|held| *held <= share);
            (is_within, connection.stage, **number)
        });
        let closed =
            first.map(|(number, _)| *number).and_then(|number| self.connections.remove(&number));
        if let Some(connection) = closed {
            connection.task.abort();
        }
    }
}

/// A connection's place in the table. Dropping it frees the place.
struct Place {
    table: Arc<Mutex<Table>>,
    number: u64,
}

impl Place {
    fn is_at(&self, stage: Stage) {
        if let Some(connection) = lock(&self.table).connections.get_mut(&self.number) {
            connection.stage = stage;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.table).connections.remove(&self.number);
    }
}

/// Locks the table. A panic cannot leave it inconsistent, so poisoning is ignored.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Ipv4Addr, SocketAddr, TcpStream};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Instant;

    use axum::body::Bytes;
    use axum::routing::get;
    use tokio::sync::Notify;

    use super::*;

    /// The longest time that a test waits, which suffices for a machine that is busy with other
    /// tests.
    const PATIENCE: Duration = Duration::from_secs(15);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const PATIENT: Limits =
        Limits { connections: 4, head_time: PATIENCE, answer_time: PATIENCE, head_bytes: 1024 };

    /// Starts a server that answers `/` at once, and `/slow` when it is notified. Returns its
    /// address.
    fn server(limits: Limits) -> (SocketAddr, Arc<Notify>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let notify = Arc::new(Notify::new());
        let of_server = Arc::clone(&notify);
        let slow = move || async move {
            of_server.notified().await;
            "late"
        };
        let router = Router::new().route("/", get(|| async { "here" })).route("/slow", get(slow));
        thread::spawn(move || serve_within(limits, listener, router, std::future::pending()));
        (address, notify)
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Reads until the text `last`, or until the connection is closed.
    fn read_until(stream: &mut TcpStream, last: &str) -> String {
        let mut text = String::new();
        let mut byte = [0];
        while last.is_empty() || !text.ends_with(last) {
            match stream.read(&mut byte) {
                Ok(1) => text.push(byte[0].into()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    panic!("the connection stays open after {text:?}")
                }
                _ => break,
            }
        }
        text
    }

    fn is_answered(mut stream: &TcpStream) -> bool {
        stream.write_all(REQUEST).unwrap();
        read_until(&mut stream.try_clone().unwrap(), "here").starts_with("HTTP/1.1 200")
    }

    #[test]
    fn silent_connections_give_way_to_a_request() {
        let (address, _) = server(PATIENT);
        let silent: Vec<TcpStream> = (0..40)
            .map(|number| {
                let mut stream = connect(address);
                // Some connections send a part of a request's header.
                stream.write_all(&REQUEST[..number % 20]).unwrap();
                stream
            })
            .collect();
        for _ in 0..3 {
            assert!(is_answered(&connect(address)));
        }
        // The oldest connections are closed. At most four connections stay open, including the
        // answered ones.
        for stream in &silent[..36] {
            assert_eq!(read_until(&mut stream.try_clone().unwrap(), ""), "");
        }
    }

    #[test]
    fn a_request_that_waits_for_its_answer_is_closed_last() {
        let (address, notify) = server(PATIENT);
        let mut asked = connect(address);
        asked.write_all(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        // This connection is answered, so the server has also read the earlier request.
        let answered = connect(address);
        assert!(is_answered(&answered));
        let silent: Vec<TcpStream> = (0..20).map(|_| connect(address)).collect();
        assert_eq!(read_until(&mut silent[0].try_clone().unwrap(), ""), "");
        assert!(is_answered(&answered), "it has sent a request, so it stays open");
        notify.notify_one();
        assert!(read_until(&mut asked, "late").ends_with("late"));
    }

    #[test]
    fn a_head_that_trickles_and_a_connection_that_idles_are_cut_off() {
        let (address, _) = server(Limits { head_time: Duration::from_millis(100), ..PATIENT });
        let begin = Instant::now();
        let mut trickle = connect(address);
        while trickle.write_all(b"G").is_ok() {
            assert!(begin.elapsed() < PATIENCE, "the connection stays open");
            thread::sleep(Duration::from_millis(5));
        }
        let idle = connect(address);
        assert!(is_answered(&idle));
        assert_eq!(read_until(&mut idle.try_clone().unwrap(), ""), "", "closed after a while");
    }

    /// Works like [`connect`], but from the address 127.0.0.2.
    fn connect_as_another(address: SocketAddr) -> TcpStream {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let stream = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into()).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    #[test]
    fn an_address_with_more_than_its_share_closes_no_connection_of_another() {
        let (address, _) = server(Limits { connections: 8, ..PATIENT });
        let (head, rest) = REQUEST.split_at(10);
        let mut slow = connect_as_another(address);
        slow.write_all(head).unwrap();
        let requests: Vec<TcpStream> = (0..40)
            .map(|_| {
                let stream = connect(address);
                assert!(is_answered(&stream));
                stream
            })
            .collect();
        // The connection of the other address was silent. Without the share, it would have been
        // closed first.
        slow.write_all(rest).unwrap();
        assert!(read_until(&mut slow, "here").starts_with("HTTP/1.1 200"));
        drop(requests);
    }

    #[test]
    fn an_answer_that_is_never_taken_is_given_up() {
        /// An answer that is larger than the system's buffers for a connection.
        struct Answer(Vec<u8>, mpsc::Sender<()>);
        impl AsRef<[u8]> for Answer {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        impl Drop for Answer {
            fn drop(&mut self) {
                self.1.send(()).unwrap();
            }
        }
        let (gone, when_gone) = mpsc::channel();
        let large = move || async move { Bytes::from_owner(Answer(vec![0; 64 << 20], gone)) };
        let router = Router::new().route("/", get(large));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let limits = Limits { answer_time: Duration::from_millis(100), ..PATIENT };
        thread::spawn(move || serve_within(limits, listener, router, std::future::pending()));
        let mut greedy = connect(address);
        greedy.write_all(REQUEST).unwrap();
        when_gone.recv_timeout(PATIENCE).expect("the server gives it up");
    }

    #[test]
    fn a_head_that_is_too_long_is_refused() {
        let (address, _) = server(PATIENT);
        let mut long = connect(address);
        long.write_all(&[&REQUEST[..16], b"Cookie: ", &[b'c'; 1024]].concat()).unwrap();
        assert!(read_until(&mut long, "\r\n\r\n").starts_with("HTTP/1.1 431"));
    }
}
