//! The sending side of the program: quantizes the built-in world and passes it to a hub.

use std::time::Duration;

use clap::Args;
use command_kit::{AUTO_BUDGET, budget_kbps_name, parse_budget_kbps};
use kinepack::{Snapshot, Tick};
use kinepack_net::{Audience, Budget, Hub, HubConfig, NetError, ReceiverId, ReceiverOptions, Work};

use crate::cube_stream::CubeStream;
use crate::game_events::GameEvent;
use crate::recording::Recording;
use crate::session_error::SessionError;
use crate::states::States;
use crate::threads::Threads;
use crate::world::Played;

/// The options for sending.
#[derive(Args, Clone, Debug)]
pub struct SendOptions {
    /// Snapshots per second: 60, 30, 20, 15, 12 or 10.
    #[arg(long, default_value_t = 60, allow_negative_numbers = true, value_parser = parse_send_hz, value_name = "HZ")]
    pub send_hz: u32,
    #[command(flatten)]
    pub stream: CubeStream,
    /// The bandwidth limit of each receiver in kbit/s, including headers, or auto (what the link
    /// carries) or unlimited. `serve` and the page of `demo` begin with auto, other commands with
    /// unlimited. The most important entities are sent first.
    #[arg(
        long = "budget-kbps",
        value_name = "KBPS|auto|unlimited",
        allow_negative_numbers = true,
        value_parser = parse_budget_kbps
    )]
    pub budget: Option<Budget>,
}

/// The possible send rates. They divide the world's 60 steps per second.
pub const SEND_HZ: [u32; 6] = [60, 30, 20, 15, 12, 10];

fn parse_send_hz(text: &str) -> Result<u32, String> {
    check_send_hz(text.parse().unwrap_or(0))
}

pub fn check_send_hz(hz: u32) -> Result<u32, String> {
    let reason = "it takes 60, 30, 20, 15, 12 or 10, which divide the world's 60 steps a second";
    if SEND_HZ.contains(&hz) { Ok(hz) } else { Err(reason.to_owned()) }
}

impl SendOptions {
    pub fn receiver_options(&self) -> ReceiverOptions {
        ReceiverOptions { budget: self.budget.unwrap_or_default(), ..ReceiverOptions::default() }
    }

    /// Returns the options with a budget that follows the link if the user gave no budget.
    pub fn or_auto_budget(&self) -> Self {
        Self { budget: Some(self.budget.unwrap_or(AUTO_BUDGET)), ..self.clone() }
    }

    /// Returns the options as text for a report.
    pub fn name(&self) -> String {
        let mut name = format!("--send-hz {}{}", self.send_hz, self.stream.name());
        if let Some(budget) = self.budget {
            name.push_str(&format!(" --budget-kbps {}", budget_kbps_name(budget)));
        }
        name
    }
}

/// The world, and the hub that sends it.
pub struct Sender {
    pub hub: Hub,
    pub world: Played,
    stream: CubeStream,
    states: States,
    /// The most recently sent state.
    pub snapshot: Snapshot,
    ticks_per_snapshot: u32,
    tick: u32,
    /// The threads that encode together with the calling thread.
    pub threads: Option<Threads>,
    /// Records what is sent to a replay. The value is `None` if the user did not request a
    /// recording.
    pub recording: Option<Recording>,
}

impl Sender {
    pub fn new(
        world: Played,
        options: &SendOptions,
        config: HubConfig,
    ) -> Result<Self, SessionError> {
        let stream = options.stream.clone();
        let codec = stream.codec();
        let mut sender = Self {
            hub: Hub::new(&codec, config)?.with_events(&GameEvent::kinds()?),
            world,
            stream,
            states: States::default(),
            snapshot: Snapshot::new(codec.schema(), Tick(0)),
            ticks_per_snapshot: cubes::TICK_HZ / options.send_hz,
            tick: 0,
            threads: None,
            recording: None,
        };
        sender.offer(options)?;
        Ok(sender)
    }

    /// Sends at the rate of `options` from this call on, and offers their levels to receivers.
    pub fn offer(&mut self, options: &SendOptions) -> Result<(), NetError> {
        self.ticks_per_snapshot = cubes::TICK_HZ / options.send_hz;
        options.stream.codecs().try_for_each(|codec| self.hub.offer(&codec))
    }

    /// Steps the world. Returns whether the new state must be sent.
    pub fn step(&mut self) -> Result<bool, SessionError> {
        self.tick += 1;
        self.world.next_frame(&mut self.states);
        if !self.tick.is_multiple_of(self.ticks_per_snapshot) {
            return Ok(false);
        }
        self.stream.quantize(&self.states, Tick(self.tick), &mut self.snapshot)?;
        Ok(true)
    }

    /// Passes the state and its game events to the hub, which then has snapshots to transmit.
    pub fn send(&mut self, now: Duration) -> Result<(), SessionError> {
        for event in self.world.take_events() {
            event.emit(&mut self.hub, Audience::All)?;
            self.recording.as_mut().map_or(Ok(()), |recording| recording.emit(event))?;
        }
        self.recording.as_mut().map_or(Ok(()), |recording| recording.write(&self.snapshot))?;
        match &self.threads {
            Some(threads) => {
                let run = |work: &Work<'_>| threads.run(work);
                self.hub.tick_on(now, &self.snapshot, None, run)?;
            }
            None => self.hub.tick(now, &self.snapshot)?,
        }
        Ok(())
    }

    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Returns the true states of the current tick.
    pub fn states(&self) -> &States {
        &self.states
    }

    pub fn add(
        &mut self,
        id: ReceiverId,
        options: &SendOptions,
        now: Duration,
    ) -> Result<(), NetError> {
        self.hub.add(id, &options.receiver_options(), now)
    }
}

/// Returns the time at which a tick is due.
pub fn due(tick: u32) -> Duration {
    Duration::from_nanos(u64::from(tick) * 1_000_000_000 / u64::from(cubes::TICK_HZ))
}
