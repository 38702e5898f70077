//! `kinepack figure watch`: receives a live body, and shows it in the browser.
//!
//! A thread takes the datagrams. The page asks for the pose at each of its frames; the program
//! computes it then, from the playback of the receiver.

mod connection;
mod numbers;
mod pings;
mod receiving;
mod refusals;
mod server;

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::page::{self, PageError};
use command_kit::table::{write_json, write_rows};
use command_kit::{OutputError, print, say};
use serde::Serialize;

use super::socket::{self, MAX_PACKET_BYTES};
use super::{FigureFailure, PORT, address};
use receiving::Receiving;

/// The default port of the page.
const PAGE_PORT: u16 = 4652;

/// Receive a live body from `kinepack figure send`, and show it in the browser.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The address to receive at: HOST:PORT, HOST, or a PORT of this machine; 0.0.0.0 for senders
    /// on other machines. There is no encryption: use it in a network that you trust.
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:4653")]
    address: String,
    /// Address and port of the page. Port 0 takes any free port. Everybody who can reach the
    /// address can see the body [default: 127.0.0.1:4652, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The totals at the end.
#[derive(Clone, Debug, Default, Serialize)]
struct Report {
    sessions: u64,
    poses: u64,
    /// The bytes of the bodies' datagrams, without the headers of UDP and IP.
    bytes: u64,
    /// The datagrams that were refused, or that belong to no session.
    refused: u64,
    /// The answers that the system did not send.
    unsent: u64,
    bits_per_pose: f64,
    lost_ratio: f64,
    /// The largest error of the last body, in cm.
    max_error_cm: f64,
    /// The time from a pose to its display: the wait for playback, and half of a round trip.
    delay_ms: f64,
}

/// The state that the thread and the page share.
type Shared = Arc<Mutex<Receiving>>;

fn locked(shared: &Shared) -> MutexGuard<'_, Receiving> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), FigureFailure> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let socket = socket::bind(address::parse(&arguments.address, PORT)?)?;
    let address = socket.local_addr().map_err(|error| FigureFailure::Network { error })?;
    let listener = page::listen(arguments.listen, PAGE_PORT, "see the body")?;
    let url = page::url(&listener)?;
    say(format_args!("the body that arrives at {address} is at {url} (Ctrl-C ends this)"));
    if !arguments.no_open {
        page::open(&url);
    }
    let shared = Shared::default();
    let receiver = thread::spawn({
        let (shared, interrupt) = (Arc::clone(&shared), interrupt.clone());
        // If the network fails, or the thread panics, the page ends too.
        move || {
            let ends = RaiseAtEnd(interrupt);
            receive(&socket, &shared, &ends.0)
        }
    });
    let served = page::serve_until(listener, server::router(Arc::clone(&shared)), &interrupt);
    // If the page failed, the thread ends too.
    interrupt.raise();
    let received = receiver.join();
    served.map_err(|error| PageError::Page { error })?;
    match received {
        Ok(received) => received?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    let receiving = locked(&shared);
    let report = receiving.report(receiving.now());
    drop(receiving);
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    Ok(())
}

/// Ends the program when it is dropped, also if a panic does that.
struct RaiseAtEnd(Interrupt);

impl Drop for RaiseAtEnd {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Takes datagrams until a signal.
fn receive(
    socket: &UdpSocket,
    shared: &Shared,
    interrupt: &Interrupt,
) -> Result<(), FigureFailure> {
    let mut packet = vec![0; MAX_PACKET_BYTES];
    while !interrupt.is_raised() {
        let received = socket::receive(socket, &mut packet)?;
        let mut receiving = locked(shared);
        if let Some((bytes, from)) = received {
            let now = receiving.now();
            receiving.take(now, from, &packet[..bytes]);
        }
        let now = receiving.now();
        receiving.transmit(now, socket);
        drop(receiving);
        if received.is_none() {
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

impl Report {
    fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        write_rows(
            out,
            [
                ("sessions", self.sessions.to_string()),
                ("poses", self.poses.to_string()),
                ("bytes", format!("{} without UDP's headers", self.bytes)),
                ("bits per pose", format!("{:.0}", self.bits_per_pose)),
                ("promised error", format!("{:.3} cm", self.max_error_cm)),
                ("lost", format!("{:.1} %", 100.0 * self.lost_ratio)),
                ("delay", format!("{:.0} ms with half of the round trip", self.delay_ms)),
                ("refused datagrams", self.refused.to_string()),
                ("unsent answers", self.unsent.to_string()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_ends_the_program() {
        let interrupt = Interrupt::unheard();
        let ends = RaiseAtEnd(interrupt.clone());
        let thread = thread::spawn(move || {
            let _ends = ends;
            std::panic::resume_unwind(Box::new("a fault"));
        });
        assert!(thread.join().is_err() && interrupt.is_raised());
    }
}
