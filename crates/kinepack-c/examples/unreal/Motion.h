// Kinepack in an Unreal project: a stream of moves from a client to the server, and an array of
// projectiles from the server to the clients. Datagrams are TArray<uint8>, as the parameter of an
// unreliable RPC.

#pragma once

#include "Engine.h"
#include "kinepack.hpp"

// FVector and FQuat are three and four doubles.
template <>
struct kinepack::Numbers<FVector> {
  using type = double;
};
template <>
struct kinepack::Numbers<FQuat> {
  using type = double;
};

// A move, which ServerMove sends at a high rate.
struct FMove {
  FVector Location;      // cm
  FVector Acceleration;  // cm/s²
  uint8 Flags = 0;
};

inline kinepack::Schema MoveSchema() {
  kinepack::SchemaBuilder Builder;
  Builder.floats("Location", 3, -100000.0, 100000.0, 0.1)
      .floats("Acceleration", 3, -5000.0, 5000.0, 10.0)
      .integer("Flags", 0, 255);
  return Builder.build();
}

// On the client: UFUNCTION(Server, Unreliable) void ServerMove(const TArray<uint8> &Packet) sends what
// Push returns.
class FMoveSender {
 public:
  explicit FMoveSender(uint32 RateHz) : Sender(MoveSchema(), "adaptive", RateHz, Options()) {}

  TArray<uint8> Push(const FMove &Move) {
    TArray<uint8> Packet;
    if (Sender.push(Move, &FMove::Location, &FMove::Acceleration, &FMove::Flags) != KP_STATUS_OK) {
      return Packet;  // out of the world: nothing to send
    }
    size_t Size = 0;
    Packet.SetNum(1200);
    if (kp_stream_poll(Sender, Packet.GetData(), 1200, &Size) != KP_STATUS_OK) Size = 0;
    Packet.SetNum(static_cast<int32>(Size));
    return Packet;
  }

  // Handles an acknowledgement of the server.
  void Handle(const TArray<uint8> &Packet) {
    kp_stream_sender_handle(Sender, Packet.GetData(), static_cast<size_t>(Packet.Num()));
  }

  static KpStreamOptions Options() {
    KpStreamOptions Options{};
    Options.repeats = 2;  // each move goes out three times
    return Options;
  }

 private:
  kinepack::StreamSender Sender;
};

// On the server, one for each client.
class FMoveReceiver {
 public:
  explicit FMoveReceiver(uint32 RateHz)
      : Receiver(MoveSchema(), "adaptive", RateHz, FMoveSender::Options()) {}

  // Returns the new moves of a packet, oldest first. Each move is returned once.
  TArray<FMove> Handle(uint64 NowNs, const TArray<uint8> &Packet) {
    TArray<FMove> Moves;
    Moves.SetNum(16);
    size_t Count = 0;
    const size_t Size = static_cast<size_t>(Packet.Num());
    const KpStatus Status =
        Receiver.handle(NowNs, Packet.GetData(), Size, Moves.GetData(), &Count, &FMove::Location,
                        &FMove::Acceleration, &FMove::Flags);
    Moves.SetNum(Status == KP_STATUS_OK ? static_cast<int32>(Count) : 0);
    return Moves;
  }

  // Returns the acknowledgement for the client. Call it a few times per second.
  TArray<uint8> Acknowledgement() {
    TArray<uint8> Packet;
    Packet.SetNum(16);
    size_t Size = 0;
    const KpStatus Status = kp_stream_acknowledgement(Receiver, Packet.GetData(), 16, &Size);
    Packet.SetNum(Status == KP_STATUS_OK ? static_cast<int32>(Size) : 0);
    return Packet;
  }

 private:
  kinepack::StreamReceiver Receiver;
};

// An item of a replicated array.
struct FProjectile {
  uint32 Id = 0;  // unique and increasing, as for a FFastArraySerializerItem
  FVector Location;
  FQuat Rotation;
  FVector Velocity;
};

inline kinepack::Schema ProjectileSchema() {
  kinepack::SchemaBuilder Builder;
  Builder.floats("Location", 3, -100000.0, 100000.0, 1.0)
      .role(KP_ROLE_BODY)
      .rotation("Rotation", 9)
      .role(KP_ROLE_BODY)
      .floats("Velocity", 3, -20000.0, 20000.0, 10.0)
      .role(KP_ROLE_VELOCITY);
  return Builder.build();
}

// On the server: sends the array to all clients.
class FProjectileSender {
 public:
  FProjectileSender() : Hub(Codec), World(Schema) {}

  KpStatus AddClient(uint64 Client, uint64 NowNs) { return kp_hub_add(Hub, Client, 0, NowNs); }

  KpStatus Handle(uint64 Client, uint64 NowNs, const TArray<uint8> &Packet) {
    const size_t Size = static_cast<size_t>(Packet.Num());
    return kp_hub_handle(Hub, Client, NowNs, Packet.GetData(), Size);
  }

  // Call it once a tick. `Send(Client, Bytes, Size)` is an unreliable client RPC.
  template <typename FSend>
  KpStatus Tick(uint64 NowNs, uint32 Tick, const TArray<FProjectile> &Projectiles, FSend &&Send) {
    Ids.SetNum(Projectiles.Num());
    for (int32 Index = 0; Index < Projectiles.Num(); ++Index) Ids[Index] = Projectiles[Index].Id;
    World.clear(Tick);
    const size_t Count = static_cast<size_t>(Projectiles.Num());
    KpStatus Status =
        World.add(0, Ids.GetData(), Projectiles.GetData(), Count, &FProjectile::Location,
                  &FProjectile::Rotation, &FProjectile::Velocity);
    if (Status == KP_STATUS_OK) Status = kp_hub_tick(Hub, NowNs, World);
    // Other receivers get this tick even if some do not.
    if (Status != KP_STATUS_OK && Status != KP_STATUS_RECEIVERS) return Status;
    const KpStatus Sent = Hub.transmit(Send);
    return Sent == KP_STATUS_OK ? Status : Sent;
  }

 private:
  kinepack::Schema Schema = ProjectileSchema();
  kinepack::Codec Codec{Schema, "adaptive"};
  kinepack::Hub Hub;
  kinepack::Snapshot World;
  TArray<uint32> Ids;
};

// On a client: the array, slightly delayed and interpolated.
class FProjectileReceiver {
 public:
  explicit FProjectileReceiver(uint32 TickHz) : Receiver(Codec, TickHz) {}

  KpStatus Handle(uint64 NowNs, const uint8 *Bytes, size_t Size) {
    return kp_receiver_handle(Receiver, NowNs, Bytes, Size);
  }

  // `Send(Bytes, Size)` is an unreliable server RPC.
  template <typename FSend>
  KpStatus Transmit(uint64 NowNs, FSend &&Send) {
    return Receiver.transmit(NowNs, Send);
  }

  // Call it once a frame. Returns the shown tick, or a negative number before the first.
  double Show(uint64 NowNs, TArray<FProjectile> &Projectiles) {
    KpPlayback Playback{};
    if (kp_receiver_play(Receiver, NowNs, &Playback) != KP_STATUS_OK) return -1.0;
    const kinepack::Shown Shown = Receiver.shown();
    const std::vector<uint32> Ids = Shown.ids(0);
    Projectiles.SetNum(static_cast<int32>(Ids.size()));
    for (int32 Index = 0; Index < Projectiles.Num(); ++Index) {
      Projectiles[Index].Id = Ids[static_cast<size_t>(Index)];
    }
    Shown.read(0, Projectiles.GetData(), Ids.size(), &FProjectile::Location,
               &FProjectile::Rotation, &FProjectile::Velocity);
    return Playback.tick;
  }

 private:
  kinepack::Schema Schema = ProjectileSchema();
  kinepack::Codec Codec{Schema, "adaptive"};
  kinepack::Receiver Receiver;
};
