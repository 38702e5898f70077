//! Writes a replay as an MCAP file for tools that show such files. The file contains frame
//! transforms of Foxglove's standard schemas in JSON, and the markers as log lines.

use std::io::BufWriter;
use std::path::Path;

use command_kit::bodies::{Bodies, Pose};
use command_kit::output::Output;
use kinepack::{Between, EncodeError, Snapshot, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing};
use kinepack_capture::schema_document::tick_time_ns;
use kinepack_replay::ReplayReader;
use serde_json::{Value, json};

use super::unpack::for_each;
use super::{KpzError, write_error};

/// A chunk ends once its messages have this number of bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// The name of the frame to which all transforms are relative.
const PARENT: &str = "world";

/// Returns the transforms of all entities of a state.
fn transforms_of(
    bodies: &mut Bodies,
    world: &str,
    frame: &Snapshot,
    time: &Value,
) -> Result<Vec<Value>, EncodeError> {
    let at = Between { ratio: 0.0, seconds: 0.0 };
    let mut list = Vec::with_capacity(frame.len());
    for (index, (kind, id)) in frame.entities().enumerate() {
        let kind = &mut bodies.kinds[kind];
        let Pose { position: [px, py, pz], rotation: [x, y, z, w], .. } =
            kind.pose((frame, index), (frame, index), at)?;
        let name = if kind.name.is_empty() { world } else { &kind.name };
        list.push(json!({
            "timestamp": time,
            "parent_frame_id": PARENT,
            "child_frame_id": format!("{name}/{}", id.0),
            "translation": { "x": px, "y": py, "z": pz },
            "rotation": { "x": x, "y": y, "z": z, "w": w },
        }));
    }
    Ok(list)
}

/// Returns a time in the form of Foxglove's schemas.
fn time_of(time_ns: u64) -> Value {
    json!({ "sec": time_ns / 1_000_000_000, "nsec": time_ns % 1_000_000_000 })
}

/// Returns the JSON schema of an object.
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
) -> Result<u64, KpzError> {
    let unwritten = |error| write_error(out, error);
    let schema = replay.schema().clone();
    let (mut bodies, world) = (Bodies::new(&schema), replay.name().to_owned());
    if bodies.is_empty() {
        let reason = "its entities have neither a position nor a rotation".to_owned();
        return Err(KpzError::CannotUnpack { path: file.to_owned(), reason });
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
            // Level 2 is "info".
            let line = json!({
                "timestamp": timestamp, "level": 2, "message": name, "name": "marker",
                "file": "", "line": 0,
            });
            in_chunk += add(log, tick, &line);
        }
        let time = time_of(tick_time_ns(frame.tick, rate_hz));
        let list = transforms_of(&mut bodies, &world, frame, &time).map_err(|error| {
            KpzError::CannotUnpack { path: file.to_owned(), reason: error.to_string() }
        })?;
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
