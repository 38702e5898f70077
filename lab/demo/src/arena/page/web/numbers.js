// The numbers and the table below the arena. The server counts the shots and the inputs of each
// player, and the page's own client counts what its screen showed. All counts are totals, so the
// button "count from now" subtracts the counts of its moment.

import { put, tenths, whole } from "./shared/format.js";

/** Five seconds of statuses. */
const WINDOW = 25;
const WAYS = ["exact", "tick", "none"];
const NO_SHOTS = { on_screen: 0, displaced: 0, exact: 0, tick: 0, none: 0, in_place: 0 };
const NO_SCREEN = { confirmed: 0, corrected: 0, leaps: 0 };

const byId = (id) => document.getElementById(id);

export class Numbers {
  #me = null;
  #tick_hz = 60;
  #players = [];
  #screen = NO_SCREEN;
  #baseShots = new Map();
  #baseScreen = NO_SCREEN;
  /** The own inputs of the last statuses. */
  #inputs = [];

  constructor() {
    byId("anew").addEventListener("click", () => this.#countAnew());
  }

  begin({ me, tick_hz }) {
    [this.#me, this.#tick_hz] = [me, tick_hz];
    [this.#players, this.#inputs, this.#screen, this.#baseScreen] = [[], [], NO_SCREEN, NO_SCREEN];
    this.#baseShots.clear();
  }

  /** Shows a status of the program, and the numbers of this page's client. */
  show({ players }, screen) {
    [this.#players, this.#screen] = [players, screen];
    this.#showInputs(players.find(({ id }) => id === this.#me)?.shots);
    this.#showScreen();
    this.#showShots();
  }

  #countAnew() {
    this.#baseShots = new Map(this.#players.map(({ id, shots }) => [id, summary(shots)]));
    this.#baseScreen = this.#screen;
    this.#showScreen();
    this.#showShots();
  }

  #showInputs(shots) {
    if (!shots) return;
    this.#inputs.push(shots);
    if (this.#inputs.length > WINDOW + 1) this.#inputs.shift();
    const first = this.#inputs[0];
    const [in_time, missed] = [shots.in_time - first.in_time, shots.missed - first.missed];
    put(byId("in-time"), in_time + missed > 0 ? tenths((100 * in_time) / (in_time + missed)) : "–");
    put(byId("in-time-all"), `last 5 s; ${percent(shots.in_time, shots.in_time + shots.missed)} in all`);
  }

  #showScreen() {
    const screen = this.#screen;
    const since = (name) => screen[name] - this.#baseScreen[name];
    const states = since("confirmed") + since("corrected");
    put(byId("ahead"), screen.ahead_ticks > 0 ? whole((1000 * screen.ahead_ticks) / this.#tick_hz) : "–");
    put(byId("corrected"), whole(since("corrected")));
    put(byId("states"), `of ${whole(states)} predicted`);
    put(byId("largest"), tenths(100 * (screen.largest_m ?? 0)));
    put(byId("leaps"), whole(since("leaps")));
  }

  #showShots() {
    const is = { you: ({ id }) => id === this.#me, bots: ({ is_bot }) => is_bot, all: () => true };
    for (const [row, belongs] of Object.entries(is)) {
      const shots = this.#players.filter(belongs).reduce((sum, player) => plus(sum, this.#since(player)), NO_SHOTS);
      const ways = WAYS.map((way) => [percent(shots[way], shots.on_screen), shots.on_screen > 0 ? whole(shots[way]) : ""]);
      const cells = byId(`shots-${row}`).querySelectorAll("td");
      [[whole(shots.on_screen), ""], ...ways, [whole(shots.displaced), ""]].forEach((words, index) => fill(cells[index], words));
      if (row === "all") put(byId("in-place"), inPlace(shots));
    }
  }

  #since({ id, shots }) {
    const [now, base] = [summary(shots), this.#baseShots.get(id) ?? NO_SHOTS];
    return Object.fromEntries(Object.keys(now).map((name) => [name, now[name] - base[name]]));
  }
}

/** The counts of a player that the table needs. */
function summary(shots) {
  const confirmed = Object.fromEntries(WAYS.map((way) => [way, shots[way].confirmed]));
  return { on_screen: shots.on_screen, displaced: shots.displaced, in_place: shots.exact.confirmed_in_place, ...confirmed };
}

const plus = (one, other) => Object.fromEntries(Object.keys(one).map((name) => [name, one[name] + other[name]]));
const percent = (part, all) => (all > 0 ? `${tenths((100 * part) / all)} %` : "–");

/** What exact rewinding confirms of the shots that it can help. */
function inPlace({ on_screen, displaced, in_place }) {
  const others = on_screen - displaced;
  return others > 0 ? `Of the other ${whole(others)} hits, exact rewinding confirmed ${whole(in_place)}.` : "";
}

function fill(cell, [words, small]) {
  if (cell.textContent === words + (small && ` ${small}`)) return;
  cell.textContent = words;
  if (small) cell.append(" ", Object.assign(document.createElement("small"), { textContent: small }));
}
