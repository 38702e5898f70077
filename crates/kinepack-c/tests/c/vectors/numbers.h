// The vector commands that code numbers and bytes without a schema.

#ifndef VECTORS_NUMBERS_H
#define VECTORS_NUMBERS_H

#include "words.h"

static void runs(void) {
  static uint8_t base[MOST_BYTES], plain[MOST_BYTES];
  size_t written;
  const size_t base_size = from_hex(words[1], base), plain_size = from_hex(words[2], plain);
  read_word(3);
  OK(kp_runs_encode(base, base_size, plain, plain_size, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_runs_decode(base, base_size, bytes, size, result, plain_size, &written));
  EXPECT(written == plain_size && memcmp(result, plain, plain_size) == 0);
}

static void sparse(void) {
  static uint8_t base[MOST_BYTES], plain[MOST_BYTES];
  size_t written;
  const size_t base_size = from_hex(words[1], base), plain_size = from_hex(words[2], plain);
  read_word(3);
  OK(kp_sparse_encode(base, base_size, plain, plain_size, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_sparse_decode(base, base_size, bytes, size, result, plain_size));
  EXPECT(memcmp(result, plain, plain_size) == 0);
}

// Reads numbers separated by commas. Returns their count.
static uint32_t listed_numbers(const char *list, double *numbers) {
  uint32_t count = 0;
  for (; strcmp(list, "-") != 0; list += 1) {
    char *end;
    numbers[count++] = strtod(list, &end);
    EXPECT(end != list && count <= 4);
    list = end;
    if (*list == 0) break;
  }
  return count;
}

static void magnitude(void) {
  KpMagnitude written, back;
  double before[4] = {0}, values[4], read[4];
  size_t bytes_written;
  memset(&written, 0, sizeof written);
  written.form = atoi(words[1]);
  written.steps_per_unit = (uint32_t)atol(words[2]);
  written.count = listed_numbers(words[5], values);
  listed_numbers(words[4], before);
  EXPECT(listed_numbers(words[6], read) == written.count);
  const char *limits = words[3];
  for (uint32_t nth = 0; nth < written.count; nth += 1) {
    KpComponent *component = &written.components[nth];
    if (strcmp(words[3], "-") != 0) {
      int length = 0;
      EXPECT(sscanf(limits, "%lf:%lf:%lf:%d%n", &component->min, &component->max,
                    &component->precision, &component->is_cyclic, &length) == 4);
      limits += length + 1;
    }
    component->before = before[nth];
    component->value = values[nth];
  }
  read_word(8);
  back = written;
  for (uint32_t nth = 0; nth < 4; nth += 1) back.components[nth].value = 7.0;
  OK(kp_magnitudes_write(&written, 1, result, sizeof result, &bytes_written));
  expect_bytes(bytes_written);
  EXPECT(bytes_written == (size_t)(atol(words[7]) + 7) / 8);
  OK(kp_magnitudes_read(&back, 1, bytes, size));
  for (uint32_t nth = 0; nth < 4; nth += 1) {
    const double expected_value = nth < written.count ? read[nth] : 7.0;
    EXPECT((float)back.components[nth].value == (float)expected_value);
  }
}

#endif
