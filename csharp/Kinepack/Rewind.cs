using System;

namespace Kinepack
{
    public readonly partial struct Seen
    {
        /// <summary>
        /// Whether a state was shown. If not, the other fields of the stamp are absent in an input.
        /// </summary>
        public bool IsShown => is_shown != 0;
    }

    /// <summary>
    /// How receivers show the world, and how far back players may reach. A number of 0 selects the
    /// default.
    /// </summary>
    public sealed class RewindOptions
    {
        /// <summary>The ticks per second, as in the receivers. It has no default.</summary>
        public int TickHz { get; set; }

        /// <summary>
        /// The <see cref="ReceiverOptions.LongestBlendMs"/> of the receivers. The default is 250.
        /// </summary>
        public int LongestBlendMs { get; set; }

        /// <summary>
        /// How long ago a player may have seen what he acts on, in milliseconds, at most 250 ticks.
        /// What he saw is as old as the round trip, his playout delay, and the time that his input
        /// waits on both sides together. The longer this is, the longer a player may be hit by one
        /// with a bad connection after he has taken cover. The default is 500.
        /// </summary>
        public int LongestMs { get; set; }

        internal Native.KpRewindOptions ToNative()
        {
            Require.NotNegative(TickHz, nameof(TickHz));
            Require.NotNegative(LongestBlendMs, nameof(LongestBlendMs));
            Require.NotNegative(LongestMs, nameof(LongestMs));
            return new Native.KpRewindOptions
            {
                tick_hz = (uint)TickHz,
                longest_blend_ms = (uint)LongestBlendMs,
                longest_ms = (uint)LongestMs,
            };
        }
    }

    /// <content>What a player saw when he made an input.</content>
    public sealed partial class Hub
    {
        private readonly Found past;

        /// <summary>
        /// What the last rewind found, to be read like what a receiver shows. It is empty at first,
        /// and has no events, and no entities that were added, removed or cut. It belongs to the
        /// hub, so do not dispose it.
        /// </summary>
        public Shown Past => past;

        /// <summary>
        /// Makes the hub keep what it sends for long enough to rewind. Call this before the first
        /// receiver joins, because what was sent before may be missing.
        /// </summary>
        /// <param name="options">The options. Null ends that.</param>
        /// <exception cref="KinepackException">
        /// There are no ticks per second, or too many in the longest time. Nothing has changed.
        /// </exception>
        public unsafe void SetRewind(RewindOptions options)
        {
            if (options == null)
            {
                Check(Native.kp_hub_set_rewind(Id, null));
                return;
            }
            Native.KpRewindOptions native = options.ToNative();
            Check(Native.kp_hub_set_rewind(Id, &native));
        }

        /// <summary>
        /// Finds what a receiver showed of some entities when its player made an input: the very
        /// numbers that it read, whatever was lost, late or left out. <see cref="Past"/> has them
        /// until the next rewind, without entities that were not shown, and without those of which
        /// the receiver should have got a newer state long ago. Pass on the stamps of all inputs in
        /// order, with a count of 0 if there is nothing to find. Then a client cannot choose among
        /// moments.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="seen">The stamp of the input.</param>
        /// <param name="ids">The ids of the entities, in increasing order.</param>
        /// <param name="count">The number of ids.</param>
        /// <param name="tick">The tick of the moment, with its fraction.</param>
        /// <param name="reason">
        /// Why the stamp was refused. <see cref="Status.Nothing"/>: the player was shown nothing
        /// yet, or too long ago. <see cref="Status.Data"/>: the stamp is of a state that was not
        /// sent yet, or goes back behind an earlier stamp of the player. The client cheats, or the
        /// record <see cref="Record.IsLate"/>.
        /// </param>
        /// <returns>False if the stamp was refused. Then nothing has changed.</returns>
        /// <exception cref="KinepackException">
        /// The hub does not rewind, or has no such receiver, or the ids do not increase.
        /// </exception>
        public unsafe bool TryRewind(
            ulong receiver, Seen seen, uint[] ids, int count, out double tick, out Status reason)
        {
            Require.Holds(ids, count, nameof(ids));
            fixed (uint* first = ids)
            {
                reason = Native.kp_hub_rewind(
                    Id, receiver, ref seen, first, (UIntPtr)count, out tick);
            }
            return IsFound(reason);
        }

        /// <summary>
        /// Like <see cref="TryRewind"/>, but finds all entities that the receiver showed.
        /// </summary>
        /// <param name="receiver">The number of the receiver.</param>
        /// <param name="seen">The stamp of the input.</param>
        /// <param name="tick">The tick of the moment, with its fraction.</param>
        /// <param name="reason">Why the stamp was refused.</param>
        /// <returns>False if the stamp was refused. Then nothing has changed.</returns>
        /// <exception cref="KinepackException">
        /// The hub does not rewind, or has no such receiver.
        /// </exception>
        public bool TryRewindAll(ulong receiver, Seen seen, out double tick, out Status reason)
        {
            reason = Native.kp_hub_rewind_all(Id, receiver, ref seen, out tick);
            return IsFound(reason);
        }

        private bool IsFound(Status status)
        {
            return status != Status.Data && Succeeds(status, Status.Nothing);
        }

        /// <summary>The past of a hub, which the native library frees with the hub.</summary>
        private sealed class Found : Shown
        {
            private readonly Hub hub;

            internal Found(Hub hub, Field[][] table)
            {
                this.hub = hub;
                Own(hub.Id);
                Shows(Native.kp_hub_past(hub.Id, out ulong found), found, table, null);
            }

            internal override Status Free(ulong freed)
            {
                // While the past is in use, the finalizer does not free the hub.
                GC.KeepAlive(hub);
                return Status.Ok;
            }
        }
    }
}
