//! Writes schemas as JSON, which JavaScript reads.

use kinepack::Schema;
use kinepack::schema::{FieldKind, Role};
use kinepack::values::{ValueTable, Values};

use crate::tables;

/// Writes a schema's kinds and fields as JSON.
pub fn described(schema: &Schema) -> String {
    let table = ValueTable::new(schema);
    let mut text = format!("{{\"hash\":\"{:016x}\",\"kinds\":[", schema.hash());
    for (index, (kind, values)) in schema.kinds().iter().zip(table.kinds()).enumerate() {
        let comma = if index > 0 { "," } else { "" };
        text += &format!(
            "{comma}{{\"name\":{},\"hash\":\"{:016x}\",\"fields\":[",
            quoted(kind.name()),
            values.schema().hash()
        );
        let columns = values.schema().fields().iter().zip(values.fields());
        for (index, (field, column)) in columns.enumerate() {
            let what = match &field.kind {
                FieldKind::Floats(_) => "floats",
                FieldKind::Integer(_) => "integer",
                FieldKind::Rotation(_) => "rotation",
                FieldKind::Bool => "bool",
                FieldKind::Choice { .. } => "choice",
                FieldKind::Bytes { .. } => "bytes",
                _ => "raw",
            };
            text += &format!(
                "{}{{\"name\":{},\"what\":\"{what}\",\"type\":\"{}\",\"size\":{},\"lanes\":{}",
                if index > 0 { "," } else { "" },
                quoted(&field.name),
                tables::type_name(column),
                Values::per_entity(field),
                field.lanes().len(),
            );
            let role = match field.role {
                Role::Velocity => Some("velocity"),
                Role::Body => Some("body"),
                Role::Touched => Some("touched"),
                Role::Mover => Some("mover"),
                Role::Clock => Some("clock"),
                Role::Cut => Some("cut"),
                Role::Frame => Some("frame"),
                _ => None,
            };
            if let Some(role) = role {
                text += &format!(",\"role\":\"{role}\"");
            }
            if let Some(of) = &field.velocity_of {
                text += &format!(",\"velocityOf\":{}", quoted(of));
            }
            if let Some(condition) = &field.condition {
                text += &format!(
                    ",\"presentIf\":{{\"field\":{},\"least\":{},\"most\":{}}}",
                    quoted(&condition.selector),
                    condition.values.start(),
                    condition.values.end(),
                );
            }
            if let Some(coarser) = &field.coarser {
                text += &format!(
                    ",\"coarser\":{{\"field\":{},\"mostBits\":{}}}",
                    quoted(&coarser.coarseness),
                    coarser.most_bits,
                );
            }
            if let Some(frame) = &field.frame {
                text += &format!(",\"frame\":{}", quoted(frame));
            }
            text += "}";
        }
        text += "]}";
    }
    text + "]}"
}

/// Writes a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => quoted += &format!("\\u{:04x}", letter as u32),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use kinepack::quantize::{IntegerLimits, SmallestThree};
    use kinepack::schema::{Coarser, Condition, Field};

    use super::*;

    #[test]
    fn a_schema_is_described_as_json() {
        let fields = vec![
            Field::new("is \"up\"\n", FieldKind::Bool),
            Field::new("id", FieldKind::Raw { lanes: 2 })
                .with_condition(Condition::new("is \"up\"\n", 1..=1)),
        ];
        let schema = Schema::new(fields);
        let text = described(&schema);
        let expected = format!(
            concat!(
                r#"{{"hash":"{0:016x}","kinds":[{{"name":"","hash":"{0:016x}","fields":["#,
                r#"{{"name":"is \"up\"\u000a","what":"bool","type":"u8","size":1,"lanes":1}},"#,
                r#"{{"name":"id","what":"raw","type":"u32","size":2,"lanes":2,"#,
                r#""presentIf":{{"field":"is \"up\"\u000a","least":1,"most":1}}}}]}}]}}"#
            ),
            schema.hash()
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_coarser_field_names_its_coarseness() {
        let coarseness = FieldKind::Integer(IntegerLimits::new(0, 6, 1).unwrap());
        let turn = FieldKind::Rotation(SmallestThree::new(9).unwrap());
        let text = described(&Schema::new(vec![
            Field::new("coarser~", coarseness),
            Field::new("turn", turn).with_coarser(Coarser::new("coarser~", 4)),
        ]));
        assert!(text.ends_with(r#""lanes":4,"coarser":{"field":"coarser~","mostBits":4}}]}]}"#));
    }
}
