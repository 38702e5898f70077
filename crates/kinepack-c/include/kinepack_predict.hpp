// Kinepack for C++17: predictions of a client's own entities. kinepack.hpp includes this file.

#ifndef KINEPACK_PREDICT_HPP
#define KINEPACK_PREDICT_HPP

#include "kinepack.hpp"

#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace kinepack {

// The members of a struct that are fields, in the order of the fields:
// `kinepack::Fields<Walker>(&Walker::place, &Walker::velocity)`.
template <typename Struct>
class Fields {
 public:
  template <typename... Member>
  explicit Fields(Member Struct::*...member) {
    static const Struct row{};
    const auto of_row = kinepack::columns(&row, member...);
    columns_.assign(of_row.begin(), of_row.end());
    for (const KpColumn &column : columns_) {
      targets_.push_back({nullptr, 0, column.number});
      offsets_.push_back(static_cast<size_t>(static_cast<const char *>(column.data) -
                                             reinterpret_cast<const char *>(&row)));
    }
  }

  // Clamps values of a field that are out of its range, instead of refusing them.
  Fields &clamp(size_t field) {
    columns_.at(field).clamp = 1;
    return *this;
  }

  // The columns of rows that are `stride` bytes apart, until the next call.
  const std::vector<KpColumn> &columns(const Struct *rows, size_t stride = sizeof(Struct)) {
    for (size_t nth = 0; nth < columns_.size(); ++nth) {
      columns_[nth].data = reinterpret_cast<const char *>(rows) + offsets_[nth];
      columns_[nth].stride = stride;
    }
    return columns_;
  }

  // The targets of rows that are `stride` bytes apart, until the next call.
  const std::vector<KpTarget> &targets(Struct *rows, size_t stride = sizeof(Struct)) {
    for (size_t nth = 0; nth < targets_.size(); ++nth) {
      targets_[nth].data = reinterpret_cast<char *>(rows) + offsets_[nth];
      targets_[nth].stride = stride;
    }
    return targets_;
  }

 private:
  std::vector<KpColumn> columns_;
  std::vector<KpTarget> targets_;
  std::vector<size_t> offsets_;
};

// Rounds states as the other side gets them: see kp_schema_rounded. A server rounds the entities that
// clients predict after each step.
template <typename State>
KpStatus rounded(KpSchema schema, uint32_t kind, State *states, size_t count,
                 Fields<State> &fields) {
  const auto &from = fields.columns(states);
  const auto &to = fields.targets(states);
  return kp_schema_rounded(schema, kind, count, from.data(), from.size(), to.data(), to.size());
}

// The default settings for a world of `tick_hz` ticks per second.
inline KpPredictConfig predict_config(uint32_t tick_hz) {
  KpPredictConfig config{};
  require(kp_predict_config_at_hz(tick_hz, &config));
  return config;
}

// One of the entities that a step moves.
template <typename State>
struct Own {
  uint32_t id = 0;
  State state{};
};

// The entities that a step moves, in the order of their ids.
template <typename State>
class OwnStates {
 public:
  OwnStates(Own<State> *first, size_t count) : first_(first), count_(count) {}

  Own<State> *begin() const { return first_; }
  Own<State> *end() const { return first_ + count_; }
  size_t size() const { return count_; }
  Own<State> &operator[](size_t index) const { return first_[index]; }

 private:
  Own<State> *first_;
  size_t count_;
};

// Predicts a client's own entities: see KpPrediction. A step is a function
// `void step(kinepack::OwnStates<State> own, const Input &input, uint32_t tick)`, which changes the
// states. If it throws, the entities keep their states, as with KP_STATUS_STEP, and the call throws the
// same exception after that. A step must not use the prediction that calls it: it gets
// KP_STATUS_ARGUMENT.
//
// All members of `State` and `Input` should be fields. Others do not survive from tick to tick. Steps
// allocate nothing here; the library allocates a few lists for each step.
template <typename State, typename Input>
class Predicted : public Owner<KpPrediction, kp_prediction_free> {
 public:
  // `schema` is that of the receiver, and `inputs` that of the stream of inputs.
  Predicted(KpSchema schema, uint32_t kind, const Fields<State> &state_fields, KpSchema inputs,
            const Fields<Input> &input_fields, const KpPredictConfig &config)
      : states_(state_fields), inputs_(input_fields), record_(state_fields), pushed_(input_fields) {
    require(kp_prediction_new(schema, kind, inputs, &config, &handle_));
  }

  // Adds an entity with its authoritative state of a tick: see kp_prediction_add.
  template <typename Step>
  KpStatus add(uint32_t id, uint32_t tick, const State &state, Step &&step) {
    if (is_stepping_) return refused();
    size_t count = 0;
    const KpStatus counted = kp_prediction_ids(handle_, nullptr, 0, &count);
    if (counted != KP_STATUS_OK && counted != KP_STATUS_SIZE) return counted;
    own_.resize(count + 1);
    ids_.resize(count + 1);
    const auto &from = record_.columns(&state);
    return run(step, [&](const KpStep &with) {
      return kp_prediction_add(handle_, id, tick, from.data(), from.size(), &with);
    });
  }

  KpStatus remove(uint32_t id) { return kp_prediction_remove(handle_, id); }

  // Removes all entities, inputs and ticks, as for a new session.
  KpStatus clear() { return kp_prediction_clear(handle_); }

  // Predicts one more tick: see kp_prediction_push.
  template <typename Step>
  KpStatus push(uint32_t tick, const Input &input, Step &&step) {
    if (is_stepping_) return refused();
    const auto &from = pushed_.columns(&input);
    return run(step, [&](const KpStep &with) {
      return kp_prediction_push(handle_, tick, from.data(), from.size(), &with);
    });
  }

  // Takes the authoritative state of an entity: see kp_prediction_correct.
  template <typename Step>
  KpStatus correct(uint32_t id, uint32_t tick, const State &state, Step &&step,
                   KpCorrection *correction = nullptr) {
    if (is_stepping_) return refused();
    const auto &from = record_.columns(&state);
    return run(step, [&](const KpStep &with) {
      return kp_prediction_correct(handle_, id, tick, from.data(), from.size(), &with, correction);
    });
  }

  // Takes the newest states from a receiver, after datagrams arrived: see kp_prediction_correct_from.
  template <typename Step>
  KpStatus correct_from(KpReceiver receiver, Step &&step, KpCorrection *correction = nullptr) {
    if (is_stepping_) return refused();
    return run(step, [&](const KpStep &with) {
      return kp_prediction_correct_from(handle_, receiver, &with, correction);
    });
  }

  // Repeats the last steps: see kp_prediction_repeat_last.
  template <typename Step>
  KpStatus repeat_last(uint32_t ticks, Step &&step, KpCorrection *correction = nullptr) {
    if (is_stepping_) return refused();
    return run(step, [&](const KpStep &with) {
      return kp_prediction_repeat_last(handle_, ticks, &with, correction);
    });
  }

  // Writes the state to draw at a moment, such as `clock.tick() - 1.0`: see kp_prediction_shown.
  KpStatus shown(uint32_t id, double at, State &state) {
    if (is_stepping_) return refused();
    const auto &to = record_.targets(&state);
    return kp_prediction_shown(handle_, id, at, to.data(), to.size());
  }

  // Writes the predicted state of a tick, without offset: see kp_prediction_state.
  KpStatus state(uint32_t id, uint32_t tick, State &state) {
    if (is_stepping_) return refused();
    const auto &to = record_.targets(&state);
    return kp_prediction_state(handle_, id, tick, to.data(), to.size());
  }

  // Writes the newest predicted tick: see kp_prediction_newest.
  KpStatus newest(uint32_t &tick) const { return kp_prediction_newest(handle_, &tick); }

  // Counters. All members are 0 after a failure.
  KpPredictStats stats() const {
    KpPredictStats stats{};
    require(kp_prediction_stats(handle_, &stats));
    return stats;
  }

 private:
  // What the library calls the step with.
  template <typename Step>
  struct Call {
    Predicted *prediction;
    Step *step;
#if defined(__cpp_exceptions)
    std::exception_ptr thrown{};
#endif
  };

  template <typename Step>
  static int32_t call(void *user, size_t count, uint32_t tick) {
    auto &call = *static_cast<Call<Step> *>(user);
    Predicted &prediction = *call.prediction;
    for (size_t nth = 0; nth < count; ++nth) prediction.own_[nth].id = prediction.ids_[nth];
    const OwnStates<State> own(prediction.own_.data(), count);
    const Input &input = prediction.input_;
#if defined(__cpp_exceptions)
    try {
      (*call.step)(own, input, tick);
    } catch (...) {
      // An exception must not pass through C.
      call.thrown = std::current_exception();
      return 1;
    }
#else
    (*call.step)(own, input, tick);
#endif
    return 0;
  }

  template <typename Step, typename Body>
  KpStatus run(Step &step, Body &&body) {
    Call<Step> of_step{this, &step};
    State *first = &own_[0].state;
    const auto &to = states_.targets(first, sizeof(Own<State>));
    const auto &from = states_.columns(first, sizeof(Own<State>));
    const auto &input = inputs_.targets(&input_);
    KpStep with{};
    with.step = &call<Step>;
    with.user = &of_step;
    with.capacity = own_.size();
    with.ids = ids_.data();
    with.targets = to.data();
    with.columns = from.data();
    with.fields = to.size();
    with.input_targets = input.data();
    with.input_fields = input.size();
    is_stepping_ = true;
    const KpStatus status = body(with);
    is_stepping_ = false;
#if defined(__cpp_exceptions)
    if (of_step.thrown) std::rethrow_exception(of_step.thrown);
#endif
    return status;
  }

  // The library refuses every use while a step runs.
  KpStatus refused() { return kp_prediction_remove(handle_, 0); }

  // The fields of the step's states and input, and of the states and inputs of callers.
  Fields<State> states_;
  Fields<Input> inputs_;
  Fields<State> record_;
  Fields<Input> pushed_;
  // At least one, so that there is an address.
  std::vector<Own<State>> own_ = std::vector<Own<State>>(1);
  std::vector<uint32_t> ids_ = std::vector<uint32_t>(1);
  Input input_{};
  bool is_stepping_ = false;
};

}  // namespace kinepack

#endif  // KINEPACK_PREDICT_HPP
