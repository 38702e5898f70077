// The numbers of a clip: its size, the size of its parts, and its errors.

import { jointName } from "./joints.js";
import { precise, put, tenths, thousandths, whole } from "../shared/format.js";

const byId = (id) => document.getElementById(id);

/** 1 key, 2 keys. */
export const count = (number, what) => `${whole(number)} ${what}${number === 1 ? "" : "s"}`;

export function showNumbers(clip) {
  put(byId("about"), `${clip.name}: ${count(clip.joints.length, "joint")}, ${count(clip.samples, "sample")} at ${precise(clip.rate_hz)} Hz`);
  put(byId("now-ratio"), `${tenths(clip.ratio)}×`);
  put(byId("now-bytes"), whole(clip.bytes));
  put(byId("now-raw"), whole(clip.raw_bytes));
  const bits = (clip.bytes * 8) / (clip.joints.length * clip.samples);
  put(byId("now-bits"), precise(bits));
  put(byId("now-max"), thousandths(clip.errors.max_cm));
  put(byId("now-precision"), `${Number(clip.precision_cm.toPrecision(3))}`);
  put(byId("now-slide"), thousandths(clip.foot_slide_cm));
  put(byId("now-slider"), clip.slide_joint === null ? "no joint" : jointName(clip, clip.slide_joint));
  put(byId("scheme"), `Scheme ${clip.scheme}, ${contents(clip)}${clip.compiled ? "" : `, errors measured ${Number(clip.shell_cm.toPrecision(3))} cm from the joints`}`);
  rows("errors", [["at the samples", clip.errors], ["between them", clip.between]], ([name, errors]) =>
    [name, ...[errors.max_cm, errors.p99_cm, errors.mean_cm].map(thousandths)]);
  const parts = clip.parts.filter(({ bytes }) => bytes > 0);
  rows("parts", parts, ({ name, bytes }) => [name, whole(bytes), `${tenths((100 * bytes) / clip.bytes)} %`]);
}

/** A short text about the contents of a clip. */
function contents({ keys, blocks }) {
  if (blocks === null) return count(keys, "key");
  return `${count(blocks.segments, "segment")} of up to ${blocks.samples} samples, ${count(blocks.components, "component")}`;
}

function rows(id, items, cells) {
  byId(id).replaceChildren(...items.map((item) => {
    const row = document.createElement("tr");
    const [head, ...values] = cells(item);
    row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: head }));
    row.append(...values.map((value) => Object.assign(document.createElement("td"), { textContent: value })));
    return row;
  }));
}

/** Shows the legend of the error colours. */
export function showScale({ precision_cm }) {
  put(byId("scale-middle"), `${Number(precision_cm.toPrecision(2))}`);
  put(byId("scale-end"), `≥ ${Number((2 * precision_cm).toPrecision(2))} cm`);
}
