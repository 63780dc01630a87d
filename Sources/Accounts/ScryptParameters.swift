/// The cost of hashing one password with scrypt (RFC 7914 section 2).
package struct ScryptParameters: Sendable, Equatable {
  /// N, the cost in time and memory: a power of two.
  package let rounds: Int
  /// r, the block size. The memory is 128 · N · r bytes.
  package let blockSize: Int
  /// p, the number of repetitions.
  package let parallelism: Int

  /// N = 2^15, r = 8, p = 1: 32 MiB and about 50 ms.
  package static let standard = ScryptParameters(checked: 1 << 15, 8, 1)

  static let saltBytes = 16
  static let keyBytes = 32

  /// Checks the bounds: N a power of two from 2 to 2^20, r and p from 1 to 32, 256 MiB at most.
  package init?(rounds: Int, blockSize: Int, parallelism: Int) {
    guard (2...(1 << 20)).contains(rounds), rounds & (rounds - 1) == 0,
      (1...32).contains(blockSize), (1...32).contains(parallelism),
      128 * rounds * blockSize <= 256 << 20
    else { return nil }
    self.init(checked: rounds, blockSize, parallelism)
  }

  private init(checked rounds: Int, _ blockSize: Int, _ parallelism: Int) {
    self.rounds = rounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }
}
