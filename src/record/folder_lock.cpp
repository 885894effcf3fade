#include "record/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace krafla {

Result<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / ".lock").string();
  // Programs that we start (exec plugins) do not inherit it.
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return Fail(fmt::format("{} cannot be made: {}", path, std::strerror(errno)));
  std::unique_ptr<FolderLock> lock(new FolderLock(file));
  int error = 0;
  do {
    error = flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == EWOULDBLOCK)
    return Fail(
        fmt::format("{} is in use: another krafla serve writes its record there; every process "
                    "needs a folder of its own",
                    folder));
  if (error != 0) return nullptr;
  return lock;
}

FolderLock::~FolderLock() {
  close(file_);
}

}  // namespace krafla
