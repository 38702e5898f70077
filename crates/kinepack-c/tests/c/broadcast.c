// A game server publishes its world in three tiers. A relay keeps the newest group of each track. A
// viewer joins in the middle of a group, catches up, changes its tier, and rewinds in its history.

#include <math.h>
#include <string.h>

#include "broadcast/catalogue.h"
#include "check.h"

enum { BALLS = 12, TICKS = 300, JOINED = 100, CHANGED = 180 };
enum { MOST_KEPT = 80, MOST_BYTES = 1500 };

typedef struct {
  float position[2];
  int32_t colour;
} Ball;

static uint64_t time_ns(uint32_t tick) {
  return (uint64_t)tick * 1000000000u / TICK_HZ;
}

static Ball ball_at(double tick, uint32_t nth) {
  Ball ball;
  ball.position[0] = (float)(20.0 * sin(0.02 * tick + nth));
  ball.position[1] = (float)(20.0 * cos(0.03 * tick + nth));
  ball.colour = (int32_t)nth % 3;
  return ball;
}

typedef struct {
  KpPiece what;
  size_t size;
  uint8_t bytes[MOST_BYTES];
} Piece;

// The objects of the newest group of each track.
static Piece kept[TIERS][2][MOST_KEPT];
static uint32_t kept_counts[TIERS][2];

static void keep(const Piece *piece) {
  if (piece->what.is_datagram) return;
  uint32_t *count = &kept_counts[piece->what.tier][piece->what.track];
  if (piece->what.object == 0) *count = 0;
  EXPECT(*count < MOST_KEPT);
  kept[piece->what.tier][piece->what.track][(*count)++] = *piece;
}

// The tracks that the viewer has subscribed to.
static int is_subscribed[TIERS][2];

// Subscribes to the tracks that the viewer wants now. For a new track, the relay sends the objects that
// it has kept.
static void subscribe(KpViewer viewer, uint64_t now) {
  KpTrack wanted[2 * TIERS];
  size_t count;
  int is_wanted[TIERS][2] = {{0}};
  OK(kp_viewer_wanted(viewer, wanted, 2 * TIERS, &count));
  for (size_t nth = 0; nth < count; nth += 1) is_wanted[wanted[nth].tier][wanted[nth].kind] = 1;
  for (uint32_t tier = 0; tier < TIERS; tier += 1) {
    for (int track = 1; track >= 0; track -= 1) {
      const int is_new = is_wanted[tier][track] && !is_subscribed[tier][track];
      is_subscribed[tier][track] = is_wanted[tier][track];
      for (uint32_t nth = 0; is_new && nth < kept_counts[tier][track]; nth += 1) {
        const Piece *piece = &kept[tier][track][nth];
        OK(kp_viewer_take(viewer, now, &piece->what, piece->bytes, piece->size, NULL));
      }
    }
  }
}

// Random pieces are refused or accepted, and none causes a crash.
static void hostile(KpCatalogue catalogue) {
  KpViewer viewer;
  KpPlayback playback;
  uint8_t bytes[40];
  const uint32_t tiers[] = {FULL, FAST};
  OK(kp_viewer_new(catalogue, NULL, &viewer));
  OK(kp_viewer_watch(viewer, tiers, 2));
  for (uint32_t round = 0; round < 2000; round += 1) {
    for (size_t at = 0; at < sizeof bytes; at += 1) {
      bytes[at] = (uint8_t)((round * 2654435761u >> (at % 24)) ^ at * 29);
    }
    KpPiece piece = {0};
    piece.group = round / 16;
    piece.object = round % 3;
    piece.tier = round % 4;
    piece.track = round % 2 == 0;
    piece.is_datagram = round % 5 == 0;
    const KpStatus status =
        kp_viewer_take(viewer, time_ns(round), &piece, bytes, round % sizeof bytes, NULL);
    EXPECT(status == KP_STATUS_OK || status == KP_STATUS_DATA);
    kp_viewer_play(viewer, time_ns(round), &playback);
  }
  OK(kp_viewer_free(viewer));
}

// Takes all pieces that the publisher has ready. Returns their number, and checks their ticks.
static size_t take_all(KpPublisher publisher, uint32_t newest_tick) {
  static uint8_t bytes[MOST_BYTES];
  KpPiece piece;
  size_t size, pieces = 0;
  while (kp_publisher_poll(publisher, &piece, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
    EXPECT(piece.tick <= newest_tick);
    pieces += 1;
  }
  return pieces;
}

// The end of a delayed broadcast: a publisher without a delay returns as many pieces.
static void drained(KpCatalogue catalogue, KpSchema schema) {
  enum { LAST = 47, DELAY = 20 };
  size_t pieces[2] = {0};
  for (int is_delayed = 0; is_delayed < 2; is_delayed += 1) {
    const uint32_t delay = is_delayed ? DELAY : 0;
    KpPublisherOptions options = {0};
    KpPublisher publisher;
    KpSnapshot world;
    int32_t is_drained = 1;
    size_t *count = &pieces[is_delayed];
    options.delay_ticks = delay;
    OK(kp_publisher_new(catalogue, &options, &publisher));
    OK(kp_snapshot_new(schema, &world));
    for (uint32_t tick = 1; tick <= LAST; tick += 1) {
      OK(kp_snapshot_clear(world, tick));
      OK(kp_publisher_publish(publisher, world));
      *count += take_all(publisher, tick - (tick < delay ? tick : delay));
    }
    uint32_t tick = LAST;
    for (is_drained = 0; !is_drained && tick <= LAST + DELAY + 1; tick += 1) {
      OK(kp_publisher_drain(publisher, tick, &is_drained));
      *count += take_all(publisher, tick - delay);
    }
    EXPECT(is_drained && tick == LAST + delay + 1);
    // Nothing is left, and a publisher may go on.
    OK(kp_publisher_drain(publisher, LAST + DELAY, &is_drained));
    EXPECT(is_drained && take_all(publisher, 0) == 0);
    REFUSED(KP_STATUS_POINTER, kp_publisher_drain(publisher, LAST, NULL));
    OK(kp_snapshot_clear(world, LAST + 100));
    OK(kp_publisher_publish(publisher, world));
    OK(kp_snapshot_free(world));
    OK(kp_publisher_free(publisher));
    REFUSED(KP_STATUS_HANDLE, kp_publisher_drain(publisher, LAST, &is_drained));
  }
  EXPECT(pieces[0] > LAST && pieces[0] == pieces[1]);
}

// A world that needs more datagrams than a viewer can reassemble is refused. The next world is not.
static void too_large(KpCodec codec, KpSchema schema) {
  enum { MANY = 20000 };
  static Ball balls[MANY];
  static uint32_t ids[MANY];
  const KpColumn columns[] = {
    {balls[0].position, sizeof(Ball), KP_NUMBER_F32, 0},
    {&balls[0].colour, sizeof(Ball), KP_NUMBER_I32, 0},
  };
  KpTier tier;
  KpCatalogue catalogue;
  KpPublisher publisher;
  KpSnapshot world;
  KpPiece piece;
  uint8_t bytes[MOST_BYTES];
  size_t size, datagrams = 0;
  memset(&tier, 0, sizeof tier);
  tier.name = "fast";
  tier.codec = codec;
  tier.carry = KP_CARRY_DATAGRAMS;
  tier.ticks_per_group = 60;
  OK(kp_catalogue_new(TICK_HZ, &tier, 1, &catalogue));
  OK(kp_publisher_new(catalogue, NULL, &publisher));
  OK(kp_snapshot_new(schema, &world));
  for (uint32_t nth = 0; nth < MANY; nth += 1) {
    balls[nth] = ball_at(17.0 * nth, nth);
    ids[nth] = nth;
  }
  for (uint32_t tick = 1; tick <= 3; tick += 1) {
    OK(kp_snapshot_clear(world, tick));
    OK(kp_snapshot_add(world, 0, ids, tick == 2 ? MANY : 5, columns, 2));
    const KpStatus status = kp_publisher_publish(publisher, world);
    EXPECT(status == (tick == 2 ? KP_STATUS_ARGUMENT : KP_STATUS_OK));
    while (kp_publisher_poll(publisher, &piece, bytes, sizeof bytes, &size) == KP_STATUS_OK) {
      EXPECT(tick != 2);
      datagrams += piece.is_datagram != 0;
    }
  }
  EXPECT(datagrams == 1);
  OK(kp_snapshot_free(world));
  OK(kp_publisher_free(publisher));
  OK(kp_catalogue_free(catalogue));
}

int main(void) {
  KpSchemaBuilder builder;
  KpSchema schema, other_schema;
  KpCodec codec;
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_floats(builder, "position", 2, -32.0, 32.0, 0.01));
  OK(kp_schema_builder_choice(builder, "colour", 2));
  OK(kp_schema_builder_build(builder, &schema));
  OK(kp_schema_builder_new(&builder));
  OK(kp_schema_builder_bool(builder, "lit"));
  OK(kp_schema_builder_build(builder, &other_schema));
  OK(kp_codec_new(schema, "adaptive", NULL, 0, &codec));
  const KpCatalogue catalogue = make_catalogue(codec);
  const KpCatalogue received = send_catalogue(catalogue);
  hostile(received);
  too_large(codec, schema);
  drained(catalogue, schema);

  KpPublisher publisher;
  KpPublisherOptions options = {0};
  options.first_group = 1000;
  options.delay_ticks = 3;
  REFUSED(KP_STATUS_POINTER, kp_publisher_new(catalogue, &options, NULL));
  options.first_group = UINT64_MAX;
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_new(catalogue, &options, &publisher));
  options.first_group = 1000;
  OK(kp_publisher_new(catalogue, &options, &publisher));
  KpSnapshot world, last, newest, foreign;
  OK(kp_snapshot_new(schema, &world));
  OK(kp_snapshot_new(schema, &last));
  OK(kp_snapshot_new(schema, &newest));
  OK(kp_snapshot_new(other_schema, &foreign));
  REFUSED(KP_STATUS_NOTHING, kp_publisher_last(publisher, FULL, last));
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_last(publisher, TIERS, last));
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_publish(publisher, foreign));
  const uint32_t unsorted[] = {7, 7};
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_set_entities(publisher, LEFT, unsorted, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_set_entities(publisher, TIERS, unsorted, 1));
  REFUSED(KP_STATUS_POINTER, kp_publisher_set_entities(publisher, LEFT, NULL, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_set_all_entities(publisher, TIERS));

  KpViewer viewer;
  KpShown visible;
  KpViewerOptions viewing = {0};
  KpPlayback playback;
  viewing.min_delay_ms = 700;
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_new(received, &viewing, &viewer));
  viewing.min_delay_ms = 0;
  viewing.history_ms = 1000;
  OK(kp_viewer_new(received, &viewing, &viewer));
  OK(kp_catalogue_free(received));
  OK(kp_viewer_shown(viewer, &visible));
  size_t count, size;
  OK(kp_viewer_wanted(viewer, NULL, 0, &count));
  EXPECT(count == 0);
  uint32_t watched[] = {LEFT, TIERS};
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_watch(viewer, watched, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_watch(viewer, watched, 0));
  REFUSED(KP_STATUS_POINTER, kp_viewer_watch(viewer, NULL, 1));
  REFUSED(KP_STATUS_NOTHING, kp_viewer_play(viewer, 0, &playback));
  REFUSED(KP_STATUS_NOTHING, kp_viewer_newest(viewer, newest));
  uint32_t first_tick, last_tick;
  REFUSED(KP_STATUS_NOTHING, kp_viewer_history(viewer, &first_tick, &last_tick));
  REFUSED(KP_STATUS_NOTHING, kp_viewer_play_at(viewer, 1.0, &playback));

  Ball balls[BALLS], shown[BALLS];
  uint32_t ids[BALLS], left_ids[BALLS], shown_ids[BALLS];
  const KpColumn columns[] = {
    {balls[0].position, sizeof(Ball), KP_NUMBER_F32, 0},
    {&balls[0].colour, sizeof(Ball), KP_NUMBER_I32, 0},
  };
  const KpTarget targets[] = {
    {shown[0].position, sizeof(Ball), KP_NUMBER_F32},
    {&shown[0].colour, sizeof(Ball), KP_NUMBER_I32},
  };
  static Piece piece;
  size_t datagrams = 0, played = 0, added = 0;
  double worst = 0.0, last_shown = 0.0;
  for (uint32_t nth = 0; nth < BALLS; nth += 1) ids[nth] = 7 * nth;
  for (uint32_t tick = 1; tick <= TICKS; tick += 1) {
    const uint64_t now = time_ns(tick);
    uint32_t left = 0;
    for (uint32_t nth = 0; nth < BALLS; nth += 1) {
      balls[nth] = ball_at(tick, nth);
      if (balls[nth].position[0] < 0.0f) left_ids[left++] = ids[nth];
    }
    OK(kp_snapshot_clear(world, tick));
    OK(kp_snapshot_add(world, 0, ids, BALLS, columns, 2));
    OK(kp_publisher_set_entities(publisher, LEFT, left_ids, left));
    OK(kp_publisher_publish(publisher, world));
    REFUSED(KP_STATUS_ARGUMENT, kp_publisher_publish(publisher, world));
    if (tick == JOINED) {
      const uint32_t tier = LEFT;
      OK(kp_viewer_watch(viewer, &tier, 1));
    }
    if (tick == CHANGED) {
      const uint32_t tier = FAST;
      OK(kp_viewer_watch(viewer, &tier, 1));
    }
    for (;;) {
      const KpStatus status =
          kp_publisher_poll(publisher, &piece.what, piece.bytes, sizeof piece.bytes, &piece.size);
      if (status == KP_STATUS_NOTHING) break;
      EXPECT(status == KP_STATUS_OK && piece.what.group >= 1000 && piece.what.tick + 3 <= tick);
      keep(&piece);
      datagrams += piece.what.is_datagram != 0;
      if (is_subscribed[piece.what.tier][piece.what.track]) {
        KpTaken taken;
        OK(kp_viewer_take(viewer, now, &piece.what, piece.bytes, piece.size, &taken));
        EXPECT(!taken.is_read || taken.tick == piece.what.tick);
      }
    }
    subscribe(viewer, now);
    if (kp_viewer_play(viewer, now, &playback) != KP_STATUS_OK) continue;
    EXPECT(playback.tick >= last_shown);
    last_shown = playback.tick;
    OK(kp_shown_added(visible, shown_ids, BALLS, &count));
    added += count;
    OK(kp_shown_ids(visible, 0, shown_ids, BALLS, &count));
    OK(kp_shown_read(visible, 0, BALLS, targets, 2));
    for (size_t nth = 0; nth < count; nth += 1) {
      const Ball expected = ball_at(playback.tick, shown_ids[nth] / 7);
      EXPECT(shown[nth].colour == expected.colour);
      for (int axis = 0; axis < 2; axis += 1) {
        const double off = fabs(shown[nth].position[axis] - expected.position[axis]);
        // A ball that enters or leaves the tier between two snapshots is not interpolated: it is at its place
        // in one of them.
        EXPECT(off < 1.3);
        if (tick > CHANGED + TICK_HZ) worst = fmax(worst, off);
      }
    }
    played += 1;
  }
  printf("%zu ticks played, %.3f m off at most\n", played, worst);
  EXPECT(played > TICKS - JOINED - 30 && worst < 0.05 && datagrams > TICKS / 2 && added >= BALLS);

  // The new tier has all balls, as the publisher encoded them three ticks before.
  uint32_t tiers[TIERS], last_of_viewer;
  OK(kp_viewer_shown_tiers(viewer, tiers, TIERS, &count));
  EXPECT(count == 1 && tiers[0] == FAST);
  REFUSED(KP_STATUS_SIZE, kp_viewer_shown_tiers(viewer, tiers, 0, &count));
  OK(kp_viewer_newest(viewer, newest));
  OK(kp_snapshot_tick(newest, &last_of_viewer));
  EXPECT(last_of_viewer == TICKS - 3);
  OK(kp_snapshot_count(newest, 0, &count));
  EXPECT(count == BALLS);
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_newest(viewer, foreign));
  OK(kp_publisher_last(publisher, LEFT, last));
  OK(kp_snapshot_count(last, 0, &count));
  EXPECT(count < BALLS);
  OK(kp_publisher_last(publisher, FULL, last));
  OK(kp_snapshot_count(last, 0, &count));
  EXPECT(count == BALLS);
  REFUSED(KP_STATUS_NOTHING, kp_publisher_last(publisher, FAST, last));
  REFUSED(KP_STATUS_ARGUMENT, kp_publisher_last(publisher, FULL, foreign));
  KpViewerStatus status;
  OK(kp_viewer_status(viewer, &status));
  EXPECT(status.snapshots > 150 && status.caught_up > 0 && status.refused == 0 && status.bytes > 1000);
  EXPECT(status.delay_ms >= 0.0 && status.jitter_ms >= 0.0);

  // Rewinds by half a second.
  OK(kp_viewer_history(viewer, &first_tick, &last_tick));
  EXPECT(last_tick >= first_tick + 30 && last_tick <= last_of_viewer);
  OK(kp_viewer_play_at(viewer, last_tick - 30.0, &playback));
  EXPECT(playback.tick == last_tick - 30.0);
  OK(kp_shown_read(visible, 0, BALLS, targets, 2));
  EXPECT(fabs(shown[3].position[0] - ball_at(playback.tick, 3).position[0]) < 0.1);
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_play_at(viewer, NAN, &playback));

  // A piece that does not fit is kept. A refused piece changes only counters.
  OK(kp_publisher_set_all_entities(publisher, LEFT));
  OK(kp_snapshot_clear(world, TICKS + 1));
  OK(kp_publisher_publish(publisher, world));
  REFUSED(KP_STATUS_SIZE, kp_publisher_poll(publisher, &piece.what, piece.bytes, 1, &size));
  REFUSED(KP_STATUS_POINTER, kp_publisher_poll(publisher, NULL, piece.bytes, MOST_BYTES, &size));
  OK(kp_publisher_poll(publisher, &piece.what, piece.bytes, MOST_BYTES, &piece.size));
  EXPECT(piece.size == size);
  const uint64_t now = time_ns(TICKS + 1);
  piece.what.tier = FULL;
  REFUSED(KP_STATUS_DATA, kp_viewer_take(viewer, now, &piece.what, piece.bytes, piece.size, NULL));
  piece.what.tier = FAST;
  REFUSED(KP_STATUS_DATA, kp_viewer_take(viewer, now, &piece.what, NULL, 0, NULL));
  REFUSED(KP_STATUS_POINTER, kp_viewer_take(viewer, now, &piece.what, NULL, 9, NULL));
  REFUSED(KP_STATUS_POINTER, kp_viewer_take(viewer, now, NULL, piece.bytes, piece.size, NULL));
  piece.what.track = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_take(viewer, now, &piece.what, piece.bytes, piece.size, NULL));
  OK(kp_viewer_set_delays(viewer, 50, 200));
  REFUSED(KP_STATUS_ARGUMENT, kp_viewer_set_delays(viewer, 201, 200));
  REFUSED(KP_STATUS_SIZE, kp_shown_ids(visible, 0, shown_ids, BALLS - 1, &count));
  REFUSED(KP_STATUS_ARGUMENT, kp_shown_ids(visible, 1, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_SIZE, kp_shown_read(visible, 0, BALLS - 1, targets, 2));
  REFUSED(KP_STATUS_ARGUMENT, kp_shown_read(visible, 0, BALLS, targets, 1));
  OK(kp_shown_removed(visible, shown_ids, BALLS, &count));
  KpEvent event;
  REFUSED(KP_STATUS_NOTHING, kp_shown_next_event(visible, &event));
  REFUSED(KP_STATUS_NOTHING, kp_shown_read_event(visible, 0, targets, 1));
  OK(kp_viewer_rejoin(viewer));
  REFUSED(KP_STATUS_SIZE, kp_viewer_wanted(viewer, NULL, 0, &count));
  EXPECT(count == 2);

  piece.what.track = KP_TRACK_KIND_SNAPSHOTS;
  OK(kp_viewer_free(viewer));
  REFUSED(KP_STATUS_HANDLE, kp_viewer_shown(viewer, &visible));
  REFUSED(KP_STATUS_HANDLE, kp_shown_ids(visible, 0, shown_ids, BALLS, &count));
  REFUSED(KP_STATUS_HANDLE, kp_viewer_play(viewer, now, &playback));
  REFUSED(KP_STATUS_HANDLE, kp_viewer_take(viewer, now, &piece.what, piece.bytes, 1, NULL));
  REFUSED(KP_STATUS_HANDLE, kp_viewer_free(viewer));
  OK(kp_publisher_free(publisher));
  REFUSED(KP_STATUS_HANDLE, kp_publisher_publish(publisher, world));
  REFUSED(KP_STATUS_HANDLE, kp_publisher_poll(publisher, &piece.what, piece.bytes, MOST_BYTES, &size));
  REFUSED(KP_STATUS_HANDLE, kp_publisher_set_all_entities(publisher, LEFT));
  const KpPublisher confused = {viewer.id};
  REFUSED(KP_STATUS_HANDLE, kp_publisher_free(confused));

  standard_catalogue(codec, schema);
  OK(kp_catalogue_free(catalogue));
  REFUSED(KP_STATUS_HANDLE, kp_publisher_new(catalogue, NULL, &publisher));
  REFUSED(KP_STATUS_HANDLE, kp_viewer_new(catalogue, NULL, &viewer));
  OK(kp_snapshot_free(world));
  OK(kp_snapshot_free(last));
  OK(kp_snapshot_free(newest));
  OK(kp_snapshot_free(foreign));
  OK(kp_codec_free(codec));
  OK(kp_schema_free(schema));
  OK(kp_schema_free(other_schema));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
