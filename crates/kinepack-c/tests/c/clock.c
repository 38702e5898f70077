// A client simulates just far enough ahead of its server that its inputs arrive in time, on a
// network that becomes slower in between.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICK_HZ = 60, FIRST_TICK = 70000, SECONDS = 8, SLOWER_MS = 3000, WAY = 64, PLAYER = 7 };

typedef struct {
  uint16_t number; // of the tick
  uint8_t fires;
} Input;

typedef struct {
  int due_ms;
  size_t size;
  uint8_t bytes[1300];
} Datagram;

// The datagrams in flight in one direction. Jitter may change their order.
typedef struct {
  Datagram list[WAY];
  uint32_t sent;
} Link;

static Link down, up;
static KpHub hub;
static KpSnapshot world;
static KpReceiver receiver;
static KpStreamSender client;
static KpStreamReceiver server;
static KpInputClock clock_of_inputs;

static Input input, used;
static const KpColumn columns[] = {
  {&input.number, 0, KP_NUMBER_U16, 0},
  {&input.fires, 0, KP_NUMBER_U8, 0},
};
static const KpTarget targets[] = {
  {&used.number, 0, KP_NUMBER_U16},
  {&used.fires, 0, KP_NUMBER_U8},
};

static void put(Link *link, int now_ms, const uint8_t *bytes, size_t size) {
  const int delay_ms = now_ms < SLOWER_MS ? 20 : 70;
  const int jitter_ms = (int)((link->sent * 2654435761u >> 16) % 10);
  link->sent += 1;
  for (size_t nth = 0; nth < WAY; nth += 1) {
    Datagram *to = &link->list[nth];
    if (to->size != 0) continue;
    to->due_ms = now_ms + delay_ms + jitter_ms;
    to->size = size;
    memcpy(to->bytes, bytes, size);
    return;
  }
  EXPECT(!"room in the link");
}

typedef void Handler(KpDatagramKind kind, uint64_t now_ns, const uint8_t *bytes, size_t size);

// Passes the parts of each datagram that has arrived to `handle`.
static void deliver(Link *link, int now_ms, Handler *handle) {
  for (size_t nth = 0; nth < WAY; nth += 1) {
    Datagram *from = &link->list[nth];
    if (from->size == 0 || from->due_ms > now_ms) continue;
    KpPart parts[4];
    size_t count = 0;
    OK(kp_split_datagram(from->bytes, from->size, parts, 4, &count));
    for (size_t part = 0; part < count; part += 1) {
      handle(parts[part].kind, (uint64_t)now_ms * 1000000u, from->bytes + parts[part].offset,
             parts[part].size);
    }
    from->size = 0;
  }
}

static void on_server(KpDatagramKind kind, uint64_t now_ns, const uint8_t *bytes, size_t size) {
  size_t count;
  if (kind == KP_DATAGRAM_KIND_TO_HUB) OK(kp_hub_handle(hub, PLAYER, now_ns, bytes, size));
  if (kind == KP_DATAGRAM_KIND_TO_STREAM_RECEIVER) {
    OK(kp_stream_receiver_handle(server, now_ns, bytes, size, &count));
  }
}

static void on_client(KpDatagramKind kind, uint64_t now_ns, const uint8_t *bytes, size_t size) {
  // Snapshots that were overtaken may be refused.
  if (kind == KP_DATAGRAM_KIND_TO_RECEIVER) kp_receiver_handle(receiver, now_ns, bytes, size);
  if (kind == KP_DATAGRAM_KIND_TO_STREAM_SENDER) {
    OK(kp_input_clock_handle(clock_of_inputs, now_ns, client, bytes, size));
  }
}

// Simulates a tick, and returns whether its input was there.
static int simulate(int now_ms, uint32_t tick) {
  const uint64_t now_ns = (uint64_t)now_ms * 1000000u;
  uint8_t bytes[1300];
  size_t size = 0, front = 0;
  uint64_t whom;
  int32_t in_time = -1;
  const Input before = used;
  OK(kp_stream_read_for_tick(server, now_ns, tick, targets, 2, &in_time));
  EXPECT(in_time == 0 || in_time == 1);
  EXPECT(used.number == (in_time ? tick % 65536 : before.number));
  EXPECT(used.fires == (in_time ? tick % 20 < 3 : before.fires));
  const uint32_t id = 3;
  const uint8_t health = tick % 100;
  const KpColumn of_world[] = {{&health, 0, KP_NUMBER_U8, 0}};
  OK(kp_snapshot_clear(world, tick));
  OK(kp_snapshot_add(world, 0, &id, 1, of_world, 1));
  OK(kp_hub_tick(hub, now_ns, world));
  // The acknowledgement is put in front of each snapshot.
  if (kp_stream_acknowledgement(server, bytes, sizeof bytes, &front) != KP_STATUS_OK) front = 0;
  EXPECT(front == 0 || front == 3 || front == 5);
  while (kp_hub_poll(hub, &whom, bytes + front, sizeof bytes - front, &size) == KP_STATUS_OK) {
    put(&down, now_ms, bytes, front + size);
  }
  return in_time;
}

// A frame of the client. Returns whether the clock runs.
static int draw(int now_ms, int is_started, uint32_t *last_tick) {
  const uint64_t now_ns = (uint64_t)now_ms * 1000000u;
  uint8_t bytes[1300];
  size_t size, count = 99;
  uint32_t first = 99;
  if (!is_started) {
    const KpStatus status = kp_input_clock_start_from(clock_of_inputs, now_ns, receiver);
    is_started = status == KP_STATUS_OK;
    EXPECT(is_started || status == KP_STATUS_NOTHING);
  }
  OK(kp_input_clock_ticks(clock_of_inputs, now_ns, &first, &count));
  EXPECT(is_started ? count <= 16 : first == 0 && count == 0);
  for (uint32_t tick = first; tick < first + count; tick += 1) {
    EXPECT(tick > *last_tick);
    *last_tick = tick;
    input.number = (uint16_t)tick;
    input.fires = tick % 20 < 3;
    OK(kp_stream_push_for_tick(client, tick, columns, 2));
  }
  if (kp_stream_poll(client, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    put(&up, now_ms, bytes, size);
  }
  while (kp_receiver_poll(receiver, now_ns, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    put(&up, now_ms, bytes, size);
  }
  return is_started;
}

static void make(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  KpCodec codec;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_integer(builder, "health", 0, 100));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_codec_new(schema, "packed", NULL, 0, &codec));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_hub_add(hub, PLAYER, 0, 0));
  OK(kp_receiver_new(codec, TICK_HZ, NULL, &receiver));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_integer(builder, "number", 0, 65535));
  OK(kp_schema_builder_bool(builder, "fires"));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_stream_sender_new(schema, "packed", TICK_HZ, NULL, &client));
  OK(kp_stream_receiver_new(schema, "packed", TICK_HZ, NULL, &server));
  OK(kp_schema_free(schema));
  KpInputClockOptions options = {0};
  options.in_time_ratio = 1.0f;
  options.jump_forward_ms = 30;
  OK(kp_input_clock_new(TICK_HZ, &options, &clock_of_inputs));
}

static void options_are_checked(void) {
  const KpInputClockOptions wrong[] = {
    {NAN, 0.0f, 0, 0, 0, 0, 0},          {1.5f, 0.0f, 0, 0, 0, 0, 0},
    {-0.1f, 0.0f, 0, 0, 0, 0, 0},        {0.0f, 0.6f, 0, 0, 0, 0, 0},
    {0.0f, INFINITY, 0, 0, 0, 0, 0},     {0.0f, 0.0f, 60001, 0, 0, 0, 0},
    {0.0f, 0.0f, 0, 60001, 0, 0, 0},     {0.0f, 0.0f, 0, 0, 60001, 0, 0},
    {0.0f, 0.0f, 0, 0, 0, UINT32_MAX, 0}, {0.0f, 0.0f, 0, 0, 0, 0, UINT32_MAX},
  };
  KpInputClock one;
  for (size_t nth = 0; nth < sizeof wrong / sizeof wrong[0]; nth += 1) {
    REFUSED(KP_STATUS_ARGUMENT, kp_input_clock_new(TICK_HZ, &wrong[nth], &one));
  }
  REFUSED(KP_STATUS_ARGUMENT, kp_input_clock_new(0, NULL, &one));
  REFUSED(KP_STATUS_ARGUMENT, kp_input_clock_new(10001, NULL, &one));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_new(TICK_HZ, NULL, NULL));
  const KpInputClockOptions no_margin = {0.999f, 0.1f, INT32_MIN, 100, 60000, 1, 1};
  OK(kp_input_clock_new(TICK_HZ, &no_margin, &one));
  OK(kp_input_clock_free(one));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_free(one));
}

// Absurd times and ticks, null pointers, and handles of other objects or freed ones.
static void bad_arguments_are_refused(void) {
  KpInputClock other;
  KpInputClockStatus status;
  uint8_t bytes[40];
  uint32_t first;
  size_t count;
  int32_t in_time = 7;
  double tick = 7.0;
  OK(kp_input_clock_new(TICK_HZ, NULL, &other));
  REFUSED(KP_STATUS_NOTHING, kp_input_clock_tick(other, &tick));
  const double wrong[] = {NAN, INFINITY, -INFINITY, -1.0, 4294967296.0};
  for (size_t nth = 0; nth < sizeof wrong / sizeof wrong[0]; nth += 1) {
    REFUSED(KP_STATUS_ARGUMENT, kp_input_clock_start(other, 0, wrong[nth]));
  }
  OK(kp_input_clock_status(other, &status));
  EXPECT(!status.started && status.ticks == 0 && tick == 7.0);
  OK(kp_input_clock_start(other, 1000000000u, 5.5));
  OK(kp_input_clock_tick(other, &tick));
  EXPECT(fabs(tick - 5.5) < 1e-6);
  // The time goes back, and then an hour forward.
  OK(kp_input_clock_ticks(other, 0, &first, &count));
  EXPECT(count == 0);
  OK(kp_input_clock_ticks(other, 3601000000000u, &first, &count));
  EXPECT(count == 16 && first == 216005 - 15);
  OK(kp_input_clock_status(other, &status));
  EXPECT(status.started && status.ticks == 16 && status.skipped == 216000 - 16);
  OK(kp_input_clock_ticks(other, UINT64_MAX, &first, &count));
  OK(kp_input_clock_start(other, UINT64_MAX, 4294967295.0));
  OK(kp_input_clock_ticks(other, UINT64_MAX, &first, &count));
  for (uint32_t round = 0; round < 500; round += 1) {
    for (size_t at = 0; at < sizeof bytes; at += 1) {
      bytes[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 29);
    }
    bytes[0] = round % 2 ? 15 : bytes[0];
    EXPECT(kp_input_clock_handle(other, 0, client, bytes, round % 40) != KP_STATUS_PANIC);
    EXPECT(kp_input_clock_handle(other, 0, client, bytes, 5) != KP_STATUS_PANIC);
  }
  OK(kp_stream_read_for_tick(server, UINT64_MAX, UINT32_MAX, targets, 2, NULL));
  OK(kp_stream_read_for_tick(server, 0, 0, targets, 2, &in_time));
  EXPECT(in_time == 0);
  input.number = 3;
  OK(kp_stream_push_for_tick(client, UINT32_MAX, columns, 2));
  OK(kp_stream_push_for_tick(client, 0, columns, 2));
  OK(kp_stream_push_for_tick(client, 0, columns, 2));

  in_time = 7;
  used.number = 9;
  input.fires = 2;
  REFUSED(KP_STATUS_VALUE, kp_stream_push_for_tick(client, 1, columns, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_push_for_tick(client, 1, columns, 1));
  REFUSED(KP_STATUS_POINTER, kp_stream_push_for_tick(client, 1, NULL, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_read_for_tick(server, 0, 1, targets, 1, &in_time));
  REFUSED(KP_STATUS_POINTER, kp_stream_read_for_tick(server, 0, 1, NULL, 2, &in_time));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_ticks(other, 0, NULL, &count));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_ticks(other, 0, &first, NULL));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_tick(other, NULL));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_status(other, NULL));
  REFUSED(KP_STATUS_POINTER, kp_input_clock_handle(other, 0, client, NULL, 5));
  EXPECT(in_time == 7 && used.number == 9);

  const KpInputClock none = {0}, sender = {client.id};
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_start(sender, 0, 1.0));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_handle(none, 0, client, bytes, 5));
  const KpReceiver not_receiver = {client.id};
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_start_from(other, 0, not_receiver));
  const KpStreamSender not_sender = {server.id};
  REFUSED(KP_STATUS_HANDLE, kp_stream_push_for_tick(not_sender, 1, columns, 2));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_handle(other, 0, not_sender, bytes, 5));
  const KpStreamReceiver not_server = {client.id};
  KpStreamReceiverStatus seen;
  REFUSED(KP_STATUS_HANDLE, kp_stream_receiver_status(not_server, &seen));
  REFUSED(KP_STATUS_POINTER, kp_stream_receiver_status(server, NULL));
  REFUSED(KP_STATUS_HANDLE, kp_stream_read_for_tick(not_server, 0, 1, targets, 2, &in_time));
  OK(kp_input_clock_free(other));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_ticks(other, 0, &first, &count));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_tick(other, &tick));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_status(other, &status));
  REFUSED(KP_STATUS_HANDLE, kp_input_clock_start_from(other, 0, receiver));
}

int main(void) {
  int missed[SECONDS] = {0};
  int is_started = 0, server_ticks = 0;
  uint32_t last_tick = 0;
  make();
  for (int now_ms = 0; now_ms < 1000 * SECONDS; now_ms += 1) {
    deliver(&up, now_ms, on_server);
    if (now_ms * TICK_HZ / 1000 == server_ticks) {
      missed[now_ms / 1000] += !simulate(now_ms, FIRST_TICK + (uint32_t)server_ticks);
      server_ticks += 1;
    }
    deliver(&down, now_ms, on_client);
    if (now_ms % 7 == 0) is_started = draw(now_ms, is_started, &last_tick);
  }
  double tick = 0.0;
  KpInputClockStatus status;
  OK(kp_input_clock_tick(clock_of_inputs, &tick));
  OK(kp_input_clock_status(clock_of_inputs, &status));
  const double lead = tick - FIRST_TICK - (SECONDS - 0.001) * TICK_HZ;
  printf("missed inputs in each second:");
  for (int second = 0; second < SECONDS; second += 1) printf(" %d", missed[second]);
  printf("; a lead of %.1f ticks\n", lead);
  // A datagram takes up to 79 ms, which is 4.7 ticks, and waits for a frame.
  EXPECT(missed[1] == 0 && missed[2] == 0 && missed[3] > 0 && missed[3] < 30);
  EXPECT(missed[4] == 0 && missed[5] == 0 && missed[6] == 0 && missed[7] == 0);
  EXPECT(lead > 4.0 && lead < 6.5);
  EXPECT(status.started && status.reports > 200 && status.skipped == 0 && status.jumps == 1);
  EXPECT(status.ticks > TICK_HZ * (SECONDS - 1) && status.early_ticks >= 0.0);
  EXPECT(fabs(status.error_ms) < 20.0);
  KpStreamReceiverStatus seen;
  OK(kp_stream_receiver_status(server, &seen));
  uint64_t all_missed = 0;
  for (int second = 0; second < SECONDS; second += 1) all_missed += (uint64_t)missed[second];
  EXPECT(seen.in_time + all_missed == (uint64_t)server_ticks && seen.missed == all_missed);
  EXPECT(seen.packets > 400 && seen.records >= seen.in_time && seen.bytes > seen.packets);

  options_are_checked();
  bad_arguments_are_refused();
  OK(kp_input_clock_free(clock_of_inputs));
  OK(kp_stream_sender_free(client));
  OK(kp_stream_receiver_free(server));
  OK(kp_receiver_free(receiver));
  OK(kp_hub_free(hub));
  OK(kp_snapshot_free(world));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
