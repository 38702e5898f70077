using System;
using Kinepack;

internal unsafe struct Body
{
    internal fixed double Position[3];
    internal fixed double Rotation[4];
    internal byte IsOnBoard;
    internal uint Ship;
}

/// <summary>
/// A sailor stands on a ship that turns, and steps off. Another is on a ship that never arrives.
/// </summary>
internal static unsafe class Frames
{
    private const int Ticks = 120;
    private const int StepsOffAt = 60;
    private const int Sailors = 2;
    private const double Deck = 10.0;

    internal static void Run()
    {
        using (Schema schema = MakeSchema())
        using (Codec codec = new Codec(schema, Level.Packed))
        using (Hub hub = new Hub(codec))
        using (Receiver receiver = new Receiver(codec, 60))
        using (Snapshot world = new Snapshot(schema))
        {
            hub.Add(42, 0);
            Place[] places = new Place[Sailors];
            Body[] ship = new Body[1];
            Columns read = Of(schema, 0, ship);
            int played = 0;
            Check.Equal(receiver.ReadPlaces(1, places), 0);
            for (int tick = 1; tick <= Ticks; tick++)
            {
                Add(world, schema, tick);
                if (!Step(hub, receiver, world, tick, out double shown))
                {
                    continue;
                }
                receiver.Read(read);
                Check.Equal(receiver.ReadPlaces(1, places), Sailors);
                Moment(shown, ship[0], places);
                played++;
            }
            Check.That(played > 100, "more than 100 ticks played, not " + played);
            Check.Refused(Status.Argument, () => receiver.ReadPlaces(0, places));
            Check.Refused(Status.Argument, () => receiver.ReadPlaces(2, places));
            Check.Refused(Status.Size, () => receiver.ReadPlaces(1, new Place[1]));
            Check.Throws<ArgumentNullException>(() => receiver.ReadPlaces(1, null));
        }
    }

    private static Schema MakeSchema()
    {
        using (SchemaBuilder builder = new SchemaBuilder())
        {
            return builder
                .Kind("ship")
                .Floats("position", 3, -512.0, 512.0, 0.001)
                .Role(Role.Body)
                .Rotation("rotation", 14)
                .Role(Role.Body)
                .Kind("sailor")
                .Floats("position", 3, -512.0, 512.0, 0.001)
                .Frame("ship")
                .Rotation("rotation", 14)
                .Frame("ship")
                .Bool("is_on_board")
                .Role(Role.Frame)
                .Integer("ship", 0, 255)
                .Role(Role.Frame)
                .Condition("is_on_board", 1, 1)
                .Build();
        }
    }

    private static Columns Of(Schema schema, int kind, Body[] bodies)
    {
        Columns columns = new Columns(schema, kind)
            .Set(0, bodies, nameof(Body.Position))
            .Set(1, bodies, nameof(Body.Rotation));
        return kind == 0
            ? columns
            : columns.Set(2, bodies, nameof(Body.IsOnBoard)).Set(3, bodies, nameof(Body.Ship));
    }

    /// <summary>The ship sails at 10 m/s and turns at 45 degrees a second.</summary>
    private static Body ShipAt(int tick)
    {
        double seconds = tick / 60.0;
        Body ship = default(Body);
        ship.Position[0] = 10.0 * seconds;
        ship.Rotation[2] = Math.Sin(0.125 * Math.PI * seconds);
        ship.Rotation[3] = Math.Cos(0.125 * Math.PI * seconds);
        return ship;
    }

    /// <summary>Where the passenger's place on the deck is in the world.</summary>
    private static void OnDeck(Body ship, out double x, out double y)
    {
        double angle = 2.0 * Math.Atan2(ship.Rotation[2], ship.Rotation[3]);
        x = ship.Position[0] + (Deck * Math.Cos(angle));
        y = ship.Position[1] + (Deck * Math.Sin(angle));
    }

    private static void Add(Snapshot world, Schema schema, int tick)
    {
        Body passenger = default(Body);
        passenger.Rotation[3] = 1.0;
        passenger.Position[0] = Deck;
        passenger.IsOnBoard = 1;
        Body lost = passenger;
        passenger.Ship = 1;
        lost.Ship = 99;
        if (tick >= StepsOffAt)
        {
            // The passenger gets off where the ship is at that moment.
            OnDeck(ShipAt(StepsOffAt), out passenger.Position[0], out passenger.Position[1]);
            passenger.IsOnBoard = 0;
        }
        world.Clear((uint)tick);
        world.Add(new uint[] { 1 }, 1, Of(schema, 0, new[] { ShipAt(tick) }));
        world.Add(new uint[] { 7, 9 }, Sailors, Of(schema, 1, new[] { passenger, lost }));
    }

    /// <summary>Sends a tick. Returns whether the receiver plays.</summary>
    private static bool Step(
        Hub hub, Receiver receiver, Snapshot world, int tick, out double shown)
    {
        byte[] datagram = new byte[1300];
        ulong now = Network.TimeNs(tick);
        int size;
        while (receiver.TryPoll(now, datagram, out size))
        {
            hub.Handle(42, now, datagram, size);
        }
        hub.Tick(now, world);
        while (hub.TryPoll(out ulong _, datagram, out size))
        {
            receiver.Handle(now, datagram, size);
        }
        // A third of a tick later, so that the moment is between two states.
        bool plays = receiver.TryPlay(now + Network.TimeNs(1) / 3, out Playback playback);
        shown = playback.Tick;
        return plays;
    }

    private static void Moment(double tick, Body ship, Place[] places)
    {
        Place passenger = places[0];
        Check.That(passenger.IsKnown && !places[1].IsKnown, "only the place of the passenger");
        Check.That(double.IsNaN(places[1].RotationW + places[1].VelocityZ), "no numbers");
        if (tick < StepsOffAt - 1)
        {
            OnDeck(ship, out double x, out double y);
            Check.That(Distance(passenger, x, y) < 0.001, "a passenger who stands still");
            double turn = (passenger.RotationZ * ship.Rotation[2])
                + (passenger.RotationW * ship.Rotation[3]);
            Check.That(Math.Abs(turn) > 0.999999, "a passenger who turns with the ship");
            double speed = 0.25 * Math.PI;
            double errorX = passenger.VelocityX - 10.0 + (speed * (y - ship.Position[1]));
            double errorY = passenger.VelocityY - (speed * (x - ship.Position[0]));
            // A single state has no motion yet.
            bool isRight = tick < 1.5 || Math.Abs(errorX) + Math.Abs(errorY) < 0.5;
            Check.That(isRight, "the velocity of the place");
        }
        else if (tick > StepsOffAt)
        {
            OnDeck(ShipAt(StepsOffAt), out double x, out double y);
            Check.That(Distance(passenger, x, y) < 0.01, "a passenger who is ashore");
            Check.That(Math.Abs(passenger.VelocityX) < 1e-9, "a passenger who stands");
        }
    }

    private static double Distance(in Place place, double x, double y)
    {
        double inX = place.X - x;
        double inY = place.Y - y;
        return Math.Sqrt((inX * inX) + (inY * inY) + (place.Z * place.Z));
    }
}
