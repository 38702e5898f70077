//! Checks the frozen vectors of `spec/vectors/magnitude.txt`.

use kinepack::bits::BitReader;
use kinepack::magnitude::{
    read_any, read_multiples, read_steps, write_any, write_multiples, write_steps,
};

use super::{PRECISIONS, angles, multiples_of, position, written};
use crate::support::{Random, from_hex, hex};

const VECTORS: &str = include_str!("../../../../spec/vectors/magnitude.txt");

/// Makes random vectors of 1 to 4 components, each written in the forms of the file.
fn vector_lines() -> String {
    let mut lines = String::from("# form parameters values bits bytes\n");
    let mut line = |form: String, values: String, (bytes, bits): (Vec<u8>, u64)| {
        lines += &format!("{form} {values} {bits} {}\n", hex(&bytes));
    };
    let mut random = Random::new(16);
    for precision in PRECISIONS {
        for largest in [0.04, 0.3, 5.0, 700.0, 90_000.0, 1e8] {
            let vector: [f32; 3] = core::array::from_fn(|_| random.unit() * largest);
            let out = written(|writer| write_multiples(writer, precision, vector).unwrap());
            line(format!("multiples {}", precision.steps_per_unit()), listed(&vector), out);
        }
    }
    for bits in [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 13, 17, 18, 25, 26, 32, 33] {
        let mut step = || ((random.word() & ((1 << bits) - 1)) as i64 + 1) >> 1;
        let [a, b, c, d] = [step(), -step(), step(), step()];
        line("steps".to_owned(), listed(&[a]), written(|writer| write_steps(writer, [a]).unwrap()));
        line(
            "steps".to_owned(),
            listed(&[c, d]),
            written(|writer| write_steps(writer, [c, d]).unwrap()),
        );
        line(
            "steps".to_owned(),
            listed(&[a, b, c, d]),
            written(|writer| write_steps(writer, [a, b, c, d]).unwrap()),
        );
    }
    for (limits, name) in [(position(), "position"), (angles(), "angles")] {
        for nearness in [1.0, 10.0, 1000.0] {
            let [from, to]: [[f32; 3]; 2] =
                core::array::from_fn(|_| core::array::from_fn(|_| random.unit() * 10.0));
            let value =
                core::array::from_fn(|index| from[index] + (to[index] - from[index]) / nearness);
            let baseline = limits.reconstruct(limits.quantize(from).unwrap());
            let out = written(|writer| write_any(writer, &limits, baseline, value));
            line(format!("{name} {}", listed(&baseline)), listed(&value), out);
        }
    }
    let out =
        written(|writer| write_any(writer, &position(), [0.0; 3], [f32::INFINITY, 1e9, -0.5]));
    line("position 0,0,0".to_owned(), listed(&[f32::INFINITY, 1e9, -0.5]), out);
    lines
}

fn listed(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn numbers<T: std::str::FromStr, const N: usize>(list: &str) -> [T; N]
where
    T::Err: std::fmt::Debug,
{
    let numbers: Vec<T> = list.split(',').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{list} is not {N} numbers"))
}

#[test]
fn every_vector_is_written_and_read() {
    let lines = vector_lines();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{lines}");
    }
    assert!(lines == VECTORS, "the bytes differ from spec/vectors/magnitude.txt");
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [.., values, bits, bytes] = words[..] else { panic!("{line}") };
        let bytes = from_hex(bytes);
        let mut reader = BitReader::new(&bytes);
        match words[0] {
            "multiples" => {
                let precision = PRECISIONS
                    .into_iter()
                    .find(|known| listed(&[known.steps_per_unit()]) == words[1]);
                let precision = precision.unwrap();
                let back: [f32; 3] = read_multiples(&mut reader, precision).unwrap();
                assert_eq!(
                    back[..],
                    multiples_of(precision, &numbers::<f32, 3>(values)).1,
                    "{line}"
                );
            }
            "steps" if !values.contains(',') => {
                assert_eq!(read_steps(&mut reader), Ok(numbers::<i64, 1>(values)));
            }
            "steps" if values.matches(',').count() == 1 => {
                assert_eq!(read_steps(&mut reader), Ok(numbers::<i64, 2>(values)));
            }
            "steps" => assert_eq!(read_steps(&mut reader), Ok(numbers::<i64, 4>(values))),
            name => {
                let limits = if name == "position" { position() } else { angles() };
                let value: [f32; 3] = numbers(values);
                let expected =
                    limits.quantize(value).map_or(value, |codes| limits.reconstruct(codes));
                assert_eq!(
                    read_any(&mut reader, &limits, numbers(words[1])),
                    Ok(expected),
                    "{line}"
                );
            }
        }
        assert_eq!(reader.position_bits().to_string(), bits, "{line}");
        reader.finish().unwrap();
    }
}
