//! Small files that need much memory are refused, unless the user allows more.

use std::fs;

use serde_json::json;

use super::document::Document;
use crate::support::program::{refusal, stdout};

#[test]
fn a_file_that_needs_too_much_memory_is_refused_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let mut document = Document::new(json!([{}]));
    document.channel(0, "scale", "STEP", &[0.0, 1000.0], &[[1.0; 3]; 2]);
    fs::write(at("far.glb"), document.glb()).unwrap();
    let said = refusal(&["anim", "raw", &at("far.glb"), &at("out"), "--max-memory", "1"]);
    assert!(
        said.contains("1048576 are allowed") && said.contains("allow more with --max-memory MIB"),
        "{said}"
    );
    stdout(&["anim", "raw", &at("far.glb"), &at("out"), "--max-memory", "2"]);
    assert_eq!(fs::metadata(at("out/far__Move.clip")).unwrap().len(), 16 + 4 + 40 * 30_002);
}
