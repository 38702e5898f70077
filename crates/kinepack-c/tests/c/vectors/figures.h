// The commands of figures.

#ifndef VECTORS_FIGURES_H
#define VECTORS_FIGURES_H

#include "played.h"
#include "words.h"

enum { MOST_ITEMS = 16, MOST_TEXT = 40, ENTITY = 7 };

// Divides a list with "," into its items, and returns their number.
static size_t items_of(char *list, char **items) {
  char *save = NULL;
  size_t count = 0;
  if (strcmp(list, "-") == 0) return 0;
  for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
    EXPECT(count < MOST_ITEMS);
    items[count++] = item;
  }
  return count;
}

// Reads a name in hex up to the first ":", and returns what follows.
static char *read_name(char *item, char *name) {
  char *end = strchr(item, ':');
  EXPECT(end != NULL && end - item < 2 * MOST_TEXT);
  *end = 0;
  name[from_hex(item, (uint8_t *)name)] = 0;
  return end + 1;
}

// Reads digits, each of which is an index.
static size_t read_digits(const char *digits, uint32_t *indices) {
  size_t count = 0;
  for (; digits[count] >= '0' && digits[count] <= '9'; count += 1) {
    EXPECT(count < MOST_ITEMS);
    indices[count] = (uint32_t)(digits[count] - '0');
  }
  return count;
}

static void read_lists(KpJointPrecision *precisions, KpJointMotion *motions,
                       KpFigureOptions *options) {
  char *items[MOST_ITEMS];
  options->precision_count = items_of(words[4], items);
  for (size_t nth = 0; nth < options->precision_count; nth += 1) {
    KpJointPrecision *to = &precisions[nth];
    EXPECT(sscanf(items[nth], "%u:%lf", &to->joint, &to->precision_cm) == 2);
  }
  options->precisions = precisions;
  options->motion_count = items_of(words[5], items);
  for (size_t nth = 0; nth < options->motion_count; nth += 1) {
    KpJointMotion *to = &motions[nth];
    EXPECT(sscanf(items[nth], "%u:%d:%f:%f:%f:%f", &to->joint, &to->motion, &to->axis[0],
                  &to->axis[1], &to->axis[2], &to->range_cm) == 6);
  }
  options->motions = motions;
}

static void figure(void) {
  static char names[2 * MOST_ITEMS][MOST_TEXT];
  static uint32_t indices[2 * MOST_ITEMS][MOST_ITEMS];
  KpJointPrecision precisions[MOST_ITEMS];
  KpJointMotion motions[MOST_ITEMS];
  KpFigureCurve curves[MOST_ITEMS];
  KpFigurePart parts[MOST_ITEMS];
  char *items[MOST_ITEMS];
  KpFigureOptions options;
  memset(&options, 0, sizeof options);
  options.precision_cm = strtod(words[2], NULL);
  options.shell_cm = strtod(words[3], NULL);
  read_lists(precisions, motions, &options);
  options.curves = curves;
  options.curve_count = items_of(words[6], items);
  for (size_t nth = 0; nth < options.curve_count; nth += 1) {
    KpFigureCurve *to = &curves[nth];
    const char *rest = read_name(items[nth], names[nth]);
    EXPECT(sscanf(rest, "%f:%f:%f", &to->min, &to->max, &to->precision) == 3);
    to->name = names[nth];
  }
  options.parts = parts;
  options.part_count = items_of(words[7], items);
  for (size_t nth = 0; nth < options.part_count; nth += 1) {
    KpFigurePart *to = &parts[nth];
    const char *rest = read_name(items[nth], names[MOST_ITEMS + nth]);
    to->name = names[MOST_ITEMS + nth];
    to->joints = indices[2 * nth];
    to->joint_count = read_digits(rest, indices[2 * nth]);
    to->curves = indices[2 * nth + 1];
    to->curve_count = read_digits(strchr(rest, ':') + 1, indices[2 * nth + 1]);
  }
  KpFigureClip clips[MOST_ITEMS];
  options.clip_slots = (size_t)atol(words[8]);
  options.clips = clips;
  options.clip_count = items_of(words[9], items);
  for (size_t nth = 0; nth < options.clip_count; nth += 1) {
    char *name = names[options.curve_count + nth];
    name[from_hex(items[nth], (uint8_t *)name)] = 0;
    clips[nth].name = name;
  }
  double coarser[MOST_ITEMS];
  options.coarser = coarser;
  options.coarser_count = items_of(words[10], items);
  for (size_t nth = 0; nth < options.coarser_count; nth += 1) {
    coarser[nth] = strtod(items[nth], NULL);
  }
  KpSkeleton of;
  KpFigure made;
  read_word(11);
  OK(kp_skeleton_from_bytes(bytes, size, &of));
  OK(kp_figure_new(of, &options, &made));
  OK(kp_skeleton_free(of));
  keep("figure", words[1], made.id);
}

// The numbers of curves, each as eight digits. Returns their number.
static size_t read_curves(const char *hex, float *to) {
  const size_t count = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 8;
  EXPECT(count <= MOST_ITEMS);
  for (size_t nth = 0; nth < count; nth += 1) {
    unsigned number;
    EXPECT(sscanf(hex + 8 * nth, "%8x", &number) == 1);
    memcpy(&to[nth], &number, sizeof number);
  }
  return count;
}

// The clips that a body plays. Returns their number.
static size_t read_clips(char *list, KpClipPlay *to) {
  char *items[MOST_ITEMS];
  const size_t count = items_of(list, items);
  for (size_t nth = 0; nth < count; nth += 1) {
    KpClipPlay *play = &to[nth];
    EXPECT(sscanf(items[nth], "%u:%u:%u:%lf:%lf:%f", &play->slot, &play->clip, &play->since,
                  &play->time_ticks, &play->speed, &play->weight) == 6);
  }
  return count;
}

static void pushes(void) {
  const KpFigure of = {handle_of("figure", words[1])};
  const KpSchema its = {handle_of("schema", words[2])};
  char *items[MOST_ITEMS];
  int32_t numbers[MOST_ITEMS];
  KpColumn others[MOST_ITEMS];
  KpClipPlay clips[MOST_ITEMS];
  uint32_t absent[MOST_ITEMS];
  float curves[MOST_ITEMS];
  KpFigurePose body;
  body.other_count = items_of(words[3], items);
  for (size_t nth = 0; nth < body.other_count; nth += 1) {
    numbers[nth] = atoi(items[nth]);
    others[nth] = (KpColumn){&numbers[nth], 0, KP_NUMBER_I32, 0};
  }
  body.others = others;
  body.tier = (uint32_t)atol(words[4]);
  body.clips = clips;
  body.clip_count = read_clips(words[5], clips);
  body.absent = absent;
  body.absent_count = items_of(words[6], items);
  for (size_t nth = 0; nth < body.absent_count; nth += 1) absent[nth] = (uint32_t)atol(items[nth]);
  body.curves = curves;
  body.curve_count = read_curves(words[7], curves);
  const KpPose at = layout(pose, read_pose(words[8], pose));
  body.joints = &at;
  KpSnapshot state;
  uint64_t hash;
  OK(kp_snapshot_new(its, &state));
  OK(kp_snapshot_clear(state, 1));
  OK(kp_figure_push(of, state, 0, ENTITY, &body));
  OK(kp_snapshot_hash(state, &hash));
  EXPECT(hash == hash_from(words[9]));
  OK(kp_snapshot_free(state));
}

// Makes a replay of a state at tick 1. The codec has the schema that a command names.
static KpReplay replay_of(const char *schema_name, KpSnapshot state) {
  char name[64];
  const KpEvents no_events = {0};
  KpKillCam kill_cam;
  KpReplay replay;
  KpPlayback playback;
  EXPECT((size_t)snprintf(name, sizeof name, "carry_%s", schema_name) < sizeof name);
  const KpCodec codec = {handle_of("codec", name)};
  OK(kp_kill_cam_new(codec, no_events, 60.0, 5.0, &kill_cam));
  OK(kp_kill_cam_write(kill_cam, state));
  OK(kp_kill_cam_cut(kill_cam, 1, 1, &size));
  OK(kp_kill_cam_take(kill_cam, result, sizeof result, &size));
  OK(kp_kill_cam_free(kill_cam));
  OK(kp_replay_from_bytes(result, size, &replay));
  OK(kp_replay_play(replay, 1.0, &playback));
  return replay;
}

// Compares what was written with the words of the command.
static void expect_body(size_t joints, const float *curves, size_t curve_count) {
  float expected_curves[MOST_ITEMS];
  read_curves(words[5], expected_curves);
  expect_pose(joints);
  for (size_t nth = 0; nth < curve_count; nth += 1) EXPECT(curves[nth] == expected_curves[nth]);
  // The memory begins with other numbers again, to show what is written next.
  memset(pose, 0x11, sizeof pose);
}

static void reads(void) {
  const KpFigure of = {handle_of("figure", words[1])};
  const KpSchema its = {handle_of("schema", words[2])};
  const KpView view_of = {handle_of("view", words[3])};
  KpFigureInfo info;
  KpSnapshot state;
  KpShown shown;
  float curves[MOST_ITEMS];
  OK(kp_figure_info(of, &info));
  OK(kp_snapshot_new(its, &state));
  OK(kp_view_get(view_of, state));
  const KpReplay replay = replay_of(words[2], state);
  OK(kp_replay_shown(replay, &shown));
  memset(pose, 0x11, sizeof pose);
  memset(curves, 0x11, sizeof curves);
  const size_t joints = read_pose(words[6], expected);
  const KpPose at = layout(pose, joints);
  OK(kp_figure_read(of, state, 0, ENTITY, &at, curves, info.curves));
  expect_body(joints, curves, info.curves);
  memset(curves, 0x11, sizeof curves);
  OK(kp_figure_show(of, shown, 0, ENTITY, &at, curves, info.curves));
  expect_body(joints, curves, info.curves);
  for (uint32_t part = 0; part < info.parts; part += 1) {
    int32_t is_present = -1, is_shown = -1;
    const int is_absent = strchr(words[4], '0' + (int)part) != NULL;
    OK(kp_figure_is_present(of, state, 0, ENTITY, part, &is_present));
    OK(kp_figure_is_shown(of, shown, 0, ENTITY, part, &is_shown));
    EXPECT(is_present == !is_absent && is_shown == !is_absent);
  }
  OK(kp_replay_free(replay));
  OK(kp_snapshot_free(state));
}

#endif
