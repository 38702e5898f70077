//! Tests of captures as other programs write them: with other compressions, other orders, or damage
//! in the middle.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use kinepack::{EntityId, Tick};
use kinepack_capture::{Capture, CaptureError, CaptureLimits, DamageKind, Recorder};
use mcap::records::MessageHeader;
use mcap::{Compression, WriteOptions};

use crate::files::{Ship, Sink, record_ships, ship};

/// Writes the messages of a file again with another compression, and with chunks of about this many
/// bytes. `order` rearranges the numbers of the messages.
fn rewritten(
    file: &[u8],
    compression: Option<Compression>,
    chunk_bytes: u64,
    order: impl FnOnce(&mut Vec<usize>),
) -> Vec<u8> {
    let options = WriteOptions::new().compression(compression).chunk_size(Some(chunk_bytes));
    written(file, options, order)
}

/// Writes the messages of a file again with these options. `order` rearranges the numbers of the
/// messages.
fn written(file: &[u8], options: WriteOptions, order: impl FnOnce(&mut Vec<usize>)) -> Vec<u8> {
    let messages: Vec<_> =
        mcap::MessageStream::new(file).unwrap().collect::<Result<_, _>>().unwrap();
    let mut numbers: Vec<usize> = (0..messages.len()).collect();
    order(&mut numbers);
    let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
    for number in numbers {
        let message = &messages[number];
        let schema = message.channel.schema.as_ref().unwrap();
        let schema = writer.add_schema(&schema.name, &schema.encoding, &schema.data).unwrap();
        let mcap::Channel { topic, message_encoding, metadata, .. } = &*message.channel;
        let channel_id = writer.add_channel(schema, topic, message_encoding, metadata).unwrap();
        let (log_time, publish_time) = (message.log_time, message.publish_time);
        let header =
            MessageHeader { channel_id, sequence: message.sequence, log_time, publish_time };
        writer.write_to_known_channel(&header, &message.data).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

/// Returns the ticks of a capture's frames, its damage, and the number of frames that its summary
/// counts but that were not read.
fn read(mut capture: Capture) -> (Vec<u32>, Vec<String>, Option<u64>) {
    let mut ticks = Vec::new();
    while let Some((_, frame)) = capture.next_frame().unwrap() {
        ticks.push(frame.tick().0);
        let ids: Vec<u32> = frame.ids().iter().map(|id| id.0).collect();
        let tick = frame.tick().0;
        assert_eq!(ids, (0..tick % 7).map(|n| n * n + tick).collect::<Vec<u32>>());
    }
    let damage = capture.damage().iter().map(ToString::to_string).collect();
    (ticks, damage, capture.lost_frames(0))
}

fn in_memory(file: &[u8]) -> Capture {
    Capture::from_reader("any.mcap", Cursor::new(file.to_vec())).unwrap()
}

fn on_disk(file: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("any.mcap");
    std::fs::write(&path, file).unwrap();
    (directory, path)
}

fn opened(file: &[u8]) -> (Vec<u32>, Vec<String>, Option<u64>) {
    let (_directory, path) = on_disk(file);
    read(Capture::open(path).unwrap())
}

const WHOLE: (Vec<String>, Option<u64>) = (Vec::new(), Some(0));

#[test]
fn chunks_of_every_compression_are_read() {
    let ships = record_ships(200);
    for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
        let file = rewritten(&ships, compression, 4_000, |_| ());
        for (ticks, damage, lost) in [read(in_memory(&file)), opened(&file)] {
            assert!(ticks.iter().copied().eq(0..200), "{compression:?}");
            assert_eq!((damage, lost), WHOLE);
        }
    }
}

#[test]
fn a_chunk_of_an_unknown_compression_is_not_called_damaged() {
    let file = rewritten(&record_ships(100), Some(Compression::Lz4), 1 << 20, |_| ());
    let name = file.windows(3).position(|bytes| bytes == b"lz4").unwrap();
    let mut other = file;
    other[name..name + 3].copy_from_slice(b"xyz");
    let mut capture = in_memory(&other);
    assert!(capture.next_frame().unwrap().is_none());
    let damage = &capture.damage()[0];
    assert_eq!(damage.kind, DamageKind::NotSupported);
    let expected = "a chunk is compressed by \"xyz\"; only zstd and lz4 can be read";
    assert_eq!(damage.to_string(), format!("not supported at byte {}: {expected}", damage.at_byte));
    let (_directory, path) = on_disk(&other);
    let mut capture = Capture::open(path).unwrap();
    assert!(capture.next_frame().unwrap().is_none());
    assert_eq!(capture.lost_frames(0), Some(100));
}

#[test]
fn damaged_lz4_is_damage() {
    let file = rewritten(&record_ships(100), Some(Compression::Lz4), 1 << 20, |_| ());
    let chunk = file.windows(3).position(|bytes| bytes == b"lz4").unwrap() + 3 + 8;
    for at in chunk..chunk + 200 {
        let mut damaged = file.clone();
        damaged[at] ^= 0x40;
        let (ticks, damage, _) = read(in_memory(&damaged));
        assert!(ticks.is_empty() && !damage.is_empty(), "byte {at}: {ticks:?}");
    }
}

/// Makes a file of nine frames in three chunks.
fn three_chunks() -> Vec<u8> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("chunks", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    for tick in 0..9 {
        let ids = (0..tick % 7).map(|n| n * n + tick);
        let states = ids.map(|id| (EntityId(id), ship(tick, id)));
        recorder.record(&ships, Tick(tick), states).unwrap();
        if tick % 3 == 2 {
            recorder.flush().unwrap();
        }
    }
    recorder.finish().unwrap();
    sink.bytes()
}

/// Returns the bytes where the chunks of a file begin.
fn chunks(file: &[u8]) -> Vec<usize> {
    let summary = mcap::Summary::read(file).unwrap().unwrap();
    summary.chunk_indexes.iter().map(|chunk| chunk.chunk_start_offset as usize).collect()
}

#[test]
fn the_frames_after_a_damaged_chunk_are_read() {
    let whole = three_chunks();
    let at = chunks(&whole);
    let mut damaged = whole.clone();
    // The changed byte is within the compressed records.
    damaged[at[1] + 70] ^= 1;
    for (ticks, damage, lost) in [read(in_memory(&damaged)), opened(&damaged)] {
        assert_eq!(ticks, [0, 1, 2, 6, 7, 8]);
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert!(damage[0].starts_with(&format!("damaged at byte {}: ", at[1])), "{damage:?}");
        assert_eq!(lost, Some(3));
    }
    // The first chunk declares the stream, but so does the summary.
    let mut damaged = whole.clone();
    damaged[at[0] + 70] ^= 1;
    let (ticks, damage, lost) = opened(&damaged);
    assert_eq!((&ticks[..], damage.len(), lost), (&[3, 4, 5, 6, 7, 8][..], 1, Some(3)));
    // After a chunk with this length, the next record is not found. But the index has the place of
    // the next chunk.
    let mut damaged = whole.clone();
    damaged[at[1] + 4] = 0xFF;
    let (ticks, damage, lost) = opened(&damaged);
    assert_eq!((&ticks[..], damage.len(), lost), (&[0, 1, 2, 6, 7, 8][..], 1, Some(3)));
    let (ticks, damage, _) = read(in_memory(&damaged));
    assert_eq!((ticks, damage.len()), (vec![0, 1, 2], 1));
    // A record with this length would end within the next chunk, which must still be read.
    let mut damaged = whole;
    let length = &mut damaged[at[1] + 1..at[1] + 9];
    let longer = u64::from_le_bytes((&*length).try_into().unwrap()) + (at[2] - at[1]) as u64;
    length.copy_from_slice(&longer.to_le_bytes());
    let (ticks, damage, lost) = opened(&damaged);
    assert_eq!((&ticks[..], damage.len(), lost), (&[0, 1, 2, 6, 7, 8][..], 1, Some(3)));
}

#[test]
fn an_index_of_wrong_places_hides_no_frame() {
    let mut shifted = three_chunks();
    let at = chunks(&shifted);
    // The places in this file's index count from the end of the magic, not from the start of the
    // file.
    for place in &at {
        let bytes = (*place as u64).to_le_bytes();
        let in_index = shifted.windows(8).rposition(|window| window == bytes).unwrap();
        shifted[in_index..in_index + 8].copy_from_slice(&(*place as u64 - 8).to_le_bytes());
    }
    zero_checksums(&mut shifted);
    let (ticks, damage, lost) = opened(&shifted);
    assert!(ticks.iter().copied().eq(0..9), "{ticks:?} {damage:?}");
    assert_eq!((damage, lost), WHOLE);
}

#[test]
fn frames_that_are_missing_without_other_damage_are_noticed() {
    let mut file = three_chunks();
    // The chunk now looks like a record of a later version, and the data have no checksum.
    let at = chunks(&file)[1];
    file[at] = 0x70;
    let end = file.windows(9).rposition(|bytes| bytes == [15, 4, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    file[end + 9..end + 13].fill(0);
    let (ticks, damage, lost) = opened(&file);
    assert_eq!((&ticks[..], lost), (&[0, 1, 2, 6, 7, 8][..], Some(3)));
    assert!(
        damage[0].ends_with("3 of the frames that the file counts are not in it"),
        "{damage:?}"
    );
}

#[test]
fn counts_of_a_damaged_summary_are_not_believed() {
    let whole = three_chunks();
    // The map at the end of the statistics consists of its size in bytes, the channel's number, and
    // 9 messages.
    let is_counts =
        |bytes: &[u8]| bytes[..4] == [10, 0, 0, 0] && bytes[6..] == [9, 0, 0, 0, 0, 0, 0, 0];
    let at = whole.windows(14).rposition(is_counts).unwrap() + 6;
    for (byte, flip) in [(0, 1), (7, 0x80)] {
        let mut damaged = whole.clone();
        damaged[at + byte] ^= flip;
        let (ticks, damage, lost) = opened(&damaged);
        assert!(ticks.iter().copied().eq(0..9));
        assert_eq!(lost, None);
        assert!(damage.len() == 1, "{damage:?}");
        assert!(damage[0].ends_with("the checksum of the summary differs"), "{damage:?}");
        // Without checksums, the reader ignores an impossible number of frames.
        zero_checksums(&mut damaged);
        let (_, damage, lost) = opened(&damaged);
        let believed = if byte == 0 { Some(0) } else { None };
        assert_eq!((damage.len(), lost), (0, believed));
    }
}

#[test]
fn a_chunk_within_a_chunk_is_damage() {
    let one = rewritten(&record_ships(20), None, 1 << 20, |_| ());
    let at = chunks(&one)[0];
    let length = u64::from_le_bytes(one[at + 1..at + 9].try_into().unwrap()) as usize;
    let inner = &one[at..at + 9 + length];
    // The header of a chunk without compression has two timestamps, a size, a checksum, an empty
    // name, and a size.
    let mut outer = one[at + 9..at + 25].to_vec();
    outer.extend((inner.len() as u64).to_le_bytes());
    outer.extend([0; 4]);
    outer.extend([0; 4]);
    outer.extend((inner.len() as u64).to_le_bytes());
    outer.extend(inner);
    let mut file = one[..at].to_vec();
    file.push(6);
    file.extend((outer.len() as u64).to_le_bytes());
    file.extend(outer);
    file.extend(&one[at + 9 + length..]);
    zero_checksums(&mut file);
    let (ticks, damage, _) = read(in_memory(&file));
    assert!(ticks.is_empty());
    assert!(damage[0].ends_with("a chunk holds another chunk"), "{damage:?}");
}

/// Shuffles `numbers`; `state` is the seed.
fn shuffle(numbers: &mut [usize], mut state: u64) {
    for last in (1..numbers.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(last, (state >> 33) as usize % (last + 1));
    }
}

#[test]
fn messages_in_any_order_are_read_by_time() {
    let ships = record_ships(300);
    let read_by_time = |name: &str, file: &[u8]| {
        let (ticks, damage, lost) = opened(file);
        assert!(ticks.iter().copied().eq(0..300), "{name}: {ticks:?}");
        assert_eq!((damage, lost), WHOLE, "{name}");
    };
    let lz4 = Some(Compression::Lz4);
    read_by_time("backwards", &rewritten(&ships, lz4, 4_000, |order| order.reverse()));
    read_by_time("at random", &rewritten(&ships, lz4, 4_000, |order| shuffle(order, 1)));
    read_by_time(
        "nearly in order",
        &rewritten(&ships, lz4, 4_000, |order| {
            order.chunks_mut(10).for_each(|few| shuffle(few, 7));
        }),
    );
    // Without an index, only the messages within each chunk are sorted.
    let one = rewritten(&ships, lz4, 1 << 20, |order| shuffle(order, 3));
    let (ticks, damage, lost) = read(in_memory(&one));
    assert!(ticks.into_iter().eq(0..300) && (damage, lost) == WHOLE);
    let many = rewritten(&ships, lz4, 4_000, |order| order.reverse());
    let (ticks, damage, lost) = read(in_memory(&many));
    assert!(ticks.is_sorted() && ticks.len() < 300);
    assert_eq!(lost, Some(300 - ticks.len() as u64));
    assert!(damage[0].contains("stream \"ships\": tick") && damage[0].contains("it comes after"));
    assert!(damage.len() == 100.min(300 - ticks.len()), "{}", damage.len());
}

#[test]
fn a_late_chunk_that_holds_tick_0_alone_is_read_first() {
    let file = rewritten(&record_ships(20), None, 1, |order| order.rotate_left(1));
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let last = summary.chunk_indexes.iter().max_by_key(|chunk| chunk.chunk_start_offset).unwrap();
    assert_eq!((last.message_start_time, last.message_end_time), (0, 0));
    let (ticks, damage, lost) = opened(&file);
    assert!(ticks.iter().copied().eq(0..20), "{ticks:?} {damage:?}");
    assert_eq!((damage, lost), WHOLE);
}

#[test]
fn a_late_chunk_of_declarations_alone_is_in_order() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("late", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    for tick in 0..6 {
        let ids = (0..tick % 7).map(|n| n * n + tick);
        let states = ids.map(|id| (EntityId(id), ship(tick, id)));
        recorder.record(&ships, Tick(tick), states).unwrap();
        if tick == 2 {
            recorder.flush().unwrap();
            recorder.stream::<bool>("lamps", 60.0).unwrap();
            recorder.flush().unwrap();
        }
    }
    recorder.finish().unwrap();
    let file = sink.bytes();
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let mut ends = summary.chunk_indexes.iter().map(|chunk| chunk.message_end_time);
    assert!(ends.next() > Some(0) && ends.any(|end| end == 0));
    let (ticks, damage, lost) = opened(&file);
    assert_eq!((ticks, damage, lost), ((0..6).collect(), Vec::new(), Some(0)));
}

#[test]
fn the_memory_for_sorting_does_not_grow_with_the_file() {
    let ships = record_ships(10_000);
    let file = rewritten(&ships, None, 20_000, |order| order.reverse());
    let (_directory, path) = on_disk(&file);
    let measured = allocation_counter::measure(|| {
        let mut capture = Capture::open(&path).unwrap();
        while capture.next_frame().unwrap().is_some() {}
        assert!(capture.damage().is_empty());
    });
    assert!(file.len() > 1_000_000, "{}", file.len());
    assert!(measured.bytes_max < 500_000, "{} of {}", measured.bytes_max, file.len());
}

/// Writes a file with the streams "ships", whose schema is refused, and "lamps". `options` must
/// have no compression. `places` is the number of schemas of "ships" in the file.
fn two_streams_of_which_one_is_refused(
    options: WriteOptions,
    order: impl FnOnce(&mut Vec<usize>),
    places: usize,
) -> Vec<u8> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("two", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    let lamps = recorder.stream::<bool>("lamps", 60.0).unwrap();
    for tick in 0..50 {
        recorder.record(&ships, Tick(tick), [(EntityId(1), ship(tick, 1))]).unwrap();
        recorder.record(&lamps, Tick(tick), [(EntityId(1), true)]).unwrap();
    }
    recorder.finish().unwrap();
    let mut file = written(&sink.bytes(), options, order);
    // `text` is a number in the schema's document.
    let text = b"\"component_bits\":11";
    let found: Vec<usize> =
        (0..file.len() - text.len()).filter(|at| file[*at..].starts_with(text)).collect();
    assert_eq!(found.len(), places);
    for at in found {
        file[at + text.len() - 2..at + text.len()].copy_from_slice(b"99");
    }
    zero_checksums(&mut file);
    file
}

#[test]
fn a_refused_stream_is_named_and_the_others_are_read() {
    let plain = || WriteOptions::new().compression(None);
    let overlapping = plain().chunk_size(Some(1_000)).repeat_channels(false).repeat_schemas(false);
    // In the first case the schema is in the data and in the summary. In the second it is only in
    // the data, in a chunk that is not read first.
    for (options, is_reversed, places) in [(plain(), false, 2), (overlapping, true, 1)] {
        let order = |numbers: &mut Vec<usize>| {
            if is_reversed {
                numbers.reverse();
            }
        };
        let file = two_streams_of_which_one_is_refused(options, order, places);
        let (_directory, path) = on_disk(&file);
        let mut capture = Capture::open(path).unwrap();
        let mut lamps = Vec::new();
        while let Some((_, frame)) = capture.next_frame().unwrap() {
            assert_eq!(frame.stream().name(), "lamps");
            lamps.push(frame.tick().0);
        }
        assert!(lamps.iter().copied().eq(0..50), "{lamps:?} {:?}", capture.damage());
        assert_eq!((capture.streams().len(), capture.damage().len()), (1, 1));
        let damage = &capture.damage()[0];
        assert_eq!(damage.stream.as_deref(), Some("ships"));
        assert!(damage.reason.starts_with("field \"rotation\" of the schema: "), "{damage}");
    }
}

/// Returns the bytes where the records with this opcode begin.
fn records(file: &[u8], opcode: u8) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 8;
    while at + 9 < file.len() {
        found.extend((file[at] == opcode).then_some(at));
        at += 9 + u64::from_le_bytes(file[at + 1..at + 9].try_into().unwrap()) as usize;
    }
    found
}

#[test]
fn no_damage_of_chunks_that_overlap_is_silent() {
    let options = WriteOptions::new().compression(None).chunk_size(Some(4_000));
    let options = options.emit_statistics(false);
    let whole = written(&record_ships(300), options, |order| shuffle(order, 5));
    let (ticks, damage, lost) = opened(&whole);
    assert!(ticks.iter().copied().eq(0..300) && damage.is_empty() && lost.is_none());
    let is_noted = |what: &str, file: &[u8], least: usize| {
        let (ticks, damage, _) = opened(file);
        assert!(ticks.len() < 300 && ticks.len() >= least, "{what}: {} frames", ticks.len());
        assert!(!damage.is_empty(), "{what}: {} frames without a word", ticks.len());
    };
    for at in chunks(&whole) {
        // These opcodes are a record of an unknown kind, the end of the data, and a message.
        for opcode in [0x86, 15, 5] {
            let mut file = whole.clone();
            file[at] = opcode;
            is_noted("an opcode", &file, 1);
        }
    }
    // An index of messages that looks like a message does not change how chunks are read.
    let mut file = whole.clone();
    file[records(&whole, 7)[0]] = 5;
    let (ticks, damage, _) = opened(&file);
    assert!(ticks.iter().copied().eq(0..300) && damage.len() == 1, "{damage:?}");
    // Damages the length of a record between two chunks. The index still lists the later chunks.
    let between = records(&whole, 7);
    for length in [0, 1, 1_000_000, 1 << 40, u64::MAX] {
        let mut file = whole.clone();
        let at = between[between.len() / 2];
        file[at + 1..at + 9].copy_from_slice(&u64::to_le_bytes(length));
        let (ticks, damage, _) = opened(&file);
        assert!(ticks.iter().copied().eq(0..300) && !damage.is_empty(), "{length}: {damage:?}");
        // Without an index, the later chunks are lost.
        let mut file = whole.clone();
        for entry in records(&whole, 8) {
            file[entry] = 0x70;
        }
        zero_checksums(&mut file);
        file[at + 1..at + 9].copy_from_slice(&u64::to_le_bytes(length));
        is_noted("a length", &file, 50);
    }
}

/// If a file has checksums, no flipped bit of chunks that overlap loses a frame without a report.
#[test]
fn a_flipped_bit_of_chunks_that_overlap_is_found_wherever_it_is() {
    for has_statistics in [false, true] {
        let options = WriteOptions::new().compression(None).chunk_size(Some(1_000));
        let options = options.emit_statistics(has_statistics);
        let whole = written(&record_ships(40), options, |order| shuffle(order, 5));
        for bit in (0..8 * whole.len()).step_by(97) {
            let mut file = whole.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            let (_directory, path) = on_disk(&file);
            // Only a flipped bit in the magic at the front makes the file another kind of file.
            let Ok(capture) = Capture::open(path) else {
                assert!(bit / 8 < Capture::MAGIC.len(), "bit {bit}");
                continue;
            };
            let (ticks, damage, _) = read(capture);
            assert!(ticks.is_sorted_by(|a, b| a < b), "bit {bit}: {ticks:?}");
            assert!(ticks.len() == 40 || !damage.is_empty(), "bit {bit}: {ticks:?}");
        }
    }
}

#[test]
fn a_summary_that_begins_too_early_hides_no_chunk() {
    let options = WriteOptions::new().compression(None).chunk_size(Some(4_000));
    let mut file = written(&record_ships(300), options, |order| shuffle(order, 5));
    let last = *chunks(&file).last().unwrap();
    let footer = records(&file, 2)[0];
    file[footer + 9..footer + 17].copy_from_slice(&(last as u64).to_le_bytes());
    zero_checksums(&mut file);
    let (ticks, damage, lost) = opened(&file);
    assert!(ticks.iter().copied().eq(0..300), "{} {damage:?}", ticks.len());
    assert_eq!((damage, lost), WHOLE);
}

/// The specification allows a summary without channels, and a later chunk may be read first.
#[test]
fn declarations_of_any_chunk_count_for_all() {
    let options = WriteOptions::new().compression(None).chunk_size(Some(4_000));
    let options = options.repeat_channels(false).repeat_schemas(false);
    let file = written(&record_ships(300), options, |order| order.reverse());
    let (ticks, damage, lost) = opened(&file);
    assert!(ticks.iter().copied().eq(0..300), "{} {damage:?}", ticks.len());
    assert_eq!((damage, lost), WHOLE);
}

#[test]
fn records_of_no_use_are_limited() {
    let one = rewritten(&record_ships(20), None, 1 << 20, |_| ());
    let at = chunks(&one)[0];
    let mut file = one[..at].to_vec();
    // The chunk is not compressed and has no checksum: times, size, checksum, no name, size, then
    // empty records.
    let inner = [0x70, 0, 0, 0, 0, 0, 0, 0, 0].repeat(10_000);
    let mut chunk = vec![0; 16];
    chunk.extend((inner.len() as u64).to_le_bytes());
    chunk.extend([0; 8]);
    chunk.extend((inner.len() as u64).to_le_bytes());
    chunk.extend(inner);
    file.push(6);
    file.extend((chunk.len() as u64).to_le_bytes());
    file.extend(chunk);
    let limits = CaptureLimits { min_values: 10_000, values_per_byte: 0 };
    let mut capture = in_memory(&file).with_limits(limits);
    let refused = capture.next_frame().map(|frame| frame.is_some());
    assert!(matches!(refused, Err(CaptureError::TooManyValues { .. })), "{refused:?}");
}

/// Times beyond the range of the format are all stored as the same value.
#[test]
fn messages_after_the_last_time_are_in_the_order_of_their_ticks() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("slow", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 0.001).unwrap();
    let first = 20_000_000;
    for tick in first..first + 300 {
        let ids = (0..tick % 7).map(|n| n * n + tick);
        let states = ids.map(|id| (EntityId(id), ship(tick, id)));
        recorder.record(&ships, Tick(tick), states).unwrap();
    }
    recorder.finish().unwrap();
    for chunk_bytes in [4_000, 1 << 20] {
        let file = rewritten(&sink.bytes(), None, chunk_bytes, |order| order.reverse());
        let (ticks, damage, lost) = opened(&file);
        assert!(ticks.is_sorted() && !ticks.is_empty());
        if chunk_bytes > 4_000 {
            assert_eq!((ticks.len(), damage, lost), (300, WHOLE.0, WHOLE.1));
        }
    }
}

/// Returns the bytes where the data of the entries of the chunk index begin.
fn index_entries(file: &[u8]) -> Vec<usize> {
    records(file, 8).into_iter().map(|at| at + 9).collect()
}

/// Changes the index of a file with chunks that overlap in time, and that of a file with chunks
/// that do not.
#[test]
fn an_index_that_is_wrong_loses_no_frame_of_chunks_in_any_order() {
    let ships = record_ships(300);
    let overlapping = rewritten(&ships, None, 4_000, |order| shuffle(order, 5));
    let in_order = rewritten(&ships, None, 4_000, |_| ());
    // The data of an entry are the times of the first and last message, then the place.
    let change = |name: &str, entry: &mut [u8]| match name {
        "other places" => entry[16] ^= 4,
        "no times" => entry[..16].fill(0),
        _ => {
            entry[..8].fill(0);
            entry[8..16].fill(0x7F);
        }
    };
    for (order_name, whole) in [("overlapping", overlapping), ("in order", in_order)] {
        for name in ["other places", "no times", "times that overlap"] {
            let mut file = whole.clone();
            for entry in index_entries(&file).into_iter().skip(1) {
                change(name, &mut file[entry..]);
            }
            zero_checksums(&mut file);
            let (ticks, damage, lost) = opened(&file);
            assert!(ticks.iter().copied().eq(0..300), "{order_name}, {name}: {damage:?}");
            assert_eq!((damage, lost), WHOLE, "{order_name}, {name}");
        }
        // The index then lacks some chunks, because their entries are records of another kind.
        let mut file = whole.clone();
        for entry in index_entries(&file).into_iter().skip(1).step_by(2) {
            file[entry - 9] = 0x70;
        }
        zero_checksums(&mut file);
        let (ticks, damage, lost) = opened(&file);
        assert!(ticks.iter().copied().eq(0..300), "{order_name}: {damage:?}");
        assert_eq!((damage, lost), WHOLE, "{order_name}");
    }
}

#[test]
fn a_chunk_that_ends_with_the_next_one_is_damage() {
    let whole = three_chunks();
    let at = chunks(&whole);
    let mut damaged = whole;
    let length = &mut damaged[at[1] + 1..at[1] + 9];
    let longer = u64::from_le_bytes((&*length).try_into().unwrap()) + (at[2] - at[1]) as u64;
    length.copy_from_slice(&longer.to_le_bytes());
    // If a file is read from a pipe, the reader has no index.
    zero_checksums(&mut damaged);
    let (_, damage, _) = read(in_memory(&damaged));
    assert!(damage[0].ends_with(" bytes follow the data of a chunk"), "{damage:?}");
}

/// Removes the checksums of the chunks, the data and the summary.
fn zero_checksums(file: &mut [u8]) {
    let mut at = 8;
    while at + 9 < file.len() {
        let length = u64::from_le_bytes(file[at + 1..at + 9].try_into().unwrap()) as usize;
        let data = at + 9;
        match file[at] {
            6 => file[data + 24..data + 28].fill(0),
            15 => file[data..data + 4].fill(0),
            2 => file[data + 16..data + 20].fill(0),
            _ => {}
        }
        at = data + length;
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_damaged() {
    let (_directory, path) = on_disk(&rewritten(&record_ships(300), None, 4_000, |order| {
        order.reverse();
    }));
    let mut capture = Capture::open(&path).unwrap();
    assert!(capture.next_frame().unwrap().is_some());
    cut(&path, 2_000);
    while capture.next_frame().unwrap().is_some() {}
    assert!(!capture.damage().is_empty());
}

fn cut(path: &Path, bytes: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}
