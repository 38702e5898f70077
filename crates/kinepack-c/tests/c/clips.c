// Clips: loaded, sampled into an engine's layout by bone, blended with a mask.

#include <math.h>
#include <string.h>

#include "check.h"

// An engine's transform: another order of members, doubles, centimetres.
typedef struct {
  double rotation_wxyz[4];
  double translation_cm[3];
  double scale[3];
  int flags;
} Bone;

static uint8_t bytes[1 << 20];

static size_t load(const char *folder, const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  EXPECT(file != NULL);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return size;
}

// The file of spec/ANM.md, section 8: one moving joint.
static const char *const ANM =
    "7233643263616e6d03000000fe0000000000000004000000010000000900000002000000000000400000f04100000040"
    "00002041000000400000204100000040000020410000000000000000000000000000000000000041000000000000803f"
    "0000803f0000803f0000803f0000803f0000803f74000000ce000000fe0000000000000000c0263b00700000000000c0"
    "263b00700000000000c0263b00700000000000c0263b0070000000400000000000000000004000000000000000400040"
    "0000ffff0000ffff0040000000800000ffff004000000080000000000100020003000400050006000700ffffffffffff"
    "ffff00000100020003000500060007000800ffffffffffffffff64960700";

static void r3d2canm(void) {
  uint8_t bytes[300], written[300];
  size_t size = 0, written_size;
  for (const char *digit = ANM; *digit != 0; digit += 2, size += 1) {
    unsigned byte = 0;
    EXPECT(size < sizeof bytes && sscanf(digit, "%2x", &byte) == 1);
    bytes[size] = (uint8_t)byte;
  }
  KpAnm anm;
  KpAnmInfo info;
  uint32_t hash, other;
  for (size_t cut = 0; cut < size; cut += 1) {
    REFUSED(KP_STATUS_DATA, kp_anm_from_bytes(bytes, cut, &anm));
  }
  REFUSED(KP_STATUS_POINTER, kp_anm_from_bytes(NULL, size, &anm));
  REFUSED(KP_STATUS_POINTER, kp_anm_from_bytes(bytes, size, NULL));
  OK(kp_anm_from_bytes(bytes, size, &anm));
  OK(kp_anm_info(anm, &info));
  EXPECT(info.version == 3 && info.joints == 1 && info.keys == 9);
  EXPECT(info.duration_s == 2.0f && info.rate_hz == 30.0f);
  OK(kp_anm_joint(anm, 0, &hash));
  OK(kp_anm_hash("root", &other));
  EXPECT(hash == other);
  OK(kp_anm_hash("hand", &other));
  EXPECT(hash != other);
  REFUSED(KP_STATUS_ARGUMENT, kp_anm_joint(anm, 1, &hash));
  REFUSED(KP_STATUS_POINTER, kp_anm_hash(NULL, &hash));
  REFUSED(KP_STATUS_SIZE, kp_anm_to_bytes(anm, written, 9, &written_size));
  OK(kp_anm_to_bytes(anm, written, sizeof written, &written_size));
  EXPECT(written_size == size && memcmp(written, bytes, size) == 0);

  float before[3] = {0}, after[3] = {0};
  KpPose pose;
  memset(&pose, 0, sizeof pose);
  pose.translations = before;
  pose.translation_stride = sizeof before;
  pose.bones = 1;
  pose.number = KP_NUMBER_F32;
  pose.units_per_m = 100.0f;
  OK(kp_anm_sample(anm, 0.5f, &pose));
  pose.translations = after;
  OK(kp_anm_sample(anm, 1.5f, &pose));
  EXPECT(before[0] != after[0] || before[1] != after[1] || before[2] != after[2]);
  REFUSED(KP_STATUS_ARGUMENT, kp_anm_sample(anm, NAN, &pose));
  REFUSED(KP_STATUS_POINTER, kp_anm_sample(anm, 0.0f, NULL));
  pose.bones = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_anm_sample(anm, 0.0f, &pose));

  // Random files are refused or sampled.
  pose.bones = 1;
  for (size_t at = 0; at < size; at += 1) {
    for (unsigned flip = 1; flip < 256; flip *= 4) {
      KpAnm changed;
      bytes[at] ^= (uint8_t)flip;
      if (kp_anm_from_bytes(bytes, size, &changed) == KP_STATUS_OK) {
        EXPECT(kp_anm_sample(changed, 0.7f, &pose) != KP_STATUS_PANIC);
        OK(kp_anm_free(changed));
      }
      bytes[at] ^= (uint8_t)flip;
    }
  }
  OK(kp_anm_free(anm));
  REFUSED(KP_STATUS_HANDLE, kp_anm_free(anm));
  REFUSED(KP_STATUS_HANDLE, kp_anm_sample(anm, 0.0f, &pose));
}

int main(int count_of_arguments, char **arguments) {
  EXPECT(count_of_arguments == 2);
  KpSkeleton skeleton;
  KpClip clip, walk;
  KpPlayer player, other;
  KpClipInfo info;
  const KpRig no_rig = {0};
  size_t size = load(arguments[1], "arm.kps");
  OK(kp_skeleton_from_bytes(bytes, size, &skeleton));
  uint32_t joints, found;
  int32_t parent;
  char name[40];
  OK(kp_skeleton_joints(skeleton, &joints));
  EXPECT(joints == 3);
  OK(kp_skeleton_name(skeleton, 2, name, sizeof name, &size));
  EXPECT(strcmp(name, "hand") == 0 && size == 5);
  REFUSED(KP_STATUS_SIZE, kp_skeleton_name(skeleton, 2, name, 4, &size));
  OK(kp_skeleton_find(skeleton, "elbow", &found));
  EXPECT(found == 1);
  REFUSED(KP_STATUS_NOTHING, kp_skeleton_find(skeleton, "tail", &found));
  OK(kp_skeleton_parent(skeleton, 2, &parent));
  EXPECT(parent == 1);
  OK(kp_skeleton_parent(skeleton, 0, &parent));
  EXPECT(parent == -1);
  REFUSED(KP_STATUS_ARGUMENT, kp_skeleton_parent(skeleton, 3, &parent));
  size = load(arguments[1], "wave.kpa");
  OK(kp_clip_from_bytes(bytes, size, no_rig, &clip));
  OK(kp_clip_info(clip, &info));
  uint64_t hash;
  OK(kp_skeleton_hash(skeleton, &hash));
  EXPECT(info.joints == 3 && info.samples == 61 && info.duration_s == 2.0f);
  EXPECT(info.skeleton_hash == hash && info.bytes > 0);
  EXPECT(info.curves == 2 && info.markers == 2);
  OK(kp_clip_curve_name(clip, 1, name, sizeof name, &size));
  EXPECT(strcmp(name, "gain") == 0 && size == 5);
  REFUSED(KP_STATUS_SIZE, kp_clip_curve_name(clip, 1, name, 4, &size));
  REFUSED(KP_STATUS_ARGUMENT, kp_clip_curve_name(clip, 2, name, sizeof name, &size));
  float time_s;
  OK(kp_clip_marker(clip, 1, &time_s, name, sizeof name, &size));
  EXPECT(strcmp(name, "release") == 0 && time_s == 1.5f);
  REFUSED(KP_STATUS_ARGUMENT, kp_clip_marker(clip, 2, &time_s, name, sizeof name, &size));
  REFUSED(KP_STATUS_POINTER, kp_clip_marker(clip, 1, NULL, name, sizeof name, &size));
  size = load(arguments[1], "walk.kpd");
  OK(kp_clip_from_bytes(bytes, size, no_rig, &walk));
  OK(kp_player_new(clip, skeleton, &player));
  OK(kp_player_new(walk, skeleton, &other));

  // The first curve rises by 0.5 a second, and the second one is constant.
  float curves[2];
  OK(kp_player_curves(player, 1.0f, curves, 2));
  EXPECT(fabsf(curves[0] - 0.5f) < 1e-3f && curves[1] == 0.25f);
  REFUSED(KP_STATUS_ARGUMENT, kp_player_curves(player, 1.0f, curves, 1));
  REFUSED(KP_STATUS_ARGUMENT, kp_player_curves(player, NAN, curves, 2));
  REFUSED(KP_STATUS_POINTER, kp_player_curves(player, 1.0f, NULL, 2));
  OK(kp_clip_info(walk, &info));
  EXPECT(info.curves == 0 && info.markers == 0);
  OK(kp_player_curves(other, 1.0f, NULL, 0));

  // An array of structs, with further bones before and between those of the clip.
  Bone bones[6];
  memset(bones, 0, sizeof bones);
  const uint32_t bone_of_joint[] = {1, 3, 5};
  KpPose pose;
  memset(&pose, 0, sizeof pose);
  pose.translations = bones[0].translation_cm;
  pose.rotations = bones[0].rotation_wxyz;
  pose.scales = bones[0].scale;
  pose.translation_stride = pose.rotation_stride = pose.scale_stride = sizeof(Bone);
  pose.bones = 6;
  pose.bone_of_joint = bone_of_joint;
  pose.joints = 3;
  pose.number = KP_NUMBER_F64;
  pose.w_first = 1;
  pose.units_per_m = 100.0f;
  OK(kp_player_sample(player, 1.0f, &pose));
  // The clip moves the shoulder by 30 cm a second, and turns the elbow by 0.5 rad a second about z.
  EXPECT(fabs(bones[1].translation_cm[0] - 30.0) < 0.1);
  EXPECT(fabs(bones[3].rotation_wxyz[0] - cos(0.25)) < 1e-3);
  EXPECT(fabs(bones[3].rotation_wxyz[3] - sin(0.25)) < 1e-3);
  EXPECT(bones[0].scale[0] == 0.0 && bones[1].scale[0] == 1.0 && bones[4].scale[2] == 0.0);
  EXPECT(bones[5].flags == 0);

  // Three arrays of float, in metres.
  float translations[3][3], rotations[3][4];
  KpPose arrays;
  memset(&arrays, 0, sizeof arrays);
  arrays.translations = translations;
  arrays.rotations = rotations;
  arrays.translation_stride = sizeof translations[0];
  arrays.rotation_stride = sizeof rotations[0];
  arrays.bones = 3;
  OK(kp_player_sample(player, 1.0f, &arrays));
  EXPECT(fabsf(translations[0][0] - 0.3f) < 1e-3f);
  EXPECT((float)bones[3].rotation_wxyz[0] == rotations[1][3]);
  OK(kp_skeleton_bind_pose(skeleton, &arrays));
  EXPECT(translations[0][0] == 0.0f && rotations[1][3] == 1.0f);

  // A blend of one half, with a mask for the first joint.
  OK(kp_player_blend(player, 1.0f, other, 1.0f, 0.5f, NULL, 0, &arrays));
  EXPECT(fabsf(translations[0][0] - 0.15f) < 2e-3f);
  const float mask[] = {1.0f, 0.0f, 0.0f};
  OK(kp_player_blend(player, 1.0f, other, 1.0f, 1.0f, mask, 3, &arrays));
  EXPECT(fabsf(translations[0][0]) < 2e-3f);
  EXPECT(fabsf(rotations[1][3] - (float)cos(0.25)) < 1e-3f);
  OK(kp_player_blend(player, 1.0f, player, 0.0f, 0.5f, NULL, 0, &arrays));
  EXPECT(fabsf(translations[0][0] - 0.15f) < 2e-3f);

  // Bad layouts, times and bytes.
  REFUSED(KP_STATUS_POINTER, kp_player_sample(player, 1.0f, NULL));
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, NAN, &arrays));
  REFUSED(KP_STATUS_ARGUMENT, kp_player_blend(player, 0.0f, other, 0.0f, NAN, NULL, 0, &arrays));
  arrays.bones = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, 1.0f, &arrays));
  arrays.bones = 3;
  arrays.number = KP_NUMBER_I32;
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, 1.0f, &arrays));
  arrays.number = KP_NUMBER_F32;
  arrays.rotation_stride = SIZE_MAX / 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, 1.0f, &arrays));
  REFUSED(KP_STATUS_ARGUMENT,
          kp_player_blend(player, 0.0f, other, 0.0f, 0.5f, mask, 2, &arrays));
  pose.joints = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, 1.0f, &pose));
  pose.joints = 3;
  pose.bones = 5;
  REFUSED(KP_STATUS_ARGUMENT, kp_player_sample(player, 1.0f, &pose));
  KpClip none;
  KpSkeleton no_skeleton;
  KpRig rig;
  REFUSED(KP_STATUS_DATA, kp_clip_from_bytes(bytes, size - 1, no_rig, &none));
  REFUSED(KP_STATUS_DATA, kp_skeleton_from_bytes(bytes, size, &no_skeleton));
  REFUSED(KP_STATUS_DATA, kp_rig_from_bytes(bytes, size, &rig));
  REFUSED(KP_STATUS_POINTER, kp_clip_from_bytes(NULL, size, no_rig, &none));
  for (size_t round = 0; round < 300; round += 1) {
    bytes[(round * 7919) % size] ^= (uint8_t)(round | 1);
    if (kp_clip_from_bytes(bytes, size, no_rig, &none) == KP_STATUS_OK) OK(kp_clip_free(none));
  }
  // Players remain valid without their clips.
  OK(kp_clip_free(clip));
  OK(kp_clip_free(walk));
  OK(kp_skeleton_free(skeleton));
  pose.bones = 6;
  OK(kp_player_sample(player, 2.0f, &pose));
  EXPECT(fabs(bones[1].translation_cm[0] - 60.0) < 0.1);
  OK(kp_player_free(player));
  REFUSED(KP_STATUS_HANDLE, kp_player_sample(player, 2.0f, &pose));
  REFUSED(KP_STATUS_HANDLE, kp_player_blend(other, 0.0f, player, 0.0f, 0.5f, NULL, 0, &pose));
  OK(kp_player_free(other));
  r3d2canm();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
