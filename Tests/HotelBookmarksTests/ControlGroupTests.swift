import Testing

@testable import HotelBookmarks

/// The process's memory limit, from the kernel's files about its control group.
@Suite struct ControlGroupTests {
  private func limit(_ groups: String, _ files: [String: String]) -> Int? {
    ControlGroup.memoryLimit(groups: groups) { files[$0] }
  }

  @Test func versionTwoSaysTheLeastOfAllGroupsAround() {
    let files = [
      "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "536870912\n",
      "/sys/fs/cgroup/memory.max": "1073741824\n",
    ]
    #expect(limit("0::/a/b\n", files) == 536_870_912)
    #expect(limit("0::/\n", files) == 1_073_741_824)
  }

  @Test func versionOneSaysItInAnotherFile() {
    let path = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
    let groups = "5:cpu,cpuacct:/x\n9:memory:/docker/abc\n"
    #expect(limit(groups, [path: "268435456\n"]) == 268_435_456)
  }

  @Test func withoutALimitThereIsNone() {
    #expect(limit("0::/\n", ["/sys/fs/cgroup/memory.max": "max\n"]) == nil)
    #expect(limit("nonsense", [:]) == nil)
    #expect(limit("0::/\n", ["/sys/fs/cgroup/memory.max": "-1"]) == nil)
  }

  @Test func shareIsAnEighthWithinItsBounds() {
    #expect(ControlGroup.share(of: 800, least: 10, most: 1_000) == 100)
    #expect(ControlGroup.share(of: 40, least: 10, most: 1_000) == 10)
    #expect(ControlGroup.share(of: 80_000, least: 10, most: 1_000) == 1_000)
  }
}
