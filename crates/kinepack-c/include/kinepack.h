// Kinepack for C: the state of moving things in few bits. Written by cbindgen from the Rust sources.
//
// Rules of every function:
//
// - It returns a KpStatus. If that is not KP_STATUS_OK, nothing has changed, and kp_error_text gives
//   the reason to the same thread.
// - An object is a handle: a number with a generation. The caller frees it with kp_..._free. A handle
//   that was freed, one of another type and one of all zeros are refused.
// - The library uses memory of the caller only during a call, and never frees or keeps it. A pointer
//   may be null if its count is 0.
// - No panic leaves the library.
// - Any thread may call with any handle. Calls that change one object wait for each other.

#ifndef KINEPACK_H
#define KINEPACK_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface: it grows when a function or a struct changes, not when one is added.
// A program that loads the shared library compares it with `kp_abi` once.
#define KP_ABI 1

// What a function returns.
enum KpStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It did what it says.
  KP_STATUS_OK = 0,
  // A pointer is null that must not be, or is not aligned.
  KP_STATUS_POINTER = 1,
  // A handle is zero, was freed, or is of another type.
  KP_STATUS_HANDLE = 2,
  // An argument is out of its range, or does not fit the others.
  KP_STATUS_ARGUMENT = 3,
  // The memory of the caller is too small. The needed size was written.
  KP_STATUS_SIZE = 4,
  // Bytes from outside are not valid: a file, a packet, a datagram.
  KP_STATUS_DATA = 5,
  // A value cannot be quantized: it is not a number, or out of its range.
  KP_STATUS_VALUE = 6,
  // There is nothing yet, or not any more.
  KP_STATUS_NOTHING = 7,
  // A defect of the library. Please report it.
  KP_STATUS_PANIC = 8,
  // A file cannot be read or written.
  KP_STATUS_FILE = 9,
  // The call did its work, but not for all receivers: the text names those that failed.
  KP_STATUS_RECEIVERS = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpStatus KpStatus;
#else
typedef int32_t KpStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Whom a datagram is for.
enum KpDatagramKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A hub.
  KP_DATAGRAM_KIND_TO_HUB = 0,
  // A receiver.
  KP_DATAGRAM_KIND_TO_RECEIVER = 1,
  // A receiver of a stream.
  KP_DATAGRAM_KIND_TO_STREAM_RECEIVER = 2,
  // A sender of a stream.
  KP_DATAGRAM_KIND_TO_STREAM_SENDER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpDatagramKind KpDatagramKind;
#else
typedef int32_t KpDatagramKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a field is made of.
enum KpFieldKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Real numbers with limits.
  KP_FIELD_KIND_FLOATS = 0,
  // An integer with limits.
  KP_FIELD_KIND_INTEGER = 1,
  // A rotation x, y, z, w.
  KP_FIELD_KIND_ROTATION = 2,
  // A flag, 0 or 1.
  KP_FIELD_KIND_BOOL = 3,
  // One of several alternatives.
  KP_FIELD_KIND_CHOICE = 4,
  // Bit patterns of 32 bits.
  KP_FIELD_KIND_RAW = 5,
  // Opaque bytes.
  KP_FIELD_KIND_BYTES = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpFieldKind KpFieldKind;
#else
typedef int32_t KpFieldKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a tier travels.
enum KpCarry
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // In groups: each snapshot is coded against the one before, and takes the fewest bits. A
  // viewer sees a lost packet as a delay.
  KP_CARRY_GROUPS = 0,
  // In datagrams that are coded against the beginning of the group: a lost one costs one
  // snapshot and no delay.
  KP_CARRY_DATAGRAMS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpCarry KpCarry;
#else
typedef int32_t KpCarry;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How numbers are coded by magnitude.
enum KpMagnitudeForm
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Real numbers, rounded to multiples of a precision. It takes the bits of Unreal's
  // `FVector_NetQuantize`.
  KP_MAGNITUDE_FORM_MULTIPLES = 0,
  // Integers from -2^32 to 2^32 - 1, exactly.
  KP_MAGNITUDE_FORM_STEPS = 1,
  // Real numbers within limits, as differences from others that both sides hold.
  KP_MAGNITUDE_FORM_DIFFERENCE = 2,
  // The same. If a number has no place within the limits, all are written unchanged.
  KP_MAGNITUDE_FORM_ANY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpMagnitudeForm KpMagnitudeForm;
#else
typedef int32_t KpMagnitudeForm;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of a number in memory of the caller.
enum KpNumber
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // `float`
  KP_NUMBER_F32 = 0,
  // `double`
  KP_NUMBER_F64 = 1,
  // `int8_t`
  KP_NUMBER_I8 = 2,
  // `int16_t`
  KP_NUMBER_I16 = 3,
  // `int32_t`
  KP_NUMBER_I32 = 4,
  // `int64_t`
  KP_NUMBER_I64 = 5,
  // `uint8_t`, and `bool`
  KP_NUMBER_U8 = 6,
  // `uint16_t`
  KP_NUMBER_U16 = 7,
  // `uint32_t`
  KP_NUMBER_U32 = 8,
  // `uint64_t`
  KP_NUMBER_U64 = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpNumber KpNumber;
#else
typedef int32_t KpNumber;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a field means for motion.
enum KpRole
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing special.
  KP_ROLE_PLAIN = 0,
  // A velocity, which is zero at rest.
  KP_ROLE_VELOCITY = 1,
  // The position (three real numbers) or the rotation of a rigid body.
  KP_ROLE_BODY = 2,
  // The flag of a body that something moves.
  KP_ROLE_TOUCHED = 3,
  // The flag of a body that moves others.
  KP_ROLE_MOVER = 4,
  // A time stamp by which the fields of a stream move.
  KP_ROLE_CLOCK = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpRole KpRole;
#else
typedef int32_t KpRole;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A track of a tier.
enum KpTrackKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Its snapshots.
  KP_TRACK_KIND_SNAPSHOTS = 0,
  // Its key snapshots, which viewers need to join.
  KP_TRACK_KIND_KEYS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpTrackKind KpTrackKind;
#else
typedef int32_t KpTrackKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a value is.
enum KpValueKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A real number from `min` to `max`, in steps of `precision`.
  KP_VALUE_KIND_REAL = 0,
  // A real number on a circle, such as an angle: after `max` it begins again at `min`.
  KP_VALUE_KIND_CYCLIC = 1,
  // An integer from `min` to `max`, each of at most 2^53.
  KP_VALUE_KIND_INTEGER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpValueKind KpValueKind;
#else
typedef int32_t KpValueKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An `r3d2canm` file, the animations of League of Legends. It does not change.
typedef struct KpAnm {
  // Zero is no handle.
  uint64_t id;
} KpAnm;

// What an `r3d2canm` file is.
typedef struct KpAnmInfo {
  // 1, 2 or 3.
  uint32_t version;
  // Number of joints.
  uint32_t joints;
  // Number of keys of all joints.
  uint32_t keys;
  // The duration in seconds.
  float duration_s;
  // Samples a second of the source. Playback does not need it.
  float rate_hz;
} KpAnmInfo;

// Where a pose goes: the bones of an engine's skeleton, from one to the next by a stride, so that an
// array of structs and three arrays both do. A part whose pointer is null is left out. Numbers need
// no alignment.
typedef struct KpPose {
  // The translation x, y, z of the first bone.
  void *translations;
  // Bytes from one bone to the next.
  size_t translation_stride;
  // The rotation x, y, z, w of the first bone.
  void *rotations;
  // Bytes from one bone to the next.
  size_t rotation_stride;
  // The scale x, y, z of the first bone.
  void *scales;
  // Bytes from one bone to the next.
  size_t scale_stride;
  // The number of bones at the pointers.
  size_t bones;
  // For each joint of the clip its bone, or `UINT32_MAX` for none.
  const uint32_t *bone_of_joint;
  // The length of `bone_of_joint`, which is the number of joints. With 0, joint 0 is bone 0, and so
  // on; the engine then has at least as many bones as the clip has joints.
  size_t joints;
  // `KP_NUMBER_F32` or `KP_NUMBER_F64`.
  int32_t number;
  // Not 0: rotations are w, x, y, z.
  int32_t w_first;
  // Units in a metre: 0 or 1 for metres, 100 for centimetres.
  float units_per_m;
} KpPose;

// A codec. It does not change.
typedef struct KpCodec {
  // Zero is no handle.
  uint64_t id;
} KpCodec;

// A tier to make.
typedef struct KpTier {
  // The name of its track: up to 64 lower-case letters, digits, `-`, `.` and `_`.
  const char *name;
  // How its snapshots are coded. All tiers have the same schema; only the time precision of its
  // fields may differ.
  struct KpCodec codec;
  // A `KpCarry`.
  int32_t carry;
  // Ticks from one snapshot to the next. 0: 1.
  uint32_t ticks_per_frame;
  // The most ticks of a group, at most 127 in datagrams. A viewer joins at the beginning of one.
  uint32_t ticks_per_group;
  // How many snapshots travel together in an object, at most 16. 0: 1. Each object has about 50
  // bytes of headers, and its first snapshot waits for the last.
  uint32_t frames_per_object;
} KpTier;

// What a broadcast consists of: one world in several forms, its tiers. It does not change.
typedef struct KpCatalogue {
  // Zero is no handle.
  uint64_t id;
} KpCatalogue;

// A schema. It does not change.
typedef struct KpSchema {
  // Zero is no handle.
  uint64_t id;
} KpSchema;

// What a tier is.
typedef struct KpTierInfo {
  // A `KpCarry`.
  int32_t carry;
  // Ticks from one snapshot to the next.
  uint32_t ticks_per_frame;
  // The most ticks of a group.
  uint32_t ticks_per_group;
  // How many snapshots travel together.
  uint32_t frames_per_object;
} KpTierInfo;

// What a transport carries as one track: groups of objects, and datagrams.
typedef struct KpTrack {
  // The number of the tier.
  uint32_t tier;
  // A `KpTrackKind`.
  int32_t kind;
} KpTrack;

// What many clips of one skeleton share. It does not change.
typedef struct KpRig {
  // Zero is no handle.
  uint64_t id;
} KpRig;

// A compressed animation clip. It does not change.
typedef struct KpClip {
  // Zero is no handle.
  uint64_t id;
} KpClip;

// What a clip is.
typedef struct KpClipInfo {
  // Number of joints.
  uint32_t joints;
  // Sample times of the motion that it was built from.
  uint32_t samples;
  // Samples a second.
  float rate_hz;
  // Seconds from the first sample to the last.
  float duration_s;
  // The hash of its skeleton.
  uint64_t skeleton_hash;
  // Bytes of the clip in memory, without its players.
  uint64_t bytes;
  // Number of curves: numbers beside the joints, such as weights of blend shapes.
  uint32_t curves;
  // Number of markers: named times, such as footsteps.
  uint32_t markers;
} KpClipInfo;

// The joints of a rig. It does not change.
typedef struct KpSkeleton {
  // Zero is no handle.
  uint64_t id;
} KpSkeleton;

// Plays one clip on one character. Players of a clip share its memory.
typedef struct KpPlayer {
  // Zero is no handle.
  uint64_t id;
} KpPlayer;

// What both sides hold after a packet: a snapshot, and what the models have learned. It does not
// change.
typedef struct KpView {
  // Zero is no handle.
  uint64_t id;
} KpView;

// The state of all entities at one tick.
typedef struct KpSnapshot {
  // Zero is no handle.
  uint64_t id;
} KpSnapshot;

// Encodes snapshots.
typedef struct KpEncoder {
  // Zero is no handle.
  uint64_t id;
} KpEncoder;

// Decodes packets.
typedef struct KpDecoder {
  // Zero is no handle.
  uint64_t id;
} KpDecoder;

// A part of what arrived as one datagram.
typedef struct KpPart {
  // Whom it is for.
  KpDatagramKind kind;
  // The channel of the endpoint.
  uint32_t channel;
  // Where it begins.
  size_t offset;
  // Its bytes.
  size_t size;
} KpPart;

// Kinds of events. Both sides of a connection need the same. It does not change.
typedef struct KpEvents {
  // Zero is no handle.
  uint64_t id;
} KpEvents;

// Writes groups.
typedef struct KpGroupWriter {
  // Zero is no handle.
  uint64_t id;
} KpGroupWriter;

// Reads groups.
typedef struct KpGroupReader {
  // Zero is no handle.
  uint64_t id;
} KpGroupReader;

// How a hub sends. A number of 0 takes the default.
typedef struct KpHubOptions {
  // The largest datagram that the transport carries, without its own headers. Default: 1,200.
  uint32_t datagram_bytes;
  // The number of this hub among those on one connection, which is that of its receivers.
  uint32_t channel;
  // What the transport adds to each datagram, which budgets include. Default: 28.
  uint32_t overhead_bytes;
  // The most datagrams that a receiver gets in a tick. Default: 4.
  uint32_t datagrams_per_tick;
  // The kinds of events, or zero for none.
  struct KpEvents events;
} KpHubOptions;

// Sends one world to many receivers. It has no sockets and no clock: datagrams and the time go in,
// datagrams come out. The transport must deliver a datagram unaltered or not at all: use one that is
// encrypted or authenticated, since many altered datagrams are other valid ones.
typedef struct KpHub {
  // Zero is no handle.
  uint64_t id;
} KpHub;

// What a hub knows of a receiver.
typedef struct KpHubStatus {
  // Not 0 once the receiver's hello was accepted.
  int32_t joined;
  // Datagrams sent.
  uint64_t sent;
  // Of those sent, how many were acknowledged.
  uint64_t acknowledged;
  // Of those sent, how many were overtaken or not acknowledged in time.
  uint64_t lost;
  // Bytes sent, without the transport's headers.
  uint64_t bytes;
  // The smoothed time from sending a datagram to its acknowledgement; negative before the first.
  double round_trip_ms;
  // Entities that should have been sent in the last tick but did not fit.
  uint64_t waiting;
  // Events that were never sent yet.
  uint64_t waiting_events;
  // Events that must arrive and never will, because too many waited. If there are any, remove the
  // receiver.
  uint64_t refused_events;
} KpHubStatus;

// The numbers of a field in memory of the caller, to read from: those of one entity are next to
// each other, and from one entity to the next it is `stride` bytes. They need no alignment.
typedef struct KpColumn {
  // The first number of the first entity.
  const void *data;
  // Bytes from one entity to the next. With 0, all entities have the same numbers.
  size_t stride;
  // A `KpNumber`. Real numbers and rotations take `KP_NUMBER_F32` and `KP_NUMBER_F64`, all other
  // fields integers.
  int32_t number;
  // Not 0: values out of range become the nearest end instead of an error.
  int32_t clamp;
} KpColumn;

// A component of a vector.
typedef struct KpComponent {
  // The number to write, or that was read. Real numbers are rounded to a `float`.
  double value;
  // What both sides hold. Only for differences, as all that follows.
  double before;
  // The least number.
  double min;
  // The largest number. On a circle it is the number that means the same as `min`.
  double max;
  // The step. A number is off by at most half of it.
  double precision;
  // Not 0: a number on a circle, such as an angle.
  int32_t is_cyclic;
} KpComponent;

// Up to four numbers that are coded together, such as a vector. The largest one decides how many
// bits each of them takes.
typedef struct KpMagnitude {
  // A `KpMagnitudeForm`.
  int32_t form;
  // How many numbers, 1 to 4.
  uint32_t count;
  // Multiples only: steps in a unit, 1, 10 or 100.
  uint32_t steps_per_unit;
  // The numbers. Those from `count` on are not used.
  struct KpComponent components[4];
} KpMagnitude;

// How a publisher works.
typedef struct KpPublisherOptions {
  // The number of the first group, below 2^61. After a restart take one above all before, such
  // as the seconds since 1970, so that relays and viewers do not mix the two.
  uint64_t first_group;
  // How many ticks later it gives the pieces, against players who watch their own match.
  uint32_t delay_ticks;
} KpPublisherOptions;

// Publishes one world for any number of viewers: it encodes each snapshot once for each tier,
// however many watch. It has no sockets: objects and datagrams come out, which relays or your
// servers pass on.
typedef struct KpPublisher {
  // Zero is no handle.
  uint64_t id;
} KpPublisher;

// What a transport carries: an object of a group, or a datagram.
typedef struct KpPiece {
  // The number of its group in the track.
  uint64_t group;
  // The number of the object in its group. Object 0 begins the group, and ends the one before.
  uint64_t object;
  // The number of the tier.
  uint32_t tier;
  // A `KpTrackKind`.
  int32_t track;
  // Not 0: a datagram. Then it has no `object`, and viewers do not need its `group`.
  int32_t is_datagram;
  // The tick of its last snapshot. Viewers do not need it.
  uint32_t tick;
} KpPiece;

// How a receiver works. A number of 0 takes the default.
typedef struct KpReceiverOptions {
  // The number of the hub among those on one connection.
  uint32_t channel;
  // The least delay of what is shown. Default: the network alone decides.
  uint32_t min_delay_ms;
  // The largest delay of what is shown. Default: 500.
  uint32_t max_delay_ms;
  // The most memory for views and states, in bytes. Default: 128 MiB.
  uint64_t max_memory_bytes;
  // The kinds of events of the hub, or zero for none.
  struct KpEvents events;
} KpReceiverOptions;

// Receives the world of a hub. It has no socket and no clock.
typedef struct KpReceiver {
  // Zero is no handle.
  uint64_t id;
} KpReceiver;

// What is shown.
typedef struct KpPlayback {
  // The tick that is shown, with its fraction.
  double tick;
  // Not 0: no newer state had arrived when it was needed.
  int32_t is_starved;
} KpPlayback;

// The numbers of a field in memory of the caller, to write to.
typedef struct KpTarget {
  // The first number of the first entity. If it is null, the field is left out.
  void *data;
  // Bytes from one entity to the next.
  size_t stride;
  // A `KpNumber` that can hold every value of the field.
  int32_t number;
} KpTarget;

// An event that is due.
typedef struct KpEvent {
  // The tick at which it happened.
  uint32_t tick;
  // The index of its kind among the kinds of the events' schema.
  uint32_t kind;
  // Not 0: an earlier moment already showed its tick.
  int32_t is_late;
} KpEvent;

// What a receiver knows of its connection.
typedef struct KpReceiverStatus {
  // Not 0 once a snapshot was taken.
  int32_t joined;
  // Datagrams taken.
  uint64_t received;
  // Datagrams refused, including duplicates.
  uint64_t refused;
  // Datagrams of the hub that are missing.
  uint64_t lost;
  // Bytes of all datagrams.
  uint64_t bytes;
  // The smoothed time from sending an acknowledgement to the first snapshot that builds on it;
  // negative before the first.
  double round_trip_ms;
  // The tick that the server simulates now, with its fraction; negative while it is not known.
  double server_tick;
} KpReceiverStatus;

// Writes a replay file.
typedef struct KpReplayWriter {
  // Zero is no handle.
  uint64_t id;
} KpReplayWriter;

// The size of a replay file.
typedef struct KpReplaySummary {
  // Snapshots.
  uint64_t frames;
  // Groups, which are a second long.
  uint64_t groups;
  // Bytes of the file.
  uint64_t bytes;
} KpReplaySummary;

// Keeps the last seconds of a world in memory.
typedef struct KpKillCam {
  // Zero is no handle.
  uint64_t id;
} KpKillCam;

// A replay that is read.
typedef struct KpReplay {
  // Zero is no handle.
  uint64_t id;
} KpReplay;

// What a replay is.
typedef struct KpReplayInfo {
  // Ticks a second.
  double rate_hz;
  // The first tick.
  uint32_t first_tick;
  // The last tick.
  uint32_t last_tick;
  // Number of markers.
  uint32_t markers;
  // Not 0: its writer ended it. Else it is still written, or its writer was killed.
  int32_t is_complete;
} KpReplayInfo;

// A field of a kind.
typedef struct KpField {
  // What it is made of.
  KpFieldKind kind;
  // The numbers that a column has for each entity: 3 for a position, 4 for a rotation.
  uint32_t numbers;
  // Its lanes.
  uint32_t lanes;
  // The index of its first lane among those of its kind.
  uint32_t first_lane;
} KpField;

// A schema that is being built, kind by kind and field by field.
typedef struct KpSchemaBuilder {
  // Zero is no handle.
  uint64_t id;
} KpSchemaBuilder;

// How a stream is sent. Both ends need the same. A number of 0 takes the default.
typedef struct KpStreamOptions {
  // The longest round trip without extra cost. Default: 500.
  uint32_t longest_round_trip_ms;
  // How many earlier records each packet repeats, up to 15. Default: 1. Negative: none.
  int32_t repeats;
  // How many records a receiver accepts at once, at least 16. Default: 64.
  uint32_t burst_records;
  // The number of the stream among those on one connection.
  uint32_t channel;
  // The largest datagram that the transport carries. Default: 1,200.
  uint32_t datagram_bytes;
  // The number of the first record.
  uint16_t first_number;
} KpStreamOptions;

// Sends the records of a client. It has no socket and no clock.
typedef struct KpStreamSender {
  // Zero is no handle.
  uint64_t id;
} KpStreamSender;

// Receives the records of one client.
typedef struct KpStreamReceiver {
  // Zero is no handle.
  uint64_t id;
} KpStreamReceiver;

// A record that arrived.
typedef struct KpRecord {
  // Its number, which `kp_stream_push` gave to the sender.
  uint16_t number;
  // Not 0: it came as a repeat, because its own packet is missing.
  uint8_t is_repeated;
  // Not 0: a newer record came before.
  uint8_t is_late;
} KpRecord;

// A codec of streams. Both sides need the same.
typedef struct KpStreamCodec {
  // Zero is no handle.
  uint64_t id;
} KpStreamCodec;

// What a packet is coded against: a record that both sides hold, and what was learned up to it. It
// does not change.
typedef struct KpStreamBase {
  // Zero is no handle.
  uint64_t id;
} KpStreamBase;

// A value, and how it is coded relative to one that both sides hold.
typedef struct KpValue {
  // A `KpValueKind`.
  int32_t kind;
  // Not 0: differences from `least` to `most` are coded in few bits. Then an unchanged value takes
  // 1 bit, a small difference 2 bits and its own, and any other value 2 bits and a whole code.
  // 0: an unchanged value takes 1 bit, any other 1 bit and a whole code.
  int32_t has_small;
  // The least value.
  double min;
  // The largest value.
  double max;
  // The step of a real number, which is then off by at most half of it.
  double precision;
  // The least small difference.
  double least;
  // The largest small difference.
  double most;
  // What both sides hold.
  double before;
  // The value to write, or that was read.
  double value;
} KpValue;

// How a viewer works. A number of 0 takes the default.
typedef struct KpViewerOptions {
  // The least delay of what is shown. Default: the network alone decides.
  uint32_t min_delay_ms;
  // The largest delay of what is shown. Default: 500.
  uint32_t max_delay_ms;
  // For how long it keeps states to go back to. Default: none.
  uint32_t history_ms;
  // The most memory for states, in bytes. Default: 256 MiB.
  uint64_t max_memory_bytes;
} KpViewerOptions;

// Watches a broadcast. It has no socket and no clock: objects and datagrams go in, states to show
// come out. It sends nothing.
typedef struct KpViewer {
  // Zero is no handle.
  uint64_t id;
} KpViewer;

// What a piece led to.
typedef struct KpTaken {
  // Not 0: a snapshot could be read with it. 0: the piece waits for others.
  int32_t is_read;
  // The tick of the newest snapshot that could be read.
  uint32_t tick;
} KpTaken;

// What a viewer has counted and measured.
typedef struct KpViewerStatus {
  // Snapshots decoded.
  uint64_t snapshots;
  // Those that were only read to catch up, and not shown.
  uint64_t caught_up;
  // Those too late to be shown.
  uint64_t late;
  // Objects and datagrams refused.
  uint64_t refused;
  // Bytes of all objects and datagrams.
  uint64_t bytes;
  // The delay of what is shown.
  double delay_ms;
  // How much the times of arrival vary.
  double jitter_ms;
} KpViewerStatus;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads a file. The caller frees `*out` with `kp_anm_free`.
KpStatus kp_anm_from_bytes(const uint8_t *bytes, size_t size, struct KpAnm *out);

// Writes a file: `*size` bytes, if they are at most `capacity`.
KpStatus kp_anm_to_bytes(struct KpAnm anm, uint8_t *bytes, size_t capacity, size_t *size);

// What a file is.
KpStatus kp_anm_info(struct KpAnm anm, struct KpAnmInfo *out);

// The hash of the name of a joint. A file does not contain the name.
KpStatus kp_anm_joint(struct KpAnm anm, uint32_t joint, uint32_t *hash);

// The hash of a name, to compare with those of `kp_anm_joint`.
KpStatus kp_anm_hash(const char *name, uint32_t *hash);

// Writes the pose at a time in seconds. A time outside of the file gives the pose of the nearer
// end. Each call reads the keys from the nearest jump cache on, or from the start if there is
// none: this is for import and comparison. To play, build a clip.
KpStatus kp_anm_sample(struct KpAnm anm, float time_s, const struct KpPose *pose);

// Frees a file.
KpStatus kp_anm_free(struct KpAnm anm);

// Writes bytes as runs, XORed with those of `base`, which both sides hold: `*size` bytes, if they
// are at most `capacity`. A shorter base is extended with zeros. It suits bytes that are mostly as
// before.
KpStatus kp_runs_encode(const uint8_t *base,
                        size_t base_size,
                        const uint8_t *bytes,
                        size_t byte_count,
                        uint8_t *runs,
                        size_t capacity,
                        size_t *size);

// Reads runs that `kp_runs_encode` wrote against the same base: `*size` bytes. Runs of more than
// `capacity` bytes are `KP_STATUS_DATA`.
KpStatus kp_runs_decode(const uint8_t *base,
                        size_t base_size,
                        const uint8_t *runs,
                        size_t run_bytes,
                        uint8_t *bytes,
                        size_t capacity,
                        size_t *size);

// Writes bytes as sparse bytes, XORed with those of `base`, which both sides hold: `*size` bytes,
// if they are at most `capacity`. A shorter base is extended with zeros. It suits short structs
// that mostly equal the base, such as inputs. Both sides need to know `byte_count`, which is not
// written.
KpStatus kp_sparse_encode(const uint8_t *base,
                          size_t base_size,
                          const uint8_t *bytes,
                          size_t byte_count,
                          uint8_t *sparse,
                          size_t capacity,
                          size_t *size);

// Reads `byte_count` bytes that `kp_sparse_encode` wrote against the same base. After an error
// `bytes` has not changed.
KpStatus kp_sparse_decode(const uint8_t *base,
                          size_t base_size,
                          const uint8_t *sparse,
                          size_t sparse_size,
                          uint8_t *bytes,
                          size_t byte_count);

// A catalogue of a simulation with this many ticks a second, and these tiers. Their numbers are
// their places in the list. The caller frees `*out` with `kp_catalogue_free`.
KpStatus kp_catalogue_new(uint32_t tick_hz,
                          const struct KpTier *tiers,
                          size_t count,
                          struct KpCatalogue *out);

// A catalogue with the tiers that suit most broadcasts: all snapshots ("full"), one in three
// ("third"), one in eight ("eighth"), and all in datagrams ("fast"). If the schema has bodies,
// also one in three with less precision for bodies that move ("coarse"). The caller frees `*out`
// with `kp_catalogue_free`.
KpStatus kp_catalogue_standard(uint32_t tick_hz, struct KpCodec codec, struct KpCatalogue *out);

// Reads a catalogue: the object of the track "catalogue". The caller frees `*out` with
// `kp_catalogue_free`.
KpStatus kp_catalogue_from_bytes(const uint8_t *bytes, size_t size, struct KpCatalogue *out);

// The bytes of a catalogue, to publish as the object of the track "catalogue": `*size` bytes, if
// they are at most `capacity`.
KpStatus kp_catalogue_to_bytes(struct KpCatalogue catalogue,
                               uint8_t *bytes,
                               size_t capacity,
                               size_t *size);

// The ticks a second of a broadcast, and its number of tiers.
KpStatus kp_catalogue_info(struct KpCatalogue catalogue, uint32_t *tick_hz, uint32_t *tiers);

// The schema of the world. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_catalogue_schema(struct KpCatalogue catalogue, struct KpSchema *out);

// What a tier is. All tiers are numbered from 0.
KpStatus kp_catalogue_tier(struct KpCatalogue catalogue, uint32_t tier, struct KpTierInfo *out);

// The number of the tier with a name. `KP_STATUS_NOTHING` if there is none.
KpStatus kp_catalogue_find(struct KpCatalogue catalogue, const char *name, uint32_t *tier);

// The name of a track for the transport, with a zero at the end: `*size` bytes, if they are at
// most `capacity`. For the track of snapshots it is the name of the tier.
KpStatus kp_catalogue_track_name(struct KpCatalogue catalogue,
                                 const struct KpTrack *track,
                                 char *name,
                                 size_t capacity,
                                 size_t *size);

// Frees a catalogue. What was made with it lives on.
KpStatus kp_catalogue_free(struct KpCatalogue catalogue);

// Reads a clip, in its form for memory or for disk. `rig` is zero for a clip without a rig. The
// caller frees `*out` with `kp_clip_free`.
KpStatus kp_clip_from_bytes(const uint8_t *bytes,
                            size_t size,
                            struct KpRig rig,
                            struct KpClip *out);

// What a clip is.
KpStatus kp_clip_info(struct KpClip clip, struct KpClipInfo *out);

// The name of a curve, with a zero at its end: `*size` bytes with the zero, if they are at most
// `capacity`.
KpStatus kp_clip_curve_name(struct KpClip clip,
                            uint32_t curve,
                            char *name,
                            size_t capacity,
                            size_t *size);

// A marker, by time: its time in seconds, and its name, with a zero at its end: `*size` bytes with the
// zero, if they are at most `capacity`.
KpStatus kp_clip_marker(struct KpClip clip,
                        uint32_t marker,
                        float *time_s,
                        char *name,
                        size_t capacity,
                        size_t *size);

// Frees a clip. Its players live on.
KpStatus kp_clip_free(struct KpClip clip);

// A player of a clip on its skeleton. The caller frees `*out` with `kp_player_free`.
KpStatus kp_player_new(struct KpClip clip, struct KpSkeleton skeleton, struct KpPlayer *out);

// A player of a clip on a skeleton of the engine, without comparing it with the clip's: `bind` has the
// bind pose, which stays for what the clip does not store. The caller frees `*out` with
// `kp_player_free`.
KpStatus kp_player_with_bind_pose(struct KpClip clip,
                                  const struct KpPose *bind,
                                  struct KpPlayer *out);

// Writes the pose at a time in seconds. A time before the clip gives its first pose, one after it its
// last.
KpStatus kp_player_sample(struct KpPlayer player,
                          float time_s,
                          const struct KpPose *pose);

// Writes the pose at a position in samples from the first: whole numbers are the sample times.
KpStatus kp_player_sample_at(struct KpPlayer player, double position, const struct KpPose *pose);

// Writes the values of all curves at a time in seconds. `count` is the number of the clip's curves.
KpStatus kp_player_curves(struct KpPlayer player, float time_s, float *curves, size_t count);

// Writes a mix of the poses of two players of the same skeleton: a `weight` of 0 gives the first, 1
// the second. `mask` has a factor of the weight for each joint; with a `mask_count` of 0 there is none.
KpStatus kp_player_blend(struct KpPlayer player,
                         float time_s,
                         struct KpPlayer other,
                         float other_time_s,
                         float weight,
                         const float *mask,
                         size_t mask_count,
                         const struct KpPose *pose);

// Frees a player.
KpStatus kp_player_free(struct KpPlayer player);

// A codec of a schema at a level ("packed" takes the least time, "adaptive" few bits, "learning"
// the fewest), with a profile file that was trained for the schema, or without one if
// `profile_size` is 0. The caller frees `*out` with `kp_codec_free`.
KpStatus kp_codec_new(struct KpSchema schema,
                      const char *level,
                      const uint8_t *profile,
                      size_t profile_size,
                      struct KpCodec *out);

// A hash of the schema, the level, the profile and the time precision. Two sides can read each
// other's packets only if their hashes are equal. Hubs and receivers compare them themselves.
KpStatus kp_codec_hash(struct KpCodec codec, uint64_t *hash);

// The widths and words of a codec's profile as text, for tools, with a zero at the end: `*size`
// bytes, if they are at most `capacity`. First come the codes of gaps: their widths, and the
// lengths of their words. Then follow, for each field, its context; for each class the reference
// and, for each lane, `width/beyond`; the lengths of the words, once for all contexts or for each.
// `spec/CODEC.md`, sections 7 and 9, describes these. The model of the adaptive levels is not in
// the text.
KpStatus kp_codec_profile_text(struct KpCodec codec, char *text, size_t capacity, size_t *size);

// Frees a codec. What was made with it lives on.
KpStatus kp_codec_free(struct KpCodec codec);

// The view without entities that both sides begin with. The caller frees `*out` with `kp_view_free`.
KpStatus kp_view_empty(struct KpSchema schema,
                       struct KpView *out);

// The view of a state that both sides hold, such as a saved one. The caller frees `*out` with
// `kp_view_free`.
KpStatus kp_view_of(struct KpSnapshot snapshot, struct KpView *out);

// Copies the state of a view into a snapshot of the same schema.
KpStatus kp_view_get(struct KpView view, struct KpSnapshot snapshot);

// The tick of a view.
KpStatus kp_view_tick(struct KpView view, uint32_t *tick);

// The state check of a view: a hash of 16 bits of its tick and its state. Two sides that hold the same
// have the same check.
KpStatus kp_view_check(struct KpView view,
                       uint16_t *check);

// Frees a view.
KpStatus kp_view_free(struct KpView view);

// An encoder. The caller frees `*out` with `kp_encoder_free`.
KpStatus kp_encoder_new(struct KpCodec codec, struct KpEncoder *out);

// Encodes a snapshot relative to one to four views that the other side holds, the newest first:
// more than one helps the levels "adaptive" and "learning". Writes the packet, of `*size` bytes,
// and gives the view that the other side will have. If `capacity` is too small, only `*size` is
// written. The caller frees `*view` with `kp_view_free`; `view` may be null.
KpStatus kp_encode(struct KpEncoder encoder,
                   const struct KpView *views,
                   size_t view_count,
                   struct KpSnapshot snapshot,
                   uint8_t *packet,
                   size_t capacity,
                   size_t *size,
                   struct KpView *view);

// Frees an encoder.
KpStatus kp_encoder_free(struct KpEncoder encoder);

// A decoder. The caller frees `*out` with `kp_decoder_free`.
KpStatus kp_decoder_new(struct KpCodec codec, struct KpDecoder *out);

// Decodes a packet relative to the views that it was encoded against, the newest first. Gives the
// view that it leads to; the caller frees `*view` with `kp_view_free`. Any bytes are refused or are
// a valid view. `tick` is that of the snapshot; a packet does not contain it.
KpStatus kp_decode(struct KpDecoder decoder,
                   const struct KpView *views,
                   size_t view_count,
                   const uint8_t *packet,
                   size_t size,
                   uint32_t tick,
                   struct KpView *view);

// Frees a decoder.
KpStatus kp_decoder_free(struct KpDecoder decoder);

// Splits what arrived as one datagram, such as an acknowledgement of a stream in front of a
// snapshot: `*count` parts, if they are at most `capacity`. To combine datagrams, append one to the
// other.
KpStatus kp_split_datagram(const uint8_t *datagram,
                           size_t size,
                           struct KpPart *parts,
                           size_t capacity,
                           size_t *count);

// Kinds of events: those of the schema of a codec. `longest_ticks` has a number for each kind: how
// many ticks an event may wait before it is dropped; a negative one for events that must arrive.
// With a `count` of 0 all must arrive. The caller frees `*out` with `kp_events_free`.
KpStatus kp_events_new(struct KpCodec codec,
                       const int32_t *longest_ticks,
                       size_t count,
                       struct KpEvents *out);

// Frees kinds of events. What was made with them lives on.
KpStatus kp_events_free(struct KpEvents events);

// A writer at the beginning of a group. The caller frees `*out` with `kp_group_writer_free`.
KpStatus kp_group_writer_new(struct KpCodec codec, struct KpGroupWriter *out);

// Begins the next group. `given` is a view that the reader will be given too; if it is zero, the group
// needs nothing before it.
KpStatus kp_group_writer_begin(struct KpGroupWriter writer,
                               struct KpView given);

// Adds a frame, whose tick is after the one before.
KpStatus kp_group_write(struct KpGroupWriter writer, struct KpSnapshot world);

// The frames that were added since the last call: `*size` bytes, if they are at most `capacity`; they
// stay otherwise. `KP_STATUS_NOTHING` if there are none.
KpStatus kp_group_take(struct KpGroupWriter writer,
                       uint8_t *bytes,
                       size_t capacity,
                       size_t *size);

// Frees a writer of groups.
KpStatus kp_group_writer_free(struct KpGroupWriter writer);

// A reader at the beginning of a group. The caller frees `*out` with `kp_group_reader_free`.
KpStatus kp_group_reader_new(struct KpCodec codec, struct KpGroupReader *out);

// Begins the next group, with the view that its writer was given, or zero.
KpStatus kp_group_reader_begin(struct KpGroupReader reader, struct KpView given);

// Reads the frame at the beginning of `bytes` into a snapshot of the same schema, and writes how many
// bytes it has. `KP_STATUS_NOTHING` if `size` is 0. A frame that is not valid, or not whole, is
// `KP_STATUS_DATA`. Both change nothing. The connection or the file must guarantee that the bytes are
// unaltered.
KpStatus kp_group_read(struct KpGroupReader reader,
                       const uint8_t *bytes,
                       size_t size,
                       struct KpSnapshot snapshot,
                       size_t *used);

// Frees a reader of groups.
KpStatus kp_group_reader_free(struct KpGroupReader reader);

// A hub. `options` may be null. The caller frees `*out` with `kp_hub_free`.
KpStatus kp_hub_new(struct KpCodec codec, const struct KpHubOptions *options, struct KpHub *out);

// Says how the entities of a kind are sent: their changes in every `every`th tick (1, 2, 4 or 8),
// and how much they matter if not everything fits, at least 0.
KpStatus kp_hub_set_kind(struct KpHub hub, const char *name, uint32_t every, float weight);

// Adds a receiver with a number that no other has. All times are nanoseconds since any fixed moment.
// `budget_bytes_per_s` bounds what it is sent; 0 does not.
KpStatus kp_hub_add(struct KpHub hub,
                    uint64_t receiver,
                    uint32_t budget_bytes_per_s,
                    uint64_t now_ns);

// Removes a receiver.
KpStatus kp_hub_remove(struct KpHub hub, uint64_t receiver);

// Sets which entities a receiver may see: ids that increase, or none. At first it may see all.
KpStatus kp_hub_set_relevant(struct KpHub hub,
                             uint64_t receiver,
                             const uint32_t *ids,
                             size_t count);

// Lets a receiver see all entities again.
KpStatus kp_hub_set_all_relevant(struct KpHub hub, uint64_t receiver);

// Sets how much entities matter to a receiver if not everything fits: ids that increase, and a
// weight for each. All other entities weigh 1. The weights stay until they are set again; with a
// `count` of 0 there are none.
KpStatus kp_hub_set_weights(struct KpHub hub,
                            uint64_t receiver,
                            const uint32_t *ids,
                            const float *weights,
                            size_t count);

// What the hub knows of a receiver.
KpStatus kp_hub_status(struct KpHub hub, uint64_t receiver, struct KpHubStatus *out);

// Adds an event to the next tick: a column with one record for each field of its kind. All receivers
// that have joined get it, each once, in the order of these calls.
KpStatus kp_hub_emit(struct KpHub hub,
                     uint32_t kind,
                     const struct KpColumn *columns,
                     size_t column_count);

// As `kp_hub_emit`, for these receivers.
KpStatus kp_hub_emit_to(struct KpHub hub,
                        uint32_t kind,
                        const struct KpColumn *columns,
                        size_t column_count,
                        const uint64_t *receivers,
                        size_t receiver_count);

// As `kp_hub_emit`, for the receivers that may see an entity.
KpStatus kp_hub_emit_seeing(struct KpHub hub,
                            uint32_t kind,
                            const struct KpColumn *columns,
                            size_t column_count,
                            uint32_t entity);

// Takes a datagram of a receiver. One that is not valid is `KP_STATUS_DATA`; only counters have
// changed then.
KpStatus kp_hub_handle(struct KpHub hub,
                       uint64_t receiver,
                       uint64_t now_ns,
                       const uint8_t *datagram,
                       size_t size);

// Takes the world of a tick, whose tick is above the one before, and encodes what each receiver
// needs. `KP_STATUS_RECEIVERS` if some receivers do not get all of it, for the reasons in the text.
// The others do, so poll the datagrams then too. After any other failure, nothing has changed.
KpStatus kp_hub_tick(struct KpHub hub, uint64_t now_ns, struct KpSnapshot world);

// The next datagram to send, and the receiver to send it to. `KP_STATUS_NOTHING` if there is none
// until the next tick. If `capacity` is too small, only `*size` is written, and the datagram stays.
KpStatus kp_hub_poll(struct KpHub hub,
                     uint64_t *receiver,
                     uint8_t *datagram,
                     size_t capacity,
                     size_t *size);

// Frees a hub.
KpStatus kp_hub_free(struct KpHub hub);

// Writes vectors: `*size` bytes, if they are at most `capacity`. Both sides need the same forms,
// counts and limits, and hold the same `before`. To know what the receiver will hold, read the
// written bytes with `kp_magnitudes_read`.
KpStatus kp_magnitudes_write(const struct KpMagnitude *vectors,
                             size_t count,
                             uint8_t *bytes,
                             size_t capacity,
                             size_t *size);

// Reads vectors that `kp_magnitudes_write` wrote, into the `value` of each component. After an
// error no value has changed.
KpStatus kp_magnitudes_read(struct KpMagnitude *vectors,
                            size_t count,
                            const uint8_t *bytes,
                            size_t size);

// A publisher of the tiers of a catalogue. `options` may be null. The caller frees `*out` with
// `kp_publisher_free`.
KpStatus kp_publisher_new(struct KpCatalogue catalogue,
                          const struct KpPublisherOptions *options,
                          struct KpPublisher *out);

// Restricts a tier to these entities, such as those of a region: ids that increase, or none. At
// first a tier has all. For a region, call it before each tick.
KpStatus kp_publisher_set_entities(struct KpPublisher publisher,
                                   uint32_t tier,
                                   const uint32_t *ids,
                                   size_t count);

// Gives a tier all entities again.
KpStatus kp_publisher_set_all_entities(struct KpPublisher publisher, uint32_t tier);

// Takes the world of a tick, whose tick is above the one before, and encodes it for all tiers that
// are due. `kp_publisher_poll` gives the pieces. Take all of them each tick: they wait in memory.
//
// A world that needs more datagrams than a viewer puts together is `KP_STATUS_ARGUMENT` too. The
// other tiers may have taken it then, and the tick is over: publish the next one.
KpStatus kp_publisher_publish(struct KpPublisher publisher, struct KpSnapshot world);

// The next piece for the transport: `*piece` says what it is, and its bytes are `*size`, if they
// are at most `capacity`. `KP_STATUS_NOTHING` if there is none until the next tick. If `capacity`
// is too small, only `*size` is written, and the piece stays.
KpStatus kp_publisher_poll(struct KpPublisher publisher,
                           struct KpPiece *piece,
                           uint8_t *bytes,
                           size_t capacity,
                           size_t *size);

// Copies the last snapshot of a tier in groups, as its viewers decode it, into a snapshot of the
// same schema: without the entities that the tier leaves out, and less precise if the tier is.
// `KP_STATUS_NOTHING` before the first one, and for a tier in datagrams.
KpStatus kp_publisher_last(struct KpPublisher publisher, uint32_t tier, struct KpSnapshot snapshot);

// Frees a publisher.
KpStatus kp_publisher_free(struct KpPublisher publisher);

// A receiver for a hub with this many ticks a second. `options` may be null. The caller frees `*out`
// with `kp_receiver_free`.
KpStatus kp_receiver_new(struct KpCodec codec,
                         uint32_t tick_hz,
                         const struct KpReceiverOptions *options,
                         struct KpReceiver *out);

// Takes a datagram of the hub. One that is refused, such as a duplicate, is `KP_STATUS_DATA`; only
// counters have changed then. All times are nanoseconds since any fixed moment.
KpStatus kp_receiver_handle(struct KpReceiver receiver,
                            uint64_t now_ns,
                            const uint8_t *datagram,
                            size_t size);

// The next datagram for the hub. `KP_STATUS_NOTHING` if there is none now. If `capacity` is too
// small, only `*size` is written, and the datagram stays.
KpStatus kp_receiver_poll(struct KpReceiver receiver,
                          uint64_t now_ns,
                          uint8_t *datagram,
                          size_t capacity,
                          size_t *size);

// Computes what to show now, for the functions that follow: a little in the past and interpolated.
// `KP_STATUS_NOTHING` before the first state.
KpStatus kp_receiver_play(struct KpReceiver receiver, uint64_t now_ns, struct KpPlayback *out);

// Writes the ids of the entities of a kind that are shown, which increase: `*count` of them, if they
// are at most `capacity`.
KpStatus kp_receiver_ids(struct KpReceiver receiver,
                         uint32_t kind,
                         uint32_t *ids,
                         size_t capacity,
                         size_t *count);

// Writes the ids of the entities that are shown for the first time, of all kinds, as
// `kp_receiver_ids` does.
KpStatus kp_receiver_added(struct KpReceiver receiver,
                           uint32_t *ids,
                           size_t capacity,
                           size_t *count);

// Writes the ids of the entities that are not shown any more, of all kinds, as `kp_receiver_ids`
// does.
KpStatus kp_receiver_removed(struct KpReceiver receiver,
                             uint32_t *ids,
                             size_t capacity,
                             size_t *count);

// Writes the numbers of the entities of a kind that are shown, in the order of their ids, as
// `kp_snapshot_read` does.
KpStatus kp_receiver_read(struct KpReceiver receiver,
                          uint32_t kind,
                          size_t capacity,
                          const struct KpTarget *targets,
                          size_t target_count);

// Makes all events due that have arrived, for a program that shows the newest state and does not play.
// An event becomes due once: `kp_receiver_play` does not show it then.
KpStatus kp_receiver_take_events(struct KpReceiver receiver);

// Takes the next event that is due at the moment of the last `kp_receiver_play`.
// `KP_STATUS_NOTHING` if there is none. The next moment drops events that were not taken.
KpStatus kp_receiver_next_event(struct KpReceiver receiver, struct KpEvent *out);

// Writes the numbers of the event that `kp_receiver_next_event` gave last, which is of this kind: a
// target for each field of the kind.
KpStatus kp_receiver_read_event(struct KpReceiver receiver,
                                uint32_t kind,
                                const struct KpTarget *targets,
                                size_t target_count);

// What a receiver knows of its connection.
KpStatus kp_receiver_status(struct KpReceiver receiver,
                            uint64_t now_ns,
                            struct KpReceiverStatus *out);

// Copies the newest state into a snapshot of the same schema, neither delayed nor interpolated.
// `KP_STATUS_NOTHING` before the first state.
KpStatus kp_receiver_newest(struct KpReceiver receiver, struct KpSnapshot snapshot);

// Changes a lane of an entity by one in the newest view, as a fault in memory would, so that the state
// of this side is wrong. For tests and tools: state checks find it, and the hub sends the state again.
// `KP_STATUS_NOTHING` if there is no such view, entity or lane, or if the lane has only one value.
KpStatus kp_receiver_inject_fault(struct KpReceiver receiver,
                                  uint32_t entity,
                                  uint32_t lane);

// Frees a receiver.
KpStatus kp_receiver_free(struct KpReceiver receiver);

// Begins a replay file, and replaces an existing one. The world has `rate_hz` ticks a second; `events`
// is zero if it has none. The caller ends `*out` with `kp_replay_writer_finish` and frees it with
// `kp_replay_writer_free`. If a process is killed, the file lacks at most the last second.
KpStatus kp_replay_writer_new(const char *path,
                              struct KpCodec codec,
                              struct KpEvents events,
                              double rate_hz,
                              struct KpReplayWriter *out);

// Adds a snapshot, whose tick is above the one before.
KpStatus kp_replay_writer_write(struct KpReplayWriter writer, struct KpSnapshot world);

// Adds an event of the snapshot that is written next: a column with one record for each field of its
// kind.
KpStatus kp_replay_writer_emit(struct KpReplayWriter writer,
                               uint32_t kind,
                               const struct KpColumn *columns,
                               size_t column_count);

// Gives a tick a name.
KpStatus kp_replay_writer_mark(struct KpReplayWriter writer, uint32_t tick, const char *name);

// Stores a value under a key of the caller's choice.
KpStatus kp_replay_writer_note(struct KpReplayWriter writer, const char *key, const char *value);

// Ends the file. `out` may be null.
KpStatus kp_replay_writer_finish(struct KpReplayWriter writer, struct KpReplaySummary *out);

// Frees a writer. A file that was not finished lacks its last second and its index, and can be read.
KpStatus kp_replay_writer_free(struct KpReplayWriter writer);

// Keeps the last `seconds` of a world with `rate_hz` ticks a second; `events` is zero if it has none.
// The caller frees `*out` with `kp_kill_cam_free`.
KpStatus kp_kill_cam_new(struct KpCodec codec,
                         struct KpEvents events,
                         double rate_hz,
                         double seconds,
                         struct KpKillCam *out);

// Adds a snapshot, whose tick is above the one before.
KpStatus kp_kill_cam_write(struct KpKillCam kill_cam, struct KpSnapshot world);

// Adds an event of the snapshot that is written next, as `kp_replay_writer_emit` does.
KpStatus kp_kill_cam_emit(struct KpKillCam kill_cam,
                          uint32_t kind,
                          const struct KpColumn *columns,
                          size_t column_count);

// Cuts the part from one tick to another, both included, as a replay file for `kp_kill_cam_take`, and
// writes its size. `KP_STATUS_ARGUMENT` if there is no snapshot between them.
KpStatus kp_kill_cam_cut(struct KpKillCam kill_cam,
                         uint32_t from_tick,
                         uint32_t to_tick,
                         size_t *size);

// The replay file that was cut last, once: `*size` bytes, if they are at most `capacity`.
KpStatus kp_kill_cam_take(struct KpKillCam kill_cam, uint8_t *bytes, size_t capacity, size_t *size);

// Frees a kill cam.
KpStatus kp_kill_cam_free(struct KpKillCam kill_cam);

// Opens a replay file, and keeps it open. The caller frees `*out` with `kp_replay_free`.
KpStatus kp_replay_open(const char *path, struct KpReplay *out);

// Reads a replay from a copy of these bytes. The caller frees `*out` with `kp_replay_free`.
KpStatus kp_replay_from_bytes(const uint8_t *bytes, size_t size, struct KpReplay *out);

// What a replay is. `KP_STATUS_NOTHING` if it has no snapshot.
KpStatus kp_replay_info(struct KpReplay replay, struct KpReplayInfo *out);

// The schema of a replay's snapshots. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_replay_schema(struct KpReplay replay, struct KpSchema *out);

// The schema of a replay's events. `KP_STATUS_NOTHING` if it has none. The caller frees `*out` with
// `kp_schema_free`.
KpStatus kp_replay_event_schema(struct KpReplay replay, struct KpSchema *out);

// A marker: its tick, and its name with a zero at the end, of `*size` bytes if they are at most
// `capacity`.
KpStatus kp_replay_marker(struct KpReplay replay,
                          uint32_t nth,
                          uint32_t *tick,
                          char *name,
                          size_t capacity,
                          size_t *size);

// What the writer stored under a key, with a zero at the end: `*size` bytes, if they are at most
// `capacity`. `KP_STATUS_NOTHING` if there is nothing.
KpStatus kp_replay_value(struct KpReplay replay,
                         const char *key,
                         char *value,
                         size_t capacity,
                         size_t *size);

// Copies the snapshot of a tick, or the one before it, into a snapshot of the same schema.
// `KP_STATUS_NOTHING` if there is none.
KpStatus kp_replay_get(struct KpReplay replay, uint32_t tick, struct KpSnapshot snapshot);

// Computes what to show at a moment, a tick with its fraction, for the functions that follow. Moments
// may come in any order. Events are due if a moment follows the one before by at most 5 seconds.
KpStatus kp_replay_play(struct KpReplay replay,
                        double tick,
                        struct KpPlayback *out);

// Jumps: the next moment shows no events before this tick.
KpStatus kp_replay_seek(struct KpReplay replay, double tick);

// Writes the ids of the entities of a kind that are shown, as `kp_receiver_ids` does.
KpStatus kp_replay_ids(struct KpReplay replay,
                       uint32_t kind,
                       uint32_t *ids,
                       size_t capacity,
                       size_t *count);

// Writes the numbers of the entities of a kind that are shown, as `kp_receiver_read` does.
KpStatus kp_replay_read(struct KpReplay replay,
                        uint32_t kind,
                        size_t capacity,
                        const struct KpTarget *targets,
                        size_t target_count);

// Takes the next event that is due at the moment of the last `kp_replay_play`. `KP_STATUS_NOTHING` if
// there is none.
KpStatus kp_replay_next_event(struct KpReplay replay,
                              struct KpEvent *out);

// Writes the numbers of the event that `kp_replay_next_event` gave last, as `kp_receiver_read_event`
// does.
KpStatus kp_replay_read_event(struct KpReplay replay,
                              uint32_t kind,
                              const struct KpTarget *targets,
                              size_t target_count);

// Frees a replay, and closes its file.
KpStatus kp_replay_free(struct KpReplay replay);

// Reads a schema file, as `kp_schema_to_bytes` and `Schema::to_bytes` in Rust write it. The caller
// frees `*out` with `kp_schema_free`.
KpStatus kp_schema_from_bytes(const uint8_t *bytes, size_t size, struct KpSchema *out);

// Writes a schema file: `*size` bytes, if they are at most `capacity`.
KpStatus kp_schema_to_bytes(struct KpSchema schema, uint8_t *bytes, size_t capacity, size_t *size);

// The hash of a schema. Two sides with the same hash understand each other.
KpStatus kp_schema_hash(struct KpSchema schema, uint64_t *hash);

// The number of kinds of a schema.
KpStatus kp_schema_kinds(struct KpSchema schema, uint32_t *kinds);

// The number of fields of a kind.
KpStatus kp_schema_fields(struct KpSchema schema, uint32_t kind, uint32_t *fields);

// Describes a field of a kind.
KpStatus kp_schema_field(struct KpSchema schema,
                         uint32_t kind,
                         uint32_t field,
                         struct KpField *out);

// The name of a kind, with a zero at its end: `*size` bytes with the zero, if they are at most
// `capacity`. The only kind of a schema may have no name.
KpStatus kp_schema_kind_name(struct KpSchema schema,
                             uint32_t kind,
                             char *name,
                             size_t capacity,
                             size_t *size);

// The name of a field, as `kp_schema_kind_name` gives that of a kind.
KpStatus kp_schema_field_name(struct KpSchema schema,
                              uint32_t kind,
                              uint32_t field,
                              char *name,
                              size_t capacity,
                              size_t *size);

// The field of a kind with a name. `KP_STATUS_NOTHING` if there is none.
KpStatus kp_schema_find(struct KpSchema schema, uint32_t kind, const char *name, uint32_t *field);

// Frees a schema. What was made with it lives on.
KpStatus kp_schema_free(struct KpSchema schema);

// Begins a schema. The caller ends `*out` with `kp_schema_builder_build` or
// `kp_schema_builder_free`.
KpStatus kp_schema_builder_new(struct KpSchemaBuilder *out);

// Begins the next kind. A schema with one kind may leave this out; its kind has no name.
KpStatus kp_schema_builder_kind(struct KpSchemaBuilder builder, const char *name);

// Adds a field of `count` real numbers from `min` to `max`, in steps of `precision`. A value is off by
// at most half of that.
KpStatus kp_schema_builder_floats(struct KpSchemaBuilder builder,
                                  const char *name,
                                  uint32_t count,
                                  double min,
                                  double max,
                                  double precision);

// Adds a real number on a circle, such as an angle: after `end` it begins again at `min`.
KpStatus kp_schema_builder_cyclic(struct KpSchemaBuilder builder,
                                  const char *name,
                                  double min,
                                  double end,
                                  double precision);

// Adds an integer from `min` to `max`.
KpStatus kp_schema_builder_integer(struct KpSchemaBuilder builder,
                                   const char *name,
                                   int64_t min,
                                   int64_t max);

// Adds a rotation, with `bits` (2 to 20) for each of three components.
KpStatus kp_schema_builder_rotation(struct KpSchemaBuilder builder,
                                    const char *name,
                                    uint32_t bits);

// Adds a flag.
KpStatus kp_schema_builder_bool(struct KpSchemaBuilder builder, const char *name);

// Adds one of `max + 1` alternatives without an order.
KpStatus kp_schema_builder_choice(struct KpSchemaBuilder builder, const char *name, uint32_t max);

// Says what the field that was added last means for motion.
KpStatus kp_schema_builder_role(struct KpSchemaBuilder builder, int32_t role);

// Says that the field that was added last is the velocity of another: playback follows curves then.
KpStatus kp_schema_builder_velocity_of(struct KpSchemaBuilder builder, const char *name);

// Says that the field that was added last is present only if the field `selector` of the same kind
// has a value from `least` to `most`.
KpStatus kp_schema_builder_condition(struct KpSchemaBuilder builder,
                                     const char *selector,
                                     uint32_t least,
                                     uint32_t most);

// Says that the field that was added last may be off, while it moves, by its way in this time.
KpStatus kp_schema_builder_time_precision(struct KpSchemaBuilder builder,
                                          double milliseconds,
                                          double ticks_per_s);

// Makes the schema, and frees the builder. If the fields do not make a schema, the builder stays as
// it is. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_schema_builder_build(struct KpSchemaBuilder builder, struct KpSchema *out);

// Frees a builder without a schema.
KpStatus kp_schema_builder_free(struct KpSchemaBuilder builder);

// Reads a skeleton file. The caller frees `*out` with `kp_skeleton_free`.
KpStatus kp_skeleton_from_bytes(const uint8_t *bytes, size_t size, struct KpSkeleton *out);

// The number of joints of a skeleton.
KpStatus kp_skeleton_joints(struct KpSkeleton skeleton, uint32_t *joints);

// The hash of a skeleton, which its clips have too.
KpStatus kp_skeleton_hash(struct KpSkeleton skeleton, uint64_t *hash);

// The parent of a joint, whose number is lower; −1 for a root.
KpStatus kp_skeleton_parent(struct KpSkeleton skeleton, uint32_t joint, int32_t *parent);

// The name of a joint, with a zero at its end: `*size` bytes with the zero, if they are at most
// `capacity`.
KpStatus kp_skeleton_name(struct KpSkeleton skeleton,
                          uint32_t joint,
                          char *name,
                          size_t capacity,
                          size_t *size);

// The joint with a name. `KP_STATUS_NOTHING` if there is none.
KpStatus kp_skeleton_find(struct KpSkeleton skeleton, const char *name, uint32_t *joint);

// Writes the bind pose of a skeleton.
KpStatus kp_skeleton_bind_pose(struct KpSkeleton skeleton, const struct KpPose *pose);

// Frees a skeleton. Players live on.
KpStatus kp_skeleton_free(struct KpSkeleton skeleton);

// Reads a rig file. The caller frees `*out` with `kp_rig_free`.
KpStatus kp_rig_from_bytes(const uint8_t *bytes, size_t size, struct KpRig *out);

// Frees a rig. Its clips live on.
KpStatus kp_rig_free(struct KpRig rig);

// A snapshot without entities. The caller frees `*out` with `kp_snapshot_free`.
KpStatus kp_snapshot_new(struct KpSchema schema, struct KpSnapshot *out);

// Removes all entities, and sets the tick. Memory is kept for the next ones.
KpStatus kp_snapshot_clear(struct KpSnapshot snapshot, uint32_t tick);

// Adds `count` entities of a kind: their ids, which increase and are above those of the kind before,
// and a column for each field of the kind. Numbers are quantized. The column of a field that is
// absent for an entity is not read there. After an error the snapshot is as before.
KpStatus kp_snapshot_add(struct KpSnapshot snapshot,
                         uint32_t kind,
                         const uint32_t *ids,
                         size_t count,
                         const struct KpColumn *columns,
                         size_t column_count);

// The tick of a snapshot.
KpStatus kp_snapshot_tick(struct KpSnapshot snapshot, uint32_t *tick);

// The number of entities of a kind.
KpStatus kp_snapshot_count(struct KpSnapshot snapshot, uint32_t kind, size_t *count);

// Writes the ids of the entities of a kind, which increase: `*count` of them, if they are at most
// `capacity`.
KpStatus kp_snapshot_ids(struct KpSnapshot snapshot,
                         uint32_t kind,
                         uint32_t *ids,
                         size_t capacity,
                         size_t *count);

// Writes the numbers of the entities of a kind, in the order of their ids: a target for each field,
// with room for `capacity` entities. Numbers of a field that is absent for an entity are 0.
KpStatus kp_snapshot_read(struct KpSnapshot snapshot,
                          uint32_t kind,
                          size_t capacity,
                          const struct KpTarget *targets,
                          size_t target_count);

// A hash of the entities and their lanes, without the tick: equal states have equal hashes.
KpStatus kp_snapshot_hash(struct KpSnapshot snapshot, uint64_t *hash);

// Frees a snapshot.
KpStatus kp_snapshot_free(struct KpSnapshot snapshot);

// Writes the text of the last error of this thread into `text`, which has room for `capacity`
// bytes with the zero at the end. A longer text is cut. Returns the length of the whole text
// without the zero. `text` may be null if `capacity` is 0.
size_t kp_error_text(char *text, size_t capacity);

// The `KP_ABI` of the library.
uint32_t kp_abi(void);

// The version of the library, such as "0.1.0". It lives as long as the program.
const char *kp_version(void);

// A sender of records of a schema with one kind, `rate_hz` of them a second at most, at a level
// ("packed" or "adaptive"). `options` may be null. The caller frees `*out` with
// `kp_stream_sender_free`.
KpStatus kp_stream_sender_new(struct KpSchema schema,
                              const char *level,
                              uint32_t rate_hz,
                              const struct KpStreamOptions *options,
                              struct KpStreamSender *out);

// Adds a record: a column with one record for each field. Writes its number, unless `number` is
// null. After an error nothing was added.
KpStatus kp_stream_push(struct KpStreamSender sender,
                        const struct KpColumn *columns,
                        size_t column_count,
                        uint16_t *number);

// The packet of the newest records, once. `KP_STATUS_NOTHING` if there is none now. If `capacity` is
// too small, only `*size` is written, and the packet stays.
KpStatus kp_stream_poll(struct KpStreamSender sender,
                        uint8_t *datagram,
                        size_t capacity,
                        size_t *size);

// Takes an acknowledgement. One that is not valid is `KP_STATUS_DATA`; only a counter has changed
// then.
KpStatus kp_stream_sender_handle(struct KpStreamSender sender,
                                 const uint8_t *datagram,
                                 size_t size);

// Frees a sender of a stream.
KpStatus kp_stream_sender_free(struct KpStreamSender sender);

// A receiver for the records of one client, with the same arguments as its sender. The caller frees
// `*out` with `kp_stream_receiver_free`.
KpStatus kp_stream_receiver_new(struct KpSchema schema,
                                const char *level,
                                uint32_t rate_hz,
                                const struct KpStreamOptions *options,
                                struct KpStreamReceiver *out);

// Takes a packet. Writes its new records, oldest first: `*count` of them, at most 16, for
// `kp_stream_read`. One that is refused, such as a duplicate, is `KP_STATUS_DATA`; only a counter has
// changed then. Times are nanoseconds since any fixed moment.
KpStatus kp_stream_receiver_handle(struct KpStreamReceiver receiver,
                                   uint64_t now_ns,
                                   const uint8_t *datagram,
                                   size_t size,
                                   size_t *count);

// Writes the records of the last packet: `*count` of them to `records`, and their numbers to a target
// for each field, if they are at most `capacity`. `records` may be null if `capacity` is 0.
KpStatus kp_stream_read(struct KpStreamReceiver receiver,
                        struct KpRecord *records,
                        size_t capacity,
                        const struct KpTarget *targets,
                        size_t target_count,
                        size_t *count);

// The acknowledgement for the sender: `*size` bytes, if they are at most `capacity`. Send it a few
// times within the longest round trip, alone or in front of another datagram. `KP_STATUS_NOTHING`
// before the first packet.
KpStatus kp_stream_acknowledgement(struct KpStreamReceiver receiver,
                                   uint8_t *datagram,
                                   size_t capacity,
                                   size_t *size);

// Frees a receiver of a stream.
KpStatus kp_stream_receiver_free(struct KpStreamReceiver receiver);

// A codec of records of a schema with one kind, at a level ("packed" or "adaptive"). The caller
// frees `*out` with `kp_stream_codec_free`.
KpStatus kp_stream_codec_new(struct KpSchema schema, const char *level, struct KpStreamCodec *out);

// A hash of the schema and the level: two sides with equal hashes have the same codec.
KpStatus kp_stream_codec_hash(struct KpStreamCodec codec, uint64_t *hash);

// Frees a codec of streams. Bases that were made with it live on.
KpStatus kp_stream_codec_free(struct KpStreamCodec codec);

// The base before the first record: a packet against it needs no earlier one. The caller frees
// `*out` with `kp_stream_base_free`.
KpStatus kp_stream_base_new(struct KpStreamCodec codec, struct KpStreamBase *out);

// Frees a base of a stream.
KpStatus kp_stream_base_free(struct KpStreamBase base);

// Encodes records, the oldest first: a column for each field, with 1 to 4,096 records. They are
// coded against a base that the other side holds. `lag` says how many records later than the base
// the first of them is, from 1; before the first record it does not matter. The other side needs
// the number of records, the base and the lag too, since the packet has none of them.
//
// Writes the packet, of `*size` bytes, and gives the base that its last record is. If `capacity`
// is too small, only `*size` is written. The caller frees `*last` with `kp_stream_base_free`;
// `last` may be null.
KpStatus kp_stream_encode(struct KpStreamCodec codec,
                          struct KpStreamBase base,
                          uint16_t lag,
                          const struct KpColumn *columns,
                          size_t column_count,
                          size_t record_count,
                          uint8_t *packet,
                          size_t capacity,
                          size_t *size,
                          struct KpStreamBase *last);

// Decodes a packet of 1 to 4,096 records that was encoded against the same base, with the same
// lag. Writes the numbers of the records, the oldest first: a target for each field, with room for
// `record_count` records. Gives the base that its last record is; the caller frees `*last` with
// `kp_stream_base_free`. Any bytes are refused or are valid records.
KpStatus kp_stream_decode(struct KpStreamCodec codec,
                          struct KpStreamBase base,
                          uint16_t lag,
                          const uint8_t *packet,
                          size_t size,
                          size_t record_count,
                          const struct KpTarget *targets,
                          size_t target_count,
                          struct KpStreamBase *last);

// Writes values: `*size` bytes, if they are at most `capacity`. Both sides need the same kinds,
// limits and small differences, and hold the same `before`. To know what the receiver will hold, read
// the written bytes with `kp_values_read`.
KpStatus kp_values_write(const struct KpValue *values,
                         size_t count,
                         uint8_t *bytes,
                         size_t capacity,
                         size_t *size);

// Reads values that `kp_values_write` wrote, into `value` of each. One that did not change becomes
// `before`. After an error no value has changed.
KpStatus kp_values_read(struct KpValue *values, size_t count, const uint8_t *bytes, size_t size);

// A viewer of a broadcast, which watches nothing yet. `options` may be null. The caller frees
// `*out` with `kp_viewer_free`.
KpStatus kp_viewer_new(struct KpCatalogue catalogue,
                       const struct KpViewerOptions *options,
                       struct KpViewer *out);

// Watches a tier from now on, or several together, such as regions of the world. What was shown
// stays until the new ones have caught up. Then subscribe to the tracks of `kp_viewer_wanted`.
KpStatus kp_viewer_watch(struct KpViewer viewer, const uint32_t *tiers, size_t count);

// Writes the tracks that the viewer needs now: `*count` of them, if they are at most `capacity`.
// They change with `kp_viewer_watch`, `kp_viewer_take` and `kp_viewer_play`: subscribe to the new
// ones, and end the subscriptions to the others.
KpStatus kp_viewer_wanted(struct KpViewer viewer,
                          struct KpTrack *tracks,
                          size_t capacity,
                          size_t *count);

// Writes the numbers of the tiers that are shown, as `kp_viewer_wanted` does.
KpStatus kp_viewer_shown_tiers(struct KpViewer viewer,
                               uint32_t *tiers,
                               size_t capacity,
                               size_t *count);

// Takes an object or a datagram of a track. The objects of a group come in order. `taken` may be
// null. A piece that is refused is `KP_STATUS_DATA`: it is not valid, of a tier that is not
// watched, late, or after an object that is missing. Only counters have changed then. After an
// object, the rest of its group is refused too. Times are nanoseconds since any fixed moment.
KpStatus kp_viewer_take(struct KpViewer viewer,
                        uint64_t now_ns,
                        const struct KpPiece *piece,
                        const uint8_t *bytes,
                        size_t size,
                        struct KpTaken *taken);

// Begins to read all tracks anew, as after a connection was lost or the publisher started again.
// What is shown stays until newer snapshots come.
KpStatus kp_viewer_rejoin(struct KpViewer viewer);

// Changes the bounds of the delay of what is shown.
KpStatus kp_viewer_set_delays(struct KpViewer viewer, uint32_t min_delay_ms, uint32_t max_delay_ms);

// What a viewer has counted and measured.
KpStatus kp_viewer_status(struct KpViewer viewer, struct KpViewerStatus *out);

// Frees a viewer.
KpStatus kp_viewer_free(struct KpViewer viewer);

// Computes what to show now, for the functions that follow: a little in the past and interpolated.
// `KP_STATUS_NOTHING` before the first state.
KpStatus kp_viewer_play(struct KpViewer viewer, uint64_t now_ns, struct KpPlayback *out);

// The first and the last tick that `kp_viewer_play_at` can show. `KP_STATUS_NOTHING` before the
// first state, and if the viewer keeps no history.
KpStatus kp_viewer_history(struct KpViewer viewer, uint32_t *first, uint32_t *last);

// As `kp_viewer_play`, for a tick of the history with its fraction, to pause and to go back. A
// tick outside of the history shows the nearest state.
KpStatus kp_viewer_play_at(struct KpViewer viewer, double tick, struct KpPlayback *out);

// Writes the ids of the entities of a kind that are shown, as `kp_receiver_ids` does.
KpStatus kp_viewer_ids(struct KpViewer viewer,
                       uint32_t kind,
                       uint32_t *ids,
                       size_t capacity,
                       size_t *count);

// Writes the ids of the entities that are shown for the first time, of all kinds, as
// `kp_viewer_ids` does.
KpStatus kp_viewer_added(struct KpViewer viewer, uint32_t *ids, size_t capacity, size_t *count);

// Writes the ids of the entities that are not shown any more, of all kinds, as `kp_viewer_ids`
// does.
KpStatus kp_viewer_removed(struct KpViewer viewer, uint32_t *ids, size_t capacity, size_t *count);

// Writes the numbers of the entities of a kind that are shown, as `kp_receiver_read` does.
KpStatus kp_viewer_read(struct KpViewer viewer,
                        uint32_t kind,
                        size_t capacity,
                        const struct KpTarget *targets,
                        size_t target_count);

// Copies the newest state of the tiers that are shown into a snapshot of the same schema, neither
// delayed nor interpolated. `KP_STATUS_NOTHING` before the first state.
KpStatus kp_viewer_newest(struct KpViewer viewer, struct KpSnapshot snapshot);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KINEPACK_H */
