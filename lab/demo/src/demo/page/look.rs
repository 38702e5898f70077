//! Lists the lanes of one body of the sent state.

use kinepack::schema::FieldKind;
use kinepack::{EntityId, Schema, Snapshot};

use super::protocol::Look;
use crate::cube_stream::CUBE;

/// Returns the lanes of a body in a state, or `None` if there is no such body.
pub(super) fn look(state: &Snapshot, body: u32) -> Option<Look> {
    let index = state.position(EntityId(body))?;
    Some(Look { id: body, sent: state.lanes_at(index).collect() })
}

/// Readable names of a body's lanes. They are the lanes of cubes, which players have too.
pub(super) fn lane_names(schema: &Schema) -> Vec<String> {
    let mut names = Vec::new();
    for field in &schema.fields()[schema.kinds()[CUBE].fields()] {
        let parts: &[&str] = match (&field.kind, field.lanes().len()) {
            (FieldKind::Rotation(_), _) => &[".largest", ".a", ".b", ".c"],
            (_, 1) => &[""],
            (_, 2..=4) => &[".x", ".y", ".z", ".w"],
            _ => &[],
        };
        for lane in 0..field.lanes().len() {
            let part =
                parts.get(lane).map_or_else(|| format!(".{lane}"), |part| (*part).to_owned());
            names.push(format!("{}{part}", field.name));
        }
    }
    names
}
