use kinepack::*;
use std::time::Instant;
fn main() {
    let f = |a: f64, b: f64| FloatLimits::until(a, b, 1.0 / 512.0).unwrap();
    let schema = Schema::new(vec![
        Field::new("position", FieldKind::Floats(vec![f(-256.0, 256.0), f(-256.0, 256.0), f(0.0, 32.0)])),
        Field::new("orientation", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("interacting", FieldKind::Bool),
    ]);
    let load = |name: &str| -> Vec<Snapshot> {
        let bytes = std::fs::read(format!("/tmp/d/{name}.bin")).unwrap();
        bytes
            .chunks(901 * 32)
            .enumerate()
            .map(|(t, frame)| {
                let mut s = Snapshot::new(&schema, Tick(t as u32));
                for (id, r) in frame.chunks(32).enumerate() {
                    let v: Vec<i32> = r.chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect();
                    let l = [v[4] + 131072, v[5] + 131072, v[6], v[0], v[1], v[2], v[3], v[7]].map(|x| x as u32);
                    s.push_lanes(EntityId(id as u32), &l).unwrap();
                }
                s
            })
            .collect()
    };
    let sets: Vec<(&str, Vec<Snapshot>)> = ["typical", "push"].iter().map(|n| (*n, load(n))).collect();
    let w: Vec<u8> = (1..=15).collect();
    let rw: Vec<u8> = (1..=9).collect();
    let mut start = Profile::magnitudes(&schema);
    let states = |c: &FieldCode, n: usize| {
        let mut c = c.clone();
        let only = c.lengths_bits[0].clone();
        c.lengths_bits = vec![only; n];
        c
    };
    let p = FieldCode::magnitudes(&schema.fields()[0], &schema, Context::Previous, &w, &[0, 0, 1]);
    let n = p.classes.len() + 2;
    start.fields[0] = states(&p, n);
    let r = FieldCode::magnitudes(&schema.fields()[1], &schema, Context::Field(0), &rw, &[]);
    start.fields[1] = states(&r, n);
    let mut trainer = Trainer::new(schema.clone(), start).unwrap();
    for (_, s) in &sets {
        for t in 6..s.len() {
            trainer.observe(&s[t - 6], &s[t]).unwrap();
        }
    }
    let trained = trainer.finish();
    for (pname, profile) in
        [("trained", trained), ("article", Profile::article(&schema)), ("untrained", Profile::untrained(&schema))]
    {
        for (name, s) in &sets {
            for level in &Level::TABLE[5..] {
                let codec = Codec::new(schema.clone(), *level, profile.clone()).unwrap();
                let mut e = Encoder::new(&codec);
                let mut d = Decoder::new(&codec);
                let mut out = vec![];
                let mut total = 0;
                let mut parts = [0u64; 4];
                let mut ch = 0;
                let mut back = Snapshot::new(&schema, Tick(0));
                let (mut te, mut td) = (0, 0);
                for t in 6..s.len() {
                    out.clear();
                    let a = Instant::now();
                    let size = e.encode(&s[t - 6], &s[t], &mut out).unwrap();
                    te += a.elapsed().as_nanos();
                    total += out.len();
                    parts[0] += size.sets_bits;
                    for i in 0..3 {
                        parts[i + 1] += size.fields_bits[i];
                    }
                    ch += size.changed_entities;
                    let a = Instant::now();
                    d.decode(&s[t - 6], &out, Tick(t as u32), &mut back).unwrap();
                    td += a.elapsed().as_nanos();
                    assert_eq!(back, s[t]);
                }
                let n = (s.len() - 6) as f64;
                println!(
                    "{pname:10} {name:8} {:2} {:8.1} B  enc {:5.1} us dec {:5.1} us  per changed {:?}",
                    level.row,
                    total as f64 / n,
                    te as f64 / n / 1e3,
                    td as f64 / n / 1e3,
                    parts.map(|p| (p as f64 / ch as f64 * 100.0).round() / 100.0)
                );
            }
        }
    }
}
