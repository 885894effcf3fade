#include "kube/stand_in.h"

#include <simdjson.h>

#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.h"

namespace krafla {

namespace {

namespace dom = simdjson::dom;

// No scheduler's: nothing is decided about the pod.
constexpr std::string_view kNoScheduler = "krafla-quarantined";

std::string_view TextOf(dom::element object, std::string_view pointer) {
  std::string_view text;
  return object.at_pointer(pointer).get_string().get(text) ? std::string_view() : text;
}

// The members of a container that say how much of the node it uses.
std::string Containers(dom::element pod, const char* pointer) {
  dom::array list;
  if (pod.at_pointer(pointer).get_array().get(list)) return "[]";
  std::string text = "[";
  size_t number = 0;
  for (const dom::element container : list) {
    if (number > 0) text += ",";
    text += fmt::format(R"({{"name":"c{}")", number++);
    for (const char* member : {"resources", "restartPolicy", "ports"})
      if (dom::element value; !container[member].get(value))
        text += fmt::format(R"(,"{}":{})", member, simdjson::minify(value));
    text += "}";
  }
  return text + "]";
}

std::string MetadataOf(std::string_view ns, std::string_view name, std::string_view uid) {
  JsonWriter json;
  json.BeginObject().Key("name").String(name).Key("namespace").String(ns);
  json.Key("uid").String(uid).EndObject();
  return json.text();
}

std::string JsonText(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.text();
}

}  // namespace

std::optional<StandIn> StandInForPod(const std::string& pod, std::string_view node) {
  dom::parser parser;
  dom::element root;
  if (parser.parse(pod).get(root)) return std::nullopt;
  const std::string_view phase = TextOf(root, "/status/phase");
  if (node.empty()) node = TextOf(root, "/spec/nodeName");
  if (node.empty() || phase == "Succeeded" || phase == "Failed") return std::nullopt;
  std::string extra;
  for (const char* member : {"overhead", "resources"})
    if (dom::element value; !root["spec"][member].get(value))
      extra += fmt::format(R"(,"{}":{})", member, simdjson::minify(value));
  std::string json = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{{"schedulerName":"{}",)"
      R"("nodeName":{},"containers":{},"initContainers":{}{}}},"status":{{"phase":"Running"}}}})",
      MetadataOf(TextOf(root, "/metadata/namespace"), TextOf(root, "/metadata/name"),
                 TextOf(root, "/metadata/uid")),
      kNoScheduler, JsonText(node), Containers(root, "/spec/containers"),
      Containers(root, "/spec/initContainers"), extra);
  return StandIn{std::move(json), std::string(node)};
}

std::optional<StandIn> StandInForPod(const PodFacts& pod, ValuePool& values) {
  const Task& task = pod.task;
  if (task.node_name == kEmptyStr || IsTerminated(task.status)) return std::nullopt;
  const Resource& request = values.spec(task.spec).request;
  const StringPool& strings = values.strings();
  JsonWriter requests;
  requests.BeginObject();
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    if (kind == ResourceKinds::kPods) continue;  // each pod is one
    const double amount = std::ceil(request.Get(kind));
    // Bytes of memory are whole, everything else is counted in thousandths.
    requests.Key(values.kinds().Name(kind))
        .String(fmt::format("{:.0f}{}", amount, kind == ResourceKinds::kMemory ? "" : "m"));
  }
  requests.EndObject();
  std::string json = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{{"schedulerName":"{}",)"
      R"("nodeName":{},"containers":[{{"name":"c0","resources":{{"requests":{}}}}}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      MetadataOf(strings.Text(task.ns), strings.Text(task.name), strings.Text(task.uid)),
      kNoScheduler, JsonText(strings.Text(task.node_name)), requests.text());
  return StandIn{std::move(json), std::string(strings.Text(task.node_name))};
}

std::string StandInForBudget(std::string_view ns, std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{},)"
      R"("spec":{{"maxUnavailable":0,"selector":{{}}}},"status":{{"disruptionsAllowed":0}}}})",
      MetadataOf(ns, name, ""));
}

}  // namespace krafla
