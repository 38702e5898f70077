// Measures the time to play clips as `kinepack anim build` measures its own: the best of five
// rounds.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "acl_clip.h"

namespace timing {

constexpr int rounds = 5;

// Makes the compiler assume that the pose is read here. Otherwise the compiler might omit computing
// the pose.
inline void keep(const Transform* pose) {
#if defined(_MSC_VER)
    static const Transform* volatile read;
    read = pose;
    _ReadWriteBarrier();
#else
    asm volatile("" : : "r"(pose) : "memory");
#endif
}

// The time of an action in ns: the best of all rounds, over the number of actions in a round.
template <class Action>
double best_ns(std::size_t count, Action&& action) {
    double best = 1e300;
    for (int round = 0; round < rounds; ++round) {
        const auto begun = std::chrono::steady_clock::now();
        for (std::size_t index = 0; index < count; ++index) {
            action(index);
        }
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - begun;
        best = std::min(best, spent.count() / double(count));
    }
    return best;
}

// The time of a pose, playing forwards at 60 Hz over and over.
inline double warm_ns(const Clip& clip, const acl::compressed_tracks& tracks) {
    constexpr std::size_t poses = 2000;
    Context context;
    initialize(context, tracks);
    PoseWriter writer(clip);
    const auto poses_a_loop = std::size_t(60.0F * clip.duration_s()) + 1;
    return best_ns(poses, [&](std::size_t index) {
        context.seek(float(index % poses_a_loop) / 60.0F, acl::sample_rounding_policy::none);
        context.decompress_tracks(writer);
        keep(writer.pose.data());
    });
}

// The time of a single joint at random times, each time another joint.
inline double one_joint_ns(const Clip& clip, const acl::compressed_tracks& tracks) {
    constexpr std::size_t joints = 20000;
    Context context;
    initialize(context, tracks);
    PoseWriter writer(clip);
    std::uint32_t random = 1;
    return best_ns(joints, [&](std::size_t) {
        random = random * 1664525U + 1013904223U;
        const float time_s = clip.duration_s() * float(random >> 8) / float(1U << 24);
        const std::uint32_t joint = (random >> 4) % clip.joints;
        context.seek(time_s, acl::sample_rounding_policy::none);
        context.decompress_track(joint, writer);
        keep(writer.pose.data() + joint);
    });
}

// The time of a pose, each time of another copy of the clip. Each copy has a context, and all
// copies take `all_bytes`, so they are not in a near cache.
inline double cold_ns(acl::iallocator& allocator, const Clip& clip,
                      const acl::compressed_tracks& tracks, std::size_t all_bytes) {
    // The distance from one copy to the next: large, and odd so that every copy is played.
    constexpr std::size_t stride = 7919;
    const std::size_t bytes = tracks.get_size() + sizeof(Context);
    std::size_t count = 1;
    while (count * bytes < all_bytes) {
        count *= 2;
    }
    std::vector<Compressed> copies;
    std::vector<std::unique_ptr<Context>> contexts;
    for (std::size_t index = 0; index < count; ++index) {
        copies.push_back(copy(allocator, tracks));
        contexts.push_back(std::make_unique<Context>());
        initialize(*contexts.back(), *copies.back());
    }
    PoseWriter writer(clip);
    return best_ns(count, [&](std::size_t index) {
        Context& context = *contexts[index * stride % count];
        const float time_s = clip.duration_s() * float(index % 31) / 31.0F;
        context.seek(time_s, acl::sample_rounding_policy::none);
        context.decompress_tracks(writer);
        keep(writer.pose.data());
    });
}

}  // namespace timing
