// The catalogue of broadcast.c: it is created, sent, read and refused.

#ifndef BROADCAST_CATALOGUE_H
#define BROADCAST_CATALOGUE_H

#include <string.h>

#include "../check.h"

enum { TICK_HZ = 60 };
enum { FULL, LEFT, FAST, TIERS };

static KpCatalogue make_catalogue(KpCodec codec) {
  KpTier tiers[TIERS];
  KpCatalogue catalogue;
  memset(tiers, 0, sizeof tiers);
  for (int tier = 0; tier < TIERS; tier += 1) {
    tiers[tier].codec = codec;
    tiers[tier].ticks_per_group = 60;
  }
  tiers[FULL].name = "full";
  tiers[FULL].frames_per_object = 2;
  tiers[LEFT].name = "left";
  tiers[LEFT].ticks_per_frame = 2;
  tiers[FAST].name = "fast";
  tiers[FAST].carry = KP_CARRY_DATAGRAMS;
  OK(kp_catalogue_new(TICK_HZ, tiers, TIERS, &catalogue));

  // Invalid tiers.
  KpCatalogue wrong;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(0, tiers, TIERS, &wrong));
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(65536, tiers, TIERS, &wrong));
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, 0, &wrong));
  REFUSED(KP_STATUS_POINTER, kp_catalogue_new(TICK_HZ, NULL, TIERS, &wrong));
  REFUSED(KP_STATUS_POINTER, kp_catalogue_new(TICK_HZ, tiers, TIERS, NULL));
  tiers[LEFT].name = "full";
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].name = "Left";
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].name = NULL;
  REFUSED(KP_STATUS_POINTER, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].name = "left";
  tiers[LEFT].carry = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].carry = 0;
  tiers[LEFT].ticks_per_frame = 61;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].ticks_per_frame = 65536;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[LEFT].ticks_per_frame = 2;
  tiers[FAST].frames_per_object = 300;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[FAST].frames_per_object = 1;
  tiers[FAST].ticks_per_group = 128;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  tiers[FAST].ticks_per_group = 60;
  tiers[FAST].codec.id = 0;
  REFUSED(KP_STATUS_HANDLE, kp_catalogue_new(TICK_HZ, tiers, TIERS, &wrong));
  return catalogue;
}

// The catalogue as a viewer receives it.
static KpCatalogue send_catalogue(KpCatalogue catalogue) {
  static uint8_t bytes[5000];
  KpCatalogue read;
  uint32_t tick_hz, tiers, tier;
  size_t size;
  char name[80];
  KpTierInfo info;
  REFUSED(KP_STATUS_SIZE, kp_catalogue_to_bytes(catalogue, bytes, 3, &size));
  OK(kp_catalogue_to_bytes(catalogue, bytes, sizeof bytes, &size));
  for (size_t cut = 0; cut < size; cut += 1) {
    REFUSED(KP_STATUS_DATA, kp_catalogue_from_bytes(bytes, cut, &read));
  }
  REFUSED(KP_STATUS_POINTER, kp_catalogue_from_bytes(NULL, size, &read));
  OK(kp_catalogue_from_bytes(bytes, size, &read));
  OK(kp_catalogue_info(read, &tick_hz, &tiers));
  EXPECT(tick_hz == TICK_HZ && tiers == TIERS);
  OK(kp_catalogue_tier(read, FAST, &info));
  EXPECT(info.carry == KP_CARRY_DATAGRAMS && info.ticks_per_frame == 1 && info.ticks_per_group == 60);
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_tier(read, TIERS, &info));
  OK(kp_catalogue_find(read, "left", &tier));
  EXPECT(tier == LEFT);
  REFUSED(KP_STATUS_NOTHING, kp_catalogue_find(read, "right", &tier));
  REFUSED(KP_STATUS_POINTER, kp_catalogue_find(read, NULL, &tier));
  KpTrack track = {LEFT, KP_TRACK_KIND_KEYS};
  OK(kp_catalogue_track_name(read, &track, name, sizeof name, &size));
  EXPECT(strcmp(name, "left.keys") == 0 && size == strlen(name) + 1);
  REFUSED(KP_STATUS_SIZE, kp_catalogue_track_name(read, &track, name, 4, &size));
  REFUSED(KP_STATUS_POINTER, kp_catalogue_track_name(read, NULL, name, sizeof name, &size));
  track.kind = 2;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_track_name(read, &track, name, sizeof name, &size));
  track.kind = 0;
  track.tier = TIERS;
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_track_name(read, &track, name, sizeof name, &size));
  return read;
}

// The tiers that suit most broadcasts, for a schema without bodies.
static void standard_catalogue(KpCodec codec, KpSchema schema) {
  KpCatalogue standard, wrong;
  uint32_t tick_hz, standard_tiers;
  OK(kp_catalogue_standard(TICK_HZ, codec, &standard));
  OK(kp_catalogue_info(standard, &tick_hz, &standard_tiers));
  EXPECT(tick_hz == TICK_HZ && standard_tiers == 4);
  REFUSED(KP_STATUS_ARGUMENT, kp_catalogue_standard(0, codec, &wrong));
  REFUSED(KP_STATUS_HANDLE, kp_catalogue_standard(TICK_HZ, (KpCodec){0}, &wrong));
  KpSchema its;
  uint64_t hash, its_hash;
  OK(kp_catalogue_schema(standard, &its));
  OK(kp_schema_hash(schema, &hash));
  OK(kp_schema_hash(its, &its_hash));
  EXPECT(hash == its_hash);
  OK(kp_schema_free(its));
  OK(kp_catalogue_free(standard));
  REFUSED(KP_STATUS_HANDLE, kp_catalogue_free(standard));
}

#endif
