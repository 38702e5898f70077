//! FBX files that are damaged or demand too much are refused, or are read within the limits.

use kinepack_anim::import::fbx::from_bytes;
use kinepack_anim::import::{Import, ImportError, ImportOptions, Note};
use proptest::prelude::*;

use super::fbx_scenes::{bones, scene};
use crate::support::fbx::{Keys, Property, Scene};

fn of(bytes: &[u8]) -> Result<Import, ImportError> {
    from_bytes("a.fbx", bytes, &ImportOptions::default())
}

fn said(bytes: &[u8]) -> String {
    of(bytes).unwrap_err().to_string()
}

#[test]
fn other_files_are_refused() {
    for bytes in [&b""[..], b"; FBX", b"HIERARCHY ROOT", &[0; 100], b"mtllib a.mtl\no a\nv 0 0 0\n"]
    {
        let error = of(bytes);
        let is_empty = error.as_ref().is_ok_and(|import| import.clips.is_empty());
        assert!(is_empty || matches!(error, Err(ImportError::BadFbx { .. })), "{error:?}");
    }
    assert!(said(b"HIERARCHY ROOT").starts_with("a.fbx: FBX: "));
}

#[test]
fn beginnings_of_a_file_are_read_or_refused() {
    let options = ImportOptions { max_memory_bytes: Some(1 << 20), ..ImportOptions::default() };
    for file in [scene(0.1).text().into_bytes(), scene(0.1).binary()] {
        assert_eq!(from_bytes("a.fbx", &file, &options).unwrap().clips.len(), 1);
        for end in 0..file.len() {
            let _ = from_bytes("a.fbx", &file[..end], &options);
        }
    }
}

proptest! {
    /// Files with changed bytes are read or refused.
    #[test]
    fn changed_files_never_panic(
        is_text in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut file = if is_text { scene(0.1).text().into_bytes() } else { scene(0.1).binary() };
        for (at, byte) in changes {
            let at = at.index(file.len());
            // Digits stay digits, so that more than the syntax changes.
            file[at] = if file[at].is_ascii_digit() { b'0' + byte % 10 } else { byte };
        }
        let options = ImportOptions { max_transforms: 1 << 12, ..ImportOptions::default() };
        if let Ok(import) = from_bytes("a.fbx", &file, &options) {
            for transform in import.clips.iter().flat_map(|clip| clip.poses().flatten()) {
                prop_assert!(transform.is_valid());
            }
        }
    }
}

#[test]
fn a_clip_has_at_most_as_many_samples_as_the_limits_allow() {
    let error = said(&scene(1e6).binary());
    assert!(error.contains("samples"), "{error}");
    let options = ImportOptions { max_transforms: 10, ..ImportOptions::default() };
    let error = from_bytes("a.fbx", &scene(1.0).binary(), &options).unwrap_err();
    assert!(matches!(error, ImportError::TooManyTransforms { samples: 25, .. }), "{error}");
}

#[test]
fn nodes_nest_up_to_a_limit() {
    assert_eq!(of(&bones(1000).binary()).unwrap().clips[0].joints(), 1000);
    let error = said(&bones(1100).binary());
    assert_eq!(error, "a.fbx: FBX: Node depth limit exceeded");
}

#[test]
fn a_node_that_is_below_itself_is_refused() {
    let mut scene = scene(1.0);
    let (a, b) = (scene.bone("a", 0, &[]), scene.bone("b", 0, &[]));
    scene.connect(a, b, None);
    scene.connect(b, a, None);
    assert!(said(&scene.binary()).starts_with("a.fbx: FBX: "));
}

#[test]
fn stacks_have_at_most_64_layers() {
    let layers = |count: usize| {
        let mut scene = scene(1.0);
        // The id of a stack is one less than that of its layer.
        let stack = scene.stack("more", [0.0, 1.0]) - 1;
        for _ in 1..count {
            scene.layer("layer", stack, &[]);
        }
        scene.binary()
    };
    let names = |import: &Import| -> Vec<String> {
        import.clips.iter().map(|clip| clip.name().to_owned()).collect()
    };
    let usual = of(&layers(64)).unwrap();
    assert_eq!((names(&usual).len(), usual.skipped.len()), (1, 0));
    // The stack with too many layers does not prevent reading the other stack.
    let import = of(&layers(65)).unwrap();
    assert_eq!(names(&import), names(&usual));
    assert_eq!(
        import.skipped[0].to_string(),
        "a.fbx: FBX: 65 layers, at most 64 are read; the animation more is skipped"
    );
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let mut scene = Scene::default();
    let bone = scene.bone("hip", 0, &[("Lcl Translation", "Lcl Translation", "A", &[0.0; 3])]);
    let layer = scene.stack("move", [0.0, 1.0]);
    let keys = [(0.0, 0.0), (1.0, f32::NAN)];
    scene.curve(layer, (bone, "Lcl Translation"), "d|X", Keys::Constant, &keys);
    assert!(matches!(of(&scene.binary()).unwrap_err(), ImportError::Clip { .. }));
    let mut scene = Scene::default();
    scene.bone("hip", 0, &[("Lcl Translation", "Lcl Translation", "A", &[f64::INFINITY; 3])]);
    scene.stack("move", [0.0, 1.0]);
    assert!(matches!(of(&scene.binary()).unwrap_err(), ImportError::Skeleton { .. }));
}

#[test]
fn a_scale_above_the_joints_must_be_the_same_along_all_axes() {
    let mut scene = Scene::default();
    let scale: Property<'_> = ("Lcl Scaling", "Lcl Scaling", "A", &[1.0, 2.0, 1.0]);
    let above = scene.node(("rig", "Null"), 0, &[scale]);
    let bone = scene.bone("hip", above, &[]);
    let layer = scene.stack("move", [0.0, 1.0]);
    scene.curve(layer, (bone, "Lcl Translation"), "d|X", Keys::Linear, &[(0.0, 0.0), (1.0, 1.0)]);
    let error = said(&scene.binary());
    assert!(
        error.starts_with("a.fbx: FBX: \"rig\" is above the joints and has a scale of 1 2 1; ")
    );
}

#[test]
fn no_other_file_is_read() {
    // Reading this cache would fail, because the file does not exist.
    let missing = "/missing/cache.xml";
    let mut scene = scene(1.0);
    let mesh = scene.object("Geometry", "Geometry", ("cloth", "Mesh"), 1, &[]);
    let kind = ("wind", "VertexCacheDeformer");
    let deformer = scene.object("Deformer", "Deformer", kind, mesh, &[]);
    let names: [Property<'_>; 2] = [
        ("CacheFileName", "KString", missing, &[]),
        ("CacheAbsoluteFileName", "KString", missing, &[]),
    ];
    scene.object("Cache", "Cache", ("wind", ""), deformer, &names);
    for file in [scene.text().into_bytes(), scene.binary()] {
        let import = of(&file).unwrap();
        assert_eq!((import.clips.len(), &import.notes[..]), (1, &[][..]));
        assert_eq!(import.left_out[0].to_string(), "vertex cache: wind");
    }
}

#[test]
fn faults_that_are_read_over_become_notes() {
    let mut scene = scene(1.0);
    scene.connect(4, 0, None);
    let import = of(&scene.binary()).unwrap();
    assert_eq!(import.clips.len(), 1);
    let [note] = &import.notes[..] else { panic!("{:?}", import.notes) };
    assert_eq!(note.to_string(), "a.fbx: an object is in the wrong place");
    assert!(matches!(note, Note::Faulty { .. }));
}
