// The settings in the page's address, so that it can be shared: all that are not null, by the names of the protocol.

/** The settings that are numbers and may be null: the named link's, or as the network needs. */
export const NUMBERS = {
  round_trip_ms: [0, 2000], jitter_ms: [0, 1000], loss_percent: [0, 100], burst: [1, 100], bandwidth_kbps: [8, 1_000_000], playout_ms: [0, 500],
};

/** Whether a number may be sent as this setting. */
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
 * The settings that the address asks for, or null where it asks for none; `refused` lists what it says that can't be.
 * What it doesn't name is the link's own, or stays as `current` has it.
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
