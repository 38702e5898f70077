// Players shoot at what they see: a client sends inputs with a stamp over a bad network, and the
// server finds the numbers that the client drew.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICK_HZ = 60, TICKS = 300, CLIENT = 42, SHIPS = 12, SAILORS = 24, FLIGHT = 64 };
// The order of the kinds, and the first ids of each.
enum { SHIP, SAILOR, FIRST_SHIP = 1, FIRST_SAILOR = 101 };
// Bytes per second: too few for all changes of a tick.
enum { BUDGET = 6000 };
enum { FRAMES = 512, INPUT_FIELDS = 2 + KP_SEEN_FIELDS };

typedef struct {
  double position[3];
  double rotation[4];
  uint8_t jumps;
} Ship;

typedef struct {
  double position[3];
  uint8_t is_on_board;
  uint32_t ship;
} Sailor;

// All that a client draws, or a server finds, of one moment.
typedef struct {
  double tick;
  size_t ships, sailors;
  uint32_t ship_ids[SHIPS], sailor_ids[SAILORS];
  Ship ship[SHIPS];
  Sailor sailor[SAILORS];
  KpPlace places[SAILORS];
} Frame;

typedef struct {
  float aim[2];
  uint8_t fires;
  KpSeen seen;
} Input;

typedef struct {
  uint64_t due;
  size_t size;
  uint8_t bytes[1300];
} Datagram;

// The datagrams in flight in one direction. They are delayed by 30 to 90 ms, so some overtake
// others, and every eighth is lost.
typedef struct {
  Datagram list[FLIGHT];
  size_t count;
} Link;

static uint32_t state = 1;
static Link down, up;
static KpHub hub;
static KpReceiver receiver;
static KpStreamSender client;
static KpStreamReceiver server;
static KpSnapshot world;
static KpShown shown, past;
// What the client drew, by the number of the input that it made then.
static Frame drawn[FRAMES];

static uint32_t below(uint32_t end) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)state * end) >> 32);
}

static uint64_t time_ns(uint32_t tick) { return (uint64_t)tick * 1000000000u / TICK_HZ; }

static void put(Link *link, uint64_t now, const uint8_t *bytes, size_t size) {
  if (below(8) == 0) return;
  EXPECT(link->count < FLIGHT && size <= sizeof link->list[0].bytes);
  Datagram *to = &link->list[link->count];
  to->due = now + 30000000u + below(60000000u);
  to->size = size;
  memcpy(to->bytes, bytes, size);
  link->count += 1;
}

// Takes a datagram that has arrived. Returns whether there is one.
static int take(Link *link, uint64_t now, Datagram *out) {
  for (size_t nth = 0; nth < link->count; nth += 1) {
    if (link->list[nth].due > now) continue;
    *out = link->list[nth];
    link->count -= 1;
    link->list[nth] = link->list[link->count];
    return 1;
  }
  return 0;
}

static KpSchema schema_of_world(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_kind(builder, "ship"));
  OK(kp_schema_builder_floats(builder, "position", 3, -512.0, 512.0, 0.001));
  OK(kp_schema_builder_rotation(builder, "rotation", 12));
  OK(kp_schema_builder_integer(builder, "jumps", 0, 255));
  OK(kp_schema_builder_role(builder, KP_ROLE_CUT));
  OK(kp_schema_builder_kind(builder, "sailor"));
  OK(kp_schema_builder_floats(builder, "position", 3, -512.0, 512.0, 0.001));
  OK(kp_schema_builder_frame(builder, "ship"));
  OK(kp_schema_builder_bool(builder, "is_on_board"));
  OK(kp_schema_builder_role(builder, KP_ROLE_FRAME));
  OK(kp_schema_builder_integer(builder, "ship", 0, 255));
  OK(kp_schema_builder_role(builder, KP_ROLE_FRAME));
  OK(kp_schema_builder_condition(builder, "is_on_board", 1, 1));
  OK(kp_schema_builder_build(builder, &schema));
  return schema;
}

static KpSchema schema_of_inputs(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  uint32_t field, fields;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "aim", 2, -180.0, 180.0, 0.01));
  OK(kp_schema_builder_bool(builder, "fires"));
  REFUSED(KP_STATUS_POINTER, kp_schema_builder_seen(builder, NULL));
  OK(kp_schema_builder_seen(builder, "seen"));
  // Nothing may change the fields of a stamp.
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_condition(builder, "fires", 1, 1));
  OK(kp_schema_builder_build(builder, &schema));
  REFUSED(KP_STATUS_HANDLE, kp_schema_builder_seen(builder, "seen"));
  OK(kp_schema_fields(schema, 0, &fields));
  OK(kp_schema_find(schema, 0, "seen?", &field));
  EXPECT(fields == INPUT_FIELDS && field == 2);
  return schema;
}

// The targets of frames in which entities are read.
static void read(KpShown from, Frame *frame) {
  const KpTarget of_ship[] = {
    {frame->ship->position, sizeof(Ship), KP_NUMBER_F64},
    {frame->ship->rotation, sizeof(Ship), KP_NUMBER_F64},
    {&frame->ship->jumps, sizeof(Ship), KP_NUMBER_U8},
  };
  const KpTarget of_sailor[] = {
    {frame->sailor->position, sizeof(Sailor), KP_NUMBER_F64},
    {&frame->sailor->is_on_board, sizeof(Sailor), KP_NUMBER_U8},
    {&frame->sailor->ship, sizeof(Sailor), KP_NUMBER_U32},
  };
  size_t count;
  OK(kp_shown_ids(from, SHIP, frame->ship_ids, SHIPS, &frame->ships));
  OK(kp_shown_ids(from, SAILOR, frame->sailor_ids, SAILORS, &frame->sailors));
  OK(kp_shown_read(from, SHIP, SHIPS, of_ship, 3));
  OK(kp_shown_read(from, SAILOR, SAILORS, of_sailor, 3));
  OK(kp_shown_places(from, SAILOR, frame->places, SAILORS, &count));
  EXPECT(count == frame->sailors);
}

// Ships sail in circles, and jump now and then. Some are away for a while, also for those on board.
static void add(uint32_t tick) {
  static Ship ships[SHIPS];
  static Sailor sailors[SAILORS];
  uint32_t ship_ids[SHIPS], sailor_ids[SAILORS];
  size_t count = 0;
  for (uint32_t nth = 0; nth < SHIPS; nth += 1) {
    if ((tick + 50 * nth) % 300 < 40) continue;
    Ship *ship = &ships[count];
    const uint32_t jumps = (tick + 13 * nth) / 90;
    const double angle = 0.01 * (nth + 1) * tick, half = 0.5 * angle;
    memset(ship, 0, sizeof *ship);
    ship->position[0] = 20.0 * nth + 30.0 * cos(angle) + 5.0 * (jumps % 4);
    ship->position[1] = 30.0 * sin(angle);
    ship->rotation[2] = sin(half);
    ship->rotation[3] = cos(half);
    ship->jumps = (uint8_t)jumps;
    ship_ids[count] = FIRST_SHIP + nth;
    count += 1;
  }
  for (uint32_t nth = 0; nth < SAILORS; nth += 1) {
    Sailor *sailor = &sailors[nth];
    memset(sailor, 0, sizeof *sailor);
    sailor->position[0] = 3.0 + 0.02 * (tick % 100) + nth;
    sailor->position[2] = 0.5;
    sailor->is_on_board = (tick / 70 + nth) % 3 != 0;
    sailor->ship = FIRST_SHIP + nth % SHIPS;
    sailor_ids[nth] = FIRST_SAILOR + nth;
  }
  const KpColumn of_ship[] = {
    {ships->position, sizeof(Ship), KP_NUMBER_F64, 0},
    {ships->rotation, sizeof(Ship), KP_NUMBER_F64, 0},
    {&ships->jumps, sizeof(Ship), KP_NUMBER_U8, 0},
  };
  const KpColumn of_sailor[] = {
    {sailors->position, sizeof(Sailor), KP_NUMBER_F64, 0},
    {&sailors->is_on_board, sizeof(Sailor), KP_NUMBER_U8, 0},
    {&sailors->ship, sizeof(Sailor), KP_NUMBER_U32, 0},
  };
  OK(kp_snapshot_clear(world, tick));
  OK(kp_snapshot_add(world, SHIP, ship_ids, count, of_ship, 3));
  OK(kp_snapshot_add(world, SAILOR, sailor_ids, SAILORS, of_sailor, 3));
}

// The client draws, and makes an input. Returns the size of its packet.
static size_t draw(uint64_t now, uint8_t *packet, size_t capacity) {
  Input input;
  KpColumn columns[INPUT_FIELDS] = {
    {input.aim, 0, KP_NUMBER_F32, 0},
    {&input.fires, 0, KP_NUMBER_U8, 0},
  };
  KpPlayback playback = {-1.0, 0};
  Frame frame;
  uint16_t number;
  size_t size = 0;
  memset(&frame, 0, sizeof frame);
  memset(&input, 255, sizeof input);
  input.aim[0] = 0.0f;
  input.aim[1] = 10.0f;
  input.fires = 1;
  const KpStatus plays = kp_receiver_play(receiver, now, &playback);
  // Before the first state, the input says that nothing was shown.
  EXPECT(kp_receiver_seen(receiver, &input.seen) == plays);
  EXPECT(input.seen.is_shown == (plays == KP_STATUS_OK));
  if (plays == KP_STATUS_OK) read(shown, &frame);
  frame.tick = playback.tick;
  OK(kp_seen_columns(&input.seen, 0, columns + 2, KP_SEEN_FIELDS));
  OK(kp_stream_push(client, columns, INPUT_FIELDS, &number));
  drawn[number % FRAMES] = frame;
  OK(kp_stream_poll(client, packet, capacity, &size));
  return size;
}

// Checks that the past is the frame that the client drew. Returns the number of entities.
static size_t check_past(const Frame *expected, const KpSeen *seen) {
  static Frame found;
  memset(&found, 0, sizeof found);
  if (expected->tick < 0.0) {
    REFUSED(KP_STATUS_NOTHING, kp_hub_rewind_all(hub, CLIENT, seen, &found.tick));
    return 0;
  }
  OK(kp_hub_rewind_all(hub, CLIENT, seen, &found.tick));
  read(past, &found);
  EXPECT(memcmp(&found, expected, sizeof found) == 0);

  // Only some entities, of which one is on a ship that is not in the list, and one does not exist.
  const uint32_t ids[] = {FIRST_SHIP + 2, 90, FIRST_SAILOR + 5};
  memset(&found, 0, sizeof found);
  OK(kp_hub_rewind(hub, CLIENT, seen, ids, 3, &found.tick));
  read(past, &found);
  EXPECT(found.tick == expected->tick);
  size_t ship = 0, sailor = 0;
  while (ship < expected->ships && expected->ship_ids[ship] != ids[0]) ship += 1;
  while (sailor < expected->sailors && expected->sailor_ids[sailor] != ids[2]) sailor += 1;
  EXPECT(found.ships == (ship < expected->ships));
  EXPECT(found.sailors == (sailor < expected->sailors));
  if (found.ships == 1) EXPECT(memcmp(found.ship, &expected->ship[ship], sizeof(Ship)) == 0);
  if (found.sailors == 1) {
    EXPECT(memcmp(found.sailor, &expected->sailor[sailor], sizeof(Sailor)) == 0);
    EXPECT(memcmp(found.places, &expected->places[sailor], sizeof(KpPlace)) == 0);
  }
  return expected->ships + expected->sailors;
}

// The server gets a packet of inputs. Returns the number of entities that were compared.
static size_t serve(uint64_t now, const Datagram *packet, KpSeen *last) {
  static Input inputs[16];
  KpRecord records[16];
  KpTarget targets[INPUT_FIELDS] = {
    {inputs->aim, sizeof(Input), KP_NUMBER_F32},
    {&inputs->fires, sizeof(Input), KP_NUMBER_U8},
  };
  size_t count = 0, compared = 0;
  OK(kp_seen_targets(&inputs->seen, sizeof(Input), targets + 2, KP_SEEN_FIELDS));
  if (kp_stream_receiver_handle(server, now, packet->bytes, packet->size, &count) != KP_STATUS_OK) {
    return 0;
  }
  OK(kp_stream_read(server, records, 16, targets, INPUT_FIELDS, &count));
  for (size_t nth = 0; nth < count; nth += 1) {
    EXPECT(inputs[nth].fires == 1 && fabsf(inputs[nth].aim[1] - 10.0f) < 0.006f);
    if (records[nth].is_late) continue;
    compared += check_past(&drawn[records[nth].number % FRAMES], &inputs[nth].seen);
    *last = inputs[nth].seen;
  }
  return compared;
}

// A tick of both sides. Returns the number of entities that were compared.
static size_t step(uint32_t tick, KpSeen *last, size_t *stamp_bytes) {
  static Datagram datagram;
  static uint8_t bytes[1300];
  uint64_t whom;
  size_t size, compared = 0;
  // The client draws at an irregular time between two ticks.
  const uint64_t draws = time_ns(tick) + below(time_ns(1) / 2), now = draws + time_ns(1) / 2;
  while (take(&down, draws, &datagram)) {
    KpPart parts[4];
    size_t count = 0;
    OK(kp_split_datagram(datagram.bytes, datagram.size, parts, 4, &count));
    for (size_t nth = 0; nth < count; nth += 1) {
      const uint8_t *part = datagram.bytes + parts[nth].offset;
      if (parts[nth].kind == KP_DATAGRAM_KIND_TO_RECEIVER) {
        kp_receiver_handle(receiver, draws, part, parts[nth].size);
      } else {
        kp_stream_sender_handle(client, part, parts[nth].size);
      }
    }
  }
  size = draw(draws, bytes, sizeof bytes);
  *stamp_bytes += size;
  put(&up, draws, bytes, size);
  while (kp_receiver_poll(receiver, draws, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    put(&up, draws, bytes, size);
  }
  while (take(&up, now, &datagram)) {
    KpPart part;
    size_t count = 0;
    OK(kp_split_datagram(datagram.bytes, datagram.size, &part, 1, &count));
    if (part.kind == KP_DATAGRAM_KIND_TO_HUB) {
      kp_hub_handle(hub, CLIENT, now, datagram.bytes, datagram.size);
    } else {
      compared += serve(now, &datagram, last);
    }
  }
  add(tick);
  OK(kp_hub_tick(hub, now, world));
  while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    put(&down, now, bytes, size);
  }
  if (kp_stream_acknowledgement(server, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    put(&down, now, bytes, size);
  }
  return compared;
}

static int says(const char *part) {
  char text[300];
  kp_error_text(text, sizeof text);
  return strstr(text, part) != NULL;
}

// Stamps that are too old, ahead, earlier than others, or forged. The past stays as it was.
static void refuses_stamps(const KpSeen *last) {
  static Frame before, after;
  double tick = -1.0;
  KpSeen seen = *last;
  memset(&before, 0, sizeof before);
  memset(&after, 0, sizeof after);
  OK(kp_hub_rewind_all(hub, CLIENT, last, &tick));
  read(past, &before);
  tick = -1.0;
  seen.is_shown = 0;
  REFUSED(KP_STATUS_NOTHING, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
  EXPECT(says("nothing yet"));
  seen = *last;
  seen.moment = fmodf(seen.moment + 256.0f - 40.0f, 256.0f);
  REFUSED(KP_STATUS_NOTHING, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
  EXPECT(says("ticks ago") && says("longest_ms"));
  // A moment of the future is one of long ago, because stamps have moments modulo 256.
  seen.moment = fmodf(last->moment + 60.0f, 256.0f);
  REFUSED(KP_STATUS_NOTHING, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
  seen.moment = fmodf(last->moment + 256.0f - 1.0f / 64.0f, 256.0f);
  REFUSED(KP_STATUS_DATA, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
  EXPECT(says("earlier stamp") && says("in order"));
  const float wrong[] = {-1.0f, 256.0f, 0.001f, NAN};
  for (int nth = 0; nth < 4; nth += 1) {
    seen = *last;
    seen.moment = wrong[nth];
    REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
    seen = *last;
    seen.newest = wrong[nth];
    REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(hub, CLIENT, &seen, NULL, 0, &tick));
  }
  // According to this stamp, no datagram had arrived.
  seen = *last;
  seen.full_state = 0;
  for (size_t at = 0; at < sizeof seen.missing; at += 2) {
    // Two runs are missing, which are all of the last 256 datagrams.
    seen.missing[at] = (uint8_t)((int)seen.newest - (at == 0 ? 0 : 100));
    seen.missing[at + 1] = at < 4 ? 255 : 0;
  }
  REFUSED(KP_STATUS_NOTHING, kp_hub_rewind_all(hub, CLIENT, &seen, &tick));
  read(past, &after);
  EXPECT(tick == -1.0 && memcmp(&before, &after, sizeof after) == 0);
  // Any other bytes are bounded.
  for (uint32_t round = 0; round < 300; round += 1) {
    seen.moment = (float)below(16384) / 64.0f;
    seen.newest = (float)below(256);
    seen.full_state = (uint8_t)below(256);
    for (size_t at = 0; at < sizeof seen.missing; at += 1) seen.missing[at] = (uint8_t)below(256);
    EXPECT(kp_hub_rewind_all(hub, CLIENT, &seen, &tick) != KP_STATUS_PANIC);
  }
}

static void refuses_arguments(const KpSeen *last, KpCodec codec) {
  const uint32_t ids[] = {4, 4, 3};
  double tick = -1.0;
  KpSeen seen = *last;
  KpColumn columns[KP_SEEN_FIELDS];
  KpTarget targets[KP_SEEN_FIELDS];
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(hub, CLIENT, last, ids, 2, &tick));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(hub, CLIENT, last, ids + 1, 2, &tick));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(hub, CLIENT + 1, last, ids, 1, &tick));
  EXPECT(says("no receiver 43"));
  REFUSED(KP_STATUS_POINTER, kp_hub_rewind(hub, CLIENT, NULL, ids, 1, &tick));
  REFUSED(KP_STATUS_POINTER, kp_hub_rewind(hub, CLIENT, last, NULL, 1, &tick));
  REFUSED(KP_STATUS_POINTER, kp_hub_rewind(hub, CLIENT, last, ids, 1, NULL));
  REFUSED(KP_STATUS_POINTER, kp_hub_rewind_all(hub, CLIENT, NULL, &tick));
  REFUSED(KP_STATUS_POINTER, kp_hub_rewind_all(hub, CLIENT, last, NULL));
  REFUSED(KP_STATUS_POINTER, kp_hub_past(hub, NULL));
  REFUSED(KP_STATUS_POINTER, kp_receiver_seen(receiver, NULL));
  REFUSED(KP_STATUS_POINTER, kp_seen_columns(&seen, 0, NULL, KP_SEEN_FIELDS));
  REFUSED(KP_STATUS_POINTER, kp_seen_targets(&seen, 0, NULL, KP_SEEN_FIELDS));
  REFUSED(KP_STATUS_SIZE, kp_seen_columns(&seen, 0, columns, KP_SEEN_FIELDS - 1));
  REFUSED(KP_STATUS_SIZE, kp_seen_targets(&seen, 0, targets, KP_SEEN_FIELDS - 1));
  // Without a stamp, columns and targets have no memory.
  OK(kp_seen_columns(NULL, 0, columns, KP_SEEN_FIELDS));
  OK(kp_seen_targets(NULL, 0, targets, KP_SEEN_FIELDS));
  EXPECT(columns[4].data == NULL && targets[4].data == NULL);

  // A hub that does not rewind, and one without a tick.
  KpRewindOptions options = {TICK_HZ, 0, 0};
  KpHub other;
  KpShown empty;
  size_t count = 99;
  OK(kp_hub_new(codec, NULL, &other));
  OK(kp_hub_past(other, &empty));
  OK(kp_shown_ids(empty, SHIP, NULL, 0, &count));
  EXPECT(count == 0);
  OK(kp_hub_add(other, CLIENT, 0, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(other, CLIENT, last, ids, 1, &tick));
  EXPECT(says("kp_hub_set_rewind"));
  options.longest_ms = 5000;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rewind(other, &options));
  options.longest_ms = options.tick_hz = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_set_rewind(other, &options));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(other, CLIENT, last, ids, 1, &tick));
  options.tick_hz = TICK_HZ;
  OK(kp_hub_set_rewind(other, &options));
  REFUSED(KP_STATUS_DATA, kp_hub_rewind(other, CLIENT, last, ids, 1, &tick));
  EXPECT(says("not sent yet"));
  OK(kp_hub_set_rewind(other, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_hub_rewind(other, CLIENT, last, ids, 1, &tick));
  OK(kp_hub_free(other));

  // Freed handles, and handles of other types.
  const KpHub wrong = {receiver.id};
  const KpReceiver wrong_receiver = {hub.id};
  REFUSED(KP_STATUS_HANDLE, kp_shown_ids(empty, SHIP, NULL, 0, &count));
  REFUSED(KP_STATUS_HANDLE, kp_hub_past(other, &empty));
  REFUSED(KP_STATUS_HANDLE, kp_hub_set_rewind(other, NULL));
  REFUSED(KP_STATUS_HANDLE, kp_hub_rewind(wrong, CLIENT, last, ids, 1, &tick));
  REFUSED(KP_STATUS_HANDLE, kp_hub_rewind_all(wrong, CLIENT, last, &tick));
  REFUSED(KP_STATUS_HANDLE, kp_receiver_seen(wrong_receiver, &seen));
  EXPECT(tick == -1.0 && memcmp(&seen, last, sizeof seen) == 0);
}

int main(void) {
  KpCodec codec;
  const KpSchema schema = schema_of_world(), inputs = schema_of_inputs();
  const KpStreamOptions options = {.repeats = 2};
  // A longer time than the default, because this network is bad.
  const KpRewindOptions rewind = {TICK_HZ, 0, 600};
  OK(kp_codec_new(schema, "packed", NULL, 0, &codec));
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_hub_set_rewind(hub, &rewind));
  OK(kp_hub_past(hub, &past));
  OK(kp_hub_add(hub, CLIENT, BUDGET, 0));
  OK(kp_receiver_new(codec, TICK_HZ, NULL, &receiver));
  OK(kp_receiver_shown(receiver, &shown));
  OK(kp_stream_sender_new(inputs, "adaptive", TICK_HZ, &options, &client));
  OK(kp_stream_receiver_new(inputs, "adaptive", TICK_HZ, &options, &server));
  OK(kp_snapshot_new(schema, &world));

  size_t compared = 0, bytes = 0;
  KpSeen last;
  memset(&last, 0, sizeof last);
  for (uint32_t tick = 1; tick <= TICKS; tick += 1) compared += step(tick, &last, &bytes);
  EXPECT(compared > 5000);
  printf("%zu samples were found as they were drawn; %.1f bytes a packet of three inputs\n",
         compared, (double)bytes / TICKS);
  refuses_arguments(&last, codec);
  refuses_stamps(&last);

  OK(kp_snapshot_free(world));
  OK(kp_stream_receiver_free(server));
  OK(kp_stream_sender_free(client));
  OK(kp_receiver_free(receiver));
  OK(kp_hub_free(hub));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(inputs));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
