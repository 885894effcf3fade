// A file as one text.
#pragma once

#include <string>

#include "base/result.h"

namespace krafla {

// "cannot be read: No such file or directory" where there is none. A pipe is read to its end; a
// folder is no file.
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace krafla
