// A sailor stands on a ship that turns, and steps off. Another is on a ship that never arrives.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICK_HZ = 60, RECEIVER = 5, STEPS_OFF_AT = 60, TICKS = 120, SAILORS = 3 };
// The order of the kinds and of the sailors.
enum { SHIP, SAILOR };
enum { PASSENGER, ASHORE, LOST };

typedef struct {
  double position[3];
  double rotation[4];
} Body;

static const double deck[3] = {10.0, 2.0, 3.0}, quay[3] = {-20.0, 5.0, 0.5};
static KpHub hub;
static KpReceiver receiver;
static KpShown shown;
static KpSnapshot world;

static uint64_t now_of(uint32_t tick) { return (uint64_t)tick * 1000000000u / TICK_HZ; }

// The ship sails at 10 m/s and turns at 45 degrees a second.
static Body ship_at(uint32_t tick) {
  const double seconds = (double)tick / TICK_HZ, half = 0.125 * 3.14159265358979 * seconds;
  const Body ship = {{10.0 * seconds, 0.0, 0.0}, {0.0, 0.0, sin(half), cos(half)}};
  return ship;
}

// Writes the point in the world that is at `point` relative to a body.
static void to_world(const Body *body, const double point[3], double out[3]) {
  const double *q = body->rotation;
  double twice[3];
  for (int axis = 0; axis < 3; axis += 1) {
    const int next = (axis + 1) % 3, last = (axis + 2) % 3;
    twice[axis] = 2.0 * (q[next] * point[last] - q[last] * point[next]);
  }
  for (int axis = 0; axis < 3; axis += 1) {
    const int next = (axis + 1) % 3, last = (axis + 2) % 3;
    const double turned = q[next] * twice[last] - q[last] * twice[next];
    out[axis] = body->position[axis] + point[axis] + q[3] * twice[axis] + turned;
  }
}

static double distance(const double one[3], const double other[3]) {
  double sum = 0.0;
  for (int axis = 0; axis < 3; axis += 1) sum += pow(one[axis] - other[axis], 2.0);
  return sqrt(sum);
}

static KpSchema make_schema(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_kind(builder, "ship"));
  OK(kp_schema_builder_floats(builder, "position", 3, -512.0, 512.0, 0.001));
  OK(kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_rotation(builder, "rotation", 14));
  OK(kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_kind(builder, "sailor"));
  OK(kp_schema_builder_floats(builder, "position", 3, -512.0, 512.0, 0.001));
  OK(kp_schema_builder_frame(builder, "ship"));
  OK(kp_schema_builder_rotation(builder, "rotation", 14));
  OK(kp_schema_builder_frame(builder, "ship"));
  OK(kp_schema_builder_bool(builder, "is_on_board"));
  OK(kp_schema_builder_role(builder, KP_ROLE_FRAME));
  OK(kp_schema_builder_integer(builder, "ship", 0, 255));
  OK(kp_schema_builder_role(builder, KP_ROLE_FRAME));
  OK(kp_schema_builder_condition(builder, "is_on_board", 1, 1));
  OK(kp_schema_builder_build(builder, &schema));
  return schema;
}

static void add(uint32_t tick) {
  const uint32_t ship_id = 1, ids[SAILORS] = {7, 8, 9}, ships[SAILORS] = {1, 0, 99};
  const int is_aboard = tick < STEPS_OFF_AT;
  const uint8_t on_board[SAILORS] = {is_aboard, 0, 1};
  const Body ship = ship_at(tick), last = ship_at(STEPS_OFF_AT);
  Body sailors[SAILORS];
  for (int nth = 0; nth < SAILORS; nth += 1) {
    const double origin[4] = {0.0, 0.0, 0.0, 1.0};
    memcpy(sailors[nth].position, nth == ASHORE ? quay : deck, sizeof deck);
    memcpy(sailors[nth].rotation, origin, sizeof origin);
  }
  // The passenger gets off where the ship is at that moment.
  if (!is_aboard) to_world(&last, deck, sailors[PASSENGER].position);
  const KpColumn of_ship[] = {
    {ship.position, sizeof ship, KP_NUMBER_F64, 0},
    {ship.rotation, sizeof ship, KP_NUMBER_F64, 0},
  };
  const KpColumn of_sailors[] = {
    {sailors->position, sizeof *sailors, KP_NUMBER_F64, 0},
    {sailors->rotation, sizeof *sailors, KP_NUMBER_F64, 0},
    {on_board, sizeof *on_board, KP_NUMBER_U8, 0},
    {ships, sizeof *ships, KP_NUMBER_U32, 0},
  };
  OK(kp_snapshot_clear(world, tick));
  OK(kp_snapshot_add(world, SHIP, &ship_id, 1, of_ship, 2));
  OK(kp_snapshot_add(world, SAILOR, ids, SAILORS, of_sailors, 4));
}

// Sends a tick. Returns whether the receiver plays.
static int send(uint32_t tick, KpPlayback *playback) {
  uint8_t bytes[2000];
  uint64_t whom;
  size_t size;
  while (kp_receiver_poll(receiver, now_of(tick), bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_hub_handle(hub, RECEIVER, now_of(tick), bytes, size));
  }
  add(tick);
  OK(kp_hub_tick(hub, now_of(tick), world));
  while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_receiver_handle(receiver, now_of(tick), bytes, size));
  }
  // A third of a tick later, so that the moment is between two states.
  const uint64_t later = now_of(tick) + 1000000000u / TICK_HZ / 3;
  return kp_receiver_play(receiver, later, playback) == KP_STATUS_OK;
}

static void check_moment(double tick, const KpPlace *before, const KpPlace places[SAILORS]) {
  const KpPlace *passenger = &places[PASSENGER];
  Body ship;
  const KpTarget of_ship[] = {
    {ship.position, sizeof ship, KP_NUMBER_F64},
    {ship.rotation, sizeof ship, KP_NUMBER_F64},
  };
  OK(kp_shown_read(shown, SHIP, 1, of_ship, 2));
  if (tick < STEPS_OFF_AT - 1) {
    double expected[3], dot = 0.0;
    to_world(&ship, deck, expected);
    EXPECT(distance(passenger->position, expected) < 0.001);
    for (int axis = 0; axis < 4; axis += 1) dot += ship.rotation[axis] * passenger->rotation[axis];
    EXPECT(fabs(dot) > 0.999999);
    // The ship's own velocity, and that of its turn at this distance from its middle.
    const double speed = 0.25 * 3.14159265358979, *at = passenger->position;
    const double velocity[3] = {
      10.0 - speed * (at[1] - ship.position[1]), speed * (at[0] - ship.position[0]), 0.0,
    };
    // A single state has no motion yet.
    EXPECT(tick < 1.5 || distance(passenger->velocity, velocity) < 0.5);
  } else if (tick > STEPS_OFF_AT) {
    double expected[3];
    const Body last = ship_at(STEPS_OFF_AT);
    to_world(&last, deck, expected);
    EXPECT(distance(passenger->position, expected) < 0.01);
    EXPECT(distance(passenger->velocity, (double[3]){0.0, 0.0, 0.0}) < 1e-9);
  }
  // The step off is no jump.
  if (before != NULL) EXPECT(distance(passenger->position, before->position) < 0.5);
  EXPECT(distance(places[ASHORE].position, quay) < 0.001);
  EXPECT(distance(places[ASHORE].velocity, (double[3]){0.0, 0.0, 0.0}) < 1e-9);
  for (int axis = 0; axis < 3; axis += 1) EXPECT(isnan(places[LOST].position[axis]));
  for (int axis = 0; axis < 4; axis += 1) EXPECT(isnan(places[LOST].rotation[axis]));
  for (int axis = 0; axis < 3; axis += 1) EXPECT(isnan(places[LOST].velocity[axis]));
}

static void refuses(void) {
  KpPlace places[SAILORS];
  size_t count = 99;
  REFUSED(KP_STATUS_ARGUMENT, kp_shown_places(shown, SHIP, places, SAILORS, &count));
  REFUSED(KP_STATUS_ARGUMENT, kp_shown_places(shown, 2, places, SAILORS, &count));
  EXPECT(count == 99);
  REFUSED(KP_STATUS_SIZE, kp_shown_places(shown, SAILOR, NULL, 0, &count));
  EXPECT(count == SAILORS);
  REFUSED(KP_STATUS_POINTER, kp_shown_places(shown, SAILOR, NULL, SAILORS, &count));
  REFUSED(KP_STATUS_POINTER, kp_shown_places(shown, SAILOR, places, SAILORS, NULL));
}

int main(void) {
  KpCodec codec;
  const KpSchema schema = make_schema();
  OK(kp_codec_new(schema, "packed", NULL, 0, &codec));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_receiver_new(codec, TICK_HZ, NULL, &receiver));
  OK(kp_receiver_shown(receiver, &shown));
  OK(kp_hub_add(hub, RECEIVER, 0, 0));

  KpPlace before, places[SAILORS];
  size_t count;
  int played = 0;
  OK(kp_shown_places(shown, SAILOR, NULL, 0, &count));
  EXPECT(count == 0);
  for (uint32_t tick = 1; tick <= TICKS; tick += 1) {
    KpPlayback playback;
    if (!send(tick, &playback)) continue;
    OK(kp_shown_places(shown, SAILOR, places, SAILORS, &count));
    EXPECT(count == SAILORS);
    check_moment(playback.tick, played > 0 ? &before : NULL, places);
    before = places[PASSENGER];
    played += 1;
  }
  EXPECT(played > 100);
  refuses();

  OK(kp_receiver_free(receiver));
  OK(kp_hub_free(hub));
  OK(kp_snapshot_free(world));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
