//! Runs gltfpack, and finds the bytes of the animations in its files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Outcome;

/// The program gltfpack, and a directory for its files.
pub(crate) struct Gltfpack {
    program: PathBuf,
    version: String,
    directory: TempDir,
}

/// A file that gltfpack wrote.
pub(crate) struct Packed {
    /// The file with constant tracks, which the other fields do not count. Without these tracks,
    /// our importer does not take all nodes for joints.
    pub(crate) with_constants: Vec<u8>,
    /// The compressed views of animated joints, one after another.
    pub(crate) views: Vec<u8>,
    /// The JSON of the animations, their accessors and their views.
    pub(crate) json: Vec<u8>,
}

impl Gltfpack {
    pub(crate) fn find(program: &Path) -> Outcome<Self> {
        let output = Command::new(program).arg("-v").output().map_err(|error| {
            let name = program.display();
            match error.kind() {
                io::ErrorKind::NotFound => format!(
                    "there is no program {name}: install it with `npm install -g gltfpack`, or \
                     give its path with --gltfpack"
                ),
                _ => format!("{name}: {error}"),
            }
        })?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { program: program.to_owned(), version, directory: TempDir::new()? })
    }

    /// Returns the program's name and version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Packs a file.
    pub(crate) fn pack(&self, file: &Path, level: &str, rate_hz: f32) -> Outcome<Packed> {
        let run = |options: &[&str]| -> Outcome<Vec<u8>> {
            let target = self.directory.path().join("packed.glb");
            let output = Command::new(&self.program)
                .args(options)
                .args([level, "-kn", "-af", &rate_hz.to_string(), "-i"])
                .arg(file)
                .arg("-o")
                .arg(&target)
                .output()?;
            check(&output)?;
            Ok(std::fs::read(target)?)
        };
        Packed::read(&run(&[])?, run(&["-ac"])?)
    }

    /// Packs the bytes of a `.glb` file.
    pub(crate) fn pack_bytes(&self, glb: &[u8], level: &str, rate_hz: f32) -> Outcome<Packed> {
        let source = self.directory.path().join("source.glb");
        std::fs::write(&source, glb)?;
        self.pack(&source, level, rate_hz)
    }
}

fn check(output: &Output) -> Outcome<()> {
    if output.status.success() {
        return Ok(());
    }
    let said = [&output.stdout[..], &output.stderr].concat();
    Err(format!("gltfpack failed: {}", String::from_utf8_lossy(&said).trim()).into())
}

impl Packed {
    fn read(glb: &[u8], with_constants: Vec<u8>) -> Outcome<Self> {
        let (text, binary) = chunks(glb).ok_or("gltfpack wrote no binary glTF")?;
        let gltf: Value = serde_json::from_slice(text)?;
        let Used { accessors, views } = Used::by_joints(&gltf)?;
        let mut bytes = Vec::new();
        for view in &views {
            bytes.extend_from_slice(compressed(&gltf["bufferViews"][view], binary)?);
        }
        let part = |name: &str, indices: &BTreeSet<usize>| -> Vec<Value> {
            indices.iter().map(|index| gltf[name][index].clone()).collect()
        };
        let described = json!({
            "animations": gltf["animations"],
            "accessors": part("accessors", &accessors),
            "bufferViews": part("bufferViews", &views),
        });
        let json = serde_json::to_vec(&described)?;
        Ok(Self { with_constants, views: bytes, json })
    }
}

/// Returns the JSON and the binary part of a `.glb` file.
fn chunks(glb: &[u8]) -> Option<(&[u8], &[u8])> {
    let chunk = |at: usize| {
        let length = u32::from_le_bytes(*glb.get(at..)?.first_chunk()?) as usize;
        glb.get(at + 8..(at + 8).checked_add(length)?)
    };
    let text = chunk(12)?;
    Some((text, chunk(20 + text.len())?))
}

/// The accessors and the views that the channels of nodes use.
struct Used {
    accessors: BTreeSet<usize>,
    views: BTreeSet<usize>,
}

impl Used {
    fn by_joints(gltf: &Value) -> Outcome<Self> {
        let mut used = Self { accessors: BTreeSet::new(), views: BTreeSet::new() };
        let none = Vec::new();
        for animation in gltf["animations"].as_array().unwrap_or(&none) {
            let channels = animation["channels"].as_array().unwrap_or(&none);
            for channel in channels.iter().filter(|own| own["target"]["path"] != "weights") {
                let sampler = &animation["samplers"][index(&channel["sampler"])?];
                used.accessors.insert(index(&sampler["input"])?);
                used.accessors.insert(index(&sampler["output"])?);
            }
        }
        for accessor in &used.accessors {
            used.views.insert(index(&gltf["accessors"][accessor]["bufferView"])?);
        }
        Ok(used)
    }
}

fn index(value: &Value) -> Outcome<usize> {
    let index = value.as_u64().ok_or("gltfpack wrote an animation without data")?;
    Ok(usize::try_from(index)?)
}

/// Returns the bytes of a view as the file stores them.
fn compressed<'a>(view: &Value, binary: &'a [u8]) -> Outcome<&'a [u8]> {
    let extensions = &view["extensions"];
    let packed = ["EXT_meshopt_compression", "KHR_meshopt_compression"]
        .into_iter()
        .find_map(|name| extensions.get(name));
    let packed = packed.ok_or("gltfpack left an animation uncompressed")?;
    let begin = packed["byteOffset"].as_u64().unwrap_or(0) as usize;
    let length = index(&packed["byteLength"])?;
    let bytes = begin.checked_add(length).and_then(|end| binary.get(begin..end));
    bytes.ok_or_else(|| "gltfpack wrote a view outside of its file".into())
}
