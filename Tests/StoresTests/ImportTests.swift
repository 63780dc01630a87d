import Crypto
import Documents
import StoreTesting
import TestSupport
import Testing

@testable import Stores

/// Imports of sound and of faulty exports. A faulty one is refused with the number of its line.
@Suite struct ImportTests {
  private static let header =
    #"{"export":"hotel-bookmarks","version":1,"made":"x","account":{"id":"a","kind":"user"}}"#
  private static let section = #"{"section":"own","sequence":1}"#
  private static let end = #"{"end":"own","sequence":1}"#
  private static let times =
    #""created":"2026-11-21T02:09:00.000Z","updated":"2026-11-21T02:09:00.000Z""#
  private static let document = #"{"id":"a",\#(times),"history":["1-a"]}"#
  private static let body = #"{"rev":"1-a","body":{"x":1.0}}"#

  @Test func linesWithTheirSumsAreTaken() async throws {
    let lines = [
      Self.header, Self.section, Self.document, Self.body,
      #"{"note":"facts/a","revision":1,"body":{}}"#, #"{"note":"guest/x","revision":1,"body":{}}"#,
      Self.end,
    ]
    let store = try await read(lines, documents: 1, bodies: 1, notes: 2)
    let document = try #require(try await store.document(DocumentID(stored: "a")))
    #expect(document.body == Array(#"{"x":1.0}"#.utf8))
    let notes = try await store.read { view in
      [try view.local(LocalID(receipt: "facts/a")), try view.local(LocalID(receipt: "guest/x"))]
    }
    #expect(notes[0] != nil && notes[1] == nil)
  }

  @Test(arguments: [
    (["{}"], "Line 1: it must have one of"), (["nonsense"], "Line 1: "),
    (["[]"], "Line 1: it must be"),
    ([section], "Line 1: it is not allowed here"),
    ([header.replacing("\"version\":1", with: "\"version\":2")], "Line 1: version must be 1"),
    ([header.replacing("hotel-bookmarks", with: "x")], "Line 1: export must be"),
    ([header, document], "Line 2: it is not allowed here"),
    ([header, section.replacing("own", with: "list")], "Line 2: section must be own"),
    ([header, section, body], "Line 3: a rev must follow"),
    ([header, section, document, end], "Line 4: before it, the bodies of all leaves of a"),
    ([header, section, document, body, body], "Line 5: the body of 1-a came before"),
    ([header, section, document, body, document, body, end], "Line 7: a came before"),
    ([header, section, document, body.replacing("1-a", with: "1-b")], "Line 4: 1-b is not in"),
    ([header, section, document.replacing("1-a", with: "0-a")], "Line 3: Invalid rev format"),
    (
      [header, section, document.replacing("[\"1-a\"]", with: "[]")], "Line 3: There is no revision"
    ),
    ([header, section, document.replacing("2026-11", with: "2026-13")], "Line 3: created must be"),
    ([header, section, document.replacing("\"a\"", with: "\"_a\"")], "Line 3: Only reserved"),
    (
      [header, section, #"{"note":"user:x","revision":1,"body":{}}"#],
      "Line 3: there is no such kind"
    ),
    (
      [header, section, #"{"note":"batch/x","revision":1,"body":{}}"#],
      "Line 3: there is no such kind"
    ),
    ([header, section, #"{"note":"facts/x","revision":0,"body":{}}"#], "Line 3: note must be"),
    ([header, section, end, section], "Line 4: section must be list/"),
  ])
  func aBadLineIsNamed(lines: [String], reason: String) async throws {
    let error = await refusal { _ = try await read(lines) }
    #expect(error?.code == .invalidExport)
    #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "taken")")
  }

  @Test func everyTruncationIsRefused() async throws {
    let lines = [Self.header, Self.section, Self.document, Self.body, Self.end]
    let whole = Self.export(lines, documents: 1, bodies: 1)
    let longer = await refusal { _ = try await read(whole + [UInt8(ascii: "x")]) }
    #expect(longer?.reason == "Line 7: nothing may follow the manifest")
    for count in stride(from: 0, to: whole.count, by: 7) {
      let error = await refusal { _ = try await read(Array(whole.prefix(count))) }
      #expect(error?.code == .invalidExport, "\(count) bytes")
    }
    let more = await refusal { _ = try await read(whole + Array("{}\n".utf8)) }
    #expect(more?.code == .invalidExport)
  }

  @Test func aChangedByteIsFoundOutByTheSum() async throws {
    let lines = [Self.header, Self.section, Self.document, Self.body, Self.end]
    var bytes = Self.export(lines, documents: 1, bodies: 1)
    let offset = try #require(bytes.indices.first { bytes[$0...].starts(with: "1.0".utf8) })
    bytes[offset] = UInt8(ascii: "2")
    let error = await refusal { _ = try await read(bytes) }
    #expect(error?.reason.hasPrefix("Line 6: the manifest's sums") == true)
  }

  @Test func theQuotaHoldsAndNamesTheLine() async throws {
    var lines = [Self.header, Self.section]
    for number in 0..<3 {
      lines.append(Self.document.replacing("\"a\"", with: "\"\(number)\""))
      lines.append(Self.body)
    }
    lines.append(Self.end)
    let limits = StoreLimits(documents: 2, bytes: 1 << 20)
    let error = await refusal {
      _ = try await read(Self.export(lines, documents: 3, bodies: 3), limits: limits)
    }
    #expect(error?.code == .quotaExceeded && error?.reason.hasPrefix("Line ") == true)
  }

  @Test func aDocumentWithMoreBodiesThanOneCommitTakesComesWhole() async throws {
    let filler = String(repeating: "x", count: 400_000)
    let revisions = (0..<7).map { "1-\($0)" }
    let history = revisions.enumerated().map { $0 == 0 ? "\"\($1)\"" : "{\"rev\":\"\($1)\"}" }
    var lines = [
      Self.header, Self.section,
      #"{"id":"a",\#(Self.times),"history":[\#(history.joined(separator: ","))]}"#,
    ]
    for revision in revisions.reversed() {
      lines.append(#"{"rev":"\#(revision)","body":{"r":"\#(revision)","f":"\#(filler)"}}"#)
    }
    lines.append(Self.end)
    let store = try await read(lines, documents: 1, bodies: 7)
    for revision in revisions {
      let (id, leaf) = (DocumentID(stored: "a"), try RevisionID(revision))
      let body = try await store.read { view in try view.body(id, leaf) }
      #expect(body?.count ?? 0 > 400_000)
    }
    #expect(try await store.read { view in try view.info() }.documentCount == 1)
  }

  @Test func slicesOfOneStepMakeTheSameExport() async throws {
    var random = RandomStore(seed: 3)
    let engine = MemoryEngine()
    let manager = random.manager(of: engine)
    let name = try random.name()
    try await manager.withStore(name) { try await random.fill($0) }
    let whole = try await random.export(of: name, from: manager)
    let sliced = try await engine.inShortestSlices {
      try await random.export(of: name, from: manager)
    }
    #expect(sliced == whole)
    await manager.close()
  }

  /// The bytes of an export: the lines and their correct manifest.
  private static func export(
    _ lines: [String], documents: Int = 0, bodies: Int = 0, notes: Int = 0
  ) -> [UInt8] {
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    let digest = Hex.string(Array(SHA256.hash(data: bytes)))
    let manifest = """
      {"manifest":{"documents":\(documents),"tombstones":0,"bodies":\(bodies),"notes":\(notes),\
      "lines":\(lines.count),"bytes":\(bytes.count),"sha256":"\(digest)"}}

      """
    return bytes + Array(manifest.utf8)
  }

  private func read(
    _ lines: [String], documents: Int = 0, bodies: Int = 0, notes: Int = 0
  ) async throws -> DocumentStore {
    try await read(Self.export(lines, documents: documents, bodies: bodies, notes: notes))
  }

  @discardableResult
  private func read(_ bytes: [UInt8], limits: StoreLimits = .full) async throws -> DocumentStore {
    let storage = try #require(try await MemoryEngine().open(.system, creating: true))
    let store = DocumentStore(
      name: .system, storage: storage, limits: limits,
      now: { Timestamp(seconds: 1_800_000_000) })
    var reading = AccountImport(into: store, as: .server, RandomStore.notes)
    try await reading.take(bytes)
    _ = try await reading.finish()
    return store
  }

  private func refusal(_ use: () async throws -> Void) async -> ServiceError? {
    do { try await use() } catch { return ServiceError(error) }
    return nil
  }
}
