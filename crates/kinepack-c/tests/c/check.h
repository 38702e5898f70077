// The checks of all test programs.

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "kinepack.h"

static int failures;

static void expect(int condition, const char *what, int line) {
  if (!condition) {
    char text[200];
    kp_error_text(text, sizeof text);
    printf("line %d: expected %s; the last error: %s\n", line, what, text);
    failures += 1;
  }
}

#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)
#define OK(call) expect((call) == KP_STATUS_OK, #call, __LINE__)
#define REFUSED(status, call) expect((call) == (status), #call " to be " #status, __LINE__)

#endif
