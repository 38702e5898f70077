//! 64 bodies for 64 viewers: the time of a server's tick, and of each viewer.
//!
//! The bodies play the recordings, each from another frame on. All their motion is in one world,
//! and all viewers see all of it. A profile of all recordings is used: this measures time, and the
//! time does not depend on whether a profile has seen the motion.
//!
//! Each time is the lower quartile of many: the machine does other work too, which only adds.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use command_kit::table::{Table, table};
use kinepack::{EntityId, Level, Snapshot, Tick};
use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Work};
use serde::Serialize;

use crate::Outcome;
use crate::body::Body;
use crate::figures::{FIRST_TICK, Trained};
use crate::recordings::Recording;

const BODIES: u32 = 64;
const VIEWERS: u64 = 64;
const TICKS: u32 = 200;
/// The first ticks do not count: the viewers join, and get the whole state.
const WARM_UP_TICKS: u32 = 20;
/// Frames between the beginnings of two bodies with the same recording.
const OFFSET_FRAMES: usize = 37;
/// Worlds that are kept to compare the viewers' states with.
const KEPT_WORLDS: usize = 64;

/// The time of a tick. Times are lower quartiles.
#[derive(Serialize)]
pub(crate) struct Row {
    round_trips: &'static str,
    threads: usize,
    /// To quantize the poses of all bodies.
    push_ms: f64,
    /// To encode for all viewers.
    tick_ms: f64,
    /// Different encodings of a tick.
    encodings: f64,
    viewer_bytes: f64,
    /// For one viewer: to decode the states of all bodies, and to write their poses.
    decode_ms: f64,
    write_ms: f64,
    pub(crate) wrong_lanes: u64,
}

/// The round trips of the viewers in ticks, in turn.
type RoundTrips = (&'static str, &'static [u32]);

const ALIKE: RoundTrips = ("2 ticks", &[2]);
const SPREAD: RoundTrips = ("1 to 5 ticks", &[1, 2, 3, 4, 5]);

pub(crate) fn measure(recordings: &[Recording], precision_cm: f64, hz: u32) -> Outcome<Vec<Row>> {
    let recordings: Vec<&Recording> = recordings.iter().collect();
    let body = Body::of(&recordings)?;
    let mut trained = Trained::new(&body, precision_cm, &recordings, hz)?;
    [(ALIKE, 1), (SPREAD, 1), (SPREAD, 2)]
        .into_iter()
        .map(|(trips, threads)| run(&recordings, &body, &mut trained, hz, trips, threads))
        .collect()
}

/// A viewer, and its datagrams on their way to the hub, each with the tick of its arrival.
struct Viewer {
    receiver: Receiver,
    round_trip_ticks: u32,
    on_the_way: VecDeque<(u32, Vec<u8>)>,
}

fn run(
    recordings: &[&Recording],
    body: &Body,
    trained: &mut Trained,
    hz: u32,
    (round_trips, trip_ticks): RoundTrips,
    threads: usize,
) -> Outcome<Row> {
    let codec = trained.codec(Level::ADAPTIVE)?;
    let mut hub = Hub::new(&codec, HubConfig::default())?;
    let mut viewers = Vec::new();
    for (id, ticks) in (0..VIEWERS).zip(trip_ticks.iter().cycle()) {
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO)?;
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(hz))?;
        viewers.push(Viewer { receiver, round_trip_ticks: *ticks, on_the_way: VecDeque::new() });
    }
    let mut worlds: VecDeque<Snapshot> = VecDeque::new();
    let mut pose = body.skeleton.bind_pose();
    let [mut push_ms, mut tick_ms, mut decode_ms, mut write_ms] = [(); 4].map(|()| Vec::new());
    let (mut encodings, mut bytes, mut wrong_lanes) = (0, 0, 0);
    for tick in FIRST_TICK..FIRST_TICK + WARM_UP_TICKS + TICKS {
        let is_counted = tick >= FIRST_TICK + WARM_UP_TICKS;
        let now = Duration::from_secs(1) * tick / hz;
        // Poses are drawn between two states, so that they are interpolated.
        let half_a_tick = Duration::from_secs(1) / (2 * hz);
        for (id, viewer) in (0..).map(ReceiverId).zip(&mut viewers) {
            while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                let arrival = tick - 1 + viewer.round_trip_ticks;
                viewer.on_the_way.push_back((arrival, datagram.to_vec()));
            }
            while let Some((_, datagram)) = viewer.on_the_way.pop_front_if(|(at, _)| *at <= tick) {
                hub.handle(id, now, &datagram)?;
            }
        }

        let begin = Instant::now();
        let mut world = Snapshot::new(&trained.schema, Tick(tick));
        for id in 0..BODIES {
            let recording = recordings[id as usize % recordings.len()];
            let offset = id as usize / recordings.len() * OFFSET_FRAMES;
            let frame = (tick as usize + offset) % recording.frames();
            trained.figure.push(&mut world, 0, EntityId(id), recording.frame(frame), &[])?;
        }
        let pushed = Instant::now();
        if threads > 1 {
            hub.tick_on(now, &world, None, |work: &Work<'_>| {
                thread::scope(|scope| {
                    (1..threads).for_each(|_| drop(scope.spawn(|| work.run())));
                    work.run();
                });
            })?;
        } else {
            hub.tick(now, &world)?;
        }
        if is_counted {
            tick_ms.push(ms(pushed.elapsed()));
            push_ms.push(ms(pushed - begin));
            encodings += hub.encoded();
        }
        if worlds.len() == KEPT_WORLDS {
            worlds.pop_front();
        }
        worlds.push_back(world);

        let mut datagrams = vec![Vec::new(); viewers.len()];
        while let Some((id, datagram)) = hub.poll_transmit() {
            bytes += if is_counted { datagram.len() } else { 0 };
            datagrams[id.0 as usize].push(datagram.to_vec());
        }
        for (viewer, datagrams) in viewers.iter_mut().zip(datagrams) {
            let begin = Instant::now();
            for datagram in datagrams {
                viewer.receiver.handle(now, &datagram)?;
            }
            let decoded = Instant::now();
            if let Some(playback) = viewer.receiver.playback(now + half_a_tick) {
                for sample in playback.samples() {
                    let (from, to) = (sample.from, sample.to);
                    trained.figure.interpolate(from, to, sample.between, &mut pose[..]);
                }
            }
            if is_counted {
                write_ms.push(ms(decoded.elapsed()));
                decode_ms.push(ms(decoded - begin));
                wrong_lanes += wrong_lanes_of(&viewer.receiver, &worlds)?;
            }
        }
    }
    let per_tick = |count: usize| count as f64 / f64::from(TICKS);
    Ok(Row {
        round_trips,
        threads,
        push_ms: lower_quartile(push_ms),
        tick_ms: lower_quartile(tick_ms),
        encodings: per_tick(encodings),
        viewer_bytes: per_tick(bytes) / VIEWERS as f64,
        decode_ms: lower_quartile(decode_ms),
        write_ms: lower_quartile(write_ms),
        wrong_lanes,
    })
}

/// Compares each body that a viewer has with the world that its state is from.
fn wrong_lanes_of(receiver: &Receiver, worlds: &VecDeque<Snapshot>) -> Outcome<u64> {
    let newest = receiver.newest().ok_or("a viewer has no state")?;
    let mut wrong = (BODIES as usize).abs_diff(newest.len()) * newest.lane_count();
    for (index, id) in newest.ids().iter().enumerate() {
        let tick = receiver.fresh(index);
        let world = worlds.iter().find(|world| world.tick == tick).ok_or("a state is too old")?;
        let at = world.position(*id).ok_or("the world has no such body")?;
        let pairs = newest.lanes_at(index).zip(world.lanes_at(at));
        wrong += pairs.filter(|(own, sent)| own != sent).count();
    }
    Ok(wrong as u64)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn lower_quartile(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 4).copied().unwrap_or(0.0)
}

pub(crate) fn load_table(rows: &[Row]) -> Table {
    let header = [
        "64 bodies, 64 viewers:\nround trips",
        "threads",
        "server, ms:\npush",
        "\ntick",
        "\nencodings",
        "viewer:\nbytes a tick",
        "\ndecode, ms",
        "\nwrite, ms",
        "wrong\nlanes",
    ];
    let cells = rows.iter().map(|row| {
        [
            row.round_trips.to_owned(),
            row.threads.to_string(),
            format!("{:.2}", row.push_ms),
            format!("{:.2}", row.tick_ms),
            format!("{:.1}", row.encodings),
            format!("{:.0}", row.viewer_bytes),
            format!("{:.2}", row.decode_ms),
            format!("{:.2}", row.write_ms),
            row.wrong_lanes.to_string(),
        ]
    });
    table(header, 1, cells)
}
