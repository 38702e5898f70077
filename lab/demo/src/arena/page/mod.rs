//! Runs the game for pages: each is a player.
//!
//! ```text
//! this thread                                            server's thread
//! room: server, bots, links  ── datagrams, places ──►  socket of each page, whose module is a client
//!                            ◄── orders, datagrams ──
//! ```

mod board;
mod game;
mod protocol;
mod server;
mod socket;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use arena::room::Room;
use arena::rules::Rules;
use board::Board;
use command_kit::interrupt::Interrupt;
use command_kit::page::{self, PageError};
use command_kit::{OutputError, say};
use game::Game;
use protocol::Net;

use super::{Arguments, Error};

/// The page's default port.
const PORT: u16 = 4650;
/// The maximum number of orders that wait for the game.
const MAX_ORDERS: usize = 1_024;
/// The time for which the program waits until pages have taken the end message and closed.
const FAREWELL: Duration = Duration::from_secs(5);

/// Runs the game until Ctrl-C.
pub(super) fn run(arguments: &Arguments) -> Result<(), Error> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let link = arguments.link.config()?;
    let net = Net { link: arguments.link.link.clone(), longer: false, kbps: arguments.kbps };
    let mut room = Room::new(Rules::default(), link, arguments.seed)?;
    for _ in 0..arguments.bots {
        room.add_bot()?;
    }
    let listener = page::listen(arguments.listen, PORT, "play")?;
    let url = page::url(&listener)?;
    let (orders, to_do) = sync_channel(MAX_ORDERS);
    let board = Arc::new(Board::new(orders));
    let server = std::thread::spawn({
        let board = Arc::clone(&board);
        move || serve(listener, board)
    });
    say(format_args!("the arena is at {url} (Ctrl-C ends it; each page is a player)"));
    if !arguments.no_open {
        page::open(&url);
    }
    let played = Game::new(room, link, net)?.run(&board, &to_do, &interrupt);
    board.end.send_replace(true);
    match server.join() {
        Ok(served) => served.map_err(|error| PageError::Page { error })?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    Ok(played?)
}

/// Serves pages until the end, and then until they have taken the end message.
fn serve(listener: TcpListener, board: Arc<Board>) -> std::io::Result<()> {
    let mut end = board.end.subscribe();
    let ended = async {
        let _ = end.wait_for(|is_over| *is_over).await;
        let is_empty = async {
            while board.pages() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, is_empty).await;
    };
    page::serve(listener, server::router(Arc::clone(&board)), ended)
}
