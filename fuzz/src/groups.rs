//! The driver of the target `group`. A reader must refuse any bytes, or read valid views that a
//! writer can write again.

use std::sync::OnceLock;

use kinepack::group::{GroupReader, GroupWriter};
use kinepack::{Codec, Level, Schema, View};

use crate::coding::{Source, schemas};
use crate::support::{assert_valid, frames, profiles};

/// A codec, and a view that both sides may get in advance.
struct Tested {
    codec: Codec,
    given: View,
}

fn of_schema(schema: &Schema) -> impl Iterator<Item = Tested> {
    [Level::TABLE[0], Level::PACKED, Level::ADAPTIVE, Level::LEARNING].into_iter().map(|level| {
        let (_, profile) = profiles(schema).into_iter().next().unwrap();
        let given = View::from(frames(schema, 2, 5, 1).remove(0));
        Tested { codec: Codec::new(schema.clone(), level, profile).unwrap(), given }
    })
}

fn tested() -> &'static [Tested] {
    static TESTED: OnceLock<Vec<Tested>> = OnceLock::new();
    TESTED.get_or_init(|| schemas().iter().flat_map(of_schema).collect())
}

/// The first byte selects a codec, and the second whether a view is given. The rest is an untrusted
/// group.
pub fn group(data: &[u8]) {
    let mut source = Source(data);
    let Tested { codec, given } = &tested()[source.below(tested().len())];
    let given = (source.byte() % 2 == 1).then(|| given.clone());
    let (mut reader, mut bytes) = (GroupReader::new(codec), source.0);
    reader.begin(given.clone());
    let mut views = Vec::new();
    loop {
        let before = (bytes, reader.last().cloned());
        match reader.read(&mut bytes) {
            Ok(Some(view)) => {
                assert_valid(codec.schema(), view);
                views.push(view.clone());
            }
            Ok(None) => break,
            Err(_) => {
                assert!((bytes, reader.last().cloned()) == before, "a refusal changed something");
                break;
            }
        }
    }
    let (mut writer, mut again) = (GroupWriter::new(codec), Vec::new());
    writer.begin(given.clone());
    let written: Vec<View> =
        views.iter().map(|view| writer.write(view, &mut again).unwrap().clone()).collect();
    let (mut reader, mut bytes) = (GroupReader::new(codec), &again[..]);
    reader.begin(given);
    for view in &written {
        assert!(reader.read(&mut bytes) == Ok(Some(view)), "what was written is read");
    }
}

/// For each codec, a group that needs no view, and one that follows the given view.
pub fn group_corpus() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (index, Tested { codec, given }) in tested().iter().enumerate() {
        for is_given in [false, true] {
            let mut file = vec![index as u8, u8::from(is_given)];
            let mut writer = GroupWriter::new(codec);
            writer.begin(is_given.then(|| given.clone()));
            for world in &frames(codec.schema(), 2, 5, 4)[1..] {
                writer.write(world, &mut file).unwrap();
            }
            files.push(file);
        }
    }
    files
}
