namespace Kinepack
{
    /// <summary>The settings of a hub. A number of 0 selects the default.</summary>
    public sealed class HubOptions
    {
        /// <summary>
        /// The largest datagram that the transport carries, without its own headers, in bytes. The
        /// default is 1,200.
        /// </summary>
        public int DatagramBytes { get; set; }

        /// <summary>The channel of the hub, which distinguishes hubs on one connection.</summary>
        public int Channel { get; set; }

        /// <summary>
        /// The number of bytes that the transport adds to each datagram. Budgets include these
        /// bytes. The default is 28.
        /// </summary>
        public int OverheadBytes { get; set; }

        /// <summary>
        /// The maximum number of datagrams for a receiver in a tick. The default is 4.
        /// </summary>
        public int DatagramsPerTick { get; set; }

        /// <summary>The kinds of events, or null for no events.</summary>
        public Events Events { get; set; }

        internal Native.KpHubOptions ToNative()
        {
            Require.NotNegative(DatagramBytes, nameof(DatagramBytes));
            Require.NotNegative(Channel, nameof(Channel));
            Require.NotNegative(OverheadBytes, nameof(OverheadBytes));
            Require.NotNegative(DatagramsPerTick, nameof(DatagramsPerTick));
            return new Native.KpHubOptions
            {
                datagram_bytes = (uint)DatagramBytes,
                channel = (uint)Channel,
                overhead_bytes = (uint)OverheadBytes,
                datagrams_per_tick = (uint)DatagramsPerTick,
                events = Events == null ? 0 : Events.Id,
            };
        }
    }

    /// <summary>The settings of a receiver. A number of 0 selects the default.</summary>
    public sealed class ReceiverOptions
    {
        /// <summary>The channel of the hub, which distinguishes hubs on one connection.</summary>
        public int Channel { get; set; }

        /// <summary>
        /// The shortest delay of the shown state, in milliseconds. By default, it depends on the
        /// network alone.
        /// </summary>
        public int MinDelayMs { get; set; }

        /// <summary>
        /// The longest delay of the shown state, in milliseconds. The default is 500.
        /// </summary>
        public int MaxDelayMs { get; set; }

        /// <summary>
        /// The longest time over which an entity's motion is blended, in milliseconds. If an entity
        /// was not refreshed for longer than this, its motion takes this time and ends in the
        /// newest state. Playback does not wait for entities whose turns, as in <see cref="Ring"/>,
        /// are longer than this. The default is 250.
        /// </summary>
        public int LongestBlendMs { get; set; }

        /// <summary>
        /// The maximum memory for views and states, in bytes. The default is 128 MiB.
        /// </summary>
        public long MaxMemoryBytes { get; set; }

        /// <summary>The kinds of events of the hub, or null for no events.</summary>
        public Events Events { get; set; }

        internal Native.KpReceiverOptions ToNative()
        {
            Require.NotNegative(Channel, nameof(Channel));
            Require.NotNegative(MinDelayMs, nameof(MinDelayMs));
            Require.NotNegative(MaxDelayMs, nameof(MaxDelayMs));
            Require.NotNegative(LongestBlendMs, nameof(LongestBlendMs));
            Require.NotNegative(MaxMemoryBytes, nameof(MaxMemoryBytes));
            return new Native.KpReceiverOptions
            {
                channel = (uint)Channel,
                min_delay_ms = (uint)MinDelayMs,
                max_delay_ms = (uint)MaxDelayMs,
                longest_blend_ms = (uint)LongestBlendMs,
                max_memory_bytes = (ulong)MaxMemoryBytes,
                events = Events == null ? 0 : Events.Id,
            };
        }
    }

    public readonly partial struct HubStatus
    {
        /// <summary>Whether the receiver's hello was accepted.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>The number of datagrams sent.</summary>
        public ulong Sent => sent;

        /// <summary>The number of sent datagrams that were acknowledged.</summary>
        public ulong Acknowledged => acknowledged;

        /// <summary>
        /// The number of sent datagrams that were overtaken or not acknowledged in time.
        /// </summary>
        public ulong Lost => lost;

        /// <summary>The number of bytes sent, without the transport's headers.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending a datagram to its acknowledgement, in milliseconds.
        /// Negative before the first acknowledgement.
        /// </summary>
        public double RoundTripMs => round_trip_ms;

        /// <summary>
        /// The number of entities that should have been sent in the last tick but did not fit.
        /// </summary>
        public ulong Waiting => waiting;

        /// <summary>The number of events that have not been sent yet.</summary>
        public ulong WaitingEvents => waiting_events;

        /// <summary>
        /// The number of events that must arrive but never will, because too many were waiting. If
        /// it is not 0, remove the receiver.
        /// </summary>
        public ulong RefusedEvents => refused_events;
    }

    public readonly partial struct ReceiverStatus
    {
        /// <summary>Whether a snapshot was accepted.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>The number of datagrams accepted.</summary>
        public ulong Received => received;

        /// <summary>The number of datagrams refused, including duplicates.</summary>
        public ulong Refused => refused;

        /// <summary>The number of missing datagrams of the hub.</summary>
        public ulong Lost => lost;

        /// <summary>The number of bytes of all datagrams.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending an acknowledgement to the first snapshot that builds on
        /// it, in milliseconds. It is negative before the first such snapshot.
        /// </summary>
        public double RoundTripMs => round_trip_ms;

        /// <summary>
        /// The fractional tick that the server simulates now. It is negative while it is unknown.
        /// </summary>
        public double ServerTick => server_tick;
    }
}
