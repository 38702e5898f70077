// A replay file with events and markers, and a kill cam.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICKS = 300, TICK_HZ = 60 };

int main(int count_of_arguments, char **arguments) {
  EXPECT(count_of_arguments == 2);
  char path[600];
  snprintf(path, sizeof path, "%s/match.kpz", arguments[1]);
  KpSchemaBuilder builder;
  KpSchema schema, hits;
  KpCodec codec, hit_codec;
  KpEvents events;
  KpSnapshot world, shown;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "height", 1, 0.0, 100.0, 0.01));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_kind(builder, "hit"));
  OK(kp_schema_builder_integer(builder, "damage", 0, 100));
  OK(kp_schema_builder_build(builder, &hits));
  OK(kp_codec_new(schema, "learning", NULL, 0, &codec));
  OK(kp_codec_new(hits, "adaptive", NULL, 0, &hit_codec));
  OK(kp_events_new(hit_codec, NULL, 0, &events));
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &shown));

  KpReplayWriter writer;
  KpKillCam kill_cam;
  REFUSED(KP_STATUS_FILE, kp_replay_writer_new("/no such folder/x", codec, events, 60.0, &writer));
  REFUSED(KP_STATUS_ARGUMENT, kp_replay_writer_new(path, codec, events, -1.0, &writer));
  REFUSED(KP_STATUS_ARGUMENT, kp_kill_cam_new(codec, events, 60.0, NAN, &kill_cam));
  OK(kp_replay_writer_new(path, codec, events, TICK_HZ, &writer));
  OK(kp_kill_cam_new(codec, events, TICK_HZ, 3.0, &kill_cam));
  OK(kp_replay_writer_note(writer, "map", "harbour"));
  const uint32_t ids[] = {7};
  float height;
  uint8_t damage;
  const KpColumn columns[] = {{&height, 0, KP_NUMBER_F32, 0}};
  const KpColumn hit[] = {{&damage, 0, KP_NUMBER_U8, 0}};
  for (uint32_t tick = 0; tick < TICKS; tick += 1) {
    height = 0.25f * (float)tick;
    OK(kp_snapshot_clear(world, tick));
    OK(kp_snapshot_add(world, 0, ids, 1, columns, 1));
    if (tick == 200) {
      damage = 30;
      OK(kp_replay_writer_emit(writer, 0, hit, 1));
      OK(kp_kill_cam_emit(kill_cam, 0, hit, 1));
      OK(kp_replay_writer_mark(writer, tick, "first blood"));
      damage = 101;
      REFUSED(KP_STATUS_VALUE, kp_replay_writer_emit(writer, 0, hit, 1));
      REFUSED(KP_STATUS_ARGUMENT, kp_kill_cam_emit(kill_cam, 1, hit, 1));
    }
    OK(kp_replay_writer_write(writer, world));
    OK(kp_kill_cam_write(kill_cam, world));
  }
  REFUSED(KP_STATUS_ARGUMENT, kp_replay_writer_write(writer, world));
  KpReplaySummary summary;
  OK(kp_replay_writer_finish(writer, &summary));
  EXPECT(summary.frames == TICKS && summary.bytes > 500);
  REFUSED(KP_STATUS_NOTHING, kp_replay_writer_write(writer, world));
  REFUSED(KP_STATUS_NOTHING, kp_replay_writer_finish(writer, NULL));
  OK(kp_replay_writer_free(writer));

  // First the file from disk, then the bytes that the kill cam cut.
  static uint8_t bytes[100000];
  size_t size, count;
  REFUSED(KP_STATUS_NOTHING, kp_kill_cam_take(kill_cam, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_ARGUMENT, kp_kill_cam_cut(kill_cam, 900, 950, &size));
  OK(kp_kill_cam_cut(kill_cam, 180, 240, &size));
  REFUSED(KP_STATUS_SIZE, kp_kill_cam_take(kill_cam, bytes, size - 1, &size));
  OK(kp_kill_cam_take(kill_cam, bytes, sizeof bytes, &size));
  for (int from_bytes = 0; from_bytes < 2; from_bytes += 1) {
    KpReplay replay;
    KpReplayInfo info;
    KpPlayback playback;
    KpShown shown_state;
    KpEvent event;
    KpSchema its;
    char text[40];
    uint32_t tick, shown_ids[1];
    if (from_bytes) {
      OK(kp_replay_from_bytes(bytes, size, &replay));
    } else {
      OK(kp_replay_open(path, &replay));
    }
    OK(kp_replay_info(replay, &info));
    EXPECT(info.first_tick == (from_bytes ? 180 : 0) && info.rate_hz == TICK_HZ);
    EXPECT(info.last_tick == (from_bytes ? 240 : TICKS - 1) && info.is_complete);
    OK(kp_replay_schema(replay, &its));
    uint64_t hash, its_hash;
    OK(kp_schema_hash(schema, &hash));
    OK(kp_schema_hash(its, &its_hash));
    EXPECT(hash == its_hash);
    OK(kp_schema_free(its));
    OK(kp_replay_event_schema(replay, &its));
    OK(kp_schema_free(its));
    if (!from_bytes) {
      EXPECT(info.markers == 1);
      OK(kp_replay_marker(replay, 0, &tick, text, sizeof text, &count));
      EXPECT(tick == 200 && strcmp(text, "first blood") == 0);
      REFUSED(KP_STATUS_SIZE, kp_replay_marker(replay, 0, &tick, text, 11, &count));
      OK(kp_replay_value(replay, "map", text, sizeof text, &count));
      EXPECT(strcmp(text, "harbour") == 0);
      REFUSED(KP_STATUS_NOTHING, kp_replay_value(replay, "wind", text, sizeof text, &count));
    }
    REFUSED(KP_STATUS_ARGUMENT, kp_replay_marker(replay, 5, &tick, text, sizeof text, &count));
    OK(kp_replay_get(replay, 190, shown));
    OK(kp_snapshot_tick(shown, &tick));
    EXPECT(tick == 190);
    REFUSED(KP_STATUS_ARGUMENT, kp_replay_play(replay, NAN, &playback));
    OK(kp_replay_seek(replay, 199.0));
    OK(kp_replay_play(replay, 200.5, &playback));
    OK(kp_replay_shown(replay, &shown_state));
    OK(kp_shown_added(shown_state, shown_ids, 1, &count));
    EXPECT(count == 1 && shown_ids[0] == 7);
    OK(kp_shown_removed(shown_state, NULL, 0, &count));
    EXPECT(count == 0);
    OK(kp_shown_ids(shown_state, 0, shown_ids, 1, &count));
    EXPECT(count == 1 && shown_ids[0] == 7);
    float seen = 0.0f;
    const KpTarget targets[] = {{&seen, 0, KP_NUMBER_F32}};
    OK(kp_shown_read(shown_state, 0, 1, targets, 1));
    EXPECT(fabsf(seen - 50.125f) < 0.011f);
    uint8_t strength = 0;
    const KpTarget of_event[] = {{&strength, 0, KP_NUMBER_U8}};
    REFUSED(KP_STATUS_NOTHING, kp_shown_read_event(shown_state, 0, of_event, 1));
    OK(kp_shown_next_event(shown_state, &event));
    OK(kp_shown_read_event(shown_state, 0, of_event, 1));
    EXPECT(event.tick == 200 && event.kind == 0 && strength == 30);
    REFUSED(KP_STATUS_NOTHING, kp_shown_next_event(shown_state, &event));
    OK(kp_replay_free(replay));
    REFUSED(KP_STATUS_HANDLE, kp_replay_info(replay, &info));
    REFUSED(KP_STATUS_HANDLE, kp_shown_ids(shown_state, 0, shown_ids, 1, &count));
  }
  KpReplay none;
  REFUSED(KP_STATUS_FILE, kp_replay_open("/no such file", &none));
  REFUSED(KP_STATUS_DATA, kp_replay_from_bytes((const uint8_t *)"replay", 6, &none));
  for (size_t round = 0; round < 300; round += 1) {
    bytes[(round * 7919) % size] ^= (uint8_t)(round | 1);
    KpPlayback playback;
    if (kp_replay_from_bytes(bytes, size - round, &none) != KP_STATUS_OK) continue;
    EXPECT(kp_replay_play(none, 200.0, &playback) != KP_STATUS_PANIC);
    OK(kp_replay_free(none));
  }
  OK(kp_kill_cam_free(kill_cam));
  OK(kp_events_free(events));
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(shown));
  OK(kp_codec_free(codec));
  OK(kp_codec_free(hit_codec));
  OK(kp_schema_free(schema));
  OK(kp_schema_free(hits));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
