// Opens the pages of the example server in Chromium: `node examples.js WORLD`. WORLD is the
// server's program. Each page must show something, without an error.

import { spawn } from "node:child_process";

import puppeteer from "puppeteer-core";

const PATIENCE_MS = 60_000;
const PAGES = { "": 200, "three.html": 200, "character.html": 3 };

const server = spawn(process.argv[2], ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  server.stdout.on("data", (text) => resolve(/http:\S+/.exec(text)?.[0]));
  server.on("error", reject);
  server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
});
const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
try {
  for (const [path, count] of Object.entries(PAGES)) {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(url + path);
    await page.waitForFunction((least) => globalThis.shown >= least, { timeout: PATIENCE_MS }, count);
    if (errors.length > 0) throw new Error(`${path}: ${errors.join("; ")}`);
    console.log(`ok ${path || "index.html"} shows ${count}`);
    await page.close();
  }
} finally {
  await browser.close();
  server.kill();
}
