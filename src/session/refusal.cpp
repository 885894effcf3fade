#include "session/refusal.h"

#include <limits>

namespace krafla {

ReasonCode ReasonTable::Intern(std::string_view text) {
  if (auto it = index_.find(std::string(text)); it != index_.end()) return it->second;
  // A session with more different sentences than codes lumps the rest together rather than failing.
  if (texts_.size() > std::numeric_limits<ReasonCode>::max()) return 1;
  const ReasonCode code = static_cast<ReasonCode>(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(std::string(text), code);
  return code;
}

}  // namespace krafla
