#include "manifest/decode_affinity.h"

#include <algorithm>
#include <array>
#include <limits>

#include "manifest/decode_selectors.h"

namespace krafla {

namespace {

using EffectWord = std::pair<std::string_view, TaintEffect>;
constexpr std::array kEffects = {EffectWord{"NoSchedule", TaintEffect::kNoSchedule},
                                 EffectWord{"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
                                 EffectWord{"NoExecute", TaintEffect::kNoExecute}};
using TolerationWord = std::pair<std::string_view, TolerationOp>;
constexpr std::array kTolerationOps = {
    TolerationWord{"Equal", TolerationOp::kEqual}, TolerationWord{"Exists", TolerationOp::kExists},
    TolerationWord{"Lt", TolerationOp::kLess}, TolerationWord{"Gt", TolerationOp::kGreater}};
using YesNoWord = std::pair<std::string_view, bool>;
constexpr std::array kWhenUnsatisfiable = {YesNoWord{"DoNotSchedule", true},
                                           YesNoWord{"ScheduleAnyway", false}};
constexpr std::array kPolicies = {YesNoWord{"Honor", true}, YesNoWord{"Ignore", false}};

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int32_t kMaxWeight = 100;
constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

std::vector<std::string_view> DecodeTexts(ObjectReader& reader, JsonValue& value) {
  std::vector<std::string_view> texts;
  reader.ForEachItem(value, [&](JsonValue& item) { texts.push_back(reader.Text(item)); });
  return texts;
}

void DecodeNodeAffinity(AffinityScope& scope, JsonValue& value, PodSpec& spec) {
  ObjectReader& reader = scope.reader;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == kRequired && !ObjectReader::IsNull(field)) {
      spec.has_required_node_affinity = true;
      spec.required_node_terms = DecodeNodeSelector(reader, field, scope.strings);
    } else if (key == kPreferred) {
      reader.ForEachItem(field, [&](JsonValue& item) {
        PreferredNodeTerm preferred;
        bool possible = true;
        reader.ForEachField(item, [&](std::string_view name, JsonValue& part) {
          if (name == "weight") preferred.weight = reader.Int32(part, 0, kMaxWeight).value_or(0);
          if (name == "preference") {
            auto term = DecodeNodeSelectorTerm(reader, part, scope.strings);
            possible = term.has_value();
            if (term) preferred.term = std::move(*term);
          }
        });
        if (possible) {
          spec.preferred_node_terms.push_back(std::move(preferred));
        } else if (preferred.weight != 0) {
          spec.preferred_node_terms_broken = true;
        }
      });
    }
  });
}

PodAffinityTerm DecodeTerm(AffinityScope& scope, JsonValue& value) {
  ObjectReader& reader = scope.reader;
  PodAffinityTerm term;
  const char* at = ObjectReader::At(value);
  const int errors_before = reader.errors();
  std::vector<std::string_view> match_keys;
  std::vector<std::string_view> mismatch_keys;
  std::string_view topology_key;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "labelSelector") {
      term.selector = DecodeLabelSelector(reader, field, scope.strings);
    } else if (key == "namespaces") {
      for (const std::string_view ns : DecodeTexts(reader, field))
        term.namespaces.push_back(scope.strings.Intern(ns));
    } else if (key == "namespaceSelector") {
      term.namespace_selector = DecodeLabelSelector(reader, field, scope.strings);
    } else if (key == "topologyKey") {
      topology_key = reader.TextNotEmpty(field);
    } else if (key == "matchLabelKeys") {
      match_keys = DecodeTexts(reader, field);
    } else if (key == "mismatchLabelKeys") {
      mismatch_keys = DecodeTexts(reader, field);
    }
  });
  if (topology_key.empty() && reader.errors() == errors_before)
    reader.Wrong(at, "expected a topologyKey");
  term.topology_key = scope.strings.Intern(topology_key);
  if (term.namespaces.empty() && !term.namespace_selector.given)
    term.namespaces.push_back(scope.strings.Intern(scope.pod.NamespaceOrDefault()));
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                        term.namespaces.end());
  // The API server merges these when a pod is created; the scheduler itself never looks at them.
  if (!scope.admitted && !(match_keys.empty() && mismatch_keys.empty())) {
    scope.used_labels = true;
    AddOwnLabels(term.selector, SelectorOp::kIn, match_keys, scope.pod.labels, scope.strings);
    AddOwnLabels(term.selector, SelectorOp::kNotIn, mismatch_keys, scope.pod.labels, scope.strings);
  }
  return term;
}

void DecodePodAffinity(AffinityScope& scope, JsonValue& value,
                       std::vector<PodAffinityTerm>& required,
                       std::vector<PodAffinityTerm>& preferred) {
  ObjectReader& reader = scope.reader;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == kRequired) {
      reader.ForEachItem(field,
                         [&](JsonValue& item) { required.push_back(DecodeTerm(scope, item)); });
    } else if (key == kPreferred) {
      reader.ForEachItem(field, [&](JsonValue& item) {
        int32_t weight = 0;
        PodAffinityTerm term;
        reader.ForEachField(item, [&](std::string_view name, JsonValue& part) {
          if (name == "weight") weight = reader.Int32(part, 0, kMaxWeight).value_or(0);
          if (name == "podAffinityTerm") term = DecodeTerm(scope, part);
        });
        term.weight = weight;
        preferred.push_back(std::move(term));
      });
    }
  });
}

}  // namespace

void DecodeAffinity(AffinityScope& scope, JsonValue& value, PodSpec& spec) {
  scope.reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "nodeAffinity") {
      DecodeNodeAffinity(scope, field, spec);
    } else if (key == "podAffinity") {
      DecodePodAffinity(scope, field, spec.required_affinity, spec.preferred_affinity);
    } else if (key == "podAntiAffinity") {
      DecodePodAffinity(scope, field, spec.required_anti_affinity, spec.preferred_anti_affinity);
    }
  });
}

void DecodeSpread(AffinityScope& scope, JsonValue& value, PodSpec& spec) {
  ObjectReader& reader = scope.reader;
  reader.ForEachItem(value, [&](JsonValue& item) {
    SpreadConstraint constraint;
    const char* at = ObjectReader::At(item);
    const int errors_before = reader.errors();
    std::vector<std::string_view> match_keys;
    std::string_view topology_key;
    bool says_when = false;
    reader.ForEachField(item, [&](std::string_view key, JsonValue& field) {
      if (key == "maxSkew") {
        constraint.max_skew = reader.Int32(field, 1, kMaxInt32).value_or(1);
      } else if (key == "topologyKey") {
        topology_key = reader.TextNotEmpty(field);
      } else if (key == "whenUnsatisfiable") {
        says_when = true;
        constraint.hard = reader.Word<bool>(field, kWhenUnsatisfiable, true);
      } else if (key == "labelSelector") {
        constraint.selector = DecodeLabelSelector(reader, field, scope.strings);
      } else if (key == "minDomains") {
        constraint.min_domains = reader.Int32(field, 1, kMaxInt32).value_or(1);
      } else if (key == "nodeAffinityPolicy") {
        constraint.honor_node_affinity = reader.Word<bool>(field, kPolicies, true);
      } else if (key == "nodeTaintsPolicy") {
        constraint.honor_node_taints = reader.Word<bool>(field, kPolicies, false);
      } else if (key == "matchLabelKeys") {
        match_keys = DecodeTexts(reader, field);
      }
    });
    if ((topology_key.empty() || !says_when) && reader.errors() == errors_before)
      reader.Wrong(at, "expected a topologyKey and whenUnsatisfiable");
    constraint.topology_key = scope.strings.Intern(topology_key);
    if (!match_keys.empty()) {
      scope.used_labels = true;
      AddOwnLabels(constraint.selector, SelectorOp::kIn, match_keys, scope.pod.labels,
                   scope.strings);
    }
    spec.spread.push_back(std::move(constraint));
  });
}

TaintEffect DecodeTaintEffect(ObjectReader& reader, JsonValue& value) {
  return reader.Word<TaintEffect>(value, kEffects, TaintEffect::kNoSchedule);
}

void DecodeTolerations(AffinityScope& scope, JsonValue& value, PodSpec& spec) {
  ObjectReader& reader = scope.reader;
  reader.ForEachItem(value, [&](JsonValue& item) {
    Toleration toleration;
    reader.ForEachField(item, [&](std::string_view key, JsonValue& field) {
      if (key == "key") {
        toleration.key = scope.strings.Intern(reader.Text(field));
      } else if (key == "value") {
        toleration.value = scope.strings.Intern(reader.Text(field));
      } else if (key == "operator") {
        toleration.op = reader.Word<TolerationOp>(field, kTolerationOps, TolerationOp::kEqual);
      } else if (key == "effect" && !reader.Text(field).empty()) {
        toleration.effect = DecodeTaintEffect(reader, field);
      }
    });
    spec.tolerations.push_back(toleration);
  });
}

}  // namespace krafla
