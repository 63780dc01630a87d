import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Marks of moves in data directories.
@Suite struct MoveMarkTests {
  private let moved = MoveMark(.moved, detail: "to postgres://db/bookmarks at noon")
  private let unfinished = MoveMark(.unfinished, detail: "from postgres://db/bookmarks")

  private func refusal(_ directory: TemporaryDirectory) async -> DataDirectoryError? {
    do throws(DataDirectoryError) {
      await (try FileEngine.open(directory: directory.path, threads: 1)).close()
      return nil
    } catch { return error }
  }

  @Test func directoryWithAMarkOpensForAMoveAlone() async throws {
    let directory = try TemporaryDirectory()
    for (mark, code) in [
      (moved, DataDirectoryError.Code.moved), (unfinished, .unfinishedMove),
    ] {
      let engine = try await FileEngine.open(
        directory: directory.path, threads: 1, isForMove: true)
      try await engine.setMoveMark(mark)
      #expect(try await engine.moveMark() == mark)
      await engine.close()
      let error = await refusal(directory)
      #expect(error?.code == code)
      #expect(error?.reason.contains(mark.detail) == true)
    }
    let engine = try await FileEngine.open(directory: directory.path, threads: 1, isForMove: true)
    try await engine.setMoveMark(nil)
    #expect(try await engine.moveMark() == nil)
    await engine.close()
    #expect(await refusal(directory) == nil)
  }

  @Test func onlyAnEmptyDirectoryOrTheSameMoveIsTaken() async throws {
    let directory = try TemporaryDirectory()
    // The process that wrote it was killed before it had its name.
    try directory.write([], to: "unfinished-move.new")
    try FileEngine.prepareForMove(directory.path, unfinished)
    #expect(await refusal(directory)?.code == .unfinishedMove)
    #expect(!directory.names.contains("unfinished-move.new"))
    try FileEngine.prepareForMove(directory.path, unfinished)
    do throws(DataDirectoryError) {
      try FileEngine.prepareForMove(directory.path, MoveMark(.unfinished, detail: "from elsewhere"))
      Issue.record("another move's directory was taken")
    } catch { #expect(error.code == .unfinishedMove) }
    let other = try TemporaryDirectory()
    try other.write([], to: "anything")
    do throws(DataDirectoryError) {
      try FileEngine.prepareForMove(other.path, unfinished)
      Issue.record("a directory with content was taken")
    } catch { #expect(error.code == .occupied) }
    #expect(other.names == ["anything"])
  }

  @Test func movedStoresAreNoHindranceToANodeOfTheDatabase() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    await engine.close()
    do throws(DataDirectoryError) {
      try await NodeDirectory.open(directory.path).close()
      Issue.record("a directory with stores was taken")
    } catch { #expect(error.code == .hasStores) }
    let mover = try await FileEngine.open(directory: directory.path, threads: 1, isForMove: true)
    try await mover.setMoveMark(moved)
    await mover.close()
    try await NodeDirectory.open(directory.path).close()
  }
}
