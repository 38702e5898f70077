// Input for the camera: a drag orbits, wheel and pinch zoom, a click or tap selects, hovering points. Held keys turn.

const CLICK_PX = 5;
const TURN_PER_PX = 0.006;
const KEYS = { KeyQ: [1, 0, 0], KeyE: [-1, 0, 0], KeyR: [0, 1, 0], KeyF: [0, -1, 0] };

export class CameraInput {
  /** The position of the mouse in CSS pixels of the canvas, or null. */
  hover = null;
  #camera;
  #pointers = new Map();
  #moved_px = 0;
  #held = new Map();

  /** `chosen` is called with the position of a click or tap. */
  constructor(canvas, camera, chosen) {
    this.#camera = camera;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (this.#pointers.size === 0) this.#moved_px = 0;
      this.#pointers.set(event.pointerId, place(event));
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("dragging");
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = place(event);
      if (event.pointerType === "mouse") this.hover = now;
      if (this.#pointers.has(event.pointerId)) this.#drag(event.pointerId, now);
    });
    const release = (event) => {
      if (!this.#pointers.delete(event.pointerId)) return;
      if (this.#pointers.size === 0) canvas.classList.remove("dragging");
      if (event.type === "pointerup" && this.#moved_px < CLICK_PX) chosen(place(event));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => { this.hover = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * (event.deltaMode === 0 ? 0.002 : 0.05)));
    }, { passive: false });
  }

  #drag(id, now) {
    const others = [...this.#pointers].filter(([other]) => other !== id);
    const before = this.#pointers.get(id);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.#pointers.set(id, now);
    this.#moved_px += Math.abs(dx) + Math.abs(dy);
    if (others.length === 0) {
      if (this.#moved_px >= CLICK_PX) this.#camera.turn(dx * TURN_PER_PX, dy * TURN_PER_PX);
    } else if (others.length === 1) {
      const anchor = others[0][1];
      const apart = (point) => Math.hypot(point[0] - anchor[0], point[1] - anchor[1]) + 1;
      this.#camera.zoom(apart(before) / apart(now));
    }
  }

  /** Handles a key. Returns whether the camera uses this key. */
  keyDown(event) {
    const motion = event.key === "+" || event.key === "=" ? [0, 0, -1] : event.key === "-" ? [0, 0, 1] : KEYS[event.code];
    if (motion) this.#held.set(event.code, motion);
    return Boolean(motion);
  }

  keyUp(event) {
    this.#held.delete(event.code);
  }

  releaseAll() {
    this.#held.clear();
  }

  update(seconds) {
    for (const [yaw, pitch, zoom] of this.#held.values()) {
      this.#camera.turn(yaw * 1.6 * seconds, pitch * 1.1 * seconds);
      if (zoom) this.#camera.zoom(Math.exp(zoom * 1.4 * seconds));
    }
  }
}
