//! Finds the order of fields that takes the fewest bits. Later fields are predicted from earlier
//! ones, so the order matters.

use std::fmt;

use kinepack::profile::Bodies;
use kinepack::schema::Field;
use kinepack::training::Training;
use kinepack::{Codec, Level, Profile, Schema, Snapshot};
use serde::Serialize;

use super::TuneError;
use super::measure::mean_bytes;

/// The number of snapshots on which each try trains. The next constant is the number of snapshots
/// on which the try is measured.
const TRAINED: usize = 200;
const MEASURED: usize = 100;
/// The maximum number of fields for which every order is tried. With more fields, each field is
/// only tried as the first.
const ALL_ORDERS: usize = 4;
/// The maximum number of orders that are tried.
const MOST_TRIES: usize = 24;
/// An order that saves less than this share of the bits is not recommended.
const LEAST: f64 = 0.005;

/// An order of fields, as indices into the schema's fields.
type Order = Vec<usize>;

/// The best order of the fields, and the bits that it would save.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FieldOrder {
    /// The number of orders that were tried.
    tried: usize,
    /// The order that takes the fewest bits.
    best: Vec<String>,
    /// The share of the bits that the best order saves at the level `adaptive`, on frames that the
    /// tries were not trained on.
    saves_ratio: f64,
}

impl fmt::Display for FieldOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tried, best, saves_ratio } = self;
        if *saves_ratio < LEAST {
            return write!(f, "Order of the fields: of {tried} tried, none saves more than 0.5 %.");
        }
        let percent = 100.0 * saves_ratio;
        write!(
            f,
            "Order of the fields: {} would save {percent:.1} % at adaptive; {tried} were tried.",
            best.join(", ")
        )
    }
}

/// Tries orders. Each try trains quickly on the first frames, and is measured on the last. Returns
/// `None` for a schema of several kinds, which would have too many orders.
pub(super) fn best(
    schema: &Schema,
    bodies: Option<&Bodies>,
    frames: &[Snapshot],
    lag: u32,
    mut progress: impl FnMut(f64),
) -> Result<Option<FieldOrder>, TuneError> {
    if schema.kinds().len() > 1 {
        return Ok(None);
    }
    let count = schema.fields().len();
    let mut orders = orders(count);
    orders.retain(|order| keeps_selectors_first(schema, order));
    // The measured frames and their baselines must be later than the frames to train on.
    let (training, held_out) = frames.split_at(frames.len() * 2 / 3);
    if orders.len() < 2 || training.len() <= lag as usize || held_out.len() <= 3 * lag as usize {
        return Ok(None);
    }
    let mut least: Option<(f64, &Order)> = None;
    let mut as_it_is = 0.0;
    for (index, order) in orders.iter().enumerate() {
        let bytes = bytes(schema, bodies, order, [training, held_out], lag)?;
        if index == 0 {
            as_it_is = bytes;
        }
        if least.is_none_or(|(least, _)| bytes < least) {
            least = Some((bytes, order));
        }
        progress((index + 1) as f64 / orders.len() as f64);
    }
    Ok(least.map(|(bytes, order)| FieldOrder {
        tried: orders.len(),
        best: order.iter().map(|field| schema.fields()[*field].name.clone()).collect(),
        saves_ratio: if as_it_is > 0.0 { 1.0 - bytes / as_it_is } else { 0.0 },
    }))
}

/// Returns the orders to try. The first one is the present order.
fn orders(count: usize) -> Vec<Order> {
    let as_it_is: Order = (0..count).collect();
    if count > ALL_ORDERS {
        let first = |field: usize| {
            [field].into_iter().chain(as_it_is.iter().copied().filter(move |other| *other != field))
        };
        return (0..count).take(MOST_TRIES).map(|field| first(field).collect()).collect();
    }
    let mut all: Vec<Order> = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: &Order| {
            let left = as_it_is.iter().filter(|field| !order.contains(field));
            left.map(|field| [&order[..], &[*field]].concat()).collect::<Vec<Order>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Returns whether each field comes after the field that decides whether it is present, and after
/// the one that tells how coarse it is.
fn keeps_selectors_first(schema: &Schema, order: &[usize]) -> bool {
    let fields = schema.fields();
    let place = |field: usize| order.iter().position(|other| *other == field);
    fields.iter().enumerate().all(|(index, field)| {
        let selector = field.condition.as_ref().map(|condition| &condition.selector);
        let coarseness = field.coarser.as_ref().map(|coarser| &coarser.coarseness);
        selector.into_iter().chain(coarseness).all(|name| {
            let earlier = fields[..index].iter().rposition(|field| field.name == *name);
            earlier.is_none_or(|earlier| place(earlier) < place(index))
        })
    })
}

/// Trains on the first part, and returns the mean size of a frame of the second part, in bytes.
fn bytes(
    schema: &Schema,
    bodies: Option<&Bodies>,
    order: &[usize],
    parts: [&[Snapshot]; 2],
    lag: u32,
) -> Result<f64, TuneError> {
    let fields: Vec<Field> = order.iter().map(|field| schema.fields()[*field].clone()).collect();
    let lanes: Vec<usize> = fields.iter().flat_map(Field::lanes).collect();
    let ordered = Schema::new(fields);
    let now = |field: usize| order.iter().position(|other| *other == field).unwrap_or(field);
    let bodies = bodies.map(|bodies| Bodies {
        position: now(bodies.position),
        rotation: now(bodies.rotation),
        touched: bodies.touched.map(now),
        mover: bodies.mover.map(now),
        ..bodies.clone()
    });
    // The last frames of each part are used, so that the measured frames follow those that trained
    // the profile.
    let wanted = [TRAINED, MEASURED].map(|frames| frames + 3 * lag as usize);
    let mut entity = vec![0; lanes.len()];
    let mut part = |frames: &[Snapshot], wanted: usize| {
        let last = &frames[frames.len().saturating_sub(wanted)..];
        let mut same = |frame: &Snapshot| {
            let mut snapshot = Snapshot::new(&ordered, frame.tick);
            for (index, id) in frame.ids().iter().enumerate() {
                entity
                    .iter_mut()
                    .zip(&lanes)
                    .for_each(|(value, lane)| *value = frame.lane(*lane)[index]);
                snapshot.push_lanes(*id, &entity)?;
            }
            Ok(snapshot)
        };
        last.iter().map(&mut same).collect::<Result<Vec<Snapshot>, kinepack::EncodeError>>()
    };
    let failed = |error: kinepack::EncodeError| TuneError::Training(error.into());
    let [training_part, held_out] = [part(parts[0], wanted[0]), part(parts[1], wanted[1])];
    let mut training = Training::new(Profile::untrained(&ordered), bodies);
    (training.packed_lag_ticks, training.passes, training.max_lags_ticks) = (lag, 2, vec![lag]);
    let model = training
        .model(&ordered, &[training_part.map_err(failed)?], |_| ())
        .map_err(TuneError::Training)?;
    let profile = Profile { model: Some(model), ..training.structure };
    let codec = Codec::new(ordered, Level::ADAPTIVE, profile)
        .map_err(|error| TuneError::Training(error.into()))?;
    let [mean] = mean_bytes(&codec, &held_out.map_err(failed)?, lag, |_| 0)?;
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use kinepack::quantize::{IntegerLimits, SmallestThree};
    use kinepack::schema::{Coarser, FieldKind};

    use super::*;

    #[test]
    fn every_order_of_a_few_fields_and_each_as_the_first_of_many() {
        assert_eq!(orders(3).len(), 6);
        assert_eq!((orders(4).len(), orders(1).len()), (24, 1));
        for count in 1..6 {
            let all = orders(count);
            assert_eq!(all[0], (0..count).collect::<Order>());
            for order in &all {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, all[0]);
            }
        }
        assert_eq!(orders(5)[3], [3, 0, 1, 2, 4]);
        assert_eq!(orders(80).len(), MOST_TRIES);
    }

    #[test]
    fn a_field_stays_after_the_one_that_tells_how_coarse_it_is() {
        let bits = FieldKind::Integer(IntegerLimits::new(0, 4, 1).expect("limits"));
        let turn = FieldKind::Rotation(SmallestThree::new(9).expect("bits"));
        let schema = Schema::new(vec![
            Field::new("bits", bits),
            Field::new("is_lit", FieldKind::Bool),
            Field::new("turn", turn).with_coarser(Coarser::new("bits", 2)),
        ]);
        let mut kept = orders(3);
        kept.retain(|order| keeps_selectors_first(&schema, order));
        assert_eq!(kept, [[0, 1, 2], [0, 2, 1], [1, 0, 2]]);
    }
}
