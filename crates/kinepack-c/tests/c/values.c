// Single values: the transform that takes 3 bytes instead of 20, from "Delta compression and object
// quantization in C#". Small numbers by magnitude, bytes as runs, and sparse bytes.

#include <math.h>
#include <string.h>

#include "check.h"

enum { VALUES = 5 };

// x and z have a range of 200 m, y of 20 m. Then follow two angles.
static void describe(KpValue values[VALUES]) {
  memset(values, 0, VALUES * sizeof *values);
  for (int nth = 0; nth < 3; nth += 1) {
    values[nth].kind = KP_VALUE_KIND_REAL;
    values[nth].max = nth == 1 ? 10.0 : 100.0;
    values[nth].min = -values[nth].max;
    values[nth].precision = 0.1;
    values[nth].has_small = 1;
    values[nth].least = -1.0;
    values[nth].most = 1.0;
  }
  for (int nth = 3; nth < VALUES; nth += 1) {
    values[nth].kind = KP_VALUE_KIND_CYCLIC;
    values[nth].max = 360.0;
    values[nth].precision = 0.1;
  }
}

// A vector of each form.
static void numbers_by_magnitude(void) {
  enum { VECTORS = 4 };
  KpMagnitude sent[VECTORS], received[VECTORS];
  uint8_t bytes[64];
  size_t size;
  memset(sent, 0, sizeof sent);
  sent[0].form = KP_MAGNITUDE_FORM_MULTIPLES;
  sent[0].count = 3;
  sent[0].steps_per_unit = 10;
  sent[1].form = KP_MAGNITUDE_FORM_STEPS;
  sent[1].count = 1;
  sent[2].form = KP_MAGNITUDE_FORM_DIFFERENCE;
  sent[3].form = KP_MAGNITUDE_FORM_ANY;
  for (int nth = 2; nth < VECTORS; nth += 1) {
    sent[nth].count = 2;
    for (int axis = 0; axis < 2; axis += 1) {
      KpComponent *of = &sent[nth].components[axis];
      of->max = 360.0;
      of->precision = 0.5;
      of->is_cyclic = 1;
      of->before = 359.5;
      of->value = 1.0;
    }
  }
  sent[0].components[0].value = 0.25;
  sent[1].components[0].value = -4294967296.0;
  sent[3].components[1].value = INFINITY;
  memcpy(received, sent, sizeof sent);
  for (int nth = 0; nth < VECTORS; nth += 1) {
    for (int each = 0; each < 4; each += 1) received[nth].components[each].value = 5.0;
  }
  OK(kp_magnitudes_write(sent, VECTORS, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_SIZE, kp_magnitudes_write(sent, VECTORS, bytes, size - 1, &size));
  REFUSED(KP_STATUS_DATA, kp_magnitudes_read(received, VECTORS, bytes, size - 1));
  EXPECT(received[0].components[0].value == 5.0);
  OK(kp_magnitudes_read(received, VECTORS, bytes, size));
  EXPECT(fabs(received[0].components[0].value - 0.3) < 1e-6);
  EXPECT(received[0].components[2].value == 0.0 && received[0].components[3].value == 5.0);
  EXPECT(received[1].components[0].value == -4294967296.0);
  EXPECT(received[2].components[0].value == 1.0 && received[2].components[2].value == 5.0);
  EXPECT(received[3].components[0].value == 1.0 && isinf(received[3].components[1].value));

  // Bad forms, counts, limits, values and bytes. Nothing changes.
  KpMagnitude wrong = sent[1];
  wrong.components[0].value = 0.5;
  REFUSED(KP_STATUS_VALUE, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.components[0].value = 4294967296.0;
  REFUSED(KP_STATUS_VALUE, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.components[0].value = -INFINITY;
  REFUSED(KP_STATUS_VALUE, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.count = 0;
  REFUSED(KP_STATUS_ARGUMENT, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.count = 5;
  REFUSED(KP_STATUS_ARGUMENT, kp_magnitudes_read(&wrong, 1, bytes, sizeof bytes));
  wrong = sent[0];
  wrong.components[2].value = NAN;
  REFUSED(KP_STATUS_VALUE, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.steps_per_unit = 1000;
  REFUSED(KP_STATUS_ARGUMENT, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  wrong.form = 4;
  REFUSED(KP_STATUS_ARGUMENT, kp_magnitudes_read(&wrong, 1, bytes, sizeof bytes));
  wrong = sent[2];
  wrong.components[1].before = NAN;
  REFUSED(KP_STATUS_VALUE, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_DATA, kp_magnitudes_read(&wrong, 1, bytes, 1));
  wrong.components[1].precision = 0.0;
  REFUSED(KP_STATUS_ARGUMENT, kp_magnitudes_write(&wrong, 1, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_POINTER, kp_magnitudes_write(NULL, 1, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_POINTER, kp_magnitudes_read(NULL, 1, bytes, sizeof bytes));
}

// All bytes but one equal the earlier ones.
static void sparse_bytes(void) {
  const uint8_t base[16] = {1, 2, 3, 4, 5};
  uint8_t state[16], sparse[20], decoded[16] = {0};
  size_t size;
  memcpy(state, base, sizeof state);
  state[2] = 9;
  OK(kp_sparse_encode(base, 16, state, 16, sparse, sizeof sparse, &size));
  EXPECT(size == 3);
  REFUSED(KP_STATUS_DATA, kp_sparse_decode(base, 16, sparse, size - 1, decoded, 16));
  REFUSED(KP_STATUS_DATA, kp_sparse_decode(base, 16, sparse, size + 1, decoded, 16));
  EXPECT(decoded[0] == 0);
  OK(kp_sparse_decode(base, 16, sparse, size, decoded, 16));
  EXPECT(memcmp(decoded, state, sizeof state) == 0);
  REFUSED(KP_STATUS_SIZE, kp_sparse_encode(base, 16, state, 16, sparse, 2, &size));
  EXPECT(size == 3);
  REFUSED(KP_STATUS_POINTER, kp_sparse_encode(NULL, 16, state, 16, sparse, 20, &size));
  REFUSED(KP_STATUS_POINTER, kp_sparse_decode(base, 16, sparse, size, NULL, 16));
  OK(kp_sparse_encode(NULL, 0, NULL, 0, NULL, 0, &size));
  EXPECT(size == 0);
  OK(kp_sparse_decode(NULL, 0, NULL, 0, NULL, 0));
}

int main(void) {
  const double before[VALUES] = {10.0, 5.0, 10.0, 60.0, 30.0};
  const double after[VALUES] = {10.5, 5.5, 10.5, 60.0, 30.0};
  KpValue sent[VALUES], received[VALUES];
  uint8_t bytes[64];
  size_t size;
  describe(sent);
  describe(received);
  for (int nth = 0; nth < VALUES; nth += 1) {
    sent[nth].before = received[nth].before = before[nth];
    sent[nth].value = after[nth];
  }
  OK(kp_values_write(sent, VALUES, bytes, sizeof bytes, &size));
  EXPECT(size == 3);
  OK(kp_values_read(received, VALUES, bytes, size));
  for (int nth = 0; nth < VALUES; nth += 1) {
    EXPECT(fabs(received[nth].value - after[nth]) < 0.0501);
  }
  REFUSED(KP_STATUS_SIZE, kp_values_write(sent, VALUES, bytes, 2, &size));
  EXPECT(size == 3);
  OK(kp_values_write(sent, VALUES, bytes, sizeof bytes, &size));

  // Integers, with and without small differences.
  KpValue integer;
  memset(&integer, 0, sizeof integer);
  integer.kind = KP_VALUE_KIND_INTEGER;
  integer.min = -9007199254740992.0;
  integer.max = 9007199254740992.0;
  integer.has_small = 1;
  integer.least = -8.0;
  integer.most = 7.0;
  integer.before = -1e15;
  for (int step = -20; step < 20; step += 1) {
    integer.value = -1e15 + step;
    OK(kp_values_write(&integer, 1, bytes, sizeof bytes, &size));
    EXPECT(size == (step >= -8 && step < 8 ? 1 : 8));
    integer.value = 0.0;
    OK(kp_values_read(&integer, 1, bytes, size));
    EXPECT(integer.value == -1e15 + step);
  }

  // Bad values, limits and bytes. Nothing changes.
  integer.value = 0.5;
  REFUSED(KP_STATUS_VALUE, kp_values_write(&integer, 1, bytes, sizeof bytes, &size));
  integer.value = NAN;
  REFUSED(KP_STATUS_VALUE, kp_values_write(&integer, 1, bytes, sizeof bytes, &size));
  integer.max = INFINITY;
  REFUSED(KP_STATUS_ARGUMENT, kp_values_write(&integer, 1, bytes, sizeof bytes, &size));
  sent[0].value = 101.0;
  REFUSED(KP_STATUS_VALUE, kp_values_write(sent, VALUES, bytes, sizeof bytes, &size));
  sent[0].precision = 0.0;
  REFUSED(KP_STATUS_ARGUMENT, kp_values_write(sent, VALUES, bytes, sizeof bytes, &size));
  sent[0].kind = 3;
  REFUSED(KP_STATUS_ARGUMENT, kp_values_write(sent, VALUES, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_POINTER, kp_values_write(NULL, 1, bytes, sizeof bytes, &size));
  REFUSED(KP_STATUS_DATA, kp_values_read(received, VALUES, bytes, 0));
  memset(bytes, 0, sizeof bytes);
  REFUSED(KP_STATUS_DATA, kp_values_read(received, VALUES, bytes, 9));
  EXPECT(fabs(received[0].value - 10.5) < 0.0501);
  received[0].before = NAN;
  bytes[0] = 1;
  REFUSED(KP_STATUS_DATA, kp_values_read(received, VALUES, bytes, 2));

  // Bytes that mostly equal the earlier ones.
  uint8_t state[200], base[200], runs[300], decoded[200];
  for (int nth = 0; nth < 200; nth += 1) {
    base[nth] = (uint8_t)(nth * 37);
    state[nth] = (uint8_t)(base[nth] ^ (nth == 150 ? 9 : 0));
  }
  OK(kp_runs_encode(base, 200, state, 200, runs, sizeof runs, &size));
  EXPECT(size < 10);
  const size_t run_bytes = size;
  OK(kp_runs_decode(base, 200, runs, run_bytes, decoded, sizeof decoded, &size));
  EXPECT(size == 200 && memcmp(decoded, state, 200) == 0);
  REFUSED(KP_STATUS_DATA, kp_runs_decode(base, 200, runs, run_bytes, decoded, 199, &size));
  REFUSED(KP_STATUS_DATA, kp_runs_decode(base, 200, runs, run_bytes - 1, decoded, 200, &size));
  REFUSED(KP_STATUS_SIZE, kp_runs_encode(base, 200, state, 200, runs, 3, &size));
  REFUSED(KP_STATUS_POINTER, kp_runs_encode(NULL, 200, state, 200, runs, sizeof runs, &size));
  numbers_by_magnitude();
  sparse_bytes();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
