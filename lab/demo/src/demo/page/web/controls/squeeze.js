// The button that limits the link to a third of the bandwidth in use, and restores the limit when it is
// pressed again. It lets go without restoring if somebody changes the link or the limit meanwhile.

const SHARE = 1 / 3;
const LEAST_KBPS = 16;

export class Squeeze {
  #form;
  #button = document.getElementById("squeeze");
  /** The link and the limit that the button set, and the limit before it. Null while the button is not pressed. */
  #held = null;

  /** `used_kbps` returns the bandwidth that is used now, or null; `limit` sets the text of the link's limit. */
  constructor(form, used_kbps, complain, limit) {
    this.#form = form;
    this.#button.addEventListener("click", () => {
      const held = this.#held;
      if (held) {
        this.#hold(null);
        limit(held.before);
        return;
      }
      const used = used_kbps();
      if (used === null) {
        complain("The bandwidth is not measured yet.");
        return;
      }
      const { link, bandwidth_kbps } = this.#form.elements;
      const set = String(Math.max(LEAST_KBPS, Math.round(used * SHARE)));
      this.#hold({ link: link.value, set, before: bandwidth_kbps.value });
      limit(set);
    });
  }

  /** Lets go if the form has another link or another limit than the button set. */
  check() {
    if (this.#held === null) return;
    const { link, bandwidth_kbps } = this.#form.elements;
    if (link.value !== this.#held.link || bandwidth_kbps.value !== this.#held.set) this.#hold(null);
  }

  #hold(held) {
    this.#held = held;
    this.#button.setAttribute("aria-pressed", String(held !== null));
  }
}
