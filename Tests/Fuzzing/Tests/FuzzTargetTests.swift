import Foundation
import TestSupport
import Testing

/// What `Scripts/test --nightly fuzz` finds with libFuzzer, in a fixed slice: the seeds, and inputs that are made of them
/// by chance, always the same ones. A broken claim ends the process.
@Suite struct FuzzTargetTests {
  private static let inputs = repetitions(2_000, nightly: 20_000)
  private static let longest = 4_096

  @Test(arguments: FuzzTarget.allCases)
  func claimsHoldForSeedsAndForWhatIsMadeOfThem(_ target: FuzzTarget) throws {
    let seeds = try Self.seeds(of: target)
    try #require(!seeds.isEmpty)
    for seed in seeds { target.check(seed) }
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<Self.inputs { target.check(Self.input(from: seeds, &generator)) }
  }

  private static func seeds(of target: FuzzTarget) throws -> [[UInt8]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Seeds/\(target)", directoryHint: .isDirectory)
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return try files.sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
  }

  /// A seed with some of its bytes changed, removed, repeated, or followed by a part of another seed.
  private static func input(
    from seeds: [[UInt8]], _ generator: inout SeededGenerator
  ) -> [UInt8] {
    func one(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> Range<Int> {
      let start = Int.random(in: 0...bytes.count, using: &generator)
      return start..<min(bytes.count, start + Int.random(in: 1...8, using: &generator))
    }
    var bytes = seeds.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let range = one(bytes, &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        let other = range.map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes.replaceSubrange(range, with: other)
      case 1: bytes.removeSubrange(range)
      case 2: bytes.insert(contentsOf: bytes[range], at: range.lowerBound)
      case 3: bytes.insert(.random(in: 0...255, using: &generator), at: range.lowerBound)
      default:
        let other = seeds.randomElement(using: &generator) ?? []
        let rest = other[one(other, &generator).lowerBound...]
        bytes.replaceSubrange(range.lowerBound..., with: rest)
      }
    }
    return Array(bytes.prefix(longest))
  }
}
