// Measures ACL on clips that `kinepack anim raw` wrote, and prints the table that
// `kinepack anim compare --peer` reads. See README.md.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl_clip.h"
#include "clip_file.h"
#include "pose_error.h"
#include "timing.h"

namespace {

constexpr char usage[] =
    "measure_acl [OPTIONS] FILE.clip...\n"
    "\n"
    "Compresses clips with ACL's default settings, and prints sizes, errors and times as CSV.\n"
    "`kinepack anim raw` writes the clips; `kinepack anim compare --peer` reads the table.\n"
    "\n"
    "  --precision CM  the precision of each joint [default: 0.01]\n"
    "  --shell CM      the distance from a joint at which errors are measured [default: 3]\n"
    "  --cold-mb MB    memory that clips take while cold poses are timed [default: 64]\n"
    "  --no-times      leave the times out\n"
    "  --help          this text\n";

struct Options {
    float precision_cm = 0.01F;
    float shell_cm = 3.0F;
    float cold_mb = 64.0F;
    bool times = true;
    std::vector<std::string> files;
};

float positive(const std::string& option, const char* text) {
    char* end = nullptr;
    const float number = text == nullptr ? 0.0F : std::strtof(text, &end);
    if (end == nullptr || end == text || *end != '\0' || !std::isfinite(number) || number <= 0.0F) {
        throw std::runtime_error(option + " takes a positive number");
    }
    return number;
}

Options parse(int count, char** arguments) {
    Options options;
    for (int index = 1; index < count; ++index) {
        const std::string argument = arguments[index];
        const auto number = [&] { return positive(argument, arguments[++index]); };
        if (argument == "--precision") {
            options.precision_cm = number();
        } else if (argument == "--shell") {
            options.shell_cm = number();
        } else if (argument == "--cold-mb") {
            options.cold_mb = number();
        } else if (argument == "--no-times") {
            options.times = false;
        } else if (argument == "--help") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (argument.rfind("--", 0) == 0) {
            throw std::runtime_error("there is no option " + argument + "; see --help");
        } else {
            options.files.push_back(argument);
        }
    }
    if (options.files.empty()) {
        throw std::runtime_error("no files; see --help");
    }
    return options;
}

// The name of a file without its directories.
std::string base_name(const std::string& path) {
    const std::size_t slash = path.find_last_of("/\\");
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

// The time of the best of three compressions, in ms.
double compress_ms(acl::iallocator& allocator, const Clip& clip, const Options& options) {
    double best = 1e300;
    for (int round = 0; round < 3; ++round) {
        const auto begun = std::chrono::steady_clock::now();
        const Compressed compressed =
            compress(allocator, clip, options.precision_cm, options.shell_cm);
        const std::chrono::duration<double, std::milli> spent =
            std::chrono::steady_clock::now() - begun;
        best = std::min(best, spent.count());
    }
    return best;
}

void measure(const std::string& path, const Options& options) {
    const std::string name = base_name(path);
    if (name.find_first_of(",\"\n\r") != std::string::npos) {
        throw std::runtime_error("the name has a character that the table cannot hold");
    }
    acl::ansi_allocator allocator;
    const Clip clip = read_clip(path);
    const Compressed compressed = compress(allocator, clip, options.precision_cm, options.shell_cm);

    Context context;
    initialize(context, *compressed);
    PoseWriter writer(clip);
    Errors errors(clip, options.shell_cm);
    for (std::uint32_t sample = 0; sample < clip.samples; ++sample) {
        const float time_s = std::min(float(sample) / clip.rate_hz, clip.duration_s());
        context.seek(time_s, acl::sample_rounding_policy::none);
        context.decompress_tracks(writer);
        errors.add(sample, writer.pose.data());
    }

    std::printf("%s,,%g,%u,%u,%zu,%u,%.5f,%.5f", name.c_str(), double(clip.rate_hz), clip.joints,
                clip.samples, clip.raw_bytes(), compressed->get_size(), errors.max_cm(),
                errors.p99_cm());
    if (options.times) {
        const auto cold_bytes = std::size_t(double(options.cold_mb) * 1e6);
        std::printf(",%.3f,%.1f,%.1f,%.1f", compress_ms(allocator, clip, options),
                    timing::warm_ns(clip, *compressed),
                    timing::cold_ns(allocator, clip, *compressed, cold_bytes),
                    timing::one_joint_ns(clip, *compressed));
    }
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    try {
        const Options options = parse(count, arguments);
        std::printf("file,clip,rate_hz,joints,samples,raw_bytes,acl_bytes,acl_max_error_cm,"
                    "acl_p99_error_cm%s\n",
                    options.times ? ",acl_compress_ms,acl_sample_ns_per_pose,"
                                    "acl_sample_cold_ns_per_pose,acl_one_joint_ns"
                                  : "");
        for (const std::string& file : options.files) {
            try {
                measure(file, options);
            } catch (const std::exception& error) {
                std::fflush(stdout);
                std::fprintf(stderr, "measure_acl: %s: %s\n", file.c_str(), error.what());
                return 1;
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "measure_acl: %s\n", error.what());
        return 1;
    }
    return 0;
}
