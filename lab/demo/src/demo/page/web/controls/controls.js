// The page's buttons, check boxes and keys. Decides which part of the page gets a key.

const MESSAGE_MS = 8000;

export class Controls {
  #parts;
  #pause = document.getElementById("pause");
  #step = document.getElementById("step");
  #restart = document.getElementById("restart");
  #follow = document.getElementById("follow");
  #message = document.getElementById("message");
  #worlds = document.getElementById("worlds");
  #message_timer = null;
  #hasControl = false;
  #paused = false;

  /** `parts` holds `send` and the parts that take keys: `camera`, `cameraInput`, `playing`, `look`. */
  constructor(parts) {
    this.#parts = parts;
    const { camera, cameraInput, playing, send } = parts;
    this.#pause.addEventListener("click", () => this.#togglePause());
    this.#step.addEventListener("click", () => send({ step: 1 }));
    this.#restart.addEventListener("click", () => send({ restart: true }));
    document.getElementById("reset-view").addEventListener("click", () => camera.home());
    this.#follow.checked = camera.follow;
    this.#follow.addEventListener("change", () => { camera.follow = this.#follow.checked; });
    document.getElementById("share").addEventListener("click", () => this.#share());
    const releaseAll = () => {
      playing.releaseAll();
      cameraInput.releaseAll();
    };
    window.addEventListener("blur", releaseAll);
    document.addEventListener("visibilitychange", releaseAll);
    document.addEventListener("keydown", (event) => this.#keyDown(event));
    document.addEventListener("keyup", (event) => {
      playing.keyUp(event);
      cameraInput.keyUp(event);
    });
    this.#giveBackFocus();
    this.close();
  }

  /** Calls `changed` with the state of the check box for heat, now and at each change. */
  heat(changed) {
    const box = document.getElementById("heat");
    const apply = () => {
      document.getElementById("heat-legend").hidden = !box.checked;
      document.getElementById("cube-legend").hidden = box.checked;
      changed(box.checked);
    };
    box.addEventListener("change", apply);
    apply();
  }

  /** Calls `changed` with the selected content of the third view, now and at each change. */
  thirdView(changed) {
    const choice = document.getElementById("uncompressed");
    choice.addEventListener("change", () => changed(choice.value));
    changed(choice.value);
  }

  show(status) {
    this.#hasControl = status.has_control;
    this.#paused = status.paused;
    this.#pause.textContent = status.paused ? "Resume" : "Pause";
    this.#pause.setAttribute("aria-pressed", String(status.paused));
    this.#pause.disabled = !status.has_control;
    this.#step.disabled = !status.has_control || !status.paused;
    this.#restart.disabled = !status.has_control;
  }

  close() {
    this.#hasControl = false;
    this.#pause.disabled = true;
    this.#step.disabled = true;
    this.#restart.disabled = true;
  }

  /** Shows a sentence for a while. */
  complain(words) {
    this.#message.textContent = words;
    clearTimeout(this.#message_timer);
    this.#message_timer = setTimeout(() => { this.#message.textContent = ""; }, MESSAGE_MS);
  }

  #togglePause() {
    if (this.#hasControl) this.#parts.send({ pause: !this.#paused });
  }

  /** Steps need a pause, so the first press pauses. */
  #stepOnce(repeat) {
    if (this.#paused && this.#hasControl) this.#parts.send({ step: 1 });
    else if (!repeat) this.#togglePause();
  }

  async #share() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.complain("Copied the address of this page, with its settings.");
    } catch {
      this.complain(`The address with its settings: ${location.href}`);
    }
  }

  #keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") {
      this.#parts.look.keep(null);
      if (takesText(event.target)) this.#worlds.focus({ preventScroll: true });
      return;
    }
    if (takesText(event.target) || (takesClicks(event.target) && ["Space", "Enter"].includes(event.code))) return;
    // If the worlds are out of sight, keys scroll the page as usual.
    if (!inSight(this.#worlds)) return;
    const taken = this.#parts.playing.keyDown(event) || this.#parts.cameraInput.keyDown(event) || this.#command(event.key.toLowerCase(), event.repeat);
    if (taken) event.preventDefault();
  }

  /** While a key is held down, only the step repeats. */
  #command(key, repeat) {
    if (key === "n" || key === ".") this.#stepOnce(repeat);
    else if (repeat) return false;
    else if (key === "p") this.#togglePause();
    else if (key === "c") this.#follow.click();
    else if (key === "v") this.#parts.camera.home();
    else return false;
    return true;
  }

  /** After a change by mouse, the keys play again. Tabbing through the form is not disturbed. */
  #giveBackFocus() {
    let pointer = false;
    document.addEventListener("pointerdown", () => { pointer = true; }, true);
    document.addEventListener("keydown", () => { pointer = false; }, true);
    document.addEventListener("change", ({ target }) => {
      if (pointer && (target.tagName === "SELECT" || ["range", "checkbox"].includes(target.type))) this.#worlds.focus({ preventScroll: true });
    });
    document.addEventListener("click", ({ target }) => {
      if (pointer && target.closest("button") && document.activeElement?.tagName === "BUTTON") this.#worlds.focus({ preventScroll: true });
    });
  }
}

const takesText = (element) => ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) && element.type !== "checkbox";
const takesClicks = (element) => ["BUTTON", "A"].includes(element.tagName) || element.type === "checkbox";

function inSight(element) {
  const box = element.getBoundingClientRect();
  return box.bottom > 40 && box.top < window.innerHeight - 40;
}
