// Three receivers of one hub: one without a limit, one with a fixed budget, and one whose budget
// follows a link that carries less than the world needs. Then they divide the uplink.

#include <math.h>
#include <string.h>

#include "check.h"

enum { BALLS = 100, TICK_HZ = 60, RECEIVERS = 3, LATENCY_NS = 30000000, MOST_IN_FLIGHT = 512 };
enum { UNLIMITED = 0, FIXED = 1, FOLLOWS = 2 };
enum { FIXED_BYTES_PER_S = 4000, LINK_BYTES_PER_S = 15000 };
// The largest datagram is 1,200 bytes and a header.
enum { HEADER_BYTES = 28, MOST_BYTES = 1200 + HEADER_BYTES };

typedef struct {
  uint64_t due_ns;
  size_t size;
  uint8_t bytes[1200];
} Datagram;

// One direction of a connection, with a queue. Without `bytes_per_s`, any rate gets through.
typedef struct {
  Datagram list[MOST_IN_FLIGHT];
  size_t begin, count;
  uint32_t bytes_per_s;
  uint64_t free_ns;
} Way;

static KpHub hub;
static KpSnapshot world;
static KpReceiver receivers[RECEIVERS];
static Way down[RECEIVERS], up[RECEIVERS];
static uint64_t sent_bytes[RECEIVERS], now_ns;
static uint32_t now_tick;

static void put(Way *way, const uint8_t *bytes, size_t size) {
  EXPECT(way->count < MOST_IN_FLIGHT && size <= sizeof way->list[0].bytes);
  Datagram *to = &way->list[(way->begin + way->count) % MOST_IN_FLIGHT];
  if (way->free_ns < now_ns) way->free_ns = now_ns;
  if (way->bytes_per_s > 0) way->free_ns += (size + HEADER_BYTES) * 1000000000u / way->bytes_per_s;
  to->due_ns = way->free_ns + LATENCY_NS;
  to->size = size;
  memcpy(to->bytes, bytes, size);
  way->count += 1;
}

static const Datagram *take(Way *way) {
  if (way->count == 0 || way->list[way->begin].due_ns > now_ns) return NULL;
  const Datagram *from = &way->list[way->begin];
  way->begin = (way->begin + 1) % MOST_IN_FLIGHT;
  way->count -= 1;
  return from;
}

static void move_world(void) {
  static double places[BALLS][3];
  uint32_t ids[BALLS];
  for (uint32_t nth = 0; nth < BALLS; nth += 1) {
    const double angle = 0.02 * now_tick + nth;
    ids[nth] = nth;
    places[nth][0] = 30.0 * cos(angle);
    places[nth][1] = 30.0 * sin(angle);
    places[nth][2] = 10.0 * sin(3.0 * angle);
  }
  const KpColumn column = {places, sizeof places[0], KP_NUMBER_F64, 0};
  OK(kp_snapshot_clear(world, now_tick));
  OK(kp_snapshot_add(world, 0, ids, BALLS, &column, 1));
}

// Runs for some seconds, and counts the bytes of each receiver with headers.
static void run(uint32_t seconds) {
  uint8_t bytes[1200];
  uint64_t whom;
  size_t size;
  const Datagram *datagram;
  memset(sent_bytes, 0, sizeof sent_bytes);
  for (uint32_t tick = 0; tick < seconds * TICK_HZ; tick += 1) {
    now_tick += 1;
    now_ns = (uint64_t)now_tick * 1000000000u / TICK_HZ;
    for (int nth = 0; nth < RECEIVERS; nth += 1) {
      while ((datagram = take(&up[nth])) != NULL) {
        OK(kp_hub_handle(hub, (uint64_t)nth, now_ns, datagram->bytes, datagram->size));
      }
    }
    move_world();
    OK(kp_hub_tick(hub, now_ns, world));
    while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      put(&down[whom], bytes, size);
      sent_bytes[whom] += size + HEADER_BYTES;
    }
    for (int nth = 0; nth < RECEIVERS; nth += 1) {
      while ((datagram = take(&down[nth])) != NULL) {
        OK(kp_receiver_handle(receivers[nth], now_ns, datagram->bytes, datagram->size));
      }
      while (kp_receiver_poll(receivers[nth], now_ns, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
        put(&up[nth], bytes, size);
      }
    }
  }
}

static KpLinkStatus link_of(uint64_t receiver) {
  KpLinkStatus link;
  memset(&link, 0xff, sizeof link);
  OK(kp_hub_link(hub, receiver, &link));
  return link;
}

static void expect_no_link(uint64_t receiver) {
  const KpLinkStatus link = link_of(receiver);
  EXPECT(!link.follows_link && link.limit == KP_LINK_LIMIT_CONTENT && link.bytes_per_s == 0);
  EXPECT(link.delivered_bytes_per_s == 0 && link.queueing_delay_ns == 0);
  EXPECT(link.shortest_round_trip_ns == 0 && link.in_flight_bytes == 0 && link.lost_ratio == 0.0);
}

static void refused(void) {
  const KpHub none = {0};
  const KpBudget good = {KP_BUDGET_KIND_AUTO, 256};
  const KpBudget bad[] = {
    {3, 1000}, {-1, 1000}, {KP_BUDGET_KIND_FIXED, 255}, {KP_BUDGET_KIND_AUTO, 255},
    {KP_BUDGET_KIND_FIXED, 0},
  };
  char text[200];
  KpLinkStatus link;
  for (int nth = 0; nth < 5; nth += 1) {
    REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_budget(hub, FOLLOWS, &bad[nth], now_ns));
    kp_error_text(text, sizeof text);
    const char *advice = nth < 2 ? "use 0 (unlimited), 1 (fixed) or 2 (auto)" : "at least 256";
    EXPECT(strstr(text, advice) != NULL);
  }
  REFUSED(KP_STATUS_POINTER, kp_hub_set_budget(hub, FOLLOWS, NULL, now_ns));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_budget(hub, 9, &good, now_ns));
  REFUSED(KP_STATUS_HANDLE, kp_hub_set_budget(none, FOLLOWS, &good, now_ns));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_uplink(hub, 255));
  REFUSED(KP_STATUS_HANDLE, kp_hub_set_uplink(none, 256));
  REFUSED(KP_STATUS_POINTER, kp_hub_link(hub, FOLLOWS, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_link(hub, 9, &link));
  REFUSED(KP_STATUS_HANDLE, kp_hub_link(none, FOLLOWS, &link));
}

static void set_budget(uint64_t receiver, KpBudgetKind kind, uint32_t bytes_per_s) {
  const KpBudget budget = {kind, bytes_per_s};
  OK(kp_hub_set_budget(hub, receiver, &budget, now_ns));
}

static void budgets(void) {
  set_budget(FIXED, KP_BUDGET_KIND_FIXED, FIXED_BYTES_PER_S);
  set_budget(FOLLOWS, KP_BUDGET_KIND_AUTO, 1000000);
  KpLinkStatus link = link_of(FOLLOWS);
  EXPECT(link.follows_link && link.limit == KP_LINK_LIMIT_CONTENT && link.bytes_per_s == 50000);
  EXPECT(link.delivered_bytes_per_s == 0 && link.shortest_round_trip_ns == 0);
  refused();
  EXPECT(link_of(FOLLOWS).bytes_per_s == 50000);

  run(4);
  expect_no_link(UNLIMITED);
  expect_no_link(FIXED);
  EXPECT(sent_bytes[UNLIMITED] > 4 * 2 * LINK_BYTES_PER_S);
  // A burst is a full datagram, because a tenth of a second of this budget is less.
  EXPECT(sent_bytes[FIXED] > 3 * FIXED_BYTES_PER_S);
  EXPECT(sent_bytes[FIXED] <= 4 * FIXED_BYTES_PER_S + MOST_BYTES);
  run(4);
  link = link_of(FOLLOWS);
  printf("%u bytes in 4 s; %u bytes per second\n", (unsigned)sent_bytes[FOLLOWS],
         (unsigned)link.bytes_per_s);
  EXPECT(sent_bytes[FOLLOWS] > 4 * LINK_BYTES_PER_S * 3 / 4);
  EXPECT(sent_bytes[FOLLOWS] < 4 * LINK_BYTES_PER_S * 21 / 20);
  EXPECT(link.limit == KP_LINK_LIMIT_QUEUE || link.limit == KP_LINK_LIMIT_PROBING);
  EXPECT(link.bytes_per_s < LINK_BYTES_PER_S * 5 / 4);
  EXPECT(link.delivered_bytes_per_s > LINK_BYTES_PER_S / 2);
  EXPECT(link.delivered_bytes_per_s < LINK_BYTES_PER_S * 5 / 4);
  EXPECT(link.in_flight_bytes > 500 && link.lost_ratio == 0.0);
  EXPECT(link.queueing_delay_ns < 150000000);
  EXPECT(link.shortest_round_trip_ns >= 2 * LATENCY_NS);
  EXPECT(link.shortest_round_trip_ns < 4 * LATENCY_NS);

  // The largest limit is below what the link carries.
  refused();
  EXPECT(link_of(FOLLOWS).bytes_per_s == link.bytes_per_s);
  set_budget(FOLLOWS, KP_BUDGET_KIND_AUTO, 10000);
  run(2);
  link = link_of(FOLLOWS);
  EXPECT(link.limit == KP_LINK_LIMIT_AT_MOST && link.bytes_per_s == 10000);
  EXPECT(sent_bytes[FOLLOWS] > 15000 && sent_bytes[FOLLOWS] <= 2 * 10000 + MOST_BYTES);
  down[FOLLOWS].bytes_per_s = 0;
  set_budget(FOLLOWS, KP_BUDGET_KIND_UNLIMITED, 0);
  run(1);
  expect_no_link(FOLLOWS);
  EXPECT(sent_bytes[FOLLOWS] > 2 * LINK_BYTES_PER_S);
}

static void uplink(void) {
  OK(kp_hub_set_uplink(hub, 20000));
  run(1);
  run(2);
  const uint64_t all = sent_bytes[UNLIMITED] + sent_bytes[FIXED] + sent_bytes[FOLLOWS];
  EXPECT(all > 37000 && all <= 2 * 20000 + 2 * 2000 + RECEIVERS * MOST_BYTES);
  // The receiver with a budget leaves the rest of its share to the others.
  EXPECT(sent_bytes[FIXED] <= 2 * FIXED_BYTES_PER_S + MOST_BYTES);
  EXPECT(sent_bytes[UNLIMITED] > 2 * 20000 / 3);
  // A refused limit changes nothing.
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_uplink(hub, 1));
  run(1);
  EXPECT(sent_bytes[UNLIMITED] < 12000);
  OK(kp_hub_set_uplink(hub, 0));
  run(1);
  EXPECT(sent_bytes[UNLIMITED] > 2 * LINK_BYTES_PER_S);
}

int main(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  KpCodec codec;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "place", 3, -32.0, 32.0, 0.0001));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_codec_new(schema, "packed", NULL, 0, &codec));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_hub_new(codec, NULL, &hub));
  for (int nth = 0; nth < RECEIVERS; nth += 1) {
    OK(kp_receiver_new(codec, TICK_HZ, NULL, &receivers[nth]));
    OK(kp_hub_add(hub, (uint64_t)nth, 0, 0));
  }
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_add(hub, RECEIVERS, 255, 0));
  down[FOLLOWS].bytes_per_s = LINK_BYTES_PER_S;
  budgets();
  uplink();
  for (int nth = 0; nth < RECEIVERS; nth += 1) OK(kp_receiver_free(receivers[nth]));
  OK(kp_hub_free(hub));
  OK(kp_snapshot_free(world));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
