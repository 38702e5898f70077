//! JSON that other readers take as glTF, and ours refuses: `25.0` as a whole number, `null` for a
//! member that is absent, a key that is given twice. JavaScript does not tell them apart. Such a
//! document is parsed as any JSON, and written again in the form that ours reads.

use serde_json::{Number, Value};

/// The most bytes of new text for each byte of the old one: `1e15` has five times as many in full.
pub(super) const MOST_OF_BYTE: u64 = 6;

/// Larger numbers are not exact as floats.
const MOST_EXACT: f64 = (1_u64 << 53) as f64;

/// The document in the strict form, or `None` if it is no JSON. Of a key that is given twice, the
/// last counts.
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

/// The same number without a fraction, if it has none.
fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= MOST_EXACT).then(|| Number::from(float as i64))
}
