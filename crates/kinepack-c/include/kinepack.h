// Kinepack for C: the state of moving things in few bits. Written by cbindgen from the Rust sources.
//
// Rules of every function:
//
// - It returns a KpStatus. If that is not KP_STATUS_OK, the object has not changed, except for its
//   counters, and kp_error_text returns the reason to the same thread. The comments of some functions
//   name exceptions. After KP_STATUS_SIZE, the count that the caller passed holds the needed number.
// - An object is a handle: a number with a generation. The caller frees it with kp_..._free. Only a
//   KpShown belongs to another object. Freed handles, handles of another type and all-zero handles
//   are refused.
// - The library uses the caller's memory only during a call, and never frees or keeps it. Until the
//   call returns, a pointer must be valid for its count of items, and no other thread may write
//   there. A pointer may be null if its count is 0.
// - No panic leaves the library.
// - Any thread may call with any handle. Calls that change one object wait for each other.

#ifndef KINEPACK_H
#define KINEPACK_H

#include <stddef.h>
#include <stdint.h>

// The number of fields that `kp_schema_builder_seen` adds to a kind, and so of the columns and
// targets of a stamp.
#define KP_SEEN_FIELDS 5

// The version of this interface. It is raised when a function or a struct changes, but not when
// one is added. A program that loads the shared library compares it with `kp_abi` once.
#define KP_ABI 1

// The result of a function.
enum KpStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call succeeded.
  KP_STATUS_OK = 0,
  // A pointer is null although it must not be, or it is not aligned.
  KP_STATUS_POINTER = 1,
  // A handle is zero, was freed, or is of another type.
  KP_STATUS_HANDLE = 2,
  // An argument is out of its range, or does not fit the other arguments.
  KP_STATUS_ARGUMENT = 3,
  // The caller's memory is too small. The function has written the needed size.
  KP_STATUS_SIZE = 4,
  // The bytes of a file, packet or datagram are invalid.
  KP_STATUS_DATA = 5,
  // A value cannot be quantized: it is not a number, or out of its range.
  KP_STATUS_VALUE = 6,
  // There is no result yet, or no longer.
  KP_STATUS_NOTHING = 7,
  // The library has a defect. Please report it.
  KP_STATUS_PANIC = 8,
  // A file cannot be read or written.
  KP_STATUS_FILE = 9,
  // The call succeeded, but not for all receivers. The error text names the receivers for which
  // it failed.
  KP_STATUS_RECEIVERS = 10,
  // A step of a prediction failed, or gave a state that cannot be quantized. The entities of
  // failed steps have kept their states of the tick before, and everything else was done.
  KP_STATUS_STEP = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpStatus KpStatus;
#else
typedef int32_t KpStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of endpoint that handles a datagram.
enum KpDatagramKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The datagram is for a hub.
  KP_DATAGRAM_KIND_TO_HUB = 0,
  // The datagram is for a receiver.
  KP_DATAGRAM_KIND_TO_RECEIVER = 1,
  // The datagram is for a receiver of a stream.
  KP_DATAGRAM_KIND_TO_STREAM_RECEIVER = 2,
  // The datagram is for a sender of a stream.
  KP_DATAGRAM_KIND_TO_STREAM_SENDER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpDatagramKind KpDatagramKind;
#else
typedef int32_t KpDatagramKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What determines the bytes that a receiver gets.
enum KpLinkLimit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing: all changes are sent.
  KP_LINK_LIMIT_CONTENT = 0,
  // The limit that the hub has tried so far. It grows while no datagrams wait in a queue.
  KP_LINK_LIMIT_PROBING = 1,
  // The link: datagrams began to wait in its queue.
  KP_LINK_LIMIT_QUEUE = 2,
  // The link: it lost more datagrams than usual.
  KP_LINK_LIMIT_LOSS = 3,
  // Another sender fills the link's queue, and both share the link.
  KP_LINK_LIMIT_COMPETING = 4,
  // The largest limit that was set.
  KP_LINK_LIMIT_AT_MOST = 5,
  // The limit of all receivers together.
  KP_LINK_LIMIT_UPLINK = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpLinkLimit KpLinkLimit;
#else
typedef int32_t KpLinkLimit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of a field.
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

// How the limit of the bytes for a receiver is found.
enum KpBudgetKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // There is no limit except `datagrams_per_tick` of the hub.
  KP_BUDGET_KIND_UNLIMITED = 0,
  // The limit does not change. In any `t` seconds, the receiver gets at most `t` times the
  // budget, plus a burst: a tenth of a second of the budget, or a full datagram if that is more.
  KP_BUDGET_KIND_FIXED = 1,
  // The limit follows the link. It begins at 50,000 bytes per second. It falls when datagrams
  // wait in a queue of the link, and grows while it holds changes back.
  KP_BUDGET_KIND_AUTO = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpBudgetKind KpBudgetKind;
#else
typedef int32_t KpBudgetKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a tier is transported.
enum KpCarry
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The tier is sent in groups. Each snapshot is coded against the previous one, and takes the
  // fewest bits. A viewer sees a lost packet as a delay.
  KP_CARRY_GROUPS = 0,
  // The tier is sent in datagrams that are coded against the beginning of the group. A lost
  // datagram costs one snapshot and no delay.
  KP_CARRY_DATAGRAMS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpCarry KpCarry;
#else
typedef int32_t KpCarry;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What playback shows of an entity whose next state has not arrived.
enum KpExtrapolation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The newest state is held. This is the default. Keep it, and draw without smoothing, for kinds
  // that players aim at if a server rewinds: then it finds exactly what they saw.
  KP_EXTRAPOLATION_HOLD = 0,
  // The motion continues straight: at the field's velocity, or else like the entity's last two
  // states. It slows down after half of the longest way, and stops after one and a half of it. An
  // entity with a velocity always continues, so its velocity must be zero at rest. An entity that
  // has just jumped is held.
  KP_EXTRAPOLATION_STRAIGHT = 1,
  // The newest state is held, and the game moves the entity on by its own rules:
  // `kp_shown_starved` tells for how long.
  KP_EXTRAPOLATION_GAME = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpExtrapolation KpExtrapolation;
#else
typedef int32_t KpExtrapolation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The forms in which numbers are coded by magnitude.
enum KpMagnitudeForm
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Real numbers, rounded to multiples of a precision. A vector of this form takes as many bits
  // as Unreal's `FVector_NetQuantize`.
  KP_MAGNITUDE_FORM_MULTIPLES = 0,
  // Integers from -2^32 to 2^32 - 1, which are coded exactly.
  KP_MAGNITUDE_FORM_STEPS = 1,
  // Real numbers within limits, as differences from numbers that both sides hold.
  KP_MAGNITUDE_FORM_DIFFERENCE = 2,
  // Like `Difference`. But if a number cannot be represented within the limits, all numbers are
  // written unchanged.
  KP_MAGNITUDE_FORM_ANY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpMagnitudeForm KpMagnitudeForm;
#else
typedef int32_t KpMagnitudeForm;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a joint moves, relative to its parent.
enum KpMotion
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The joint keeps its bind pose, and takes no bits.
  KP_MOTION_STILL = 0,
  // The joint turns about an axis in its own space, and takes one number.
  KP_MOTION_HINGE = 1,
  // The joint turns about any axis, and takes three numbers.
  KP_MOTION_TURNS = 2,
  // The joint turns, and moves from its bind pose by up to a range along each axis. It takes six
  // numbers.
  KP_MOTION_MOVES = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpMotion KpMotion;
#else
typedef int32_t KpMotion;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of a number in the caller's memory.
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
  // `uint8_t`, and flags of one byte, such as C's `bool`
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

// What an authoritative state did.
enum KpOutcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing: a state of this tick or of a later one was taken before.
  KP_OUTCOME_STALE = 0,
  // It equals the prediction.
  KP_OUTCOME_CONFIRMED = 1,
  // It is of a tick that was not predicted yet. The entity takes it when the input for that tick
  // is pushed.
  KP_OUTCOME_AHEAD = 2,
  // It is older than the history, and was not used.
  KP_OUTCOME_TOO_OLD = 3,
  // It differs from the prediction, and corrected it.
  KP_OUTCOME_CORRECTED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpOutcome KpOutcome;
#else
typedef int32_t KpOutcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a state that differs from the prediction corrects it.
enum KpRepair
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Takes the state, and repeats the steps with the inputs since.
  KP_REPAIR_REPEAT = 0,
  // Adds the difference to the states since, without steps. This is for motion that the client
  // cannot repeat, such as physics with others' bodies, and for steps that are expensive.
  KP_REPAIR_BLEND = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpRepair KpRepair;
#else
typedef int32_t KpRepair;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The role of a field in motion.
enum KpRole
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // No special role.
  KP_ROLE_PLAIN = 0,
  // A velocity, which is zero at rest.
  KP_ROLE_VELOCITY = 1,
  // The position (three real numbers) or the rotation of a rigid body.
  KP_ROLE_BODY = 2,
  // The flag of a body that another body moves.
  KP_ROLE_TOUCHED = 3,
  // The flag of a body that moves other bodies.
  KP_ROLE_MOVER = 4,
  // A time stamp that drives the fields of a stream.
  KP_ROLE_CLOCK = 5,
  // A flag or a counter that changes when the entity jumps, as in a teleport. Playback does not
  // blend over the jump.
  KP_ROLE_CUT = 6,
  // The id of an entity that other fields are relative to, or the flag that says whether there
  // is one: see `kp_schema_builder_frame`.
  KP_ROLE_FRAME = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpRole KpRole;
#else
typedef int32_t KpRole;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of a track.
enum KpTrackKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The snapshots of the tier.
  KP_TRACK_KIND_SNAPSHOTS = 0,
  // The key snapshots of the tier, which viewers need to join.
  KP_TRACK_KIND_KEYS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpTrackKind KpTrackKind;
#else
typedef int32_t KpTrackKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The type of a value.
enum KpValueKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A real number from `min` to `max`, in steps of `precision`.
  KP_VALUE_KIND_REAL = 0,
  // A real number on a circle, such as an angle, which wraps from `max` to `min`.
  KP_VALUE_KIND_CYCLIC = 1,
  // An integer from `min` to `max`. Both limits are at most 2^53 in magnitude.
  KP_VALUE_KIND_INTEGER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum KpValueKind KpValueKind;
#else
typedef int32_t KpValueKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An `r3d2canm` file, the animation format of League of Legends. Immutable.
typedef struct KpAnm {
  // The handle; 0 means no object.
  uint64_t id;
} KpAnm;

// The properties of an `r3d2canm` file.
typedef struct KpAnmInfo {
  // The version of the format: 1, 2 or 3.
  uint32_t version;
  // The number of joints.
  uint32_t joints;
  // The number of keys of all joints together.
  uint32_t keys;
  // The duration in seconds.
  float duration_s;
  // The sample rate of the source in Hz. Playback does not need it.
  float rate_hz;
} KpAnmInfo;

// The layout of a pose in memory: the bones of an engine's skeleton, a stride apart. The strides
// allow an array of structs as well as three arrays. If the pointer of a part is null, the part is
// ignored. Numbers need no alignment.
typedef struct KpPose {
  // The address of the translation x, y, z of the first bone.
  void *translations;
  // The number of bytes from one bone's translation to the next.
  size_t translation_stride;
  // The address of the rotation x, y, z, w of the first bone.
  void *rotations;
  // The number of bytes from one bone's rotation to the next.
  size_t rotation_stride;
  // The address of the scale x, y, z of the first bone.
  void *scales;
  // The number of bytes from one bone's scale to the next.
  size_t scale_stride;
  // The number of bones at the pointers.
  size_t bones;
  // The index of the bone of each joint of the clip or figure, or `UINT32_MAX` for no bone.
  const uint32_t *bone_of_joint;
  // The length of `bone_of_joint`, which must be the number of joints of the clip or figure. With
  // 0, joint 0 is bone 0, and so on. The engine must then have at least that many bones.
  size_t joints;
  // The type of the numbers: `KP_NUMBER_F32` or `KP_NUMBER_F64`.
  int32_t number;
  // If not 0, rotations are ordered w, x, y, z.
  int32_t w_first;
  // The number of units per metre: 0 or 1 for metres, 100 for centimetres.
  float units_per_m;
} KpPose;

// A codec. Immutable.
typedef struct KpCodec {
  // The handle; 0 means no object.
  uint64_t id;
} KpCodec;

// A tier to create.
typedef struct KpTier {
  // The name of the tier's track: up to 64 lower-case letters, digits, `-`, `.` and `_`.
  const char *name;
  // The codec of the tier's snapshots. All tiers have the same schema. Only the time precision
  // of the fields may differ.
  struct KpCodec codec;
  // How the tier is transported: a `KpCarry`.
  int32_t carry;
  // The number of ticks from one snapshot to the next. 0 means 1.
  uint32_t ticks_per_frame;
  // The maximum number of ticks in a group. A tier in datagrams may have at most 127. Viewers
  // can join at the beginning of a group.
  uint32_t ticks_per_group;
  // The number of snapshots that share an object, at most 16. 0 means 1. Each object has about
  // 50 bytes of headers. Its first snapshot is delayed until the last one is added.
  uint32_t frames_per_object;
} KpTier;

// Describes the contents of a broadcast: one world in several forms, which are its tiers.
// Immutable.
typedef struct KpCatalogue {
  // The handle; 0 means no object.
  uint64_t id;
} KpCatalogue;

// A schema. Immutable.
typedef struct KpSchema {
  // The handle; 0 means no object.
  uint64_t id;
} KpSchema;

// The properties of a tier.
typedef struct KpTierInfo {
  // How the tier is transported: a `KpCarry`.
  int32_t carry;
  // The number of ticks from one snapshot to the next.
  uint32_t ticks_per_frame;
  // The maximum number of ticks in a group.
  uint32_t ticks_per_group;
  // The number of snapshots that share an object.
  uint32_t frames_per_object;
} KpTierInfo;

// Identifies a track of the transport, which carries groups of objects, and datagrams.
typedef struct KpTrack {
  // The number of the tier.
  uint32_t tier;
  // The type of the track: a `KpTrackKind`.
  int32_t kind;
} KpTrack;

// The parameters that many clips of one skeleton share. Immutable.
typedef struct KpRig {
  // The handle; 0 means no object.
  uint64_t id;
} KpRig;

// A compressed animation clip. Immutable.
typedef struct KpClip {
  // The handle; 0 means no object.
  uint64_t id;
} KpClip;

// The properties of a clip.
typedef struct KpClipInfo {
  // The number of joints.
  uint32_t joints;
  // The number of sample times of the raw clip from which this clip was built.
  uint32_t samples;
  // The number of samples per second.
  float rate_hz;
  // The number of seconds from the first sample to the last.
  float duration_s;
  // The hash of the clip's skeleton.
  uint64_t skeleton_hash;
  // The size of the clip in memory in bytes, without its players.
  uint64_t bytes;
  // The number of curves, which are values besides the joints, such as weights of blend shapes.
  uint32_t curves;
  // The number of markers, which are named times, such as footsteps.
  uint32_t markers;
} KpClipInfo;

// The joints of a character. Immutable.
typedef struct KpSkeleton {
  // The handle; 0 means no object.
  uint64_t id;
} KpSkeleton;

// Plays one clip on one character. Players of a clip share its memory.
typedef struct KpPlayer {
  // The handle; 0 means no object.
  uint64_t id;
} KpPlayer;

// The view that both sides hold after a packet. It contains a snapshot, and the trained state of
// the models. Immutable.
typedef struct KpView {
  // The handle; 0 means no object.
  uint64_t id;
} KpView;

// The state of all entities at one tick.
typedef struct KpSnapshot {
  // The handle; 0 means no object.
  uint64_t id;
} KpSnapshot;

// Encodes snapshots.
typedef struct KpEncoder {
  // The handle; 0 means no object.
  uint64_t id;
} KpEncoder;

// Decodes packets.
typedef struct KpDecoder {
  // The handle; 0 means no object.
  uint64_t id;
} KpDecoder;

// A part of a received datagram.
typedef struct KpPart {
  // The type of endpoint that handles the part.
  KpDatagramKind kind;
  // The channel of the endpoint.
  uint32_t channel;
  // The offset of the part's first byte in the datagram.
  size_t offset;
  // The size of the part in bytes.
  size_t size;
} KpPart;

// Kinds of events. Both sides of a connection need the same kinds. Immutable.
typedef struct KpEvents {
  // The handle; 0 means no object.
  uint64_t id;
} KpEvents;

// Receives the world of a hub. A receiver has no socket and no clock.
typedef struct KpReceiver {
  // The handle; 0 means no object.
  uint64_t id;
} KpReceiver;

// Sends one world to many receivers. A hub has no sockets and no clock: the caller passes in
// datagrams and the time, and polls datagrams to send. The transport must deliver a datagram
// unaltered or not at all. Use an encrypted or authenticated transport, because an altered
// datagram is often another valid one.
typedef struct KpHub {
  // The handle; 0 means no object.
  uint64_t id;
} KpHub;

// The entities and events that a receiver, a viewer or a replay shows at the moment of its last
// `kp_..._play`, or the entities that a hub found in its past. That object owns the handle and
// frees it, so there is no function to free it.
typedef struct KpShown {
  // The handle; 0 means no object.
  uint64_t id;
} KpShown;

// A joint with a different precision.
typedef struct KpJointPrecision {
  // The joint's precision in cm, above 0.
  double precision_cm;
  // The joint's index.
  uint32_t joint;
} KpJointPrecision;

// A joint that moves in another way than by default.
typedef struct KpJointMotion {
  // The joint's index.
  uint32_t joint;
  // How the joint moves: a `KpMotion`.
  int32_t motion;
  // The axis of a hinge, which need not have length 1. Other motions ignore it.
  float axis[3];
  // The largest movement along each axis, in cm, of a joint that moves. Other motions ignore it.
  float range_cm;
} KpJointMotion;

// A curve of a figure, which is a number besides the joints, such as the weight of a face shape.
typedef struct KpFigureCurve {
  // The name. The schema's hash covers it.
  const char *name;
  // The smallest value.
  float min;
  // The largest value.
  float max;
  // The largest error of a value, above 0.
  float precision;
} KpFigureCurve;

// A part of a body that may be absent, for example because it is not tracked: a hand, both legs or
// the face. An absent part takes one bit. Joints and curves belong to one part at most.
typedef struct KpFigurePart {
  // The name. The schema's hash covers it.
  const char *name;
  // The indices of the part's joints. A part has all joints below each of its joints.
  const uint32_t *joints;
  // The number of joints.
  size_t joint_count;
  // The indices of the part's curves.
  const uint32_t *curves;
  // The number of curves.
  size_t curve_count;
} KpFigurePart;

// A clip that the bodies of a figure can play. Both sides have the same clips in the same order.
typedef struct KpFigureClip {
  // The name. The schema's hash covers it.
  const char *name;
} KpFigureClip;

// The description of what a figure sends. Both sides need the same options. Zeros select the
// defaults.
typedef struct KpFigureOptions {
  // The largest error in cm, in model space, of any point within `shell_cm` of a joint.
  // Default: 0.5.
  double precision_cm;
  // The distance in cm from a joint to the skin around it, before the scales of the joint and
  // its ancestors. Default: 3. A negative number means 0.
  double shell_cm;
  // Joints with a different precision. The last entry for a joint counts.
  const struct KpJointPrecision *precisions;
  // The number of `precisions`.
  size_t precision_count;
  // Joints that move in another way than by default. By default, roots move by up to 100 m, and
  // all other joints turn. The last entry for a joint counts.
  const struct KpJointMotion *motions;
  // The number of `motions`.
  size_t motion_count;
  // The curves, in their order.
  const struct KpFigureCurve *curves;
  // The number of `curves`.
  size_t curve_count;
  // The parts that may be absent, in their order.
  const struct KpFigurePart *parts;
  // The number of `parts`.
  size_t part_count;
  // The clips that a body can play, in their order.
  const struct KpFigureClip *clips;
  // The number of `clips`.
  size_t clip_count;
  // The number of clips that can play at once, at most 64. It is 0 without clips, and otherwise
  // at least 1.
  size_t clip_slots;
  // How many times coarser each further tier is than the precisions above, increasing from more
  // than 1. A body that is sent in a coarser tier is read like any other.
  const double *coarser;
  // The number of `coarser`, at most 254.
  size_t coarser_count;
} KpFigureOptions;

// The body of one kind of entity. A figure turns poses into the fields of a schema, and back. It
// chooses the steps of the fields, so that no pose is farther off than the precision.
typedef struct KpFigure {
  // The handle; 0 means no object.
  uint64_t id;
} KpFigure;

// The numbers of a figure.
typedef struct KpFigureInfo {
  // The number of joints of the skeleton.
  uint32_t joints;
  // The number of curves.
  uint32_t curves;
  // The number of parts that may be absent.
  uint32_t parts;
  // The number of integers that an entity of this kind has in a snapshot.
  uint32_t lanes;
  // The number of clips that a body can play.
  uint32_t clips;
  // The number of clips that can play at once.
  uint32_t clip_slots;
  // The number of tiers, with tier 0.
  uint32_t tiers;
} KpFigureInfo;

// A clip that a body plays. While it stays the same, it takes no bits, although its time runs: keep
// it from its start to its end, and push it with every pose.
typedef struct KpClipPlay {
  // The clip's time at tick `since`, in ticks, from −2²¹ to below 2²¹. It is rounded to 1/1024.
  double time_ticks;
  // The ticks of the clip that pass per tick, from −16 to 16. It is rounded to 1/1024. 0 is a
  // paused clip, and negative numbers play backwards.
  double speed;
  // The weight, from 0 to 1. It is rounded to a multiple of 1/255.
  float weight;
  // The slot in which the clip plays.
  uint32_t slot;
  // The index of the clip.
  uint32_t clip;
  // The tick at which the clip started, or at which its time or speed changed last.
  uint32_t since;
} KpClipPlay;

// A clip that a body plays at a moment.
typedef struct KpShownClip {
  // The time to show, in ticks from the beginning of the clip. It may be negative or beyond the
  // end of the clip.
  double time_ticks;
  // The ticks of the clip that pass per tick.
  double speed;
  // The weight, from 0 to 1.
  float weight;
  // The index of the clip.
  uint32_t clip;
} KpShownClip;

// The numbers of a field in the caller's memory, which the library reads. The numbers of one
// entity are adjacent, and entities are `stride` bytes apart. Numbers need no alignment.
typedef struct KpColumn {
  // The address of the first number of the first entity.
  const void *data;
  // The number of bytes from one entity to the next. With 0, all entities have the same numbers.
  size_t stride;
  // The type of the numbers: a `KpNumber`. Real numbers and rotations need `KP_NUMBER_F32` or
  // `KP_NUMBER_F64`, and all other fields need integers.
  int32_t number;
  // If not 0, values out of range are clamped instead of refused.
  int32_t clamp;
} KpColumn;

// The state of a body at one moment, for `kp_figure_push`. Lists that the figure does not have are
// empty, so set all members to 0 first.
typedef struct KpFigurePose {
  // The joints, relative to their parents. Where the layout has no numbers for a joint, the
  // joint has its bind pose.
  const struct KpPose *joints;
  // A value for each curve.
  const float *curves;
  // The number of `curves`.
  size_t curve_count;
  // The indices of the parts that are absent, whose joints and curves are ignored.
  const uint32_t *absent;
  // The number of `absent`.
  size_t absent_count;
  // The clips that play, at most one in each slot.
  const struct KpClipPlay *clips;
  // The number of `clips`.
  size_t clip_count;
  // For a kind that has other fields too: a column of one record for each of them, in their
  // order.
  const struct KpColumn *others;
  // The number of `others`.
  size_t other_count;
  // The tier in which the pose is sent: 0 for the precision of the options, and from 1 on those
  // of `coarser`.
  uint32_t tier;
} KpFigurePose;

// Writes groups.
typedef struct KpGroupWriter {
  // The handle; 0 means no object.
  uint64_t id;
} KpGroupWriter;

// Reads groups.
typedef struct KpGroupReader {
  // The handle; 0 means no object.
  uint64_t id;
} KpGroupReader;

// The settings of a hub. A number of 0 selects the default.
typedef struct KpHubOptions {
  // The largest datagram that the transport carries, without its own headers. Default: 1,200.
  uint32_t datagram_bytes;
  // The channel of this hub, which distinguishes hubs on one connection. Its receivers need the
  // same channel.
  uint32_t channel;
  // The number of bytes that the transport adds to each datagram. Budgets include them. Default:
  // 28.
  uint32_t overhead_bytes;
  // The maximum number of datagrams for a receiver in a tick. Default: 4.
  uint32_t datagrams_per_tick;
  // The kinds of events, or zero for no events.
  struct KpEvents events;
} KpHubOptions;

// The hub's view of a connection to a receiver.
typedef struct KpHubStatus {
  // Not 0 if the receiver's hello was accepted.
  int32_t joined;
  // The number of datagrams sent.
  uint64_t sent;
  // The number of sent datagrams that were acknowledged.
  uint64_t acknowledged;
  // The number of sent datagrams that were overtaken or not acknowledged in time.
  uint64_t lost;
  // The number of bytes sent, without the transport's headers.
  uint64_t bytes;
  // The smoothed time from sending a datagram to its acknowledgement. It is negative before the
  // first acknowledgement.
  double round_trip_ms;
  // The number of entities that should have been sent in the last tick but did not fit.
  uint64_t waiting;
  // The number of events that have not been sent yet.
  uint64_t waiting_events;
  // The number of events that must arrive but never will, because too many were waiting. If it
  // is not 0, remove the receiver.
  uint64_t refused_events;
} KpHubStatus;

// How many bytes per second a receiver gets, including the transport's headers. If a change of the
// world does not fit, the entities that matter most are sent, and the others follow later.
typedef struct KpBudget {
  // The kind of the budget: a `KpBudgetKind`.
  int32_t kind;
  // The number of bytes per second, at least 256. For `KP_BUDGET_KIND_AUTO`, it is the largest
  // limit. `KP_BUDGET_KIND_UNLIMITED` ignores it.
  uint32_t bytes_per_s;
} KpBudget;

// What the hub knows of the link to a receiver. All bytes include the transport's headers.
typedef struct KpLinkStatus {
  // Not 0 if the receiver's budget follows the link. Otherwise, all other members are 0.
  int32_t follows_link;
  // What determines the bytes that are sent.
  KpLinkLimit limit;
  // The number of bytes that may be sent per second.
  uint32_t bytes_per_s;
  // The number of bytes per second that were acknowledged in the last quarter of a second. It is
  // 0 before enough acknowledgements.
  uint32_t delivered_bytes_per_s;
  // How long datagrams wait in queues, in nanoseconds.
  uint64_t queueing_delay_ns;
  // The shortest round trip of the last five to ten seconds, in nanoseconds. It is 0 before the
  // first acknowledgement.
  uint64_t shortest_round_trip_ns;
  // The number of bytes that were sent, and are neither acknowledged nor lost.
  uint64_t in_flight_bytes;
  // The share of datagrams lost recently, from 0 to 1.
  double lost_ratio;
} KpLinkStatus;

// How receivers show the world, and how far back players may reach.
typedef struct KpRewindOptions {
  // The ticks per second, as in `kp_receiver_new`.
  uint32_t tick_hz;
  // The `longest_blend_ms` of the receivers. 0 selects the default: 250.
  uint32_t longest_blend_ms;
  // How long ago a player may have seen what he acts on, at most 250 ticks. What he saw is as
  // old as the round trip, his playout delay, and the time that his input waits on both sides
  // together. The longer this is, the longer a player may be hit by one with a bad connection
  // after he has taken cover. 0 selects the default: 500.
  uint32_t longest_ms;
} KpRewindOptions;

// What a client drew when it made an input: the moment of its playback, and which snapshots it had
// then. `kp_receiver_seen` writes it. Store it in the struct of your input, send it with the
// input, and give it to `kp_hub_rewind`. A stamp whose bytes are all 0 says that nothing was shown
// yet.
//
// The members are the numbers of the fields that `kp_schema_builder_seen` adds. As fields and not
// opaque bytes, a stream of level "adaptive" codes a stamp in about a byte.
typedef struct KpSeen {
  // The moment: a tick with its fraction, modulo 256, in steps of 1/64.
  float moment;
  // The newest datagram that had arrived: the lower eight bits of its number.
  float newest;
  // 1 if a state was shown. If 0, the stamp's other fields are absent in the input.
  uint8_t is_shown;
  // The number of the newest full state. It is 0 before the first.
  uint8_t full_state;
  // Up to 16 runs of missing datagrams. Each has the number of its newest datagram, as in
  // `newest`, and a count of datagrams, which is 0 without a run.
  uint8_t missing[32];
} KpSeen;

// A ring around a viewpoint: the entities that are within a distance of it, and not in a nearer
// ring.
typedef struct KpRing {
  // An entity that comes closer than this belongs to the ring, in the unit of the position.
  double within;
  // An entity of the ring leaves it when it is farther than this, which is at least `within`.
  // The difference keeps an entity at the edge from changing its ring in every tick. Choose at
  // least the cell's length if viewpoints move to and fro between cells.
  double leave;
  // The ring's entities are sent in every n-th tick, from 1 to 255. 0 selects 1. Each entity has
  // its own turn, so about as many are sent in each tick. Until its next turn, an entity keeps
  // its values, and playback blends from one turn to the next, with a delay that is longer by as
  // many ticks.
  uint32_t every;
  // The tier in which the ring's entities are sent: the index of one of the worlds that
  // `kp_hub_tick_tiers` gets, from 0 to 254. If there are fewer worlds, the last one counts.
  uint32_t tier;
  // By how many bits the fields that may be coarser are coarser in this ring, from 0 to 31, or
  // by as many as they allow. Such fields take fewer bits while their entity moves.
  uint32_t coarser;
} KpRing;

// What receivers see by distance from their viewpoints. A tier is a world in another precision.
// Each receiver gets each entity from the world that the entity's ring names.
typedef struct KpRings {
  // The names of the fields that hold positions, each after its kind's name if the kind has one:
  // `ship.position`. A position is a field of two or three real numbers that do not wrap. An
  // entity that has no such field is always seen, in tier 0. Positions are those of the first
  // world.
  const char *const *positions;
  // The number of `positions`.
  size_t position_count;
  // The names of fields whose changes do not wait for the entity's turn, such as `ship.health`.
  // An entity that is new, or moves farther than `cell` in a tick, does not wait either.
  const char *const *urgent;
  // The number of `urgent`.
  size_t urgent_count;
  // The rings, from the smallest to the largest.
  const struct KpRing *rings;
  // The number of `rings`, from 1 to 254.
  size_t ring_count;
  // The edge length of the cells into which space is divided, in the unit of the position.
  // Distances are measured from the nearest point of the viewpoint's cell, so receivers in the
  // same cell see the same and share their snapshots. Each receiver sees a little more than the
  // rings say, by at most the cell's diagonal and a fifth.
  double cell;
  // The tier of the entities beyond all rings, which are sent in every tick. A negative number
  // hides them.
  int32_t beyond;
  // After how many ticks without a change of its coarser fields an entity is sent exactly, in
  // rings that are coarser. 0: never. An entity that has never moved is exact.
  uint32_t exact_after;
} KpRings;

// How an input clock trades delay for inputs that arrive in time. A number of 0 selects the
// default, which suits the open Internet.
typedef struct KpInputClockOptions {
  // The share of inputs that should arrive in time, at most 1. A late input costs a wrong
  // prediction; a longer lead costs delay in each input's effect. Default: 0.998.
  float in_time_ratio;
  // How much faster or slower the clock may run, at most 0.5. Default: 0.05.
  float slew_ratio;
  // How early the latest of these inputs should arrive, for the server's own delays, such as
  // reading its socket only once in each tick. Default: 2. A negative number means no margin.
  int32_t margin_ms;
  // If inputs are later than they should be by more than this, the clock jumps forward. Until
  // then, the clock only runs faster. Default: 70.
  uint32_t jump_forward_ms;
  // If inputs are earlier than they should be by more than this, the clock jumps back: there are
  // no ticks for that time. Until then, the clock only runs slower. Default: 500.
  uint32_t jump_back_ms;
  // How long a late input is remembered. Default: 10,000.
  uint32_t window_ms;
  // The longest time between two calls of `kp_input_clock_ticks` that counts as usual. The clock
  // learns nothing from the inputs after a longer pause. Default: 100.
  uint32_t longest_frame_ms;
} KpInputClockOptions;

// The clock of a client that simulates its own inputs ahead of the server. It leads the server by
// the time that inputs need, plus a margin for their jitter. It follows the network by running a
// few per cent faster or slower. The tick never goes backwards until the next start.
typedef struct KpInputClock {
  // The handle; 0 means no object.
  uint64_t id;
} KpInputClock;

// Sends the records of a client. A sender has no socket and no clock.
typedef struct KpStreamSender {
  // The handle; 0 means no object.
  uint64_t id;
} KpStreamSender;

// Measurements of an input clock.
typedef struct KpInputClockStatus {
  // Not 0 if the clock was started.
  int32_t started;
  // The number of ticks that the clock returned.
  uint64_t ticks;
  // The number of ticks that the clock skipped, because they were too many to simulate at once.
  uint64_t skipped;
  // How many times the clock jumped forward or back, instead of running faster or slower.
  uint64_t jumps;
  // The number of reports that the clock learned from.
  uint64_t reports;
  // How early the input of the last report arrived, in ticks. Negative if it was late. About
  // half of the reports are of the least early of 16 inputs.
  double early_ticks;
  // How far the clock is from the lead that it needs. Positive if the clock runs faster to get
  // there.
  double error_ms;
} KpInputClockStatus;

// A component of a vector.
typedef struct KpComponent {
  // The number to write, or the number read. Real numbers are rounded to a `float`.
  double value;
  // The number that both sides hold. This member and all following ones are only for
  // differences.
  double before;
  // The least number.
  double min;
  // The largest number. On a circle, it is equivalent to `min`.
  double max;
  // The step. A decoded number is off by at most half a step.
  double precision;
  // Not 0 if the number is on a circle, such as an angle.
  int32_t is_cyclic;
} KpComponent;

// Up to four numbers that are coded together, such as a vector. The largest number determines how
// many bits each of them takes.
typedef struct KpMagnitude {
  // The form of the numbers: a `KpMagnitudeForm`.
  int32_t form;
  // The number of components, 1 to 4.
  uint32_t count;
  // The steps per unit: 1, 10 or 100. Only multiples use it.
  uint32_t steps_per_unit;
  // The numbers. Components from `count` on are ignored.
  struct KpComponent components[4];
} KpMagnitude;

// How a client predicts its own entities. `kp_predict_config_at_hz` writes the defaults.
typedef struct KpPredictConfig {
  // Ticks per second.
  uint32_t tick_hz;
  // How many ticks of inputs and states are kept, 2 to 1,024. An authoritative state that is
  // older than all of them is not used.
  uint32_t history_ticks;
  // How a state that differs from the prediction corrects it: a `KpRepair`.
  int32_t repair;
  // How long the offset of numbers and vectors fades after a correction: the time until a
  // twentieth is left. 0 shows corrections at once.
  uint32_t position_fade_ms;
  // The same for rotations, and for numbers that wrap.
  uint32_t rotation_fade_ms;
  // An entity that no snapshot has sent for this many ticks rests, so its state is also that of
  // the newest snapshot's tick. That must be longer than the hub may take to send an entity that
  // moves, also after a loss. The largest number means never.
  uint32_t rest_ticks;
  // A correction that shifts a number or a vector by more than this is shown at once, like a
  // teleport. The unit is that of the fields.
  double snap_distance;
} KpPredictConfig;

// Predicts a client's own entities, of one kind: shows the effect of an input at once, and corrects
// itself by the states that arrive from the server. Push each input with the tick for which the
// server will use it. Several entities are stepped together, so that they may affect each other.
//
// The step must depend on nothing but what it is given and what never changes, and give the same
// floats on both machines. The server must round each state after each step as a packet does, by
// `kp_schema_rounded`. Otherwise corrections happen all the time.
typedef struct KpPrediction {
  // The handle; 0 means no object.
  uint64_t id;
} KpPrediction;

// The numbers of a field in the caller's memory, to which the library writes.
typedef struct KpTarget {
  // The address of the first number of the first entity. If it is null, the field is not
  // written.
  void *data;
  // The number of bytes from one entity to the next.
  size_t stride;
  // The type of the numbers: a `KpNumber` that can hold every value of the field.
  int32_t number;
} KpTarget;

// The game's step, and the memory that it works on. Each call that may step gets one, and keeps
// none of its pointers.
//
// The library writes the entities' states of the tick before to `targets`, and the input of the
// tick to `input_targets`. Then it calls `step`, which changes the states where they are. The
// library reads them through `columns`, which are the same numbers. It rounds them as a packet does.
// The lists of targets and columns must not change during the call.
typedef struct KpStep {
  // Steps `count` entities to the tick `tick`, and returns 0. If it returns another number, the
  // entities keep their states, `step` is not called again, and the call returns
  // `KP_STATUS_STEP`. It must not throw an exception or jump out. It may use other objects, but a
  // call with the prediction that calls it returns `KP_STATUS_ARGUMENT`. The steps of two threads
  // must not use each other's predictions, because both would wait.
  int32_t (*step)(void *user, size_t count, uint32_t tick);
  // Is passed to `step`.
  void *user;
  // For how many entities there is room: at least as many as were added, including the entity
  // that `kp_prediction_add` adds.
  size_t capacity;
  // Room for `capacity` ids of the entities, in increasing order. It may be null.
  uint32_t *ids;
  // A target for each field of the entities, with room for `capacity` entities.
  const struct KpTarget *targets;
  // A column for each field of the entities, in general of the same numbers as its target. A
  // field that the step does not change needs one too.
  const struct KpColumn *columns;
  // The number of targets, and of columns.
  size_t fields;
  // A target for each field of the input, with room for one input.
  const struct KpTarget *input_targets;
  // The number of input targets.
  size_t input_fields;
} KpStep;

// What a call with authoritative states did.
typedef struct KpCorrection {
  // What happened: a `KpOutcome`; of several entities, the largest.
  int32_t outcome;
  // How many ticks were repeated or shifted.
  uint32_t repeated_ticks;
  // By how much the newest states changed: the length of the vector, or the difference of the
  // number, that changed most. Velocities are not measured.
  double distance;
  // The largest turn of a rotation, and of a number that wraps.
  double turn_rad;
  // Not 0 if an entity's correction is shown at once instead of fading: because of a cut, a
  // change of its frame, or the snap distance.
  int32_t is_snapped;
} KpCorrection;

// Counters of a prediction since it was made.
typedef struct KpPredictStats {
  // The inputs that were pushed.
  uint64_t inputs;
  // The ticks without an input of their own, which were stepped with the last one.
  uint64_t filled_ticks;
  // How often a gap between two inputs was longer than the history, which began anew.
  uint64_t restarts;
  // The authoritative states that equal the prediction.
  uint64_t confirmed;
  // Those that corrected it.
  uint64_t corrected;
  // Those of ticks that were not predicted yet.
  uint64_t ahead;
  // Those that are older than the history, and were not used.
  uint64_t too_old;
  // The corrections that were shown at once.
  uint64_t snapped;
  // The ticks that were repeated or shifted.
  uint64_t repeated_ticks;
  // The states after a step that could not be quantized.
  uint64_t unquantized;
} KpPredictStats;

// The settings of a publisher.
typedef struct KpPublisherOptions {
  // The number of the first group, below 2^61. After a restart, use a number above all previous
  // ones, such as the seconds since 1970. Then relays and viewers do not mix the two runs.
  uint64_t first_group;
  // The number of ticks by which pieces are delayed. A delay protects against players who watch
  // their own match. After the last world, `kp_publisher_drain` releases the pieces that still
  // wait.
  uint32_t delay_ticks;
} KpPublisherOptions;

// Publishes one world for any number of viewers. It encodes each snapshot once for each tier,
// however many viewers watch. A publisher has no sockets: it produces objects and datagrams, which
// relays or your servers forward.
typedef struct KpPublisher {
  // The handle; 0 means no object.
  uint64_t id;
} KpPublisher;

// A unit for the transport: an object of a group, or a datagram.
typedef struct KpPiece {
  // The number of the piece's group in the track.
  uint64_t group;
  // The number of the object in its group. Object 0 begins a group, and ends the previous group.
  uint64_t object;
  // The number of the tier.
  uint32_t tier;
  // The type of the track: a `KpTrackKind`.
  int32_t track;
  // Not 0 if the piece is a datagram. A datagram has no `object`, and viewers do not need its
  // `group`.
  int32_t is_datagram;
  // The tick of the piece's last snapshot. Viewers do not need it.
  uint32_t tick;
} KpPiece;

// The settings of a receiver. A number of 0 selects the default.
typedef struct KpReceiverOptions {
  // The channel of the hub, which distinguishes hubs on one connection.
  uint32_t channel;
  // The shortest delay of the shown state. By default, it depends on the network alone.
  uint32_t min_delay_ms;
  // The longest delay of the shown state. Default: 500.
  uint32_t max_delay_ms;
  // The longest time over which an entity's motion is blended. If an entity was not refreshed
  // for longer than this, its motion takes this time and ends in the newest state. Playback does
  // not wait for entities whose turns, as in `KpRing`, are longer than this. Default: 250.
  uint32_t longest_blend_ms;
  // The maximum memory for views and states, in bytes. Default: 128 MiB.
  uint64_t max_memory_bytes;
  // The kinds of events of the hub, or zero for no events.
  struct KpEvents events;
} KpReceiverOptions;

// The shown moment.
typedef struct KpPlayback {
  // The shown tick, with its fraction.
  double tick;
  // Not 0 if no newer state had arrived when one was needed.
  int32_t is_starved;
} KpPlayback;

// The receiver's view of its connection.
typedef struct KpReceiverStatus {
  // Not 0 if a snapshot was accepted.
  int32_t joined;
  // The number of datagrams accepted.
  uint64_t received;
  // The number of datagrams refused, including duplicates.
  uint64_t refused;
  // The number of missing datagrams of the hub.
  uint64_t lost;
  // The number of bytes of all datagrams.
  uint64_t bytes;
  // The smoothed time from sending an acknowledgement to the first snapshot that builds on it.
  // Negative before the first such snapshot.
  double round_trip_ms;
  // The fractional tick that the server simulates now. It is negative while it is unknown.
  double server_tick;
} KpReceiverStatus;

// Writes a replay file.
typedef struct KpReplayWriter {
  // The handle; 0 means no object.
  uint64_t id;
} KpReplayWriter;

// The size of a replay file.
typedef struct KpReplaySummary {
  // The number of snapshots.
  uint64_t frames;
  // The number of groups, each a second long.
  uint64_t groups;
  // The size of the file in bytes.
  uint64_t bytes;
} KpReplaySummary;

// Keeps the last seconds of a world in memory.
typedef struct KpKillCam {
  // The handle; 0 means no object.
  uint64_t id;
} KpKillCam;

// A replay to read.
typedef struct KpReplay {
  // The handle; 0 means no object.
  uint64_t id;
} KpReplay;

// The properties of a replay.
typedef struct KpReplayInfo {
  // The number of ticks per second.
  double rate_hz;
  // The first tick.
  uint32_t first_tick;
  // The last tick.
  uint32_t last_tick;
  // The number of markers.
  uint32_t markers;
  // Not 0 if the writer finished the file. 0 if the file is still being written, or if its
  // writer was killed.
  int32_t is_complete;
} KpReplayInfo;

// A field of a kind of entities.
typedef struct KpField {
  // The type of the field.
  KpFieldKind kind;
  // The number of column values per entity: 3 for a position, 4 for a rotation.
  uint32_t numbers;
  // The number of lanes of the field.
  uint32_t lanes;
  // The index of the field's first lane among the lanes of its kind.
  uint32_t first_lane;
} KpField;

// A schema under construction, kind by kind and field by field.
typedef struct KpSchemaBuilder {
  // The handle; 0 means no object.
  uint64_t id;
} KpSchemaBuilder;

// An event that is due.
typedef struct KpEvent {
  // The tick at which the event happened.
  uint32_t tick;
  // The index of the event's kind among the kinds of the events' schema.
  uint32_t kind;
  // Not 0 if an earlier moment had already shown the event's tick.
  int32_t is_late;
} KpEvent;

// Where an entity is in the world, and how it moves. All numbers are NaN while this is not known,
// for example because the ship under a passenger has not arrived yet. Draw nothing then.
typedef struct KpPlace {
  // The position, in the unit of the entity's field.
  double position[3];
  // The rotation, a unit quaternion x, y, z, w. It is 0, 0, 0, 1 if the kind has no rotation.
  double rotation[4];
  // The velocity in units per second. It includes the motion of what carries the entity. An
  // entity without a velocity field is at rest while only one of its states is known.
  double velocity[3];
} KpPlace;

// A joint of a skeleton to create.
typedef struct KpJoint {
  // The name, which may be empty and need not be unique.
  const char *name;
  // The index of the parent, which is lower than the joint's own index; −1 for a root.
  int32_t parent;
} KpJoint;

// The settings of a stream. Both ends need the same options. A number of 0 selects the default.
typedef struct KpStreamOptions {
  // The longest round trip without extra cost. Default: 500.
  uint32_t longest_round_trip_ms;
  // How many earlier records each packet repeats, up to 15. Default: 1. A negative number means
  // no repeats.
  int32_t repeats;
  // The maximum number of records that a receiver accepts at once, at least 16. Default: 64.
  uint32_t burst_records;
  // The channel of the stream, which distinguishes streams on one connection.
  uint32_t channel;
  // The largest datagram that the transport carries. Default: 1,200.
  uint32_t datagram_bytes;
  // The number of the first record.
  uint16_t first_number;
} KpStreamOptions;

// Receives the records of one client.
typedef struct KpStreamReceiver {
  // The handle; 0 means no object.
  uint64_t id;
} KpStreamReceiver;

// A record that has arrived.
typedef struct KpRecord {
  // The number that `kp_stream_push` returned to the sender.
  uint16_t number;
  // Not 0 if the record arrived as a repeat, because its own packet is missing.
  uint8_t is_repeated;
  // Not 0 if a newer record arrived before this one.
  uint8_t is_late;
} KpRecord;

// A codec of streams. Both sides need the same codec.
typedef struct KpStreamCodec {
  // The handle; 0 means no object.
  uint64_t id;
} KpStreamCodec;

// The base that a packet is coded against. It contains a record that both sides hold, and the
// model trained up to that record. Immutable.
typedef struct KpStreamBase {
  // The handle; 0 means no object.
  uint64_t id;
} KpStreamBase;

// A receiver's view of its stream.
typedef struct KpStreamReceiverStatus {
  // The number of packets accepted.
  uint64_t packets;
  // The number of packets refused, including duplicates.
  uint64_t refused;
  // The bytes of the accepted packets.
  uint64_t bytes;
  // The number of records that arrived, each once.
  uint64_t records;
  // How many of these arrived as repeats, because their own packet is missing.
  uint64_t recovered;
  // The number of ticks whose record had arrived in time for `kp_stream_read_for_tick`.
  uint64_t in_time;
  // The number of ticks without a record, because it was lost or late.
  uint64_t missed;
} KpStreamReceiverStatus;

// A value, and how it is coded relative to a value that both sides hold.
typedef struct KpValue {
  // The type of the value: a `KpValueKind`.
  int32_t kind;
  // If not 0, differences from `least` to `most` are coded in few bits. An unchanged value then
  // takes 1 bit, a small difference 2 bits plus its own code, and any other value 2 bits plus a
  // full code. If 0, an unchanged value takes 1 bit, and any other value 1 bit plus a full code.
  int32_t has_small;
  // The least value.
  double min;
  // The largest value.
  double max;
  // The step of a real number. The decoded value is off by at most half a step.
  double precision;
  // The least small difference.
  double least;
  // The largest small difference.
  double most;
  // The value that both sides hold.
  double before;
  // The value to write, or the value read.
  double value;
} KpValue;

// The settings of a viewer. A number of 0 selects the default.
typedef struct KpViewerOptions {
  // The shortest delay of the shown state. By default, it depends on the network alone.
  uint32_t min_delay_ms;
  // The longest delay of the shown state. Default: 500.
  uint32_t max_delay_ms;
  // How long the viewer keeps states for rewinding. By default, it keeps no states.
  uint32_t history_ms;
  // The maximum memory for states, in bytes. Default: 256 MiB.
  uint64_t max_memory_bytes;
} KpViewerOptions;

// Watches a broadcast. A viewer has no socket and no clock: the caller passes in objects and
// datagrams, and gets states to show. A viewer sends nothing.
typedef struct KpViewer {
  // The handle; 0 means no object.
  uint64_t id;
} KpViewer;

// The effect of a piece.
typedef struct KpTaken {
  // Not 0 if the piece made a snapshot readable. 0 if the piece waits for others.
  int32_t is_read;
  // The tick of the newest snapshot that became readable.
  uint32_t tick;
} KpTaken;

// The counters and measurements of a viewer.
typedef struct KpViewerStatus {
  // The number of snapshots decoded.
  uint64_t snapshots;
  // The number of snapshots decoded only to catch up, and not shown.
  uint64_t caught_up;
  // The number of snapshots that arrived too late to be shown.
  uint64_t late;
  // The number of objects and datagrams refused.
  uint64_t refused;
  // The number of bytes of all objects and datagrams.
  uint64_t bytes;
  // The delay of the shown state.
  double delay_ms;
  // The variation of arrival times.
  double jitter_ms;
} KpViewerStatus;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads an `r3d2canm` file. The caller frees `*out` with `kp_anm_free`.
KpStatus kp_anm_from_bytes(const uint8_t *bytes, size_t size, struct KpAnm *out);

// Writes an `r3d2canm` file: `*size` bytes, if they fit into `capacity`.
KpStatus kp_anm_to_bytes(struct KpAnm anm, uint8_t *bytes, size_t capacity, size_t *size);

// Writes the properties of an `r3d2canm` file to `*out`.
KpStatus kp_anm_info(struct KpAnm anm, struct KpAnmInfo *out);

// Writes the hash of a joint's name. The file does not contain the name itself.
KpStatus kp_anm_joint(struct KpAnm anm, uint32_t joint, uint32_t *hash);

// Writes the hash of a name, to compare with the hashes of `kp_anm_joint`.
KpStatus kp_anm_hash(const char *name, uint32_t *hash);

// Writes the pose at the time `time_s` in seconds. A time outside of the file gives the pose of
// the nearer end. Each call reads the keys from the nearest earlier jump cache, or from the start
// if there is no such cache. So use this function for import and comparison. For playback, build a
// clip.
KpStatus kp_anm_sample(struct KpAnm anm, float time_s, const struct KpPose *pose);

// Frees an `r3d2canm` file.
KpStatus kp_anm_free(struct KpAnm anm);

// Writes bytes as runs, XORed with the bytes of `base`, which both sides hold. Writes `*size`
// bytes, if they fit into `capacity`. A shorter base is extended with zeros. Runs suit bytes that
// mostly equal the base.
KpStatus kp_runs_encode(const uint8_t *base,
                        size_t base_size,
                        const uint8_t *bytes,
                        size_t byte_count,
                        uint8_t *runs,
                        size_t capacity,
                        size_t *size);

// Reads runs that `kp_runs_encode` wrote against the same base, and writes `*size` bytes. Returns
// `KP_STATUS_DATA` if the runs decode to more than `capacity` bytes.
KpStatus kp_runs_decode(const uint8_t *base,
                        size_t base_size,
                        const uint8_t *runs,
                        size_t run_bytes,
                        uint8_t *bytes,
                        size_t capacity,
                        size_t *size);

// Writes bytes as sparse bytes, XORed with the bytes of `base`, which both sides hold. Writes
// `*size` bytes, if they fit into `capacity`. A shorter base is extended with zeros. Sparse bytes
// suit short structs that mostly equal the base, such as inputs. Both sides need to know
// `byte_count`, because it is not written.
KpStatus kp_sparse_encode(const uint8_t *base,
                          size_t base_size,
                          const uint8_t *bytes,
                          size_t byte_count,
                          uint8_t *sparse,
                          size_t capacity,
                          size_t *size);

// Reads `byte_count` bytes that `kp_sparse_encode` wrote against the same base. After an error,
// `bytes` is unchanged.
KpStatus kp_sparse_decode(const uint8_t *base,
                          size_t base_size,
                          const uint8_t *sparse,
                          size_t sparse_size,
                          uint8_t *bytes,
                          size_t byte_count);

// Creates a catalogue for a simulation with `tick_hz` ticks per second. `tiers` lists its tiers,
// which are numbered in this order. The caller frees `*out` with `kp_catalogue_free`.
KpStatus kp_catalogue_new(uint32_t tick_hz,
                          const struct KpTier *tiers,
                          size_t count,
                          struct KpCatalogue *out);

// Creates a catalogue with the tiers that suit most broadcasts: "full" has all snapshots, "third"
// one in three, "eighth" one in eight, and "fast" has all in datagrams. If the schema has bodies,
// the tier "coarse" has one in three, with less precision for moving bodies. The caller frees
// `*out` with `kp_catalogue_free`.
KpStatus kp_catalogue_standard(uint32_t tick_hz, struct KpCodec codec, struct KpCatalogue *out);

// Reads a catalogue from the object of the track "catalogue". The caller frees `*out` with
// `kp_catalogue_free`.
KpStatus kp_catalogue_from_bytes(const uint8_t *bytes, size_t size, struct KpCatalogue *out);

// Writes a catalogue's bytes, to publish as the object of the track "catalogue". Writes `*size`
// bytes, if they fit into `capacity`.
KpStatus kp_catalogue_to_bytes(struct KpCatalogue catalogue,
                               uint8_t *bytes,
                               size_t capacity,
                               size_t *size);

// Writes the ticks per second of a broadcast, and its number of tiers.
KpStatus kp_catalogue_info(struct KpCatalogue catalogue, uint32_t *tick_hz, uint32_t *tiers);

// Creates the schema of the broadcast's world. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_catalogue_schema(struct KpCatalogue catalogue, struct KpSchema *out);

// Writes the properties of a tier. Tiers are numbered from 0.
KpStatus kp_catalogue_tier(struct KpCatalogue catalogue, uint32_t tier, struct KpTierInfo *out);

// Finds the tier with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such tier.
KpStatus kp_catalogue_find(struct KpCatalogue catalogue, const char *name, uint32_t *tier);

// Writes the name of a track for the transport, with a terminating zero: `*size` bytes, if they
// fit into `capacity`. The track of a tier's snapshots has the name of the tier.
KpStatus kp_catalogue_track_name(struct KpCatalogue catalogue,
                                 const struct KpTrack *track,
                                 char *name,
                                 size_t capacity,
                                 size_t *size);

// Frees a catalogue. Objects made with the catalogue remain valid.
KpStatus kp_catalogue_free(struct KpCatalogue catalogue);

// Reads a clip in memory form or disk form. Pass a zero `rig` for a clip without a rig. The caller
// frees `*out` with `kp_clip_free`.
KpStatus kp_clip_from_bytes(const uint8_t *bytes,
                            size_t size,
                            struct KpRig rig,
                            struct KpClip *out);

// Writes the properties of a clip to `*out`.
KpStatus kp_clip_info(struct KpClip clip, struct KpClipInfo *out);

// Writes the name of a curve, with a terminating zero: `*size` bytes including the zero, if they
// fit into `capacity`.
KpStatus kp_clip_curve_name(struct KpClip clip,
                            uint32_t curve,
                            char *name,
                            size_t capacity,
                            size_t *size);

// Writes the time in seconds and the name of a marker. Markers are numbered in the order of their
// times. The name has a terminating zero: `*size` bytes including the zero, if they fit into
// `capacity`.
KpStatus kp_clip_marker(struct KpClip clip,
                        uint32_t marker,
                        float *time_s,
                        char *name,
                        size_t capacity,
                        size_t *size);

// Frees a clip. Its players remain valid.
KpStatus kp_clip_free(struct KpClip clip);

// Creates a player of a clip on its skeleton. The caller frees `*out` with `kp_player_free`.
KpStatus kp_player_new(struct KpClip clip, struct KpSkeleton skeleton, struct KpPlayer *out);

// Creates a player of a clip on an engine's skeleton, without comparing that skeleton with the
// clip's. Channels that the clip does not store keep the values of the bind pose `bind`. The
// caller frees `*out` with `kp_player_free`.
KpStatus kp_player_with_bind_pose(struct KpClip clip,
                                  const struct KpPose *bind,
                                  struct KpPlayer *out);

// Writes the pose at the time `time_s` in seconds. Times outside the clip give its first or last
// pose.
KpStatus kp_player_sample(struct KpPlayer player, float time_s, const struct KpPose *pose);

// Writes the pose at `position`, counted in samples from the first. Whole numbers are the sample
// times.
KpStatus kp_player_sample_at(struct KpPlayer player, double position, const struct KpPose *pose);

// Writes the values of all curves at the time `time_s` in seconds. `count` must be the clip's
// number of curves.
KpStatus kp_player_curves(struct KpPlayer player, float time_s, float *curves, size_t count);

// Writes a blend of the poses of two players of the same skeleton. A `weight` of 0 gives the first
// pose, and a `weight` of 1 gives the second pose. `mask` has a factor for each joint, which
// scales the weight. With a `mask_count` of 0 there is no mask.
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

// Creates a codec of a schema at a level. "packed" is fastest, "adaptive" takes few bits, and
// "learning" takes the fewest. `profile` is a profile file trained for the schema. With a
// `profile_size` of 0, the codec has no trained profile. The caller frees `*out` with
// `kp_codec_free`.
KpStatus kp_codec_new(struct KpSchema schema,
                      const char *level,
                      const uint8_t *profile,
                      size_t profile_size,
                      struct KpCodec *out);

// Writes a hash of the schema, the level, the profile and the time precision. Two sides can read
// each other's packets only if their hashes are equal. Hubs and receivers compare the hashes
// themselves.
KpStatus kp_codec_hash(struct KpCodec codec, uint64_t *hash);

// Writes the widths and code words of a codec's profile as text, for tools. The text has a
// terminating zero: `*size` bytes, if they fit into `capacity`. The first two lines, `entities`
// and `flags`, each describe a code for gaps: the offset widths of its classes, and the lengths of
// its code words, in bits. Then each field has a line with its context, and a line for each class.
// The line of a class contains the reference, and `width/beyond` in bits for each lane. The
// lengths of the class words follow, once if all contexts share them, or for each context.
// `spec/CODEC.md`, sections 7 and 9, describes these codes. The text does not include the model of
// the adaptive levels.
KpStatus kp_codec_profile_text(struct KpCodec codec, char *text, size_t capacity, size_t *size);

// Frees a codec. Objects made with the codec remain valid.
KpStatus kp_codec_free(struct KpCodec codec);

// Creates the empty view with which both sides begin. The caller frees `*out` with `kp_view_free`.
KpStatus kp_view_empty(struct KpSchema schema, struct KpView *out);

// Creates the view of a state that both sides hold, such as a saved state. The caller frees `*out`
// with `kp_view_free`.
KpStatus kp_view_of(struct KpSnapshot snapshot, struct KpView *out);

// Copies the state of a view into a snapshot of the same schema.
KpStatus kp_view_get(struct KpView view, struct KpSnapshot snapshot);

// Writes the tick of a view.
KpStatus kp_view_tick(struct KpView view, uint32_t *tick);

// Writes the state check of a view: a 16-bit hash of its tick and its state. Two sides that hold
// the same tick and state have the same check.
KpStatus kp_view_check(struct KpView view, uint16_t *check);

// Frees a view.
KpStatus kp_view_free(struct KpView view);

// Creates an encoder. The caller frees `*out` with `kp_encoder_free`.
KpStatus kp_encoder_new(struct KpCodec codec, struct KpEncoder *out);

// Encodes a snapshot against one to four views that the other side holds, newest first. More than
// one view helps the levels "adaptive" and "learning". Writes the packet, of `*size` bytes, and
// returns the view that the other side will have in `*view`. If `capacity` is too small, only
// `*size` is written. The caller frees `*view` with `kp_view_free`. `view` may be null.
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

// Creates a decoder. The caller frees `*out` with `kp_decoder_free`.
KpStatus kp_decoder_new(struct KpCodec codec, struct KpDecoder *out);

// Decodes a packet against the views that it was encoded against, newest first. `tick` is the
// snapshot's tick, which a packet does not contain. Returns the resulting view in `*view`, which
// the caller frees with `kp_view_free`. Any bytes are either refused or decoded to a valid view.
KpStatus kp_decode(struct KpDecoder decoder,
                   const struct KpView *views,
                   size_t view_count,
                   const uint8_t *packet,
                   size_t size,
                   uint32_t tick,
                   struct KpView *view);

// Frees a decoder.
KpStatus kp_decoder_free(struct KpDecoder decoder);

// Splits a received datagram, such as an acknowledgement of a stream followed by a snapshot.
// Writes `*count` parts, if they fit into `capacity`. To combine datagrams, append one to the
// other.
KpStatus kp_split_datagram(const uint8_t *datagram,
                           size_t size,
                           struct KpPart *parts,
                           size_t capacity,
                           size_t *count);

// Creates kinds of events from the schema of a codec. `longest_ticks` has a number for each kind:
// how many ticks an event may wait before it is dropped. A negative number marks a kind whose
// events must arrive. With a `count` of 0, the events of all kinds must arrive. The caller frees
// `*out` with `kp_events_free`.
KpStatus kp_events_new(struct KpCodec codec,
                       const int32_t *longest_ticks,
                       size_t count,
                       struct KpEvents *out);

// Frees kinds of events. Objects made with them remain valid.
KpStatus kp_events_free(struct KpEvents events);

// Chooses what a receiver shows of a kind of entities whose next state has not arrived: a
// `KpExtrapolation`, for at most `at_most_ms`, up to 1,000. For `KP_EXTRAPOLATION_STRAIGHT` this is
// the longest way, as a time at full speed. `KP_EXTRAPOLATION_HOLD` ignores it.
//
// While a kind is not held, playback runs on although it starves, and does not lag more after that.
// When the next state arrives, the shown place differs from the true one: see
// `kp_receiver_set_smoothing`. Kinds that are held need that too.
KpStatus kp_receiver_set_extrapolation(struct KpReceiver receiver,
                                       uint32_t kind,
                                       int32_t extrapolation,
                                       uint32_t at_most_ms);

// Tells a hub what the receivers show of a kind of entities whose next state has not arrived, so
// that `kp_hub_rewind` finds it: the arguments of `kp_receiver_set_extrapolation`. This changes
// nothing that is sent.
//
// A rewind finds what `kp_shown_read` wrote without smoothing, also for a kind that continues
// straight. It cannot know what smoothing or the game's own rules added, because that depends on
// the frames that the client drew. Hold kinds that players shoot at and draw them without
// smoothing, or accept that a shot at a returning entity is off by what is left to fade.
KpStatus kp_hub_set_extrapolation(struct KpHub hub,
                                  uint32_t kind,
                                  int32_t extrapolation,
                                  uint32_t at_most_ms);

// Makes `kp_shown_read` show a kind of entities without jumps when their next state arrives after
// all: the distance from the shown place to the true one fades out, with a steady velocity. After
// `fade_ms`, a twentieth is left. 0 ends that, as at first. An entity that jumps, or was added
// again, does not fade. As long as no entity has waited for a state, nothing changes.
//
// The numbers that fade are positions, other numbers with a range, and rotations; not velocities,
// integers and flags. `kp_shown_places` and figures are not smoothed. Cost: a few states for each
// entity that was shown in the last quarter of a second.
KpStatus kp_receiver_set_smoothing(struct KpReceiver receiver, uint32_t kind, uint32_t fade_ms);

// Writes for how long each of a kind's entities has waited for a newer state, in milliseconds, in
// the order of their ids: `*count` times, if they fit into `capacity`. 0 if a later state is known.
// The time counts as far as playback runs on. An entity at rest also has no later state, so the
// time is long for entities that snapshots leave out because nothing changed.
KpStatus kp_shown_starved(struct KpShown shown,
                          uint32_t kind,
                          double *times_ms,
                          size_t capacity,
                          size_t *count);

// Creates a figure of a skeleton. Both sides need the same skeleton and options; the schema's hash
// covers both. `options` may be null. A precision that is finer than the numbers of a pose is
// refused. The caller frees `*out` with `kp_figure_free`.
KpStatus kp_figure_new(struct KpSkeleton skeleton,
                       const struct KpFigureOptions *options,
                       struct KpFigure *out);

// Writes the numbers of a figure to `*out`.
KpStatus kp_figure_info(struct KpFigure figure, struct KpFigureInfo *out);

// Writes the largest error, in cm, that a joint can have in poses of a tier that move only as the
// options say. It is at most the joint's precision in this tier. In other poses the error may
// reach the precision.
KpStatus kp_figure_max_error_cm(struct KpFigure figure,
                                uint32_t tier,
                                uint32_t joint,
                                double *error_cm);

// Writes the name of the field that holds the position of the first joint that moves, with a
// terminating zero: `*size` bytes including the zero, if they fit into `capacity`. Returns
// `KP_STATUS_NOTHING` if no joint moves.
KpStatus kp_figure_position_field(struct KpFigure figure,
                                  char *name,
                                  size_t capacity,
                                  size_t *size);

// Writes the pose of an entity in a snapshot, relative to the parents. The kind may have other
// fields besides those of this figure, as kinds of Bevy's figures have. The joints and curves of
// absent parts are not written. `curves` is for the values of all curves; with a `curve_count` of
// 0, only joints are written. Returns `KP_STATUS_NOTHING` if the kind has no entity `id`.
KpStatus kp_figure_read(struct KpFigure figure,
                        struct KpSnapshot snapshot,
                        uint32_t kind,
                        uint32_t id,
                        const struct KpPose *pose,
                        float *curves,
                        size_t curve_count);

// Writes the pose of an entity that a receiver, a viewer or a replay shows, like `kp_figure_read`.
// It is interpolated between two states: joints turn the shorter way at constant speed. A part
// that is present in only one of the states is as in the earlier one, until the later is reached.
KpStatus kp_figure_show(struct KpFigure figure,
                        struct KpShown shown,
                        uint32_t kind,
                        uint32_t id,
                        const struct KpPose *pose,
                        float *curves,
                        size_t curve_count);

// Writes whether a part of an entity in a snapshot is present: not 0 if it is. Returns
// `KP_STATUS_NOTHING` if the kind has no entity `id`.
KpStatus kp_figure_is_present(struct KpFigure figure,
                              struct KpSnapshot snapshot,
                              uint32_t kind,
                              uint32_t id,
                              uint32_t part,
                              int32_t *is_present);

// Writes whether `kp_figure_show` writes a part of an entity, like `kp_figure_is_present`.
KpStatus kp_figure_is_shown(struct KpFigure figure,
                            struct KpShown shown,
                            uint32_t kind,
                            uint32_t id,
                            uint32_t part,
                            int32_t *is_shown);

// Frees a figure. Schemas with its kind remain valid.
KpStatus kp_figure_free(struct KpFigure figure);

// Writes the clip `*play` with another speed to `*out`. Its time stays the same at `tick`. `out` may
// be `play`. Returns `KP_STATUS_VALUE` for numbers that are out of range.
KpStatus kp_clip_play_with_speed(const struct KpClipPlay *play,
                                 uint32_t tick,
                                 double speed,
                                 struct KpClipPlay *out);

// Writes the clip that an entity of a snapshot plays in a slot. Returns `KP_STATUS_NOTHING` if the
// kind has no entity `id`, or the slot is empty.
KpStatus kp_figure_clip(struct KpFigure figure,
                        struct KpSnapshot snapshot,
                        uint32_t kind,
                        uint32_t id,
                        uint32_t slot,
                        struct KpClipPlay *out);

// Writes the clip that an entity plays in a slot, whose pose `kp_figure_show` writes. `tick` is the
// shown tick with its fraction, of a `KpPlayback`. If the same clip continues, its time is exact
// and its weight is interpolated. Otherwise the clip is as in the earlier state, and its time runs
// on, until the later state is reached. Returns `KP_STATUS_NOTHING` if no entity `id` is shown, or
// the slot is empty.
KpStatus kp_figure_shown_clip(struct KpFigure figure,
                              struct KpShown shown,
                              uint32_t kind,
                              uint32_t id,
                              double tick,
                              uint32_t slot,
                              struct KpShownClip *out);

// Quantizes the state of a body, and appends it to a snapshot, as an entity of a kind that has the
// fields of this figure. `id` must be above the ids before.
//
// Returns `KP_STATUS_VALUE` for a number that is not finite or beyond its limits, and for a joint
// that moves in a way that the figure does not send. Parts, clips, slots and tiers that the figure
// does not have, and two clips in a slot, are `KP_STATUS_ARGUMENT`. After an error, the snapshot
// is unchanged.
KpStatus kp_figure_push(struct KpFigure figure,
                        struct KpSnapshot snapshot,
                        uint32_t kind,
                        uint32_t id,
                        const struct KpFigurePose *pose);

// Creates a writer at the beginning of a group. The caller frees `*out` with
// `kp_group_writer_free`.
KpStatus kp_group_writer_new(struct KpCodec codec, struct KpGroupWriter *out);

// Begins the next group. `given` is a view that the reader will be given too. If it is zero, the
// group does not depend on anything before it.
KpStatus kp_group_writer_begin(struct KpGroupWriter writer, struct KpView given);

// Adds a frame. Its tick must be above the tick of the previous frame.
KpStatus kp_group_write(struct KpGroupWriter writer, struct KpSnapshot world);

// Takes the frames added since the last call: `*size` bytes, if they fit into `capacity`.
// Otherwise the frames are kept. Returns `KP_STATUS_NOTHING` if no frames were added.
KpStatus kp_group_take(struct KpGroupWriter writer, uint8_t *bytes, size_t capacity, size_t *size);

// Frees a writer of groups.
KpStatus kp_group_writer_free(struct KpGroupWriter writer);

// Creates a reader at the beginning of a group. The caller frees `*out` with
// `kp_group_reader_free`.
KpStatus kp_group_reader_new(struct KpCodec codec, struct KpGroupReader *out);

// Begins the next group, with the view that the group's writer was given, or with zero.
KpStatus kp_group_reader_begin(struct KpGroupReader reader, struct KpView given);

// Reads the frame at the beginning of `bytes` into a snapshot of the same schema, and writes the
// frame's length to `*used`. Returns `KP_STATUS_NOTHING` if `size` is 0. Returns `KP_STATUS_DATA`
// for an invalid or incomplete frame. In both cases, nothing changes. The connection or the file
// must guarantee that the bytes are unaltered.
KpStatus kp_group_read(struct KpGroupReader reader,
                       const uint8_t *bytes,
                       size_t size,
                       struct KpSnapshot snapshot,
                       size_t *used);

// Frees a reader of groups.
KpStatus kp_group_reader_free(struct KpGroupReader reader);

// Creates a hub. `options` may be null. The caller frees `*out` with `kp_hub_free`.
KpStatus kp_hub_new(struct KpCodec codec, const struct KpHubOptions *options, struct KpHub *out);

// Sets how the entities of a kind are sent. Changes of these entities are sent in every `every`th
// tick (1, 2, 4 or 8). `weight`, at least 0, is how much these entities matter if not everything
// fits.
KpStatus kp_hub_set_kind(struct KpHub hub, const char *name, uint32_t every, float weight);

// Adds a receiver with a unique number. All times are nanoseconds since any fixed moment.
// `budget_bytes_per_s` limits the data sent to the receiver. It is at least 256, or 0 for no limit.
// `kp_hub_set_budget` sets a budget that follows the link.
KpStatus kp_hub_add(struct KpHub hub,
                    uint64_t receiver,
                    uint32_t budget_bytes_per_s,
                    uint64_t now_ns);

// Removes a receiver.
KpStatus kp_hub_remove(struct KpHub hub, uint64_t receiver);

// Sets which entities a receiver may see, as ids in increasing order. With a `count` of 0, it sees
// no entity. At first, a receiver may see all entities.
KpStatus kp_hub_set_relevant(struct KpHub hub,
                             uint64_t receiver,
                             const uint32_t *ids,
                             size_t count);

// Lets a receiver see all entities again.
KpStatus kp_hub_set_all_relevant(struct KpHub hub, uint64_t receiver);

// Sets the weights of entities for a receiver, which are used if not everything fits. `ids` are in
// increasing order, and `weights` has a weight for each. All other entities weigh 1. The weights
// apply until they are set again. A `count` of 0 removes them.
KpStatus kp_hub_set_weights(struct KpHub hub,
                            uint64_t receiver,
                            const uint32_t *ids,
                            const float *weights,
                            size_t count);

// Writes the hub's view of a connection to a receiver.
KpStatus kp_hub_status(struct KpHub hub, uint64_t receiver, struct KpHubStatus *out);

// Adds an event to the next tick, with a column of one record for each field of its kind. All
// joined receivers get the event exactly once, in the order of these calls.
KpStatus kp_hub_emit(struct KpHub hub,
                     uint32_t kind,
                     const struct KpColumn *columns,
                     size_t column_count);

// Like `kp_hub_emit`, but only for the receivers in `receivers`.
KpStatus kp_hub_emit_to(struct KpHub hub,
                        uint32_t kind,
                        const struct KpColumn *columns,
                        size_t column_count,
                        const uint64_t *receivers,
                        size_t receiver_count);

// Like `kp_hub_emit`, but only for the receivers that may see the entity `entity`.
KpStatus kp_hub_emit_seeing(struct KpHub hub,
                            uint32_t kind,
                            const struct KpColumn *columns,
                            size_t column_count,
                            uint32_t entity);

// Handles a datagram from a receiver. Returns `KP_STATUS_DATA` for an invalid datagram, which
// changes only counters.
KpStatus kp_hub_handle(struct KpHub hub,
                       uint64_t receiver,
                       uint64_t now_ns,
                       const uint8_t *datagram,
                       size_t size);

// Takes the world of a tick, and encodes what each receiver needs. The tick must be above the
// previous tick. Returns `KP_STATUS_RECEIVERS` if some receivers do not get everything. The error
// text lists the reasons. The other receivers get everything, so poll the datagrams then too.
// After any other failure, nothing has changed.
KpStatus kp_hub_tick(struct KpHub hub, uint64_t now_ns, struct KpSnapshot world);

// Writes the next datagram to send, and its receiver. Returns `KP_STATUS_NOTHING` if there is no
// datagram until the next tick. If `capacity` is too small, only `*size` is written, and the
// datagram is kept.
KpStatus kp_hub_poll(struct KpHub hub,
                     uint64_t *receiver,
                     uint8_t *datagram,
                     size_t capacity,
                     size_t *size);

// Frees a hub.
KpStatus kp_hub_free(struct KpHub hub);

// Sets how many bytes per second a receiver gets. Call it after `kp_hub_add`, or at any time while
// the receiver plays. A larger budget has no immediate effect, because it only makes unused budget
// accumulate faster.
KpStatus kp_hub_set_budget(struct KpHub hub,
                           uint64_t receiver,
                           const struct KpBudget *budget,
                           uint64_t now_ns);

// Limits the bytes per second of all receivers together, including the transport's headers, for
// example to the rate of a server's connection. `bytes_per_s` is at least 256, or 0 for no limit,
// as at first. The receivers divide the limit equally. What one receiver does not need is left for
// the others.
KpStatus kp_hub_set_uplink(struct KpHub hub, uint32_t bytes_per_s);

// Writes what the hub knows of the link to a receiver, as of the last tick.
KpStatus kp_hub_link(struct KpHub hub, uint64_t receiver, struct KpLinkStatus *out);

// Makes a hub keep what it sends for long enough to rewind. `options` may be null, which ends
// that. Call this function before the first receiver joins, because what was sent before may be
// missing.
//
// The hub keeps the views of the time to rewind, which receivers share if they get the same. For
// receivers that do not get everything, because of a budget, kinds or rings, it keeps those of
// the last 255 datagrams.
KpStatus kp_hub_set_rewind(struct KpHub hub, const struct KpRewindOptions *options);

// Finds what a receiver showed of some entities when its player made an input with the stamp
// `seen`: the very numbers that it read, whatever was lost, late or left out. Writes the tick of
// that moment, with its fraction. Read the entities through `kp_hub_past`, until the next rewind.
// `ids` are in increasing order. Entities that were not shown are left out, and so are those of
// which the receiver should have got a newer state longer ago than `longest_ms`. The past has no
// events, and no entities that were added, removed or cut.
//
// Pass on the stamps of all inputs in order, with a `count` of 0 if there is nothing to find. Then
// a client cannot choose among moments. Cost: a list of at most 255 snapshots, and a few searches
// for each entity.
//
// - `KP_STATUS_NOTHING`: the player was shown nothing yet, or too long ago. Refuse his shot, or
//   use the present world. A forged stamp of the future is too old as well, because moments wrap
//   after 256 ticks.
// - `KP_STATUS_DATA`: the stamp is of a state that was not sent yet, or goes back behind an
//   earlier stamp of the player. The client cheats, or the record is late: see `is_late` of
//   `KpRecord`.
// - `KP_STATUS_ARGUMENT`: the hub does not rewind, or has no such receiver; or the ids do not
//   increase; or no receiver writes such a stamp.
KpStatus kp_hub_rewind(struct KpHub hub,
                       uint64_t receiver,
                       const struct KpSeen *seen,
                       const uint32_t *ids,
                       size_t count,
                       double *tick);

// Like `kp_hub_rewind`, but finds all entities that the receiver showed. Cost: a few searches for
// each entity that it got in the last 128 snapshots.
KpStatus kp_hub_rewind_all(struct KpHub hub,
                           uint64_t receiver,
                           const struct KpSeen *seen,
                           double *tick);

// Returns what the last `kp_hub_rewind` or `kp_hub_rewind_all` found. The handle stays the same
// until `kp_hub_free`, which frees it too. The state is empty at first.
KpStatus kp_hub_past(struct KpHub hub, struct KpShown *out);

// Sets what receivers with a viewpoint see by distance: how often and how precisely far entities
// are sent, and which entities are not sent at all. Of the entities that are relevant, a receiver
// sees those in its rings, and those that it always sees. An entity that comes into sight is added
// at the receiver, and one that leaves it is removed. `rings` may be null, which removes the rings.
KpStatus kp_hub_set_rings(struct KpHub hub, const struct KpRings *rings);

// Sets the place from which a receiver's rings are measured: three numbers in the unit of the
// positions. For positions of two axes, the third number does not matter. `viewpoint` may be null:
// as at first, the receiver then sees everything, in tier 0.
KpStatus kp_hub_set_viewpoint(struct KpHub hub, uint64_t receiver, const double *viewpoint);

// Sets which entities a receiver sees at any distance from its viewpoint, such as the other members
// of a team, as ids in increasing order. Beyond all rings, they are sent as in the farthest ring
// that is seen. Entities that are not relevant stay hidden. A `count` of 0 removes them.
KpStatus kp_hub_set_always_seen(struct KpHub hub,
                                uint64_t receiver,
                                const uint32_t *ids,
                                size_t count);

// Like `kp_hub_tick`, but takes a world for each tier, from the finest to the coarsest. All worlds
// have the same entities, and the tick is that of the first one. A snapshot may be given for
// several tiers.
KpStatus kp_hub_tick_tiers(struct KpHub hub,
                           uint64_t now_ns,
                           const struct KpSnapshot *worlds,
                           size_t count);

// Creates an input clock for a server with `tick_hz` ticks per second, and one input for each
// tick. `options` may be null. The clock waits for its start. The caller frees `*out` with
// `kp_input_clock_free`.
KpStatus kp_input_clock_new(uint32_t tick_hz,
                            const struct KpInputClockOptions *options,
                            struct KpInputClock *out);

// Starts the clock at `tick`, which may have a fraction. It should be the server's tick when an
// input that is sent now arrives, plus one or two. An error costs late inputs, or a longer delay,
// for one round trip. Start the clock again after a reconnection, or if the server's ticks start
// again. This forgets what the clock learned.
KpStatus kp_input_clock_start(struct KpInputClock clock, uint64_t now_ns, double tick);

// Starts the clock from what a receiver of the same server knows: the server's tick, and the round
// trip. Returns `KP_STATUS_NOTHING`, and does nothing, as long as these are not known.
KpStatus kp_input_clock_start_from(struct KpInputClock clock,
                                   uint64_t now_ns,
                                   struct KpReceiver receiver);

// Writes the ticks to simulate at `now_ns`: `*count` consecutive ticks from `*first` on, at most
// 16. Call this function in each frame, and `kp_stream_push_for_tick` for each tick. If more ticks
// became due since the last call, for example because the game was in the background, the earlier
// ones are skipped. Both numbers are 0 if no tick is due, as before the start.
KpStatus kp_input_clock_ticks(struct KpInputClock clock,
                              uint64_t now_ns,
                              uint32_t *first,
                              size_t *count);

// Writes the clock's tick at the last call, with its fraction. Returns `KP_STATUS_NOTHING` before
// the start. The newest tick of `kp_input_clock_ticks` is the whole part, unless the clock jumped
// back.
KpStatus kp_input_clock_tick(struct KpInputClock clock, double *tick);

// Handles an acknowledgement of the stream of inputs, like `kp_stream_sender_handle`, and shows it
// to the clock, which learns how early the inputs arrive. Call this function instead of that one.
// The server must read the inputs with `kp_stream_read_for_tick`. Returns `KP_STATUS_DATA` for an
// invalid acknowledgement, which changes only a counter of the sender.
KpStatus kp_input_clock_handle(struct KpInputClock clock,
                               uint64_t now_ns,
                               struct KpStreamSender sender,
                               const uint8_t *datagram,
                               size_t size);

// Writes measurements of the clock.
KpStatus kp_input_clock_status(struct KpInputClock clock, struct KpInputClockStatus *out);

// Frees an input clock.
KpStatus kp_input_clock_free(struct KpInputClock clock);

// Writes vectors: `*size` bytes, if they fit into `capacity`. Both sides need the same forms,
// counts and limits, and must hold the same `before`. To get the values that the receiver will
// hold, read the written bytes with `kp_magnitudes_read`.
KpStatus kp_magnitudes_write(const struct KpMagnitude *vectors,
                             size_t count,
                             uint8_t *bytes,
                             size_t capacity,
                             size_t *size);

// Reads vectors that `kp_magnitudes_write` wrote, into the `value` of each component. After an
// error, no value has changed.
KpStatus kp_magnitudes_read(struct KpMagnitude *vectors,
                            size_t count,
                            const uint8_t *bytes,
                            size_t size);

// Writes the defaults for a world of `tick_hz` ticks per second: a second of history, positions
// that fade in a second and rotations in half of that, and a snap distance of four.
KpStatus kp_predict_config_at_hz(uint32_t tick_hz, struct KpPredictConfig *out);

// Creates a prediction without entities. `schema` is that of the receiver, and `kind` is the index
// of the entities' kind in it. `inputs` is the schema of the inputs, with one kind, as in
// `kp_stream_sender_new`. The caller frees `*out` with `kp_prediction_free`.
KpStatus kp_prediction_new(struct KpSchema schema,
                           uint32_t kind,
                           struct KpSchema inputs,
                           const struct KpPredictConfig *config,
                           struct KpPrediction *out);

// Adds an entity with its authoritative state of a tick: a column of one entity for each field. If
// the tick is before the newest predicted one, the steps since are repeated for all entities. If it
// is later, the entity begins when the input for it is pushed. Inputs are expected from the tick
// after the first entity's on. Returns `KP_STATUS_ARGUMENT` if the entity was added before, and
// `KP_STATUS_STEP` as `kp_prediction_push` does.
KpStatus kp_prediction_add(struct KpPrediction prediction,
                           uint32_t id,
                           uint32_t tick,
                           const struct KpColumn *columns,
                           size_t column_count,
                           const struct KpStep *step);

// Removes an entity with its history. Returns `KP_STATUS_NOTHING` if there is none.
KpStatus kp_prediction_remove(struct KpPrediction prediction, uint32_t id);

// Removes all entities, inputs and ticks, as for a new session. The counters stay.
KpStatus kp_prediction_clear(struct KpPrediction prediction);

// Predicts one more tick with an input, a column of one record for each of its fields: calls `step`
// with the entities' states of the tick before. Push the same numbers to the stream, with
// `kp_stream_push_for_tick`.
//
// A client may skip ticks. The ticks between are stepped with the input before them, as a server
// does that repeats the last input. After a gap that is longer than the history, the entities keep
// their states until the tick before `tick`, and the history begins anew there.
//
// Returns `KP_STATUS_ARGUMENT` if the tick is not after the newest one. Returns `KP_STATUS_STEP` if
// the step failed or gave a state that cannot be quantized. Then those entities have kept their
// states of the tick before, and everything else was done.
KpStatus kp_prediction_push(struct KpPrediction prediction,
                            uint32_t tick,
                            const struct KpColumn *columns,
                            size_t column_count,
                            const struct KpStep *step);

// Frees a prediction.
KpStatus kp_prediction_free(struct KpPrediction prediction);

// Takes the authoritative state of an entity, a column of one entity for each field. If it equals
// the prediction of its tick, nothing else happens. Otherwise it takes the prediction's place, and
// all entities repeat the steps since. The shown paths continue without a step. The tick must be
// exact: `kp_prediction_correct_from` takes it from a receiver. `out` may be null. Returns
// `KP_STATUS_NOTHING` if the entity was not added, and `KP_STATUS_STEP` as `kp_prediction_push`
// does; then `*out` is not written.
KpStatus kp_prediction_correct(struct KpPrediction prediction,
                               uint32_t id,
                               uint32_t tick,
                               const struct KpColumn *columns,
                               size_t column_count,
                               const struct KpStep *step,
                               struct KpCorrection *out);

// Takes the newest states of all entities from a receiver, if they are newer than those taken
// before. Call this after datagrams arrived. An entity that the receiver does not know stays as it
// is. `out` may be null. Returns `KP_STATUS_STEP` as `kp_prediction_push` does; then `*out` is not
// written.
//
// The tick of a state must be exact, so the hub should send own entities in each snapshot: near in
// its rings, without a time precision, and with a high priority in a budget.
KpStatus kp_prediction_correct_from(struct KpPrediction prediction,
                                    struct KpReceiver receiver,
                                    const struct KpStep *step,
                                    struct KpCorrection *out);

// Repeats the last `ticks` steps of all entities, for a step that reads what has changed since: for
// example another prediction, whose `repeated_ticks` of `KpCorrection` these are. With
// `KP_REPAIR_BLEND` nothing is repeated. `out` may be null. Returns `KP_STATUS_STEP` as
// `kp_prediction_push` does; then `*out` is not written.
KpStatus kp_prediction_repeat_last(struct KpPrediction prediction,
                                   uint32_t ticks,
                                   const struct KpStep *step,
                                   struct KpCorrection *out);

// Writes the numbers of the state to draw at the moment `at`, a tick with its fraction, to a target
// of one entity for each field: between two predicted ticks, plus the fading offset of corrections.
// Returns `KP_STATUS_NOTHING` if the entity was not added, or begins later.
//
// A game that draws between its last two ticks passes the tick of `kp_input_clock_tick` minus 1.
// The moment is within the history and at most the newest tick. Call this once a frame for each
// entity, with moments that increase. Positions, numbers with a range and rotations have an offset;
// velocities, integers and flags change at once.
KpStatus kp_prediction_shown(struct KpPrediction prediction,
                             uint32_t id,
                             double at,
                             const struct KpTarget *targets,
                             size_t target_count);

// Writes the numbers of an entity's predicted state at a tick, without offset, to a target of one
// entity for each field. Returns `KP_STATUS_NOTHING` if the history does not have it.
KpStatus kp_prediction_state(struct KpPrediction prediction,
                             uint32_t id,
                             uint32_t tick,
                             const struct KpTarget *targets,
                             size_t target_count);

// Writes the newest predicted tick. Returns `KP_STATUS_NOTHING` before the first input or entity.
KpStatus kp_prediction_newest(struct KpPrediction prediction, uint32_t *tick);

// Writes the ids of the predicted entities, in increasing order: `*count` ids, if they fit into
// `capacity`.
KpStatus kp_prediction_ids(struct KpPrediction prediction,
                           uint32_t *ids,
                           size_t capacity,
                           size_t *count);

// Writes the counters of a prediction.
KpStatus kp_prediction_stats(struct KpPrediction prediction, struct KpPredictStats *out);

// Creates a publisher of the tiers of a catalogue. `options` may be null. The caller frees `*out`
// with `kp_publisher_free`.
KpStatus kp_publisher_new(struct KpCatalogue catalogue,
                          const struct KpPublisherOptions *options,
                          struct KpPublisher *out);

// Restricts a tier to certain entities, such as the entities of a region. `ids` are in increasing
// order. With a `count` of 0, the tier has no entities. Initially, a tier has all entities. For a
// region, call this before each tick.
KpStatus kp_publisher_set_entities(struct KpPublisher publisher,
                                   uint32_t tier,
                                   const uint32_t *ids,
                                   size_t count);

// Removes the restriction of a tier. Then the tier has all entities again.
KpStatus kp_publisher_set_all_entities(struct KpPublisher publisher, uint32_t tier);

// Takes the world of a tick, and encodes it for all tiers that are due. The tick must be above the
// previous tick. `kp_publisher_poll` returns the pieces. Take all pieces in each tick, because
// they are kept in memory until then.
//
// If a world needs more datagrams than a viewer can reassemble, the result is `KP_STATUS_ARGUMENT`
// too. Other tiers may have encoded the world by then, and the tick is used up, so publish the
// next one.
KpStatus kp_publisher_publish(struct KpPublisher publisher, struct KpSnapshot world);

// Releases, after the last world, the pieces to carry at `tick`, which is the last world's tick or
// a later one. These are the pieces that wait for the delay, and objects that have fewer snapshots
// than their tier allows. `kp_publisher_poll` returns them. Call this at each tick until
// `*is_drained` is not 0, or the end of the broadcast is lost. It is not 0 once no piece waits for
// a later tick. Nothing is encoded. Calls between worlds make objects smaller.
KpStatus kp_publisher_drain(struct KpPublisher publisher, uint32_t tick, int32_t *is_drained);

// Writes the next piece for the transport. `*piece` describes it, and it has `*size` bytes, if
// they fit into `capacity`. Returns `KP_STATUS_NOTHING` if there is no piece until the next tick.
// If `capacity` is too small, only `*size` is written, and the piece is kept.
KpStatus kp_publisher_poll(struct KpPublisher publisher,
                           struct KpPiece *piece,
                           uint8_t *bytes,
                           size_t capacity,
                           size_t *size);

// Copies the last snapshot of a tier in groups, as its viewers decode it, into a snapshot of the
// same schema. It lacks the entities that the tier omits, and has only the precision of the tier.
// Returns `KP_STATUS_NOTHING` before the first snapshot, and for a tier in datagrams.
KpStatus kp_publisher_last(struct KpPublisher publisher, uint32_t tier, struct KpSnapshot snapshot);

// Frees a publisher.
KpStatus kp_publisher_free(struct KpPublisher publisher);

// Creates a receiver for a hub with `tick_hz` ticks per second. `options` may be null. The caller
// frees `*out` with `kp_receiver_free`.
KpStatus kp_receiver_new(struct KpCodec codec,
                         uint32_t tick_hz,
                         const struct KpReceiverOptions *options,
                         struct KpReceiver *out);

// Handles a datagram from the hub. Returns `KP_STATUS_DATA` for a refused datagram, such as a
// duplicate, which changes only counters. All times are nanoseconds since any fixed moment.
KpStatus kp_receiver_handle(struct KpReceiver receiver,
                            uint64_t now_ns,
                            const uint8_t *datagram,
                            size_t size);

// Writes the next datagram for the hub. Returns `KP_STATUS_NOTHING` if there is no datagram now.
// If `capacity` is too small, only `*size` is written, and the datagram is kept.
KpStatus kp_receiver_poll(struct KpReceiver receiver,
                          uint64_t now_ns,
                          uint8_t *datagram,
                          size_t capacity,
                          size_t *size);

// Computes the state to show now, which is slightly delayed and interpolated. Read this state
// through `kp_receiver_shown`. Returns `KP_STATUS_NOTHING` before the first state.
KpStatus kp_receiver_play(struct KpReceiver receiver, uint64_t now_ns, struct KpPlayback *out);

// Returns the state that the receiver shows. The handle stays the same until `kp_receiver_free`,
// which frees it too.
KpStatus kp_receiver_shown(struct KpReceiver receiver, struct KpShown *out);

// Writes the stamp of what the last `kp_receiver_play` showed, for the inputs that the player
// makes in view of it: see `kp_hub_rewind`. Before the first state, writes a stamp that says so,
// and returns `KP_STATUS_NOTHING`. An input may have that stamp too.
KpStatus kp_receiver_seen(struct KpReceiver receiver, struct KpSeen *out);

// Makes all events due that have arrived, for programs that show the newest state and do not play.
// An event becomes due only once, so `kp_receiver_play` will not show it again.
KpStatus kp_receiver_take_events(struct KpReceiver receiver);

// Writes the receiver's view of its connection.
KpStatus kp_receiver_status(struct KpReceiver receiver,
                            uint64_t now_ns,
                            struct KpReceiverStatus *out);

// Copies the newest state into a snapshot of the same schema, without delay or interpolation.
// Returns `KP_STATUS_NOTHING` before the first state.
KpStatus kp_receiver_newest(struct KpReceiver receiver, struct KpSnapshot snapshot);

// Changes a lane of an entity by one in the newest view, like a memory fault, so that this side's
// state is wrong. Use this function only in tests and tools: state checks detect the fault, and
// the hub sends the state again. Returns `KP_STATUS_NOTHING` if there is no such view, entity or
// lane, or if the lane has only one value.
KpStatus kp_receiver_inject_fault(struct KpReceiver receiver, uint32_t entity, uint32_t lane);

// Frees a receiver.
KpStatus kp_receiver_free(struct KpReceiver receiver);

// Begins a replay file, and replaces an existing one. The world has `rate_hz` ticks per second.
// Pass a zero `events` if it has no events. The caller ends `*out` with `kp_replay_writer_finish`
// and frees it with `kp_replay_writer_free`. If the process is killed, the file lacks at most the
// last second.
KpStatus kp_replay_writer_new(const char *path,
                              struct KpCodec codec,
                              struct KpEvents events,
                              double rate_hz,
                              struct KpReplayWriter *out);

// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
KpStatus kp_replay_writer_write(struct KpReplayWriter writer, struct KpSnapshot world);

// Adds an event to the snapshot that is written next, with a column of one record for each field
// of its kind.
KpStatus kp_replay_writer_emit(struct KpReplayWriter writer,
                               uint32_t kind,
                               const struct KpColumn *columns,
                               size_t column_count);

// Gives the tick `tick` the name `name`.
KpStatus kp_replay_writer_mark(struct KpReplayWriter writer, uint32_t tick, const char *name);

// Stores the text `value` under the text `key`. The caller chooses both.
KpStatus kp_replay_writer_note(struct KpReplayWriter writer, const char *key, const char *value);

// Ends the file, and writes its size to `*out`. `out` may be null.
KpStatus kp_replay_writer_finish(struct KpReplayWriter writer, struct KpReplaySummary *out);

// Frees a writer. A file that was not finished lacks its last second and its index, but can still
// be read.
KpStatus kp_replay_writer_free(struct KpReplayWriter writer);

// Creates a kill cam, which keeps the last `seconds` of a world with `rate_hz` ticks per second.
// Pass a zero `events` if the world has no events. The caller frees `*out` with
// `kp_kill_cam_free`.
KpStatus kp_kill_cam_new(struct KpCodec codec,
                         struct KpEvents events,
                         double rate_hz,
                         double seconds,
                         struct KpKillCam *out);

// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
KpStatus kp_kill_cam_write(struct KpKillCam kill_cam, struct KpSnapshot world);

// Adds an event to the snapshot that is written next, like `kp_replay_writer_emit`.
KpStatus kp_kill_cam_emit(struct KpKillCam kill_cam,
                          uint32_t kind,
                          const struct KpColumn *columns,
                          size_t column_count);

// Cuts the ticks from `from_tick` to `to_tick`, both included, as a replay file for
// `kp_kill_cam_take`. Writes the size of the file to `*size`. Returns `KP_STATUS_ARGUMENT` if
// there is no snapshot between the two ticks.
KpStatus kp_kill_cam_cut(struct KpKillCam kill_cam,
                         uint32_t from_tick,
                         uint32_t to_tick,
                         size_t *size);

// Takes the replay file that was cut last: `*size` bytes, if they fit into `capacity`. A file can
// be taken only once.
KpStatus kp_kill_cam_take(struct KpKillCam kill_cam, uint8_t *bytes, size_t capacity, size_t *size);

// Frees a kill cam.
KpStatus kp_kill_cam_free(struct KpKillCam kill_cam);

// Opens a replay file, and keeps it open. The caller frees `*out` with `kp_replay_free`.
KpStatus kp_replay_open(const char *path, struct KpReplay *out);

// Reads a replay from a copy of `bytes`. The caller frees `*out` with `kp_replay_free`.
KpStatus kp_replay_from_bytes(const uint8_t *bytes, size_t size, struct KpReplay *out);

// Writes the properties of a replay. Returns `KP_STATUS_NOTHING` if it has no snapshot.
KpStatus kp_replay_info(struct KpReplay replay, struct KpReplayInfo *out);

// Creates the schema of a replay's snapshots. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_replay_schema(struct KpReplay replay, struct KpSchema *out);

// Creates the schema of a replay's events. Returns `KP_STATUS_NOTHING` if the replay has no
// events. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_replay_event_schema(struct KpReplay replay, struct KpSchema *out);

// Writes the tick and the name of a marker. The name has a terminating zero: `*size` bytes, if
// they fit into `capacity`.
KpStatus kp_replay_marker(struct KpReplay replay,
                          uint32_t nth,
                          uint32_t *tick,
                          char *name,
                          size_t capacity,
                          size_t *size);

// Writes the value that the writer stored under `key`, with a terminating zero: `*size` bytes, if
// they fit into `capacity`. Returns `KP_STATUS_NOTHING` if there is no such value.
KpStatus kp_replay_value(struct KpReplay replay,
                         const char *key,
                         char *value,
                         size_t capacity,
                         size_t *size);

// Copies the snapshot of the tick `tick`, or the last snapshot before it, into a snapshot of the
// same schema. Returns `KP_STATUS_NOTHING` if there is no such snapshot.
KpStatus kp_replay_get(struct KpReplay replay, uint32_t tick, struct KpSnapshot snapshot);

// Computes the state to show at a moment, given as a fractional tick. Read this state through
// `kp_replay_shown`. Moments may be in any order. Events are due only if a moment is at most 5
// seconds after the previous one.
KpStatus kp_replay_play(struct KpReplay replay, double tick, struct KpPlayback *out);

// Returns the state that the replay shows. The handle stays the same until `kp_replay_free`, which
// frees it too.
KpStatus kp_replay_shown(struct KpReplay replay, struct KpShown *out);

// Jumps to a tick. The next moment shows no events before that tick.
KpStatus kp_replay_seek(struct KpReplay replay, double tick);

// Frees a replay, and closes its file.
KpStatus kp_replay_free(struct KpReplay replay);

// Reads a schema file, as written by `kp_schema_to_bytes` and Rust's `Schema::to_bytes`. The
// caller frees `*out` with `kp_schema_free`.
KpStatus kp_schema_from_bytes(const uint8_t *bytes, size_t size, struct KpSchema *out);

// Writes a schema file: `*size` bytes, if they fit into `capacity`.
KpStatus kp_schema_to_bytes(struct KpSchema schema, uint8_t *bytes, size_t capacity, size_t *size);

// Writes the hash of a schema. Two sides with the same hash have the same schema.
KpStatus kp_schema_hash(struct KpSchema schema, uint64_t *hash);

// Writes the number of kinds of a schema.
KpStatus kp_schema_kinds(struct KpSchema schema, uint32_t *kinds);

// Writes the number of fields of a kind.
KpStatus kp_schema_fields(struct KpSchema schema, uint32_t kind, uint32_t *fields);

// Writes a description of a field of a kind.
KpStatus kp_schema_field(struct KpSchema schema,
                         uint32_t kind,
                         uint32_t field,
                         struct KpField *out);

// Writes the name of a kind, with a terminating zero: `*size` bytes including the zero, if they
// fit into `capacity`. If a schema has only one kind, its name may be empty.
KpStatus kp_schema_kind_name(struct KpSchema schema,
                             uint32_t kind,
                             char *name,
                             size_t capacity,
                             size_t *size);

// Writes the name of a field, like `kp_schema_kind_name` for a kind.
KpStatus kp_schema_field_name(struct KpSchema schema,
                              uint32_t kind,
                              uint32_t field,
                              char *name,
                              size_t capacity,
                              size_t *size);

// Finds the field of a kind with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such
// field.
KpStatus kp_schema_find(struct KpSchema schema, uint32_t kind, const char *name, uint32_t *field);

// Rounds states of a kind as the other side gets them: reads `count` entities from a column for each
// field, and writes them to a target for each field, which may be the same numbers. A server that
// simulates entities which clients predict rounds them after each step: see `KpPrediction`. Returns
// `KP_STATUS_VALUE` if a value cannot be quantized; then nothing is written.
KpStatus kp_schema_rounded(struct KpSchema schema,
                           uint32_t kind,
                           size_t count,
                           const struct KpColumn *columns,
                           size_t column_count,
                           const struct KpTarget *targets,
                           size_t target_count);

// Frees a schema. Objects made with the schema remain valid.
KpStatus kp_schema_free(struct KpSchema schema);

// Begins a schema. The caller ends `*out` with `kp_schema_builder_build` or
// `kp_schema_builder_free`.
KpStatus kp_schema_builder_new(struct KpSchemaBuilder *out);

// Begins the next kind. A schema with one kind may omit this call. Then its kind has no name.
KpStatus kp_schema_builder_kind(struct KpSchemaBuilder builder, const char *name);

// Begins a kind of entities with the body of a figure. Fields that are added next are other fields
// of the same kind, until another kind begins.
KpStatus kp_schema_builder_figure(struct KpSchemaBuilder builder,
                                  const char *name,
                                  struct KpFigure figure);

// Adds a field of `count` real numbers from `min` to `max`, in steps of `precision`. A decoded
// value is off by at most half a step.
KpStatus kp_schema_builder_floats(struct KpSchemaBuilder builder,
                                  const char *name,
                                  uint32_t count,
                                  double min,
                                  double max,
                                  double precision);

// Adds a real number on a circle, such as an angle, which wraps from `end` to `min`.
KpStatus kp_schema_builder_cyclic(struct KpSchemaBuilder builder,
                                  const char *name,
                                  double min,
                                  double end,
                                  double precision);

// Adds an integer field with values from `min` to `max`.
KpStatus kp_schema_builder_integer(struct KpSchemaBuilder builder,
                                   const char *name,
                                   int64_t min,
                                   int64_t max);

// Adds a rotation, with `bits` bits (2 to 20) for each of three components.
KpStatus kp_schema_builder_rotation(struct KpSchemaBuilder builder,
                                    const char *name,
                                    uint32_t bits);

// Adds a flag.
KpStatus kp_schema_builder_bool(struct KpSchemaBuilder builder, const char *name);

// Adds a choice between `max + 1` alternatives without an order.
KpStatus kp_schema_builder_choice(struct KpSchemaBuilder builder, const char *name, uint32_t max);

// Sets the role that the last field has in motion.
KpStatus kp_schema_builder_role(struct KpSchemaBuilder builder, int32_t role);

// Declares the last field to be the velocity of the field `name`. Playback then follows curves.
KpStatus kp_schema_builder_velocity_of(struct KpSchemaBuilder builder, const char *name);

// Makes the last field relative to another entity, such as the ship under a passenger. The entity's
// id is in the field `name` of the same kind, an integer with the role `KP_ROLE_FRAME`. If that
// field is conditional on a bool with the same role, the last field is relative to the world while
// the bool is 0. The last field is a rotation, or a position or velocity of three axes.
KpStatus kp_schema_builder_frame(struct KpSchemaBuilder builder, const char *name);

// Makes the last field conditional: it is present only if the field `selector` of the same kind
// has a value from `least` to `most`.
KpStatus kp_schema_builder_condition(struct KpSchemaBuilder builder,
                                     const char *selector,
                                     uint32_t least,
                                     uint32_t most);

// Lets the last field be off by the distance that it moves in a given time, while it moves.
KpStatus kp_schema_builder_time_precision(struct KpSchemaBuilder builder,
                                          double milliseconds,
                                          double ticks_per_s);

// Lets the last field be coarser in some entities: by as many bits as the earlier integer field
// `coarseness` of the same kind holds, but at most by `most_bits` (1 to 31). If a state has 0
// there, the field is exact.
KpStatus kp_schema_builder_coarser(struct KpSchemaBuilder builder,
                                   const char *coarseness,
                                   uint32_t most_bits);

// Builds the schema, and frees the builder. If the fields are not a valid schema, the builder is
// unchanged. The caller frees `*out` with `kp_schema_free`.
KpStatus kp_schema_builder_build(struct KpSchemaBuilder builder, struct KpSchema *out);

// Frees a builder without building a schema.
KpStatus kp_schema_builder_free(struct KpSchemaBuilder builder);

// Adds the `KP_SEEN_FIELDS` fields of a stamp, for the inputs of players. They are those of a
// field `name` of the type `Option<Seen>` in Rust, so both schemas are the same. The first of them
// is named `name` with a question mark.
KpStatus kp_schema_builder_seen(struct KpSchemaBuilder builder, const char *name);

// Writes the `KP_SEEN_FIELDS` columns of a stamp, if they fit into `capacity`: for
// `kp_stream_push`, in their place among the columns of the input. `stride` is the number of bytes
// from the stamp of one input to that of the next. The stamp itself is read later, by the call
// that gets the columns.
KpStatus kp_seen_columns(const struct KpSeen *seen,
                         size_t stride,
                         struct KpColumn *columns,
                         size_t capacity);

// Writes the `KP_SEEN_FIELDS` targets of a stamp, if they fit into `capacity`: for
// `kp_stream_read`, in their place among the targets of the input. `stride` is the number of bytes
// from the stamp of one input to that of the next. The stamp itself is written later, by the call
// that gets the targets. If `seen` is null, that call skips the stamp.
KpStatus kp_seen_targets(struct KpSeen *seen,
                         size_t stride,
                         struct KpTarget *targets,
                         size_t capacity);

// Writes the ids of a kind's entities, in increasing order: `*count` ids, if they fit into
// `capacity`.
KpStatus kp_shown_ids(struct KpShown shown,
                      uint32_t kind,
                      uint32_t *ids,
                      size_t capacity,
                      size_t *count);

// Writes the ids of the entities that the previous moment did not show, of all kinds, like
// `kp_shown_ids`.
KpStatus kp_shown_added(struct KpShown shown, uint32_t *ids, size_t capacity, size_t *count);

// Writes the ids of the entities that only the previous moment showed, of all kinds, like
// `kp_shown_ids`.
KpStatus kp_shown_removed(struct KpShown shown, uint32_t *ids, size_t capacity, size_t *count);

// Writes the ids of the entities that jumped since the previous moment, of all kinds, like
// `kp_shown_ids`. An entity jumps if a field with `KP_ROLE_CUT` is shown with another value than at
// the previous moment, so exactly one moment lists each jump. Entities that the previous moment
// did not show are never among them.
KpStatus kp_shown_cut(struct KpShown shown, uint32_t *ids, size_t capacity, size_t *count);

// Writes the numbers of a kind's entities, in the order of their ids. There is a target for each
// field, with room for `capacity` entities.
KpStatus kp_shown_read(struct KpShown shown,
                       uint32_t kind,
                       size_t capacity,
                       const struct KpTarget *targets,
                       size_t target_count);

// Takes the next event that is due. Returns `KP_STATUS_NOTHING` if no event is due. Viewers have
// no events. The next moment drops events that were not taken.
KpStatus kp_shown_next_event(struct KpShown shown, struct KpEvent *out);

// Writes the numbers of the event that `kp_shown_next_event` returned last, to a target for each
// field of its kind. `kind` must be the event's kind, because the targets are laid out for that
// kind.
KpStatus kp_shown_read_event(struct KpShown shown,
                             uint32_t kind,
                             const struct KpTarget *targets,
                             size_t target_count);

// Writes where a kind's entities are in the world, in the order of their ids: `*count` places, if
// they fit into `capacity`. The kind has fields that `kp_schema_builder_frame` made relative. For
// other kinds it returns `KP_STATUS_ARGUMENT`: `kp_shown_read` writes where their entities are. The
// `kp_..._play` or the rewind before it computed the places, in some hundred nanoseconds for each
// entity.
KpStatus kp_shown_places(struct KpShown shown,
                         uint32_t kind,
                         struct KpPlace *places,
                         size_t capacity,
                         size_t *count);

// Creates a skeleton of `count` joints, parents first, with the bind pose `bind`. Parts of the bind
// pose that are null have the identity's value. The caller frees `*out` with `kp_skeleton_free`.
KpStatus kp_skeleton_new(const struct KpJoint *joints,
                         size_t count,
                         const struct KpPose *bind,
                         struct KpSkeleton *out);

// Reads a skeleton file. The caller frees `*out` with `kp_skeleton_free`.
KpStatus kp_skeleton_from_bytes(const uint8_t *bytes, size_t size, struct KpSkeleton *out);

// Writes the number of joints of a skeleton.
KpStatus kp_skeleton_joints(struct KpSkeleton skeleton, uint32_t *joints);

// Writes the hash of a skeleton. The skeleton's clips store the same hash.
KpStatus kp_skeleton_hash(struct KpSkeleton skeleton, uint64_t *hash);

// Writes the index of a joint's parent, which is lower than the joint's own index; −1 for a root.
KpStatus kp_skeleton_parent(struct KpSkeleton skeleton, uint32_t joint, int32_t *parent);

// Writes the name of a joint, with a terminating zero: `*size` bytes including the zero, if they
// fit into `capacity`.
KpStatus kp_skeleton_name(struct KpSkeleton skeleton,
                          uint32_t joint,
                          char *name,
                          size_t capacity,
                          size_t *size);

// Finds the first joint with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such
// joint.
KpStatus kp_skeleton_find(struct KpSkeleton skeleton, const char *name, uint32_t *joint);

// Writes the bind pose of a skeleton.
KpStatus kp_skeleton_bind_pose(struct KpSkeleton skeleton, const struct KpPose *pose);

// Frees a skeleton. Its players remain valid.
KpStatus kp_skeleton_free(struct KpSkeleton skeleton);

// Reads a rig file. The caller frees `*out` with `kp_rig_free`.
KpStatus kp_rig_from_bytes(const uint8_t *bytes, size_t size, struct KpRig *out);

// Frees a rig. Its clips remain valid.
KpStatus kp_rig_free(struct KpRig rig);

// Creates a snapshot without entities. The caller frees `*out` with `kp_snapshot_free`.
KpStatus kp_snapshot_new(struct KpSchema schema, struct KpSnapshot *out);

// Removes all entities, and sets the tick. Keeps the memory for reuse.
KpStatus kp_snapshot_clear(struct KpSnapshot snapshot, uint32_t tick);

// Adds `count` entities of a kind, with a column for each field of the kind. The ids must
// increase, and be above the ids of the previous kind. Numbers are quantized. If a field is absent
// for an entity, the entity's numbers in that column are not read. After an error, the snapshot is
// unchanged.
KpStatus kp_snapshot_add(struct KpSnapshot snapshot,
                         uint32_t kind,
                         const uint32_t *ids,
                         size_t count,
                         const struct KpColumn *columns,
                         size_t column_count);

// Writes the tick of a snapshot.
KpStatus kp_snapshot_tick(struct KpSnapshot snapshot, uint32_t *tick);

// Writes the number of entities of a kind.
KpStatus kp_snapshot_count(struct KpSnapshot snapshot, uint32_t kind, size_t *count);

// Writes the ids of a kind's entities, in increasing order: `*count` ids, if they fit into
// `capacity`.
KpStatus kp_snapshot_ids(struct KpSnapshot snapshot,
                         uint32_t kind,
                         uint32_t *ids,
                         size_t capacity,
                         size_t *count);

// Writes the numbers of a kind's entities, in the order of their ids. There is a target for each
// field, with room for `capacity` entities. If a field is absent for an entity, its numbers are 0.
KpStatus kp_snapshot_read(struct KpSnapshot snapshot,
                          uint32_t kind,
                          size_t capacity,
                          const struct KpTarget *targets,
                          size_t target_count);

// Writes a hash of the entities and their lanes, without the tick. Equal states have equal hashes.
KpStatus kp_snapshot_hash(struct KpSnapshot snapshot, uint64_t *hash);

// Frees a snapshot.
KpStatus kp_snapshot_free(struct KpSnapshot snapshot);

// Writes the text of this thread's last error into `text`, which has room for `capacity` bytes,
// including the terminating zero. A longer text is truncated. Returns the length of the whole text
// without the zero. `text` may be null if `capacity` is 0.
size_t kp_error_text(char *text, size_t capacity);

// Returns the `KP_ABI` of the library.
uint32_t kp_abi(void);

// Returns the version of the library, such as "0.1.0". The pointer is valid until the program
// ends.
const char *kp_version(void);

// Creates a sender of records of a schema with one kind, at most `rate_hz` a second. `level` is
// "packed" or "adaptive". `options` may be null. The caller frees `*out` with
// `kp_stream_sender_free`.
KpStatus kp_stream_sender_new(struct KpSchema schema,
                              const char *level,
                              uint32_t rate_hz,
                              const struct KpStreamOptions *options,
                              struct KpStreamSender *out);

// Adds a record, with a column of one record for each field, and writes its number. `number` may
// be null. After an error, no record was added.
KpStatus kp_stream_push(struct KpStreamSender sender,
                        const struct KpColumn *columns,
                        size_t column_count,
                        uint16_t *number);

// Writes the packet of the newest records. Each packet is returned once. Returns
// `KP_STATUS_NOTHING` if there is no packet now. If `capacity` is too small, only `*size` is
// written, and the packet is kept.
KpStatus kp_stream_poll(struct KpStreamSender sender,
                        uint8_t *datagram,
                        size_t capacity,
                        size_t *size);

// Handles an acknowledgement. Returns `KP_STATUS_DATA` for an invalid acknowledgement, which
// changes only a counter.
KpStatus kp_stream_sender_handle(struct KpStreamSender sender,
                                 const uint8_t *datagram,
                                 size_t size);

// Frees a sender of a stream.
KpStatus kp_stream_sender_free(struct KpStreamSender sender);

// Creates a receiver for the records of one client, with the same arguments as its sender.
// `options` may be null. The caller frees `*out` with `kp_stream_receiver_free`.
KpStatus kp_stream_receiver_new(struct KpSchema schema,
                                const char *level,
                                uint32_t rate_hz,
                                const struct KpStreamOptions *options,
                                struct KpStreamReceiver *out);

// Handles a packet, and writes the number of its new records, at most 16, to `*count`. Read these
// records with `kp_stream_read`, oldest first. Returns `KP_STATUS_DATA` for a refused packet, such
// as a duplicate, which changes only a counter. Times are nanoseconds since any fixed moment.
KpStatus kp_stream_receiver_handle(struct KpStreamReceiver receiver,
                                   uint64_t now_ns,
                                   const uint8_t *datagram,
                                   size_t size,
                                   size_t *count);

// Writes the records of the last packet: `*count` records to `records`, if they fit into
// `capacity`. Writes the numbers of these records to a target for each field. `records` may be
// null if `capacity` is 0.
KpStatus kp_stream_read(struct KpStreamReceiver receiver,
                        struct KpRecord *records,
                        size_t capacity,
                        const struct KpTarget *targets,
                        size_t target_count,
                        size_t *count);

// Writes the acknowledgement for the sender: `*size` bytes, at most 6, if they fit into
// `capacity`. Send it a few times within the longest round trip, alone or in front of another
// datagram. If you put it in front of a hub's datagrams, reduce `datagram_bytes` of the hub by 6.
// Returns `KP_STATUS_NOTHING` before the first packet.
KpStatus kp_stream_acknowledgement(struct KpStreamReceiver receiver,
                                   uint8_t *datagram,
                                   size_t capacity,
                                   size_t *size);

// Frees a receiver of a stream.
KpStatus kp_stream_receiver_free(struct KpStreamReceiver receiver);

// Creates a codec for records of a schema with one kind. `level` is "packed" or "adaptive". The
// caller frees `*out` with `kp_stream_codec_free`.
KpStatus kp_stream_codec_new(struct KpSchema schema, const char *level, struct KpStreamCodec *out);

// Writes a hash of the schema and the level. If two sides have equal hashes, they have the same
// codec.
KpStatus kp_stream_codec_hash(struct KpStreamCodec codec, uint64_t *hash);

// Frees a codec of streams. Bases made with the codec remain valid.
KpStatus kp_stream_codec_free(struct KpStreamCodec codec);

// Creates the base before the first record. A packet that is coded against this base needs no
// earlier packet. The caller frees `*out` with `kp_stream_base_free`.
KpStatus kp_stream_base_new(struct KpStreamCodec codec, struct KpStreamBase *out);

// Frees a base of a stream.
KpStatus kp_stream_base_free(struct KpStreamBase base);

// Encodes 1 to 4,096 records, oldest first, with a column for each field. The records are coded
// against a base that the other side holds. `lag` is the distance in records from the base to the
// first record, at least 1. If the base is the one before the first record, `lag` is ignored. The
// other side also needs the number of records, the base and the lag, because the packet does not
// contain them.
//
// Writes the packet, of `*size` bytes, and returns the base of its last record in `*last`. If
// `capacity` is too small, only `*size` is written. The caller frees `*last` with
// `kp_stream_base_free`. `last` may be null.
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
// lag. Writes the numbers of the records, oldest first, to a target for each field, with room for
// `record_count` records. Returns the base of the last record in `*last`, which the caller frees
// with `kp_stream_base_free`. Any bytes are either refused or decoded to valid records.
KpStatus kp_stream_decode(struct KpStreamCodec codec,
                          struct KpStreamBase base,
                          uint16_t lag,
                          const uint8_t *packet,
                          size_t size,
                          size_t record_count,
                          const struct KpTarget *targets,
                          size_t target_count,
                          struct KpStreamBase *last);

// Like `kp_stream_push`, but adds the record of a tick of the server, as `kp_input_clock_ticks`
// asks for it. The record's number is the tick modulo 65,536. Ticks that the clock skipped have no
// record. If the tick is not after that of the newest record, or 32,768 or more after it, the
// sender forgets all records and begins anew.
KpStatus kp_stream_push_for_tick(struct KpStreamSender sender,
                                 uint32_t tick,
                                 const struct KpColumn *columns,
                                 size_t column_count);

// Reads the record for a tick, which the server simulates at `now_ns`, to a target for each field.
// If the record did not arrive in time, writes no numbers, and 0 to `*in_time`. Most games then
// repeat the last input, so let the targets be where that is. `in_time` may be null.
//
// Call this function once for each tick, in order, instead of `kp_stream_read`. From then on,
// acknowledgements tell the client's `KpInputClock` how early its records arrive. Send one after
// each tick, because the clock follows the network only as fast as they arrive.
// `longest_round_trip_ms` must be at least the time from sending a record until its tick.
KpStatus kp_stream_read_for_tick(struct KpStreamReceiver receiver,
                                 uint64_t now_ns,
                                 uint32_t tick,
                                 const struct KpTarget *targets,
                                 size_t target_count,
                                 int32_t *in_time);

// Writes a receiver's view of its stream.
KpStatus kp_stream_receiver_status(struct KpStreamReceiver receiver,
                                   struct KpStreamReceiverStatus *out);

// Writes values: `*size` bytes, if they fit into `capacity`. Both sides need the same kinds,
// limits and small differences, and must hold the same `before`. To get the values that the
// receiver will hold, read the written bytes with `kp_values_read`.
KpStatus kp_values_write(const struct KpValue *values,
                         size_t count,
                         uint8_t *bytes,
                         size_t capacity,
                         size_t *size);

// Reads values that `kp_values_write` wrote, each into its member `value`. An unchanged value
// becomes `before`. After an error, no value has changed.
KpStatus kp_values_read(struct KpValue *values, size_t count, const uint8_t *bytes, size_t size);

// Creates a viewer of a broadcast, which does not watch any tier yet. `options` may be null. The
// caller frees `*out` with `kp_viewer_free`.
KpStatus kp_viewer_new(struct KpCatalogue catalogue,
                       const struct KpViewerOptions *options,
                       struct KpViewer *out);

// Watches a tier from now on, or several together, such as regions of the world. The current tiers
// are shown until the new ones have caught up. After this call, subscribe to the tracks of
// `kp_viewer_wanted`.
KpStatus kp_viewer_watch(struct KpViewer viewer, const uint32_t *tiers, size_t count);

// Writes the tracks that the viewer needs now: `*count` tracks, if they fit into `capacity`. The
// tracks change with `kp_viewer_watch`, `kp_viewer_take` and `kp_viewer_play`. Subscribe to the
// new tracks, and unsubscribe from the others.
KpStatus kp_viewer_wanted(struct KpViewer viewer,
                          struct KpTrack *tracks,
                          size_t capacity,
                          size_t *count);

// Writes the numbers of the shown tiers, like `kp_viewer_wanted`.
KpStatus kp_viewer_shown_tiers(struct KpViewer viewer,
                               uint32_t *tiers,
                               size_t capacity,
                               size_t *count);

// Takes an object or a datagram of a track. The objects of a group must be passed in order.
// `taken` may be null. Returns `KP_STATUS_DATA` for a refused piece, which changes only counters.
// A piece is refused if it is invalid, late, of a tier that is not watched, or after a missing
// object. If an object is refused, the rest of its group is refused too. Times are nanoseconds
// since any fixed moment.
KpStatus kp_viewer_take(struct KpViewer viewer,
                        uint64_t now_ns,
                        const struct KpPiece *piece,
                        const uint8_t *bytes,
                        size_t size,
                        struct KpTaken *taken);

// Restarts the reading of all tracks, after a connection was lost or the publisher restarted. The
// current state is shown until newer snapshots arrive.
KpStatus kp_viewer_rejoin(struct KpViewer viewer);

// Changes the limits for the delay of the shown state.
KpStatus kp_viewer_set_delays(struct KpViewer viewer, uint32_t min_delay_ms, uint32_t max_delay_ms);

// Computes the state to show now, which is slightly delayed and interpolated. Read this state
// through `kp_viewer_shown`. Returns `KP_STATUS_NOTHING` before the first state.
KpStatus kp_viewer_play(struct KpViewer viewer, uint64_t now_ns, struct KpPlayback *out);

// Writes the first and the last tick that `kp_viewer_play_at` can show. Returns
// `KP_STATUS_NOTHING` before the first state, or if the viewer keeps no history.
KpStatus kp_viewer_history(struct KpViewer viewer, uint32_t *first, uint32_t *last);

// Like `kp_viewer_play`, but for a fractional tick of the history, to pause and to rewind. A tick
// outside of the history shows the nearest state.
KpStatus kp_viewer_play_at(struct KpViewer viewer, double tick, struct KpPlayback *out);

// Returns the state that the viewer shows. The handle stays the same until `kp_viewer_free`, which
// frees it too.
KpStatus kp_viewer_shown(struct KpViewer viewer, struct KpShown *out);

// Copies the newest state of the shown tiers into a snapshot of the same schema, without delay or
// interpolation. Returns `KP_STATUS_NOTHING` before the first state.
KpStatus kp_viewer_newest(struct KpViewer viewer, struct KpSnapshot snapshot);

// Writes the counters and measurements of a viewer.
KpStatus kp_viewer_status(struct KpViewer viewer, struct KpViewerStatus *out);

// Frees a viewer.
KpStatus kp_viewer_free(struct KpViewer viewer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KINEPACK_H */
