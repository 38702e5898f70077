// The panel of one cube: what it cost and why. It shows the cube under the pointer, or the one selected
// by a click or by number, or else the player's.

import { whole } from "../shared/format.js";

const SEND_WAIT_MS = 50;

export class Look {
  #send;
  #hello = null;
  #kept = null;
  #pointed = null;
  #sent = null;
  #sent_at_ms = -Infinity;
  #shown = null;
  #id = document.getElementById("look-id");
  #kind = document.getElementById("look-kind");
  #bits = document.getElementById("look-bits");
  #rows = [];

  constructor(send) {
    this.#send = send;
    this.#id.addEventListener("input", () => {
      const id = this.#id.valueAsNumber;
      if (this.#id.value === "" || (Number.isInteger(id) && this.#exists(id))) this.keep(this.#id.value === "" ? null : id);
    });
    this.#describe();
  }

  begin(hello) {
    this.#hello = hello;
    // A new connection does not know the selected cube yet.
    this.#sent = null;
    this.#id.max = hello.bodies - 1;
    if (this.#kept !== null && !this.#exists(this.#kept)) this.#kept = null;
    const rows = hello.lanes.map((lane) => {
      const row = document.createElement("tr");
      const head = Object.assign(document.createElement("th"), { scope: "row", textContent: lane });
      row.append(head, ...[0, 1, 2, 3].map(() => document.createElement("td")));
      return row;
    });
    document.getElementById("look-lanes").replaceChildren(...rows);
    this.#rows = rows.map((row) => [...row.querySelectorAll("td")]);
    this.#describe();
  }

  /** The body to show: the player's cube if no other is selected. */
  get id() {
    return this.marked ?? 0;
  }

  /** The selected body, or null. */
  get marked() {
    return this.#kept ?? this.#pointed;
  }

  point(id) {
    if (id === this.#pointed) return;
    this.#pointed = id;
    this.#describe();
  }

  /** Selects a body, or none with null. */
  keep(id) {
    this.#kept = id;
    this.#describe();
  }

  /** Sends the selection to the program, at most twenty times a second. */
  update(now_ms) {
    if (this.id === this.#sent || now_ms - this.#sent_at_ms < SEND_WAIT_MS) return;
    if (this.#send({ look: this.id })) {
      this.#sent = this.id;
      this.#sent_at_ms = now_ms;
    }
  }

  /** Shows a body: the program's values, and those of this page's receiver or null. */
  show(look, received) {
    if (look.id !== this.id) return;
    this.#shown = look.id;
    const { bits, packet_bits, baseline, baseline_tick, tick, known } = received ?? {};
    if (!received) {
      this.#bits.textContent = "not received yet";
    } else if (bits > 0) {
      const age_ms = ((tick - baseline_tick) / this.#hello.tick_hz) * 1000;
      const against = baseline && Number.isFinite(age_ms) ? `; the baseline is tick ${whole(baseline_tick)}, ${Math.round(age_ms)} ms older` : "; without a baseline";
      this.#bits.textContent = `${whole(bits)} of the packet's ${whole(packet_bits)} bits${against}`;
    } else {
      this.#bits.textContent = `not in the last packet of ${whole(packet_bits)} bits: the receiver already has this state`;
    }
    for (const [lane, [sent, base, difference, receiver]] of this.#rows.entries()) {
      const change = baseline ? look.sent[lane] - baseline[lane] : null;
      sent.textContent = number(look.sent[lane]);
      base.textContent = number(baseline?.[lane]);
      difference.textContent = change > 0 ? `+${number(change)}` : number(change);
      difference.className = change ? "" : "same";
      receiver.textContent = number(known?.[lane]);
      receiver.className = known?.[lane] === look.sent[lane] ? "same" : "";
    }
  }

  #exists(id) {
    return this.#hello !== null && id >= 0 && id < this.#hello.bodies;
  }

  #describe() {
    const { id, marked } = this;
    if (document.activeElement !== this.#id) this.#id.value = marked ?? "";
    const name = id === 0 ? "the player" : "a cube";
    if (marked === null) this.#kind.textContent = "the player; point at another, click to keep it";
    else this.#kind.textContent = this.#kept === null ? `${name}; click to keep it` : `${name}, kept; Escape releases it`;
    if (id !== this.#shown) {
      this.#shown = null;
      this.#bits.textContent = "";
      for (const cell of this.#rows.flat()) cell.textContent = "·";
    }
  }
}

const number = (value) => (Number.isFinite(value) ? String(value).replace("-", "−") : "–");
