// The script of the page that `kinepack analyze --html` writes.

const main = document.querySelector("main");
document.getElementById("about").textContent = `kinepack analyze: ${report.file}`;

function advice(stream) {
  if (!stream.advice.length) return element("p", {}, "No change that was tried saves more than half a percent.");
  return element("div", { class: "advice" }, stream.advice.flatMap((item) => [
    item.saves_kbps > 0 ? element("b", {}, `−${item.saves_kbps.toFixed(1)} kbit/s`) : element("b", { class: "warning" }, "check"),
    element("div", {}, `${item.field ? `${item.field}: ` : ""}${item.change}`, element("small", {}, item.because)),
  ]));
}

/** The common name of an array's elements. */
const common = (name) => name.replace(/\[\d+\]/g, "[*]");

function levels(stream) {
  const bits = new Map();
  for (const { name, level_bits_per_frame: own } of stream.kinds ?? stream.fields) {
    const sums = bits.get(common(name));
    bits.set(common(name), sums ? sums.map((sum, index) => sum + own[index]) : own);
  }
  const names = ["sets", ...bits.keys()];
  const kbps = (bits) => (bits * stream.frames_per_s) / 1000;
  const rows = stream.levels.map((level, index) => ({
    name: level.level,
    parts: [level.sets_bits_per_frame, ...[...bits.values()].map((sums) => sums[index])].map(kbps),
  }));
  // Next to the levels that send whole fields, the bars of all other levels would be too short.
  const relative = rows.filter((_, index) => stream.levels[index].row > 6);
  const box = element("input", { type: "checkbox" });
  const place = element("div");
  const draw = () => place.replaceChildren(stackedBars(box.checked ? rows : relative, names, "kbit/s"));
  box.addEventListener("change", draw);
  draw();
  return element("div", {}, element("div", { class: "bar" }, element("label", {}, box, " Show the levels without a baseline too")), place,
    element("details", {}, element("summary", {}, "What each level adds"), tableOf(["level", "adds to the level above"], stream.levels.map((level) => [level.level, level.adds]))));
}

function bound(stream) {
  const packed = stream.levels.findIndex((level) => level.level === "packed");
  const adaptive = stream.levels.findIndex((level) => level.level === "adaptive");
  const sum = (field, of) => field.components.reduce((sum, component) => sum + component[of], 0);
  return tableOf(
    ["field", "type", "size (bits)", "unchanged", "packed (bits/frame)", "adaptive (bits/frame)", "entropy (bits/frame)", "entropy given previous (bits/frame)", "out of range", "not a number"],
    stream.fields.map((field) => [
      field.name, field.kind, field.bits, percent(field.unchanged_share), field.level_bits_per_frame[packed], field.level_bits_per_frame[adaptive],
      sum(field, "entropy_bits_per_frame"), sum(field, "entropy_given_previous_bits_per_frame"), field.out_of_range, field.not_a_number,
    ]));
}

function component(field, of, isLogarithmic, colour) {
  const name = field.components.length > 1 || of.name ? `${field.name}${of.name ? `.${of.name}` : ""}` : field.name;
  const range = (ends) => ends ? `${short(ends[0])} to ${short(ends[1])}` : "";
  const value = (code) => of.limits && of.step ? short(of.limits[0] + code * of.step) : short(code);
  const facts = [
    of.seen ? `seen ${range(of.seen)}` : "", of.limits ? `limits ${range(of.limits)}` : "", of.step ? `step ${short(of.step)}` : "",
    of.carried_step ? `all are multiples of ${short(of.carried_step)}` : "",
  ].filter(Boolean).join(", ");
  const changes = `${percent(of.unchanged_share)} unchanged; the others: median ${of.difference_p50}, p99 ${of.difference_p99}`;
  const figure = (title, words, chart) => element("figure", {}, element("figcaption", {}, element("b", {}, `${name}, ${title}`), words), chart);
  return element("div", {},
    figure("values", facts || `${of.bits} bits`, histogram(of.values, value, isLogarithmic, colour)),
    figure("differences (steps)", changes, histogram(of.differences, (steps) => `${steps}`, isLogarithmic, colour)));
}

/** Bits a frame of each component at each level. The rest of a field is coded for all of its components at once. */
function componentLevels(stream, field) {
  const sum = (index) => field.components.reduce((sum, of) => sum + of.level_bits_per_frame[index], 0);
  return tableOf(
    ["level (bits/frame)", ...field.components.map((of) => of.name), "shared", "total"],
    stream.levels.map((level, index) => [
      level.level, ...field.components.map((of) => of.level_bits_per_frame[index]), Math.max(0, field.level_bits_per_frame[index] - sum(index)), field.level_bits_per_frame[index],
    ]));
}

function fields(stream) {
  const box = element("input", { type: "checkbox", checked: "" });
  const choice = element("select", { "aria-label": "field" }, stream.fields.map((field, index) => element("option", { value: index }, field.name)));
  const table = element("div");
  const place = element("div", { class: "components" });
  const names = [...new Set(stream.fields.map((field) => common(field.name)))];
  const colours = partColours(names);
  const draw = () => {
    const field = stream.fields[choice.value];
    const colour = colours[names.indexOf(common(field.name))];
    table.replaceChildren(componentLevels(stream, field));
    place.replaceChildren(...field.components.map((of) => component(field, of, box.checked, colour)));
  };
  box.addEventListener("change", draw);
  choice.addEventListener("change", draw);
  draw();
  return element("div", {}, element("div", { class: "bar" }, choice, element("label", {}, box, " Logarithmic counts")), table, place);
}

function shown(stream) {
  const of = (name) => stream.levels.find((level) => level.level === name);
  const number = (value, words) => element("div", {}, element("b", {}, value), element("span", {}, words));
  const line = (name, key) => ({ name, points: stream.lags.map((cost) => [cost.lag, cost[key]]) });
  const together = stream.together.slice(0, 20).map((pair) => [pair.fields.join(" and "), pair.either.toLocaleString("en"), percent(pair.both_share)]);
  return [
    section(stream.name, "Bandwidths on this page are without packet headers.", element("div", { class: "numbers" },
      number(`${short(of("packed").kbps)} kbit/s`, "level packed"),
      number(`${short(of("adaptive").kbps)} kbit/s`, "level adaptive"),
      number(short(stream.entities[0]), `entities of ${stream.bits_per_entity} bits`),
      number(short(stream.changed_per_frame), `changed within ${stream.lag} ticks, on average`),
      number(stream.frames.toLocaleString("en"), `frames at ${short(stream.frames_per_s)} Hz`))),
    element("div", { class: "columns" },
      section("What to change first", "Each change alone, tried on a sample of the frames at level packed, with word lengths trained for it.", advice(stream)),
      section(`Bandwidth of each level, by ${stream.kinds ? "kind of entities" : "field"}`, `Each frame is coded against the newest one that is ${stream.lag} ticks older. “Sets” say which entities and fields changed.`, levels(stream))),
    element("div", { class: "columns" },
      section("Age of the baseline", "A longer round trip means an older baseline.",
        lineChart([line("packed", "packed_kbps"), line("adaptive", "adaptive_kbps")], { name: "age of the baseline", unit: "frames" }, { name: "bandwidth", unit: "kbit/s" })),
      section("Most expensive entities", "At level packed.", tableOf(["entity", "bandwidth (kbit/s)", "share"], stream.entities_by_cost.map((cost) => [`${cost.id}`, cost.kbps, percent(cost.share)])))),
    section("Fields", "The entropy of the differences is a bound for coders that code each difference alone. The second one is for coders that know the size of the difference before.", bound(stream),
      ...(together.length ? [element("h3", { class: "next" }, "Fields that change together"), tableOf(["fields", "changes of one or both", "of these, of both"], together)] : [])),
    section("Values and differences", "Values are in the field’s unit. Differences from the baseline are in steps of the quantization.", fields(stream)),
  ];
}

main.append(...report.streams.flatMap(shown));
