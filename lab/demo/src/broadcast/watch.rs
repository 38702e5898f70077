//! `kinepack-lab watch URL`: shows a broadcast in the terminal, or in a page.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use command_kit::interrupt::Interrupt;
use command_kit::print;
use command_kit::table::{table, write_json};
use crossterm::event::{self, Event, KeyCode, KeyEventKind};
use kinepack_crowd::moq::Address;

use super::page::Place;
use super::spectator::{Spectator, SpectatorReport};
use super::{BroadcastError, WatchOptions};
use crate::lines::Lines;
use crate::map::{ROWS, map};
use crate::raw_mode::{RawMode, is_at_terminal, is_quit};
use crate::sender::due;
use crate::watch::PageOptions;

/// The number of drawn frames between two refreshes of the terminal.
const REFRESH_FRAMES: u32 = 3;
/// The distance that an arrow key jumps, in seconds.
const JUMP_S: f64 = 2.0;
const HELP: &str = "space: pause. Arrows: 2 s back, 2 s on. l: live. t: next tier. q: end.";

/// Watches a broadcast in the terminal or in a page, or writes that page as files.
pub fn watch(
    url: &str,
    options: &WatchOptions,
    page_options: &PageOptions,
    interrupt: &Interrupt,
) -> Result<(), BroadcastError> {
    let address = url.parse()?;
    match &options.export {
        Some(directory) => Place::new(&address, options).export(directory, options.force)?,
        None if options.page => {
            let listener = page_options.listen(&address)?;
            Place::new(&address, options).serve(listener, interrupt)?;
        }
        None => in_terminal(&address, options, interrupt)?,
    }
    Ok(())
}

/// Watches a broadcast until the time has passed or a signal arrives, and prints a summary.
fn in_terminal(
    address: &Address,
    options: &WatchOptions,
    interrupt: &Interrupt,
) -> Result<(), BroadcastError> {
    let (runtime, connector) = options.relay.connector()?;
    let mut spectator = {
        let _within = runtime.enter();
        Spectator::new(&connector, address, &options.tier).with_history()
    };
    let lines = Lines::new(ROWS + 2);
    let keyboard = Keyboard::open()?;
    if keyboard.is_some() {
        lines.show(ROWS + 1, [HELP.to_owned()]);
    }
    let (begin, mut frame) = (Instant::now(), 0);
    let end = options.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    while !interrupt.is_raised() && end.is_none_or(|end| begin.elapsed() < end) {
        frame += 1;
        std::thread::sleep(due(frame).saturating_sub(begin.elapsed()));
        if let Some(keyboard) = &keyboard
            && keyboard.obey(&mut spectator)?
        {
            break;
        }
        if let Some(notice) = spectator.frame() {
            lines.say(&notice);
        }
        if frame.is_multiple_of(REFRESH_FRAMES) {
            let rows = map(spectator.shown.iter().copied());
            lines.show(0, rows);
            lines.show(ROWS, [spectator.status()]);
        }
    }
    drop(keyboard);
    lines.finish();
    let reason = spectator.reason();
    let Some(report) = spectator.report() else {
        return Err(BroadcastError::NothingReceived { address: address.to_string(), reason });
    };
    print(|out| if options.json { write_json(&report, out) } else { report.write_table(out) })?;
    Ok(())
}

/// The keys of the terminal.
struct Keyboard {
    _raw: RawMode,
}

impl Keyboard {
    /// Opens the keyboard. Returns `None` if standard input and output are not a terminal.
    fn open() -> Result<Option<Self>, BroadcastError> {
        if !is_at_terminal() {
            return Ok(None);
        }
        Ok(Some(Self { _raw: RawMode::begin().map_err(BroadcastError::Terminal)? }))
    }

    /// Applies the pressed keys to the spectator. Returns true if the user quits. The method never
    /// waits.
    fn obey(&self, spectator: &mut Spectator) -> Result<bool, BroadcastError> {
        while event::poll(Duration::ZERO).map_err(BroadcastError::Terminal)? {
            let Event::Key(key) = event::read().map_err(BroadcastError::Terminal)? else {
                continue;
            };
            if is_quit(&key) || key.code == KeyCode::Char('q') {
                return Ok(true);
            }
            match key.code {
                _ if key.kind == KeyEventKind::Release => {}
                KeyCode::Char(' ') => spectator.pause(),
                KeyCode::Left => spectator.jump(-JUMP_S),
                KeyCode::Right => spectator.jump(JUMP_S),
                KeyCode::Char('l') => spectator.go_live(),
                KeyCode::Char('t') => spectator.next_tier(),
                _ => {}
            }
        }
        Ok(false)
    }
}

impl SpectatorReport {
    pub(super) const HEADERS: [&str; 7] = [
        "tier",
        "joining\nkB",
        "kbit/s\nall headers",
        "snapshots",
        "too late",
        "refused",
        "playout delay\nmedian, ms",
    ];

    pub(super) fn row(&self) -> [String; 7] {
        [
            self.tier.clone(),
            format!("{:.0}", self.joining_bytes as f64 / 1e3),
            format!("{:.1}", self.kbps),
            self.snapshots.to_string(),
            self.late.to_string(),
            self.refused.to_string(),
            format!("{:.0}", self.playout_delay_ms.p50),
        ]
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", table(Self::HEADERS, 1, [self.row()]).trim_fmt())
    }
}
