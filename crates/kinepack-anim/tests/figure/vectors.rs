//! Tests the frozen fields and lanes of `spec/vectors/figure.txt`. A second reader, written from
//! `spec/FIGURE.md`, computes steps, fields and poses again.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim figure::vectors` writes the vectors again.

use std::fmt::Write;
use std::path::PathBuf;

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_anim::Skeleton;
use kinepack_anim::figure::{Figure, FigureOptions, Motion};

use super::cases::{Case, cases, figure_pose, plays};

fn written() -> String {
    let mut text =
        String::from("# figure NAME, field NAME MIN MAX STEP CODE.., lanes of each pose\n");
    for Case { name, skeleton, options, poses } in cases() {
        let mut figure = Figure::new(&skeleton, &options).unwrap();
        let schema = Schema::new(figure.fields());
        if !options.parts.is_empty() {
            text.push_str("# flag NAME of a part, and at the end of a field, if FLAG\n");
        }
        if options.clips.slots > 0 {
            text.push_str("# flag NAME of a slot, choice NAME MAX\n");
        }
        if !options.coarser.is_empty() {
            text.push_str(
                "# at the end of a field of a tier, if NAME of the tiers' choice VALUE\n",
            );
        }
        writeln!(text, "figure {name} {:016x}", schema.hash()).unwrap();
        for field in schema.fields() {
            let name = field.name.replace(' ', "~");
            let axes = match &field.kind {
                FieldKind::Floats(axes) => axes.as_slice(),
                _ => &[],
            };
            match &field.kind {
                FieldKind::Floats(_) => write!(text, "field {name}"),
                FieldKind::Bool => write!(text, "flag {name}"),
                FieldKind::Choice { max } => write!(text, "choice {name} {max}"),
                other => panic!("{other:?}"),
            }
            .unwrap();
            for axis in axes {
                let [min, step] = [axis.min(), axis.step()].map(f64::to_bits);
                let max = axis.max().to_bits();
                write!(text, " {min:016x} {max:016x} {step:016x} {}", axis.max_code()).unwrap();
            }
            if let Some(condition) = &field.condition {
                write!(text, " if {}", condition.selector.replace(' ', "~")).unwrap();
                if condition.selector.contains("[tier") {
                    write!(text, " {}", condition.values.start()).unwrap();
                }
            }
            text.push('\n');
        }
        for (index, pose) in poses.iter().enumerate() {
            let mut lanes = vec![0; figure.lane_count()];
            let plays = plays(index);
            figure.quantize(&figure_pose(&options, index, pose, &plays), &mut lanes).unwrap();
            let lanes: Vec<String> = lanes.iter().map(u32::to_string).collect();
            writeln!(text, "lanes {}", lanes.join(" ")).unwrap();
        }
    }
    text
}

#[test]
fn the_frozen_fields_and_lanes_are_as_stored() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/figure.txt");
    let written = written();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap();
    for (line, (stored, written)) in stored.lines().zip(written.lines()).enumerate() {
        assert_eq!(stored, written, "line {}", line + 1);
    }
    assert_eq!(stored, written);
}

/// A joint's levers and lanes, as section 2 of the specification defines them.
#[derive(Clone, Copy)]
struct Lever {
    parent: Option<usize>,
    s: f64,
    a: f64,
    b: f64,
    h: f64,
    n: f64,
    m: f64,
    rho: f64,
    tau: f64,
    r: f64,
}

fn levers(skeleton: &Skeleton, options: &FigureOptions) -> Vec<Lever> {
    let mut levers: Vec<Lever> = Vec::new();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let listed = options.motions.iter().rev().find(|(joint, _)| *joint == index);
        let usual = match joint.parent {
            None => Motion::Moves { range_cm: 10_000.0 },
            Some(_) => Motion::Turns,
        };
        let (n, m, r) = match listed.map_or(usual, |(_, motion)| *motion) {
            Motion::Still => (0.0, 0.0, 0.0),
            Motion::Hinge(_) => (1.0, 0.0, 0.0),
            Motion::Turns => (3.0, 0.0, 0.0),
            Motion::Moves { range_cm } => (3.0, 3.0, f64::from(range_cm)),
        };
        let above = joint.parent.map(|parent| levers[usize::from(parent)].s);
        let own = joint.bind.scale.iter().map(|s| f64::from(s.abs())).fold(0.0, f64::max);
        let [x, y, z] = joint.bind.translation.map(|b| f64::from(b).abs() + r);
        let d = (x * x + y * y + z * z).sqrt();
        let s = above.unwrap_or(1.0) * own;
        levers.push(Lever {
            parent: joint.parent.map(usize::from),
            s,
            a: above.unwrap_or(1.0),
            b: above.map_or(0.0, |above| above * d),
            h: options.shell_cm * s,
            n,
            m,
            rho: if n == 0.0 { 0.0 } else { 2.4e-7 },
            tau: if m == 0.0 && above.is_some() { 0.0 } else { 6.0e-8 * d },
            r,
        });
    }
    levers
}

/// Returns the errors of the joints if their own errors are `u` for rotations and `v` for
/// translations.
fn errors(levers: &[Lever], u: &[f64], v: &[f64]) -> Vec<f64> {
    let (mut turn, mut off) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    levers
        .iter()
        .enumerate()
        .map(|(j, lever)| {
            let (turned, offset) = lever.parent.map_or((0.0, 0.0), |p| (turn[p], off[p]));
            turn[j] = if lever.n == 3.0 { u[j] } else { u[j] + turned };
            off[j] = offset + lever.b * turned + lever.a * v[j];
            off[j] + lever.h * turn[j]
        })
        .collect()
}

/// Returns the steps of the joints' rotations and translations, by section 3 of the specification.
fn steps(levers: &[Lever], precisions: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let rounded: (Vec<f64>, Vec<f64>) = levers.iter().map(|l| (l.rho, l.tau)).unzip();
    let left: Vec<f64> = precisions
        .iter()
        .zip(errors(levers, &rounded.0, &rounded.1))
        .map(|(precision, rounded)| precision - rounded)
        .collect();
    let count = levers.len();
    let mut prices = vec![1.0; count];
    let (mut u, mut v, mut w) = (vec![0.0; count], vec![0.0; count], 0.0f64);
    for _ in 0..200 {
        let (mut c, mut d) = (vec![0.0; count], vec![0.0; count]);
        for j in (0..count).rev() {
            d[j] += prices[j] / left[j];
            c[j] += levers[j].h * (prices[j] / left[j]);
            if let Some(parent) = levers[j].parent {
                d[parent] += d[j];
                c[parent] += levers[j].b * d[j];
                if levers[j].n != 3.0 {
                    c[parent] += c[j];
                }
            }
            d[j] *= levers[j].a;
        }
        for j in 0..count {
            let Lever { n, m, .. } = levers[j];
            u[j] = if n == 0.0 { 0.0 } else { (n / c[j]).min(0.25) };
            v[j] = if m == 0.0 { 0.0 } else { (m / d[j]).min(1000.0) };
        }
        let shares: Vec<f64> =
            errors(levers, &u, &v).iter().zip(&left).map(|(error, left)| error / left).collect();
        prices.iter_mut().zip(&shares).for_each(|(price, share)| *price *= share.sqrt());
        w = shares.into_iter().fold(0.0, f64::max);
    }
    let w = if w == 0.0 { 1.0 } else { w };
    let scaled = |errors: Vec<f64>, most: f64| errors.iter().map(|e| (e / w).min(most)).collect();
    (scaled(u, 0.25), scaled(v, 1000.0))
}

#[test]
fn a_second_reader_computes_the_same_steps_and_poses() {
    let pi = f64::from_bits(0x4009_21fb_5444_2d18);
    for Case { name, skeleton, options, poses } in cases() {
        let mut figure = Figure::new(&skeleton, &options).unwrap();
        let levers = levers(&skeleton, &options);
        let mut precisions = vec![options.precision_cm; levers.len()];
        options.joint_precisions_cm.iter().for_each(|(joint, own)| precisions[*joint] = *own);
        let fields = figure.fields();
        let field = |tier: usize, joint: usize, part: &str| -> Option<&Field> {
            let tier = if tier == 0 { String::new() } else { format!("tiers[{tier}].") };
            let (begin, end) = (format!("{tier}joints[{joint} "), format!("].{part}"));
            fields.iter().find(|field| field.name.starts_with(&begin) && field.name.ends_with(&end))
        };
        let g = 2.0 / 3.0f64.sqrt() * (1.0 - 1e-7);
        let tiers = [1.0].into_iter().chain(options.coarser.iter().copied()).enumerate();
        let of_tiers = tiers.flat_map(|(tier, coarser)| {
            let of_tier: Vec<f64> = precisions.iter().map(|own| own * coarser).collect();
            let (u, v) = steps(&levers, &of_tier);
            let joints = levers.clone().into_iter().enumerate();
            joints.map(move |(joint, lever)| (tier, joint, lever, u[joint], v[joint]))
        });
        for (tier, joint, lever, u, v) in of_tiers {
            let limits = |field: Option<&Field>| match field.map(|field| &field.kind) {
                Some(FieldKind::Floats(axes)) => Some(axes.clone()),
                _ => None,
            };
            let bind = skeleton.joints()[joint].bind.translation.map(f64::from);
            let moving = (lever.m > 0.0).then(|| {
                let s = v * g;
                let h = (lever.r / s).ceil() * s;
                bind.map(|b| FloatLimits::new(b - h, b + h, s).unwrap()).to_vec()
            });
            let translation = field(tier, joint, "translation");
            assert_eq!(limits(translation), moving, "{name} {tier} {joint}");
            let turning = match lever.n as usize {
                0 => None,
                1 => {
                    let k = (pi / (u * 2.0 * (1.0 - 1e-7))).ceil();
                    let s = pi / k;
                    Some(vec![FloatLimits::until(-k * s, k * s, s).unwrap().wrapping()])
                }
                _ => {
                    let s = u * g;
                    let h = (pi / s).ceil() * s;
                    Some(vec![FloatLimits::new(-h, h, s).unwrap(); 3])
                }
            };
            let rotation = field(tier, joint, "rotation");
            assert_eq!(limits(rotation), turning, "{name} {tier} {joint}");
        }
        let schema = Schema::new(fields.clone());
        for (index, pose) in poses.iter().enumerate() {
            let plays = plays(index);
            let pose = figure_pose(&options, index, pose, &plays);
            let mut lanes = vec![0; figure.lane_count()];
            figure.quantize(&pose, &mut lanes).unwrap();
            let mut world = Snapshot::new(&schema, Tick(1));
            world.push_lanes(EntityId(3), &lanes).unwrap();
            let mut shown = skeleton.bind_pose();
            figure.write((&world, 0), &mut shown[..]);
            for (joint, shown) in shown.iter().enumerate() {
                let is_absent = |part: &usize| options.parts[*part].joints.contains(&joint);
                if pose.absent.iter().any(is_absent) {
                    // What the caller had there stays.
                    assert_eq!(*shown, skeleton.joints()[joint].bind);
                    continue;
                }
                let bind = skeleton.joints()[joint].bind;
                let values = |part: &str| -> Option<Vec<f64>> {
                    let of_tier = field(pose.tier, joint, part);
                    let at = fields.iter().position(|one| Some(one) == of_tier)?;
                    let FieldKind::Floats(axes) = &fields[at].kind else { return None };
                    let lanes = &lanes[schema.fields()[at].lanes()];
                    Some(axes.iter().zip(lanes).map(|(a, l)| a.reconstruct(*l)).collect())
                };
                if let Some(translation) = values("translation") {
                    let rounded: Vec<f32> = translation.iter().map(|t| *t as f32).collect();
                    assert_eq!(rounded, shown.translation, "{name} {joint}");
                } else {
                    assert_eq!(shown.translation, bind.translation);
                }
                let vector = match values("rotation").as_deref() {
                    None => [0.0; 3],
                    // The only hinge turns about the x axis.
                    Some(&[angle]) => [angle, 0.0, 0.0],
                    Some(&[x, y, z]) => [x, y, z],
                    other => panic!("{other:?}"),
                };
                let angle = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
                let ratio = if angle == 0.0 { 0.5 } else { (angle / 2.0).sin() / angle };
                let [x, y, z] = vector.map(|c| c * ratio);
                let expected = product(unit(bind.rotation), [x, y, z, (angle / 2.0).cos()]);
                for (expected, shown) in expected.iter().zip(shown.rotation) {
                    assert!((expected - f64::from(shown)).abs() < 1e-7, "{name} {joint}");
                }
            }
        }
    }
}

fn unit(rotation: [f32; 4]) -> [f64; 4] {
    let length = rotation.iter().map(|c| f64::from(*c) * f64::from(*c)).sum::<f64>().sqrt();
    rotation.map(|c| f64::from(c) / length)
}

fn product([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
