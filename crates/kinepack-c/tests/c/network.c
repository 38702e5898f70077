// A hub and a receiver with a network between them that loses every fifth datagram.

#include <math.h>
#include <string.h>

#include "check.h"

enum { BALLS = 50, TICKS = 300, TICK_HZ = 60, DELAY_TICKS = 3, WAY = 64 };
// Every tenth ball, which is one at rest, jumps in each 40th tick.
enum { JUMPER_EVERY = 10, JUMP_TICKS = 40 };

typedef struct {
  double place[2];
  uint8_t colour;
  uint8_t jumps;
} Ball;

typedef struct {
  int due;
  size_t size;
  uint8_t bytes[1300];
} Datagram;

// The datagrams in flight in one direction.
typedef struct {
  Datagram list[WAY];
  size_t begin, count;
  uint32_t random;
} Link;

static void put(Link *link, int tick, const uint8_t *bytes, size_t size, int loses) {
  link->random = link->random * 1664525u + 1013904223u;
  if (loses && (link->random >> 16) % 5 == 0) return;
  EXPECT(link->count < WAY && size <= sizeof link->list[0].bytes);
  Datagram *to = &link->list[(link->begin + link->count) % WAY];
  to->due = tick + DELAY_TICKS;
  to->size = size;
  memcpy(to->bytes, bytes, size);
  link->count += 1;
}

static const Datagram *take(Link *link, int tick) {
  if (link->count == 0 || link->list[link->begin].due > tick) return NULL;
  const Datagram *from = &link->list[link->begin];
  link->begin = (link->begin + 1) % WAY;
  link->count -= 1;
  return from;
}

static void move(Ball *balls, double tick) {
  for (int nth = 0; nth < BALLS; nth += 1) {
    const double angle = nth % 2 == 0 ? 0.02 * tick + nth : nth;
    balls[nth].place[0] = 30.0 * cos(angle);
    balls[nth].place[1] = 30.0 * sin(angle);
    balls[nth].colour = (uint8_t)(nth % 3);
    balls[nth].jumps = nth % JUMPER_EVERY == 1 ? (uint8_t)(tick / JUMP_TICKS) : 0;
  }
}

// Checks that the cuts of this moment are the balls whose jumps differ from the previous moment.
// Returns the number of cuts.
static size_t check_cuts(KpShown shown, const Ball *before, const Ball *now) {
  uint32_t cut[BALLS];
  size_t count, expected = 0;
  OK(kp_shown_cut(shown, cut, BALLS, &count));
  for (uint32_t nth = 0; nth < BALLS; nth += 1) {
    if (before[nth].jumps == now[nth].jumps) continue;
    EXPECT(expected < count && cut[expected] == 7 * nth);
    expected += 1;
  }
  EXPECT(count == expected);
  return count;
}

static uint64_t time_ns(int tick) {
  return (uint64_t)tick * 1000000000u / TICK_HZ;
}

int main(void) {
  static Ball balls[BALLS], shown[BALLS], shown_before[BALLS];
  static Link down, up;
  static uint8_t bytes[1300];
  uint32_t ids[BALLS], shown_ids[BALLS];
  size_t size, count;
  uint64_t whom;
  KpSchemaBuilder builder;
  KpSchema schema;
  KpCodec codec;
  KpHub hub;
  KpReceiver receiver;
  KpSnapshot world, newest;
  KpSchema event_schema;
  KpCodec event_codec;
  KpEvents events;
  KpEvent event;
  KpPlayback playback = {0.0, 0};
  KpShown visible, same;
  for (uint32_t nth = 0; nth < BALLS; nth += 1) ids[nth] = 7 * nth;

  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "place", 2, -32.0, 32.0, 0.001));
  OK(kp_schema_builder_choice(builder, "colour", 2));
  OK(kp_schema_builder_integer(builder, "jumps", 0, 255));
  OK(kp_schema_builder_role(builder, KP_ROLE_CUT));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  // Hits with a strength, which must arrive.
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_integer(builder, "strength", 0, 1000));
  OK(kp_schema_builder_build(builder, &event_schema));
  OK(kp_codec_new(event_schema, "adaptive", NULL, 0, &event_codec));
  const int32_t longest_ticks[] = {-1, 5};
  REFUSED(KP_STATUS_ARGUMENT, kp_events_new(event_codec, longest_ticks, 2, &events));
  REFUSED(KP_STATUS_POINTER, kp_events_new(event_codec, NULL, 1, &events));
  OK(kp_events_new(event_codec, longest_ticks, 1, &events));

  KpHubOptions hub_options = {0};
  hub_options.datagram_bytes = 5;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_new(codec, &hub_options, &hub));
  hub_options.datagram_bytes = 1200;
  hub_options.channel = 200;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_new(codec, &hub_options, &hub));
  hub_options.channel = 0;
  hub_options.events.id = codec.id;
  REFUSED(KP_STATUS_HANDLE, kp_hub_new(codec, &hub_options, &hub));
  KpHub silent;
  OK(kp_hub_new(codec, NULL, &silent));
  uint16_t strength = 0;
  const KpColumn hit[] = {{&strength, 0, KP_NUMBER_U16, 0}};
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_emit(silent, 0, hit, 1));
  OK(kp_hub_free(silent));
  hub_options.events = events;
  OK(kp_hub_new(codec, &hub_options, &hub));
  OK(kp_hub_add(hub, 42, 0, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_add(hub, 42, 0, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_remove(hub, 43));
  KpReceiverOptions receiver_options = {0};
  receiver_options.max_delay_ms = 300;
  receiver_options.events = events;
  OK(kp_receiver_new(codec, TICK_HZ, &receiver_options, &receiver));
  OK(kp_receiver_shown(receiver, &visible));
  OK(kp_receiver_shown(receiver, &same));
  EXPECT(visible.id != 0 && visible.id == same.id);
  REFUSED(KP_STATUS_POINTER, kp_receiver_shown(receiver, NULL));
  OK(kp_shown_ids(visible, 0, NULL, 0, &count));
  EXPECT(count == 0);
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &newest));
  REFUSED(KP_STATUS_NOTHING, kp_receiver_play(receiver, 0, &playback));
  REFUSED(KP_STATUS_NOTHING, kp_receiver_newest(receiver, newest));
  REFUSED(KP_STATUS_NOTHING, kp_receiver_inject_fault(receiver, ids[0], 0));
  REFUSED(KP_STATUS_NOTHING, kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size));

  const KpColumn columns[] = {
    {balls[0].place, sizeof(Ball), KP_NUMBER_F64, 0},
    {&balls[0].colour, sizeof(Ball), KP_NUMBER_U8, 0},
    {&balls[0].jumps, sizeof(Ball), KP_NUMBER_U8, 0},
  };
  const KpTarget targets[] = {
    {shown[0].place, sizeof(Ball), KP_NUMBER_F64},
    {&shown[0].colour, sizeof(Ball), KP_NUMBER_U8},
    {&shown[0].jumps, sizeof(Ball), KP_NUMBER_U8},
  };
  size_t sent_bytes = 0, cuts = 0;
  double worst = 0.0, last_tick = 0.0;
  int played = 0;
  uint16_t got_strength = 0;
  uint32_t last_event = 0;
  for (int tick = 1; tick <= TICKS; tick += 1) {
    const uint64_t now = time_ns(tick);
    const Datagram *datagram;
    const int loses = tick < TICKS - 60;
    while ((datagram = take(&up, tick)) != NULL) {
      kp_hub_handle(hub, 42, now, datagram->bytes, datagram->size);
    }
    move(balls, tick);
    OK(kp_snapshot_clear(world, (uint32_t)tick));
    OK(kp_snapshot_add(world, 0, ids, BALLS, columns, 3));
    strength = (uint16_t)tick;
    if (tick % 10 == 0) OK(kp_hub_emit(hub, 0, hit, 1));
    OK(kp_hub_tick(hub, now, world));
    // A datagram that does not fit is kept.
    KpStatus status = kp_hub_poll(hub, &whom, bytes, 1, &size);
    EXPECT(status == KP_STATUS_SIZE || (status == KP_STATUS_NOTHING && played == 0));
    while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      EXPECT(whom == 42);
      sent_bytes += size;
      put(&down, tick, bytes, size, loses);
    }
    while ((datagram = take(&down, tick)) != NULL) {
      EXPECT(kp_receiver_handle(receiver, now, datagram->bytes, datagram->size) != KP_STATUS_PANIC);
    }
    while (kp_receiver_poll(receiver, now, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      put(&up, tick, bytes, size, loses);
    }
    if (kp_receiver_play(receiver, now, &playback) != KP_STATUS_OK) continue;
    while (kp_shown_next_event(visible, &event) == KP_STATUS_OK) {
      const KpTarget to[] = {{&got_strength, 0, KP_NUMBER_U16}};
      OK(kp_shown_read_event(visible, 0, to, 1));
      EXPECT(event.kind == 0 && event.tick == got_strength && event.tick <= playback.tick);
      EXPECT(last_event == 0 || event.tick == last_event + 10);
      last_event = event.tick;
      REFUSED(KP_STATUS_ARGUMENT, kp_shown_read_event(visible, 0, to, 0));
      REFUSED(KP_STATUS_ARGUMENT, kp_shown_read_event(visible, 1, to, 1));
    }
    OK(kp_shown_added(visible, shown_ids, BALLS, &count));
    EXPECT(count == (played == 0 ? BALLS : 0));
    OK(kp_shown_removed(visible, NULL, 0, &count));
    EXPECT(count == 0);
    EXPECT(playback.tick >= last_tick);
    last_tick = playback.tick;
    OK(kp_shown_ids(visible, 0, shown_ids, BALLS, &count));
    EXPECT(count == BALLS && shown_ids[9] == 63);
    OK(kp_shown_read(visible, 0, BALLS, targets, 3));
    cuts += check_cuts(visible, played == 0 ? shown : shown_before, shown);
    memcpy(shown_before, shown, sizeof shown);
    static Ball exact[BALLS];
    move(exact, playback.tick);
    for (int nth = 0; nth < BALLS; nth += 1) {
      const double x = shown[nth].place[0] - exact[nth].place[0];
      const double y = shown[nth].place[1] - exact[nth].place[1];
      if (tick > 100 && hypot(x, y) > worst) worst = hypot(x, y);
      EXPECT(shown[nth].colour == nth % 3);
    }
    played += 1;
  }
  EXPECT(played > 220 && worst < 0.1);
  EXPECT(last_event > TICKS - 40);
  EXPECT(cuts == (BALLS / JUMPER_EVERY) * ((TICKS - 1) / JUMP_TICKS));
  KpHubStatus sent;
  OK(kp_hub_status(hub, 42, &sent));
  EXPECT(sent.joined && sent.lost > 10 && sent.acknowledged > 200 && sent.round_trip_ms > 80.0);
  EXPECT(sent.refused_events == 0 && sent.waiting_events == 0);
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_status(hub, 43, &sent));
  KpReceiverStatus received;
  OK(kp_receiver_status(receiver, time_ns(TICKS), &received));
  EXPECT(received.joined && received.lost > 10 && received.bytes < sent.bytes);
  EXPECT(fabs(received.server_tick - TICKS) < 3.0);
  OK(kp_receiver_newest(receiver, newest));
  uint32_t newest_tick;
  OK(kp_snapshot_tick(newest, &newest_tick));
  EXPECT(newest_tick + DELAY_TICKS + 1 >= TICKS);
  printf("%zu bytes for %d ticks, %.3f m off at most\n", sent_bytes, (int)TICKS, worst);

  // Random bytes do not cause a panic.
  for (uint32_t round = 0; round < 500; round += 1) {
    for (size_t at = 0; at < 40; at += 1) {
      bytes[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 29);
    }
    EXPECT(kp_receiver_handle(receiver, time_ns(TICKS), bytes, round % 40) != KP_STATUS_PANIC);
    EXPECT(kp_hub_handle(hub, 42, time_ns(TICKS), bytes, round % 40) != KP_STATUS_PANIC);
  }
  REFUSED(KP_STATUS_DATA, kp_hub_handle(hub, 43, 0, bytes, 3));
  REFUSED(KP_STATUS_POINTER, kp_receiver_handle(receiver, 0, NULL, 3));
  REFUSED(KP_STATUS_SIZE, kp_shown_read(visible, 0, BALLS - 1, targets, 3));
  REFUSED(KP_STATUS_ARGUMENT, kp_shown_read(visible, 1, BALLS, targets, 3));
  // Only the first two balls are relevant, and the second one matters more.
  const float weights[] = {1.0f, 100.0f};
  OK(kp_hub_set_weights(hub, 42, ids, weights, 2));
  REFUSED(KP_STATUS_POINTER, kp_hub_set_weights(hub, 42, ids, NULL, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_weights(hub, 43, ids, weights, 2));
  OK(kp_hub_set_relevant(hub, 42, ids, 2));
  const uint32_t unsorted[] = {7, 7};
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_relevant(hub, 42, unsorted, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_weights(hub, 42, unsorted, weights, 2));
  OK(kp_snapshot_clear(world, TICKS + 1));
  OK(kp_snapshot_add(world, 0, ids, BALLS, columns, 3));
  OK(kp_hub_emit_seeing(hub, 0, hit, 1, 7));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_emit(hub, 1, hit, 1));
  strength = 1001;
  REFUSED(KP_STATUS_VALUE, kp_hub_emit(hub, 0, hit, 1));
  OK(kp_hub_tick(hub, time_ns(TICKS + 1), world));
  while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    OK(kp_receiver_handle(receiver, time_ns(TICKS + 1), bytes, size));
  }
  OK(kp_receiver_newest(receiver, newest));
  OK(kp_snapshot_count(newest, 0, &count));
  EXPECT(count == 2);
  OK(kp_hub_set_relevant(hub, 42, NULL, 0));
  OK(kp_hub_set_all_relevant(hub, 42));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_all_relevant(hub, 43));
  const uint64_t no_one[] = {42};
  strength = 7;
  OK(kp_hub_emit_to(hub, 0, hit, 1, no_one, 0));
  // If one receiver has too many events, the others still get the tick.
  OK(kp_snapshot_clear(world, TICKS + 2));
  OK(kp_snapshot_add(world, 0, ids, BALLS, columns, 3));
  for (int nth = 0; nth < 5000; nth++) OK(kp_hub_emit(hub, 0, hit, 1));
  REFUSED(KP_STATUS_RECEIVERS, kp_hub_tick(hub, time_ns(TICKS + 2), world));
  OK(kp_hub_status(hub, 42, &sent));
  EXPECT(sent.refused_events > 800 && sent.waiting_events > 3000);
  EXPECT(kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK);
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_kind(hub, "cup", 2, 1.0f));
  // A fault changes the newest view, but not the shown state.
  REFUSED(KP_STATUS_NOTHING, kp_receiver_inject_fault(receiver, 6, 0));
  REFUSED(KP_STATUS_NOTHING, kp_receiver_inject_fault(receiver, ids[0], 1000));
  OK(kp_receiver_inject_fault(receiver, ids[0], 0));
  OK(kp_hub_free(hub));
  REFUSED(KP_STATUS_HANDLE, kp_hub_tick(hub, 0, world));
  // The shown state belongs to the receiver, and is freed with it.
  const KpShown not_shown[] = {{0}, {receiver.id}, {visible.id + 1}};
  for (size_t nth = 0; nth < 3; nth += 1) {
    REFUSED(KP_STATUS_HANDLE, kp_shown_ids(not_shown[nth], 0, shown_ids, BALLS, &count));
    REFUSED(KP_STATUS_HANDLE, kp_shown_next_event(not_shown[nth], &event));
  }
  const KpReceiver not_receiver = {visible.id};
  REFUSED(KP_STATUS_HANDLE, kp_receiver_free(not_receiver));
  REFUSED(KP_STATUS_POINTER, kp_shown_next_event(visible, NULL));
  OK(kp_shown_ids(visible, 0, shown_ids, BALLS, &count));
  OK(kp_receiver_free(receiver));
  REFUSED(KP_STATUS_HANDLE, kp_receiver_shown(receiver, &same));
  REFUSED(KP_STATUS_HANDLE, kp_shown_ids(visible, 0, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_HANDLE, kp_shown_added(visible, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_HANDLE, kp_shown_removed(visible, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_HANDLE, kp_shown_cut(visible, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_HANDLE, kp_shown_read(visible, 0, BALLS, targets, 3));
  REFUSED(KP_STATUS_HANDLE, kp_shown_next_event(visible, &event));
  REFUSED(KP_STATUS_HANDLE, kp_shown_read_event(visible, 0, targets, 1));
  REFUSED(KP_STATUS_HANDLE, kp_receiver_play(receiver, 0, &playback));
  REFUSED(KP_STATUS_HANDLE, kp_receiver_inject_fault(receiver, 7, 0));
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(newest));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  OK(kp_events_free(events));
  REFUSED(KP_STATUS_HANDLE, kp_events_free(events));
  OK(kp_codec_free(event_codec));
  OK(kp_schema_free(event_schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
