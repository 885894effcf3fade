#include "kube/serve.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(Serve, TheFirstLineSaysByWhichConfiguration) {
  ServeOptions options;
  options.version = "krafla 0.1.0";
  options.scheduler_names = {"volcano", "batch"};
  KubeConnection connection;
  connection.server = "https://x:6443";
  connection.origin = "the service account";
  EXPECT_EQ(StartLine(options, connection),
            "starting version=\"krafla 0.1.0\" server=https://x:6443 from=\"the service account\" "
            "schedulerNames=volcano,batch config=default");
  options.config_path = "conf dir/scheduler.conf";
  EXPECT_TRUE(StartLine(options, connection).ends_with(" config=\"conf dir/scheduler.conf\""));
}

}  // namespace
}  // namespace krafla
