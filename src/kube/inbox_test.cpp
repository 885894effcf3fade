#include "kube/inbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace krafla {
namespace {

using Clock = Inbox::Clock;

ObjectMessage Message(size_t bytes) {
  return {ObjectMessage::What::kSeen, WatchedKind::kPod, std::string(bytes, 'x'), {}};
}

TEST(Inbox, WatchesAreTurnedAwayWhenItIsFullAndToldWhenThereIsRoom) {
  Inbox inbox(1000);
  int told = 0;
  inbox.OnRoom([&] { ++told; });
  ObjectMessage first = Message(900);
  ObjectMessage second = Message(10);
  EXPECT_TRUE(inbox.TryPut(first));
  EXPECT_FALSE(inbox.TryPut(second));
  EXPECT_EQ(second.object.size(), 10u) << "still the sender's";
  EXPECT_FALSE(inbox.HasRoom());
  inbox.PutAlways(Message(10));
  inbox.PutTask([] {});
  const Inbox::Batch batch = inbox.Take(Clock::now());
  EXPECT_EQ(batch.objects.size(), 2u);
  EXPECT_EQ(batch.tasks.size(), 1u);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(inbox.HasRoom());
  EXPECT_TRUE(inbox.TryPut(second));
  inbox.Take(Clock::now());
  EXPECT_EQ(told, 1) << "nobody was turned away";
}

TEST(Inbox, WaitsForNewsAndNoLongerThanTold) {
  Inbox inbox;
  EXPECT_TRUE(inbox.Take(Clock::now() + std::chrono::milliseconds(5)).empty());
  std::thread sender([&] { inbox.Interrupt(); });
  EXPECT_TRUE(inbox.Take(Clock::now() + std::chrono::seconds(10)).interrupted);
  sender.join();
}

}  // namespace
}  // namespace krafla
