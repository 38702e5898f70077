using System;

namespace Kinepack
{
    /// <summary>
    /// A clip that a body plays. Keep it from its start to its end, and push it with every pose: it
    /// takes no bits until its speed or its weight changes.
    /// </summary>
    public partial struct ClipPlay
    {
        /// <summary>Starts a clip, with speed and weight 1.</summary>
        /// <param name="slot">The slot in which the clip plays, from 0.</param>
        /// <param name="clip">The index of the clip.</param>
        /// <param name="since">The tick at which the clip has the time.</param>
        /// <param name="timeTicks">
        /// The clip's time at this tick, in ticks. It is rounded to 1/1024.
        /// </param>
        public ClipPlay(int slot, int clip, uint since, double timeTicks = 0.0)
        {
            this.slot = (uint)slot;
            this.clip = (uint)clip;
            this.since = since;
            time_ticks = timeTicks;
            speed = 1.0;
            weight = 1.0f;
        }

        /// <summary>The slot in which the clip plays.</summary>
        public int Slot => (int)slot;

        /// <summary>The index of the clip.</summary>
        public int Clip => (int)clip;

        /// <summary>
        /// The tick at which the clip started, or at which its time or speed changed last.
        /// </summary>
        public uint Since => since;

        /// <summary>The clip's time at tick <see cref="Since"/>, in ticks.</summary>
        public double TimeTicks => time_ticks;

        /// <summary>The ticks of the clip that pass per tick.</summary>
        public double Speed => speed;

        /// <summary>The weight, from 0 to 1.</summary>
        public float Weight => weight;

        /// <summary>
        /// Returns the clip with another speed from a tick on, at which its time stays the same.
        /// </summary>
        /// <param name="tick">The tick.</param>
        /// <param name="newSpeed">
        /// The speed, from -16 to 16. It is rounded to 1/1024. 0 pauses the clip, and a negative
        /// speed plays it backwards.
        /// </param>
        /// <exception cref="KinepackException">A number is out of range.</exception>
        public ClipPlay WithSpeed(uint tick, double newSpeed)
        {
            ClipPlay from = this;
            Status status = Native.kp_clip_play_with_speed(
                ref from, tick, newSpeed, out ClipPlay changed);
            KinepackException.Check(status);
            return changed;
        }

        /// <summary>Returns the clip with another weight.</summary>
        /// <param name="newWeight">
        /// The weight, from 0 to 1. It is rounded to a multiple of 1/255.
        /// </param>
        public ClipPlay WithWeight(float newWeight)
        {
            ClipPlay changed = this;
            changed.weight = newWeight;
            return changed;
        }
    }

    /// <summary>A clip that a body plays at a moment.</summary>
    public readonly partial struct ShownClip
    {
        /// <summary>The index of the clip.</summary>
        public int Clip => (int)clip;

        /// <summary>
        /// The time to show, in ticks from the beginning of the clip. It may be negative or beyond
        /// the end of the clip.
        /// </summary>
        public double TimeTicks => time_ticks;

        /// <summary>The ticks of the clip that pass per tick.</summary>
        public double Speed => speed;

        /// <summary>The weight, from 0 to 1.</summary>
        public float Weight => weight;
    }

    /// <content>The clips that bodies play beside their live poses.</content>
    public sealed partial class Figure
    {
        /// <summary>The number of clips that a body can play.</summary>
        public int Clips { get; private set; }

        /// <summary>The number of clips that can play at once.</summary>
        public int ClipSlots { get; private set; }

        /// <summary>Returns the clip that an entity of a snapshot plays in a slot.</summary>
        /// <param name="world">The snapshot.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="slot">The slot, from 0.</param>
        /// <param name="play">The clip.</param>
        /// <returns>False if there is no such entity, or the slot is empty.</returns>
        public bool TryGetClip(Snapshot world, int kind, uint id, int slot, out ClipPlay play)
        {
            Require.NotNull(world, nameof(world));
            Status status = Native.kp_figure_clip(
                Id, world.Id, (uint)kind, id, (uint)slot, out play);
            GC.KeepAlive(world);
            return Succeeds(status, Status.Nothing);
        }

        /// <summary>
        /// Returns the clip that a shown entity plays in a slot. If the same clip continues, its
        /// time is exact and its weight is interpolated. Otherwise the clip is as in the earlier
        /// state, and its time runs on, until the later state is reached.
        /// </summary>
        /// <param name="shown">The receiver, the viewer or the replay.</param>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="id">The id of the entity.</param>
        /// <param name="tick">The shown tick: <see cref="Playback.Tick"/>.</param>
        /// <param name="slot">The slot, from 0.</param>
        /// <param name="clip">The clip.</param>
        /// <returns>False if no such entity is shown, or the slot is empty.</returns>
        public bool TryShowClip(
            Shown shown, int kind, uint id, double tick, int slot, out ShownClip clip)
        {
            Require.NotNull(shown, nameof(shown));
            Status status = Native.kp_figure_shown_clip(
                Id, shown.ShownId, (uint)kind, id, tick, (uint)slot, out clip);
            GC.KeepAlive(shown);
            return Succeeds(status, Status.Nothing);
        }
    }
}
