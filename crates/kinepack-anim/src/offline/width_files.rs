//! Writes tables of widths as files: the bytes that are compiled in, and `spec/widths.txt`, which
//! contains the same tables as text.

use super::WidthTable;

const HEAD: &str = "\
# Widths of the coefficients of block clips: spec/ANIM.md, section 11. Found by \
`kinepack anim train`.
# Block length, piece, number, widths.
";

/// Writes tables as text. Each profile has a line with the block length, the piece, the number and
/// the widths.
pub fn widths_to_text(tables: &[WidthTable]) -> String {
    let mut text = HEAD.to_owned();
    for table in tables {
        for (number, widths) in table.profiles.iter().enumerate() {
            text += &format!("{} {} {number}", table.block.samples(), table.piece);
            widths.iter().for_each(|width| text += &format!(" {width}"));
            text.push('\n');
        }
    }
    text
}

/// Writes tables in the form that is compiled in: the widths, a byte each.
pub fn widths_to_bytes(tables: &[WidthTable]) -> Vec<u8> {
    tables.iter().flat_map(|table| &table.profiles).flatten().copied().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use super::*;
    use crate::block::{BlockLength, piece_range};

    #[test]
    fn the_text_is_the_table_that_is_compiled_in() {
        let pieces = [
            (BlockLength::N8, 0),
            (BlockLength::N16, 0),
            (BlockLength::N32, 0),
            (BlockLength::N32, 1),
        ];
        let tables = pieces.map(|(block, piece)| {
            let length = piece_range(piece, block.samples()).len();
            let profiles = block
                .profiles(piece)
                .iter()
                .map(|profile| profile.widths[..length].to_vec())
                .collect();
            WidthTable { block, piece, profiles, ideal_bits: 0.0, bits: 0.0 }
        });
        assert!(widths_to_bytes(&tables) == include_bytes!("../block/widths.bin"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/widths.txt");
        let text = widths_to_text(&tables);
        if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert!(
            text == std::fs::read_to_string(path).unwrap(),
            "spec/widths.txt is not src/block/widths.bin"
        );
    }
}
