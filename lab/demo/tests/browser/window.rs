//! Methods for a user's actions in the page, and for a test's queries.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::key::Key;
use serde_json::{Value, json};

use super::driver::Browser;
use super::screenshot::Screenshot;

/// This time is long enough for two slow, busy cores that draw two worlds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

impl Browser {
    /// Opens the page with the settings in `query`, and waits until it is connected.
    pub(crate) fn open(&self, address: SocketAddr, query: &str) {
        self.run(async |client| client.goto(&format!("http://{address}/{query}")).await);
        self.wait_for_state("live");
    }

    pub(crate) fn wait_for_state(&self, state: &str) {
        self.wait(&format!("document.documentElement.dataset.state === '{state}'"));
    }

    /// Returns the value of a JavaScript expression.
    pub(crate) fn eval(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        self.run(async |client| client.execute(&script, Vec::new()).await)
    }

    pub(crate) fn number(&self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    pub(crate) fn text(&self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Waits until the expression is true, and returns its value.
    pub(crate) fn wait(&self, expression: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(5);
        loop {
            let value = self.eval(expression);
            if !matches!(value, Value::Null | Value::Bool(false)) && value != 0 && value != "" {
                return value;
            }
            assert!(Instant::now() < end, "never: {expression}\n{}", self.says());
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(50));
        }
    }

    /// Waits until a number is above `least`, and returns it.
    pub(crate) fn wait_above(&self, expression: &str, least: f64) -> f64 {
        self.wait(&format!("({expression}) > {least}"));
        self.number(expression)
    }

    /// Waits until earlier changes are on the screen.
    pub(crate) fn wait_for_a_frame(&self) {
        let frames = self.number("kinepack.frames()");
        self.wait_above("kinepack.frames()", frames + 2.0);
    }

    /// Describes the page's own state, for the message of a failing test.
    fn says(&self) -> String {
        let expression = "JSON.stringify([document.documentElement.dataset, ...['state', \
                          'message'].map((id) => document.getElementById(id)?.textContent)])";
        format!("{}\n{:#?}", self.eval(expression), self.console())
    }

    /// Returns all console messages since the last call, including warnings and information.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.command("se/log", Some(json!({ "type": "browser" })));
        let entries = entries.as_array().expect("entries of the console");
        entries.iter().map(|entry| format!("{}: {}", entry["level"], entry["message"])).collect()
    }

    /// Finds an element that is visible and enabled.
    fn find(&self, css: &str) -> Element {
        self.wait(&format!("document.querySelector('{css}')?.matches(':enabled')"));
        self.run(async |client| client.find(Locator::Css(css)).await)
    }

    pub(crate) fn click(&self, css: &str) {
        let element = self.find(css);
        self.run(async move |_| element.click().await);
    }

    /// Replaces the contents of a field as a person does, and leaves the field.
    pub(crate) fn fill(&self, css: &str, text: &str) {
        let keys = format!(
            "{}a{}{text}{}",
            char::from(Key::Control),
            char::from(Key::Null),
            char::from(Key::Tab)
        );
        let element = self.find(css);
        self.run(async move |_| element.send_keys(&keys).await);
    }

    /// Selects from a list with the keyboard, by the first letters of the item.
    pub(crate) fn choose(&self, css: &str, beginning: &str) {
        let keys = format!("{beginning}{}", char::from(Key::Tab));
        let element = self.find(css);
        self.run(async move |_| element.send_keys(&keys).await);
    }

    /// Returns the accessible name of an element.
    pub(crate) fn accessible_name(&self, element: &Value) -> String {
        let id = element
            .as_object()
            .and_then(|object| object.values().next()?.as_str())
            .expect("an element");
        let name = self.command(&format!("element/{id}/computedlabel"), None);
        name.as_str().unwrap_or_default().to_owned()
    }

    /// Presses a key and holds it until [`Self::let_go`].
    pub(crate) fn hold(&self, key: Key) {
        let down =
            KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value: key.into() });
        self.run(async move |client| client.perform_actions(down).await);
    }

    pub(crate) fn press(&self, key: Key) {
        let press = KeyActions::new("keyboard".to_owned());
        let press = press
            .then(KeyAction::Down { value: key.into() })
            .then(KeyAction::Up { value: key.into() });
        self.run(async move |client| client.perform_actions(press).await);
    }

    pub(crate) fn let_go(&self) {
        self.run(async |client| client.release_actions().await);
    }

    /// Moves the pointer to a point of the window.
    pub(crate) fn point_at(&self, x: f64, y: f64) {
        let action = PointerAction::MoveTo { duration: Some(Duration::from_millis(20)), x, y };
        let pointer = MouseActions::new("mouse".to_owned()).then(action);
        self.run(async move |client| client.perform_actions(pointer).await);
    }

    /// Sets the inner size of the window, which may be below the desktop's minimum.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size);
        self.wait(&format!("innerWidth === {width} && innerHeight === {height}"));
    }

    /// Sets the user's preferences, such as `[("prefers-color-scheme", "dark")]`.
    pub(crate) fn prefer(&self, features: &[(&str, &str)]) {
        let features: Vec<_> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub(crate) fn screenshot(&self) -> Screenshot {
        Screenshot::read(&self.run(async |client| client.screenshot().await))
    }
}
