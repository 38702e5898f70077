// The stick and the two buttons for touch. They are shown on devices with a coarse pointer, and on
// others after the first touch.

const DEAD_ZONE = 0.25;

export function touchPad(playing) {
  const root = document.documentElement;
  const appear = () => root.setAttribute("data-touch", "");
  if (matchMedia("(pointer: coarse)").matches) appear();
  window.addEventListener("touchstart", appear, { passive: true, once: true });
  stick(document.getElementById("touch-stick"), playing);
  for (const action of ["push", "pull"]) button(document.getElementById(`touch-${action}`), action, playing);
}

function stick(pad, playing) {
  const knob = pad.firstElementChild;
  let finger = null;
  const lean = (x, y) => {
    knob.style.transform = `translate(${x * 30}px, ${-y * 30}px)`;
    const far = Math.hypot(x, y) > DEAD_ZONE;
    playing.lean(far ? x : 0, far ? y : 0);
  };
  const follow = (event) => {
    const box = pad.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const length = Math.max(1, Math.hypot(x, y));
    lean(x / length, y / length);
  };
  pad.addEventListener("pointerdown", (event) => {
    finger = event.pointerId;
    pad.setPointerCapture(finger);
    follow(event);
  });
  pad.addEventListener("pointermove", (event) => {
    if (event.pointerId === finger) follow(event);
  });
  pad.addEventListener("lostpointercapture", () => {
    finger = null;
    lean(0, 0);
  });
}

function button(element, action, playing) {
  const hold = (held) => {
    element.classList.toggle("held", held);
    playing.press(action, held);
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    hold(true);
  });
  element.addEventListener("lostpointercapture", () => hold(false));
}
