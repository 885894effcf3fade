#include "kube_rules/host_ports.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string Port(std::string_view port) {
  return R"("containers":[{"name":"c","ports":[{"containerPort":80,)" + std::string(port) + "}]}]";
}

TEST(HostPorts, APortIsTakenOnAnAddressOrOnAll) {
  KubeWorld world(Objects()
                      .Node("n")
                      .Node("empty")
                      .Pod("one", "", "n", Port(R"("hostPort":8080,"hostIP":"10.0.0.1")"))
                      .Pod("all", "", "n", Port(R"("hostPort":9090)"))
                      .Pod("same", "", "", Port(R"("hostPort":8080,"hostIP":"10.0.0.1")"))
                      .Pod("other", "", "", Port(R"("hostPort":8080,"hostIP":"10.0.0.2")"))
                      .Pod("any", "", "", Port(R"("hostPort":8080)"))
                      .Pod("zeros", "", "", Port(R"("hostPort":8080,"hostIP":"0.0.0.0")"))
                      .Pod("colons", "", "", Port(R"("hostPort":8080,"hostIP":"::")"))
                      .Pod("udp", "", "", Port(R"("hostPort":8080,"protocol":"UDP")"))
                      .Pod("late", "", "", Port(R"("hostPort":9090,"hostIP":"10.0.0.2")"))
                      .Pod("none", "", "", Port(R"("hostPort":0)")));
  const char* no = "node(s) didn't have free ports for the requested pod ports";
  EXPECT_EQ(world.Says(Filter::kNodePorts, "same", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodePorts, "same", "empty"), "");
  EXPECT_EQ(world.Says(Filter::kNodePorts, "other", "n"), "");
  EXPECT_EQ(world.Says(Filter::kNodePorts, "any", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodePorts, "zeros", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodePorts, "colons", "n"), "");  // an address like any other
  EXPECT_EQ(world.Says(Filter::kNodePorts, "udp", "n"), "");
  EXPECT_EQ(world.Says(Filter::kNodePorts, "late", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodePorts, "none", "n"), "");
}

TEST(HostPorts, AnEvictedPodHasLeftItsPortAtOnce) {
  KubeWorld world(Objects()
                      .Node("n")
                      .Pod("old", "", "n", Port(R"("hostPort":8080)"))
                      .Pod("new", "", "", Port(R"("hostPort":8080)")));
  EXPECT_TRUE(world.filters.CurrentIsNodeLocal(world.cluster.tasks[world.Task("new")].cls));
  EXPECT_TRUE(world.filters.Current(world.Task("new"), world.Node("n")).refused());
  const Session::Mark mark = world.session.MarkNow();
  world.session.MarkReleasing(world.Task("old"));
  EXPECT_FALSE(world.filters.Current(world.Task("new"), world.Node("n")).refused());
  world.session.Rollback(mark);
  EXPECT_TRUE(world.filters.Current(world.Task("new"), world.Node("n")).refused());
}

}  // namespace
}  // namespace krafla::testing
