//! Bad glTF files are refused with the place of the error, and reading them takes little memory.

use crate::support::{Document, arm, glb};
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportError, ImportOptions};
use kinepack_anim::{MAX_JOINTS, RawClipError, SkeletonError, Transform};
use serde_json::{Value, json};

fn import_bytes(bytes: &[u8]) -> Result<Import, ImportError> {
    from_bytes("a.glb", bytes, &ImportOptions::default(), no_files)
}

fn import(document: &Document) -> Result<Import, ImportError> {
    import_bytes(&document.glb())
}

/// Returns the document of the arm, with other values at the places `changes` of its JSON.
fn changed(changes: &[(&str, Value)]) -> Document {
    let mut document = arm();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = document.json.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value.clone(),
            _ => parent[key] = value.clone(),
        }
    }
    document
}

/// Returns the error message for the document of the arm with the changes `changes`.
fn said(changes: &[(&str, Value)]) -> String {
    let error = super::first_error(import(&changed(changes))).to_string();
    error.strip_prefix("a.glb: ").unwrap().to_owned()
}

#[test]
fn bad_containers_are_refused() {
    let good = arm().glb();
    for end in 0..good.len() {
        assert!(import_bytes(&good[..end]).is_err());
    }
    let with = |at: usize, word: u32| {
        let mut file = good.clone();
        file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        import_bytes(&file).unwrap_err().to_string()
    };
    assert_eq!(
        with(4, 1),
        "a.glb: glTF version \"1\": only 2.0 can be read: convert the file, for example with \
         gltf-pipeline"
    );
    // The header states a length shorter than the header itself.
    assert!(with(8, 0).contains("not a GLB file"));
    assert!(with(8, u32::MAX).contains("not a GLB file"));
    assert_eq!(with(12, u32::MAX), "a.glb: not a GLB file: its JSON chunk is cut off");
    assert_eq!(with(16, 0), "a.glb: not a GLB file: its first chunk is not JSON");
    let json = arm().json.to_string();
    let no_chunk = import_bytes(json.as_bytes()).unwrap_err().to_string();
    assert_eq!(no_chunk, "a.glb: buffer 0: there is no binary chunk");
    assert_eq!(
        import_bytes(&glb(json.as_bytes(), &[0; 8])).unwrap_err().to_string(),
        "a.glb: buffer 0: it has fewer bytes than its length"
    );
    assert!(import_bytes(b"[[[[").unwrap_err().to_string().starts_with("a.glb: not glTF: "));
    assert!(import_bytes(&b"[".repeat(1_000_000)).is_err());
    assert!(said(&[("/asset/version", json!("1.0"))]).starts_with("glTF version \"1.0\": "));
    assert!(
        said(&[("/extensionsRequired", json!(["MESHOPT_compression"]))])
            .starts_with("needs MESHOPT_compression")
    );
}

#[test]
fn nodes_that_are_not_a_tree_are_refused() {
    assert_eq!(said(&[("/nodes/1/children", json!([0]))]), "node 0: it is its own descendant");
    assert_eq!(
        said(&[("/nodes/1/children", json!([1]))]),
        "node 1: it is a child of two nodes, or twice a child of one"
    );
    assert_eq!(
        said(&[("/nodes/0/children", json!([1, 1]))]),
        "node 1: it is a child of two nodes, or twice a child of one"
    );
    assert_eq!(
        said(&[("/nodes/0/children", json!([4_000_000_000u32]))]),
        "node 0: it has a child that does not exist"
    );
    assert_eq!(
        said(&[("/skins/0/joints", json!([0, 4_000_000_000u32]))]),
        "skin 0: node 4000000000 does not exist"
    );
    assert!(said(&[("/skins/0/joints", json!([-1]))]).starts_with("not glTF: "));
}

/// `serde_json` makes a number beyond `f32` infinite. It refuses the number if another crate of the
/// build enables exact floats.
#[track_caller]
fn assert_beyond_floats(said: &str, ours: &str) {
    assert!(said == ours || said.starts_with("not glTF: number out of range"), "{said}");
}

#[test]
fn bad_transforms_are_refused() {
    let zero = "node 0: its rotation is not finite or has length zero";
    assert_eq!(said(&[("/nodes/0/rotation", json!([0, 0, 0, 0]))]), zero);
    assert_beyond_floats(&said(&[("/nodes/0/rotation", json!([1e300, 0, 0, 0]))]), zero);
    let not_finite = "node 0: its transform has a number that is not finite";
    assert_beyond_floats(&said(&[("/nodes/0/translation", json!([1e300, 0, 0]))]), not_finite);
    assert_beyond_floats(&said(&[("/nodes/0/scale", json!([1e300, 0, 0]))]), not_finite);
    let matrix =
        "node 0: its matrix has a number that is not finite, or is not a rotation with a scale";
    let with = |matrix: Value| said(&[("/nodes/0/matrix", matrix)]);
    assert_eq!(with(json!([1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])), matrix);
    assert_eq!(with(json!([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])), matrix);
    assert_beyond_floats(
        &with(json!([1e300, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])),
        matrix,
    );
    // The number is finite in the file, but not in cm.
    let mut document = arm();
    document.json["nodes"][0]["translation"] = json!([3e38, 0, 0]);
    let options = ImportOptions { unit_cm: Some(100.0), ..ImportOptions::default() };
    let error = from_bytes("a.glb", &document.glb(), &options, no_files).unwrap_err();
    assert!(
        matches!(
            error,
            ImportError::Skeleton { error: SkeletonError::BadBindPose { joint: 0 }, .. }
        ),
        "{error}"
    );
}

#[test]
fn static_scales_that_are_not_uniform_are_refused() {
    let still = |scale: Value| {
        said(&[
            ("/skins/0/joints", json!([1])),
            ("/animations/0/channels/0/target/node", json!(1)),
            ("/nodes/0/scale", scale),
        ])
    };
    assert!(
        still(json!([1, 2, 1]))
            .starts_with("node 0: it is above the joints and has a scale of 1 2 1; ")
    );
    assert!(
        still(json!([0, 0, 0]))
            .starts_with("node 0: it is above the joints and has a scale of 0 0 0; ")
    );
    assert!(still(json!([-1, 1, 1])).starts_with("node 0: "));
}

#[test]
fn accessors_out_of_bounds_are_refused() {
    let accessor = |field: &str, value: Value| said(&[(&format!("/accessors/1/{field}"), value)]);
    assert_eq!(accessor("bufferView", json!(99)), "accessor 1: its buffer view does not exist");
    assert_eq!(accessor("byteOffset", json!(4)), "accessor 1: it reaches beyond its buffer view");
    assert_eq!(
        accessor("byteOffset", json!(u64::MAX)),
        "accessor 1: it begins beyond its buffer view"
    );
    assert_eq!(
        accessor("type", json!("VEC3")),
        "accessor 1: rotations need four components, the others three"
    );
    assert_eq!(
        accessor("type", json!("VEC9")),
        "accessor 1: rotations need four components, the others three"
    );
    assert_eq!(
        accessor("componentType", json!(5121)),
        "accessor 1: its integers are not normalized"
    );
    assert_eq!(
        accessor("componentType", json!(1)),
        "accessor 1: its component type does not exist"
    );
    let times = |field: &str, value: Value| said(&[(&format!("/accessors/0/{field}"), value)]);
    assert_eq!(times("count", json!(3)), "accessor 0: it reaches beyond its buffer view");
    for count in [4_000_000_000, u64::MAX] {
        // The limit is 32 keys for each transform that fits into the memory allowed for a file of
        // this length.
        let file_bytes = changed(&[("/accessors/0/count", json!(count))]).glb().len();
        let keys = 32 * (((128 << 20) + 64 * file_bytes) / Transform::BYTES);
        let too_many = format!("accessor 0: its channels read more than {keys} keys together");
        assert_eq!(times("count", json!(count)), too_many);
    }
    assert_eq!(times("count", json!(0)), "animation 0, channel 0: it has no keys");
    assert_eq!(times("bufferView", Value::Null), "accessor 0: key times need a buffer view");
    assert_eq!(times("type", json!("VEC2")), "accessor 0: key times must be single floats");
    let view = |field: &str, value: Value| said(&[(&format!("/bufferViews/1/{field}"), value)]);
    assert_eq!(view("buffer", json!(7)), "accessor 1: its buffer does not exist");
    assert_eq!(
        view("byteOffset", json!(u64::MAX)),
        "accessor 1: its buffer view reaches beyond the buffer"
    );
    assert_eq!(
        view("byteLength", json!(u64::MAX)),
        "accessor 1: its buffer view reaches beyond the buffer"
    );
    assert_eq!(view("byteStride", json!(0)), "accessor 1: its elements overlap");
    assert_eq!(view("byteStride", json!(12)), "accessor 1: its elements overlap");
    assert_eq!(
        view("byteStride", json!(u64::MAX)),
        "accessor 1: it reaches beyond its buffer view"
    );
    assert_eq!(
        said(&[("/buffers/0/byteLength", json!(4_000_000_000u32))]),
        "buffer 0: it has fewer bytes than its length"
    );
    assert_eq!(
        said(&[("/buffers/0/uri", json!("data:;base64,$"))]),
        "buffer 0: its data is not in base64"
    );
    assert_eq!(said(&[("/buffers/0/uri", json!("data:x"))]), "buffer 0: its data is not in base64");
}

#[test]
fn bad_sparse_accessors_are_refused() {
    let with = |count: Value, indices: Value, values: Value| {
        let sparse = json!({ "count": count, "indices": indices, "values": values });
        said(&[("/accessors/1/sparse", sparse)])
    };
    let [indices, values] =
        [json!({ "bufferView": 1, "componentType": 5125 }), json!({ "bufferView": 1 })];
    let too_many = "accessor 1: it has more sparse elements than elements";
    assert_eq!(with(json!(u64::MAX), indices.clone(), values.clone()), too_many);
    assert_eq!(with(json!(3), indices.clone(), values.clone()), too_many);
    // The last component of a rotation is not an index.
    let end = json!({ "bufferView": 1, "componentType": 5125, "byteOffset": 12 });
    assert_eq!(with(json!(1), end, values), "accessor 1: a sparse index is beyond its elements");
    let late = json!({ "bufferView": 1, "byteOffset": 24 });
    assert_eq!(with(json!(1), indices, late), "accessor 1: it reaches beyond its buffer view");
}

#[test]
fn counts_that_do_not_fit_the_interpolation_are_refused() {
    let spline = said(&[("/animations/0/samplers/0/interpolation", json!("CUBICSPLINE"))]);
    assert_eq!(spline, "animation 0, channel 0: 2 values, but its key times need 6");
    let linear = said(&[("/animations/0/samplers/2/interpolation", json!("LINEAR"))]);
    assert_eq!(linear, "animation 0, channel 2: 6 values, but its key times need 2");
    let zeros = said(&[
        ("/accessors/1/count", json!(4_000_000_000u32)),
        ("/accessors/1/bufferView", Value::Null),
    ]);
    assert_eq!(zeros, "animation 0, channel 0: 4000000000 values, but its key times need 2");
}

#[test]
fn channels_of_missing_objects_are_refused() {
    let channel =
        |field: &str, value: Value| said(&[(&format!("/animations/0/channels/0/{field}"), value)]);
    assert_eq!(channel("sampler", json!(9)), "animation 0, channel 0: its sampler does not exist");
    assert_eq!(channel("target/node", json!(9)), "animation 0, channel 0: its node does not exist");
    let twice = json!({ "node": 1, "path": "scale" });
    assert_eq!(
        channel("target", twice),
        "animation 0, channel 1: another channel moves the same property"
    );
    let sampler =
        |field: &str, value: Value| said(&[(&format!("/animations/0/samplers/0/{field}"), value)]);
    assert_eq!(
        sampler("interpolation", json!("SMOOTH")),
        "animation 0, channel 0: its interpolation does not exist in glTF"
    );
    assert_eq!(sampler("input", json!(99)), "accessor 99: it does not exist");
    assert_eq!(sampler("output", json!(99)), "accessor 99: it does not exist");
}

/// Returns the error for the given keys of a joint's rotation.
fn error_of_keys(interpolation: &str, times: &[f32], values: &[[f32; 4]]) -> String {
    let mut document = Document::new(json!([{}]));
    document.channel(0, "rotation", interpolation, times, values);
    import(&document).unwrap_err().to_string()
}

#[test]
fn bad_keys_are_refused() {
    let one = [0.0, 0.0, 0.0, 1.0];
    let time = "a.glb: animation 0, channel 0: \
                the time of key 1 is not finite or not after the previous one";
    for second in [1.0, 0.5, -1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(error_of_keys("LINEAR", &[1.0, second], &[one; 2]), time);
    }
    let value = "a.glb: animation 0, channel 0: \
                 key 1 has a number that is not finite or a rotation of length zero";
    for second in [[0.0; 4], [f32::NAN, 0.0, 0.0, 1.0], [0.0, f32::INFINITY, 0.0, 1.0]] {
        assert_eq!(error_of_keys("STEP", &[0.0, 1.0], &[one, second]), value);
        assert_eq!(error_of_keys("LINEAR", &[0.0, 1.0], &[one, second]), value);
        assert_eq!(
            error_of_keys(
                "CUBICSPLINE",
                &[0.0, 1.0],
                &[[0.0; 4], one, [0.0; 4], [0.0; 4], second, [0.0; 4]]
            ),
            value
        );
    }
    let tangent = [f32::NAN; 4];
    assert_eq!(
        error_of_keys(
            "CUBICSPLINE",
            &[0.0, 1.0],
            &[[0.0; 4], one, [0.0; 4], tangent, one, [0.0; 4]]
        ),
        value
    );
    let back = one.map(|c| -c);
    let through = error_of_keys(
        "CUBICSPLINE",
        &[0.0, 1.0],
        &[[0.0; 4], one, [0.0; 4], [0.0; 4], back, [0.0; 4]],
    );
    assert_eq!(
        through,
        "a.glb: animation 0, channel 0: the spline of rotations goes through zero at 0.5 s"
    );
}

#[test]
fn values_beyond_floats_are_refused() {
    let mut document = Document::new(json!([{}]));
    document.channel(0, "translation", "STEP", &[0.0], &[[3e38, 0.0, 0.0]]);
    let error = import(&document).unwrap_err();
    assert!(
        matches!(error, ImportError::Clip { error: RawClipError::BadTransform { .. }, .. }),
        "{error}"
    );
}

#[test]
fn endless_durations_are_refused() {
    let lasting = |seconds: f32| {
        let mut document = Document::new(json!([{}]));
        document.channel(0, "scale", "STEP", &[0.0, seconds], &[[1.0; 3]; 2]);
        import(&document)
    };
    for seconds in [1e6, 1e30, f32::MAX] {
        let error = lasting(seconds).unwrap_err();
        assert!(
            matches!(error, ImportError::Clip { error: RawClipError::TooManySamples { .. }, .. }),
            "{error}"
        );
    }
    assert_eq!(lasting(1e-30).unwrap().clips[0].samples(), 1);
}

#[test]
fn clips_of_a_file_share_a_limit() {
    let mut document = arm();
    let animation = document.json["animations"][0].clone();
    document.json["animations"] = json!([animation.clone(), animation]);
    let limited = |max_transforms| {
        let options = ImportOptions { max_transforms, ..ImportOptions::default() };
        from_bytes("a.glb", &document.glb(), &options, no_files)
    };
    assert_eq!(limited(124).unwrap().clips.len(), 2);
    let error = limited(123).unwrap_err();
    assert!(
        matches!(error, ImportError::TooManyTransforms { joints: 2, samples: 31, limit: 123, .. }),
        "{error}"
    );
}

#[test]
fn keys_that_many_channels_read_are_limited() {
    let mut document = arm();
    let animation = document.json["animations"][0].clone();
    document.json["animations"] = vec![animation; 100].into();
    let limited = |max_transforms, rate_hz| {
        let options =
            ImportOptions { max_transforms, rate_hz: Some(rate_hz), ..ImportOptions::default() };
        from_bytes("a.glb", &document.glb(), &options, no_files)
    };
    // Each animation has a sample of two joints and 22 keys.
    assert_eq!(limited(200, 0.1).unwrap().clips.len(), 100);
    document.json["animations"].as_array_mut().unwrap().truncate(1);
    let times: Vec<[f32; 1]> = (0..1000).map(|key| [key as f32 / 1000.0]).collect();
    let (times, values) = (document.floats(&times), document.floats(&vec![[1.0; 3]; 1000]));
    document.channel_of(0, "scale", "LINEAR", times, values);
    let options = ImportOptions { max_transforms: 90, ..ImportOptions::default() };
    let error = from_bytes("a.glb", &document.glb(), &options, no_files).unwrap_err();
    assert!(matches!(error, ImportError::TooManyKeys { limit: 2880, .. }), "{error}");
}

#[test]
fn too_large_skeletons_are_refused_and_deep_hierarchies_read() {
    let chain = |count: usize| {
        let nodes = (0..count).map(|node| {
            if node + 1 < count { json!({ "children": [node + 1] }) } else { json!({}) }
        });
        let mut document = Document::new(nodes.collect());
        document.json["skins"] = json!([{ "joints": (0..count).collect::<Vec<_>>() }]);
        document.channel(0, "scale", "STEP", &[0.0], &[[1.0; 3]]);
        document
    };
    let error = import(&chain(MAX_JOINTS + 1)).unwrap_err();
    assert!(
        matches!(error, ImportError::Skeleton { error: SkeletonError::TooManyJoints { .. }, .. }),
        "{error}"
    );
    // This hierarchy is deep, but has few joints.
    let mut document = chain(100_000);
    document.json["skins"] = json!([{ "joints": [99_998, 99_999] }]);
    document.json["animations"][0]["channels"][0]["target"]["node"] = json!(99_999);
    assert_eq!(import(&document).unwrap().clips[0].joints(), 2);
}

/// Returns the document of the arm, with another animation in front of its own. This animation is
/// `Bad`, and its channels are `channels`.
fn beside_bad(channels: &[(usize, usize, &str)]) -> Document {
    let mut document = arm();
    let mut bad = document.json["animations"][0].clone();
    bad["name"] = json!("Bad");
    bad["channels"] = channels
        .iter()
        .map(|(sampler, node, path)| {
            json!({ "sampler": sampler, "target": { "node": node, "path": path } })
        })
        .collect();
    document.json["animations"].as_array_mut().unwrap().insert(0, bad);
    document
}

#[test]
fn bad_channels_are_skipped_and_the_rest_is_read() {
    // Sampler 0 has rotations, and sampler 1 has scales.
    let document = beside_bad(&[(0, 0, "rotation"), (0, 0, "rotation"), (1, 9, "scale")]);
    let import = import(&document).unwrap();
    let alone = import_bytes(&arm().glb()).unwrap();
    assert_eq!((import.clips.len(), import.clips[0].name()), (2, "a__Bad"));
    assert_eq!(import.clips[1], alone.clips[0]);
    // The valid channel next to the bad ones is played.
    let turned = |sample: usize| import.clips[0].pose(sample)[0].rotation;
    assert_eq!(turned(30), alone.clips[0].pose(30)[0].rotation);
    assert!(turned(30) != turned(0));
    let skipped: Vec<String> = import.skipped.iter().map(ToString::to_string).collect();
    let expected = [
        "a.glb: animation 0, channel 1: another channel moves the same property; \
         channel 1 of Bad is skipped",
        "a.glb: animation 0, channel 2: its node does not exist; channel 2 of Bad is skipped",
    ];
    assert_eq!(skipped, expected);
    assert_eq!((import.notes, import.left_out), (vec![], vec![]));
}

#[test]
fn bad_keys_cost_only_their_channel() {
    let one = [0.0, 0.0, 0.0, 1.0];
    let back = one.map(|c| -c);
    let zero = [0.0; 4];
    let through = [zero, one, zero, zero, back, zero];
    for (times, values, interpolation, reason) in [
        (&[0.0, 0.0][..], &[one; 2][..], "LINEAR", "key 1 is not finite or not after"),
        (&[1.0, 0.5], &[one; 2], "LINEAR", "key 1 is not finite or not after"),
        (&[0.0, 1.0], &[one; 3], "LINEAR", "3 values, but its key times need 2"),
        (&[0.0, 1.0], &[one, zero], "STEP", "a rotation of length zero"),
        (&[0.0, 1.0], &through, "CUBICSPLINE", "goes through zero at 0.5 s"),
    ] {
        let mut document = Document::new(json!([{}]));
        document.channel(0, "rotation", interpolation, times, values);
        document.channel(0, "translation", "LINEAR", &[0.0, 1.0], &[[0.0; 3], [1.0; 3]]);
        let import = import(&document).unwrap();
        let clip = &import.clips[0];
        let end = clip.pose(clip.samples() - 1)[0];
        assert_eq!((end.rotation, end.translation, clip.samples()), (one, [100.0; 3], 31));
        assert_eq!(clip.pose(15)[0].rotation, one);
        let [skipped] = &import.skipped[..] else { panic!("{:?}", import.skipped) };
        assert_eq!((&*skipped.animation, skipped.channel), ("Move", Some(0)));
        assert!(skipped.to_string().contains(reason), "{skipped}");
    }
}

#[test]
fn animations_that_make_no_clip_are_skipped() {
    let mut document = beside_bad(&[(0, 0, "rotation")]);
    // This clip would last 1e30 seconds.
    let times = document.floats(&[[0.0], [1e30]]);
    document.json["animations"][0]["samplers"][0]["input"] = json!(times);
    let import = import(&document).unwrap();
    assert_eq!((import.clips.len(), import.clips[0].name()), (1, "a__Move"));
    let [skipped] = &import.skipped[..] else { panic!("{:?}", import.skipped) };
    assert_eq!((&*skipped.animation, skipped.channel), ("Bad", None));
    assert!(skipped.to_string().ends_with("; the animation Bad is skipped"), "{skipped}");
    // If all channels are bad, the list of omitted parts also names the animation.
    let import = self::import(&beside_bad(&[(9, 0, "scale")])).unwrap();
    assert_eq!((import.clips.len(), import.skipped.len()), (1, 1));
    assert_eq!(import.left_out[0].to_string(), "animation without channels that can be read: Bad");
}

#[test]
fn a_missing_file_costs_only_the_channels_that_need_it() {
    let mut document = beside_bad(&[(0, 0, "rotation"), (1, 1, "scale")]);
    let buffers = document.json["buffers"].as_array_mut().unwrap();
    buffers.push(json!({ "byteLength": 8, "uri": "away.bin" }));
    let view = document.view(&[]);
    document.json["bufferViews"][view] = json!({ "buffer": 1, "byteLength": 8 });
    let accessor =
        json!({ "bufferView": view, "componentType": 5126, "count": 2, "type": "SCALAR" });
    let times = document.accessor(accessor);
    for sampler in 0..2 {
        document.json["animations"][0]["samplers"][sampler]["input"] = json!(times);
    }
    let mut calls = 0;
    let resolve = |_: &str, _: u64| {
        calls += 1;
        Err(std::io::ErrorKind::NotFound.into())
    };
    let import = from_bytes("a.glb", &document.glb(), &ImportOptions::default(), resolve).unwrap();
    let reasons: Vec<String> =
        import.skipped.iter().map(|skipped| skipped.error.to_string()).collect();
    assert_eq!((import.clips.len(), reasons.len(), calls), (1, 2, 1));
    assert!(reasons[0].starts_with("a.glb: buffer 1: its file: "), "{}", reasons[0]);
    assert_eq!(reasons[1], "a.glb: buffer 1: it cannot be loaded");
}

#[test]
fn older_versions_of_gltf_are_named() {
    // Version 1.0 has objects in place of lists.
    for version in [json!("1.0"), json!(1.0), json!("0.8")] {
        let text = json!({
            "asset": { "version": version }, "nodes": { "a": {} }, "animations": { "b": {} },
        });
        let error = import_bytes(text.to_string().as_bytes()).unwrap_err().to_string();
        let number = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        assert!(error.starts_with(&format!("a.glb: glTF version \"{number}\": ")), "{error}");
    }
    let other = import_bytes(br#"{ "asset": { "version": "2.0" }, "nodes": {} }"#).unwrap_err();
    assert!(matches!(other, ImportError::BadJson { .. }), "{other}");
}

#[test]
fn options_are_checked() {
    let nan = Some(f32::NAN);
    for options in [
        ImportOptions { rate_hz: nan, ..ImportOptions::default() },
        ImportOptions { frame_rate_hz: Some(0.0), ..ImportOptions::default() },
        ImportOptions { unit_cm: Some(-1.0), ..ImportOptions::default() },
    ] {
        let error = from_bytes("a.glb", &arm().glb(), &options, no_files).unwrap_err();
        assert!(matches!(error, ImportError::BadOption { .. }), "{error}");
    }
}
