// Runs the script of tests/vectors/script.rs, whose head describes the commands. It stops at the first
// command whose result differs.

#include <math.h>
#include <string.h>

#include "check.h"

enum { MOST_WORDS = 16, MOST_NAMES = 2000, MOST_BYTES = 1 << 17, MOST_NUMBERS = 8192 };

static char *words[MOST_WORDS];
static int word_count;

// What has a name, by its type.
static struct {
  const char *type, *name;
  uint64_t handle;
} named[MOST_NAMES];
static int named_count;

static void keep(const char *type, const char *name, uint64_t handle) {
  EXPECT(named_count < MOST_NAMES);
  named[named_count].type = type;
  named[named_count].name = name;
  named[named_count].handle = handle;
  named_count += 1;
}

static uint64_t handle_of(const char *type, const char *name) {
  if (strcmp(name, "-") == 0) return 0;
  for (int nth = named_count - 1; nth >= 0; nth -= 1) {
    if (strcmp(named[nth].type, type) == 0 && strcmp(named[nth].name, name) == 0) {
      return named[nth].handle;
    }
  }
  printf("no %s is named %s\n", type, name);
  failures += 1;
  return 0;
}

static size_t from_hex(const char *hex, uint8_t *bytes) {
  size_t size = 0;
  if (strcmp(hex, "-") == 0) return 0;
  for (; hex[0] != 0; hex += 2, size += 1) {
    unsigned byte = 0;
    EXPECT(size < MOST_BYTES && sscanf(hex, "%2x", &byte) == 1);
    bytes[size] = (uint8_t)byte;
  }
  return size;
}

static uint64_t hash_from(const char *hex) {
  unsigned long long hash = 0;
  EXPECT(sscanf(hex, "%llx", &hash) == 1);
  return hash;
}

static uint8_t bytes[MOST_BYTES], result[MOST_BYTES];
static size_t size;

// The word with this number, as the bytes that it gives in hex.
static void read_word(int nth) {
  size = from_hex(words[nth], bytes);
}

static void expect_bytes(size_t result_size) {
  EXPECT(result_size == size && memcmp(result, bytes, size) == 0);
}

static void schema(void) {
  KpSchema of;
  uint64_t hash;
  size_t written;
  read_word(3);
  OK(kp_schema_from_bytes(bytes, size, &of));
  OK(kp_schema_hash(of, &hash));
  EXPECT(hash == hash_from(words[2]));
  OK(kp_schema_to_bytes(of, result, sizeof result, &written));
  expect_bytes(written);
  keep("schema", words[1], of.id);
}

static void codec(void) {
  const KpSchema of = {handle_of("schema", words[2])};
  KpCodec made;
  read_word(4);
  OK(kp_codec_new(of, words[3], bytes, size, &made));
  keep("codec", words[1], made.id);
  keep("schema of codec", words[1], of.id);
}

static void profile(void) {
  const KpCodec of = {handle_of("codec", words[1])};
  size_t written;
  read_word(2);
  OK(kp_codec_profile_text(of, (char *)result, sizeof result, &written));
  EXPECT(written > 0 && result[written - 1] == 0);
  expect_bytes(written - 1);
}

static void view(void) {
  const KpCodec of = {handle_of("codec", words[2])};
  const KpSchema its = {handle_of("schema of codec", words[2])};
  KpView known[4], got;
  size_t count = 0;
  if (strcmp(words[6], "-") == 0) {
    OK(kp_view_empty(its, &known[count++]));
  } else {
    for (char *name = strtok(words[6], ","); name != NULL; name = strtok(NULL, ",")) {
      EXPECT(count < 4);
      known[count++].id = handle_of("view", name);
    }
  }
  read_word(7);
  KpDecoder decoder;
  KpSnapshot state;
  uint64_t hash;
  OK(kp_decoder_new(of, &decoder));
  OK(kp_decode(decoder, known, count, bytes, size, (uint32_t)atol(words[3]), &got));
  OK(kp_snapshot_new(its, &state));
  OK(kp_view_get(got, state));
  OK(kp_snapshot_hash(state, &hash));
  EXPECT(hash == hash_from(words[4]));
  if (strcmp(words[5], "1") == 0) {
    KpEncoder encoder;
    size_t written;
    OK(kp_encoder_new(of, &encoder));
    OK(kp_encode(encoder, known, count, state, result, sizeof result, &written, NULL));
    expect_bytes(written);
    OK(kp_encoder_free(encoder));
  }
  OK(kp_snapshot_free(state));
  OK(kp_decoder_free(decoder));
  keep("view", words[1], got.id);
}

static void check(void) {
  const KpView of = {handle_of("view", words[1])};
  uint16_t value;
  OK(kp_view_check(of, &value));
  EXPECT(value == hash_from(words[2]));
}

static void group(void) {
  const KpCodec of = {handle_of("codec", words[1])};
  const KpSchema its = {handle_of("schema of codec", words[1])};
  KpGroupReader reader;
  KpGroupWriter writer;
  KpSnapshot state;
  size_t at = 0, used, written;
  char *save = NULL;
  read_word(3);
  OK(kp_group_reader_new(of, &reader));
  OK(kp_group_writer_new(of, &writer));
  OK(kp_snapshot_new(its, &state));
  for (char *each = strtok_r(words[2], ",", &save); each != NULL; each = strtok_r(NULL, ",", &save)) {
    unsigned tick;
    unsigned long long expected;
    uint32_t its_tick;
    uint64_t hash;
    EXPECT(sscanf(each, "%u:%llx", &tick, &expected) == 2);
    OK(kp_group_read(reader, bytes + at, size - at, state, &used));
    at += used;
    OK(kp_snapshot_tick(state, &its_tick));
    OK(kp_snapshot_hash(state, &hash));
    EXPECT(its_tick == tick && hash == expected);
    OK(kp_group_write(writer, state));
  }
  REFUSED(KP_STATUS_NOTHING, kp_group_read(reader, bytes + at, size - at, state, &used));
  OK(kp_group_take(writer, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_group_reader_free(reader));
  OK(kp_group_writer_free(writer));
  OK(kp_snapshot_free(state));
}

static void runs(void) {
  static uint8_t base[MOST_BYTES], plain[MOST_BYTES];
  size_t written;
  const size_t base_size = from_hex(words[1], base), plain_size = from_hex(words[2], plain);
  read_word(3);
  OK(kp_runs_encode(base, base_size, plain, plain_size, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_runs_decode(base, base_size, bytes, size, result, plain_size, &written));
  EXPECT(written == plain_size && memcmp(result, plain, plain_size) == 0);
}

static void sparse(void) {
  static uint8_t base[MOST_BYTES], plain[MOST_BYTES];
  size_t written;
  const size_t base_size = from_hex(words[1], base), plain_size = from_hex(words[2], plain);
  read_word(3);
  OK(kp_sparse_encode(base, base_size, plain, plain_size, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_sparse_decode(base, base_size, bytes, size, result, plain_size));
  EXPECT(memcmp(result, plain, plain_size) == 0);
}

// The numbers of a list with commas. Returns how many they are.
static uint32_t listed_numbers(const char *list, double *numbers) {
  uint32_t count = 0;
  for (; strcmp(list, "-") != 0; list += 1) {
    char *end;
    numbers[count++] = strtod(list, &end);
    EXPECT(end != list && count <= 4);
    list = end;
    if (*list == 0) break;
  }
  return count;
}

static void magnitude(void) {
  KpMagnitude written, back;
  double before[4] = {0}, values[4], read[4];
  size_t bytes_written;
  memset(&written, 0, sizeof written);
  written.form = atoi(words[1]);
  written.steps_per_unit = (uint32_t)atol(words[2]);
  written.count = listed_numbers(words[5], values);
  listed_numbers(words[4], before);
  EXPECT(listed_numbers(words[6], read) == written.count);
  const char *limits = words[3];
  for (uint32_t nth = 0; nth < written.count; nth += 1) {
    KpComponent *component = &written.components[nth];
    if (strcmp(words[3], "-") != 0) {
      int length = 0;
      EXPECT(sscanf(limits, "%lf:%lf:%lf:%d%n", &component->min, &component->max,
                    &component->precision, &component->is_cyclic, &length) == 4);
      limits += length + 1;
    }
    component->before = before[nth];
    component->value = values[nth];
  }
  read_word(8);
  back = written;
  for (uint32_t nth = 0; nth < 4; nth += 1) back.components[nth].value = 7.0;
  OK(kp_magnitudes_write(&written, 1, result, sizeof result, &bytes_written));
  expect_bytes(bytes_written);
  EXPECT(bytes_written == (size_t)(atol(words[7]) + 7) / 8);
  OK(kp_magnitudes_read(&back, 1, bytes, size));
  for (uint32_t nth = 0; nth < 4; nth += 1) {
    const double expected_value = nth < written.count ? read[nth] : 7.0;
    EXPECT((float)back.components[nth].value == (float)expected_value);
  }
}

static void events(void) {
  const KpCodec of = {handle_of("codec", words[2])};
  int32_t ticks[16];
  size_t count = 0;
  char *save = NULL;
  for (char *each = strtok_r(words[3], ",", &save); each != NULL; each = strtok_r(NULL, ",", &save)) {
    EXPECT(count < 16);
    ticks[count++] = (int32_t)atol(each);
  }
  KpEvents made;
  OK(kp_events_new(of, ticks, count, &made));
  keep("events", words[1], made.id);
  keep("schema of events", words[1], handle_of("schema of codec", words[2]));
}

static void receiver(void) {
  const KpCodec of = {handle_of("codec", words[2])};
  KpReceiverOptions options;
  KpReceiver made;
  memset(&options, 0, sizeof options);
  options.events.id = handle_of("events", words[3]);
  OK(kp_receiver_new(of, 60, &options, &made));
  keep("receiver", words[1], made.id);
  keep("schema of receiver", words[1], handle_of("schema of codec", words[2]));
  keep("schema of events of", words[1], handle_of("schema of events", words[3]));
}

static void sends(void) {
  const KpReceiver of = {handle_of("receiver", words[1])};
  size_t written;
  read_word(2);
  OK(kp_receiver_poll(of, 0, result, sizeof result, &written));
  expect_bytes(written);
}

// Targets of 64-bit integers for the fields of a kind, which are integers, flags and bytes. Returns how
// many numbers a record has.
static uint32_t integer_targets(KpSchema of, uint32_t kind, int64_t *numbers, uint32_t records,
                                KpTarget *targets, uint32_t *count) {
  uint32_t all = 0, at = 0;
  OK(kp_schema_fields(of, kind, count));
  for (int pass = 0; pass < 2; pass += 1) {
    for (uint32_t field = 0; field < *count; field += 1) {
      KpField described;
      OK(kp_schema_field(of, kind, field, &described));
      if (pass == 0) {
        all += described.numbers;
        continue;
      }
      targets[field].data = numbers + at;
      targets[field].stride = all * sizeof(int64_t);
      targets[field].number = KP_NUMBER_I64;
      at += described.numbers;
    }
  }
  EXPECT(all * records <= MOST_NUMBERS && *count <= 16);
  return all;
}

static int64_t numbers[MOST_NUMBERS];

// Compares numbers with "1,2,3".
static void expect_numbers(const char *listed, const int64_t *given, uint32_t count) {
  for (uint32_t nth = 0; nth < count; nth += 1) {
    char *end;
    EXPECT(strtoll(listed, &end, 10) == given[nth]);
    EXPECT(*end == (nth + 1 < count ? ',' : 0));
    listed = end + 1;
  }
}

// Takes the events that are due, and compares them with "tick:kind:numbers;…".
static void expect_events(KpStatus (*next)(uint64_t, KpEvent *),
                          KpStatus (*read)(uint64_t, uint32_t, const KpTarget *, size_t), uint64_t handle,
                          KpSchema of, char *listed) {
  KpEvent event;
  KpTarget targets[16];
  char *save = NULL;
  if (strcmp(listed, "-") != 0) {
    for (char *each = strtok_r(listed, ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
      unsigned tick, kind;
      int begin = 0;
      EXPECT(sscanf(each, "%u:%u:%n", &tick, &kind, &begin) == 2);
      OK(next(handle, &event));
      EXPECT(event.tick == tick && event.kind == kind);
      uint32_t fields;
      const uint32_t all = integer_targets(of, event.kind, numbers, 1, targets, &fields);
      OK(read(handle, event.kind, targets, fields));
      expect_numbers(each + begin, numbers, all);
    }
  }
  REFUSED(KP_STATUS_NOTHING, next(handle, &event));
}

static KpStatus next_of_receiver(uint64_t id, KpEvent *event) {
  const KpReceiver of = {id};
  return kp_receiver_next_event(of, event);
}

static KpStatus read_of_receiver(uint64_t id, uint32_t kind, const KpTarget *targets, size_t count) {
  const KpReceiver of = {id};
  return kp_receiver_read_event(of, kind, targets, count);
}

static void takes(void) {
  const KpReceiver of = {handle_of("receiver", words[1])};
  const KpSchema its = {handle_of("schema of receiver", words[1])};
  const KpSchema of_events = {handle_of("schema of events of", words[1])};
  read_word(5);
  const KpStatus status = kp_receiver_handle(of, 0, bytes, size);
  EXPECT(status == (strcmp(words[2], "ok") == 0 ? KP_STATUS_OK : KP_STATUS_DATA));
  KpSnapshot newest;
  OK(kp_snapshot_new(its, &newest));
  if (strcmp(words[3], "-") == 0) {
    REFUSED(KP_STATUS_NOTHING, kp_receiver_newest(of, newest));
  } else {
    uint64_t hash;
    OK(kp_receiver_newest(of, newest));
    OK(kp_snapshot_hash(newest, &hash));
    EXPECT(hash == hash_from(words[3]));
  }
  OK(kp_snapshot_free(newest));
  OK(kp_receiver_take_events(of));
  expect_events(next_of_receiver, read_of_receiver, of.id, of_events, words[4]);
}

static void fault(void) {
  const KpReceiver of = {handle_of("receiver", words[1])};
  OK(kp_receiver_inject_fault(of, (uint32_t)atol(words[2]), (uint32_t)atol(words[3])));
}

static void stream(void) {
  const KpSchema of = {handle_of("schema", words[2])};
  KpStreamOptions options;
  KpStreamReceiver made;
  memset(&options, 0, sizeof options);
  options.repeats = atoi(words[5]);
  options.first_number = (uint16_t)atoi(words[6]);
  OK(kp_stream_receiver_new(of, words[3], (uint32_t)atol(words[4]), &options, &made));
  keep("stream", words[1], made.id);
  keep("schema of stream", words[1], of.id);
}

static void records(void) {
  const KpStreamReceiver of = {handle_of("stream", words[1])};
  const KpSchema its = {handle_of("schema of stream", words[1])};
  KpRecord given[16];
  KpTarget targets[16];
  uint32_t fields;
  size_t count, nth = 0;
  char *save = NULL;
  read_word(4);
  OK(kp_stream_receiver_handle(of, (uint64_t)atoll(words[2]) * 1000000u, bytes, size, &count));
  const uint32_t all = integer_targets(its, 0, numbers, 16, targets, &fields);
  OK(kp_stream_read(of, given, 16, targets, fields, &count));
  if (strcmp(words[3], "-") != 0) {
    for (char *each = strtok_r(words[3], ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
      unsigned number;
      int begin = 0;
      EXPECT(sscanf(each, "%u:%n", &number, &begin) == 1 && nth < count);
      EXPECT(given[nth].number == number);
      expect_numbers(each + begin, numbers + nth * all, all);
      nth += 1;
    }
  }
  EXPECT(nth == count);
}

static void acknowledges(void) {
  const KpStreamReceiver of = {handle_of("stream", words[1])};
  size_t written;
  read_word(2);
  OK(kp_stream_acknowledgement(of, result, sizeof result, &written));
  expect_bytes(written);
}

static void stream_codec(void) {
  const KpSchema of = {handle_of("schema", words[2])};
  KpStreamCodec made;
  uint64_t hash;
  OK(kp_stream_codec_new(of, words[3], &made));
  OK(kp_stream_codec_hash(made, &hash));
  EXPECT(hash == hash_from(words[5]));
  keep("stream codec", words[1], made.id);
  keep("schema of stream codec", words[1], of.id);
  // Its name leads to the letters of its numbers too.
  keep("numbers of stream codec", words[1], (uint64_t)(uintptr_t)words[4]);
}

static void packet(void) {
  const KpStreamCodec of = {handle_of("stream codec", words[2])};
  const KpSchema its = {handle_of("schema of stream codec", words[2])};
  const char *letters = (const char *)(uintptr_t)handle_of("numbers of stream codec", words[2]);
  const uint16_t lag = (uint16_t)atoi(words[4]);
  const size_t count = (size_t)atol(words[5]);
  KpStreamBase base = {handle_of("stream base", words[3])}, last;
  KpTarget targets[16];
  KpColumn columns[16];
  uint32_t fields;
  size_t written;
  if (base.id == 0) OK(kp_stream_base_new(of, &base));
  const uint32_t all = integer_targets(its, 0, numbers, (uint32_t)count, targets, &fields);
  EXPECT(strlen(letters) == fields);
  for (uint32_t field = 0; field < fields; field += 1) {
    const char letter = letters[field];
    targets[field].number = letter == 'f' ? KP_NUMBER_F64 : letter == 'i' ? KP_NUMBER_I64 : KP_NUMBER_U64;
    columns[field].data = targets[field].data;
    columns[field].stride = targets[field].stride;
    columns[field].number = targets[field].number;
    columns[field].clamp = 0;
  }
  read_word(8);
  OK(kp_stream_decode(of, base, lag, bytes, size, count, targets, fields, &last));
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t nth = 0; nth < count * all; nth += 1) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ ((uint64_t)numbers[nth] >> shift & 255)) * 0x100000001b3u;
    }
  }
  EXPECT(hash == hash_from(words[6]));
  if (strcmp(words[7], "1") == 0) {
    OK(kp_stream_encode(of, base, lag, columns, fields, count, result, sizeof result, &written, NULL));
    expect_bytes(written);
  }
  keep("stream base", words[1], last.id);
}

static void skeleton(void) {
  KpSkeleton of;
  uint64_t hash;
  read_word(2);
  OK(kp_skeleton_from_bytes(bytes, size, &of));
  OK(kp_skeleton_hash(of, &hash));
  EXPECT(hash == hash_from(words[1]));
  OK(kp_skeleton_free(of));
}

static void rig(void) {
  KpRig made;
  read_word(2);
  OK(kp_rig_from_bytes(bytes, size, &made));
  keep("rig", words[1], made.id);
}

static void clip(void) {
  const KpRig of = {handle_of("rig", words[2])};
  KpClip made;
  read_word(3);
  OK(kp_clip_from_bytes(bytes, size, of, &made));
  keep("clip", words[1], made.id);
}

// A pose as ten numbers a joint: rotation, translation in cm, scale.
static KpPose layout(float *pose, size_t joints) {
  KpPose of;
  memset(&of, 0, sizeof of);
  of.rotations = pose;
  of.translations = pose + 4;
  of.scales = pose + 7;
  of.rotation_stride = of.translation_stride = of.scale_stride = 10 * sizeof(float);
  of.bones = joints;
  of.units_per_m = 100.0f;
  return of;
}

static float pose[MOST_NUMBERS], expected[MOST_NUMBERS];

// The numbers of a pose, each as eight digits. Returns the number of joints.
static size_t read_pose(const char *hex, float *to) {
  const size_t count = strlen(hex) / 8;
  EXPECT(count <= MOST_NUMBERS && count % 10 == 0);
  for (size_t nth = 0; nth < count; nth += 1) {
    unsigned number;
    EXPECT(sscanf(hex + 8 * nth, "%8x", &number) == 1);
    memcpy(&to[nth], &number, sizeof number);
  }
  return count / 10;
}

static void bind(void) {
  const KpClip of = {handle_of("clip", words[1])};
  const KpPose at = layout(pose, read_pose(words[2], pose));
  KpPlayer made;
  OK(kp_player_with_bind_pose(of, &at, &made));
  keep("player", words[1], made.id);
}

// Of the two quaternions of a rotation the one whose last number that is not 0 is positive.
static void choose_sign(float *rotation) {
  int last = 3;
  while (last > 0 && rotation[last] == 0.0f) last -= 1;
  if (rotation[last] < 0.0f) {
    for (int nth = 0; nth < 4; nth += 1) rotation[nth] = -rotation[nth];
  }
}

static void play(void) {
  const KpPlayer of = {handle_of("player", words[1])};
  const size_t joints = read_pose(words[3], expected);
  const KpPose at = layout(pose, joints);
  OK(kp_player_sample_at(of, strtod(words[2], NULL), &at));
  for (size_t joint = 0; joint < joints; joint += 1) {
    choose_sign(pose + 10 * joint);
    choose_sign(expected + 10 * joint);
    // Numbers that are equal have the same bits, except zeros.
    for (size_t nth = 10 * joint; nth < 10 * joint + 10; nth += 1) {
      EXPECT(pose[nth] == expected[nth]);
    }
  }
}

// Compares a text with its bytes in hex.
static void expect_text(const char *text, size_t text_size, const char *hex) {
  uint8_t expected_text[200];
  const size_t length = from_hex(hex, expected_text);
  EXPECT(text_size == length + 1 && memcmp(text, expected_text, length) == 0 && text[length] == 0);
}

// Compares the markers of a replay with "tick:name;…". Returns how many they are.
static uint32_t expect_markers(KpReplay of, char *listed) {
  uint32_t count = 0, tick;
  char *save = NULL, name[200], *expected_name;
  size_t name_size;
  if (strcmp(listed, "-") == 0) return 0;
  for (char *each = strtok_r(listed, ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
    OK(kp_replay_marker(of, count, &tick, name, sizeof name, &name_size));
    EXPECT(tick == strtoul(each, &expected_name, 10));
    expect_text(name, name_size, expected_name + 1);
    count += 1;
  }
  return count;
}

// Compares the notes of a replay with "key:value;…".
static void expect_notes(KpReplay of, char *listed) {
  char *save = NULL, key[200], value[200];
  size_t value_size;
  if (strcmp(listed, "-") == 0) return;
  for (char *each = strtok_r(listed, ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
    char *expected_value = strchr(each, ':');
    EXPECT(expected_value != NULL);
    *expected_value = 0;
    key[from_hex(each, (uint8_t *)key)] = 0;
    OK(kp_replay_value(of, key, value, sizeof value, &value_size));
    expect_text(value, value_size, expected_value + 1);
  }
}

static void replay(void) {
  KpReplay made;
  KpReplayInfo info;
  KpSchema its, of_events;
  read_word(2);
  OK(kp_replay_from_bytes(bytes, size, &made));
  OK(kp_replay_info(made, &info));
  EXPECT(info.rate_hz == strtod(words[3], NULL) && info.first_tick == strtoul(words[4], NULL, 10));
  EXPECT(info.last_tick == strtoul(words[5], NULL, 10) && info.is_complete == atoi(words[6]));
  EXPECT(info.markers == expect_markers(made, words[7]));
  expect_notes(made, words[8]);
  OK(kp_replay_schema(made, &its));
  OK(kp_replay_event_schema(made, &of_events));
  keep("replay", words[1], made.id);
  keep("schema of replay", words[1], its.id);
  keep("schema of events of", words[1], of_events.id);
}

static void frame(void) {
  const KpReplay of = {handle_of("replay", words[1])};
  const KpSchema its = {handle_of("schema of replay", words[1])};
  const uint32_t tick = (uint32_t)atol(words[2]);
  KpSnapshot state;
  uint64_t hash;
  uint32_t its_tick;
  OK(kp_snapshot_new(its, &state));
  OK(kp_replay_get(of, tick, state));
  OK(kp_snapshot_tick(state, &its_tick));
  OK(kp_snapshot_hash(state, &hash));
  EXPECT(its_tick == tick && hash == hash_from(words[3]));
  OK(kp_snapshot_free(state));
}

static KpStatus next_of_replay(uint64_t id, KpEvent *event) {
  const KpReplay of = {id};
  return kp_replay_next_event(of, event);
}

static KpStatus read_of_replay(uint64_t id, uint32_t kind, const KpTarget *targets, size_t count) {
  const KpReplay of = {id};
  return kp_replay_read_event(of, kind, targets, count);
}

static void shows(void) {
  const KpReplay of = {handle_of("replay", words[1])};
  const KpSchema of_events = {handle_of("schema of events of", words[1])};
  KpPlayback playback;
  OK(kp_replay_play(of, atof(words[2]), &playback));
  expect_events(next_of_replay, read_of_replay, of.id, of_events, words[3]);
}

static const struct {
  const char *name;
  int words;
  void (*run)(void);
} commands[] = {
  {"schema", 4, schema}, {"codec", 5, codec},       {"profile", 3, profile}, {"view", 8, view},
  {"check", 3, check},   {"group", 4, group},
  {"runs", 4, runs},     {"sparse", 4, sparse},     {"magnitude", 9, magnitude},
  {"events", 4, events},     {"receiver", 4, receiver},
  {"sends", 3, sends},   {"takes", 6, takes},       {"fault", 4, fault},
  {"stream", 7, stream}, {"stream_codec", 6, stream_codec}, {"packet", 9, packet},
  {"records", 5, records}, {"acknowledges", 3, acknowledges}, {"skeleton", 3, skeleton},
  {"rig", 3, rig},       {"clip", 4, clip},         {"bind", 3, bind},
  {"pose", 4, play},     {"replay", 9, replay},     {"frame", 4, frame},
  {"shows", 4, shows},
};

int main(int count_of_arguments, char **arguments) {
  static char script[1 << 22];
  EXPECT(count_of_arguments == 2);
  FILE *file = fopen(arguments[1], "rb");
  EXPECT(file != NULL);
  const size_t script_size = fread(script, 1, sizeof script - 1, file);
  fclose(file);
  EXPECT(script_size > 0 && script_size < sizeof script - 1);
  int line = 0;
  char *after_line = NULL;
  for (char *text = strtok_r(script, "\n", &after_line); text != NULL && failures == 0;
       text = strtok_r(NULL, "\n", &after_line)) {
    char *after_word = NULL;
    line += 1;
    word_count = 0;
    for (char *word = strtok_r(text, " ", &after_word); word != NULL && word_count < MOST_WORDS;
         word = strtok_r(NULL, " ", &after_word)) {
      words[word_count++] = word;
    }
    size_t nth = 0;
    const size_t known = sizeof commands / sizeof commands[0];
    while (nth < known && strcmp(commands[nth].name, words[0]) != 0) nth += 1;
    EXPECT(nth < known && commands[nth].words == word_count);
    if (failures == 0) commands[nth].run();
    if (failures != 0) printf("command %d: %s %s %s\n", line, words[0], words[1], words[2]);
  }
  printf("%d commands\n", line);
  return failures == 0 && line > 500 ? EXIT_SUCCESS : EXIT_FAILURE;
}
