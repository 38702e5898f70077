// The list of clips and its search field.

import { put, tenths, thousandths, whole } from "../shared/format.js";

export class ClipList {
  #items = [];
  #count = document.getElementById("clip-count");
  #search = document.getElementById("search");

  /** `chosen` is called with the index of a clip. */
  constructor(list, chosen) {
    const items = document.getElementById("clips");
    this.#items = list.map((line, index) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: line.name });
      const name = document.createElement("b");
      name.append(...breakable(line.name));
      button.append(name, word("span", `${tenths(line.ratio)}×`), word("span", line.compiled ? "compiled" : `${thousandths(line.max_cm)} cm`));
      if (!line.compiled && line.max_cm > line.precision_cm) button.classList.add("above");
      button.addEventListener("click", () => chosen(index));
      const item = document.createElement("li");
      item.append(button);
      return { item, button, text: line.name.toLowerCase() };
    });
    items.replaceChildren(...this.#items.map(({ item }) => item));
    this.#search.addEventListener("input", () => this.#filter());
    this.#filter();
  }

  /** Marks the clip that is shown. */
  mark(index) {
    for (const [at, { button }] of this.#items.entries()) {
      if (at === index) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.#items[index].button.scrollIntoView({ block: "nearest" });
  }

  #filter() {
    const words = this.#search.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const { item, text } of this.#items) {
      item.hidden = !words.every((part) => text.includes(part));
      count += item.hidden ? 0 : 1;
    }
    put(this.#count, count === this.#items.length ? whole(count) : `${whole(count)} of ${whole(this.#items.length)}`);
  }
}

/** A name that can break after _, -, . and spaces, and before capitals. */
function breakable(name) {
  const words = name.split(/(?<=[_\-.])(?![_\-.])|(?<=[a-z0-9])(?=[A-Z])/);
  return words.flatMap((part, index) => (index > 0 ? [document.createElement("wbr"), part] : [part]));
}

const word = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
