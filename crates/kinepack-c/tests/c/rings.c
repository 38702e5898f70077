// Bodies in rings: a receiver sees the near one in fine steps and the far one in coarse steps, and
// does not see the one beyond. The kind of the bodies has another field too.

#include <math.h>
#include <string.h>

#include "check.h"

enum { PLAYER = 0, RECEIVER = 42, TIERS = 2, BODIES = 3, HIDDEN = -1 };

static const uint32_t ids[BODIES] = {7, 8, 9};
// The places along x, in cm: near the origin, farther away, and beyond all rings.
static const float places_cm[BODIES] = {100.0f, 1000.0f, 5000.0f};

typedef struct {
  float rotation[4];
  float translation_cm[3];
} Bone;

static KpFigure figure;
static KpHub hub;
static KpReceiver receiver;
// The worlds of a tick, the state that the receiver has, and the one that it should have.
static KpSnapshot worlds[TIERS], seen, expected;
static uint32_t now_tick, field_count;
// Whether the near body has new ammunition in each tick too.
static int near_changes;

static KpPose layout(Bone *bones) {
  KpPose pose;
  memset(&pose, 0, sizeof pose);
  pose.translations = bones[0].translation_cm;
  pose.rotations = bones[0].rotation;
  pose.translation_stride = pose.rotation_stride = sizeof(Bone);
  pose.bones = 2;
  pose.number = KP_NUMBER_F32;
  pose.units_per_m = 100.0f;
  return pose;
}

static void stand(Bone *bones, float x_cm) {
  memset(bones, 0, 2 * sizeof(Bone));
  bones[0].translation_cm[0] = x_cm;
  bones[1].translation_cm[1] = 60.0f;
  bones[0].rotation[3] = 1.0f;
  // Turns by a moderate angle about z, which no step meets exactly.
  bones[1].rotation[2] = sinf(0.31f);
  bones[1].rotation[3] = cosf(0.31f);
}

static void add(KpSnapshot world, int nth, uint32_t tier) {
  Bone bones[2];
  const uint16_t ammo = (uint16_t)(nth == 1 || (nth == 0 && near_changes) ? now_tick : 5);
  const KpColumn column = {&ammo, 0, KP_NUMBER_U16, 0};
  KpFigurePose pose;
  memset(&pose, 0, sizeof pose);
  stand(bones, places_cm[nth]);
  const KpPose joints = layout(bones);
  pose.joints = &joints;
  pose.others = &column;
  pose.other_count = 1;
  pose.tier = tier;
  OK(kp_figure_push(figure, world, PLAYER, ids[nth], &pose));
}

static void fill(void) {
  now_tick += 1;
  for (uint32_t tier = 0; tier < TIERS; tier += 1) {
    OK(kp_snapshot_clear(worlds[tier], now_tick));
    for (int nth = 0; nth < BODIES; nth += 1) add(worlds[tier], nth, tier);
  }
}

// Sends a tick to the receiver.
static void send(void) {
  const uint64_t now = (uint64_t)now_tick * 16666667u;
  uint8_t bytes[2000];
  uint64_t whom;
  size_t size;
  while (kp_receiver_poll(receiver, now, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_hub_handle(hub, RECEIVER, now, bytes, size));
  }
  fill();
  OK(kp_hub_tick_tiers(hub, now, worlds, TIERS));
  while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_receiver_handle(receiver, now, bytes, size));
  }
  OK(kp_receiver_newest(receiver, seen));
}

// Sends a tick, and compares what the receiver has with these tiers of the bodies.
static void expect_tiers(int32_t near, int32_t far, int32_t beyond) {
  const int32_t tiers[BODIES] = {near, far, beyond};
  uint64_t hash, expected_hash;
  send();
  OK(kp_snapshot_clear(expected, now_tick));
  for (int nth = 0; nth < BODIES; nth += 1) {
    if (tiers[nth] != HIDDEN) add(expected, nth, (uint32_t)tiers[nth]);
  }
  OK(kp_snapshot_hash(seen, &hash));
  OK(kp_snapshot_hash(expected, &expected_hash));
  EXPECT(hash == expected_hash);
}

static void make_figure(void) {
  const KpJoint joints[] = {{"hips", -1}, {"chest", 0}};
  const double coarser[] = {10.0};
  KpFigureOptions options;
  KpFigureInfo info;
  KpSkeleton skeleton;
  Bone bones[2];
  stand(bones, 0.0f);
  const KpPose bind = layout(bones);
  memset(&options, 0, sizeof options);
  options.coarser = coarser;
  options.coarser_count = 1;
  OK(kp_skeleton_new(joints, 2, &bind, &skeleton));
  OK(kp_figure_new(skeleton, &options, &figure));
  OK(kp_skeleton_free(skeleton));
  OK(kp_figure_info(figure, &info));
  EXPECT(info.tiers == TIERS);
  double fine, coarse;
  OK(kp_figure_max_error_cm(figure, 0, 1, &fine));
  OK(kp_figure_max_error_cm(figure, 1, 1, &coarse));
  EXPECT(fine > 0.25 && fine <= 0.5 && coarse > 2.5 && coarse <= 5.0);
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_max_error_cm(figure, TIERS, 1, &fine));
}

static KpSchema make_schema(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_figure(builder, "player", figure));
  OK(kp_schema_builder_integer(builder, "ammo", 0, 1000));
  OK(kp_schema_builder_role(builder, KP_ROLE_PLAIN));
  OK(kp_schema_builder_build(builder, &schema));
  return schema;
}

// The last field of a body's kind, of all bodies in a snapshot.
static void read_ammo(KpSnapshot from, uint16_t *ammo) {
  KpTarget targets[100];
  memset(targets, 0, sizeof targets);
  EXPECT(field_count > 2 && field_count <= 100);
  targets[field_count - 1] = (KpTarget){ammo, sizeof *ammo, KP_NUMBER_U16};
  OK(kp_snapshot_read(from, PLAYER, BODIES, targets, field_count));
}

// How often the ammunition of the far body changes at the receiver in 12 ticks.
static int changes(void) {
  uint16_t ammo[BODIES], before;
  int count = 0;
  send();
  read_ammo(seen, ammo);
  for (int tick = 0; tick < 12; tick += 1) {
    before = ammo[1];
    send();
    read_ammo(seen, ammo);
    count += before != ammo[1];
  }
  return count;
}

// The pose and the other field of a body among other fields.
static void other_fields(void) {
  Bone bones[2], exact[2];
  uint16_t ammo[BODIES];
  const KpPose to = layout(bones);
  uint64_t before, after;
  memset(bones, 0, sizeof bones);
  fill();
  for (int nth = 0; nth < BODIES; nth += 1) {
    stand(exact, places_cm[nth]);
    OK(kp_figure_read(figure, worlds[0], PLAYER, ids[nth], &to, NULL, 0));
    EXPECT(fabsf(bones[0].translation_cm[0] - exact[0].translation_cm[0]) < 0.5f);
    EXPECT(fabsf(bones[1].rotation[2] - exact[1].rotation[2]) < 0.01f);
  }
  read_ammo(worlds[0], ammo);
  EXPECT(ammo[0] == 5 && ammo[1] == now_tick && ammo[2] == 5);

  // Refused poses change nothing.
  stand(exact, 0.0f);
  const KpPose joints = layout(exact);
  const float half = 0.5f;
  KpColumn columns[2] = {{&half, 0, KP_NUMBER_F32, 0}, {&half, 0, KP_NUMBER_F32, 0}};
  KpFigurePose pose;
  memset(&pose, 0, sizeof pose);
  pose.joints = &joints;
  OK(kp_snapshot_hash(worlds[0], &before));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  pose.others = columns;
  pose.other_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  columns[0] = (KpColumn){ammo, 0, KP_NUMBER_U16, 0};
  pose.tier = TIERS;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  pose.tier = 0;
  ammo[0] = 1001;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  ammo[0] = 1000;
  columns[0].data = NULL;
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  pose.other_count = 2;
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, worlds[0], PLAYER, 20, &pose));
  OK(kp_snapshot_hash(worlds[0], &after));
  EXPECT(before == after);
}

static void refused_rings(const KpRings *good) {
  const KpHub none = {0};
  const KpRing wrong[] = {
      {500.0, 400.0, 1, 0, 0},
      {2000.0, 2200.0, 1, 255, 0},
      {50.0, 60.0, 256, 0, 0},
      {50.0, 60.0, 1, 0, 32},
  };
  const char *unknown[] = {"player.place"}, *null[] = {NULL};
  const double nowhere[] = {0.0, NAN, 0.0};
  const uint32_t falling[] = {9, 8};
  KpRings bad = *good;
  REFUSED(KP_STATUS_HANDLE, kp_hub_set_rings(none, good));
  for (int nth = 0; nth < 4; nth += 1) {
    bad.rings = &wrong[nth];
    bad.ring_count = 1;
    REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  }
  bad.ring_count = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  bad = *good;
  bad.rings = NULL;
  REFUSED(KP_STATUS_POINTER, kp_hub_set_rings(hub, &bad));
  bad = *good;
  bad.cell = 0.0;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  bad = *good;
  bad.beyond = 255;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  bad = *good;
  bad.positions = unknown;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  bad.positions = null;
  REFUSED(KP_STATUS_POINTER, kp_hub_set_rings(hub, &bad));
  bad.positions = NULL;
  REFUSED(KP_STATUS_POINTER, kp_hub_set_rings(hub, &bad));
  bad = *good;
  bad.urgent = unknown;
  bad.urgent_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rings(hub, &bad));
  bad.urgent = NULL;
  REFUSED(KP_STATUS_POINTER, kp_hub_set_rings(hub, &bad));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_viewpoint(hub, RECEIVER, nowhere));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_viewpoint(hub, 9, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_always_seen(hub, 9, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_always_seen(hub, RECEIVER, falling, 2));
  REFUSED(KP_STATUS_POINTER, kp_hub_set_always_seen(hub, RECEIVER, NULL, 1));
}

// A ring that is sent in every fourth tick, without and with an urgent field. The body beyond is
// always seen, so that there are three.
static void rate(KpRings rings, KpRing *list) {
  const char *urgent[] = {"player.ammo"};
  OK(kp_hub_set_always_seen(hub, RECEIVER, &ids[2], 1));
  list[1].every = 4;
  OK(kp_hub_set_rings(hub, &rings));
  EXPECT(changes() == 3);
  rings.urgent = urgent;
  rings.urgent_count = 1;
  OK(kp_hub_set_rings(hub, &rings));
  EXPECT(changes() == 12);
  list[1].every = 1;
  OK(kp_hub_set_always_seen(hub, RECEIVER, NULL, 0));
}

// How many ticks playback is behind after 80 ticks.
static double delay_ticks(uint32_t longest_blend_ms, KpCodec codec, const double *viewpoint) {
  KpReceiverOptions options;
  KpPlayback playback = {0.0, 0};
  memset(&options, 0, sizeof options);
  options.longest_blend_ms = longest_blend_ms;
  OK(kp_receiver_free(receiver));
  OK(kp_receiver_new(codec, 60, &options, &receiver));
  OK(kp_hub_remove(hub, RECEIVER));
  OK(kp_hub_add(hub, RECEIVER, 0, (uint64_t)now_tick * 16666667u));
  OK(kp_hub_set_viewpoint(hub, RECEIVER, viewpoint));
  for (int tick = 0; tick < 80; tick += 1) {
    send();
    OK(kp_receiver_play(receiver, (uint64_t)now_tick * 16666667u, &playback));
  }
  return now_tick - playback.tick;
}

// Playback waits for turns of a fifth of a second, unless blends are shorter.
static void blends(KpRings rings, KpRing *list, KpCodec codec, const double *viewpoint) {
  near_changes = 1;
  list[1].every = 12;
  OK(kp_hub_set_rings(hub, &rings));
  const double by_default = delay_ticks(0, codec, viewpoint);
  const double same = delay_ticks(250, codec, viewpoint);
  const double shorter = delay_ticks(100, codec, viewpoint);
  // The delay grows slowly, by a twentieth of the time.
  EXPECT(by_default > 3.0 && by_default < 12.0 && fabs(same - by_default) < 0.01);
  EXPECT(shorter >= 0.0 && shorter < 1.0);
  list[1].every = 1;
  near_changes = 0;
}

static void refused_ticks(void) {
  const KpSnapshot twice[] = {worlds[0], worlds[0], worlds[1]}, lost[] = {worlds[0], {0}};
  fill();
  const uint64_t now = (uint64_t)now_tick * 16666667u;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_tick_tiers(hub, now, worlds, 0));
  REFUSED(KP_STATUS_POINTER, kp_hub_tick_tiers(hub, now, NULL, 1));
  REFUSED(KP_STATUS_HANDLE, kp_hub_tick_tiers(hub, now, lost, 2));
  // The worlds do not have the same entities.
  OK(kp_snapshot_clear(worlds[1], now_tick));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_tick_tiers(hub, now, worlds, TIERS));
  for (int nth = 0; nth < BODIES; nth += 1) add(worlds[1], nth, 1);
  OK(kp_hub_tick_tiers(hub, now, twice, 3));
}

int main(void) {
  char position[200] = "player.";
  size_t size;
  make_figure();
  REFUSED(KP_STATUS_SIZE, kp_figure_position_field(figure, NULL, 0, &size));
  EXPECT(size > 10);
  OK(kp_figure_position_field(figure, position + 7, sizeof position - 7, &size));
  const KpSchema schema = make_schema();
  OK(kp_schema_fields(schema, PLAYER, &field_count));
  KpCodec codec;
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  for (int tier = 0; tier < TIERS; tier += 1) OK(kp_snapshot_new(schema, &worlds[tier]));
  OK(kp_snapshot_new(schema, &seen));
  OK(kp_snapshot_new(schema, &expected));
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_hub_add(hub, RECEIVER, 0, 0));
  OK(kp_receiver_new(codec, 60, NULL, &receiver));
  other_fields();

  const char *positions[] = {position};
  // 0 selects every tick.
  KpRing list[] = {{500.0, 550.0, 0, 0, 0}, {2000.0, 2200.0, 1, 1, 0}};
  const double origin[] = {0.0, 0.0, 0.0}, at_the_far_one[] = {1000.0, 0.0, 0.0};
  KpRings rings;
  memset(&rings, 0, sizeof rings);
  rings.positions = positions;
  rings.position_count = 1;
  rings.rings = list;
  rings.ring_count = 2;
  rings.cell = 100.0;
  rings.beyond = HIDDEN;
  refused_rings(&rings);
  expect_tiers(0, 0, 0);
  OK(kp_hub_set_rings(hub, &rings));
  expect_tiers(0, 0, 0);
  OK(kp_hub_set_viewpoint(hub, RECEIVER, origin));
  expect_tiers(0, 1, HIDDEN);
  OK(kp_hub_set_always_seen(hub, RECEIVER, &ids[2], 1));
  expect_tiers(0, 1, 1);
  OK(kp_hub_set_always_seen(hub, RECEIVER, NULL, 0));
  expect_tiers(0, 1, HIDDEN);
  rate(rings, list);
  blends(rings, list, codec, origin);
  OK(kp_hub_set_rings(hub, &rings));
  OK(kp_hub_set_viewpoint(hub, RECEIVER, at_the_far_one));
  expect_tiers(1, 0, HIDDEN);
  rings.beyond = 1;
  OK(kp_hub_set_rings(hub, &rings));
  expect_tiers(1, 0, 1);
  OK(kp_hub_set_viewpoint(hub, RECEIVER, NULL));
  expect_tiers(0, 0, 0);
  OK(kp_hub_set_viewpoint(hub, RECEIVER, origin));
  OK(kp_hub_set_rings(hub, NULL));
  expect_tiers(0, 0, 0);
  refused_ticks();

  OK(kp_receiver_free(receiver));
  OK(kp_hub_free(hub));
  for (int tier = 0; tier < TIERS; tier += 1) OK(kp_snapshot_free(worlds[tier]));
  OK(kp_snapshot_free(seen));
  OK(kp_snapshot_free(expected));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  OK(kp_figure_free(figure));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
