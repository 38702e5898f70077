//! Converts raw words to numbers, which a plot or a spreadsheet can show.

use kinepack::Schema;
use kinepack::schema::{Field, FieldKind};

use crate::kinds;

/// Returns the names of a schema's components, in the order of [`components`]: `position.x`,
/// `rotation.w`, `health`, `joints[3].angle`.
///
/// A number, a flag or a choice is one component with the name of its field. Vectors and rotations
/// have one component for each axis; longer arrays number them: `weights.0`. If the schema has
/// several kinds, the name of the kind is in front: `player.position.x`.
pub fn component_names(schema: &Schema) -> Vec<String> {
    let of_field = |(field, name): (&Field, String)| {
        let count = component_count(field);
        let is_vector = matches!(field.kind, FieldKind::Floats(_) | FieldKind::Rotation(_));
        (0..count).map(move |index| match ["x", "y", "z", "w"].get(index) {
            _ if count == 1 => name.clone(),
            Some(axis) if is_vector && count <= 4 => format!("{name}.{axis}"),
            _ => format!("{name}.{index}"),
        })
    };
    schema.fields().iter().zip(kinds::field_names(schema)).flat_map(of_field).collect()
}

/// Returns the numbers that an entity's raw words stand for, one for each name in
/// [`component_names`].
///
/// For vectors with limits and rotations (x, y, z, w), these are the recorded numbers, bit for bit.
/// Integers above 2^53 are rounded. Bare floats are read as `f32`. A bare `f64` gives two numbers,
/// its halves, because its schema is that of two `f32`. Flags are 0 or 1, and choices are the
/// number of the variant.
///
/// ```
/// use kinepack::{Pack, Schema};
/// use kinepack_capture::{component_names, components};
///
/// #[derive(Pack)]
/// struct Car {
///     #[pack(range = -100.0..=100.0, precision = 0.01)] // metres
///     position: [f64; 2],
///     #[pack(range = -1..=6)]
///     gear: i8,
/// }
///
/// let schema = Schema::of::<Car>();
/// let mut raw = [0; Car::LANES];
/// Car { position: [0.123, -7.0], gear: -1 }.store_raw(&mut raw)?;
/// assert_eq!(component_names(&schema), ["position.x", "position.y", "gear"]);
/// assert_eq!(components(&schema, &raw).collect::<Vec<_>>(), [0.123, -7.0, -1.0]);
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
///
/// `schema` must be the schema of one kind.
///
/// # Panics
/// If `raw` does not have one word per lane.
pub fn components<'a>(schema: &'a Schema, raw: &'a [u64]) -> impl Iterator<Item = f64> + 'a {
    let of_field = |field: &'a Field| {
        let words = &raw[field.lanes()];
        (0..component_count(field)).map(move |index| match &field.kind {
            FieldKind::Floats(_) | FieldKind::Rotation(_) => f64::from_bits(words[index]),
            FieldKind::Integer(limits) => Field::raw_integer(limits, words[0]) as f64,
            FieldKind::Raw { .. } => f64::from(f32::from_bits(words[index] as u32)),
            _ => words[index] as f64,
        })
    };
    schema.fields().iter().flat_map(of_field)
}

/// Returns the number of components. An integer of more than 32 bits has two lanes, but the first
/// word has all of it.
fn component_count(field: &Field) -> usize {
    match field.kind {
        FieldKind::Integer(_) => 1,
        _ => field.lanes().len(),
    }
}

#[cfg(test)]
mod tests {
    use kinepack::Pack;

    use super::*;

    #[derive(Pack)]
    struct Mixed {
        #[pack(rotation, bits = 9)]
        rotation: [f32; 4],
        #[pack(range = 0.0..=1.0, precision = 0.01)]
        weights: [f32; 5],
        ticks: u64,
        is_open: bool,
        bare: [f32; 2],
    }

    #[test]
    fn each_kind_of_field_has_its_names_and_numbers() {
        let schema = Schema::of::<Mixed>();
        let mixed = Mixed {
            rotation: [0.0, 0.6, 0.0, 0.8],
            weights: [0.0, 0.25, 0.5, 0.75, 1.0],
            ticks: 1 << 40,
            is_open: true,
            bare: [1.5, -0.1],
        };
        let mut raw = [0; Mixed::LANES];
        mixed.store_raw(&mut raw).unwrap();
        let all: Vec<(String, f64)> =
            component_names(&schema).into_iter().zip(components(&schema, &raw)).collect();
        let expected = [
            ("rotation.x", 0.0),
            ("rotation.y", f64::from(0.6_f32)),
            ("rotation.z", 0.0),
            ("rotation.w", f64::from(0.8_f32)),
            ("weights.0", 0.0),
            ("weights.1", 0.25),
            ("weights.2", 0.5),
            ("weights.3", 0.75),
            ("weights.4", 1.0),
            ("ticks", f64::from(2.0_f32.powi(40))),
            ("is_open", 1.0),
            ("bare.0", 1.5),
            ("bare.1", f64::from(-0.1_f32)),
        ];
        assert_eq!(all, expected.map(|(name, number)| (name.to_owned(), number)));
        assert_eq!(components(&schema, &raw).count(), all.len());
    }
}
