//! Compares screenshots pixel by pixel.

use std::collections::HashSet;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use png::{ColorType, Compression, Decoder, Encoder, Filter, Transformations};
use serde_json::Value;

pub(crate) struct Screenshot {
    width: usize,
    colours: Vec<[u8; 3]>,
}

/// A rectangle of the window, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    left: usize,
    top: usize,
    right: usize,
    pub(crate) bottom: usize,
}

impl Area {
    /// Returns the area of an element, which is given by its `getBoundingClientRect`.
    pub(crate) fn of(rectangle: &Value) -> Self {
        let [left, top, right, bottom] = ["left", "top", "right", "bottom"]
            .map(|side| rectangle[side].as_f64().unwrap().max(0.0) as usize);
        Self { left, top, right, bottom }
    }
}

impl Screenshot {
    pub(crate) fn read(png: &[u8]) -> Self {
        let mut decoder = Decoder::new(Cursor::new(png));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        let each = match frame.color_type {
            ColorType::Rgb => 3,
            ColorType::Rgba => 4,
            other => panic!("a screenshot in {other:?}"),
        };
        let colours = bytes[..frame.buffer_size()]
            .chunks_exact(each)
            .map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        let colours = colours.collect();
        Self { width: frame.width as usize, colours }
    }

    /// Writes the first `height` rows of the screenshot as a file.
    pub(crate) fn write(&self, path: &Path, height: usize) {
        let mut encoder =
            Encoder::new(File::create(path).unwrap(), self.width as u32, height as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_compression(Compression::High);
        // Flat surfaces and text are smaller without filters.
        encoder.set_filter(Filter::NoFilter);
        let rows = self.colours[..self.width * height].as_flattened();
        encoder.write_header().unwrap().write_image_data(rows).unwrap();
    }

    fn pixels(&self, area: Area) -> impl Iterator<Item = [u8; 3]> {
        let rows = self.colours.chunks_exact(self.width).take(area.bottom).skip(area.top);
        rows.flat_map(move |row| {
            row[area.left.min(row.len())..area.right.min(row.len())].iter().copied()
        })
    }

    /// Returns the number of different colours in `area`.
    pub(crate) fn colours(&self, area: Area) -> usize {
        self.pixels(area).collect::<HashSet<_>>().len()
    }

    /// Returns the fraction of the area's pixels that differ from the pixel at its upper left
    /// corner.
    pub(crate) fn share_unlike_corner(&self, area: Area) -> f64 {
        let corner = self.pixels(area).next().expect("a pixel");
        let [unlike, all] = self.pixels(area).fold([0, 0], |[unlike, all], pixel| {
            [unlike + usize::from(far_apart(corner, pixel)), all + 1]
        });
        unlike as f64 / all as f64
    }

    /// Returns the fraction of the area's pixels that differ between the two screenshots.
    pub(crate) fn share_changed(&self, other: &Self, area: Area) -> f64 {
        let pairs = || self.pixels(area).zip(other.pixels(area));
        pairs().filter(|(one, another)| far_apart(*one, *another)).count() as f64
            / pairs().count().max(1) as f64
    }
}

/// Returns whether a person would see the difference between two colours.
fn far_apart(one: [u8; 3], another: [u8; 3]) -> bool {
    one.into_iter().zip(another).any(|(one, another)| one.abs_diff(another) > 12)
}
