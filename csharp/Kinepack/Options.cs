using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>How a hub sends. A number of 0 takes the default.</summary>
    public sealed class HubOptions
    {
        /// <summary>
        /// The largest datagram that the transport carries, without its own headers, in bytes. The
        /// default is 1,200.
        /// </summary>
        public int DatagramBytes { get; set; }

        /// <summary>The number of the hub among those on one connection.</summary>
        public int Channel { get; set; }

        /// <summary>
        /// The bytes that the transport adds to each datagram, which budgets include. The default
        /// is 28.
        /// </summary>
        public int OverheadBytes { get; set; }

        /// <summary>The most datagrams that a receiver gets in a tick. The default is 4.</summary>
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

    /// <summary>How a receiver works. A number of 0 takes the default.</summary>
    public sealed class ReceiverOptions
    {
        /// <summary>The number of the hub among those on one connection.</summary>
        public int Channel { get; set; }

        /// <summary>
        /// The least delay of what is shown, in milliseconds. By default the network alone decides.
        /// </summary>
        public int MinDelayMs { get; set; }

        /// <summary>
        /// The largest delay of what is shown, in milliseconds. The default is 500.
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

    /// <summary>What a hub knows of a receiver.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct HubStatus
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly int joined;
        private readonly ulong sent;
        private readonly ulong acknowledged;
        private readonly ulong lost;
        private readonly ulong bytes;
        private readonly double roundTripMs;
        private readonly ulong waiting;
        private readonly ulong waitingEvents;
        private readonly ulong refusedEvents;
#pragma warning restore 0649

        /// <summary>Whether the receiver's hello was accepted.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>Datagrams sent.</summary>
        public ulong Sent => sent;

        /// <summary>Datagrams that were acknowledged.</summary>
        public ulong Acknowledged => acknowledged;

        /// <summary>Datagrams that were overtaken or not acknowledged in time.</summary>
        public ulong Lost => lost;

        /// <summary>Bytes sent, without the transport's headers.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending a datagram to its acknowledgement, in milliseconds. It is
        /// negative before the first.
        /// </summary>
        public double RoundTripMs => roundTripMs;

        /// <summary>Entities that the last tick should have sent but that did not fit.</summary>
        public ulong Waiting => waiting;

        /// <summary>Events that were never sent yet.</summary>
        public ulong WaitingEvents => waitingEvents;

        /// <summary>
        /// Events that must arrive and never will, because too many waited. If there are any, remove
        /// the receiver.
        /// </summary>
        public ulong RefusedEvents => refusedEvents;
    }

    /// <summary>What a receiver knows of its connection.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct ReceiverStatus
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly int joined;
        private readonly ulong received;
        private readonly ulong refused;
        private readonly ulong lost;
        private readonly ulong bytes;
        private readonly double roundTripMs;
        private readonly double serverTick;
#pragma warning restore 0649

        /// <summary>Whether a snapshot was taken.</summary>
        public bool HasJoined => joined != 0;

        /// <summary>Datagrams taken.</summary>
        public ulong Received => received;

        /// <summary>Datagrams refused, including duplicates.</summary>
        public ulong Refused => refused;

        /// <summary>Datagrams of the hub that are missing.</summary>
        public ulong Lost => lost;

        /// <summary>Bytes of all datagrams.</summary>
        public ulong Bytes => bytes;

        /// <summary>
        /// The smoothed time from sending an acknowledgement to the first snapshot that builds on
        /// it, in milliseconds. It is negative before the first.
        /// </summary>
        public double RoundTripMs => roundTripMs;

        /// <summary>
        /// The tick that the server simulates now, with its fraction. It is negative while unknown.
        /// </summary>
        public double ServerTick => serverTick;
    }
}
