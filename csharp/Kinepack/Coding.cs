using System;

namespace Kinepack
{
    /// <summary>The names of the levels, which trade time for bits.</summary>
    public static class Level
    {
        /// <summary>The level that takes the least time.</summary>
        public const string Packed = "packed";

        /// <summary>The level that takes few bits.</summary>
        public const string Adaptive = "adaptive";

        /// <summary>
        /// The level that takes the fewest bits, because the models learn from each packet.
        /// </summary>
        public const string Learning = "learning";
    }

    /// <summary>
    /// Defines how the snapshots of a schema are coded. Both sides need the same codec. Immutable.
    /// </summary>
    public sealed class Codec : NativeObject
    {
        /// <summary>Creates a codec for a schema.</summary>
        /// <param name="schema">The schema of the snapshots.</param>
        /// <param name="level">One of the constants of <see cref="Level"/>.</param>
        /// <param name="profile">
        /// A profile file that was trained for the schema. Null or empty for no profile.
        /// </param>
        public unsafe Codec(Schema schema, string level, byte[] profile = null)
        {
            Require.NotNull(schema, nameof(schema));
            byte[] name = Interop.ToText(level, nameof(level));
            fixed (byte* first = profile)
            {
                UIntPtr size = (UIntPtr)(profile == null ? 0 : profile.Length);
                schema.Check(
                    Native.kp_codec_new(schema.Id, name, first, size, out ulong made));
                Own(made);
            }
            Table = schema.Table;
        }

        /// <summary>
        /// A hash of the schema, the level, the profile and the time precision. Two sides can read
        /// each other's packets only if their hashes are equal. Hubs and receivers compare the
        /// hashes themselves.
        /// </summary>
        public ulong Hash
        {
            get
            {
                Check(Native.kp_codec_hash(Id, out ulong hash));
                return hash;
            }
        }

        /// <summary>The fields of each kind of the schema.</summary>
        internal Field[][] Table { get; }

        /// <summary>
        /// Returns the widths and code words of the profile as text, for tools. The text does not
        /// include the model of the adaptive levels.
        /// </summary>
        public unsafe string DescribeProfile()
        {
            return ReadText((byte* text, UIntPtr capacity, out UIntPtr size) =>
                Native.kp_codec_profile_text(Id, text, capacity, out size));
        }

        internal override Status Free(ulong freed) => Native.kp_codec_free(freed);
    }

    /// <summary>
    /// Holds the view that both sides hold after a packet: a snapshot, and the trained state of the
    /// models. An encoder or a decoder replaces this view by the view of the next packet.
    /// </summary>
    public sealed class View : NativeObject
    {
        /// <summary>The maximum number of views that a packet can be coded against.</summary>
        public const int MaxBaselines = 4;

        /// <summary>Creates the empty view with which both sides begin.</summary>
        /// <param name="schema">The schema of the snapshots.</param>
        public View(Schema schema)
        {
            Require.NotNull(schema, nameof(schema));
            schema.Check(Native.kp_view_empty(schema.Id, out ulong made));
            Own(made);
        }

        /// <summary>
        /// Creates the view of a state that both sides hold, such as a saved state.
        /// </summary>
        /// <param name="state">The state that both sides hold.</param>
        public View(Snapshot state)
        {
            Require.NotNull(state, nameof(state));
            state.Check(Native.kp_view_of(state.Id, out ulong made));
            Own(made);
        }

        /// <summary>The tick of the view.</summary>
        public uint Tick
        {
            get
            {
                Check(Native.kp_view_tick(Id, out uint tick));
                return tick;
            }
        }

        /// <summary>
        /// A 16-bit hash of the tick and the state. Two sides that hold the same tick and state
        /// have the same check.
        /// </summary>
        public ushort StateCheck
        {
            get
            {
                Check(Native.kp_view_check(Id, out ushort check));
                return check;
            }
        }

        /// <summary>Copies the state of the view into a snapshot of the same schema.</summary>
        /// <param name="snapshot">The snapshot to fill.</param>
        public void CopyTo(Snapshot snapshot)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Check(Native.kp_view_get(Id, snapshot.Id));
            GC.KeepAlive(snapshot);
        }

        internal override Status Free(ulong freed) => Native.kp_view_free(freed);

        /// <summary>
        /// Writes the handles of baselines to <paramref name="to"/>, for one call.
        /// </summary>
        internal static unsafe UIntPtr Handles(View[] baselines, int count, ulong* to)
        {
            Require.Holds(baselines, count, nameof(baselines));
            if (count == 0 || count > MaxBaselines)
            {
                string text = "A packet needs 1 to 4 baselines.";
                throw new ArgumentOutOfRangeException(nameof(count), count, text);
            }
            for (int nth = 0; nth < count; nth++)
            {
                View view = baselines[nth];
                Require.NotNull(view, nameof(baselines));
                to[nth] = view.Id;
            }
            return (UIntPtr)count;
        }
    }

    /// <summary>Encodes snapshots relative to views that the other side holds.</summary>
    public sealed class Encoder : NativeObject
    {
        /// <summary>Creates an encoder.</summary>
        /// <param name="codec">The codec, which both sides need.</param>
        public Encoder(Codec codec)
        {
            Require.NotNull(codec, nameof(codec));
            codec.Check(Native.kp_encoder_new(codec.Id, out ulong made));
            Own(made);
        }

        /// <summary>Encodes a snapshot relative to one view.</summary>
        /// <param name="baseline">A view that the other side holds.</param>
        /// <param name="snapshot">The snapshot to encode.</param>
        /// <param name="packet">The array to write the packet to.</param>
        /// <param name="size">
        /// The size of the packet in bytes, even if the array is too short.
        /// </param>
        /// <param name="result">
        /// The object that gets the view that the other side will have. It may be the baseline, or
        /// null.
        /// </param>
        /// <returns>False if the array is too short. Then nothing has changed.</returns>
        public unsafe bool TryEncode(
            View baseline, Snapshot snapshot, byte[] packet, out int size, View result)
        {
            Require.NotNull(baseline, nameof(baseline));
            ulong held = baseline.Id;
            bool fits = Encode(&held, (UIntPtr)1, snapshot, packet, out size, result);
            GC.KeepAlive(baseline);
            return fits;
        }

        /// <summary>
        /// Encodes a snapshot relative to several views. More than one view helps the levels <see
        /// cref="Level.Adaptive"/> and <see cref="Level.Learning"/>.
        /// </summary>
        /// <param name="baselines">Views that the other side holds, newest first.</param>
        /// <param name="count">The number of views to use, from 1 to 4.</param>
        /// <param name="snapshot">The snapshot to encode.</param>
        /// <param name="packet">The array to write the packet to.</param>
        /// <param name="size">
        /// The size of the packet in bytes, even if the array is too short.
        /// </param>
        /// <param name="result">
        /// The object that gets the view that the other side will have. It may be a baseline, or
        /// null.
        /// </param>
        /// <returns>False if the array is too short. Then nothing has changed.</returns>
        public unsafe bool TryEncode(
            View[] baselines,
            int count,
            Snapshot snapshot,
            byte[] packet,
            out int size,
            View result)
        {
            ulong* held = stackalloc ulong[View.MaxBaselines];
            UIntPtr views = View.Handles(baselines, count, held);
            bool fits = Encode(held, views, snapshot, packet, out size, result);
            GC.KeepAlive(baselines);
            return fits;
        }

        internal override Status Free(ulong freed) => Native.kp_encoder_free(freed);

        private unsafe bool Encode(
            ulong* held,
            UIntPtr views,
            Snapshot snapshot,
            byte[] packet,
            out int size,
            View result)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Require.NotNull(packet, nameof(packet));
            ulong made = result == null ? 0 : result.Id;
            ulong* view = result == null ? null : &made;
            UIntPtr needed;
            bool fits;
            fixed (byte* first = packet)
            {
                UIntPtr capacity = (UIntPtr)packet.Length;
                Status status = Native.kp_encode(
                    Id, held, views, snapshot.Id, first, capacity, out needed, view);
                fits = Succeeds(status, Status.Size);
            }
            GC.KeepAlive(snapshot);
            if (fits && result != null)
            {
                result.Replace(made);
            }
            size = Interop.ToSize(needed);
            return fits;
        }
    }

    /// <summary>Decodes packets relative to the views that they were encoded against.</summary>
    public sealed class Decoder : NativeObject
    {
        /// <summary>Creates a decoder.</summary>
        /// <param name="codec">The codec, which both sides need.</param>
        public Decoder(Codec codec)
        {
            Require.NotNull(codec, nameof(codec));
            codec.Check(Native.kp_decoder_new(codec.Id, out ulong made));
            Own(made);
        }

        /// <summary>Decodes a packet that was encoded against one view.</summary>
        /// <param name="baseline">The view that the packet was encoded against.</param>
        /// <param name="packet">An array that begins with the packet.</param>
        /// <param name="size">The size of the packet in bytes.</param>
        /// <param name="tick">The tick of the snapshot, which the packet does not contain.</param>
        /// <param name="result">
        /// The object that gets the packet's view. It may be the baseline.
        /// </param>
        /// <returns>False if the packet is invalid. Then nothing has changed.</returns>
        public unsafe bool TryDecode(
            View baseline, byte[] packet, int size, uint tick, View result)
        {
            Require.NotNull(baseline, nameof(baseline));
            ulong held = baseline.Id;
            bool valid = Decode(&held, (UIntPtr)1, packet, size, tick, result);
            GC.KeepAlive(baseline);
            return valid;
        }

        /// <summary>Decodes a packet that was encoded against several views.</summary>
        /// <param name="baselines">
        /// The views that the packet was encoded against, newest first.
        /// </param>
        /// <param name="count">The number of views to use, from 1 to 4.</param>
        /// <param name="packet">An array that begins with the packet.</param>
        /// <param name="size">The size of the packet in bytes.</param>
        /// <param name="tick">The tick of the snapshot, which the packet does not contain.</param>
        /// <param name="result">
        /// The object that gets the view of the packet. This object may be a baseline.
        /// </param>
        /// <returns>False if the packet is invalid. Then nothing has changed.</returns>
        public unsafe bool TryDecode(
            View[] baselines, int count, byte[] packet, int size, uint tick, View result)
        {
            ulong* held = stackalloc ulong[View.MaxBaselines];
            UIntPtr views = View.Handles(baselines, count, held);
            bool valid = Decode(held, views, packet, size, tick, result);
            GC.KeepAlive(baselines);
            return valid;
        }

        internal override Status Free(ulong freed) => Native.kp_decoder_free(freed);

        private unsafe bool Decode(
            ulong* held, UIntPtr views, byte[] packet, int size, uint tick, View result)
        {
            Require.Holds(packet, size, nameof(packet));
            Require.NotNull(result, nameof(result));
            // `Id` throws before any work is done if `result` was disposed.
            ulong made = result.Id;
            fixed (byte* first = packet)
            {
                Status status = Native.kp_decode(
                    Id, held, views, first, (UIntPtr)size, tick, out made);
                if (!Succeeds(status, Status.Data))
                {
                    return false;
                }
            }
            result.Replace(made);
            return true;
        }
    }
}
