/**
 * Plays the game of `arena` for one player.
 */
export class ArenaClient {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        ArenaClientFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_arenaclient_free(ptr, 0);
    }
    /**
     * A frame: finds out what to draw, and makes the inputs that are due. The stick is where to
     * walk in the world, 1 is full speed; the aim is a direction in the world.
     *
     * # Errors
     * Returns an error if a direction is not a number.
     * @param {number} now_ms
     * @param {number} stick_x
     * @param {number} stick_y
     * @param {number} aim_x
     * @param {number} aim_y
     * @param {boolean} fires
     */
    frame(now_ms, stick_x, stick_y, aim_x, aim_y, fires) {
        const ret = wasm.arenaclient_frame(this.__wbg_ptr, now_ms, stick_x, stick_y, aim_x, aim_y, fires);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Takes a datagram. What is not valid is counted, and changes nothing.
     * @param {number} now_ms
     * @param {Uint8Array | number[]} datagram
     */
    handle(now_ms, datagram) {
        const val2 = +now_ms;
        const ptr0 = passArray8ToWasm0(datagram, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        wasm.arenaclient_handle(this.__wbg_ptr, val2, ptr0, len0);
    }
    /**
     * Returns a client for the player `me`, with the default rules.
     *
     * # Errors
     * None that a page could cause.
     * @param {number} me
     */
    constructor(me) {
        const ret = wasm.arenaclient_new(me);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        ArenaClientFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Returns the names of the [`numbers`](Self::numbers), with spaces between them.
     * @returns {string}
     */
    number_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.arenaclient_number_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Where the ferry is, and what the client counts, in the order of
     * [`number_names`](Self::number_names).
     * @returns {Float64Array}
     */
    numbers() {
        const ret = wasm.arenaclient_numbers(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Returns the names of a player's numbers, with spaces between them.
     * @returns {string}
     */
    player_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.arenaclient_player_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The players to draw: for each the numbers of [`player_names`](Self::player_names). The own
     * player comes first if he is known, which [`numbers`](Self::numbers) says.
     * @returns {Float64Array}
     */
    players() {
        const ret = wasm.arenaclient_players(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Returns the next datagram for the server, if one is due.
     * @param {number} now_ms
     * @returns {Uint8Array | undefined}
     */
    poll_transmit(now_ms) {
        const ret = wasm.arenaclient_poll_transmit(this.__wbg_ptr, now_ms);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        }
        return v1;
    }
    /**
     * Sets the rules that concern clients.
     *
     * # Errors
     * None that a page could cause.
     * @param {boolean} prediction
     * @param {boolean} fade
     * @param {boolean} clock
     * @param {boolean} frames
     * @param {boolean} cuts
     * @param {boolean} straight
     */
    set_rules(prediction, fade, clock, frames, cuts, straight) {
        const ret = wasm.arenaclient_set_rules(this.__wbg_ptr, prediction, fade, clock, frames, cuts, straight);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) ArenaClient.prototype[Symbol.dispose] = ArenaClient.prototype.free;

/**
 * Receives the program's world.
 */
export class CountingReceiver {
    static __wrap(ptr) {
        const obj = Object.create(CountingReceiver.prototype);
        obj.__wbg_ptr = ptr;
        CountingReceiverFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        CountingReceiverFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_countingreceiver_free(ptr, 0);
    }
    /**
     * Returns the lanes of an entity in the baseline of the newest tick.
     * @param {number} id
     * @returns {Uint32Array | undefined}
     */
    baseline_lanes(id) {
        const ret = wasm.countingreceiver_baseline_lanes(this.__wbg_ptr, id);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        }
        return v1;
    }
    /**
     * Takes a datagram. Returns false if the datagram is refused, in which case only counters have
     * changed.
     * @param {number} now_ms
     * @param {Uint8Array | number[]} datagram
     * @returns {boolean}
     */
    handle(now_ms, datagram) {
        const val2 = +now_ms;
        const ptr0 = passArray8ToWasm0(datagram, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.countingreceiver_handle(this.__wbg_ptr, val2, ptr0, len0);
        return ret !== 0;
    }
    /**
     * Returns the address of the recent bits of each id, from 0 on.
     * @returns {number}
     */
    heat_address() {
        const ret = wasm.countingreceiver_heat_address(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Returns the number of ids with recent bits.
     * @returns {number}
     */
    heat_count() {
        const ret = wasm.countingreceiver_heat_count(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Returns the lanes of an entity in the newest state.
     * @param {number} id
     * @returns {Uint32Array | undefined}
     */
    known_lanes(id) {
        const ret = wasm.countingreceiver_known_lanes(this.__wbg_ptr, id);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        }
        return v1;
    }
    /**
     * Numbers about one entity in the newest tick, in the order of
     * [`look_names`](Self::look_names). A value that does not exist is NaN.
     * @param {number} id
     * @returns {Float64Array}
     */
    look(id) {
        const ret = wasm.countingreceiver_look(this.__wbg_ptr, id);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Returns the names of the numbers of a [`look`](Self::look), with spaces between them.
     * @returns {string}
     */
    look_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.countingreceiver_look_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Returns a receiver without any state. An empty profile is the untrained one.
     *
     * # Errors
     * Returns an error if the files do not fit together, or if the level is unknown.
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
        const ret = wasm.countingreceiver_new(ptr0, len0, ptr1, len1, ptr2, len2, val4);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        CountingReceiverFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Returns the address of a list that describes where the shown world is in memory. For each
     * kind, the list has the number of entities, the address of their ids, and the address of each
     * field.
     * @returns {number}
     */
    places() {
        const ret = wasm.countingreceiver_places(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Computes what to show at `now_ms`. Returns false before the first state.
     * @param {number} now_ms
     * @returns {boolean}
     */
    play(now_ms) {
        const ret = wasm.countingreceiver_play(this.__wbg_ptr, now_ms);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Returns the next datagram for the server, if one is due.
     * @param {number} now_ms
     * @returns {Uint8Array | undefined}
     */
    poll_transmit(now_ms) {
        const ret = wasm.countingreceiver_poll_transmit(this.__wbg_ptr, now_ms);
        let v1;
        if (ret[0] !== 0) {
            v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        }
        return v1;
    }
    /**
     * Returns the world's schema as JSON.
     * @returns {string}
     */
    schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.countingreceiver_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Sets the bounds of the playout delay.
     *
     * # Errors
     * Returns an error if the bounds contradict each other.
     * @param {number} min_ms
     * @param {number} max_ms
     */
    set_delays(min_ms, max_ms) {
        const ret = wasm.countingreceiver_set_delays(this.__wbg_ptr, min_ms, max_ms);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Returns the names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.countingreceiver_stat_names(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Measurements, in the order of [`stat_names`](Self::stat_names). A value that is not known
     * yet is NaN.
     * @param {number} now_ms
     * @returns {Float64Array}
     */
    stats(now_ms) {
        const ret = wasm.countingreceiver_stats(this.__wbg_ptr, now_ms);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Returns the tick that is shown.
     * @returns {number}
     */
    tick() {
        const ret = wasm.countingreceiver_tick(this.__wbg_ptr);
        return ret;
    }
    /**
     * Returns the same receiver, for a hub that also sends events. It accepts them, but does not
     * show them.
     *
     * # Errors
     * Returns an error if `schema` is not a schema file, or if the level is unknown.
     * @param {Uint8Array | number[]} schema
     * @param {string} level
     * @returns {CountingReceiver}
     */
    with_events(schema, level) {
        let ptr, ptr0, len0, ptr1, len1;
        try {
            ptr = this.__destroy_into_raw();
            ptr0 = passArray8ToWasm0(schema, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            if (ptr) wasm.__wbg_countingreceiver_free(ptr, 1);
            throw e;
        }
        const ret = wasm.countingreceiver_with_events(ptr, ptr0, len0, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return CountingReceiver.__wrap(ret[0]);
    }
}
if (Symbol.dispose) CountingReceiver.prototype[Symbol.dispose] = CountingReceiver.prototype.free;

/**
 * A recorded world that is sent and received.
 */
export class Simulation {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        SimulationFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_simulation_free(ptr, 0);
    }
    /**
     * Runs the world and the link up to a time, and computes the state to show at that time.
     *
     * # Errors
     * Returns an error if the file of the world is damaged.
     * @param {number} now_ms
     */
    advance(now_ms) {
        const ret = wasm.simulation_advance(this.__wbg_ptr, now_ms);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Returns the address of the recent bits, as in [`CountingReceiver::heat_address`].
     * @returns {number}
     */
    heat_address() {
        const ret = wasm.simulation_heat_address(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Returns the number of ids with recent bits, as in [`CountingReceiver::heat_count`].
     * @returns {number}
     */
    heat_count() {
        const ret = wasm.simulation_heat_count(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Returns a simulation of the world in a file, at a level, over a perfect link.
     *
     * # Errors
     * Returns an error if the files do not fit together.
     * @param {Uint8Array | number[]} world
     * @param {Uint8Array | number[]} schema
     * @param {Uint8Array | number[]} profile
     * @param {string} level
     * @param {number} tick_hz
     */
    constructor(world, schema, profile, level, tick_hz) {
        const val5 = +tick_hz;
        let ptr0, len0, ptr1, len1, ptr2, len2, ptr3, len3;
        try {
            ptr0 = passArray8ToWasm0(world, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArray8ToWasm0(schema, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArray8ToWasm0(profile, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
            ptr3 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len3 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr3) { wasm.__wbindgen_free(ptr3, len3 * 1, 1); }
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.simulation_new(ptr0, len0, ptr1, len1, ptr2, len2, ptr3, len3, val5);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        SimulationFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Returns the schema as JSON.
     * @returns {string}
     */
    schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.simulation_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Returns the address of the list that describes the sent world, as in
     * [`CountingReceiver::places`].
     * @returns {number}
     */
    sent_places() {
        const ret = wasm.simulation_sent_places(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Bounds the playout delay.
     *
     * # Errors
     * Returns an error if the bounds contradict each other.
     * @param {number} min_ms
     * @param {number} max_ms
     */
    set_delays(min_ms, max_ms) {
        const ret = wasm.simulation_set_delays(this.__wbg_ptr, min_ms, max_ms);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Restarts the session at another level.
     *
     * # Errors
     * Returns an error if the level is unknown.
     * @param {string} level
     */
    set_level(level) {
        const ptr0 = passStringToWasm0(level, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.simulation_set_level(this.__wbg_ptr, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Changes both directions of the link. Each direction gets half of the round trip.
     *
     * # Errors
     * Returns an error if the settings are not possible.
     * @param {number} round_trip_ms
     * @param {number} jitter_ms
     * @param {number} loss_ratio
     */
    set_link(round_trip_ms, jitter_ms, loss_ratio) {
        const ret = wasm.simulation_set_link(this.__wbg_ptr, round_trip_ms, jitter_ms, loss_ratio);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Returns the address of the list that describes the shown world, as in
     * [`CountingReceiver::places`].
     * @returns {number}
     */
    shown_places() {
        const ret = wasm.simulation_shown_places(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Returns the names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.simulation_stat_names(this.__wbg_ptr);
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
        const ret = wasm.simulation_stats(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
}
if (Symbol.dispose) Simulation.prototype[Symbol.dispose] = Simulation.prototype.free;
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
        "./demo_bg.js": import0,
    };
}

const ArenaClientFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_arenaclient_free(ptr, 1));
const CountingReceiverFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_countingreceiver_free(ptr, 1));
const SimulationFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_simulation_free(ptr, 1));

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
