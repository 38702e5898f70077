//! The client, which runs as WebAssembly in a page.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bevy_app::{App, ScheduleRunnerPlugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use kinepack_bevy::{
    MotionClientPlugin, MotionSettings, MotionWebClient, MotionWebClientPlugin, WebLost,
};
use kinepack_webtransport::WebClientOptions;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::Ship;

/// The site's answer, with an address, a token, and the certificate's hash.
#[derive(Resource, Clone, Default)]
struct Invitation(Arc<Mutex<Option<String>>>);

/// The time of the next attempt after a session is lost.
#[derive(Resource, Default)]
struct Retry(Option<Duration>);

pub(crate) fn run(mut app: App, settings: MotionSettings) -> Result<(), Box<dyn Error>> {
    app.add_plugins((
        MotionClientPlugin::new(settings),
        MotionWebClientPlugin,
        ScheduleRunnerPlugin::run_loop(Duration::from_secs(1) / crate::TICK_HZ),
    ))
    .init_resource::<Invitation>()
    .init_resource::<Retry>()
    .add_systems(Startup, ask)
    .add_systems(Update, (connect, show, lose, ask_again).chain())
    .run();
    Ok(())
}

/// Asks the site for an invitation.
fn ask(invitation: Res<Invitation>) {
    let Invitation(slot) = invitation.clone();
    spawn_local(async move {
        // If the site does not answer, the user has to reload the page.
        if let Ok(answer) = fetch("join").await {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
    });
}

async fn fetch(path: &str) -> Result<String, JsValue> {
    let window = web_sys::window().ok_or("this is not a page")?;
    let response = JsFuture::from(window.fetch_with_str(path)).await?;
    let text = JsFuture::from(response.dyn_into::<web_sys::Response>()?.text()?).await?;
    text.as_string().ok_or_else(|| "no text".into())
}

fn connect(invitation: Res<Invitation>, mut commands: Commands) -> Result {
    let Some(answer) = invitation.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Ok(());
    };
    let (url, digits) = answer.split_once(' ').ok_or("not an invitation")?;
    let mut hash = [0; 32];
    for (index, byte) in hash.iter_mut().enumerate() {
        let digits = digits.get(2 * index..2 * index + 2).ok_or("not a hash")?;
        *byte = u8::from_str_radix(digits, 16)?;
    }
    let options = WebClientOptions { certificate_hash: Some(hash), ..Default::default() };
    commands.insert_resource(MotionWebClient::connect(url, options)?);
    Ok(())
}

/// Shows the number of ships, and writes it to the page's global variable `shown`.
fn show(ships: Query<&Ship>) {
    let count = ships.iter().count();
    let _ = js_sys::Reflect::set(&js_sys::global(), &"shown".into(), &(count as u32).into());
    write(&format!("{count} ships"));
}

fn write(text: &str) {
    let body = web_sys::window().and_then(|window| window.document()?.body());
    if let Some(body) = body {
        body.set_inner_text(text);
    }
}

fn lose(mut lost: MessageReader<WebLost>, mut retry: ResMut<Retry>, time: Res<Time<Real>>) {
    for WebLost { reason } in lost.read() {
        write(&reason.to_string());
        retry.0 = Some(time.elapsed() + Duration::from_secs(1));
    }
}

fn ask_again(mut retry: ResMut<Retry>, time: Res<Time<Real>>, invitation: Res<Invitation>) {
    if retry.0.take_if(|at| time.elapsed() >= *at).is_some() {
        ask(invitation);
    }
}
