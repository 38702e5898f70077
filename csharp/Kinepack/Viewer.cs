using System;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>How a viewer works. A number of 0 takes the default.</summary>
    public sealed class ViewerOptions
    {
        /// <summary>
        /// The least delay of what is shown, in milliseconds. By default the network alone decides.
        /// </summary>
        public int MinDelayMs { get; set; }

        /// <summary>
        /// The largest delay of what is shown, in milliseconds. The default is 500.
        /// </summary>
        public int MaxDelayMs { get; set; }

        /// <summary>
        /// For how long it keeps states to go back to, in milliseconds. By default it keeps none.
        /// </summary>
        public int HistoryMs { get; set; }

        /// <summary>The most memory for states, in bytes. The default is 256 MiB.</summary>
        public long MaxMemoryBytes { get; set; }

        internal Native.KpViewerOptions ToNative()
        {
            Require.NotNegative(MinDelayMs, nameof(MinDelayMs));
            Require.NotNegative(MaxDelayMs, nameof(MaxDelayMs));
            Require.NotNegative(HistoryMs, nameof(HistoryMs));
            Require.NotNegative(MaxMemoryBytes, nameof(MaxMemoryBytes));
            return new Native.KpViewerOptions
            {
                min_delay_ms = (uint)MinDelayMs,
                max_delay_ms = (uint)MaxDelayMs,
                history_ms = (uint)HistoryMs,
                max_memory_bytes = (ulong)MaxMemoryBytes,
            };
        }
    }

    /// <summary>What a viewer has counted and measured.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct ViewerStatus
    {
        // The native library writes them.
#pragma warning disable 0649
        private readonly ulong snapshots;
        private readonly ulong caughtUp;
        private readonly ulong late;
        private readonly ulong refused;
        private readonly ulong bytes;
        private readonly double delayMs;
        private readonly double jitterMs;
#pragma warning restore 0649

        /// <summary>Snapshots decoded.</summary>
        public ulong Snapshots => snapshots;

        /// <summary>Snapshots that were only read to catch up, and not shown.</summary>
        public ulong CaughtUp => caughtUp;

        /// <summary>Snapshots too late to be shown.</summary>
        public ulong Late => late;

        /// <summary>Objects and datagrams refused.</summary>
        public ulong Refused => refused;

        /// <summary>Bytes of all objects and datagrams.</summary>
        public ulong Bytes => bytes;

        /// <summary>The delay of what is shown, in milliseconds.</summary>
        public double DelayMs => delayMs;

        /// <summary>How much the times of arrival vary, in milliseconds.</summary>
        public double JitterMs => jitterMs;
    }

    /// <summary>
    /// Watches a broadcast. It has no socket and no clock: objects and datagrams go in, states to
    /// show come out. It sends nothing. All times are nanoseconds since any fixed moment.
    /// </summary>
    public sealed class Viewer : ShownEntities
    {
        /// <summary>A viewer that watches nothing yet.</summary>
        /// <param name="catalogue">The catalogue of the broadcast.</param>
        /// <param name="options">How it works. Null takes the defaults.</param>
        public Viewer(Catalogue catalogue, ViewerOptions options = null)
        {
            Require.NotNull(catalogue, nameof(catalogue));
            Native.KpViewerOptions native = (options ?? new ViewerOptions()).ToNative();
            catalogue.Check(Native.kp_viewer_new(catalogue.Id, ref native, out ulong made));
            Own(made);
            Shows(catalogue.Schema.Table);
        }

        /// <summary>
        /// Watches a tier from now on, or several together, such as regions of the world. What was
        /// shown stays until the new ones have caught up. Then subscribe to the tracks of
        /// <see cref="Wanted"/>.
        /// </summary>
        /// <param name="tiers">The numbers of the tiers.</param>
        public unsafe void Watch(params int[] tiers)
        {
            Require.NotNull(tiers, nameof(tiers));
            // A negative number is no tier either.
            fixed (int* first = tiers)
            {
                Check(Native.kp_viewer_watch(Id, (uint*)first, (UIntPtr)tiers.Length));
            }
        }

        /// <summary>
        /// Writes the tracks that the viewer needs now. They change with <see cref="Watch"/>,
        /// <see cref="TryTake"/> and <see cref="TryPlay"/>: subscribe to the new ones, and end the
        /// subscriptions to the others.
        /// </summary>
        /// <param name="tracks">The array to write to. Two for each tier always suffice.</param>
        /// <returns>The number of tracks.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int Wanted(Track[] tracks)
        {
            Require.NotNull(tracks, nameof(tracks));
            fixed (Track* first = tracks)
            {
                UIntPtr capacity = (UIntPtr)tracks.Length;
                Check(Native.kp_viewer_wanted(Id, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>Writes the numbers of the tiers that are shown.</summary>
        /// <param name="tiers">The array to write to.</param>
        /// <returns>The number of tiers.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadShownTiers(uint[] tiers)
        {
            Require.NotNull(tiers, nameof(tiers));
            fixed (uint* first = tiers)
            {
                UIntPtr capacity = (UIntPtr)tiers.Length;
                Check(Native.kp_viewer_shown_tiers(Id, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>
        /// Takes an object or a datagram of a track. The objects of a group come in order.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="piece">What it is.</param>
        /// <param name="bytes">Its bytes.</param>
        /// <param name="tick">
        /// The tick of the newest snapshot that could be read with it, or null if it waits for other
        /// pieces.
        /// </param>
        /// <returns>
        /// False if it was refused: not valid, of a tier that is not watched, late, or after an
        /// object that is missing. Only counters have changed then, and the rest of its group will
        /// be refused too.
        /// </returns>
        public unsafe bool TryTake(
            ulong nowNs, Piece piece, ArraySegment<byte> bytes, out uint? tick)
        {
            Require.Holds(bytes, nameof(bytes));
            fixed (byte* first = bytes.Array)
            {
                byte* begin = first + bytes.Offset;
                UIntPtr size = (UIntPtr)bytes.Count;
                Status status = Native.kp_viewer_take(
                    Id, nowNs, &piece, begin, size, out Native.KpTaken taken);
                bool valid = Succeeds(status, Status.Data);
                tick = valid && taken.is_read != 0 ? taken.tick : (uint?)null;
                return valid;
            }
        }

        /// <summary>
        /// Begins to read all tracks anew, as after a connection was lost or the publisher started
        /// again. What is shown stays until newer snapshots come.
        /// </summary>
        public void Rejoin()
        {
            Check(Native.kp_viewer_rejoin(Id));
        }

        /// <summary>Changes the bounds of the delay of what is shown.</summary>
        /// <param name="minMs">The least delay, in milliseconds.</param>
        /// <param name="maxMs">The largest delay, in milliseconds.</param>
        public void SetDelays(int minMs, int maxMs)
        {
            Require.NotNegative(minMs, nameof(minMs));
            Require.NotNegative(maxMs, nameof(maxMs));
            Check(Native.kp_viewer_set_delays(Id, (uint)minMs, (uint)maxMs));
        }

        /// <summary>
        /// Computes what to show now, a little in the past and interpolated, for the methods of
        /// <see cref="ShownEntities"/>.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="playback">What is shown.</param>
        /// <returns>False before the first state.</returns>
        public bool TryPlay(ulong nowNs, out Playback playback)
        {
            return Succeeds(Native.kp_viewer_play(Id, nowNs, out playback), Status.Nothing);
        }

        /// <summary>The ticks that <see cref="TryPlayAt"/> can show.</summary>
        /// <param name="first">The first tick.</param>
        /// <param name="last">The last tick.</param>
        /// <returns>False before the first state, and if the viewer keeps no history.</returns>
        public bool TryHistory(out uint first, out uint last)
        {
            return Succeeds(Native.kp_viewer_history(Id, out first, out last), Status.Nothing);
        }

        /// <summary>
        /// Like <see cref="TryPlay"/>, for a tick of the history, to pause and to go back. A tick
        /// outside of the history shows the nearest state.
        /// </summary>
        /// <param name="tick">The tick, with its fraction.</param>
        /// <param name="playback">What is shown.</param>
        /// <returns>False before the first state, and if the viewer keeps no history.</returns>
        public bool TryPlayAt(double tick, out Playback playback)
        {
            return Succeeds(Native.kp_viewer_play_at(Id, tick, out playback), Status.Nothing);
        }

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are shown for the first time.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public int ReadAdded(uint[] ids) => ReadChanged(ids, true);

        /// <summary>
        /// Writes the ids of the entities, of all kinds, that are not shown any more.
        /// </summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public int ReadRemoved(uint[] ids) => ReadChanged(ids, false);

        /// <summary>
        /// Copies the newest state of the tiers that are shown, neither delayed nor interpolated.
        /// </summary>
        /// <param name="snapshot">The snapshot to fill, of the same schema.</param>
        /// <returns>False before the first state.</returns>
        public bool TryNewest(Snapshot snapshot)
        {
            Require.NotNull(snapshot, nameof(snapshot));
            Status status = Native.kp_viewer_newest(Id, snapshot.Id);
            GC.KeepAlive(snapshot);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>What the viewer has counted and measured.</summary>
        public ViewerStatus ReadStatus()
        {
            Check(Native.kp_viewer_status(Id, out ViewerStatus status));
            return status;
        }

        internal override Status Free(ulong freed) => Native.kp_viewer_free(freed);

        internal override unsafe Status Ids(
            uint kind, uint* ids, UIntPtr capacity, out UIntPtr count)
        {
            return Native.kp_viewer_ids(Id, kind, ids, capacity, out count);
        }

        internal override unsafe Status Rows(
            uint kind, UIntPtr capacity, Native.KpTarget* targets, UIntPtr targetCount)
        {
            return Native.kp_viewer_read(Id, kind, capacity, targets, targetCount);
        }

        private unsafe int ReadChanged(uint[] ids, bool added)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                UIntPtr count;
                Check(added
                    ? Native.kp_viewer_added(Id, first, capacity, out count)
                    : Native.kp_viewer_removed(Id, first, capacity, out count));
                return Interop.ToSize(count);
            }
        }
    }
}
