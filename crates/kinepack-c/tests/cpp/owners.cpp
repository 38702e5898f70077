// The C++ header: owners, columns from members, errors with and without exceptions.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "check.hpp"
#include "kinepack.hpp"

namespace {

enum class Gun : uint8_t { Bow, Rocket };

struct Ship {
  float position[3];
  std::array<float, 4> rotation;
  Gun gun;
  int16_t health;
};

kinepack::Schema schema() {
  kinepack::SchemaBuilder builder;
  builder.floats("position", 3, -64.0, 64.0, 0.01).role(KP_ROLE_BODY);
  builder.rotation("rotation", 9).role(KP_ROLE_BODY).choice("gun", 1).integer("health", -5, 100);
  return builder.build();
}

struct Hit {
  uint8_t damage;
};

void ships() {
  const kinepack::Schema of = schema();
  const kinepack::Codec codec(of, "adaptive");
  kinepack::Snapshot world(of), received(of);
  kinepack::Encoder encoder(codec);
  kinepack::Decoder decoder(codec);
  kinepack::View sent(of), held(of);
  std::vector<uint8_t> packet;
  const uint32_t ids[] = {3, 9};
  for (uint32_t tick = 1; tick < 50; ++tick) {
    const float x = 0.1f * static_cast<float>(tick);
    const Ship ships[] = {{{x, 1.0f, 2.0f}, {0.0f, 0.0f, 0.0f, 1.0f}, Gun::Bow, 90},
                          {{-x, 3.0f, 4.0f}, {0.0f, 1.0f, 0.0f, 0.0f}, Gun::Rocket, -5}};
    world.clear(tick);
    EXPECT(world.add(0, ids, ships, 2, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health) ==
           KP_STATUS_OK);
    EXPECT(encoder.encode(sent, world, packet, sent) == KP_STATUS_OK);
    EXPECT(decoder.decode(held, packet.data(), packet.size(), tick, held) == KP_STATUS_OK);
    EXPECT(kp_view_get(held, received) == KP_STATUS_OK);
    Ship shown[2];
    EXPECT(received.read(0, shown, 2, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health) ==
           KP_STATUS_OK);
    EXPECT(std::fabs(shown[1].position[0] + x) < 0.0051f && shown[1].gun == Gun::Rocket);
    EXPECT(shown[0].health == 90 && shown[1].health == -5 && shown[1].rotation[1] > 0.99f);
  }
  EXPECT(packet.size() < 20);

  // An owner can be moved, and frees its object once.
  const KpView handle = held;
  kinepack::View moved = std::move(held);
  EXPECT(!held && moved.get().id == handle.id);  // NOLINT: what was moved is empty
  held = std::move(moved);
  held.reset();
  uint32_t tick = 0;
  EXPECT(kp_view_tick(handle, &tick) == KP_STATUS_HANDLE);
  EXPECT(kp_view_get(held, received) == KP_STATUS_HANDLE);
}

// Reads the only ship that an object shows, whatever the object is.
bool is_read(const kinepack::Shown &from, Ship (&ship)[1]) {
  return from.read(0, ship, 1, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health) ==
         KP_STATUS_OK;
}

void hub_and_receiver() {
  const kinepack::Schema of = schema();
  const kinepack::Codec codec(of, "packed");
  kinepack::SchemaBuilder builder;
  const kinepack::Codec hits(builder.integer("damage", 0, 100).build(), "packed");
  const kinepack::Events events(hits);
  KpHubOptions hub_options{};
  KpReceiverOptions receiver_options{};
  hub_options.events = receiver_options.events = events;
  kinepack::Hub hub(codec, hub_options);
  kinepack::Receiver receiver(codec, 60, receiver_options);
  kinepack::Snapshot world(of);
  EXPECT(kp_hub_add(hub, 7, 0, 0) == KP_STATUS_OK);
  const uint32_t ids[] = {3};
  int arrived = 0;
  size_t spawned = 0;
  for (uint32_t tick = 1; tick < 60; ++tick) {
    const uint64_t now = tick * 16666667ull;
    const Ship ship = {{1.0f, 1.0f, 2.0f}, {0.0f, 0.0f, 0.0f, 1.0f}, Gun::Bow, 90};
    EXPECT(receiver.transmit(now, [&](const uint8_t *bytes, size_t size) {
      kp_hub_handle(hub, 7, now, bytes, size);
    }) == KP_STATUS_OK);
    world.clear(tick);
    world.add(0, ids, &ship, 1, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health);
    if (tick == 30) EXPECT(hub.emit(0, Hit{42}, &Hit::damage) == KP_STATUS_OK);
    EXPECT(kp_hub_tick(hub, now, world) == KP_STATUS_OK);
    EXPECT(hub.transmit([&](uint64_t whom, const uint8_t *bytes, size_t size) {
      EXPECT(whom == 7);
      kp_receiver_handle(receiver, now, bytes, size);
    }) == KP_STATUS_OK);
    KpPlayback playback;
    if (kp_receiver_play(receiver, now, &playback) != KP_STATUS_OK) continue;
    Ship shown[1];
    EXPECT(receiver.shown().ids(0) == std::vector<uint32_t>{3});
    spawned += receiver.shown().added().size();
    EXPECT(receiver.shown().removed().empty() && receiver.shown().cut().empty());
    EXPECT(is_read(receiver.shown(), shown));
    EXPECT(shown[0].health == 90);
    KpEvent event;
    while (kp_shown_next_event(receiver.shown(), &event) == KP_STATUS_OK) {
      Hit hit{};
      EXPECT(receiver.shown().read_event(event.kind, hit, &Hit::damage) == KP_STATUS_OK && hit.damage == 42);
      arrived += 1;
    }
  }
  EXPECT(arrived == 1 && spawned == 1);
  const kinepack::Shown shown = receiver.shown();
  receiver.reset();
  EXPECT(shown.ids(0).empty());
  EXPECT(shown.added().empty() && shown.removed().empty() && shown.cut().empty());
  EXPECT(shown.places(0).empty());
  Ship ship[1];
  EXPECT(!is_read(shown, ship));
#if defined(__cpp_exceptions)
  // An exception of the callback reaches the caller, and the hub remains usable.
  world.clear(61);
  kp_hub_tick(hub, 61 * 16666667ull, world);
  bool was_thrown = false;
  try {
    hub.transmit([](uint64_t, const uint8_t *, size_t) { throw 5; });
  } catch (int) {
    was_thrown = true;
  }
  EXPECT(was_thrown);
  world.clear(62);
  EXPECT(kp_hub_tick(hub, 62 * 16666667ull, world) == KP_STATUS_OK);
#endif
}

void budgets() {
  const kinepack::Schema of = schema();
  const kinepack::Codec codec(of, "packed");
  kinepack::Hub hub(codec);
  EXPECT(kp_hub_add(hub, 7, 0, 0) == KP_STATUS_OK);
  EXPECT(!hub.link(7).follows_link);
  EXPECT(hub.set_budget(7, {KP_BUDGET_KIND_AUTO, 20000}, 0) == KP_STATUS_OK);
  EXPECT(hub.set_budget(7, {KP_BUDGET_KIND_AUTO, 255}, 0) == KP_STATUS_ARGUMENT);
  EXPECT(hub.set_uplink(100000) == KP_STATUS_OK && hub.set_uplink(255) == KP_STATUS_ARGUMENT);
  const KpLinkStatus link = hub.link(7);
  EXPECT(link.follows_link && link.limit == KP_LINK_LIMIT_CONTENT && link.bytes_per_s == 20000);
#if defined(__cpp_exceptions)
  bool was_thrown = false;
  try {
    hub.link(8);
  } catch (const kinepack::Error &error) {
    was_thrown = error.status == KP_STATUS_ARGUMENT;
  }
  EXPECT(was_thrown);
#else
  EXPECT(!hub.link(8).follows_link && kinepack::error_text().find('8') != std::string::npos);
#endif
}

void broadcast() {
  const kinepack::Schema of = schema();
  const kinepack::Codec codec(of, "packed");
  const kinepack::Catalogue catalogue(60, codec);
  const std::vector<uint8_t> bytes = catalogue.to_bytes();
  const kinepack::Catalogue received(bytes.data(), bytes.size());
  EXPECT(received.find("third") == 1 && received.find("tenth") == -1);
  kinepack::Publisher publisher(catalogue);
  kinepack::Viewer viewer(received);
  EXPECT(viewer.wanted().empty() && viewer.watch({1}) == KP_STATUS_OK);
  EXPECT(viewer.wanted().size() == 2);
  kinepack::Snapshot world(of);
  const uint32_t ids[] = {3};
  int played = 0;
  for (uint32_t tick = 1; tick < 90; ++tick) {
    const uint64_t now = tick * 16666667ull;
    const Ship ship = {{1.0f, 1.0f, 2.0f}, {0.0f, 0.0f, 0.0f, 1.0f}, Gun::Bow, 90};
    world.clear(tick);
    world.add(0, ids, &ship, 1, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health);
    const std::vector<KpTrack> wanted = viewer.wanted();
    EXPECT(publisher.publish(world, [&](const KpPiece &piece, const uint8_t *data, size_t size) {
      for (const KpTrack &track : wanted) {
        if (track.tier != piece.tier || track.kind != piece.track) continue;
        EXPECT(kp_viewer_take(viewer, now, &piece, data, size, nullptr) == KP_STATUS_OK);
      }
    }) == KP_STATUS_OK);
    KpPlayback playback;
    if (kp_viewer_play(viewer, now, &playback) != KP_STATUS_OK) continue;
    Ship shown[1];
    EXPECT(viewer.shown().ids(0) == std::vector<uint32_t>{3});
    EXPECT(is_read(viewer.shown(), shown));
    EXPECT(shown[0].health == 90);
    played += 1;
  }
  EXPECT(played > 50);
  // The last object of a tier may wait for further snapshots.
  bool is_drained = false;
  uint32_t last = 0;
  EXPECT(publisher.drain(89, is_drained, [&](const KpPiece &piece, const uint8_t *, size_t) {
    last = piece.tick;
  }) == KP_STATUS_OK);
  EXPECT(is_drained && (last == 0 || last >= 80));
  // The tick was published already.
  EXPECT(publisher.publish(world, [](const KpPiece &, const uint8_t *, size_t) {}) ==
         KP_STATUS_ARGUMENT);
#if defined(__cpp_exceptions)
  bool was_thrown = false;
  try {
    const kinepack::Catalogue cut(bytes.data(), bytes.size() - 1);
  } catch (const kinepack::Error &error) {
    was_thrown = error.status == KP_STATUS_DATA;
  }
  EXPECT(was_thrown);
#else
  const kinepack::Catalogue cut(bytes.data(), bytes.size() - 1);
  EXPECT(!cut);
#endif
}

void streams_without_headers() {
  const kinepack::Schema of = schema();
  const kinepack::StreamCodec codec(of, "adaptive");
  kinepack::StreamBase base(codec);
  const Ship ship = {{1.0f, 1.0f, 2.0f}, {0.0f, 0.0f, 0.0f, 1.0f}, Gun::Bow, 90};
  const auto from = kinepack::columns(&ship, &Ship::position, &Ship::rotation, &Ship::gun, &Ship::health);
  std::array<uint8_t, 200> packet;
  size_t size = 0, first_size = 0;
  for (int nth = 0; nth < 3; ++nth) {
    KpStreamBase last{0};
    EXPECT(kp_stream_encode(codec, base, 1, from.data(), from.size(), 1, packet.data(), packet.size(),
                            &size, &last) == KP_STATUS_OK);
    base = kinepack::StreamBase(last);
    if (nth == 0) first_size = size;
  }
  // A record that equals the previous one may take no bytes.
  EXPECT(size < first_size);
}

// A transform of an engine, in centimetres.
struct Bone {
  float rotation[4];
  float translation[3];
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

void figures() {
  std::array<Bone, 2> bones = {{{{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 0.0f, 0.0f}},
                               {{0.0f, 0.0f, 0.0f, 1.0f}, {30.0f, 0.0f, 0.0f}}}};
  const kinepack::Skeleton skeleton({{"shoulder", -1}, {"elbow", 0}}, layout(bones));
  const uint32_t elbow = 1;
  EXPECT(skeleton.find("elbow") == static_cast<int32_t>(elbow));
  const KpFigureCurve grip = {"grip", 0.0f, 1.0f, 0.01f};
  const KpFigurePart forearm = {"forearm", &elbow, 1, nullptr, 0};
  KpFigureOptions options{};
  options.curves = &grip;
  options.parts = &forearm;
  options.curve_count = options.part_count = 1;
  kinepack::Figure body(skeleton, options);
  EXPECT(body.info().joints == 2 && body.info().curves == 1 && body.info().parts == 1);
  EXPECT(body.max_error_cm(1) > 0.0 && body.max_error_cm(1) <= 0.5);
  kinepack::SchemaBuilder builder;
  const kinepack::Schema of = builder.figure("player", body).build();
  const kinepack::Codec codec(of, "packed");
  kinepack::Hub hub(codec);
  kinepack::Receiver receiver(codec, 60);
  kinepack::Snapshot world(of);
  EXPECT(kp_hub_add(hub, 7, 0, 0) == KP_STATUS_OK);
  int with_forearm = 0, without = 0;
  for (uint32_t tick = 1; tick < 60; ++tick) {
    const uint64_t now = tick * 16666667ull;
    receiver.transmit(now, [&](const uint8_t *bytes, size_t size) {
      kp_hub_handle(hub, 7, now, bytes, size);
    });
    bones[1].rotation[2] = 0.6f;
    bones[1].rotation[3] = 0.8f;
    const std::vector<uint32_t> absent(tick > 40 ? 1 : 0);
    world.clear(tick);
    EXPECT(body.push(world, 0, 3, {layout(bones), {0.5f}, absent}) == KP_STATUS_OK);
    EXPECT(body.is_present(world, 0, 3, 0) == absent.empty() && !body.is_present(world, 0, 4, 0));
    EXPECT(kp_hub_tick(hub, now, world) == KP_STATUS_OK);
    hub.transmit([&](uint64_t, const uint8_t *bytes, size_t size) {
      kp_receiver_handle(receiver, now, bytes, size);
    });
    KpPlayback playback;
    if (kp_receiver_play(receiver, now, &playback) != KP_STATUS_OK) continue;
    std::array<Bone, 2> shown{};
    float value = 0.0f;
    EXPECT(body.show(receiver.shown(), 0, 3, layout(shown), &value, 1) == KP_STATUS_OK);
    EXPECT(std::fabs(value - 0.5f) <= 0.0101f);
    if (body.is_shown(receiver.shown(), 0, 3, 0)) {
      EXPECT(std::fabs(shown[1].rotation[2] - 0.6f) < 0.02f && shown[1].translation[0] == 30.0f);
      with_forearm += 1;
    } else {
      EXPECT(shown[1].rotation[2] == 0.0f && shown[0].rotation[3] > 0.99f);
      without += 1;
    }
  }
  EXPECT(with_forearm > 10 && without > 5);
  std::array<Bone, 2> read{};
  EXPECT(body.read(world, 0, 3, layout(read)) == KP_STATUS_OK && read[0].rotation[3] > 0.99f);
  EXPECT(body.read(world, 0, 4, layout(read)) == KP_STATUS_NOTHING);
}

// A body that is farther than 10 m is sent in coarse steps.
void rings() {
  std::array<Bone, 2> bones = {{{{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 0.0f, 0.0f}},
                               {{0.0f, 0.0f, 0.0f, 1.0f}, {30.0f, 0.0f, 0.0f}}}};
  const kinepack::Skeleton skeleton({{"shoulder", -1}, {"elbow", 0}}, layout(bones));
  const double coarser = 4.0;
  KpFigureOptions options{};
  options.coarser = &coarser;
  options.coarser_count = 1;
  kinepack::Figure body(skeleton, options);
  EXPECT(body.info().tiers == 2);
  EXPECT(body.max_error_cm(1, 1) > 0.5 && body.max_error_cm(1, 1) <= 2.0);
  kinepack::SchemaBuilder builder;
  const kinepack::Schema of = builder.figure("player", body).boolean("is_armed").build();
  const kinepack::Codec codec(of, "packed");
  kinepack::Hub hub(codec);
  kinepack::Receiver receiver(codec, 60);
  kinepack::Snapshot fine(of), coarse(of), newest(of);
  EXPECT(kp_hub_add(hub, 7, 0, 0) == KP_STATUS_OK);
  kinepack::Rings around;
  EXPECT(hub.set_rings(around) == KP_STATUS_ARGUMENT);
  around.positions = {"player." + body.position_field()};
  around.urgent = {"player.is_armed"};
  around.rings = {{1000.0, 1100.0, 1, 0, 0}};
  around.cell = 100.0;
  around.beyond = 1;
  EXPECT(hub.set_rings(around) == KP_STATUS_OK);
  const uint8_t is_armed = 1;
  kinepack::FigurePose pose;
  pose.joints = layout(bones);
  pose.others = {{&is_armed, 0, KP_NUMBER_U8, 0}};
  bones[1].rotation[2] = 0.6f;
  bones[1].rotation[3] = 0.8f;
  int compared = 0;
  for (uint32_t tick = 1; tick < 30; ++tick) {
    const uint64_t now = tick * 16666667ull;
    receiver.transmit(now, [&](const uint8_t *bytes, size_t size) {
      kp_hub_handle(hub, 7, now, bytes, size);
    });
    for (uint32_t tier = 0; tier < 2; ++tier) {
      kinepack::Snapshot &world = tier == 0 ? fine : coarse;
      world.clear(tick);
      pose.tier = tier;
      EXPECT(body.push(world, 0, 3, pose) == KP_STATUS_OK);
    }
    if (tick == 10) EXPECT(hub.set_viewpoint(7, {5000.0, 0.0, 0.0}) == KP_STATUS_OK);
    if (tick == 20) EXPECT(hub.clear_viewpoint(7) == KP_STATUS_OK);
    EXPECT(hub.tick(now, {fine, coarse}) == KP_STATUS_OK);
    hub.transmit([&](uint64_t, const uint8_t *bytes, size_t size) {
      kp_receiver_handle(receiver, now, bytes, size);
    });
    if (kp_receiver_newest(receiver, newest) != KP_STATUS_OK) continue;
    uint64_t hash = 0, expected = 0;
    kp_snapshot_hash(newest, &hash);
    kp_snapshot_hash(tick >= 10 && tick < 20 ? coarse : fine, &expected);
    EXPECT(hash == expected);
    compared += 1;
  }
  EXPECT(compared > 25);
}

// A buoy whose place may be coarser: by as many bits as it says.
void coarser_fields() {
  kinepack::SchemaBuilder builder;
  const kinepack::Schema of = builder.integer("bits", 0, 4)
                                  .floats("place", 1, -64.0, 64.0, 0.25)
                                  .coarser("bits", 3)
                                  .build();
  kinepack::Snapshot world(of);
  const uint32_t id = 7;
  const uint8_t bits = 4;
  double place = 4.25;
  const KpColumn columns[2] = {{&bits, 1, KP_NUMBER_U8, 0}, {&place, 8, KP_NUMBER_F64, 0}};
  EXPECT(kp_snapshot_add(world, 0, &id, 1, columns, 2) == KP_STATUS_ARGUMENT);
  place = 4.0;
  EXPECT(kp_snapshot_add(world, 0, &id, 1, columns, 2) == KP_STATUS_OK);
}

void errors() {
#if defined(__cpp_exceptions)
  bool was_thrown = false;
  try {
    kinepack::Codec codec(schema(), "fastest");
  } catch (const kinepack::Error &error) {
    was_thrown = error.status == KP_STATUS_ARGUMENT &&
                 std::string(error.what()).find("fastest") != std::string::npos;
  }
  EXPECT(was_thrown);
  was_thrown = false;
  try {
    kinepack::SchemaBuilder builder;
    builder.floats("x", 1, 5.0, -5.0, 0.1).build();
  } catch (const kinepack::Error &) {
    was_thrown = true;
  }
  EXPECT(was_thrown);
#else
  const kinepack::Codec codec(schema(), "fastest");
  EXPECT(!codec && kinepack::error_text().find("fastest") != std::string::npos);
  kinepack::SchemaBuilder builder;
  EXPECT(!builder.floats("x", 1, 5.0, -5.0, 0.1).build());
  kinepack::Encoder encoder(codec);
  EXPECT(!encoder);
#endif
}

}  // namespace

int main() {
  ships();
  hub_and_receiver();
  budgets();
  broadcast();
  streams_without_headers();
  figures();
  rings();
  coarser_fields();
  errors();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
