// Runs the package's tests and the frozen vectors in Chromium: `node browser.js VECTORS.txt`. The
// file lists test modules, one path a line. Exits with 1 if a test fails.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const TYPES = {
  html: "text/html", js: "text/javascript", wasm: "application/wasm", txt: "text/plain",
};
const PATIENCE_MS = 180_000;

const list = (await readFile(process.argv[2], "utf8")).split("\n").filter(Boolean);
const modules = list.map((path) => [basename(path).replace(/-[0-9a-f]+\.wasm$/, ""), path]);

// The page runs the package's page in a frame, then the vectors one by one.
const page = `<!doctype html><meta charset="utf-8"><iframe src="package/test/browser.html"></iframe>
<script type="module">
  import { runModule } from "./vectors/run.js";
  const frame = document.querySelector("iframe").contentWindow;
  const done = new Promise((resolve) => {
    if (frame.finished) resolve();
    frame.addEventListener("finished", resolve);
  });
  await done;
  let { log, failures } = frame.finished;
  for (const name of ${JSON.stringify(modules.map(([name]) => name))}) {
    try {
      await runModule(name, await (await fetch("modules/" + name)).arrayBuffer());
      log += "ok vectors of " + name + "\\n";
    } catch (error) {
      failures.push(error.message);
      log += "FAILED " + error.message + "\\n";
    }
  }
  await fetch("finished", { method: "POST", body: JSON.stringify({ log, failures }) });
</script>`;

let finish;
const finished = new Promise((resolve, reject) => {
  finish = resolve;
  setTimeout(() => reject(new Error("the browser gave no answer")), PATIENCE_MS).unref();
});
const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  if (path === "/finished") {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end();
    finish(JSON.parse(Buffer.concat(parts).toString()));
    return;
  }
  const module = modules.find(([name]) => path === `/modules/${name}`);
  const file = module ? module[1] : join(here, path);
  try {
    const bytes = path === "/" ? page : await readFile(file);
    const type = TYPES[path.split(".").at(-1)] ?? (path === "/" ? "text/html" : "application/wasm");
    response.writeHead(200, { "content-type": type });
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const profile = await mkdtemp(join(tmpdir(), "kinepack-browser-"));
const browser = spawn("chromium", [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`,
  `http://127.0.0.1:${server.address().port}/`,
], { stdio: "ignore" });
browser.on("error", (error) => {
  console.error(`chromium does not start: ${error.message}`);
  process.exit(1);
});
try {
  const { log, failures } = await finished;
  process.stdout.write(log);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  const gone = new Promise((resolve) => browser.on("exit", resolve));
  browser.kill();
  await gone;
  server.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
}
