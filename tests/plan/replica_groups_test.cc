#include "pax/plan/replica_groups.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "tests/plan/hlo_bytes.h"

namespace pax {
namespace {

using ::testing::ElementsAre;

TEST(ReplicaGroups, ListedOnesAreRead) {
  const std::string bytes =
      Message().message(1, Message().packed(1, {0, 2})).message(1, Message().packed(1, {1, 3})).str();
  EXPECT_THAT(read_device_list(bytes), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(ReplicaGroups, IotasAreReshapedAndTransposed) {
  // [2,4]<=[4,2]T(1,0): columns of a 4x2 box.
  const Message iota = Message().number(1, 2).number(2, 4).packed(3, {4, 2}).packed(4, {1, 0});
  EXPECT_THAT(read_device_list(Message().message(2, iota).str()),
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
}

TEST(ReplicaGroups, MeshAxesNameTheGroups) {
  const Message mesh =
      Message().message(1, Message().bytes(1, "a").number(2, 2)).message(1, Message().bytes(1, "b").number(2, 3));
  const std::string along_a = Message().message(1, mesh).message(2, Message()).str();
  EXPECT_THAT(read_mesh_axes_groups(along_a), ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5)));
  const std::string along_b = Message().message(1, mesh).message(2, Message().number(1, 1)).str();
  EXPECT_THAT(read_mesh_axes_groups(along_b), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(ReplicaGroups, PartOfAnAxisIsUnderstood) {
  // Axis of 8 as (2, 2, 2); the group runs along the middle part.
  const Message part = Message().message(2, Message().number(1, 2).number(2, 2));
  const std::string bytes = Message().message(1, Message().message(1, Message().number(2, 8))).message(2, part).str();
  EXPECT_THAT(read_mesh_axes_groups(bytes),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(ReplicaGroups, HugeOrCrookedIotasAreErrors) {
  const auto read = [](const std::vector<int64_t>& dims, const std::vector<int64_t>& order) {
    return read_device_list(Message().message(2, Message().number(2, 1).packed(3, dims).packed(4, order)).str());
  };
  EXPECT_THROW(read({int64_t{1} << 40, 4}, {}), RuntimeError);
  EXPECT_THROW(read({2, 2}, {0, 7}), RuntimeError);
}

TEST(AxesOfGroup, AreThoseAlongWhichItsMembersDiffer) {
  const Mesh mesh{{"replica", "data", "mdl"}, {2, 4, 2}};
  EXPECT_EQ(axes_of_group(mesh, {0, 1}), "mdl");
  EXPECT_EQ(axes_of_group(mesh, {0, 2, 4, 6}), "data");
  EXPECT_EQ(axes_of_group(mesh, {0, 8, 2}), "replica,data");
  EXPECT_EQ(axes_of_group(mesh, {}), "all");
}

}  // namespace
}  // namespace pax
