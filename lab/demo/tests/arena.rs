//! Tests `arena --headless`: its tables, and what they say about the mechanisms.

use serde_json::Value;

use crate::support::program::{check_width, json, stdout};

#[test]
fn exact_rewinding_confirms_every_shot_of_who_stands_where_he_believes() {
    let document =
        json(&["arena", "--headless", "--seconds", "24", "--bots", "4", "--longer-ms", "150"]);
    let games = document["games"].as_array().unwrap();
    let game = |name: &str| games.iter().find(|game| game["name"] == name).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();

    let all = game("all");
    let [on_screen, displaced] = ["on_screen", "displaced"].map(|key| number(&all["shots"][key]));
    let confirmed =
        |way: &str| number(&all["shots"][way]["confirmed_in_place"]) / (on_screen - displaced);
    assert!(on_screen > 25.0, "{all}");
    assert_eq!(confirmed("exact"), 1.0, "{all}");
    assert!(confirmed("none") < 0.8, "{all}");

    // Each mechanism is worth something.
    let in_time = |name: &str| number(&game(name)["shots"]["in_time"]);
    assert!(in_time("all") > 1.5 * in_time("no input clock"));
    let behind = |name: &str| {
        let screen = &game(name)["screen"];
        number(&screen["behind_m"]) / (number(&screen["frames"]) - number(&screen["aboard"]))
    };
    assert!(behind("no prediction") > 3.0 * behind("all"));
}

#[test]
fn the_same_seed_plays_the_same_games() {
    let played = |seed: &str| {
        json(&["arena", "--headless", "--seconds", "10", "--bots", "2", "--seed", seed])
    };
    assert_eq!(played("7"), played("7"));
    assert_ne!(played("7"), played("8"));
}

#[test]
fn the_tables_name_each_game_and_fit() {
    let options = ["arena", "--headless", "--seconds", "10", "--bots", "2", "--kbps", "16"];
    let table = stdout(&options);
    for name in ["all", "no prediction", "no cuts", "in time"] {
        assert!(table.contains(name), "{name} in\n{table}");
    }
    check_width(&options, &[]);
}
