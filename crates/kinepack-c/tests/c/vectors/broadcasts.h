// The commands of broadcasts.

#ifndef VECTORS_BROADCASTS_H
#define VECTORS_BROADCASTS_H

#include "words.h"

// Compares the tiers of a catalogue with "name:carry:frame:group:object;…". Returns their number.
static uint32_t expect_tiers(KpCatalogue of, char *listed) {
  uint32_t count = 0, found;
  char *save = NULL, name[65];
  size_t name_size;
  for (char *each = strtok_r(listed, ";", &save); each != NULL; each = strtok_r(NULL, ";", &save)) {
    const KpTrack track = {count, KP_TRACK_KIND_SNAPSHOTS};
    KpTierInfo tier;
    unsigned carry, frame, group, object;
    char expected_name[65];
    EXPECT(sscanf(each, "%64[^:]:%u:%u:%u:%u", expected_name, &carry, &frame, &group, &object) == 5);
    OK(kp_catalogue_tier(of, count, &tier));
    EXPECT(tier.carry == (int32_t)carry && tier.ticks_per_frame == frame);
    EXPECT(tier.ticks_per_group == group && tier.frames_per_object == object);
    OK(kp_catalogue_track_name(of, &track, name, sizeof name, &name_size));
    EXPECT(strcmp(name, expected_name) == 0 && name_size == strlen(name) + 1);
    OK(kp_catalogue_find(of, name, &found));
    EXPECT(found == count);
    count += 1;
  }
  return count;
}

static void catalogue(void) {
  KpCatalogue made;
  KpSchema its;
  uint32_t tick_hz, tiers;
  size_t written;
  read_word(4);
  OK(kp_catalogue_from_bytes(bytes, size, &made));
  OK(kp_catalogue_info(made, &tick_hz, &tiers));
  EXPECT(tick_hz == strtoul(words[2], NULL, 10) && tiers == expect_tiers(made, words[3]));
  OK(kp_catalogue_to_bytes(made, result, sizeof result, &written));
  expect_bytes(written);
  OK(kp_catalogue_schema(made, &its));
  keep("catalogue", words[1], made.id);
  keep("schema of catalogue", words[1], its.id);
}

static void publisher(void) {
  const KpCatalogue of = {handle_of("catalogue", words[2])};
  KpPublisherOptions options = {0};
  KpPublisher made;
  KpSnapshot world;
  options.first_group = strtoull(words[3], NULL, 10);
  options.delay_ticks = (uint32_t)strtoul(words[4], NULL, 10);
  OK(kp_publisher_new(of, &options, &made));
  const KpSchema its = {handle_of("schema of catalogue", words[2])};
  OK(kp_snapshot_new(its, &world));
  keep("publisher", words[1], made.id);
  keep("world of", words[1], world.id);
}

static void selects(void) {
  const KpPublisher of = {handle_of("publisher", words[1])};
  static uint32_t ids[MOST_NUMBERS];
  size_t count = 0;
  char *save = NULL;
  if (strcmp(words[3], "-") != 0) {
    for (char *id = strtok_r(words[3], ",", &save); id != NULL; id = strtok_r(NULL, ",", &save)) {
      EXPECT(count < MOST_NUMBERS);
      ids[count++] = (uint32_t)strtoul(id, NULL, 10);
    }
  }
  OK(kp_publisher_set_entities(of, (uint32_t)strtoul(words[2], NULL, 10), ids, count));
}

static void publishes(void) {
  const KpPublisher of = {handle_of("publisher", words[1])};
  const KpSnapshot world = {handle_of("world of", words[1])};
  const KpView state = {handle_of("view", words[2])};
  KpPiece next;
  // All pieces of the previous tick were taken.
  REFUSED(KP_STATUS_NOTHING, kp_publisher_poll(of, &next, result, sizeof result, &size));
  OK(kp_view_get(state, world));
  OK(kp_publisher_publish(of, world));
}

// The piece of the words from this one on: tier, track, group, object, tick.
static KpPiece described_piece(int first) {
  KpPiece described = {0};
  described.tier = (uint32_t)strtoul(words[first], NULL, 10);
  described.track = atoi(words[first + 1]);
  described.group = strtoull(words[first + 2], NULL, 10);
  described.is_datagram = strcmp(words[first + 3], "-") == 0;
  if (!described.is_datagram) described.object = strtoull(words[first + 3], NULL, 10);
  described.tick = (uint32_t)strtoul(words[first + 4], NULL, 10);
  return described;
}

static void gives(void) {
  const KpPublisher of = {handle_of("publisher", words[1])};
  const KpPiece described = described_piece(2);
  KpPiece next;
  size_t written;
  read_word(7);
  OK(kp_publisher_poll(of, &next, result, sizeof result, &written));
  expect_bytes(written);
  EXPECT(next.tier == described.tier && next.track == described.track);
  EXPECT(next.group == described.group && next.is_datagram == described.is_datagram);
  EXPECT(next.object == described.object && next.tick == described.tick);
}

static void viewer(void) {
  const KpCatalogue of = {handle_of("catalogue", words[2])};
  const uint32_t tier = (uint32_t)strtoul(words[3], NULL, 10);
  KpViewer made;
  OK(kp_viewer_new(of, NULL, &made));
  OK(kp_viewer_watch(made, &tier, 1));
  keep("viewer", words[1], made.id);
  keep("schema of viewer", words[1], handle_of("schema of catalogue", words[2]));
}

static void piece(void) {
  const KpViewer of = {handle_of("viewer", words[1])};
  const KpSchema its = {handle_of("schema of viewer", words[1])};
  const KpPiece described = described_piece(2);
  KpTaken taken;
  KpSnapshot newest;
  read_word(10);
  OK(kp_viewer_take(of, strtoull(words[7], NULL, 10), &described, bytes, size, &taken));
  EXPECT(taken.is_read == atoi(words[8]));
  if (taken.is_read) EXPECT(taken.tick == described.tick);
  OK(kp_snapshot_new(its, &newest));
  if (strcmp(words[9], "-") == 0) {
    REFUSED(KP_STATUS_NOTHING, kp_viewer_newest(of, newest));
  } else {
    uint64_t hash;
    OK(kp_viewer_newest(of, newest));
    OK(kp_snapshot_hash(newest, &hash));
    EXPECT(hash == hash_from(words[9]));
  }
  OK(kp_snapshot_free(newest));
}

#endif
