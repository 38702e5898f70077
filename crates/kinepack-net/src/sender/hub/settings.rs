//! The settings of a hub that can change while it runs: what each receiver may see, and how each
//! kind of entities is sent.

use std::sync::Arc;
use std::time::Duration;

use kinepack::EntityId;

use super::Hub;
use crate::sender::uplink::Uplink;
use crate::sender::visibility::{FieldGroup, Visibility};
use crate::{Extrapolation, KindOptions, NetError, ReceiverId, Rings};

impl Hub {
    /// Sets how often changes of a kind of entities are sent, and the kind's priority if not
    /// everything fits.
    ///
    /// With [`every`](KindOptions::every) above 1, the entities of this kind take fewer bits, and
    /// move in larger steps that playback blends. Playback then needs a state that is `every` ticks
    /// ahead, so the playout delay grows by as many ticks. The other kinds take a few more bits,
    /// because snapshots are coded against states in which all kinds were due.
    ///
    /// # Errors
    /// Returns [`NetError::NoSuchKind`], and [`NetError::KindOptions`] if a number is out of its
    /// range.
    pub fn set_kind(&mut self, kind: &str, options: KindOptions) -> Result<(), NetError> {
        let index = self.schema.kinds().iter().position(|known| known.name() == kind);
        let index = index.ok_or_else(|| NetError::NoSuchKind { name: kind.into() })?;
        self.sending.rates.set(index, options)
    }

    /// Tells what the receivers show of a kind of entities whose next state has not arrived, so
    /// that [`rewind`](Self::rewind) finds it: what [`Receiver::set_extrapolation`] has set there.
    /// At first, all kinds are [held](Extrapolation::Hold). The choices change nothing that is
    /// sent.
    ///
    /// Rewinding returns what [`Sample::state`](crate::Sample::state) returned, also for a kind
    /// that continues [straight](Extrapolation::Straight). It cannot know what a
    /// [`Smoother`](crate::Smoother) or the game's own function added, because that depends on the
    /// frames that the client drew. Hold kinds that players shoot at and draw them without a
    /// smoother, or accept that a shot at a returning entity is off by what is left to fade.
    ///
    /// # Errors
    /// Returns [`NetError::NoSuchKind`] and [`NetError::ExtrapolationTooLong`]; then nothing has
    /// changed.
    ///
    /// [`Receiver::set_extrapolation`]: crate::Receiver::set_extrapolation
    pub fn set_extrapolation(
        &mut self,
        kind: &str,
        extrapolation: Extrapolation,
    ) -> Result<(), NetError> {
        self.extrapolations.set(&self.schema, kind, extrapolation)
    }

    /// Limits the bytes per second of all receivers together, with the transport's headers, for
    /// example to the rate of a server's own connection: at least 256, or `None` for no limit, as at
    /// first. The receivers divide it equally, and what one does not need is left for the others. A
    /// burst is at most twice a tenth of a second of the limit, and a full datagram for each
    /// receiver.
    ///
    /// # Errors
    /// Returns [`NetError::BudgetTooSmall`]; then nothing has changed.
    pub fn set_uplink(&mut self, bytes_per_s: Option<u32>) -> Result<(), NetError> {
        let now = self.last_tick.map_or(Duration::ZERO, |(now, _)| now);
        let datagram_bytes = self.config.datagram_bytes + self.config.paid_overhead_bytes();
        self.uplink = match (bytes_per_s, self.uplink.take()) {
            (Some(bytes_per_s @ ..256), uplink) => {
                self.uplink = uplink;
                return Err(NetError::BudgetTooSmall { bytes_per_s });
            }
            (Some(bytes_per_s), Some(uplink)) => Some(uplink.changed(bytes_per_s, now)),
            (Some(bytes_per_s), None) => Some(Uplink::new(bytes_per_s, datagram_bytes, now)),
            (None, _) => None,
        };
        if self.uplink.is_none() {
            self.peers.values_mut().for_each(|peer| peer.allowance.set_share(None));
        }
        Ok(())
    }

    /// Sets which entities a receiver may see: sorted ids, or `None` for all entities. Receivers
    /// with equal sets share the work. Setting the same entities again changes nothing. Ids that
    /// are not in the world are ignored. An entity that is relative to another one, its
    /// [frame](kinepack::frame), brings that one along.
    ///
    /// Cost: a hash of the set. In each tick, each different set costs a search for its entities
    /// and a copy of their rows.
    ///
    /// # Errors
    /// Returns [`NetError::UnknownReceiver`] or [`NetError::NotSorted`].
    pub fn set_relevant(
        &mut self,
        id: ReceiverId,
        entities: Option<Arc<[EntityId]>>,
    ) -> Result<(), NetError> {
        check_sorted(entities.as_deref())?;
        self.change_visibility(id, |visibility| visibility.relevant = entities)
    }

    /// Sets which entities a receiver sees at any distance from its
    /// [viewpoint](Self::set_viewpoint), such as the other members of a team: sorted ids. Beyond
    /// all rings, they are sent as in the farthest ring that is seen. Entities that are not
    /// [relevant](Self::set_relevant) stay hidden. Receivers with equal sets and viewpoints in the
    /// same cell share the work.
    ///
    /// # Errors
    /// Returns [`NetError::UnknownReceiver`] or [`NetError::NotSorted`].
    pub fn set_always_seen(
        &mut self,
        id: ReceiverId,
        entities: Arc<[EntityId]>,
    ) -> Result<(), NetError> {
        check_sorted(Some(&entities))?;
        self.change_visibility(id, |visibility| visibility.always = entities)
    }

    /// Sets what receivers with a [viewpoint](Self::set_viewpoint) see by distance: how often and
    /// how precisely far entities are sent, and which entities are not sent at all. Of the entities
    /// that are [relevant](Self::set_relevant), a receiver sees those in its rings, and those that
    /// it [always](Self::set_always_seen) sees. `None` removes the rings. An entity that comes into
    /// sight is added at the receiver, and one that leaves it is removed.
    ///
    /// Receivers in the same cell share their snapshots, so there is an encoding for each cell with
    /// viewpoints, baseline and codec. A tick costs a pass over the entities. Each cell with
    /// viewpoints also costs a search among the entities near it, and a copy of the visible ones.
    ///
    /// # Errors
    /// Returns [`NetError::BadRing`], [`NetError::BadCell`], [`NetError::NoSuchPosition`] and
    /// [`NetError::NoSuchField`]. Then nothing has changed.
    pub fn set_rings(&mut self, rings: Option<&Rings>) -> Result<(), NetError> {
        let sights = rings.map(|rings| rings.sights(&self.schema)).transpose()?;
        self.sights = sights;
        self.peers.values_mut().for_each(|peer| peer.eye.reset());
        Ok(())
    }

    /// Sets the place from which a receiver's [rings](Self::set_rings) are measured, in the
    /// positions' unit. For positions of two axes, the third number does not matter. `None`, as at
    /// first, stops hiding and coarsening by distance.
    ///
    /// # Errors
    /// Returns [`NetError::UnknownReceiver`], and [`NetError::BadViewpoint`] for a number that is
    /// not finite.
    pub fn set_viewpoint(
        &mut self,
        id: ReceiverId,
        viewpoint: Option<[f64; 3]>,
    ) -> Result<(), NetError> {
        let peer = self.peers.get_mut(&id).ok_or(NetError::UnknownReceiver)?;
        if viewpoint.is_some_and(|viewpoint| !viewpoint.iter().all(|along| along.is_finite())) {
            return Err(NetError::BadViewpoint { id });
        }
        peer.eye.set(viewpoint);
        Ok(())
    }

    fn change_visibility(
        &mut self,
        id: ReceiverId,
        change: impl FnOnce(&mut Visibility),
    ) -> Result<(), NetError> {
        let peer = self.peers.get_mut(&id).ok_or(NetError::UnknownReceiver)?;
        let mut visibility = (*peer.visibility.visibility).clone();
        change(&mut visibility);
        peer.visibility = self.sending.visible.register(visibility);
        Ok(())
    }

    /// Makes fields visible only to receivers that are chosen with
    /// [`set_visible`](Self::set_visible), for example ammunition only to the player who has it.
    /// For all other receivers the fields are `None`, and the datagrams for those receivers contain
    /// no trace of the fields. So the fields must be `Option`s, named as in
    /// [`Schema::optional_part`](kinepack::Schema::optional_part). At first, no receiver may see
    /// the fields.
    ///
    /// Receivers that may see the same fields share their snapshots. If each receiver sees
    /// different fields, the hub encodes a snapshot for each.
    ///
    /// # Errors
    /// Returns [`NetError::NotOptional`] or [`NetError::GroupTaken`]. Then nothing has changed.
    pub fn add_group(&mut self, name: &str, fields: &[&str]) -> Result<(), NetError> {
        if self.sending.visible.groups.iter().any(|group| group.name == name) {
            return Err(NetError::GroupTaken { name: name.into() });
        }
        let part = |field: &&str| {
            let part = self.schema.optional_part(field);
            part.ok_or_else(|| NetError::NotOptional { field: String::from(*field) })
        };
        let parts = fields.iter().map(part).collect::<Result<_, _>>()?;
        self.sending.visible.groups.push(FieldGroup { name: name.into(), parts });
        let receivers: Vec<ReceiverId> = self.receivers().collect();
        receivers.into_iter().try_for_each(|id| {
            self.change_visibility(id, |visibility| visibility.groups.push(Some(Arc::from([]))))
        })
    }

    /// Chooses the entities whose fields of a group a receiver sees: sorted ids, or `None` for all
    /// entities.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
    /// # use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
    /// #[derive(Pack, Debug, PartialEq)]
    /// struct Player {
    ///     #[pack(max = 100)]
    ///     health: u8,
    ///     ammunition: Option<u8>,
    /// }
    ///
    /// # let schema = Schema::builder().kind::<Player>("player").build()?;
    /// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    /// # let mut hub = Hub::new(&codec, HubConfig::default())?;
    /// # let (client, now) = (ReceiverId(7), Duration::ZERO);
    /// # hub.add(client, &ReceiverOptions::default(), now)?;
    /// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
    /// # hub.handle(client, now, receiver.poll_transmit(now).ok_or("no hello")?)?;
    /// hub.add_group("private", &["player.ammunition"])?;
    /// hub.set_visible(client, "private", Some([EntityId(1)].into()))?;
    ///
    /// let mut world = Snapshot::new(&schema, Tick(1));
    /// world.push(EntityId(1), &Player { health: 90, ammunition: Some(7) })?;
    /// world.push(EntityId(2), &Player { health: 80, ammunition: Some(3) })?;
    /// hub.tick(now, &world)?;
    /// # let (_, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
    /// # receiver.handle(now, datagram)?;
    /// let seen = receiver.newest().ok_or("nothing was received")?;
    /// assert_eq!(seen.get(EntityId(1))?, Some(Player { health: 90, ammunition: Some(7) }));
    /// assert_eq!(seen.get(EntityId(2))?, Some(Player { health: 80, ammunition: None }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`NetError::UnknownReceiver`], [`NetError::NotSorted`] or [`NetError::NoSuchGroup`].
    pub fn set_visible(
        &mut self,
        id: ReceiverId,
        group: &str,
        entities: Option<Arc<[EntityId]>>,
    ) -> Result<(), NetError> {
        check_sorted(entities.as_deref())?;
        let groups = &self.sending.visible.groups;
        let index = groups.iter().position(|known| known.name == group);
        let index = index.ok_or_else(|| NetError::NoSuchGroup { name: group.into() })?;
        self.change_visibility(id, |visibility| visibility.groups[index] = entities)
    }
}

/// Checks that a set of entities is sorted.
fn check_sorted(entities: Option<&[EntityId]>) -> Result<(), NetError> {
    let mut pairs = entities.unwrap_or_default().windows(2);
    match pairs.find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(NetError::NotSorted { id: pair[1] }),
        None => Ok(()),
    }
}
