// What the test programs in C++ share: an expectation that is counted if it fails.

#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>

#include "kinepack.hpp"

namespace {

int failures = 0;

void expect(bool condition, const char *what, int line) {
  if (!condition) {
    std::printf("line %d: expected %s; the last error: %s\n", line, what,
                kinepack::error_text().c_str());
    failures += 1;
  }
}

}  // namespace

#define EXPECT(condition) expect((condition), #condition, __LINE__)

#endif
