// Which file a path leads to now, to notice that it was replaced or written: a ConfigMap's or a
// Secret's mount swaps a link.
#pragma once

#include <sys/stat.h>

#include <string>

namespace krafla {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  timespec changed{};
  off_t size = -1;  // -1: there is no such file
  bool operator==(const FileStamp& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

inline FileStamp StampOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_mtim, info.st_size};
}

}  // namespace krafla
