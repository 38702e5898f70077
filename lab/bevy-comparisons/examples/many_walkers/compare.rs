//! Checks that all crowds show the same poses.

use std::error::Error;

use bevy_math::Vec3;
use bevy_transform::components::Transform;

use crate::scenario::Scenario;
use crate::{PRECISION_CM, Side};

/// The distance from a joint at which errors are measured, in metres, as in `kinepack-anim`.
const SHELL_M: f32 = 0.03;

/// Prints the distance between the poses of the last crowd and those of the first, in model space.
pub(crate) fn print(scenario: &Scenario, sides: &mut [Side; 3]) -> Result<(), Box<dyn Error>> {
    let mut farthest = |samples: [f32; 3]| {
        let mut most_cm = [0.0_f32; 2];
        for sample in samples {
            let [bevy, even, kinepack] = sides.each_mut().map(|side| side.crowd.poses_at(sample));
            for (most_cm, other) in most_cm.iter_mut().zip([even, kinepack]) {
                for (bevy, other) in bevy.iter().zip(&other) {
                    *most_cm = most_cm.max(distance_cm(scenario, bevy, other));
                }
            }
        }
        most_cm
    };
    let at_samples = farthest([0.0, 7.0, 29.0]);
    let between = farthest([0.5, 11.5, 20.5]);
    println!(
        "Poses differ from the first row by at most {:.4} and {:.4} cm at samples, {:.4} and \
         {:.4} cm half-way between two.",
        at_samples[0], at_samples[1], between[0], between[1],
    );
    // Bevy interpolates on the great circle, and `kinepack-anim` blends on the chord.
    let allowed_cm = if scenario.at_a_time == 1 { PRECISION_CM } else { 5.0 * PRECISION_CM } as f32;
    // Between two samples, the poses may differ more, because each library interpolates in its own
    // way.
    if at_samples[1] > allowed_cm || between[1] > 0.5 || at_samples[0].max(between[0]) > 0.001 {
        return Err("the crowds do not show the same poses".into());
    }
    Ok(())
}

/// Returns the largest distance between two poses, over all joints and the points around them.
fn distance_cm(scenario: &Scenario, one: &[Transform], other: &[Transform]) -> f32 {
    let [one, other] = [one, other].map(|pose| in_model_space(scenario, pose));
    let points = one.iter().zip(&other).flat_map(|(one, other)| {
        [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
            .map(|axis| 100.0 * (*one * (SHELL_M * axis)).distance(*other * (SHELL_M * axis)))
    });
    points.fold(0.0, f32::max)
}

fn in_model_space(scenario: &Scenario, pose: &[Transform]) -> Vec<Transform> {
    let mut model: Vec<Transform> = Vec::with_capacity(pose.len());
    for (joint, local) in pose.iter().enumerate() {
        let parent = scenario.skeleton().parent(joint);
        model.push(parent.map_or(*local, |parent| model[parent] * *local));
    }
    model
}
