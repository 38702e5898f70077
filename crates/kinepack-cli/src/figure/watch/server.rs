//! Serves the page: the body as JSON, and its pose now as numbers.

use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{File, binary, guard, json, with_files};
use command_kit::web_files;
use serde::Serialize;

use super::connection::Moment;
use super::{Shared, locked};
use crate::anim::SCENE;

/// The files that only this page uses.
const FILES: &[File] =
    web_files!["api.js", "body.js", "index.html", "main.js", "panels.js", "style.css",];

/// The numbers of the state: no body yet, a body that arrives, and one whose sender is silent.
const WAITING: u32 = 0;
const LIVE: u32 = 1;
const SILENT: u32 = 2;

/// The description of the body.
#[derive(Serialize)]
struct Body {
    session: u32,
    joints: Vec<Joint>,
    curves: Vec<Curve>,
    precision_cm: f64,
    max_error_cm: f64,
    rate_hz: u32,
}

#[derive(Serialize)]
struct Joint {
    name: String,
    parent: Option<usize>,
    max_error_cm: f64,
}

#[derive(Serialize)]
struct Curve {
    name: String,
    min: f32,
    max: f32,
}

/// The answer before a body arrives: why the last one was refused, if one was.
#[derive(Serialize)]
struct NoBody {
    session: u32,
    refused: Option<String>,
}

/// Returns the routes to the page's files and to the data that it requests.
pub(super) fn router(shared: Shared) -> Router {
    let data = Router::new().route("/body", get(body)).route("/pose", get(pose));
    with_files(data, FILES.iter().chain(SCENE)).with_state(shared).layer(middleware::from_fn(guard))
}

async fn body(State(shared): State<Shared>) -> Response {
    let mut receiving = locked(&shared);
    let Some(connection) = receiving.connection() else {
        let refused = receiving.bad().map(str::to_owned);
        return json(&NoBody { session: 0, refused });
    };
    let description = &connection.description;
    let joints = description.skeleton.joints().iter().enumerate().map(|(index, joint)| Joint {
        name: joint.name.clone(),
        parent: joint.parent.map(usize::from),
        max_error_cm: connection.joint_error_cm(index),
    });
    let curves = description.options.curves.iter().map(|curve| Curve {
        name: curve.name.clone(),
        min: curve.min,
        max: curve.max,
    });
    json(&Body {
        session: connection.session,
        joints: joints.collect(),
        curves: curves.collect(),
        precision_cm: description.options.precision_cm,
        max_error_cm: connection.max_error_cm,
        rate_hz: description.rate_hz,
    })
}

/// Encodes the pose now: a header of four little-endian `u32` (the session, the state, and the
/// numbers of joints and curves), then `f32`: six numbers, the position of each joint in cm, and
/// the value of each curve. Before the first pose, there are no joints.
async fn pose(State(shared): State<Shared>) -> Response {
    let mut receiving = locked(&shared);
    let now = receiving.now();
    let Some(connection) = receiving.connection() else {
        return binary(head([0, WAITING, 0, 0]));
    };
    let (session, silent) = (connection.session, connection.receiver.status(now).silent);
    let Moment { model, curves, rates, delay, round_trip } = connection.moment(now);
    let state = match model {
        None => WAITING,
        Some(_) if silent => SILENT,
        Some(_) => LIVE,
    };
    let model = model.unwrap_or_default();
    let mut bytes = head([session, state, model.len() as u32, curves.len() as u32]);
    let numbers = [
        rates.bytes_per_s,
        rates.bits_per_pose,
        rates.poses_per_s,
        rates.lost_ratio,
        1e3 * delay.as_secs_f64(),
        1e3 * round_trip.as_secs_f64(),
    ];
    let positions = model.iter().flat_map(|joint| joint.translation);
    let numbers = numbers.into_iter().map(|number| number as f32);
    let floats = numbers.chain(positions).chain(curves.iter().copied());
    bytes.extend(floats.flat_map(f32::to_le_bytes));
    binary(bytes)
}

fn head(numbers: [u32; 4]) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}
