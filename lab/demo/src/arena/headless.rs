//! Bots alone, in virtual time: the same game with all mechanisms, and without each.

use std::io::{self, Write};
use std::time::Duration;

use arena::counts::{Screen, Shots};
use arena::map::TICK_HZ;
use arena::room::Room;
use arena::rules::Rules;
use command_kit::print;
use command_kit::table::{table, write_json, write_text};
use indicatif::ProgressBar;
use kinepack_net::LinkConfig;
use serde::Serialize;

use super::{Arguments, Error, budget};
use crate::simulate::progress;

/// A game.
#[derive(Serialize)]
struct Played {
    name: &'static str,
    rules: Rules,
    shots: Shots,
    screen: Screen,
    /// What the server sends to each player and gets from him, without headers.
    down_kbps: f64,
    up_kbps: f64,
}

#[derive(Serialize)]
struct Report {
    link: String,
    bots: u32,
    seconds: u32,
    longer_ms: u32,
    kbps: Option<u32>,
    games: Vec<Played>,
}

/// The games: with all mechanisms, without each, and with others who continue straight on.
fn games() -> [(&'static str, Rules); 7] {
    let all = Rules::default();
    [
        ("all", all),
        ("no input clock", Rules { clock: false, ..all }),
        ("no prediction", Rules { prediction: false, ..all }),
        ("no fading", Rules { fade: false, ..all }),
        ("no frames", Rules { frames: false, ..all }),
        ("no cuts", Rules { cuts: false, ..all }),
        ("straight on", Rules { straight: true, ..all }),
    ]
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Error> {
    let link = arguments.link.config()?;
    let games = games();
    let progress = progress(games.len() as u32 * arguments.seconds * TICK_HZ);
    let games =
        games.into_iter().map(|(name, rules)| play(arguments, link, name, rules, &progress));
    let games: Vec<_> = games.collect::<Result<_, _>>()?;
    progress.finish_and_clear();
    let report = Report {
        link: arguments.link.link.clone(),
        bots: arguments.bots,
        seconds: arguments.seconds,
        longer_ms: arguments.longer_ms,
        kbps: arguments.kbps,
        games,
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_tables(out) })?;
    Ok(())
}

fn play(
    arguments: &Arguments,
    link: LinkConfig,
    name: &'static str,
    rules: Rules,
    progress: &ProgressBar,
) -> Result<Played, Error> {
    let mut room = Room::new(rules, link, arguments.seed)?;
    room.set_budget(budget(arguments.kbps))?;
    for _ in 0..arguments.bots {
        room.add_bot()?;
    }
    let more = Duration::from_millis(arguments.longer_ms.into()) / 2;
    for second in 0..arguments.seconds {
        if second == arguments.seconds / 2 {
            room.set_link(LinkConfig { latency: link.latency + more, ..link })?;
        }
        room.advance(Duration::from_secs((second + 1).into()))?;
        progress.inc(TICK_HZ.into());
    }
    let length = Duration::from_secs(arguments.seconds.into());
    let (shots, screen) = room.bots();
    let per_player_s = f64::from(arguments.bots.max(1)) * length.as_secs_f64();
    let [down_kbps, up_kbps] = room.bytes().map(|bytes| bytes as f64 / 125.0 / per_player_s);
    Ok(Played { name, rules, shots, screen, down_kbps, up_kbps })
}

impl Report {
    fn write_tables(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { link, bots, seconds, .. } = self;
        let longer = match self.longer_ms {
            0 => String::new(),
            ms => format!("; after half of it the round trip gets {ms} ms longer"),
        };
        let about = format!("{bots} bots over {link}, {seconds} s in each game{longer}");
        write_text(out, "", &about)?;
        writeln!(out)?;
        let percent = |part: u64, whole: u64| match whole {
            0 => "–".to_owned(),
            _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
        };
        let rows = self.games.iter().map(|Played { name, shots, .. }| {
            let in_place = shots.on_screen - shots.displaced;
            let ways = [&shots.exact, &shots.tick, &shots.none];
            let of_all = ways.map(|way| percent(way.confirmed, shots.on_screen));
            let of_those = ways.map(|way| percent(way.confirmed_in_place, in_place));
            let wrong = ways.map(|way| way.wrong.to_string());
            let counts = [shots.on_screen, in_place].map(|count| count.to_string());
            let [all, in_place] = counts;
            [
                vec![(*name).to_owned(), all],
                of_all.into(),
                vec![in_place],
                of_those.into(),
                wrong.into(),
            ]
            .concat()
        });
        let titles = [
            "game",
            "hits",
            "\texact",
            "\tby tick",
            "\twithout",
            "in place",
            "\texact",
            "\tby tick",
            "\twithout",
            "wrong: exact",
            "\tby tick",
            "\twithout",
        ];
        write_text(
            out,
            "",
            "hits: shots that hit somebody on the shooter's screen, and how many of them the server \
             confirms by exact rewinding, by the nearest tick, and without rewinding; in place: \
             those of shooters who stand where their clients believe; wrong: shots that hit \
             somebody else on the server",
        )?;
        writeln!(out, "{}\n", table(titles, 1, rows).trim_fmt())?;

        let mean_cm = |sum_m: f64, count: u64| match count {
            0 => "–".to_owned(),
            _ => format!("{:.1}", 100.0 * sum_m / count as f64),
        };
        let rows =
            self.games.iter().map(|Played { name, shots, screen, down_kbps, up_kbps, .. }| {
                [
                    (*name).to_owned(),
                    percent(shots.in_time, shots.in_time + shots.missed),
                    percent(screen.corrected, screen.corrected + screen.confirmed),
                    screen.leaps.to_string(),
                    mean_cm(screen.behind_m, screen.frames - screen.aboard),
                    mean_cm(screen.slip_m, screen.aboard),
                    screen.in_flight.to_string(),
                    screen.stops.to_string(),
                    format!("{down_kbps:.1}"),
                    format!("{up_kbps:.1}"),
                ]
            });
        let titles = [
            "game",
            "in time",
            "corrected",
            "leaps",
            "behind, cm",
            "slip, cm",
            "in flight",
            "stops",
            "kbit/s down",
            "\tup",
        ];
        write_text(
            out,
            "",
            "in time: the inputs; corrected: the states that differ from the prediction; leaps: \
             frames to which the own player leaps; behind: how far he is drawn from where his \
             inputs have brought him, mean; slip: how far he is drawn beside his place on the \
             ferry, mean; in flight: frames that draw others over the river; stops: others who walk and stop dead for a frame; kbit/s: of a player, \
             without headers",
        )?;
        writeln!(out, "{}", table(titles, 1, rows).trim_fmt())
    }
}
