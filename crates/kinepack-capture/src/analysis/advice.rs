//! Finds what to change first. Proposes changes of the schema, each tried on a sample of the
//! frames, and warns about values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use kinepack::quantize::{FloatLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, Role, TimePrecision, any_element};
use kinepack::training::TrainError;
use kinepack::{Schema, SetupError};
use kinepack_anim::figure::profile::fields_of_figures;
use serde::Serialize;

use super::costs::{LevelCost, kbps};
use super::fields::FieldAnalysis;
use super::samples::{Changed, ChangedKind, Samples};
use crate::kinds;

/// The largest time precision that is proposed, in milliseconds.
const LATE_MS: f64 = 2.0;
/// The smallest saving that is listed, as a share of the total.
const LEAST_SHARE: f64 = 0.005;
/// The margin that a narrower range leaves on each side, as a share of the range of recorded
/// values.
const MARGIN: f64 = 0.25;

/// The limit on the sample words that are coded for all changes together. It is the second
/// constant, plus the first one for each value of the capture. If a capture would exceed the limit,
/// fewer samples are used, and then fewer changes are tried. Typical captures of games need a tenth
/// of the limit.
const TRIED_WORDS_PER_VALUE: u64 = 8;
const LEAST_TRIED_WORDS: u64 = 1 << 26;
/// The cost of training the codes of one lane for one tried change, as a number of words.
const LANE_WORDS: u64 = 2048;

/// A proposed change. [`Analysis`](super::Analysis) has an example.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The name of the field, if the change concerns one. The elements of an array have a common
    /// name, as in `joints[*].rotation`.
    pub field: Option<String>,
    /// The change to make.
    pub change: String,
    /// The cost of the change, or the reason why it costs nothing.
    pub because: String,
    /// The kilobits per second that the change saves, without headers. The saving is measured on a
    /// sample at the level `packed`, for each change alone.
    pub saves_kbps: f64,
}

/// A change of one field, or of the same field in all elements of an array.
struct Proposal {
    /// The index of each field and its replacement; `None` to leave the field out.
    fields: Vec<(usize, Option<Field>)>,
    name: String,
    change: String,
    because: String,
}

/// The other results of the analysis, which the advice is based on.
pub(super) struct Found<'a> {
    pub(super) fields: &'a [FieldAnalysis],
    pub(super) levels: &'a [LevelCost],
    /// True if the levels were measured with a trained profile.
    pub(super) is_trained: bool,
}

pub(super) fn advise(
    schema: &Schema,
    [rate_hz, frames_per_s]: [f64; 2],
    found: &Found<'_>,
    values: u64,
    mut samples: Samples,
) -> Result<Vec<Advice>, TrainError> {
    let Found { fields, levels, is_trained } = *found;
    let mut tried = proposals(schema, fields, rate_hz);
    let most = LEAST_TRIED_WORDS.saturating_add(TRIED_WORDS_PER_VALUE.saturating_mul(values));
    samples.thin(most / (tried.len() as u64 + 1));
    let per_try = samples.words() + LANE_WORDS * schema.lanes().len() as u64;
    let tries = (most / per_try.max(1)) as usize;
    if tried.len() > tries {
        // The fields that take the most bits come first.
        let bits = |proposal: &Proposal| -> f64 {
            proposal
                .fields
                .iter()
                .filter_map(|(field, _)| fields[*field].level_bits_per_frame.last())
                .sum()
        };
        tried.sort_by(|a, b| bits(b).total_cmp(&bits(a)));
        tried.truncate(tries);
    }
    let now = samples.bytes_per_frame(&changed(schema, &[])?)?;
    let mut all = Vec::new();
    for proposal in tried {
        let with = samples.bytes_per_frame(&changed(schema, &proposal.fields)?)?;
        let saves = now - with;
        if saves > LEAST_SHARE * now {
            all.push(Advice {
                field: Some(proposal.name),
                change: proposal.change,
                because: proposal.because,
                saves_kbps: kbps(saves, frames_per_s),
            });
        }
    }
    let of_level =
        |name: &str| levels.iter().find(|level| level.level == name).map(|level| level.kbps);
    if let (Some(packed), Some(adaptive)) = (of_level("packed"), of_level("adaptive"))
        && packed - adaptive > LEAST_SHARE * packed
    {
        let mut because = "it predicts values and takes more processor time".to_owned();
        if !is_trained {
            because.push_str("; a profile trained on this capture saves more");
        }
        all.push(Advice {
            field: None,
            change: "use Level::ADAPTIVE".to_owned(),
            because,
            saves_kbps: packed - adaptive,
        });
    }
    all.sort_by(|a, b| b.saves_kbps.total_cmp(&a.saves_kbps));
    // Warnings are listed first, although they save no bits.
    let mut warnings: Vec<Advice> = fields.iter().filter_map(warning).collect();
    warnings.append(&mut all);
    Ok(warnings)
}

fn warning(field: &FieldAnalysis) -> Option<Advice> {
    let change = match (field.out_of_range, field.not_a_number) {
        (0, 0) => return None,
        (0, nan) => format!("find out why {nan} values are not numbers"),
        (1, _) => "widen the range: 1 value was outside of it".to_owned(),
        (out, _) => format!("widen the range: {out} values were outside of it"),
    };
    let because = "such values are not sent: they are an error, or take the nearest end with clamp"
        .to_owned();
    Some(Advice { field: Some(field.name.clone()), change, because, saves_kbps: 0.0 })
}

/// Makes the schema with the proposed fields.
fn changed(schema: &Schema, proposed: &[(usize, Option<Field>)]) -> Result<Changed, SetupError> {
    let mut kinds = Vec::new();
    let mut all_fields = Vec::new();
    for kind in schema.kinds() {
        let (mut fields, mut from, mut is_bare) = (Vec::new(), Vec::new(), Vec::new());
        let first_lane = kind.lanes().start;
        for index in kind.fields() {
            let field = &schema.fields()[index];
            let becomes = proposed.iter().find(|(proposed, _)| *proposed == index);
            if let Some(becomes) =
                becomes.map_or_else(|| Some(field.clone()), |(_, becomes)| becomes.clone())
            {
                is_bare.push(matches!(
                    (&field.kind, &becomes.kind),
                    (FieldKind::Raw { .. }, FieldKind::Floats(_))
                ));
                fields.push(becomes);
                from.push(field.lanes().start - first_lane..field.lanes().end - first_lane);
            }
        }
        let words = kind.lanes().len();
        kinds.push(ChangedKind { schema: Schema::new(fields.clone()), words, from, is_bare });
        all_fields.push(fields);
    }
    Ok(Changed { schema: kinds::with_fields(schema, all_fields)?, kinds })
}

/// Returns the changes to try. The same change of several elements of an array is one proposal.
/// Fields of figures have none: their steps and ranges follow from a promise in centimetres, which
/// other ones would break.
fn proposals(schema: &Schema, fields: &[FieldAnalysis], rate_hz: f64) -> Vec<Proposal> {
    let mut all: Vec<Proposal> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    let is_of_figure = fields_of_figures(schema);
    let own = schema.fields().iter().zip(fields).enumerate();
    for (index, (field, found)) in own.filter(|(_, (field, _))| !is_of_figure(field)) {
        for (becomes, change, because) in proposals_of(field, found, rate_hz) {
            let name = any_element(&found.name);
            match known.entry((name.clone(), change.clone())) {
                Entry::Occupied(other) => {
                    let other = &mut all[*other.get()];
                    other.fields.push((index, becomes));
                    other.name = name;
                }
                Entry::Vacant(place) => {
                    place.insert(all.len());
                    all.push(Proposal {
                        fields: vec![(index, becomes)],
                        name: found.name.clone(),
                        change,
                        because,
                    });
                }
            }
        }
    }
    all
}

/// Returns the possible replacements of a field, each with its notation and the reason.
fn proposals_of(
    field: &Field,
    found: &FieldAnalysis,
    rate_hz: f64,
) -> Vec<(Option<Field>, String, String)> {
    let kinds: Vec<(FieldKind, String, String)> = match &field.kind {
        FieldKind::Floats(axes) => kinds_for_floats(axes, found),
        FieldKind::Rotation(rotation) => kind_for_rotation(rotation).into_iter().collect(),
        FieldKind::Raw { .. } => kind_for_bare(found).into_iter().collect(),
        _ => Vec::new(),
    };
    let mut all: Vec<(Option<Field>, String, String)> = kinds
        .into_iter()
        .map(|(kind, change, because)| (Some(field.clone().with_kind(kind)), change, because))
        .collect();
    let can_be_late = match &field.kind {
        FieldKind::Floats(axes) => axes.len() <= 3 && axes.iter().all(|axis| !axis.wraps()),
        FieldKind::Rotation(_) => true,
        _ => false,
    };
    let is_velocity = field.role == Role::Velocity || field.velocity_of.is_some();
    // With more than three axes, or above a quarter of a tick, values at rest might not become
    // exact.
    let late_ms = LATE_MS.min(250.0 / rate_hz);
    let can_be_late = can_be_late && field.takes_time_precision() && field.time_precision.is_none();
    if can_be_late && !is_velocity && late_ms > 0.0 {
        all.push((
            Some(field.clone().with_time_precision(TimePrecision::new(late_ms, rate_hz))),
            format!("time_precision_ms = {late_ms}"),
            format!(
                "the type needs #[pack(ticks_per_s = {:?})] too; the error while moving is up to \
                 the movement in that time; resting values are exact",
                shown_rate(rate_hz)
            ),
        ));
    }
    if is_velocity {
        let because = "playback then follows lines instead of curves, which is invisible at 20 \
         frames a second or more";
        all.push((None, "leave it out".to_owned(), because.to_owned()));
    }
    all
}

/// Returns other steps and ranges of real numbers, each with its notation and the reason.
fn kinds_for_floats(
    axes: &[FloatLimits],
    found: &FieldAnalysis,
) -> Vec<(FieldKind, String, String)> {
    let mut all = Vec::new();
    let mut propose = |limits: Vec<FloatLimits>, change: String, because: String| {
        all.push((FieldKind::Floats(limits), change, because));
    };
    let carried = found.components.iter().map(|component| component.carried_step);
    let carried = carried.collect::<Option<Vec<f64>>>().unwrap_or_default();
    let carried = carried.into_iter().reduce(f64::min);
    let step = axes[0].step();
    if let Some(carried) = carried
        .filter(|carried| *carried > 1.01 * axes.iter().map(FloatLimits::step).fold(0.0, f64::max))
        && let Some(coarser) = with_steps(axes, |_| carried)
    {
        let because = format!("all values are multiples of {carried}: nothing is lost");
        propose(coarser, format!("precision = {carried} instead of {step}"), because);
    }
    if let Some(coarser) = with_steps(axes, |step| 2.0 * step) {
        let because = format!("the error is then up to {}, now half of that", three_digits(step));
        let text = match whole_bits(&axes[0]) {
            Some(bits) => format!("bits = {} instead of {bits}", bits - 1),
            None => format!("precision = {} instead of {step}", 2.0 * step),
        };
        propose(coarser, text, because);
    }
    if let Some((narrower, text)) = narrower(axes, found) {
        let because = format!(
            "a guess from this capture, with {:.0} % on each side of what it has: write what your \
             game allows",
            100.0 * MARGIN
        );
        propose(narrower, format!("range = {text}"), because);
    }
    all
}

/// Returns a rotation with one bit less in each component, its notation, and the reason.
fn kind_for_rotation(rotation: &SmallestThree) -> Option<(FieldKind, String, String)> {
    let bits = rotation.component_bits();
    let fewer = bits.checked_sub(1).filter(|bits| *bits >= 4)?;
    let coarser = SmallestThree::new(fewer).ok()?;
    let because = "the error of rotations is then up to twice as large".to_owned();
    Some((FieldKind::Rotation(coarser), format!("bits = {fewer} instead of {bits}"), because))
}

/// Returns limits for bare floats, their notation, and the reason.
fn kind_for_bare(found: &FieldAnalysis) -> Option<(FieldKind, String, String)> {
    let (limits, step, text) = limits_of_bare(found)?;
    let because = format!(
        "a float without a range is kept bit for bit, so small changes are not small differences; \
         the error is then up to {}; the range is a guess from this capture: write what your game \
         allows",
        step / 2.0
    );
    Some((FieldKind::Floats(limits), text, because))
}

/// Returns the number of bits of an angle that uses every code of its bits. Such an angle was
/// declared with `bits`.
fn whole_bits(axis: &FloatLimits) -> Option<u32> {
    (axis.wraps()
        && axis.max_code() == (1_u64 << axis.bits()).wrapping_sub(1) as u32
        && axis.bits() > 1)
        .then(|| axis.bits())
}

fn three_digits(number: f64) -> String {
    format!("{number:.2e}")
        .parse()
        .map_or_else(|_| number.to_string(), |short: f64| short.to_string())
}

/// Returns axes with other steps; `None` if one of them is impossible.
fn with_steps(axes: &[FloatLimits], step: impl Fn(f64) -> f64) -> Option<Vec<FloatLimits>> {
    axes.iter().map(|axis| axis.with_step(step(axis.step())).ok()).collect()
}

/// Returns axes that hold the recorded values and a margin, if these take less than half of the
/// axes' range.
fn narrower(axes: &[FloatLimits], found: &FieldAnalysis) -> Option<(Vec<FloatLimits>, String)> {
    let mut is_worth = false;
    let mut all = Vec::new();
    let mut text = Vec::new();
    for (axis, component) in axes.iter().zip(&found.components) {
        let [low, high] = component.seen?;
        let margin = MARGIN * (high - low).max(axis.step());
        // If the values are so large that adding the margin does not change them, there is no
        // narrower range.
        let ([low, high], digits) =
            Some([low - margin, high + margin]).filter(|[low, high]| low < high).map(outwards)?;
        let (low, high) = (low.max(axis.min()), high.min(axis.max()));
        is_worth |= 2.0 * (high - low) < axis.max() - axis.min();
        let limits = FloatLimits::new(low, high, axis.step()).ok().filter(|_| !axis.wraps())?;
        all.push(limits);
        text.push(format!("{low:.digits$}..={high:.digits$}"));
    }
    is_worth.then(|| {
        (all, if text.len() == 1 { text.remove(0) } else { format!("[{}]", text.join(", ")) })
    })
}

/// Returns the ends of a range, moved outwards to short decimals, and the number of digits after
/// the decimal point. The ends become multiples of a power of ten, which is at most a tenth of the
/// range.
fn outwards([low, high]: [f64; 2]) -> ([f64; 2], usize) {
    let power = ((high - low) / 10.0).log10().floor();
    let digits = (-power).max(1.0) as usize;
    let size = 10_f64.powf(power.abs());
    let round = |end: f64, round: fn(f64) -> f64| {
        if power < 0.0 { round(end * size) / size } else { round(end / size) * size }
    };
    ([round(low, f64::floor), round(high, f64::ceil)], digits)
}

/// Rounds a rate for display, so that it does not show the rounding of `f32`.
///
/// ```
/// use kinepack_capture::analysis::shown_rate;
///
/// assert_eq!(shown_rate(f64::from(1.0 / (1.0 / 60.0_f32))), 60.0);
/// assert_eq!(shown_rate(59.94), 59.94);
/// ```
pub fn shown_rate(rate_hz: f64) -> f64 {
    let rounded = (rate_hz * 1e3).round() / 1e3;
    let is_rounding = (rate_hz - rounded).abs() <= 4.0 * f64::from(f32::EPSILON) * rate_hz;
    if is_rounding { rounded } else { rate_hz }
}

/// Returns limits that hold the recorded values of bare `f32`, and a margin; `None` if the words do
/// not look like numbers.
fn limits_of_bare(found: &FieldAnalysis) -> Option<(Vec<FloatLimits>, f64, String)> {
    let seen =
        found.components.iter().map(|component| component.seen).collect::<Option<Vec<_>>>()?;
    let low = seen.iter().map(|[low, _]| *low).fold(f64::INFINITY, f64::min);
    let high = seen.iter().map(|[_, high]| *high).fold(f64::NEG_INFINITY, f64::max);
    let carried =
        found.components.iter().map(|component| component.carried_step).collect::<Option<Vec<_>>>();
    let carried = carried.and_then(|steps| steps.into_iter().reduce(f64::min));
    // If the values have no common step, their range gets a thousand to ten thousand steps.
    let step =
        carried.unwrap_or_else(|| 10_f64.powi(((high - low) / 1000.0).log10().floor() as i32));
    let margin = MARGIN * (high - low);
    // The ends are whole steps, which have short decimals.
    let (low, high) =
        (((low - margin) / step).floor() * step, ((high + margin) / step).ceil() * step);
    let text = format!("range = {low:.4}..={high:.4}, precision = {step}");
    let limits = FloatLimits::new(low, high, step)
        .ok()
        .filter(|limits| limits.bits() <= 24 && high - low < 1e9)?;
    Some((vec![limits; seen.len()], step, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_to_short_decimals() {
        assert_eq!(outwards([-0.6105, 0.6098]), ([-0.7, 0.7], 1));
        assert_eq!(outwards([-93.7, 93.7]), ([-100.0, 100.0], 1));
        assert_eq!(outwards([0.0101, 0.0349]), ([0.01, 0.035], 3));
        assert_eq!(outwards([-6220.0, 7131.0]), ([-7000.0, 8000.0], 1));
    }

    #[test]
    fn rates_are_shown_without_the_rounding_of_f32() {
        assert_eq!(shown_rate(59.999996185302734), 60.0);
        assert_eq!([60.0, 59.94, 0.001, 1e6].map(shown_rate), [60.0, 59.94, 0.001, 1e6]);
        assert_eq!(shown_rate(59.99), 59.99);
        assert_eq!(shown_rate(1.0 / 0.3), 1.0 / 0.3);
    }
}
