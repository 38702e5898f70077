namespace Kinepack
{
    /// <summary>
    /// How many bytes per second a receiver gets, including the transport's headers. If a change of
    /// the world does not fit, the entities that matter most are sent, and the others follow later.
    /// The default is <see cref="Unlimited"/>.
    /// </summary>
    public readonly struct Budget
    {
        private readonly BudgetKind kind;
        private readonly int bytesPerSecond;

        private Budget(BudgetKind kind, int bytesPerSecond)
        {
            Require.NotNegative(bytesPerSecond, nameof(bytesPerSecond));
            this.kind = kind;
            this.bytesPerSecond = bytesPerSecond;
        }

        /// <summary>No limit except <see cref="HubOptions.DatagramsPerTick"/>.</summary>
        public static Budget Unlimited => default(Budget);

        /// <summary>
        /// A limit that does not change. In any t seconds, the receiver gets at most t times the
        /// budget, plus a burst: a tenth of a second of the budget, or a full datagram if that is
        /// more.
        /// </summary>
        /// <param name="bytesPerSecond">The number of bytes per second, at least 256.</param>
        public static Budget Fixed(int bytesPerSecond)
        {
            return new Budget(BudgetKind.Fixed, bytesPerSecond);
        }

        /// <summary>
        /// A limit that follows the link. It begins at 50,000 bytes per second. It falls when
        /// datagrams wait in a queue of the link, and grows while it holds changes back.
        /// </summary>
        /// <param name="atMost">The largest limit in bytes per second, at least 256.</param>
        public static Budget Auto(int atMost)
        {
            return new Budget(BudgetKind.Auto, atMost);
        }

        internal Native.KpBudget ToNative()
        {
            return new Native.KpBudget { kind = (int)kind, bytes_per_s = (uint)bytesPerSecond };
        }
    }

    public readonly partial struct LinkStatus
    {
        /// <summary>
        /// Whether the receiver's budget follows the link. If not, all other properties are 0.
        /// </summary>
        public bool FollowsLink => follows_link != 0;

        /// <summary>What determines the bytes that are sent.</summary>
        public LinkLimit Limit => limit;

        /// <summary>The number of bytes that may be sent per second.</summary>
        public uint BytesPerSecond => bytes_per_s;

        /// <summary>
        /// The number of bytes per second that were acknowledged in the last quarter of a second.
        /// It is 0 before enough acknowledgements.
        /// </summary>
        public uint DeliveredBytesPerSecond => delivered_bytes_per_s;

        /// <summary>How long datagrams wait in queues, in nanoseconds.</summary>
        public ulong QueueingDelayNs => queueing_delay_ns;

        /// <summary>
        /// The shortest round trip of the last five to ten seconds, in nanoseconds. It is 0 before
        /// the first acknowledgement.
        /// </summary>
        public ulong ShortestRoundTripNs => shortest_round_trip_ns;

        /// <summary>
        /// The number of bytes that were sent, and are neither acknowledged nor lost.
        /// </summary>
        public ulong InFlightBytes => in_flight_bytes;

        /// <summary>The share of datagrams lost recently, from 0 to 1.</summary>
        public double LostRatio => lost_ratio;
    }

    /// <content>Budgets that may follow the link, and the uplink that receivers divide.</content>
    public sealed partial class Hub
    {
        /// <summary>
        /// Sets how many bytes per second a receiver gets, after <see cref="Add"/> or at any time
        /// while the receiver plays. A larger budget has no immediate effect, because it only makes
        /// unused budget accumulate faster.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="budget">The budget.</param>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <exception cref="KinepackException">
        /// The budget is below 256 bytes per second, or the hub has no such receiver. Nothing has
        /// changed.
        /// </exception>
        public void SetBudget(ulong receiver, Budget budget, ulong nowNs)
        {
            Native.KpBudget native = budget.ToNative();
            Check(Native.kp_hub_set_budget(Id, receiver, ref native, nowNs));
        }

        /// <summary>
        /// Limits the bytes per second of all receivers together, including the transport's
        /// headers, for example to the rate of a server's connection. The receivers divide the
        /// limit equally. What one receiver does not need is left for the others.
        /// </summary>
        /// <param name="bytesPerSecond">
        /// The number of bytes per second, at least 256. 0, as at first, sets no limit.
        /// </param>
        /// <exception cref="KinepackException">
        /// The limit is below 256 bytes per second. Nothing has changed.
        /// </exception>
        public void SetUplink(int bytesPerSecond)
        {
            Require.NotNegative(bytesPerSecond, nameof(bytesPerSecond));
            Check(Native.kp_hub_set_uplink(Id, (uint)bytesPerSecond));
        }

        /// <summary>
        /// Returns what the hub knows of the link to a receiver, as of the last tick.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        public LinkStatus LinkOf(ulong receiver)
        {
            Check(Native.kp_hub_link(Id, receiver, out LinkStatus link));
            return link;
        }
    }
}
