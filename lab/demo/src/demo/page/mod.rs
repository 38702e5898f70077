//! Runs the demo in the browser, which shows both worlds live, and where the bits go.
//!
//! ```text
//! this thread                                              server's thread
//! stage: orders, ticks  ── worlds, status, datagrams ──►  board  ──► socket of each page
//!                       ◄── orders, answers ────────────
//! ```

mod board;
mod datagrams;
mod ledger;
mod look;
mod protocol;
pub(crate) mod server;
mod settings;
mod socket;
mod stage;
mod watchers;
pub(crate) mod world;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use board::Board;
use command_kit::interrupt::Interrupt;
use command_kit::page::{self, PageError};
use command_kit::{LinkOptions, OutputError, say};
use kinepack_net::HubConfig;
use protocol::{Hello, Message, Settings};
use settings::Defaults;
use stage::{NewWorld, Stage};

use super::{Arguments, Program, uncompressed_kbps};
use crate::codes::{Codes, hex};
use crate::demo::DemoError;
use crate::game_events::GameEvent;
use crate::inputs::with_keys;
use crate::session::Session;
use crate::session_error::SessionError;
use crate::session_report::SessionReport;

/// The page's default port.
const PORT: u16 = 4650;
/// The article's goal for the bandwidth, in kbit/s.
const GOAL_KBPS: f64 = 256.0;
/// Half the width of the floor for captures, which is that of the article's scene.
const CAPTURED_HALF_WIDTH_M: f32 = 32.0;
/// The maximum number of orders that wait for the next tick.
const MAX_ORDERS: usize = 64;
/// The time for which the program waits until pages have taken the end message and closed.
const FAREWELL: Duration = Duration::from_secs(5);

/// Runs the demo and returns the report, and an error if frames of a capture were lost. Ctrl-C is
/// the usual end.
pub(super) fn run(
    arguments: &Arguments,
) -> Result<(SessionReport, Result<(), SessionError>), DemoError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    // This check precedes the page's own checks, so that the message is the same in all commands.
    arguments.link.config()?;
    let listener = page::listen(arguments.listen, PORT, "watch and play")?;
    let url = page::url(&listener)?;
    let defaults = Defaults {
        link: LinkOptions::clone(&arguments.link),
        send: arguments.send.or_auto_budget(),
    };
    let checked =
        defaults.check(defaults.settings()).map_err(|reason| DemoError::Settings { reason })?;
    let Program { world, name, ending, .. } = arguments.program()?;
    let again = arguments.clone();
    let new_world: NewWorld = Box::new(move || Ok(again.program()?.world));
    let config = with_keys(HubConfig { count_costs: true, ..HubConfig::default() });
    let extent = world.extent();
    let mut session = Session::new(world, &arguments.send, config)?;
    session.outage = arguments.link.outage();
    let Arguments { recording, send, capture, .. } = arguments;
    session.sender.recording = recording.begin(&send.stream, &name, capture)?;
    session.add(&checked.send, checked.link_config, checked.link.link_seed, true)?;
    let mut stage = Stage::new(session, new_world, name.clone(), checked)?;

    let (orders, to_do) = sync_channel(MAX_ORDERS);
    let hello = hello(arguments, name, extent, defaults.settings())?;
    let profile = arguments.send.stream.codec().profile().to_bytes();
    let board = Arc::new(Board::new(defaults, &hello, profile.into(), stage.status(), orders));
    let server = std::thread::spawn({
        let board = Arc::clone(&board);
        move || serve(listener, board)
    });
    say(format!("the demo is at {url} (Ctrl-C ends it; with --headless it runs in the terminal)"));
    if !arguments.no_open {
        page::open(&url);
    }
    stage.run(&board, &to_do, &interrupt, arguments.world.asked_frames())?;

    stage.finish_recording()?;
    let report = stage.report();
    board.end.send_replace(Some(Message::End { report: &report }.to_json().into()));
    match server.join() {
        Ok(Ok(())) => Ok((report, ending.map_err(SessionError::from))),
        Ok(Err(error)) => Err(DemoError::Page(PageError::Page { error })),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Serves pages until the end, and then until they have taken the end message.
fn serve(listener: TcpListener, board: Arc<Board>) -> io::Result<()> {
    let mut end = board.end.subscribe();
    let ended = async {
        let _ = end.wait_for(Option::is_some).await;
        let is_empty = async {
            while board.pages() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, is_empty).await;
    };
    page::serve(listener, server::router(Arc::clone(&board)), ended)
}

fn hello(
    arguments: &Arguments,
    world: String,
    (bodies, half_width_m): (usize, Option<f32>),
    defaults: Settings,
) -> Result<Hello, DemoError> {
    let codec = arguments.send.stream.codec();
    let kinds = GameEvent::kinds()?;
    Ok(Hello {
        program: concat!("kinepack ", env!("CARGO_PKG_VERSION")).to_owned(),
        world,
        bodies,
        tick_hz: cubes::TICK_HZ,
        half_width_m: half_width_m.unwrap_or(CAPTURED_HALF_WIDTH_M),
        player_edge_m: cubes::PLAYER_EDGE_M,
        cube_edge_m: cubes::CUBE_EDGE_M,
        goal_kbps: GOAL_KBPS,
        uncompressed_kbps: uncompressed_kbps(bodies),
        lanes: look::lane_names(codec.schema()),
        levels: settings::levels(),
        links: settings::links(),
        send_hz: crate::sender::SEND_HZ,
        defaults,
        schema: hex(&codec.schema().to_bytes()),
        events: Codes::of(kinds.codec()),
    })
}
