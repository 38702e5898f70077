// Runs test modules. A module's `main` returns 0 if all its tests pass, and traps otherwise. The
// module `control` must fail.

export async function runModule(name, bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  let passed = false;
  try {
    passed = instance.exports.main(0, 0) === 0;
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
  }
  if (passed === (name === "control")) {
    const reason = passed ? "a failure is not seen" : "a test fails; run it natively to see which";
    throw new Error(`${name}: ${reason}`);
  }
}
