//! A client's session in a browser, over the page's `WebTransport`. A task that the browser runs
//! between frames owns all JavaScript objects, so that the client itself can move between threads.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use js_sys::{Array, Date, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::link::{Link, Session, drive};
use super::{WebClientOptions, WebLostReason};

/// The maximum number of datagrams that the browser may hold unsent. After an outage the browser
/// would send all of them, no matter how old they are.
const MOST_WAITING: usize = 64;

/// A point in time of the page's clock.
pub(super) struct Moment(f64);

impl Moment {
    pub(super) fn now() -> Self {
        Self(Date::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_secs_f64((Date::now() - self.0).max(0.0) / 1_000.0)
    }
}

/// Begins a session.
pub(super) fn start(link: Arc<Link>, url: String, options: WebClientOptions) -> io::Result<()> {
    spawn_local(async move {
        let connect = async { Page::connect(&url, &options).await.map_err(|error| text(&error)) };
        drive(&link, connect).await;
    });
    Ok(())
}

/// A `WebTransport` object of JavaScript, which closes when a `Transport` is dropped.
struct Transport(JsValue);

impl Drop for Transport {
    fn drop(&mut self) {
        // An error here means that the session is closed already.
        let _ = call(&self.0, "close", &[]);
    }
}

/// A session that the server has accepted.
struct Page {
    transport: Transport,
    reader: JsValue,
    writer: JsValue,
    /// The number of datagrams that the browser has taken and not sent.
    waiting: Rc<Cell<usize>>,
    /// A function to call when the browser has sent a datagram, or dropped it as a network would.
    settled: JsValue,
}

impl Page {
    async fn connect(url: &str, options: &WebClientOptions) -> Result<Self, JsValue> {
        let constructor = Reflect::get(&js_sys::global(), &"WebTransport".into())?;
        let constructor: Function = constructor.dyn_into().map_err(|_| {
            JsValue::from(
                "this page has no WebTransport; it needs https or localhost, and a browser that \
                 has it",
            )
        })?;
        let settings = Object::new();
        Reflect::set(&settings, &"congestionControl".into(), &"low-latency".into())?;
        if let Some(hash) = &options.certificate_hash {
            let certificate = Object::new();
            Reflect::set(&certificate, &"algorithm".into(), &"sha-256".into())?;
            Reflect::set(&certificate, &"value".into(), &Uint8Array::from(&hash[..]))?;
            let hashes = Array::of1(&certificate);
            Reflect::set(&settings, &"serverCertificateHashes".into(), &hashes)?;
        }
        let arguments = Array::of2(&url.into(), &settings);
        let transport = Transport(Reflect::construct(&constructor, &arguments)?);
        // Without a handler, the page would report a rejected promise as its own error.
        let ignore = Closure::once_into_js(|_: JsValue| {});
        let closed = promise(&transport.0, "closed")?;
        call(&closed, "catch", &[ignore])?;
        JsFuture::from(promise(&transport.0, "ready")?).await?;
        let datagrams = Reflect::get(&transport.0, &"datagrams".into())?;
        let readable = Reflect::get(&datagrams, &"readable".into())?;
        // Newer browsers have a method that makes the stream.
        let writable = if Reflect::has(&datagrams, &"createWritable".into())? {
            call(&datagrams, "createWritable", &[])?
        } else {
            Reflect::get(&datagrams, &"writable".into())?
        };
        let reader = call(&readable, "getReader", &[])?;
        let writer = call(&writable, "getWriter", &[])?;
        let waiting = Rc::new(Cell::new(0));
        let of_settled = Rc::clone(&waiting);
        let settled = move |_: JsValue| of_settled.update(|count: usize| count - 1);
        // The browser may call `settled` after the session, for writes that the end of the session
        // interrupts.
        let settled = Closure::<dyn FnMut(JsValue)>::new(settled).into_js_value();
        Ok(Self { transport, reader, writer, waiting, settled })
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, JsValue> {
        let read: Promise = call(&self.reader, "read", &[])?.dyn_into()?;
        let result = JsFuture::from(read).await?;
        if Reflect::get(&result, &"done".into())?.is_truthy() {
            return Ok(None);
        }
        Ok(Some(Uint8Array::new(&Reflect::get(&result, &"value".into())?).to_vec()))
    }

    fn write(&self, datagram: &[u8]) -> Result<(), JsValue> {
        let datagram = Uint8Array::from(datagram).into();
        let written = call(&self.writer, "write", &[datagram])?;
        self.waiting.update(|count| count + 1);
        call(&written, "then", &[self.settled.clone(), self.settled.clone()])?;
        Ok(())
    }

    /// Why the session has ended.
    async fn reason(&self) -> WebLostReason {
        let closed = async { JsFuture::from(promise(&self.transport.0, "closed")?).await };
        match closed.await {
            Ok(_) => WebLostReason::Dropped,
            Err(error) => WebLostReason::Broken { detail: text(&error) },
        }
    }
}

impl Session for Page {
    async fn receive(&self) -> Result<Vec<u8>, WebLostReason> {
        match self.read().await {
            Ok(Some(datagram)) => Ok(datagram),
            _ => Err(self.reason().await),
        }
    }

    fn send(&self, datagram: &[u8]) -> bool {
        self.waiting.get() < MOST_WAITING && self.write(datagram).is_ok()
    }
}

fn promise(object: &JsValue, name: &str) -> Result<Promise, JsValue> {
    Reflect::get(object, &name.into())?.dyn_into()
}

/// Calls the method `name` of `object`.
fn call(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let method: Function = Reflect::get(object, &name.into())?.dyn_into()?;
    method.apply(object, &arguments.iter().collect::<Array>())
}

/// The message of a JavaScript error.
fn text(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
    message.or_else(|| error.as_string()).unwrap_or_else(|| format!("{error:?}"))
}
