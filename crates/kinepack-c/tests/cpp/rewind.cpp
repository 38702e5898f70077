// A client draws drones and a body over a network with delays and losses, and sends what it saw with
// its inputs. The server finds the same drones, and the same bones for its hit boxes.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "kinepack.hpp"
#include "link.hpp"

namespace {

constexpr uint32_t DRONE = 0, BODY = 1, BODY_ID = 50, DRONES = 8, TICK_HZ = 60;
constexpr uint64_t PLAYER = 7;

struct Drone {
  double place[2];
  uint16_t charge;
};

struct Bone {
  float rotation[4];
  float translation[3];
};

// All that the client draws of one moment.
struct Frame {
  double tick = -1.0;
  std::vector<uint32_t> ids;
  std::vector<Drone> drones;
  std::array<Bone, 2> bones{};
  bool has_body = false;
};

struct Input {
  uint16_t frame;
  KpSeen seen;
  uint8_t fires;
};

// Delays datagrams by some ticks, and loses every fifth.
struct LossyLink : Link {
  uint32_t sent = 0;

  void put(uint32_t tick, const uint8_t *bytes, size_t size) {
    sent += 1;
    if (sent % 5 != 0) add(tick + 2 + sent % 2, bytes, size);
  }
};

KpPose layout(std::array<Bone, 2> &bones) {
  KpPose pose{};
  pose.translations = bones[0].translation;
  pose.rotations = bones[0].rotation;
  pose.translation_stride = pose.rotation_stride = sizeof(Bone);
  pose.bones = bones.size();
  pose.number = KP_NUMBER_F32;
  pose.units_per_m = 100.0f;
  return pose;
}

std::array<Bone, 2> bones_at(uint32_t tick) {
  const float half = 0.5f * std::sin(0.05f * static_cast<float>(tick));
  return {{{{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 0.0f, 0.0f}},
           {{0.0f, 0.0f, std::sin(half), std::cos(half)}, {30.0f, 0.0f, 0.0f}}}};
}

uint64_t time_ns(uint32_t tick) { return tick * 1000000000ull / TICK_HZ; }

// Reads what a receiver shows, or a hub found, in the same way.
Frame read(const kinepack::Shown &from, kinepack::Figure &figure, double tick) {
  Frame frame;
  frame.tick = tick;
  frame.ids = from.ids(DRONE);
  frame.drones.resize(frame.ids.size());
  EXPECT(from.read(DRONE, frame.drones.data(), frame.drones.size(), &Drone::place, &Drone::charge) ==
         KP_STATUS_OK);
  const KpPose pose = layout(frame.bones);
  frame.has_body = figure.show(from, BODY, BODY_ID, pose) == KP_STATUS_OK;
  return frame;
}

bool is_equal(const Drone &one, const Drone &other) {
  return std::memcmp(one.place, other.place, sizeof one.place) == 0 && one.charge == other.charge;
}

bool are_equal(const Frame &one, const Frame &other) {
  return one.tick == other.tick && one.ids == other.ids && one.has_body == other.has_body &&
         std::equal(one.drones.begin(), one.drones.end(), other.drones.begin(), is_equal) &&
         std::memcmp(one.bones.data(), other.bones.data(), sizeof one.bones) == 0;
}

struct Session {
  Session()
      : start(bones_at(0)),
        skeleton({{"shoulder", -1}, {"elbow", 0}}, layout(start)),
        figure(skeleton, KpFigureOptions{}),
        of(schema_of_world()),
        inputs(schema_of_inputs()),
        codec(of, "adaptive"),
        hub(codec),
        receiver(codec, TICK_HZ),
        client(inputs, "adaptive", TICK_HZ),
        server(inputs, "adaptive", TICK_HZ),
        world(of) {}

  std::array<Bone, 2> start;
  kinepack::Skeleton skeleton;
  kinepack::Figure figure;
  kinepack::Schema of, inputs;
  kinepack::Codec codec;
  kinepack::Hub hub;
  kinepack::Receiver receiver;
  kinepack::StreamSender client;
  kinepack::StreamReceiver server;
  kinepack::Snapshot world;
  LossyLink down, up, input_link, answers;
  std::vector<Frame> drawn;
  size_t compared = 0;
  KpSeen last{};

  kinepack::Schema schema_of_world() {
    kinepack::SchemaBuilder builder;
    builder.kind("drone").floats("place", 2, -64.0, 64.0, 0.01).integer("charge", 0, 1000);
    return builder.figure("body", figure).build();
  }

  static kinepack::Schema schema_of_inputs() {
    kinepack::SchemaBuilder builder;
    return builder.integer("frame", 0, 65535).seen("seen").boolean("fires").build();
  }

  void simulate(uint32_t tick) {
    uint32_t ids[DRONES];
    Drone drones[DRONES];
    size_t count = 0;
    for (uint32_t nth = 0; nth < DRONES; ++nth) {
      if ((tick + 30 * nth) % 200 < 30) continue;
      const double angle = 0.01 * (nth + 1) * tick;
      ids[count] = nth;
      drones[count] = {{30.0 * std::cos(angle), 30.0 * std::sin(angle)},
                       static_cast<uint16_t>(tick / 7 % 1000)};
      count += 1;
    }
    world.clear(tick);
    EXPECT(world.add(DRONE, ids, drones, count, &Drone::place, &Drone::charge) == KP_STATUS_OK);
    std::array<Bone, 2> bones = bones_at(tick);
    EXPECT(figure.push(world, BODY, BODY_ID, {layout(bones)}) == KP_STATUS_OK);
    EXPECT(kp_hub_tick(hub, time_ns(tick), world) == KP_STATUS_OK);
    hub.transmit([&](uint64_t, const uint8_t *bytes, size_t size) { down.put(tick, bytes, size); });
  }

  // The client draws between two ticks, and makes an input.
  void draw(uint32_t tick) {
    const uint64_t now = time_ns(tick) + 3000000u + 4000000u * (tick % 3);
    for (auto bytes = down.take(tick); !bytes.empty(); bytes = down.take(tick)) {
      kp_receiver_handle(receiver, now, bytes.data(), bytes.size());
    }
    for (auto bytes = answers.take(tick); !bytes.empty(); bytes = answers.take(tick)) {
      kp_stream_sender_handle(client, bytes.data(), bytes.size());
    }
    KpPlayback playback;
    const bool plays = kp_receiver_play(receiver, now, &playback) == KP_STATUS_OK;
    const Input input = {static_cast<uint16_t>(drawn.size()), receiver.seen(), 1};
    EXPECT((input.seen.is_shown == 1) == plays);
    drawn.push_back(plays ? read(receiver.shown(), figure, playback.tick) : Frame{});
    EXPECT(client.push(input, &Input::frame, &Input::seen, &Input::fires) == KP_STATUS_OK);
    std::array<uint8_t, 1300> bytes;
    size_t size = 0;
    EXPECT(kp_stream_poll(client, bytes.data(), bytes.size(), &size) == KP_STATUS_OK);
    input_link.put(tick, bytes.data(), size);
    receiver.transmit(now, [&](const uint8_t *from, size_t size) { up.put(tick, from, size); });
  }

  void serve(uint32_t tick) {
    const uint64_t now = time_ns(tick) + 15000000u;
    for (auto bytes = up.take(tick); !bytes.empty(); bytes = up.take(tick)) {
      kp_hub_handle(hub, PLAYER, now, bytes.data(), bytes.size());
    }
    for (auto bytes = input_link.take(tick); !bytes.empty(); bytes = input_link.take(tick)) {
      Input records[16];
      size_t count = 0;
      EXPECT(server.handle(now, bytes.data(), bytes.size(), records, &count, &Input::frame,
                           &Input::seen, &Input::fires) == KP_STATUS_OK);
      for (size_t nth = 0; nth < count; ++nth) find(records[nth]);
    }
    std::array<uint8_t, 100> bytes;
    size_t size = 0;
    if (kp_stream_acknowledgement(server, bytes.data(), bytes.size(), &size) == KP_STATUS_OK) {
      answers.put(tick, bytes.data(), size);
    }
  }

  void find(const Input &input) {
    const Frame &expected = drawn[input.frame];
    double tick = -1.0;
    EXPECT(input.fires == 1);
    if (expected.tick < 0.0) {
      EXPECT(hub.rewind(PLAYER, input.seen, {}, tick) == KP_STATUS_NOTHING);
      return;
    }
    EXPECT(hub.rewind_all(PLAYER, input.seen, tick) == KP_STATUS_OK);
    EXPECT(are_equal(read(hub.past(), figure, tick), expected));
    EXPECT(hub.rewind(PLAYER, input.seen, {2, BODY_ID, 99}, tick) == KP_STATUS_OK);
    const Frame some = read(hub.past(), figure, tick);
    EXPECT(some.has_body == expected.has_body && some.ids.size() <= 1);
    EXPECT(std::memcmp(some.bones.data(), expected.bones.data(), sizeof some.bones) == 0);
    compared += expected.ids.size() + (expected.has_body ? 1 : 0);
    last = input.seen;
  }
};

void refuses(Session &session) {
  kinepack::Hub &hub = session.hub;
  double tick = -1.0;
  EXPECT(hub.rewind(PLAYER, session.last, {5, 4}, tick) == KP_STATUS_ARGUMENT);
  EXPECT(hub.rewind(PLAYER + 1, session.last, {}, tick) == KP_STATUS_ARGUMENT);
  EXPECT(hub.set_rewind({TICK_HZ, 0, 5000}) == KP_STATUS_ARGUMENT && tick == -1.0);
  KpSeen earlier = session.last;
  earlier.moment = std::fmod(earlier.moment + 255.0f, 256.0f);
  EXPECT(hub.rewind(PLAYER, earlier, {}, tick) == KP_STATUS_DATA);
  EXPECT(kinepack::error_text().find("in order") != std::string::npos);
  EXPECT(kp_hub_set_rewind(hub, nullptr) == KP_STATUS_OK);
  EXPECT(hub.rewind(PLAYER, session.last, {}, tick) == KP_STATUS_ARGUMENT);
  const kinepack::Shown past = hub.past();
  EXPECT(past.ids(BODY).size() == 1);
  hub.reset();
  EXPECT(past.ids(BODY).empty());
#if defined(__cpp_exceptions)
  session.receiver.reset();
  bool was_thrown = false;
  try {
    session.receiver.seen();
  } catch (const kinepack::Error &error) {
    was_thrown = error.status == KP_STATUS_HANDLE;
  }
  EXPECT(was_thrown);
#endif
}

// Columns and targets of a member that is a stamp.
void columns_of_stamps() {
  Input inputs[2]{};
  const auto from = kinepack::columns(inputs, &Input::frame, &Input::seen);
  const auto to = kinepack::targets(inputs, &Input::seen, &Input::frame);
  static_assert(from.size() == 1 + KP_SEEN_FIELDS && to.size() == from.size());
  EXPECT(from[1].data == &inputs->seen.is_shown && from[5].data == inputs->seen.missing);
  EXPECT(from[2].stride == sizeof(Input) && from[2].number == KP_NUMBER_F32);
  EXPECT(to[1].data == &inputs->seen.moment && to[5].data == &inputs->frame);
  const Input *none = nullptr;
  EXPECT(kinepack::columns(none, &Input::seen)[4].data == nullptr);
}

}  // namespace

int main() {
  columns_of_stamps();
  Session session;
  EXPECT(session.hub.set_rewind({TICK_HZ, 0, 0}) == KP_STATUS_OK);
  EXPECT(kp_hub_add(session.hub, PLAYER, 0, 0) == KP_STATUS_OK);
  for (uint32_t tick = 1; tick < 300; ++tick) {
    session.simulate(tick);
    session.draw(tick);
    session.serve(tick);
  }
  std::printf("%zu samples were found as they were drawn\n", session.compared);
  EXPECT(session.compared > 1500);
  refuses(session);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
