// The words of a command: bytes, numbers, and names of objects.

#ifndef VECTORS_WORDS_H
#define VECTORS_WORDS_H

#include <string.h>

#include "../check.h"

enum { MOST_WORDS = 16, MOST_NAMES = 5000, MOST_BYTES = 1 << 17, MOST_NUMBERS = 8192 };

static char *words[MOST_WORDS];
static int word_count;

// The handles of the named objects, by type.
static struct {
  const char *type, *name;
  uint64_t handle;
} named[MOST_NAMES];
static int named_count;

static void keep(const char *type, const char *name, uint64_t handle) {
  EXPECT(named_count < MOST_NAMES);
  named[named_count].type = type;
  named[named_count].name = name;
  named[named_count].handle = handle;
  named_count += 1;
}

static uint64_t handle_of(const char *type, const char *name) {
  if (strcmp(name, "-") == 0) return 0;
  for (int nth = named_count - 1; nth >= 0; nth -= 1) {
    if (strcmp(named[nth].type, type) == 0 && strcmp(named[nth].name, name) == 0) {
      return named[nth].handle;
    }
  }
  printf("no %s is named %s\n", type, name);
  failures += 1;
  return 0;
}

static size_t from_hex(const char *hex, uint8_t *bytes) {
  size_t size = 0;
  if (strcmp(hex, "-") == 0) return 0;
  for (; hex[0] != 0; hex += 2, size += 1) {
    unsigned byte = 0;
    EXPECT(size < MOST_BYTES && sscanf(hex, "%2x", &byte) == 1);
    bytes[size] = (uint8_t)byte;
  }
  return size;
}

static uint64_t hash_from(const char *hex) {
  unsigned long long hash = 0;
  EXPECT(sscanf(hex, "%llx", &hash) == 1);
  return hash;
}

static uint8_t bytes[MOST_BYTES], result[MOST_BYTES];
static size_t size;

// Reads the hexadecimal digits of the word with this index.
static void read_word(int nth) {
  size = from_hex(words[nth], bytes);
}

static void expect_bytes(size_t result_size) {
  EXPECT(result_size == size && memcmp(result, bytes, size) == 0);
}

#endif
