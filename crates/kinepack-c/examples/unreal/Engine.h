// Stand-ins for the few types of Unreal Engine that the example uses, with the same names and members,
// so that it compiles without the engine. In a project, include "CoreMinimal.h" instead.

#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

using uint8 = std::uint8_t;
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;

struct FVector {
  double X = 0.0, Y = 0.0, Z = 0.0;

  static double Dist(const FVector &A, const FVector &B) {
    return std::sqrt((A.X - B.X) * (A.X - B.X) + (A.Y - B.Y) * (A.Y - B.Y) +
                     (A.Z - B.Z) * (A.Z - B.Z));
  }
};

struct FQuat {
  double X = 0.0, Y = 0.0, Z = 0.0, W = 1.0;
};

template <typename T>
class TArray {
 public:
  T *GetData() { return Items.data(); }
  const T *GetData() const { return Items.data(); }
  int32 Num() const { return static_cast<int32>(Items.size()); }
  void SetNum(int32 Count) { Items.resize(static_cast<std::size_t>(Count)); }
  void Add(const T &Item) { Items.push_back(Item); }
  void RemoveAt(int32 Index) { Items.erase(Items.begin() + Index); }
  T &operator[](int32 Index) { return Items[static_cast<std::size_t>(Index)]; }
  const T &operator[](int32 Index) const { return Items[static_cast<std::size_t>(Index)]; }
  auto begin() { return Items.begin(); }
  auto end() { return Items.end(); }

 private:
  std::vector<T> Items;
};
