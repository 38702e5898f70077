// Runs the script of tests/vectors/script.rs, whose first comment describes the commands. The program
// stops at the first command whose result differs.

#include "check.h"
#include "vectors/broadcasts.h"
#include "vectors/figures.h"
#include "vectors/network.h"
#include "vectors/numbers.h"
#include "vectors/played.h"
#include "vectors/states.h"

static const struct {
  const char *name;
  int words;
  void (*run)(void);
} commands[] = {
  {"schema", 4, schema}, {"codec", 5, codec},       {"hash", 3, hash},       {"profile", 3, profile}, {"view", 8, view},
  {"check", 3, check},   {"group", 4, group},
  {"runs", 4, runs},     {"sparse", 4, sparse},     {"magnitude", 9, magnitude},
  {"events", 4, events},     {"receiver", 4, receiver},
  {"sends", 3, sends},   {"takes", 6, takes},       {"fault", 4, fault},
  {"stream", 7, stream}, {"stream_codec", 6, stream_codec}, {"packet", 9, packet},
  {"records", 5, records}, {"acknowledges", 3, acknowledges}, {"splits", 3, splits}, {"skeleton", 3, skeleton},
  {"rig", 3, rig},       {"clip", 4, clip},         {"bind", 3, bind},
  {"pose", 4, play},     {"anm", 3, anm},     {"anm_pose", 4, anm_pose},
  {"figure", 12, figure}, {"pushes", 10, pushes},   {"reads", 7, reads},
      {"replay", 9, replay},     {"frame", 4, frame},
  {"shows", 4, shows},   {"catalogue", 5, catalogue}, {"publisher", 5, publisher},
  {"selects", 4, selects}, {"publishes", 3, publishes}, {"gives", 8, gives},
  {"viewer", 4, viewer}, {"piece", 11, piece},
};

int main(int count_of_arguments, char **arguments) {
  static char script[1 << 22];
  EXPECT(count_of_arguments == 2);
  FILE *file = fopen(arguments[1], "rb");
  EXPECT(file != NULL);
  const size_t script_size = fread(script, 1, sizeof script - 1, file);
  fclose(file);
  EXPECT(script_size > 0 && script_size < sizeof script - 1);
  int line = 0;
  char *after_line = NULL;
  for (char *text = strtok_r(script, "\n", &after_line); text != NULL && failures == 0;
       text = strtok_r(NULL, "\n", &after_line)) {
    char *after_word = NULL;
    line += 1;
    word_count = 0;
    for (char *word = strtok_r(text, " ", &after_word); word != NULL && word_count < MOST_WORDS;
         word = strtok_r(NULL, " ", &after_word)) {
      words[word_count++] = word;
    }
    size_t nth = 0;
    const size_t known = sizeof commands / sizeof commands[0];
    while (nth < known && strcmp(commands[nth].name, words[0]) != 0) nth += 1;
    EXPECT(nth < known && commands[nth].words == word_count);
    if (failures == 0) commands[nth].run();
    if (failures != 0) printf("command %d: %s %s %s\n", line, words[0], words[1], words[2]);
  }
  printf("%d commands\n", line);
  return failures == 0 && line > 500 ? EXIT_SUCCESS : EXIT_FAILURE;
}
