// Notices that etcd was restored from a backup, for the objects of one kind, and keeps what a list
// says until it is known whether that is so. Used by ClusterMirror.
//
// resourceVersions are revisions of etcd, which only grow; a restored etcd begins again at those of
// the backup (unless it is restored with --bump-revision: then only the objects' own versions are
// lower than before). Objects and lists that are older than what was seen are ordinary all the
// same:
//   - An answer to a GET may overtake the watch.
//   - A watch-list begins with what the watch cache of that API server has, which may lag; newer
//     versions of the same objects follow, and the bookmark that ends the list comes only when the
//     cache has reached etcd's revision at the time of the request.
// So nothing is concluded from a single object, nor before a list has ended. What is certain at its
// end, because all lists we ask for are consistent (no resourceVersion is named):
//   1. The list's version is not below any version of this kind seen before it was asked for.
//   2. No object is shown in an older version than one seen before the list was asked for.
// What contradicts that is a rollback. What was read by a GET while the list came in proves
// nothing. Only versions of one kind are compared: kinds may be kept in different etcds.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kube/api_text.h"
#include "kube/inbox.h"

namespace krafla {

class RollbackWatch {
 public:
  struct Doubtful {
    ObjectMessage message;  // as listed; its facts are in its text
    bool older = false;     // than what was seen before the list was asked for
  };

  // Versions that are no numbers are UINT64_MAX and prove nothing.
  void Saw(uint64_t version) {
    if (version != UINT64_MAX && version > newest_) newest_ = version;
  }
  void Begin() {
    listing_ = true;
    newest_before_ = newest_;
    doubtful_.clear();
  }
  bool listing() const { return listing_; }
  // What a list shows of an object of which more is known, or expected.
  void Keep(const std::string& key, const ObjectMessage& message, bool older) {
    doubtful_.insert_or_assign(key, Doubtful{{message.what, message.kind, Padded(message.object),
                                              message.head, message.reduced},
                                             older});
  }
  void Forget(const std::string& key) { doubtful_.erase(key); }
  // Whether the list that ends with this version (0: none is known) contradicts what was seen.
  bool IsRollback(uint64_t list_version) const {
    if (list_version != 0 && list_version < newest_before_) return true;
    for (const auto& [key, doubtful] : doubtful_)
      if (doubtful.older) return true;
    return false;
  }
  // By key, so that they are taken in the same order each time.
  std::map<std::string, Doubtful> End() {
    listing_ = false;
    return std::exchange(doubtful_, {});
  }
  void StartOver(uint64_t newest) { newest_ = newest; }
  uint64_t newest_before() const { return newest_before_; }

  // Another kind has found one: this kind's next list is the truth whatever it says.
  bool expected = false;

 private:
  bool listing_ = false;
  uint64_t newest_ = 0;
  uint64_t newest_before_ = 0;
  std::map<std::string, Doubtful> doubtful_;
};

}  // namespace krafla
