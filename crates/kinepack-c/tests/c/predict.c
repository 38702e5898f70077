// A client predicts its own walker. The step is the server's own function, and both round alike, so
// nothing is corrected until somebody pushes the walker. Bad arguments are refused.

#include <math.h>
#include <string.h>

#include "check.h"

enum { TICK_HZ = 60, FIRST = 100, TICKS = 240, LEAD = 8, PUSHED = 200, ID = 7 };

typedef struct {
  float place[2], velocity[2];
} Walker;

typedef struct {
  float stick[2];
} Input;

// The memory of the step. The library writes the states and the input here, and reads the states.
static Walker own;
static uint32_t own_id;
static Input used;
static uint32_t steps;
static KpPrediction prediction;

static const KpTarget own_targets[] = {
  {own.place, sizeof own, KP_NUMBER_F32},
  {own.velocity, sizeof own, KP_NUMBER_F32},
};
static const KpColumn own_columns[] = {
  {own.place, sizeof own, KP_NUMBER_F32, 0},
  {own.velocity, sizeof own, KP_NUMBER_F32, 1},
};
static const KpTarget used_target[] = {{used.stick, sizeof used, KP_NUMBER_F32}};

// The client and the server share this function.
static void move(Walker *walker, const Input *input) {
  for (int axis = 0; axis < 2; axis += 1) {
    walker->velocity[axis] += input->stick[axis] * 0.5f - walker->velocity[axis] * 0.125f;
    walker->place[axis] += walker->velocity[axis] / TICK_HZ;
  }
}

static int32_t step(void *user, size_t count, uint32_t tick) {
  EXPECT(user == &own && count == 1 && own_id == ID && tick > FIRST);
  move(&own, &used);
  steps += 1;
  return 0;
}

static int32_t fail(void *user, size_t count, uint32_t tick) {
  (void)user, (void)count, (void)tick;
  own.place[0] = 60.0f;
  return -1;
}

static int32_t break_down(void *user, size_t count, uint32_t tick) {
  (void)user, (void)count;
  own.place[0] = NAN;
  // A step must not use its own prediction.
  REFUSED(KP_STATUS_ARGUMENT, kp_prediction_newest(prediction, &tick));
  return 0;
}

static KpStep with(int32_t (*function)(void *, size_t, uint32_t)) {
  const KpStep all = {function, &own, 1, &own_id, own_targets, own_columns, 2, used_target, 1};
  return all;
}

static KpSchema schema_of(const char *first, double max, const char *second) {
  KpSchemaBuilder builder = {0};
  KpSchema schema = {0};
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, first, 2, -max, max, 1.0 / 256.0));
  if (second != NULL) {
    OK(kp_schema_builder_floats(builder, second, 2, -16.0, 16.0, 1.0 / 256.0));
    OK(kp_schema_builder_role(builder, KP_ROLE_VELOCITY));
  }
  OK(kp_schema_builder_build(builder, &schema));
  return schema;
}

static KpStatus push(uint32_t tick, const KpStep *how) {
  const float phase = (float)(tick % 64) / 32.0f - 1.0f;
  const Input input = {{phase, 1.0f - fabsf(phase)}};
  const KpColumn column[] = {{input.stick, sizeof input, KP_NUMBER_F32, 0}};
  return kp_prediction_push(prediction, tick, column, 1, how);
}

// The server's tick: it steps with the same input, and rounds.
static void simulate(Walker *walker, KpSchema schema, uint32_t tick) {
  const float phase = (float)(tick % 64) / 32.0f - 1.0f;
  const Input input = {{phase, 1.0f - fabsf(phase)}};
  move(walker, &input);
  if (tick == PUSHED) walker->velocity[1] += 4.0f;
  const KpColumn from[] = {{walker->place, sizeof *walker, KP_NUMBER_F32, 0},
                           {walker->velocity, sizeof *walker, KP_NUMBER_F32, 1}};
  const KpTarget to[] = {{walker->place, sizeof *walker, KP_NUMBER_F32},
                         {walker->velocity, sizeof *walker, KP_NUMBER_F32}};
  OK(kp_schema_rounded(schema, 0, 1, from, 2, to, 2));
}

int main(void) {
  const KpSchema schema = schema_of("place", 64.0, "velocity"), inputs = schema_of("stick", 1.0, NULL);
  KpPredictConfig config;
  OK(kp_predict_config_at_hz(TICK_HZ, &config));
  REFUSED(KP_STATUS_ARGUMENT, kp_prediction_new(schema, 1, inputs, &config, &prediction));
  OK(kp_prediction_new(schema, 0, inputs, &config, &prediction));
  const KpStep how = with(step);
  Walker server = {{0, 0}, {0, 0}}, late[LEAD], shown, before = server;
  const KpTarget shown_targets[] = {{shown.place, sizeof shown, KP_NUMBER_F32},
                                    {shown.velocity, sizeof shown, KP_NUMBER_F32}};
  OK(kp_prediction_add(prediction, ID, FIRST, own_columns, 2, &how));
  float longest = 0.0f;
  for (uint32_t tick = FIRST + 1; tick <= FIRST + TICKS; tick += 1) {
    // What the server simulated arrives eight ticks later.
    OK(push(tick, &how));
    const Walker *known = &late[tick % LEAD];
    if (tick > FIRST + LEAD) {
      const KpColumn columns[] = {{known->place, sizeof *known, KP_NUMBER_F32, 0},
                                  {known->velocity, sizeof *known, KP_NUMBER_F32, 0}};
      KpCorrection correction;
      OK(kp_prediction_correct(prediction, ID, tick - LEAD, columns, 2, &how, &correction));
      const int is_pushed = tick - LEAD == PUSHED;
      EXPECT(correction.outcome == (is_pushed ? KP_OUTCOME_CORRECTED : KP_OUTCOME_CONFIRMED));
      EXPECT((correction.distance > 0.2) == is_pushed && correction.is_snapped == 0);
    }
    simulate(&server, schema, tick);
    late[tick % LEAD] = server;
    OK(kp_prediction_shown(prediction, ID, tick - 0.25, shown_targets, 2));
    const float way = hypotf(shown.place[0] - before.place[0], shown.place[1] - before.place[1]);
    if (tick > FIRST + 2 && way > longest) longest = way;
    before = shown;
  }
  KpPredictStats stats;
  OK(kp_prediction_stats(prediction, &stats));
  printf("%u steps; %u correction; at most %.1f cm from frame to frame\n", steps,
         (unsigned)stats.corrected, 100.0f * longest);
  EXPECT(stats.corrected == 1 && steps == stats.inputs + stats.repeated_ticks && longest < 0.2f);
  const uint32_t last = FIRST + TICKS;
  OK(kp_prediction_state(prediction, ID, last, shown_targets, 2));
  EXPECT(memcmp(&shown, &server, sizeof shown) == 0);

  // A step that fails leaves the states of the tick before.
  const KpStep fails = with(fail), breaks = with(break_down), none = with(NULL);
  REFUSED(KP_STATUS_STEP, push(last + 1, &fails));
  REFUSED(KP_STATUS_STEP, push(last + 2, &breaks));
  REFUSED(KP_STATUS_POINTER, push(last + 3, &none));
  REFUSED(KP_STATUS_ARGUMENT, push(last, &how));
  OK(kp_prediction_state(prediction, ID, last + 2, shown_targets, 2));
  EXPECT(memcmp(&shown, &server, sizeof shown) == 0);
  KpStep narrow = how;
  narrow.capacity = 0;
  REFUSED(KP_STATUS_ARGUMENT, push(last + 3, &narrow));
  REFUSED(KP_STATUS_NOTHING, kp_prediction_state(prediction, ID + 1, last, shown_targets, 2));
  OK(kp_prediction_free(prediction));
  REFUSED(KP_STATUS_HANDLE, kp_prediction_free(prediction));
  OK(kp_schema_free(schema));
  OK(kp_schema_free(inputs));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
