// One process at a time writes into a folder. Held by a lock on a file in it (.lock), which the
// kernel lets go of when the process ends, however it ends.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace krafla {

class FolderLock {
 public:
  // Null: this file system knows no locks. An error: somebody else holds it, or the file cannot be
  // made.
  static Result<std::unique_ptr<FolderLock>> Take(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int file) : file_(file) {}

  int file_;
};

}  // namespace krafla
