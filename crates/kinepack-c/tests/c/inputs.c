// A stream of inputs from a client to a server, with a network that loses every fourth packet; and
// packets without headers, for a custom protocol.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICKS = 600, TICK_HZ = 60 };

typedef struct {
  float aim[2];
  uint8_t fires;
  int32_t weapon;
} Input;

static Input input_at(int tick) {
  Input input;
  input.aim[0] = (float)(90.0 * sin(0.05 * tick));
  input.aim[1] = (float)(30.0 * cos(0.03 * tick));
  input.fires = tick % 20 < 3;
  input.weapon = tick / 100 - 2;
  return input;
}

// Each packet has three inputs, coded against the last input of the previous packet.
static void without_headers(KpSchema schema, const char *level) {
  enum { EACH = 3 };
  KpStreamCodec codec;
  KpStreamBase sent, received, next;
  uint64_t hash, other_hash;
  Input inputs[EACH], got[EACH];
  uint8_t packet[200];
  size_t size = 0, all_bytes = 0;
  const KpColumn columns[] = {
    {inputs[0].aim, sizeof(Input), KP_NUMBER_F32, 0},
    {&inputs[0].fires, sizeof(Input), KP_NUMBER_U8, 0},
    {&inputs[0].weapon, sizeof(Input), KP_NUMBER_I32, 0},
  };
  const KpTarget targets[] = {
    {got[0].aim, sizeof(Input), KP_NUMBER_F32},
    {&got[0].fires, sizeof(Input), KP_NUMBER_U8},
    {&got[0].weapon, sizeof(Input), KP_NUMBER_I32},
  };
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_codec_new(schema, "learning", &codec));
  REFUSED(KP_STATUS_POINTER, kp_stream_codec_new(schema, NULL, &codec));
  REFUSED(KP_STATUS_POINTER, kp_stream_codec_new(schema, level, NULL));
  OK(kp_stream_codec_new(schema, level, &codec));
  OK(kp_stream_base_new(codec, &sent));
  OK(kp_stream_base_new(codec, &received));
  for (int tick = 0; tick < 60; tick += EACH) {
    for (int nth = 0; nth < EACH; nth += 1) inputs[nth] = input_at(tick + nth);
    REFUSED(KP_STATUS_SIZE,
            kp_stream_encode(codec, sent, 1, columns, 3, EACH, packet, 1, &size, &next));
    OK(kp_stream_encode(codec, sent, 1, columns, 3, EACH, packet, sizeof packet, &size, &next));
    all_bytes += size;
    OK(kp_stream_base_free(sent));
    sent = next;
    OK(kp_stream_decode(codec, received, 1, packet, size, EACH, targets, 3, &next));
    OK(kp_stream_base_free(received));
    received = next;
    for (int nth = 0; nth < EACH; nth += 1) {
      EXPECT(fabsf(got[nth].aim[0] - inputs[nth].aim[0]) < 0.0051f);
      EXPECT(got[nth].fires == inputs[nth].fires && got[nth].weapon == inputs[nth].weapon);
    }
  }
  printf("%zu bytes for 60 inputs without headers at level %s\n", all_bytes, level);
  EXPECT(all_bytes < 300);

  // Bad packets, counts, columns, targets and bases. Nothing changes.
  memset(got, 7, sizeof got);
  REFUSED(KP_STATUS_DATA, kp_stream_decode(codec, received, 1, packet, 0, EACH, targets, 3, &next));
  memset(packet, 255, sizeof packet);
  REFUSED(KP_STATUS_DATA, kp_stream_decode(codec, received, 1, packet, 200, 1, targets, 3, &next));
  for (uint32_t round = 0; round < 500; round += 1) {
    for (size_t at = 0; at < 20; at += 1) {
      packet[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 29);
    }
    const KpStatus status =
        kp_stream_decode(codec, received, 1, packet, round % 20, EACH, targets, 3, &next);
    if (status == KP_STATUS_OK) {
      OK(kp_stream_base_free(next));
    } else {
      EXPECT(status == KP_STATUS_DATA);
    }
  }
  REFUSED(KP_STATUS_POINTER, kp_stream_decode(codec, received, 1, NULL, 9, 1, targets, 3, &next));
  REFUSED(KP_STATUS_POINTER, kp_stream_decode(codec, received, 1, packet, 9, 1, targets, 3, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_decode(codec, received, 1, packet, 9, 0, targets, 3, &next));
  REFUSED(KP_STATUS_ARGUMENT,
          kp_stream_decode(codec, received, 1, packet, 9, (size_t)-1, targets, 3, &next));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_decode(codec, received, 0, packet, 9, 1, targets, 3, &next));
  REFUSED(KP_STATUS_ARGUMENT,
          kp_stream_encode(codec, sent, 1, columns, 2, EACH, packet, sizeof packet, &size, &next));
  REFUSED(KP_STATUS_ARGUMENT,
          kp_stream_encode(codec, sent, 1, columns, 3, 0, packet, sizeof packet, &size, &next));
  REFUSED(KP_STATUS_ARGUMENT,
          kp_stream_encode(codec, sent, 1, columns, 3, 4097, packet, sizeof packet, &size, &next));
  REFUSED(KP_STATUS_POINTER,
          kp_stream_encode(codec, sent, 1, NULL, 3, EACH, packet, sizeof packet, &size, &next));
  inputs[1].weapon = 6;
  REFUSED(KP_STATUS_VALUE,
          kp_stream_encode(codec, sent, 1, columns, 3, EACH, packet, sizeof packet, &size, &next));

  // A base of another codec, and handles that were freed.
  KpStreamCodec other;
  KpStreamBase foreign;
  OK(kp_stream_codec_new(schema, strcmp(level, "packed") == 0 ? "adaptive" : "packed", &other));
  OK(kp_stream_codec_hash(codec, &hash));
  OK(kp_stream_codec_hash(other, &other_hash));
  EXPECT(hash != other_hash);
  OK(kp_stream_base_new(other, &foreign));
  inputs[1].weapon = 5;
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_encode(codec, foreign, 1, columns, 3, EACH, packet,
                                               sizeof packet, &size, NULL));
  OK(kp_stream_codec_free(other));
  OK(kp_stream_base_free(foreign));
  REFUSED(KP_STATUS_HANDLE, kp_stream_codec_hash(other, &hash));
  REFUSED(KP_STATUS_HANDLE, kp_stream_base_free(foreign));
  REFUSED(KP_STATUS_HANDLE, kp_stream_encode(codec, foreign, 1, columns, 3, EACH, packet,
                                             sizeof packet, &size, NULL));
  OK(kp_stream_codec_free(codec));
  OK(kp_stream_base_free(sent));
  OK(kp_stream_base_free(received));
}

int main(void) {
  KpSchemaBuilder builder;
  KpSchema schema;
  KpStreamSender client;
  KpStreamReceiver server;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "aim", 2, -180.0, 180.0, 0.01));
  OK(kp_schema_builder_bool(builder, "fires"));
  OK(kp_schema_builder_integer(builder, "weapon", -2, 5));
  OK(kp_schema_builder_build(builder, &schema));
  KpStreamOptions options = {0};
  options.repeats = 16;
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_sender_new(schema, "packed", TICK_HZ, &options, &client));
  options.repeats = 3;
  options.burst_records = 5;
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_sender_new(schema, "packed", TICK_HZ, &options, &client));
  options.burst_records = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_sender_new(schema, "learning", TICK_HZ, NULL, &client));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_receiver_new(schema, "packed", 0, NULL, &server));
  OK(kp_stream_sender_new(schema, "adaptive", TICK_HZ, &options, &client));
  OK(kp_stream_receiver_new(schema, "adaptive", TICK_HZ, &options, &server));

  Input input, shown[16];
  KpRecord records[16];
  uint8_t bytes[1300];
  size_t size, count;
  uint16_t number;
  const KpColumn columns[] = {
    {input.aim, 0, KP_NUMBER_F32, 0},
    {&input.fires, 0, KP_NUMBER_U8, 0},
    {&input.weapon, 0, KP_NUMBER_I32, 0},
  };
  const KpTarget targets[] = {
    {shown[0].aim, sizeof(Input), KP_NUMBER_F32},
    {&shown[0].fires, sizeof(Input), KP_NUMBER_U8},
    {&shown[0].weapon, sizeof(Input), KP_NUMBER_I32},
  };
  REFUSED(KP_STATUS_NOTHING, kp_stream_poll(client, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_NOTHING, kp_stream_acknowledgement(server, bytes, sizeof bytes, &size));
  int received = 0, repeated = 0;
  size_t sent_bytes = 0;
  for (int tick = 0; tick < TICKS; tick += 1) {
    const uint64_t now = (uint64_t)tick * 1000000000u / TICK_HZ;
    input = input_at(tick);
    OK(kp_stream_push(client, columns, 3, &number));
    EXPECT(number == tick);
    REFUSED(KP_STATUS_SIZE, kp_stream_poll(client, bytes, 1, &size));
    OK(kp_stream_poll(client, bytes, sizeof bytes, &size));
    REFUSED(KP_STATUS_NOTHING, kp_stream_poll(client, bytes, sizeof bytes, &count));
    sent_bytes += size;
    if (tick % 4 == 1) continue;
    OK(kp_stream_receiver_handle(server, now, bytes, size, &count));
    REFUSED(KP_STATUS_DATA, kp_stream_receiver_handle(server, now, bytes, size, &size));
    REFUSED(KP_STATUS_SIZE, kp_stream_read(server, records, count - 1, targets, 3, &count));
    OK(kp_stream_read(server, records, 16, targets, 3, &count));
    for (size_t nth = 0; nth < count; nth += 1) {
      const Input exact = input_at(records[nth].number);
      EXPECT(records[nth].number == received);
      EXPECT(fabs(shown[nth].aim[0] - exact.aim[0]) < 0.0101);
      EXPECT(fabs(shown[nth].aim[1] - exact.aim[1]) < 0.0101);
      EXPECT(shown[nth].fires == exact.fires && shown[nth].weapon == exact.weapon);
      received += 1;
      repeated += records[nth].is_repeated;
      EXPECT(!records[nth].is_late);
    }
    // The acknowledgement is put in front of another datagram.
    OK(kp_stream_acknowledgement(server, bytes, sizeof bytes, &size));
    bytes[size] = 0;
    KpPart parts[4];
    REFUSED(KP_STATUS_SIZE, kp_split_datagram(bytes, size + 1, parts, 1, &count));
    OK(kp_split_datagram(bytes, size + 1, parts, 4, &count));
    EXPECT(count == 2 && parts[0].kind == KP_DATAGRAM_KIND_TO_STREAM_SENDER);
    EXPECT(parts[1].kind == KP_DATAGRAM_KIND_TO_RECEIVER && parts[1].offset == size);
    OK(kp_stream_sender_handle(client, bytes + parts[0].offset, parts[0].size));
  }
  EXPECT(received == TICKS && repeated == TICKS / 4);
  printf("%d inputs of %zu bytes, each sent four times: %.1f bytes a packet\n", (int)TICKS,
         sizeof(Input), (double)sent_bytes / TICKS);

  // Bad values, and random bytes.
  input.weapon = 9;
  REFUSED(KP_STATUS_VALUE, kp_stream_push(client, columns, 3, &number));
  input.aim[1] = NAN;
  REFUSED(KP_STATUS_VALUE, kp_stream_push(client, columns, 3, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_stream_push(client, columns, 2, NULL));
  REFUSED(KP_STATUS_POINTER, kp_stream_push(client, NULL, 3, NULL));
  for (uint32_t round = 0; round < 500; round += 1) {
    for (size_t at = 0; at < 40; at += 1) {
      bytes[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 29);
    }
    size = round % 40;
    EXPECT(kp_stream_receiver_handle(server, 0, bytes, size, &count) != KP_STATUS_PANIC);
    EXPECT(kp_stream_sender_handle(client, bytes, size) != KP_STATUS_PANIC);
    KpPart parts[4];
    EXPECT(kp_split_datagram(bytes, size, parts, 4, &count) != KP_STATUS_PANIC);
  }
  OK(kp_stream_sender_free(client));
  REFUSED(KP_STATUS_HANDLE, kp_stream_push(client, columns, 3, NULL));
  const KpStreamReceiver other = {client.id};
  REFUSED(KP_STATUS_HANDLE, kp_stream_receiver_free(other));
  OK(kp_stream_receiver_free(server));
  without_headers(schema, "packed");
  without_headers(schema, "adaptive");
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
