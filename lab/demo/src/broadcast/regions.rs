//! Divides the world into a square of regions, each with its own tier.

use std::sync::{Arc, Mutex, PoisonError};

use command_kit::bodies::Bodies;
use kinepack::{Codec, Snapshot, Tick};
use kinepack_crowd::{Catalogue, CrowdError, Publisher, Tier};

/// The first part of the name of a region's tier. The page searches for it.
const NAME: &str = "region";
const TICKS_PER_FRAME: u16 = 3;
const FRAMES_PER_OBJECT: u8 = 2;

/// A square of regions around the origin. The outer regions extend to the end of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regions {
    per_side: u8,
    /// The width of a region. It is a whole number, because the names of the tiers state the edges
    /// of the regions in whole half metres.
    width_m: i32,
}

/// The region of each entity of a state.
struct Places {
    regions: Regions,
    bodies: Bodies,
    tick: Option<Tick>,
    of: Vec<usize>,
}

impl Regions {
    /// Regions that cover a square whose half width is `half_width_m`.
    pub(super) fn new(per_side: u8, half_width_m: f64) -> Self {
        let width_m = (2.0 * half_width_m / f64::from(per_side)).ceil().clamp(1.0, 1e6) as i32;
        Self { per_side, width_m }
    }

    fn count(self) -> usize {
        usize::from(self.per_side) * usize::from(self.per_side)
    }

    /// Twice the number of metres from the origin to the lower edge of a row or column.
    fn twice_edge_m(self, nth: usize) -> i32 {
        self.width_m * (2 * nth as i32 - i32::from(self.per_side))
    }

    /// Returns the name of a region's tier, `region.X0.Y0.X1.Y1`, in half metres.
    fn name(self, region: usize) -> String {
        let (column, row) =
            (region % usize::from(self.per_side), region / usize::from(self.per_side));
        let [x0, y0, x1, y1] = [column, row, column + 1, row + 1].map(|nth| self.twice_edge_m(nth));
        format!("{NAME}.{x0}.{y0}.{x1}.{y1}")
    }

    fn region_of(self, [x, y, _]: [f64; 3]) -> usize {
        let nth = |along: f64| {
            let nth = along / f64::from(self.width_m) + f64::from(self.per_side) / 2.0;
            nth.clamp(0.0, f64::from(self.per_side - 1)) as usize
        };
        nth(y) * usize::from(self.per_side) + nth(x)
    }

    /// Returns a catalogue that has the tiers of `catalogue`, followed by a tier for each region.
    pub(super) fn added_to(
        self,
        catalogue: &Catalogue,
        codec: &Codec,
    ) -> Result<Catalogue, CrowdError> {
        let tick_hz = catalogue.tick_hz();
        let mut tiers = catalogue.tiers().to_vec();
        tiers.extend((0..self.count()).map(|region| Tier {
            ticks_per_frame: TICKS_PER_FRAME.min(tick_hz),
            frames_per_object: FRAMES_PER_OBJECT,
            ..Tier::new(&self.name(region), codec, tick_hz.max(TICKS_PER_FRAME))
        }));
        Catalogue::new(tick_hz, tiers)
    }

    /// Restricts the tiers of the regions to the entities in them. The first of these tiers has the
    /// number `first`.
    pub(super) fn select(
        self,
        publisher: &mut Publisher,
        first: usize,
        codec: &Codec,
    ) -> Result<(), CrowdError> {
        let bodies = Bodies::new(codec.schema());
        let places = Places { regions: self, bodies, tick: None, of: Vec::new() };
        let places = Arc::new(Mutex::new(places));
        for region in 0..self.count() {
            let places = Arc::clone(&places);
            publisher.select(first + region, move |world, index| {
                let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
                places.update(world);
                places.of.get(index) == Some(&region)
            })?;
        }
        Ok(())
    }
}

impl Places {
    fn update(&mut self, world: &Snapshot) {
        if self.tick == Some(world.tick) {
            return;
        }
        self.tick = Some(world.tick);
        self.of.clear();
        let regions = self.regions;
        let poses = self.bodies.poses(world);
        self.of.extend(poses.map(|pose| pose.map_or(0, |pose| regions.region_of(pose.position))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_cover_the_world() {
        let regions = Regions::new(3, 15.4);
        assert_eq!(regions.width_m, 11);
        assert_eq!(regions.name(0), "region.-33.-33.-11.-11");
        assert_eq!(regions.name(5), "region.11.-11.33.11");
        for (position, region) in [
            ([-400.0, -400.0, 0.0], 0),
            ([0.0, 0.0, 0.0], 4),
            ([5.4, -5.4, 9.0], 4),
            ([5.6, -5.4, 9.0], 5),
            ([5.6, 5.6, 0.0], 8),
            ([1e9, f64::NAN, 0.0], 2),
        ] {
            assert_eq!(regions.region_of(position), region, "{position:?}");
        }
    }
}
