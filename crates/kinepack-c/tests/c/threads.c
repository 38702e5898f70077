// Four threads use and free the same objects. Each call either succeeds or refuses the handle.

#include <pthread.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 400, ENTITIES = 20 };

static KpSchema schema;
static KpCodec codec;
static KpEncoder encoder;
static KpSnapshot world;
static KpView empty;
static KpReceiver receiver;
static KpShown shown;
static int unexpected;

static int is_one_of(KpStatus status, KpStatus other) {
  return status == KP_STATUS_OK || status == other;
}

static void *work(void *argument) {
  const uint32_t thread = (uint32_t)(size_t)argument;
  uint32_t ids[ENTITIES];
  float heights[ENTITIES];
  uint8_t packet[4096];
  const KpColumn columns[] = {{heights, sizeof(float), KP_NUMBER_F32, 0}};
  int wrong = 0;
  for (uint32_t round = 0; round < ROUNDS; round += 1) {
    size_t size;
    KpView sent;
    for (uint32_t nth = 0; nth < ENTITIES; nth += 1) {
      ids[nth] = nth;
      heights[nth] = (float)(thread + nth);
    }
    // Another thread may have added the same ids, or cleared the snapshot.
    kp_snapshot_clear(world, round);
    wrong += !is_one_of(kp_snapshot_add(world, 0, ids, ENTITIES, columns, 1), KP_STATUS_ARGUMENT);
    wrong += kp_encode(encoder, &empty, 1, world, packet, sizeof packet, &size, &sent) != KP_STATUS_OK;
    KpDecoder decoder;
    KpView received;
    wrong += kp_decoder_new(codec, &decoder) != KP_STATUS_OK;
    wrong += kp_decode(decoder, &empty, 1, packet, size, round, &received) != KP_STATUS_OK;
    wrong += kp_view_free(received) != KP_STATUS_OK;
    wrong += kp_decoder_free(decoder) != KP_STATUS_OK;
    wrong += kp_view_free(sent) != KP_STATUS_OK;
    wrong += kp_view_free(sent) != KP_STATUS_HANDLE;
    // The text of an error belongs to its thread.
    char text[100];
    kp_error_text(text, sizeof text);
    wrong += strcmp(text, "this handle of a view was freed") != 0;
  }
  __atomic_fetch_add(&unexpected, wrong, __ATOMIC_SEQ_CST);
  return NULL;
}

// One thread frees the receiver, while all play it and read its shown state.
static void *look(void *argument) {
  const size_t thread = (size_t)argument;
  int wrong = 0;
  for (uint32_t round = 0; round < ROUNDS; round += 1) {
    uint32_t ids[ENTITIES];
    size_t count;
    KpPlayback playback;
    if (thread == 0 && round == ROUNDS / 2) wrong += kp_receiver_free(receiver) != KP_STATUS_OK;
    wrong += !is_one_of(kp_shown_ids(shown, 0, ids, ENTITIES, &count), KP_STATUS_HANDLE);
    const KpStatus played = kp_receiver_play(receiver, round, &playback);
    wrong += played != KP_STATUS_NOTHING && played != KP_STATUS_HANDLE;
  }
  __atomic_fetch_add(&unexpected, wrong, __ATOMIC_SEQ_CST);
  return NULL;
}

// All threads free the same snapshot. Only one call succeeds.
static void *end(void *argument) {
  (void)argument;
  if (kp_snapshot_free(world) == KP_STATUS_OK) __atomic_fetch_add(&unexpected, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void run(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  for (size_t nth = 0; nth < THREADS; nth += 1) {
    EXPECT(pthread_create(&threads[nth], NULL, body, (void *)nth) == 0);
  }
  for (size_t nth = 0; nth < THREADS; nth += 1) EXPECT(pthread_join(threads[nth], NULL) == 0);
}

int main(void) {
  KpSchemaBuilder builder;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "height", 1, 0.0, 100.0, 0.01));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  OK(kp_encoder_new(codec, &encoder));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_view_empty(schema, &empty));
  OK(kp_receiver_new(codec, 60, NULL, &receiver));
  OK(kp_receiver_shown(receiver, &shown));
  run(work);
  run(look);
  EXPECT(unexpected == 0);
  size_t count;
  REFUSED(KP_STATUS_HANDLE, kp_shown_ids(shown, 0, NULL, 0, &count));
  run(end);
  EXPECT(unexpected == 1);
  OK(kp_view_free(empty));
  OK(kp_encoder_free(encoder));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
