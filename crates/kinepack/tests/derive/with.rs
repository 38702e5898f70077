//! Fields that another type packs, by its own rule or as bytes.

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind, LaneArithmetic, PackWith};
use kinepack::{Bytes, BytesUpTo, EncodeError, Pack, Schema};

use super::{bits, names};
use crate::states::{error, lanes, round_trip};

/// A time in milliseconds that is sent as whole seconds. The type does not implement `Pack`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Millis(u32);

struct Seconds;

impl PackWith<Millis> for Seconds {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Integer(IntegerLimits::new(0, 59, 1).unwrap())));
    }

    fn quantize(value: &Millis, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = value.0 / 1000;
        if lanes[0] < 60 {
            Ok(())
        } else {
            Err(EncodeError::OutOfRange { id: None, field: "", value: f64::from(value.0) })
        }
    }

    fn reconstruct(lanes: &[u32]) -> Millis {
        Millis(lanes[0] * 1000)
    }
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Timed {
    before: bool,
    #[pack(skip)]
    name: String,
    #[pack(with = Seconds)]
    time: Millis,
    after: u8,
    #[pack(skip)]
    last: Option<Millis>,
}

#[test]
fn skip_and_with() {
    let state = Timed {
        before: true,
        name: "x".into(),
        time: Millis(7999),
        after: 3,
        last: Some(Millis(1)),
    };
    assert_eq!(lanes(&state), [1, 7, 3]);
    assert_eq!(names::<Timed>(), ["before", "time", "after"]);
    assert_eq!(bits::<Timed>(), [1, 6, 8]);
    assert_eq!(
        round_trip(&state),
        Timed { name: String::new(), time: Millis(7000), last: None, ..state.clone() }
    );
    let late = Timed { time: Millis(60_000), ..state };
    assert_eq!(error(&late), EncodeError::OutOfRange { id: None, field: "time", value: 60_000.0 });
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Call {
    #[pack(with = Bytes)]
    key: [u8; 3],
    #[pack(with = BytesUpTo<6>)]
    arguments: Vec<u8>,
    #[pack(with = BytesUpTo<0>)]
    nothing: Vec<u8>,
}

#[test]
fn bytes_are_one_field() {
    use FieldKind::{Bytes, Integer};
    let up_to = |max| Integer(IntegerLimits::new(0, max, 1).unwrap());
    let kinds: Vec<FieldKind> =
        Schema::of::<Call>().fields().iter().map(|field| field.kind.clone()).collect();
    assert_eq!(kinds, [Bytes { len: 3 }, up_to(6), Bytes { len: 6 }, up_to(0), Bytes { len: 0 }]);
    assert_eq!(names::<Call>(), ["key", "arguments.len", "arguments", "nothing.len", "nothing"]);
    assert_eq!(bits::<Call>(), [8, 8, 8, 3, 8, 8, 8, 8, 8, 8, 0]);
    assert!(
        Schema::of::<Call>().lanes()[..3]
            .iter()
            .all(|lane| lane.arithmetic == LaneArithmetic::Cyclic)
    );

    let call =
        |len: u8| Call { key: [0, 200, 255], arguments: (1..=len).collect(), nothing: Vec::new() };
    for len in 0..=6 {
        assert_eq!(round_trip(&call(len)), call(len));
    }
    // Zeros follow the last byte, whatever the lanes held before.
    let mut codes = [9; Call::LANES];
    call(2).quantize(&mut codes).unwrap();
    assert_eq!(codes, [0, 200, 255, 2, 1, 2, 0, 0, 0, 0, 0]);
    assert_eq!(
        error(&call(7)),
        EncodeError::OutOfRange { id: None, field: "arguments", value: 7.0 }
    );
    let something = Call { nothing: vec![0], ..call(1) };
    assert_eq!(
        error(&something),
        EncodeError::OutOfRange { id: None, field: "nothing", value: 1.0 }
    );
    // Any lanes give a value.
    let any = Call::reconstruct(&[u32::MAX; Call::LANES]);
    assert_eq!(any, Call { key: [255; 3], arguments: vec![255; 6], nothing: Vec::new() });
    assert_eq!(Call::reconstruct(&[0x1FF; Call::LANES]).arguments, [255; 6]);
}
