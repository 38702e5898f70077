//! Parses JSON that other readers accept as glTF, but that our strict parser refuses. Examples are
//! `25.0` as a whole number, `null` for an absent member, and a repeated key. JavaScript does not
//! distinguish these forms from the strict ones. Such a document is parsed as generic JSON and
//! rewritten in strict form.

use serde_json::{Number, Value};

/// The maximum number of bytes of rewritten text for each byte of the original. `1e15` takes four
/// times as many bytes when written in full.
pub(super) const MOST_OF_BYTE: u64 = 6;

/// The number up to which an `f64` represents every whole number exactly.
const MOST_EXACT: f64 = (1_u64 << 53) as f64;

/// Rewrites a document in strict form. Returns `None` if it is not JSON. If a key is repeated, the
/// last value counts.
pub(super) fn tidied(json: &[u8]) -> Option<Vec<u8>> {
    let mut root: Value = serde_json::from_slice(json).ok()?;
    let mut open = vec![&mut root];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                open.extend(members.values_mut());
            }
            Value::Array(list) => open.extend(list),
            Value::Number(number) => {
                if let Some(whole) = whole(number) {
                    *number = whole;
                }
            }
            _ => {}
        }
    }
    serde_json::to_vec(&root).ok()
}

/// Returns the same number as an integer, or `None` if its fraction is not zero.
fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= MOST_EXACT).then(|| Number::from(float as i64))
}
