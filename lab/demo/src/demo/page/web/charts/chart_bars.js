// The bytes of each packet as bars. A lost packet has another colour and another shape: a thin line over
// the whole height, with a cross on top.

import { LinearScale } from "../shared/scale.js";
import { colours } from "../shared/theme.js";

const CROSS_PX = 3;

export class BarsChart {
  scale = new LinearScale(200);

  peak({ packets }) {
    return packets.reduce((peak, [, bytes]) => Math.max(peak, bytes), 0);
  }

  paint(chart) {
    const { context, packets, ratio } = chart;
    const width = Math.max(1, Math.round(ratio));
    context.fillStyle = colours.css.packet;
    context.beginPath();
    for (const [tick, bytes, lost] of packets) {
      if (!lost) context.rect(chart.x(tick) - width, chart.y(bytes), width, chart.bottom - chart.y(bytes));
    }
    context.fill();
    this.#lost(chart, packets.filter(([, , lost]) => lost).map(([tick]) => chart.x(tick) - width / 2));
  }

  #lost({ context, ratio, top, bottom }, places) {
    const cross = CROSS_PX * ratio;
    const middle = top + cross;
    context.strokeStyle = colours.css.lost;
    // If many packets are lost, the arrived packets must stay visible between them.
    context.globalAlpha = 0.55;
    context.lineWidth = Math.max(1, Math.round(ratio));
    context.beginPath();
    for (const x of places) {
      context.moveTo(x, middle + cross + 2 * ratio);
      context.lineTo(x, bottom);
    }
    context.stroke();
    context.globalAlpha = 1;
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    for (const x of places) {
      context.moveTo(x - cross, middle - cross);
      context.lineTo(x + cross, middle + cross);
      context.moveTo(x + cross, middle - cross);
      context.lineTo(x - cross, middle + cross);
    }
    context.stroke();
  }
}
