//! Checks that nothing allocates after construction, and that memory stays constant, whatever
//! arrives.

use std::time::Duration;

use allocation_counter::measure;
use kinepack::Tick;
use kinepack_net::{Sequence, StreamConfig, StreamReceiver, StreamSender, split_datagram};

use super::world::{Input, Player, at, codec};
use crate::support::Random;

#[test]
fn both_ends_allocate_nothing() {
    let config =
        StreamConfig { repeats: 3, first_number: Sequence(65_000), ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    let memory = [sender.memory_bytes(), receiver.memory_bytes()];
    let mut player = Player::new(1);
    let (mut datagrams, mut back) = ([0; 512], Vec::with_capacity(5));
    let counted = measure(|| {
        for step in 0..2000 {
            sender.push(player.step()).unwrap();
            let datagram = sender.poll_transmit().unwrap();
            let end = 7 + datagram.len();
            datagrams[..7].copy_from_slice(&[5, 0, 0, 0, 0, 0, 0]);
            datagrams[7..end].copy_from_slice(datagram);
            if step % 10 == 3 {
                continue;
            }
            let packet = split_datagram(&datagrams[..end]).unwrap().last().unwrap();
            let handled = receiver.handle(at(step, 60), packet).unwrap();
            assert!(handled.records().next().is_some());
            receiver.record_for_tick(at(step, 60), Tick(65_000 + step)).unwrap();
            receiver.handle(at(step, 60), packet).unwrap_err();
            assert!(receiver.read::<Input>(receiver.newest().unwrap()).unwrap().is_some());
            if step % 4 == 0 {
                back.clear();
                assert!(receiver.write_acknowledgement(&mut back));
                sender.handle(&back).unwrap();
            }
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert_eq!([sender.memory_bytes(), receiver.memory_bytes()], memory);
}

#[test]
fn any_flood_allocates_nothing() {
    let config = StreamConfig::at_hz(60);
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    sender.push(Player::new(1).step()).unwrap();
    let first = sender.poll_transmit().unwrap().to_vec();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    receiver.handle(Duration::ZERO, &first).unwrap();
    let (memory, mut random) = (receiver.memory_bytes(), Random::new(9));
    let mut datagram = vec![0; 60_000];
    let counted = measure(|| {
        for step in 0..20_000 {
            let len = if step % 100 == 0 { 60_000 } else { random.below(40) as usize };
            datagram[..len].fill_with(|| random.next() as u8);
            if step % 2 == 0 && len > 11 {
                datagram[..11].copy_from_slice(&first[..11]);
                datagram[1] = random.next() as u8;
            }
            let _ = receiver.handle(at(step, 60), &datagram[..len]);
            let _ = sender.handle(&datagram[..len]);
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert_eq!(receiver.memory_bytes(), memory);
}
