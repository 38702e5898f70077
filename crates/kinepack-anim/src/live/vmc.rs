//! Receives the Virtual Motion Capture protocol. Source: the specification of its "Marionette", the
//! side that receives, at <https://protocol.vmc.info>.
//!
//! The protocol does not mark where a frame ends. Some senders begin a frame with `/VMC/Ext/T` and
//! others end it so, some use a bundle for a frame and others a packet for each bone. A frame ends
//! here as soon as one of these happens:
//!
//! - All bones of earlier frames have arrived again. This is the usual case, and waits for nothing.
//! - `/VMC/Ext/T` or `/VMC/Ext/OK` arrives after a bone.
//! - A bone arrives for the second time.
//! - The sender pauses for [`PAUSE`] after a bone.
//!
//! Bones that a frame lacks, for example because a packet was lost, keep their last pose.

use std::collections::BTreeMap;
use std::time::Duration;

use super::OscError;
use super::bones::{BONE_COUNT, Bone};
use super::osc::{Message, Messages};

/// A pause after which a frame is complete. It is longer than a sender takes for the packets of a
/// frame, and shorter than the time between two frames.
const PAUSE: Duration = Duration::from_millis(8);

/// The maximum number of blend shapes that are kept, and the maximum length of their names.
const MAX_CURVES: usize = 256;
const MAX_NAME_BYTES: usize = 128;
/// The largest coordinate that is taken, in metres. No tracker sees that far, and the sum of two
/// positions in cm stays finite.
const MAX_POSITION_M: f32 = 1e6;

/// The position and the rotation of a bone, relative to the bone above it, or those of the root.
/// They are as VMC sends them: in metres, in Unity's left-handed space with y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BonePose {
    /// The position in metres.
    pub position_m: [f32; 3],
    /// The rotation as a quaternion `x, y, z, w`. In the T-pose of a normalized VRM model, it is
    /// the identity.
    pub rotation: [f32; 4],
}

impl BonePose {
    /// A bone at its parent's place, without a rotation.
    pub const IDENTITY: Self = Self { position_m: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// Returns the pose of seven numbers, or `None` if they are not finite, too large or no
    /// rotation.
    fn new([x, y, z, rotation @ ..]: [f32; 7]) -> Option<Self> {
        let pose = Self { position_m: [x, y, z], rotation };
        let length_squared: f32 = rotation.iter().map(|c| c * c).sum();
        let is_rotation = length_squared.is_finite() && length_squared > 0.25;
        let is_near = pose.position_m.iter().all(|c| c.abs() <= MAX_POSITION_M);
        (is_rotation && is_near).then_some(pose)
    }
}

/// A body at one moment, as VMC sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct VmcFrame {
    /// The root of the model.
    pub root: BonePose,
    /// The bones, in the order of [`BONES`](super::BONES). `None` for bones that never arrived.
    pub bones: [Option<BonePose>; BONE_COUNT],
    /// The values of the blend shapes, by name. A value is usually 0 to 1.
    pub curves: BTreeMap<String, f32>,
}

impl Default for VmcFrame {
    fn default() -> Self {
        Self { root: BonePose::IDENTITY, bones: [None; BONE_COUNT], curves: BTreeMap::new() }
    }
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmcStats {
    /// The packets that were read.
    pub packets: u64,
    /// The packets that were refused, because they are not OSC.
    pub refused: u64,
    /// The messages that were ignored: those for other purposes, unknown bones, values that are not
    /// finite, and positions beyond 1,000 km.
    pub ignored: u64,
    /// The frames that ended.
    pub frames: u64,
}

/// Receives the frames of a sender.
///
/// Give it each packet of the socket by [`handle`](Self::handle), and call [`poll`](Self::poll) a
/// few hundred times per second. VMC has no authentication: any program that reaches the port can
/// move the body. The memory is bounded, whatever arrives.
///
/// ```
/// use std::time::Duration;
/// use kinepack_anim::live::VmcReceiver;
///
/// let mut receiver = VmcReceiver::default();
/// let packet = b"/VMC/Ext/T\0\0,f\0\0\x40\x00\x00\x00";
/// assert_eq!(receiver.handle(Duration::ZERO, packet), Ok(false), "no bone, so no frame");
/// assert_eq!(receiver.time_s(), Some(2.0));
/// assert!(receiver.handle(Duration::ZERO, b"noise").is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct VmcReceiver {
    frame: VmcFrame,
    /// The frame that arrives now, and the bones of it that have arrived, as bits.
    next: VmcFrame,
    arrived: u64,
    /// The bones of all frames that ended. A frame that lost a packet does not shrink this set.
    known: u64,
    /// The blend shapes since the last `/VMC/Ext/Blend/Apply`.
    blends: BTreeMap<String, f32>,
    last_bone: Duration,
    time_s: Option<f32>,
    is_loaded: Option<bool>,
    stats: VmcStats,
}

impl VmcReceiver {
    /// Takes a packet. Returns whether a frame ended.
    ///
    /// # Errors
    /// Returns [`OscError`] if the packet is malformed; then only a counter has changed. Messages
    /// that are well-formed but not of VMC are ignored.
    pub fn handle(&mut self, now: Duration, packet: &[u8]) -> Result<bool, OscError> {
        let messages = Messages::check(packet).and_then(|()| Messages::new(packet));
        let messages = messages.inspect_err(|_| self.stats.refused += 1)?;
        self.stats.packets += 1;
        let before = self.stats.frames;
        for message in messages.flatten() {
            if self.take(now, &message).is_none() {
                self.stats.ignored += 1;
            }
        }
        Ok(self.stats.frames > before)
    }

    /// Ends the frame if its sender pauses. Returns whether a frame ended.
    pub fn poll(&mut self, now: Duration) -> bool {
        let pauses = self.arrived > 0 && now.saturating_sub(self.last_bone) >= PAUSE;
        if pauses {
            self.end();
        }
        pauses
    }

    /// The newest complete frame. Before the first frame, it has no bones.
    pub fn frame(&self) -> &VmcFrame {
        &self.frame
    }

    /// The sender's time in seconds, if it sends one.
    pub fn time_s(&self) -> Option<f32> {
        self.time_s
    }

    /// Whether the sender has loaded its model, if it says so. Without a model, it sends no bones.
    pub fn is_loaded(&self) -> Option<bool> {
        self.is_loaded
    }

    /// The receiver's counters.
    pub fn stats(&self) -> VmcStats {
        self.stats
    }

    /// Takes a message. Returns `None` if it is ignored.
    fn take(&mut self, now: Duration, message: &Message<'_>) -> Option<()> {
        match message.address {
            "/VMC/Ext/Bone/Pos" => {
                let (name, numbers) = message.text_and_numbers()?;
                let (bone, pose) = (Bone::find(name)?, BonePose::new(numbers)?);
                let bit = 1u64 << bone;
                if self.arrived & bit != 0 {
                    self.end();
                }
                self.next.bones[bone] = Some(pose);
                self.arrived |= bit;
                self.last_bone = now;
                if self.arrived == self.known {
                    self.end();
                }
            }
            "/VMC/Ext/Root/Pos" => {
                let (_, numbers) = message.text_and_numbers()?;
                self.next.root = BonePose::new(numbers)?;
            }
            "/VMC/Ext/Blend/Val" => {
                let (name, [value]) = message.text_and_numbers()?;
                self.blend(name, value)?;
            }
            "/VMC/Ext/Blend/Apply" => {
                // Both frames get the values, because they do not belong to certain bones.
                for (name, value) in std::mem::take(&mut self.blends) {
                    self.frame.curves.insert(name.clone(), value);
                    self.next.curves.insert(name, value);
                }
            }
            "/VMC/Ext/T" => {
                self.time_s = Some(message.first_number().filter(|time_s| time_s.is_finite())?);
                self.end_if_begun();
            }
            "/VMC/Ext/OK" => {
                self.is_loaded = Some(message.first_number()? != 0.0);
                self.end_if_begun();
            }
            _ => return None,
        }
        Some(())
    }

    fn blend(&mut self, name: &str, value: f32) -> Option<()> {
        let known = |curves: &BTreeMap<String, f32>| curves.contains_key(name);
        let is_known = known(&self.blends) || known(&self.next.curves);
        let has_room = self.blends.len() + self.next.curves.len() < MAX_CURVES;
        let is_valid = value.is_finite() && name.len() <= MAX_NAME_BYTES;
        if !is_valid || !(is_known || has_room) {
            return None;
        }
        match self.blends.get_mut(name) {
            Some(own) => *own = value,
            None => drop(self.blends.insert(name.to_owned(), value)),
        }
        Some(())
    }

    fn end_if_begun(&mut self) {
        if self.arrived > 0 {
            self.end();
        }
    }

    fn end(&mut self) {
        self.frame.root = self.next.root;
        self.frame.bones = self.next.bones;
        self.known |= self.arrived;
        self.arrived = 0;
        self.stats.frames += 1;
    }
}
