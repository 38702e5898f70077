/**
 * The clock of a page that simulates its own inputs ahead of the server.
 */
export class InputClock {
    static __wrap(ptr) {
        const obj = Object.create(InputClock.prototype);
        obj.__wbg_ptr = ptr;
        InputClockFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        InputClockFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_inputclock_free(ptr, 0);
    }
    /**
     * The first tick of the last call of [`ticks`](Self::ticks) that had any.
     * @returns {number}
     */
    first() {
        const ret = wasm.inputclock_first(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Whether the clock was started.
     * @returns {boolean}
     */
    is_started() {
        const ret = wasm.inputclock_is_started(this.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * Starts the clock at a tick, which may have a fraction.
     * @param {number} now_ms
     * @param {number} tick
     */
    start(now_ms, tick) {
        wasm.inputclock_start(this.__wbg_ptr, now_ms, tick);
    }
    /**
     * Starts the clock from what a receiver of the same server knows. Returns false, and does
     * nothing, as long as the receiver does not know the server's tick.
     * @param {number} now_ms
     * @param {WorldReceiver} receiver
     * @returns {boolean}
     */
    start_from(now_ms, receiver) {
        _assertClass(receiver, WorldReceiver);
        const ret = wasm.inputclock_start_from(this.__wbg_ptr, now_ms, receiver.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * The names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.inputclock_stat_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Counters and measurements, in the order of [`stat_names`](Self::stat_names).
     * @returns {Float64Array}
     */
    stats() {
        const ret = wasm.inputclock_stats(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * The tick at the last call of [`ticks`](Self::ticks), with its fraction.
     * @returns {number}
     */
    tick() {
        const ret = wasm.inputclock_tick(this.__wbg_ptr);
        return ret;
    }
    /**
     * How many ticks are due, from [`first`](Self::first) on.
     * @param {number} now_ms
     * @returns {number}
     */
    ticks(now_ms) {
        const ret = wasm.inputclock_ticks(this.__wbg_ptr, now_ms);
        return ret >>> 0;
    }
}
if (Symbol.dispose) InputClock.prototype[Symbol.dispose] = InputClock.prototype.free;

/**
 * The settings of a clock.
 */
export class InputClockSetup {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        InputClockSetupFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_inputclocksetup_free(ptr, 0);
    }
    /**
     * Sets which inputs should arrive in time.
     * @param {number | null} [in_time_ratio]
     * @param {number | null} [margin_ms]
     */
    aim(in_time_ratio, margin_ms) {
        wasm.inputclocksetup_aim(this.__wbg_ptr, isLikeNone(in_time_ratio) ? Number.MAX_SAFE_INTEGER : Math.fround(in_time_ratio), !isLikeNone(margin_ms), isLikeNone(margin_ms) ? 0 : margin_ms);
    }
    /**
     * Makes the clock, which waits for its start.
     *
     * # Errors
     * Fails if a setting is not valid.
     * @returns {InputClock}
     */
    build() {
        const ptr = this.__destroy_into_raw();
        const ret = wasm.inputclocksetup_build(ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return InputClock.__wrap(ret[0]);
    }
    /**
     * Sets how the clock corrects itself.
     * @param {number | null} [slew_ratio]
     * @param {number | null} [jump_forward_ms]
     * @param {number | null} [jump_back_ms]
     */
    correct(slew_ratio, jump_forward_ms, jump_back_ms) {
        wasm.inputclocksetup_correct(this.__wbg_ptr, isLikeNone(slew_ratio) ? Number.MAX_SAFE_INTEGER : Math.fround(slew_ratio), !isLikeNone(jump_forward_ms), isLikeNone(jump_forward_ms) ? 0 : jump_forward_ms, !isLikeNone(jump_back_ms), isLikeNone(jump_back_ms) ? 0 : jump_back_ms);
    }
    /**
     * Sets what the clock learns from.
     * @param {number | null} [window_ms]
     * @param {number | null} [longest_frame_ms]
     */
    learn(window_ms, longest_frame_ms) {
        wasm.inputclocksetup_learn(this.__wbg_ptr, !isLikeNone(window_ms), isLikeNone(window_ms) ? 0 : window_ms, !isLikeNone(longest_frame_ms), isLikeNone(longest_frame_ms) ? 0 : longest_frame_ms);
    }
    /**
     * Makes a setup with default settings.
     * @param {number} tick_hz
     */
    constructor(tick_hz) {
        const ret = wasm.inputclocksetup_new(tick_hz);
        this.__wbg_ptr = ret;
        InputClockSetupFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
}
if (Symbol.dispose) InputClockSetup.prototype[Symbol.dispose] = InputClockSetup.prototype.free;

/**
 * Sends the inputs of a page to a server.
 */
export class InputSender {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        InputSenderFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_inputsender_free(ptr, 0);
    }
    /**
     * Takes an acknowledgement.
     *
     * # Errors
     * Fails if the sender refuses the acknowledgement. Then only a counter has changed.
     * @param {Uint8Array | number[]} datagram
     */
    handle(datagram) {
        const ptr0 = passArray8ToWasm0(datagram, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.inputsender_handle(this.__wbg_ptr, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Takes an acknowledgement, and passes it on to the clock.
     *
     * # Errors
     * As for [`handle`](Self::handle).
     * @param {InputClock} clock
     * @param {number} now_ms
     * @param {Uint8Array | number[]} datagram
     */
    handle_for(clock, now_ms, datagram) {
        _assertClass(clock, InputClock);
        const val2 = +now_ms;
        const ptr0 = passArray8ToWasm0(datagram, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.inputsender_handle_for(this.__wbg_ptr, clock.__wbg_ptr, val2, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Makes a sender of records with the fields that the schema file `schema` defines.
     *
     * # Errors
     * Fails if the schema file, the level or a setting is not valid.
     * @param {Uint8Array | number[]} schema
     * @param {string} level
     * @param {number} rate_hz
     * @param {number} longest_round_trip_ms
     * @param {number} repeats
     * @param {number} on_channel
     * @param {number} datagram_bytes
     */
    constructor(schema, level, rate_hz, longest_round_trip_ms, repeats, on_channel, datagram_bytes) {
        const val3 = +rate_hz;
        const val4 = +longest_round_trip_ms;
        const val5 = +repeats;
        const val6 = +on_channel;
        const val7 = +datagram_bytes;
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passArray8ToWasm0(schema, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.inputsender_new(ptr0, len0, ptr1, len1, val3, val4, val5, val6, val7);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        InputSenderFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The packet of the newest records. Each packet is returned once.
     * @returns {Uint8Array | undefined}
     */
    poll_transmit() {
        const ret = wasm.inputsender_poll_transmit(this.__wbg_ptr);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        }
        return v1;
    }
    /**
     * Adds a record, which has one raw word for each number. Returns the record's sequence number.
     * With a tick, this is the record of the tick.
     *
     * # Errors
     * Fails if a number is missing, not a number or out of its range. Then nothing has changed.
     * @param {BigUint64Array | bigint[]} words
     * @param {number | null} [tick]
     * @returns {number}
     */
    push(words, tick) {
        const val2 = +(isLikeNone(tick) ? Number.MAX_SAFE_INTEGER : (tick) >>> 0);
        const ptr0 = passArray64ToWasm0(words, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.inputsender_push(this.__wbg_ptr, ptr0, len0, val2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0];
    }
    /**
     * Adds a record whose lanes are already quantized. Returns the record's sequence number. With
     * a tick, this is the record of the tick.
     *
     * # Errors
     * Fails if there are more or fewer lanes than a record has, or a lane is out of its range. Then
     * nothing has changed.
     * @param {Uint32Array | number[]} lanes
     * @param {number | null} [tick]
     * @returns {number}
     */
    push_lanes(lanes, tick) {
        const val2 = +(isLikeNone(tick) ? Number.MAX_SAFE_INTEGER : (tick) >>> 0);
        const ptr0 = passArray32ToWasm0(lanes, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.inputsender_push_lanes(this.__wbg_ptr, ptr0, len0, val2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0];
    }
    /**
     * The schema of the records as JSON.
     * @returns {string}
     */
    schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.inputsender_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.inputsender_stat_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Counters, in the order of [`stat_names`](Self::stat_names).
     * @returns {Float64Array}
     */
    stats() {
        const ret = wasm.inputsender_stats(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
}
if (Symbol.dispose) InputSender.prototype[Symbol.dispose] = InputSender.prototype.free;

/**
 * The parameters from which a receiver is made.
 */
export class ReceiverSetup {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        ReceiverSetupFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_receiversetup_free(ptr, 0);
    }
    /**
     * Makes the receiver.
     * @returns {WorldReceiver}
     */
    build() {
        const ptr = this.__destroy_into_raw();
        const ret = wasm.receiversetup_build(ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return WorldReceiver.__wrap(ret[0]);
    }
    /**
     * Sets the limits of the memory and of the playout delay.
     * @param {number | null} [max_memory_bytes]
     * @param {number | null} [min_delay_ms]
     * @param {number | null} [max_delay_ms]
     */
    limit(max_memory_bytes, min_delay_ms, max_delay_ms) {
        wasm.receiversetup_limit(this.__wbg_ptr, isLikeNone(max_memory_bytes) ? Number.MAX_SAFE_INTEGER : (max_memory_bytes) >>> 0, !isLikeNone(min_delay_ms), isLikeNone(min_delay_ms) ? 0 : min_delay_ms, !isLikeNone(max_delay_ms), isLikeNone(max_delay_ms) ? 0 : max_delay_ms);
    }
    /**
     * Makes a setup with default settings. An empty profile stands for the untrained profile.
     * @param {Uint8Array | number[]} schema
     * @param {string} level
     * @param {Uint8Array | number[]} profile
     * @param {number} tick_hz
     */
    constructor(schema, level, profile, tick_hz) {
        const val4 = +tick_hz;
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArray8ToWasm0(schema, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArray8ToWasm0(profile, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.receiversetup_new(ptr0, len0, ptr1, len1, ptr2, len2, val4);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        ReceiverSetupFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Sets the channel of the hub, which distinguishes hubs on one connection.
     * @param {number} number
     */
    on_channel(number) {
        const ret = wasm.receiversetup_on_channel(this.__wbg_ptr, number);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Sets the kinds of events that the server sends.
     * @param {Uint8Array | number[]} schema
     * @param {string} level
     * @param {Uint8Array | number[]} profile
     */
    with_events(schema, level, profile) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArray8ToWasm0(schema, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArray8ToWasm0(profile, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.receiversetup_with_events(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) ReceiverSetup.prototype[Symbol.dispose] = ReceiverSetup.prototype.free;

/**
 * Receives one world.
 */
export class WorldReceiver {
    static __wrap(ptr) {
        const obj = Object.create(WorldReceiver.prototype);
        obj.__wbg_ptr = ptr;
        WorldReceiverFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        WorldReceiverFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_worldreceiver_free(ptr, 0);
    }
    /**
     * The schema of the events as JSON. An empty text if there are no events.
     * @returns {string}
     */
    event_schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.worldreceiver_event_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Sets for how long the entities of a kind continue straight on if their next state is late. 0
     * holds them.
     *
     * # Errors
     * Fails if there is no such kind, or the time is not 0 to 1,000 ms. Then nothing has changed.
     * @param {string} kind
     * @param {number} at_most_ms
     */
    extrapolate(kind, at_most_ms) {
        const val2 = +at_most_ms;
        const ptr0 = passStringToWasm0(kind, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.worldreceiver_extrapolate(this.__wbg_ptr, ptr0, len0, val2);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * The hash of some neighbouring fields of a kind. Empty if the kind has no such fields.
     * @param {number} kind
     * @param {number} first
     * @param {number} count
     * @returns {string}
     */
    fields_hash(kind, first, count) {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.worldreceiver_fields_hash(this.__wbg_ptr, kind, first, count);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Takes a datagram. Returns 0 for a state of the world, 1 for events alone, 2 for a fragment,
     * and 3 for the last fragment of a block.
     *
     * # Errors
     * Fails if the receiver refuses the datagram. Then only counters have changed.
     * @param {number} now_ms
     * @param {Uint8Array | number[]} datagram
     * @returns {number}
     */
    handle(now_ms, datagram) {
        const val2 = +now_ms;
        const ptr0 = passArray8ToWasm0(datagram, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.worldreceiver_handle(this.__wbg_ptr, val2, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0];
    }
    /**
     * Whether no newer state had arrived when one was needed.
     * @returns {boolean}
     */
    is_starved() {
        const ret = wasm.worldreceiver_is_starved(this.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * Keeps the lanes of a kind from the next moment on.
     * @param {number} kind
     */
    keep_lanes(kind) {
        wasm.worldreceiver_keep_lanes(this.__wbg_ptr, kind);
    }
    /**
     * The address of the lanes that were kept of a kind.
     * @param {number} kind
     * @returns {number}
     */
    lanes_at(kind) {
        const ret = wasm.worldreceiver_lanes_at(this.__wbg_ptr, kind);
        return ret >>> 0;
    }
    /**
     * The length of the list at [`lanes_at`](Self::lanes_at).
     * @param {number} kind
     * @returns {number}
     */
    lanes_len(kind) {
        const ret = wasm.worldreceiver_lanes_len(this.__wbg_ptr, kind);
        return ret >>> 0;
    }
    /**
     * Why the server refuses this receiver. An empty text if there is no such reason.
     * @returns {string}
     */
    mismatch() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.worldreceiver_mismatch(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The newest state as integers. For each entity, they include the tick of its newest values.
     * @returns {Uint32Array}
     */
    newest_lanes() {
        const ret = wasm.worldreceiver_newest_lanes(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * The address of the list of places of the world and of the events.
     * @returns {number}
     */
    places() {
        const ret = wasm.worldreceiver_places(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Computes the world to show now. Returns false before the first state.
     * @param {number} now_ms
     * @returns {boolean}
     */
    play(now_ms) {
        const ret = wasm.worldreceiver_play(this.__wbg_ptr, now_ms);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * The next datagram for the server, if there is one now.
     * @param {number} now_ms
     * @returns {Uint8Array | undefined}
     */
    poll_transmit(now_ms) {
        const ret = wasm.worldreceiver_poll_transmit(this.__wbg_ptr, now_ms);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        }
        return v1;
    }
    /**
     * The world's schema as JSON.
     * @returns {string}
     */
    schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.worldreceiver_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * What the last [`play`](Self::play) showed, as the integers of a stamp. `None` before the first
     * state.
     * @returns {Uint32Array | undefined}
     */
    seen() {
        const ret = wasm.worldreceiver_seen(this.__wbg_ptr);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        }
        return v1;
    }
    /**
     * Changes the bounds of the playout delay.
     * @param {number} min_ms
     * @param {number} max_ms
     */
    set_delays(min_ms, max_ms) {
        const ret = wasm.worldreceiver_set_delays(this.__wbg_ptr, min_ms, max_ms);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * The names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.worldreceiver_stat_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Counters and measurements, in the order of [`stat_names`](Self::stat_names).
     * @param {number} now_ms
     * @returns {Float64Array}
     */
    stats(now_ms) {
        const ret = wasm.worldreceiver_stats(this.__wbg_ptr, now_ms);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Takes the newest state instead of the state at the moment of playback. Returns false before
     * the first state.
     * @returns {boolean}
     */
    take_newest() {
        const ret = wasm.worldreceiver_take_newest(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * The tick of the last [`play`](Self::play) or [`take_newest`](Self::take_newest).
     * @returns {number}
     */
    tick() {
        const ret = wasm.worldreceiver_tick(this.__wbg_ptr);
        return ret;
    }
}
if (Symbol.dispose) WorldReceiver.prototype[Symbol.dispose] = WorldReceiver.prototype.free;

/**
 * The contents of a schema file as JSON.
 *
 * # Errors
 * Fails if the bytes are not a schema file.
 * @param {Uint8Array | number[]} bytes
 * @returns {string}
 */
export function describe_schema(bytes) {
    let deferred3_0;
    let deferred3_1;
    try {
        const ptr0 = passArray8ToWasm0(bytes, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.describe_schema(ptr0, len0);
        var ptr2 = ret[0];
        var len2 = ret[1];
        if (ret[3]) {
            ptr2 = 0; len2 = 0;
            throw takeFromExternrefTable0(ret[2]);
        }
        deferred3_0 = ptr2;
        deferred3_1 = len2;
        return getStringFromWasm0(ptr2, len2);
    } finally {
        wasm.__wbindgen_free(deferred3_0, deferred3_1, 1);
    }
}

/**
 * Splits a received datagram into its parts. Returns three numbers for each part: the endpoint
 * that handles it (0 hub, 1 receiver, 2 receiver of a stream, 3 sender of a stream), its channel,
 * and its length.
 *
 * # Errors
 * Fails if the bytes are not ones that an endpoint sends together.
 * @param {Uint8Array | number[]} datagrams
 * @returns {Uint32Array}
 */
export function split_parts(datagrams) {
    const ptr0 = passArray8ToWasm0(datagrams, wasm.__wbindgen_malloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.split_parts(ptr0, len0);
    if (ret[3]) {
        throw takeFromExternrefTable0(ret[2]);
    }
    var v2 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
    wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
    return v2;
}
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg_Error_208446807d0d1e30: function(arg0, arg1) {
            const ret = Error(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg___wbindgen_throw_4c88d8bf264fd984: function(arg0, arg1) {
            throw new Error(getStringFromWasm0(arg0, arg1));
        },
        __wbindgen_init_externref_table: function() {
            const table = wasm.__wbindgen_externrefs;
            table.set(0, undefined);
            table.set(1024, undefined);
            table.set(1025, null);
            table.set(1026, true);
            table.set(1027, false);
        },
    };
    return {
        __proto__: null,
        "./snapshots_bg.js": import0,
    };
}

const InputClockFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_inputclock_free(ptr, 1));
const InputClockSetupFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_inputclocksetup_free(ptr, 1));
const InputSenderFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_inputsender_free(ptr, 1));
const ReceiverSetupFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_receiversetup_free(ptr, 1));
const WorldReceiverFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_worldreceiver_free(ptr, 1));

function _assertClass(instance, klass) {
    if (!(instance instanceof klass)) {
        throw new Error(`expected instance of ${klass.name}`);
    }
}

function getArrayF64FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getFloat64ArrayMemory0().subarray(ptr / 8, ptr / 8 + len);
}

function getArrayU32FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint32ArrayMemory0().subarray(ptr / 4, ptr / 4 + len);
}

function getArrayU8FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint8ArrayMemory0().subarray(ptr / 1, ptr / 1 + len);
}

let cachedBigUint64ArrayMemory0 = null;
function getBigUint64ArrayMemory0() {
    if (cachedBigUint64ArrayMemory0 === null || cachedBigUint64ArrayMemory0.byteLength === 0) {
        cachedBigUint64ArrayMemory0 = new BigUint64Array(wasm.memory.buffer);
    }
    return cachedBigUint64ArrayMemory0;
}

let cachedFloat64ArrayMemory0 = null;
function getFloat64ArrayMemory0() {
    if (cachedFloat64ArrayMemory0 === null || cachedFloat64ArrayMemory0.byteLength === 0) {
        cachedFloat64ArrayMemory0 = new Float64Array(wasm.memory.buffer);
    }
    return cachedFloat64ArrayMemory0;
}

function getStringFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}

let cachedUint32ArrayMemory0 = null;
function getUint32ArrayMemory0() {
    if (cachedUint32ArrayMemory0 === null || cachedUint32ArrayMemory0.byteLength === 0) {
        cachedUint32ArrayMemory0 = new Uint32Array(wasm.memory.buffer);
    }
    return cachedUint32ArrayMemory0;
}

let cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
    if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
        cachedUint8ArrayMemory0 = new Uint8Array(wasm.memory.buffer);
    }
    return cachedUint8ArrayMemory0;
}

function isLikeNone(x) {
    return x === undefined || x === null;
}

function passArray32ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 4, 4) >>> 0;
    getUint32ArrayMemory0().set(arg, ptr / 4);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArray64ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 8, 8) >>> 0;
    getBigUint64ArrayMemory0().set(arg, ptr / 8);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArray8ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 1, 1) >>> 0;
    getUint8ArrayMemory0().set(arg, ptr / 1);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }

    let len = arg.length;
    let ptr = malloc(len, 1) >>> 0;

    const mem = getUint8ArrayMemory0();

    let offset = 0;

    for (; offset < len; offset++) {
        const code = arg.charCodeAt(offset);
        if (code > 0x7F) break;
        mem[ptr + offset] = code;
    }
    if (offset !== len) {
        if (offset !== 0) {
            arg = arg.slice(offset);
        }
        ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
        const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
        const ret = cachedTextEncoder.encodeInto(arg, view);

        offset += ret.written;
        ptr = realloc(ptr, len, offset, 1) >>> 0;
    }

    WASM_VECTOR_LEN = offset;
    return ptr;
}

function takeFromExternrefTable0(idx) {
    const value = wasm.__wbindgen_externrefs.get(idx);
    wasm.__externref_table_dealloc(idx);
    return value;
}

let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
const MAX_SAFARI_DECODE_BYTES = 2146435072;
let numBytesDecoded = 0;
function decodeText(bytes) {
    numBytesDecoded += bytes.length;
    if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
        cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
        cachedTextDecoder.decode();
        numBytesDecoded = bytes.length;
    }
    return cachedTextDecoder.decode(bytes);
}

const cachedTextEncoder = new TextEncoder();

if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}

let WASM_VECTOR_LEN = 0;

let wasmModule, wasmInstance, wasm;
function __wbg_finalize_init(instance, module) {
    wasmInstance = instance;
    wasm = instance.exports;
    wasmModule = module;
    cachedBigUint64ArrayMemory0 = null;
    cachedFloat64ArrayMemory0 = null;
    cachedUint32ArrayMemory0 = null;
    cachedUint8ArrayMemory0 = null;
    wasm.__wbindgen_start();
    return wasm;
}

async function __wbg_load(module, imports) {
    if (typeof Response === 'function' && module instanceof Response) {
        if (!module.ok) {
            throw new Error(`failed to fetch Wasm: ${module.status} ${module.statusText} fetching '${module.url}'`);
        }

        if (typeof WebAssembly.instantiateStreaming === 'function') {
            try {
                return await WebAssembly.instantiateStreaming(module, imports);
            } catch (e) {
                const validResponse = expectedResponseType(module.type);

                if (validResponse && module.headers.get('Content-Type') !== 'application/wasm') {
                    console.warn("`WebAssembly.instantiateStreaming` failed because your server does not serve Wasm with `application/wasm` MIME type. Falling back to `WebAssembly.instantiate` which is slower. Original error:\n", e);

                } else { throw e; }
            }
        }

        const bytes = await module.arrayBuffer();
        return await WebAssembly.instantiate(bytes, imports);
    } else {
        const instance = await WebAssembly.instantiate(module, imports);

        if (instance instanceof WebAssembly.Instance) {
            return { instance, module };
        } else {
            return instance;
        }
    }

    function expectedResponseType(type) {
        switch (type) {
            case 'basic': case 'cors': case 'default': return true;
        }
        return false;
    }
}

function initSync(module) {
    if (wasm !== undefined) return wasm;


    if (module !== undefined) {
        if (Object.getPrototypeOf(module) === Object.prototype) {
            ({module} = module)
        } else {
            console.warn('using deprecated parameters for `initSync()`; pass a single object instead')
        }
    }

    const imports = __wbg_get_imports();
    if (!(module instanceof WebAssembly.Module)) {
        module = new WebAssembly.Module(module);
    }
    const instance = new WebAssembly.Instance(module, imports);
    return __wbg_finalize_init(instance, module);
}

let __wbg_init_promise;
async function __wbg_init(module_or_path) {
    if (wasm !== undefined) return wasm;
    if (__wbg_init_promise === undefined) {
        __wbg_init_promise = __wbg_init_once(module_or_path);
        __wbg_init_promise.catch(() => { __wbg_init_promise = undefined; });
    }
    return __wbg_init_promise;
}

async function __wbg_init_once(module_or_path) {

    if (module_or_path !== undefined) {
        if (Object.getPrototypeOf(module_or_path) === Object.prototype) {
            ({module_or_path} = module_or_path)
        } else {
            console.warn('using deprecated parameters for the initialization function; pass a single object instead')
        }
    }


    const imports = __wbg_get_imports();

    if (typeof module_or_path === 'string' || (typeof Request === 'function' && module_or_path instanceof Request) || (typeof URL === 'function' && module_or_path instanceof URL)) {
        module_or_path = fetch(module_or_path);
    }

    const { instance, module } = await __wbg_load(await module_or_path, imports);

    return __wbg_finalize_init(instance, module);
}

export { initSync, __wbg_init as default };
