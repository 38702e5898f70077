//! Two hubs and two streams on one connection, distinguished by their channels.

use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{EntityId, Pack, Snapshot, Tick};
use kinepack_net::{
    Channel, DatagramKind, Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Refused, StreamConfig, StreamReceiver, StreamRefused, StreamSender, datagram_kind,
    split_datagram,
};

use crate::support::{Thing, codec};

const ID: ReceiverId = ReceiverId(7);

#[derive(Pack, Clone, Debug, PartialEq)]
struct Input {
    left: bool,
}

fn channel(number: u8) -> Channel {
    Channel::new(number).unwrap()
}

fn hub(number: u8, datagram_bytes: usize) -> Hub {
    let config = HubConfig { channel: channel(number), datagram_bytes, ..HubConfig::default() };
    let mut hub = Hub::new(&codec(), config).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub
}

fn receiver(number: u8) -> Receiver {
    let config = ReceiverConfig { channel: channel(number), ..ReceiverConfig::at_hz(60) };
    Receiver::new(&codec(), config).unwrap()
}

fn stream_config(number: u8) -> StreamConfig {
    StreamConfig { channel: channel(number), ..StreamConfig::at_hz(60) }
}

#[test]
fn each_datagram_reaches_its_endpoint() {
    let streams = StreamCodec::of::<Input>(StreamLevel::Packed).unwrap();
    // Channel 0 is the default. The largest datagrams have the same size in all channels.
    let numbers = [0, 9];
    let mut hubs = numbers.map(|number| hub(number, 200));
    let mut receivers = numbers.map(receiver);
    let mut senders =
        numbers.map(|number| StreamSender::new(&streams, stream_config(number)).unwrap());
    let mut sinks =
        numbers.map(|number| StreamReceiver::new(&streams, stream_config(number)).unwrap());
    let place = |datagram: &[u8]| usize::from(Channel::from_datagram(datagram).number() == 9);
    let (mut largest, mut inputs) = ([0, 0], [0, 0]);
    for tick in 1..=200u32 {
        let now = Duration::from_secs(1) * tick / 60;
        // The clients send answers and inputs.
        for nth in [0, 1] {
            while let Some(datagram) = receivers[nth].poll_transmit(now) {
                assert_eq!(place(datagram), nth);
                let other = hubs[1 - nth].handle(ID, now, datagram);
                let refused = Refused::Channel { number: numbers[nth] };
                assert!(other == Err(refused) || nth == 0, "{other:?}");
                hubs[nth].handle(ID, now, datagram).unwrap();
            }
            senders[nth].push(&Input { left: tick % 3 == nth as u32 }).unwrap();
            let packet = senders[nth].poll_transmit().unwrap().to_vec();
            let refused = sinks[1 - nth].handle(now, &packet).unwrap_err();
            assert_eq!(refused, StreamRefused::Channel { number: numbers[nth] });
            inputs[nth] += sinks[nth].handle(now, &packet).unwrap().records().count();
        }
        // The server sends both acknowledgements in front of one snapshot of either hub.
        for (nth, hub) in hubs.iter_mut().enumerate() {
            let mut world = Snapshot::new(codec().schema(), Tick(tick));
            for id in 0..40 {
                let angle = tick as f32 * 0.1 + id as f32;
                let thing = Thing {
                    position: [angle.sin() * 9.0, angle.cos() * 9.0, nth as f32],
                    orientation: [0.0, 0.0, angle.sin(), 1.5],
                    kind: nth as u8,
                    awake: true,
                };
                world.push(EntityId(id), &thing).unwrap();
            }
            hub.tick(now, &world).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                largest[nth] = largest[nth].max(datagram.len());
                let mut whole = Vec::new();
                assert!(sinks.iter().all(|sink| sink.write_acknowledgement(&mut whole)));
                whole.extend_from_slice(datagram);
                for part in split_datagram(&whole).unwrap() {
                    match datagram_kind(part).unwrap() {
                        DatagramKind::StreamAcknowledgement => {
                            senders[place(part)].handle(part).unwrap();
                        }
                        _ => {
                            let taken = receivers[place(part)].handle(now, part);
                            assert!(taken.is_ok(), "{taken:?}");
                        }
                    }
                }
            }
        }
    }
    assert_eq!(inputs, [200, 200]);
    assert!(largest.iter().all(|bytes| (190..=200).contains(bytes)), "{largest:?}");
    for (nth, receiver) in receivers.iter().enumerate() {
        let newest = receiver.newest().unwrap();
        assert_eq!(newest.get::<Thing>(EntityId(3)).unwrap().unwrap().kind, nth as u8);
    }
    assert!(senders.iter().all(|sender| sender.stats().full < 10), "acknowledged");
}
