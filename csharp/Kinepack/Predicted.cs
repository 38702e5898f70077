using System;

namespace Kinepack
{
    /// <summary>A step of the game, which moves entities by one tick.</summary>
    /// <param name="ids">The ids of the entities, in increasing order.</param>
    /// <param name="states">Their states of the tick before, which the step changes.</param>
    /// <param name="count">The number of entities. The arrays may be longer.</param>
    /// <param name="input">The input of the tick, as the server reads it.</param>
    /// <param name="tick">The tick.</param>
    public delegate void Step<TState, TInput>(
        uint[] ids, TState[] states, int count, TInput input, uint tick);

    /// <summary>
    /// Predicts a client's own entities, of one kind: shows the effect of an input at once, and
    /// corrects itself by the states that arrive from the server. Push each input with the tick for
    /// which the server will use it. Several entities are stepped together, so that they may affect
    /// each other.
    /// </summary>
    /// <typeparam name="TState">The state. Members that are no fields do not survive.</typeparam>
    /// <typeparam name="TInput">The input.</typeparam>
    /// <remarks>
    /// <para>
    /// The step must depend on nothing but its arguments and what never changes, and give the same
    /// floats on both machines. The server must round each state after each step as a packet does:
    /// <see cref="Schema.Round"/>. Otherwise corrections happen all the time.
    /// </para>
    /// <para>
    /// If a step throws, the entities keep their states of the tick before, and it is not called
    /// again. After everything else was done, the method throws the same exception. If a state
    /// cannot be quantized, the method throws a <see cref="KinepackException"/> with
    /// <see cref="Status.Step"/> in the same way. A step must not use its own prediction.
    /// </para>
    /// <para>
    /// A delegate that is made in each frame is garbage, so keep it in a field.
    /// </para>
    /// </remarks>
    public sealed class Predicted<TState, TInput> : Prediction
        where TState : struct
        where TInput : struct
    {
        private readonly Field[][] table;
        private readonly Field[][] inputTable;
        private readonly uint[] ids;

        /// <summary>The states and the input of the step.</summary>
        private readonly TState[] states;
        private readonly TInput[] input = new TInput[1];
        private readonly Columns ofStates;
        private readonly Columns ofInput;

        /// <summary>A state and an input of a call.</summary>
        private readonly TState[] state = new TState[1];
        private readonly TInput[] pushed = new TInput[1];
        private readonly Columns ofState;
        private readonly Columns ofPushed;

        private readonly Stepping add;
        private readonly Stepping push;
        private readonly Stepping correct;
        private readonly Stepping correctFrom;
        private readonly Stepping repeatLast;
        private Step<TState, TInput> step;
        private uint id;
        private uint tick;
        private ulong receiver;
        private Correction correction;

        /// <summary>Creates a prediction without entities.</summary>
        /// <param name="schema">The schema of the receiver.</param>
        /// <param name="stateColumns">
        /// Returns columns of an array of states, for all fields of the entities' kind. It is
        /// called for two arrays.
        /// </param>
        /// <param name="inputs">The schema of the stream of inputs.</param>
        /// <param name="inputColumns">The same for inputs.</param>
        /// <param name="config">The settings.</param>
        /// <param name="capacity">The most entities that can be added.</param>
        public Predicted(
            Schema schema,
            Func<TState[], Columns> stateColumns,
            Schema inputs,
            Func<TInput[], Columns> inputColumns,
            PredictConfig config,
            int capacity = 4)
        {
            Require.NotNull(schema, nameof(schema));
            Require.NotNull(stateColumns, nameof(stateColumns));
            Require.NotNull(inputs, nameof(inputs));
            Require.NotNull(inputColumns, nameof(inputColumns));
            Require.NotNull(config, nameof(config));
            Require.NotNegative(capacity, nameof(capacity));
            table = schema.Table;
            inputTable = inputs.Table;
            ids = new uint[capacity];
            states = new TState[capacity];
            ofStates = stateColumns(states);
            ofState = stateColumns(state);
            ofInput = inputColumns(input);
            ofPushed = inputColumns(pushed);
            RequireAll(ofStates, table, capacity);
            RequireAll(ofState, table, 1);
            RequireAll(ofInput, inputTable, 1);
            RequireAll(ofPushed, inputTable, 1);
            if (ofState.Kind != ofStates.Kind || ofInput.Kind != 0 || ofPushed.Kind != 0)
            {
                throw new ArgumentException("The columns are of another kind.", "stateColumns");
            }
            Native.KpPredictConfig native = config.ToNative();
            schema.Check(Native.kp_prediction_new(
                schema.Id, (uint)ofStates.Kind, inputs.Id, ref native, out ulong made));
            GC.KeepAlive(inputs);
            Own(made);
            add = Add;
            push = Push;
            correct = Correct;
            correctFrom = CorrectFrom;
            repeatLast = RepeatLast;
        }

        /// <summary>
        /// Adds an entity with its authoritative state of a tick. If the tick is before the newest
        /// predicted one, the steps since are repeated for all entities. If it is later, the entity
        /// begins when the input for it is pushed. Inputs are expected from the tick after the
        /// first entity's on.
        /// </summary>
        /// <param name="id">The id of the entity.</param>
        /// <param name="tick">The tick of the state.</param>
        /// <param name="state">The state.</param>
        /// <param name="step">The step.</param>
        /// <exception cref="KinepackException">
        /// The entity was added before, there is no room for it, or a value is out of its range.
        /// Nothing has changed.
        /// </exception>
        public void Add(uint id, uint tick, in TState state, Step<TState, TInput> step)
        {
            Require.NotNull(step, nameof(step));
            using (Enter())
            {
                this.state[0] = state;
                this.id = id;
                this.tick = tick;
                using (ofState.PinToRead(table, 1))
                {
                    Check(Run(step, add));
                }
            }
        }

        /// <summary>
        /// Predicts one more tick. Push the same input to the stream, with
        /// <see cref="StreamSender.PushForTick"/>. A client may skip ticks: the ticks between are
        /// stepped with the input before them, as a server does that repeats the last input.
        /// </summary>
        /// <param name="tick">The tick, after those before.</param>
        /// <param name="input">The input.</param>
        /// <param name="step">The step.</param>
        /// <exception cref="KinepackException">
        /// The tick is not after the newest one, or a value of the input is out of its range.
        /// Nothing has changed.
        /// </exception>
        public void Push(uint tick, in TInput input, Step<TState, TInput> step)
        {
            Require.NotNull(step, nameof(step));
            using (Enter())
            {
                pushed[0] = input;
                this.tick = tick;
                using (ofPushed.PinToRead(inputTable, 1))
                {
                    Check(Run(step, push));
                }
            }
        }

        /// <summary>
        /// Takes the authoritative state of an entity. If it equals the prediction of its tick,
        /// nothing else happens. Otherwise it takes the prediction's place, and all entities repeat
        /// the steps since. The shown paths continue without a step. The tick must be exact:
        /// <see cref="CorrectFrom(Receiver, Step{TState, TInput})"/> takes it from a receiver.
        /// </summary>
        /// <param name="id">The id of the entity.</param>
        /// <param name="tick">The tick of the state.</param>
        /// <param name="state">The state.</param>
        /// <param name="step">The step.</param>
        /// <param name="correction">What the state did.</param>
        /// <returns>False if the entity was not added.</returns>
        public bool TryCorrect(
            uint id,
            uint tick,
            in TState state,
            Step<TState, TInput> step,
            out Correction correction)
        {
            Require.NotNull(step, nameof(step));
            using (Enter())
            {
                this.state[0] = state;
                this.id = id;
                this.tick = tick;
                this.correction = default(Correction);
                using (ofState.PinToRead(table, 1))
                {
                    bool corrected = Succeeds(Run(step, correct), Status.Nothing);
                    correction = this.correction;
                    return corrected;
                }
            }
        }

        /// <summary>
        /// Takes the newest states of all entities from a receiver, if they are newer than those
        /// taken before. Call it after datagrams arrived. An entity that the receiver does not know
        /// stays as it is. The tick of a state must be exact, so the hub should send own entities
        /// in each snapshot: near in its rings, without a time precision, and with a high priority
        /// in a budget.
        /// </summary>
        /// <param name="receiver">The receiver.</param>
        /// <param name="step">The step.</param>
        /// <returns>What the states did.</returns>
        public Correction CorrectFrom(Receiver receiver, Step<TState, TInput> step)
        {
            Require.NotNull(receiver, nameof(receiver));
            Require.NotNull(step, nameof(step));
            using (Enter())
            {
                this.receiver = receiver.Id;
                Check(Run(step, correctFrom));
                GC.KeepAlive(receiver);
                return correction;
            }
        }

        /// <summary>
        /// Repeats the last steps of all entities, for a step that reads what has changed since:
        /// for example another prediction, whose <see cref="Correction.RepeatedTicks"/> these are.
        /// With <see cref="Repair.Blend"/> nothing is repeated.
        /// </summary>
        /// <param name="ticks">The number of steps.</param>
        /// <param name="step">The step.</param>
        /// <returns>What changed.</returns>
        public Correction RepeatLast(int ticks, Step<TState, TInput> step)
        {
            Require.NotNegative(ticks, nameof(ticks));
            Require.NotNull(step, nameof(step));
            using (Enter())
            {
                tick = (uint)ticks;
                Check(Run(step, repeatLast));
                return correction;
            }
        }

        /// <summary>
        /// Returns the state to draw at a moment: between two predicted ticks, plus the fading
        /// offset of corrections. A game that draws between its last two ticks passes the tick of
        /// <see cref="InputClock.TryTick"/> minus 1. Call it once a frame for each entity, with
        /// moments that increase.
        /// </summary>
        /// <param name="id">The id of the entity.</param>
        /// <param name="at">The moment, a tick with its fraction.</param>
        /// <param name="shown">The state.</param>
        /// <returns>False if the entity was not added, or begins later.</returns>
        public unsafe bool TryShown(uint id, double at, out TState shown)
        {
            using (Enter())
            {
                state[0] = default(TState);
                using (ofState.PinToWrite(table, out UIntPtr _))
                fixed (Native.KpTarget* to = ofState.ToWrite)
                {
                    UIntPtr fields = (UIntPtr)ofState.ToWrite.Length;
                    Status status = Native.kp_prediction_shown(Id, id, at, to, fields);
                    bool succeeds = Succeeds(status, Status.Nothing);
                    shown = state[0];
                    return succeeds;
                }
            }
        }

        /// <summary>Returns the predicted state of a tick, without offset.</summary>
        /// <param name="id">The id of the entity.</param>
        /// <param name="tick">The tick.</param>
        /// <param name="predicted">The state.</param>
        /// <returns>False if the history does not have it.</returns>
        public unsafe bool TryState(uint id, uint tick, out TState predicted)
        {
            using (Enter())
            {
                state[0] = default(TState);
                using (ofState.PinToWrite(table, out UIntPtr _))
                fixed (Native.KpTarget* to = ofState.ToWrite)
                {
                    UIntPtr fields = (UIntPtr)ofState.ToWrite.Length;
                    Status status = Native.kp_prediction_state(Id, id, tick, to, fields);
                    bool succeeds = Succeeds(status, Status.Nothing);
                    predicted = state[0];
                    return succeeds;
                }
            }
        }

        internal override void OnStep(int count, uint tick)
        {
            step(ids, states, count, input[0], tick);
        }

        /// <summary>Throws unless columns have all fields, with enough memory.</summary>
        private static void RequireAll(Columns columns, Field[][] table, int count)
        {
            Require.NotNull(columns, nameof(columns));
            columns.PinToRead(table, count).Dispose();
        }

        /// <summary>Runs a native function that may step.</summary>
        private unsafe Status Run(Step<TState, TInput> used, Stepping call)
        {
            step = used;
            using (ofStates.PinToRead(table, states.Length))
            using (ofInput.PinToRead(inputTable, 1))
            fixed (uint* firstId = ids)
            fixed (Native.KpTarget* targets = ofStates.ToWrite)
            fixed (Native.KpColumn* columns = ofStates.ToRead)
            fixed (Native.KpTarget* inputTargets = ofInput.ToWrite)
            {
                Native.KpStep native = new Native.KpStep
                {
                    capacity = (UIntPtr)states.Length,
                    ids = firstId,
                    targets = targets,
                    columns = columns,
                    fields = (UIntPtr)ofStates.ToRead.Length,
                    input_targets = inputTargets,
                    input_fields = (UIntPtr)ofInput.ToRead.Length,
                };
                try
                {
                    return Run(ref native, call);
                }
                finally
                {
                    step = null;
                }
            }
        }

        private unsafe Status Add(ref Native.KpStep native)
        {
            fixed (Native.KpColumn* from = ofState.ToRead)
            {
                UIntPtr fields = (UIntPtr)ofState.ToRead.Length;
                return Native.kp_prediction_add(Id, id, tick, from, fields, ref native);
            }
        }

        private unsafe Status Push(ref Native.KpStep native)
        {
            fixed (Native.KpColumn* from = ofPushed.ToRead)
            {
                UIntPtr fields = (UIntPtr)ofPushed.ToRead.Length;
                return Native.kp_prediction_push(Id, tick, from, fields, ref native);
            }
        }

        private unsafe Status Correct(ref Native.KpStep native)
        {
            fixed (Native.KpColumn* from = ofState.ToRead)
            fixed (Correction* written = &correction)
            {
                UIntPtr fields = (UIntPtr)ofState.ToRead.Length;
                return Native.kp_prediction_correct(
                    Id, id, tick, from, fields, ref native, written);
            }
        }

        private unsafe Status CorrectFrom(ref Native.KpStep native)
        {
            fixed (Correction* written = &correction)
            {
                return Native.kp_prediction_correct_from(Id, receiver, ref native, written);
            }
        }

        private unsafe Status RepeatLast(ref Native.KpStep native)
        {
            fixed (Correction* written = &correction)
            {
                return Native.kp_prediction_repeat_last(Id, tick, ref native, written);
            }
        }
    }
}
