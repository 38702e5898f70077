//! Collects the parts of an FBX file that the importer omits. Names are copied once, at the end.

use std::collections::BTreeMap;

use ufbx::Scene;

use super::{ImportError, LeftOutKind};
use crate::import::LeftOut;
use crate::import::budget::Budget;

/// An upper bound on the memory that a part takes besides its name, in bytes.
const PART_BYTES: u64 = 192;

/// Counts parts by kind, and by the names of an element and of its property.
#[derive(Default)]
pub(super) struct Collector<'a> {
    parts: BTreeMap<(LeftOutKind, &'a str, &'a str), usize>,
}

impl<'a> Collector<'a> {
    /// Counts a part.
    pub(super) fn add(
        &mut self,
        kind: LeftOutKind,
        element: &'a str,
        property: &'a str,
        budget: &mut Budget,
    ) -> Result<(), ImportError> {
        let count = self.parts.entry((kind, element, property)).or_default();
        if *count == 0 {
            budget.take(PART_BYTES)?;
        }
        *count += 1;
        Ok(())
    }

    /// Counts the parts of the scene that belong to no stack.
    pub(super) fn scene(
        &mut self,
        scene: &'a Scene,
        budget: &mut Budget,
    ) -> Result<(), ImportError> {
        for constraint in &scene.constraints {
            self.add(LeftOutKind::Constraint, &constraint.element.name, "", budget)?;
        }
        for cache in &scene.cache_deformers {
            self.add(LeftOutKind::VertexCache, &cache.element.name, "", budget)?;
        }
        let lists = [
            (LeftOutKind::Cameras, scene.cameras.len() + scene.stereo_cameras.len()),
            (LeftOutKind::Lights, scene.lights.len()),
        ];
        self.parts.extend(
            lists
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .map(|(kind, count)| ((kind, "", ""), count)),
        );
        Ok(())
    }

    /// Returns all parts, by kind and name.
    pub(super) fn finish(self, budget: &mut Budget) -> Result<Vec<LeftOut>, ImportError> {
        let parts = self.parts.into_iter().map(|((kind, element, property), count)| {
            budget.take((element.len() + property.len()) as u64)?;
            let dot = if element.is_empty() || property.is_empty() { "" } else { "." };
            Ok(LeftOut { kind, name: format!("{element}{dot}{property}"), count })
        });
        parts.collect()
    }
}
