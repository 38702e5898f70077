using System;

namespace Kinepack
{
    /// <summary>The settings of a viewer. A number of 0 selects the default.</summary>
    public sealed class ViewerOptions
    {
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
        /// How long the viewer keeps states for rewinding, in milliseconds. By default, it keeps no
        /// states.
        /// </summary>
        public int HistoryMs { get; set; }

        /// <summary>The maximum memory for states, in bytes. The default is 256 MiB.</summary>
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

    public readonly partial struct ViewerStatus
    {
        /// <summary>The number of snapshots decoded.</summary>
        public ulong Snapshots => snapshots;

        /// <summary>The number of snapshots decoded only to catch up, and not shown.</summary>
        public ulong CaughtUp => caught_up;

        /// <summary>The number of snapshots that arrived too late to be shown.</summary>
        public ulong Late => late;

        /// <summary>The number of objects and datagrams refused.</summary>
        public ulong Refused => refused;

        /// <summary>The number of bytes of all objects and datagrams.</summary>
        public ulong Bytes => bytes;

        /// <summary>The delay of the shown state, in milliseconds.</summary>
        public double DelayMs => delay_ms;

        /// <summary>The variation of arrival times, in milliseconds.</summary>
        public double JitterMs => jitter_ms;
    }

    /// <summary>
    /// Watches a broadcast. A viewer has no socket and no clock: you pass in objects and datagrams,
    /// and get states to show. A viewer sends nothing. All times are nanoseconds since any fixed
    /// moment.
    /// </summary>
    public sealed class Viewer : Shown
    {
        /// <summary>Creates a viewer that does not watch any tier yet.</summary>
        /// <param name="catalogue">The catalogue of the broadcast.</param>
        /// <param name="options">The options. Null selects the defaults.</param>
        public unsafe Viewer(Catalogue catalogue, ViewerOptions options = null)
        {
            Require.NotNull(catalogue, nameof(catalogue));
            Native.KpViewerOptions native = (options ?? new ViewerOptions()).ToNative();
            catalogue.Check(Native.kp_viewer_new(catalogue.Id, &native, out ulong made));
            Own(made);
            Status status = Native.kp_viewer_shown(Id, out ulong shown);
            Shows(status, shown, catalogue.Schema.Table, null);
        }

        /// <summary>
        /// Watches a tier from now on, or several together, such as regions of the world. The
        /// current tiers are shown until the new ones have caught up. After this call, subscribe to
        /// the tracks of <see cref="Wanted"/>.
        /// </summary>
        /// <param name="tiers">The numbers of the tiers.</param>
        public unsafe void Watch(params int[] tiers)
        {
            Require.NotNull(tiers, nameof(tiers));
            // The function also refuses negative numbers, because no tier has one.
            fixed (int* first = tiers)
            {
                Check(Native.kp_viewer_watch(Id, (uint*)first, (UIntPtr)tiers.Length));
            }
        }

        /// <summary>
        /// Writes the tracks that the viewer needs now. The tracks change with <see cref="Watch"/>,
        /// <see cref="TryTake"/> and <see cref="TryPlay"/>. Subscribe to the new tracks, and
        /// unsubscribe from the others.
        /// </summary>
        /// <param name="tracks">
        /// The array to write to. Two elements for each tier always suffice.
        /// </param>
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

        /// <summary>Writes the numbers of the shown tiers.</summary>
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
        /// Handles an object or a datagram of a track. The objects of a group must be passed in
        /// order.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="piece">The description of the piece.</param>
        /// <param name="bytes">The bytes of the piece.</param>
        /// <param name="tick">
        /// The tick of the newest snapshot that the piece made readable, or null if the piece waits
        /// for others.
        /// </param>
        /// <returns>
        /// False if the piece was refused, because it is invalid, late, of a tier that is not
        /// watched, or after a missing object. A refused piece changes only counters. If an object
        /// is refused, the rest of its group is refused too.
        /// </returns>
        public unsafe bool TryTake(
            ulong nowNs, Piece piece, ArraySegment<byte> bytes, out uint? tick)
        {
            Require.Holds(bytes, nameof(bytes));
            fixed (byte* first = bytes.Array)
            {
                byte* begin = first + bytes.Offset;
                UIntPtr size = (UIntPtr)bytes.Count;
                Native.KpTaken taken;
                Status status = Native.kp_viewer_take(
                    Id, nowNs, ref piece, begin, size, &taken);
                bool valid = Succeeds(status, Status.Data);
                tick = valid && taken.is_read != 0 ? taken.tick : (uint?)null;
                return valid;
            }
        }

        /// <summary>
        /// Restarts the reading of all tracks, after a connection was lost or the publisher
        /// restarted. The current state is shown until newer snapshots arrive.
        /// </summary>
        public void Rejoin()
        {
            Check(Native.kp_viewer_rejoin(Id));
        }

        /// <summary>Changes the shortest and the longest delay of the shown state.</summary>
        /// <param name="minMs">The shortest delay, in milliseconds.</param>
        /// <param name="maxMs">The longest delay, in milliseconds.</param>
        public void SetDelays(int minMs, int maxMs)
        {
            Require.NotNegative(minMs, nameof(minMs));
            Require.NotNegative(maxMs, nameof(maxMs));
            Check(Native.kp_viewer_set_delays(Id, (uint)minMs, (uint)maxMs));
        }

        /// <summary>
        /// Computes the state to show now, which is slightly delayed and interpolated. The methods
        /// of <see cref="Shown"/> read this state.
        /// </summary>
        /// <param name="nowNs">The time, in nanoseconds.</param>
        /// <param name="playback">The shown moment.</param>
        /// <returns>False before the first state.</returns>
        public bool TryPlay(ulong nowNs, out Playback playback)
        {
            return Succeeds(Native.kp_viewer_play(Id, nowNs, out playback), Status.Nothing);
        }

        /// <summary>Returns the ticks that <see cref="TryPlayAt"/> can show.</summary>
        /// <param name="first">The first tick.</param>
        /// <param name="last">The last tick.</param>
        /// <returns>False before the first state, or if the viewer keeps no history.</returns>
        public bool TryHistory(out uint first, out uint last)
        {
            return Succeeds(Native.kp_viewer_history(Id, out first, out last), Status.Nothing);
        }

        /// <summary>
        /// Like <see cref="TryPlay"/>, but for a tick of the history, to pause and to rewind. A
        /// tick outside of the history shows the nearest state.
        /// </summary>
        /// <param name="tick">The fractional tick.</param>
        /// <param name="playback">The shown moment.</param>
        /// <returns>False before the first state, or if the viewer keeps no history.</returns>
        public bool TryPlayAt(double tick, out Playback playback)
        {
            return Succeeds(Native.kp_viewer_play_at(Id, tick, out playback), Status.Nothing);
        }

        /// <summary>
        /// Copies the newest state of the shown tiers, without delay or interpolation.
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

        /// <summary>Returns the counters and measurements of the viewer.</summary>
        public ViewerStatus ReadStatus()
        {
            Check(Native.kp_viewer_status(Id, out ViewerStatus status));
            return status;
        }

        internal override Status Free(ulong freed) => Native.kp_viewer_free(freed);
    }
}
