use kinepack::{EntityId, Pack};

#[derive(Pack)]
struct NoPlaces {
    ship: Option<EntityId>,
    #[pack(frame = ship, range = 0.0..360.0, bits = 8, wrap)]
    heading: [f32; 3],
    #[pack(frame = ship)]
    pattern: [f32; 3],
    #[pack(frame = ship, max = 9)]
    deck: u8,
    #[pack(frame = ship)]
    awake: bool,
    #[pack(frame = ship, touched)]
    touched: bool,
    #[pack(frame = ship, clock, range = 0.0..60.0, precision = 0.5)]
    time: f32,
    #[pack(frame = ship, with = kinepack::Bytes)]
    bytes: [u8; 4],
    #[pack(frame = ship, skip)]
    skipped: [f32; 3],
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    perhaps: Option<[f32; 3]>,
    #[pack(frame, rotation, bits = 9)]
    unnamed: [f32; 4],
    #[pack(frame = "ship", rotation, bits = 9)]
    quoted: [f32; 4],
    #[pack(frame = ship, frame = ship, rotation, bits = 9)]
    twice: [f32; 4],
}

#[derive(Pack)]
enum Riding {
    Walks,
    Rides {
        ship: EntityId,
        #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
        position: [f32; 3],
    },
}

macro_rules! frame_of_type {
    ($name:ident, $(#[$attribute:meta])* $ty:ty) => {
        #[derive(Pack)]
        struct $name {
            $(#[$attribute])*
            ship: $ty,
            #[pack(frame = ship, rotation, bits = 9)]
            rotation: [f32; 4],
        }
    };
}

frame_of_type!(Signed, i32);
frame_of_type!(TooWide, u64);
frame_of_type!(Real, f32);
frame_of_type!(Several, [EntityId; 2]);
frame_of_type!(Nested, Option<Option<EntityId>>);
frame_of_type!(NotSent, #[pack(skip)] u32);
frame_of_type!(ByBytes, #[pack(with = kinepack::Bytes)] [u8; 4]);
frame_of_type!(Clock, #[pack(clock)] u32);
frame_of_type!(Cut, #[pack(cut)] u32);
frame_of_type!(Touched, #[pack(touched)] bool);
frame_of_type!(InSteps, #[pack(range = 0..=90, precision = 3)] u32);
frame_of_type!(InFewBits, #[pack(range = 0..=90, bits = 4)] Option<u32>);
frame_of_type!(Clamped, #[pack(max = 90, clamp)] u32);

#[derive(Pack)]
struct Unknown {
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    position: [f32; 3],
}

#[derive(Pack)]
struct Itself(#[pack(frame = 0, rotation, bits = 9)] [f32; 4], EntityId);

#[derive(Pack)]
struct TwoFrames {
    ship: EntityId,
    car: EntityId,
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(frame = car, rotation, bits = 9)]
    rotation: [f32; 4],
}

#[derive(Pack)]
struct PlaceAlone {
    ship: EntityId,
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(velocity, range = -8.0..8.0, precision = 0.5)]
    velocity: [f32; 3],
}

#[derive(Pack)]
struct VelocityAlone {
    ship: EntityId,
    #[pack(range = -8.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(frame = ship, velocity = position, range = -8.0..8.0, precision = 0.5)]
    velocity: [f32; 3],
}

#[derive(Pack)]
struct Flat {
    ship: EntityId,
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    position: [f32; 2],
    #[pack(frame = ship, velocity, range = -8.0..8.0, precision = 0.5)]
    speed: [f32; 2],
    #[pack(frame = ship, range = -8.0..8.0, precision = 0.5)]
    height: f32,
}

fn main() {}
