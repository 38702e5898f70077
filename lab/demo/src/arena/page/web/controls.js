// The two forms: the mechanisms of the game, and the network. All pages share them, so they show what
// the program says, and a change is sent to it.

import { put } from "./shared/format.js";

/** A status that does not have the last change yet is ignored for this time. */
const ECHO_WAIT_MS = 2000;

/** Text of a field to its value. */
const booleanOf = (text) => text === "true";
const numberOf = (text) => (text === "" ? null : Number(text));

export class Controls {
  #rules;
  #net;
  #links = [];

  /** `send` sends a message, and returns whether that was possible. */
  constructor(send) {
    this.#rules = new Shared(document.getElementById("rules"), (rules) => send({ rules }), { straight: booleanOf });
    this.#net = new Shared(document.getElementById("net"), (net) => send({ net }), { kbps: numberOf });
    this.#rules.form.addEventListener("submit", (event) => event.preventDefault());
    this.#net.form.addEventListener("submit", (event) => event.preventDefault());
    this.#net.form.addEventListener("change", () => this.#describe());
  }

  /** Shows the links of the program, and enables the forms. */
  begin({ links, longer_ms, rules, net }) {
    this.#links = links;
    this.#net.form.elements.link.replaceChildren(...links.map(({ name }) => new Option(name, name)));
    put(document.getElementById("longer"), `${longer_ms} ms`);
    this.#rules.refused();
    this.#net.refused();
    this.show({ rules, net });
    this.#enable(true);
  }

  show({ rules, net }) {
    this.#rules.show(rules);
    const { kbps } = this.#net.form.elements;
    // The command line may ask for another budget than the choices here.
    if (net.kbps !== null && ![...kbps.options].some(({ value }) => value === String(net.kbps))) {
      kbps.append(new Option(`${net.kbps} kbit/s`, net.kbps));
    }
    this.#net.show(net);
    this.#describe();
  }

  /** The program refused a change, so the forms show the program's settings again. */
  refused() {
    this.#rules.refused();
    this.#net.refused();
  }

  /** Disables the forms while there is no connection. */
  close() {
    this.#enable(false);
  }

  #enable(isOpen) {
    for (const { form } of [this.#rules, this.#net]) form.querySelector("fieldset").disabled = !isOpen;
  }

  #describe() {
    const link = this.#links.find(({ name }) => name === this.#net.form.elements.link.value);
    put(document.getElementById("link-about"), link?.about ?? "");
  }
}

/** A form whose fields are the values of one object that all pages share. */
class Shared {
  /** The object as the program said it last. */
  #known = null;
  /** The object that was sent and has not come back yet. */
  #awaited = null;
  #awaited_since_ms = 0;

  constructor(form, send, types) {
    this.form = form;
    form.addEventListener("change", ({ target }) => {
      if (this.#known === null) return;
      const value = target.type === "checkbox" ? target.checked : (types[target.name] ?? String)(target.value);
      const wanted = { ...(this.#awaited ?? this.#known), [target.name]: value };
      if (!send(wanted)) return;
      this.#awaited = wanted;
      this.#awaited_since_ms = performance.now();
    });
  }

  show(values) {
    this.#known = values;
    const waits = this.#awaited !== null && performance.now() - this.#awaited_since_ms < ECHO_WAIT_MS;
    if (waits && !same(values, this.#awaited)) return;
    this.#awaited = null;
    for (const [name, value] of Object.entries(values)) {
      const field = this.form.elements[name];
      if (!field) continue;
      if (field.type === "checkbox") field.checked = value;
      else if (field.value !== String(value ?? "")) field.value = String(value ?? "");
    }
  }

  refused() {
    this.#awaited = null;
  }
}

export const same = (one, other) => Object.keys(one).every((name) => one[name] === other[name]);
