// Reads the `.clip` files that `kinepack anim raw` writes: a clip's samples as plain floats. The
// layout is described in crates/kinepack-anim/src/exchange.rs.

#pragma once

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// A joint relative to its parent: rotation x y z w, translation in cm, scale.
struct Transform {
    float rotation[4];
    float translation[3];
    float scale[3];
};
static_assert(sizeof(Transform) == 40, "ten floats without gaps");

struct Clip {
    std::uint32_t joints = 0;
    std::uint32_t samples = 0;
    float rate_hz = 0.0F;
    // By joint; -1 for a root.
    std::vector<std::int32_t> parents;
    std::vector<Transform> bind;
    // The joints of the first sample, then the joints of the second, and so on.
    std::vector<Transform> transforms;

    const Transform* pose(std::uint32_t sample) const {
        return transforms.data() + std::size_t(sample) * joints;
    }
    float duration_s() const { return float(samples - 1) / rate_hz; }
    std::size_t raw_bytes() const { return transforms.size() * sizeof(Transform); }
};

namespace clip_file {

inline std::uint32_t word(const std::vector<unsigned char>& bytes, std::size_t at) {
    return std::uint32_t(bytes[at]) | std::uint32_t(bytes[at + 1]) << 8 |
           std::uint32_t(bytes[at + 2]) << 16 | std::uint32_t(bytes[at + 3]) << 24;
}

inline std::vector<Transform> transforms(const std::vector<unsigned char>& bytes, std::size_t at,
                                         std::size_t count) {
    std::vector<Transform> result(count);
    for (std::size_t index = 0; index < count; ++index) {
        float floats[10];
        for (float& number : floats) {
            const std::uint32_t bits = word(bytes, at);
            std::memcpy(&number, &bits, sizeof(number));
            if (!std::isfinite(number)) {
                throw std::runtime_error("the float at byte " + std::to_string(at) +
                                         " is not finite");
            }
            at += 4;
        }
        std::memcpy(&result[index], floats, sizeof(floats));
    }
    return result;
}

}  // namespace clip_file

// Throws std::runtime_error, without the path, if the file is not a `.clip` file.
inline Clip read_clip(const std::string& path) {
    constexpr std::size_t header_bytes = 16;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(std::string("cannot be opened: ") + std::strerror(errno));
    }
    const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) {
        throw std::runtime_error("cannot be read");
    }
    if (bytes.size() < header_bytes || std::memcmp(bytes.data(), "CLIP", 4) != 0) {
        throw std::runtime_error("is no .clip file: `kinepack anim raw` writes them");
    }
    Clip clip;
    clip.joints = clip_file::word(bytes, 4);
    clip.samples = clip_file::word(bytes, 8);
    const std::uint32_t rate_bits = clip_file::word(bytes, 12);
    std::memcpy(&clip.rate_hz, &rate_bits, sizeof(clip.rate_hz));
    if (clip.joints == 0 || clip.samples == 0) {
        throw std::runtime_error("has no joints or no samples");
    }
    if (!std::isfinite(clip.rate_hz) || clip.rate_hz <= 0.0F) {
        throw std::runtime_error("has no valid rate");
    }
    // Parents, the bind pose, the samples. The first comparison keeps the product from wrapping.
    const std::uint64_t after_header = bytes.size() - header_bytes;
    const std::uint64_t poses = std::uint64_t(clip.samples) + 1;
    const std::uint64_t joints = clip.joints;
    if (poses * joints > after_header / sizeof(Transform) ||
        joints * 4 + poses * joints * sizeof(Transform) != after_header) {
        throw std::runtime_error("has " + std::to_string(bytes.size()) +
                                 " bytes, which is not the length of " + std::to_string(joints) +
                                 " joints and " + std::to_string(clip.samples) + " samples");
    }
    for (std::uint32_t joint = 0; joint < clip.joints; ++joint) {
        const auto parent = std::int32_t(clip_file::word(bytes, header_bytes + joint * 4));
        if (parent < -1 || parent >= std::int32_t(joint)) {
            throw std::runtime_error("joint " + std::to_string(joint) +
                                     " does not come after its parent");
        }
        clip.parents.push_back(parent);
    }
    const std::size_t bind_at = header_bytes + std::size_t(joints) * 4;
    clip.bind = clip_file::transforms(bytes, bind_at, joints);
    clip.transforms = clip_file::transforms(bytes, bind_at + joints * sizeof(Transform),
                                            std::size_t(joints) * clip.samples);
    return clip;
}
