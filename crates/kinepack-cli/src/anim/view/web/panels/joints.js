// The table of joints, the one with the largest error first. A click or Enter selects a joint.

import { put, thousandths, whole } from "../shared/format.js";

const MOST_ROWS = 1000;

/** A joint's name, or its number if it has none. */
export const jointName = (clip, joint) => clip.joints[joint].name || `joint ${joint}`;

export class Joints {
  #body = document.getElementById("joint-rows");
  #rest = document.getElementById("joint-rest");
  #rows = new Map();
  #chosen;

  /** `chosen` is called with the index of a joint. */
  constructor(chosen) {
    this.#chosen = chosen;
  }

  begin(clip) {
    const order = [...clip.joints.keys()];
    // Without a raw clip there are no errors to sort by.
    if (!clip.compiled) order.sort((a, b) => clip.joints[b].errors.max_cm - clip.joints[a].errors.max_cm);
    this.#rows.clear();
    const rows = order.slice(0, MOST_ROWS).map((joint) => this.#row(clip, joint));
    this.#body.replaceChildren(...rows);
    put(this.#rest, order.length > MOST_ROWS ? `and ${whole(order.length - MOST_ROWS)} more, with smaller errors` : "");
    return order[0];
  }

  mark(joint) {
    for (const [at, { row, button }] of this.#rows) {
      row.classList.toggle("selected", at === joint);
      button.setAttribute("aria-pressed", String(at === joint));
    }
    // Scrolls only the table, not the page.
    const row = this.#rows.get(joint)?.row;
    const box = this.#body.closest(".scroll");
    if (!row) return;
    const [top, bottom] = [row.offsetTop - row.offsetHeight, row.offsetTop + row.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }

  #row(clip, joint) {
    const { errors } = clip.joints[joint];
    const row = document.createElement("tr");
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: jointName(clip, joint) });
    const head = Object.assign(document.createElement("th"), { scope: "row" });
    head.append(button);
    row.append(head);
    for (const value of [errors.max_cm, errors.p99_cm, errors.mean_cm]) {
      row.append(Object.assign(document.createElement("td"), { className: "compared", textContent: thousandths(value) }));
    }
    row.dataset.joint = joint;
    row.addEventListener("click", () => this.#chosen(joint));
    this.#rows.set(joint, { row, button });
    return row;
  }
}
