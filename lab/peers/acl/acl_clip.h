// A clip compressed with ACL, and its player.

#pragma once

#include <acl/compression/compress.h>
#include <acl/core/ansi_allocator.h>
#include <acl/decompression/decompress.h>
#include <rtm/qvvf.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clip_file.h"

using Context = acl::decompression_context<acl::default_transform_decompression_settings>;

inline rtm::qvvf to_qvv(const Transform& transform) {
    const float* r = transform.rotation;
    const float* t = transform.translation;
    const float* s = transform.scale;
    return rtm::qvv_set(rtm::quat_set(r[0], r[1], r[2], r[3]), rtm::vector_set(t[0], t[1], t[2]),
                        rtm::vector_set(s[0], s[1], s[2]));
}

// Reads joints from a context. Tracks that equal the bind pose are not in the compressed clip.
// Before the first call, the pose holds the bind pose, so the writer skips these tracks.
struct PoseWriter : acl::track_writer {
    explicit PoseWriter(const Clip& clip) : pose(clip.bind) {}

    std::vector<Transform> pose;

    static constexpr acl::default_sub_track_mode get_default_rotation_mode() {
        return acl::default_sub_track_mode::skipped;
    }
    static constexpr acl::default_sub_track_mode get_default_translation_mode() {
        return acl::default_sub_track_mode::skipped;
    }
    static constexpr acl::default_sub_track_mode get_default_scale_mode() {
        return acl::default_sub_track_mode::skipped;
    }

    void RTM_SIMD_CALL write_rotation(std::uint32_t joint, rtm::quatf_arg0 rotation) {
        rtm::quat_store(rotation, pose[joint].rotation);
    }
    void RTM_SIMD_CALL write_translation(std::uint32_t joint, rtm::vector4f_arg0 translation) {
        rtm::vector_store3(translation, pose[joint].translation);
    }
    void RTM_SIMD_CALL write_scale(std::uint32_t joint, rtm::vector4f_arg0 scale) {
        rtm::vector_store3(scale, pose[joint].scale);
    }
};

// Frees memory that ACL allocated.
struct Free {
    acl::iallocator* allocator;
    void operator()(acl::compressed_tracks* tracks) const {
        allocator->deallocate(tracks, tracks->get_size());
    }
};
using Compressed = std::unique_ptr<acl::compressed_tracks, Free>;

// Compresses with ACL's default settings. The bind pose is the default value of a track.
inline Compressed compress(acl::iallocator& allocator, const Clip& clip, float precision_cm,
                           float shell_cm) {
    acl::track_array_qvvf tracks(allocator, clip.joints);
    for (std::uint32_t joint = 0; joint < clip.joints; ++joint) {
        acl::track_desc_transformf description;
        description.output_index = joint;
        description.parent_index = clip.parents[joint] < 0 ? acl::k_invalid_track_index
                                                           : std::uint32_t(clip.parents[joint]);
        description.precision = precision_cm;
        description.shell_distance = shell_cm;
        description.default_value = to_qvv(clip.bind[joint]);
        acl::track_qvvf track = acl::track_qvvf::make_reserve(description, allocator, clip.samples,
                                                              clip.rate_hz);
        for (std::uint32_t sample = 0; sample < clip.samples; ++sample) {
            track[sample] = to_qvv(clip.pose(sample)[joint]);
        }
        tracks[joint] = std::move(track);
    }
    acl::compression_settings settings = acl::get_default_compression_settings();
    acl::qvvf_transform_error_metric error_metric;
    settings.error_metric = &error_metric;
    acl::output_stats stats;
    acl::compressed_tracks* compressed = nullptr;
    const acl::error_result error =
        acl::compress_track_list(allocator, tracks, settings, compressed, stats);
    if (error.any()) {
        throw std::runtime_error(std::string("ACL: ") + error.c_str());
    }
    return Compressed(compressed, Free{&allocator});
}

// The same clip in other memory. Compressed clips hold no addresses.
inline Compressed copy(acl::iallocator& allocator, const acl::compressed_tracks& tracks) {
    void* memory = allocator.allocate(tracks.get_size(), alignof(acl::compressed_tracks));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    std::memcpy(memory, &tracks, tracks.get_size());
    return Compressed(static_cast<acl::compressed_tracks*>(memory), Free{&allocator});
}

inline void initialize(Context& context, const acl::compressed_tracks& tracks) {
    if (!context.initialize(tracks)) {
        throw std::runtime_error("ACL does not play what it compressed");
    }
}
