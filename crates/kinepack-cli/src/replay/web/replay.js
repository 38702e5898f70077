// The page of `kinepack replay --html`.

const main = document.querySelector("main");
document.getElementById("about").textContent = `kinepack replay: ${report.file}, ${report.stream}, ${report.link}`;

const everyRun = [...report.runs, ...report.over_loss, ...report.over_round_trip];
const hasProfiles = new Set(everyRun.map((run) => run.profile)).size > 1;
const name = (run) => (hasProfiles ? `${run.level}, ${run.profile}` : run.level);
const fields = report.runs.length ? report.runs[0].errors : [];
const unitOf = ({ field, unit }) => unit ?? `unit of ${field}`;
// Only runs with an outage have a recovery time.
const recovery = report.runs.some((run) => run.recovery_ms !== null) ? ["recovery (ms)"] : [];

function runs(all) {
  return tableOf(
    [
      "level", "link", "bandwidth (kbit/s)", "with headers (kbit/s)", "playout delay (ms)", "stalled time", "stalls", "longest stall (ms)", ...recovery,
      ...fields.flatMap((field) => [`${field.field} error, median (${unitOf(field)})`, `p99 (${unitOf(field)})`, `largest (${unitOf(field)})`]),
    ],
    all.map((run) => [
      name(run), run.link, run.kbps_payload, run.kbps_total, run.playout_delay_ms, percent(run.stalled_ratio), run.stalls, run.longest_stall_ms, ...recovery.map(() => run.recovery_ms ?? "–"),
      ...run.errors.flatMap((error) => [error.p50, error.p99, error.max]),
    ]));
}

/** Charts of runs over `at`, a number of their link; `x` is its { name, unit }. */
function over(title, all, at, x) {
  if (!all.length) return [];
  const names = [...new Set(all.map(name))];
  const charts = [
    [{ name: "bandwidth with headers", unit: "kbit/s" }, (run) => run.kbps_total],
    [{ name: "playout delay", unit: "ms" }, (run) => run.playout_delay_ms],
    [{ name: "stalled time", unit: "%" }, (run) => 100 * run.stalled_ratio],
    [{ name: "longest stall", unit: "ms" }, (run) => run.longest_stall_ms],
    ...fields.map((field, index) => [{ name: `${field.field} error, p99`, unit: unitOf(field) }, (run) => run.errors[index]?.p99 ?? 0]),
  ];
  const lines = (of) => names.map((own) => ({ name: own, points: all.filter((run) => name(run) === own).map((run) => [at(run), of(run)]) }));
  return [section(title, "", legend(names, seriesColours(names)),
    element("div", { class: "charts" }, charts.map(([y, of]) => lineChart(lines(of), x, y, { hasLegend: false }))),
    element("details", {}, element("summary", {}, "All numbers of these runs"), runs(all)))];
}

/** A run's link to the receiver over time: what it carries and what is sent, how long datagrams wait, which do not arrive. */
function overTime(run) {
  const use = run.link_use;
  if (!use?.series?.length) return [];
  const x = { name: "time", unit: "s" };
  // A slot is drawn at its middle.
  const at = (slot) => (slot.at_ms + use.slot_ms / 2) / 1000;
  const line = (title, field) => ({ name: title, points: use.series.filter((slot) => slot[field] !== null).map((slot) => [at(slot), slot[field]]) });
  const hasPoints = ({ points }) => points.length > 0;
  const charts = [
    [[{ ...line("link", "offered_kbps"), isArea: true }, line("sent", "sent_kbps"), line("budget", "budget_kbps")].filter(hasPoints), { name: "link and sender", unit: "kbit/s" }],
    [[{ ...line("longest queue", "queueing_ms"), isArea: true }], { name: "queueing delay", unit: "ms" }],
    [[line("dropped, as the queue was full", "dropped"), line("lost", "lost")], { name: "lost and dropped", unit: `datagrams in ${use.slot_ms} ms` }],
  ].filter(([lines], index) => index < 2 || lines.some(({ points }) => points.some(([, count]) => count > 0)));
  const { mean, p95, max } = use.queueing_ms;
  const share = use.used_ratio === null ? "" : `Datagrams took ${percent(use.used_ratio)} of the ${short(use.offered_kbps)} kbit/s that the link carries on average. `;
  return [section(`The link over time: ${name(run)}`,
    `${share}They waited ${short(mean)} ms for those before them on average, 95 % of them at most ${short(p95)} ms, and ${short(max)} ms at most. The queue dropped ${use.dropped ? use.dropped.toLocaleString("en") : "no"} datagrams. Rates have headers.`,
    ...charts.map(([lines, y]) => lineChart(lines, x, y, { hasLegend: lines.length > 1, least: 6 })))];
}

main.append(
  section(report.stream, `The link of ${report.link}: ${report.link_about}. Errors compare what is shown with what was recorded, for fields that change at that moment. If the 99th percentile or the largest error is far above the median, look at the stalls: playback then holds the last state.`,
    element("div", { class: "numbers" },
      element("div", {}, element("b", {}, report.frames.toLocaleString("en")), element("span", {}, `frames at ${short(report.frames_per_s)} Hz`)),
      ...report.runs.map((run) => element("div", {}, element("b", {}, `${short(run.kbps_total)} kbit/s`), element("span", {}, `${name(run)}, with headers`)))),
    runs(report.runs),
    ...(report.notes ?? []).map((note) => element("p", { class: "note" }, note))),
  ...report.runs.flatMap(overTime),
  ...over("By packet loss", report.over_loss, (run) => run.loss_percent, { name: "packet loss", unit: "%" }),
  ...over("By round trip", report.over_round_trip, (run) => run.round_trip_ms, { name: "round trip", unit: "ms" }));
