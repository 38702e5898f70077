// Kinepack for C++17: owners of handles, and columns from members of structs.
//
// Each class owns a handle and frees it. It can be moved, not copied, and converts to its handle, so
// you can pass it to every function of kinepack.h. The classes have constructors, and those functions
// that C++ types make shorter or safer.
//
// Errors: with exceptions, a constructor throws kinepack::Error. Without them (-fno-exceptions), the
// object is empty: `if (object)` is false, and functions refuse it with KP_STATUS_HANDLE. All other
// functions return a KpStatus, for which `require` throws.

#ifndef KINEPACK_HPP
#define KINEPACK_HPP

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kinepack.h"
#include "kinepack_columns.hpp"

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace kinepack {

// The text of the last error of this thread.
inline std::string error_text() {
  std::string text(kp_error_text(nullptr, 0), '\0');
  kp_error_text(text.data(), text.size() + 1);
  return text;
}

#if defined(__cpp_exceptions)
// An error of the library, with its text.
class Error : public std::runtime_error {
 public:
  explicit Error(KpStatus status) : std::runtime_error(error_text()), status(status) {}

  KpStatus status;
};
#endif

// Throws an Error, if exceptions are enabled, unless the status is KP_STATUS_OK. Returns it otherwise.
inline KpStatus require(KpStatus status) {
#if defined(__cpp_exceptions)
  if (status != KP_STATUS_OK) throw Error(status);
#endif
  return status;
}

// Owns a handle.
template <typename Handle, KpStatus (*free_handle)(Handle)>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner &&other) noexcept : handle_(std::exchange(other.handle_, Handle{0})) {}
  Owner &operator=(Owner &&other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Handle{0});
    }
    return *this;
  }
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
  ~Owner() { reset(); }

  // Frees the object now.
  void reset() {
    if (handle_.id != 0) free_handle(std::exchange(handle_, Handle{0}));
  }

  explicit operator bool() const { return handle_.id != 0; }
  operator Handle() const { return handle_; }
  Handle get() const { return handle_; }

 protected:
  Handle handle_{0};
};

class Schema : public Owner<KpSchema, kp_schema_free> {
 public:
  using Owner::Owner;
  // Reads a schema file.
  Schema(const void *bytes, size_t size) {
    require(kp_schema_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }
};

// Builds a schema, field by field. After an error, `build` throws, or returns an empty schema.
class SchemaBuilder : public Owner<KpSchemaBuilder, kp_schema_builder_free> {
 public:
  SchemaBuilder() { first(kp_schema_builder_new(&handle_)); }

  SchemaBuilder &kind(const char *name) { return first(kp_schema_builder_kind(handle_, name)); }
  // A kind of entities with the body of a figure.
  SchemaBuilder &figure(const char *name, KpFigure figure) {
    return first(kp_schema_builder_figure(handle_, name, figure));
  }
  SchemaBuilder &floats(const char *name, uint32_t count, double min, double max, double step) {
    return first(kp_schema_builder_floats(handle_, name, count, min, max, step));
  }
  SchemaBuilder &cyclic(const char *name, double min, double end, double step) {
    return first(kp_schema_builder_cyclic(handle_, name, min, end, step));
  }
  SchemaBuilder &integer(const char *name, int64_t min, int64_t max) {
    return first(kp_schema_builder_integer(handle_, name, min, max));
  }
  SchemaBuilder &rotation(const char *name, uint32_t bits) {
    return first(kp_schema_builder_rotation(handle_, name, bits));
  }
  SchemaBuilder &boolean(const char *name) { return first(kp_schema_builder_bool(handle_, name)); }
  SchemaBuilder &choice(const char *name, uint32_t max) {
    return first(kp_schema_builder_choice(handle_, name, max));
  }
  // The fields of a member of the type KpSeen.
  SchemaBuilder &seen(const char *name) { return first(kp_schema_builder_seen(handle_, name)); }
  SchemaBuilder &role(KpRole role) { return first(kp_schema_builder_role(handle_, role)); }
  SchemaBuilder &velocity_of(const char *name) {
    return first(kp_schema_builder_velocity_of(handle_, name));
  }
  SchemaBuilder &frame(const char *name) { return first(kp_schema_builder_frame(handle_, name)); }
  SchemaBuilder &condition(const char *selector, uint32_t least, uint32_t most) {
    return first(kp_schema_builder_condition(handle_, selector, least, most));
  }
  SchemaBuilder &time_precision(double milliseconds, double ticks_per_s) {
    return first(kp_schema_builder_time_precision(handle_, milliseconds, ticks_per_s));
  }
  SchemaBuilder &coarser(const char *coarseness, uint32_t most_bits) {
    return first(kp_schema_builder_coarser(handle_, coarseness, most_bits));
  }

  Schema build() {
    KpSchema schema{0};
    if (status_ == KP_STATUS_OK) first(kp_schema_builder_build(handle_, &schema));
    if (schema.id != 0) handle_.id = 0;
    require(status_);
    return Schema(schema);
  }

 private:
  // Keeps the first error.
  SchemaBuilder &first(KpStatus status) {
    if (status_ == KP_STATUS_OK) status_ = status;
    return *this;
  }

  KpStatus status_ = KP_STATUS_OK;
};

class Codec : public Owner<KpCodec, kp_codec_free> {
 public:
  using Owner::Owner;
  // `level` is "packed", "adaptive" or "learning". The profile is optional.
  Codec(KpSchema schema, const char *level, const void *profile = nullptr, size_t size = 0) {
    const auto *bytes = static_cast<const uint8_t *>(profile);
    require(kp_codec_new(schema, level, bytes, size, &handle_));
  }
};

class Snapshot : public Owner<KpSnapshot, kp_snapshot_free> {
 public:
  using Owner::Owner;
  explicit Snapshot(KpSchema schema) { require(kp_snapshot_new(schema, &handle_)); }

  KpStatus clear(uint32_t tick) { return kp_snapshot_clear(handle_, tick); }

  // Adds entities of a kind: an array of structs, with the members of its fields in their order.
  template <typename Struct, typename... Member>
  KpStatus add(uint32_t kind, const uint32_t *ids, const Struct *rows, size_t count,
               Member Struct::*...member) {
    const auto from = columns(rows, member...);
    return kp_snapshot_add(handle_, kind, ids, count, from.data(), from.size());
  }

  // Writes the entities of a kind to the members of structs.
  template <typename Struct, typename... Member>
  KpStatus read(uint32_t kind, Struct *rows, size_t capacity, Member Struct::*...member) const {
    const auto to = targets(rows, member...);
    return kp_snapshot_read(handle_, kind, capacity, to.data(), to.size());
  }
};

class View : public Owner<KpView, kp_view_free> {
 public:
  using Owner::Owner;
  // The empty view with which both sides begin.
  explicit View(KpSchema schema) { require(kp_view_empty(schema, &handle_)); }
};

class Encoder : public Owner<KpEncoder, kp_encoder_free> {
 public:
  explicit Encoder(KpCodec codec) { require(kp_encoder_new(codec, &handle_)); }

  // Encodes a snapshot relative to a view that the other side holds. `packet` has room for
  // `packet.size()` bytes, and is resized to the packet.
  KpStatus encode(KpView held, KpSnapshot snapshot, std::vector<uint8_t> &packet, View &sent) {
    size_t size = 0;
    KpView view{0};
    KpStatus status = kp_encode(handle_, &held, 1, snapshot, packet.data(), packet.size(), &size, &view);
    if (status == KP_STATUS_SIZE) {
      packet.resize(size);
      status = kp_encode(handle_, &held, 1, snapshot, packet.data(), packet.size(), &size, &view);
    }
    if (status == KP_STATUS_OK) {
      packet.resize(size);
      sent = View(view);
    }
    return status;
  }
};

class Decoder : public Owner<KpDecoder, kp_decoder_free> {
 public:
  explicit Decoder(KpCodec codec) { require(kp_decoder_new(codec, &handle_)); }

  // Decodes a packet relative to the view that it was encoded against.
  KpStatus decode(KpView held, const uint8_t *packet, size_t size, uint32_t tick, View &received) {
    KpView view{0};
    const KpStatus status = kp_decode(handle_, &held, 1, packet, size, tick, &view);
    if (status == KP_STATUS_OK) received = View(view);
    return status;
  }
};

class Events : public Owner<KpEvents, kp_events_free> {
 public:
  using Owner::Owner;
  // `longest_ticks` has a number for each kind: the ticks that an event may wait, or a negative number
  // if it must arrive. Without it, all events must arrive.
  explicit Events(KpCodec codec, const std::vector<int32_t> &longest_ticks = {}) {
    require(kp_events_new(codec, longest_ticks.data(), longest_ticks.size(), &handle_));
  }
};

// The state that a receiver, a viewer or a replay shows, or a hub's past. It belongs to that object: once
// the object is freed, every call is refused with KP_STATUS_HANDLE.
class Shown {
 public:
  template <typename Handle>
  Shown(KpStatus (*shown_of)(Handle, KpShown *), Handle object) {
    require(shown_of(object, &handle_));
  }

  operator KpShown() const { return handle_; }

  // The ids of a kind's entities.
  std::vector<uint32_t> ids(uint32_t kind) const {
    return list<uint32_t>([this, kind](uint32_t *ids, size_t capacity, size_t *count) {
      return kp_shown_ids(handle_, kind, ids, capacity, count);
    });
  }

  // The ids of the entities that the previous moment did not show, of all kinds.
  std::vector<uint32_t> added() const { return list_of(kp_shown_added); }

  // The ids of the entities that only the previous moment showed, of all kinds.
  std::vector<uint32_t> removed() const { return list_of(kp_shown_removed); }

  // The ids of the entities that jumped since the previous moment, of all kinds: see kp_shown_cut.
  std::vector<uint32_t> cut() const { return list_of(kp_shown_cut); }

  // Where a kind's entities are in the world: see kp_shown_places.
  std::vector<KpPlace> places(uint32_t kind) const {
    return list<KpPlace>([this, kind](KpPlace *places, size_t capacity, size_t *count) {
      return kp_shown_places(handle_, kind, places, capacity, count);
    });
  }

  // For how many milliseconds each of a kind's entities has waited for a newer state: see
  // kp_shown_starved.
  std::vector<double> starved(uint32_t kind) const {
    return list<double>([this, kind](double *times_ms, size_t capacity, size_t *count) {
      return kp_shown_starved(handle_, kind, times_ms, capacity, count);
    });
  }

  // Writes a kind's entities to the members of structs.
  template <typename Struct, typename... Member>
  KpStatus read(uint32_t kind, Struct *rows, size_t capacity, Member Struct::*...member) const {
    const auto to = targets(rows, member...);
    return kp_shown_read(handle_, kind, capacity, to.data(), to.size());
  }

  // Writes the event that kp_shown_next_event returned last, which must be of this kind, to the members
  // of a struct.
  template <typename Struct, typename... Member>
  KpStatus read_event(uint32_t kind, Struct &event, Member Struct::*...member) const {
    const auto to = targets(&event, member...);
    return kp_shown_read_event(handle_, kind, to.data(), to.size());
  }

 private:
  // The list that `read(Item *items, size_t capacity, size_t *count)` writes.
  template <typename Item, typename Read>
  static std::vector<Item> list(Read &&read) {
    size_t count = 0;
    read(nullptr, 0, &count);
    std::vector<Item> items(count);
    read(items.data(), items.size(), &count);
    return items;
  }

  std::vector<uint32_t> list_of(KpStatus (*of)(KpShown, uint32_t *, size_t, size_t *)) const {
    return list<uint32_t>([this, of](uint32_t *ids, size_t capacity, size_t *count) {
      return of(handle_, ids, capacity, count);
    });
  }

  KpShown handle_{0};
};

// What receivers see by distance from their viewpoints. Its members are those of KpRings.
struct Rings {
  std::vector<std::string> positions{};
  std::vector<std::string> urgent{};
  std::vector<KpRing> rings{};
  double cell = 0.0;
  // The tier of the entities beyond all rings. A negative number hides them.
  int32_t beyond = -1;
  // After how many ticks without a change an entity of a coarser ring is sent exactly; 0: never.
  uint32_t exact_after = 0;
};

class Hub : public Owner<KpHub, kp_hub_free> {
 public:
  explicit Hub(KpCodec codec, const KpHubOptions &options = {}) {
    require(kp_hub_new(codec, &options, &handle_));
  }

  // Sets how many bytes per second a receiver gets, such as what its link carries, up to a limit:
  // `hub.set_budget(receiver, {KP_BUDGET_KIND_AUTO, 200000}, now_ns)`.
  KpStatus set_budget(uint64_t receiver, const KpBudget &budget, uint64_t now_ns) {
    return kp_hub_set_budget(handle_, receiver, &budget, now_ns);
  }

  // Limits the bytes per second of all receivers together. 0 means no limit.
  KpStatus set_uplink(uint32_t bytes_per_s) { return kp_hub_set_uplink(handle_, bytes_per_s); }

  // What the hub knows of the link to a receiver. All members are 0 after a failure.
  KpLinkStatus link(uint64_t receiver) const {
    KpLinkStatus link{};
    require(kp_hub_link(handle_, receiver, &link));
    return link;
  }

  // Sets what receivers with a viewpoint see by distance. `kp_hub_set_rings` with null removes it.
  KpStatus set_rings(const Rings &rings) {
    std::vector<const char *> names;
    for (const std::string &position : rings.positions) names.push_back(position.c_str());
    for (const std::string &field : rings.urgent) names.push_back(field.c_str());
    KpRings all{};
    all.positions = names.data();
    all.position_count = rings.positions.size();
    all.urgent = names.data() + rings.positions.size();
    all.urgent_count = rings.urgent.size();
    all.rings = rings.rings.data();
    all.ring_count = rings.rings.size();
    all.cell = rings.cell;
    all.beyond = rings.beyond;
    all.exact_after = rings.exact_after;
    return kp_hub_set_rings(handle_, &all);
  }

  // Sets the place from which a receiver's rings are measured, in the unit of the positions.
  KpStatus set_viewpoint(uint64_t receiver, const std::array<double, 3> &viewpoint) {
    return kp_hub_set_viewpoint(handle_, receiver, viewpoint.data());
  }

  // Lets a receiver see everything in tier 0 again.
  KpStatus clear_viewpoint(uint64_t receiver) {
    return kp_hub_set_viewpoint(handle_, receiver, nullptr);
  }

  // Makes the hub keep what it sends, to rewind. Call it before the first receiver joins.
  // `kp_hub_set_rewind` with null ends it.
  KpStatus set_rewind(const KpRewindOptions &options) {
    return kp_hub_set_rewind(handle_, &options);
  }

  // Finds what a receiver showed of some entities when its player made an input: see kp_hub_rewind.
  // Writes the tick of that moment. `past` then has the entities.
  KpStatus rewind(uint64_t receiver, const KpSeen &seen, const std::vector<uint32_t> &ids,
                  double &tick) {
    return kp_hub_rewind(handle_, receiver, &seen, ids.data(), ids.size(), &tick);
  }

  // Finds all entities that the receiver showed.
  KpStatus rewind_all(uint64_t receiver, const KpSeen &seen, double &tick) {
    return kp_hub_rewind_all(handle_, receiver, &seen, &tick);
  }

  // Tells the hub what the receivers show of a kind whose next state is late, so that a rewind finds
  // it: see kp_hub_set_extrapolation.
  KpStatus set_extrapolation(uint32_t kind, KpExtrapolation extrapolation, uint32_t at_most_ms) {
    return kp_hub_set_extrapolation(handle_, kind, extrapolation, at_most_ms);
  }

  // What the last rewind found.
  Shown past() const { return Shown(kp_hub_past, handle_); }

  // Takes the world of a tick, or a world for each tier, from the finest to the coarsest:
  // `hub.tick(now_ns, {fine, coarse})`.
  KpStatus tick(uint64_t now_ns, std::initializer_list<KpSnapshot> worlds) {
    return kp_hub_tick_tiers(handle_, now_ns, worlds.begin(), worlds.size());
  }

  // Passes each ready datagram to `send(uint64_t receiver, const uint8_t *bytes, size_t size)`.
  // `send` may throw. The datagram is then lost, as on a network.
  template <typename Send>
  KpStatus transmit(Send &&send) {
    for (;;) {
      uint64_t receiver = 0;
      size_t size = 0;
      const KpStatus status =
          kp_hub_poll(handle_, &receiver, buffer_.data(), buffer_.size(), &size);
      if (status == KP_STATUS_NOTHING) return KP_STATUS_OK;
      if (status == KP_STATUS_SIZE) {
        buffer_.resize(size);
      } else if (status != KP_STATUS_OK) {
        return status;
      } else {
        send(receiver, static_cast<const uint8_t *>(buffer_.data()), size);
      }
    }
  }

  // Adds an event to the next tick for all receivers: a struct, with the members of its fields.
  template <typename Struct, typename... Member>
  KpStatus emit(uint32_t kind, const Struct &event, Member Struct::*...member) {
    const auto from = columns(&event, member...);
    return kp_hub_emit(handle_, kind, from.data(), from.size());
  }

 private:
  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(1200);
};

class Receiver : public Owner<KpReceiver, kp_receiver_free> {
 public:
  Receiver(KpCodec codec, uint32_t tick_hz, const KpReceiverOptions &options = {}) {
    require(kp_receiver_new(codec, tick_hz, &options, &handle_));
  }

  // Passes each datagram for the hub to `send(const uint8_t *bytes, size_t size)`.
  template <typename Send>
  KpStatus transmit(uint64_t now_ns, Send &&send) {
    std::array<uint8_t, 2048> bytes;
    for (;;) {
      size_t size = 0;
      const KpStatus status =
          kp_receiver_poll(handle_, now_ns, bytes.data(), bytes.size(), &size);
      if (status == KP_STATUS_NOTHING) return KP_STATUS_OK;
      if (status != KP_STATUS_OK) return status;
      send(static_cast<const uint8_t *>(bytes.data()), size);
    }
  }

  Shown shown() const { return Shown(kp_receiver_shown, handle_); }

  // Chooses what is shown of a kind whose next state is late: see kp_receiver_set_extrapolation.
  KpStatus set_extrapolation(uint32_t kind, KpExtrapolation extrapolation, uint32_t at_most_ms) {
    return kp_receiver_set_extrapolation(handle_, kind, extrapolation, at_most_ms);
  }

  // Lets a kind return without jumps after its states were late: see kp_receiver_set_smoothing.
  KpStatus set_smoothing(uint32_t kind, uint32_t fade_ms) {
    return kp_receiver_set_smoothing(handle_, kind, fade_ms);
  }

  // The stamp of what the last kp_receiver_play showed, for an input. Its `is_shown` is 0 before the
  // first state.
  KpSeen seen() const {
    KpSeen seen{};
    const KpStatus status = kp_receiver_seen(handle_, &seen);
    if (status != KP_STATUS_NOTHING) require(status);
    return seen;
  }
};

class Replay : public Owner<KpReplay, kp_replay_free> {
 public:
  explicit Replay(const char *path) { require(kp_replay_open(path, &handle_)); }
  Replay(const void *bytes, size_t size) {
    require(kp_replay_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }

  Shown shown() const { return Shown(kp_replay_shown, handle_); }
};

class ReplayWriter : public Owner<KpReplayWriter, kp_replay_writer_free> {
 public:
  ReplayWriter(const char *path, KpCodec codec, double rate_hz, KpEvents events = {0}) {
    require(kp_replay_writer_new(path, codec, events, rate_hz, &handle_));
  }
};

class KillCam : public Owner<KpKillCam, kp_kill_cam_free> {
 public:
  KillCam(KpCodec codec, double rate_hz, double seconds, KpEvents events = {0}) {
    require(kp_kill_cam_new(codec, events, rate_hz, seconds, &handle_));
  }
};

}  // namespace kinepack

#include "kinepack_anim.hpp"
#include "kinepack_crowd.hpp"
#include "kinepack_predict.hpp"
#include "kinepack_streams.hpp"

#endif  // KINEPACK_HPP
