namespace Kinepack
{
    /// <content>What is shown of entities whose next state is late.</content>
    public sealed partial class Receiver
    {
        /// <summary>
        /// Chooses what is shown of a kind of entities whose next state has not arrived. While a
        /// kind is not held, playback runs on although it starves, and does not lag more after
        /// that. When the next state arrives, the shown place differs from the true one:
        /// <see cref="SetSmoothing"/> fades out this difference. Kinds that are held need that too.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="extrapolation">The choice.</param>
        /// <param name="atMostMs">
        /// The longest time in milliseconds, up to 1,000. For
        /// <see cref="Extrapolation.Straight"/> this is the longest way, as a time at full speed.
        /// <see cref="Extrapolation.Hold"/> ignores it.
        /// </param>
        public void SetExtrapolation(int kind, Extrapolation extrapolation, int atMostMs)
        {
            Require.NotNegative(kind, nameof(kind));
            Require.NotNegative(atMostMs, nameof(atMostMs));
            Check(Native.kp_receiver_set_extrapolation(
                Id, (uint)kind, (int)extrapolation, (uint)atMostMs));
        }

        /// <summary>
        /// Makes <see cref="Shown.Read"/> show a kind of entities without jumps when their next
        /// state arrives after all: the distance from the shown place to the true one fades out,
        /// with a steady velocity. An entity that jumps, or was added again, does not fade.
        /// <see cref="Shown.ReadPlaces"/> and figures are not smoothed.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="fadeMs">
        /// The time until a twentieth is left, in milliseconds. 0 ends the smoothing, as at first.
        /// </param>
        public void SetSmoothing(int kind, int fadeMs)
        {
            Require.NotNegative(kind, nameof(kind));
            Require.NotNegative(fadeMs, nameof(fadeMs));
            Check(Native.kp_receiver_set_smoothing(Id, (uint)kind, (uint)fadeMs));
        }
    }

    /// <content>What the receivers show of entities whose next state is late.</content>
    public sealed partial class Hub
    {
        /// <summary>
        /// Tells the hub what the receivers show of a kind of entities whose next state has not
        /// arrived, so that <see cref="TryRewind"/> finds it: the arguments of
        /// <see cref="Receiver.SetExtrapolation"/>. This changes nothing that is sent. A rewind
        /// cannot know what smoothing or the game's own rules added, so hold kinds that players
        /// shoot at, and draw them without smoothing.
        /// </summary>
        /// <param name="kind">The index of the kind, from 0.</param>
        /// <param name="extrapolation">The choice.</param>
        /// <param name="atMostMs">The longest time in milliseconds, up to 1,000.</param>
        public void SetExtrapolation(int kind, Extrapolation extrapolation, int atMostMs)
        {
            Require.NotNegative(kind, nameof(kind));
            Require.NotNegative(atMostMs, nameof(atMostMs));
            Check(Native.kp_hub_set_extrapolation(
                Id, (uint)kind, (int)extrapolation, (uint)atMostMs));
        }
    }
}
