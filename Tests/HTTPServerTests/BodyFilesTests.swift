import Glibc
import IPAddresses
import TestSupport
import Testing

@testable import HTTPServer

/// Bodies that are too long for memory.
@Suite struct BodyFilesTests {
  private let home = ClientAddress("192.0.2.1")
  private let abroad = ClientAddress("198.51.100.7")

  @Test func whatIsAppendedIsReadInAnyOrder() async throws {
    let directory = try TemporaryDirectory()
    let files = BodyFiles(in: directory.path)
    let file = files.file(for: home)
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for start in stride(from: 0, to: bytes.count, by: 70_000) {
      try await file.append(Array(bytes[start..<min(start + 70_000, bytes.count)]))
    }
    for range in [299_990..<300_000, 0..<0, 65_000..<215_000, 0..<300_000] {
      #expect(try await file.read(range) == Array(bytes[range]))
    }
    #expect(directory.names.isEmpty, "the file has no name")
    await #expect(throws: BodyFiles.Failure.disk(EIO)) { try await file.read(299_999..<300_001) }
  }

  @Test func oneAddressHasAShareAndAllHaveABound() async throws {
    let directory = try TemporaryDirectory()
    let files = BodyFiles(in: directory.path, bytes: 150, bytesPerAddress: 100)
    let (one, two) = (files.file(for: home), files.file(for: home))
    let other = files.file(for: abroad)
    let byte: [UInt8] = [1]
    try await one.append(Array(repeating: 1, count: 60))
    try await two.append(Array(repeating: 1, count: 40))
    await #expect(throws: BodyFiles.Failure.full) { try await one.append(byte) }
    try await other.append(Array(repeating: 1, count: 50))
    await #expect(throws: BodyFiles.Failure.full) { try await other.append(byte) }
    #expect(files.byteCount == 150)
  }

  @Test func endOfABodyGivesItsBytesBack() async throws {
    let directory = try TemporaryDirectory()
    let files = BodyFiles(in: directory.path, bytes: 100, bytesPerAddress: 100)
    for _ in 0..<3 {
      try await files.file(for: home).append(Array(repeating: 1, count: 100))
      // The file's own thread ends it.
      while files.byteCount > 0 { await Task.yield() }
    }
  }

  @Test func failureOfTheDiskIsTold() async throws {
    let files = BodyFiles(in: "/nowhere")
    await #expect(throws: BodyFiles.Failure.disk(ENOENT)) {
      try await files.file(for: home).append([1])
    }
  }
}
