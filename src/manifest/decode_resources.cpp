#include "manifest/decode_resources.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

constexpr std::string_view kNativeDomain = "kubernetes.io/";
constexpr std::string_view kQuotaPrefix = "requests.";

constexpr bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool IsAlphanumeric(char c) {
  return IsLower(c) || IsDigit(c) || (c >= 'A' && c <= 'Z');
}

// "gpu", "Foo_2.x": begins and ends with a letter or digit.
bool IsNamePart(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  if (!IsAlphanumeric(name.front()) || !IsAlphanumeric(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// Labels of small letters, digits and dashes, joined by dots. `prefix_size` more bytes count for
// the length.
bool IsDomain(std::string_view domain, size_t prefix_size) {
  if (domain.empty() || domain.size() + prefix_size > 253) return false;
  bool at_start = true;
  char last = '.';
  for (const char c : domain) {
    const bool letter = IsLower(c) || IsDigit(c);
    if (at_start && !letter) return false;
    if (!letter && c != '-' && (c != '.' || last == '-')) return false;
    at_start = c == '.';
    last = c;
  }
  return IsLower(last) || IsDigit(last);
}

bool IsExtendedResourceName(std::string_view name) {
  if (name.starts_with(kQuotaPrefix)) return false;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos)
    return false;
  // The name must stay valid when a ResourceQuota writes "requests." before it.
  return IsDomain(name.substr(0, slash), kQuotaPrefix.size()) && IsNamePart(name.substr(slash + 1));
}

}  // namespace

bool IsScalarResourceName(std::string_view name) {
  return name.find(kNativeDomain) != std::string_view::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-") || IsExtendedResourceName(name);
}

ResourceList DecodeResourceList(ObjectReader& reader, JsonValue& value) {
  ResourceList list;
  reader.ForEachField(value, [&](std::string_view name, JsonValue& amount) {
    const char* at = ObjectReader::At(amount);
    list.push_back({name, reader.Amount(amount), at});
  });
  return list;
}

const Quantity* FindAmount(const ResourceList& list, std::string_view name) {
  for (const NamedQuantity& entry : list)
    if (entry.name == name) return &entry.amount;
  return nullptr;
}

void SetMax(ResourceList& list, const ResourceList& other) {
  for (const NamedQuantity& entry : other) {
    auto found = std::find_if(list.begin(), list.end(),
                              [&](const NamedQuantity& own) { return own.name == entry.name; });
    if (found == list.end()) {
      list.push_back(entry);
    } else if (entry.amount > found->amount) {
      found->amount = entry.amount;
    }
  }
}

Resource ToResource(const ResourceList& list, ResourceKinds& kinds, ObjectReader& reader) {
  Resource resource;
  for (const auto& [name, amount, at] : list) {
    if (name == "cpu") {
      resource.AddTo(ResourceKinds::kCpu, static_cast<double>(amount.MilliValue()));
    } else if (name == "memory") {
      resource.AddTo(ResourceKinds::kMemory, static_cast<double>(amount.Value()));
    } else if (name == "pods") {
      resource.AddTo(ResourceKinds::kPods, static_cast<double>(amount.Value()));
    } else if (name == "ephemeral-storage" ||
               (!name.starts_with("count/") && IsScalarResourceName(name))) {
      const int kind = kinds.Intern(name);
      if (kind < 0) {
        reader.Wrong(at, fmt::format("{} is one kind of resource too many: there may be {}",
                                     Quoted(name), ResourceKinds::kMax));
      } else {
        resource.AddTo(kind, static_cast<double>(amount.MilliValue()));
      }
    }
  }
  return resource;
}

}  // namespace krafla
