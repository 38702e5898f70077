// Kinepack for C++17: streams of inputs and calls, and input clocks. kinepack.hpp includes this file.

#ifndef KINEPACK_STREAMS_HPP
#define KINEPACK_STREAMS_HPP

#include "kinepack.hpp"

namespace kinepack {

class StreamSender : public Owner<KpStreamSender, kp_stream_sender_free> {
 public:
  // `level` is "packed" or "adaptive".
  StreamSender(KpSchema schema, const char *level, uint32_t rate_hz,
               const KpStreamOptions &options = {}) {
    require(kp_stream_sender_new(schema, level, rate_hz, &options, &handle_));
  }

  // Adds a record: a struct, with the members of its fields.
  template <typename Struct, typename... Member>
  KpStatus push(const Struct &record, Member Struct::*...member) {
    const auto from = columns(&record, member...);
    return kp_stream_push(handle_, from.data(), from.size(), nullptr);
  }

  // Adds the record of a tick of the server, as InputClock::ticks asks for it: see
  // kp_stream_push_for_tick.
  template <typename Struct, typename... Member>
  KpStatus push_for_tick(uint32_t tick, const Struct &record, Member Struct::*...member) {
    const auto from = columns(&record, member...);
    return kp_stream_push_for_tick(handle_, tick, from.data(), from.size());
  }
};

class StreamReceiver : public Owner<KpStreamReceiver, kp_stream_receiver_free> {
 public:
  StreamReceiver(KpSchema schema, const char *level, uint32_t rate_hz,
                 const KpStreamOptions &options = {}) {
    require(kp_stream_receiver_new(schema, level, rate_hz, &options, &handle_));
  }

  // Handles a packet, and writes its `*count` new records, at most 16, to `records`.
  template <typename Struct, typename... Member>
  KpStatus handle(uint64_t now_ns, const uint8_t *packet, size_t size, Struct *records,
                  size_t *count, Member Struct::*...member) {
    std::array<KpRecord, 16> numbers;
    const auto to = targets(records, member...);
    const KpStatus status = kp_stream_receiver_handle(handle_, now_ns, packet, size, count);
    if (status != KP_STATUS_OK) return status;
    return kp_stream_read(handle_, numbers.data(), *count, to.data(), to.size(), count);
  }

  // Reads the record for a tick, which the server simulates at `now_ns`, to the members of a struct. If
  // the record did not arrive in time, `in_time` is false and the struct keeps its values: see
  // kp_stream_read_for_tick.
  template <typename Struct, typename... Member>
  KpStatus read_for_tick(uint64_t now_ns, uint32_t tick, Struct &record, bool &in_time,
                         Member Struct::*...member) {
    const auto to = targets(&record, member...);
    int32_t is_in_time = 0;
    const KpStatus status =
        kp_stream_read_for_tick(handle_, now_ns, tick, to.data(), to.size(), &is_in_time);
    in_time = is_in_time != 0;
    return status;
  }

  // The receiver's view of its stream. All members are 0 after a failure.
  KpStreamReceiverStatus status() const {
    KpStreamReceiverStatus status{};
    require(kp_stream_receiver_status(handle_, &status));
    return status;
  }
};

// Tells a client the tick to simulate, so that its input reaches the server just before the server
// simulates the same tick. It waits for its start: `start_from` or kp_input_clock_start.
class InputClock : public Owner<KpInputClock, kp_input_clock_free> {
 public:
  explicit InputClock(uint32_t tick_hz, const KpInputClockOptions &options = {}) {
    require(kp_input_clock_new(tick_hz, &options, &handle_));
  }

  // Starts the clock from what a receiver of the same server knows. Returns false as long as it does not
  // know the server's tick.
  bool start_from(uint64_t now_ns, KpReceiver receiver) {
    const KpStatus status = kp_input_clock_start_from(handle_, now_ns, receiver);
    if (status != KP_STATUS_NOTHING) require(status);
    return status == KP_STATUS_OK;
  }

  // Passes each tick to simulate at `now_ns` to `simulate(uint32_t tick)`: see kp_input_clock_ticks.
  // If `simulate` throws, the ticks after that one are not passed again.
  template <typename Simulate>
  KpStatus ticks(uint64_t now_ns, Simulate &&simulate) {
    uint32_t first = 0;
    size_t count = 0;
    const KpStatus status = kp_input_clock_ticks(handle_, now_ns, &first, &count);
    if (status != KP_STATUS_OK) return status;
    for (size_t nth = 0; nth < count; ++nth) simulate(first + static_cast<uint32_t>(nth));
    return KP_STATUS_OK;
  }

  // Handles an acknowledgement in place of kp_stream_sender_handle: see kp_input_clock_handle.
  KpStatus handle(uint64_t now_ns, KpStreamSender sender, const uint8_t *datagram, size_t size) {
    return kp_input_clock_handle(handle_, now_ns, sender, datagram, size);
  }

  // The clock's tick at the last call, with its fraction. Negative before the start.
  double tick() const {
    double tick = -1.0;
    const KpStatus status = kp_input_clock_tick(handle_, &tick);
    if (status != KP_STATUS_NOTHING) require(status);
    return tick;
  }

  // Measurements. All members are 0 after a failure.
  KpInputClockStatus status() const {
    KpInputClockStatus status{};
    require(kp_input_clock_status(handle_, &status));
    return status;
  }
};

class StreamCodec : public Owner<KpStreamCodec, kp_stream_codec_free> {
 public:
  // `level` is "packed" or "adaptive".
  StreamCodec(KpSchema schema, const char *level) {
    require(kp_stream_codec_new(schema, level, &handle_));
  }
};

class StreamBase : public Owner<KpStreamBase, kp_stream_base_free> {
 public:
  using Owner::Owner;
  // The base before the first record.
  explicit StreamBase(KpStreamCodec codec) { require(kp_stream_base_new(codec, &handle_)); }
};

}  // namespace kinepack

#endif  // KINEPACK_STREAMS_HPP
