//! A server and its clients as headless apps under a virtual clock. Links connect them, and lose
//! datagrams that a seed determines.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use kinepack::{Pack, Snapshot, Tick};
use kinepack_bevy::{
    MotionAppExt, MotionClient, MotionClientPlugin, MotionEntities, MotionId, MotionServer,
    MotionServerPlugin, MotionSettings, Moving, Pose,
};
use kinepack_net::{Link, LinkConfig, Loss, ReceiverId, ReceiverOptions};

pub(crate) const TICK_HZ: u32 = 60;

/// The pose of a ship, with a precision of 0.01 m and 11 bits.
pub(crate) type ShipPose = Pose<1_000, 100, 11>;

#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving, Transform, Shield)]
pub(crate) struct Ship;

#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shield(#[pack(max = 100)] pub(crate) u8);

/// A bullet, and the number of its owner.
#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving)]
pub(crate) struct Bullet {
    #[pack(spawn, max = 7)]
    pub(crate) owner: u8,
    #[pack(range = -1_000.0..=1_000.0, precision = 0.01)]
    pub(crate) position: [f32; 2],
}

/// The velocity in metres per tick. Only the server has this component.
#[derive(Component, Clone, Copy)]
pub(crate) struct Velocity(pub(crate) [f32; 3]);

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steer {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    pub(crate) x: f32,
    pub(crate) count: u16,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chat {
    pub(crate) line: u16,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) ship: u32,
    #[pack(max = 100)]
    pub(crate) damage: u8,
}

/// The kinds, events and inputs that both sides register.
pub(crate) fn register(app: &mut App) {
    app.add_motion_kind::<(Ship, ShipPose, Shield)>("ship")
        .add_motion_kind::<(Bullet,)>("bullet")
        .add_motion_event::<Hit>("hit")
        .add_droppable_motion_event::<Chat>("chat", 30)
        .add_motion_input::<Steer>()
        .add_motion_input::<Chat>();
}

pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin).insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app
}

fn ready(mut app: App) -> App {
    app.finish();
    app.cleanup();
    app
}

pub(crate) struct Client {
    pub(crate) app: App,
    id: ReceiverId,
    up: Link,
    down: Link,
}

impl Client {
    pub(crate) fn motion(&self) -> &MotionClient {
        self.app.world().resource::<MotionClient>()
    }

    /// The components of all entities of one kind, by their ids.
    pub(crate) fn entities<C: Component + Copy>(&mut self) -> BTreeMap<u32, C> {
        of_all(&mut self.app)
    }
}

/// The component `C` of all entities that have an id, by id.
pub(crate) fn of_all<C: Component + Copy>(app: &mut App) -> BTreeMap<u32, C> {
    let world = app.world_mut();
    world.query::<(&MotionId, &C)>().iter(world).map(|(id, part)| (id.0, *part)).collect()
}

pub(crate) struct Session {
    pub(crate) server: App,
    pub(crate) clients: Vec<Client>,
    settings: MotionSettings,
    config: LinkConfig,
    register: fn(&mut App),
    setup: fn(&mut App),
    now: Duration,
    next_id: u64,
    /// The server's states, by tick.
    pub(crate) states: BTreeMap<Tick, Snapshot>,
}

pub(crate) const LOSSY: LinkConfig = LinkConfig {
    latency: Duration::from_millis(40),
    jitter: Duration::from_millis(15),
    loss: Loss::bursts(0.05, 1.5),
    duplicate_ratio: 0.02,
    reorder_ratio: 0.02,
    reorder_delay: Duration::from_millis(30),
    ..LinkConfig::PERFECT
};

impl Session {
    /// Makes a server and clients. `setup` completes their apps.
    pub(crate) fn new(config: LinkConfig, clients: usize, setup: fn(&mut App)) -> Self {
        Self::of(register, config, clients, setup)
    }

    /// Makes a server and clients that register other kinds.
    pub(crate) fn of(
        register: fn(&mut App),
        config: LinkConfig,
        clients: usize,
        setup: fn(&mut App),
    ) -> Self {
        Self::with(MotionSettings::at_hz(TICK_HZ), register, config, clients, setup)
    }

    /// Makes a server and clients that have other settings too.
    pub(crate) fn with(
        settings: MotionSettings,
        register: fn(&mut App),
        config: LinkConfig,
        clients: usize,
        setup: fn(&mut App),
    ) -> Self {
        Self::by(MotionServerPlugin::new(settings), register, config, clients, setup)
    }

    /// Makes a server with this plugin, and clients with its settings.
    pub(crate) fn by(
        plugin: MotionServerPlugin,
        register: fn(&mut App),
        config: LinkConfig,
        clients: usize,
        setup: fn(&mut App),
    ) -> Self {
        let settings = plugin.settings.clone();
        let mut server = app();
        server.add_plugins(plugin);
        register(&mut server);
        let mut session = Self {
            server: ready(server),
            clients: Vec::new(),
            settings,
            config,
            register,
            setup,
            now: Duration::ZERO,
            next_id: 0,
            states: BTreeMap::new(),
        };
        setup(&mut session.server);
        (0..clients).for_each(|_| session.join());
        session
    }

    /// Connects a new client.
    pub(crate) fn join(&mut self) {
        let mut app = app();
        // The plugin may be added after the kinds.
        (self.register)(&mut app);
        app.add_plugins(MotionClientPlugin::new(self.settings.clone()));
        let mut app = ready(app);
        (self.setup)(&mut app);
        let link = |seed| Link::new(self.config, seed).expect("a valid link");
        let (up, down) = (link(2 * self.next_id), link(2 * self.next_id + 1));
        self.clients.push(Client { app, id: ReceiverId(u64::MAX), up, down });
        self.reconnect(self.clients.len() - 1);
    }

    /// Connects a client again, with another id.
    pub(crate) fn reconnect(&mut self, client: usize) {
        let id = ReceiverId(self.next_id);
        self.next_id += 1;
        let client = &mut self.clients[client];
        let mut server = self.server.world_mut().resource_mut::<MotionServer>();
        server.disconnect(client.id);
        server.connect(id, &ReceiverOptions::default()).expect("a new client");
        client.id = id;
        let link = |seed| Link::new(self.config, seed).expect("a valid link");
        (client.up, client.down) = (link(2 * id.0), link(2 * id.0 + 1));
        client.app.world_mut().resource_mut::<MotionClient>().connect();
    }

    /// Runs one tick of the server and one frame of each client.
    pub(crate) fn step(&mut self) {
        self.now += Duration::from_secs(1) / TICK_HZ;
        let mut server = self.server.world_mut().resource_mut::<MotionServer>();
        for client in &mut self.clients {
            while let Some(datagram) = client.up.poll(self.now) {
                server.incoming.push(client.id, &datagram);
            }
        }
        self.server.update();
        let mut server = self.server.world_mut().resource_mut::<MotionServer>();
        for (to, datagram) in server.outgoing.iter() {
            assert!(datagram.len() <= 1_200);
            if let Some(client) = self.clients.iter_mut().find(|client| client.id == to) {
                client.down.send(self.now, datagram);
            }
        }
        server.outgoing.clear();
        self.states.insert(server.state().tick, server.state().clone());
        for client in &mut self.clients {
            let mut motion = client.app.world_mut().resource_mut::<MotionClient>();
            while let Some(datagram) = client.down.poll(self.now) {
                motion.incoming.push((), &datagram);
            }
            client.app.update();
            let mut motion = client.app.world_mut().resource_mut::<MotionClient>();
            for ((), datagram) in motion.outgoing.iter() {
                client.up.send(self.now, datagram);
            }
            motion.outgoing.clear();
        }
    }

    pub(crate) fn run(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step());
    }

    pub(crate) fn server(&self) -> &MotionServer {
        self.server.world().resource::<MotionServer>()
    }

    /// Checks that each client's newest state is one that the server had, lane for lane.
    pub(crate) fn check_states(&self) {
        for client in &self.clients {
            if let Some(newest) = client.motion().newest() {
                assert_eq!(self.states.get(&newest.tick), Some(newest));
            }
        }
    }

    /// The server's entity with the id `id`.
    pub(crate) fn entity(&self, id: u32) -> Option<Entity> {
        self.server.world().resource::<MotionEntities>().get(MotionId(id))
    }
}
