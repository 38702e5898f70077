// Hides the page of the example server in Chromium: `node hidden.js WORLD`, the server's program. Over
// a WebSocket it must stay connected while its timers run once a minute.

import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

import puppeteer from "puppeteer-core";

const PATIENCE_MS = 60_000;
// Three times the server's time-out.
const HIDDEN_MS = 15_000;

const server = spawn(process.argv[2], ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  server.stdout.on("data", (text) => resolve(/http:\S+/.exec(text)?.[0]));
  server.on("error", reject);
  server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
});
const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  // Tests usually have no slow timers. This one is about them, and does not wait five minutes for them.
  ignoreDefaultArgs: [
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
  ],
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/1",
  ],
});
try {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => {
    delete globalThis.WebTransport;
    globalThis.wakeUps = 0;
    setInterval(() => { globalThis.wakeUps += 1; }, 5);
  });
  await page.goto(url);
  await page.waitForFunction(() => globalThis.shown >= 200, { timeout: PATIENCE_MS });
  const front = await browser.newPage();
  await front.bringToFront();
  const look = () => page.evaluate(() => ({
    hidden: document.hidden, wakeUps: globalThis.wakeUps, shown: globalThis.shown,
    state: document.getElementById("state").textContent,
  }));
  const before = await look();
  if (!before.hidden) throw new Error("the page is not hidden");
  await wait(HIDDEN_MS);
  const after = await look();
  const wakeUps = after.wakeUps - before.wakeUps;
  if (wakeUps > 200) throw new Error(`the timers of a hidden page ran ${wakeUps} times`);
  if (after.state !== "joined by websocket") throw new Error(`the page says: ${after.state}`);
  await page.bringToFront();
  await page.evaluate(() => { globalThis.shown = 0; });
  await page.waitForFunction(() => globalThis.shown >= 200, { timeout: PATIENCE_MS });
  console.log(`ok a hidden page stays connected; its timers ran ${wakeUps} times in 15 s`);
} finally {
  await browser.close();
  server.kill();
}
