//! Writes small glTF files.

pub(crate) mod fbx;

use serde_json::{Value, json};

/// A document with one animation, and its binary chunk.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) json: Value,
    pub(crate) chunk: Vec<u8>,
}

impl Document {
    pub(crate) fn new(nodes: Value) -> Self {
        let json = json!({
            "asset": { "version": "2.0" },
            "nodes": nodes,
            "buffers": [{ "byteLength": 0 }],
            "bufferViews": [],
            "accessors": [],
            "animations": [{ "name": "Move", "channels": [], "samplers": [] }],
        });
        Self { json, chunk: Vec::new() }
    }

    /// Adds a buffer view that contains `bytes`.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.chunk.resize(self.chunk.len().next_multiple_of(4), 0);
        let view =
            json!({ "buffer": 0, "byteOffset": self.chunk.len(), "byteLength": bytes.len() });
        self.chunk.extend_from_slice(bytes);
        self.json["buffers"][0]["byteLength"] = json!(self.chunk.len());
        push(&mut self.json["bufferViews"], view)
    }

    /// Adds an accessor of floats.
    pub(crate) fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> =
            values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let view = self.view(&bytes);
        let kind = if N == 1 { "SCALAR".to_owned() } else { format!("VEC{N}") };
        let accessor = json!({ "bufferView": view, "componentType": 5126, "count": values.len(), "type": kind });
        self.accessor(accessor)
    }

    pub(crate) fn accessor(&mut self, accessor: Value) -> usize {
        push(&mut self.json["accessors"], accessor)
    }

    /// Adds a channel that takes its keys from the given accessors.
    pub(crate) fn channel_of(
        &mut self,
        node: usize,
        path: &str,
        interpolation: &str,
        times: usize,
        values: usize,
    ) {
        let animation = &mut self.json["animations"][0];
        let sampler = json!({ "input": times, "output": values, "interpolation": interpolation });
        let sampler = push(&mut animation["samplers"], sampler);
        let channel = json!({ "sampler": sampler, "target": { "node": node, "path": path } });
        push(&mut animation["channels"], channel);
    }

    pub(crate) fn channel<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        interpolation: &str,
        times: &[f32],
        values: &[[f32; N]],
    ) {
        let times: Vec<[f32; 1]> = times.iter().map(|time| [*time]).collect();
        let (times, values) = (self.floats(&times), self.floats(values));
        self.channel_of(node, path, interpolation, times, values);
    }

    /// Returns the bytes of a `.glb`.
    pub(crate) fn glb(&self) -> Vec<u8> {
        glb(self.json.to_string().as_bytes(), &self.chunk)
    }
}

pub(crate) fn glb(json: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut json = json.to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    let length = 12 + 8 + json.len() + 8 + chunk.len();
    file.extend((length as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", json.as_slice()), (b"BIN\0", chunk)] {
        file.extend((data.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(data);
    }
    file
}

fn push(list: &mut Value, value: Value) -> usize {
    let list = list.as_array_mut().unwrap();
    list.push(value);
    list.len() - 1
}

/// A rotation by 90° around y.
pub(crate) const QUARTER: [f32; 4] =
    [0.0, std::f32::consts::FRAC_1_SQRT_2, 0.0, std::f32::consts::FRAC_1_SQRT_2];

/// Returns a document of two joints that move for a second, with all three interpolations.
pub(crate) fn arm() -> Document {
    let mut document = Document::new(json!([
        { "name": "upper", "children": [1], "translation": [0.0, 1.0, 0.0] },
        { "name": "lower", "translation": [0.5, 0.0, 0.0] },
    ]));
    document.json["skins"] = json!([{ "joints": [0, 1] }]);
    document.channel(0, "rotation", "LINEAR", &[0.0, 1.0], &[[0.0, 0.0, 0.0, 1.0], QUARTER]);
    document.channel(1, "scale", "STEP", &[0.0, 0.5], &[[1.0; 3], [2.0; 3]]);
    let keys = [[0.0; 3], [0.5, 0.0, 0.0], [0.0; 3], [0.0; 3], [0.5, 1.0, 0.0], [0.0; 3]];
    document.channel(1, "translation", "CUBICSPLINE", &[0.0, 1.0], &keys);
    document
}
