using System;
using Kinepack;

/// <summary>
/// Budgets of a receiver: without a limit, fixed, and what the link carries. Then the uplink.
/// </summary>
internal static class Budgets
{
    private const int TickHz = 60;
    private const int Small = 2000;
    private const ulong Receiver = 42;

    internal static void Run()
    {
        using (Session session = new Session())
        {
            session.Down.LossPercent = session.Up.LossPercent = 0;
            Hub hub = session.Hub;
            int tick = 0;
            Check.That(!hub.LinkOf(Receiver).FollowsLink, "no limit at first");
            long needed = Bytes(session, ref tick, 2);
            Check.That(needed > 3 * Small, "a world that needs more, not " + needed);
            hub.SetBudget(Receiver, Budget.Fixed(Small), Network.TimeNs(tick));
            Check.That(!hub.LinkOf(Receiver).FollowsLink, "a limit that does not change");
            long within = Bytes(session, ref tick, 2);
            Check.That(within <= (2 * Small) + 1228, "bytes within the budget, not " + within);

            hub.SetBudget(Receiver, Budget.Auto(Small), Network.TimeNs(tick));
            Refuses(hub, Network.TimeNs(tick));
            within = Bytes(session, ref tick, 2);
            Check.That(within <= (2 * Small) + 1228, "bytes within the limit, not " + within);
            Check.Equal(hub.LinkOf(Receiver).Limit, LinkLimit.AtMost);
            Check.Equal(hub.LinkOf(Receiver).BytesPerSecond, (uint)Small);
            hub.SetBudget(Receiver, Budget.Auto(1000000), Network.TimeNs(tick));
            Bytes(session, ref tick, 6);
            Follows(hub.LinkOf(Receiver), Bytes(session, ref tick, 2) / 2);

            hub.SetUplink(Small);
            Check.Refused(Status.Argument, () => hub.SetUplink(255));
            within = Bytes(session, ref tick, 2);
            Check.That(within <= (2 * Small) + 1428, "bytes within the uplink, not " + within);
            hub.SetUplink(0);
            hub.SetBudget(Receiver, Budget.Unlimited, Network.TimeNs(tick));
            Check.Equal(hub.LinkOf(Receiver).BytesPerSecond, 0u);
            long again = Bytes(session, ref tick, 2);
            Check.That(again > needed * 3 / 4, "no limit again, not " + again);
        }
    }

    /// <summary>The link carries all that the world needs, with a round trip of 6 ticks.</summary>
    private static void Follows(LinkStatus link, long neededPerSecond)
    {
        Check.That(link.FollowsLink, "a budget that follows the link");
        Check.That(link.BytesPerSecond > neededPerSecond, "a limit above what is needed");
        double delivered = link.DeliveredBytesPerSecond / (double)neededPerSecond;
        Check.That(delivered > 0.5 && delivered < 2.0, "the delivered bytes, not " + delivered);
        ulong sixTicks = Network.TimeNs(6);
        Check.That(link.ShortestRoundTripNs + 2 >= sixTicks, "a round trip of 6 ticks");
        Check.That(link.ShortestRoundTripNs < sixTicks * 3 / 2, "a round trip of 6 ticks");
        Check.That(link.QueueingDelayNs < Network.TimeNs(2), "no queue");
        Check.That(link.InFlightBytes > 100, "bytes in flight");
        Check.Equal(link.LostRatio, 0.0);
    }

    private static void Refuses(Hub hub, ulong now)
    {
        Budget[] bad = { Budget.Fixed(0), Budget.Fixed(255), Budget.Auto(255) };
        foreach (Budget each in bad)
        {
            Check.Refused(Status.Argument, () => hub.SetBudget(Receiver, each, now));
        }
        Check.Refused(Status.Argument, () => hub.SetBudget(43, Budget.Unlimited, now));
        Check.Refused(Status.Argument, () => hub.LinkOf(43));
        Check.Throws<ArgumentOutOfRangeException>(() => Budget.Fixed(-1));
        Check.Throws<ArgumentOutOfRangeException>(() => Budget.Auto(-1));
        Check.Throws<ArgumentOutOfRangeException>(() => hub.SetUplink(-1));
        Check.Equal(hub.LinkOf(Receiver).BytesPerSecond, (uint)Small);
    }

    /// <summary>Runs for some seconds. Returns the bytes sent, with 28 bytes of headers.</summary>
    private static long Bytes(Session session, ref int tick, int seconds)
    {
        HubStatus before = session.Hub.StatusOf(Receiver);
        for (int end = tick + (seconds * TickHz); tick < end;)
        {
            session.Step(++tick);
        }
        HubStatus after = session.Hub.StatusOf(Receiver);
        return (long)(after.Bytes - before.Bytes + (28 * (after.Sent - before.Sent)));
    }
}
