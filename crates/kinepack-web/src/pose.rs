//! A pose as columns of numbers in the module's memory, which JavaScript reads.

#[cfg(feature = "figures")]
use kinepack_anim::Transform;
use kinepack_anim::{CM_PER_M, PoseWriter};

/// The numbers of a pose. It takes and gives lengths in centimetres, and has them in metres.
pub(crate) struct Columns {
    pub(crate) curves: Vec<f32>,
    translations: Vec<f32>,
    rotations: Vec<f32>,
    scales: Vec<f32>,
}

impl Columns {
    /// Makes a pose whose numbers are all 0.
    pub(crate) fn new(joints: usize, curves: usize) -> Self {
        Self {
            curves: vec![0.0; curves],
            translations: vec![0.0; 3 * joints],
            rotations: vec![0.0; 4 * joints],
            scales: vec![0.0; 3 * joints],
        }
    }

    /// The addresses of the translations, the rotations, the scales and the curves.
    pub(crate) fn places(&self) -> Vec<u32> {
        let Self { curves, translations, rotations, scales } = self;
        [translations, rotations, scales, curves].map(|list| list.as_ptr() as usize as u32).to_vec()
    }

    /// Copies the transforms to `joints`, as many as the pose has.
    #[cfg(feature = "figures")]
    pub(crate) fn read(&self, joints: &mut [Transform]) {
        let (translations_m, _) = self.translations.as_chunks();
        let (rotations, _) = self.rotations.as_chunks();
        let (scales, _) = self.scales.as_chunks();
        let lists = translations_m.iter().zip(rotations).zip(scales);
        for (joint, ((translation_m, rotation), scale)) in joints.iter_mut().zip(lists) {
            *joint = Transform {
                translation: translation_m.map(|metres: f32| metres * CM_PER_M),
                rotation: *rotation,
                scale: *scale,
            };
        }
    }
}

impl PoseWriter for Columns {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.rotations[4 * joint..][..4].copy_from_slice(&rotation);
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        let translation_m = translation.map(|cm| cm / CM_PER_M);
        self.translations[3 * joint..][..3].copy_from_slice(&translation_m);
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.scales[3 * joint..][..3].copy_from_slice(&scale);
    }

    fn curve(&mut self, curve: usize, value: f32) {
        // Block clips store curves in tracks of three, so the last ones may not exist.
        if let Some(place) = self.curves.get_mut(curve) {
            *place = value;
        }
    }
}
