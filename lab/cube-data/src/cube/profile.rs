//! The profiles that were trained for cubes.

use kinepack::profile::{Bodies, BodyKind, Context, FieldCode};
use kinepack::{Profile, Schema};

use super::Quantized;

/// Returns the classes and contexts of the cube's profile, with even word lengths. Training starts
/// with this profile.
///
/// A cube's position has a class for each width up to 15 bits. The height is one bit narrower,
/// because cubes move less upwards. The position's class depends on the previous cube's class. The
/// orientation's class depends on the position's.
pub fn structure() -> Profile {
    let schema = super::schema(Quantized::Everything);
    let mut profile = Profile::untrained(&schema);
    let [position, orientation, _] = schema.fields() else { return profile };
    let widths_bits: Vec<u8> = (1..=15).collect();
    profile.fields[0] =
        FieldCode::magnitudes(position, &schema, Context::Previous, &widths_bits, &[0, 0, 1]);
    profile.fields[1] =
        FieldCode::magnitudes(orientation, &schema, Context::Field(0), &widths_bits[..9], &[]);
    profile.spread();
    profile
}

/// Returns the profile for cubes, for all levels. `lab/cube-data/train-profile.sh
/// lab/cube-data/src/cube/profile/cube.kprf --force` trains it on the built-in world.
pub fn profile() -> Profile {
    read(include_bytes!("profile/cube.kprf"))
}

/// Returns the profile for cubes with a time precision, which have different statistics. The same
/// script trains it with `--time-precision-ms 2` as `coarse.kprf`. The profile also suits other
/// time precisions.
pub fn coarse_profile() -> Profile {
    read(include_bytes!("profile/coarse.kprf"))
}

fn read(bytes: &[u8]) -> Profile {
    Profile::from_bytes(bytes, &super::schema(Quantized::Everything))
        .unwrap_or_else(|_| structure())
}

/// Returns the profile for [`SwiftCube`](super::SwiftCube). The code of the velocities is
/// untrained.
pub fn swift_profile() -> Profile {
    let mut swift = Profile::untrained(&Schema::of::<super::SwiftCube>());
    let trained = profile();
    (swift.entities, swift.flags) = (trained.entities, trained.flags);
    for (field, trained) in swift.fields.iter_mut().zip(&trained.fields[..2]) {
        field.clone_from(trained);
    }
    swift
}

/// Returns the description of the cubes' world for the adaptive level: the floor, the sizes of
/// cubes, and the player's cube, which is the first object and moves the others.
pub fn bodies() -> Bodies {
    let kind = |half_extent: u32, mover: bool| BodyKind { half_extents: [half_extent; 3], mover };
    Bodies {
        position: 0,
        rotation: 1,
        touched: Some(2),
        mover: None,
        up: 2,
        floor: Some(0),
        kinds: vec![kind(102, false), kind(384, true)],
        kind_of_ids: vec![(0, 1), (1, 0)],
        size: 102,
        reach: 700,
        bands: vec![500, 570, 640, 710, 800, 900, 1050, 1200, 1450, 1800],
    }
}
