//! The clips that the characters play.

use std::error::Error;
use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform};

use crate::walks;

/// Clips of one skeleton, and the number of clips that each character plays at a time.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) raw: Vec<RawClip>,
    /// The number of clips that a character plays at a time. Several clips are blended with equal
    /// weights.
    pub(crate) at_a_time: usize,
}

impl Scenario {
    pub(crate) fn all() -> Result<[Self; 4], Box<dyn Error>> {
        let raw = walks::clips(1)?;
        let waving = raw.iter().map(still).collect::<Result<Vec<_>, _>>()?;
        Ok([
            Self { name: "one clip, all joints turn", raw: raw.clone(), at_a_time: 1 },
            Self { name: "two clips blended", raw, at_a_time: 2 },
            Self { name: "one clip, 4 joints turn", raw: waving, at_a_time: 1 },
            Self { name: "one clip of one joint", raw: vec![coin()?], at_a_time: 1 },
        ])
    }

    pub(crate) fn skeleton(&self) -> &Arc<Skeleton> {
        self.raw[0].skeleton()
    }

    /// Returns the clips that a character plays, if `first` is one of them.
    pub(crate) fn played(&self, first: usize) -> impl Iterator<Item = usize> {
        (first..first + self.at_a_time).map(|index| index % self.raw.len())
    }
}

/// Returns the same clip, but only the right arm moves, out of the bind pose.
fn still(raw: &RawClip) -> Result<RawClip, Box<dyn Error>> {
    let bind = raw.skeleton().bind_pose();
    let moves = |joint: usize| (10..14).contains(&joint);
    let samples = raw.poses().flat_map(|pose| {
        pose.iter().zip(&bind).enumerate().map(
            move |(joint, (own, bind))| {
                if moves(joint) { *own } else { *bind }
            },
        )
    });
    Ok(RawClip::new(raw.name(), raw.skeleton().clone(), raw.rate_hz(), samples.collect())?)
}

/// Returns a clip of a coin that turns once in two seconds. The model has no other joints.
fn coin() -> Result<RawClip, Box<dyn Error>> {
    let coin = Joint { name: "coin".into(), parent: None, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![coin])?);
    let turned = |sample: i32| {
        let half = std::f32::consts::PI * sample as f32 / 60.0;
        Transform { rotation: [0.0, half.sin(), 0.0, half.cos()], ..Transform::IDENTITY }
    };
    Ok(RawClip::new("turn", skeleton, 30.0, (0..=60).map(turned).collect())?)
}
