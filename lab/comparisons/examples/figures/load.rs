//! Measures 64 bodies for 64 viewers: the time of a server's tick, and of each viewer.
//!
//! The bodies play the recordings, each from another frame on. One world has all bodies, and all
//! viewers see all of them. The profile is trained on all recordings, because the time does not
//! depend on whether a profile has seen the motion.
//!
//! In the last rows, the bodies are 5 m apart in a hall, and each viewer looks from its own body.
//! Bodies within 5 m are as precise as the others, within 15 m a quarter and beyond a tenth of that.
//!
//! Times are lower quartiles of many, because other work of the machine only adds to them. The tick
//! also has its median and its 95th percentile.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use command_kit::table::{Table, table};
use kinepack::{EntityId, Level, Snapshot, Tick};
use kinepack_anim::Transform;
use kinepack_anim::figure::{Figure, FigurePose};
use kinepack_net::{
    Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Ring, Rings, Worlds,
};
use serde::Serialize;

use crate::Outcome;
use crate::body::Body;
use crate::figures::{FIRST_TICK, Trained};
use crate::recordings::Recording;

const BODIES: u32 = 64;
const VIEWERS: u64 = 64;
const TICKS: u32 = 200;
/// The number of first ticks that do not count. In these ticks the viewers join, and get the whole
/// state.
const WARM_UP_TICKS: u32 = 20;
/// The number of frames between the beginnings of two bodies with the same recording.
const OFFSET_FRAMES: usize = 37;
const LOWER_QUARTILE: usize = 25;
/// The number of worlds that are kept for comparing the viewers' states.
const KEPT_WORLDS: usize = 64;

/// How much coarser the tiers of the bodies in the hall are.
const COARSER: [f64; 2] = [4.0, 10.0];
/// The distance between two bodies in the hall, in cm, and the number of bodies in a row.
const APART_CM: f32 = 500.0;
const IN_A_ROW: u32 = 8;

/// The times of a tick, in lower quartiles unless the name says otherwise.
#[derive(Serialize)]
pub(crate) struct Row {
    round_trips: &'static str,
    /// How bodies are coarser by distance.
    tiers: &'static str,
    threads: usize,
    /// The time to quantize the poses of all bodies.
    push_ms: f64,
    /// The time to take in the datagrams of all viewers, which are acknowledgements.
    acknowledgements_ms: f64,
    /// The time to encode for all viewers.
    tick_ms: f64,
    tick_median_ms: f64,
    tick_p95_ms: f64,
    /// The number of different encodings of a tick.
    encodings: f64,
    viewer_bytes: f64,
    /// The time for one viewer to decode the states of all bodies, and to write their poses.
    decode_ms: f64,
    write_ms: f64,
    pub(crate) wrong_lanes: u64,
}

/// A name, and the round trips in ticks that the viewers get in turn.
type RoundTrips = (&'static str, &'static [u32]);

const ALIKE: RoundTrips = ("2 ticks", &[2]);
const SPREAD: RoundTrips = ("1 to 5 ticks", &[1, 2, 3, 4, 5]);

pub(crate) fn measure(recordings: &[Recording], precision_cm: f64, hz: u32) -> Outcome<Vec<Row>> {
    let recordings: Vec<&Recording> = recordings.iter().collect();
    let body = Body::of(&recordings)?;
    let mut trained = Trained::new(&body, precision_cm, &recordings, hz)?;
    let mut rows = Vec::new();
    let all = [(ALIKE, 1), (SPREAD, 1), (SPREAD, 2)].map(|(trips, threads)| (trips, threads, ALL));
    for (trips, threads, place) in all.into_iter().chain([(ALIKE, 1, HALL)]) {
        rows.push(measure_row(&body, &mut trained, &recordings, hz, trips, threads, place)?);
    }
    let figure = body.figure_of_tiers(precision_cm, &COARSER)?;
    let mut trained = Trained::of_figure(figure, &recordings, hz)?;
    for place in [HALL_OF_SMALL_CELLS, HALL_OF_LARGE_CELLS] {
        rows.push(measure_row(&body, &mut trained, &recordings, hz, ALIKE, 1, place)?);
    }
    Ok(rows)
}

fn measure_row(
    body: &Body,
    trained: &mut Trained,
    recordings: &[&Recording],
    hz: u32,
    (round_trips, ticks): RoundTrips,
    threads: usize,
    place: Place,
) -> Outcome<Row> {
    let mut session = Session::new(body, trained, hz, ticks, place)?;
    for tick in FIRST_TICK..FIRST_TICK + WARM_UP_TICKS + TICKS {
        if tick == FIRST_TICK + WARM_UP_TICKS {
            session.measured = Measured::default();
        }
        let now = Duration::from_secs(1) * tick / hz;
        session.acknowledge(tick, now)?;
        session.push(tick, trained, recordings)?;
        session.tick(now, threads)?;
        // The viewers show a moment halfway between two states, so that poses are interpolated.
        session.show(now, Duration::from_secs(1) / (2 * hz), &mut trained.figure)?;
    }
    Ok(session.measured.row(round_trips, place.name, threads))
}

/// Where the bodies are, and how they are coarser by distance.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    apart_cm: f32,
    /// The edge of the cells in which viewers share, in cm. `None` without tiers.
    cell_cm: Option<f64>,
}

const ALL: Place = Place { name: "one", apart_cm: 0.0, cell_cm: None };
const HALL: Place = Place { name: "one, in a hall", apart_cm: APART_CM, cell_cm: None };
const HALL_OF_SMALL_CELLS: Place =
    Place { name: "3, cells of 5 m", apart_cm: APART_CM, cell_cm: Some(500.0) };
const HALL_OF_LARGE_CELLS: Place =
    Place { name: "3, cells of 10 m", apart_cm: APART_CM, cell_cm: Some(1000.0) };

/// A viewer, and its datagrams on their way to the hub. Each datagram has the tick of its arrival.
struct Viewer {
    receiver: Receiver,
    round_trip_ticks: u32,
    on_the_way: VecDeque<(u32, Vec<u8>)>,
}

struct Session {
    hub: Hub,
    viewers: Vec<Viewer>,
    place: Place,
    /// The most recent worlds in each tier, with the newest ones at the end.
    worlds: VecDeque<Vec<Snapshot>>,
    pose: Vec<Transform>,
    measured: Measured,
}

/// The times of each tick or viewer, and sums.
#[derive(Default)]
struct Measured {
    push_ms: Vec<f64>,
    acknowledgements_ms: Vec<f64>,
    tick_ms: Vec<f64>,
    decode_ms: Vec<f64>,
    write_ms: Vec<f64>,
    encodings: usize,
    bytes: usize,
    wrong_lanes: usize,
}

impl Session {
    fn new(
        body: &Body,
        trained: &Trained,
        hz: u32,
        trip_ticks: &[u32],
        place: Place,
    ) -> Outcome<Self> {
        let codec = trained.codec(Level::ADAPTIVE)?;
        let mut hub = Hub::new(&codec, HubConfig::default())?;
        if let Some(cell) = place.cell_cm {
            let ring =
                |tier, within| Ring { within, leave: within * 1.1, every: 1, tier, coarser: 0 };
            hub.set_rings(Some(&Rings {
                positions: trained.figure.position_field().into_iter().collect(),
                urgent: Vec::new(),
                rings: vec![ring(0, 500.0), ring(1, 1500.0)],
                beyond: Some(2),
                cell,
                exact_after: None,
            }))?;
        }
        let mut viewers = Vec::new();
        for (id, &round_trip_ticks) in (0..VIEWERS).zip(trip_ticks.iter().cycle()) {
            hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO)?;
            let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(hz))?;
            viewers.push(Viewer { receiver, round_trip_ticks, on_the_way: VecDeque::new() });
        }
        Ok(Self {
            hub,
            viewers,
            place,
            worlds: VecDeque::new(),
            pose: body.skeleton.bind_pose(),
            measured: Measured::default(),
        })
    }

    /// Takes the viewers' datagrams of the previous tick, and hands on those that arrive.
    fn acknowledge(&mut self, tick: u32, now: Duration) -> Outcome<()> {
        let mut arrived = Vec::new();
        for (id, viewer) in (0..).map(ReceiverId).zip(&mut self.viewers) {
            while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                let arrival = tick - 1 + viewer.round_trip_ticks;
                viewer.on_the_way.push_back((arrival, datagram.to_vec()));
            }
            while let Some((_, datagram)) = viewer.on_the_way.pop_front_if(|(at, _)| *at <= tick) {
                arrived.push((id, datagram));
            }
        }
        let begin = Instant::now();
        for (id, datagram) in arrived {
            self.hub.handle(id, now, &datagram)?;
        }
        self.measured.acknowledgements_ms.push(ms(begin.elapsed()));
        Ok(())
    }

    /// Pushes the poses of all bodies into a new world.
    fn push(&mut self, tick: u32, trained: &mut Trained, recordings: &[&Recording]) -> Outcome<()> {
        if self.worlds.len() == KEPT_WORLDS {
            self.worlds.pop_front();
        }
        let begin = Instant::now();
        let tiers = trained.figure.tier_count();
        let mut worlds: Vec<Snapshot> =
            (0..tiers).map(|_| Snapshot::new(&trained.schema, Tick(tick))).collect();
        for id in 0..BODIES {
            let recording = recordings[id as usize % recordings.len()];
            let offset = id as usize / recordings.len() * OFFSET_FRAMES;
            let frame = (tick as usize + offset) % recording.frames();
            self.pose.copy_from_slice(recording.frame(frame));
            let apart = self.place.apart_cm;
            let root = &mut self.pose[0].translation;
            root[0] += apart * (id % IN_A_ROW) as f32;
            root[2] += apart * (id / IN_A_ROW) as f32;
            self.hub.set_viewpoint(ReceiverId(id.into()), Some(root.map(f64::from)))?;
            for (tier, world) in worlds.iter_mut().enumerate() {
                let pose = FigurePose { tier, ..FigurePose::new(&self.pose) };
                trained.figure.push(world, 0, EntityId(id), &pose)?;
            }
        }
        self.measured.push_ms.push(ms(begin.elapsed()));
        self.worlds.push_back(worlds);
        Ok(())
    }

    /// Encodes the newest world for all viewers.
    fn tick(&mut self, now: Duration, threads: usize) -> Outcome<()> {
        let worlds = self.worlds.back().ok_or("no world")?;
        let of_tiers =
            worlds.first_chunk().map(|[fine, coarse, coarsest]| [fine, coarse, coarsest]);
        let worlds = match &of_tiers {
            Some(worlds) => Worlds::from(worlds),
            None => Worlds::from(&worlds[0]),
        };
        let begin = Instant::now();
        if threads > 1 {
            self.hub.tick_on(now, worlds, None, |work| {
                thread::scope(|scope| {
                    (1..threads).for_each(|_| drop(scope.spawn(|| work.run())));
                    work.run();
                });
            })?;
        } else {
            self.hub.tick(now, worlds)?;
        }
        self.measured.tick_ms.push(ms(begin.elapsed()));
        self.measured.encodings += self.hub.encoded();
        Ok(())
    }

    /// Hands the datagrams to the viewers, which draw all bodies a moment later.
    fn show(&mut self, now: Duration, later: Duration, figure: &mut Figure) -> Outcome<()> {
        let mut datagrams = vec![Vec::new(); self.viewers.len()];
        while let Some((id, datagram)) = self.hub.poll_transmit() {
            self.measured.bytes += datagram.len();
            datagrams[id.0 as usize].push(datagram.to_vec());
        }
        for (Viewer { receiver, .. }, datagrams) in self.viewers.iter_mut().zip(datagrams) {
            let begin = Instant::now();
            for datagram in datagrams {
                receiver.handle(now, &datagram)?;
            }
            self.measured.decode_ms.push(ms(begin.elapsed()));
            let begin = Instant::now();
            if let Some(playback) = receiver.playback(now + later) {
                for sample in playback.samples() {
                    let (from, to) = (sample.from, sample.to);
                    figure.interpolate(from, to, sample.between, &mut self.pose[..]);
                }
            }
            self.measured.write_ms.push(ms(begin.elapsed()));
            let is_tiered = self.place.cell_cm.is_some();
            self.measured.wrong_lanes += wrong_lanes(receiver, &self.worlds, is_tiered)?;
        }
        Ok(())
    }
}

/// Compares each body that a viewer has with the world that its state is from. With tiers, the body's
/// first lane says which world of the tick that is.
fn wrong_lanes(
    receiver: &Receiver,
    worlds: &VecDeque<Vec<Snapshot>>,
    is_tiered: bool,
) -> Outcome<usize> {
    let Some(newest) = receiver.newest() else { return Ok(0) };
    let mut wrong = 0;
    for (index, id) in newest.ids().iter().enumerate() {
        let tick = receiver.fresh(index);
        let worlds = worlds.iter().find(|worlds| worlds[0].tick == tick);
        let tier = newest.lanes_at(index).next().filter(|_| is_tiered).unwrap_or(0);
        let world = &worlds.ok_or("a state is too old")?[tier as usize];
        let at = world.position(*id).ok_or("the world has no such body")?;
        let pairs = newest.lanes_at(index).zip(world.lanes_at(at));
        wrong += pairs.filter(|(own, sent)| own != sent).count();
    }
    Ok(wrong)
}

impl Measured {
    fn row(mut self, round_trips: &'static str, tiers: &'static str, threads: usize) -> Row {
        let per_tick = |count: usize| count as f64 / f64::from(TICKS);
        Row {
            round_trips,
            tiers,
            threads,
            push_ms: percentile(&mut self.push_ms, LOWER_QUARTILE),
            acknowledgements_ms: percentile(&mut self.acknowledgements_ms, LOWER_QUARTILE),
            tick_ms: percentile(&mut self.tick_ms, LOWER_QUARTILE),
            tick_median_ms: percentile(&mut self.tick_ms, 50),
            tick_p95_ms: percentile(&mut self.tick_ms, 95),
            encodings: per_tick(self.encodings),
            viewer_bytes: per_tick(self.bytes) / VIEWERS as f64,
            decode_ms: percentile(&mut self.decode_ms, LOWER_QUARTILE),
            write_ms: percentile(&mut self.write_ms, LOWER_QUARTILE),
            wrong_lanes: self.wrong_lanes as u64,
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * percent / 100).copied().unwrap_or(0.0)
}

pub(crate) fn load_table(rows: &[Row]) -> Table {
    let header = [
        "64 bodies, 64 viewers:\nround trips",
        "tiers",
        "threads",
        "server, ms:\npush",
        "\nacks",
        "\ntick",
        "\nmedian",
        "\n95 %",
        "\nencodings",
        "viewer:\nbytes a tick",
        "\ndecode, ms",
        "\nwrite, ms",
        "wrong\nlanes",
    ];
    let cells = rows.iter().map(|row| {
        [
            row.round_trips.to_owned(),
            row.tiers.to_owned(),
            row.threads.to_string(),
            format!("{:.2}", row.push_ms),
            format!("{:.2}", row.acknowledgements_ms),
            format!("{:.2}", row.tick_ms),
            format!("{:.2}", row.tick_median_ms),
            format!("{:.2}", row.tick_p95_ms),
            format!("{:.1}", row.encodings),
            format!("{:.0}", row.viewer_bytes),
            format!("{:.2}", row.decode_ms),
            format!("{:.2}", row.write_ms),
            row.wrong_lanes.to_string(),
        ]
    });
    table(header, 1, cells)
}
