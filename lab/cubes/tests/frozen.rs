//! Runs with one player never change by a bit, because captures, the trained profile and the
//! README's numbers were made with them.
//!
//! A different hash means a different world. A new version of the engine may cause that, but a
//! change in this crate must not.

use cubes::{Config, Input, Script, Style, World};

/// A 64-bit FNV-1a hash.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn add_input(&mut self, input: Input) {
        let Input { left, right, up, down, push, pull } = input;
        self.add(&[left, right, up, down, push, pull].map(u8::from));
    }

    fn add_world(&mut self, world: &World) {
        for (_, body) in world.bodies() {
            let numbers = body.position.into_iter().chain(body.orientation).chain(body.velocity);
            numbers.for_each(|number| self.add(&number.to_bits().to_le_bytes()));
            self.add(&[u8::from(body.interacting)]);
        }
    }
}

/// Hashes of the script's keys and of all states.
fn run(style: Style, seed: u64, cubes: u32, ticks: u32) -> [u64; 2] {
    let mut world = World::new(&Config { cubes }).expect("a valid number of cubes");
    let mut script = Script::new(style, seed);
    let (mut keys, mut states) = (Hash::new(), Hash::new());
    states.add_world(&world);
    for _ in 0..ticks {
        let input = script.next_input(&world);
        keys.add_input(input);
        world.step(input);
        states.add_world(&world);
    }
    [keys.0, states.0]
}

#[test]
fn runs_match_the_frozen_hashes() {
    let runs = [
        ((Style::Typical, 1, 900, 600), [0x4C8D_B0E2_6D98_AEE8, 0x2F03_8EEA_ABB3_559E]),
        ((Style::Push, 2, 225, 900), [0x5A7D_6A6C_8CB9_9792, 0x80F1_D594_B98E_A6BF]),
        ((Style::Pull, 3, 225, 900), [0x649D_94E5_E692_0166, 0x5355_52DA_2500_8660]),
        ((Style::Typical, 4, 7, 1800), [0xEB0A_1DEB_75E2_C4CA, 0xC1C3_F203_A3F8_79F6]),
        ((Style::Typical, 5, 0, 600), [0xFB56_E59E_481C_5771, 0xE13B_0DD8_70A0_D54F]),
    ];
    for ((style, seed, cubes, ticks), frozen) in runs {
        let run = run(style, seed, cubes, ticks);
        assert!(
            run == frozen,
            "{style} {seed} {cubes} {ticks}: keys and states {run:X?}, not {frozen:X?}"
        );
    }
}
