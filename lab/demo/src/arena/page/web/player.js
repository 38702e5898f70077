// What the person wants to do: keys and the touch stick walk, the mouse or a second finger aims, and
// both can shoot. Until a pointer has aimed, a player aims where he walks.

/** By the key's position, which is the same on all keyboard layouts. */
const DIRECTIONS = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  KeyW: [0, 1], KeyS: [0, -1], KeyA: [-1, 0], KeyD: [1, 0],
};
/** A finger that is this far from where it went down is full speed. */
export const STICK_PX = 44;
const DEAD_ZONE_PX = 8;

export class Player {
  #canvas;
  #held = new Set();
  /** The mouse in the canvas, in pixels. Null if something else has aimed since. */
  #mouse = null;
  #shooting = false;
  /** The fingers on the canvas by pointer id: the half, and where each began and is. */
  #fingers = new Map();
  #aim = [1, 0];

  constructor(canvas) {
    this.#canvas = canvas;
    const release = () => this.#releaseAll();
    window.addEventListener("blur", release);
    document.addEventListener("visibilitychange", release);
    document.addEventListener("keydown", (event) => this.#keyDown(event));
    document.addEventListener("keyup", ({ code }) => this.#held.delete(code));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => this.#pointerDown(event));
    window.addEventListener("pointermove", (event) => this.#pointerMove(event));
    canvas.addEventListener("lostpointercapture", (event) => this.#pointerUp(event));
    giveBackFocus(canvas);
  }

  /** The fingers as sticks to draw: where each began, and how far it is from there, in pixels. */
  get sticks() {
    return [...this.#fingers.values()].map(({ from, to }) => ({ from, by: limited(to, from, STICK_PX) }));
  }

  /** What to do in this frame. `own` is where the own player is drawn in the canvas, or null. */
  wish(own) {
    const stick = this.#walk();
    const finger = this.#finger("aims");
    if (finger && distance(finger.to, finger.from) > DEAD_ZONE_PX) {
      this.#turn(finger.to.x - finger.from.x, finger.from.y - finger.to.y);
    } else if (this.#mouse && own) {
      this.#turn(this.#mouse.x - own.x, own.y - this.#mouse.y);
    } else if (!this.#mouse && !finger) {
      this.#turn(...stick);
    }
    return { stick, aim: this.#aim, fires: this.#shooting || this.#held.has("Space") || finger !== undefined };
  }

  #walk() {
    let [x, y] = [0, 0];
    for (const [right, up] of [...this.#held].map((code) => DIRECTIONS[code] ?? [0, 0])) {
      x += right;
      y += up;
    }
    const finger = this.#finger("walks");
    if (finger && distance(finger.to, finger.from) > DEAD_ZONE_PX) {
      const by = limited(finger.to, finger.from, STICK_PX);
      x += by.x / STICK_PX;
      y -= by.y / STICK_PX;
    }
    const length = Math.max(1, Math.hypot(x, y));
    return [x / length, y / length];
  }

  #turn(x, y) {
    const length = Math.hypot(x, y);
    if (length > 1e-6) this.#aim = [x / length, y / length];
  }

  #finger(does) {
    return [...this.#fingers.values()].find((finger) => finger.does === does);
  }

  #keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!(event.code in DIRECTIONS) && event.code !== "Space") return;
    // A control that has the focus keeps the keys that it uses.
    const { tagName, type } = event.target;
    const isLetter = event.code.startsWith("Key");
    if (tagName === "SELECT" || (!isLetter && (["BUTTON", "A"].includes(tagName) || type === "checkbox"))) return;
    event.preventDefault();
    this.#held.add(event.code);
  }

  #pointerDown(event) {
    const at = this.#at(event);
    if (event.pointerType === "mouse") {
      if (event.button !== 0) return;
      this.#mouse = at;
      this.#shooting = true;
    } else {
      const does = at.x < this.#canvas.clientWidth / 2 ? "walks" : "aims";
      if (this.#finger(does)) return;
      this.#fingers.set(event.pointerId, { does, from: at, to: at });
      this.#mouse = null;
    }
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #pointerMove(event) {
    const finger = this.#fingers.get(event.pointerId);
    if (finger) finger.to = this.#at(event);
    else if (event.pointerType === "mouse") this.#mouse = this.#at(event);
  }

  #pointerUp(event) {
    if (event.pointerType === "mouse") this.#shooting = false;
    else this.#fingers.delete(event.pointerId);
  }

  #releaseAll() {
    this.#held.clear();
    this.#fingers.clear();
    this.#shooting = false;
  }

  #at({ clientX, clientY }) {
    const box = this.#canvas.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  }
}

const distance = (to, from) => Math.hypot(to.x - from.x, to.y - from.y);

/** From one point to another, but not farther than `most`. */
function limited(to, from, most) {
  const ratio = Math.min(1, most / Math.max(1e-6, distance(to, from)));
  return { x: (to.x - from.x) * ratio, y: (to.y - from.y) * ratio };
}

/** A control changed with the mouse gives the focus to the arena, so that the keys walk again. */
function giveBackFocus(canvas) {
  let pointer = false;
  document.addEventListener("pointerdown", () => { pointer = true; }, true);
  document.addEventListener("keydown", () => { pointer = false; }, true);
  const giveBack = () => {
    if (pointer) canvas.focus({ preventScroll: true });
  };
  document.addEventListener("change", giveBack);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("button")) giveBack();
  });
}
