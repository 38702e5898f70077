// A client predicts its own walker: the lambda that steps it is the server's own function. Nothing is
// corrected until somebody pushes the walker, and an exception of the lambda crosses the library.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "kinepack.hpp"
#include "link.hpp"

namespace {

constexpr uint32_t TICK_HZ = 60, FIRST = 100, TICKS = 300, DELAY_TICKS = 4, LEAD_TICKS = 6, ID = 7;

struct Walker {
  float place[2];
  float velocity[2];
  uint8_t health;
};

struct Input {
  float stick[2];
};

using Walkers = kinepack::OwnStates<Walker>;

kinepack::Fields<Walker> fields_of_walkers() {
  return kinepack::Fields<Walker>(&Walker::place, &Walker::velocity, &Walker::health).clamp(1);
}

kinepack::Schema schema_of_walkers() {
  kinepack::SchemaBuilder builder;
  return builder.floats("place", 2, -64.0, 64.0, 1.0 / 512.0)
      .floats("velocity", 2, -16.0, 16.0, 1.0 / 256.0)
      .role(KP_ROLE_VELOCITY)
      .integer("health", 0, 100)
      .build();
}

kinepack::Schema schema_of_inputs() {
  return kinepack::SchemaBuilder().floats("stick", 2, -1.0, 1.0, 1.0 / 64.0).build();
}

// The client and the server share this function.
void move(Walker &walker, const Input &input) {
  for (int axis = 0; axis < 2; ++axis) {
    walker.velocity[axis] += input.stick[axis] * 0.5f - walker.velocity[axis] * 0.1f;
    walker.place[axis] += walker.velocity[axis] / TICK_HZ;
  }
}

void step(Walkers own, const Input &input, uint32_t) {
  for (auto &one : own) move(one.state, input);
}

// The stick has values of its code, so that the server gets the same number.
Input input_of(uint32_t tick) {
  const float phase = static_cast<float>(tick % 64) / 32.0f - 1.0f;
  return {{phase, 1.0f - std::fabs(phase)}};
}

using Me = kinepack::Predicted<Walker, Input>;

void session() {
  const kinepack::Schema schema = schema_of_walkers(), inputs = schema_of_inputs();
  const kinepack::Codec codec(schema, "packed");
  const kinepack::Fields<Input> input_fields(&Input::stick);
  auto fields = fields_of_walkers();
  KpHubOptions options{};
  kinepack::Hub hub(codec, options);
  EXPECT(kp_hub_add(hub, 1, 0, 0) == KP_STATUS_OK);
  kinepack::Receiver receiver(codec, TICK_HZ);
  Me me(schema, 0, fields, inputs, input_fields, kinepack::predict_config(TICK_HZ));
  Link down;
  Walker server{{0, 0}, {0, 0}, 100}, shown{}, before{};
  EXPECT(kinepack::rounded(schema, 0, &server, 1, fields) == KP_STATUS_OK);
  EXPECT(me.add(ID, FIRST, server, step) == KP_STATUS_OK);
  uint32_t client = FIRST, corrected = 0, steps = 0;
  double longest = 0.0;
  const auto counted = [&](Walkers own, const Input &input, uint32_t tick) {
    ++steps;
    EXPECT(own.size() == 1 && own[0].id == ID);
    step(own, input, tick);
  };
  for (uint32_t tick = FIRST + 1; tick < FIRST + TICKS; ++tick) {
    const uint64_t now = tick * 1000000000ull / TICK_HZ;
    move(server, input_of(tick));
    if (tick == FIRST + 150) server.velocity[1] += 3.0f;  // somebody pushes the walker
    EXPECT(kinepack::rounded(schema, 0, &server, 1, fields) == KP_STATUS_OK);
    kinepack::Snapshot world(schema);
    EXPECT(world.clear(tick) == KP_STATUS_OK);
    EXPECT(world.add(0, &ID, &server, 1, &Walker::place, &Walker::velocity, &Walker::health) ==
           KP_STATUS_OK);
    receiver.transmit(now, [&](const uint8_t *bytes, size_t size) {
      kp_hub_handle(hub, 1, now, bytes, size);
    });
    EXPECT(hub.tick(now, {world}) == KP_STATUS_OK);
    hub.transmit([&](uint64_t, const uint8_t *bytes, size_t size) {
      if (tick % 9 != 0) down.add(tick + DELAY_TICKS, bytes, size);
    });
    for (auto datagram = down.take(tick); !datagram.empty(); datagram = down.take(tick)) {
      kp_receiver_handle(receiver, now, datagram.data(), datagram.size());
    }
    for (; client < tick + LEAD_TICKS; ++client) {
      EXPECT(me.push(client + 1, input_of(client + 1), counted) == KP_STATUS_OK);
    }
    KpCorrection correction{};
    EXPECT(me.correct_from(receiver, counted, &correction) == KP_STATUS_OK);
    corrected += correction.outcome == KP_OUTCOME_CORRECTED;
    EXPECT(tick > FIRST + 150 || correction.outcome != KP_OUTCOME_CORRECTED);
    before = shown;
    EXPECT(me.shown(ID, client - 0.5, shown) == KP_STATUS_OK);
    if (tick > FIRST + 2) {
      longest = std::fmax(longest, std::hypot(shown.place[0] - before.place[0],
                                              shown.place[1] - before.place[1]));
    }
  }
  uint32_t newest = 0;
  EXPECT(me.newest(newest) == KP_STATUS_OK && newest == client);
  const KpPredictStats stats = me.stats();
  std::printf("%u steps, %u corrections, at most %.1f cm from frame to frame\n", steps, corrected,
              100.0 * longest);
  EXPECT(corrected >= 1 && corrected == stats.corrected && stats.confirmed > 200);
  EXPECT(steps == stats.inputs + stats.repeated_ticks);
  EXPECT(longest < 0.2);
  // At the end, both have the same state of the server's last tick.
  Walker known{};
  EXPECT(me.state(ID, FIRST + TICKS - 1, known) == KP_STATUS_OK);
  EXPECT(known.place[0] == server.place[0] && known.velocity[1] == server.velocity[1]);
}

void errors() {
  const kinepack::Schema schema = schema_of_walkers(), inputs = schema_of_inputs();
  const kinepack::Fields<Input> input_fields(&Input::stick);
  Me made(schema, 0, fields_of_walkers(), inputs, input_fields, kinepack::predict_config(TICK_HZ));
  Me me(std::move(made));
  const Walker walker{{1, 1}, {0, 0}, 50};
  Walker found{};
  EXPECT(me && !made);
  EXPECT(me.push(50, input_of(50), step) == KP_STATUS_OK);
  EXPECT(me.shown(ID, 50.0, found) == KP_STATUS_NOTHING);
  EXPECT(me.correct(ID, 50, walker, step) == KP_STATUS_NOTHING);
  EXPECT(me.add(ID, 50, walker, step) == KP_STATUS_OK);
  EXPECT(me.add(ID + 1, 50, walker, step) == KP_STATUS_OK);
  EXPECT(me.add(ID, 50, walker, step) == KP_STATUS_ARGUMENT);
  EXPECT(me.push(50, input_of(50), step) == KP_STATUS_ARGUMENT);
  // A step that uses its own prediction.
  uint32_t calls = 0;
  const auto callback = [&](Walkers own, const Input &input, uint32_t tick) {
    calls += 1;
    EXPECT(own.size() == 2 && own[1].id == ID + 1);
    EXPECT(me.push(tick + 1, input, step) == KP_STATUS_ARGUMENT);
    EXPECT(me.add(9, tick, walker, step) == KP_STATUS_ARGUMENT);
    EXPECT(me.correct(ID, tick, walker, step) == KP_STATUS_ARGUMENT);
    EXPECT(me.shown(ID, tick, found) == KP_STATUS_ARGUMENT);
    EXPECT(me.state(ID, tick, found) == KP_STATUS_ARGUMENT);
    EXPECT(me.remove(ID) == KP_STATUS_ARGUMENT && me.clear() == KP_STATUS_ARGUMENT);
    step(own, input, tick);
  };
  EXPECT(me.push(51, input_of(51), callback) == KP_STATUS_OK && calls == 1);
  // A state that cannot be sent.
  const auto breaks = [](Walkers own, const Input &, uint32_t) { own[0].state.place[0] = NAN; };
  EXPECT(me.push(52, input_of(52), breaks) == KP_STATUS_STEP);
  EXPECT(me.stats().unquantized == 1);
#if defined(__cpp_exceptions)
  const auto throws = [](Walkers own, const Input &, uint32_t tick) {
    own[0].state.place[0] = 9.0f;
    if (tick == 54) throw std::runtime_error("at tick 54");
  };
  bool thrown = false;
  try {
    me.push(56, input_of(56), throws);
  } catch (const std::runtime_error &error) {
    thrown = std::string(error.what()) == "at tick 54";
  }
  EXPECT(thrown);
  uint32_t newest = 0;
  EXPECT(me.newest(newest) == KP_STATUS_OK && newest == 56);
  EXPECT(me.state(ID, 56, found) == KP_STATUS_OK && found.place[0] == 9.0f);
  EXPECT(me.push(57, input_of(57), step) == KP_STATUS_OK);
#else
  EXPECT(!Me(schema, 3, fields_of_walkers(), inputs, input_fields, kinepack::predict_config(60)));
#endif
  EXPECT(me.remove(ID) == KP_STATUS_OK && me.remove(ID) == KP_STATUS_NOTHING);
  EXPECT(me.clear() == KP_STATUS_OK && me.repeat_last(5, step) == KP_STATUS_OK);
  kinepack::Receiver receiver(kinepack::Codec(schema, "packed"), TICK_HZ);
  EXPECT(receiver.set_extrapolation(0, KP_EXTRAPOLATION_STRAIGHT, 100) == KP_STATUS_OK);
  EXPECT(receiver.set_smoothing(0, 200) == KP_STATUS_OK && receiver.shown().starved(0).empty());
  EXPECT(receiver.set_extrapolation(1, KP_EXTRAPOLATION_STRAIGHT, 100) == KP_STATUS_ARGUMENT);
}

}  // namespace

int main() {
  session();
  errors();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
