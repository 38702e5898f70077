// A number of the form, with a slider and a button that unsets it. The input is the setting, and it is
// empty if the setting is unset. The slider is for the mouse and the input for the keyboard, so the
// slider is not in the tab order.

import { NUMBERS } from "./address.js";

const STEPS = 200;

/** Maps the slider's 0 to 1 to the number and back: by the square, which makes small numbers easy to set, or by factors. */
const square = (high) => ({ to: (part) => part * part * high, from: (value) => Math.sqrt(value / high) });
const factors = (low, high) => ({ to: (part) => low * (high / low) ** part, from: (value) => Math.log(value / low) / Math.log(high / low) });
const SCALES = {
  round_trip_ms: square(1000), jitter_ms: square(500), loss_percent: square(100), burst: factors(1, 100),
  bandwidth_kbps: factors(8, 1_000_000), playout_ms: square(500),
};

export class Slider {
  #input;
  #range;
  #reset;
  #scale;
  #unset = null;

  /** `changed` is called after the slider or the button has changed the input. */
  constructor(input, changed) {
    const label = input.labels[0].textContent;
    this.#input = input;
    this.#scale = SCALES[input.name];
    this.#range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: STEPS, tabIndex: -1 });
    this.#range.setAttribute("aria-label", `${label}, slider`);
    input.before(this.#range);
    this.#reset = Object.assign(document.createElement("button"), { type: "button", textContent: "↺" });
    this.#reset.setAttribute("aria-label", `${label}: back to ${input.name === "playout_ms" ? "automatic" : "the link's value"}`);
    this.#reset.title = input.name === "playout_ms" ? "automatic" : "the link's value";
    input.parentElement.append(this.#reset);
    this.#range.addEventListener("input", (event) => {
      event.stopPropagation();
      input.value = rounded(this.#scale.to(this.#range.value / STEPS), input);
      this.show();
      changed();
    });
    this.#reset.addEventListener("click", () => {
      input.value = "";
      this.show();
      changed();
      input.focus();
    });
  }

  /** Sets the value that applies while the input is empty, and its description. */
  offer(value, words) {
    if (value === this.#unset && words === this.#input.placeholder) return;
    this.#unset = value;
    this.#input.placeholder = words;
    this.show();
  }

  /** Updates slider and button from the input. */
  show() {
    const value = this.#input.value === "" ? this.#unset : this.#input.valueAsNumber;
    // The slider's end means "no limit".
    const part = value === null ? 1 : this.#scale.from(value);
    if (Number.isFinite(part)) this.#range.value = Math.round(Math.min(1, Math.max(0, part)) * STEPS);
    this.#range.setAttribute("aria-valuetext", this.#input.value || this.#input.placeholder);
    this.#reset.disabled = this.#input.value === "";
  }
}

/** Rounds to two significant digits and clamps to the range of the input. */
function rounded(value, { name, step }) {
  const [low, high] = NUMBERS[name];
  const short = Number(value.toPrecision(2));
  return Math.min(high, Math.max(low, step === "1" ? Math.round(short) : short));
}
