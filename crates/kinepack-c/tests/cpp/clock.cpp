// A client's clock leads the server by the time that inputs need, whatever tick it was started at.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "kinepack.hpp"
#include "link.hpp"

namespace {

constexpr uint32_t TICK_HZ = 60, FIRST_TICK = 500, TICKS = 600, DELAY_TICKS = 3;

struct Input {
  uint16_t number;  // of the tick
  uint8_t fires;
};

uint64_t time_ns(uint32_t tick) { return tick * 1000000000ull / TICK_HZ; }

kinepack::Schema schema_of_inputs() {
  return kinepack::SchemaBuilder().integer("number", 0, 65535).boolean("fires").build();
}

// Starts the clock some ticks ahead of the server. Returns the lead at the end, in ticks.
double lead_after(double ahead) {
  const kinepack::Schema schema = schema_of_inputs();
  kinepack::StreamSender client(schema, "adaptive", TICK_HZ);
  kinepack::StreamReceiver server(schema, "adaptive", TICK_HZ);
  kinepack::InputClock clock(TICK_HZ);
  Link up, down;
  Input used{};
  std::array<uint8_t, 1300> bytes;
  size_t size = 0, count = 0;
  uint32_t missed = 0;
  EXPECT(clock.tick() < 0.0 && clock.status().started == 0);
  EXPECT(kp_input_clock_start(clock, 0, FIRST_TICK + ahead) == KP_STATUS_OK);
  for (uint32_t nth = 0; nth < TICKS; ++nth) {
    const uint64_t now = time_ns(nth);
    for (auto packet = up.take(nth); !packet.empty(); packet = up.take(nth)) {
      EXPECT(kp_stream_receiver_handle(server, now, packet.data(), packet.size(), &count) ==
             KP_STATUS_OK);
    }
    const uint32_t tick = FIRST_TICK + nth;
    bool in_time = false;
    EXPECT(server.read_for_tick(now, tick, used, in_time, &Input::number, &Input::fires) ==
           KP_STATUS_OK);
    EXPECT(!in_time || (used.number == tick && used.fires == tick % 2));
    missed += nth >= TICKS / 2 && !in_time;
    if (kp_stream_acknowledgement(server, bytes.data(), bytes.size(), &size) == KP_STATUS_OK) {
      down.add(nth + DELAY_TICKS, bytes.data(), size);
    }
    for (auto datagram = down.take(nth); !datagram.empty(); datagram = down.take(nth)) {
      EXPECT(clock.handle(now, client, datagram.data(), datagram.size()) == KP_STATUS_OK);
    }
    const auto simulate = [&](uint32_t simulated) {
      const Input input{static_cast<uint16_t>(simulated), static_cast<uint8_t>(simulated % 2)};
      EXPECT(client.push_for_tick(simulated, input, &Input::number, &Input::fires) == KP_STATUS_OK);
    };
    EXPECT(clock.ticks(now, simulate) == KP_STATUS_OK);
    if (kp_stream_poll(client, bytes.data(), bytes.size(), &size) == KP_STATUS_OK) {
      up.add(nth + DELAY_TICKS, bytes.data(), size);
    }
  }
  EXPECT(missed == 0);
  const KpStreamReceiverStatus seen = server.status();
  EXPECT(seen.in_time + seen.missed == TICKS && seen.in_time > TICKS / 2);
  const KpInputClockStatus status = clock.status();
  EXPECT(status.started != 0 && status.reports > 20 && status.ticks + status.skipped > TICKS - 60);
  return clock.tick() - (FIRST_TICK + TICKS - 1);
}

void errors() {
  kinepack::InputClock clock(TICK_HZ);
  kinepack::InputClock moved(std::move(clock));
  EXPECT(moved && !clock);
  EXPECT(clock.ticks(0, [](uint32_t) { EXPECT(false); }) == KP_STATUS_HANDLE);
  EXPECT(moved.ticks(0, [](uint32_t) { EXPECT(false); }) == KP_STATUS_OK);
  EXPECT(moved.handle(0, KpStreamSender{0}, nullptr, 0) == KP_STATUS_HANDLE);
  const kinepack::Schema schema = schema_of_inputs();
  const kinepack::Codec codec(schema, "packed");
  kinepack::Receiver receiver(codec, TICK_HZ);
  EXPECT(!moved.start_from(0, receiver));
  Input input{};
  bool in_time = true;
  kinepack::StreamReceiver server(schema, "packed", TICK_HZ);
  EXPECT(server.read_for_tick(0, 1, input, in_time, &Input::number) == KP_STATUS_ARGUMENT);
  EXPECT(!in_time);
#if defined(__cpp_exceptions)
  bool thrown = false;
  try {
    clock.status();
  } catch (const kinepack::Error &error) {
    thrown = error.status == KP_STATUS_HANDLE;
  }
  EXPECT(thrown);
  try {
    kinepack::InputClock none(0);
    EXPECT(false);
  } catch (const kinepack::Error &error) {
    EXPECT(error.status == KP_STATUS_ARGUMENT);
  }
#else
  EXPECT(!kinepack::InputClock(0));
  EXPECT(clock.tick() < 0.0 && clock.status().started == 0);
#endif
}

}  // namespace

int main() {
  for (const double ahead : {-20.0, 0.0, 2.5, 12.0}) {
    const double lead = lead_after(ahead);
    std::printf("started %.1f ticks ahead, a lead of %.2f ticks in the end\n", ahead, lead);
    EXPECT(lead > DELAY_TICKS && lead < DELAY_TICKS + 2.0);
  }
  errors();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
