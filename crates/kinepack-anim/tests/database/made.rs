//! Makes databases for the tests, of small clips built from smooth motion.

use std::sync::Arc;

use kinepack_anim::database::{ClipDatabase, DatabaseWriter};
use kinepack_anim::offline::{BlockOptions, BuildOptions, RigTrainer, Scheme, build};
use kinepack_anim::{Clip, Curve, Marker, RawClip, Rig, Skeleton, disk};

use crate::clip_support::smooth_clip;

/// Clips of one skeleton, which turn about different axes. The second clip has a curve and a
/// marker, and the third clip loops.
pub(crate) fn family(joints: usize, samples: usize) -> Vec<RawClip> {
    let first = smooth_clip(1, joints, samples);
    let clip = |seed: u64| {
        let other = smooth_clip(seed, joints, samples);
        let mut poses: Vec<_> = other.poses().flatten().copied().collect();
        if seed == 3 {
            poses.copy_within(..joints, (samples - 1) * joints);
        }
        let skeleton = Arc::clone(first.skeleton());
        RawClip::new("clip", skeleton, other.rate_hz(), poses).unwrap()
    };
    let mut clips: Vec<_> = (1..=4).map(clip).collect();
    let values = (0..samples).map(|sample| 0.01 * sample as f32).collect();
    let curve = Curve { name: "smile".into(), precision: 0.01, values };
    let marked = clips[1].clone().with_curves(vec![curve]).unwrap();
    clips[1] = marked.with_markers(vec![Marker { name: "step".into(), time_s: 0.1 }]).unwrap();
    clips
}

/// Returns the rig of some clips.
pub(crate) fn rig_of(clips: &[RawClip]) -> Arc<Rig> {
    let mut trainer = RigTrainer::new(clips[0].skeleton());
    clips.iter().for_each(|clip| trainer.add(clip, &BuildOptions::default()).unwrap());
    Arc::new(trainer.finish())
}

/// Returns a clip in its memory form.
pub(crate) fn built(raw: &RawClip, rig: Option<&Arc<Rig>>) -> Clip {
    let block = BlockOptions { rig: rig.cloned(), ..BlockOptions::default() };
    let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };
    Clip::clone(build(raw, &options).unwrap().clip.as_block().unwrap())
}

/// A database before it is written: its clips as they are added, and in their memory form.
pub(crate) struct Made {
    pub(crate) skeleton: Arc<Skeleton>,
    pub(crate) rig: Option<Arc<Rig>>,
    /// The clips sorted by name, each with its name, file and memory form.
    pub(crate) clips: Vec<(String, Vec<u8>, Vec<u8>)>,
}

impl Made {
    pub(crate) fn writer(&self) -> DatabaseWriter<'_> {
        match &self.rig {
            Some(rig) => DatabaseWriter::with_rig(&self.skeleton, rig).unwrap(),
            None => DatabaseWriter::new(&self.skeleton),
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = self.writer();
        for (name, file, _) in &self.clips {
            writer.add(&**name, &**file).unwrap();
        }
        writer.to_bytes()
    }
}

/// Returns a database of four clips. Two of them are disk files.
pub(crate) fn made(joints: usize, samples: usize, has_rig: bool) -> Made {
    let raw = family(joints, samples);
    let rig = has_rig.then(|| rig_of(&raw));
    let names = ["", "run/a", "run/b", "wälk"];
    let clips = names.into_iter().zip(&raw).enumerate().map(|(index, (name, raw))| {
        let clip = built(raw, rig.as_ref());
        let bytes = clip.as_bytes().to_vec();
        let file = if index % 3 == 0 { bytes.clone() } else { disk::pack(&clip).unwrap() };
        (name.to_owned(), file, bytes)
    });
    Made { skeleton: Arc::clone(raw[0].skeleton()), clips: clips.collect(), rig }
}

/// Two small databases, one without a rig and one with a rig.
pub(crate) fn both() -> [Made; 2] {
    [false, true].map(|has_rig| made(2, 12, has_rig))
}

/// Opens a database that is valid.
pub(crate) fn open(bytes: &[u8]) -> ClipDatabase<&[u8]> {
    ClipDatabase::from_bytes(bytes).unwrap()
}
