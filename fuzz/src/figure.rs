//! The driver of the target `figure`, which makes a skeleton, options and poses of any numbers.

use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{
    ClipPlay, Figure, FigureClips, FigureCurve, FigureOptions, FigurePart, FigurePose, Motion,
};
use kinepack_anim::measure::{ErrorOptions, pose_errors_cm};
use kinepack_anim::{Joint, Skeleton, Transform};

/// The maximum number of joints of a skeleton.
const MOST_JOINTS: usize = 12;

/// Checks that a figure refuses the options or a pose, or sends the pose within the precision.
/// Checks also that any lanes give a pose.
pub fn figure(data: &[u8]) {
    let mut data = Numbers(data);
    let Some((skeleton, options)) = data.figure() else { return };
    let Ok(mut figure) = Figure::new(&skeleton, &options) else { return };
    let schema = Schema::new(figure.fields());
    let mut shown = skeleton.bind_pose();
    let curves = vec![0.5; options.curves.len()];
    for tick in 1..4 {
        let mut world = Snapshot::new(&schema, Tick(tick));
        let mut pose = skeleton.bind_pose();
        for transform in &mut pose {
            let Some(kind) = data.byte() else { return };
            match kind % 4 {
                0 => transform.rotation = std::array::from_fn(|_| data.number()),
                1 => transform.translation = std::array::from_fn(|_| data.number()),
                2 => transform.scale = std::array::from_fn(|_| data.number()),
                _ => {}
            }
        }
        let absent: Vec<usize> =
            (0..options.parts.len()).filter(|_| data.byte().is_some_and(|b| b > 200)).collect();
        let clips: Vec<Option<ClipPlay>> =
            (0..options.clips.slots).map(|_| data.play(Tick(tick))).collect();
        let tier = tick as usize % (options.coarser.len() + 1);
        let coarser = tier.checked_sub(1).map_or(1.0, |tier| options.coarser[tier]);
        let (joints, curves, absent_now) = (&pose[..], &curves[..], &absent[..]);
        let sent = FigurePose { joints, curves, absent: absent_now, clips: &clips, tier };
        if figure.push(&mut world, 0, EntityId(1), &sent).is_ok() {
            for (slot, play) in clips.iter().enumerate() {
                assert_eq!(figure.clip((&world, 0), slot), *play);
            }
            // An absent part is not written, so the receiver's own pose of it stays.
            shown.copy_from_slice(&pose);
            figure.write((&world, 0), &mut shown[..]);
            for part in 0..options.parts.len() {
                assert_ne!(figure.is_present((&world, 0), part), absent.contains(&part));
            }
            let measure = ErrorOptions { shell_cm: options.shell_cm, ..ErrorOptions::default() };
            for (joint, off_cm) in pose_errors_cm(&skeleton, &pose, &shown, &measure).enumerate() {
                if absent.iter().any(|part| options.parts[*part].joints.contains(&joint)) {
                    continue;
                }
                let limit_cm = options
                    .joint_precisions_cm
                    .iter()
                    .rev()
                    .find(|(own, _)| *own == joint)
                    .map_or(options.precision_cm, |(_, own)| *own);
                let limit_cm = limit_cm * coarser;
                assert!(off_cm <= limit_cm * (1.0 + 1e-6), "joint {joint}: {off_cm} cm");
            }
        } else {
            assert!(world.is_empty());
        }
    }
    let mut lanes: Vec<u32> =
        schema.lanes().iter().map(|lane| data.word() % lane.max.saturating_add(1).max(1)).collect();
    schema.clear_absent(&mut lanes);
    let mut world = Snapshot::new(&schema, Tick(9));
    world.push_lanes(EntityId(1), &lanes).unwrap();
    figure.write((&world, 0), &mut shown[..]);
    assert!(shown.iter().all(Transform::is_valid));
    for slot in 0..options.clips.slots {
        let at = Between { ratio: data.number(), seconds: 0.1 };
        let tick = f64::from(data.number());
        let shown = figure.interpolate_clip((&world, 0), (&world, 0), at, tick, slot);
        assert_eq!(shown.is_some(), figure.clip((&world, 0), slot).is_some());
        if let Some(shown) = shown {
            assert!(shown.clip < figure.clip_count() && shown.time_ticks.is_finite());
            assert!((0.0..=1.0).contains(&shown.weight) && shown.speed.abs() <= 16.0);
        }
    }
}

/// The numbers that the data holds. Zeros follow the end of the data.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte().unwrap_or(0)))
    }

    /// Returns any number, but often a small one.
    fn number(&mut self) -> f32 {
        match self.byte().unwrap_or(0) {
            255 => f32::from_bits(self.word()),
            byte => (f32::from(byte) - 127.0) / 8.0,
        }
    }

    /// Returns a play of clip 0, 1 or 2. A figure may have fewer clips.
    fn play(&mut self, tick: Tick) -> Option<ClipPlay> {
        let clip = usize::from(self.byte()? % 4);
        let play = ClipPlay::start(clip.checked_sub(1)?, tick);
        let play = play.with_time(tick, f64::from(self.number())).ok()?;
        let play = play.with_speed(tick, f64::from(self.number())).ok()?;
        play.with_weight(self.number()).ok()
    }

    fn figure(&mut self) -> Option<(Skeleton, FigureOptions)> {
        let count = 1 + usize::from(self.byte()?) % MOST_JOINTS;
        let mut options = FigureOptions {
            precision_cm: f64::from(self.number().abs()),
            shell_cm: f64::from(self.number().abs()),
            ..FigureOptions::default()
        };
        let mut joints = Vec::new();
        for index in 0..count {
            let parent = match usize::from(self.byte()?) % (index + 1) {
                0 => None,
                parent => Some(parent as u16 - 1),
            };
            let mut bind = Transform::IDENTITY;
            bind.translation = std::array::from_fn(|_| self.number());
            let flags = self.byte()?;
            if flags & 1 > 0 {
                bind.rotation = std::array::from_fn(|_| self.number());
            }
            if flags & 2 > 0 {
                bind.scale = std::array::from_fn(|_| self.number());
            }
            if flags & 4 > 0 {
                options.joint_precisions_cm.push((index, f64::from(self.number().abs())));
            }
            match flags >> 4 {
                0 => options.motions.push((index, Motion::Still)),
                1 => {
                    let axis = std::array::from_fn(|_| self.number());
                    options.motions.push((index, Motion::Hinge(axis)));
                }
                2 => {
                    let range_cm = self.number();
                    options.motions.push((index, Motion::Moves { range_cm }));
                }
                3 => options.curves.push(FigureCurve {
                    name: String::new(),
                    min: 0.0,
                    max: self.number(),
                    precision: self.number(),
                }),
                // The joints from here on, if each hangs below this one.
                4 => options.parts.push(FigurePart {
                    name: String::new(),
                    joints: (index..count).collect(),
                    curves: (0..options.curves.len()).collect(),
                }),
                // Both may be 0.
                5 => {
                    options.clips = FigureClips {
                        slots: usize::from(self.byte()? % 4),
                        names: vec![String::new(); usize::from(self.byte()? % 4)],
                    };
                }
                6 => {
                    let tiers = usize::from(self.byte()? % 4);
                    options.coarser = (0..tiers).map(|_| f64::from(self.number())).collect();
                }
                _ => {}
            }
            joints.push(Joint { name: String::new(), parent, bind });
        }
        Some((Skeleton::new(joints).ok()?, options))
    }
}
