//! Finds the addresses of columns in the module's memory.

use kinepack::values::{ValueTable, Values};

/// The address of the first number of a column.
pub(crate) fn address(values: &Values) -> usize {
    match values {
        Values::F32(list) => list.as_ptr() as usize,
        Values::F64(list) => list.as_ptr() as usize,
        Values::I32(list) => list.as_ptr() as usize,
        Values::U32(list) => list.as_ptr() as usize,
        Values::I64(list) => list.as_ptr() as usize,
        Values::U64(list) => list.as_ptr() as usize,
        Values::U8(list) => list.as_ptr() as usize,
        _ => 0,
    }
}

/// The name of the type of a column's numbers.
pub(crate) fn type_name(values: &Values) -> &'static str {
    match values {
        Values::F32(_) => "f32",
        Values::F64(_) => "f64",
        Values::I32(_) => "i32",
        Values::U32(_) => "u32",
        Values::I64(_) => "i64",
        Values::U64(_) => "u64",
        _ => "u8",
    }
}

/// Appends the places of `table` to `places`. The places of a kind are the number of its entities,
/// the address of the ids, and the address of each field's numbers.
pub fn places(table: &ValueTable, places: &mut Vec<u32>) {
    for kind in table.kinds() {
        places.extend([kind.ids().len() as u32, kind.ids().as_ptr() as usize as u32]);
        places.extend(kind.fields().iter().map(|values| address(values) as u32));
    }
}
