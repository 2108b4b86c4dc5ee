// Keys that every preset has.
#pragma once

#include <string>
#include <utility>

#include "control/spec/keys/keys.h"

namespace railyard::spec {

// The first key of every preset. The preset is chosen by it before its table is read.
template <class T>
Key<T> preset_key(const char* name) {
  return Key<T>{"preset",
                "kind of topology",
                [](const Tree&, T&) {},
                [](const T&) { return Tree{}; },
                [](const T&, const T&) { return true; },
                choice_schema({name})}
      .require();
}

// A member of a base of T's, as a member of T.
template <class T, class Base, class M>
constexpr M T::*of(M Base::*member) noexcept {
  return member;
}

// A map with the keys of a link, which is kept as it stands.
template <class T>
Key<T> link_key(std::string name, const Tree* T::*member, std::string description) {
  return Key<T>{std::move(name),
                std::move(description),
                [member](const Tree& tree, T& into) { into.*member = &tree; },
                [](const T&) { return Tree{}; },
                [](const T&, const T&) { return true; },
                reference(link_keys().name())};
}

// A link like `like`, with what the map of such a key says; nullptr: nothing.
inline LinkSpec link_like(LinkSpec like, const Tree* said) {
  if (said != nullptr) link_keys().read(*said, like);
  return like;
}

}  // namespace railyard::spec
