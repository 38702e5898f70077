using System;

/// <summary>
/// One direction of a simulated network: it delays all datagrams, and loses some of them at random.
/// </summary>
public sealed class LossyLink
{
    private const int MaxDatagrams = 64;
    private const int MaxBytes = 1300;

    private readonly byte[][] datagrams = new byte[MaxDatagrams][];
    private readonly int[] sizes = new int[MaxDatagrams];
    private readonly int[] dueTicks = new int[MaxDatagrams];
    private readonly int delayTicks;
    private int begin;
    private int count;
    private uint random;

    /// <summary>Creates a link, whose losses depend only on the seed.</summary>
    public LossyLink(int delayTicks, int lossPercent, uint seed)
    {
        this.delayTicks = delayTicks;
        LossPercent = lossPercent;
        random = seed;
        for (int nth = 0; nth < MaxDatagrams; nth++)
        {
            datagrams[nth] = new byte[MaxBytes];
        }
    }

    /// <summary>The percentage of datagrams that the link loses from now on.</summary>
    public int LossPercent { get; set; }

    /// <summary>Sends a copy of a datagram.</summary>
    public void Send(int tick, byte[] datagram, int size)
    {
        random = (random * 1664525) + 1013904223;
        if ((random >> 16) % 100 < LossPercent)
        {
            return;
        }
        if (count == MaxDatagrams || size > MaxBytes)
        {
            throw new InvalidOperationException("The link is full.");
        }
        int place = (begin + count) % MaxDatagrams;
        Buffer.BlockCopy(datagram, 0, datagrams[place], 0, size);
        sizes[place] = size;
        dueTicks[place] = tick + delayTicks;
        count++;
    }

    /// <summary>Copies the next datagram that has arrived, if there is one.</summary>
    public bool TryTake(int tick, byte[] datagram, out int size)
    {
        size = 0;
        if (count == 0 || dueTicks[begin] > tick)
        {
            return false;
        }
        size = sizes[begin];
        Buffer.BlockCopy(datagrams[begin], 0, datagram, 0, size);
        begin = (begin + 1) % MaxDatagrams;
        count--;
        return true;
    }
}
