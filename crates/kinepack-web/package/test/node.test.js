import { readFile } from "node:fs/promises";
import { test } from "node:test";

import * as clips from "../clips.js";
import * as crowd from "../crowd.js";
import * as figures from "../figures.js";
import * as installed from "kinepack";
import * as snapshots from "../snapshots.js";
import { expectError } from "./support.js";
import { tests } from "./tests.js";

expectError(() => snapshots.describeSchema(new Uint8Array()), "await load() first");
await Promise.all([snapshots, clips, crowd, figures].map((module) => module.load()));
const read = (name) => readFile(new URL(`recorded/${name}.txt`, import.meta.url), "utf8");
for (const [name, run] of Object.entries(tests(read))) test(name, run);
test("the name of the package is its main file", () => {
  if (installed.Receiver !== snapshots.Receiver) throw new Error("another file");
});
