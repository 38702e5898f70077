//! Tests of lists and texts of a bounded length.

use kinepack::schema::FieldKind;
use kinepack::{ArrayString, ArrayVec, Pack, Schema};

use super::variants::Spell;
use super::{ALWAYS, at, between, bits, expected, lanes, round_trip, summary};
use crate::runner::for_all;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Bag {
    items: ArrayVec<Option<Spell>, 3>,
    name: ArrayString<10>,
    last: u8,
}

#[test]
fn a_list_is_a_length_and_elements_that_depend_on_it() {
    #[rustfmt::skip]
    assert_eq!(summary::<Bag>(), expected(&[
        ("items.len", "", ALWAYS),
        ("items[0]?", "items.len", 1..=3), ("items[0]", "items[0]?", 1..=1), ("items[0].Fire.0", "items[0]", 0..=0),
        ("items[1]?", "items.len", 2..=3), ("items[1]", "items[1]?", 1..=1), ("items[1].Fire.0", "items[1]", 0..=0),
        ("items[2]?", "items.len", 3..=3), ("items[2]", "items[2]?", 1..=1), ("items[2].Fire.0", "items[2]", 0..=0),
        ("name.len", "", ALWAYS),
        ("name[0]", "name.len", 1..=10), ("name[4]", "name.len", 5..=10), ("name[8]", "name.len", 9..=10),
        ("last", "", ALWAYS),
    ]));
    let schema = Schema::of::<Bag>();
    assert_eq!(schema.fields()[12].kind, FieldKind::Bytes { len: 4 });
    assert_eq!(schema.fields()[13].kind, FieldKind::Bytes { len: 2 });
    assert_eq!(bits::<Bag>()[..5], [2, 1, 1, 8, 1]);
    let bag = |items: &[Option<Spell>], name: &str| Bag {
        items: items.iter().cloned().collect(),
        name: ArrayString::from(name).unwrap(),
        last: 9,
    };
    for len in 0..=3 {
        let items = [Some(Spell::Fire(1)), None, Some(Spell::Ice)];
        for name in ["", "a", "abcd", "héé", "äöüßé", "0123456789"] {
            let bag = bag(&items[..len], name);
            assert_eq!(round_trip(&bag), bag);
        }
    }
    #[rustfmt::skip]
    assert_eq!(lanes(&bag(&[Some(Spell::Fire(8))], "é")), [
        1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0xC3, 0xA9, 0, 0, 0, 0, 0, 0, 0, 0, 9,
    ]);
    // The elements have no lanes.
    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Unit;
    assert_eq!(bits::<ArrayVec<Unit, 3>>(), [2]);
    let units: ArrayVec<Unit, 3> = [Unit, Unit].into_iter().collect();
    assert_eq!(round_trip(&units), units);
}

#[test]
fn elements_that_both_lists_have_are_interpolated() {
    type List = ArrayVec<f32, 4>;
    let list = |values: &[f32]| List::try_from(values).unwrap();
    let (short, long) = (list(&[0.0, 4.0]), list(&[1.0, 2.0, 3.0]));
    assert_eq!(between(&short, &long, 0.5), list(&[0.5, 3.0]));
    assert_eq!(between(&long, &short, 0.5), list(&[0.5, 3.0, 3.0]));
    assert_eq!(between(&short, &long, 1.0), long);
    assert_eq!(between(&long, &short, 1.0), short);
    assert_eq!(between(&list(&[]), &long, 0.9), list(&[]));
    let any = List::reconstruct(&[u32::MAX; List::LANES]);
    assert_eq!(any.len(), 4, "a length above the capacity counts as the capacity");
    assert_eq!(List::interpolate(&[u32::MAX; 5], &[0; 5], at(0.5)).len(), 4);
}

#[test]
fn any_lanes_give_a_text() {
    type Text = ArrayString<6>;
    let text = |lanes: [u32; 7]| Text::reconstruct(&lanes).to_string();
    assert_eq!(text([2, 0x68, 0x69, 0, 0, 0, 0]), "hi");
    assert_eq!(text([1, 0x68, 0x69, 0, 0, 0, 0]), "h");
    assert_eq!(text([99, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66]), "abcdef");
    assert_eq!(
        text([6, 0x61, 0xC3, 0xA9, 0xE2, 0x82, 0x62]),
        "aé",
        "the first invalid byte ends it"
    );
    assert_eq!(text([2, 0x61, 0xC3, 0xA9, 0, 0, 0]), "a", "a character that the length cuts");
    assert_eq!(text([u32::MAX; 7]), "");
    assert_eq!(between(&Text::from("abc").unwrap(), &Text::new(), 0.9).as_str(), "abc");
    assert_eq!(between(&Text::from("abc").unwrap(), &Text::new(), 1.0).as_str(), "");
    for_all(2000, proptest::collection::vec(0u32..300, 7), |lanes| {
        let text = Text::reconstruct(&lanes);
        let bytes: Vec<u8> =
            lanes[1..].iter().take(lanes[0] as usize).map(|lane| *lane as u8).collect();
        assert!(bytes.starts_with(text.as_bytes()));
        let rest = &bytes[text.len()..];
        let next = (1..=rest.len().min(4)).find(|len| core::str::from_utf8(&rest[..*len]).is_ok());
        assert_eq!(next, None, "the text ends before a character: {bytes:?}");
        assert_eq!(round_trip(&text), text);
    });
    for_all(2000, "\\PC{0,6}", |string| {
        let Ok(text) = Text::from(&string) else { return };
        assert_eq!(round_trip(&text), text);
    });
}

#[test]
fn long_lists_and_texts_have_lengths_of_more_bits() {
    assert_eq!(bits::<ArrayVec<bool, 300>>()[0], 9);
    assert_eq!(<ArrayString<1000> as Pack>::LANES, 1001);
    let long = ArrayString::<1000>::from(&"é".repeat(500)).unwrap();
    assert_eq!(round_trip(&long), long);
}
