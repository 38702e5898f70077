namespace Kinepack
{
    /// <summary>How a hub sends. A number of 0 selects the default.</summary>
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
        /// The bytes that the transport adds to each datagram. Budgets include them. The default is
        /// 28.
        /// </summary>
        public int OverheadBytes { get; set; }

        /// <summary>The most datagrams for a receiver in a tick. The default is 4.</summary>
        public int DatagramsPerTick { get; set; }

        /// <summary>The kinds of events, or null for none.</summary>
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

    /// <summary>How a receiver works. A number of 0 selects the default.</summary>
    public sealed class ReceiverOptions
    {
        /// <summary>The channel of the hub, which distinguishes hubs on one connection.</summary>
        public int Channel { get; set; }

        /// <summary>
        /// The least delay of the shown state, in milliseconds. By default, the network alone
        /// determines it.
        /// </summary>
        public int MinDelayMs { get; set; }

        /// <summary>
        /// The largest delay of the shown state, in milliseconds. The default is 500.
        /// </summary>
        public int MaxDelayMs { get; set; }

        /// <summary>
        /// The most memory for views and states, in bytes. The default is 128 MiB.
        /// </summary>
        public long MaxMemoryBytes { get; set; }

        /// <summary>The kinds of events of the hub, or null for none.</summary>
        public Events Events { get; set; }

        internal Native.KpReceiverOptions ToNative()
        {
            Require.NotNegative(Channel, nameof(Channel));
            Require.NotNegative(MinDelayMs, nameof(MinDelayMs));
            Require.NotNegative(MaxDelayMs, nameof(MaxDelayMs));
            Require.NotNegative(MaxMemoryBytes, nameof(MaxMemoryBytes));
            return new Native.KpReceiverOptions
            {
                channel = (uint)Channel,
                min_delay_ms = (uint)MinDelayMs,
                max_delay_ms = (uint)MaxDelayMs,
                max_memory_bytes = (ulong)MaxMemoryBytes,
                events = Events == null ? 0 : Events.Id,
            };
        }
    }

    public readonly partial struct HubStatus
    {
        /// <summary>Whether the receiver's hello was accepted.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>Datagrams sent.</summary>
        public ulong Sent => sent;

        /// <summary>Sent datagrams that were acknowledged.</summary>
        public ulong Acknowledged => acknowledged;

        /// <summary>Sent datagrams that were overtaken or not acknowledged in time.</summary>
        public ulong Lost => lost;

        /// <summary>Bytes sent, without the transport's headers.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending a datagram to its acknowledgement, in milliseconds;
        /// negative before the first.
        /// </summary>
        public double RoundTripMs => round_trip_ms;

        /// <summary>Entities that should have been sent in the last tick but did not fit.</summary>
        public ulong Waiting => waiting;

        /// <summary>Events that have not been sent yet.</summary>
        public ulong WaitingEvents => waiting_events;

        /// <summary>
        /// Events that must arrive but never will, because too many were waiting. If there are any,
        /// remove the receiver.
        /// </summary>
        public ulong RefusedEvents => refused_events;
    }

    public readonly partial struct ReceiverStatus
    {
        /// <summary>Whether a snapshot was accepted.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>Datagrams accepted.</summary>
        public ulong Received => received;

        /// <summary>Datagrams refused, including duplicates.</summary>
        public ulong Refused => refused;

        /// <summary>Missing datagrams of the hub.</summary>
        public ulong Lost => lost;

        /// <summary>Bytes of all datagrams.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending an acknowledgement to the first snapshot that builds on
        /// it, in milliseconds; negative before the first such snapshot.
        /// </summary>
        public double RoundTripMs => round_trip_ms;

        /// <summary>
        /// The fractional tick that the server simulates now; negative while it is unknown.
        /// </summary>
        public double ServerTick => server_tick;
    }
}
