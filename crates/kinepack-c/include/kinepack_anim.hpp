// Kinepack for C++17: owners of skeletons, clips, players and figures. kinepack.hpp includes this file
// and has its rules.

#ifndef KINEPACK_ANIM_HPP
#define KINEPACK_ANIM_HPP

#include "kinepack.hpp"

namespace kinepack {

class Skeleton : public Owner<KpSkeleton, kp_skeleton_free> {
 public:
  // The joints, parents first, and the bind pose.
  Skeleton(const std::vector<KpJoint> &joints, const KpPose &bind) {
    require(kp_skeleton_new(joints.data(), joints.size(), &bind, &handle_));
  }
  // Reads a skeleton file.
  Skeleton(const void *bytes, size_t size) {
    require(kp_skeleton_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }

  // The first joint with a name, or -1.
  int32_t find(const char *name) const {
    uint32_t joint = 0;
    const bool is_there = kp_skeleton_find(handle_, name, &joint) == KP_STATUS_OK;
    return is_there ? static_cast<int32_t>(joint) : -1;
  }
};

class Rig : public Owner<KpRig, kp_rig_free> {
 public:
  Rig() = default;
  Rig(const void *bytes, size_t size) {
    require(kp_rig_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }
};

class Clip : public Owner<KpClip, kp_clip_free> {
 public:
  Clip(const void *bytes, size_t size, KpRig rig = {0}) {
    require(kp_clip_from_bytes(static_cast<const uint8_t *>(bytes), size, rig, &handle_));
  }
};

class Player : public Owner<KpPlayer, kp_player_free> {
 public:
  Player(KpClip clip, KpSkeleton skeleton) { require(kp_player_new(clip, skeleton, &handle_)); }

  KpStatus sample(float time_s, const KpPose &pose) {
    return kp_player_sample(handle_, time_s, &pose);
  }

  // Writes the values of all curves. `count` must be the clip's number of curves.
  KpStatus curves(float time_s, float *values, size_t count) {
    return kp_player_curves(handle_, time_s, values, count);
  }
};

class Anm : public Owner<KpAnm, kp_anm_free> {
 public:
  Anm(const void *bytes, size_t size) {
    require(kp_anm_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }
};

// The state of a body at one moment. Lists that the figure does not have stay empty. Keep it from
// tick to tick, because its lists allocate.
struct FigurePose {
  KpPose joints{};
  // A value for each curve.
  std::vector<float> curves{};
  // The parts that are absent.
  std::vector<uint32_t> absent{};
  // The clips that play, at most one in each slot.
  std::vector<KpClipPlay> clips{};
  // For a kind that has other fields too: a column of one record for each of them, in their order.
  std::vector<KpColumn> others{};
  // The tier in which the pose is sent.
  uint32_t tier = 0;
};

// The body of one kind of entity. `SchemaBuilder::figure` makes the kind.
class Figure : public Owner<KpFigure, kp_figure_free> {
 public:
  explicit Figure(KpSkeleton skeleton, const KpFigureOptions &options = {}) {
    require(kp_figure_new(skeleton, &options, &handle_));
  }

  // The numbers of joints, curves, parts, lanes, clips, slots and tiers. All are 0 for an empty
  // figure.
  KpFigureInfo info() const {
    KpFigureInfo info{};
    require(kp_figure_info(handle_, &info));
    return info;
  }

  // The largest error of a joint in a tier, in cm. It is 0 for an empty figure.
  double max_error_cm(uint32_t joint, uint32_t tier = 0) const {
    double error_cm = 0.0;
    require(kp_figure_max_error_cm(handle_, tier, joint, &error_cm));
    return error_cm;
  }

  // The name of the field with the position of the first joint that moves, or empty if none does.
  std::string position_field() const {
    size_t size = 0;
    kp_figure_position_field(handle_, nullptr, 0, &size);
    std::string name(size, '\0');
    if (size == 0) return name;
    require(kp_figure_position_field(handle_, &name[0], size, &size));
    name.pop_back();
    return name;
  }

  // Appends an entity to a snapshot. The kind may have other fields too, for which `pose` has
  // columns.
  KpStatus push(KpSnapshot world, uint32_t kind, uint32_t id, const FigurePose &pose) {
    KpFigurePose body{};
    body.joints = &pose.joints;
    body.curves = pose.curves.data();
    body.curve_count = pose.curves.size();
    body.absent = pose.absent.data();
    body.absent_count = pose.absent.size();
    body.clips = pose.clips.data();
    body.clip_count = pose.clips.size();
    body.others = pose.others.data();
    body.other_count = pose.others.size();
    body.tier = pose.tier;
    return kp_figure_push(handle_, world, kind, id, &body);
  }

  // Writes the clip that an entity in a snapshot plays in a slot. Nothing if the slot is empty.
  KpStatus clip(KpSnapshot world, uint32_t kind, uint32_t id, uint32_t slot, KpClipPlay &play) {
    return kp_figure_clip(handle_, world, kind, id, slot, &play);
  }

  // Writes the clip that a shown entity plays in a slot, at the tick of the playback.
  KpStatus shown_clip(KpShown shown, uint32_t kind, uint32_t id, double tick, uint32_t slot,
                      KpShownClip &clip) {
    return kp_figure_shown_clip(handle_, shown, kind, id, tick, slot, &clip);
  }

  // Writes the pose of an entity in a snapshot, and the values of all curves if `count` is not 0.
  // The kind may have other fields too, also below.
  KpStatus read(KpSnapshot world, uint32_t kind, uint32_t id, const KpPose &pose,
                float *curves = nullptr, size_t count = 0) {
    return kp_figure_read(handle_, world, kind, id, &pose, curves, count);
  }

  // Writes the interpolated pose of an entity that a receiver, a viewer or a replay shows.
  KpStatus show(KpShown shown, uint32_t kind, uint32_t id, const KpPose &pose,
                float *curves = nullptr, size_t count = 0) {
    return kp_figure_show(handle_, shown, kind, id, &pose, curves, count);
  }

  // Whether a part of an entity in a snapshot is present. False if there is no such entity.
  bool is_present(KpSnapshot world, uint32_t kind, uint32_t id, uint32_t part) {
    int32_t is_present = 0;
    kp_figure_is_present(handle_, world, kind, id, part, &is_present);
    return is_present != 0;
  }

  // Whether `show` writes a part of an entity. False if there is no such entity.
  bool is_shown(KpShown shown, uint32_t kind, uint32_t id, uint32_t part) {
    int32_t is_shown = 0;
    kp_figure_is_shown(handle_, shown, kind, id, part, &is_shown);
    return is_shown != 0;
  }
};

}  // namespace kinepack

#endif  // KINEPACK_ANIM_HPP
