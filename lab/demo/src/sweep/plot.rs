//! Draws the picture of a sweep. The picture shows bytes and errors, each over loss and over round
//! trip.

use std::error::Error;

use plotters::prelude::*;

use super::{JITTER, LOSS_PERCENT, Point, ROUND_TRIP_MS, Report};

const SIZE: (u32, u32) = (1000, 640);
const BYTES_COLOR: RGBColor = RGBColor(0x1f, 0x77, 0xb4);
const PAYLOAD_COLOR: RGBColor = RGBColor(0x8c, 0xbc, 0xde);
const ERROR_COLOR: RGBColor = RGBColor(0xd6, 0x27, 0x28);
const MEDIAN_COLOR: RGBColor = RGBColor(0xf0, 0xa0, 0x9c);

/// A curve holds its name, its color, and a function that takes the shown value from a point.
type Curve = (&'static str, RGBColor, fn(&Point) -> f64);

/// One of the four diagrams of the picture.
struct Panel<'a> {
    title: String,
    points: &'a [Point],
    x_of: fn(&Point) -> f64,
    x_title: &'static str,
    y_title: &'static str,
    curves: [Curve; 2],
    /// The corner of the diagram that has no curves.
    legend: SeriesLabelPosition,
}

/// Returns the picture of `report` as SVG.
pub(super) fn draw(report: &Report) -> Result<String, String> {
    let mut picture = String::new();
    draw_into(&mut picture, report).map_err(|error| error.to_string())?;
    Ok(picture)
}

fn draw_into<'a>(picture: &'a mut String, report: &Report) -> Result<(), Box<dyn Error + 'a>> {
    let root = SVGBackend::with_string(picture, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let jitter_ms = JITTER.as_millis();
    let at_round_trip = format!("{ROUND_TRIP_MS} ms round trip, {jitter_ms} ms jitter");
    let at_loss = format!("{LOSS_PERCENT} % loss, {jitter_ms} ms jitter");
    let bytes: [Curve; 2] = [
        ("with IP and UDP headers", BYTES_COLOR, |point| point.kbps_total),
        ("payload", PAYLOAD_COLOR, |point| point.kbps_payload),
    ];
    let error: [Curve; 2] = [
        ("99 % of what moves", ERROR_COLOR, |point| point.shown_error_mm_p99),
        ("median", MEDIAN_COLOR, |point| point.shown_error_mm_p50),
    ];
    let over_loss = |title: &str, y_title, curves, legend| Panel {
        title: format!("{title}, {at_round_trip}"),
        points: &report.over_loss,
        x_of: |point| f64::from(point.loss_percent),
        x_title: "loss in percent",
        y_title,
        curves,
        legend,
    };
    let over_time = |title: &str, y_title, curves, legend| Panel {
        title: format!("{title}, {at_loss}"),
        points: &report.over_round_trip,
        x_of: |point| f64::from(point.round_trip_ms),
        x_title: "round trip in ms",
        y_title,
        curves,
        legend,
    };
    let panels = [
        over_loss("bandwidth", "kbit/s", bytes, SeriesLabelPosition::LowerRight),
        over_loss("error of what is shown", "mm", error, SeriesLabelPosition::UpperLeft),
        over_time("bandwidth", "kbit/s", bytes, SeriesLabelPosition::LowerRight),
        over_time("error of what is shown", "mm", error, SeriesLabelPosition::LowerRight),
    ];
    for (area, panel) in root.split_evenly((2, 2)).iter().zip(&panels) {
        panel.draw(area)?;
    }
    root.present()?;
    Ok(())
}

impl Panel<'_> {
    fn draw<'a>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    ) -> Result<(), Box<dyn Error + 'a>> {
        let largest = |of: fn(&Point) -> f64| self.points.iter().map(of).fold(0.0, f64::max);
        let height = self.curves.iter().map(|(.., of)| largest(*of)).fold(1e-3, f64::max) * 1.1;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 15))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..largest(self.x_of) * 1.02, 0.0..height)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_desc(self.x_title)
            .y_desc(self.y_title)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| {
                if height < 5.0 { format!("{y:.1}") } else { format!("{y:.0}") }
            })
            .draw()?;
        for (name, color, of) in self.curves {
            let line = self.points.iter().map(|point| ((self.x_of)(point), of(point)));
            let dots = line.clone().map(|at| Circle::new(at, 3, color.filled()));
            chart.draw_series(LineSeries::new(line, color.stroke_width(2)))?.label(name).legend(
                move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], color.stroke_width(2)),
            );
            chart.draw_series(dots)?;
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(0xcc, 0xcc, 0xcc))
            .draw()?;
        Ok(())
    }
}
