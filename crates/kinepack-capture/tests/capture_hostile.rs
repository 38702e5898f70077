//! Tests of capture files that are cut off, damaged or malicious: each file is read except for the
//! damage, or refused. No file causes an allocation that its data do not fill.

use std::io::Cursor;

use kinepack::Schema;
use kinepack::schema::{Field, FieldKind};
use kinepack_capture::{Capture, CaptureError, Recorder, schema_document};

use crate::driver;
use crate::files::{self, Sink, read_all, record_ships};

/// A `SplitMix64` generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// Makes a file of three chunks.
fn three_chunks() -> Vec<u8> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("chunks", sink.clone()).unwrap();
    let ships = recorder.stream::<files::Ship>("ships", 60.0).unwrap();
    for tick in 0..9 {
        let state = files::ship(tick, 1);
        recorder.record(&ships, kinepack::Tick(tick), [(kinepack::EntityId(1), &state)]).unwrap();
        if tick % 3 == 2 {
            recorder.flush().unwrap();
        }
    }
    recorder.finish().unwrap();
    sink.bytes()
}

/// The fuzzer found this case: `mcap` reserved as much memory as the length of a text declared.
#[test]
fn texts_of_four_billion_bytes_take_no_memory() {
    for (opcode, before) in [(3_u8, 2), (4, 4), (6, 28), (11, 42)] {
        let mut record = vec![0; before];
        record.extend(u32::MAX.to_le_bytes());
        record.extend([0; 20]);
        let mut file = mcap::MAGIC.to_vec();
        file.push(opcode);
        file.extend((record.len() as u64).to_le_bytes());
        file.extend(record);
        let (frames, damage) = read_all(&file);
        assert!(
            frames.is_empty() && damage.unwrap().contains("goes beyond its end"),
            "opcode {opcode}"
        );
    }
}

#[test]
fn a_file_that_ends_at_any_byte_is_read_to_there() {
    let whole = three_chunks();
    let (frames, damage) = read_all(&whole);
    assert_eq!((frames.len(), damage), (9, None));
    let mut before = 0;
    for end in 0..whole.len() {
        if end < 8 {
            let refused = Capture::from_reader("cut", Cursor::new(whole[..end].to_vec()));
            assert!(matches!(refused, Err(CaptureError::NotMcap { .. })));
            continue;
        }
        let (part, damage) = read_all(&whole[..end]);
        assert!(
            part.len() >= before && part.len().is_multiple_of(3) && part == frames[..part.len()]
        );
        assert!(damage.unwrap().contains("the file ends here"), "at {end}");
        before = part.len();
    }
    assert_eq!(before, 9);
    let (part, damage) = read_all(&[&whole[..], b"more"].concat());
    assert_eq!(part.len(), 9);
    assert!(damage.unwrap().contains("bytes after end magic"));
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let whole = three_chunks();
    let frames = read_all(&whole).0;
    for at in 8..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        let (part, damage) = read_all(&damaged);
        // A damaged chunk may look like another record, which is skipped. In that case the checksum
        // at the file's end finds the damage.
        assert!(
            part.is_sorted_by(|a, b| a.1 < b.1) && part.iter().all(|frame| frames.contains(frame)),
            "byte {at}"
        );
        // If no damage is found, all frames must have been read.
        assert!(damage.is_some() || part == frames, "byte {at}");
        driver::read(&damaged);
    }
}

#[test]
fn mutations_of_files_and_of_their_records_never_panic() {
    let mut random = Random(1);
    let mut good = driver::capture_corpus();
    good.push([&[0][..], &record_ships(20)].concat());
    for round in 0..12_000 {
        let mut bytes = good[round % good.len()].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(6) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = [0, 1, 4, 5, 0x7F, 0x80, 0xFF][random.below(7)],
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.drain(at..(at + 1 + random.below(20)).min(bytes.len()))),
                4 => {
                    let copy = bytes[at..(at + 1 + random.below(20)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
                // Sets a length far above the real one.
                _ => bytes[at..].iter_mut().take(1 + random.below(4)).for_each(|byte| *byte = 0xFF),
            }
            if bytes.is_empty() {
                break;
            }
        }
        driver::capture(&bytes);
    }
}

/// Returns the reason why a file with these messages is refused.
fn damage(encoding: &str, json: &str, messages: &[&[u8]]) -> String {
    read_all(&driver::file(encoding, json.as_bytes(), messages)).1.unwrap()
}

#[test]
fn inconsistent_schemas_are_refused() {
    let json = driver::schema_json();
    assert!(damage("kinepack-raw", &json, &[]).contains("the file ends here"));
    let hash = json.split('"').nth(7).unwrap();
    for (from, to, reason) in [
        (
            r#""version":1"#,
            r#""version":3"#,
            "the schema is of version 3; the newest that can be read is 2",
        ),
        (r#""version":1"#, r#""version":2"#, "kinds"),
        (
            hash,
            "0123456789abcdef",
            "the schema has the hash \"0123456789abcdef\", but its fields have",
        ),
        (r#""name":"tag""#, r#""name":"tog""#, "the schema has the hash"),
        (r#""step":0.125"#, r#""step":0.1250000000000001"#, "the schema has the hash"),
        (
            r#""step":0.125"#,
            r#""step":0.0"#,
            "field \"height\" of the schema: the precision must be positive",
        ),
        (r#""step":0.125"#, r#""step":1e999"#, "the schema is not a document of the format"),
        (
            r#""max_code":256"#,
            r#""max_code":9"#,
            "field \"height\" of the schema: the largest code",
        ),
        (
            r#""max_code":256"#,
            r#""max_code":257"#,
            "field \"height\" of the schema: the largest code",
        ),
        (r#""component_bits":9"#, r#""component_bits":99"#, "field \"rotation\" of the schema"),
        (r#""min":-5"#, r#""min":-99999999999999999999999"#, "field \"score\" of the schema"),
        (
            r#""kind":"bool""#,
            r#""kind":"tristate""#,
            "field \"is_up\" of the schema: unknown variant `tristate`",
        ),
        (r#""rate_hz":60.0"#, r#""rate_hz":0"#, "0 ticks a second are not within 0.001 to 1000000"),
        (r#""len":2"#, r#""len":300"#, "field \"tag\" of the schema: invalid value"),
        (r#""fields""#, r#""felder""#, "missing field `fields`"),
    ] {
        assert!(json.contains(from), "{from}");
        let refusal = damage("kinepack-raw", &json.replacen(from, to, 1), &[]);
        assert!(refusal.contains(reason), "{refusal}");
        assert!(refusal.contains("stream \"things\": "), "{refusal}");
    }
    let many = r#"{"name":"tag","role":"plain","kind":{"bytes":{"len":255}}},"#.repeat(17);
    let refusal = damage(
        "kinepack-raw",
        &json.replacen("\"fields\":[", &format!("\"fields\":[{many}"), 1),
        &[],
    );
    assert!(refusal.contains("4344 lanes, at most 4096"), "{refusal}");
    let deep = "[".repeat(100_000);
    assert!(damage("kinepack-raw", &deep, &[]).contains("not a document"));
    assert!(damage("kinepack-raw", &" ".repeat(2 << 20), &[]).contains("takes 2097152 bytes"));
    // The reader ignores keys that a later version may add.
    let more = json.replacen("\"version\":1", "\"version\":1,\"colour\":\"red\"", 1);
    assert!(damage("kinepack-raw", &more, &[]).contains("the file ends here"));
}

#[test]
fn inconsistent_messages_are_refused() {
    let json = driver::schema_json();
    let file = &driver::capture_corpus()[4][1..];
    assert!(damage("kinepack-lanes", &json, &[file, file]).contains("the file ends here"));
    let mut above = file.to_vec();
    // The changed byte is the height of the second entity, whose largest code is 256.
    above[11] = 1;
    let refusal = damage("kinepack-lanes", &json, &[&above]);
    assert!(refusal.contains("lane 0 has 263, above its maximum 256"), "{refusal}");
    assert!(damage("kinepack-raw", &json, &[&file[..9]]).contains("stream \"things\": tick 0: "));
    assert!(
        damage("kinepack-raw", &json, &[&[file, b"x"].concat()])
            .contains("1 bytes after the last column")
    );
    // The reader ignores the streams of other programs, whatever they contain.
    assert!(
        damage("json", "{}", &[b"{}"]).contains("is not a document")
            || read_all(&driver::file("json", b"{}", &[])).0.is_empty()
    );

    // The second message of a file with two is appended again, so the ticks do not increase.
    let two = driver::file("kinepack-lanes", json.as_bytes(), &[file, file]);
    let message = &two[two.len() - (9 + 22 + file.len())..];
    let refusal = read_all(&[&two[..], message].concat());
    assert_eq!(refusal.0.len(), 2);
    assert!(refusal.1.unwrap().contains("tick 1: it comes after tick 1"));
}

/// Makes a record of MCAP.
fn record(opcode: u8, parts: &[&[u8]]) -> Vec<u8> {
    let data = parts.concat();
    [&[opcode][..], &(data.len() as u64).to_le_bytes(), &data].concat()
}

fn text(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text].concat()
}

/// Makes a schema record with a document of `count` flags in two kinds.
fn flags(number: u16, name: &[u8], count: usize) -> Vec<u8> {
    let half = |of: usize| (0..count / 2).map(move |nth| format!("{of}{nth}"));
    let kind = |of| half(of).map(|name| Field::new(name, FieldKind::Bool)).collect();
    let schema = Schema::builder().kind_of_fields("a", kind(1)).kind_of_fields("b", kind(2));
    let json = schema_document::to_json(&schema.build().unwrap(), 60.0).unwrap();
    let encoding = text(schema_document::ENCODING.as_bytes());
    record(3, &[&number.to_le_bytes(), &text(name), &encoding, &text(&json)])
}

/// Makes a channel of a schema record.
fn channel(number: u16, schema: u16, name: &[u8]) -> Vec<u8> {
    let numbers = [number.to_le_bytes(), schema.to_le_bytes()].concat();
    record(4, &[&numbers, &text(name), &text(b"kinepack-raw"), &[0; 4]])
}

/// Returns the number of streams of a file with these records, the reasons of its refusals, and the
/// memory that reading it takes.
fn streams_of(records: &[Vec<u8>]) -> (usize, String, u64) {
    let file = [kinepack_capture::container::MAGIC, &records.concat()].concat();
    let (mut streams, mut damage) = (0, String::new());
    let counted = allocation_counter::measure(|| {
        let mut capture = Capture::from_reader("a.mcap", Cursor::new(file)).unwrap();
        while capture.next_frame().unwrap().is_some() {}
        streams = capture.streams().len();
        damage = capture.damage().first().map(ToString::to_string).unwrap_or_default();
    });
    (streams, damage, counted.bytes_max)
}

#[test]
fn streams_of_one_schema_record_share_it() {
    let of = |count: u16| {
        let channels = (0..count).map(|nth| channel(nth, 1, format!("s{nth}").as_bytes()));
        let mut records = vec![flags(1, &[b'n'; 65_535], 4_096)];
        records.extend(channels);
        streams_of(&records)
    };
    let ((one, _, memory_of_one), (all, _, memory)) = (of(1), of(256));
    assert_eq!((one, all), (1, 256));
    assert!(memory < memory_of_one + 256 * 1_024, "{memory} bytes, for one {memory_of_one}");
}

#[test]
fn texts_of_a_schema_are_not_copied_for_each_field_and_channel() {
    let document = |json: &str| {
        let encoding = text(schema_document::ENCODING.as_bytes());
        record(3, &[&1_u16.to_le_bytes(), &text(b"n"), &encoding, &text(json.as_bytes())])
    };
    let of = |json: &str| {
        let channels = (0..100).map(|nth| channel(nth, 1, format!("s{nth}").as_bytes()));
        streams_of(&[vec![document(json)], channels.collect()].concat())
    };
    let fields = [r#"{"name":"f","role":"plain","kind":"bool"}"#; 4_096].join(",");
    let long_kind = format!(
        r#"{{"version":2,"rate_hz":60.0,"hash":"0","kinds":[{{"name":"{}","fields":4096}},{{"name":"b","fields":0}}],"fields":[{fields}]}}"#,
        "n".repeat(800_000)
    );
    let (streams, damage, memory) = of(&long_kind);
    assert!(streams == 0 && damage.contains("too long for so many fields"), "{damage}");
    assert!(memory < 32_000_000, "{memory} bytes");

    let json = driver::schema_json();
    let hash = json.split('"').nth(7).unwrap();
    let (streams, damage, memory) = of(&json.replacen(hash, &"x".repeat(900_000), 1));
    assert!(streams == 0 && damage.contains("the schema has the hash"), "{damage}");
    assert!(damage.len() < 2_000 && memory < 32_000_000, "{memory} bytes");
}

#[test]
fn the_schemas_of_a_file_are_limited_together() {
    let of = |count: u16, lanes| {
        let schemas = (0..count).map(|nth| flags(nth + 1, b"n", lanes));
        let channels = (0..count).map(|nth| channel(nth, nth + 1, format!("s{nth}").as_bytes()));
        streams_of(&schemas.chain(channels).collect::<Vec<_>>())
    };
    let (streams, damage, _) = of(16, 4_096);
    assert!(streams == 16 && !damage.contains("all streams"), "{damage}");
    let (streams, damage, _) = of(17, 4_096);
    assert!(streams == 16 && damage.contains("more than 65536 lanes"), "{damage}");
    // A smaller schema may follow the refused one.
    let (streams, damage, _) = of(256, 256);
    assert!(streams == 256 && !damage.contains("all streams"), "{damage}");
    let wrong = |number: u16| {
        let encoding = text(schema_document::ENCODING.as_bytes());
        record(3, &[&number.to_le_bytes(), &text(b""), &encoding, &text(&[b' '; 1 << 20])])
    };
    let (_, damage, memory) = streams_of(&(1..=40).map(wrong).collect::<Vec<_>>());
    assert!(damage.contains("more than 16777216 bytes"), "{damage}");
    assert!(memory < 24 << 20, "{memory} bytes");
    let long = [b'n'; 65_536];
    for records in [vec![flags(1, &long, 2)], vec![flags(1, b"n", 2), channel(1, 1, &long)]] {
        let (streams, damage, _) = streams_of(&records);
        assert!(streams == 0 && damage.contains("name has 65536 bytes"), "{damage}");
    }
}

#[test]
fn a_recorder_writes_no_more_schemas_than_are_read() {
    let mut recorder = Recorder::to_writer("schemas", Sink::default()).unwrap();
    let lane = |nth| Field::new(format!("{nth}"), FieldKind::Bool);
    let schema = Schema::new((0..4_096).map(lane).collect());
    for nth in 0..16 {
        recorder.stream_of_lanes(&format!("s{nth}"), &schema, 60.0).unwrap();
    }
    let refused = recorder.stream_of_lanes("more", &schema, 60.0).unwrap_err().to_string();
    assert!(refused.contains("more than 65536 lanes"), "{refused}");
    let refused = recorder.stream_of_lanes(&"n".repeat(65_536), &schema, 60.0).unwrap_err();
    assert!(refused.to_string().contains("more than 65535 bytes"));
    recorder.finish().unwrap();
}

#[test]
fn few_bytes_cause_no_large_allocation() {
    let json = driver::schema_json();
    // These frames declare 65,536 entities with constant columns. Each id takes two bytes, so no
    // frame is much larger than its data.
    let lies: [&[u8]; 4] = [
        &[0, 0, 1, 0, 4],
        &[0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0, 0, 1, 0, 2, 0, 0],
    ];
    for lie in lies {
        let file = driver::file("kinepack-raw", json.as_bytes(), &[lie]);
        let counted = allocation_counter::measure(|| assert!(read_all(&file).0.is_empty()));
        assert!(counted.bytes_max < 2_000_000, "{} bytes for {lie:?}", counted.bytes_max);
    }
    // The chunk and the record declare a huge size.
    let good = three_chunks();
    let chunk = good.iter().position(|byte| *byte == 6).unwrap();
    for (at, bytes) in [(chunk + 1, 8), (chunk + 9 + 16, 8), (1 + 8, 8)] {
        for value in [u64::MAX, 60 << 20, 1 << 40] {
            let mut lying = good.clone();
            lying[at..at + bytes].copy_from_slice(&value.to_le_bytes());
            let counted = allocation_counter::measure(|| driver::read(&lying));
            assert!(counted.bytes_max < 2_000_000, "{} bytes for {value}", counted.bytes_max);
        }
    }
}
