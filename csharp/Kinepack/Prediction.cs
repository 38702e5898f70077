using System;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Kinepack
{
    /// <summary>
    /// The settings of a prediction. The constructor sets the defaults: a second of history,
    /// positions that fade in a second and rotations in half of that.
    /// </summary>
    public sealed class PredictConfig
    {
        /// <summary>Creates the settings for a world.</summary>
        /// <param name="tickHz">The ticks per second.</param>
        public PredictConfig(int tickHz)
        {
            Library.RequireAbi();
            Require.NotNegative(tickHz, nameof(tickHz));
            KinepackException.Check(
                Native.kp_predict_config_at_hz((uint)tickHz, out Native.KpPredictConfig native));
            TickHz = tickHz;
            HistoryTicks = (int)native.history_ticks;
            Repair = (Repair)native.repair;
            PositionFadeMs = (int)native.position_fade_ms;
            RotationFadeMs = (int)native.rotation_fade_ms;
            RestTicks = native.rest_ticks;
            SnapDistance = native.snap_distance;
        }

        /// <summary>The ticks per second.</summary>
        public int TickHz { get; }

        /// <summary>
        /// How many ticks of inputs and states are kept, 2 to 1,024. An authoritative state that is
        /// older than all of them is not used.
        /// </summary>
        public int HistoryTicks { get; set; }

        /// <summary>How a state that differs from the prediction corrects it.</summary>
        public Repair Repair { get; set; }

        /// <summary>
        /// How long the offset of numbers and vectors fades after a correction, in milliseconds:
        /// the time until a twentieth is left. 0 shows corrections at once.
        /// </summary>
        public int PositionFadeMs { get; set; }

        /// <summary>The same for rotations, and for numbers that wrap.</summary>
        public int RotationFadeMs { get; set; }

        /// <summary>
        /// An entity that no snapshot has sent for this many ticks rests, so its state is also that
        /// of the newest snapshot's tick. That must be longer than the hub may take to send an
        /// entity that moves, also after a loss. <see cref="uint.MaxValue"/> means never.
        /// </summary>
        public uint RestTicks { get; set; }

        /// <summary>
        /// A correction that shifts a number or a vector by more than this is shown at once, like a
        /// teleport. The unit is that of the fields.
        /// </summary>
        public double SnapDistance { get; set; }

        internal Native.KpPredictConfig ToNative()
        {
            Require.NotNegative(HistoryTicks, nameof(HistoryTicks));
            Require.NotNegative(PositionFadeMs, nameof(PositionFadeMs));
            Require.NotNegative(RotationFadeMs, nameof(RotationFadeMs));
            return new Native.KpPredictConfig
            {
                tick_hz = (uint)TickHz,
                history_ticks = (uint)HistoryTicks,
                repair = (int)Repair,
                position_fade_ms = (uint)PositionFadeMs,
                rotation_fade_ms = (uint)RotationFadeMs,
                rest_ticks = RestTicks,
                snap_distance = SnapDistance,
            };
        }
    }

    public readonly partial struct Correction
    {
        /// <summary>What happened; of several entities, the largest.</summary>
        public Outcome Outcome => (Outcome)outcome;

        /// <summary>How many ticks were repeated or shifted.</summary>
        public int RepeatedTicks => (int)repeated_ticks;

        /// <summary>
        /// By how much the newest states changed: the length of the vector, or the difference of
        /// the number, that changed most. Velocities are not measured.
        /// </summary>
        public double Distance => distance;

        /// <summary>The largest turn of a rotation, and of a number that wraps.</summary>
        public double TurnRad => turn_rad;

        /// <summary>
        /// Whether an entity's correction is shown at once instead of fading: because of a cut, a
        /// change of its frame, or the snap distance.
        /// </summary>
        public bool IsSnapped => is_snapped != 0;
    }

    public readonly partial struct PredictStats
    {
        /// <summary>The inputs that were pushed.</summary>
        public ulong Inputs => inputs;

        /// <summary>
        /// The ticks without an input of their own, which were stepped with the last one.
        /// </summary>
        public ulong FilledTicks => filled_ticks;

        /// <summary>
        /// How often a gap between two inputs was longer than the history, which began anew.
        /// </summary>
        public ulong Restarts => restarts;

        /// <summary>The authoritative states that equal the prediction.</summary>
        public ulong Confirmed => confirmed;

        /// <summary>Those that corrected it.</summary>
        public ulong Corrected => corrected;

        /// <summary>Those of ticks that were not predicted yet.</summary>
        public ulong Ahead => ahead;

        /// <summary>Those that are older than the history, and were not used.</summary>
        public ulong TooOld => too_old;

        /// <summary>The corrections that were shown at once.</summary>
        public ulong Snapped => snapped;

        /// <summary>The ticks that were repeated or shifted.</summary>
        public ulong RepeatedTicks => repeated_ticks;

        /// <summary>The states after a step that could not be quantized.</summary>
        public ulong Unquantized => unquantized;
    }

    /// <summary>
    /// A prediction of entities and inputs of any type: <see cref="Predicted{TState, TInput}"/>.
    /// </summary>
    public abstract class Prediction : NativeObject
    {
        /// <summary>
        /// The only function that native code calls. It is static and not generic, because other
        /// methods cannot be compiled ahead of time for that.
        /// </summary>
        private static readonly NativeStep Callback = OnStep;
        private static readonly IntPtr CallbackAddress =
            Marshal.GetFunctionPointerForDelegate(Callback);

        private readonly object gate = new object();
        private bool isUsed;
        private ExceptionDispatchInfo thrown;

        internal Prediction()
        {
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int NativeStep(IntPtr user, UIntPtr count, uint tick);

        /// <summary>A call that may step.</summary>
        internal delegate Status Stepping(ref Native.KpStep step);

        /// <summary>Removes an entity with its history.</summary>
        /// <param name="id">The id of the entity.</param>
        /// <returns>False if there is none.</returns>
        public bool Remove(uint id)
        {
            return Succeeds(Native.kp_prediction_remove(Id, id), Status.Nothing);
        }

        /// <summary>
        /// Removes all entities, inputs and ticks, as for a new session. The counters stay.
        /// </summary>
        public void Clear()
        {
            Check(Native.kp_prediction_clear(Id));
        }

        /// <summary>Returns the newest predicted tick.</summary>
        /// <param name="tick">The tick.</param>
        /// <returns>False before the first input or entity.</returns>
        public bool TryNewest(out uint tick)
        {
            return Succeeds(Native.kp_prediction_newest(Id, out tick), Status.Nothing);
        }

        /// <summary>Writes the ids of the predicted entities, in increasing order.</summary>
        /// <param name="ids">The array to write to.</param>
        /// <returns>The number of entities.</returns>
        /// <exception cref="KinepackException">The array is too short.</exception>
        public unsafe int ReadIds(uint[] ids)
        {
            Require.NotNull(ids, nameof(ids));
            fixed (uint* first = ids)
            {
                UIntPtr capacity = (UIntPtr)ids.Length;
                Check(Native.kp_prediction_ids(Id, first, capacity, out UIntPtr count));
                return Interop.ToSize(count);
            }
        }

        /// <summary>Returns the counters.</summary>
        public PredictStats ReadStats()
        {
            Check(Native.kp_prediction_stats(Id, out PredictStats stats));
            return stats;
        }

        internal override Status Free(ulong freed) => Native.kp_prediction_free(freed);

        /// <summary>Calls the game's step.</summary>
        internal abstract void OnStep(int count, uint tick);

        /// <summary>
        /// Blocks other threads until the result is disposed. Throws in a step of this prediction.
        /// </summary>
        internal Use Enter()
        {
            System.Threading.Monitor.Enter(gate);
            if (isUsed)
            {
                System.Threading.Monitor.Exit(gate);
                // The native library refuses it for the same reason.
                Check(Native.kp_prediction_remove(Id, 0));
            }
            isUsed = true;
            return new Use(this);
        }

        /// <summary>
        /// Runs a native function that may step, and throws the exception of a step after it.
        /// </summary>
        internal unsafe Status Run(ref Native.KpStep step, Stepping call)
        {
            GCHandle self = GCHandle.Alloc(this);
            try
            {
                step.step = CallbackAddress;
                step.user = (void*)GCHandle.ToIntPtr(self);
                return call(ref step);
            }
            finally
            {
                self.Free();
                ExceptionDispatchInfo last = thrown;
                thrown = null;
                last?.Throw();
            }
        }

        /// <summary>An exception must not pass through native code.</summary>
        [MonoPInvokeCallback(typeof(NativeStep))]
        private static int OnStep(IntPtr user, UIntPtr count, uint tick)
        {
            Prediction prediction = (Prediction)GCHandle.FromIntPtr(user).Target;
            try
            {
                prediction.OnStep(Interop.ToSize(count), tick);
                return 0;
            }
            catch (Exception exception)
            {
                prediction.thrown = ExceptionDispatchInfo.Capture(exception);
                return 1;
            }
        }

        /// <summary>A prediction that is used until Dispose.</summary>
        internal struct Use : IDisposable
        {
            private readonly Prediction owner;

            internal Use(Prediction owner)
            {
                this.owner = owner;
            }

            public void Dispose()
            {
                owner.isUsed = false;
                System.Threading.Monitor.Exit(owner.gate);
            }
        }

        /// <summary>Unity's IL2CPP looks for an attribute of this name.</summary>
        [AttributeUsage(AttributeTargets.Method)]
        private sealed class MonoPInvokeCallbackAttribute : Attribute
        {
            internal MonoPInvokeCallbackAttribute(Type type)
            {
                Type = type;
            }

            internal Type Type { get; }
        }
    }
}
