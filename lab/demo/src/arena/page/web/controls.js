// The switches of the mechanisms and of the network. All pages share them: a change goes to the
// program, and what the program reports is shown.

const BUDGETS_KBPS = [null, 64, 32, 16, 8];
const DEFAULTS = {
  rewind: "exact", prediction: true, fade: true, clock: true, frames: true, cuts: true, straight: false,
};

export class Controls {
  #rules = document.getElementById("rules");
  #net = document.getElementById("net");
  #links = [];
  #send;
  #shown = { rules: "", net: "" };

  constructor(send) {
    this.#send = send;
    for (const form of [this.#rules, this.#net]) {
      form.addEventListener("submit", (event) => event.preventDefault());
    }
    this.#rules.addEventListener("change", () => send({ rules: this.rules }));
    this.#net.addEventListener("change", () => send({ net: this.#chosenNet() }));
    document.getElementById("defaults").addEventListener("click", () => send({ rules: DEFAULTS }));
    const budgets = BUDGETS_KBPS.map((kbps) => new Option(kbps ? `${kbps} kbit/s` : "no limit", kbps ?? ""));
    this.#net.elements.kbps.append(...budgets);
  }

  begin({ links, longer_ms, rules, net }) {
    this.#links = links;
    this.#net.elements.link.replaceChildren(...links.map(({ name }) => new Option(name, name)));
    document.getElementById("longer").textContent = `The round trip is ${longer_ms} ms longer`;
    this.enable(true);
    this.show({ rules, net });
  }

  enable(isEnabled) {
    for (const form of [this.#rules, this.#net]) {
      form.querySelector("fieldset").disabled = !isEnabled;
    }
    document.getElementById("defaults").disabled = !isEnabled;
  }

  /** Shows what the program reports. What the user changes meanwhile is not set back. */
  show({ rules, net }) {
    if (this.#isNew("rules", rules)) {
      for (const [name, value] of Object.entries(rules)) {
        const control = this.#rules.elements[name];
        if (typeof value === "boolean") control.checked = value;
        else control.value = value;
      }
    }
    if (this.#isNew("net", net)) {
      const { link, longer, kbps } = this.#net.elements;
      [link.value, longer.checked] = [net.link, net.longer];
      const known = [...kbps.options].some(({ value }) => value === String(net.kbps ?? ""));
      if (!known) kbps.append(new Option(`${net.kbps} kbit/s`, net.kbps));
      kbps.value = net.kbps ?? "";
      const { about } = this.#links.find(({ name }) => name === net.link) ?? { about: "" };
      document.getElementById("link-about").textContent = about;
    }
  }

  /** The rules that are chosen. */
  get rules() {
    const rules = { rewind: this.#rules.elements.rewind.value };
    for (const name of Object.keys(DEFAULTS)) {
      if (name !== "rewind") rules[name] = this.#rules.elements[name].checked;
    }
    return rules;
  }

  #chosenNet() {
    const { link, longer, kbps } = this.#net.elements;
    return { link: link.value, longer: longer.checked, kbps: kbps.value === "" ? null : Number(kbps.value) };
  }

  #isNew(what, value) {
    const text = JSON.stringify(value);
    const isNew = this.#shown[what] !== text;
    this.#shown[what] = text;
    return isNew;
  }
}
