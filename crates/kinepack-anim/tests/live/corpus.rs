//! Runs the drivers of the fuzz targets `vmc` and `face_csv` over their stored corpora, over every
//! prefix of each file, and over noise. `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim
//! live::corpus` writes the corpora again.

use super::packets::{apply, blend, bone, bundle, ok, t_pose, time};
use crate::corpora;
use crate::drivers::live as drivers;
use crate::random::Random;

/// Joins packets with their lengths, a few milliseconds apart.
fn joined(packets: &[Vec<u8>]) -> Vec<u8> {
    let one = |packet: &Vec<u8>| [&(packet.len() as u16).to_le_bytes(), &[5][..], packet].concat();
    packets.iter().flat_map(one).collect()
}

fn vmc_files() -> Vec<Vec<u8>> {
    let bones: Vec<Vec<u8>> = t_pose().iter().map(|(index, pose)| bone(*index, pose)).collect();
    let face = bundle(&[blend("Joy", 0.5), blend("A", 1.0), apply()]);
    let some = bundle(&[time(0.5), ok(1), bundle(&[bones[0].clone(), bones[1].clone()])]);
    let whole = [bundle(&bones), face.clone(), ok(1), time(1.0), bundle(&bones)];
    vec![joined(&whole), joined(&[some.clone(), face]), joined(&[bones[0].clone(), some])]
}

fn face_files() -> Vec<Vec<u8>> {
    let texts = [
        "Timecode,BlendShapeCount,JawOpen,HeadYaw\r\n14:03:52:28.207,61,0.5,0.1\r\n14:03:52:29.207,61,1,-0.1\r\n",
        "timecode,\"BlendShapeCount\",x,\"tongueOut\"\n23:59:59:59,0,,\n23:59:59:59,61,,\"0.25\"\n00:00:02:12,61,,0.5\n00:00:02:12,61,,0",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// The name, the files and the driver of each target.
type Target = (&'static str, Vec<Vec<u8>>, fn(&[u8]));

fn targets() -> [Target; 2] {
    [("vmc", vmc_files(), drivers::vmc), ("face_csv", face_files(), drivers::face_csv)]
}

#[test]
fn the_stored_corpora_are_up_to_date() {
    for (target, files, _) in targets() {
        corpora::compare(target, &files);
    }
}

#[test]
fn the_drivers_survive_every_beginning_of_the_corpora() {
    for (target, _, drive) in targets() {
        corpora::drive_beginnings(target, drive);
    }
}

#[test]
fn the_drivers_survive_changed_bytes() {
    let mut random = Random(62);
    for (_, files, drive) in targets() {
        for round in 0..2_000 {
            let mut data = files[round % files.len()].clone();
            for _ in 0..1 + random.below(8) {
                let at = random.below(data.len() as u32) as usize;
                data[at] = match random.below(2) {
                    0 => random.below(256) as u8,
                    _ => b"0123456789,.:\"\n/#"[random.below(17) as usize],
                };
            }
            drive(&data);
        }
    }
}
