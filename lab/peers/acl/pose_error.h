// The error of a pose as kinepack measures it: each joint has three points at a distance on its
// axes, and the error is the largest distance between a point in the raw pose and the same point in
// the played pose, in object space. The arithmetic is in double.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "clip_file.h"

namespace pose_error {

using Vector = std::array<double, 3>;

struct Frame {
    std::array<double, 4> rotation;
    Vector translation;
    Vector scale;
};

inline Vector plus(const Vector& a, const Vector& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

inline Vector times(const Vector& a, const Vector& b) {
    return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
}

inline Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline std::array<double, 4> product(const std::array<double, 4>& a,
                                     const std::array<double, 4>& b) {
    return {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
}

// Turns a vector by a unit quaternion.
inline Vector turned(const std::array<double, 4>& rotation, const Vector& vector) {
    const Vector axis{rotation[0], rotation[1], rotation[2]};
    Vector twice = cross(axis, vector);
    for (double& number : twice) {
        number *= 2.0;
    }
    const Vector second = cross(axis, twice);
    const double w = rotation[3];
    return {vector[0] + w * twice[0] + second[0], vector[1] + w * twice[1] + second[1],
            vector[2] + w * twice[2] + second[2]};
}

inline Frame frame(const Transform& transform) {
    Frame result;
    double square = 0.0;
    for (const float part : transform.rotation) {
        square += double(part) * double(part);
    }
    const double length = std::sqrt(square);
    for (std::size_t index = 0; index < 4; ++index) {
        result.rotation[index] = double(transform.rotation[index]) / length;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        result.translation[axis] = transform.translation[axis];
        result.scale[axis] = transform.scale[axis];
    }
    return result;
}

// The joints of a pose in object space.
inline void object_space(const Clip& clip, const Transform* pose, std::vector<Frame>& frames) {
    frames.resize(clip.joints);
    for (std::uint32_t joint = 0; joint < clip.joints; ++joint) {
        const Frame local = frame(pose[joint]);
        if (clip.parents[joint] < 0) {
            frames[joint] = local;
            continue;
        }
        const Frame& parent = frames[std::size_t(clip.parents[joint])];
        frames[joint].rotation = product(parent.rotation, local.rotation);
        frames[joint].translation = plus(
            parent.translation, turned(parent.rotation, times(local.translation, parent.scale)));
        frames[joint].scale = times(parent.scale, local.scale);
    }
}

inline Vector shell_point(const Frame& frame, std::size_t axis, double shell_cm) {
    Vector arm{0.0, 0.0, 0.0};
    arm[axis] = shell_cm * frame.scale[axis];
    return plus(frame.translation, turned(frame.rotation, arm));
}

}  // namespace pose_error

// Errors of many poses.
class Errors {
public:
    Errors(const Clip& clip, double shell_cm) : clip_(clip), shell_cm_(shell_cm) {}

    // Adds the error of each joint at a sample.
    void add(std::uint32_t sample, const Transform* played) {
        pose_error::object_space(clip_, clip_.pose(sample), raw_);
        pose_error::object_space(clip_, played, played_);
        for (std::uint32_t joint = 0; joint < clip_.joints; ++joint) {
            double largest = 0.0;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const pose_error::Vector a = pose_error::shell_point(raw_[joint], axis, shell_cm_);
                const pose_error::Vector b =
                    pose_error::shell_point(played_[joint], axis, shell_cm_);
                const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
                largest = std::max(largest, std::sqrt(x * x + y * y + z * z));
            }
            all_cm_.push_back(largest);
        }
    }

    double max_cm() const { return *std::max_element(all_cm_.begin(), all_cm_.end()); }

    // The 99th percentile, interpolated linearly between the two nearest errors.
    double p99_cm() {
        std::sort(all_cm_.begin(), all_cm_.end());
        const double position = 0.99 * double(all_cm_.size() - 1);
        const auto index = std::size_t(position);
        const double lower = all_cm_[index];
        const double upper = all_cm_[std::min(index + 1, all_cm_.size() - 1)];
        return lower + (position - double(index)) * (upper - lower);
    }

private:
    const Clip& clip_;
    double shell_cm_;
    std::vector<double> all_cm_;
    std::vector<pose_error::Frame> raw_;
    std::vector<pose_error::Frame> played_;
};
