// Where the first of two objects of one name stands. Places are not kept while objects are read:
// mistakes are rare, and the input is read once more to say it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/diagnostics.h"
#include "manifest/object_stream.h"

namespace krafla {

inline constexpr std::string_view kDuplicateMessage =
    "duplicate: there is one of that name already";

// Reads all objects once more, as far as they can be had twice.
using ReadAgain = std::function<void(const ObjectSink& sink, Diagnostics& problems)>;

// Hands `problems` on, and says of each duplicate where the first one is.
void AddWithFirstPlaces(const Diagnostics& problems, const ReadAgain& read_again, Diagnostics& to);

}  // namespace krafla
