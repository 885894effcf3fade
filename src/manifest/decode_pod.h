// Pods. The bulk of every cluster, so this is the path that has to be fast: strings are looked up,
// not copied, and what a pod asks for is decoded once per template.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "manifest/decode_context.h"
#include "manifest/decode_pod_spec.h"
#include "manifest/object_likeness.h"
#include "manifest/pod_digest.h"

namespace krafla {

// Digests that were seen before, and what they mean.
class DigestCache {
 public:
  // Invalid when the digest is new.
  PodSpecId Find(StrId ns, std::string_view digest) const;
  void Add(StrId ns, std::string_view digest, PodSpecId spec);

 private:
  struct Key {
    StrId ns;
    std::string digest;
  };
  struct KeyView {
    StrId ns;
    std::string_view digest;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const;
    size_t operator()(const Key& key) const { return (*this)(KeyView{key.ns, key.digest}); }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return a.ns == b.ns && a.digest == b.digest;
    }
  };
  std::unordered_map<Key, PodSpecId, Hash, Equal> specs_;
  size_t bytes_ = 0;
};

// The string that was asked for last: neighbours in a list of pods are of one namespace, role, job
// and class.
class LastString {
 public:
  StrId Intern(std::string_view text, StringPool& strings) {
    if (text != strings.Text(last_)) last_ = strings.Intern(text);
    return last_;
  }

 private:
  StrId last_ = kEmptyStr;
};

class PodDecoder {
 public:
  PodDecoder(ObjectReader& reader, FactSink& builder, std::vector<std::string> scheduler_names)
      : builder_(builder),
        scheduler_names_(std::move(scheduler_names)),
        spec_decoder_(reader, builder.strings(), builder.kinds()) {}

  void Decode(DecodeContext& context, JsonObject root);

  // Whether a text is that of the last pod but for parts of which it is known what they mean, and
  // what it says. Nothing is added yet; false when the text has to be decoded.
  bool FindAlike(std::string_view json, Origin origin, PodFacts& pod);
  // False: there is one of that name, which is for Decode to say.
  bool AddAlike(PodFacts pod, Origin origin);
  // What a pod says, by decoding all of it. False when something is wrong with it. For whoever
  // verifies what was found without.
  bool ReadFacts(DecodeContext& context, JsonObject root, PodFacts& pod);

 private:
  struct Spec;
  struct Status;
  void DecodeSpec(ObjectReader& reader, JsonValue& value, Spec& spec);
  void DecodeStatus(ObjectReader& reader, JsonValue& value, Status& status);
  void DecodeCondition(ObjectReader& reader, JsonValue& value, Status& status);
  void NoteSchedule(Status& status, bool scheduled, Timestamp since,
                    std::string_view since_written);
  PodSpecId FindSpec(DecodeContext& context, StrId ns, const Status& status, bool admitted);
  // Everything but namespace and spec, which are known.
  void SetFacts(DecodeContext& context, const Spec& spec, const Status& status, PodFacts& pod);
  bool IsOurs(std::string_view scheduler_name) const;
  void KeepLast(const DecodeContext& context, const PodFacts& pod);

  FactSink& builder_;
  std::vector<std::string> scheduler_names_;
  PodSpecDecoder spec_decoder_;
  PodDigest digest_;
  DigestCache digests_;
  bool spec_is_of_this_pod_only_ = false;  // of the last one, as the next two
  bool has_schedule_condition_ = false;
  bool repeats_schedule_condition_ = false;
  // The last pod that was decoded, or one of the last.
  struct LastPod {
    // Whether the one that is decoded now is to become this one.
    bool IsWanted();

    ObjectLikeness likeness;
    PodFacts pod;
    bool was_like = false;  // another one was
    uint32_t pass = 0;      // so many before the next is noted
    uint32_t passed = 0;
  };
  LastPod last_;
  std::vector<ObjectLikeness::Difference> differences_;  // of one call, kept for their memory
  LastString last_namespace_;
  LastString last_role_;
  LastString last_node_;
  LastString last_priority_class_;
  LastString last_group_;
  LastString last_queue_;
};

}  // namespace krafla
