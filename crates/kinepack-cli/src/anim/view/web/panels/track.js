// The curve of the selected joint: its channel, how the track is stored, and the values at the current time.

import { fetchTrack } from "../api.js";
import { COLOURS, TrackCurve } from "../charts/track_curve.js";
import { put } from "../shared/format.js";
import { jointName } from "./joints.js";
import { count } from "./numbers.js";

const KINDS = {
  default: () => "as in the bind pose, takes no bytes",
  constant: () => "constant",
  keys: ({ keys }) => count(keys, "key"),
  rows: () => "one value per sample",
  animated: ({ bytes }) => count(bytes, "byte"),
};

export class TrackPanel {
  #curve;
  #complain;
  #channels = [...document.querySelectorAll("#channels input")];
  #title = document.getElementById("track-title");
  #kind = document.getElementById("track-kind");
  #canvas = document.getElementById("track-curve");
  #note = document.getElementById("track-note");
  #legend = document.getElementById("track-legend");
  #clip = null;
  #index = 0;
  #joint = null;
  #asked = 0;
  /** The joint and channel that are shown, or null. */
  shown = null;

  /** `complain` shows a message. */
  constructor(playback, complain) {
    this.#curve = new TrackCurve(this.#canvas, playback);
    this.#complain = complain;
    for (const input of this.#channels) input.addEventListener("change", () => this.#show());
  }

  begin(clip, index) {
    this.#clip = clip;
    this.#index = index;
    this.#joint = null;
    this.shown = null;
    this.#curve.clearTrack();
  }

  /** Shows the chosen channel of a joint, or one that moves if that channel does not. */
  select(joint) {
    this.#joint = joint;
    const { tracks } = this.#clip.joints[joint];
    const moves = ({ kind }) => kind === "keys" || kind === "rows" || kind === "animated";
    if (!moves(tracks[this.#channel])) {
      const moving = tracks.findIndex(moves);
      if (moving >= 0) this.#channels[moving].checked = true;
    }
    this.#show();
  }

  draw(time_s) {
    this.#curve.draw(time_s);
  }

  get #channel() {
    return this.#channels.findIndex((input) => input.checked);
  }

  async #show() {
    if (this.#joint === null) return;
    this.#asked += 1;
    const [asked, clip, joint] = [this.#asked, this.#clip, this.#joint];
    const track = clip.joints[joint].tracks[this.#channel];
    const name = jointName(clip, joint);
    put(this.#title, name);
    put(this.#kind, `${track.channel}: ${KINDS[track.kind]?.(track) ?? track.kind}`);
    try {
      const values = await fetchTrack(this.#index, joint, track.channel);
      // Another track was selected meanwhile.
      if (asked !== this.#asked) return;
      this.shown = { joint, channel: track.channel, keys: values.key_times_s.length };
      const lines = clip.compiled ? "" : "thick: compressed, thin: raw";
      put(this.#note, [lines, this.shown.keys > 0 ? "dots: keys" : ""].filter(Boolean).join(", "));
      this.#curve.begin(values, track.channel, clip);
      this.#canvas.setAttribute("aria-label", `${track.channel} of ${name} over time, ${KINDS[track.kind]?.(track) ?? track.kind}`);
      this.#legend.replaceChildren(...["x", "y", "z", "w"].slice(0, values.size).map((axis, at) => {
        const item = document.createElement("li");
        const swatch = document.createElement("i");
        swatch.className = `swatch ${COLOURS[at]}`;
        item.append(swatch, axis);
        return item;
      }));
      this.#complain("");
    } catch (error) {
      this.#complain(error.message);
    }
  }
}
