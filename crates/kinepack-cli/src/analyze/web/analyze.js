// The page of `kinepack analyze --html`.

const main = document.querySelector("main");
document.getElementById("about").textContent = `kinepack analyze: ${report.file}`;

function advice(stream) {
  if (!stream.advice.length) return element("p", {}, "Nothing that would save half a percent.");
  return element("div", { class: "advice" }, stream.advice.flatMap((item) => [
    item.saves_kbps > 0 ? element("b", {}, `−${short(item.saves_kbps)} kbit/s`) : element("b", { class: "warning" }, "look"),
    element("div", {}, `${item.field ? `${item.field}: ` : ""}${item.change}`, element("small", {}, item.because)),
  ]));
}

function levels(stream) {
  // Elements of an array share a colour.
  const bits = new Map();
  for (const { name, level_bits_per_frame: own } of stream.fields) {
    const common = name.replace(/\[\d+\]/g, "[*]");
    const sums = bits.get(common);
    bits.set(common, sums ? sums.map((sum, index) => sum + own[index]) : own);
  }
  const names = ["sets", ...bits.keys()];
  const kbps = (bits) => (bits * stream.rate_hz) / 1000;
  const rows = stream.levels.map((level, index) => ({
    name: level.level,
    parts: [level.sets_bits_per_frame, ...[...bits.values()].map((sums) => sums[index])].map(kbps),
  }));
  // The first would make all others thin.
  const relative = rows.filter((_, index) => stream.levels[index].row > 6);
  const box = element("input", { type: "checkbox" });
  const place = element("div");
  const draw = () => place.replaceChildren(stackedBars(box.checked ? rows : relative, names, "kbit/s"));
  box.addEventListener("change", draw);
  draw();
  return element("div", {}, element("label", { class: "bar" }, box, " with everything in full"), place);
}

function bound(stream) {
  const packed = stream.levels.findIndex((level) => level.level === "packed");
  const adaptive = stream.levels.findIndex((level) => level.level === "adaptive");
  const sum = (field, of) => field.components.reduce((sum, component) => sum + component[of], 0);
  return tableOf(
    ["field", "kind", "bits in full", "unchanged", "bits a frame: packed", "adaptive", "entropy, order 0", "given the previous", "out of range", "no numbers"],
    stream.fields.map((field) => [
      field.name, field.kind, field.bits, percent(field.unchanged_share), field.level_bits_per_frame[packed], field.level_bits_per_frame[adaptive],
      sum(field, "entropy_bits_per_frame"), sum(field, "entropy_given_previous_bits_per_frame"), field.out_of_range, field.not_a_number,
    ]));
}

function component(field, of, isLogarithmic) {
  const range = (ends) => ends ? `${short(ends[0])} … ${short(ends[1])}` : "";
  const value = (code) => of.limits && of.step ? short(of.limits[0] + code * of.step) : short(code);
  const facts = [
    of.seen ? `seen ${range(of.seen)}` : "", of.limits ? `of ${range(of.limits)}` : "", of.step ? `in steps of ${short(of.step)}` : "",
    of.carried_step ? `all are multiples of ${short(of.carried_step)}` : "",
  ].filter(Boolean).join(", ");
  const changes = `half of the changes are of ${of.difference_p50} steps or less, 99 % of ${of.difference_p99}`;
  return [
    element("figure", {}, element("figcaption", {}, element("b", {}, `${field.name}.${of.name}`), ` values: ${facts || `${of.bits} bits`}`), histogram(of.values, value, isLogarithmic)),
    element("figure", {}, element("figcaption", {}, element("b", {}, `${field.name}.${of.name}`), ` differences: ${percent(of.unchanged_share)} none; ${changes}`), histogram(of.differences, (steps) => `${steps}`, isLogarithmic)),
  ];
}

/** Bits a frame of each component at each level; what is told of all of them at once is the rest. */
function componentLevels(stream, field) {
  const sum = (index) => field.components.reduce((sum, of) => sum + of.level_bits_per_frame[index], 0);
  return tableOf(
    ["bits a frame", ...field.components.map((of) => of.name), "of all at once", field.name],
    stream.levels.map((level, index) => [
      level.level, ...field.components.map((of) => of.level_bits_per_frame[index]), Math.max(0, field.level_bits_per_frame[index] - sum(index)), field.level_bits_per_frame[index],
    ]));
}

function fields(stream) {
  const box = element("input", { type: "checkbox", checked: "" });
  const choice = element("select", { "aria-label": "field" }, stream.fields.map((field, index) => element("option", { value: index }, field.name)));
  const table = element("div");
  const place = element("div", { class: "charts" });
  const draw = () => {
    const field = stream.fields[choice.value];
    table.replaceChildren(componentLevels(stream, field));
    place.replaceChildren(...field.components.flatMap((of) => component(field, of, box.checked)));
  };
  box.addEventListener("change", draw);
  choice.addEventListener("change", draw);
  draw();
  return element("div", {}, element("div", { class: "bar" }, choice, element("label", {}, box, "logarithmic")), table, place);
}

function shown(stream) {
  const of = (name) => stream.levels.find((level) => level.level === name);
  const number = (value, words) => element("div", {}, element("b", {}, value), element("span", {}, words));
  const line = (name, key) => ({ name, points: stream.lags.map((cost) => [cost.lag, cost[key]]) });
  return [
    section(stream.name, "", element("div", { class: "numbers" },
      number(`${short(of("packed").kbps)} kbit/s`, "packed, without headers"),
      number(`${short(of("adaptive").kbps)} kbit/s`, "adaptive"),
      number(short(stream.entities[0]), `entities of ${stream.bits_per_entity} bits`),
      number(short(stream.changed_per_frame), `of them other than ${stream.lag} frames before`),
      number(stream.frames.toLocaleString("en"), `frames at ${short(stream.rate_hz)} Hz`))),
    section("What to change first", "Each change by itself, tried on a sample of the frames, at the level packed with word lengths trained for it.", advice(stream)),
    section("What each level takes, by field", `Each frame against the one ${stream.lag} before, without headers. “Sets” tell which entities and fields changed.`, levels(stream)),
    element("div", { class: "columns" },
      section("By the age of the baseline", "A longer round trip means an older baseline.", lineChart([line("packed", "packed_kbps"), line("adaptive", "adaptive_kbps")], "frames", "kbit/s")),
      section("The entities that take most", "At the level packed.", tableOf(["entity", "kbit/s", "share"], stream.entities_by_cost.map((cost) => [`${cost.id}`, cost.kbps, percent(cost.share)])))),
    section("Fields", "Entropy of the differences: bits a frame that they take at least where each is coded by itself, and where the size of the one before is known.", bound(stream)),
    section("Values and differences", "Values in their own unit, differences from the baseline in steps.", fields(stream)),
    section("Fields that change together", "", tableOf(["fields", "both, where one did", "how often"], stream.together.slice(0, 20).map((pair) => [pair.fields.join(" and "), percent(pair.both_share), pair.either.toLocaleString("en")]))),
  ];
}

main.append(...report.streams.flatMap(shown));
