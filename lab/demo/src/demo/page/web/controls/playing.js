// Moves the player's cube. Turns keys and the touch pad into the program's actions. A direction is
// relative to the view, so it is turned by the camera's yaw and rounded to one of eight.

/** By the key's position, which is the same on all keyboard layouts. */
const DIRECTIONS = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  KeyW: [0, 1], KeyS: [0, -1], KeyA: [-1, 0], KeyD: [1, 0],
};

export class Playing {
  #send;
  #held = new Map();
  #stick = [0, 0];
  #buttons = new Set();
  #sent = "";

  /** Calls `send` with the held actions each time they change. `send` returns whether it sent them. */
  constructor(send) {
    this.#send = send;
  }

  /** Handles a key. Returns whether the game uses this key. */
  keyDown(event) {
    const action = DIRECTIONS[event.code] ?? actionOf(event);
    if (action) this.#held.set(event.code, action);
    return action !== null;
  }

  keyUp(event) {
    this.#held.delete(event.code);
  }

  /** The touch stick: right and up, −1 to 1. */
  lean(x, y) {
    this.#stick = [x, y];
  }

  /** A touch button, "push" or "pull". */
  press(action, held) {
    if (held) this.#buttons.add(action);
    else this.#buttons.delete(action);
  }

  releaseAll() {
    this.#held.clear();
    this.#buttons.clear();
    this.#stick = [0, 0];
  }

  /** Sends the held actions again, after the program has forgotten them. */
  forget() {
    this.#sent = "";
  }

  /** Sends the held actions if they changed, turned by the camera's current yaw. */
  update(yaw) {
    let [x, y] = this.#stick;
    const actions = new Set(this.#buttons);
    for (const held of this.#held.values()) {
      if (typeof held === "string") {
        actions.add(held);
      } else {
        x += held[0];
        y += held[1];
      }
    }
    if (Math.hypot(x, y) > 0.3) {
      const angle = Math.atan2(y, x) - yaw;
      const eighth = ((Math.round(angle / (Math.PI / 4)) % 8) + 8) % 8;
      if ([7, 0, 1].includes(eighth)) actions.add("right");
      if ([1, 2, 3].includes(eighth)) actions.add("up");
      if ([3, 4, 5].includes(eighth)) actions.add("left");
      if ([5, 6, 7].includes(eighth)) actions.add("down");
    }
    const keys = [...actions].sort();
    if (keys.join() !== this.#sent && this.#send(keys)) this.#sent = keys.join();
  }
}

function actionOf({ code, key }) {
  if (code === "Space") return "push";
  // Z by its letter and by its position, because layouts differ.
  return code === "KeyZ" || key.toLowerCase() === "z" ? "pull" : null;
}
