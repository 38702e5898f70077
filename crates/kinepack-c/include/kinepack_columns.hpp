// Kinepack for C++17: columns and targets from members of structs. kinepack.hpp includes this file.

#ifndef KINEPACK_COLUMNS_HPP
#define KINEPACK_COLUMNS_HPP

#include <array>
#include <cstdint>
#include <type_traits>

#include "kinepack.h"

namespace kinepack {

// The KpNumber of a type.
template <typename T>
constexpr int32_t number_of() {
  if constexpr (std::is_enum_v<T>) {
    return number_of<std::underlying_type_t<T>>();
  } else {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "no number of the library");
    if constexpr (std::is_floating_point_v<T>) {
      return sizeof(T) == 4 ? KP_NUMBER_F32 : KP_NUMBER_F64;
    } else if constexpr (std::is_signed_v<T> && !std::is_same_v<T, bool>) {
      return sizeof(T) == 1 ? KP_NUMBER_I8 : sizeof(T) == 2 ? KP_NUMBER_I16
                              : sizeof(T) == 4   ? KP_NUMBER_I32
                                                 : KP_NUMBER_I64;
    } else {
      return sizeof(T) == 1 ? KP_NUMBER_U8 : sizeof(T) == 2 ? KP_NUMBER_U16
                              : sizeof(T) == 4   ? KP_NUMBER_U32
                                                 : KP_NUMBER_U64;
    }
  }
}

// The type of the numbers in a member: a number, or the elements of an array. For a struct, such as your
// engine's vector, specialize this template:
//
//   template <> struct kinepack::Numbers<FVector> { using type = double; };
template <typename T>
struct Numbers {
  using type = std::remove_all_extents_t<T>;
};
template <typename T, std::size_t N>
struct Numbers<std::array<T, N>> {
  using type = T;
};

// A column of a member, from an array of structs.
template <typename Struct, typename Member>
KpColumn column(const Struct *rows, Member Struct::*member, bool clamp = false) {
  constexpr int32_t number = number_of<typename Numbers<Member>::type>();
  return {rows == nullptr ? nullptr : &(rows->*member), sizeof(Struct), number, clamp};
}

// A target of a member, in an array of structs.
template <typename Struct, typename Member>
KpTarget target(Struct *rows, Member Struct::*member) {
  constexpr int32_t number = number_of<typename Numbers<Member>::type>();
  return {rows == nullptr ? nullptr : &(rows->*member), sizeof(Struct), number};
}

// The number of fields of a member: a stamp has several.
template <typename Member>
constexpr std::size_t fields_of() {
  return std::is_same_v<Member, KpSeen> ? KP_SEEN_FIELDS : 1;
}

// Writes the columns of a member, and returns the place after them.
template <typename Struct, typename Member>
KpColumn *put_columns(KpColumn *to, const Struct *rows, Member Struct::*member) {
  if constexpr (std::is_same_v<Member, KpSeen>) {
    const KpSeen *seen = rows == nullptr ? nullptr : &(rows->*member);
    kp_seen_columns(seen, sizeof(Struct), to, KP_SEEN_FIELDS);
  } else {
    *to = column(rows, member);
  }
  return to + fields_of<Member>();
}

// Writes the targets of a member, and returns the place after them.
template <typename Struct, typename Member>
KpTarget *put_targets(KpTarget *to, Struct *rows, Member Struct::*member) {
  if constexpr (std::is_same_v<Member, KpSeen>) {
    KpSeen *seen = rows == nullptr ? nullptr : &(rows->*member);
    kp_seen_targets(seen, sizeof(Struct), to, KP_SEEN_FIELDS);
  } else {
    *to = target(rows, member);
  }
  return to + fields_of<Member>();
}

// The columns of several members, in the order of the fields. A member of the type KpSeen has all
// columns of a stamp.
template <typename Struct, typename... Member>
std::array<KpColumn, (fields_of<Member>() + ... + 0)> columns(const Struct *rows,
                                                             Member Struct::*...member) {
  std::array<KpColumn, (fields_of<Member>() + ... + 0)> all{};
  [[maybe_unused]] KpColumn *to = all.data();
  ((to = put_columns(to, rows, member)), ...);
  return all;
}

// The targets of several members, in the order of the fields. A member of the type KpSeen has all
// targets of a stamp.
template <typename Struct, typename... Member>
std::array<KpTarget, (fields_of<Member>() + ... + 0)> targets(Struct *rows,
                                                             Member Struct::*...member) {
  std::array<KpTarget, (fields_of<Member>() + ... + 0)> all{};
  [[maybe_unused]] KpTarget *to = all.data();
  ((to = put_targets(to, rows, member)), ...);
  return all;
}

}  // namespace kinepack

#endif  // KINEPACK_COLUMNS_HPP
