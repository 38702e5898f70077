// Live bodies: an arm that turns around and around, through a hub and a receiver, and a kill cam. Its
// hand is absent for a while.

#include <math.h>
#include <string.h>

#include "check.h"

enum { JOINTS = 3, BONES = 5, CURVES = 2, TICKS = 240, TICK_HZ = 60, TICKS_PER_STATE = 3 };
enum { GONE = 90, BACK = 150, DOOR = 0, PLAYER = 1, ID = 7 };

// The bones of the joints in the engine's order, which has two further bones.
enum { SHOULDER = 4, ELBOW = 0, HAND = 2 };
static const uint32_t bone_of_joint[JOINTS] = {SHOULDER, ELBOW, HAND};

// An engine's transform: another order of members, doubles, centimetres, no scale.
typedef struct {
  double rotation_wxyz[4];
  double translation_cm[3];
  int flags;
} Bone;

static KpPose layout(Bone *bones) {
  KpPose pose;
  memset(&pose, 0, sizeof pose);
  pose.translations = bones[0].translation_cm;
  pose.rotations = bones[0].rotation_wxyz;
  pose.translation_stride = pose.rotation_stride = sizeof(Bone);
  pose.bones = BONES;
  pose.bone_of_joint = bone_of_joint;
  pose.joints = JOINTS;
  pose.number = KP_NUMBER_F64;
  pose.w_first = 1;
  pose.units_per_m = 100.0f;
  return pose;
}

static void place(Bone *bone, double x_cm, double angle_rad) {
  bone->translation_cm[0] = x_cm;
  bone->rotation_wxyz[0] = cos(angle_rad / 2.0);
  bone->rotation_wxyz[3] = sin(angle_rad / 2.0);
}

// The pose of a tick. All motions are even, so interpolation adds no error.
static void move(Bone *bones, double tick) {
  memset(bones, 0, BONES * sizeof(Bone));
  place(&bones[SHOULDER], 0.5 * tick, 0.05 * tick);
  place(&bones[ELBOW], 30.0, 0.3 + 0.01 * tick);
  place(&bones[HAND], 25.0, 0.5 - 0.005 * tick);
}

static float grip(double tick) {
  return (float)(0.2 + 0.002 * tick);
}

static double angle_of(const Bone *bone) {
  return 2.0 * atan2(bone->rotation_wxyz[3], bone->rotation_wxyz[0]);
}

// How far the tip of the hand is from its place in the pose of a tick, in cm.
static double error_cm(const Bone *bones, double tick) {
  Bone exact[BONES];
  move(exact, tick);
  double x = 0.0, y = 0.0;
  for (int side = 0; side < 2; side += 1) {
    const Bone *of = side == 0 ? bones : exact;
    const double sign = side == 0 ? 1.0 : -1.0;
    double angle = 0.0;
    const int chain[] = {SHOULDER, ELBOW, HAND};
    for (int nth = 0; nth < JOINTS; nth += 1) {
      x += sign * cos(angle) * of[chain[nth]].translation_cm[0];
      y += sign * sin(angle) * of[chain[nth]].translation_cm[0];
      angle += angle_of(&of[chain[nth]]);
    }
    x += sign * 3.0 * cos(angle);
    y += sign * 3.0 * sin(angle);
  }
  return hypot(x, y);
}

static KpSkeleton make_skeleton(void) {
  const KpJoint joints[JOINTS] = {{"shoulder", -1}, {"elbow", 0}, {"hand", 1}};
  const KpJoint reversed[JOINTS] = {{"shoulder", 1}, {"elbow", -1}, {"hand", 1}};
  const KpJoint unnamed[JOINTS] = {{"shoulder", -1}, {NULL, 0}, {"hand", 1}};
  const KpJoint lost[JOINTS] = {{"shoulder", -2}, {"elbow", 0}, {"hand", 1}};
  Bone bones[BONES];
  move(bones, 0.0);
  const KpPose bind = layout(bones);
  KpSkeleton skeleton;
  REFUSED(KP_STATUS_ARGUMENT, kp_skeleton_new(reversed, JOINTS, &bind, &skeleton));
  REFUSED(KP_STATUS_POINTER, kp_skeleton_new(unnamed, JOINTS, &bind, &skeleton));
  REFUSED(KP_STATUS_ARGUMENT, kp_skeleton_new(lost, JOINTS, &bind, &skeleton));
  REFUSED(KP_STATUS_ARGUMENT, kp_skeleton_new(joints, 2, &bind, &skeleton));
  REFUSED(KP_STATUS_POINTER, kp_skeleton_new(NULL, JOINTS, &bind, &skeleton));
  REFUSED(KP_STATUS_POINTER, kp_skeleton_new(joints, JOINTS, NULL, &skeleton));
  REFUSED(KP_STATUS_POINTER, kp_skeleton_new(joints, JOINTS, &bind, NULL));
  bones[ELBOW].translation_cm[1] = NAN;
  REFUSED(KP_STATUS_ARGUMENT, kp_skeleton_new(joints, JOINTS, &bind, &skeleton));
  bones[ELBOW].translation_cm[1] = 0.0;
  OK(kp_skeleton_new(joints, JOINTS, &bind, &skeleton));
  uint32_t found;
  OK(kp_skeleton_find(skeleton, "hand", &found));
  EXPECT(found == 2);
  Bone same[BONES];
  memset(same, 0, sizeof same);
  const KpPose to = layout(same);
  OK(kp_skeleton_bind_pose(skeleton, &to));
  EXPECT(fabs(same[ELBOW].translation_cm[0] - 30.0) < 1e-4);
  return skeleton;
}

// Half a centimetre, but a millimetre for the hand.
static KpFigure make_figure(KpSkeleton skeleton) {
  const KpJointPrecision precisions[] = {{0.1, 2}};
  const KpFigureCurve curves[CURVES] = {{"grip", 0.0f, 1.0f, 0.01f}, {"jawOpen", 0.0f, 1.0f, 0.1f}};
  const uint32_t joints[] = {2}, grip_alone[] = {0};
  const KpFigurePart parts[] = {{"hand", joints, 1, grip_alone, 1}};
  KpFigureOptions options;
  memset(&options, 0, sizeof options);
  options.precisions = precisions;
  options.precision_count = 1;
  options.curves = curves;
  options.curve_count = CURVES;
  options.parts = parts;
  options.part_count = 1;
  KpFigure figure;
  KpFigureInfo info;
  OK(kp_figure_new(skeleton, &options, &figure));
  OK(kp_figure_info(figure, &info));
  EXPECT(info.joints == JOINTS && info.curves == CURVES && info.parts == 1 && info.lanes > 12);
  EXPECT(info.tiers == 1 && info.clips == 0);
  double error;
  for (uint32_t joint = 0; joint < JOINTS; joint += 1) {
    OK(kp_figure_max_error_cm(figure, 0, joint, &error));
    EXPECT(error > 0.0 && error <= (joint == 2 ? 0.1 : 0.5));
  }
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_max_error_cm(figure, 0, JOINTS, &error));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_max_error_cm(figure, 1, 0, &error));
  REFUSED(KP_STATUS_POINTER, kp_figure_max_error_cm(figure, 0, 0, NULL));
  REFUSED(KP_STATUS_POINTER, kp_figure_info(figure, NULL));
  return figure;
}

static void wrong_options(KpSkeleton skeleton) {
  KpFigure figure;
  KpFigureOptions options;
  memset(&options, 0, sizeof options);
  KpJointPrecision precision = {0.1, JOINTS};
  options.precisions = &precision;
  options.precision_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  options.precisions = NULL;
  REFUSED(KP_STATUS_POINTER, kp_figure_new(skeleton, &options, &figure));
  options.precision_count = 0;
  const double bad[] = {-1.0, 1e-12, NAN};
  for (int nth = 0; nth < 3; nth += 1) {
    options.precision_cm = bad[nth];
    REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  }
  options.precision_cm = 0.0;
  options.shell_cm = NAN;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  options.shell_cm = -1.0;
  KpJointMotion motion = {1, 4, {0.0f, 0.0f, 1.0f}, 0.0f};
  options.motions = &motion;
  options.motion_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  KpFigurePart part = {NULL, NULL, 0, NULL, 0};
  options.parts = &part;
  options.part_count = 1;
  motion.motion = KP_MOTION_HINGE;
  REFUSED(KP_STATUS_POINTER, kp_figure_new(skeleton, &options, &figure));
  const uint32_t beyond[] = {JOINTS};
  part.name = "tail";
  part.joints = beyond;
  part.joint_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  // A part with the elbow has the hand too.
  const uint32_t not_whole[] = {1};
  part.joints = not_whole;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  options.part_count = 0;
  REFUSED(KP_STATUS_POINTER, kp_figure_new(skeleton, &options, NULL));

  // A hinge takes one number instead of three, and joints at rest take none.
  KpFigureInfo usual, hinged;
  OK(kp_figure_new(skeleton, &options, &figure));
  OK(kp_figure_info(figure, &hinged));
  OK(kp_figure_free(figure));
  OK(kp_figure_new(skeleton, NULL, &figure));
  OK(kp_figure_info(figure, &usual));
  EXPECT(usual.lanes == 12 && hinged.lanes == 10);
  OK(kp_figure_free(figure));
  motion.motion = KP_MOTION_STILL;
  OK(kp_figure_new(skeleton, &options, &figure));
  OK(kp_figure_info(figure, &hinged));
  EXPECT(hinged.lanes == 9);
  OK(kp_figure_free(figure));
}

static KpSchema make_schema(KpFigure figure) {
  KpSchemaBuilder builder;
  KpSchema schema;
  const KpFigure none = {0};
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_kind(builder, "door"));
  OK(kp_schema_builder_bool(builder, "is_open"));
  REFUSED(KP_STATUS_HANDLE, kp_schema_builder_figure(builder, "player", none));
  REFUSED(KP_STATUS_POINTER, kp_schema_builder_figure(builder, NULL, figure));
  OK(kp_schema_builder_figure(builder, "player", figure));
  // Nothing changes the fields of a figure.
  REFUSED(KP_STATUS_ARGUMENT, kp_schema_builder_role(builder, KP_ROLE_BODY));
  OK(kp_schema_builder_kind(builder, "lamp"));
  OK(kp_schema_builder_bool(builder, "is_lit"));
  OK(kp_schema_builder_build(builder, &schema));
  return schema;
}

static void refused_poses(KpFigure figure, KpSkeleton skeleton, KpSnapshot world) {
  Bone bones[BONES];
  move(bones, 5.0);
  KpPose joints = layout(bones);
  float curves[CURVES] = {0.5f, 0.5f};
  const uint32_t absent[] = {0, 1};
  const uint8_t flag = 1;
  const KpColumn column = {&flag, 0, KP_NUMBER_U8, 0};
  const KpFigure none = {0};
  KpFigurePose pose, wrong;
  memset(&pose, 0, sizeof pose);
  pose.joints = &joints;
  pose.curves = curves;
  pose.curve_count = CURVES;
  uint64_t before, after;
  OK(kp_snapshot_clear(world, 1));
  OK(kp_figure_push(figure, world, PLAYER, 6, &pose));
  OK(kp_snapshot_hash(world, &before));
  REFUSED(KP_STATUS_HANDLE, kp_figure_push(none, world, PLAYER, ID, &pose));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, DOOR, ID, &pose));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, 3, ID, &pose));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, PLAYER, 6, &pose));
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, world, PLAYER, ID, NULL));
  wrong = pose;
  wrong.curve_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  wrong = pose;
  wrong.curves = NULL;
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  wrong = pose;
  wrong.joints = NULL;
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  wrong = pose;
  wrong.absent = absent;
  wrong.absent_count = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  wrong = pose;
  wrong.tier = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  // The kind has no other field.
  wrong = pose;
  wrong.others = &column;
  wrong.other_count = 1;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, PLAYER, ID, &wrong));
  curves[1] = 1.5f;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, world, PLAYER, ID, &pose));
  curves[1] = 0.5f;
  bones[HAND].rotation_wxyz[1] = NAN;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, world, PLAYER, ID, &pose));
  move(bones, 5.0);
  bones[SHOULDER].translation_cm[2] = 20000.0;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, world, PLAYER, ID, &pose));
  // The elbow's bone gets longer, which the figure does not send.
  move(bones, 5.0);
  bones[ELBOW].translation_cm[0] = 40.0;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, world, PLAYER, ID, &pose));
  OK(kp_snapshot_hash(world, &after));
  EXPECT(before == after);

  // Without translations, joints have those of the bind pose.
  joints.translations = NULL;
  OK(kp_figure_push(figure, world, PLAYER, ID, &pose));
  Bone shown[BONES];
  memset(shown, 0, sizeof shown);
  shown[1].flags = 5;
  const KpPose to = layout(shown);
  float values[CURVES];
  int32_t is_present = 0;
  OK(kp_figure_read(figure, world, PLAYER, ID, &to, values, CURVES));
  EXPECT(fabs(shown[ELBOW].translation_cm[0] - 30.0) < 1e-3 && shown[1].flags == 5);
  EXPECT(fabs(angle_of(&shown[ELBOW]) - 0.35) < 0.02 && fabsf(values[0] - 0.5f) <= 0.0101f);
  OK(kp_figure_is_present(figure, world, PLAYER, ID, 0, &is_present));
  EXPECT(is_present);
  OK(kp_figure_read(figure, world, PLAYER, ID, &to, NULL, 0));
  REFUSED(KP_STATUS_NOTHING, kp_figure_read(figure, world, PLAYER, 8, &to, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_read(figure, world, DOOR, ID, &to, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_read(figure, world, PLAYER, ID, &to, values, 1));
  REFUSED(KP_STATUS_POINTER, kp_figure_read(figure, world, PLAYER, ID, NULL, values, CURVES));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_is_present(figure, world, PLAYER, ID, 1, &is_present));
  REFUSED(KP_STATUS_NOTHING, kp_figure_is_present(figure, world, PLAYER, 8, 0, &is_present));
  REFUSED(KP_STATUS_POINTER, kp_figure_is_present(figure, world, PLAYER, ID, 0, NULL));
  // A figure of other options is not that of the kind.
  KpFigure other;
  OK(kp_figure_new(skeleton, NULL, &other));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_read(other, world, PLAYER, ID, &to, NULL, 0));
  pose.curve_count = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(other, world, PLAYER, 9, &pose));
  OK(kp_figure_free(other));
}

// Fills the world of a tick. The hand is absent for a while, and then its numbers are not read.
static void fill(KpFigure figure, KpSnapshot world, uint32_t tick) {
  Bone bones[BONES];
  const uint32_t absent[] = {0}, door[] = {2};
  const uint8_t is_open = 1;
  const KpColumn column = {&is_open, 0, KP_NUMBER_U8, 0};
  const int is_gone = tick >= GONE && tick < BACK;
  float curves[CURVES] = {grip(tick), 0.25f};
  move(bones, tick);
  if (is_gone) bones[HAND].rotation_wxyz[0] = curves[0] = NAN;
  const KpPose joints = layout(bones);
  KpFigurePose pose;
  memset(&pose, 0, sizeof pose);
  pose.joints = &joints;
  pose.curves = curves;
  pose.curve_count = CURVES;
  pose.absent = absent;
  pose.absent_count = (size_t)is_gone;
  OK(kp_snapshot_clear(world, tick));
  OK(kp_snapshot_add(world, DOOR, door, 1, &column, 1));
  OK(kp_figure_push(figure, world, PLAYER, ID, &pose));
}

// Compares what is shown with the pose of the shown tick. Returns whether the hand is present.
static int compare(KpFigure figure, KpShown shown, double tick) {
  Bone bones[BONES];
  float curves[CURVES] = {9.0f, 9.0f};
  int32_t is_shown = 0;
  memset(bones, 0, sizeof bones);
  bones[HAND].translation_cm[0] = 99.0;
  const KpPose pose = layout(bones);
  OK(kp_figure_show(figure, shown, PLAYER, ID, &pose, curves, CURVES));
  OK(kp_figure_is_shown(figure, shown, PLAYER, ID, 0, &is_shown));
  EXPECT(fabsf(curves[1] - 0.25f) <= 0.1001f);
  if (is_shown) {
    EXPECT(tick < GONE || tick > BACK - TICKS_PER_STATE);
    const int is_near_end = fabs(tick - GONE) < TICKS_PER_STATE || fabs(tick - BACK) < TICKS_PER_STATE;
    if (!is_near_end) {
      EXPECT(error_cm(bones, tick) < 0.15 && fabsf(curves[0] - grip(tick)) < 0.011f);
    }
  } else {
    EXPECT(tick >= GONE - TICKS_PER_STATE && tick < BACK);
    EXPECT(bones[HAND].translation_cm[0] == 99.0 && curves[0] == 9.0f);
    EXPECT(fabs(remainder(angle_of(&bones[SHOULDER]) - 0.05 * tick, 2.0 * acos(-1.0))) < 0.02);
  }
  return is_shown;
}

static void over_a_network(KpFigure figure, KpCodec codec, KpSnapshot world) {
  KpHub hub;
  KpReceiver receiver;
  KpShown shown;
  KpPlayback playback;
  uint8_t bytes[2000];
  uint64_t whom;
  size_t size;
  uint32_t played = 0, without_hand = 0;
  int32_t is_shown;
  Bone bones[BONES];
  memset(bones, 0, sizeof bones);
  const KpPose pose = layout(bones);
  OK(kp_hub_new(codec, NULL, &hub));
  OK(kp_hub_add(hub, 42, 0, 0));
  OK(kp_receiver_new(codec, TICK_HZ, NULL, &receiver));
  OK(kp_receiver_shown(receiver, &shown));
  REFUSED(KP_STATUS_NOTHING, kp_figure_show(figure, shown, PLAYER, ID, &pose, NULL, 0));
  for (uint32_t tick = 1; tick <= TICKS; tick += 1) {
    const uint64_t now = (uint64_t)tick * 1000000000u / TICK_HZ;
    while (kp_receiver_poll(receiver, now, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      OK(kp_hub_handle(hub, 42, now, bytes, size));
    }
    if (tick % TICKS_PER_STATE == 0) {
      fill(figure, world, tick);
      OK(kp_hub_tick(hub, now, world));
    }
    while (kp_hub_poll(hub, &whom, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      OK(kp_receiver_handle(receiver, now, bytes, size));
    }
    if (kp_receiver_play(receiver, now, &playback) != KP_STATUS_OK) continue;
    if (playback.is_starved) continue;
    without_hand += !compare(figure, shown, playback.tick);
    played += 1;
  }
  printf("%u ticks played, %u without a hand\n", (unsigned)played, (unsigned)without_hand);
  EXPECT(played > TICKS / 2 && without_hand > 40 && without_hand < 70);
  REFUSED(KP_STATUS_NOTHING, kp_figure_show(figure, shown, PLAYER, 2, &pose, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_show(figure, shown, DOOR, 2, &pose, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_show(figure, shown, 3, ID, &pose, NULL, 0));
  REFUSED(KP_STATUS_POINTER, kp_figure_show(figure, shown, PLAYER, ID, NULL, NULL, 0));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_is_shown(figure, shown, PLAYER, ID, 1, &is_shown));
  REFUSED(KP_STATUS_NOTHING, kp_figure_is_shown(figure, shown, PLAYER, 2, 0, &is_shown));
  OK(kp_hub_free(hub));
  OK(kp_receiver_free(receiver));
  REFUSED(KP_STATUS_HANDLE, kp_figure_show(figure, shown, PLAYER, ID, &pose, NULL, 0));
}

static void in_a_replay(KpFigure figure, KpCodec codec, KpSnapshot world) {
  static uint8_t bytes[100000];
  const KpEvents no_events = {0};
  KpKillCam kill_cam;
  KpReplay replay;
  KpShown shown;
  KpPlayback playback;
  size_t size;
  int with_hand = 0;
  OK(kp_kill_cam_new(codec, no_events, TICK_HZ, 5.0, &kill_cam));
  for (uint32_t tick = TICKS_PER_STATE; tick <= TICKS; tick += TICKS_PER_STATE) {
    fill(figure, world, tick);
    OK(kp_kill_cam_write(kill_cam, world));
  }
  OK(kp_kill_cam_cut(kill_cam, TICKS_PER_STATE, TICKS, &size));
  OK(kp_kill_cam_take(kill_cam, bytes, sizeof bytes, &size));
  OK(kp_kill_cam_free(kill_cam));
  OK(kp_replay_from_bytes(bytes, size, &replay));
  OK(kp_replay_shown(replay, &shown));
  for (double tick = 70.25; tick < 190.0; tick += 7.25) {
    OK(kp_replay_play(replay, tick, &playback));
    with_hand += compare(figure, shown, playback.tick);
  }
  EXPECT(with_hand > 4 && with_hand < 13);
  OK(kp_replay_free(replay));
}

// A kill cam with a body whose bow fades in, and ends at tick 140.
static void shown_clips(KpFigure figure, KpSchema schema, KpSnapshot world, KpFigurePose pose) {
  static uint8_t bytes[100000];
  const KpEvents no_events = {0};
  KpClipPlay bow = {2.5, 0.75, 0.0f, 0, 1, 100};
  KpCodec codec;
  KpKillCam kill_cam;
  KpReplay replay;
  KpShown shown;
  KpPlayback playback;
  KpShownClip clip;
  size_t size;
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  OK(kp_kill_cam_new(codec, no_events, TICK_HZ, 5.0, &kill_cam));
  for (uint32_t tick = 110; tick <= 150; tick += 10) {
    bow.weight = (float)(tick - 110) / 40.0f;
    OK(kp_snapshot_clear(world, tick));
    pose.clips = &bow;
    pose.clip_count = tick < 140;
    OK(kp_figure_push(figure, world, 0, ID, &pose));
    OK(kp_kill_cam_write(kill_cam, world));
  }
  OK(kp_kill_cam_cut(kill_cam, 110, 150, &size));
  OK(kp_kill_cam_take(kill_cam, bytes, sizeof bytes, &size));
  OK(kp_replay_from_bytes(bytes, size, &replay));
  OK(kp_replay_shown(replay, &shown));
  for (double tick = 110.0; tick < 150.0; tick += 2.5) {
    OK(kp_replay_play(replay, tick, &playback));
    const KpStatus status = kp_figure_shown_clip(figure, shown, 0, ID, playback.tick, 0, &clip);
    EXPECT(status == (tick < 140.0 ? KP_STATUS_OK : KP_STATUS_NOTHING));
    if (status != KP_STATUS_OK) continue;
    EXPECT(clip.clip == 1 && clip.speed == 0.75 && clip.time_ticks == 2.5 + 0.75 * (tick - 100.0));
    if (tick <= 130.0) EXPECT(fabs(clip.weight - (tick - 110.0) / 40.0) < 0.005);
  }
  REFUSED(KP_STATUS_NOTHING, kp_figure_shown_clip(figure, shown, 0, 2, 120.0, 0, &clip));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_shown_clip(figure, shown, 0, ID, 120.0, 2, &clip));
  REFUSED(KP_STATUS_POINTER, kp_figure_shown_clip(figure, shown, 0, ID, 120.0, 0, NULL));
  OK(kp_replay_free(replay));
  OK(kp_kill_cam_free(kill_cam));
  OK(kp_codec_free(codec));
}

// A body that plays a clip over its live pose: the clip's time, its speed and its weight.
static void with_clips(KpSkeleton skeleton) {
  const KpFigureClip clips[] = {{"walk"}, {"bow"}};
  KpFigureOptions options;
  memset(&options, 0, sizeof options);
  options.clips = clips;
  options.clip_count = 2;
  KpFigure figure;
  KpFigureInfo info;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_new(skeleton, &options, &figure));
  options.clip_slots = 2;
  OK(kp_figure_new(skeleton, &options, &figure));
  OK(kp_figure_info(figure, &info));
  EXPECT(info.clips == 2 && info.clip_slots == 2 && info.lanes == 12 + 2 * 6);
  KpSchemaBuilder builder;
  KpSchema schema;
  KpSnapshot world;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_figure(builder, "player", figure));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_snapshot_new(schema, &world));

  Bone bones[BONES];
  move(bones, 5.0);
  const KpPose joints = layout(bones);
  KpClipPlay plays[] = {{0.0, 1.0, 1.0f, 1, 1, 100}, {0.0, 1.0, 1.0f, 1, 0, 100}}, read;
  REFUSED(KP_STATUS_VALUE, kp_clip_play_with_speed(&plays[0], 120, 17.0, &read));
  REFUSED(KP_STATUS_POINTER, kp_clip_play_with_speed(NULL, 120, 1.0, &read));
  REFUSED(KP_STATUS_POINTER, kp_clip_play_with_speed(&plays[0], 120, 1.0, NULL));
  OK(kp_clip_play_with_speed(&plays[0], 120, -0.5, &plays[0]));
  EXPECT(plays[0].time_ticks == 20.0 && plays[0].since == 120 && plays[0].slot == 1);
  plays[0].weight = 0.2f;
  uint64_t before, after;
  OK(kp_snapshot_clear(world, 130));
  KpFigurePose pose;
  memset(&pose, 0, sizeof pose);
  pose.joints = &joints;
  pose.clips = plays;
  pose.clip_count = 1;
  OK(kp_figure_push(figure, world, 0, 6, &pose));
  OK(kp_snapshot_hash(world, &before));
  pose.clip_count = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, 0, ID, &pose));
  plays[1].slot = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, 0, ID, &pose));
  plays[1].slot = 0;
  plays[1].clip = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_push(figure, world, 0, ID, &pose));
  plays[1].clip = 0;
  plays[1].weight = NAN;
  REFUSED(KP_STATUS_VALUE, kp_figure_push(figure, world, 0, ID, &pose));
  pose.clips = NULL;
  REFUSED(KP_STATUS_POINTER, kp_figure_push(figure, world, 0, ID, &pose));
  OK(kp_snapshot_hash(world, &after));
  EXPECT(before == after);

  OK(kp_figure_clip(figure, world, 0, 6, 1, &read));
  EXPECT(read.clip == 1 && read.slot == 1 && read.since == 120 && read.time_ticks == 20.0);
  EXPECT(read.speed == -0.5 && fabsf(read.weight - 0.2f) < 1e-6f);
  REFUSED(KP_STATUS_NOTHING, kp_figure_clip(figure, world, 0, 6, 0, &read));
  REFUSED(KP_STATUS_NOTHING, kp_figure_clip(figure, world, 0, 8, 1, &read));
  REFUSED(KP_STATUS_ARGUMENT, kp_figure_clip(figure, world, 0, 6, 2, &read));
  REFUSED(KP_STATUS_POINTER, kp_figure_clip(figure, world, 0, 6, 1, NULL));
  shown_clips(figure, schema, world, pose);
  OK(kp_snapshot_free(world));
  OK(kp_schema_free(schema));
  OK(kp_figure_free(figure));
}

int main(void) {
  const KpSkeleton skeleton = make_skeleton();
  wrong_options(skeleton);
  with_clips(skeleton);
  const KpFigure figure = make_figure(skeleton);
  const KpSchema schema = make_schema(figure);
  KpCodec codec;
  KpSnapshot world;
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  OK(kp_snapshot_new(schema, &world));
  refused_poses(figure, skeleton, world);
  // A figure remains valid without its skeleton.
  OK(kp_skeleton_free(skeleton));
  over_a_network(figure, codec, world);
  in_a_replay(figure, codec, world);
  KpFigure other;
  KpFigureInfo info;
  REFUSED(KP_STATUS_HANDLE, kp_figure_new(skeleton, NULL, &other));
  OK(kp_figure_free(figure));
  REFUSED(KP_STATUS_HANDLE, kp_figure_free(figure));
  REFUSED(KP_STATUS_HANDLE, kp_figure_info(figure, &info));
  OK(kp_snapshot_free(world));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
