// The commands of schemas, codecs, views and groups.

#ifndef VECTORS_STATES_H
#define VECTORS_STATES_H

#include "words.h"

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

#endif
