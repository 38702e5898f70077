// Helpers for the tests in Node and in a browser.

export function bytesOf(hex) {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  }
  return bytes;
}

export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Makes a generator of numbers that are the same in each run.
export function randomNumbers() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 8;
  };
}

// The words of each line of a recorded file.
export function linesOf(text) {
  return text.split("\n").filter((line) => line && !line.startsWith("#"))
    .map((line) => line.split(" "));
}

// Computes FNV-1a over the bytes of typed arrays.
export function hashOf(arrays) {
  let hash = 0xcbf29ce484222325n;
  for (const array of arrays) {
    for (const byte of new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    }
  }
  return hash.toString(16).padStart(16, "0");
}

export function hashOfFrame(frame, lists) {
  const kinds = frame.kinds.flatMap((kind) => [kind.ids, ...Object.values(kind.fields)]);
  return hashOf([...lists, ...kinds]);
}

export function expect(condition, what) {
  if (!condition) throw new Error(`expected ${what}`);
}

export function expectError(call, part) {
  try {
    call();
  } catch (error) {
    expect(error.message.includes(part), `an error with ${part}, not: ${error.message}`);
    return;
  }
  throw new Error(`expected an error with ${part}`);
}
