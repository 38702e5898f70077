//! A tick of 901 cubes, from an array of structs to a packet and a view: by the Rust library, and through
//! the C interface. `cargo bench -p kinepack-c --bench through_c`.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::ffi::CStr;
use std::ptr::null;

use criterion::{Criterion, criterion_group, criterion_main};
use cubes::{Config, Script, Style, World};
use kinepack::{
    Baselines, Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_c::KpStatus;
use kinepack_c::codec::{KpCodec, kp_codec_new};
use kinepack_c::coding::{
    KpEncoder, KpView, kp_encode, kp_encoder_new, kp_view_empty, kp_view_free,
};
use kinepack_c::columns::{KpColumn, KpNumber};
use kinepack_c::schema::{KpSchema, kp_schema_from_bytes};
use kinepack_c::snapshot::{KpSnapshot, kp_snapshot_add, kp_snapshot_clear, kp_snapshot_new};

#[derive(Clone, Pack)]
#[repr(C)]
struct Cube {
    #[pack(body, range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, clamp)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(touched)]
    interacting: bool,
}

/// Ticks of the world, after it has begun to move.
fn ticks(count: usize) -> Vec<Vec<Cube>> {
    let mut world = World::new(&Config { cubes: 900 }).unwrap();
    let mut script = Script::new(Style::Typical, 1);
    let mut step = || {
        let input = script.next_input(&world);
        world.step(input);
        let cube = |(_, body): (_, cubes::Body)| Cube {
            position: body.position,
            orientation: body.orientation,
            interacting: body.interacting,
        };
        world.bodies().map(cube).collect()
    };
    (0..120).for_each(|_| drop::<Vec<Cube>>(step()));
    (0..count).map(|_| step()).collect()
}

fn compare(c: &mut Criterion) {
    let worlds = ticks(64);
    let ids: Vec<u32> = (0..worlds[0].len() as u32).collect();
    let schema = Schema::of::<Cube>();
    for (name, text, level) in
        [("packed", c"packed", Level::PACKED), ("adaptive", c"adaptive", Level::ADAPTIVE)]
    {
        let mut group = c.benchmark_group(name);
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        group.bench_function("rust", |b| {
            let mut encoder = Encoder::new(&codec);
            let mut snapshot = Snapshot::new(&schema, Tick(0));
            let (mut packet, mut tick) = (Vec::new(), 0);
            let mut held = [View::empty(&schema), View::empty(&schema)];
            b.iter(|| {
                tick += 1;
                let world = &worlds[pendulum(tick, worlds.len())];
                snapshot.clear(Tick(tick));
                let cubes = ids.iter().map(|id| EntityId(*id)).zip(world);
                snapshot.extend::<Cube>(cubes).unwrap();
                packet.clear();
                let sent = if tick < 3 {
                    encoder.encode(&held[0], &snapshot, &mut packet)
                } else {
                    encoder.encode(Baselines::new(&held).unwrap(), &snapshot, &mut packet)
                };
                let [newer, _] = &mut held;
                let older = std::mem::replace(newer, sent.unwrap());
                held[1] = older;
                packet.len()
            });
        });
        group.bench_function("c", |b| {
            let mut caller = Caller::new(&schema, text);
            b.iter(|| {
                let tick = caller.tick + 1;
                caller.send(&ids, &worlds[pendulum(tick, worlds.len())])
            });
        });
        group.finish();
    }
}

/// The index of a tick, forwards and backwards in turn, so that the world never jumps.
fn pendulum(tick: u32, count: usize) -> usize {
    let (place, last) = (tick as usize % (2 * count - 2), count - 1);
    if place > last { 2 * last - place } else { place }
}

/// A caller of the C interface.
struct Caller {
    encoder: KpEncoder,
    snapshot: KpSnapshot,
    held: Vec<KpView>,
    packet: Vec<u8>,
    tick: u32,
}

impl Caller {
    fn new(schema: &Schema, level: &CStr) -> Self {
        let file = schema.to_bytes();
        let (mut schema, mut codec) = (KpSchema { id: 0 }, KpCodec { id: 0 });
        let (mut encoder, mut snapshot) = (KpEncoder { id: 0 }, KpSnapshot { id: 0 });
        let mut empty = KpView { id: 0 };
        // SAFETY: all pointers point to live values.
        unsafe {
            ok(kp_schema_from_bytes(file.as_ptr(), file.len(), &raw mut schema));
            ok(kp_codec_new(schema, level.as_ptr(), null(), 0, &raw mut codec));
            ok(kp_encoder_new(codec, &raw mut encoder));
            ok(kp_snapshot_new(schema, &raw mut snapshot));
            ok(kp_view_empty(schema, &raw mut empty));
        }
        Self { encoder, snapshot, held: vec![empty], packet: vec![0; 1 << 16], tick: 0 }
    }

    fn send(&mut self, ids: &[u32], world: &[Cube]) -> usize {
        self.tick += 1;
        let stride = size_of::<Cube>();
        let column = |data: *const std::ffi::c_void, number: KpNumber, clamp| KpColumn {
            data,
            stride,
            number: number as i32,
            clamp,
        };
        let columns = [
            column((&raw const world[0].position).cast(), KpNumber::F32, 1),
            column((&raw const world[0].orientation).cast(), KpNumber::F32, 0),
            column((&raw const world[0].interacting).cast(), KpNumber::U8, 0),
        ];
        let (mut size, mut sent) = (0, KpView { id: 0 });
        // SAFETY: all pointers point to live values, and the columns to a slice of structs.
        unsafe {
            ok(kp_snapshot_clear(self.snapshot, self.tick));
            let (ids, count) = (ids.as_ptr(), ids.len());
            ok(kp_snapshot_add(self.snapshot, 0, ids, count, columns.as_ptr(), columns.len()));
            ok(kp_encode(
                self.encoder,
                self.held.as_ptr(),
                self.held.len(),
                self.snapshot,
                self.packet.as_mut_ptr(),
                self.packet.len(),
                &raw mut size,
                &raw mut sent,
            ));
        }
        if self.held.len() == 2 {
            ok(kp_view_free(self.held[1]));
            self.held.pop();
        }
        self.held.insert(0, sent);
        size
    }
}

fn ok(status: KpStatus) {
    assert_eq!(status, KpStatus::Ok);
}

criterion_group!(benches, compare);
criterion_main!(benches);
