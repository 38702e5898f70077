// The page of `kinepack replay --html`.

const main = document.querySelector("main");
document.getElementById("about").textContent = `kinepack replay: ${report.file}, ${report.stream}, ${report.link}`;

const name = (run) => `${run.level}, ${run.profile}`;
const errorNames = report.runs.length ? report.runs[0].errors.map((error) => error.field) : [];
// Only after an outage there is something to recover from.
const recovered = report.runs.some((run) => run.recovery_ms !== null) ? ["recovered, ms"] : [];

function runs(all) {
  return tableOf(
    ["", "link", "kbit/s", "with headers", "delay, ms", "stalled", "stalls", "longest, ms", ...recovered, ...errorNames.flatMap((field) => [`${field} off: half`, "99 %"])],
    all.map((run) => [
      name(run), run.link, run.kbps_payload, run.kbps_total, run.playout_delay_ms, percent(run.stalled_ratio), run.stalls, run.longest_stall_ms, ...recovered.map(() => run.recovery_ms ?? "–"),
      ...run.errors.flatMap((error) => [error.p50, error.p99]),
    ]));
}

/** A chart of what `of` says of each run, over what `at` says of its link. */
function curves(all, at, of, xName, yName) {
  const names = [...new Set(all.map(name))];
  return lineChart(names.map((own) => ({ name: own, points: all.filter((run) => name(run) === own).map((run) => [at(run), of(run)]) })), xName, yName);
}

function over(title, all, at, xName) {
  if (!all.length) return [];
  const figures = [
    ["Kilobits a second, with headers", (run) => run.kbps_total, "kbit/s"],
    ["Delay of playback", (run) => run.playout_delay_ms, "ms"],
    ["Stalled", (run) => 100 * run.stalled_ratio, "% of the time"],
    ...errorNames.map((field, index) => [`How far ${field} is off, 99 %`, (run) => run.errors[index]?.p99 ?? 0, ""]),
  ];
  return [section(title, "", element("div", { class: "columns" }, figures.map(([caption, of, unit]) =>
    element("div", {}, element("h2", {}, caption), curves(all, at, of, xName, unit)))), runs(all))];
}

main.append(
  section(report.stream, "Errors are of what changes just then, in the unit of the field, of rotations in degrees, against what was recorded.", element("div", { class: "numbers" },
    element("div", {}, element("b", {}, report.frames.toLocaleString("en")), element("span", {}, `frames at ${short(report.rate_hz)} Hz`)),
    ...report.runs.map((run) => element("div", {}, element("b", {}, `${short(run.kbps_total)} kbit/s`), element("span", {}, name(run))))),
    runs(report.runs)),
  ...over("Over the loss", report.over_loss, (run) => run.loss_percent, "% lost"),
  ...over("Over the round trip", report.over_round_trip, (run) => run.round_trip_ms, "ms there and back"));
