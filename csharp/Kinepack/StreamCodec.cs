using System;

namespace Kinepack
{
    /// <summary>
    /// The base that a packet of a <see cref="StreamCodec"/> is coded against. It contains a record
    /// that both sides hold, and the model trained up to that record.
    /// </summary>
    public sealed class StreamBase : NativeObject
    {
        /// <summary>
        /// Creates the base before the first record. A packet that is coded against this base needs
        /// no earlier packet.
        /// </summary>
        /// <param name="codec">The codec.</param>
        public StreamBase(StreamCodec codec)
        {
            Require.NotNull(codec, nameof(codec));
            codec.Check(Native.kp_stream_base_new(codec.Id, out ulong made));
            Own(made);
        }

        internal override Status Free(ulong freed) => Native.kp_stream_base_free(freed);
    }

    /// <summary>
    /// Codes records such as inputs into packets without headers, for custom protocols. The
    /// protocol must transmit the number of records of each packet, the base and the lag. The lag
    /// is the distance in records from the base to the first record.
    /// </summary>
    public sealed class StreamCodec : NativeObject
    {
        /// <summary>The maximum number of records in a packet.</summary>
        public const int MaxRecords = 4096;

        private readonly Field[][] table;

        /// <summary>Creates a codec.</summary>
        /// <param name="schema">The schema of the records, with one kind.</param>
        /// <param name="level"><see cref="Level.Packed"/> or <see cref="Level.Adaptive"/>.</param>
        public StreamCodec(Schema schema, string level)
        {
            Require.NotNull(schema, nameof(schema));
            byte[] name = Interop.ToText(level, nameof(level));
            schema.Check(Native.kp_stream_codec_new(schema.Id, name, out ulong made));
            Own(made);
            table = schema.Table;
        }

        /// <summary>
        /// A hash of the schema and the level. If two sides have equal hashes, they have the same
        /// codec.
        /// </summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_stream_codec_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>Encodes records.</summary>
        /// <param name="before">A base that the other side holds.</param>
        /// <param name="lag">
        /// The distance in records from the base to the first encoded record, at least 1. If the
        /// base is the one before the first record, the lag is ignored.
        /// </param>
        /// <param name="columns">Memory with the records, oldest first, for each field.</param>
        /// <param name="count">The number of records, from 1 to <see cref="MaxRecords"/>.</param>
        /// <param name="packet">The array to write the packet to.</param>
        /// <param name="size">
        /// The size of the packet in bytes, even if the array is too short.
        /// </param>
        /// <param name="last">
        /// The object that gets the base of the last record. It may be <paramref name="before"/>,
        /// or null.
        /// </param>
        /// <returns>False if the array is too short. Then nothing has changed.</returns>
        /// <exception cref="KinepackException">
        /// A value is out of its range, or the base is of another codec.
        /// </exception>
        public unsafe bool TryEncode(
            StreamBase before,
            int lag,
            Columns columns,
            int count,
            byte[] packet,
            out int size,
            StreamBase last)
        {
            Require.NotNull(before, nameof(before));
            Require.NotNull(columns, nameof(columns));
            Require.NotNegative(count, nameof(count));
            Require.NotNull(packet, nameof(packet));
            ulong made = last == null ? 0 : last.Id;
            ulong* after = last == null ? null : &made;
            UIntPtr needed;
            bool fits;
            using (columns.PinToRead(table, count))
            fixed (Native.KpColumn* from = columns.ToRead)
            fixed (byte* to = packet)
            {
                Status status = Native.kp_stream_encode(
                    Id,
                    before.Id,
                    Lag(lag),
                    from,
                    (UIntPtr)columns.ToRead.Length,
                    (UIntPtr)count,
                    to,
                    (UIntPtr)packet.Length,
                    out needed,
                    after);
                fits = Succeeds(status, Status.Size);
            }
            GC.KeepAlive(before);
            if (fits && last != null)
            {
                last.Replace(made);
            }
            size = Interop.ToSize(needed);
            return fits;
        }

        /// <summary>Decodes records into the memory of columns.</summary>
        /// <param name="before">The base that the packet was encoded against.</param>
        /// <param name="lag">The lag that the packet was encoded with.</param>
        /// <param name="packet">The packet to decode.</param>
        /// <param name="count">The number of records in the packet.</param>
        /// <param name="columns">
        /// Memory for the records of the fields to write. Fields without memory are skipped.
        /// </param>
        /// <param name="last">
        /// The object that gets the base of the last record. It may be <paramref name="before"/>.
        /// </param>
        /// <returns>False if the packet is invalid. Then nothing has changed.</returns>
        /// <exception cref="KinepackException">
        /// The memory is too small, or the base is of another codec.
        /// </exception>
        public unsafe bool TryDecode(
            StreamBase before,
            int lag,
            ArraySegment<byte> packet,
            int count,
            Columns columns,
            StreamBase last)
        {
            Require.NotNull(before, nameof(before));
            Require.Holds(packet, nameof(packet));
            Require.NotNegative(count, nameof(count));
            Require.NotNull(columns, nameof(columns));
            Require.NotNull(last, nameof(last));
            // Reading the id throws if the base was disposed, before any work is done.
            ulong made = last.Id;
            using (columns.PinToWrite(table, out UIntPtr capacity))
            fixed (Native.KpTarget* to = columns.ToWrite)
            fixed (byte* from = packet.Array)
            {
                if ((ulong)count > (ulong)capacity)
                {
                    string text = "A field has no memory for " + count + " records.";
                    throw new ArgumentException(text, nameof(columns));
                }
                Status status = Native.kp_stream_decode(
                    Id,
                    before.Id,
                    Lag(lag),
                    from + packet.Offset,
                    (UIntPtr)packet.Count,
                    (UIntPtr)count,
                    to,
                    (UIntPtr)columns.ToWrite.Length,
                    out made);
                if (!Succeeds(status, Status.Data))
                {
                    return false;
                }
            }
            GC.KeepAlive(before);
            last.Replace(made);
            return true;
        }

        internal override Status Free(ulong freed) => Native.kp_stream_codec_free(freed);

        private static ushort Lag(int lag)
        {
            if (lag < 0 || lag > ushort.MaxValue)
            {
                throw new ArgumentOutOfRangeException(nameof(lag), lag, "It is not 0 to 65,535.");
            }
            return (ushort)lag;
        }
    }
}
