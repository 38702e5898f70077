// What the person wants: keys, mouse and touch become a direction to walk in, one to aim in, and
// whether to shoot. All in the world: x points right, y up.

const DIRECTIONS = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  KeyW: [0, 1], KeyS: [0, -1], KeyA: [-1, 0], KeyD: [1, 0],
};
/** A touch this far from where it began walks at full speed. */
const FULL_STICK_PX = 50;

export class Player {
  #canvas;
  #held = new Set();
  #pointer = null;
  #presses = false;
  #touches = new Map();

  constructor(canvas) {
    this.#canvas = canvas;
    canvas.addEventListener("keydown", (event) => this.#key(event, true));
    addEventListener("keyup", (event) => this.#key(event, false));
    addEventListener("blur", () => this.#releaseAll());
    canvas.addEventListener("blur", () => this.#held.clear());
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => this.#up(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** The wish at this moment. `place` is the own player on the canvas in CSS pixels, or null. */
  wish(place) {
    let stick = [0, 0];
    for (const code of this.#held) {
      const direction = DIRECTIONS[code];
      if (direction) stick = stick.map((sum, axis) => sum + direction[axis]);
    }
    let fires = this.#presses || this.#held.has("Space");
    let aim = this.#pointer && place ? [this.#pointer[0] - place[0], place[1] - this.#pointer[1]] : [1, 0];
    for (const { begin, now, walks } of this.#touches.values()) {
      const way = [now[0] - begin[0], begin[1] - now[1]];
      if (walks) {
        stick = way.map((length) => length / FULL_STICK_PX);
      } else {
        aim = place ? [now[0] - place[0], place[1] - now[1]] : way;
        fires = true;
      }
    }
    return { stick: unit(stick, true), aim: unit(aim, false), fires };
  }

  #key(event, isDown) {
    if (event.code !== "Space" && !DIRECTIONS[event.code]) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isDown) {
      this.#held.add(event.code);
      event.preventDefault();
    } else {
      this.#held.delete(event.code);
    }
  }

  #down(event) {
    this.#canvas.focus();
    const at = this.#at(event);
    if (event.pointerType === "touch") {
      const walks = at[0] < this.#canvas.clientWidth / 2;
      this.#touches.set(event.pointerId, { begin: at, now: at, walks });
    } else if (event.button === 0) {
      this.#presses = true;
    }
    this.#pointer = at;
    event.preventDefault();
  }

  #move(event) {
    const touch = this.#touches.get(event.pointerId);
    if (touch) touch.now = this.#at(event);
    else this.#pointer = this.#at(event);
  }

  #up(event) {
    this.#touches.delete(event.pointerId);
    if (event.pointerType !== "touch") this.#presses = false;
  }

  #releaseAll() {
    this.#held.clear();
    this.#touches.clear();
    this.#presses = false;
  }

  #at({ clientX, clientY }) {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }
}

/** A vector of length 1; if it may be shorter, of length 1 at most. */
function unit(vector, mayBeShorter) {
  const length = Math.hypot(...vector);
  if (length === 0) return mayBeShorter ? vector : [1, 0];
  return mayBeShorter && length <= 1 ? vector : vector.map((part) => part / length);
}
