// The commands of receivers and streams.

#ifndef VECTORS_NETWORK_H
#define VECTORS_NETWORK_H

#include "words.h"

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

// Targets of 64-bit integers for the fields of a kind, which are integers, flags and bytes. Returns the
// count of numbers in a record.
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

// Takes the due events, and compares them with "tick:kind:numbers;…".
static void expect_events(KpShown shown, KpSchema of, char *listed) {
  KpEvent event;
  KpTarget targets[16];
  char *save = NULL;
  if (strcmp(listed, "-") != 0) {
    for (char *each = strtok_r(listed, ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
      unsigned tick, kind;
      int begin = 0;
      EXPECT(sscanf(each, "%u:%u:%n", &tick, &kind, &begin) == 2);
      OK(kp_shown_next_event(shown, &event));
      EXPECT(event.tick == tick && event.kind == kind);
      uint32_t fields;
      const uint32_t all = integer_targets(of, event.kind, numbers, 1, targets, &fields);
      OK(kp_shown_read_event(shown, event.kind, targets, fields));
      expect_numbers(each + begin, numbers, all);
    }
  }
  REFUSED(KP_STATUS_NOTHING, kp_shown_next_event(shown, &event));
}

static void takes(void) {
  const KpReceiver of = {handle_of("receiver", words[1])};
  const KpSchema its = {handle_of("schema of receiver", words[1])};
  const KpSchema of_events = {handle_of("schema of events of", words[1])};
  read_word(5);
  const KpStatus status = kp_receiver_handle(of, 0, bytes, size);
  EXPECT(status == (strcmp(words[2], "ok") == 0 ? KP_STATUS_OK : KP_STATUS_DATA));
  KpShown shown;
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
  OK(kp_receiver_shown(of, &shown));
  expect_events(shown, of_events, words[4]);
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

// A stream acknowledgement of some size in front of a snapshot.
static void splits(void) {
  KpPart parts[3];
  size_t count;
  read_word(1);
  OK(kp_split_datagram(bytes, size, parts, 3, &count));
  EXPECT(count == 2 && parts[0].kind == KP_DATAGRAM_KIND_TO_STREAM_SENDER);
  EXPECT(parts[0].offset == 0 && parts[0].size == (size_t)atol(words[2]));
  EXPECT(parts[1].kind == KP_DATAGRAM_KIND_TO_RECEIVER && parts[1].offset == parts[0].size);
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
  // The letters of its numbers are kept under its name too.
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

#endif
