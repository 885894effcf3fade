// The object's kind picks its decoder, which checks it and hands its facts to the sink. A Volcano
// Job is first turned into the PodGroup and pods its controller would make; these give way to
// written ones.
#include "manifest/object_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "base/did_you_mean.h"
#include "cluster_state/same_facts.h"
#include "manifest/decode_context.h"
#include "manifest/decode_node.h"
#include "manifest/decode_pod.h"
#include "manifest/decode_scheduling.h"
#include "manifest/decode_storage.h"
#include "manifest/problem_report.h"
#include "manifest/volcano_job.h"

namespace krafla {

namespace {

// Every version of a group is taken: the fields that matter are the same in all.
struct Kind {
  std::string_view group;
  std::string_view name;
  bool namespaced = false;
  void (*decode)(DecodeContext&, JsonObject) = nullptr;  // null: the reader knows how
};

constexpr Kind kPod{"", "Pod", true};
constexpr Kind kVolcanoJob{"batch.volcano.sh", "Job", true};
constexpr std::array kKinds = {
    kPod,
    Kind{"scheduling.volcano.sh", "PodGroup", true, &DecodePodGroup},
    Kind{"", "Node", false, &DecodeNode},
    Kind{"scheduling.volcano.sh", "Queue", false, &DecodeQueue},
    Kind{"scheduling.k8s.io", "PriorityClass", false, &DecodePriorityClass},
    Kind{"", "Namespace", false, &DecodeNamespace},
    Kind{"policy", "PodDisruptionBudget", true, &DecodePodDisruptionBudget},
    Kind{"", "ResourceQuota", true, &DecodeResourceQuota},
    Kind{"", "PersistentVolumeClaim", true, &DecodePersistentVolumeClaim},
    Kind{"", "PersistentVolume", false, &DecodePersistentVolume},
    Kind{"storage.k8s.io", "StorageClass", false, &DecodeStorageClass},
    Kind{"storage.k8s.io", "CSINode", false, &DecodeCsiNode},
    kVolcanoJob,
};

struct TypeNames {
  std::string_view api_version;
  std::string_view kind;

  std::string_view Group() const {
    const size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  }
};

const Kind* FindKind(const TypeNames& type) {
  for (const Kind& kind : kKinds)
    if (kind.name == type.kind && kind.group == type.Group()) return &kind;
  return nullptr;
}

// "Deployment"; "Job.batch" when the bare name would be taken for one of ours.
std::string IgnoredName(const TypeNames& type) {
  std::string name(type.kind);
  for (const Kind& kind : kKinds)
    if (kind.name == type.kind) return fmt::format("{}.{}", type.kind, type.Group());
  return name;
}

}  // namespace

class ObjectDecoder::Impl {
 public:
  Impl(FactSink& sink, const DecodeOptions& options, Diagnostics& diagnostics, ClusterFacts& facts)
      : facts_(facts),
        report_(diagnostics, options.lenient),
        sink_(sink),
        pods_(reader_, sink, options.scheduler_names) {
    reader_.SetOddWords(!options.finds_odd_words ? OddWords::kPassedOver
                        : options.lenient        ? OddWords::kNamed
                                                 : OddWords::kRefused);
  }

  void Read(const ObjectText& text, Origin origin) {
    facts_.bytes += text.json.size();
    if (text.in_document != last_in_document_) {
      last_in_document_ = text.in_document;
      sink_.Expect(text.in_document);
    }
    if (PodFacts pod; pods_.FindAlike(text.json, origin, pod)) {
#ifdef KRAFLA_VERIFY
      VerifyAlike(text, origin, pod);
#endif
      if (pods_.AddAlike(std::move(pod), origin)) {
        ++facts_.alike;
        return;
      }
    }
    reader_.Start(text.json);
    meta_.Clear();
    simdjson::ondemand::document document;
    JsonObject root;
    const Kind* kind = nullptr;
    if (Open(text.json, document, root)) kind = KindOf(root);
    if (kind == nullptr) return report_.Add(text, {}, reader_);
    if (kind->name == kVolcanoJob.name) return Expand(text);
    document.rewind();
    if (const auto error = document.get_object().get(root)) {
      reader_.Malformed(error);
    } else {
      Decode(*kind, root, text, origin);
    }
    if (!reader_.problems().empty()) report_.Add(text, Title(*kind), reader_);
  }

  void Finish() { report_.Finish(); }

 private:
#ifdef KRAFLA_VERIFY
  void VerifyAlike(const ObjectText& text, Origin origin, const PodFacts& alike) {
    reader_.Start(text.json);
    meta_.Clear();
    simdjson::ondemand::document document;
    JsonObject root;
    KRAFLA_CHECK(Open(text.json, document, root), "what is like an object is one");
    DecodeContext context{reader_, meta_, sink_, text, origin};
    PodFacts pod;
    KRAFLA_CHECK(pods_.ReadFacts(context, root, pod) && reader_.problems().empty(),
                 "nothing is wrong with what is like a pod");
    KRAFLA_CHECK(SameFacts(pod, alike), "what is like a pod says what was found");
  }
#endif

  bool Open(std::string_view json, simdjson::ondemand::document& document, JsonObject& root) {
    // Powers of two: a parser that grows object by object would allocate each time.
    simdjson::error_code error = simdjson::SUCCESS;
    if (json.size() > parser_.capacity())
      error = parser_.allocate(std::bit_ceil(std::max<size_t>(json.size(), 4096)));
    if (!error)
      error = parser_.iterate(json.data(), json.size(), json.size() + simdjson::SIMDJSON_PADDING)
                  .get(document);
    if (!error) error = document.get_object().get(root);
    if (error == simdjson::INCORRECT_TYPE) {
      reader_.Wrong(json.data(), "expected an API object");
    } else if (error) {
      reader_.Malformed(error);
    }
    return !error;
  }

  // Null when there is nothing to decode: the kind is not used, or it is not said.
  const Kind* KindOf(JsonObject root) {
    const std::string_view json = reader_.json();
    // Neighbours are often of one kind, and then begin with the same bytes.
    if (!last_start_.empty() && json.starts_with(last_start_)) return last_kind_;
    TypeNames type;
    reader_.WhileFields(root, [&](std::string_view key, JsonValue& value) {
      if (key == "apiVersion") type.api_version = reader_.Text(value);
      if (key == "kind") type.kind = reader_.Text(value);
      return type.api_version.empty() || type.kind.empty();
    });
    if (reader_.HasErrors()) return nullptr;
    if (type.kind.empty()) reader_.WrongField("kind", "missing");
    if (type.api_version.empty()) reader_.WrongField("apiVersion", "missing");
    if (reader_.HasErrors()) return nullptr;
    const Kind* kind = FindKind(type);
    if (kind == nullptr) {
      ++facts_.ignored_kinds[IgnoredName(type)];
    } else {
      Remember(json, type, kind);
    }
    return kind;
  }

  void Remember(std::string_view json, const TypeNames& type, const Kind* kind) {
    constexpr size_t kMaxStart = 128;
    const char* end = std::max(type.kind.data() + type.kind.size(),
                               type.api_version.data() + type.api_version.size());
    // Texts with escapes are not part of the object's own bytes.
    const bool inside = std::min(type.kind.data(), type.api_version.data()) >= json.data() &&
                        end < json.data() + std::min(json.size(), kMaxStart);
    last_start_.assign(json.data(), inside ? static_cast<size_t>(end + 1 - json.data()) : 0);
    last_kind_ = kind;
  }

  void Decode(const Kind& kind, JsonObject root, const ObjectText& text, Origin origin) {
    DecodeContext context{reader_, meta_, sink_, text, origin};
    if (kind.decode != nullptr) {
      kind.decode(context, root);
    } else {
      pods_.Decode(context, root);
    }
  }

  std::string Title(const Kind& kind) const {
    if (meta_.name.empty()) return std::string(kind.name);
    if (!kind.namespaced) return fmt::format("{} {}", kind.name, Printable(meta_.name));
    return fmt::format("{} {}/{}", kind.name, Printable(meta_.NamespaceOrDefault()),
                       Printable(meta_.name));
  }

  void Expand(const ObjectText& job) {
    Diagnostics problems;
    std::vector<std::string> objects = ExpandVolcanoJob(job, problems);
    for (const Diagnostic& problem : problems.items()) report_.Add(problem);
    if (problems.HasErrors()) return;
    for (std::string& object : objects) {
      object.reserve(object.size() + simdjson::SIMDJSON_PADDING);
      // A place in the made text means nothing to the user: it is the Job that is shown.
      Read({object, job.file, [&](size_t) { return job.locate ? job.locate(0) : Location{}; }},
           Origin::kExpanded);
    }
    // What was made was not read from anywhere.
    for (const std::string& object : objects) facts_.bytes -= object.size();
  }

  ClusterFacts& facts_;
  ProblemReport report_;
  FactSink& sink_;
  ObjectReader reader_;
  Metadata meta_;
  simdjson::ondemand::parser parser_;
  PodDecoder pods_;
  size_t last_in_document_ = 1;
  std::string last_start_;  // of the last object, up to the end of apiVersion and kind
  const Kind* last_kind_ = nullptr;
};

ObjectDecoder::ObjectDecoder(FactSink& sink, const DecodeOptions& options, Diagnostics& diagnostics,
                             ClusterFacts& facts)
    : impl_(std::make_unique<Impl>(sink, options, diagnostics, facts)) {}
ObjectDecoder::~ObjectDecoder() = default;

void ObjectDecoder::Decode(const ObjectText& text, Origin origin) {
  impl_->Read(text, origin);
}

void ObjectDecoder::Finish() {
  impl_->Finish();
}

}  // namespace krafla
