//! The binary data of a glTF file.

use serde_json::{Value, json};

/// The code of glTF for components that are floats.
const FLOAT: u32 = 5126;
/// The code of glTF for buffers of vertices.
pub(super) const ARRAY_BUFFER: u32 = 34_962;

/// The binary chunk, and the lists of buffer views and accessors into it.
#[derive(Default)]
pub(super) struct Data {
    pub(super) bytes: Vec<u8>,
    pub(super) views: Vec<Value>,
    pub(super) accessors: Vec<Value>,
}

impl Data {
    /// Adds elements of `N` floats, with their bounds. Returns the accessor's index.
    pub(super) fn floats<const N: usize>(
        &mut self,
        elements: impl Iterator<Item = [f32; N]>,
        target: Option<u32>,
    ) -> usize {
        let mut bytes = Vec::new();
        let (mut low, mut high) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N]);
        for element in elements {
            for (axis, number) in element.into_iter().enumerate() {
                (low[axis], high[axis]) = (low[axis].min(number), high[axis].max(number));
                bytes.extend(number.to_le_bytes());
            }
        }
        let kind = match N {
            1 => "SCALAR",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let accessor = self.put(&bytes, (bytes.len() / (4 * N), FLOAT, kind), target);
        let bounds = &mut self.accessors[accessor];
        (bounds["min"], bounds["max"]) = (json!(low.as_slice()), json!(high.as_slice()));
        accessor
    }

    /// Adds `count` elements of one type. Returns the accessor's index.
    pub(super) fn put(
        &mut self,
        bytes: &[u8],
        (count, component, kind): (usize, u32, &str),
        target: Option<u32>,
    ) -> usize {
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.accessors
            .push(json!({ "bufferView": self.views.len(), "componentType": component, "count": count, "type": kind }));
        self.views.push(view);
        self.accessors.len() - 1
    }
}
