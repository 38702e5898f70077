// Hides the page of the example server in Chromium: `node hidden.js WORLD`. WORLD is the server's
// program. Over a WebSocket, the page must still answer datagrams, however slow its timers are.

import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

import puppeteer from "puppeteer-core";

const PATIENCE_MS = 60_000;
// How long the page is hidden. This is longer than the server's time-out of five seconds.
const HIDDEN_MS = 8_000;

const server = spawn(process.argv[2], ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  server.stdout.on("data", (text) => resolve(/http:\S+/.exec(text)?.[0]));
  server.on("error", reject);
  server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
});
const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  // Puppeteer's default options would keep timers fast.
  ignoreDefaultArgs: [
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
  ],
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});
try {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => {
    delete globalThis.WebTransport;
    globalThis.wakeUps = 0;
    globalThis.sent = 0;
    setInterval(() => { globalThis.wakeUps += 1; }, 5);
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function count(datagram) {
      globalThis.sent += 1;
      send.call(this, datagram);
    };
  });
  await page.goto(url);
  await page.waitForFunction(() => globalThis.shown >= 200, { timeout: PATIENCE_MS });
  const front = await browser.newPage();
  await front.bringToFront();
  const look = () => page.evaluate(() => ({
    hidden: document.hidden, wakeUps: globalThis.wakeUps, sent: globalThis.sent,
    state: document.getElementById("state").textContent,
  }));
  const before = await look();
  if (!before.hidden) throw new Error("the page is not hidden");
  await wait(HIDDEN_MS);
  const after = await look();
  const [wakeUps, sent] = [after.wakeUps - before.wakeUps, after.sent - before.sent];
  if (after.state !== "joined by websocket") throw new Error(`the page says: ${after.state}`);
  // The server sends 60 datagrams per second, and a hidden page's timers run about twice per
  // second.
  if (sent < Math.max(50, 4 * wakeUps)) throw new Error(`${sent} answers, and ${wakeUps} runs of a timer`);
  await page.bringToFront();
  await page.evaluate(() => { globalThis.shown = 0; });
  await page.waitForFunction(() => globalThis.shown >= 200, { timeout: PATIENCE_MS });
  console.log(`ok a hidden page sent ${sent} answers, while a timer ran ${wakeUps} times`);
} finally {
  await browser.close();
  server.kill();
}
