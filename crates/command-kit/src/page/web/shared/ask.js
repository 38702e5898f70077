// Sends requests to the program, and checks the answers.

/** The answer to a request, or an error for the user. */
export async function ask(path) {
  let answer = null;
  try {
    answer = await fetch(path);
  } catch {
    throw new Error("The program doesn't answer. If it has ended, start it again and reload this page.");
  }
  if (!answer.ok) throw new Error(`The program refuses ${path}: ${(await answer.text()).trim() || answer.status}`);
  return answer;
}

/** The value of an answer, or an error if the answer is not valid. */
export function checked(value, isRight) {
  if (!isRight) throw new Error("This page cannot read the program's answer. Are they of different versions?");
  return value;
}

/** The bytes of hexadecimal digits. */
export const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const has = (object, type, ...names) => names.every((name) => typeof object[name] === type);
