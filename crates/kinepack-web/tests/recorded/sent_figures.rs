//! Records a page's own body: its poses, their lanes, and the packets that take them to a server.

use super::figures::{motion, options, plays, skeleton};
use super::*;

use kinepack_anim::CM_PER_M;
use kinepack_anim::figure::{Figure, FigurePose};

/// The id of the body in the server's world.
const BODY: EntityId = EntityId(7);

fn floats(numbers: impl IntoIterator<Item = f32>) -> String {
    hex(&numbers.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}

#[test]
fn bodies_that_a_page_sends() {
    let skeleton = skeleton();
    let mut figure = Figure::new(&skeleton, &options()).unwrap();
    let codec = StreamCodec::new(Schema::new(figure.fields()), StreamLevel::Adaptive).unwrap();
    let schema = Schema::builder().kind_of_fields("player", figure.fields()).build().unwrap();
    let config = StreamConfig { repeats: 2, ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec, config).unwrap();
    let mut server = StreamReceiver::new(&codec, config).unwrap();
    let mut text = format!(
        "# A page's own body, pose by pose: recorded by tests/recorded.rs.\n\
         stream adaptive 60 2 {} {}\n",
        hex(&skeleton.to_bytes()),
        hex(&codec.schema().to_bytes()),
    );
    let mut lanes = vec![0; figure.lane_count()];
    let (mut sent, mut received) = (Vec::new(), 0);
    for tick in 0..40 {
        let (mut joints, curves) = motion(&skeleton, tick, 0);
        let translations_m: Vec<_> = joints.iter().map(Transform::translation_m).collect();
        // A page has metres, so these are the exact numbers.
        for (joint, translation_m) in joints.iter_mut().zip(&translations_m) {
            joint.translation = translation_m.map(|metres| metres * CM_PER_M);
        }
        let has_hand = tick % 7 > 1;
        let pose = FigurePose {
            curves: &curves,
            clips: &plays(tick, 0),
            tier: usize::from(tick % 9 == 5),
            absent: if has_hand { &[] } else { &[0] },
            ..FigurePose::new(&joints)
        };
        figure.quantize(&pose, &mut lanes).unwrap();
        let number = sender.push_lanes(&lanes).unwrap().0;
        sent.push(lanes.clone());
        let _ = writeln!(
            text,
            "pose {tick} {} {} {} {has_hand} {} {number} {}",
            floats(translations_m.into_iter().flatten()),
            floats(joints.iter().flat_map(|joint| joint.rotation)),
            floats(curves),
            pose.tier,
            hex(&lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect::<Vec<u8>>()),
        );
        let datagram = sender.poll_transmit().unwrap().to_vec();
        let _ = writeln!(text, "transmit {}", hex(&datagram));
        if tick % 5 == 3 {
            continue;
        }
        // The server copies the lanes of each record into its world, so no bit is lost.
        let now = Duration::from_millis(17) * tick;
        for record in server.handle(now, &datagram).unwrap().records() {
            let mut world = Snapshot::new(&schema, Tick(tick));
            world.push_lanes_of(0, BODY, record.lanes).unwrap();
            let lanes = world.lanes_at(0);
            assert!(lanes.eq(sent[usize::from(record.number.0)].iter().copied()));
            received += 1;
        }
        let mut acknowledgement = Vec::new();
        server.write_acknowledgement(&mut acknowledgement);
        sender.handle(&acknowledgement).unwrap();
        let _ = writeln!(text, "acknowledge {}", hex(&acknowledgement));
    }
    assert_eq!(received, 40, "a repeat of each lost record");
    check("sent-figures", &text);
}
