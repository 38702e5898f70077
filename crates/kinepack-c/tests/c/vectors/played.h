// The commands of clips, r3d2canm files and replays.

#ifndef VECTORS_PLAYED_H
#define VECTORS_PLAYED_H

#include "network.h"
#include "words.h"

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

// Chooses the quaternion of a rotation whose last nonzero number is positive.
static void choose_sign(float *rotation) {
  int last = 3;
  while (last > 0 && rotation[last] == 0.0f) last -= 1;
  if (rotation[last] < 0.0f) {
    for (int nth = 0; nth < 4; nth += 1) rotation[nth] = -rotation[nth];
  }
}

// Compares the written pose with the expected one.
static void expect_pose(size_t joints) {
  for (size_t joint = 0; joint < joints; joint += 1) {
    choose_sign(pose + 10 * joint);
    choose_sign(expected + 10 * joint);
    // Equal numbers have equal bits, except +0 and -0.
    for (size_t nth = 10 * joint; nth < 10 * joint + 10; nth += 1) {
      EXPECT(pose[nth] == expected[nth]);
    }
  }
}

static void play(void) {
  const KpPlayer of = {handle_of("player", words[1])};
  const size_t joints = read_pose(words[3], expected);
  const KpPose at = layout(pose, joints);
  OK(kp_player_sample_at(of, strtod(words[2], NULL), &at));
  expect_pose(joints);
}

static void anm(void) {
  KpAnm made;
  size_t written;
  read_word(2);
  OK(kp_anm_from_bytes(bytes, size, &made));
  OK(kp_anm_to_bytes(made, result, sizeof result, &written));
  expect_bytes(written);
  keep("anm", words[1], made.id);
}

static void anm_pose(void) {
  const KpAnm of = {handle_of("anm", words[1])};
  const size_t joints = read_pose(words[3], expected);
  const KpPose at = layout(pose, joints);
  KpAnmInfo info;
  OK(kp_anm_info(of, &info));
  EXPECT(info.joints == joints);
  OK(kp_anm_sample(of, strtof(words[2], NULL), &at));
  expect_pose(joints);
}

// Compares a text with its bytes in hex.
static void expect_text(const char *text, size_t text_size, const char *hex) {
  uint8_t expected_text[200];
  const size_t length = from_hex(hex, expected_text);
  EXPECT(text_size == length + 1 && memcmp(text, expected_text, length) == 0 && text[length] == 0);
}

// Compares the markers of a replay with "tick:name;…". Returns their number.
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

static void shows(void) {
  const KpReplay of = {handle_of("replay", words[1])};
  const KpSchema of_events = {handle_of("schema of events of", words[1])};
  KpShown shown;
  KpPlayback playback;
  OK(kp_replay_play(of, atof(words[2]), &playback));
  OK(kp_replay_shown(of, &shown));
  expect_events(shown, of_events, words[3]);
}

#endif
