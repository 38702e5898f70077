// Ten seconds of a client and a server in one process, with a network that loses every tenth packet.

#include <cstdio>
#include <cstdlib>
#include <deque>

#include "Motion.h"

namespace {

constexpr uint32 TickHz = 60;
constexpr uint32 Ticks = 600;

uint64 TimeNs(uint32 Tick) { return uint64(Tick) * 1000000000u / TickHz; }

bool IsLost() {
  static uint32 State = 1;
  State = State * 1664525u + 1013904223u;
  return (State >> 16) % 10 == 0;
}

// A character that runs along curves.
FMove MoveAt(uint32 Tick) {
  const double Angle = 0.02 * Tick;
  FMove Move;
  Move.Location = {3000.0 * std::cos(Angle), 2000.0 * std::sin(2.0 * Angle), 90.0};
  Move.Acceleration = {-2048.0 * std::cos(Angle), 2048.0 * std::sin(Angle), 0.0};
  Move.Flags = Tick % 90 < 5 ? 1 : 0;
  return Move;
}

// Three new projectiles each half second, which fly for two seconds.
void Simulate(TArray<FProjectile> &Projectiles, uint32 Tick) {
  if (Tick % 30 == 0) {
    for (uint32 Nth = 0; Nth < 3; ++Nth) {
      FProjectile New;
      New.Id = 3 * (Tick / 30) + Nth;
      New.Velocity = {4000.0, 800.0 * Nth, 1500.0};
      New.Rotation = {0.0, 0.0, std::sin(0.1 * Nth), std::cos(0.1 * Nth)};
      Projectiles.Add(New);
    }
  }
  while (Projectiles.Num() > 12) Projectiles.RemoveAt(0);
  for (FProjectile &Each : Projectiles) {
    Each.Velocity.Z -= 980.0 / TickHz;
    Each.Location.X += Each.Velocity.X / TickHz;
    Each.Location.Y += Each.Velocity.Y / TickHz;
    Each.Location.Z += Each.Velocity.Z / TickHz;
  }
}

// A client sends moves. Returns false if one is lost or wrong.
bool SendMoves() {
  FMoveSender Client(TickHz);
  FMoveReceiver Server(TickHz);
  uint32 Received = 0, Bytes = 0;
  double WorstCm = 0.0;
  for (uint32 Tick = 0; Tick < Ticks; ++Tick) {
    const TArray<uint8> Packet = Client.Push(MoveAt(Tick));
    Bytes += static_cast<uint32>(Packet.Num());
    if (IsLost()) continue;
    const TArray<FMove> Moves = Server.Handle(TimeNs(Tick), Packet);
    for (int32 Index = 0; Index < Moves.Num(); ++Index, ++Received) {
      const double OffCm = FVector::Dist(Moves[Index].Location, MoveAt(Received).Location);
      WorstCm = OffCm > WorstCm ? OffCm : WorstCm;
    }
    if (!IsLost()) Client.Handle(Server.Acknowledgement());
  }
  std::printf("moves: %u of %u arrived, %.1f bytes a packet with 3 moves instead of %zu, %.3f cm off\n",
              Received, Ticks, double(Bytes) / Ticks, 3 * (6 * sizeof(float) + 1), WorstCm);
  return Received + 3 >= Ticks && WorstCm < 0.1;
}

// A client receives projectiles. Returns false if it shows a wrong state.
bool SendProjectiles() {
  struct FDatagram {
    uint32 Tick;
    TArray<uint8> Bytes;
  };
  constexpr uint32 WayTicks = 3;
  FProjectileSender Server;
  FProjectileReceiver Client(TickHz);
  std::deque<FDatagram> Down, Up;
  TArray<FProjectile> Projectiles, Shown;
  uint32 Bytes = 0, Frames = 0;
  bool IsRight = Server.AddClient(1, 0) == KP_STATUS_OK;
  const auto Queue = [](std::deque<FDatagram> &To, uint32 Tick, const uint8 *Data, size_t Size) {
    TArray<uint8> Copy;
    Copy.SetNum(static_cast<int32>(Size));
    for (size_t At = 0; At < Size; ++At) Copy[static_cast<int32>(At)] = Data[At];
    if (!IsLost()) To.push_back({Tick + WayTicks, Copy});
  };
  for (uint32 Tick = 1; Tick <= Ticks; ++Tick) {
    const uint64 NowNs = TimeNs(Tick);
    for (; !Up.empty() && Up.front().Tick <= Tick; Up.pop_front()) {
      Server.Handle(1, NowNs, Up.front().Bytes);
    }
    Simulate(Projectiles, Tick);
    Server.Tick(NowNs, Tick, Projectiles, [&](uint64, const uint8 *Data, size_t Size) {
      Bytes += static_cast<uint32>(Size);
      Queue(Down, Tick, Data, Size);
    });
    for (; !Down.empty() && Down.front().Tick <= Tick; Down.pop_front()) {
      const TArray<uint8> &Datagram = Down.front().Bytes;
      Client.Handle(NowNs, Datagram.GetData(), static_cast<size_t>(Datagram.Num()));
    }
    Client.Transmit(NowNs, [&](const uint8 *Data, size_t Size) { Queue(Up, Tick, Data, Size); });
    const double ShownTick = Client.Show(NowNs, Shown);
    if (ShownTick < 0.0) continue;
    Frames += 1;
    IsRight = IsRight && ShownTick <= Tick && Shown.Num() <= 12;
  }
  std::printf("projectiles: %.1f bytes a tick for %d, %u frames shown\n", double(Bytes) / Ticks,
              Projectiles.Num(), Frames);
  return IsRight && Frames > Ticks - 60 && Shown.Num() > 0;
}

}  // namespace

int main() {
  const bool IsRight = SendMoves() && SendProjectiles();
  return IsRight ? EXIT_SUCCESS : EXIT_FAILURE;
}
