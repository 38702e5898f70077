//! Writes small FBX files, as text and in binary form.

use std::collections::HashMap;
use std::fmt::Write;

/// The number of time units of an FBX file in a second.
const SECOND: f64 = 46_186_158_000.0;

#[derive(Clone)]
enum Value {
    Int(i64),
    Number(f64),
    Text(String),
    /// The name and the class of an object.
    Name(String, &'static str),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    /// Numbers that text files store as their bits.
    Bits(Vec<f32>),
}

#[derive(Clone)]
struct Record {
    name: &'static str,
    values: Vec<Value>,
    children: Vec<Record>,
}

fn record(name: &'static str, values: Vec<Value>, children: Vec<Record>) -> Record {
    Record { name, values, children }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The interpolation between keys.
#[derive(Clone, Copy)]
pub(crate) enum Keys {
    Constant,
    Linear,
    /// The value follows a spline with this slope per second before and after each key.
    Cubic(f32),
}

/// A property: its name, its type, its flags and its numbers. A property without numbers has a
/// text, which takes the place of the flags.
pub(crate) type Property<'a> = (&'a str, &'a str, &'a str, &'a [f64]);

/// A scene. Ids of objects count from 1. The root has the id 0.
#[derive(Clone, Default)]
pub(crate) struct Scene {
    settings: Vec<Record>,
    objects: Vec<Record>,
    connections: Vec<Record>,
    /// The object that animates a property, by layer, object and property.
    animated: HashMap<(i64, i64, String), i64>,
}

impl Scene {
    /// Sets a property of the whole file.
    pub(crate) fn setting(&mut self, name: &str, kind: &str, value: f64) {
        self.settings.push(property((name, kind, "", &[value])));
    }

    /// Adds an object below or next to another.
    pub(crate) fn object(
        &mut self,
        record_name: &'static str,
        class: &'static str,
        (name, sub_class): (&str, &str),
        parent: i64,
        properties: &[Property<'_>],
    ) -> i64 {
        let id = self.objects.len() as i64 + 1;
        let properties = properties.iter().map(|own| property(*own)).collect();
        let values = vec![Value::Int(id), Value::Name(name.to_owned(), class), text(sub_class)];
        let children = vec![record("Properties70", Vec::new(), properties)];
        self.objects.push(record(record_name, values, children));
        // Only nodes are connected to the root.
        if parent != 0 || class == "Model" {
            self.connect(id, parent, None);
        }
        id
    }

    pub(crate) fn connect(&mut self, from: i64, to: i64, property: Option<&str>) {
        let kind = text(if property.is_some() { "OP" } else { "OO" });
        let mut values = vec![kind, Value::Int(from), Value::Int(to)];
        values.extend(property.map(text));
        self.connections.push(record("C", values, Vec::new()));
    }

    pub(crate) fn bone(&mut self, name: &str, parent: i64, properties: &[Property<'_>]) -> i64 {
        let bone = self.node((name, "LimbNode"), parent, properties);
        self.object("NodeAttribute", "NodeAttribute", ("", "LimbNode"), bone, &[]);
        bone
    }

    pub(crate) fn node(
        &mut self,
        name: (&str, &str),
        parent: i64,
        properties: &[Property<'_>],
    ) -> i64 {
        self.object("Model", "Model", name, parent, properties)
    }

    /// Adds a stack of one layer that lasts from `begin_s` to `end_s`. Returns the layer.
    pub(crate) fn stack(&mut self, name: &str, [begin_s, end_s]: [f64; 2]) -> i64 {
        let times: [(&str, f64); 2] = [("LocalStart", begin_s), ("LocalStop", end_s)];
        let times = times.map(|(name, time_s)| (name, "KTime", "", [time_s * SECOND]));
        let times =
            times.each_ref().map(|(name, kind, flags, time)| (*name, *kind, *flags, &time[..]));
        let stack = self.object("AnimationStack", "AnimStack", (name, ""), 0, &times);
        self.layer("base", stack, &[])
    }

    pub(crate) fn layer(&mut self, name: &str, stack: i64, properties: &[Property<'_>]) -> i64 {
        self.object("AnimationLayer", "AnimLayer", (name, ""), stack, properties)
    }

    /// Animates a number of a property. The number's name is `d|X` for a vector, or else `d|` and
    /// the property's name.
    pub(crate) fn curve(
        &mut self,
        layer: i64,
        (object, property): (i64, &str),
        number: &str,
        keys: Keys,
        values: &[(f64, f32)],
    ) {
        let key = (layer, object, property.to_owned());
        let own = match self.animated.get(&key) {
            Some(own) => *own,
            None => self.animate(layer, object, property, number),
        };
        self.animated.insert(key, own);
        let id = self.objects.len() as i64 + 1;
        let times = values.iter().map(|(time_s, _)| (time_s * SECOND) as i64).collect();
        let (flags, slope) = match keys {
            Keys::Constant => (0x2, 0.0),
            Keys::Linear => (0x4, 0.0),
            Keys::Cubic(slope) => (0x408, slope),
        };
        let list = |name, value| record(name, vec![value], Vec::new());
        let children = vec![
            list("KeyTime", Value::Ints(times)),
            list("KeyValueFloat", Value::Floats(values.iter().map(|(_, value)| *value).collect())),
            list("KeyAttrFlags", Value::Ints(vec![flags])),
            list("KeyAttrDataFloat", Value::Bits(vec![slope, slope, 0.0, 0.0])),
            list("KeyAttrRefCount", Value::Ints(vec![values.len() as i64])),
        ];
        let name = Value::Name(String::new(), "AnimCurve");
        self.objects.push(record("AnimationCurve", vec![Value::Int(id), name, text("")], children));
        self.connect(id, own, Some(number));
    }

    fn animate(&mut self, layer: i64, object: i64, property: &str, number: &str) -> i64 {
        let default: &[f64] = if property == "Lcl Scaling" { &[1.0] } else { &[0.0] };
        let numbers = if number.len() == 3 { vec!["d|X", "d|Y", "d|Z"] } else { vec![number] };
        let numbers: Vec<_> = numbers.iter().map(|name| (*name, "Number", "A", default)).collect();
        let own = self.object("AnimationCurveNode", "AnimCurveNode", ("", ""), layer, &numbers);
        self.connect(own, object, Some(property));
        own
    }

    /// Adds a mesh with a blend shape to a node. Returns the channel of its weight.
    pub(crate) fn channel(&mut self, node: i64, name: &str) -> i64 {
        let mesh = self.object("Geometry", "Geometry", ("", "Mesh"), node, &[]);
        let deformer = self.object("Deformer", "Deformer", ("", "BlendShape"), mesh, &[]);
        let percent: Property<'_> = ("DeformPercent", "Number", "A", &[0.0]);
        let kind = (name, "BlendShapeChannel");
        self.object("Deformer", "SubDeformer", kind, deformer, &[percent])
    }

    fn records(&self) -> Vec<Record> {
        let header = record("FBXVersion", vec![Value::Int(7400)], Vec::new());
        let settings = record("Properties70", Vec::new(), self.settings.clone());
        vec![
            record("FBXHeaderExtension", Vec::new(), vec![header]),
            record("GlobalSettings", Vec::new(), vec![settings]),
            record("Objects", Vec::new(), self.objects.clone()),
            record("Connections", Vec::new(), self.connections.clone()),
        ]
    }

    /// Returns the file as text.
    pub(crate) fn text(&self) -> String {
        let mut file = "; FBX 7.4.0 project file\n".to_owned();
        self.records().iter().for_each(|record| record.write_text(&mut file));
        file
    }

    /// Returns the file in binary form.
    pub(crate) fn binary(&self) -> Vec<u8> {
        let mut file = b"Kaydara FBX Binary  \0\x1a\0".to_vec();
        file.extend(7400u32.to_le_bytes());
        self.records().iter().for_each(|record| record.write_binary(&mut file));
        file.extend([0; 13]);
        file
    }
}

fn property((name, kind, flags, numbers): Property<'_>) -> Record {
    if numbers.is_empty() {
        // A property without numbers has a text, which is in `flags`.
        return record(
            "P",
            vec![text(name), text(kind), text(""), text(""), text(flags)],
            Vec::new(),
        );
    }
    let is_whole = matches!(kind, "KTime" | "int" | "enum" | "bool");
    let number = |number: &f64| match is_whole {
        true => Value::Int(*number as i64),
        false => Value::Number(*number),
    };
    let texts = [name, kind, "", flags].map(text);
    record("P", texts.into_iter().chain(numbers.iter().map(number)).collect(), Vec::new())
}

impl Record {
    fn write_text(&self, file: &mut String) {
        let joined = |list: Vec<String>| list.join(",");
        let values = self.values.iter().map(|value| match value {
            Value::Int(number) => number.to_string(),
            Value::Number(number) => format!("{number:?}"),
            Value::Text(text) => format!("\"{text}\""),
            Value::Name(name, class) => format!("\"{class}::{name}\""),
            Value::Ints(list) => {
                let text = joined(list.iter().map(ToString::to_string).collect());
                format!("*{} {{ a: {text}\n}}", list.len())
            }
            Value::Bits(list) => {
                let bits = list.iter().map(|number| number.to_bits().to_string()).collect();
                format!("*{} {{ a: {}\n}}", list.len(), joined(bits))
            }
            Value::Floats(list) => {
                let text = joined(list.iter().map(|number| format!("{number:?}")).collect());
                format!("*{} {{ a: {text}\n}}", list.len())
            }
        });
        write!(file, "{}: {}", self.name, joined(values.collect())).unwrap();
        if !self.children.is_empty() {
            file.push_str(" {\n");
            self.children.iter().for_each(|child| child.write_text(file));
            file.push('}');
        }
        file.push('\n');
    }

    fn write_binary(&self, file: &mut Vec<u8>) {
        let mut values = Vec::new();
        for value in &self.values {
            value.write_binary(&mut values);
        }
        let head = file.len();
        for number in [0, self.values.len() as u32, values.len() as u32] {
            file.extend(number.to_le_bytes());
        }
        file.push(self.name.len() as u8);
        file.extend(self.name.as_bytes());
        file.extend(values);
        if !self.children.is_empty() {
            self.children.iter().for_each(|child| child.write_binary(file));
            file.extend([0; 13]);
        }
        let end = file.len() as u32;
        file[head..head + 4].copy_from_slice(&end.to_le_bytes());
    }
}

impl Value {
    fn write_binary(&self, file: &mut Vec<u8>) {
        let list = |kind, count: usize, bytes: Vec<u8>| {
            let numbers = [count as u32, 0, bytes.len() as u32].map(u32::to_le_bytes);
            [&[kind][..], numbers.as_flattened(), &bytes].concat()
        };
        let text = |bytes: &[u8]| [b"S", &(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
        file.extend(match self {
            Self::Int(number) => [b"L", &number.to_le_bytes()[..]].concat(),
            Self::Number(number) => [b"D", &number.to_le_bytes()[..]].concat(),
            Self::Text(own) => text(own.as_bytes()),
            Self::Name(name, class) => text(format!("{name}\0\x01{class}").as_bytes()),
            Self::Ints(own) => {
                list(b'l', own.len(), own.iter().flat_map(|number| number.to_le_bytes()).collect())
            }
            Self::Floats(own) | Self::Bits(own) => {
                list(b'f', own.len(), own.iter().flat_map(|number| number.to_le_bytes()).collect())
            }
        });
    }
}
