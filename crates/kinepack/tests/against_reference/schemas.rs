//! Schemas for both decoders, with every kind of field.

use crate::reference::{self, Axis, Kind, Time};

pub(super) fn field(name: &'static str, kind: Kind) -> reference::Field {
    reference::Field {
        name,
        role: 0,
        kind,
        time: None,
        velocity_of: None,
        condition: None,
        spawn: false,
        coarser: None,
        frame: None,
    }
}

fn velocity(name: &'static str, kind: Kind) -> reference::Field {
    reference::Field { role: reference::VELOCITY, ..field(name, kind) }
}

fn timed(name: &'static str, kind: Kind, time: Time) -> reference::Field {
    reference::Field { time: Some(time), ..field(name, kind) }
}

/// Returns the same field, which may be coarser by as many bits as the coarseness tells, but at
/// most by `most`.
pub(super) fn coarser(
    coarseness: &'static str,
    most: u8,
    field: reference::Field,
) -> reference::Field {
    reference::Field { coarser: Some((coarseness, most)), ..field }
}

/// Returns the same field, present only if the selector's value is in this range.
pub(super) fn only(
    selector: &'static str,
    values: [u32; 2],
    field: reference::Field,
) -> reference::Field {
    reference::Field { condition: Some((selector, values[0], values[1])), ..field }
}

/// Makes schemas for random snapshots, with every kind of field, all cyclic, and wide integers.
pub(super) fn schemas() -> [Vec<reference::Field>; 6] {
    let axis = Axis::until(-256.0, 256.0, 1.0 / 512.0);
    let speed = Axis::until(-32.0, 32.0, 1.0 / 32.0);
    let things = vec![
        field("position", Kind::Floats(vec![axis, axis, Axis::until(0.0, 32.0, 1.0 / 512.0)])),
        field("orientation", Kind::Rotation { bits: 9 }),
        field("burning", Kind::Bool),
        velocity("velocity", Kind::Floats(vec![speed; 3])),
        velocity("never at rest", Kind::Floats(vec![Axis::until(1.0, 5.0, 0.25), speed])),
        velocity("counted", Kind::Integer { min: -5, max: 5, step: 1 }),
        field("weapon", Kind::Choice { max: 4 }),
        field("alone", Kind::Choice { max: 0 }),
        field("seen", Kind::Integer { min: -10, max: 1000, step: 7 }),
    ];
    let cyclic = vec![
        field("heading", Kind::Floats(vec![Axis::until(0.0, 360.0, 0.5).cyclic()])),
        field(
            "odd",
            Kind::Floats(vec![
                Axis::until(0.0, 7.0, 1.0).cyclic(),
                Axis::until(-8.0, 8.0, 1.0).cyclic(),
            ]),
        ),
        velocity("turning", Kind::Floats(vec![Axis::until(90.0, 450.0, 1.0).cyclic()])),
        field("fine", Kind::Floats(vec![Axis::until(0.0, 1.0, 1.0 / 4_294_967_296.0).cyclic()])),
    ];
    let wide = vec![
        field("flag", Kind::Bool),
        field(
            "clock",
            Kind::Integer { min: i128::from(i64::MIN), max: i128::from(i64::MAX), step: 1 },
        ),
        field("raw", Kind::Raw { lanes: 3 }),
        velocity("patterns", Kind::Raw { lanes: 1 }),
        field("coarse", Kind::Rotation { bits: 2 }),
        field("fine", Kind::Rotation { bits: 20 }),
        field("just two lanes", Kind::Integer { min: 0, max: 1 << 32, step: 1 }),
        field("just one lane", Kind::Integer { min: 0, max: (1 << 32) - 1, step: 1 }),
    ];
    let [short, long] = [(28.0, None), (45.0, Some(20.0))].map(|(ms, max_step)| Time {
        ms,
        ticks_per_s: 10.0,
        max_step,
    });
    let on = |field| reference::Field { frame: Some("ship"), ..field };
    let frame = |name, kind| reference::Field { role: reference::FRAME, ..field(name, kind) };
    let moving = vec![
        on(timed(
            "position",
            Kind::Floats(vec![axis, axis, Axis::until(0.0, 32.0, 1.0 / 512.0)]),
            short,
        )),
        on(timed("orientation", Kind::Rotation { bits: 9 }, short)),
        frame("ship?", Kind::Bool),
        only("ship?", [1, 1], frame("ship", Kind::Integer { min: 0, max: 3, step: 1 })),
        timed("length", Kind::Floats(vec![axis]), long),
        timed("turret", Kind::Rotation { bits: 12 }, Time { max_step: Some(0.1), ..short }),
        timed(
            "unlike",
            Kind::Floats(vec![axis, Axis::until(0.0, 100.0, 1.0)]),
            Time { max_step: Some(3.0), ..short },
        ),
        reference::Field { role: reference::CUT, ..field("jumped", Kind::Bool) },
    ];
    let optional = vec![
        field("burning", Kind::Bool),
        timed("length", Kind::Floats(vec![axis]), long),
        field("weapon?", Kind::Bool),
        only("weapon?", [1, 1], field("weapon", Kind::Choice { max: 2 })),
        only("weapon", [0, 0], field("grip", Kind::Integer { min: 0, max: 1 << 40, step: 1 })),
        only("weapon", [1, 2], velocity("swing", Kind::Floats(vec![speed; 2]))),
        only("weapon", [2, 2], timed("aim", Kind::Rotation { bits: 9 }, short)),
        field("stops", Kind::Integer { min: 0, max: 3, step: 1 }),
        only("stops", [1, 3], timed("stop", Kind::Floats(vec![axis, axis]), short)),
        only("stops", [2, 3], field("stop", Kind::Floats(vec![axis, axis]))),
        only("stops", [3, 3], field("weapon?", Kind::Bool)),
        only("weapon?", [1, 1], field("colour", Kind::Choice { max: 9 })),
    ];
    [things, cyclic, wide, moving, optional, coarse_fields()]
}

/// Makes a schema with fields that may be coarser: with one coarseness for several fields, with two
/// of one name, with one that may be absent, and in fields that may be absent.
pub(super) fn coarse_fields() -> Vec<reference::Field> {
    let axis = Axis::until(-256.0, 256.0, 1.0 / 512.0);
    let speed = Axis::until(-32.0, 32.0, 1.0 / 32.0);
    let up_to = |max| Kind::Integer { min: 0, max, step: 1 };
    vec![
        field("coarser~", up_to(6)),
        coarser("coarser~", 6, field("position", Kind::Floats(vec![axis, axis, speed]))),
        coarser("coarser~", 3, field("orientation", Kind::Rotation { bits: 9 })),
        field("gun?", Kind::Bool),
        only("gun?", [1, 1], coarser("coarser~", 4, field("aim", Kind::Floats(vec![axis])))),
        only("gun?", [1, 1], field("rough", up_to(5))),
        coarser("rough", 5, field("sight", Kind::Rotation { bits: 12 })),
        field("coarser~", up_to(31)),
        coarser("coarser~", 4, velocity("velocity", Kind::Floats(vec![speed; 3]))),
        coarser(
            "coarser~",
            31,
            field("odd", Kind::Floats(vec![Axis::until(0.0, 100.0, 1.0), axis])),
        ),
        field("weapon", Kind::Choice { max: 4 }),
    ]
}
