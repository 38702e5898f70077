//! Loads a scene with ufbx. Loading stays within the budget and reads no other files.

use ufbx::{
    AllocatorOpts, ErrorType, FileFormat, LoadOpts, MirrorAxis, OpenFileCb, Scene, SceneRoot,
    SpaceConversion, WarningType,
};

use super::{ImportError, Note};
use crate::import::budget::Budget;

/// The maximum number of nodes above a node. Real skeletons nest less than 100 deep, and ropes a
/// few hundred.
const MAX_DEPTH: u32 = 1024;

/// The sample rate of files that do not state one.
const DEFAULT_RATE_HZ: f32 = 30.0;

/// Loads a scene. Its axes are right-handed with Y up, and lengths remain in the file's unit.
pub(super) fn load(
    file: &str,
    bytes: &[u8],
    budget: &mut Budget,
) -> Result<SceneRoot, ImportError> {
    // One half of the memory is for the scene, the other for ufbx's temporary data. A limit of 0
    // would mean no limit.
    let half = usize::try_from(budget.left() / 2).unwrap_or(usize::MAX).max(1);
    let limited = || AllocatorOpts { memory_limit: half, ..AllocatorOpts::default() };
    let options = LoadOpts {
        temp_allocator: limited(),
        result_allocator: limited(),
        ignore_geometry: true,
        ignore_embedded: true,
        skip_skin_vertices: true,
        // Any other format would use another reader, which might look for companion files.
        file_format: FileFormat::Fbx,
        load_external_files: false,
        open_file_cb: OpenFileCb::Ref(&|_, _| None),
        node_depth_limit: MAX_DEPTH,
        space_conversion: SpaceConversion::AdjustTransforms,
        target_axes: ufbx::axes_right_handed_y_up(),
        handedness_conversion_axis: MirrorAxis::X,
        ..LoadOpts::default()
    };
    let scene = ufbx::load_memory(bytes, options).map_err(|error| match error.type_ {
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => {
            budget.too_much(half as u64)
        }
        ErrorType::Unknown => bad(file, "the file is damaged".to_owned()),
        _ => bad(file, error.description.to_string()),
    })?;
    budget.take(scene.metadata.result_memory_used as u64)?;
    Ok(scene)
}

/// Returns the rate of the file's frames.
pub(super) fn rate_hz(scene: &Scene) -> f32 {
    let rate_hz = scene.settings.frames_per_second as f32;
    if rate_hz > 0.0 && rate_hz.is_finite() { rate_hz } else { DEFAULT_RATE_HZ }
}

/// Notes about faults of the file that ufbx tolerates.
pub(super) fn faults(file: &str, scene: &Scene) -> Vec<Note> {
    let faults = [
        (WarningType::UnsupportedVersion, "its version of FBX is not known"),
        (WarningType::TruncatedArray, "a list of numbers is cut off"),
        (WarningType::DuplicateObjectId, "two objects have one id"),
        (WarningType::BadElementConnectedToRoot, "an object is in the wrong place"),
        (WarningType::BadUnicode, "a name is not UTF-8"),
    ];
    let has = |fault: WarningType| scene.metadata.has_warning.get(fault as usize) == Some(&true);
    let found = faults.into_iter().filter(|(fault, _)| has(*fault));
    found.map(|(_, fault)| Note::Faulty { file: file.to_owned(), fault }).collect()
}

pub(super) fn bad(file: &str, reason: String) -> ImportError {
    ImportError::BadFbx { file: file.to_owned(), reason }
}
