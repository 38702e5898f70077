use kinepack::Pack;

struct Seconds;

#[derive(Pack)]
struct Body {
    #[pack(skip, range = 0.0..1.0, precision = 0.1)]
    position: f32,
    #[pack(with = Seconds, clamp)]
    time: f32,
    #[pack(skip, with = Seconds)]
    name: String,
}

fn main() {}
