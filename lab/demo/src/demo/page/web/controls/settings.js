// The form with the settings of the network and of sending. A change is sent at once, and a
// slider's change a tenth of a second later. The form shows the program's settings, unless they
// would overwrite what the user types or what was sent a moment ago.

import { fits, NUMBERS, readAddress, writeAddress } from "./address.js";
import { put, whole } from "../shared/format.js";
import { Slider } from "./slider.js";
import { Squeeze } from "./squeeze.js";

const SLIDER_WAIT_MS = 100;
/** After sending, the program's settings are hidden for this long. The answer arrives sooner. */
const ECHO_WAIT_MS = 1000;

export class Settings {
  #form;
  #fields;
  #send;
  #complain;
  #sliders = {};
  #squeeze;
  #hello = null;
  #timer = null;
  #awaited = null;
  #awaited_since_ms = 0;
  /** Whether the address shows the settings: once the user has changed one, or if the page was opened with settings in its address. */
  #shared = location.search !== "";
  #address_applied = false;

  /** `send` sends a message; `complain` shows a sentence; `used_kbps` returns the bandwidth that is used now, or null. */
  constructor(form, send, complain, used_kbps) {
    this.#form = form;
    this.#fields = form.querySelector("fieldset");
    this.#send = send;
    this.#complain = complain;
    for (const name of Object.keys(NUMBERS)) this.#sliders[name] = new Slider(form.elements[name], () => this.#changed(SLIDER_WAIT_MS));
    this.#squeeze = new Squeeze(form, used_kbps, complain, (value) => {
      this.#put("bandwidth_kbps", value);
      this.#changed(0);
    });
    document.getElementById("defaults").addEventListener("click", () => {
      this.#fill(this.#hello.defaults);
      this.#changed(0);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => {
      if (target.name === "link") this.#clearLink();
      this.#describe();
      this.#sliders[target.name]?.show();
      this.#changed(target.tagName === "SELECT" ? 0 : SLIDER_WAIT_MS);
    });
  }

  begin(hello) {
    this.#hello = hello;
    this.#awaited = null;
    this.#address_applied = false;
    const options = (name, items) => this.#form.elements[name].replaceChildren(...items.map(([value, text]) => new Option(text, value)));
    options("link", hello.links.map(({ name }) => [name, name]));
    options("level", hello.levels.map(({ name, row, summary }) => [name, `${row} ${name}: ${summary}`]));
    options("send_hz", hello.send_hz.map((hz) => [hz, `${hz} snapshots a second`]));
  }

  /** Shows the program's settings. */
  show(status) {
    this.#fields.disabled = !status.has_control;
    document.getElementById("defaults").disabled = !status.has_control;
    if (!this.#hello) return;
    if (status.has_control && !this.#address_applied) {
      this.#address_applied = true;
      if (this.#applyAddress(status.settings)) return;
    }
    if (this.#timer !== null) return;
    const waits = this.#awaited !== null && performance.now() - this.#awaited_since_ms < ECHO_WAIT_MS;
    if (waits && !same(status.settings, this.#awaited)) return;
    this.#awaited = null;
    this.#fill(status.settings);
    this.#sliders.playout_ms.offer(Math.round(status.report.playout_delay_ms ?? 0), "auto");
    if (this.#shared && status.has_control) writeAddress(status.settings);
  }

  /** The program refused the settings, so the form shows the program's again. */
  refused() {
    this.#awaited = null;
  }

  /** Disables the form while there is no connection. */
  close() {
    this.#fields.disabled = true;
    document.getElementById("defaults").disabled = true;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #applyAddress(current) {
    const { settings, refused } = readAddress(this.#hello, current);
    if (refused.length > 0) this.#complain(`The address has settings that this program does not know; ignored: ${refused.join(", ")}`);
    if (!settings || same(settings, current)) return false;
    this.#fill(settings);
    this.#submit(settings);
    return true;
  }

  #fill(settings) {
    for (const name of ["link", "level", "send_hz", ...Object.keys(NUMBERS)]) {
      const field = this.#form.elements[name];
      if (field === document.activeElement && field.type === "number") continue;
      this.#put(name, String(settings[name] ?? ""));
    }
    this.#squeeze.check();
    this.#describe();
  }

  /** Selecting another link selects its numbers too. */
  #clearLink() {
    for (const name of Object.keys(NUMBERS)) {
      if (name !== "playout_ms") this.#put(name, "");
    }
  }

  #put(name, value) {
    const field = this.#form.elements[name];
    if (field.value === value) return;
    field.value = value;
    this.#sliders[name]?.show();
  }

  /** Shows the descriptions of link and level, and the link's own numbers where none are set. */
  #describe() {
    const { link: linkField, level: levelField } = this.#form.elements;
    const level = this.#hello.levels.find(({ name }) => name === levelField.value);
    put(document.getElementById("level-about"), level?.summary ?? "");
    const link = this.#hello.links.find(({ name }) => name === linkField.value);
    if (!link) return;
    put(document.getElementById("link-about"), link.about ?? "");
    for (const [name, slider] of Object.entries(this.#sliders)) {
      if (name !== "playout_ms") slider.offer(link[name] ?? null, link[name] == null ? "no limit" : String(link[name]));
    }
  }

  #changed(wait_ms) {
    this.#squeeze.check();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const settings = this.#read();
      if (!settings) return;
      this.#shared = true;
      this.#submit(settings);
    }, wait_ms);
  }

  #submit(settings) {
    if (!this.#send({ settings })) return;
    this.#awaited = settings;
    this.#awaited_since_ms = performance.now();
  }

  /** All settings of the form, or null if a number is invalid. */
  #read() {
    const { elements } = this.#form;
    const settings = { link: elements.link.value, level: elements.level.value, send_hz: Number(elements.send_hz.value) };
    for (const [name, [low, high]] of Object.entries(NUMBERS)) {
      const field = elements[name];
      settings[name] = field.value === "" ? null : field.valueAsNumber;
      if (field.validity.badInput || (settings[name] !== null && !fits(name, settings[name]))) {
        this.#complain(`${field.labels[0].textContent}: a ${name === "bandwidth_kbps" ? "whole number" : "number"} from ${low} to ${whole(high)}`);
        return null;
      }
    }
    return settings;
  }
}

function same(one, other) {
  return ["link", ...Object.keys(NUMBERS), "level", "send_hz"].every((name) => (one[name] ?? null) === (other[name] ?? null));
}
