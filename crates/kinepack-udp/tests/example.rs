//! Checks that the example `game` runs, with two clients that play over real sockets.

use std::time::Duration;

#[path = "../examples/game/main.rs"]
#[expect(dead_code, reason = "the program around the game is not tested")]
mod game;

#[test]
fn both_clients_see_both_ships() {
    let scenes = game::run(Duration::from_secs(3)).expect("the game runs");
    assert!(scenes.iter().all(|scene| scene.len() == 2));
}
