//! Tests `inputs` as users see it.

use serde_json::Value;

use crate::support::program::{check_width, json, refusal, run, stdout};

const FEW: [&str; 5] = ["inputs", "--seconds", "20", "--clients", "4"];

fn numbers<const N: usize>(row: &Value, keys: [&str; N]) -> [f64; N] {
    keys.map(|key| {
        row.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} of {row}"))
    })
}

#[test]
fn a_move_takes_less_than_200_of_540_bits_and_is_decoded_exactly() {
    let document = json(&FEW);
    let rows = document.as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["level"].as_str().unwrap()).collect();
    assert_eq!(names, [["full"; 3], ["packed"; 3], ["adaptive"; 3]].concat());
    for (index, row) in rows.iter().enumerate() {
        let loss_ratio = [0.0, 0.05, 0.2][index % 3];
        let [loss, packets, restored, wrong] =
            numbers(row, ["/loss_ratio", "/packets", "/restored", "/wrong_values"]);
        assert!(
            (loss - loss_ratio).abs() < 1e-6 && packets == 4.0 * 20.0 * 60.0 && wrong == 0.0,
            "{row}"
        );
        assert!((restored / packets - (1.0 - loss_ratio)).abs() < 0.02, "{row}");
        let [full, mean, p95] = numbers(
            row,
            ["/bits_per_packet/full", "/bits_per_packet/mean", "/bits_per_packet/p95"],
        );
        let most = [632.1, 200.0, 130.0][index / 3];
        assert!(full == 540.0 && mean < most && p95 >= mean - 1e-9, "{row}");
        let times = numbers(row, ["/encode_ns", "/decode_ns", "/send_ns", "/receive_ns"]);
        assert!(times.into_iter().all(|time| time > 0.0), "{row}");
        let [lost_bases, full_packets] = numbers(row, ["/lost_bases", "/full_packets"]);
        assert!(lost_bases == 0.0 && (index < 3 || full_packets < 0.02 * packets), "{row}");
    }
}

#[test]
fn repeats_restore_lost_moves_and_equal_seeds_give_equal_sizes() {
    let measure = |seed: &str| {
        json(&[&FEW[..], &["--level", "adaptive", "--repeats", "3", "--seed", seed]].concat())
    };
    let bits = |document: &Value| document[2]["bits_per_packet"].clone();
    let [one, again, other] = ["7", "7", "8"].map(measure);
    assert_eq!(bits(&one), bits(&again));
    assert_ne!(bits(&one), bits(&other));
    let [packets, restored] = numbers(&one[2], ["/packets", "/restored"]);
    assert!(restored > 0.99 * packets, "{}", one[2]);
}

#[test]
fn the_table_has_a_row_for_each_loss_and_explains_its_counts() {
    let table = stdout(&[&FEW[..], &["--level", "packed"]].concat());
    assert_eq!(table.lines().filter(|line| line.starts_with("packed")).count(), 3, "{table}");
    assert!(table.ends_with(
        "a move in full has 540 bits; packets are counted with their headers, 32 \
         bits against a base\n"
    ));
}

#[test]
fn the_table_fits_into_the_terminal() {
    check_width(&["inputs", "--seconds", "1", "--clients", "2"], &[]);
}

#[test]
fn invalid_options_are_refused() {
    let refused = refusal(&["inputs", "--level", "13"]);
    assert!(
        refused.contains("no such level of a stream; there are full, packed, adaptive"),
        "{refused}"
    );
    let refused = refusal(&["inputs", "--clients", "10000", "--seconds", "86400"]);
    for part in ["--clients 10000 and --seconds 86400", "51840000000 moves", "200000000 at most"] {
        assert!(refused.contains(part), "{refused}");
    }
    for arguments in [
        &["measure", "--clients", "4"][..],
        &["inputs", "--lag", "6"],
        &["inputs", "--repeats", "16"],
        &["inputs", "capture.bin"],
    ] {
        assert_eq!(run(arguments).code, Some(2), "{arguments:?}");
    }
}
