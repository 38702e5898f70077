// The numbers below the field: the shots of all players, and this page's connection.

import { put, tenths, whole } from "./shared/format.js";

const WAYS = ["exact", "tick", "none"];
const byId = (id) => document.getElementById(id);
const percent = (part, of) => (of > 0 ? `${tenths((100 * part) / of)} %` : "–");

/** Shows the shots of this page's player, of the bots, and of all. */
export function showShots(me, players) {
  const groups = [
    ["you", players.filter(({ id }) => id === me)],
    ["bots", players.filter(({ is_bot }) => is_bot)],
    ["all", players],
  ];
  const body = byId("shots");
  if (body.rows.length === 0) {
    for (const [name] of groups) {
      const row = body.insertRow();
      const title = document.createElement("th");
      title.scope = "row";
      title.textContent = name;
      row.append(title);
      for (let cell = 0; cell < WAYS.length + 2; cell += 1) row.insertCell();
    }
  }
  groups.forEach(([, list], index) => {
    const sum = (of) => list.reduce((total, { shots }) => total + of(shots), 0);
    const hits = sum(({ on_screen }) => on_screen);
    const cells = [
      whole(hits),
      ...WAYS.map((way) => percent(sum((shots) => shots[way].confirmed), hits)),
      percent(sum(({ displaced }) => displaced), hits),
    ];
    cells.forEach((text, cell) => put(body.rows[index].cells[cell + 1], text));
  });
}

/** Shows how this page's player fares. `shots` is his entry of the status, if there is one. */
export function showNow(numbers, shots, tick_hz) {
  const { ahead_ticks, confirmed, corrected, largest_m, leaps, in_flight } = numbers;
  if (shots) {
    const inputs = shots.in_time + shots.missed;
    put(byId("now-in-time"), inputs > 0 ? tenths((100 * shots.in_time) / inputs) : "–");
  }
  put(byId("now-ahead"), whole((1000 * ahead_ticks) / tick_hz));
  const states = confirmed + corrected;
  put(byId("now-corrected"), states > 0 ? tenths((100 * corrected) / states) : "–");
  put(byId("now-largest"), whole(100 * largest_m));
  put(byId("now-leaps"), whole(leaps));
  put(byId("now-flying"), whole(in_flight));
}
