//! The frames that a viewer can show. A peer's viewer has only the frames that can be decoded.

use kinepack_anim::{Transform, blend};

use crate::Outcome;
use crate::basis::{Layout, State};

/// Returns a peer's packet after its frame's number, which is not counted.
pub(crate) fn numbered(frame: usize, packet: &[u8]) -> Vec<u8> {
    let number = (frame as u32).to_le_bytes();
    number.iter().chain(packet).copied().collect()
}

/// The frames that a viewer has, in the order of time.
#[derive(Default)]
pub(crate) struct Frames(Vec<(usize, Vec<Transform>)>);

impl Frames {
    pub(crate) fn add(&mut self, frame: usize, pose: Vec<Transform>) {
        self.0.push((frame, pose));
    }

    /// Writes the pose at `moment`, between two frames. If no later frame is there, writes the
    /// newest one. Returns false before the first frame.
    pub(crate) fn write(&self, moment: f64, pose: &mut [Transform]) -> bool {
        let next = self.0.partition_point(|(frame, _)| *frame as f64 <= moment);
        let Some((from, before)) = next.checked_sub(1).map(|at| &self.0[at]) else { return false };
        pose.copy_from_slice(before);
        if let Some((to, after)) = self.0.get(next) {
            let passed = (moment - *from as f64) / (to - from) as f64;
            blend(pose, after, passed as f32);
        }
        true
    }
}

/// A viewer of a peer's packets.
pub(crate) struct PeerViewer<'a> {
    layout: &'a Layout,
    /// The newest keyframe with its number.
    keyframe: Option<(usize, State)>,
    pub(crate) frames: Frames,
    /// The pose of joints that the packets do not have.
    rest: Vec<Transform>,
}

impl<'a> PeerViewer<'a> {
    pub(crate) fn new(layout: &'a Layout, rest: Vec<Transform>) -> Self {
        Self { layout, keyframe: None, frames: Frames::default(), rest }
    }

    /// Decodes a packet if its keyframe is there.
    pub(crate) fn take(&mut self, datagram: &[u8]) -> Outcome<()> {
        let (number, packet) = datagram.split_first_chunk().ok_or("a packet without a number")?;
        let frame = u32::from_le_bytes(*number) as usize;
        let needed = self.layout.keyframe_of(frame);
        let state = if needed == frame {
            let state = self.layout.decode(packet, None)?;
            self.keyframe = Some((frame, state.clone()));
            state
        } else {
            let keyframe = self.keyframe.as_ref().filter(|(number, _)| *number == needed);
            let Some((_, keyframe)) = keyframe else { return Ok(()) };
            self.layout.decode(packet, Some(keyframe))?
        };
        let mut pose = self.rest.clone();
        self.layout.write_pose(&state, &mut pose);
        self.frames.add(frame, pose);
        Ok(())
    }
}
