// Keeps the settings in the page's address, so that a link can share them. The address holds every
// setting that is not null, under its name in the protocol.

/** The range of each number. Null means the named link's value, or for the playout delay, automatic. */
export const NUMBERS = {
  round_trip_ms: [0, 2000], jitter_ms: [0, 1000], loss_percent: [0, 100], burst: [1, 100], bandwidth_kbps: [8, 1_000_000], playout_ms: [0, 500],
};

/** Whether a number is valid for this setting. */
export function fits(name, value) {
  const [low, high] = NUMBERS[name];
  return Number.isFinite(value) && value >= low && value <= high && (name !== "bandwidth_kbps" || Number.isInteger(value));
}

export function writeAddress(settings) {
  const query = new URLSearchParams();
  for (const name of ["link", ...Object.keys(NUMBERS), "level", "send_hz"]) {
    if (settings[name] != null) query.set(name, settings[name]);
  }
  const address = `${location.pathname}?${query}${location.hash}`;
  if (address !== location.pathname + location.search + location.hash) history.replaceState(null, "", address);
}

/**
 * Reads the settings from the address: null if it has none. `refused` lists invalid ones.
 * A number that the address does not name is the link's own. Other settings stay as in `current`.
 */
export function readAddress(hello, current) {
  const query = new URLSearchParams(location.search);
  const settings = { link: current.link, level: current.level, send_hz: current.send_hz };
  const refused = [];
  let asked = false;
  const take = (name, parse, allowed) => {
    settings[name] ??= null;
    if (!query.has(name)) return;
    const value = parse(query.get(name));
    if (allowed(value)) {
      settings[name] = value;
      asked = true;
    } else {
      refused.push(`${name}=${query.get(name)}`);
    }
  };
  const number = (text) => (text.trim() === "" ? NaN : Number(text));
  take("link", String, (name) => hello.links.some((link) => link.name === name));
  for (const name of Object.keys(NUMBERS)) take(name, number, (value) => fits(name, value));
  take("level", String, (name) => hello.levels.some((level) => level.name === name));
  take("send_hz", number, (hz) => hello.send_hz.includes(hz));
  return { settings: asked ? settings : null, refused };
}
