// Moves the player's cube: keys and the touch pad become the actions that the program knows. A direction is meant as one sees it,
// so it's turned by the camera's yaw and snapped to one of eight.

/** By the place of the key, which is the same on all layouts. */
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

  /** `send` gets the actions held now, each time they change; it says whether they were sent. */
  constructor(send) {
    this.#send = send;
  }

  /** Takes a key of the game; says whether it was one. */
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

  /** What is held goes to the program again, which has forgotten it. */
  forget() {
    this.#sent = "";
  }

  /** Sends what is held if that changed, with the yaw of the camera as it is now. */
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
  // Z by its letter and by its place, for they differ between layouts.
  return code === "KeyZ" || key.toLowerCase() === "z" ? "pull" : null;
}
