// The numbers beside the body, its joints and its curves.

import { precise, put, thousandths, whole } from "./shared/format.js";

const byId = (id) => document.getElementById(id);

/** Begins a body: a row for each joint and each curve. */
export class Panels {
  #curves = [];
  #rows = [];

  /** `choose` is called with the joint of a row. */
  begin(body, choose) {
    put(byId("now-error"), thousandths(body.max_error_cm));
    put(byId("now-precision"), String(body.precision_cm));
    put(byId("now-rate"), String(body.rate_hz));
    this.#rows = body.joints.map(({ name, max_error_cm }, joint) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name || `joint ${joint}`;
      button.addEventListener("click", () => choose(joint));
      return row(button, thousandths(max_error_cm));
    });
    byId("joint-rows").replaceChildren(...this.#rows);
    this.#curves = body.curves.map(({ min, max }) => {
      const bar = document.createElement("meter");
      [bar.min, bar.max] = [min, max];
      return bar;
    });
    byId("curves").hidden = body.curves.length === 0;
    byId("curve-rows").replaceChildren(...body.curves.map(({ name }, curve) => row(name, this.#curves[curve])));
  }

  mark(joint) {
    for (const [index, line] of this.#rows.entries()) line.classList.toggle("selected", index === joint);
  }

  showNumbers({ bytes_per_s, bits_per_pose, poses_per_s, lost_ratio, delay_ms }) {
    put(byId("now-bytes"), whole(bytes_per_s));
    put(byId("now-bits"), whole(bits_per_pose));
    put(byId("now-poses"), precise(poses_per_s));
    put(byId("now-lost"), precise(100 * lost_ratio));
    put(byId("now-delay"), whole(delay_ms));
  }

  showCurves(values) {
    for (const [index, bar] of this.#curves.entries()) bar.value = values[index] ?? bar.min;
  }
}

function row(name, value) {
  const line = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.append(name);
  const cell = document.createElement("td");
  cell.append(value);
  line.append(head, cell);
  return line;
}
