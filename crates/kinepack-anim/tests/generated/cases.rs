//! Makes options for building a generated motion, and computes the precision that a clip of it can
//! reach.

use std::sync::Arc;

use kinepack_anim::keyed::{Parametrization, RotationBits};
use kinepack_anim::measure::ErrorOptions;
use kinepack_anim::offline::{
    BlockOptions, BuildOptions, Effort, KeyPosition, KeyedOptions, Margins, RigTrainer, Scheme,
};
use kinepack_anim::{RawClip, Rig, Transform, additive};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::motions::{Motion, motions};

/// A clip's relation to other clips.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Company {
    Alone,
    /// The clip may share a rig with another variant.
    OfRig,
    /// The clip is the difference from a pose.
    OnPose,
    /// The clip is the difference from another variant.
    OnMotion,
}

/// A clip to build, with its options.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    motion: Motion,
    company: Company,
    scheme: Scheme,
    precision_cm: f64,
    shell_cm: f64,
    /// A joint with its own precision and shell.
    other: Option<(Index, f64, f64)>,
    pin: Option<Index>,
    pub(crate) seed: u64,
}

/// A case that is ready to be built: the raw clip, the options, and the rig that it may share.
pub(crate) struct Ready {
    pub(crate) raw: RawClip,
    pub(crate) options: BuildOptions,
    pub(crate) rig: Option<Arc<Rig>>,
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let company = prop_oneof![
        12 => Just(Company::Alone),
        2 => Just(Company::OfRig),
        1 => Just(Company::OnPose),
        1 => Just(Company::OnMotion),
    ];
    let precision_cm = || (-3.0f64..1.0).prop_map(|exponent| 10.0_f64.powf(exponent));
    let shell_cm = || prop_oneof![2 => Just(3.0), 1 => (-2.0f64..2.0).prop_map(|exponent| 10.0_f64.powf(exponent))];
    let other = prop::option::weighted(0.2, (any::<Index>(), precision_cm(), shell_cm()));
    let pin = prop::option::weighted(0.1, any::<Index>());
    (motions(), company, schemes(), precision_cm(), shell_cm(), other, pin, any::<u64>()).prop_map(
        |(motion, company, scheme, precision_cm, shell_cm, other, pin, seed)| {
            let company = if matches!(scheme, Scheme::Block(_)) { company } else { Company::Alone };
            Case { motion, company, scheme, precision_cm, shell_cm, other, pin, seed }
        },
    )
}

fn schemes() -> impl Strategy<Value = Scheme> {
    let block = |effort| Scheme::Block(BlockOptions { effort, ..BlockOptions::default() });
    let bits = [RotationBits::Bits32, RotationBits::Bits48].map(Scheme::Quantized);
    prop_oneof![
        20 => Just(block(Effort::Default)),
        5 => Just(block(Effort::Fast)),
        1 => select(vec![block(Effort::Thorough), block(Effort::Best)]),
        8 => keys().prop_map(Scheme::Keyed),
        1 => select(bits.to_vec()),
    ]
}

fn keys() -> impl Strategy<Value = KeyedOptions> {
    let parametrizations = [
        Parametrization::Uniform,
        Parametrization::Times,
        Parametrization::Chordal,
        Parametrization::Centripetal,
    ];
    let positions = [KeyPosition::Middle, KeyPosition::Worst, KeyPosition::Best];
    let margins = [Margins::Fixed, Margins::Hierarchy, Margins::Measured];
    let some =
        (select(parametrizations.to_vec()), select(positions.to_vec()), select(margins.to_vec()));
    let switches = any::<[bool; 5]>();
    let others = (some, switches, 0usize..4).prop_map(
        |((parametrization, position, margins), switches, passes)| {
            let [shortest_path, constants, refit, rows, hold_still] = switches;
            KeyedOptions {
                parametrization,
                position,
                margins,
                shortest_path,
                constants,
                removal_passes: passes,
                refit,
                rows,
                hold_still,
                ..KeyedOptions::default()
            }
        },
    );
    prop_oneof![3 => Just(KeyedOptions::default()), 1 => Just(KeyedOptions::plain()), 3 => others]
}

impl Case {
    /// Returns the clip to build, or `None` if its numbers are too far apart for a difference.
    pub(crate) fn ready(&self) -> Option<Ready> {
        let skeleton = self.motion.skeleton();
        let mut raw = self.motion.clip(&skeleton, 0);
        let mut options = BuildOptions {
            precision_cm: self.precision_cm,
            error: ErrorOptions { shell_cm: self.shell_cm, ..ErrorOptions::default() },
            scheme: self.scheme.clone(),
            ..BuildOptions::default()
        };
        if let Some((joint, precision_cm, shell_cm)) = self.other {
            let joint = joint.index(raw.joints());
            options.joint_precisions_cm = vec![(joint, precision_cm)];
            options.error.joint_shells_cm = vec![(joint, shell_cm)];
        }
        let pins: Vec<usize> = self.pin.iter().map(|pin| pin.index(raw.joints())).collect();
        match &mut options.scheme {
            Scheme::Block(block) => block.pins = pins,
            Scheme::Keyed(keys) => keys.pins = pins,
            Scheme::Quantized(_) => {}
        }
        let other = self.motion.clip(&skeleton, 1);
        match self.company {
            Company::Alone => {}
            Company::OfRig => {
                let mut trainer = RigTrainer::new(&skeleton);
                for clip in [&raw, &other] {
                    trainer.add(clip, &options).unwrap();
                }
                let rig = Arc::new(trainer.finish());
                if let Scheme::Block(block) = &mut options.scheme {
                    block.rig = Some(Arc::clone(&rig));
                }
                return Some(Ready { raw, options, rig: Some(rig) });
            }
            Company::OnPose | Company::OnMotion => {
                let pose = || {
                    RawClip::new("", Arc::clone(&skeleton), 1.0, other.pose(0).to_vec()).unwrap()
                };
                let base = Arc::new(if self.company == Company::OnPose { pose() } else { other });
                raw = additive::difference(&raw, &base).ok()?;
                options.error.base = Some(base);
            }
        }
        Some(Ready { raw, options, rig: None })
    }
}

/// The largest numbers that are computed on the path to a joint.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    joints: f64,
    /// The factor by which the scales of the joint and its ancestors multiply a length.
    pub(crate) growth: f64,
    cm: f64,
    /// A sum with one summand for each joint above the joint: the distance of the joint's shell.
    /// The joint's rounding error is a share of this sum.
    pub(crate) size_cm: f64,
}

impl Ready {
    /// Returns the reach of each joint.
    pub(crate) fn reaches(&self) -> Vec<Reach> {
        let raw = &self.raw;
        let largest = |clip: &RawClip, joint: usize| {
            let length = |[x, y, z]: [f32; 3]| f64::from(x).hypot(f64::from(y)).hypot(f64::from(z));
            let largest = |of: fn(&Transform) -> [f32; 3]| {
                clip.poses().map(|pose| length(of(&pose[joint]))).fold(0.0, f64::max)
            };
            [largest(|transform| transform.translation), largest(|transform| transform.scale)]
        };
        let is_keyed = !matches!(self.options.scheme, Scheme::Block(_));
        let mut own: Vec<[f64; 2]> = (0..raw.joints()).map(|joint| largest(raw, joint)).collect();
        if let Some(base) = &self.options.error.base {
            for (joint, own) in own.iter_mut().enumerate() {
                let of_base = largest(base, joint);
                *own = [own[0] + of_base[0], own[1] * of_base[1]];
            }
        }
        if is_keyed {
            // Keyed clips have one range for all joints.
            let all =
                own.iter().fold([0.0_f64; 2], |all, own| [all[0].max(own[0]), all[1].max(own[1])]);
            own.fill(all);
        }
        let shells_cm = self.options.error.shells_cm(raw.joints());
        let mut reaches: Vec<Reach> = Vec::new();
        for (joint, [way_cm, scale]) in own.into_iter().enumerate() {
            let above = raw.skeleton().parent(joint).map(|parent| reaches[parent]);
            let above = above.unwrap_or(Reach { joints: 0.0, growth: 1.0, cm: 0.0, size_cm: 0.0 });
            // A small scale does not make the stored numbers of descendants smaller.
            let (joints, growth) = (above.joints + 1.0, above.growth * scale.max(1.0));
            let cm = above.cm + above.growth * way_cm;
            reaches.push(Reach {
                joints,
                growth,
                cm,
                size_cm: joints * (cm + growth * shells_cm[joint]),
            });
        }
        reaches
    }
}
