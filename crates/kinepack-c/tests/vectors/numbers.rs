//! The script commands for numbers and bytes without a schema.

use std::fmt::Write as _;

use kinepack::bits::BitReader;
use kinepack::magnitude::{Precision, read_any, read_multiples};
use kinepack::quantize::{FloatLimits, VectorLimits};

use super::hex::from_hex;
use super::script::lines;

pub(crate) fn write(script: &mut String) {
    for words in lines(vectors!("rle.txt")) {
        let [base, bytes, runs, sparse] = words[..] else { panic!("{words:?}") };
        writeln!(script, "runs {base} {bytes} {runs}").unwrap();
        writeln!(script, "sparse {base} {bytes} {sparse}").unwrap();
    }
    for words in lines(vectors!("magnitude.txt")) {
        let [form, ref parameters @ .., values, bits, bytes] = words[..] else {
            panic!("{words:?}")
        };
        let packet = from_hex(bytes);
        let mut reader = BitReader::new(&packet);
        let (described, read) = match (form, parameters) {
            ("multiples", [steps]) => {
                let precision = match *steps {
                    "1" => Precision::Whole,
                    "10" => Precision::Tenth,
                    "100" => Precision::Hundredth,
                    _ => panic!("{steps}"),
                };
                let read = read_multiples::<3>(&mut reader, precision).unwrap();
                (format!("0 {steps} - -"), listed(read))
            }
            ("steps", []) => ("1 0 - -".to_owned(), values.to_owned()),
            (form @ ("position" | "angles"), [before]) => {
                let axes = if form == "position" { POSITION } else { ANGLES };
                let limits = VectorLimits::new(axes.map(limits));
                let read = read_any(&mut reader, &limits, numbers(before)).unwrap();
                let axes = axes.map(|(min, max, precision, is_cyclic)| {
                    format!("{min}:{max}:{precision}:{}", u8::from(is_cyclic))
                });
                (format!("3 0 {} {before}", axes.join(",")), listed(read))
            }
            _ => panic!("{words:?}"),
        };
        writeln!(script, "magnitude {described} {values} {read} {bits} {bytes}").unwrap();
    }
}

/// The limits of an axis: the least number, the largest number or the end of the circle, the step, and
/// whether the axis is a circle.
type Axis = (f64, f64, f64, bool);

const POSITION: [Axis; 3] =
    [(-100.0, 100.0, 0.1, false), (-10.0, 10.0, 0.01, false), (-100.0, 100.0, 0.1, false)];
const ANGLES: [Axis; 3] = [
    (-90.0, 90.0, 0.5, false),
    (0.0, 360.0, 0.5, true),
    // 16 bits.
    (-180.0, 180.0, 360.0 / 65_536.0, true),
];

fn limits((min, max, precision, is_cyclic): Axis) -> FloatLimits {
    if is_cyclic {
        FloatLimits::until(min, max, precision).unwrap().wrapping()
    } else {
        FloatLimits::new(min, max, precision).unwrap()
    }
}

fn numbers(list: &str) -> [f32; 3] {
    let numbers: Vec<f32> = list.split(',').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn listed(numbers: [f32; 3]) -> String {
    numbers.map(|number| number.to_string()).join(",")
}
