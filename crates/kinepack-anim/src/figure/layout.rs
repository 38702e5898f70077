//! The lanes of a figure: the clips that it plays, its tier, and the lanes of each tier.

use kinepack::Snapshot;
use kinepack::schema::{Condition, Field, FieldKind};

use super::clips::PlannedClips;
use super::plan::Plan;
use super::{FigureError, FigureOptions, levers, read};
use crate::Skeleton;

/// The name of the field that holds the tier.
const TIER: &str = "figure[tier]";
/// The maximum number of tiers, so that a hub's rings can name each.
const MAX_TIERS: usize = 255;

/// The properties that all poses of a figure share.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) clips: PlannedClips,
    /// The tiers, from the finest to the coarsest.
    tiers: Vec<Tier>,
    /// The number of lanes.
    pub(super) lanes: usize,
    /// What the fields' limits do not show: the skeleton, the axes of hinges and the order of clips.
    digest: u64,
}

#[derive(Clone, Debug)]
struct Tier {
    plan: Plan,
    /// The tier's first lane.
    first: usize,
}

impl Layout {
    pub(super) fn new(skeleton: &Skeleton, options: &FigureOptions) -> Result<Self, FigureError> {
        let clips = PlannedClips::new(&options.clips)?;
        let mut last = 1.0;
        for (nth, coarser) in options.coarser.iter().enumerate() {
            if !(*coarser > last && coarser.is_finite()) || nth + 1 == MAX_TIERS {
                return Err(FigureError::BadTier { tier: nth + 1 });
            }
            last = *coarser;
        }
        let mut lanes = clips.lanes() + usize::from(!options.coarser.is_empty());
        let mut tiers = Vec::with_capacity(1 + options.coarser.len());
        for coarser in [1.0].iter().chain(&options.coarser) {
            let plan = Plan::new(skeleton, options, *coarser)?;
            let first = lanes;
            lanes += plan.lanes;
            tiers.push(Tier { plan, first });
        }
        let motions = levers::motions(skeleton, options)?;
        let digest = levers::digest(skeleton, &motions, &options.clips.names);
        Ok(Self { clips, tiers, lanes, digest })
    }

    /// Returns the number of tiers, at least 1.
    pub(super) fn tiers(&self) -> usize {
        self.tiers.len()
    }

    /// Returns the plan of a tier. All tiers have the same joints, curves and parts.
    pub(super) fn plan(&self, tier: usize) -> &Plan {
        &self.tiers[tier].plan
    }

    /// Returns the lane of the tier, if there are several.
    fn tier_lane(&self) -> Option<usize> {
        (self.tiers.len() > 1).then(|| self.clips.lanes())
    }

    /// Chooses a tier in the lanes of an entity, and clears the lanes of the others. Returns the
    /// plan and the lanes of the tier.
    pub(super) fn choose<'a>(
        &self,
        tier: usize,
        lanes: &'a mut [u32],
    ) -> Option<(&Plan, &'a mut [u32])> {
        let Tier { plan, first } = self.tiers.get(tier)?;
        if let Some(lane) = self.tier_lane() {
            lanes[lane..].fill(0);
            lanes[lane] = tier as u32;
        }
        Some((plan, &mut lanes[*first..first + plan.lanes]))
    }

    /// Copies the lanes of an entity's tier, where the figure's lanes begin at `first_lane`. Returns
    /// the tier's plan.
    pub(super) fn read(
        &self,
        state: (&Snapshot, usize),
        first_lane: usize,
        lanes: &mut Vec<u32>,
    ) -> &Plan {
        let (plan, first) = self.of(state, first_lane);
        lanes.resize(plan.lanes, 0);
        read(state, first, lanes);
        plan
    }

    /// Returns the plan and the first lane of an entity's tier.
    pub(super) fn of(&self, state: (&Snapshot, usize), first_lane: usize) -> (&Plan, usize) {
        let mut tier = [0];
        if let Some(lane) = self.tier_lane() {
            read(state, first_lane + lane, &mut tier);
        }
        // A snapshot has checked that the tier is one of the figure's.
        let Tier { plan, first } = &self.tiers[tier[0] as usize];
        (plan, first_lane + first)
    }

    /// Returns the fields. The brackets of the first one also have the digest, so that the schema's
    /// hash covers it.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = self.clips.fields();
        let has_tiers = self.tiers() > 1;
        if has_tiers {
            fields.push(Field::new(TIER, FieldKind::Choice { max: self.tiers() as u32 - 1 }));
        }
        for (index, Tier { plan, .. }) in (0u32..).zip(&self.tiers) {
            let present = has_tiers.then(|| Condition::new(TIER, index..=index));
            let prefix = if index == 0 { String::new() } else { format!("tiers[{index}].") };
            fields.extend(plan.fields(&prefix, present.as_ref()));
        }
        if let Some(first) = fields.first() {
            let old = first.name.clone();
            let new = old.replacen(']', &format!(" {:016x}]", self.digest), 1);
            for field in &mut fields {
                let selector = field.condition.as_mut().map(|condition| &mut condition.selector);
                for name in [&mut field.name].into_iter().chain(selector) {
                    if *name == old {
                        name.clone_from(&new);
                    }
                }
            }
        }
        fields
    }
}
