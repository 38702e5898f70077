//! Measures the cost of recording on the recording thread: 100 and 1,000 entities of eight numbers
//! a tick, while another thread writes.
//!
//! Run it with `cargo bench -p kinepack-capture --bench recorder`. The benchmark times only the
//! calls of `record`. Between these calls the writer can catch up, as it does in the 16 ms of a
//! tick.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kinepack::{EntityId, Pack, Tick};
use kinepack_capture::Recorder;

#[derive(Clone, Pack)]
struct Thing {
    #[pack(range = -512.0..=512.0, precision = 0.001)]
    position: [f32; 3],
    #[pack(rotation, bits = 10)]
    rotation: [f32; 4],
    is_active: bool,
}

fn things(count: u32) -> Vec<(EntityId, Thing)> {
    let thing = |id: u32| {
        let n = id as f32;
        let position = [0.37 * n, 100.0 - 0.1 * n, 0.001 * n];
        Thing {
            position,
            rotation: [0.1, 0.2, 0.3 + 0.0001 * n, 0.9],
            is_active: id.is_multiple_of(3),
        }
    };
    (0..count).map(|id| (EntityId(id), thing(id))).collect()
}

/// Returns the total time of `ticks` calls of `record`.
fn record(count: u32, ticks: u64, ticks_until_flush: u64) -> Duration {
    let directory = tempfile::tempdir().expect("a directory");
    let mut recorder = Recorder::create(directory.path().join("bench.mcap")).expect("a file");
    let stream = recorder.stream::<Thing>("things", 60.0).expect("a stream");
    let mut things = things(count);
    let mut taken = Duration::ZERO;
    // The first frames allocate the memory that later frames reuse.
    const WARM_UP: u64 = 64;
    for tick in 0..ticks + WARM_UP {
        for (_, thing) in &mut things {
            thing.position[2] += 0.01;
        }
        let begin = Instant::now();
        let states = things.iter().map(|(id, thing)| (*id, thing));
        recorder.record(black_box(&stream), Tick(tick as u32), states).expect("recorded");
        if tick >= WARM_UP {
            taken += begin.elapsed();
        }
        if tick % ticks_until_flush == 0 {
            recorder.flush().expect("written");
        }
    }
    assert_eq!(recorder.finish().expect("written").waits, 0);
    taken
}

fn recorder(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("record");
    for count in [100, 1000] {
        group.throughput(Throughput::Elements(count.into()));
        group.bench_with_input(BenchmarkId::new("entities", count), &count, |bencher, count| {
            bencher.iter_custom(|ticks| record(*count, ticks, 6));
        });
    }
    group.finish();
}

criterion_group!(benches, recorder);
criterion_main!(benches);
