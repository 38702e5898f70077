//! A replay as frame transforms of Foxglove's standard schemas, in JSON, and its markers as log
//! lines: an MCAP file for tools that show such files.

use std::io::BufWriter;
use std::path::Path;

use command_kit::output::Output;
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::{Schema, Snapshot, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing};
use kinepack_capture::schema_document::tick_time_ns;
use kinepack_capture::{Columns, kinds};
use kinepack_replay::ReplayReader;
use serde_json::{Value, json};

use super::unpack::for_each;
use super::{KprError, write_error};

/// The bytes of messages in a chunk.
const CHUNK_BYTES: usize = 1 << 20;
/// The frame that all transforms are relative to.
const PARENT: &str = "world";

/// Where the position and the rotation of a kind are.
struct Place {
    name: String,
    schema: Schema,
    position: Option<usize>,
    rotation: Option<usize>,
}

impl Place {
    fn new(name: &str, schema: Schema) -> Self {
        let is_position = |field: &Field| matches!(&field.kind, FieldKind::Floats(axes) if (1..=3).contains(&axes.len()));
        let fields = schema.fields();
        let position = fields
            .iter()
            .position(|field| is_position(field) && field.role == Role::Body)
            .or_else(|| {
                let can = |field: &Field| is_position(field) && field.role != Role::Velocity;
                fields.iter().position(can)
            });
        let rotation = fields.iter().position(|field| matches!(field.kind, FieldKind::Rotation(_)));
        Self { name: name.to_owned(), position, rotation, schema }
    }

    /// The numbers of a field among an entity's components.
    fn numbers<'a>(&self, field: Option<usize>, components: &'a [f64]) -> &'a [f64] {
        let Some(field) = field else { return &[] };
        let count = |field: &Field| match field.kind {
            // An integer of two lanes is one number.
            FieldKind::Integer(_) => 1,
            _ => field.lanes().len(),
        };
        let fields = self.schema.fields();
        let begin: usize = fields[..field].iter().map(count).sum();
        &components[begin..begin + count(&fields[field])]
    }

    /// The transforms of a kind's entities.
    fn transforms(&self, kind: usize, frame: &Snapshot, time: &Value, out: &mut Vec<Value>) {
        let range = frame.of_kind(kind);
        let lanes: Vec<Vec<u64>> = frame
            .lanes_of(kind)
            .map(|lane| frame.lane(lane).iter().map(|value| u64::from(*value)).collect())
            .collect();
        for (row, id) in frame.ids()[range].iter().enumerate() {
            let components = Columns::Lanes(&lanes).components(row, &self.schema);
            let position = self.numbers(self.position, &components);
            let axis = |index: usize| position.get(index).copied().unwrap_or(0.0);
            let rotation = match self.numbers(self.rotation, &components) {
                [x, y, z, w] => [*x, *y, *z, *w],
                _ => [0.0, 0.0, 0.0, 1.0],
            };
            let [x, y, z, w] = rotation;
            out.push(json!({
                "timestamp": time,
                "parent_frame_id": PARENT,
                "child_frame_id": format!("{}/{}", self.name, id.0),
                "translation": { "x": axis(0), "y": axis(1), "z": axis(2) },
                "rotation": { "x": x, "y": y, "z": z, "w": w },
            }));
        }
    }
}

/// A time as Foxglove's schemas have it.
fn time_of(time_ns: u64) -> Value {
    json!({ "sec": time_ns / 1_000_000_000, "nsec": time_ns % 1_000_000_000 })
}

/// The JSON schema of an object.
fn object(title: &str, properties: &Value) -> Vec<u8> {
    json!({ "title": title, "type": "object", "properties": properties }).to_string().into_bytes()
}

fn transforms_schema() -> Vec<u8> {
    let number = || json!({ "type": "number" });
    let integer = || json!({ "type": "integer", "minimum": 0 });
    let of = |properties: Value| json!({ "type": "object", "properties": properties });
    let transform = of(json!({
        "timestamp": of(json!({ "sec": integer(), "nsec": integer() })),
        "parent_frame_id": { "type": "string" },
        "child_frame_id": { "type": "string" },
        "translation": of(json!({ "x": number(), "y": number(), "z": number() })),
        "rotation": of(json!({ "x": number(), "y": number(), "z": number(), "w": number() })),
    }));
    let properties = json!({ "transforms": { "type": "array", "items": transform } });
    object("foxglove.FrameTransforms", &properties)
}

fn log_schema() -> Vec<u8> {
    let integer = || json!({ "type": "integer", "minimum": 0 });
    let text = || json!({ "type": "string" });
    let time = json!({ "sec": integer(), "nsec": integer() });
    let properties = json!({
        "timestamp": { "type": "object", "properties": time },
        "level": integer(),
        "message": text(),
        "name": text(),
        "file": text(),
        "line": integer(),
    });
    object("foxglove.Log", &properties)
}

pub(super) fn write(
    file: &Path,
    out: &Path,
    replay: &mut ReplayReader,
    output: &Output,
) -> Result<u64, KprError> {
    let unwritten = |error| write_error(out, error);
    let schema = replay.schema().clone();
    let names = schema.kinds().iter().map(|kind| match kind.name() {
        "" => replay.name().to_owned(),
        name => name.to_owned(),
    });
    let places: Vec<Place> = names
        .zip(kinds::schemas(&schema))
        .map(|(name, schema)| Place::new(&name, schema))
        .collect();
    if places.iter().all(|place| place.position.is_none() && place.rotation.is_none()) {
        let reason = "its entities have neither a position nor a rotation".to_owned();
        return Err(KprError::CannotUnpack { path: file.to_owned(), reason });
    }
    let library = concat!("kinepack ", env!("CARGO_PKG_VERSION"));
    let writer = BufWriter::new(output.file()?);
    let mut container = Container::new(writer, "", library, Packing::Zstd).map_err(unwritten)?;
    let mut add = |topic, name, schema: &[u8]| {
        container.add_channel(&Channel {
            topic,
            encoding: "json",
            metadata: &[],
            schema_name: name,
            schema_encoding: "jsonschema",
            schema,
        })
    };
    let transforms = add("/transforms", "foxglove.FrameTransforms", &transforms_schema());
    let log = add("/markers", "foxglove.Log", &log_schema());
    let rate_hz = replay.rate_hz();
    let mut markers: Vec<(Tick, String)> =
        replay.markers().iter().map(|marker| (marker.tick, marker.name.clone())).collect();
    markers.sort();
    let mut markers = markers.into_iter().peekable();
    let mut in_chunk = 0;
    let frames = for_each(file, replay, |frame| {
        let mut add = |channel, tick: Tick, value: &Value| {
            let data = value.to_string().into_bytes();
            let time_ns = tick_time_ns(tick, rate_hz);
            container.add_message(&Message { channel, sequence: tick.0, time_ns, data: &data });
            data.len()
        };
        while let Some((tick, name)) = markers.next_if(|(tick, _)| *tick <= frame.tick) {
            let timestamp = time_of(tick_time_ns(tick, rate_hz));
            // 2 is "info".
            let line = json!({
                "timestamp": timestamp, "level": 2, "message": name, "name": "marker",
                "file": "", "line": 0,
            });
            in_chunk += add(log, tick, &line);
        }
        let time = time_of(tick_time_ns(frame.tick, rate_hz));
        let mut list = Vec::with_capacity(frame.len());
        for (kind, place) in places.iter().enumerate() {
            place.transforms(kind, frame, &time, &mut list);
        }
        in_chunk += add(transforms, frame.tick, &json!({ "transforms": list }));
        if in_chunk >= CHUNK_BYTES {
            in_chunk = 0;
            container.end_chunk().map_err(unwritten)?;
        }
        Ok(())
    })?;
    container.finish().map_err(unwritten)?;
    Ok(frames)
}
