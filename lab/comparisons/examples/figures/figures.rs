//! Makes figures, with profiles trained on other recordings, and measures their bytes per frame.

use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_anim::figure::{Figure, FigurePose};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::{Skeleton, Transform};
use serde::Serialize;

use crate::Outcome;
use crate::basis::{Layout, Sent};
use crate::body::Body;
use crate::profile;
use crate::recordings::Recording;

/// The tick of a recording's first frame.
pub(crate) const FIRST_TICK: u32 = 1;
/// The number of baselines' ages in a second. Baselines are a round trip of 100 ms old.
const LAGS_PER_S: u32 = 10;
/// The largest ages, in multiples of the lag, for which the model has weights. The first is for
/// fresh baselines, and the second for baselines after losses.
const MAX_LAGS: [u32; 2] = [1, 3];
/// The limits of the precisions to choose from, in cm.
const PRECISIONS_CM: [f64; 2] = [0.01, 50.0];
/// The number of times that the range of precisions is halved.
const HALVINGS: u32 = 12;

/// A peer's layout, and figures with the same largest error.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) peer: String,
    /// The peer's largest error.
    pub(crate) error_cm: f64,
    pub(crate) peer_bytes: f64,
    /// The precision that the figure is asked for. The figure proves `bound_cm`, and its largest
    /// error is `figure_error_cm`.
    pub(crate) precision_cm: f64,
    pub(crate) bound_cm: f64,
    pub(crate) figure_error_cm: f64,
    pub(crate) packed_bytes: f64,
    /// At the adaptive level with an untrained profile, and with one like the built-in one, which
    /// other performers trained. The other numbers are those of a profile for this body.
    pub(crate) untrained_bytes: f64,
    pub(crate) built_in_bytes: f64,
    pub(crate) adaptive_bytes: f64,
    pub(crate) learning_bytes: f64,
    /// A figure that proves the peer's error, whatever the body does.
    pub(crate) proven: Proven,
}

/// The bytes of a figure whose proven error is the peer's largest one.
#[derive(Serialize)]
pub(crate) struct Proven {
    pub(crate) bound_cm: f64,
    pub(crate) packed_bytes: f64,
    pub(crate) adaptive_bytes: f64,
}

/// A figure and a profile for it.
pub(crate) struct Trained {
    pub(crate) figure: Figure,
    pub(crate) schema: Schema,
    profile: Profile,
}

/// Compares a peer's packets with figures whose largest error is the same. The measured recording
/// trains nothing.
pub(crate) fn compare(
    body: &Body,
    (layout, sent): (&Layout, &Sent),
    recording: &Recording,
    (training, built_in): (&[&Recording], &Profile),
    hz: u32,
) -> Outcome<(Row, Trained)> {
    let shown = recording.poses().zip(&sent.poses);
    let error_cm = shown.map(|(pose, shown)| distance_cm(&body.skeleton, pose, shown));
    let error_cm = error_cm.fold(0.0, f64::max);
    let precision_cm = coarsest_cm(error_cm, |cm| error_of_cm(body, recording, cm))?;
    let mut trained = Trained::new(body, precision_cm, training, hz)?;
    let worlds = trained.worlds(recording)?;
    let at = |level| -> Outcome<f64> { bytes(&trained.codec(level)?, &worlds, lag_ticks(hz)) };
    let schema = trained.schema.clone();
    let untrained = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?;
    let row = Row {
        peer: layout.name.clone(),
        error_cm,
        peer_bytes: mean(sent.packets.iter().map(Vec::len)),
        precision_cm,
        bound_cm: bound_cm(&trained.figure),
        figure_error_cm: error_of_cm(body, recording, precision_cm)?,
        packed_bytes: at(Level::PACKED)?,
        untrained_bytes: bytes(&untrained, &worlds, lag_ticks(hz))?,
        built_in_bytes: profile::bytes(built_in, &trained.schema, &worlds, lag_ticks(hz))?,
        adaptive_bytes: at(Level::ADAPTIVE)?,
        learning_bytes: at(Level::LEARNING)?,
        proven: Proven::new(body, error_cm, recording, training, hz)?,
    };
    Ok((row, trained))
}

impl Proven {
    fn new(
        body: &Body,
        error_cm: f64,
        recording: &Recording,
        training: &[&Recording],
        hz: u32,
    ) -> Outcome<Self> {
        let precision_cm = coarsest_cm(error_cm, |cm| Ok(bound_cm(&body.figure(cm)?)))?;
        let mut trained = Trained::new(body, precision_cm, training, hz)?;
        let worlds = trained.worlds(recording)?;
        Ok(Self {
            bound_cm: bound_cm(&trained.figure),
            packed_bytes: bytes(&trained.codec(Level::PACKED)?, &worlds, lag_ticks(hz))?,
            adaptive_bytes: bytes(&trained.codec(Level::ADAPTIVE)?, &worlds, lag_ticks(hz))?,
        })
    }
}

impl Trained {
    pub(crate) fn new(
        body: &Body,
        precision_cm: f64,
        recordings: &[&Recording],
        hz: u32,
    ) -> Outcome<Self> {
        Self::of_figure(body.figure(precision_cm)?, recordings, hz)
    }

    /// Trains on the recordings in each tier of the figure.
    pub(crate) fn of_figure(figure: Figure, recordings: &[&Recording], hz: u32) -> Outcome<Self> {
        let schema = Schema::new(figure.fields());
        let untrained = Profile::magnitudes(&schema);
        let mut trained = Self { figure, schema, profile: untrained.clone() };
        let mut runs: Vec<Vec<Snapshot>> = Vec::new();
        for tier in 0..trained.figure.tier_count() {
            for recording in recordings {
                runs.push(trained.worlds_of(recording, tier)?);
            }
        }
        let training = Training {
            packed_lag_ticks: lag_ticks(hz),
            max_lags_ticks: MAX_LAGS.map(|times| times * lag_ticks(hz)).into(),
            ..Training::new(untrained, None)
        };
        let profile = training.run(&trained.schema, &runs, |_| ())?;
        trained.profile = training.learn(&trained.schema, &profile, &runs, |_| ())?;
        Ok(trained)
    }

    pub(crate) fn codec(&self, level: Level) -> Outcome<Codec> {
        Ok(Codec::new(self.schema.clone(), level, self.profile.clone())?)
    }

    /// Returns the frames of a recording. Each frame is a world of one body.
    pub(crate) fn worlds(&mut self, recording: &Recording) -> Outcome<Vec<Snapshot>> {
        self.worlds_of(recording, 0)
    }

    /// The same, in a tier.
    fn worlds_of(&mut self, recording: &Recording, tier: usize) -> Outcome<Vec<Snapshot>> {
        let mut worlds = Vec::with_capacity(recording.frames());
        for (tick, pose) in (FIRST_TICK..).zip(recording.poses()) {
            let mut world = Snapshot::new(&self.schema, Tick(tick));
            let pose = FigurePose { tier, ..FigurePose::new(pose) };
            self.figure.push(&mut world, 0, EntityId(1), &pose)?;
            worlds.push(world);
        }
        Ok(worlds)
    }
}

/// Returns the age of a baseline without losses, in ticks.
pub(crate) fn lag_ticks(hz: u32) -> u32 {
    (hz / LAGS_PER_S).max(1)
}

/// Returns the largest distance between two poses in cm, over all joints, at 3 cm from each joint.
pub(crate) fn distance_cm(skeleton: &Skeleton, one: &[Transform], other: &[Transform]) -> f64 {
    pose_distance_cm(skeleton, one, other, &ErrorOptions::default())
}

/// Returns the error that a figure proves for all joints.
fn bound_cm(figure: &Figure) -> f64 {
    (0..figure.joint_count()).map(|joint| figure.max_error_cm(joint)).fold(0.0, f64::max)
}

/// Returns the coarsest precision at which `error_at` is at most `error_cm`.
fn coarsest_cm(error_cm: f64, error_at: impl Fn(f64) -> Outcome<f64>) -> Outcome<f64> {
    let [mut low_cm, mut high_cm] = PRECISIONS_CM;
    for _ in 0..HALVINGS {
        let middle_cm = (low_cm * high_cm).sqrt();
        let is_within = error_at(middle_cm)? <= error_cm;
        *(if is_within { &mut low_cm } else { &mut high_cm }) = middle_cm;
    }
    Ok(low_cm)
}

/// Returns the largest error of a figure with this precision.
fn error_of_cm(body: &Body, recording: &Recording, precision_cm: f64) -> Outcome<f64> {
    let mut figure = body.figure(precision_cm)?;
    let schema = Schema::new(figure.fields());
    let mut world = Snapshot::new(&schema, Tick(0));
    let mut shown = body.skeleton.bind_pose();
    let mut error_cm = 0.0_f64;
    for pose in recording.poses() {
        world.clear(Tick(0));
        figure.push(&mut world, 0, EntityId(1), &FigurePose::new(pose))?;
        figure.write((&world, 0), &mut shown[..]);
        error_cm = error_cm.max(distance_cm(&body.skeleton, pose, &shown));
    }
    Ok(error_cm)
}

/// The older views from which a packet is predicted.
#[derive(Clone, Copy)]
pub(crate) enum Older {
    /// The two frames before the baseline.
    Newest,
    /// Those that a hub takes: half a lag before the baseline, and a lag before that.
    AsInSessions,
}

impl Older {
    /// Returns the frames that a packet is coded against, with the baseline first.
    fn frames(self, newest: usize, lag: usize) -> Vec<usize> {
        let steps = match self {
            Self::Newest => [1, 1],
            Self::AsInSessions => [lag.div_ceil(2), lag],
        };
        let mut frames = vec![newest];
        for step in steps {
            let last = frames[frames.len() - 1];
            frames.extend(last.checked_sub(step));
        }
        frames
    }
}

/// Returns the mean bytes per frame, coded against baselines of this age and the two frames before
/// them. Leaves out the first frames, which have no baselines.
pub(crate) fn bytes(codec: &Codec, worlds: &[Snapshot], lag_ticks: u32) -> Outcome<f64> {
    let lengths = lengths(codec, worlds, lag_ticks, Older::Newest)?;
    Ok(mean(lengths.into_iter().skip(lag_ticks as usize + 2)))
}

/// Returns the bytes of each frame. Decodes and compares every frame.
pub(crate) fn lengths(
    codec: &Codec,
    worlds: &[Snapshot],
    lag_ticks: u32,
    older: Older,
) -> Outcome<Vec<usize>> {
    let lag = lag_ticks as usize;
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let mut views: Vec<View> = Vec::with_capacity(worlds.len());
    let empty = View::empty(codec.schema());
    let mut lengths = Vec::with_capacity(worlds.len());
    for (frame, world) in worlds.iter().enumerate() {
        let frames = frame.checked_sub(lag).map(|newest| older.frames(newest, lag));
        let known = match &frames {
            Some(frames) => Baselines::new(frames.iter().map(|frame| &views[*frame]))?,
            None => Baselines::new([&empty])?,
        };
        let mut packet = Vec::new();
        let view = encoder.encode(known, world, &mut packet)?;
        if decoder.decode(known, &packet, world.tick)? != view {
            return Err(format!("frame {frame} was not decoded as it was encoded").into());
        }
        views.push(view);
        lengths.push(packet.len());
    }
    Ok(lengths)
}

pub(crate) fn mean(numbers: impl ExactSizeIterator<Item = usize>) -> f64 {
    let count = numbers.len();
    numbers.sum::<usize>() as f64 / count.max(1) as f64
}
