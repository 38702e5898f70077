// Numbers in a readable form.

// The formats are kept, because creating one takes far longer than using it.
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 17,369 */
export const whole = (value) => WHOLE.format(value);

/** 1,234.5 */
export const tenths = (value) => TENTHS.format(value);

/** About three significant digits: 0.12, 1.23, 12.3, 123. */
export const precise = (value) => (value >= 100 ? whole(value) : value.toFixed(value >= 10 ? 1 : 2));

/** 0.123 */
export const thousandths = (value) => value.toFixed(3);

/** Sets an element's text if it differs: even setting the same text costs a layout. */
export function put(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
