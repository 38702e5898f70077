//! Converts the game's events to the events of `kinepack_net`, and back.

use std::error::Error;

use kinepack::training::Training;
use kinepack::{Codec, EncodeError, EntityId, Level, Profile, Snapshot, Tick};
use kinepack_net::{Audience, Event, EventKinds, Hub, NetError};

use crate::kinds::{Happening, Hit, Impact, Taken, event_schema};

/// The number of ticks after which it is no longer useful to send the noise of an impact.
const IMPACT_TICKS: u32 = 12;

/// Returns the kinds of events: untrained, and trained on the events of each tick of earlier runs.
pub(crate) fn kinds(before: &[Vec<Happening>]) -> Result<[EventKinds; 2], Box<dyn Error>> {
    let schema = event_schema()?;
    let mut lists = Vec::new();
    for happened in before.iter().filter(|happened| !happened.is_empty()) {
        let mut list = Snapshot::new(&schema, Tick(0));
        for (id, happening) in (0..).map(EntityId).zip(happened) {
            happening.push_to(id, &mut list)?;
        }
        lists.push(list);
    }
    let untrained = Profile::untrained(&schema);
    let training = Training { passes: 4, ..Training::new(Profile::magnitudes(&schema), None) };
    let trained = training.run_alone(&schema, &lists, |_| ())?;
    let kinds = |profile| -> Result<EventKinds, Box<dyn Error>> {
        let codec = Codec::new(schema.clone(), Level::ADAPTIVE, profile)?;
        Ok(EventKinds::new(&codec).droppable::<Impact>(IMPACT_TICKS)?)
    };
    Ok([kinds(untrained)?, kinds(trained)?])
}

impl Happening {
    pub(crate) fn must_arrive(&self) -> bool {
        !matches!(self, Self::Impact(_))
    }

    pub(crate) fn emit(&self, hub: &mut Hub) -> Result<(), NetError> {
        match self {
            Self::Hit(hit) => hub.emit(hit, Audience::All),
            Self::Taken(taken) => hub.emit(taken, Audience::All),
            Self::Impact(impact) => hub.emit(impact, Audience::All),
        }
    }

    pub(crate) fn of(event: &Event<'_>) -> Result<Self, Box<dyn Error>> {
        if let Some(hit) = event.get::<Hit>()? {
            return Ok(Self::Hit(hit));
        }
        if let Some(taken) = event.get::<Taken>()? {
            return Ok(Self::Taken(taken));
        }
        event.get::<Impact>()?.map(Self::Impact).ok_or_else(|| "an unknown kind of event".into())
    }

    fn push_to(&self, id: EntityId, list: &mut Snapshot) -> Result<(), EncodeError> {
        match self {
            Self::Hit(hit) => list.push(id, hit),
            Self::Taken(taken) => list.push(id, taken),
            Self::Impact(impact) => list.push(id, impact),
        }
    }
}
