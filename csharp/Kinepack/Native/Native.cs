// Generated from the sources of crates/kinepack-c. Its tests/header.rs writes and compares this file.
using System;
using System.Runtime.InteropServices;

// The native library writes the fields.
#pragma warning disable 0649

namespace Kinepack
{
    /// <summary>The result of a function.</summary>
    public enum Status
    {
        /// <summary>The call succeeded.</summary>
        Ok = 0,

        /// <summary>A pointer is null although it must not be, or is not aligned.</summary>
        Pointer = 1,

        /// <summary>A handle is zero, was freed, or is of another type.</summary>
        Handle = 2,

        /// <summary>An argument is out of its range, or does not fit the others.</summary>
        Argument = 3,

        /// <summary>The caller's memory is too small. The needed size was written.</summary>
        Size = 4,

        /// <summary>Bytes from outside are invalid: a file, a packet or a datagram.</summary>
        Data = 5,

        /// <summary>A value cannot be quantized: it is not a number, or out of its range.</summary>
        Value = 6,

        /// <summary>There is no result: not yet, or no longer.</summary>
        Nothing = 7,

        /// <summary>A defect of the library. Please report it.</summary>
        Panic = 8,

        /// <summary>A file cannot be read or written.</summary>
        File = 9,

        /// <summary>
        /// The call succeeded, but not for all receivers: the error text names the failed ones.
        /// </summary>
        Receivers = 10,
    }

    /// <summary>The endpoint that a datagram is for.</summary>
    public enum DatagramKind
    {
        /// <summary>A hub.</summary>
        ToHub = 0,

        /// <summary>A receiver.</summary>
        ToReceiver = 1,

        /// <summary>A receiver of a stream.</summary>
        ToStreamReceiver = 2,

        /// <summary>A sender of a stream.</summary>
        ToStreamSender = 3,
    }

    /// <summary>The type of a field.</summary>
    public enum FieldKind
    {
        /// <summary>Real numbers with limits.</summary>
        Floats = 0,

        /// <summary>An integer with limits.</summary>
        Integer = 1,

        /// <summary>A rotation x, y, z, w.</summary>
        Rotation = 2,

        /// <summary>A flag, 0 or 1.</summary>
        Bool = 3,

        /// <summary>One of several alternatives.</summary>
        Choice = 4,

        /// <summary>Bit patterns of 32 bits.</summary>
        Raw = 5,

        /// <summary>Opaque bytes.</summary>
        Bytes = 6,
    }

    /// <summary>How a tier is transported.</summary>
    public enum Carry
    {
        /// <summary>
        /// In groups: each snapshot is coded against the previous one, and takes the fewest bits. A
        /// viewer sees a lost packet as a delay.
        /// </summary>
        Groups = 0,

        /// <summary>
        /// In datagrams that are coded against the beginning of the group. A lost datagram costs
        /// one snapshot and no delay.
        /// </summary>
        Datagrams = 1,
    }

    /// <summary>How numbers are coded by magnitude.</summary>
    internal enum MagnitudeForm
    {
        /// <summary>
        /// Real numbers, rounded to multiples of a precision. Takes as many bits as Unreal's
        /// <c>FVector_NetQuantize</c>.
        /// </summary>
        Multiples = 0,

        /// <summary>Integers from -2^32 to 2^32 - 1, exactly.</summary>
        Steps = 1,

        /// <summary>
        /// Real numbers within limits, as differences from numbers that both sides hold.
        /// </summary>
        Difference = 2,

        /// <summary>
        /// Like the differences. If a number cannot be represented within the limits, all numbers
        /// are written unchanged.
        /// </summary>
        Any = 3,
    }

    /// <summary>The type of a number in the caller's memory.</summary>
    public enum Number
    {
        /// <summary><c>float</c></summary>
        F32 = 0,

        /// <summary><c>double</c></summary>
        F64 = 1,

        /// <summary><c>sbyte</c></summary>
        I8 = 2,

        /// <summary><c>short</c></summary>
        I16 = 3,

        /// <summary><c>int</c></summary>
        I32 = 4,

        /// <summary><c>long</c></summary>
        I64 = 5,

        /// <summary><c>byte</c>, and flags of one byte, such as C's <c>bool</c></summary>
        U8 = 6,

        /// <summary><c>ushort</c></summary>
        U16 = 7,

        /// <summary><c>uint</c></summary>
        U32 = 8,

        /// <summary><c>ulong</c></summary>
        U64 = 9,
    }

    /// <summary>The role of a field in motion.</summary>
    public enum Role
    {
        /// <summary>No special role.</summary>
        Plain = 0,

        /// <summary>A velocity, which is zero at rest.</summary>
        Velocity = 1,

        /// <summary>The position (three real numbers) or the rotation of a rigid body.</summary>
        Body = 2,

        /// <summary>The flag of a body that another body moves.</summary>
        Touched = 3,

        /// <summary>The flag of a body that moves other bodies.</summary>
        Mover = 4,

        /// <summary>A time stamp that drives the fields of a stream.</summary>
        Clock = 5,
    }

    /// <summary>A track of a tier.</summary>
    public enum TrackKind
    {
        /// <summary>Its snapshots.</summary>
        Snapshots = 0,

        /// <summary>Its key snapshots, which viewers need to join.</summary>
        Keys = 1,
    }

    /// <summary>The type of a value.</summary>
    internal enum ValueKind
    {
        /// <summary>
        /// A real number from <c>min</c> to <c>max</c>, in steps of <c>precision</c>.
        /// </summary>
        Real = 0,

        /// <summary>
        /// A real number on a circle, such as an angle: after <c>max</c> it wraps to <c>min</c>.
        /// </summary>
        Cyclic = 1,

        /// <summary>
        /// An integer from <c>min</c> to <c>max</c>, each at most 2^53 in magnitude.
        /// </summary>
        Integer = 2,
    }

    /// <summary>The properties of an <c>r3d2canm</c> file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct AnmInfo
    {
        /// <summary>1, 2 or 3.</summary>
        internal readonly uint version;

        /// <summary>Number of joints.</summary>
        internal readonly uint joints;

        /// <summary>Number of keys over all joints.</summary>
        internal readonly uint keys;

        /// <summary>The duration in seconds.</summary>
        internal readonly float duration_s;

        /// <summary>Sample rate of the source in Hz. Playback does not need it.</summary>
        internal readonly float rate_hz;
    }

    /// <summary>A track of the transport: groups of objects, and datagrams.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Track
    {
        /// <summary>The number of the tier.</summary>
        internal readonly uint tier;

        /// <summary>A <c>KpTrackKind</c>.</summary>
        internal readonly int kind;
    }

    /// <summary>The properties of a clip.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ClipInfo
    {
        /// <summary>Number of joints.</summary>
        internal readonly uint joints;

        /// <summary>Number of sample times of the raw clip that it was built from.</summary>
        internal readonly uint samples;

        /// <summary>Samples a second.</summary>
        internal readonly float rate_hz;

        /// <summary>Seconds from the first sample to the last.</summary>
        internal readonly float duration_s;

        /// <summary>The hash of its skeleton.</summary>
        internal readonly ulong skeleton_hash;

        /// <summary>Bytes of the clip in memory, without its players.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// Number of curves: values besides the joints, such as weights of blend shapes.
        /// </summary>
        internal readonly uint curves;

        /// <summary>Number of markers: named times, such as footsteps.</summary>
        internal readonly uint markers;
    }

    /// <summary>A part of a received datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Part
    {
        /// <summary>The endpoint that the part is for.</summary>
        internal readonly DatagramKind kind;

        /// <summary>The channel of the endpoint.</summary>
        internal readonly uint channel;

        /// <summary>The offset of its first byte.</summary>
        internal readonly UIntPtr offset;

        /// <summary>Its size in bytes.</summary>
        internal readonly UIntPtr size;
    }

    /// <summary>The hub's view of a connection to a receiver.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct HubStatus
    {
        /// <summary>Not 0 once the receiver's hello was accepted.</summary>
        internal readonly int joined;

        /// <summary>Datagrams sent.</summary>
        internal readonly ulong sent;

        /// <summary>Sent datagrams that were acknowledged.</summary>
        internal readonly ulong acknowledged;

        /// <summary>Sent datagrams that were overtaken or not acknowledged in time.</summary>
        internal readonly ulong lost;

        /// <summary>Bytes sent, without the transport's headers.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// The smoothed time from sending a datagram to its acknowledgement; negative before the
        /// first.
        /// </summary>
        internal readonly double round_trip_ms;

        /// <summary>Entities that should have been sent in the last tick but did not fit.</summary>
        internal readonly ulong waiting;

        /// <summary>Events that have not been sent yet.</summary>
        internal readonly ulong waiting_events;

        /// <summary>
        /// Events that must arrive but never will, because too many were waiting. If there are any,
        /// remove the receiver.
        /// </summary>
        internal readonly ulong refused_events;
    }

    /// <summary>A component of a vector.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct Axis
    {
        /// <summary>
        /// The number to write, or the number read. Real numbers are rounded to a <c>float</c>.
        /// </summary>
        internal double value;

        /// <summary>
        /// The number that both sides hold. This and all following members are only for
        /// differences.
        /// </summary>
        internal double before;

        /// <summary>The least number.</summary>
        internal double min;

        /// <summary>The largest number. On a circle, it is equivalent to <c>min</c>.</summary>
        internal double max;

        /// <summary>The step. A decoded number is off by at most half of it.</summary>
        internal double precision;

        /// <summary>Not 0: a number on a circle, such as an angle.</summary>
        internal int is_cyclic;
    }

    /// <summary>
    /// Up to four numbers that are coded together, such as a vector. The largest one determines how
    /// many bits each of them takes.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct Magnitude
    {
        /// <summary>A <c>KpMagnitudeForm</c>.</summary>
        internal int form;

        /// <summary>How many numbers, 1 to 4.</summary>
        internal uint count;

        /// <summary>Multiples only: steps per unit: 1, 10 or 100.</summary>
        internal uint steps_per_unit;

        /// <summary>The numbers. Components from <c>count</c> on are ignored.</summary>
        internal Axis components_0;
        internal Axis components_1;
        internal Axis components_2;
        internal Axis components_3;
    }

    /// <summary>A unit for the transport: an object of a group, or a datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Piece
    {
        /// <summary>The number of its group in the track.</summary>
        internal readonly ulong group;

        /// <summary>
        /// The number of the object in its group. Object 0 begins the group, and ends the previous
        /// one.
        /// </summary>
        internal readonly ulong @object;

        /// <summary>The number of the tier.</summary>
        internal readonly uint tier;

        /// <summary>A <c>KpTrackKind</c>.</summary>
        internal readonly int track;

        /// <summary>
        /// Not 0: a datagram. It has no <c>object</c>, and viewers do not need its <c>group</c>.
        /// </summary>
        internal readonly int is_datagram;

        /// <summary>The tick of its last snapshot. Viewers do not need it.</summary>
        internal readonly uint tick;
    }

    /// <summary>The moment that is shown.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Playback
    {
        /// <summary>The tick that is shown, with its fraction.</summary>
        internal readonly double tick;

        /// <summary>Not 0: no newer state had arrived when it was needed.</summary>
        internal readonly int is_starved;
    }

    /// <summary>The receiver's view of its connection.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReceiverStatus
    {
        /// <summary>Not 0 once a snapshot was accepted.</summary>
        internal readonly int joined;

        /// <summary>Datagrams accepted.</summary>
        internal readonly ulong received;

        /// <summary>Datagrams refused, including duplicates.</summary>
        internal readonly ulong refused;

        /// <summary>Missing datagrams of the hub.</summary>
        internal readonly ulong lost;

        /// <summary>Bytes of all datagrams.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// The smoothed time from sending an acknowledgement to the first snapshot that builds on
        /// it; negative before the first such snapshot.
        /// </summary>
        internal readonly double round_trip_ms;

        /// <summary>
        /// The fractional tick that the server simulates now; negative while it is unknown.
        /// </summary>
        internal readonly double server_tick;
    }

    /// <summary>The size of a replay file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReplaySummary
    {
        /// <summary>Snapshots.</summary>
        internal readonly ulong frames;

        /// <summary>Groups, each a second long.</summary>
        internal readonly ulong groups;

        /// <summary>Bytes of the file.</summary>
        internal readonly ulong bytes;
    }

    /// <summary>The properties of a replay.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReplayInfo
    {
        /// <summary>Ticks a second.</summary>
        internal readonly double rate_hz;

        /// <summary>The first tick.</summary>
        internal readonly uint first_tick;

        /// <summary>The last tick.</summary>
        internal readonly uint last_tick;

        /// <summary>Number of markers.</summary>
        internal readonly uint markers;

        /// <summary>
        /// Not 0: its writer finished it. 0: it is still being written, or its writer was killed.
        /// </summary>
        internal readonly int is_complete;
    }

    /// <summary>An event that is due.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Event
    {
        /// <summary>The tick at which it happened.</summary>
        internal readonly uint tick;

        /// <summary>The index of its kind among the kinds of the events' schema.</summary>
        internal readonly uint kind;

        /// <summary>Not 0: the event's tick was already shown at an earlier moment.</summary>
        internal readonly int is_late;
    }

    /// <summary>A record that arrived.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Record
    {
        /// <summary>The number that <c>kp_stream_push</c> returned to the sender.</summary>
        internal readonly ushort number;

        /// <summary>Not 0: it arrived as a repeat, because its own packet is missing.</summary>
        internal readonly byte is_repeated;

        /// <summary>Not 0: a newer record arrived before it.</summary>
        internal readonly byte is_late;
    }

    /// <summary>A value, and how it is coded relative to a value that both sides hold.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct Value
    {
        /// <summary>A <c>KpValueKind</c>.</summary>
        internal int kind;

        /// <summary>
        /// Not 0: differences from <c>least</c> to <c>most</c> are coded in few bits. An unchanged
        /// value then takes 1 bit, a small difference 2 bits plus its own code, and any other value
        /// 2 bits plus a full code. With 0, an unchanged value takes 1 bit, and any other 1 bit
        /// plus a full code.
        /// </summary>
        internal int has_small;

        /// <summary>The least value.</summary>
        internal double min;

        /// <summary>The largest value.</summary>
        internal double max;

        /// <summary>
        /// The step of a real number. The decoded value is off by at most half of it.
        /// </summary>
        internal double precision;

        /// <summary>The least small difference.</summary>
        internal double least;

        /// <summary>The largest small difference.</summary>
        internal double most;

        /// <summary>The value that both sides hold.</summary>
        internal double before;

        /// <summary>The value to write, or the value read.</summary>
        internal double value;
    }

    /// <summary>The counters and measurements of a viewer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ViewerStatus
    {
        /// <summary>Snapshots decoded.</summary>
        internal readonly ulong snapshots;

        /// <summary>Snapshots decoded only to catch up, and not shown.</summary>
        internal readonly ulong caught_up;

        /// <summary>Snapshots that arrived too late to be shown.</summary>
        internal readonly ulong late;

        /// <summary>Objects and datagrams refused.</summary>
        internal readonly ulong refused;

        /// <summary>Bytes of all objects and datagrams.</summary>
        internal readonly ulong bytes;

        /// <summary>The delay of the shown state.</summary>
        internal readonly double delay_ms;

        /// <summary>The variation of arrival times.</summary>
        internal readonly double jitter_ms;
    }

    /// <summary>
    /// The functions of <c>kinepack.h</c>. A handle is a struct of one 64-bit number in C, which
    /// all supported platforms pass like the number itself.
    /// </summary>
    internal static unsafe class Native
    {
#if (UNITY_IOS || UNITY_WEBGL) && !UNITY_EDITOR
        // The player is linked with the static library.
        private const string Name = "__Internal";
#else
        private const string Name = "kinepack_c";
#endif

        /// <summary>The version of the interface that is declared here.</summary>
        internal const uint KP_ABI = 1;

        private const CallingConvention Convention = CallingConvention.Cdecl;

        /// <summary>
        /// The layout of a pose in memory: the bones of an engine's skeleton, a stride apart. The
        /// strides allow an array of structs as well as three arrays. If the pointer of a part is
        /// null, the part is ignored. Numbers need no alignment.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPose
        {
            /// <summary>The translation x, y, z of the first bone.</summary>
            internal void* translations;

            /// <summary>Bytes from one bone to the next.</summary>
            internal UIntPtr translation_stride;

            /// <summary>The rotation x, y, z, w of the first bone.</summary>
            internal void* rotations;

            /// <summary>Bytes from one bone to the next.</summary>
            internal UIntPtr rotation_stride;

            /// <summary>The scale x, y, z of the first bone.</summary>
            internal void* scales;

            /// <summary>Bytes from one bone to the next.</summary>
            internal UIntPtr scale_stride;

            /// <summary>The number of bones at the pointers.</summary>
            internal UIntPtr bones;

            /// <summary>
            /// The bone of each joint of the clip, or <c>UINT32_MAX</c> for none.
            /// </summary>
            internal uint* bone_of_joint;

            /// <summary>
            /// The length of <c>bone_of_joint</c>, which must be the clip's number of joints. With
            /// 0, joint 0 is bone 0, and so on. The engine must then have at least as many bones as
            /// the clip has joints.
            /// </summary>
            internal UIntPtr joints;

            /// <summary><c>KP_NUMBER_F32</c> or <c>KP_NUMBER_F64</c>.</summary>
            internal int number;

            /// <summary>Not 0: rotations are ordered w, x, y, z.</summary>
            internal int w_first;

            /// <summary>Units per metre: 0 or 1 for metres, 100 for centimetres.</summary>
            internal float units_per_m;
        }

        /// <summary>A tier to create.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTier
        {
            /// <summary>
            /// The name of its track: up to 64 lower-case letters, digits, <c>-</c>, <c>.</c> and
            /// <c>_</c>.
            /// </summary>
            internal byte* name;

            /// <summary>
            /// The codec of its snapshots. All tiers have the same schema; only the time precision
            /// of the fields may differ.
            /// </summary>
            internal ulong codec;

            /// <summary>A <c>KpCarry</c>.</summary>
            internal int carry;

            /// <summary>Ticks from one snapshot to the next. 0 means 1.</summary>
            internal uint ticks_per_frame;

            /// <summary>
            /// The most ticks of a group, at most 127 in datagrams. Viewers can join at the
            /// beginning of a group.
            /// </summary>
            internal uint ticks_per_group;

            /// <summary>
            /// The number of snapshots that share an object, at most 16. 0 means 1. Each object has
            /// about 50 bytes of headers, and its first snapshot is delayed until the last.
            /// </summary>
            internal uint frames_per_object;
        }

        /// <summary>The properties of a tier.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTierInfo
        {
            /// <summary>A <c>KpCarry</c>.</summary>
            internal int carry;

            /// <summary>Ticks from one snapshot to the next.</summary>
            internal uint ticks_per_frame;

            /// <summary>The most ticks of a group.</summary>
            internal uint ticks_per_group;

            /// <summary>The number of snapshots that share an object.</summary>
            internal uint frames_per_object;
        }

        /// <summary>How a hub sends. A number of 0 selects the default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpHubOptions
        {
            /// <summary>
            /// The largest datagram that the transport carries, without its own headers. Default:
            /// 1,200.
            /// </summary>
            internal uint datagram_bytes;

            /// <summary>
            /// The channel of this hub, which distinguishes hubs on one connection. Its receivers
            /// use the same.
            /// </summary>
            internal uint channel;

            /// <summary>
            /// The bytes that the transport adds to each datagram. Budgets include them. Default:
            /// 28.
            /// </summary>
            internal uint overhead_bytes;

            /// <summary>The most datagrams for a receiver in a tick. Default: 4.</summary>
            internal uint datagrams_per_tick;

            /// <summary>The kinds of events, or zero for none.</summary>
            internal ulong events;
        }

        /// <summary>
        /// The numbers of a field in the caller's memory, to read from. The numbers of one entity
        /// are adjacent, and entities are <c>stride</c> bytes apart. Numbers need no alignment.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpColumn
        {
            /// <summary>The first number of the first entity.</summary>
            internal void* data;

            /// <summary>
            /// Bytes from one entity to the next. With 0, all entities have the same numbers.
            /// </summary>
            internal UIntPtr stride;

            /// <summary>
            /// A <c>KpNumber</c>. Real numbers and rotations need <c>KP_NUMBER_F32</c> or
            /// <c>KP_NUMBER_F64</c>, and all other fields need integers.
            /// </summary>
            internal int number;

            /// <summary>Not 0: values out of range are clamped instead of refused.</summary>
            internal int clamp;
        }

        /// <summary>How a publisher works.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPublisherOptions
        {
            /// <summary>
            /// The number of the first group, below 2^61. After a restart, use a number above all
            /// previous ones, such as the seconds since 1970, so that relays and viewers do not mix
            /// the two runs.
            /// </summary>
            internal ulong first_group;

            /// <summary>
            /// The delay of the pieces in ticks, against players who watch their own match.
            /// </summary>
            internal uint delay_ticks;
        }

        /// <summary>How a receiver works. A number of 0 selects the default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpReceiverOptions
        {
            /// <summary>
            /// The channel of the hub, which distinguishes hubs on one connection.
            /// </summary>
            internal uint channel;

            /// <summary>
            /// The least delay of the shown state. Default: determined by the network alone.
            /// </summary>
            internal uint min_delay_ms;

            /// <summary>The largest delay of the shown state. Default: 500.</summary>
            internal uint max_delay_ms;

            /// <summary>The most memory for views and states, in bytes. Default: 128 MiB.</summary>
            internal ulong max_memory_bytes;

            /// <summary>The kinds of events of the hub, or zero for none.</summary>
            internal ulong events;
        }

        /// <summary>A field of a kind.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpField
        {
            /// <summary>Its type.</summary>
            internal FieldKind kind;

            /// <summary>
            /// The numbers per entity in a column: 3 for a position, 4 for a rotation.
            /// </summary>
            internal uint numbers;

            /// <summary>Its number of lanes.</summary>
            internal uint lanes;

            /// <summary>The index of its first lane among those of its kind.</summary>
            internal uint first_lane;
        }

        /// <summary>The numbers of a field in the caller's memory, to write to.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTarget
        {
            /// <summary>
            /// The first number of the first entity. If it is null, the field is not written.
            /// </summary>
            internal void* data;

            /// <summary>Bytes from one entity to the next.</summary>
            internal UIntPtr stride;

            /// <summary>A <c>KpNumber</c> that can hold every value of the field.</summary>
            internal int number;
        }

        /// <summary>
        /// How a stream is sent. Both ends need the same options. A number of 0 selects the
        /// default.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpStreamOptions
        {
            /// <summary>The longest round trip without extra cost. Default: 500.</summary>
            internal uint longest_round_trip_ms;

            /// <summary>
            /// How many earlier records each packet repeats, up to 15. Default: 1. Negative: none.
            /// </summary>
            internal int repeats;

            /// <summary>
            /// The most records that a receiver accepts at once, at least 16. Default: 64.
            /// </summary>
            internal uint burst_records;

            /// <summary>
            /// The channel of the stream, which distinguishes streams on one connection.
            /// </summary>
            internal uint channel;

            /// <summary>The largest datagram that the transport carries. Default: 1,200.</summary>
            internal uint datagram_bytes;

            /// <summary>The number of the first record.</summary>
            internal ushort first_number;
        }

        /// <summary>How a viewer works. A number of 0 selects the default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpViewerOptions
        {
            /// <summary>
            /// The least delay of the shown state. Default: determined by the network alone.
            /// </summary>
            internal uint min_delay_ms;

            /// <summary>The largest delay of the shown state. Default: 500.</summary>
            internal uint max_delay_ms;

            /// <summary>How long it keeps states for rewinding. Default: none.</summary>
            internal uint history_ms;

            /// <summary>The most memory for states, in bytes. Default: 256 MiB.</summary>
            internal ulong max_memory_bytes;
        }

        /// <summary>The effect of a piece.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTaken
        {
            /// <summary>
            /// Not 0: the piece made a snapshot readable. 0: the piece waits for others.
            /// </summary>
            internal int is_read;

            /// <summary>The tick of the newest snapshot that became readable.</summary>
            internal uint tick;
        }

        /// <summary>Reads a file. The caller frees <c>*out</c> with <c>kp_anm_free</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_from_bytes(byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>Writes a file: <c>*size</c> bytes, if they fit into <c>capacity</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_to_bytes(
            ulong anm, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>The properties of a file.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_info(ulong anm, out AnmInfo @out);

        /// <summary>
        /// The hash of a joint's name. The file does not contain the name itself.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_joint(ulong anm, uint joint, out uint hash);

        /// <summary>
        /// The hash of a name, to compare with the hashes of <c>kp_anm_joint</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_hash(byte[] name, out uint hash);

        /// <summary>
        /// Writes the pose at a time in seconds. A time outside of the file gives the pose of the
        /// nearer end. Each call reads the keys from the nearest earlier jump cache, or from the
        /// start if there is none. So use it for import and comparison; for playback, build a clip.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_sample(ulong anm, float time_s, ref KpPose pose);

        /// <summary>Frees a file.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_free(ulong anm);

        /// <summary>
        /// Writes bytes as runs, XORed with the bytes of <c>base</c>, which both sides hold:
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>. A shorter base is extended with
        /// zeros. Suits bytes that mostly equal the base.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_runs_encode(
            byte* @base,
            UIntPtr base_size,
            byte* bytes,
            UIntPtr byte_count,
            byte* runs,
            UIntPtr capacity,
            out UIntPtr size);

        /// <summary>
        /// Reads runs that <c>kp_runs_encode</c> wrote against the same base: <c>*size</c> bytes.
        /// If they decode to more than <c>capacity</c> bytes, the result is <c>KP_STATUS_DATA</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_runs_decode(
            byte* @base,
            UIntPtr base_size,
            byte* runs,
            UIntPtr run_bytes,
            byte* bytes,
            UIntPtr capacity,
            out UIntPtr size);

        /// <summary>
        /// Writes bytes as sparse bytes, XORed with the bytes of <c>base</c>, which both sides
        /// hold: <c>*size</c> bytes, if they fit into <c>capacity</c>. A shorter base is extended
        /// with zeros. Suits short structs that mostly equal the base, such as inputs. Both sides
        /// need to know <c>byte_count</c>, because it is not written.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_sparse_encode(
            byte* @base,
            UIntPtr base_size,
            byte* bytes,
            UIntPtr byte_count,
            byte* sparse,
            UIntPtr capacity,
            out UIntPtr size);

        /// <summary>
        /// Reads <c>byte_count</c> bytes that <c>kp_sparse_encode</c> wrote against the same base.
        /// After an error, <c>bytes</c> is unchanged.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_sparse_decode(
            byte* @base,
            UIntPtr base_size,
            byte* sparse,
            UIntPtr sparse_size,
            byte* bytes,
            UIntPtr byte_count);

        /// <summary>
        /// Creates a catalogue of a simulation with <c>tick_hz</c> ticks a second and these tiers.
        /// The tiers are numbered in the order of the list. The caller frees <c>*out</c> with
        /// <c>kp_catalogue_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_new(
            uint tick_hz, KpTier* tiers, UIntPtr count, out ulong @out);

        /// <summary>
        /// Creates a catalogue with the tiers that suit most broadcasts: all snapshots ("full"),
        /// one in three ("third"), one in eight ("eighth"), and all in datagrams ("fast"). If the
        /// schema has bodies, it adds one in three with less precision for moving bodies
        /// ("coarse"). The caller frees <c>*out</c> with <c>kp_catalogue_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_standard(
            uint tick_hz, ulong codec, out ulong @out);

        /// <summary>
        /// Reads a catalogue from the object of the track "catalogue". The caller frees <c>*out</c>
        /// with <c>kp_catalogue_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>
        /// The bytes of a catalogue, to publish as the object of the track "catalogue":
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_to_bytes(
            ulong catalogue, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>The ticks a second of a broadcast, and its number of tiers.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_info(
            ulong catalogue, out uint tick_hz, out uint tiers);

        /// <summary>
        /// The schema of the broadcast's world. The caller frees <c>*out</c> with
        /// <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_schema(ulong catalogue, out ulong @out);

        /// <summary>The properties of a tier. Tiers are numbered from 0.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_tier(
            ulong catalogue, uint tier, out KpTierInfo @out);

        /// <summary>
        /// Finds the tier with a name. <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_find(
            ulong catalogue, byte[] name, out uint tier);

        /// <summary>
        /// The name of a track for the transport, with a terminating zero: <c>*size</c> bytes, if
        /// they fit into <c>capacity</c>. The track of snapshots has the name of its tier.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_track_name(
            ulong catalogue, ref Track track, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a catalogue. Objects made with it remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_free(ulong catalogue);

        /// <summary>
        /// Reads a clip in memory form or disk form. <c>rig</c> is zero for a clip without a rig.
        /// The caller frees <c>*out</c> with <c>kp_clip_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_from_bytes(
            byte* bytes, UIntPtr size, ulong rig, out ulong @out);

        /// <summary>The properties of a clip.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_info(ulong clip, out ClipInfo @out);

        /// <summary>
        /// The name of a curve, with a terminating zero: <c>*size</c> bytes including the zero, if
        /// they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_curve_name(
            ulong clip, uint curve, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// A marker, by its index in order of time. Writes its time in seconds, and its name with a
        /// terminating zero: <c>*size</c> bytes including the zero, if they fit into
        /// <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_marker(
            ulong clip,
            uint marker,
            out float time_s,
            byte* name,
            UIntPtr capacity,
            out UIntPtr size);

        /// <summary>Frees a clip. Its players remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_free(ulong clip);

        /// <summary>
        /// Creates a player of a clip on its skeleton. The caller frees <c>*out</c> with
        /// <c>kp_player_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_new(ulong clip, ulong skeleton, out ulong @out);

        /// <summary>
        /// Creates a player of a clip on an engine's skeleton, without comparing it with the clip's
        /// skeleton. Channels that the clip does not store keep the values of the bind pose
        /// <c>bind</c>. The caller frees <c>*out</c> with <c>kp_player_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_with_bind_pose(
            ulong clip, ref KpPose bind, out ulong @out);

        /// <summary>
        /// Writes the pose at a time in seconds. Times outside the clip give its first or last
        /// pose.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample(ulong player, float time_s, ref KpPose pose);

        /// <summary>
        /// Writes the pose at a position in samples from the first: whole numbers are the sample
        /// times.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample_at(
            ulong player, double position, ref KpPose pose);

        /// <summary>
        /// Writes the values of all curves at a time in seconds. <c>count</c> must be the clip's
        /// number of curves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_curves(
            ulong player, float time_s, float* curves, UIntPtr count);

        /// <summary>
        /// Writes a blend of the poses of two players of the same skeleton: a <c>weight</c> of 0
        /// gives the first, 1 the second. <c>mask</c> has a factor for each joint, which scales the
        /// weight; with a <c>mask_count</c> of 0 there is no mask.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_blend(
            ulong player,
            float time_s,
            ulong other,
            float other_time_s,
            float weight,
            float* mask,
            UIntPtr mask_count,
            ref KpPose pose);

        /// <summary>Frees a player.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_free(ulong player);

        /// <summary>
        /// Creates a codec of a schema at a level: "packed" is fastest, "adaptive" takes few bits,
        /// "learning" takes the fewest. <c>profile</c> is a profile file trained for the schema;
        /// with a <c>profile_size</c> of 0 there is none. The caller frees <c>*out</c> with
        /// <c>kp_codec_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_new(
            ulong schema, byte[] level, byte* profile, UIntPtr profile_size, out ulong @out);

        /// <summary>
        /// A hash of the schema, the level, the profile and the time precision. Two sides can read
        /// each other's packets only if their hashes are equal. Hubs and receivers compare the
        /// hashes themselves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_hash(ulong codec, out ulong hash);

        /// <summary>
        /// The widths and words of a codec's profile as text, for tools, with a terminating zero:
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>. The first two lines have the codes
        /// of gaps: their widths in bits, and the lengths of their words. Then each field has a
        /// line with its context, and a line for each class: the reference, and <c>width/beyond</c>
        /// in bits for each lane. The lengths of the class words follow, once if all contexts share
        /// them, or for each context. <c>spec/CODEC.md</c>, sections 7 and 9, describes these
        /// codes. The text does not include the model of the adaptive levels.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_profile_text(
            ulong codec, byte* text, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a codec. Objects made with it remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_free(ulong codec);

        /// <summary>
        /// The empty view with which both sides begin. The caller frees <c>*out</c> with
        /// <c>kp_view_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_empty(ulong schema, out ulong @out);

        /// <summary>
        /// Creates the view of a state that both sides hold, such as a saved state. The caller
        /// frees <c>*out</c> with <c>kp_view_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_of(ulong snapshot, out ulong @out);

        /// <summary>Copies the state of a view into a snapshot of the same schema.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_get(ulong view, ulong snapshot);

        /// <summary>The tick of a view.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_tick(ulong view, out uint tick);

        /// <summary>
        /// The state check of a view: a 16-bit hash of its tick and its state. Two sides that hold
        /// the same tick and state have the same check.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_check(ulong view, out ushort check);

        /// <summary>Frees a view.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_free(ulong view);

        /// <summary>
        /// Creates an encoder. The caller frees <c>*out</c> with <c>kp_encoder_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encoder_new(ulong codec, out ulong @out);

        /// <summary>
        /// Encodes a snapshot against one to four views that the other side holds, newest first.
        /// More than one helps the levels "adaptive" and "learning". Writes the packet, of
        /// <c>*size</c> bytes, and returns the view that the other side will have in <c>*view</c>.
        /// If <c>capacity</c> is too small, only <c>*size</c> is written. The caller frees
        /// <c>*view</c> with <c>kp_view_free</c>; <c>view</c> may be null.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encode(
            ulong encoder,
            ulong* views,
            UIntPtr view_count,
            ulong snapshot,
            byte* packet,
            UIntPtr capacity,
            out UIntPtr size,
            ulong* view);

        /// <summary>Frees an encoder.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_encoder_free(ulong encoder);

        /// <summary>
        /// Creates a decoder. The caller frees <c>*out</c> with <c>kp_decoder_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decoder_new(ulong codec, out ulong @out);

        /// <summary>
        /// Decodes a packet against the views that it was encoded against, newest first. Returns
        /// the resulting view in <c>*view</c>; the caller frees it with <c>kp_view_free</c>. Any
        /// bytes are either refused or decoded to a valid view. <c>tick</c> is the snapshot's tick,
        /// which a packet does not contain.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decode(
            ulong decoder,
            ulong* views,
            UIntPtr view_count,
            byte* packet,
            UIntPtr size,
            uint tick,
            out ulong view);

        /// <summary>Frees a decoder.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_decoder_free(ulong decoder);

        /// <summary>
        /// Splits a received datagram, such as an acknowledgement of a stream followed by a
        /// snapshot, into <c>*count</c> parts, if they fit into <c>capacity</c>. To combine
        /// datagrams, append one to the other.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_split_datagram(
            byte* datagram, UIntPtr size, Part* parts, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Creates kinds of events from the schema of a codec. <c>longest_ticks</c> has a number
        /// for each kind: how many ticks an event may wait before it is dropped. A negative number
        /// marks events that must arrive. With a <c>count</c> of 0, all must arrive. The caller
        /// frees <c>*out</c> with <c>kp_events_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_new(
            ulong codec, int* longest_ticks, UIntPtr count, out ulong @out);

        /// <summary>Frees kinds of events. Objects made with them remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_free(ulong events);

        /// <summary>
        /// Creates a writer at the beginning of a group. The caller frees <c>*out</c> with
        /// <c>kp_group_writer_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_new(ulong codec, out ulong @out);

        /// <summary>
        /// Begins the next group. <c>given</c> is a view that the reader will be given too. If it
        /// is zero, the group depends on nothing before it.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_begin(ulong writer, ulong given);

        /// <summary>Adds a frame. Its tick must be after the previous frame's.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_write(ulong writer, ulong world);

        /// <summary>
        /// Takes the frames added since the last call: <c>*size</c> bytes, if they fit into
        /// <c>capacity</c>. Otherwise they are kept. <c>KP_STATUS_NOTHING</c> if there are none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_take(
            ulong writer, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a writer of groups.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_free(ulong writer);

        /// <summary>
        /// Creates a reader at the beginning of a group. The caller frees <c>*out</c> with
        /// <c>kp_group_reader_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_new(ulong codec, out ulong @out);

        /// <summary>
        /// Begins the next group, with the view that the group's writer was given, or zero.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_begin(ulong reader, ulong given);

        /// <summary>
        /// Reads the frame at the beginning of <c>bytes</c> into a snapshot of the same schema, and
        /// writes its length to <c>*used</c>. <c>KP_STATUS_NOTHING</c> if <c>size</c> is 0. An
        /// invalid or incomplete frame is <c>KP_STATUS_DATA</c>. In both cases, nothing changes.
        /// The connection or the file must guarantee that the bytes are unaltered.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_read(
            ulong reader, byte* bytes, UIntPtr size, ulong snapshot, out UIntPtr used);

        /// <summary>Frees a reader of groups.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_free(ulong reader);

        /// <summary>
        /// Creates a hub. <c>options</c> may be null. The caller frees <c>*out</c> with
        /// <c>kp_hub_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_new(
            ulong codec, KpHubOptions* options, out ulong @out);

        /// <summary>
        /// Sets how the entities of a kind are sent. Their changes are sent in every <c>every</c>th
        /// tick (1, 2, 4 or 8). <c>weight</c>, at least 0, is how much they matter if not
        /// everything fits.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_kind(
            ulong hub, byte[] name, uint every, float weight);

        /// <summary>
        /// Adds a receiver with a unique number. All times are nanoseconds since any fixed moment.
        /// <c>budget_bytes_per_s</c> limits the data sent to it; 0 means no limit.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_add(
            ulong hub, ulong receiver, uint budget_bytes_per_s, ulong now_ns);

        /// <summary>Removes a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_remove(ulong hub, ulong receiver);

        /// <summary>
        /// Sets which entities a receiver may see: ids in increasing order, or none. Initially it
        /// may see all.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_relevant(
            ulong hub, ulong receiver, uint* ids, UIntPtr count);

        /// <summary>Lets a receiver see all entities again.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_all_relevant(ulong hub, ulong receiver);

        /// <summary>
        /// Sets the weights of entities for a receiver, used if not everything fits: ids in
        /// increasing order, and a weight for each. All other entities weigh 1. The weights apply
        /// until they are set again; a <c>count</c> of 0 removes them.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_weights(
            ulong hub, ulong receiver, uint* ids, float* weights, UIntPtr count);

        /// <summary>The hub's view of a connection to a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_status(ulong hub, ulong receiver, out HubStatus @out);

        /// <summary>
        /// Adds an event to the next tick, with a column of one record for each field of its kind.
        /// All joined receivers get it exactly once, in the order of these calls.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count);

        /// <summary>Like <c>kp_hub_emit</c>, but only for these receivers.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_to(
            ulong hub,
            uint kind,
            KpColumn* columns,
            UIntPtr column_count,
            ulong* receivers,
            UIntPtr receiver_count);

        /// <summary>
        /// Like <c>kp_hub_emit</c>, but only for the receivers that may see an entity.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_seeing(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count, uint entity);

        /// <summary>
        /// Handles a datagram from a receiver. An invalid one is <c>KP_STATUS_DATA</c>, and changes
        /// only counters.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_handle(
            ulong hub, ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        /// <summary>
        /// Takes the world of a tick, which must be above the previous tick, and encodes what each
        /// receiver needs. <c>KP_STATUS_RECEIVERS</c> if some receivers do not get all of it, for
        /// the reasons in the error text. The others do, so poll the datagrams then too. After any
        /// other failure, nothing has changed.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_tick(ulong hub, ulong now_ns, ulong world);

        /// <summary>
        /// The next datagram to send, and its receiver. <c>KP_STATUS_NOTHING</c> if there is none
        /// until the next tick. If <c>capacity</c> is too small, only <c>*size</c> is written, and
        /// the datagram is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_poll(
            ulong hub, out ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a hub.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_free(ulong hub);

        /// <summary>
        /// Writes vectors: <c>*size</c> bytes, if they fit into <c>capacity</c>. Both sides need
        /// the same forms, counts and limits, and must hold the same <c>before</c>. To get the
        /// values that the receiver will hold, read the written bytes with
        /// <c>kp_magnitudes_read</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_magnitudes_write(
            Magnitude* vectors, UIntPtr count, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Reads vectors that <c>kp_magnitudes_write</c> wrote, into the <c>value</c> of each
        /// component. After an error, no value has changed.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_magnitudes_read(
            Magnitude* vectors, UIntPtr count, byte* bytes, UIntPtr size);

        /// <summary>
        /// Creates a publisher of the tiers of a catalogue. <c>options</c> may be null. The caller
        /// frees <c>*out</c> with <c>kp_publisher_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_new(
            ulong catalogue, KpPublisherOptions* options, out ulong @out);

        /// <summary>
        /// Restricts a tier to these entities, such as those of a region: ids in increasing order,
        /// or none. Initially, a tier has all entities. For a region, call this before each tick.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_entities(
            ulong publisher, uint tier, uint* ids, UIntPtr count);

        /// <summary>Removes the restriction of a tier, so that it has all entities again.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_all_entities(ulong publisher, uint tier);

        /// <summary>
        /// Takes the world of a tick, which must be above the previous tick, and encodes it for all
        /// tiers that are due. <c>kp_publisher_poll</c> returns the pieces. Take all of them each
        /// tick, because they are kept in memory until then. If a world needs more datagrams than a
        /// viewer can reassemble, the result is <c>KP_STATUS_ARGUMENT</c> too. Other tiers may have
        /// encoded it by then, and the tick is used up: publish the next one.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_publish(ulong publisher, ulong world);

        /// <summary>
        /// The next piece for the transport: <c>*piece</c> describes it, and it has <c>*size</c>
        /// bytes, if they fit into <c>capacity</c>. <c>KP_STATUS_NOTHING</c> if there is none until
        /// the next tick. If <c>capacity</c> is too small, only <c>*size</c> is written, and the
        /// piece is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_poll(
            ulong publisher, out Piece piece, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Copies the last snapshot of a tier in groups, as its viewers decode it, into a snapshot
        /// of the same schema. It lacks the entities that the tier omits, and is less precise if
        /// the tier is. <c>KP_STATUS_NOTHING</c> before the first one, and for a tier in datagrams.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_last(ulong publisher, uint tier, ulong snapshot);

        /// <summary>Frees a publisher.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_free(ulong publisher);

        /// <summary>
        /// Creates a receiver for a hub with <c>tick_hz</c> ticks a second. <c>options</c> may be
        /// null. The caller frees <c>*out</c> with <c>kp_receiver_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_new(
            ulong codec, uint tick_hz, KpReceiverOptions* options, out ulong @out);

        /// <summary>
        /// Handles a datagram from the hub. A refused one, such as a duplicate, is
        /// <c>KP_STATUS_DATA</c>, and changes only counters. All times are nanoseconds since any
        /// fixed moment.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        /// <summary>
        /// The next datagram for the hub. <c>KP_STATUS_NOTHING</c> if there is none now. If
        /// <c>capacity</c> is too small, only <c>*size</c> is written, and the datagram is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_poll(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Computes what to show now: a slightly delayed, interpolated state. Read it through
        /// <c>kp_receiver_shown</c>. <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_play(
            ulong receiver, ulong now_ns, out Playback @out);

        /// <summary>
        /// The state that the receiver shows. The handle stays the same until
        /// <c>kp_receiver_free</c>, which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_shown(ulong receiver, out ulong @out);

        /// <summary>
        /// Makes all events due that have arrived. It is for programs that show the newest state
        /// and do not play. An event becomes due only once, so <c>kp_receiver_play</c> will not
        /// show it again.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_take_events(ulong receiver);

        /// <summary>The receiver's view of its connection.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_status(
            ulong receiver, ulong now_ns, out ReceiverStatus @out);

        /// <summary>
        /// Copies the newest state into a snapshot of the same schema, without delay or
        /// interpolation. <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_newest(ulong receiver, ulong snapshot);

        /// <summary>
        /// Changes a lane of an entity by one in the newest view, like a memory fault, so that this
        /// side's state is wrong. For tests and tools: state checks detect it, and the hub sends
        /// the state again. <c>KP_STATUS_NOTHING</c> if there is no such view, entity or lane, or
        /// if the lane has only one value.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_inject_fault(
            ulong receiver, uint entity, uint lane);

        /// <summary>Frees a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_free(ulong receiver);

        /// <summary>
        /// Begins a replay file, replacing an existing one. The world has <c>rate_hz</c> ticks a
        /// second; <c>events</c> is zero if it has none. The caller ends <c>*out</c> with
        /// <c>kp_replay_writer_finish</c> and frees it with <c>kp_replay_writer_free</c>. If the
        /// process is killed, the file lacks at most the last second.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_new(
            byte[] path, ulong codec, ulong events, double rate_hz, out ulong @out);

        /// <summary>Adds a snapshot. Its tick must be above the previous one's.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_write(ulong writer, ulong world);

        /// <summary>
        /// Adds an event to the snapshot that is written next, with a column of one record for each
        /// field of its kind.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_emit(
            ulong writer, uint kind, KpColumn* columns, UIntPtr column_count);

        /// <summary>Names a tick.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_mark(ulong writer, uint tick, byte[] name);

        /// <summary>Stores a value under a key of the caller's choice.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_note(ulong writer, byte[] key, byte[] value);

        /// <summary>Ends the file. <c>out</c> may be null.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_finish(ulong writer, ReplaySummary* @out);

        /// <summary>
        /// Frees a writer. A file that was not finished lacks its last second and its index, but
        /// can be read.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_free(ulong writer);

        /// <summary>
        /// Creates a kill cam, which keeps the last <c>seconds</c> of a world with <c>rate_hz</c>
        /// ticks a second. <c>events</c> is zero if there are none. The caller frees <c>*out</c>
        /// with <c>kp_kill_cam_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_new(
            ulong codec, ulong events, double rate_hz, double seconds, out ulong @out);

        /// <summary>Adds a snapshot. Its tick must be above the previous one's.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_write(ulong kill_cam, ulong world);

        /// <summary>
        /// Adds an event to the snapshot that is written next, like <c>kp_replay_writer_emit</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_emit(
            ulong kill_cam, uint kind, KpColumn* columns, UIntPtr column_count);

        /// <summary>
        /// Cuts the ticks from <c>from_tick</c> to <c>to_tick</c>, both included, as a replay file
        /// for <c>kp_kill_cam_take</c>, and writes its size. <c>KP_STATUS_ARGUMENT</c> if there is
        /// no snapshot between them.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_cut(
            ulong kill_cam, uint from_tick, uint to_tick, out UIntPtr size);

        /// <summary>
        /// Takes the replay file that was cut last: <c>*size</c> bytes, if they fit into
        /// <c>capacity</c>. It can be taken only once.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_take(
            ulong kill_cam, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a kill cam.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_free(ulong kill_cam);

        /// <summary>
        /// Opens a replay file, and keeps it open. The caller frees <c>*out</c> with
        /// <c>kp_replay_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_open(byte[] path, out ulong @out);

        /// <summary>
        /// Reads a replay from a copy of these bytes. The caller frees <c>*out</c> with
        /// <c>kp_replay_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>
        /// The properties of a replay. <c>KP_STATUS_NOTHING</c> if it has no snapshot.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_info(ulong replay, out ReplayInfo @out);

        /// <summary>
        /// The schema of a replay's snapshots. The caller frees <c>*out</c> with
        /// <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_schema(ulong replay, out ulong @out);

        /// <summary>
        /// The schema of a replay's events. <c>KP_STATUS_NOTHING</c> if it has none. The caller
        /// frees <c>*out</c> with <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_event_schema(ulong replay, out ulong @out);

        /// <summary>
        /// A marker: its tick, and its name with a terminating zero, of <c>*size</c> bytes if they
        /// fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_marker(
            ulong replay, uint nth, out uint tick, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// The value that the writer stored under a key, with a terminating zero: <c>*size</c>
        /// bytes, if they fit into <c>capacity</c>. <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_value(
            ulong replay, byte[] key, byte* value, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Copies the snapshot of a tick, or the last one before it, into a snapshot of the same
        /// schema. <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_get(ulong replay, uint tick, ulong snapshot);

        /// <summary>
        /// Computes what to show at a moment, given as a fractional tick. Read it through
        /// <c>kp_replay_shown</c>. Moments may be in any order. Events are due only if a moment
        /// follows the previous one by at most 5 seconds.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_play(ulong replay, double tick, out Playback @out);

        /// <summary>
        /// The state that the replay shows. The handle stays the same until <c>kp_replay_free</c>,
        /// which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_shown(ulong replay, out ulong @out);

        /// <summary>Jumps to a tick: the next moment shows no events before it.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_seek(ulong replay, double tick);

        /// <summary>Frees a replay, and closes its file.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_free(ulong replay);

        /// <summary>
        /// Reads a schema file, as written by <c>kp_schema_to_bytes</c> and Rust's
        /// <c>Schema::to_bytes</c>. The caller frees <c>*out</c> with <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>
        /// Writes a schema file: <c>*size</c> bytes, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_to_bytes(
            ulong schema, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// The hash of a schema. Two sides with the same hash have the same schema.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_hash(ulong schema, out ulong hash);

        /// <summary>The number of kinds of a schema.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kinds(ulong schema, out uint kinds);

        /// <summary>The number of fields of a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_fields(ulong schema, uint kind, out uint fields);

        /// <summary>Describes a field of a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field(
            ulong schema, uint kind, uint field, out KpField @out);

        /// <summary>
        /// The name of a kind, with a terminating zero: <c>*size</c> bytes including the zero, if
        /// they fit into <c>capacity</c>. If a schema has one kind, it may have no name.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kind_name(
            ulong schema, uint kind, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>The name of a field, like <c>kp_schema_kind_name</c> for a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field_name(
            ulong schema, uint kind, uint field, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Finds the field of a kind with a name. <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_find(
            ulong schema, uint kind, byte[] name, out uint field);

        /// <summary>Frees a schema. Objects made with it remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_free(ulong schema);

        /// <summary>
        /// Begins a schema. The caller ends <c>*out</c> with <c>kp_schema_builder_build</c> or
        /// <c>kp_schema_builder_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_new(out ulong @out);

        /// <summary>
        /// Begins the next kind. A schema with one kind may omit this call; its kind then has no
        /// name.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_kind(ulong builder, byte[] name);

        /// <summary>
        /// Adds a field of <c>count</c> real numbers from <c>min</c> to <c>max</c>, in steps of
        /// <c>precision</c>. A decoded value is off by at most half a step.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_floats(
            ulong builder, byte[] name, uint count, double min, double max, double precision);

        /// <summary>
        /// Adds a real number on a circle, such as an angle: after <c>end</c> it wraps to
        /// <c>min</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_cyclic(
            ulong builder, byte[] name, double min, double end, double precision);

        /// <summary>Adds an integer from <c>min</c> to <c>max</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_integer(
            ulong builder, byte[] name, long min, long max);

        /// <summary>
        /// Adds a rotation, with <c>bits</c> bits (2 to 20) for each of three components.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_rotation(
            ulong builder, byte[] name, uint bits);

        /// <summary>Adds a flag.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_bool(ulong builder, byte[] name);

        /// <summary>Adds a choice between <c>max + 1</c> alternatives without an order.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_choice(
            ulong builder, byte[] name, uint max);

        /// <summary>Sets the role of the last field in motion.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_role(ulong builder, int role);

        /// <summary>
        /// Declares the last field to be the velocity of another. Playback then follows curves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_velocity_of(ulong builder, byte[] name);

        /// <summary>
        /// Makes the last field conditional: it is present only if the field <c>selector</c> of the
        /// same kind has a value from <c>least</c> to <c>most</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_condition(
            ulong builder, byte[] selector, uint least, uint most);

        /// <summary>
        /// Lets the last field, while it moves, be off by the distance that it moves in this time.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_time_precision(
            ulong builder, double milliseconds, double ticks_per_s);

        /// <summary>
        /// Builds the schema, and frees the builder. If the fields are not a valid schema, the
        /// builder is unchanged. The caller frees <c>*out</c> with <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_build(ulong builder, out ulong @out);

        /// <summary>Frees a builder without building a schema.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_free(ulong builder);

        /// <summary>
        /// Writes the ids of a kind's entities, in increasing order: <c>*count</c> ids, if they fit
        /// into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_ids(
            ulong shown, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the ids of the entities that the previous moment did not show, of all kinds, like
        /// <c>kp_shown_ids</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_added(
            ulong shown, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the ids of the entities that only the previous moment showed, of all kinds, like
        /// <c>kp_shown_ids</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_removed(
            ulong shown, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the numbers of a kind's entities, in the order of their ids, to a target for each
        /// field with room for <c>capacity</c> entities.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_read(
            ulong shown, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Takes the next event that is due. <c>KP_STATUS_NOTHING</c> if there is none; viewers
        /// have no events. The next moment drops events that were not taken.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_next_event(ulong shown, out Event @out);

        /// <summary>
        /// Writes the numbers of the event that <c>kp_shown_next_event</c> returned last, to a
        /// target for each field of its kind. <c>kind</c> must be the event's kind, because the
        /// targets are laid out for it.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_read_event(
            ulong shown, uint kind, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Reads a skeleton file. The caller frees <c>*out</c> with <c>kp_skeleton_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>The number of joints of a skeleton.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_joints(ulong skeleton, out uint joints);

        /// <summary>The hash of a skeleton. Its clips store the same hash.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_hash(ulong skeleton, out ulong hash);

        /// <summary>
        /// The index of a joint's parent, which is lower than the joint's; −1 for a root.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_parent(
            ulong skeleton, uint joint, out int parent);

        /// <summary>
        /// The name of a joint, with a terminating zero: <c>*size</c> bytes including the zero, if
        /// they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_name(
            ulong skeleton, uint joint, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Finds the first joint with a name. <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_find(ulong skeleton, byte[] name, out uint joint);

        /// <summary>Writes the bind pose of a skeleton.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_bind_pose(ulong skeleton, ref KpPose pose);

        /// <summary>Frees a skeleton. Its players remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_free(ulong skeleton);

        /// <summary>
        /// Reads a rig file. The caller frees <c>*out</c> with <c>kp_rig_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_rig_from_bytes(byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>Frees a rig. Its clips remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_rig_free(ulong rig);

        /// <summary>
        /// Creates a snapshot without entities. The caller frees <c>*out</c> with
        /// <c>kp_snapshot_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_new(ulong schema, out ulong @out);

        /// <summary>Removes all entities, and sets the tick. Keeps the memory for reuse.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_clear(ulong snapshot, uint tick);

        /// <summary>
        /// Adds <c>count</c> entities of a kind, with a column for each field of the kind. Their
        /// ids increase, and are above those of the previous kind. Numbers are quantized. If a
        /// field is absent for an entity, the entity's numbers in its column are not read. After an
        /// error, the snapshot is unchanged.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_add(
            ulong snapshot,
            uint kind,
            uint* ids,
            UIntPtr count,
            KpColumn* columns,
            UIntPtr column_count);

        /// <summary>The tick of a snapshot.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_tick(ulong snapshot, out uint tick);

        /// <summary>The number of entities of a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_count(
            ulong snapshot, uint kind, out UIntPtr count);

        /// <summary>
        /// Writes the ids of a kind's entities, in increasing order: <c>*count</c> ids, if they fit
        /// into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_ids(
            ulong snapshot, uint kind, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the numbers of a kind's entities, in the order of their ids, to a target for each
        /// field with room for <c>capacity</c> entities. If a field is absent for an entity, its
        /// numbers are 0.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_read(
            ulong snapshot, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// A hash of the entities and their lanes, without the tick. Equal states have equal
        /// hashes.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_hash(ulong snapshot, out ulong hash);

        /// <summary>Frees a snapshot.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_free(ulong snapshot);

        /// <summary>
        /// Writes the text of this thread's last error into <c>text</c>, which has room for
        /// <c>capacity</c> bytes, including the terminating zero. A longer text is truncated.
        /// Returns the length of the whole text without the zero. <c>text</c> may be null if
        /// <c>capacity</c> is 0.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern UIntPtr kp_error_text(byte* text, UIntPtr capacity);

        /// <summary>The <c>KP_ABI</c> of the library.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern uint kp_abi();

        /// <summary>
        /// The version of the library, such as "0.1.0". The pointer is valid until the program
        /// ends.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern byte* kp_version();

        /// <summary>
        /// Creates a sender of records of a schema with one kind, at most <c>rate_hz</c> a second,
        /// at a level ("packed" or "adaptive"). <c>options</c> may be null. The caller frees
        /// <c>*out</c> with <c>kp_stream_sender_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_new(
            ulong schema, byte[] level, uint rate_hz, KpStreamOptions* options, out ulong @out);

        /// <summary>
        /// Adds a record, with a column of one record for each field, and writes its number.
        /// <c>number</c> may be null. After an error, nothing was added.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_push(
            ulong sender, KpColumn* columns, UIntPtr column_count, ushort* number);

        /// <summary>
        /// The packet of the newest records, once. <c>KP_STATUS_NOTHING</c> if there is none now.
        /// If <c>capacity</c> is too small, only <c>*size</c> is written, and the packet is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_poll(
            ulong sender, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Handles an acknowledgement. An invalid one is <c>KP_STATUS_DATA</c>, and changes only a
        /// counter.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_handle(
            ulong sender, byte* datagram, UIntPtr size);

        /// <summary>Frees a sender of a stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_free(ulong sender);

        /// <summary>
        /// Creates a receiver for the records of one client, with the same arguments as its sender.
        /// <c>options</c> may be null. The caller frees <c>*out</c> with
        /// <c>kp_stream_receiver_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_new(
            ulong schema, byte[] level, uint rate_hz, KpStreamOptions* options, out ulong @out);

        /// <summary>
        /// Handles a packet, and writes the number of its new records, at most 16, to
        /// <c>*count</c>. Read them, oldest first, with <c>kp_stream_read</c>. A refused packet,
        /// such as a duplicate, is <c>KP_STATUS_DATA</c>, and changes only a counter. Times are
        /// nanoseconds since any fixed moment.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size, out UIntPtr count);

        /// <summary>
        /// Writes the records of the last packet: <c>*count</c> records to <c>records</c>, and
        /// their numbers to a target for each field, if they fit into <c>capacity</c>.
        /// <c>records</c> may be null if <c>capacity</c> is 0.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_read(
            ulong receiver,
            Record* records,
            UIntPtr capacity,
            KpTarget* targets,
            UIntPtr target_count,
            out UIntPtr count);

        /// <summary>
        /// The acknowledgement for the sender: <c>*size</c> bytes, if they fit into
        /// <c>capacity</c>. Send it a few times within the longest round trip, alone or in front of
        /// another datagram. <c>KP_STATUS_NOTHING</c> before the first packet.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_acknowledgement(
            ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a receiver of a stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_free(ulong receiver);

        /// <summary>
        /// Creates a codec for records of a schema with one kind, at a level ("packed" or
        /// "adaptive"). The caller frees <c>*out</c> with <c>kp_stream_codec_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_new(
            ulong schema, byte[] level, out ulong @out);

        /// <summary>
        /// A hash of the schema and the level: if two sides have equal hashes, they have the same
        /// codec.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_hash(ulong codec, out ulong hash);

        /// <summary>Frees a codec of streams. Bases made with it remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_free(ulong codec);

        /// <summary>
        /// Creates the base before the first record: a packet against it needs no earlier packet.
        /// The caller frees <c>*out</c> with <c>kp_stream_base_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_new(ulong codec, out ulong @out);

        /// <summary>Frees a base of a stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_free(ulong @base);

        /// <summary>
        /// Encodes 1 to 4,096 records, oldest first, with a column for each field. They are coded
        /// against a base that the other side holds. <c>lag</c> is the distance in records from the
        /// base to the first of them, at least 1. If the base is the one before the first record,
        /// <c>lag</c> is ignored. The other side also needs the number of records, the base and the
        /// lag, because the packet does not contain them. Writes the packet, of <c>*size</c> bytes,
        /// and returns the base of its last record in <c>*last</c>. If <c>capacity</c> is too
        /// small, only <c>*size</c> is written. The caller frees <c>*last</c> with
        /// <c>kp_stream_base_free</c>; <c>last</c> may be null.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_encode(
            ulong codec,
            ulong @base,
            ushort lag,
            KpColumn* columns,
            UIntPtr column_count,
            UIntPtr record_count,
            byte* packet,
            UIntPtr capacity,
            out UIntPtr size,
            ulong* last);

        /// <summary>
        /// Decodes a packet of 1 to 4,096 records that was encoded against the same base, with the
        /// same lag. Writes the numbers of the records, oldest first, to a target for each field,
        /// with room for <c>record_count</c> records. Returns the base of its last record in
        /// <c>*last</c>; the caller frees it with <c>kp_stream_base_free</c>. Any bytes are either
        /// refused or decoded to valid records.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_decode(
            ulong codec,
            ulong @base,
            ushort lag,
            byte* packet,
            UIntPtr size,
            UIntPtr record_count,
            KpTarget* targets,
            UIntPtr target_count,
            out ulong last);

        /// <summary>
        /// Writes values: <c>*size</c> bytes, if they fit into <c>capacity</c>. Both sides need the
        /// same kinds, limits and small differences, and must hold the same <c>before</c>. To get
        /// the values that the receiver will hold, read the written bytes with
        /// <c>kp_values_read</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_values_write(
            Value* values, UIntPtr count, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Reads values that <c>kp_values_write</c> wrote, each into its <c>value</c>. An unchanged
        /// value becomes <c>before</c>. After an error, no value has changed.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_values_read(
            Value* values, UIntPtr count, byte* bytes, UIntPtr size);

        /// <summary>
        /// Creates a viewer of a broadcast, which does not watch any tier yet. <c>options</c> may
        /// be null. The caller frees <c>*out</c> with <c>kp_viewer_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_new(
            ulong catalogue, KpViewerOptions* options, out ulong @out);

        /// <summary>
        /// Watches a tier from now on, or several together, such as regions of the world. The
        /// current tiers are shown until the new ones have caught up. Next, subscribe to the tracks
        /// of <c>kp_viewer_wanted</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_watch(ulong viewer, uint* tiers, UIntPtr count);

        /// <summary>
        /// Writes the tracks that the viewer needs now: <c>*count</c> tracks, if they fit into
        /// <c>capacity</c>. They change with <c>kp_viewer_watch</c>, <c>kp_viewer_take</c> and
        /// <c>kp_viewer_play</c>: subscribe to the new tracks, and unsubscribe from the others.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_wanted(
            ulong viewer, Track* tracks, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the numbers of the tiers that are shown, like <c>kp_viewer_wanted</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_shown_tiers(
            ulong viewer, uint* tiers, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Takes an object or a datagram of a track. The objects of a group must be passed in
        /// order. <c>taken</c> may be null. A refused piece is <c>KP_STATUS_DATA</c>: it is
        /// invalid, late, of a tier that is not watched, or after a missing object. It changes only
        /// counters. If an object is refused, the rest of its group is refused too. Times are
        /// nanoseconds since any fixed moment.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_take(
            ulong viewer, ulong now_ns, ref Piece piece, byte* bytes, UIntPtr size, KpTaken* taken);

        /// <summary>
        /// Restarts the reading of all tracks, after a connection was lost or the publisher
        /// restarted. The current state is shown until newer snapshots arrive.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_rejoin(ulong viewer);

        /// <summary>Changes the limits for the delay of the shown state.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_set_delays(
            ulong viewer, uint min_delay_ms, uint max_delay_ms);

        /// <summary>
        /// Computes what to show now: a slightly delayed, interpolated state. Read it through
        /// <c>kp_viewer_shown</c>. <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_play(ulong viewer, ulong now_ns, out Playback @out);

        /// <summary>
        /// The first and the last tick that <c>kp_viewer_play_at</c> can show.
        /// <c>KP_STATUS_NOTHING</c> before the first state, or if the viewer keeps no history.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_history(
            ulong viewer, out uint first, out uint last);

        /// <summary>
        /// Like <c>kp_viewer_play</c>, but for a fractional tick of the history, to pause and to
        /// rewind. A tick outside of the history shows the nearest state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_play_at(
            ulong viewer, double tick, out Playback @out);

        /// <summary>
        /// The state that the viewer shows. The handle stays the same until <c>kp_viewer_free</c>,
        /// which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_shown(ulong viewer, out ulong @out);

        /// <summary>
        /// Copies the newest state of the shown tiers into a snapshot of the same schema, without
        /// delay or interpolation. <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_newest(ulong viewer, ulong snapshot);

        /// <summary>The counters and measurements of a viewer.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_status(ulong viewer, out ViewerStatus @out);

        /// <summary>Frees a viewer.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_free(ulong viewer);
    }
}
