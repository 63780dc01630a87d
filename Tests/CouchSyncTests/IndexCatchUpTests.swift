import CouchQuery
import CouchSync
import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

struct IndexCatchUpTests {
  private let name = StoreName.system

  @Test func indexFollowsUpdatesAndDeletions() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let query = #"{"selector":{"n":{"$gt":0}},"sort":["n"]}"#
    #expect(try await couch.found(query) == "")
    var first = try await couch.put("a", #"{"n":1}"#)
    let second = try await couch.put("b", #"{"n":2}"#)
    try await couch.put("c", #"{"n":3}"#)
    try await couch.put("d", #"{"m":3}"#)
    #expect(try await couch.found(query) == "a b c")
    first = try await couch.put("a", #"{"n":9}"#, rev: first)
    #expect(try await couch.found(query) == "b c a")
    try await couch.delete("b", rev: second)
    #expect(try await couch.found(query) == "c a")
    try await couch.put("a", #"{"m":9}"#, rev: first)
    #expect(try await couch.found(query) == "c")
    try await couch.put("b", #"{"n":5}"#)
    #expect(try await couch.found(query) == "c b")
    #expect(try await couch.builtIndexes() == 1)
  }

  @Test func indexFollowsTheWinner() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.graft("a", "1-a", body: #","n":1"#)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a")
    try await couch.graft("a", "1-b", body: #","n":2"#)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "")
    #expect(try await couch.found(#"{"selector":{"n":2}}"#) == "a")
    try await couch.graft("a", "2-c", "1-b", deleted: true)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a")
    try await couch.graft("a", "2-d", "1-a", deleted: true)
    #expect(try await couch.found(#"{"selector":{"n":{"$gt":0}}}"#) == "")
  }

  @Test func purgedDocumentIsFoundNoMore() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.put("a", #"{"n":1}"#)
    try await couch.graft("b", "1-a", body: #","n":1"#)
    try await couch.graft("b", "1-b", body: #","n":2"#)
    #expect(try await couch.found(#"{"selector":{"n":{"$gt":0}}}"#) == "a b")
    try await purge(couch, "a", keeping: [])
    try await purge(couch, "b", keeping: ["1-a"])
    #expect(try await couch.found(#"{"selector":{"n":{"$gt":0}}}"#) == "b")
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "b")
    try await couch.put("a", #"{"n":7}"#)
    #expect(try await couch.found(#"{"selector":{"n":{"$gt":0}},"sort":["n"]}"#) == "b a")
  }

  private func purge(_ couch: Couch, _ id: String, keeping: [String]) async throws {
    let id = try DocumentID(id)
    var tree = RevisionTree()
    for revision in keeping { _ = try tree.graft([RevisionID(revision)], isDeleted: false) }
    let purge = Purge(id: id, tree: tree)
    try await couch.store.update(loading: [id]) { changes in changes.purge(purge)
    }
  }

  @Test func writesDoNotWaitForAnIndex() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.put("a", #"{"n":1}"#)
    #expect(try await couch.builtIndexes() == 0)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a")
    #expect(try await couch.builtIndexes() == 1)
  }

  @Test func manyChangesAreTakenInSteps() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let count = QueryLimits.catchUpChanges + 300
    let documents = (0..<count).map { #"{"_id":"d\#($0)","n":\#($0)}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(documents)]}"#)
    let answer = try await couch.find(
      #"{"selector":{"n":{"$gte":0}},"sort":["n"],"limit":5000,"fields":["n"]}"#)
    let numbers = (answer.json["docs"]?.array ?? []).compactMap { $0["n"]?.int }
    #expect(numbers == Array(0..<count))
  }

  @Test func concurrentQueriesBuildOneIndex() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    for number in 100..<160 { try await couch.put("d\(number)", #"{"n":\#(number)}"#) }
    let found = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 {
        group.addTask { try await couch.found(#"{"selector":{"n":{"$gt":155}}}"#) }
      }
      var found: Set<String> = []
      for try await one in group { found.insert(one) }
      return found
    }
    #expect(found == ["d156 d157 d158 d159"])
  }

  @Test(arguments: Array(stride(from: 1, through: 16, by: repetitions(3, nightly: 1))))
  func indexThatIsRemovedMeanwhileLosesNoDocument(call: Int) async throws {
    let storage = try #require(try await MemoryEngine().open(name, creating: true))
    let couch = Couch(storage)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let count = QueryLimits.catchUpChanges + 100
    let documents = (0..<count).map { #"{"_id":"d\#($0)","n":\#($0)}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(documents)]}"#)
    for isLasting in [false, true] {
      let removing = HookedStorage(storage) { number, storage in
        guard isLasting ? number >= call : number == call else { return }
        try await storage.update(loading: [], at: Timestamp(milliseconds: 0)) { changes in
          for index in try changes.view.indexes() { changes.write(.remove(index, entries: 1)) }
        }
      }
      let answer = try await Couch(removing).find(
        #"{"selector":{"n":{"$gte":0}},"sort":["n"],"limit":5000,"fields":["n"]}"#)
      let numbers = (answer.json["docs"]?.array ?? []).compactMap { $0["n"]?.int }
      #expect(numbers == Array(0..<count))
    }
  }

  @Test func equalDefinitionsShareTheirData() async throws {
    let couch = try await Couch()
    for name in ["x", "y"] {
      try await couch.index(#"{"index":{"fields":["n"]},"ddoc":"\#(name)"}"#)
    }
    try await couch.put("a", #"{"n":1}"#)
    for name in ["x", "y"] {
      #expect(try await couch.found(#"{"selector":{"n":1},"use_index":"\#(name)"}"#) == "a")
    }
    #expect(try await couch.builtIndexes() == 1)
  }

  @Test func dataWithoutADefinitionIsRemovedInPassing() async throws {
    let couch = try await Couch()
    for name in ["x", "y"] {
      try await couch.index(#"{"index":{"fields":["\#(name)"]},"ddoc":"\#(name)","name":"n"}"#)
      _ = try await couch.found(#"{"selector":{"\#(name)":1}}"#)
    }
    #expect(try await couch.builtIndexes() == 2)
    for name in ["x", "y"] {
      _ = try await couch.database.deleteIndex(design: name, type: "json", name: "n")
    }
    #expect(try await couch.builtIndexes() == 2)
    for left in [1, 0, 0] {
      _ = try await couch.found(#"{"selector":{}}"#)
      #expect(try await couch.builtIndexes() == left)
    }
  }

  @Test(arguments: [ServiceError.Code.storageFull, .readOnly])
  func queryIsAnsweredWithoutTheIndexWhereNothingCanBeWritten(code: ServiceError.Code) async throws
  {
    let engine = MemoryEngine()
    let couch = try await Couch(engine, name)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    for (id, n) in [("a", 3), ("b", 1), ("c", 2), ("d", 1)] {
      try await couch.put(id, #"{"n":\#(n)}"#)
    }
    engine.failWrites(to: name, with: ServiceError(code, "No"))
    let query = #""selector":{"n":{"$gt":0}},"sort":[{"n":"desc"}],"limit":2"#
    let first = try await couch.find("{\(query)}")
    #expect(first.found == "a c")
    let mark = try #require(first.json["bookmark"]?.string)
    #expect(try await couch.found(#"{\#(query),"bookmark":"\#(mark)"}"#) == "d b")
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "b d")
    #expect(try await couch.builtIndexes() == 0)
  }

  @Test func indexThatIsBehindIsNotUsedWhereNothingCanBeWritten() async throws {
    let engine = MemoryEngine()
    let couch = try await Couch(engine, name)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.put("a", #"{"n":1}"#)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a")
    try await couch.put("b", #"{"n":1}"#)
    engine.failWrites(to: name, with: ServiceError(.readOnly, "No"))
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a b")
  }

  @Test func otherFailuresAreTold() async throws {
    let engine = MemoryEngine()
    let couch = try await Couch(engine, name)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.put("a", #"{"n":1}"#)
    engine.failWrites(to: name, with: ServiceError(.storage, "No"))
    #expect(await refusal { try await couch.find(#"{"selector":{"n":1}}"#) } == "503 storage_error")
  }

  @Test func costlyFilterIsRefusedAndItsIndexNotMissed() async throws {
    let couch = try await Couch()
    let text = String(repeating: "a\u{e9}", count: 150_000)
    try await couch.put("a", #"{"n":1,"t":"\#(text)"}"#)
    try await couch.index(
      #"""
      {"index":{"fields":["n"],
       "partial_filter_selector":{"t":{"$regex":"(?s)(.|a)*a.{0,700}c"}}},"ddoc":"p"}
      """#)
    let query = #"{"selector":{"n":1},"use_index":"p"}"#
    #expect(await refusal { try await couch.find(query) } == "400 selector_too_costly")
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "a")
  }

  @Test func entriesOfAnUnusableIndexStandInTheirOrder() async throws {
    let engine = MemoryEngine()
    let couch = try await Couch(engine, name)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let count = 3 * 500 + 70
    let documents = (0..<count).map { #"{"_id":"d\#($0)","n":\#($0 * 7_919 % count)}"# }
    _ = try await couch.bulk(#"{"docs":[\#(documents.joined(separator: ","))]}"#)
    engine.failWrites(to: name, with: ServiceError(.readOnly, "No"))
    let answer = try await couch.find(
      #"{"selector":{"n":{"$gte":0}},"sort":["n"],"limit":5000,"fields":["n"]}"#)
    let numbers = (answer.json["docs"]?.array ?? []).compactMap { $0["n"]?.int }
    #expect(numbers == Array(0..<count))
  }

  @Test(
    arguments: [
      (#"{"$lt":2}"#, "a b"), (#"{"$lte":2}"#, "a b c d"), (#"{"$gt":2}"#, "e"),
      (#"{"$gte":2}"#, "c d e"), (#"{"$eq":2}"#, "c d"), (#"{"$gt":0,"$lt":3}"#, "b c d"),
      (#"{"$gte":1,"$lte":2}"#, "b c d"), (#"{"$gt":2,"$lt":2}"#, ""), (#"{"$gt":"x"}"#, ""),
      (#"{"$in":[1,3]}"#, "b e"),
    ])
  func boundsLeaveOutNothingAndReadNothingElse(condition: String, ids: String) async throws {
    let couch = try await Couch()
    for (id, n) in [("a", "0"), ("b", "1"), ("c", "2"), ("d", "2.0"), ("e", "3")] {
      try await couch.put(id, #"{"n":\#(n),"m":1}"#)
    }
    for fields in [#"["n"]"#, #"["n","m"]"#] {
      try await couch.index(#"{"index":{"fields":\#(fields)},"ddoc":"i","name":"i"}"#)
      let selector = #"{"n":\#(condition),"m":{"$exists":true}}"#
      for direction in ["asc", "desc"] {
        let answer = try await couch.find(
          #"{"selector":\#(selector),"sort":[{"n":"\#(direction)"}],"execution_stats":true}"#)
        let found = answer.found.split(separator: " ")
        #expect((direction == "asc" ? found : found.reversed()).joined(separator: " ") == ids)
        let examined = try #require(answer.json["execution_stats"]?["total_keys_examined"]?.int)
        #expect(examined <= max(found.count, condition.contains("in") ? 5 : 0))
      }
    }
  }

  @Test func stringsStandInTheirOrder() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["t"]}}"#)
    for (number, text) in ["b", "B", "a", "A", "ä", "z", ""].enumerated() {
      try await couch.put("d\(number)", #"{"t":"\#(text)"}"#)
    }
    let answer = try await couch.find(#"{"selector":{"t":{"$gt":null}},"fields":["t"]}"#)
    let texts = (answer.json["docs"]?.array ?? []).compactMap { $0["t"]?.string }
    #expect(texts == ["", "a", "A", "ä", "b", "B", "z"])
  }
}
