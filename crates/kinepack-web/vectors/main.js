// Runs test modules in Node: `node main.js VECTORS.txt`. The file lists the modules, one path a
// line.

import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import { runModule } from "./run.js";

const list = (await readFile(process.argv[2], "utf8")).split("\n").filter(Boolean);
for (const path of list) {
  const name = basename(path).replace(/-[0-9a-f]+\.wasm$/, "");
  const start = performance.now();
  await runModule(name, await readFile(path));
  console.log(`ok vectors of ${name} (${Math.round(performance.now() - start)} ms)`);
}
