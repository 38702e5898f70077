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

        /// <summary>A pointer is null although it must not be, or it is not aligned.</summary>
        Pointer = 1,

        /// <summary>A handle is zero, was freed, or is of another type.</summary>
        Handle = 2,

        /// <summary>An argument is out of its range, or does not fit the other arguments.</summary>
        Argument = 3,

        /// <summary>
        /// The caller's memory is too small. The function has written the needed size.
        /// </summary>
        Size = 4,

        /// <summary>The bytes of a file, packet or datagram are invalid.</summary>
        Data = 5,

        /// <summary>A value cannot be quantized: it is not a number, or out of its range.</summary>
        Value = 6,

        /// <summary>There is no result yet, or no longer.</summary>
        Nothing = 7,

        /// <summary>The library has a defect. Please report it.</summary>
        Panic = 8,

        /// <summary>A file cannot be read or written.</summary>
        File = 9,

        /// <summary>
        /// The call succeeded, but not for all receivers. The error text names the receivers for
        /// which it failed.
        /// </summary>
        Receivers = 10,

        /// <summary>
        /// A step of a prediction failed, or gave a state that cannot be quantized. The entities of
        /// failed steps have kept their states of the tick before, and everything else was done.
        /// </summary>
        Step = 11,
    }

    /// <summary>The type of endpoint that handles a datagram.</summary>
    public enum DatagramKind
    {
        /// <summary>The datagram is for a hub.</summary>
        ToHub = 0,

        /// <summary>The datagram is for a receiver.</summary>
        ToReceiver = 1,

        /// <summary>The datagram is for a receiver of a stream.</summary>
        ToStreamReceiver = 2,

        /// <summary>The datagram is for a sender of a stream.</summary>
        ToStreamSender = 3,
    }

    /// <summary>What determines the bytes that a receiver gets.</summary>
    public enum LinkLimit
    {
        /// <summary>Nothing: all changes are sent.</summary>
        Content = 0,

        /// <summary>
        /// The limit that the hub has tried so far. It grows while no datagrams wait in a queue.
        /// </summary>
        Probing = 1,

        /// <summary>The link: datagrams began to wait in its queue.</summary>
        Queue = 2,

        /// <summary>The link: it lost more datagrams than usual.</summary>
        Loss = 3,

        /// <summary>Another sender fills the link's queue, and both share the link.</summary>
        Competing = 4,

        /// <summary>The largest limit that was set.</summary>
        AtMost = 5,

        /// <summary>The limit of all receivers together.</summary>
        Uplink = 6,
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

    /// <summary>How the limit of the bytes for a receiver is found.</summary>
    internal enum BudgetKind
    {
        /// <summary>There is no limit except <c>datagrams_per_tick</c> of the hub.</summary>
        Unlimited = 0,

        /// <summary>
        /// The limit does not change. In any <c>t</c> seconds, the receiver gets at most <c>t</c>
        /// times the budget, plus a burst: a tenth of a second of the budget, or a full datagram if
        /// that is more.
        /// </summary>
        Fixed = 1,

        /// <summary>
        /// The limit follows the link. It begins at 50,000 bytes per second. It falls when
        /// datagrams wait in a queue of the link, and grows while it holds changes back.
        /// </summary>
        Auto = 2,
    }

    /// <summary>How a tier is transported.</summary>
    public enum Carry
    {
        /// <summary>
        /// The tier is sent in groups. Each snapshot is coded against the previous one, and takes
        /// the fewest bits. A viewer sees a lost packet as a delay.
        /// </summary>
        Groups = 0,

        /// <summary>
        /// The tier is sent in datagrams that are coded against the beginning of the group. A lost
        /// datagram costs one snapshot and no delay.
        /// </summary>
        Datagrams = 1,
    }

    /// <summary>What playback shows of an entity whose next state has not arrived.</summary>
    public enum Extrapolation
    {
        /// <summary>
        /// The newest state is held. This is the default. Keep it, and draw without smoothing, for
        /// kinds that players aim at if a server rewinds: then it finds exactly what they saw.
        /// </summary>
        Hold = 0,

        /// <summary>
        /// The motion continues straight: at the field's velocity, or else like the entity's last
        /// two states. It slows down after half of the longest way, and stops after one and a half
        /// of it. An entity with a velocity always continues, so its velocity must be zero at rest.
        /// An entity that has just jumped is held.
        /// </summary>
        Straight = 1,

        /// <summary>
        /// The newest state is held, and the game moves the entity on by its own rules:
        /// <c>kp_shown_starved</c> tells for how long.
        /// </summary>
        Game = 2,
    }

    /// <summary>The forms in which numbers are coded by magnitude.</summary>
    internal enum MagnitudeForm
    {
        /// <summary>
        /// Real numbers, rounded to multiples of a precision. A vector of this form takes as many
        /// bits as Unreal's <c>FVector_NetQuantize</c>.
        /// </summary>
        Multiples = 0,

        /// <summary>Integers from -2^32 to 2^32 - 1, which are coded exactly.</summary>
        Steps = 1,

        /// <summary>
        /// Real numbers within limits, as differences from numbers that both sides hold.
        /// </summary>
        Difference = 2,

        /// <summary>
        /// Like <c>Difference</c>. But if a number cannot be represented within the limits, all
        /// numbers are written unchanged.
        /// </summary>
        Any = 3,
    }

    /// <summary>How a joint moves, relative to its parent.</summary>
    public enum Motion
    {
        /// <summary>The joint keeps its bind pose, and takes no bits.</summary>
        Still = 0,

        /// <summary>The joint turns about an axis in its own space, and takes one number.</summary>
        Hinge = 1,

        /// <summary>The joint turns about any axis, and takes three numbers.</summary>
        Turns = 2,

        /// <summary>
        /// The joint turns, and moves from its bind pose by up to a range along each axis. It takes
        /// six numbers.
        /// </summary>
        Moves = 3,
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

    /// <summary>What an authoritative state did.</summary>
    public enum Outcome
    {
        /// <summary>Nothing: a state of this tick or of a later one was taken before.</summary>
        Stale = 0,

        /// <summary>It equals the prediction.</summary>
        Confirmed = 1,

        /// <summary>
        /// It is of a tick that was not predicted yet. The entity takes it when the input for that
        /// tick is pushed.
        /// </summary>
        Ahead = 2,

        /// <summary>It is older than the history, and was not used.</summary>
        TooOld = 3,

        /// <summary>It differs from the prediction, and corrected it.</summary>
        Corrected = 4,
    }

    /// <summary>How a state that differs from the prediction corrects it.</summary>
    public enum Repair
    {
        /// <summary>Takes the state, and repeats the steps with the inputs since.</summary>
        Repeat = 0,

        /// <summary>
        /// Adds the difference to the states since, without steps. This is for motion that the
        /// client cannot repeat, such as physics with others' bodies, and for steps that are
        /// expensive.
        /// </summary>
        Blend = 1,
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

        /// <summary>
        /// A flag or a counter that changes when the entity jumps, as in a teleport. Playback does
        /// not blend over the jump.
        /// </summary>
        Cut = 6,

        /// <summary>
        /// The id of an entity that other fields are relative to, or the flag that says whether
        /// there is one: see <c>kp_schema_builder_frame</c>.
        /// </summary>
        Frame = 7,
    }

    /// <summary>The type of a track.</summary>
    public enum TrackKind
    {
        /// <summary>The snapshots of the tier.</summary>
        Snapshots = 0,

        /// <summary>The key snapshots of the tier, which viewers need to join.</summary>
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
        /// A real number on a circle, such as an angle, which wraps from <c>max</c> to <c>min</c>.
        /// </summary>
        Cyclic = 1,

        /// <summary>
        /// An integer from <c>min</c> to <c>max</c>. Both limits are at most 2^53 in magnitude.
        /// </summary>
        Integer = 2,
    }

    /// <summary>The properties of an <c>r3d2canm</c> file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct AnmInfo
    {
        /// <summary>The version of the format: 1, 2 or 3.</summary>
        internal readonly uint version;

        /// <summary>The number of joints.</summary>
        internal readonly uint joints;

        /// <summary>The number of keys of all joints together.</summary>
        internal readonly uint keys;

        /// <summary>The duration in seconds.</summary>
        internal readonly float duration_s;

        /// <summary>The sample rate of the source in Hz. Playback does not need it.</summary>
        internal readonly float rate_hz;
    }

    /// <summary>
    /// Identifies a track of the transport, which carries groups of objects, and datagrams.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Track
    {
        /// <summary>The number of the tier.</summary>
        internal readonly uint tier;

        /// <summary>The type of the track: a <c>KpTrackKind</c>.</summary>
        internal readonly int kind;
    }

    /// <summary>The properties of a clip.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ClipInfo
    {
        /// <summary>The number of joints.</summary>
        internal readonly uint joints;

        /// <summary>
        /// The number of sample times of the raw clip from which this clip was built.
        /// </summary>
        internal readonly uint samples;

        /// <summary>The number of samples per second.</summary>
        internal readonly float rate_hz;

        /// <summary>The number of seconds from the first sample to the last.</summary>
        internal readonly float duration_s;

        /// <summary>The hash of the clip's skeleton.</summary>
        internal readonly ulong skeleton_hash;

        /// <summary>The size of the clip in memory in bytes, without its players.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// The number of curves, which are values besides the joints, such as weights of blend
        /// shapes.
        /// </summary>
        internal readonly uint curves;

        /// <summary>The number of markers, which are named times, such as footsteps.</summary>
        internal readonly uint markers;
    }

    /// <summary>A part of a received datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Part
    {
        /// <summary>The type of endpoint that handles the part.</summary>
        internal readonly DatagramKind kind;

        /// <summary>The channel of the endpoint.</summary>
        internal readonly uint channel;

        /// <summary>The offset of the part's first byte in the datagram.</summary>
        internal readonly UIntPtr offset;

        /// <summary>The size of the part in bytes.</summary>
        internal readonly UIntPtr size;
    }

    /// <summary>
    /// A clip that a body plays. While it stays the same, it takes no bits, although its time runs:
    /// keep it from its start to its end, and push it with every pose.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct ClipPlay
    {
        /// <summary>
        /// The clip's time at tick <c>since</c>, in ticks, from −2²¹ to below 2²¹. It is
        /// rounded to 1/1024.
        /// </summary>
        internal double time_ticks;

        /// <summary>
        /// The ticks of the clip that pass per tick, from −16 to 16. It is rounded to 1/1024. 0
        /// is a paused clip, and negative numbers play backwards.
        /// </summary>
        internal double speed;

        /// <summary>The weight, from 0 to 1. It is rounded to a multiple of 1/255.</summary>
        internal float weight;

        /// <summary>The slot in which the clip plays.</summary>
        internal uint slot;

        /// <summary>The index of the clip.</summary>
        internal uint clip;

        /// <summary>
        /// The tick at which the clip started, or at which its time or speed changed last.
        /// </summary>
        internal uint since;
    }

    /// <summary>A clip that a body plays at a moment.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ShownClip
    {
        /// <summary>
        /// The time to show, in ticks from the beginning of the clip. It may be negative or beyond
        /// the end of the clip.
        /// </summary>
        internal readonly double time_ticks;

        /// <summary>The ticks of the clip that pass per tick.</summary>
        internal readonly double speed;

        /// <summary>The weight, from 0 to 1.</summary>
        internal readonly float weight;

        /// <summary>The index of the clip.</summary>
        internal readonly uint clip;
    }

    /// <summary>The hub's view of a connection to a receiver.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct HubStatus
    {
        /// <summary>Not 0 if the receiver's hello was accepted.</summary>
        internal readonly int joined;

        /// <summary>The number of datagrams sent.</summary>
        internal readonly ulong sent;

        /// <summary>The number of sent datagrams that were acknowledged.</summary>
        internal readonly ulong acknowledged;

        /// <summary>
        /// The number of sent datagrams that were overtaken or not acknowledged in time.
        /// </summary>
        internal readonly ulong lost;

        /// <summary>The number of bytes sent, without the transport's headers.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// The smoothed time from sending a datagram to its acknowledgement. It is negative before
        /// the first acknowledgement.
        /// </summary>
        internal readonly double round_trip_ms;

        /// <summary>
        /// The number of entities that should have been sent in the last tick but did not fit.
        /// </summary>
        internal readonly ulong waiting;

        /// <summary>The number of events that have not been sent yet.</summary>
        internal readonly ulong waiting_events;

        /// <summary>
        /// The number of events that must arrive but never will, because too many were waiting. If
        /// it is not 0, remove the receiver.
        /// </summary>
        internal readonly ulong refused_events;
    }

    /// <summary>
    /// What the hub knows of the link to a receiver. All bytes include the transport's headers.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct LinkStatus
    {
        /// <summary>
        /// Not 0 if the receiver's budget follows the link. Otherwise, all other members are 0.
        /// </summary>
        internal readonly int follows_link;

        /// <summary>What determines the bytes that are sent.</summary>
        internal readonly LinkLimit limit;

        /// <summary>The number of bytes that may be sent per second.</summary>
        internal readonly uint bytes_per_s;

        /// <summary>
        /// The number of bytes per second that were acknowledged in the last quarter of a second.
        /// It is 0 before enough acknowledgements.
        /// </summary>
        internal readonly uint delivered_bytes_per_s;

        /// <summary>How long datagrams wait in queues, in nanoseconds.</summary>
        internal readonly ulong queueing_delay_ns;

        /// <summary>
        /// The shortest round trip of the last five to ten seconds, in nanoseconds. It is 0 before
        /// the first acknowledgement.
        /// </summary>
        internal readonly ulong shortest_round_trip_ns;

        /// <summary>
        /// The number of bytes that were sent, and are neither acknowledged nor lost.
        /// </summary>
        internal readonly ulong in_flight_bytes;

        /// <summary>The share of datagrams lost recently, from 0 to 1.</summary>
        internal readonly double lost_ratio;
    }

    /// <summary>
    /// What a client drew when it made an input: the moment of its playback, and which snapshots it
    /// had then. <c>kp_receiver_seen</c> writes it. Store it in the struct of your input, send it
    /// with the input, and give it to <c>kp_hub_rewind</c>. A stamp whose bytes are all 0 says that
    /// nothing was shown yet. The members are the numbers of the fields that
    /// <c>kp_schema_builder_seen</c> adds. As fields and not opaque bytes, a stream of level
    /// "adaptive" codes a stamp in about a byte.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Seen
    {
        /// <summary>The moment: a tick with its fraction, modulo 256, in steps of 1/64.</summary>
        internal readonly float moment;

        /// <summary>
        /// The newest datagram that had arrived: the lower eight bits of its number.
        /// </summary>
        internal readonly float newest;

        /// <summary>
        /// 1 if a state was shown. If 0, the stamp's other fields are absent in the input.
        /// </summary>
        internal readonly byte is_shown;

        /// <summary>The number of the newest full state. It is 0 before the first.</summary>
        internal readonly byte full_state;

        /// <summary>
        /// Up to 16 runs of missing datagrams. Each has the number of its newest datagram, as in
        /// <c>newest</c>, and a count of datagrams, which is 0 without a run.
        /// </summary>
        internal readonly byte missing_0;
        internal readonly byte missing_1;
        internal readonly byte missing_2;
        internal readonly byte missing_3;
        internal readonly byte missing_4;
        internal readonly byte missing_5;
        internal readonly byte missing_6;
        internal readonly byte missing_7;
        internal readonly byte missing_8;
        internal readonly byte missing_9;
        internal readonly byte missing_10;
        internal readonly byte missing_11;
        internal readonly byte missing_12;
        internal readonly byte missing_13;
        internal readonly byte missing_14;
        internal readonly byte missing_15;
        internal readonly byte missing_16;
        internal readonly byte missing_17;
        internal readonly byte missing_18;
        internal readonly byte missing_19;
        internal readonly byte missing_20;
        internal readonly byte missing_21;
        internal readonly byte missing_22;
        internal readonly byte missing_23;
        internal readonly byte missing_24;
        internal readonly byte missing_25;
        internal readonly byte missing_26;
        internal readonly byte missing_27;
        internal readonly byte missing_28;
        internal readonly byte missing_29;
        internal readonly byte missing_30;
        internal readonly byte missing_31;
    }

    /// <summary>Measurements of an input clock.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct InputClockStatus
    {
        /// <summary>Not 0 if the clock was started.</summary>
        internal readonly int started;

        /// <summary>The number of ticks that the clock returned.</summary>
        internal readonly ulong ticks;

        /// <summary>
        /// The number of ticks that the clock skipped, because they were too many to simulate at
        /// once.
        /// </summary>
        internal readonly ulong skipped;

        /// <summary>
        /// How many times the clock jumped forward or back, instead of running faster or slower.
        /// </summary>
        internal readonly ulong jumps;

        /// <summary>The number of reports that the clock learned from.</summary>
        internal readonly ulong reports;

        /// <summary>
        /// How early the input of the last report arrived, in ticks. Negative if it was late. About
        /// half of the reports are of the least early of 16 inputs.
        /// </summary>
        internal readonly double early_ticks;

        /// <summary>
        /// How far the clock is from the lead that it needs. Positive if the clock runs faster to
        /// get there.
        /// </summary>
        internal readonly double error_ms;
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
        /// The number that both sides hold. This member and all following ones are only for
        /// differences.
        /// </summary>
        internal double before;

        /// <summary>The least number.</summary>
        internal double min;

        /// <summary>The largest number. On a circle, it is equivalent to <c>min</c>.</summary>
        internal double max;

        /// <summary>The step. A decoded number is off by at most half a step.</summary>
        internal double precision;

        /// <summary>Not 0 if the number is on a circle, such as an angle.</summary>
        internal int is_cyclic;
    }

    /// <summary>
    /// Up to four numbers that are coded together, such as a vector. The largest number determines
    /// how many bits each of them takes.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct Magnitude
    {
        /// <summary>The form of the numbers: a <c>KpMagnitudeForm</c>.</summary>
        internal int form;

        /// <summary>The number of components, 1 to 4.</summary>
        internal uint count;

        /// <summary>The steps per unit: 1, 10 or 100. Only multiples use it.</summary>
        internal uint steps_per_unit;

        /// <summary>The numbers. Components from <c>count</c> on are ignored.</summary>
        internal Axis components_0;
        internal Axis components_1;
        internal Axis components_2;
        internal Axis components_3;
    }

    /// <summary>What a call with authoritative states did.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Correction
    {
        /// <summary>What happened: a <c>KpOutcome</c>; of several entities, the largest.</summary>
        internal readonly int outcome;

        /// <summary>How many ticks were repeated or shifted.</summary>
        internal readonly uint repeated_ticks;

        /// <summary>
        /// By how much the newest states changed: the length of the vector, or the difference of
        /// the number, that changed most. Velocities are not measured.
        /// </summary>
        internal readonly double distance;

        /// <summary>The largest turn of a rotation, and of a number that wraps.</summary>
        internal readonly double turn_rad;

        /// <summary>
        /// Not 0 if an entity's correction is shown at once instead of fading: because of a cut, a
        /// change of its frame, or the snap distance.
        /// </summary>
        internal readonly int is_snapped;
    }

    /// <summary>Counters of a prediction since it was made.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct PredictStats
    {
        /// <summary>The inputs that were pushed.</summary>
        internal readonly ulong inputs;

        /// <summary>
        /// The ticks without an input of their own, which were stepped with the last one.
        /// </summary>
        internal readonly ulong filled_ticks;

        /// <summary>
        /// How often a gap between two inputs was longer than the history, which began anew.
        /// </summary>
        internal readonly ulong restarts;

        /// <summary>The authoritative states that equal the prediction.</summary>
        internal readonly ulong confirmed;

        /// <summary>Those that corrected it.</summary>
        internal readonly ulong corrected;

        /// <summary>Those of ticks that were not predicted yet.</summary>
        internal readonly ulong ahead;

        /// <summary>Those that are older than the history, and were not used.</summary>
        internal readonly ulong too_old;

        /// <summary>The corrections that were shown at once.</summary>
        internal readonly ulong snapped;

        /// <summary>The ticks that were repeated or shifted.</summary>
        internal readonly ulong repeated_ticks;

        /// <summary>The states after a step that could not be quantized.</summary>
        internal readonly ulong unquantized;
    }

    /// <summary>A unit for the transport: an object of a group, or a datagram.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Piece
    {
        /// <summary>The number of the piece's group in the track.</summary>
        internal readonly ulong group;

        /// <summary>
        /// The number of the object in its group. Object 0 begins a group, and ends the previous
        /// group.
        /// </summary>
        internal readonly ulong @object;

        /// <summary>The number of the tier.</summary>
        internal readonly uint tier;

        /// <summary>The type of the track: a <c>KpTrackKind</c>.</summary>
        internal readonly int track;

        /// <summary>
        /// Not 0 if the piece is a datagram. A datagram has no <c>object</c>, and viewers do not
        /// need its <c>group</c>.
        /// </summary>
        internal readonly int is_datagram;

        /// <summary>The tick of the piece's last snapshot. Viewers do not need it.</summary>
        internal readonly uint tick;
    }

    /// <summary>The shown moment.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Playback
    {
        /// <summary>The shown tick, with its fraction.</summary>
        internal readonly double tick;

        /// <summary>Not 0 if no newer state had arrived when one was needed.</summary>
        internal readonly int is_starved;
    }

    /// <summary>The receiver's view of its connection.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReceiverStatus
    {
        /// <summary>Not 0 if a snapshot was accepted.</summary>
        internal readonly int joined;

        /// <summary>The number of datagrams accepted.</summary>
        internal readonly ulong received;

        /// <summary>The number of datagrams refused, including duplicates.</summary>
        internal readonly ulong refused;

        /// <summary>The number of missing datagrams of the hub.</summary>
        internal readonly ulong lost;

        /// <summary>The number of bytes of all datagrams.</summary>
        internal readonly ulong bytes;

        /// <summary>
        /// The smoothed time from sending an acknowledgement to the first snapshot that builds on
        /// it. Negative before the first such snapshot.
        /// </summary>
        internal readonly double round_trip_ms;

        /// <summary>
        /// The fractional tick that the server simulates now. It is negative while it is unknown.
        /// </summary>
        internal readonly double server_tick;
    }

    /// <summary>The size of a replay file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReplaySummary
    {
        /// <summary>The number of snapshots.</summary>
        internal readonly ulong frames;

        /// <summary>The number of groups, each a second long.</summary>
        internal readonly ulong groups;

        /// <summary>The size of the file in bytes.</summary>
        internal readonly ulong bytes;
    }

    /// <summary>The properties of a replay.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct ReplayInfo
    {
        /// <summary>The number of ticks per second.</summary>
        internal readonly double rate_hz;

        /// <summary>The first tick.</summary>
        internal readonly uint first_tick;

        /// <summary>The last tick.</summary>
        internal readonly uint last_tick;

        /// <summary>The number of markers.</summary>
        internal readonly uint markers;

        /// <summary>
        /// Not 0 if the writer finished the file. 0 if the file is still being written, or if its
        /// writer was killed.
        /// </summary>
        internal readonly int is_complete;
    }

    /// <summary>An event that is due.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Event
    {
        /// <summary>The tick at which the event happened.</summary>
        internal readonly uint tick;

        /// <summary>The index of the event's kind among the kinds of the events' schema.</summary>
        internal readonly uint kind;

        /// <summary>Not 0 if an earlier moment had already shown the event's tick.</summary>
        internal readonly int is_late;
    }

    /// <summary>
    /// Where an entity is in the world, and how it moves. All numbers are NaN while this is not
    /// known, for example because the ship under a passenger has not arrived yet. Draw nothing
    /// then.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Place
    {
        /// <summary>The position, in the unit of the entity's field.</summary>
        internal readonly double position_0;
        internal readonly double position_1;
        internal readonly double position_2;

        /// <summary>
        /// The rotation, a unit quaternion x, y, z, w. It is 0, 0, 0, 1 if the kind has no
        /// rotation.
        /// </summary>
        internal readonly double rotation_0;
        internal readonly double rotation_1;
        internal readonly double rotation_2;
        internal readonly double rotation_3;

        /// <summary>
        /// The velocity in units per second. It includes the motion of what carries the entity. An
        /// entity without a velocity field is at rest while only one of its states is known.
        /// </summary>
        internal readonly double velocity_0;
        internal readonly double velocity_1;
        internal readonly double velocity_2;
    }

    /// <summary>A record that has arrived.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct Record
    {
        /// <summary>The number that <c>kp_stream_push</c> returned to the sender.</summary>
        internal readonly ushort number;

        /// <summary>
        /// Not 0 if the record arrived as a repeat, because its own packet is missing.
        /// </summary>
        internal readonly byte is_repeated;

        /// <summary>Not 0 if a newer record arrived before this one.</summary>
        internal readonly byte is_late;
    }

    /// <summary>A receiver's view of its stream.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly partial struct StreamReceiverStatus
    {
        /// <summary>The number of packets accepted.</summary>
        internal readonly ulong packets;

        /// <summary>The number of packets refused, including duplicates.</summary>
        internal readonly ulong refused;

        /// <summary>The bytes of the accepted packets.</summary>
        internal readonly ulong bytes;

        /// <summary>The number of records that arrived, each once.</summary>
        internal readonly ulong records;

        /// <summary>
        /// How many of these arrived as repeats, because their own packet is missing.
        /// </summary>
        internal readonly ulong recovered;

        /// <summary>
        /// The number of ticks whose record had arrived in time for <c>kp_stream_read_for_tick</c>.
        /// </summary>
        internal readonly ulong in_time;

        /// <summary>The number of ticks without a record, because it was lost or late.</summary>
        internal readonly ulong missed;
    }

    /// <summary>A value, and how it is coded relative to a value that both sides hold.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public partial struct Value
    {
        /// <summary>The type of the value: a <c>KpValueKind</c>.</summary>
        internal int kind;

        /// <summary>
        /// If not 0, differences from <c>least</c> to <c>most</c> are coded in few bits. An
        /// unchanged value then takes 1 bit, a small difference 2 bits plus its own code, and any
        /// other value 2 bits plus a full code. If 0, an unchanged value takes 1 bit, and any other
        /// value 1 bit plus a full code.
        /// </summary>
        internal int has_small;

        /// <summary>The least value.</summary>
        internal double min;

        /// <summary>The largest value.</summary>
        internal double max;

        /// <summary>
        /// The step of a real number. The decoded value is off by at most half a step.
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
        /// <summary>The number of snapshots decoded.</summary>
        internal readonly ulong snapshots;

        /// <summary>The number of snapshots decoded only to catch up, and not shown.</summary>
        internal readonly ulong caught_up;

        /// <summary>The number of snapshots that arrived too late to be shown.</summary>
        internal readonly ulong late;

        /// <summary>The number of objects and datagrams refused.</summary>
        internal readonly ulong refused;

        /// <summary>The number of bytes of all objects and datagrams.</summary>
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
            /// <summary>The address of the translation x, y, z of the first bone.</summary>
            internal void* translations;

            /// <summary>The number of bytes from one bone's translation to the next.</summary>
            internal UIntPtr translation_stride;

            /// <summary>The address of the rotation x, y, z, w of the first bone.</summary>
            internal void* rotations;

            /// <summary>The number of bytes from one bone's rotation to the next.</summary>
            internal UIntPtr rotation_stride;

            /// <summary>The address of the scale x, y, z of the first bone.</summary>
            internal void* scales;

            /// <summary>The number of bytes from one bone's scale to the next.</summary>
            internal UIntPtr scale_stride;

            /// <summary>The number of bones at the pointers.</summary>
            internal UIntPtr bones;

            /// <summary>
            /// The index of the bone of each joint of the clip or figure, or <c>UINT32_MAX</c> for
            /// no bone.
            /// </summary>
            internal uint* bone_of_joint;

            /// <summary>
            /// The length of <c>bone_of_joint</c>, which must be the number of joints of the clip
            /// or figure. With 0, joint 0 is bone 0, and so on. The engine must then have at least
            /// that many bones.
            /// </summary>
            internal UIntPtr joints;

            /// <summary>
            /// The type of the numbers: <c>KP_NUMBER_F32</c> or <c>KP_NUMBER_F64</c>.
            /// </summary>
            internal int number;

            /// <summary>If not 0, rotations are ordered w, x, y, z.</summary>
            internal int w_first;

            /// <summary>
            /// The number of units per metre: 0 or 1 for metres, 100 for centimetres.
            /// </summary>
            internal float units_per_m;
        }

        /// <summary>A tier to create.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTier
        {
            /// <summary>
            /// The name of the tier's track: up to 64 lower-case letters, digits, <c>-</c>,
            /// <c>.</c> and <c>_</c>.
            /// </summary>
            internal byte* name;

            /// <summary>
            /// The codec of the tier's snapshots. All tiers have the same schema. Only the time
            /// precision of the fields may differ.
            /// </summary>
            internal ulong codec;

            /// <summary>How the tier is transported: a <c>KpCarry</c>.</summary>
            internal int carry;

            /// <summary>The number of ticks from one snapshot to the next. 0 means 1.</summary>
            internal uint ticks_per_frame;

            /// <summary>
            /// The maximum number of ticks in a group. A tier in datagrams may have at most 127.
            /// Viewers can join at the beginning of a group.
            /// </summary>
            internal uint ticks_per_group;

            /// <summary>
            /// The number of snapshots that share an object, at most 16. 0 means 1. Each object has
            /// about 50 bytes of headers. Its first snapshot is delayed until the last one is
            /// added.
            /// </summary>
            internal uint frames_per_object;
        }

        /// <summary>The properties of a tier.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTierInfo
        {
            /// <summary>How the tier is transported: a <c>KpCarry</c>.</summary>
            internal int carry;

            /// <summary>The number of ticks from one snapshot to the next.</summary>
            internal uint ticks_per_frame;

            /// <summary>The maximum number of ticks in a group.</summary>
            internal uint ticks_per_group;

            /// <summary>The number of snapshots that share an object.</summary>
            internal uint frames_per_object;
        }

        /// <summary>A joint with a different precision.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpJointPrecision
        {
            /// <summary>The joint's precision in cm, above 0.</summary>
            internal double precision_cm;

            /// <summary>The joint's index.</summary>
            internal uint joint;
        }

        /// <summary>A joint that moves in another way than by default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpJointMotion
        {
            /// <summary>The joint's index.</summary>
            internal uint joint;

            /// <summary>How the joint moves: a <c>KpMotion</c>.</summary>
            internal int motion;

            /// <summary>
            /// The axis of a hinge, which need not have length 1. Other motions ignore it.
            /// </summary>
            internal float axis_0;
            internal float axis_1;
            internal float axis_2;

            /// <summary>
            /// The largest movement along each axis, in cm, of a joint that moves. Other motions
            /// ignore it.
            /// </summary>
            internal float range_cm;
        }

        /// <summary>
        /// A curve of a figure, which is a number besides the joints, such as the weight of a face
        /// shape.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigureCurve
        {
            /// <summary>The name. The schema's hash covers it.</summary>
            internal byte* name;

            /// <summary>The smallest value.</summary>
            internal float min;

            /// <summary>The largest value.</summary>
            internal float max;

            /// <summary>The largest error of a value, above 0.</summary>
            internal float precision;
        }

        /// <summary>
        /// A part of a body that may be absent, for example because it is not tracked: a hand, both
        /// legs or the face. An absent part takes one bit. Joints and curves belong to one part at
        /// most.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigurePart
        {
            /// <summary>The name. The schema's hash covers it.</summary>
            internal byte* name;

            /// <summary>
            /// The indices of the part's joints. A part has all joints below each of its joints.
            /// </summary>
            internal uint* joints;

            /// <summary>The number of joints.</summary>
            internal UIntPtr joint_count;

            /// <summary>The indices of the part's curves.</summary>
            internal uint* curves;

            /// <summary>The number of curves.</summary>
            internal UIntPtr curve_count;
        }

        /// <summary>
        /// A clip that the bodies of a figure can play. Both sides have the same clips in the same
        /// order.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigureClip
        {
            /// <summary>The name. The schema's hash covers it.</summary>
            internal byte* name;
        }

        /// <summary>
        /// The description of what a figure sends. Both sides need the same options. Zeros select
        /// the defaults.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigureOptions
        {
            /// <summary>
            /// The largest error in cm, in model space, of any point within <c>shell_cm</c> of a
            /// joint. Default: 0.5.
            /// </summary>
            internal double precision_cm;

            /// <summary>
            /// The distance in cm from a joint to the skin around it, before the scales of the
            /// joint and its ancestors. Default: 3. A negative number means 0.
            /// </summary>
            internal double shell_cm;

            /// <summary>
            /// Joints with a different precision. The last entry for a joint counts.
            /// </summary>
            internal KpJointPrecision* precisions;

            /// <summary>The number of <c>precisions</c>.</summary>
            internal UIntPtr precision_count;

            /// <summary>
            /// Joints that move in another way than by default. By default, roots move by up to 100
            /// m, and all other joints turn. The last entry for a joint counts.
            /// </summary>
            internal KpJointMotion* motions;

            /// <summary>The number of <c>motions</c>.</summary>
            internal UIntPtr motion_count;

            /// <summary>The curves, in their order.</summary>
            internal KpFigureCurve* curves;

            /// <summary>The number of <c>curves</c>.</summary>
            internal UIntPtr curve_count;

            /// <summary>The parts that may be absent, in their order.</summary>
            internal KpFigurePart* parts;

            /// <summary>The number of <c>parts</c>.</summary>
            internal UIntPtr part_count;

            /// <summary>The clips that a body can play, in their order.</summary>
            internal KpFigureClip* clips;

            /// <summary>The number of <c>clips</c>.</summary>
            internal UIntPtr clip_count;

            /// <summary>
            /// The number of clips that can play at once, at most 64. It is 0 without clips, and
            /// otherwise at least 1.
            /// </summary>
            internal UIntPtr clip_slots;

            /// <summary>
            /// How many times coarser each further tier is than the precisions above, increasing
            /// from more than 1. A body that is sent in a coarser tier is read like any other.
            /// </summary>
            internal double* coarser;

            /// <summary>The number of <c>coarser</c>, at most 254.</summary>
            internal UIntPtr coarser_count;
        }

        /// <summary>The numbers of a figure.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigureInfo
        {
            /// <summary>The number of joints of the skeleton.</summary>
            internal uint joints;

            /// <summary>The number of curves.</summary>
            internal uint curves;

            /// <summary>The number of parts that may be absent.</summary>
            internal uint parts;

            /// <summary>
            /// The number of integers that an entity of this kind has in a snapshot.
            /// </summary>
            internal uint lanes;

            /// <summary>The number of clips that a body can play.</summary>
            internal uint clips;

            /// <summary>The number of clips that can play at once.</summary>
            internal uint clip_slots;

            /// <summary>The number of tiers, with tier 0.</summary>
            internal uint tiers;
        }

        /// <summary>
        /// The numbers of a field in the caller's memory, which the library reads. The numbers of
        /// one entity are adjacent, and entities are <c>stride</c> bytes apart. Numbers need no
        /// alignment.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpColumn
        {
            /// <summary>The address of the first number of the first entity.</summary>
            internal void* data;

            /// <summary>
            /// The number of bytes from one entity to the next. With 0, all entities have the same
            /// numbers.
            /// </summary>
            internal UIntPtr stride;

            /// <summary>
            /// The type of the numbers: a <c>KpNumber</c>. Real numbers and rotations need
            /// <c>KP_NUMBER_F32</c> or <c>KP_NUMBER_F64</c>, and all other fields need integers.
            /// </summary>
            internal int number;

            /// <summary>If not 0, values out of range are clamped instead of refused.</summary>
            internal int clamp;
        }

        /// <summary>
        /// The state of a body at one moment, for <c>kp_figure_push</c>. Lists that the figure does
        /// not have are empty, so set all members to 0 first.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpFigurePose
        {
            /// <summary>
            /// The joints, relative to their parents. Where the layout has no numbers for a joint,
            /// the joint has its bind pose.
            /// </summary>
            internal KpPose* joints;

            /// <summary>A value for each curve.</summary>
            internal float* curves;

            /// <summary>The number of <c>curves</c>.</summary>
            internal UIntPtr curve_count;

            /// <summary>
            /// The indices of the parts that are absent, whose joints and curves are ignored.
            /// </summary>
            internal uint* absent;

            /// <summary>The number of <c>absent</c>.</summary>
            internal UIntPtr absent_count;

            /// <summary>The clips that play, at most one in each slot.</summary>
            internal ClipPlay* clips;

            /// <summary>The number of <c>clips</c>.</summary>
            internal UIntPtr clip_count;

            /// <summary>
            /// For a kind that has other fields too: a column of one record for each of them, in
            /// their order.
            /// </summary>
            internal KpColumn* others;

            /// <summary>The number of <c>others</c>.</summary>
            internal UIntPtr other_count;

            /// <summary>
            /// The tier in which the pose is sent: 0 for the precision of the options, and from 1
            /// on those of <c>coarser</c>.
            /// </summary>
            internal uint tier;
        }

        /// <summary>The settings of a hub. A number of 0 selects the default.</summary>
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
            /// need the same channel.
            /// </summary>
            internal uint channel;

            /// <summary>
            /// The number of bytes that the transport adds to each datagram. Budgets include them.
            /// Default: 28.
            /// </summary>
            internal uint overhead_bytes;

            /// <summary>
            /// The maximum number of datagrams for a receiver in a tick. Default: 4.
            /// </summary>
            internal uint datagrams_per_tick;

            /// <summary>The kinds of events, or zero for no events.</summary>
            internal ulong events;
        }

        /// <summary>
        /// How many bytes per second a receiver gets, including the transport's headers. If a
        /// change of the world does not fit, the entities that matter most are sent, and the others
        /// follow later.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpBudget
        {
            /// <summary>The kind of the budget: a <c>KpBudgetKind</c>.</summary>
            internal int kind;

            /// <summary>
            /// The number of bytes per second, at least 256. For <c>KP_BUDGET_KIND_AUTO</c>, it is
            /// the largest limit. <c>KP_BUDGET_KIND_UNLIMITED</c> ignores it.
            /// </summary>
            internal uint bytes_per_s;
        }

        /// <summary>How receivers show the world, and how far back players may reach.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpRewindOptions
        {
            /// <summary>The ticks per second, as in <c>kp_receiver_new</c>.</summary>
            internal uint tick_hz;

            /// <summary>
            /// The <c>longest_blend_ms</c> of the receivers. 0 selects the default: 250.
            /// </summary>
            internal uint longest_blend_ms;

            /// <summary>
            /// How long ago a player may have seen what he acts on, at most 250 ticks. What he saw
            /// is as old as the round trip, his playout delay, and the time that his input waits on
            /// both sides together. The longer this is, the longer a player may be hit by one with
            /// a bad connection after he has taken cover. 0 selects the default: 500.
            /// </summary>
            internal uint longest_ms;
        }

        /// <summary>
        /// A ring around a viewpoint: the entities that are within a distance of it, and not in a
        /// nearer ring.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpRing
        {
            /// <summary>
            /// An entity that comes closer than this belongs to the ring, in the unit of the
            /// position.
            /// </summary>
            internal double within;

            /// <summary>
            /// An entity of the ring leaves it when it is farther than this, which is at least
            /// <c>within</c>. The difference keeps an entity at the edge from changing its ring in
            /// every tick. Choose at least the cell's length if viewpoints move to and fro between
            /// cells.
            /// </summary>
            internal double leave;

            /// <summary>
            /// The ring's entities are sent in every n-th tick, from 1 to 255. 0 selects 1. Each
            /// entity has its own turn, so about as many are sent in each tick. Until its next
            /// turn, an entity keeps its values, and playback blends from one turn to the next,
            /// with a delay that is longer by as many ticks.
            /// </summary>
            internal uint every;

            /// <summary>
            /// The tier in which the ring's entities are sent: the index of one of the worlds that
            /// <c>kp_hub_tick_tiers</c> gets, from 0 to 254. If there are fewer worlds, the last
            /// one counts.
            /// </summary>
            internal uint tier;

            /// <summary>
            /// By how many bits the fields that may be coarser are coarser in this ring, from 0 to
            /// 31, or by as many as they allow. Such fields take fewer bits while their entity
            /// moves.
            /// </summary>
            internal uint coarser;
        }

        /// <summary>
        /// What receivers see by distance from their viewpoints. A tier is a world in another
        /// precision. Each receiver gets each entity from the world that the entity's ring names.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpRings
        {
            /// <summary>
            /// The names of the fields that hold positions, each after its kind's name if the kind
            /// has one: <c>ship.position</c>. A position is a field of two or three real numbers
            /// that do not wrap. An entity that has no such field is always seen, in tier 0.
            /// Positions are those of the first world.
            /// </summary>
            internal byte** positions;

            /// <summary>The number of <c>positions</c>.</summary>
            internal UIntPtr position_count;

            /// <summary>
            /// The names of fields whose changes do not wait for the entity's turn, such as
            /// <c>ship.health</c>. An entity that is new, or moves farther than <c>cell</c> in a
            /// tick, does not wait either.
            /// </summary>
            internal byte** urgent;

            /// <summary>The number of <c>urgent</c>.</summary>
            internal UIntPtr urgent_count;

            /// <summary>The rings, from the smallest to the largest.</summary>
            internal KpRing* rings;

            /// <summary>The number of <c>rings</c>, from 1 to 254.</summary>
            internal UIntPtr ring_count;

            /// <summary>
            /// The edge length of the cells into which space is divided, in the unit of the
            /// position. Distances are measured from the nearest point of the viewpoint's cell, so
            /// receivers in the same cell see the same and share their snapshots. Each receiver
            /// sees a little more than the rings say, by at most the cell's diagonal and a fifth.
            /// </summary>
            internal double cell;

            /// <summary>
            /// The tier of the entities beyond all rings, which are sent in every tick. A negative
            /// number hides them.
            /// </summary>
            internal int beyond;

            /// <summary>
            /// After how many ticks without a change of its coarser fields an entity is sent
            /// exactly, in rings that are coarser. 0: never. An entity that has never moved is
            /// exact.
            /// </summary>
            internal uint exact_after;
        }

        /// <summary>
        /// How an input clock trades delay for inputs that arrive in time. A number of 0 selects
        /// the default, which suits the open Internet.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpInputClockOptions
        {
            /// <summary>
            /// The share of inputs that should arrive in time, at most 1. A late input costs a
            /// wrong prediction; a longer lead costs delay in each input's effect. Default: 0.998.
            /// </summary>
            internal float in_time_ratio;

            /// <summary>
            /// How much faster or slower the clock may run, at most 0.5. Default: 0.05.
            /// </summary>
            internal float slew_ratio;

            /// <summary>
            /// How early the latest of these inputs should arrive, for the server's own delays,
            /// such as reading its socket only once in each tick. Default: 2. A negative number
            /// means no margin.
            /// </summary>
            internal int margin_ms;

            /// <summary>
            /// If inputs are later than they should be by more than this, the clock jumps forward.
            /// Until then, the clock only runs faster. Default: 70.
            /// </summary>
            internal uint jump_forward_ms;

            /// <summary>
            /// If inputs are earlier than they should be by more than this, the clock jumps back:
            /// there are no ticks for that time. Until then, the clock only runs slower. Default:
            /// 500.
            /// </summary>
            internal uint jump_back_ms;

            /// <summary>How long a late input is remembered. Default: 10,000.</summary>
            internal uint window_ms;

            /// <summary>
            /// The longest time between two calls of <c>kp_input_clock_ticks</c> that counts as
            /// usual. The clock learns nothing from the inputs after a longer pause. Default: 100.
            /// </summary>
            internal uint longest_frame_ms;
        }

        /// <summary>
        /// How a client predicts its own entities. <c>kp_predict_config_at_hz</c> writes the
        /// defaults.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPredictConfig
        {
            /// <summary>Ticks per second.</summary>
            internal uint tick_hz;

            /// <summary>
            /// How many ticks of inputs and states are kept, 2 to 1,024. An authoritative state
            /// that is older than all of them is not used.
            /// </summary>
            internal uint history_ticks;

            /// <summary>
            /// How a state that differs from the prediction corrects it: a <c>KpRepair</c>.
            /// </summary>
            internal int repair;

            /// <summary>
            /// How long the offset of numbers and vectors fades after a correction: the time until
            /// a twentieth is left. 0 shows corrections at once.
            /// </summary>
            internal uint position_fade_ms;

            /// <summary>The same for rotations, and for numbers that wrap.</summary>
            internal uint rotation_fade_ms;

            /// <summary>
            /// An entity that no snapshot has sent for this many ticks rests, so its state is also
            /// that of the newest snapshot's tick. That must be longer than the hub may take to
            /// send an entity that moves, also after a loss. The largest number means never.
            /// </summary>
            internal uint rest_ticks;

            /// <summary>
            /// A correction that shifts a number or a vector by more than this is shown at once,
            /// like a teleport. The unit is that of the fields.
            /// </summary>
            internal double snap_distance;
        }

        /// <summary>
        /// The numbers of a field in the caller's memory, to which the library writes.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTarget
        {
            /// <summary>
            /// The address of the first number of the first entity. If it is null, the field is not
            /// written.
            /// </summary>
            internal void* data;

            /// <summary>The number of bytes from one entity to the next.</summary>
            internal UIntPtr stride;

            /// <summary>
            /// The type of the numbers: a <c>KpNumber</c> that can hold every value of the field.
            /// </summary>
            internal int number;
        }

        /// <summary>
        /// The game's step, and the memory that it works on. Each call that may step gets one, and
        /// keeps none of its pointers. The library writes the entities' states of the tick before
        /// to <c>targets</c>, and the input of the tick to <c>input_targets</c>. Then it calls
        /// <c>step</c>, which changes the states where they are. The library reads them through
        /// <c>columns</c>, which are the same numbers. It rounds them as a packet does. The lists
        /// of targets and columns must not change during the call.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpStep
        {
            /// <summary>
            /// Steps <c>count</c> entities to the tick <c>tick</c>, and returns 0. If it returns
            /// another number, the entities keep their states, <c>step</c> is not called again, and
            /// the call returns <c>KP_STATUS_STEP</c>. It must not throw an exception or jump out.
            /// It may use other objects, but a call with the prediction that calls it returns
            /// <c>KP_STATUS_ARGUMENT</c>. The steps of two threads must not use each other's
            /// predictions, because both would wait.
            /// </summary>
            internal IntPtr step;

            /// <summary>Is passed to <c>step</c>.</summary>
            internal void* user;

            /// <summary>
            /// For how many entities there is room: at least as many as were added, including the
            /// entity that <c>kp_prediction_add</c> adds.
            /// </summary>
            internal UIntPtr capacity;

            /// <summary>
            /// Room for <c>capacity</c> ids of the entities, in increasing order. It may be null.
            /// </summary>
            internal uint* ids;

            /// <summary>
            /// A target for each field of the entities, with room for <c>capacity</c> entities.
            /// </summary>
            internal KpTarget* targets;

            /// <summary>
            /// A column for each field of the entities, in general of the same numbers as its
            /// target. A field that the step does not change needs one too.
            /// </summary>
            internal KpColumn* columns;

            /// <summary>The number of targets, and of columns.</summary>
            internal UIntPtr fields;

            /// <summary>A target for each field of the input, with room for one input.</summary>
            internal KpTarget* input_targets;

            /// <summary>The number of input targets.</summary>
            internal UIntPtr input_fields;
        }

        /// <summary>The settings of a publisher.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpPublisherOptions
        {
            /// <summary>
            /// The number of the first group, below 2^61. After a restart, use a number above all
            /// previous ones, such as the seconds since 1970. Then relays and viewers do not mix
            /// the two runs.
            /// </summary>
            internal ulong first_group;

            /// <summary>
            /// The number of ticks by which pieces are delayed. A delay protects against players
            /// who watch their own match. After the last world, <c>kp_publisher_drain</c> releases
            /// the pieces that still wait.
            /// </summary>
            internal uint delay_ticks;
        }

        /// <summary>The settings of a receiver. A number of 0 selects the default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpReceiverOptions
        {
            /// <summary>
            /// The channel of the hub, which distinguishes hubs on one connection.
            /// </summary>
            internal uint channel;

            /// <summary>
            /// The shortest delay of the shown state. By default, it depends on the network alone.
            /// </summary>
            internal uint min_delay_ms;

            /// <summary>The longest delay of the shown state. Default: 500.</summary>
            internal uint max_delay_ms;

            /// <summary>
            /// The longest time over which an entity's motion is blended. If an entity was not
            /// refreshed for longer than this, its motion takes this time and ends in the newest
            /// state. Playback does not wait for entities whose turns, as in <c>KpRing</c>, are
            /// longer than this. Default: 250.
            /// </summary>
            internal uint longest_blend_ms;

            /// <summary>
            /// The maximum memory for views and states, in bytes. Default: 128 MiB.
            /// </summary>
            internal ulong max_memory_bytes;

            /// <summary>The kinds of events of the hub, or zero for no events.</summary>
            internal ulong events;
        }

        /// <summary>A field of a kind of entities.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpField
        {
            /// <summary>The type of the field.</summary>
            internal FieldKind kind;

            /// <summary>
            /// The number of column values per entity: 3 for a position, 4 for a rotation.
            /// </summary>
            internal uint numbers;

            /// <summary>The number of lanes of the field.</summary>
            internal uint lanes;

            /// <summary>The index of the field's first lane among the lanes of its kind.</summary>
            internal uint first_lane;
        }

        /// <summary>A joint of a skeleton to create.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpJoint
        {
            /// <summary>The name, which may be empty and need not be unique.</summary>
            internal byte* name;

            /// <summary>
            /// The index of the parent, which is lower than the joint's own index; −1 for a root.
            /// </summary>
            internal int parent;
        }

        /// <summary>
        /// The settings of a stream. Both ends need the same options. A number of 0 selects the
        /// default.
        /// </summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpStreamOptions
        {
            /// <summary>The longest round trip without extra cost. Default: 500.</summary>
            internal uint longest_round_trip_ms;

            /// <summary>
            /// How many earlier records each packet repeats, up to 15. Default: 1. A negative
            /// number means no repeats.
            /// </summary>
            internal int repeats;

            /// <summary>
            /// The maximum number of records that a receiver accepts at once, at least 16. Default:
            /// 64.
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

        /// <summary>The settings of a viewer. A number of 0 selects the default.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpViewerOptions
        {
            /// <summary>
            /// The shortest delay of the shown state. By default, it depends on the network alone.
            /// </summary>
            internal uint min_delay_ms;

            /// <summary>The longest delay of the shown state. Default: 500.</summary>
            internal uint max_delay_ms;

            /// <summary>
            /// How long the viewer keeps states for rewinding. By default, it keeps no states.
            /// </summary>
            internal uint history_ms;

            /// <summary>The maximum memory for states, in bytes. Default: 256 MiB.</summary>
            internal ulong max_memory_bytes;
        }

        /// <summary>The effect of a piece.</summary>
        [StructLayout(LayoutKind.Sequential)]
        internal struct KpTaken
        {
            /// <summary>
            /// Not 0 if the piece made a snapshot readable. 0 if the piece waits for others.
            /// </summary>
            internal int is_read;

            /// <summary>The tick of the newest snapshot that became readable.</summary>
            internal uint tick;
        }

        /// <summary>
        /// Reads an <c>r3d2canm</c> file. The caller frees <c>*out</c> with <c>kp_anm_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_from_bytes(byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>
        /// Writes an <c>r3d2canm</c> file: <c>*size</c> bytes, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_to_bytes(
            ulong anm, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>Writes the properties of an <c>r3d2canm</c> file to <c>*out</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_info(ulong anm, out AnmInfo @out);

        /// <summary>
        /// Writes the hash of a joint's name. The file does not contain the name itself.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_joint(ulong anm, uint joint, out uint hash);

        /// <summary>
        /// Writes the hash of a name, to compare with the hashes of <c>kp_anm_joint</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_hash(byte[] name, out uint hash);

        /// <summary>
        /// Writes the pose at the time <c>time_s</c> in seconds. A time outside of the file gives
        /// the pose of the nearer end. Each call reads the keys from the nearest earlier jump
        /// cache, or from the start if there is no such cache. So use this function for import and
        /// comparison. For playback, build a clip.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_sample(ulong anm, float time_s, ref KpPose pose);

        /// <summary>Frees an <c>r3d2canm</c> file.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_anm_free(ulong anm);

        /// <summary>
        /// Writes bytes as runs, XORed with the bytes of <c>base</c>, which both sides hold. Writes
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>. A shorter base is extended with
        /// zeros. Runs suit bytes that mostly equal the base.
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
        /// Reads runs that <c>kp_runs_encode</c> wrote against the same base, and writes
        /// <c>*size</c> bytes. Returns <c>KP_STATUS_DATA</c> if the runs decode to more than
        /// <c>capacity</c> bytes.
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
        /// hold. Writes <c>*size</c> bytes, if they fit into <c>capacity</c>. A shorter base is
        /// extended with zeros. Sparse bytes suit short structs that mostly equal the base, such as
        /// inputs. Both sides need to know <c>byte_count</c>, because it is not written.
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
        /// Creates a catalogue for a simulation with <c>tick_hz</c> ticks per second. <c>tiers</c>
        /// lists its tiers, which are numbered in this order. The caller frees <c>*out</c> with
        /// <c>kp_catalogue_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_new(
            uint tick_hz, KpTier* tiers, UIntPtr count, out ulong @out);

        /// <summary>
        /// Creates a catalogue with the tiers that suit most broadcasts: "full" has all snapshots,
        /// "third" one in three, "eighth" one in eight, and "fast" has all in datagrams. If the
        /// schema has bodies, the tier "coarse" has one in three, with less precision for moving
        /// bodies. The caller frees <c>*out</c> with <c>kp_catalogue_free</c>.
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
        /// Writes a catalogue's bytes, to publish as the object of the track "catalogue". Writes
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_to_bytes(
            ulong catalogue, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>Writes the ticks per second of a broadcast, and its number of tiers.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_info(
            ulong catalogue, out uint tick_hz, out uint tiers);

        /// <summary>
        /// Creates the schema of the broadcast's world. The caller frees <c>*out</c> with
        /// <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_schema(ulong catalogue, out ulong @out);

        /// <summary>Writes the properties of a tier. Tiers are numbered from 0.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_tier(
            ulong catalogue, uint tier, out KpTierInfo @out);

        /// <summary>
        /// Finds the tier with the name <c>name</c>. Returns <c>KP_STATUS_NOTHING</c> if there is
        /// no such tier.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_find(
            ulong catalogue, byte[] name, out uint tier);

        /// <summary>
        /// Writes the name of a track for the transport, with a terminating zero: <c>*size</c>
        /// bytes, if they fit into <c>capacity</c>. The track of a tier's snapshots has the name of
        /// the tier.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_track_name(
            ulong catalogue, ref Track track, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a catalogue. Objects made with the catalogue remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_catalogue_free(ulong catalogue);

        /// <summary>
        /// Reads a clip in memory form or disk form. Pass a zero <c>rig</c> for a clip without a
        /// rig. The caller frees <c>*out</c> with <c>kp_clip_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_from_bytes(
            byte* bytes, UIntPtr size, ulong rig, out ulong @out);

        /// <summary>Writes the properties of a clip to <c>*out</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_info(ulong clip, out ClipInfo @out);

        /// <summary>
        /// Writes the name of a curve, with a terminating zero: <c>*size</c> bytes including the
        /// zero, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_curve_name(
            ulong clip, uint curve, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Writes the time in seconds and the name of a marker. Markers are numbered in the order
        /// of their times. The name has a terminating zero: <c>*size</c> bytes including the zero,
        /// if they fit into <c>capacity</c>.
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
        /// Creates a player of a clip on an engine's skeleton, without comparing that skeleton with
        /// the clip's. Channels that the clip does not store keep the values of the bind pose
        /// <c>bind</c>. The caller frees <c>*out</c> with <c>kp_player_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_with_bind_pose(
            ulong clip, ref KpPose bind, out ulong @out);

        /// <summary>
        /// Writes the pose at the time <c>time_s</c> in seconds. Times outside the clip give its
        /// first or last pose.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample(ulong player, float time_s, ref KpPose pose);

        /// <summary>
        /// Writes the pose at <c>position</c>, counted in samples from the first. Whole numbers are
        /// the sample times.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_sample_at(
            ulong player, double position, ref KpPose pose);

        /// <summary>
        /// Writes the values of all curves at the time <c>time_s</c> in seconds. <c>count</c> must
        /// be the clip's number of curves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_player_curves(
            ulong player, float time_s, float* curves, UIntPtr count);

        /// <summary>
        /// Writes a blend of the poses of two players of the same skeleton. A <c>weight</c> of 0
        /// gives the first pose, and a <c>weight</c> of 1 gives the second pose. <c>mask</c> has a
        /// factor for each joint, which scales the weight. With a <c>mask_count</c> of 0 there is
        /// no mask.
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
        /// Creates a codec of a schema at a level. "packed" is fastest, "adaptive" takes few bits,
        /// and "learning" takes the fewest. <c>profile</c> is a profile file trained for the
        /// schema. With a <c>profile_size</c> of 0, the codec has no trained profile. The caller
        /// frees <c>*out</c> with <c>kp_codec_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_new(
            ulong schema, byte[] level, byte* profile, UIntPtr profile_size, out ulong @out);

        /// <summary>
        /// Writes a hash of the schema, the level, the profile and the time precision. Two sides
        /// can read each other's packets only if their hashes are equal. Hubs and receivers compare
        /// the hashes themselves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_hash(ulong codec, out ulong hash);

        /// <summary>
        /// Writes the widths and code words of a codec's profile as text, for tools. The text has a
        /// terminating zero: <c>*size</c> bytes, if they fit into <c>capacity</c>. The first two
        /// lines, <c>entities</c> and <c>flags</c>, each describe a code for gaps: the offset
        /// widths of its classes, and the lengths of its code words, in bits. Then each field has a
        /// line with its context, and a line for each class. The line of a class contains the
        /// reference, and <c>width/beyond</c> in bits for each lane. The lengths of the class words
        /// follow, once if all contexts share them, or for each context. <c>spec/CODEC.md</c>,
        /// sections 7 and 9, describes these codes. The text does not include the model of the
        /// adaptive levels.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_profile_text(
            ulong codec, byte* text, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a codec. Objects made with the codec remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_codec_free(ulong codec);

        /// <summary>
        /// Creates the empty view with which both sides begin. The caller frees <c>*out</c> with
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

        /// <summary>Writes the tick of a view.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_view_tick(ulong view, out uint tick);

        /// <summary>
        /// Writes the state check of a view: a 16-bit hash of its tick and its state. Two sides
        /// that hold the same tick and state have the same check.
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
        /// More than one view helps the levels "adaptive" and "learning". Writes the packet, of
        /// <c>*size</c> bytes, and returns the view that the other side will have in <c>*view</c>.
        /// If <c>capacity</c> is too small, only <c>*size</c> is written. The caller frees
        /// <c>*view</c> with <c>kp_view_free</c>. <c>view</c> may be null.
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
        /// Decodes a packet against the views that it was encoded against, newest first.
        /// <c>tick</c> is the snapshot's tick, which a packet does not contain. Returns the
        /// resulting view in <c>*view</c>, which the caller frees with <c>kp_view_free</c>. Any
        /// bytes are either refused or decoded to a valid view.
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
        /// snapshot. Writes <c>*count</c> parts, if they fit into <c>capacity</c>. To combine
        /// datagrams, append one to the other.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_split_datagram(
            byte* datagram, UIntPtr size, Part* parts, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Creates kinds of events from the schema of a codec. <c>longest_ticks</c> has a number
        /// for each kind: how many ticks an event may wait before it is dropped. A negative number
        /// marks a kind whose events must arrive. With a <c>count</c> of 0, the events of all kinds
        /// must arrive. The caller frees <c>*out</c> with <c>kp_events_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_new(
            ulong codec, int* longest_ticks, UIntPtr count, out ulong @out);

        /// <summary>Frees kinds of events. Objects made with them remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_events_free(ulong events);

        /// <summary>
        /// Chooses what a receiver shows of a kind of entities whose next state has not arrived: a
        /// <c>KpExtrapolation</c>, for at most <c>at_most_ms</c>, up to 1,000. For
        /// <c>KP_EXTRAPOLATION_STRAIGHT</c> this is the longest way, as a time at full speed.
        /// <c>KP_EXTRAPOLATION_HOLD</c> ignores it. While a kind is not held, playback runs on
        /// although it starves, and does not lag more after that. When the next state arrives, the
        /// shown place differs from the true one: see <c>kp_receiver_set_smoothing</c>. Kinds that
        /// are held need that too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_set_extrapolation(
            ulong receiver, uint kind, int extrapolation, uint at_most_ms);

        /// <summary>
        /// Tells a hub what the receivers show of a kind of entities whose next state has not
        /// arrived, so that <c>kp_hub_rewind</c> finds it: the arguments of
        /// <c>kp_receiver_set_extrapolation</c>. This changes nothing that is sent. A rewind finds
        /// what <c>kp_shown_read</c> wrote without smoothing, also for a kind that continues
        /// straight. It cannot know what smoothing or the game's own rules added, because that
        /// depends on the frames that the client drew. Hold kinds that players shoot at and draw
        /// them without smoothing, or accept that a shot at a returning entity is off by what is
        /// left to fade.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_extrapolation(
            ulong hub, uint kind, int extrapolation, uint at_most_ms);

        /// <summary>
        /// Makes <c>kp_shown_read</c> show a kind of entities without jumps when their next state
        /// arrives after all: the distance from the shown place to the true one fades out, with a
        /// steady velocity. After <c>fade_ms</c>, a twentieth is left. 0 ends that, as at first. An
        /// entity that jumps, or was added again, does not fade. As long as no entity has waited
        /// for a state, nothing changes. The numbers that fade are positions, other numbers with a
        /// range, and rotations; not velocities, integers and flags. <c>kp_shown_places</c> and
        /// figures are not smoothed. Cost: a few states for each entity that was shown in the last
        /// quarter of a second.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_set_smoothing(
            ulong receiver, uint kind, uint fade_ms);

        /// <summary>
        /// Writes for how long each of a kind's entities has waited for a newer state, in
        /// milliseconds, in the order of their ids: <c>*count</c> times, if they fit into
        /// <c>capacity</c>. 0 if a later state is known. The time counts as far as playback runs
        /// on. An entity at rest also has no later state, so the time is long for entities that
        /// snapshots leave out because nothing changed.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_starved(
            ulong shown, uint kind, double* times_ms, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Creates a figure of a skeleton. Both sides need the same skeleton and options; the
        /// schema's hash covers both. <c>options</c> may be null. A precision that is finer than
        /// the numbers of a pose is refused. The caller frees <c>*out</c> with
        /// <c>kp_figure_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_new(
            ulong skeleton, KpFigureOptions* options, out ulong @out);

        /// <summary>Writes the numbers of a figure to <c>*out</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_info(ulong figure, out KpFigureInfo @out);

        /// <summary>
        /// Writes the largest error, in cm, that a joint can have in poses of a tier that move only
        /// as the options say. It is at most the joint's precision in this tier. In other poses the
        /// error may reach the precision.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_max_error_cm(
            ulong figure, uint tier, uint joint, out double error_cm);

        /// <summary>
        /// Writes the name of the field that holds the position of the first joint that moves, with
        /// a terminating zero: <c>*size</c> bytes including the zero, if they fit into
        /// <c>capacity</c>. Returns <c>KP_STATUS_NOTHING</c> if no joint moves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_position_field(
            ulong figure, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Writes the pose of an entity in a snapshot, relative to the parents. The kind may have
        /// other fields besides those of this figure, as kinds of Bevy's figures have. The joints
        /// and curves of absent parts are not written. <c>curves</c> is for the values of all
        /// curves; with a <c>curve_count</c> of 0, only joints are written. Returns
        /// <c>KP_STATUS_NOTHING</c> if the kind has no entity <c>id</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_read(
            ulong figure,
            ulong snapshot,
            uint kind,
            uint id,
            ref KpPose pose,
            float* curves,
            UIntPtr curve_count);

        /// <summary>
        /// Writes the pose of an entity that a receiver, a viewer or a replay shows, like
        /// <c>kp_figure_read</c>. It is interpolated between two states: joints turn the shorter
        /// way at constant speed. A part that is present in only one of the states is as in the
        /// earlier one, until the later is reached.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_show(
            ulong figure,
            ulong shown,
            uint kind,
            uint id,
            ref KpPose pose,
            float* curves,
            UIntPtr curve_count);

        /// <summary>
        /// Writes whether a part of an entity in a snapshot is present: not 0 if it is. Returns
        /// <c>KP_STATUS_NOTHING</c> if the kind has no entity <c>id</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_is_present(
            ulong figure, ulong snapshot, uint kind, uint id, uint part, out int is_present);

        /// <summary>
        /// Writes whether <c>kp_figure_show</c> writes a part of an entity, like
        /// <c>kp_figure_is_present</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_is_shown(
            ulong figure, ulong shown, uint kind, uint id, uint part, out int is_shown);

        /// <summary>Frees a figure. Schemas with its kind remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_free(ulong figure);

        /// <summary>
        /// Writes the clip <c>*play</c> with another speed to <c>*out</c>. Its time stays the same
        /// at <c>tick</c>. <c>out</c> may be <c>play</c>. Returns <c>KP_STATUS_VALUE</c> for
        /// numbers that are out of range.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_clip_play_with_speed(
            ref ClipPlay play, uint tick, double speed, out ClipPlay @out);

        /// <summary>
        /// Writes the clip that an entity of a snapshot plays in a slot. Returns
        /// <c>KP_STATUS_NOTHING</c> if the kind has no entity <c>id</c>, or the slot is empty.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_clip(
            ulong figure, ulong snapshot, uint kind, uint id, uint slot, out ClipPlay @out);

        /// <summary>
        /// Writes the clip that an entity plays in a slot, whose pose <c>kp_figure_show</c> writes.
        /// <c>tick</c> is the shown tick with its fraction, of a <c>KpPlayback</c>. If the same
        /// clip continues, its time is exact and its weight is interpolated. Otherwise the clip is
        /// as in the earlier state, and its time runs on, until the later state is reached. Returns
        /// <c>KP_STATUS_NOTHING</c> if no entity <c>id</c> is shown, or the slot is empty.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_shown_clip(
            ulong figure,
            ulong shown,
            uint kind,
            uint id,
            double tick,
            uint slot,
            out ShownClip @out);

        /// <summary>
        /// Quantizes the state of a body, and appends it to a snapshot, as an entity of a kind that
        /// has the fields of this figure. <c>id</c> must be above the ids before. Returns
        /// <c>KP_STATUS_VALUE</c> for a number that is not finite or beyond its limits, and for a
        /// joint that moves in a way that the figure does not send. Parts, clips, slots and tiers
        /// that the figure does not have, and two clips in a slot, are <c>KP_STATUS_ARGUMENT</c>.
        /// After an error, the snapshot is unchanged.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_figure_push(
            ulong figure, ulong snapshot, uint kind, uint id, ref KpFigurePose pose);

        /// <summary>
        /// Creates a writer at the beginning of a group. The caller frees <c>*out</c> with
        /// <c>kp_group_writer_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_new(ulong codec, out ulong @out);

        /// <summary>
        /// Begins the next group. <c>given</c> is a view that the reader will be given too. If it
        /// is zero, the group does not depend on anything before it.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_writer_begin(ulong writer, ulong given);

        /// <summary>Adds a frame. Its tick must be above the tick of the previous frame.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_write(ulong writer, ulong world);

        /// <summary>
        /// Takes the frames added since the last call: <c>*size</c> bytes, if they fit into
        /// <c>capacity</c>. Otherwise the frames are kept. Returns <c>KP_STATUS_NOTHING</c> if no
        /// frames were added.
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
        /// Begins the next group, with the view that the group's writer was given, or with zero.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_group_reader_begin(ulong reader, ulong given);

        /// <summary>
        /// Reads the frame at the beginning of <c>bytes</c> into a snapshot of the same schema, and
        /// writes the frame's length to <c>*used</c>. Returns <c>KP_STATUS_NOTHING</c> if
        /// <c>size</c> is 0. Returns <c>KP_STATUS_DATA</c> for an invalid or incomplete frame. In
        /// both cases, nothing changes. The connection or the file must guarantee that the bytes
        /// are unaltered.
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
        /// Sets how the entities of a kind are sent. Changes of these entities are sent in every
        /// <c>every</c>th tick (1, 2, 4 or 8). <c>weight</c>, at least 0, is how much these
        /// entities matter if not everything fits.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_kind(
            ulong hub, byte[] name, uint every, float weight);

        /// <summary>
        /// Adds a receiver with a unique number. All times are nanoseconds since any fixed moment.
        /// <c>budget_bytes_per_s</c> limits the data sent to the receiver. It is at least 256, or 0
        /// for no limit. <c>kp_hub_set_budget</c> sets a budget that follows the link.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_add(
            ulong hub, ulong receiver, uint budget_bytes_per_s, ulong now_ns);

        /// <summary>Removes a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_remove(ulong hub, ulong receiver);

        /// <summary>
        /// Sets which entities a receiver may see, as ids in increasing order. With a <c>count</c>
        /// of 0, it sees no entity. At first, a receiver may see all entities.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_relevant(
            ulong hub, ulong receiver, uint* ids, UIntPtr count);

        /// <summary>Lets a receiver see all entities again.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_all_relevant(ulong hub, ulong receiver);

        /// <summary>
        /// Sets the weights of entities for a receiver, which are used if not everything fits.
        /// <c>ids</c> are in increasing order, and <c>weights</c> has a weight for each. All other
        /// entities weigh 1. The weights apply until they are set again. A <c>count</c> of 0
        /// removes them.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_weights(
            ulong hub, ulong receiver, uint* ids, float* weights, UIntPtr count);

        /// <summary>Writes the hub's view of a connection to a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_status(ulong hub, ulong receiver, out HubStatus @out);

        /// <summary>
        /// Adds an event to the next tick, with a column of one record for each field of its kind.
        /// All joined receivers get the event exactly once, in the order of these calls.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count);

        /// <summary>
        /// Like <c>kp_hub_emit</c>, but only for the receivers in <c>receivers</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_to(
            ulong hub,
            uint kind,
            KpColumn* columns,
            UIntPtr column_count,
            ulong* receivers,
            UIntPtr receiver_count);

        /// <summary>
        /// Like <c>kp_hub_emit</c>, but only for the receivers that may see the entity
        /// <c>entity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_emit_seeing(
            ulong hub, uint kind, KpColumn* columns, UIntPtr column_count, uint entity);

        /// <summary>
        /// Handles a datagram from a receiver. Returns <c>KP_STATUS_DATA</c> for an invalid
        /// datagram, which changes only counters.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_handle(
            ulong hub, ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        /// <summary>
        /// Takes the world of a tick, and encodes what each receiver needs. The tick must be above
        /// the previous tick. Returns <c>KP_STATUS_RECEIVERS</c> if some receivers do not get
        /// everything. The error text lists the reasons. The other receivers get everything, so
        /// poll the datagrams then too. After any other failure, nothing has changed.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_tick(ulong hub, ulong now_ns, ulong world);

        /// <summary>
        /// Writes the next datagram to send, and its receiver. Returns <c>KP_STATUS_NOTHING</c> if
        /// there is no datagram until the next tick. If <c>capacity</c> is too small, only
        /// <c>*size</c> is written, and the datagram is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_poll(
            ulong hub, out ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a hub.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_free(ulong hub);

        /// <summary>
        /// Sets how many bytes per second a receiver gets. Call it after <c>kp_hub_add</c>, or at
        /// any time while the receiver plays. A larger budget has no immediate effect, because it
        /// only makes unused budget accumulate faster.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_budget(
            ulong hub, ulong receiver, ref KpBudget budget, ulong now_ns);

        /// <summary>
        /// Limits the bytes per second of all receivers together, including the transport's
        /// headers, for example to the rate of a server's connection. <c>bytes_per_s</c> is at
        /// least 256, or 0 for no limit, as at first. The receivers divide the limit equally. What
        /// one receiver does not need is left for the others.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_uplink(ulong hub, uint bytes_per_s);

        /// <summary>
        /// Writes what the hub knows of the link to a receiver, as of the last tick.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_link(ulong hub, ulong receiver, out LinkStatus @out);

        /// <summary>
        /// Makes a hub keep what it sends for long enough to rewind. <c>options</c> may be null,
        /// which ends that. Call this function before the first receiver joins, because what was
        /// sent before may be missing. The hub keeps the views of the time to rewind, which
        /// receivers share if they get the same. For receivers that do not get everything, because
        /// of a budget, kinds or rings, it keeps those of the last 255 datagrams.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_rewind(ulong hub, KpRewindOptions* options);

        /// <summary>
        /// Finds what a receiver showed of some entities when its player made an input with the
        /// stamp <c>seen</c>: the very numbers that it read, whatever was lost, late or left out.
        /// Writes the tick of that moment, with its fraction. Read the entities through
        /// <c>kp_hub_past</c>, until the next rewind. <c>ids</c> are in increasing order. Entities
        /// that were not shown are left out, and so are those of which the receiver should have got
        /// a newer state longer ago than <c>longest_ms</c>. The past has no events, and no entities
        /// that were added, removed or cut. Pass on the stamps of all inputs in order, with a
        /// <c>count</c> of 0 if there is nothing to find. Then a client cannot choose among
        /// moments. Cost: a list of at most 255 snapshots, and a few searches for each entity. -
        /// <c>KP_STATUS_NOTHING</c>: the player was shown nothing yet, or too long ago. Refuse his
        /// shot, or use the present world. A forged stamp of the future is too old as well, because
        /// moments wrap after 256 ticks. - <c>KP_STATUS_DATA</c>: the stamp is of a state that was
        /// not sent yet, or goes back behind an earlier stamp of the player. The client cheats, or
        /// the record is late: see <c>is_late</c> of <c>KpRecord</c>. - <c>KP_STATUS_ARGUMENT</c>:
        /// the hub does not rewind, or has no such receiver; or the ids do not increase; or no
        /// receiver writes such a stamp.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_rewind(
            ulong hub, ulong receiver, ref Seen seen, uint* ids, UIntPtr count, out double tick);

        /// <summary>
        /// Like <c>kp_hub_rewind</c>, but finds all entities that the receiver showed. Cost: a few
        /// searches for each entity that it got in the last 128 snapshots.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_rewind_all(
            ulong hub, ulong receiver, ref Seen seen, out double tick);

        /// <summary>
        /// Returns what the last <c>kp_hub_rewind</c> or <c>kp_hub_rewind_all</c> found. The handle
        /// stays the same until <c>kp_hub_free</c>, which frees it too. The state is empty at
        /// first.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_past(ulong hub, out ulong @out);

        /// <summary>
        /// Sets what receivers with a viewpoint see by distance: how often and how precisely far
        /// entities are sent, and which entities are not sent at all. Of the entities that are
        /// relevant, a receiver sees those in its rings, and those that it always sees. An entity
        /// that comes into sight is added at the receiver, and one that leaves it is removed.
        /// <c>rings</c> may be null, which removes the rings.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_rings(ulong hub, KpRings* rings);

        /// <summary>
        /// Sets the place from which a receiver's rings are measured: three numbers in the unit of
        /// the positions. For positions of two axes, the third number does not matter.
        /// <c>viewpoint</c> may be null: as at first, the receiver then sees everything, in tier 0.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_viewpoint(
            ulong hub, ulong receiver, double* viewpoint);

        /// <summary>
        /// Sets which entities a receiver sees at any distance from its viewpoint, such as the
        /// other members of a team, as ids in increasing order. Beyond all rings, they are sent as
        /// in the farthest ring that is seen. Entities that are not relevant stay hidden. A
        /// <c>count</c> of 0 removes them.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_set_always_seen(
            ulong hub, ulong receiver, uint* ids, UIntPtr count);

        /// <summary>
        /// Like <c>kp_hub_tick</c>, but takes a world for each tier, from the finest to the
        /// coarsest. All worlds have the same entities, and the tick is that of the first one. A
        /// snapshot may be given for several tiers.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_hub_tick_tiers(
            ulong hub, ulong now_ns, ulong* worlds, UIntPtr count);

        /// <summary>
        /// Creates an input clock for a server with <c>tick_hz</c> ticks per second, and one input
        /// for each tick. <c>options</c> may be null. The clock waits for its start. The caller
        /// frees <c>*out</c> with <c>kp_input_clock_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_new(
            uint tick_hz, KpInputClockOptions* options, out ulong @out);

        /// <summary>
        /// Starts the clock at <c>tick</c>, which may have a fraction. It should be the server's
        /// tick when an input that is sent now arrives, plus one or two. An error costs late
        /// inputs, or a longer delay, for one round trip. Start the clock again after a
        /// reconnection, or if the server's ticks start again. This forgets what the clock learned.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_start(ulong clock, ulong now_ns, double tick);

        /// <summary>
        /// Starts the clock from what a receiver of the same server knows: the server's tick, and
        /// the round trip. Returns <c>KP_STATUS_NOTHING</c>, and does nothing, as long as these are
        /// not known.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_start_from(
            ulong clock, ulong now_ns, ulong receiver);

        /// <summary>
        /// Writes the ticks to simulate at <c>now_ns</c>: <c>*count</c> consecutive ticks from
        /// <c>*first</c> on, at most 16. Call this function in each frame, and
        /// <c>kp_stream_push_for_tick</c> for each tick. If more ticks became due since the last
        /// call, for example because the game was in the background, the earlier ones are skipped.
        /// Both numbers are 0 if no tick is due, as before the start.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_ticks(
            ulong clock, ulong now_ns, out uint first, out UIntPtr count);

        /// <summary>
        /// Writes the clock's tick at the last call, with its fraction. Returns
        /// <c>KP_STATUS_NOTHING</c> before the start. The newest tick of
        /// <c>kp_input_clock_ticks</c> is the whole part, unless the clock jumped back.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_tick(ulong clock, out double tick);

        /// <summary>
        /// Handles an acknowledgement of the stream of inputs, like <c>kp_stream_sender_handle</c>,
        /// and shows it to the clock, which learns how early the inputs arrive. Call this function
        /// instead of that one. The server must read the inputs with
        /// <c>kp_stream_read_for_tick</c>. Returns <c>KP_STATUS_DATA</c> for an invalid
        /// acknowledgement, which changes only a counter of the sender.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_handle(
            ulong clock, ulong now_ns, ulong sender, byte* datagram, UIntPtr size);

        /// <summary>Writes measurements of the clock.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_status(ulong clock, out InputClockStatus @out);

        /// <summary>Frees an input clock.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_input_clock_free(ulong clock);

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
        /// Writes the defaults for a world of <c>tick_hz</c> ticks per second: a second of history,
        /// positions that fade in a second and rotations in half of that, and a snap distance of
        /// four.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_predict_config_at_hz(
            uint tick_hz, out KpPredictConfig @out);

        /// <summary>
        /// Creates a prediction without entities. <c>schema</c> is that of the receiver, and
        /// <c>kind</c> is the index of the entities' kind in it. <c>inputs</c> is the schema of the
        /// inputs, with one kind, as in <c>kp_stream_sender_new</c>. The caller frees <c>*out</c>
        /// with <c>kp_prediction_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_new(
            ulong schema, uint kind, ulong inputs, ref KpPredictConfig config, out ulong @out);

        /// <summary>
        /// Adds an entity with its authoritative state of a tick: a column of one entity for each
        /// field. If the tick is before the newest predicted one, the steps since are repeated for
        /// all entities. If it is later, the entity begins when the input for it is pushed. Inputs
        /// are expected from the tick after the first entity's on. Returns
        /// <c>KP_STATUS_ARGUMENT</c> if the entity was added before, and <c>KP_STATUS_STEP</c> as
        /// <c>kp_prediction_push</c> does.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_add(
            ulong prediction,
            uint id,
            uint tick,
            KpColumn* columns,
            UIntPtr column_count,
            ref KpStep step);

        /// <summary>
        /// Removes an entity with its history. Returns <c>KP_STATUS_NOTHING</c> if there is none.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_remove(ulong prediction, uint id);

        /// <summary>
        /// Removes all entities, inputs and ticks, as for a new session. The counters stay.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_clear(ulong prediction);

        /// <summary>
        /// Predicts one more tick with an input, a column of one record for each of its fields:
        /// calls <c>step</c> with the entities' states of the tick before. Push the same numbers to
        /// the stream, with <c>kp_stream_push_for_tick</c>. A client may skip ticks. The ticks
        /// between are stepped with the input before them, as a server does that repeats the last
        /// input. After a gap that is longer than the history, the entities keep their states until
        /// the tick before <c>tick</c>, and the history begins anew there. Returns
        /// <c>KP_STATUS_ARGUMENT</c> if the tick is not after the newest one. Returns
        /// <c>KP_STATUS_STEP</c> if the step failed or gave a state that cannot be quantized. Then
        /// those entities have kept their states of the tick before, and everything else was done.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_push(
            ulong prediction, uint tick, KpColumn* columns, UIntPtr column_count, ref KpStep step);

        /// <summary>Frees a prediction.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_free(ulong prediction);

        /// <summary>
        /// Takes the authoritative state of an entity, a column of one entity for each field. If it
        /// equals the prediction of its tick, nothing else happens. Otherwise it takes the
        /// prediction's place, and all entities repeat the steps since. The shown paths continue
        /// without a step. The tick must be exact: <c>kp_prediction_correct_from</c> takes it from
        /// a receiver. <c>out</c> may be null. Returns <c>KP_STATUS_NOTHING</c> if the entity was
        /// not added, and <c>KP_STATUS_STEP</c> as <c>kp_prediction_push</c> does; then <c>*out</c>
        /// is not written.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_correct(
            ulong prediction,
            uint id,
            uint tick,
            KpColumn* columns,
            UIntPtr column_count,
            ref KpStep step,
            Correction* @out);

        /// <summary>
        /// Takes the newest states of all entities from a receiver, if they are newer than those
        /// taken before. Call this after datagrams arrived. An entity that the receiver does not
        /// know stays as it is. <c>out</c> may be null. Returns <c>KP_STATUS_STEP</c> as
        /// <c>kp_prediction_push</c> does; then <c>*out</c> is not written. The tick of a state
        /// must be exact, so the hub should send own entities in each snapshot: near in its rings,
        /// without a time precision, and with a high priority in a budget.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_correct_from(
            ulong prediction, ulong receiver, ref KpStep step, Correction* @out);

        /// <summary>
        /// Repeats the last <c>ticks</c> steps of all entities, for a step that reads what has
        /// changed since: for example another prediction, whose <c>repeated_ticks</c> of
        /// <c>KpCorrection</c> these are. With <c>KP_REPAIR_BLEND</c> nothing is repeated.
        /// <c>out</c> may be null. Returns <c>KP_STATUS_STEP</c> as <c>kp_prediction_push</c> does;
        /// then <c>*out</c> is not written.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_repeat_last(
            ulong prediction, uint ticks, ref KpStep step, Correction* @out);

        /// <summary>
        /// Writes the numbers of the state to draw at the moment <c>at</c>, a tick with its
        /// fraction, to a target of one entity for each field: between two predicted ticks, plus
        /// the fading offset of corrections. Returns <c>KP_STATUS_NOTHING</c> if the entity was not
        /// added, or begins later. A game that draws between its last two ticks passes the tick of
        /// <c>kp_input_clock_tick</c> minus 1. The moment is within the history and at most the
        /// newest tick. Call this once a frame for each entity, with moments that increase.
        /// Positions, numbers with a range and rotations have an offset; velocities, integers and
        /// flags change at once.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_shown(
            ulong prediction, uint id, double at, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Writes the numbers of an entity's predicted state at a tick, without offset, to a target
        /// of one entity for each field. Returns <c>KP_STATUS_NOTHING</c> if the history does not
        /// have it.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_state(
            ulong prediction, uint id, uint tick, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Writes the newest predicted tick. Returns <c>KP_STATUS_NOTHING</c> before the first
        /// input or entity.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_newest(ulong prediction, out uint tick);

        /// <summary>
        /// Writes the ids of the predicted entities, in increasing order: <c>*count</c> ids, if
        /// they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_ids(
            ulong prediction, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>Writes the counters of a prediction.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_prediction_stats(ulong prediction, out PredictStats @out);

        /// <summary>
        /// Creates a publisher of the tiers of a catalogue. <c>options</c> may be null. The caller
        /// frees <c>*out</c> with <c>kp_publisher_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_new(
            ulong catalogue, KpPublisherOptions* options, out ulong @out);

        /// <summary>
        /// Restricts a tier to certain entities, such as the entities of a region. <c>ids</c> are
        /// in increasing order. With a <c>count</c> of 0, the tier has no entities. Initially, a
        /// tier has all entities. For a region, call this before each tick.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_entities(
            ulong publisher, uint tier, uint* ids, UIntPtr count);

        /// <summary>
        /// Removes the restriction of a tier. Then the tier has all entities again.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_set_all_entities(ulong publisher, uint tier);

        /// <summary>
        /// Takes the world of a tick, and encodes it for all tiers that are due. The tick must be
        /// above the previous tick. <c>kp_publisher_poll</c> returns the pieces. Take all pieces in
        /// each tick, because they are kept in memory until then. If a world needs more datagrams
        /// than a viewer can reassemble, the result is <c>KP_STATUS_ARGUMENT</c> too. Other tiers
        /// may have encoded the world by then, and the tick is used up, so publish the next one.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_publish(ulong publisher, ulong world);

        /// <summary>
        /// Releases, after the last world, the pieces to carry at <c>tick</c>, which is the last
        /// world's tick or a later one. These are the pieces that wait for the delay, and objects
        /// that have fewer snapshots than their tier allows. <c>kp_publisher_poll</c> returns them.
        /// Call this at each tick until <c>*is_drained</c> is not 0, or the end of the broadcast is
        /// lost. It is not 0 once no piece waits for a later tick. Nothing is encoded. Calls
        /// between worlds make objects smaller.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_drain(
            ulong publisher, uint tick, out int is_drained);

        /// <summary>
        /// Writes the next piece for the transport. <c>*piece</c> describes it, and it has
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>. Returns <c>KP_STATUS_NOTHING</c>
        /// if there is no piece until the next tick. If <c>capacity</c> is too small, only
        /// <c>*size</c> is written, and the piece is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_poll(
            ulong publisher, out Piece piece, byte* bytes, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Copies the last snapshot of a tier in groups, as its viewers decode it, into a snapshot
        /// of the same schema. It lacks the entities that the tier omits, and has only the
        /// precision of the tier. Returns <c>KP_STATUS_NOTHING</c> before the first snapshot, and
        /// for a tier in datagrams.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_last(ulong publisher, uint tier, ulong snapshot);

        /// <summary>Frees a publisher.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_publisher_free(ulong publisher);

        /// <summary>
        /// Creates a receiver for a hub with <c>tick_hz</c> ticks per second. <c>options</c> may be
        /// null. The caller frees <c>*out</c> with <c>kp_receiver_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_new(
            ulong codec, uint tick_hz, KpReceiverOptions* options, out ulong @out);

        /// <summary>
        /// Handles a datagram from the hub. Returns <c>KP_STATUS_DATA</c> for a refused datagram,
        /// such as a duplicate, which changes only counters. All times are nanoseconds since any
        /// fixed moment.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size);

        /// <summary>
        /// Writes the next datagram for the hub. Returns <c>KP_STATUS_NOTHING</c> if there is no
        /// datagram now. If <c>capacity</c> is too small, only <c>*size</c> is written, and the
        /// datagram is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_poll(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Computes the state to show now, which is slightly delayed and interpolated. Read this
        /// state through <c>kp_receiver_shown</c>. Returns <c>KP_STATUS_NOTHING</c> before the
        /// first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_play(
            ulong receiver, ulong now_ns, out Playback @out);

        /// <summary>
        /// Returns the state that the receiver shows. The handle stays the same until
        /// <c>kp_receiver_free</c>, which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_shown(ulong receiver, out ulong @out);

        /// <summary>
        /// Writes the stamp of what the last <c>kp_receiver_play</c> showed, for the inputs that
        /// the player makes in view of it: see <c>kp_hub_rewind</c>. Before the first state, writes
        /// a stamp that says so, and returns <c>KP_STATUS_NOTHING</c>. An input may have that stamp
        /// too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_seen(ulong receiver, out Seen @out);

        /// <summary>
        /// Makes all events due that have arrived, for programs that show the newest state and do
        /// not play. An event becomes due only once, so <c>kp_receiver_play</c> will not show it
        /// again.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_take_events(ulong receiver);

        /// <summary>Writes the receiver's view of its connection.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_status(
            ulong receiver, ulong now_ns, out ReceiverStatus @out);

        /// <summary>
        /// Copies the newest state into a snapshot of the same schema, without delay or
        /// interpolation. Returns <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_newest(ulong receiver, ulong snapshot);

        /// <summary>
        /// Changes a lane of an entity by one in the newest view, like a memory fault, so that this
        /// side's state is wrong. Use this function only in tests and tools: state checks detect
        /// the fault, and the hub sends the state again. Returns <c>KP_STATUS_NOTHING</c> if there
        /// is no such view, entity or lane, or if the lane has only one value.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_inject_fault(
            ulong receiver, uint entity, uint lane);

        /// <summary>Frees a receiver.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_receiver_free(ulong receiver);

        /// <summary>
        /// Begins a replay file, and replaces an existing one. The world has <c>rate_hz</c> ticks
        /// per second. Pass a zero <c>events</c> if it has no events. The caller ends <c>*out</c>
        /// with <c>kp_replay_writer_finish</c> and frees it with <c>kp_replay_writer_free</c>. If
        /// the process is killed, the file lacks at most the last second.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_new(
            byte[] path, ulong codec, ulong events, double rate_hz, out ulong @out);

        /// <summary>
        /// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_write(ulong writer, ulong world);

        /// <summary>
        /// Adds an event to the snapshot that is written next, with a column of one record for each
        /// field of its kind.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_emit(
            ulong writer, uint kind, KpColumn* columns, UIntPtr column_count);

        /// <summary>Gives the tick <c>tick</c> the name <c>name</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_mark(ulong writer, uint tick, byte[] name);

        /// <summary>
        /// Stores the text <c>value</c> under the text <c>key</c>. The caller chooses both.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_note(ulong writer, byte[] key, byte[] value);

        /// <summary>
        /// Ends the file, and writes its size to <c>*out</c>. <c>out</c> may be null.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_finish(ulong writer, ReplaySummary* @out);

        /// <summary>
        /// Frees a writer. A file that was not finished lacks its last second and its index, but
        /// can still be read.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_writer_free(ulong writer);

        /// <summary>
        /// Creates a kill cam, which keeps the last <c>seconds</c> of a world with <c>rate_hz</c>
        /// ticks per second. Pass a zero <c>events</c> if the world has no events. The caller frees
        /// <c>*out</c> with <c>kp_kill_cam_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_new(
            ulong codec, ulong events, double rate_hz, double seconds, out ulong @out);

        /// <summary>
        /// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
        /// </summary>
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
        /// for <c>kp_kill_cam_take</c>. Writes the size of the file to <c>*size</c>. Returns
        /// <c>KP_STATUS_ARGUMENT</c> if there is no snapshot between the two ticks.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_kill_cam_cut(
            ulong kill_cam, uint from_tick, uint to_tick, out UIntPtr size);

        /// <summary>
        /// Takes the replay file that was cut last: <c>*size</c> bytes, if they fit into
        /// <c>capacity</c>. A file can be taken only once.
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
        /// Reads a replay from a copy of <c>bytes</c>. The caller frees <c>*out</c> with
        /// <c>kp_replay_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>
        /// Writes the properties of a replay. Returns <c>KP_STATUS_NOTHING</c> if it has no
        /// snapshot.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_info(ulong replay, out ReplayInfo @out);

        /// <summary>
        /// Creates the schema of a replay's snapshots. The caller frees <c>*out</c> with
        /// <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_schema(ulong replay, out ulong @out);

        /// <summary>
        /// Creates the schema of a replay's events. Returns <c>KP_STATUS_NOTHING</c> if the replay
        /// has no events. The caller frees <c>*out</c> with <c>kp_schema_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_event_schema(ulong replay, out ulong @out);

        /// <summary>
        /// Writes the tick and the name of a marker. The name has a terminating zero: <c>*size</c>
        /// bytes, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_marker(
            ulong replay, uint nth, out uint tick, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Writes the value that the writer stored under <c>key</c>, with a terminating zero:
        /// <c>*size</c> bytes, if they fit into <c>capacity</c>. Returns <c>KP_STATUS_NOTHING</c>
        /// if there is no such value.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_value(
            ulong replay, byte[] key, byte* value, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Copies the snapshot of the tick <c>tick</c>, or the last snapshot before it, into a
        /// snapshot of the same schema. Returns <c>KP_STATUS_NOTHING</c> if there is no such
        /// snapshot.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_get(ulong replay, uint tick, ulong snapshot);

        /// <summary>
        /// Computes the state to show at a moment, given as a fractional tick. Read this state
        /// through <c>kp_replay_shown</c>. Moments may be in any order. Events are due only if a
        /// moment is at most 5 seconds after the previous one.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_play(ulong replay, double tick, out Playback @out);

        /// <summary>
        /// Returns the state that the replay shows. The handle stays the same until
        /// <c>kp_replay_free</c>, which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_replay_shown(ulong replay, out ulong @out);

        /// <summary>Jumps to a tick. The next moment shows no events before that tick.</summary>
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
        /// Writes the hash of a schema. Two sides with the same hash have the same schema.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_hash(ulong schema, out ulong hash);

        /// <summary>Writes the number of kinds of a schema.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kinds(ulong schema, out uint kinds);

        /// <summary>Writes the number of fields of a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_fields(ulong schema, uint kind, out uint fields);

        /// <summary>Writes a description of a field of a kind.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field(
            ulong schema, uint kind, uint field, out KpField @out);

        /// <summary>
        /// Writes the name of a kind, with a terminating zero: <c>*size</c> bytes including the
        /// zero, if they fit into <c>capacity</c>. If a schema has only one kind, its name may be
        /// empty.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_kind_name(
            ulong schema, uint kind, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Writes the name of a field, like <c>kp_schema_kind_name</c> for a kind.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_field_name(
            ulong schema, uint kind, uint field, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Finds the field of a kind with the name <c>name</c>. Returns <c>KP_STATUS_NOTHING</c> if
        /// there is no such field.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_find(
            ulong schema, uint kind, byte[] name, out uint field);

        /// <summary>
        /// Rounds states of a kind as the other side gets them: reads <c>count</c> entities from a
        /// column for each field, and writes them to a target for each field, which may be the same
        /// numbers. A server that simulates entities which clients predict rounds them after each
        /// step: see <c>KpPrediction</c>. Returns <c>KP_STATUS_VALUE</c> if a value cannot be
        /// quantized; then nothing is written.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_rounded(
            ulong schema,
            uint kind,
            UIntPtr count,
            KpColumn* columns,
            UIntPtr column_count,
            KpTarget* targets,
            UIntPtr target_count);

        /// <summary>Frees a schema. Objects made with the schema remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_free(ulong schema);

        /// <summary>
        /// Begins a schema. The caller ends <c>*out</c> with <c>kp_schema_builder_build</c> or
        /// <c>kp_schema_builder_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_new(out ulong @out);

        /// <summary>
        /// Begins the next kind. A schema with one kind may omit this call. Then its kind has no
        /// name.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_kind(ulong builder, byte[] name);

        /// <summary>
        /// Begins a kind of entities with the body of a figure. Fields that are added next are
        /// other fields of the same kind, until another kind begins.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_figure(
            ulong builder, byte[] name, ulong figure);

        /// <summary>
        /// Adds a field of <c>count</c> real numbers from <c>min</c> to <c>max</c>, in steps of
        /// <c>precision</c>. A decoded value is off by at most half a step.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_floats(
            ulong builder, byte[] name, uint count, double min, double max, double precision);

        /// <summary>
        /// Adds a real number on a circle, such as an angle, which wraps from <c>end</c> to
        /// <c>min</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_cyclic(
            ulong builder, byte[] name, double min, double end, double precision);

        /// <summary>Adds an integer field with values from <c>min</c> to <c>max</c>.</summary>
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

        /// <summary>Sets the role that the last field has in motion.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_role(ulong builder, int role);

        /// <summary>
        /// Declares the last field to be the velocity of the field <c>name</c>. Playback then
        /// follows curves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_velocity_of(ulong builder, byte[] name);

        /// <summary>
        /// Makes the last field relative to another entity, such as the ship under a passenger. The
        /// entity's id is in the field <c>name</c> of the same kind, an integer with the role
        /// <c>KP_ROLE_FRAME</c>. If that field is conditional on a bool with the same role, the
        /// last field is relative to the world while the bool is 0. The last field is a rotation,
        /// or a position or velocity of three axes.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_frame(ulong builder, byte[] name);

        /// <summary>
        /// Makes the last field conditional: it is present only if the field <c>selector</c> of the
        /// same kind has a value from <c>least</c> to <c>most</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_condition(
            ulong builder, byte[] selector, uint least, uint most);

        /// <summary>
        /// Lets the last field be off by the distance that it moves in a given time, while it
        /// moves.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_time_precision(
            ulong builder, double milliseconds, double ticks_per_s);

        /// <summary>
        /// Lets the last field be coarser in some entities: by as many bits as the earlier integer
        /// field <c>coarseness</c> of the same kind holds, but at most by <c>most_bits</c> (1 to
        /// 31). If a state has 0 there, the field is exact.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_coarser(
            ulong builder, byte[] coarseness, uint most_bits);

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
        /// Adds the <c>KP_SEEN_FIELDS</c> fields of a stamp, for the inputs of players. They are
        /// those of a field <c>name</c> of the type <c>Option&lt;Seen&gt;</c> in Rust, so both
        /// schemas are the same. The first of them is named <c>name</c> with a question mark.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_schema_builder_seen(ulong builder, byte[] name);

        /// <summary>
        /// Writes the <c>KP_SEEN_FIELDS</c> columns of a stamp, if they fit into <c>capacity</c>:
        /// for <c>kp_stream_push</c>, in their place among the columns of the input. <c>stride</c>
        /// is the number of bytes from the stamp of one input to that of the next. The stamp itself
        /// is read later, by the call that gets the columns.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_seen_columns(
            Seen* seen, UIntPtr stride, KpColumn* columns, UIntPtr capacity);

        /// <summary>
        /// Writes the <c>KP_SEEN_FIELDS</c> targets of a stamp, if they fit into <c>capacity</c>:
        /// for <c>kp_stream_read</c>, in their place among the targets of the input. <c>stride</c>
        /// is the number of bytes from the stamp of one input to that of the next. The stamp itself
        /// is written later, by the call that gets the targets. If <c>seen</c> is null, that call
        /// skips the stamp.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_seen_targets(
            Seen* seen, UIntPtr stride, KpTarget* targets, UIntPtr capacity);

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
        /// Writes the ids of the entities that jumped since the previous moment, of all kinds, like
        /// <c>kp_shown_ids</c>. An entity jumps if a field with <c>KP_ROLE_CUT</c> is shown with
        /// another value than at the previous moment, so exactly one moment lists each jump.
        /// Entities that the previous moment did not show are never among them.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_cut(
            ulong shown, uint* ids, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Writes the numbers of a kind's entities, in the order of their ids. There is a target
        /// for each field, with room for <c>capacity</c> entities.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_read(
            ulong shown, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Takes the next event that is due. Returns <c>KP_STATUS_NOTHING</c> if no event is due.
        /// Viewers have no events. The next moment drops events that were not taken.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_next_event(ulong shown, out Event @out);

        /// <summary>
        /// Writes the numbers of the event that <c>kp_shown_next_event</c> returned last, to a
        /// target for each field of its kind. <c>kind</c> must be the event's kind, because the
        /// targets are laid out for that kind.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_read_event(
            ulong shown, uint kind, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Writes where a kind's entities are in the world, in the order of their ids:
        /// <c>*count</c> places, if they fit into <c>capacity</c>. The kind has fields that
        /// <c>kp_schema_builder_frame</c> made relative. For other kinds it returns
        /// <c>KP_STATUS_ARGUMENT</c>: <c>kp_shown_read</c> writes where their entities are. The
        /// <c>kp_..._play</c> or the rewind before it computed the places, in some hundred
        /// nanoseconds for each entity.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_shown_places(
            ulong shown, uint kind, Place* places, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Creates a skeleton of <c>count</c> joints, parents first, with the bind pose
        /// <c>bind</c>. Parts of the bind pose that are null have the identity's value. The caller
        /// frees <c>*out</c> with <c>kp_skeleton_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_new(
            KpJoint* joints, UIntPtr count, ref KpPose bind, out ulong @out);

        /// <summary>
        /// Reads a skeleton file. The caller frees <c>*out</c> with <c>kp_skeleton_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_from_bytes(
            byte* bytes, UIntPtr size, out ulong @out);

        /// <summary>Writes the number of joints of a skeleton.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_joints(ulong skeleton, out uint joints);

        /// <summary>
        /// Writes the hash of a skeleton. The skeleton's clips store the same hash.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_hash(ulong skeleton, out ulong hash);

        /// <summary>
        /// Writes the index of a joint's parent, which is lower than the joint's own index; −1
        /// for a root.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_parent(
            ulong skeleton, uint joint, out int parent);

        /// <summary>
        /// Writes the name of a joint, with a terminating zero: <c>*size</c> bytes including the
        /// zero, if they fit into <c>capacity</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_skeleton_name(
            ulong skeleton, uint joint, byte* name, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Finds the first joint with the name <c>name</c>. Returns <c>KP_STATUS_NOTHING</c> if
        /// there is no such joint.
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
        /// Adds <c>count</c> entities of a kind, with a column for each field of the kind. The ids
        /// must increase, and be above the ids of the previous kind. Numbers are quantized. If a
        /// field is absent for an entity, the entity's numbers in that column are not read. After
        /// an error, the snapshot is unchanged.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_add(
            ulong snapshot,
            uint kind,
            uint* ids,
            UIntPtr count,
            KpColumn* columns,
            UIntPtr column_count);

        /// <summary>Writes the tick of a snapshot.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_tick(ulong snapshot, out uint tick);

        /// <summary>Writes the number of entities of a kind.</summary>
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
        /// Writes the numbers of a kind's entities, in the order of their ids. There is a target
        /// for each field, with room for <c>capacity</c> entities. If a field is absent for an
        /// entity, its numbers are 0.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_snapshot_read(
            ulong snapshot, uint kind, UIntPtr capacity, KpTarget* targets, UIntPtr target_count);

        /// <summary>
        /// Writes a hash of the entities and their lanes, without the tick. Equal states have equal
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

        /// <summary>Returns the <c>KP_ABI</c> of the library.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern uint kp_abi();

        /// <summary>
        /// Returns the version of the library, such as "0.1.0". The pointer is valid until the
        /// program ends.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern byte* kp_version();

        /// <summary>
        /// Creates a sender of records of a schema with one kind, at most <c>rate_hz</c> a second.
        /// <c>level</c> is "packed" or "adaptive". <c>options</c> may be null. The caller frees
        /// <c>*out</c> with <c>kp_stream_sender_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_sender_new(
            ulong schema, byte[] level, uint rate_hz, KpStreamOptions* options, out ulong @out);

        /// <summary>
        /// Adds a record, with a column of one record for each field, and writes its number.
        /// <c>number</c> may be null. After an error, no record was added.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_push(
            ulong sender, KpColumn* columns, UIntPtr column_count, ushort* number);

        /// <summary>
        /// Writes the packet of the newest records. Each packet is returned once. Returns
        /// <c>KP_STATUS_NOTHING</c> if there is no packet now. If <c>capacity</c> is too small,
        /// only <c>*size</c> is written, and the packet is kept.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_poll(
            ulong sender, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>
        /// Handles an acknowledgement. Returns <c>KP_STATUS_DATA</c> for an invalid
        /// acknowledgement, which changes only a counter.
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
        /// <c>*count</c>. Read these records with <c>kp_stream_read</c>, oldest first. Returns
        /// <c>KP_STATUS_DATA</c> for a refused packet, such as a duplicate, which changes only a
        /// counter. Times are nanoseconds since any fixed moment.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_handle(
            ulong receiver, ulong now_ns, byte* datagram, UIntPtr size, out UIntPtr count);

        /// <summary>
        /// Writes the records of the last packet: <c>*count</c> records to <c>records</c>, if they
        /// fit into <c>capacity</c>. Writes the numbers of these records to a target for each
        /// field. <c>records</c> may be null if <c>capacity</c> is 0.
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
        /// Writes the acknowledgement for the sender: <c>*size</c> bytes, at most 6, if they fit
        /// into <c>capacity</c>. Send it a few times within the longest round trip, alone or in
        /// front of another datagram. If you put it in front of a hub's datagrams, reduce
        /// <c>datagram_bytes</c> of the hub by 6. Returns <c>KP_STATUS_NOTHING</c> before the first
        /// packet.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_acknowledgement(
            ulong receiver, byte* datagram, UIntPtr capacity, out UIntPtr size);

        /// <summary>Frees a receiver of a stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_free(ulong receiver);

        /// <summary>
        /// Creates a codec for records of a schema with one kind. <c>level</c> is "packed" or
        /// "adaptive". The caller frees <c>*out</c> with <c>kp_stream_codec_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_new(
            ulong schema, byte[] level, out ulong @out);

        /// <summary>
        /// Writes a hash of the schema and the level. If two sides have equal hashes, they have the
        /// same codec.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_hash(ulong codec, out ulong hash);

        /// <summary>Frees a codec of streams. Bases made with the codec remain valid.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_codec_free(ulong codec);

        /// <summary>
        /// Creates the base before the first record. A packet that is coded against this base needs
        /// no earlier packet. The caller frees <c>*out</c> with <c>kp_stream_base_free</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_new(ulong codec, out ulong @out);

        /// <summary>Frees a base of a stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_base_free(ulong @base);

        /// <summary>
        /// Encodes 1 to 4,096 records, oldest first, with a column for each field. The records are
        /// coded against a base that the other side holds. <c>lag</c> is the distance in records
        /// from the base to the first record, at least 1. If the base is the one before the first
        /// record, <c>lag</c> is ignored. The other side also needs the number of records, the base
        /// and the lag, because the packet does not contain them. Writes the packet, of
        /// <c>*size</c> bytes, and returns the base of its last record in <c>*last</c>. If
        /// <c>capacity</c> is too small, only <c>*size</c> is written. The caller frees
        /// <c>*last</c> with <c>kp_stream_base_free</c>. <c>last</c> may be null.
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
        /// with room for <c>record_count</c> records. Returns the base of the last record in
        /// <c>*last</c>, which the caller frees with <c>kp_stream_base_free</c>. Any bytes are
        /// either refused or decoded to valid records.
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
        /// Like <c>kp_stream_push</c>, but adds the record of a tick of the server, as
        /// <c>kp_input_clock_ticks</c> asks for it. The record's number is the tick modulo 65,536.
        /// Ticks that the clock skipped have no record. If the tick is not after that of the newest
        /// record, or 32,768 or more after it, the sender forgets all records and begins anew.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_push_for_tick(
            ulong sender, uint tick, KpColumn* columns, UIntPtr column_count);

        /// <summary>
        /// Reads the record for a tick, which the server simulates at <c>now_ns</c>, to a target
        /// for each field. If the record did not arrive in time, writes no numbers, and 0 to
        /// <c>*in_time</c>. Most games then repeat the last input, so let the targets be where that
        /// is. <c>in_time</c> may be null. Call this function once for each tick, in order, instead
        /// of <c>kp_stream_read</c>. From then on, acknowledgements tell the client's
        /// <c>KpInputClock</c> how early its records arrive. Send one after each tick, because the
        /// clock follows the network only as fast as they arrive. <c>longest_round_trip_ms</c> must
        /// be at least the time from sending a record until its tick.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_read_for_tick(
            ulong receiver,
            ulong now_ns,
            uint tick,
            KpTarget* targets,
            UIntPtr target_count,
            int* in_time);

        /// <summary>Writes a receiver's view of its stream.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_stream_receiver_status(
            ulong receiver, out StreamReceiverStatus @out);

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
        /// Reads values that <c>kp_values_write</c> wrote, each into its member <c>value</c>. An
        /// unchanged value becomes <c>before</c>. After an error, no value has changed.
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
        /// current tiers are shown until the new ones have caught up. After this call, subscribe to
        /// the tracks of <c>kp_viewer_wanted</c>.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_watch(ulong viewer, uint* tiers, UIntPtr count);

        /// <summary>
        /// Writes the tracks that the viewer needs now: <c>*count</c> tracks, if they fit into
        /// <c>capacity</c>. The tracks change with <c>kp_viewer_watch</c>, <c>kp_viewer_take</c>
        /// and <c>kp_viewer_play</c>. Subscribe to the new tracks, and unsubscribe from the others.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_wanted(
            ulong viewer, Track* tracks, UIntPtr capacity, out UIntPtr count);

        /// <summary>Writes the numbers of the shown tiers, like <c>kp_viewer_wanted</c>.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_shown_tiers(
            ulong viewer, uint* tiers, UIntPtr capacity, out UIntPtr count);

        /// <summary>
        /// Takes an object or a datagram of a track. The objects of a group must be passed in
        /// order. <c>taken</c> may be null. Returns <c>KP_STATUS_DATA</c> for a refused piece,
        /// which changes only counters. A piece is refused if it is invalid, late, of a tier that
        /// is not watched, or after a missing object. If an object is refused, the rest of its
        /// group is refused too. Times are nanoseconds since any fixed moment.
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
        /// Computes the state to show now, which is slightly delayed and interpolated. Read this
        /// state through <c>kp_viewer_shown</c>. Returns <c>KP_STATUS_NOTHING</c> before the first
        /// state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_play(ulong viewer, ulong now_ns, out Playback @out);

        /// <summary>
        /// Writes the first and the last tick that <c>kp_viewer_play_at</c> can show. Returns
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
        /// Returns the state that the viewer shows. The handle stays the same until
        /// <c>kp_viewer_free</c>, which frees it too.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_shown(ulong viewer, out ulong @out);

        /// <summary>
        /// Copies the newest state of the shown tiers into a snapshot of the same schema, without
        /// delay or interpolation. Returns <c>KP_STATUS_NOTHING</c> before the first state.
        /// </summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_newest(ulong viewer, ulong snapshot);

        /// <summary>Writes the counters and measurements of a viewer.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_status(ulong viewer, out ViewerStatus @out);

        /// <summary>Frees a viewer.</summary>
        [DllImport(Name, CallingConvention = Convention)]
        internal static extern Status kp_viewer_free(ulong viewer);
    }
}
