using System;

namespace Kinepack
{
    /// <summary>
    /// How an input clock trades delay for inputs that arrive in time. A number of 0 selects the
    /// default, which suits the open Internet.
    /// </summary>
    public sealed class InputClockOptions
    {
        /// <summary>
        /// The share of inputs that should arrive in time, at most 1. A late input costs a wrong
        /// prediction; a longer lead costs delay in each input's effect. The default is 0.998.
        /// </summary>
        public float InTimeRatio { get; set; }

        /// <summary>
        /// How much faster or slower the clock may run, at most 0.5. The default is 0.05.
        /// </summary>
        public float SlewRatio { get; set; }

        /// <summary>
        /// How early the latest of these inputs should arrive, in milliseconds, for the server's
        /// own delays, such as reading its socket only once in each tick. The default is 2. A
        /// negative number means no margin.
        /// </summary>
        public int MarginMs { get; set; }

        /// <summary>
        /// If inputs are later than they should be by more milliseconds than this, the clock jumps
        /// forward. Until then, the clock only runs faster. The default is 70.
        /// </summary>
        public int JumpForwardMs { get; set; }

        /// <summary>
        /// If inputs are earlier than they should be by more milliseconds than this, the clock
        /// jumps back: there are no ticks for that time. Until then, the clock only runs slower.
        /// The default is 500.
        /// </summary>
        public int JumpBackMs { get; set; }

        /// <summary>
        /// How long a late input is remembered, in milliseconds. The default is 10,000.
        /// </summary>
        public int WindowMs { get; set; }

        /// <summary>
        /// The longest time between two calls of <see cref="InputClock.Ticks"/> that counts as
        /// usual, in milliseconds. The clock learns nothing from the inputs after a longer pause.
        /// The default is 100.
        /// </summary>
        public int LongestFrameMs { get; set; }

        internal Native.KpInputClockOptions ToNative()
        {
            Require.NotNegative(JumpForwardMs, nameof(JumpForwardMs));
            Require.NotNegative(JumpBackMs, nameof(JumpBackMs));
            Require.NotNegative(WindowMs, nameof(WindowMs));
            Require.NotNegative(LongestFrameMs, nameof(LongestFrameMs));
            return new Native.KpInputClockOptions
            {
                in_time_ratio = InTimeRatio,
                slew_ratio = SlewRatio,
                margin_ms = MarginMs,
                jump_forward_ms = (uint)JumpForwardMs,
                jump_back_ms = (uint)JumpBackMs,
                window_ms = (uint)WindowMs,
                longest_frame_ms = (uint)LongestFrameMs,
            };
        }
    }

    public readonly partial struct InputClockStatus
    {
        /// <summary>Whether the clock was started.</summary>
        public bool IsStarted => started != 0;

        /// <summary>The number of ticks that the clock returned.</summary>
        public ulong Ticks => ticks;

        /// <summary>
        /// The number of ticks that the clock skipped, because they were too many to simulate at
        /// once.
        /// </summary>
        public ulong Skipped => skipped;

        /// <summary>
        /// How many times the clock jumped forward or back, instead of running faster or slower.
        /// </summary>
        public ulong Jumps => jumps;

        /// <summary>The number of reports that the clock learned from.</summary>
        public ulong Reports => reports;

        /// <summary>
        /// How early the input of the last report arrived, in ticks. Negative if it was late. About
        /// half of the reports are of the least early of 16 inputs.
        /// </summary>
        public double EarlyTicks => early_ticks;

        /// <summary>
        /// How far the clock is from the lead that it needs, in milliseconds. Positive if the clock
        /// runs faster to get there.
        /// </summary>
        public double ErrorMs => error_ms;
    }

    /// <summary>
    /// The clock of a client that simulates its own inputs ahead of the server. It leads the server
    /// by the time that inputs need, plus a margin for their jitter. It follows the network by
    /// running a few per cent faster or slower. The tick never goes backwards until the next start.
    /// All times are nanoseconds since any fixed moment.
    /// </summary>
    public sealed class InputClock : NativeObject
    {
        /// <summary>The maximum number of ticks to simulate at once.</summary>
        public const int MaxTicks = 16;

        /// <summary>Creates a clock that waits for its start.</summary>
        /// <param name="tickHz">The ticks per second of the server.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe InputClock(int tickHz, InputClockOptions options = null)
        {
            Require.NotNegative(tickHz, nameof(tickHz));
            Native.KpInputClockOptions native = (options ?? new InputClockOptions()).ToNative();
            Check(Native.kp_input_clock_new((uint)tickHz, &native, out ulong made));
            Own(made);
        }

        /// <summary>
        /// Starts the clock. Start it again after a reconnection, or if the server's ticks start
        /// again. This forgets what the clock learned.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="tick">
        /// The server's tick when an input that is sent now arrives, plus one or two. It may have a
        /// fraction. An error costs late inputs, or a longer delay, for one round trip.
        /// </param>
        /// <exception cref="KinepackException">
        /// The tick is negative, too large or not a number. Nothing has changed.
        /// </exception>
        public void Start(ulong nowNs, double tick)
        {
            Check(Native.kp_input_clock_start(Id, nowNs, tick));
        }

        /// <summary>
        /// Starts the clock from what a receiver of the same server knows: the server's tick, and
        /// the round trip.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="receiver">The receiver.</param>
        /// <returns>
        /// False as long as the receiver does not know these. Then nothing has changed.
        /// </returns>
        public bool TryStart(ulong nowNs, Receiver receiver)
        {
            Require.NotNull(receiver, nameof(receiver));
            Status status = Native.kp_input_clock_start_from(Id, nowNs, receiver.Id);
            GC.KeepAlive(receiver);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>
        /// Returns the ticks to simulate now. Call it in each frame, and
        /// <see cref="StreamSender.PushForTick"/> for each tick. If more than
        /// <see cref="MaxTicks"/> became due since the last call, for example because the game was
        /// in the background, the earlier ones are skipped.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="first">The first tick. The others follow it one by one.</param>
        /// <returns>The number of ticks. 0 before the start.</returns>
        public int Ticks(ulong nowNs, out uint first)
        {
            Check(Native.kp_input_clock_ticks(Id, nowNs, out first, out UIntPtr count));
            return Interop.ToSize(count);
        }

        /// <summary>
        /// Returns the clock's tick at the last call. The newest tick of <see cref="Ticks"/> is the
        /// whole part, unless the clock jumped back.
        /// </summary>
        /// <param name="tick">The tick, with its fraction.</param>
        /// <returns>False before the start.</returns>
        public bool TryTick(out double tick)
        {
            return Succeeds(Native.kp_input_clock_tick(Id, out tick), Status.Nothing);
        }

        /// <summary>
        /// Handles an acknowledgement of the stream of inputs, like
        /// <see cref="StreamSender.Handle"/>, and shows it to the clock, which learns how early the
        /// inputs arrive. Call it instead of that method. The server must read the inputs with
        /// <see cref="StreamReceiver.TryReadForTick"/>.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="sender">The sender of the inputs.</param>
        /// <param name="datagram">The acknowledgement.</param>
        /// <returns>
        /// False if it was refused. A refused acknowledgement changes only a counter.
        /// </returns>
        public unsafe bool Handle(
            ulong nowNs, StreamSender sender, ArraySegment<byte> datagram)
        {
            Require.NotNull(sender, nameof(sender));
            Require.Holds(datagram, nameof(datagram));
            fixed (byte* first = datagram.Array)
            {
                byte* begin = first + datagram.Offset;
                UIntPtr size = (UIntPtr)datagram.Count;
                Status status = Native.kp_input_clock_handle(Id, nowNs, sender.Id, begin, size);
                GC.KeepAlive(sender);
                return Succeeds(status, Status.Data);
            }
        }

        /// <summary>Returns measurements of the clock.</summary>
        public InputClockStatus ReadStatus()
        {
            Check(Native.kp_input_clock_status(Id, out InputClockStatus status));
            return status;
        }

        internal override Status Free(ulong freed) => Native.kp_input_clock_free(freed);
    }
}
