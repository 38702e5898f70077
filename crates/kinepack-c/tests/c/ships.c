// A world of ships, from an array of structs to packets and back, and every refusal.

#include <string.h>

#include "check.h"

typedef struct {
  uint64_t name; // not sent
  float position[3];
  float rotation[4];
  int32_t score;
  uint8_t is_lit;
} Ship;

enum { SHIPS = 900 };

static void move(Ship *ships, int tick) {
  for (int nth = 0; nth < SHIPS; nth += 1) {
    Ship *ship = &ships[nth];
    int moves = nth % 9 == 0;
    ship->position[0] = (float)(nth % 60) - 30.0f + (moves ? 0.05f * (float)tick : 0.0f);
    ship->position[1] = (float)(nth / 60);
    ship->position[2] = 1.0f;
    ship->rotation[0] = ship->rotation[1] = 0.0f;
    ship->rotation[2] = 0.6f;
    ship->rotation[3] = 0.8f;
    ship->score = -nth * tick;
    ship->is_lit = (uint8_t)(nth % 7 == tick % 7);
  }
}

static KpSchema schema_of_ships(void) {
  KpSchemaBuilder builder;
  KpSchema schema = {0};
  OK(kp_schema_builder_new(&builder));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_kind(builder, "ship"));
  OK(kp_schema_builder_floats(builder, "position", 3, -64.0, 64.0, 0.001));
  OK(kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_rotation(builder, "rotation", 9));
  OK(kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_integer(builder, "score", -1000000, 1000000));
  OK(kp_schema_builder_bool(builder, "is_lit"));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_role(builder, 77));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_floats(builder, "wrong", 3, 1.0, -1.0, 0.1));
  REFUSED(KP_STATUS_POINTER, kp_schema_builder_bool(builder, NULL));
  REFUSED(KP_STATUS_POINTER, kp_schema_builder_build(builder, NULL));
  OK(kp_schema_builder_build(builder, &schema));
  REFUSED(KP_STATUS_HANDLE, kp_schema_builder_free(builder));
  char name[20];
  size_t size;
  uint32_t field;
  OK(kp_schema_kind_name(schema, 0, name, sizeof name, &size));
  EXPECT(strcmp(name, "ship") == 0 && size == 5);
  OK(kp_schema_field_name(schema, 0, 2, name, sizeof name, &size));
  EXPECT(strcmp(name, "score") == 0);
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_field_name(schema, 0, 4, name, sizeof name, &size));
  REFUSED(KP_STATUS_SIZE, kp_schema_field_name(schema, 0, 2, name, 5, &size));
  OK(kp_schema_find(schema, 0, "is_lit", &field));
  EXPECT(field == 3 && kp_abi() == KP_ABI);
  REFUSED(KP_STATUS_NOTHING, kp_schema_find(schema, 0, "is_dark", &field));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_find(schema, 1, "is_lit", &field));
  return schema;
}

static void columns_of(const Ship *ships, KpColumn columns[4]) {
  const KpColumn position = {ships[0].position, sizeof(Ship), KP_NUMBER_F32, 0};
  const KpColumn rotation = {ships[0].rotation, sizeof(Ship), KP_NUMBER_F32, 0};
  const KpColumn score = {&ships[0].score, sizeof(Ship), KP_NUMBER_I32, 0};
  const KpColumn is_lit = {&ships[0].is_lit, sizeof(Ship), KP_NUMBER_U8, 0};
  columns[0] = position;
  columns[1] = rotation;
  columns[2] = score;
  columns[3] = is_lit;
}

static void targets_of(Ship *ships, KpTarget targets[4]) {
  const KpTarget position = {ships[0].position, sizeof(Ship), KP_NUMBER_F32};
  const KpTarget rotation = {ships[0].rotation, sizeof(Ship), KP_NUMBER_F32};
  const KpTarget score = {&ships[0].score, sizeof(Ship), KP_NUMBER_I32};
  const KpTarget is_lit = {&ships[0].is_lit, sizeof(Ship), KP_NUMBER_U8};
  targets[0] = position;
  targets[1] = rotation;
  targets[2] = score;
  targets[3] = is_lit;
}

static float distance(const Ship *one, const Ship *other) {
  float most = 0.0f;
  for (int axis = 0; axis < 3; axis += 1) {
    float between = one->position[axis] - other->position[axis];
    if (between < 0.0f) between = -between;
    if (between > most) most = between;
  }
  return most;
}

// Sends some ticks at a level. Returns the bytes of all packets after the first.
static size_t travel(KpSchema schema, const char *level, Ship *ships, const uint32_t *ids) {
  KpCodec codec;
  KpEncoder encoder;
  KpDecoder decoder;
  KpSnapshot world, seen;
  KpView sent[2], received[2];
  size_t bytes = 0;
  OK(kp_codec_new(schema, level, NULL, 0, &codec));
  OK(kp_encoder_new(codec, &encoder));
  OK(kp_decoder_new(codec, &decoder));
  OK(kp_codec_free(codec));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &seen));
  OK(kp_view_empty(schema, &sent[0]));
  OK(kp_view_empty(schema, &received[0]));
  static Ship read[SHIPS];
  static uint8_t packet[65536];
  size_t views = 1;
  for (int tick = 1; tick <= 10; tick += 1) {
    KpColumn columns[4];
    KpTarget targets[4];
    KpView newer, decoded;
    size_t size = 0, count = 0;
    move(ships, tick);
    OK(kp_snapshot_clear(world, (uint32_t)tick));
    columns_of(ships, columns);
    OK(kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
    REFUSED(KP_STATUS_SIZE, kp_encode(encoder, sent, views, world, packet, 3, &size, &newer));
    EXPECT(size > 3);
    OK(kp_encode(encoder, sent, views, world, packet, sizeof packet, &size, &newer));
    OK(kp_decode(decoder, received, views, packet, size, (uint32_t)tick, &decoded));
    if (tick > 1) bytes += size;
    // Newest first. An older view serves to predict velocities.
    for (size_t nth = views; nth > 1; nth -= 1) {
      OK(kp_view_free(sent[nth - 1]));
      OK(kp_view_free(received[nth - 1]));
    }
    sent[1] = sent[0];
    received[1] = received[0];
    sent[0] = newer;
    received[0] = decoded;
    views = 2;
    OK(kp_view_get(received[0], seen));
    uint64_t hashes[2];
    OK(kp_snapshot_hash(world, &hashes[0]));
    OK(kp_snapshot_hash(seen, &hashes[1]));
    EXPECT(hashes[0] == hashes[1]);
    OK(kp_snapshot_count(seen, 0, &count));
    EXPECT(count == SHIPS);
    targets_of(read, targets);
    OK(kp_snapshot_read(seen, 0, SHIPS, targets, 4));
    for (int nth = 0; nth < SHIPS; nth += 1) {
      EXPECT(distance(&read[nth], &ships[nth]) <= 0.0011f);
      EXPECT(read[nth].score == ships[nth].score && read[nth].is_lit == ships[nth].is_lit);
    }
  }
  // Random bytes are refused, or decode to another view.
  for (uint32_t round = 0; round < 500; round += 1) {
    uint8_t noise[40];
    KpView view;
    for (size_t at = 0; at < sizeof noise; at += 1) {
      noise[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 31);
    }
    KpStatus status = kp_decode(decoder, received, 2, noise, round % sizeof noise, 99, &view);
    EXPECT(status == KP_STATUS_OK || status == KP_STATUS_DATA);
    if (status == KP_STATUS_OK) OK(kp_view_free(view));
  }
  for (size_t nth = 0; nth < 2; nth += 1) {
    OK(kp_view_free(sent[nth]));
    OK(kp_view_free(received[nth]));
  }
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(seen));
  OK(kp_encoder_free(encoder));
  OK(kp_decoder_free(decoder));
  return bytes;
}

static void refusals(KpSchema schema, Ship *ships, const uint32_t *ids) {
  KpSnapshot world, freed, zero = {0};
  KpColumn columns[4];
  KpTarget targets[4];
  KpField field;
  KpSchema other;
  KpCodec codec;
  size_t count = 0;
  uint32_t number = 0;
  uint8_t file[1000];
  char text[9];
  move(ships, 1);
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &freed));
  OK(kp_snapshot_free(freed));
  columns_of(ships, columns);
  REFUSED(KP_STATUS_HANDLE, kp_snapshot_free(freed));
  REFUSED(KP_STATUS_HANDLE, kp_snapshot_clear(freed, 1));
  EXPECT(kp_error_text(text, sizeof text) > 8 && strcmp(text, "this han") == 0);
  EXPECT(kp_error_text(NULL, 0) > 8);
  REFUSED(KP_STATUS_HANDLE, kp_snapshot_clear(zero, 1));
  zero.id = schema.id;
  REFUSED(KP_STATUS_HANDLE, kp_snapshot_clear(zero, 1));

  REFUSED(KP_STATUS_POINTER, kp_snapshot_new(schema, NULL));
  REFUSED(KP_STATUS_POINTER, kp_snapshot_add(world, 0, NULL, SHIPS, columns, 4));
  REFUSED(KP_STATUS_POINTER, kp_snapshot_add(world, 0, ids, SHIPS, NULL, 4));
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, SHIPS, columns, 3));
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 1, ids, SHIPS, columns, 4));
  columns[0].data = NULL;
  REFUSED(KP_STATUS_POINTER, kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  columns_of(ships, columns);
  columns[0].number = 99;
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  columns[0].number = KP_NUMBER_U8;
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  columns_of(ships, columns);
  columns[3].stride = SIZE_MAX / 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  columns_of(ships, columns);
  ships[17].position[1] = 1e9f;
  REFUSED(KP_STATUS_VALUE, kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  columns[0].clamp = 1;
  OK(kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, 1, columns, 4));

  targets_of(ships, targets);
  REFUSED(KP_STATUS_SIZE, kp_snapshot_read(world, 0, SHIPS - 1, targets, 4));
  REFUSED(KP_STATUS_SIZE, kp_snapshot_ids(world, 0, &number, 1, &count));
  EXPECT(count == SHIPS);
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_read(world, 0, SHIPS, targets, 5));
  targets[2].number = KP_NUMBER_I16;
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_read(world, 0, SHIPS, targets, 4));
  targets[2].data = NULL;
  OK(kp_snapshot_read(world, 0, SHIPS, targets, 4));
  EXPECT(ships[17].position[1] > 63.9f && ships[17].position[1] <= 64.0f);

  OK(kp_schema_field(schema, 0, 1, &field));
  EXPECT(field.kind == KP_FIELD_KIND_ROTATION && field.numbers == 4 && field.first_lane == 3);
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_field(schema, 0, 4, &field));
  REFUSED(KP_STATUS_SIZE, kp_schema_to_bytes(schema, file, 3, &count));
  OK(kp_schema_to_bytes(schema, file, sizeof file, &count));
  for (size_t cut = 0; cut < count; cut += 1) {
    REFUSED(KP_STATUS_DATA, kp_schema_from_bytes(file, cut, &other));
  }
  OK(kp_schema_from_bytes(file, count, &other));
  uint64_t hashes[2];
  OK(kp_schema_hash(schema, &hashes[0]));
  OK(kp_schema_hash(other, &hashes[1]));
  EXPECT(hashes[0] == hashes[1]);
  REFUSED(KP_STATUS_ARGUMENT, kp_codec_new(other, "best", NULL, 0, &codec));
  REFUSED(KP_STATUS_DATA, kp_codec_new(other, "packed", file, count, &codec));
  OK(kp_schema_free(other));
  OK(kp_snapshot_free(world));
}

// The same over a reliable connection: each frame is coded against the previous ones.
static void groups(KpSchema schema) {
  static Ship ships[SHIPS];
  static uint32_t ids[SHIPS];
  static uint8_t bytes[1 << 16];
  KpColumn columns[4];
  KpCodec codec;
  KpGroupWriter writer;
  KpGroupReader reader;
  KpSnapshot world, read;
  KpView given;
  const KpView none = {0};
  size_t size, used;
  uint64_t hash, read_hash;
  for (uint32_t nth = 0; nth < SHIPS; nth += 1) ids[nth] = nth;
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  OK(kp_group_writer_new(codec, &writer));
  OK(kp_group_reader_new(codec, &reader));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &read));
  columns_of(ships, columns);
  REFUSED(KP_STATUS_NOTHING, kp_group_take(writer, bytes, sizeof bytes, &size));
  for (uint32_t tick = 1; tick <= 10; tick += 1) {
    move(ships, (int)tick);
    OK(kp_snapshot_clear(world, tick));
    OK(kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
    OK(kp_group_write(writer, world));
    REFUSED(KP_STATUS_SIZE, kp_group_take(writer, bytes, 3, &size));
    OK(kp_group_take(writer, bytes, sizeof bytes, &size));
    REFUSED(KP_STATUS_DATA, kp_group_read(reader, bytes, size - 1, read, &used));
    OK(kp_group_read(reader, bytes, size, read, &used));
    OK(kp_snapshot_hash(world, &hash));
    OK(kp_snapshot_hash(read, &read_hash));
    EXPECT(used == size && hash == read_hash);
  }
  REFUSED(KP_STATUS_ARGUMENT, kp_group_write(writer, world));
  REFUSED(KP_STATUS_NOTHING, kp_group_read(reader, bytes, 0, read, &used));
  // A group that begins from a view of both sides, and a group that depends on nothing.
  OK(kp_view_of(world, &given));
  for (int round = 0; round < 2; round += 1) {
    OK(kp_group_writer_begin(writer, round == 0 ? given : none));
    OK(kp_group_reader_begin(reader, round == 0 ? given : none));
    OK(kp_snapshot_clear(world, 11));
    OK(kp_snapshot_add(world, 0, ids, SHIPS, columns, 4));
    OK(kp_group_write(writer, world));
    OK(kp_group_take(writer, bytes, sizeof bytes, &size));
    EXPECT(round == 0 ? size < 100 : size > 500);
    OK(kp_group_read(reader, bytes, size, read, &used));
  }
  REFUSED(KP_STATUS_POINTER, kp_group_read(reader, NULL, 5, read, &used));
  OK(kp_group_writer_free(writer));
  OK(kp_group_reader_free(reader));
  REFUSED(KP_STATUS_HANDLE, kp_group_write(writer, world));
  REFUSED(KP_STATUS_HANDLE, kp_group_read(reader, bytes, size, read, &used));
  OK(kp_view_free(given));
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(read));
  uint64_t codec_hash;
  OK(kp_codec_hash(codec, &codec_hash));
  REFUSED(KP_STATUS_POINTER, kp_codec_hash(codec, NULL));
  char profile[2000];
  size_t profile_size;
  REFUSED(KP_STATUS_SIZE, kp_codec_profile_text(codec, NULL, 0, &profile_size));
  EXPECT(profile_size > 100 && profile_size <= sizeof profile);
  REFUSED(KP_STATUS_POINTER, kp_codec_profile_text(codec, NULL, sizeof profile, &profile_size));
  REFUSED(KP_STATUS_POINTER, kp_codec_profile_text(codec, profile, sizeof profile, NULL));
  OK(kp_codec_profile_text(codec, profile, sizeof profile, &profile_size));
  EXPECT(strstr(profile, "entities widths [") == profile && profile[profile_size - 1] == 0);
  OK(kp_codec_free(codec));
  REFUSED(KP_STATUS_HANDLE, kp_codec_profile_text(codec, profile, sizeof profile, &profile_size));
}

// Buoys whose place may be coarser: by as many bits as they say.
static void coarser_fields(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  KpSnapshot world;
  OK(kp_schema_builder_new(&builder));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_coarser(builder, "bits", 3));
  OK(kp_schema_builder_integer(builder, "bits", 0, 4));
  OK(kp_schema_builder_floats(builder, "place", 1, -64.0, 64.0, 0.25));
  REFUSED(KP_STATUS_POINTER, kp_schema_builder_coarser(builder, NULL, 3));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_coarser(builder, "bits", 256));
  // Only the schema finds these mistakes: no such field, and too many bits.
  OK(kp_schema_builder_coarser(builder, "bit", 3));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_build(builder, &schema));
  OK(kp_schema_builder_coarser(builder, "bits", 32));
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_build(builder, &schema));
  OK(kp_schema_builder_coarser(builder, "bits", 3));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_snapshot_new(schema, &world));
  const uint32_t ids[3] = {1, 2, 3};
  const uint8_t bits[3] = {0, 2, 4};
  float places[3] = {1.25f, -3.0f, 4.25f};
  const KpColumn columns[2] = {{bits, 1, KP_NUMBER_U8, 0},
                               {places, sizeof(float), KP_NUMBER_F32, 0}};
  // The third place is not a multiple of 8 steps.
  REFUSED(KP_STATUS_ARGUMENT, kp_snapshot_add(world, 0, ids, 3, columns, 2));
  places[2] = 4.0f;
  OK(kp_snapshot_add(world, 0, ids, 3, columns, 2));
  OK(kp_snapshot_free(world));
  OK(kp_schema_free(schema));
}

int main(void) {
  static Ship ships[SHIPS];
  uint32_t ids[SHIPS];
  for (uint32_t nth = 0; nth < SHIPS; nth += 1) ids[nth] = 3 * nth + 1;
  KpSchema schema = schema_of_ships();
  groups(schema);
  const char *levels[] = {"packed", "adaptive", "learning"};
  size_t bytes[3];
  for (int nth = 0; nth < 3; nth += 1) {
    bytes[nth] = travel(schema, levels[nth], ships, ids);
    printf("%s: %zu bytes for 9 ticks of %d ships\n", levels[nth], bytes[nth], (int)SHIPS);
  }
  EXPECT(bytes[2] < bytes[0] && bytes[0] < 9 * SHIPS * 8);
  refusals(schema, ships, ids);
  coarser_fields();
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
