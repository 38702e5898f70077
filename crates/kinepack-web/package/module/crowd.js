/**
 * Views one broadcast. JavaScript identifies a track by a number: twice the number of its tier,
 * plus one for key snapshots.
 */
export class BroadcastViewer {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        BroadcastViewerFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_broadcastviewer_free(ptr, 0);
    }
    /**
     * Takes a datagram of a tier. Returns true if it completed a snapshot.
     *
     * # Errors
     * Fails if the viewer refuses the datagram. Then only counters have changed.
     * @param {number} now_ms
     * @param {number} tier
     * @param {Uint8Array | number[]} bytes
     * @returns {boolean}
     */
    datagram(now_ms, tier, bytes) {
        const val2 = +now_ms;
        const val3 = +tier;
        const ptr0 = passArray8ToWasm0(bytes, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.broadcastviewer_datagram(this.__wbg_ptr, val2, val3, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
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
            const ret = wasm.broadcastviewer_fields_hash(this.__wbg_ptr, kind, first, count);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The first and the last tick of the history. The list is empty if there is no history.
     * @returns {Uint32Array}
     */
    history() {
        const ret = wasm.broadcastviewer_history(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Whether no newer state had arrived when one was needed.
     * @returns {boolean}
     */
    is_starved() {
        const ret = wasm.broadcastviewer_is_starved(this.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * Keeps the lanes of a kind from the next moment on.
     * @param {number} kind
     */
    keep_lanes(kind) {
        wasm.broadcastviewer_keep_lanes(this.__wbg_ptr, kind);
    }
    /**
     * The address of the lanes that were kept of a kind.
     * @param {number} kind
     * @returns {number}
     */
    lanes_at(kind) {
        const ret = wasm.broadcastviewer_lanes_at(this.__wbg_ptr, kind);
        return ret >>> 0;
    }
    /**
     * The length of the list at [`lanes_at`](Self::lanes_at).
     * @param {number} kind
     * @returns {number}
     */
    lanes_len(kind) {
        const ret = wasm.broadcastviewer_lanes_len(this.__wbg_ptr, kind);
        return ret >>> 0;
    }
    /**
     * Makes a viewer that does not watch any tier yet.
     *
     * # Errors
     * Fails if the bytes are not a catalogue, or if the bounds of the delay contradict each other.
     * @param {Uint8Array | number[]} catalogue
     * @param {number} history_ms
     * @param {number | null} [max_memory_bytes]
     * @param {number | null} [min_delay_ms]
     * @param {number | null} [max_delay_ms]
     */
    constructor(catalogue, history_ms, max_memory_bytes, min_delay_ms, max_delay_ms) {
        const val2 = +history_ms;
        const val3 = +(isLikeNone(max_memory_bytes) ? Number.MAX_SAFE_INTEGER : (max_memory_bytes) >>> 0);
        const val4 = +(isLikeNone(min_delay_ms) ? 0 : min_delay_ms);
        const val5 = +(isLikeNone(max_delay_ms) ? 0 : max_delay_ms);
        const ptr0 = passArray8ToWasm0(catalogue, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.broadcastviewer_new(ptr0, len0, val2, val3, !isLikeNone(min_delay_ms), val4, !isLikeNone(max_delay_ms), val5);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        BroadcastViewerFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The newest state as integers.
     * @returns {Uint32Array}
     */
    newest_lanes() {
        const ret = wasm.broadcastviewer_newest_lanes(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Takes an object. Returns true if a snapshot could be read with it.
     *
     * # Errors
     * Fails if the viewer refuses the object. Then only counters have changed.
     * @param {number} now_ms
     * @param {number} track
     * @param {bigint} group
     * @param {bigint} number
     * @param {Uint8Array | number[]} bytes
     * @returns {boolean}
     */
    object(now_ms, track, group, number, bytes) {
        const val2 = +now_ms;
        const val3 = +track;
        const val4 = BigInt.asIntN(64, group);
        const val5 = BigInt.asIntN(64, number);
        const ptr0 = passArray8ToWasm0(bytes, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.broadcastviewer_object(this.__wbg_ptr, val2, val3, val4, val5, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * The address of the list of places of the world.
     * @returns {number}
     */
    places() {
        const ret = wasm.broadcastviewer_places(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Computes the world to show now. Returns false before the first state.
     * @param {number} now_ms
     * @returns {boolean}
     */
    play(now_ms) {
        const ret = wasm.broadcastviewer_play(this.__wbg_ptr, now_ms);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Computes the world at a tick of the history. Live playback continues meanwhile. Returns
     * false if there is no history.
     * @param {number} now_ms
     * @param {number} tick
     * @returns {boolean}
     */
    play_at(now_ms, tick) {
        const ret = wasm.broadcastviewer_play_at(this.__wbg_ptr, now_ms, tick);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Reads all tracks anew, for example after a connection was lost.
     */
    rejoin() {
        wasm.broadcastviewer_rejoin(this.__wbg_ptr);
    }
    /**
     * The world's schema as JSON. All tiers have the same kinds and fields.
     * @returns {string}
     */
    schema() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.broadcastviewer_schema(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Changes the bounds of the playout delay.
     * @param {number} min_ms
     * @param {number} max_ms
     */
    set_delays(min_ms, max_ms) {
        const ret = wasm.broadcastviewer_set_delays(this.__wbg_ptr, min_ms, max_ms);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * The numbers of the shown tiers.
     * @returns {Uint32Array}
     */
    shown_tiers() {
        const ret = wasm.broadcastviewer_shown_tiers(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * The names of the [`stats`](Self::stats), with spaces between them.
     * @returns {string}
     */
    stat_names() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.broadcastviewer_stat_names(this.__wbg_ptr);
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
        const ret = wasm.broadcastviewer_stats(this.__wbg_ptr);
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
        const ret = wasm.broadcastviewer_take_newest(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * The shown tick, with its fraction.
     * @returns {number}
     */
    tick() {
        const ret = wasm.broadcastviewer_tick(this.__wbg_ptr);
        return ret;
    }
    /**
     * The number of ticks per second.
     * @returns {number}
     */
    tick_hz() {
        const ret = wasm.broadcastviewer_tick_hz(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * The names of the tiers as a JSON list.
     * @returns {string}
     */
    tiers() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.broadcastviewer_tiers(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The name of a track; an empty text if there is no such track.
     * @param {number} track
     * @returns {string}
     */
    track_name(track) {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.broadcastviewer_track_name(this.__wbg_ptr, track);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The numbers of the tracks that the viewer needs now.
     * @returns {Uint32Array}
     */
    wanted() {
        const ret = wasm.broadcastviewer_wanted(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Watches the tiers with these numbers from now on.
     * @param {Uint32Array | number[]} tiers
     */
    watch(tiers) {
        const ptr0 = passArray32ToWasm0(tiers, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.broadcastviewer_watch(this.__wbg_ptr, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) BroadcastViewer.prototype[Symbol.dispose] = BroadcastViewer.prototype.free;
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
        "./crowd_bg.js": import0,
    };
}

const BroadcastViewerFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_broadcastviewer_free(ptr, 1));

function getArrayF64FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getFloat64ArrayMemory0().subarray(ptr / 8, ptr / 8 + len);
}

function getArrayU32FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint32ArrayMemory0().subarray(ptr / 4, ptr / 4 + len);
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

function passArray8ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 1, 1) >>> 0;
    getUint8ArrayMemory0().set(arg, ptr / 1);
    WASM_VECTOR_LEN = arg.length;
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
