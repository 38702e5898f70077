//! Converts the weights of morph targets to curves, and finds their names.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ImportError;
use super::buffers::Buffers;
use super::channels::Weights;
use super::document::Document;
use super::function::Targets;
use super::skips::Skips;
use crate::import::clips::Names;
use crate::import::joints::JointNodes;
use crate::{Curve, MAX_CURVES, RawClipError};

/// The names of the morph targets of meshes. Each mesh's list is read only once.
#[derive(Default)]
pub(super) struct TargetNames {
    by_mesh: BTreeMap<usize, Vec<String>>,
}

impl TargetNames {
    /// Returns the names in the extras of `mesh`. There may be fewer names than morph targets.
    fn of_mesh(&mut self, document: Document<'_>, mesh: usize) -> &[String] {
        #[derive(Default, Deserialize)]
        struct Extras {
            #[serde(default, rename = "targetNames")]
            names: Vec<String>,
        }
        let read = || {
            let extras = document.root.meshes.get(mesh)?.extras.as_deref().map(RawValue::get)?;
            serde_json::from_str(extras).ok()
        };
        self.by_mesh.entry(mesh).or_insert_with(|| read().unwrap_or(Extras::default()).names)
    }
}

/// Reads the curves of a clip, with a value at each of `times`. Skips bad channels. An inner error
/// concerns the clip itself, and the caller adds the names of the file and the clip.
pub(super) fn curves(
    buffers: &mut Buffers<'_>,
    joint_nodes: &JointNodes,
    target_names: &mut TargetNames,
    weights: &BTreeMap<usize, Weights>,
    times: impl ExactSizeIterator<Item = f64> + Clone,
    skips: &mut Skips,
) -> Result<Result<Vec<Curve>, RawClipError>, ImportError> {
    let count = count(weights);
    if count > MAX_CURVES {
        return Ok(Err(RawClipError::TooManyCurves { curves: count }));
    }
    let document = buffers.document;
    let mut names = Names::default();
    let mut curves = Vec::with_capacity(count);
    for (&node, weights) in weights {
        let mut targets = match Targets::read(buffers, &weights.channel, weights.targets) {
            Ok(targets) => targets,
            Err(error) => {
                buffers.budget.release();
                skips.channel(&mut buffers.budget, document, weights.channel.place, error)?;
                continue;
            }
        };
        let (of_node, mesh) = (
            document.morphed_name(node, joint_nodes.parent_of(node)),
            document.root.nodes[node].mesh,
        );
        let of_targets = mesh.map_or(&[][..], |mesh| target_names.of_mesh(document, mesh));
        for target in 0..weights.targets {
            let of_target = of_targets.get(target).map(String::as_str);
            let budget = &mut buffers.budget;
            let name = match names.take(&of_node, of_target, target, times.len(), budget)? {
                Ok(name) => name,
                Err(error) => return Ok(Err(error)),
            };
            let function = targets.function_of(target);
            // Only the function of a rotation can lack a value.
            let value = |time_s| function.at(time_s).map_or(0.0, |[value]| value as f32);
            let values = times.clone().map(value).collect();
            curves.push(Curve { name, precision: Curve::WEIGHT_PRECISION, values });
        }
        buffers.budget.release();
    }
    Ok(Ok(curves))
}

/// Returns the number of curves for the channels `weights`.
pub(super) fn count(weights: &BTreeMap<usize, Weights>) -> usize {
    weights.values().map(|weights| weights.targets).sum()
}
