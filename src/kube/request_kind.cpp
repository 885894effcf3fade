#include "kube/request_kind.h"

#include <array>
#include <vector>

namespace krafla {

namespace {

constexpr std::array<std::string_view, 23> kResources = {"nodes",
                                                         "priorityclasses",
                                                         "namespaces",
                                                         "queues",
                                                         "queues/status",
                                                         "podgroups",
                                                         "podgroups/status",
                                                         "pods",
                                                         "pods/status",
                                                         "pods/binding",
                                                         "pods/eviction",
                                                         "poddisruptionbudgets",
                                                         "persistentvolumeclaims",
                                                         "persistentvolumes",
                                                         "storageclasses",
                                                         "csinodes",
                                                         "events",
                                                         "leases",
                                                         "configmaps",
                                                         "resourceclaims",
                                                         "replicasets",
                                                         "tokenreviews",
                                                         "subjectaccessreviews"};

// The parts of the path, without the query.
std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty()) parts.push_back(part);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

std::string_view VerbOf(std::string_view method, bool names_object, std::string_view query) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  if (names_object) return "get";
  return query.find("watch=true") != std::string_view::npos ? "watch" : "list";
}

}  // namespace

// /api/v1/… or /apis/GROUP/VERSION/…, then namespaces/NAME/ where the kind has them, then
// RESOURCE[/NAME[/SUBRESOURCE]].
RequestKind KindOf(std::string_view method, std::string_view target) {
  const size_t question = target.find('?');
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  const std::vector<std::string_view> parts = Parts(target.substr(0, question));
  const size_t prefix = parts.empty() ? 0 : parts[0] == "api" ? 2 : parts[0] == "apis" ? 3 : 0;
  if (prefix == 0 || parts.size() <= prefix) return {VerbOf(method, true, query), "other"};
  size_t at = prefix;
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  const std::string_view verb = VerbOf(method, parts.size() > at + 1, query);
  const std::string_view name = parts[at];
  const std::string_view subresource = parts.size() > at + 2 ? parts[at + 2] : std::string_view();
  for (const std::string_view known : kResources) {
    const size_t slash = known.find('/');
    const std::string_view known_subresource =
        slash == std::string_view::npos ? std::string_view() : known.substr(slash + 1);
    if (known.substr(0, slash) == name && known_subresource == subresource) return {verb, known};
  }
  return {verb, "other"};
}

}  // namespace krafla
