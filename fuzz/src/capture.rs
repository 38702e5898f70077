//! The drivers of the targets `capture` and `capture_disk`. They take any bytes as a capture file,
//! or as a part of one. Only files on disk are read in the order of their chunks' times.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing, op};
use kinepack_capture::{Capture, schema_document};

/// The maximum number of frames that are read.
const MOST_FRAMES: usize = 64;

/// The first byte selects the meaning of the rest. The rest may be a file, a stream's schema, or a
/// message. A message has raw words or lanes, of one kind of entities or of several. Messages are
/// put into a valid file.
pub fn capture(data: &[u8]) {
    let Some((&pick, data)) = data.split_first() else { return };
    match pick % 6 {
        0 => read(data),
        1 => read(&file("kinepack-raw", data, &[&[0, 0, 0, 0, 1]])),
        2 => read(&file("kinepack-raw", schema_json().as_bytes(), &[data])),
        3 => read(&file("kinepack-lanes", schema_json().as_bytes(), &[data, data])),
        4 => read(&file("kinepack-raw", kinds_json().as_bytes(), &[data])),
        _ => read(&file("kinepack-lanes", kinds_json().as_bytes(), &[data, data])),
    }
}

/// The first byte selects whether the rest is a file, or whether a file is made from it. In the
/// second case, the rest has the number of ticks, the ticks as [`tick_of`] reads them, and edits of
/// three bytes. An edit flips bits of the file.
pub fn capture_disk(data: &[u8]) {
    let Some((&pick, data)) = data.split_first() else { return };
    if pick % 3 == 0 {
        on_disk(data, |path| read_opened(path, data.len()));
        return;
    }
    let Some((&count, data)) = data.split_first() else { return };
    let (ticks, edits) = data.split_at(usize::from(count).min(MOST_FRAMES).min(data.len()));
    let mut file = chunked(ticks, pick % 3 == 1);
    let edits = edits.as_chunks::<3>().0;
    for [low, high, flip] in edits {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % file.len();
        file[at] ^= flip;
    }
    let read = on_disk(&file, |path| read_opened(path, file.len()));
    if edits.is_empty() {
        let distinct: BTreeSet<Tick> = ticks.iter().map(|byte| tick_of(*byte)).collect();
        let repeated = (ticks.len() - distinct.len()) as u64;
        let (read, damaged) = read.unwrap();
        assert!(read.into_iter().eq(distinct) && damaged == repeated);
    }
}

/// Reads `file` as a file that is not on disk.
pub fn read(file: &[u8]) {
    if let Ok(capture) = Capture::from_reader("any", Cursor::new(file.to_vec())) {
        read_all(capture, "any", file.len());
    }
}

/// Opens a file, and reads it by the time of its chunks. Returns its ticks, and the number of
/// damaged places. Returns `None` if the file is not a capture.
fn read_opened(path: &Path, file_bytes: usize) -> Option<(Vec<Tick>, u64)> {
    let capture = Capture::open(path).ok()?;
    Some(read_all(capture, &path.display().to_string(), file_bytes))
}

/// Calls `read` with the path of a file that contains `bytes`.
fn on_disk<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    // The path contains the process and the thread, because tests run on several threads, and
    // fuzzers as several processes.
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(format!("kinepack-fuzz-{process}-{thread:?}.mcap"));
    std::fs::write(&path, bytes).unwrap();
    let result = read(&path);
    std::fs::remove_file(&path).unwrap();
    result
}

/// Reads the capture to its end. The frames must satisfy the specification's guarantees. Returns
/// their ticks, and the number of damaged places.
fn read_all(mut capture: Capture, name: &str, file_bytes: usize) -> (Vec<Tick>, u64) {
    let mut ticks = Vec::new();
    for _ in 0..MOST_FRAMES {
        let Ok(Some((index, frame))) = capture.next_frame() else { break };
        let stream = frame.stream();
        ticks.push(frame.tick());
        let (ids, lanes) = (frame.ids(), stream.schema().lanes());
        let mut sorted: Vec<EntityId> = ids.to_vec();
        sorted.sort_unstable();
        assert!(sorted.is_sorted_by(|a, b| a < b) && ids.len() <= 65_536);
        assert!(index < 256 && lanes.len() <= 4096 && stream.rate_hz().is_finite());
        assert!(frame.columns().len() == lanes.len());
        for (number, kind) in stream.schema().kinds().iter().enumerate() {
            let of_kind = frame.ids_of(number);
            assert!(of_kind.is_sorted());
            for lane in kind.lanes() {
                let (column, max) = (&frame.columns()[lane], u64::from(lanes[lane].max));
                assert!(column.len() == of_kind.len());
                assert!(stream.is_raw() || column.iter().all(|word| *word <= max));
            }
        }
        let mut snapshot = Snapshot::new(stream.schema(), frame.tick());
        match frame.push_into(&mut snapshot) {
            Ok(clamped) => assert!(
                snapshot.ids() == ids && clamped <= ids.len() && (stream.is_raw() || clamped == 0)
            ),
            Err(error) => {
                let error = error.to_string();
                assert!(stream.is_raw() && error.starts_with(&format!("{name}: stream ")));
            }
        }
    }
    let is_within = |at_byte| at_byte <= file_bytes as u64;
    let mut damage = capture.damage().iter();
    assert!(damage.all(|damage| is_within(damage.at_byte) && !damage.reason.is_empty()));
    (ticks, capture.damaged_places())
}

/// Returns a file without chunks, checksums and end. It has one stream of the given schema, whose
/// messages are at ticks from 0.
pub fn file(encoding: &str, schema_json: &[u8], messages: &[&[u8]]) -> Vec<u8> {
    let mut file = b"\x89MCAP0\r\n".to_vec();
    let mut add = |opcode: u8, parts: &[&[u8]]| {
        let data = parts.concat();
        file.push(opcode);
        file.extend((data.len() as u64).to_le_bytes());
        file.extend(data);
    };
    let text = |text: &[u8]| [&(text.len() as u32).to_le_bytes(), text].concat();
    add(1, &[&text(b"kinepack"), &text(b"")]);
    add(3, &[&[1, 0], &text(b"Thing"), &text(b"kinepack-schema-json"), &text(schema_json)]);
    add(4, &[&[0, 0, 1, 0], &text(b"things"), &text(encoding.as_bytes()), &[0; 4]]);
    for (tick, message) in (0u32..).zip(messages) {
        add(5, &[&[0, 0], &tick.to_le_bytes(), &[0; 16], message]);
    }
    file
}

/// Returns the tick in the lower seven bits of `byte`. It is never 0, because a chunk whose times
/// are 0 counts as empty.
fn tick_of(byte: u8) -> Tick {
    Tick(u32::from(byte & 0x7F) + 1)
}

/// Returns a file with a frame for each byte, in this order, without checksums. A byte whose
/// highest bit is set ends a chunk. The summary declares the stream only if `is_declared`.
fn chunked(ticks: &[u8], is_declared: bool) -> Vec<u8> {
    let (mut file, json) = (Vec::new(), kinds_json());
    let mut container = Container::new(&mut file, "kinepack", "", Packing::None).unwrap();
    let channel = container.add_channel(&Channel {
        topic: "things",
        encoding: "kinepack-lanes",
        metadata: &[],
        schema_name: "things",
        schema_encoding: schema_document::ENCODING,
        schema: json.as_bytes(),
    });
    let (_, rate_hz) = schema_document::from_json(json.as_bytes()).unwrap();
    for byte in ticks {
        let tick = tick_of(*byte);
        let time_ns = schema_document::tick_time_ns(tick, rate_hz);
        let data = &kinds_message();
        container.add_message(&Message { channel, sequence: tick.0, time_ns, data });
        if byte & 0x80 != 0 {
            container.end_chunk().unwrap();
        }
    }
    container.finish().unwrap();
    let (mut at, mut is_summary) = (Capture::MAGIC.len(), false);
    while let Some((header, _)) = file[at..].split_first_chunk::<9>() {
        let ([opcode, length @ ..], data) = (*header, at + 9);
        match opcode {
            op::CHUNK => file[data + 24..data + 28].fill(0),
            op::DATA_END => {
                file[data..data + 4].fill(0);
                is_summary = true;
            }
            op::FOOTER => file[data + 16..data + 20].fill(0),
            // This opcode is that of a record that readers ignore.
            op::SCHEMA | op::CHANNEL if is_summary && !is_declared => file[at] = 0x70,
            _ => {}
        }
        at = data + u64::from_le_bytes(length) as usize;
    }
    file
}

fn schema() -> Schema {
    let height = FloatLimits::new(0.0, 32.0, 0.125).unwrap();
    Schema::new(vec![
        Field::new("height", FieldKind::Floats(vec![height])),
        Field::new("rotation", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("score", FieldKind::Integer(IntegerLimits::new(-5, 1 << 40, 1).unwrap())),
        Field::new("is_up", FieldKind::Bool),
        Field::new("tag", FieldKind::Bytes { len: 2 }),
    ])
}

/// Returns the document of the messages' schema. It has a height, a rotation, an integer of two
/// lanes, a flag, and two bytes.
pub fn schema_json() -> String {
    format!(
        concat!(
            r#"{{"version":1,"rate_hz":60.0,"hash":"{:016x}","fields":["#,
            r#"{{"name":"height","role":"plain","kind":{{"floats":[{{"min":0.0,"max":32.0,"highest":32.0,"step":0.125,"#,
            r#""max_code":256,"wraps":false,"single":false}}]}}}},"#,
            r#"{{"name":"rotation","role":"plain","kind":{{"rotation":{{"component_bits":9}}}}}},"#,
            r#"{{"name":"score","role":"plain","kind":{{"integer":{{"min":-5,"max":1099511627776,"step":1}}}}}},"#,
            r#"{{"name":"is_up","role":"plain","kind":"bool"}},"#,
            r#"{{"name":"tag","role":"plain","kind":{{"bytes":{{"len":2}}}}}}]}}"#
        ),
        schema().hash()
    )
}

fn kinds() -> Schema {
    let small = Field::new("small", FieldKind::Choice { max: 200 }).with_spawn();
    Schema::builder()
        .kind_of_fields("lamp", vec![Field::new("is_lit", FieldKind::Bool)])
        .kind_of_fields("wall", vec![])
        .kind_of_fields("box", vec![small, Field::new("tag", FieldKind::Raw { lanes: 1 })])
        .build()
        .unwrap()
}

/// Returns the document of three kinds. The first has a flag, the second nothing, and the third a
/// small number and 32 bits.
pub fn kinds_json() -> String {
    format!(
        concat!(
            r#"{{"version":2,"rate_hz":30.0,"hash":"{:016x}","kinds":["#,
            r#"{{"name":"lamp","fields":1}},{{"name":"wall","fields":0}},{{"name":"box","fields":2}}],"fields":["#,
            r#"{{"name":"is_lit","role":"plain","kind":"bool"}},"#,
            r#"{{"name":"small","role":"plain","kind":{{"choice":{{"max":200}}}},"spawn":true}},"#,
            r#"{{"name":"tag","role":"plain","kind":{{"raw":{{"lanes":1}}}}}}]}}"#
        ),
        kinds().hash()
    )
}

/// Returns a message of [`kinds_json`] with two lamps, a wall and three boxes.
pub fn kinds_message() -> Vec<u8> {
    [
        &[2, 0, 0, 0, 1, 4, 9, 1, 0, 1][..],
        &[1, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0],
        &[3, 0, 0, 0, 1, 1, 2, 7, 1, 8, 9, 200, 2, 0, 0, 0, 1, 255, 255],
    ]
    .concat()
}

/// Files for each value of the first byte.
pub fn capture_corpus() -> Vec<Vec<u8>> {
    let constant = |word: u64| [&[0][..], &word.to_le_bytes()].concat();
    // The message has two entities. Their heights are lanes of a `u8`, and the rotation and the
    // rest are constant.
    let lanes = [&[2, 0, 0, 0, 1, 4, 9, 2, 0, 1, 7, 0][..], &[0, 0, 0, 0, 0, 0, 0, 0, 0].repeat(9)]
        .concat();
    let number = |number: f64| constant(number.to_bits());
    let raw = [
        &[2, 0, 0, 0, 1, 4, 9, 5, 0, 0, 0x80, 0x3F, 0, 0, 0, 0x40][..],
        &[number(0.0), number(0.0), number(0.6), number(0.8)].concat(),
        &[constant(u64::MAX), constant(0), constant(1), constant(7), constant(255)].concat(),
    ]
    .concat();
    let json = schema_json();
    vec![
        [&[0][..], &file("kinepack-lanes", json.as_bytes(), &[&lanes, &lanes])].concat(),
        [&[0][..], &file("kinepack-raw", json.as_bytes(), &[&raw])].concat(),
        [&[1][..], json.as_bytes()].concat(),
        [&[2][..], &raw].concat(),
        [&[3][..], &lanes].concat(),
        [&[0][..], &file("other", b"", &[b"whatever"])].concat(),
        [&[1][..], kinds_json().as_bytes()].concat(),
        [&[4][..], &kinds_message()].concat(),
        [&[5][..], &kinds_message()].concat(),
    ]
}

/// Files whose chunks overlap in time. Some are whole, some are given by their ticks, and some are
/// damaged.
pub fn capture_disk_corpus() -> Vec<Vec<u8>> {
    const END: u8 = 0x80;
    // The file has three chunks. The last one has the earliest ticks, and tick 5 occurs twice.
    let ticks = [7, 4, 9 | END, 8, 4, 5 | END, 1, 3, 2 | END];
    let with = |pick: u8, edits: &[u8]| [&[pick, ticks.len() as u8][..], &ticks, edits].concat();
    vec![
        [&[0][..], &chunked(&ticks[..6], true)].concat(),
        with(1, &[]),
        with(2, &[]),
        // These edits damage the end time of the first chunk, and its declaration of the stream.
        with(1, &[55, 0, 0xFF]),
        with(2, &[120, 0, 0x40]),
    ]
}
