/**
 * The body of one kind of entity.
 */
export class BodyFigure {
    static __wrap(ptr) {
        const obj = Object.create(BodyFigure.prototype);
        obj.__wbg_ptr = ptr;
        BodyFigureFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        BodyFigureFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_bodyfigure_free(ptr, 0);
    }
    /**
     * The names of the fields.
     * @returns {string[]}
     */
    field_names() {
        const ret = wasm.bodyfigure_field_names(this.__wbg_ptr);
        var v1 = getArrayJsValueFromWasm0(ret[0], ret[1]);
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * The hash of the fields, as the description of a schema has it for each kind.
     * @returns {string}
     */
    hash() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.bodyfigure_hash(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * The largest error of each joint in cm, in poses that move only as the options say.
     * @returns {Float64Array}
     */
    max_errors_cm() {
        const ret = wasm.bodyfigure_max_errors_cm(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * The schema file of the fields.
     *
     * # Errors
     * Fails if there are too many lanes for a file.
     * @returns {Uint8Array}
     */
    schema_file() {
        const ret = wasm.bodyfigure_schema_file(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
}
if (Symbol.dispose) BodyFigure.prototype[Symbol.dispose] = BodyFigure.prototype.free;

/**
 * All bodies of one kind, at the moment that a receiver or a viewer shows.
 */
export class FigureBodies {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        FigureBodiesFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_figurebodies_free(ptr, 0);
    }
    /**
     * The clip that a body plays in a slot: its index, time in ticks, speed and weight. The list
     * is empty if the slot is.
     * @param {number} body
     * @param {number} slot
     * @returns {Float64Array}
     */
    clip(body, slot) {
        const ret = wasm.figurebodies_clip(this.__wbg_ptr, body, slot);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * The address of the bodies' ids.
     * @returns {number}
     */
    ids_at() {
        const ret = wasm.figurebodies_ids_at(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * Whether a part of a body is present.
     * @param {number} body
     * @param {number} part
     * @returns {boolean}
     */
    is_present(body, part) {
        const ret = wasm.figurebodies_is_present(this.__wbg_ptr, body, part);
        return ret !== 0;
    }
    /**
     * Makes a list without bodies. `before` and `after` are the numbers of the lanes of an entity
     * before those of the figure, and after them.
     * @param {BodyFigure} figure
     * @param {number} before
     * @param {number} after
     */
    constructor(figure, before, after) {
        _assertClass(figure, BodyFigure);
        const ret = wasm.figurebodies_new(figure.__wbg_ptr, before, after);
        this.__wbg_ptr = ret;
        FigureBodiesFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Makes room for the numbers of a moment, and returns their address.
     * @param {number} numbers
     * @returns {number}
     */
    place(numbers) {
        const ret = wasm.figurebodies_place(this.__wbg_ptr, numbers);
        return ret >>> 0;
    }
    /**
     * The addresses of a body's translations (metres), rotations (x, y, z, w), scales and curves.
     * They do not change. The list is empty if there is no such body.
     * @param {number} body
     * @returns {Uint32Array}
     */
    places(body) {
        const ret = wasm.figurebodies_places(this.__wbg_ptr, body);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Computes the poses and clips of the moment at a tick, and returns the number of bodies.
     *
     * # Errors
     * Fails if the numbers are not those of this figure's kind. Then there are no bodies.
     * @param {number} tick
     * @returns {number}
     */
    play(tick) {
        const ret = wasm.figurebodies_play(this.__wbg_ptr, tick);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] >>> 0;
    }
}
if (Symbol.dispose) FigureBodies.prototype[Symbol.dispose] = FigureBodies.prototype.free;

/**
 * Quantizes poses, one at a time.
 */
export class FigureLanes {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        FigureLanesFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_figurelanes_free(ptr, 0);
    }
    /**
     * Makes a quantizer. Its pose is the bind pose, and its curves are as near to 0 as they may
     * be.
     * @param {BodyFigure} body
     */
    constructor(body) {
        _assertClass(body, BodyFigure);
        const ret = wasm.figurelanes_new(body.__wbg_ptr);
        this.__wbg_ptr = ret;
        FigureLanesFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The addresses of the pose's translations (metres), rotations (x, y, z, w), scales and
     * curves. They do not change.
     * @returns {Uint32Array}
     */
    places() {
        const ret = wasm.figurelanes_places(this.__wbg_ptr);
        var v1 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Returns the lanes of the pose. `absent` has the indices of the absent parts, and `plays` has
     * five numbers for each slot of clips.
     *
     * # Errors
     * Fails if the figure cannot send the pose.
     * @param {Uint32Array | number[]} absent
     * @param {Float64Array | number[]} plays
     * @param {number} tier
     * @returns {Uint32Array}
     */
    quantize(absent, plays, tier) {
        const val3 = +tier;
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passArray32ToWasm0(absent, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(plays, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 4, 4); }
            throw e;
        }
        const ret = wasm.figurelanes_quantize(this.__wbg_ptr, ptr0, len0, ptr1, len1, val3);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v4 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v4;
    }
}
if (Symbol.dispose) FigureLanes.prototype[Symbol.dispose] = FigureLanes.prototype.free;

/**
 * The parameters from which a figure is made.
 */
export class FigureSetup {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        FigureSetupFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_figuresetup_free(ptr, 0);
    }
    /**
     * Makes the figure.
     *
     * # Errors
     * Fails if the options do not fit the skeleton.
     * @returns {BodyFigure}
     */
    build() {
        const ptr = this.__destroy_into_raw();
        const ret = wasm.figuresetup_build(ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return BodyFigure.__wrap(ret[0]);
    }
    /**
     * Sets the clips that a body can play, and how many at once.
     * @param {number} slots
     * @param {string[]} names
     */
    clips(slots, names) {
        const val2 = +slots;
        const ptr0 = passArrayJsValueToWasm0(names, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        wasm.figuresetup_clips(this.__wbg_ptr, val2, ptr0, len0);
    }
    /**
     * Sets how many times coarser each further tier is.
     * @param {Float64Array | number[]} times
     */
    coarser(times) {
        const ptr0 = passArrayF64ToWasm0(times, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        wasm.figuresetup_coarser(this.__wbg_ptr, ptr0, len0);
    }
    /**
     * Adds a curve.
     * @param {string} name
     * @param {number} min
     * @param {number} max
     * @param {number} precision
     */
    curve(name, min, max, precision) {
        const val2 = +min;
        const val3 = +max;
        const val4 = +precision;
        const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        wasm.figuresetup_curve(this.__wbg_ptr, ptr0, len0, val2, val3, val4);
    }
    /**
     * Lets a joint turn about one axis.
     * @param {number} joint
     * @param {number} x
     * @param {number} y
     * @param {number} z
     */
    hinge(joint, x, y, z) {
        wasm.figuresetup_hinge(this.__wbg_ptr, joint, x, y, z);
    }
    /**
     * Sets the precision of one joint.
     * @param {number} joint
     * @param {number} cm
     */
    joint_precision(joint, cm) {
        wasm.figuresetup_joint_precision(this.__wbg_ptr, joint, cm);
    }
    /**
     * Lets a joint turn, and move from its bind pose.
     * @param {number} joint
     * @param {number} range_cm
     */
    moves(joint, range_cm) {
        wasm.figuresetup_moves(this.__wbg_ptr, joint, range_cm);
    }
    /**
     * Makes a setup with default options.
     * @param {SkeletonJoints} skeleton
     */
    constructor(skeleton) {
        _assertClass(skeleton, SkeletonJoints);
        const ret = wasm.figuresetup_new(skeleton.__wbg_ptr);
        this.__wbg_ptr = ret;
        FigureSetupFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Adds a part that may be absent.
     * @param {string} name
     * @param {Uint32Array | number[]} joints
     * @param {Uint32Array | number[]} curves
     */
    part(name, joints, curves) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArray32ToWasm0(joints, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArray32ToWasm0(curves, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 4, 4); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 4, 4); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        wasm.figuresetup_part(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2);
    }
    /**
     * Sets the precision of all joints.
     * @param {number} cm
     */
    precision(cm) {
        wasm.figuresetup_precision(this.__wbg_ptr, cm);
    }
    /**
     * Sets the distance from a joint to the skin around it.
     * @param {number} cm
     */
    shell(cm) {
        wasm.figuresetup_shell(this.__wbg_ptr, cm);
    }
    /**
     * Lets a joint keep its bind pose.
     * @param {number} joint
     */
    still(joint) {
        wasm.figuresetup_still(this.__wbg_ptr, joint);
    }
    /**
     * Lets a joint turn about any axis.
     * @param {number} joint
     */
    turns(joint) {
        wasm.figuresetup_turns(this.__wbg_ptr, joint);
    }
}
if (Symbol.dispose) FigureSetup.prototype[Symbol.dispose] = FigureSetup.prototype.free;

/**
 * The joints of a skeleton.
 */
export class SkeletonJoints {
    static __wrap(ptr) {
        const obj = Object.create(SkeletonJoints.prototype);
        obj.__wbg_ptr = ptr;
        SkeletonJointsFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        SkeletonJointsFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_skeletonjoints_free(ptr, 0);
    }
    /**
     * The number of joints.
     * @returns {number}
     */
    joints() {
        const ret = wasm.skeletonjoints_joints(this.__wbg_ptr);
        return ret >>> 0;
    }
    /**
     * The name of a joint.
     * @param {number} joint
     * @returns {string}
     */
    name(joint) {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.skeletonjoints_name(this.__wbg_ptr, joint);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Reads a skeleton file.
     *
     * # Errors
     * Fails if the bytes are not a skeleton file.
     * @param {Uint8Array | number[]} bytes
     */
    constructor(bytes) {
        const ptr0 = passArray8ToWasm0(bytes, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.skeletonjoints_new(ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        SkeletonJointsFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * Makes a skeleton of joints given by hand. The parent of a root is negative. `binds` has ten
     * numbers for each joint.
     *
     * # Errors
     * Fails if a parent does not come before its child, or a number is not finite.
     * @param {string[]} names
     * @param {Int32Array | number[]} parents
     * @param {Float32Array | number[]} binds
     * @returns {SkeletonJoints}
     */
    static of_joints(names, parents, binds) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArrayJsValueToWasm0(names, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArray32ToWasm0(parents, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArrayF32ToWasm0(binds, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 4, 4); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 4, 4); }
            if (ptr0) { wasm.__externref_drop_slice(ptr0, len0); wasm.__wbindgen_free(ptr0, len0 * 4, 4); }
            throw e;
        }
        const ret = wasm.skeletonjoints_of_joints(ptr0, len0, ptr1, len1, ptr2, len2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return SkeletonJoints.__wrap(ret[0]);
    }
    /**
     * The parent of a joint; −1 for a root.
     * @param {number} joint
     * @returns {number}
     */
    parent(joint) {
        const ret = wasm.skeletonjoints_parent(this.__wbg_ptr, joint);
        return ret;
    }
}
if (Symbol.dispose) SkeletonJoints.prototype[Symbol.dispose] = SkeletonJoints.prototype.free;
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg_Error_208446807d0d1e30: function(arg0, arg1) {
            const ret = Error(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg___wbindgen_string_get_7ce8eee7fd327545: function(arg0, arg1) {
            const obj = arg1;
            const ret = typeof(obj) === 'string' ? obj : undefined;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg___wbindgen_throw_4c88d8bf264fd984: function(arg0, arg1) {
            throw new Error(getStringFromWasm0(arg0, arg1));
        },
        __wbindgen_generic_0000000000000001: function(arg0, arg1) {
            // Cast intrinsic for `Ref(String) -> Externref`.
            const ret = getStringFromWasm0(arg0, arg1);
            return ret;
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
        "./figures_bg.js": import0,
    };
}

const BodyFigureFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_bodyfigure_free(ptr, 1));
const FigureBodiesFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_figurebodies_free(ptr, 1));
const FigureLanesFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_figurelanes_free(ptr, 1));
const FigureSetupFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_figuresetup_free(ptr, 1));
const SkeletonJointsFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_skeletonjoints_free(ptr, 1));

function addToExternrefTable0(obj) {
    const idx = wasm.__externref_table_alloc();
    wasm.__wbindgen_externrefs.set(idx, obj);
    return idx;
}

function _assertClass(instance, klass) {
    if (!(instance instanceof klass)) {
        throw new Error(`expected instance of ${klass.name}`);
    }
}

function getArrayF64FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getFloat64ArrayMemory0().subarray(ptr / 8, ptr / 8 + len);
}

function getArrayJsValueFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    const mem = getDataViewMemory0();
    const result = [];
    for (let i = ptr; i < ptr + 4 * len; i += 4) {
        result.push(wasm.__wbindgen_externrefs.get(mem.getUint32(i, true)));
    }
    wasm.__externref_drop_slice(ptr, len);
    return result;
}

function getArrayU32FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint32ArrayMemory0().subarray(ptr / 4, ptr / 4 + len);
}

function getArrayU8FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint8ArrayMemory0().subarray(ptr / 1, ptr / 1 + len);
}

let cachedDataViewMemory0 = null;
function getDataViewMemory0() {
    if (cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || (cachedDataViewMemory0.buffer.detached === undefined && cachedDataViewMemory0.buffer !== wasm.memory.buffer)) {
        cachedDataViewMemory0 = new DataView(wasm.memory.buffer);
    }
    return cachedDataViewMemory0;
}

let cachedFloat32ArrayMemory0 = null;
function getFloat32ArrayMemory0() {
    if (cachedFloat32ArrayMemory0 === null || cachedFloat32ArrayMemory0.byteLength === 0) {
        cachedFloat32ArrayMemory0 = new Float32Array(wasm.memory.buffer);
    }
    return cachedFloat32ArrayMemory0;
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

function passArrayF32ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 4, 4) >>> 0;
    getFloat32ArrayMemory0().set(arg, ptr / 4);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArrayF64ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 8, 8) >>> 0;
    getFloat64ArrayMemory0().set(arg, ptr / 8);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArrayJsValueToWasm0(array, malloc) {
    const ptr = malloc(array.length * 4, 4) >>> 0;
    for (let i = 0; i < array.length; i++) {
        const add = addToExternrefTable0(array[i]);
        getDataViewMemory0().setUint32(ptr + 4 * i, add, true);
    }
    WASM_VECTOR_LEN = array.length;
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
    cachedDataViewMemory0 = null;
    cachedFloat32ArrayMemory0 = null;
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
