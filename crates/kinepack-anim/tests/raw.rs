//! Tests curves and markers of raw clips.

#![cfg(feature = "raw")]

use std::sync::Arc;

use kinepack_anim::{
    Curve, Joint, MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES, Marker, RawClip, RawClipError, Skeleton,
    Transform, additive,
};

/// Returns a clip of five samples at 4 Hz, which last one second.
fn still() -> RawClip {
    let joint = Joint { name: "a".into(), parent: None, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![joint]).unwrap());
    RawClip::new("still", skeleton, 4.0, vec![Transform::IDENTITY; 5]).unwrap()
}

fn curve(name: &str, values: [f32; 5]) -> Curve {
    Curve { name: name.to_owned(), precision: 0.01, values: values.to_vec() }
}

fn marker(name: &str, time_s: f32) -> Marker {
    Marker { name: name.to_owned(), time_s }
}

const RAMP: [f32; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

#[test]
fn curves_and_markers_survive_every_change() {
    let clip = still().with_curves(vec![curve("b", RAMP), curve("a", [1.0; 5])]).unwrap();
    let clip = clip.with_markers(vec![marker("late", 0.9), marker("early", 0.1)]).unwrap();
    let clip = clip.with_name("other");
    assert_eq!(clip.curves(), [curve("b", RAMP), curve("a", [1.0; 5])]);
    assert_eq!(clip.markers(), [marker("early", 0.1), marker("late", 0.9)]);
    let half = clip.decimated(2);
    assert_eq!(half.curves()[0].values, [0.0, 2.0, 4.0]);
    assert_eq!(half.markers(), clip.markers());
    // Only samples 0 and 3 remain, so the clip ends at 0.75 s.
    let third = clip.decimated(3);
    assert_eq!(third.curves()[0].values, [0.0, 3.0]);
    assert_eq!(third.markers(), [marker("early", 0.1), marker("late", 0.75)]);
}

#[test]
fn markers_are_sorted_and_end_with_the_clip() {
    let given = [marker("b", 1.0), marker("z", 0.5), marker("a", 0.5), marker("end", 1.12)];
    let clip = still().with_markers(given.to_vec()).unwrap();
    let sorted = [marker("z", 0.5), marker("a", 0.5), marker("b", 1.0), marker("end", 1.0)];
    assert_eq!(clip.markers(), sorted);
    for time_s in [-0.001, 1.13, f32::NAN, f32::INFINITY] {
        let error = still().with_markers(vec![marker("a", 0.0), marker("b", time_s)]).unwrap_err();
        assert!(matches!(error, RawClipError::BadMarkerTime { marker: 1, .. }), "{error}");
        assert!(error.to_string().ends_with("it must be within the clip's 1 s"), "{error}");
    }
    let many = vec![marker("a", 0.0); MAX_MARKERS + 1];
    let error = still().with_markers(many[1..].to_vec()).and_then(|_| still().with_markers(many));
    assert_eq!(error, Err(RawClipError::TooManyMarkers { markers: MAX_MARKERS + 1 }));
    let long = marker(&"n".repeat(MAX_NAME_BYTES + 1), 0.0);
    let error = still().with_markers(vec![long]).unwrap_err();
    assert_eq!(error, RawClipError::LongName { bytes: MAX_NAME_BYTES + 1 });
}

#[test]
fn curves_that_do_not_fit_are_refused() {
    let refused =
        |curve: Curve| still().with_curves(vec![self::curve("ok", RAMP), curve]).unwrap_err();
    assert_eq!(refused(curve("ok", RAMP)), RawClipError::SameCurve { curve: 1 });
    let mut short = curve("a", RAMP);
    short.values.pop();
    assert_eq!(refused(short), RawClipError::WrongCurve { curve: 1, values: 4, samples: 5 });
    for precision in [0.0, -1.0, f32::INFINITY, f32::NAN] {
        let error = refused(Curve { precision, ..curve("a", RAMP) });
        assert!(matches!(error, RawClipError::BadPrecision { curve: 1, .. }), "{error}");
    }
    for value in [f32::NAN, f32::NEG_INFINITY] {
        let error = refused(curve("a", [0.0, 0.0, value, 0.0, 0.0]));
        assert_eq!(error, RawClipError::BadValue { curve: 1, sample: 2 });
    }
    let long = "n".repeat(MAX_NAME_BYTES + 1);
    assert!(matches!(refused(curve(&long, RAMP)), RawClipError::LongName { .. }));
    assert!(still().with_curves(vec![curve(&long[1..], RAMP)]).is_ok());
    let many: Vec<Curve> = (0..=MAX_CURVES).map(|n| curve(&n.to_string(), RAMP)).collect();
    assert!(still().with_curves(many[1..].to_vec()).is_ok());
    let error = still().with_curves(many).unwrap_err();
    assert_eq!(error, RawClipError::TooManyCurves { curves: MAX_CURVES + 1 });
}

#[test]
fn additive_clips_have_the_difference_of_curves() {
    let with = |curves: &[Curve]| still().with_curves(curves.to_vec()).unwrap();
    let raw = with(&[curve("both", RAMP), curve("own", RAMP)]);
    let raw = raw.with_markers(vec![marker("step", 0.5)]).unwrap();
    let base = with(&[curve("base", RAMP), curve("both", [1.0, 1.0, 0.0, 0.0, 0.0])]);
    let delta = additive::difference(&raw, &base).unwrap();
    let expected = [curve("both", [-1.0, 0.0, 2.0, 3.0, 4.0]), curve("own", RAMP)];
    assert_eq!(delta.curves(), expected);
    assert_eq!(delta.markers(), raw.markers());
    // A pose has one sample.
    let pose = base.decimated(5);
    let delta = additive::difference(&raw, &pose).unwrap();
    assert_eq!(delta.curves()[0].values, [-1.0, 0.0, 1.0, 2.0, 3.0]);
}
