// Ships in rings: a near one is exact, a far one is coarser while it moves, and exact again when it
// rests. Then it jumps near.

#include <string.h>

#include "check.h"

enum { SHIPS = 2, TICK_HZ = 60, RECEIVER = 5, BITS = 4, RESTS_AFTER = 10, STEPS_PER_M = 100 };

static KpHub hub;
static KpReceiver receiver;
static KpSnapshot world, seen, expected;
static uint32_t now_tick, jumps[SHIPS];
// Where the ships are, in steps of 1 cm. The limits begin at -2,000 m, which is a multiple of 16 cm.
static int64_t steps[SHIPS][2] = {{1000, 7}, {20000, 7}};

static uint64_t now(void) { return (uint64_t)now_tick * 1000000000u / TICK_HZ; }

// Appends the ships, and marks those as coarser that have `bits` above 0.
static void add(KpSnapshot to, const uint32_t bits[SHIPS]) {
  const uint32_t ids[SHIPS] = {3, 4};
  double places[SHIPS][2];
  for (int nth = 0; nth < SHIPS; nth += 1) {
    const int64_t step = (int64_t)1 << bits[nth];
    for (int axis = 0; axis < 2; axis += 1) {
      // Codes count from the least value, and halves are rounded up.
      const int64_t code = steps[nth][axis] + 2000 * STEPS_PER_M;
      places[nth][axis] = (double)((code + step / 2) / step * step) / STEPS_PER_M - 2000.0;
    }
  }
  const KpColumn columns[] = {
    {bits, sizeof bits[0], KP_NUMBER_U32, 0},
    {places, sizeof places[0], KP_NUMBER_F64, 0},
    {jumps, sizeof jumps[0], KP_NUMBER_U32, 0},
  };
  OK(kp_snapshot_clear(to, now_tick));
  OK(kp_snapshot_add(to, 0, ids, SHIPS, columns, 3));
}

// Sends a tick, and compares what the receiver has with ships of which the far one is coarser by so
// many bits.
static void send(uint32_t far_bits) {
  const uint32_t exact[SHIPS] = {0, 0}, in_rings[SHIPS] = {0, far_bits};
  uint8_t bytes[2000];
  uint64_t whom, hash, expected_hash;
  size_t size;
  now_tick += 1;
  while (kp_receiver_poll(receiver, now(), bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_hub_handle(hub, RECEIVER, now(), bytes, size));
  }
  add(world, exact);
  OK(kp_hub_tick(hub, now(), world));
  while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_receiver_handle(receiver, now(), bytes, size));
  }
  add(expected, in_rings);
  OK(kp_receiver_newest(receiver, seen));
  OK(kp_snapshot_hash(seen, &hash));
  OK(kp_snapshot_hash(expected, &expected_hash));
  EXPECT(hash == expected_hash);
}

static void move_all(void) {
  for (int nth = 0; nth < SHIPS; nth += 1) steps[nth][0] += 13;
}

static void rings(void) {
  const char *positions[] = {"place"};
  const double origin[] = {0.0, 0.0, 0.0};
  const KpRing list[] = {{50.0, 55.0, 1, 0, 0}, {1500.0, 1500.0, 1, 0, BITS}};
  KpRings rings;
  memset(&rings, 0, sizeof rings);
  rings.positions = positions;
  rings.position_count = 1;
  rings.rings = list;
  rings.ring_count = 2;
  rings.cell = 10.0;
  rings.beyond = -1;
  rings.exact_after = RESTS_AFTER;
  OK(kp_hub_set_rings(hub, &rings));
  OK(kp_hub_set_viewpoint(hub, RECEIVER, origin));
}

int main(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  KpCodec codec;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_integer(builder, "coarseness", 0, BITS));
  OK(kp_schema_builder_floats(builder, "place", 2, -2000.0, 2000.0, 1.0 / STEPS_PER_M));
  OK(kp_schema_builder_coarser(builder, "coarseness", BITS));
  OK(kp_schema_builder_integer(builder, "jumps", 0, 255));
  OK(kp_schema_builder_role(builder, KP_ROLE_CUT));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_codec_new(schema, "packed", NULL, 0, &codec));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &seen));
  OK(kp_snapshot_new(schema, &expected));
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_receiver_new(codec, TICK_HZ, NULL, &receiver));
  OK(kp_hub_add(hub, RECEIVER, 0, 0));
  rings();
  uint8_t hello[2000];
  size_t size;
  OK(kp_receiver_poll(receiver, 0, hello, sizeof hello, &size));
  OK(kp_hub_handle(hub, RECEIVER, 0, hello, size));

  // A ship that has never moved is exact.
  send(0);
  for (int tick = 0; tick < 20; tick += 1) {
    move_all();
    send(BITS);
  }
  for (int tick = 1; tick < RESTS_AFTER; tick += 1) send(BITS);
  for (int tick = 0; tick < 5; tick += 1) send(0);
  // It comes near.
  steps[1][0] = 1500;
  jumps[1] += 1;
  send(0);
  move_all();
  send(0);

  OK(kp_receiver_free(receiver));
  OK(kp_hub_free(hub));
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(seen));
  OK(kp_snapshot_free(expected));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
