// A link between both sides of a test program in C++. The program decides when each datagram arrives.

#ifndef LINK_HPP
#define LINK_HPP

#include <cstdint>
#include <deque>
#include <vector>

namespace {

struct Link {
  struct Datagram {
    uint32_t due;
    std::vector<uint8_t> bytes;
  };
  std::deque<Datagram> list;

  // Adds a datagram that arrives in the tick `due`, after those that were added before.
  void add(uint32_t due, const uint8_t *bytes, size_t size) {
    list.push_back({due, {bytes, bytes + size}});
  }

  // The next datagram that has arrived. Empty if there is none.
  std::vector<uint8_t> take(uint32_t tick) {
    if (list.empty() || list.front().due > tick) return {};
    const std::vector<uint8_t> bytes = list.front().bytes;
    list.pop_front();
    return bytes;
  }
};

}  // namespace

#endif
