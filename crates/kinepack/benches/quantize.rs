//! Times the quantizers: numbers to codes and back, over a plain array of 4,096 seeded values.
//!
//! The real numbers are a position in the cube world (±256 m, 1/512 m) and an angle that wraps. The
//! integers have steps of 1 and of 3, and the rotations have 9 and 15 bits per component.
//!
//! `push/cube` fills and clears a snapshot of 901 cubes with `Snapshot::push`, and `extend/cube`
//! with `Snapshot::extend`. `push-lanes/cube` does the same with lanes that were already quantized.
//! `set/cube` writes the 39 cubes that changed over their states of the previous tick. `read/cube`
//! and `iter/cube` read all cubes.
//!
//! Run it with `cargo bench -p kinepack --bench quantize`.

#![allow(missing_docs)]

mod random;

use std::f64::consts::PI;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use random::Random;

const VALUES: usize = 4096;
/// The number of cubes in a snapshot, and the number that change from one tick to the next.
const CUBES: usize = 901;
const CHANGED: usize = 39;

/// Benchmarks `quantize/<name>` over `values`, and `reconstruct/<name>` over their codes.
fn both_ways<Value: Copy, Code: Copy + Default, Back: Copy + Default>(
    criterion: &mut Criterion,
    name: &str,
    values: &[Value],
    quantize: impl Fn(Value) -> Result<Code, EncodeError>,
    reconstruct: impl Fn(Code) -> Back,
) {
    let mut codes = vec![Code::default(); values.len()];
    let mut run = |values: &[Value]| {
        for (code, value) in codes.iter_mut().zip(values) {
            *code = quantize(*value)?;
        }
        black_box(&codes);
        Ok::<_, EncodeError>(())
    };
    // Runs before the timing, so that there are codes even if only `reconstruct` runs.
    run(values).expect("all values are in range");
    let mut group = criterion.benchmark_group("quantize");
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| run(black_box(values))));
    group.finish();

    let mut backs = vec![Back::default(); codes.len()];
    let mut run = |codes: &[Code]| {
        for (back, code) in backs.iter_mut().zip(codes) {
            *back = reconstruct(*code);
        }
        black_box(&backs);
    };
    let mut group = criterion.benchmark_group("reconstruct");
    group.throughput(Throughput::Elements(codes.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| run(black_box(&codes))));
    group.finish();
}

/// Returns a number from 0 to below 1.
fn ratio(random: &mut Random) -> f64 {
    (random.word() >> 11) as f64 / (1u64 << 53) as f64
}

fn floats(criterion: &mut Criterion) {
    let mut random = Random::seeded(1);
    let position = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).expect("a range");
    let angle = FloatLimits::until_with_bits(-PI, PI, 12).expect("a range").wrapping();
    let values: Vec<f64> = (0..VALUES).map(|_| (ratio(&mut random) - 0.5) * 511.0).collect();
    let limits = black_box(position);
    both_ways(
        criterion,
        "float",
        &values,
        |value| limits.quantize(value),
        |code| limits.reconstruct(code),
    );
    let values: Vec<f64> = (0..VALUES).map(|_| (ratio(&mut random) - 0.5) * 4.0 * PI).collect();
    let limits = black_box(angle);
    both_ways(
        criterion,
        "angle",
        &values,
        |value| limits.quantize(value),
        |code| limits.reconstruct(code),
    );
}

fn integers(criterion: &mut Criterion) {
    let mut random = Random::seeded(2);
    let values: Vec<i32> = (0..VALUES).map(|_| (random.word() % 30_001) as i32 - 10_000).collect();
    for step in [1, 3] {
        let limits = black_box(IntegerLimits::new(-10_000, 20_000, step).expect("a range"));
        let name = format!("integer/step-{step}");
        both_ways(
            criterion,
            &name,
            &values,
            |value| limits.quantize(value),
            |code| limits.reconstruct(code),
        );
    }
}

/// Returns a random unit quaternion.
fn unit(random: &mut Random) -> [f32; 4] {
    let xyzw = [(); 4].map(|()| ratio(random) as f32 * 2.0 - 1.0);
    let length = xyzw.iter().map(|component| component * component).sum::<f32>().sqrt();
    xyzw.map(|component| component / length)
}

fn rotations(criterion: &mut Criterion) {
    let mut random = Random::seeded(3);
    let values: Vec<[f32; 4]> = (0..VALUES).map(|_| unit(&mut random)).collect();
    for bits in [9, 15] {
        let rotation = black_box(SmallestThree::new(bits).expect("2 to 20 bits"));
        let name = format!("smallest-three/{bits}-bits");
        both_ways(
            criterion,
            &name,
            &values,
            |value| rotation.quantize(value),
            |codes| rotation.reconstruct(codes),
        );
    }
}

/// The cube of the articles, which has 8 lanes.
#[derive(Clone, Copy, Pack)]
struct Cube {
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    interacting: bool,
}

fn snapshots(criterion: &mut Criterion) {
    let mut random = Random::seeded(4);
    let mut cube = || Cube {
        position: [-255.0, -255.0, 0.0].map(|min| min + ratio(&mut random) as f32 * 31.0),
        orientation: unit(&mut random),
        interacting: ratio(&mut random) < 0.1,
    };
    let cubes: Vec<Cube> = (0..CUBES).map(|_| cube()).collect();
    let rows: Vec<[u32; Cube::LANES]> = cubes
        .iter()
        .map(|cube| {
            let mut lanes = [0; Cube::LANES];
            cube.quantize(&mut lanes).expect("cubes are within their limits");
            lanes
        })
        .collect();
    let mut snapshot = Snapshot::new(&Schema::of::<Cube>(), Tick(0));
    let fill = |snapshot: &mut Snapshot, cubes: &[Cube]| {
        snapshot.clear(Tick(0));
        (0..).map(EntityId).zip(cubes).try_for_each(|(id, cube)| snapshot.push(id, cube))
    };
    // Fills the snapshot again, so that it has cubes to read even if no other benchmark runs.
    fill(&mut snapshot, &cubes).expect("cubes are within their limits");
    let mut bench = |name: &str, work: &dyn Fn(&mut Snapshot) -> Result<(), EncodeError>| {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(CUBES as u64));
        group.bench_function("cube", |bencher| {
            bencher.iter(|| {
                work(&mut snapshot).expect("cubes are within their limits");
                black_box(&snapshot);
            });
        });
        group.finish();
    };
    bench("push", &|snapshot| fill(snapshot, black_box(&cubes)));
    bench("extend", &|snapshot| {
        snapshot.clear(Tick(0));
        snapshot.extend::<Cube>((0..).map(EntityId).zip(black_box(&cubes)))
    });
    bench("set", &|snapshot| {
        snapshot.tick = Tick(snapshot.tick.0.wrapping_add(1));
        let changed = (0..).zip(black_box(&cubes)).step_by(CUBES / CHANGED);
        { changed }.try_for_each(|(id, cube)| snapshot.set(EntityId(id), cube).map(drop))
    });
    bench("push-lanes", &|snapshot| {
        snapshot.clear(Tick(0));
        (0..)
            .map(EntityId)
            .zip(black_box(&rows))
            .try_for_each(|(id, lanes)| snapshot.push_lanes(id, lanes))
    });
    bench("iter", &|snapshot| {
        snapshot.iter::<Cube>()?.for_each(|cube| _ = black_box(cube));
        Ok(())
    });
    bench("read", &|snapshot| {
        (0..snapshot.len()).try_for_each(|index| {
            snapshot.get_at_index::<Cube>(index).map(|cube| _ = black_box(cube))
        })
    });
}

criterion_group!(benches, floats, integers, rotations, snapshots);
criterion_main!(benches);
