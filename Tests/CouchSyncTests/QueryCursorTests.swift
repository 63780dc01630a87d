import CouchQuery
import Documents
import StoreTesting
import TestSupport
import Testing

struct QueryCursorTests {
  private func letters() async throws -> Couch {
    let couch = try await Couch()
    for id in ["a", "b", "c", "d", "e"] {
      try await couch.put(id, #"{"type":"t","n":"\#(id)","same":1}"#)
    }
    return couch
  }

  private func bookmark(_ couch: Couch, _ body: String) async throws -> String {
    try #require(try await couch.find(body).json["bookmark"]?.string)
  }

  @Test(arguments: ["", #","sort":["n"]"#, #","use_index":"same""#])
  func walkGoesOnBehindTheLastDocument(options: String) async throws {
    let couch = try await letters()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.index(#"{"index":{"fields":["same"]},"ddoc":"same"}"#)
    let query = #""selector":{"n":{"$gt":null},"same":1},"limit":2\#(options)"#
    let first = try await couch.find("{\(query)}")
    #expect(first.found == "a b")
    let mark = try #require(first.json["bookmark"]?.string)
    let second = try await couch.find(#"{\#(query),"bookmark":"\#(mark)"}"#)
    #expect(second.found == "c d")
    let next = try #require(second.json["bookmark"]?.string)
    #expect(try await couch.found(#"{\#(query),"bookmark":"\#(next)","skip":1}"#) == "")
    #expect(try await couch.found(#"{\#(query),"bookmark":"\#(next)"}"#) == "e")
  }

  @Test func endLeadsToItself() async throws {
    let couch = try await letters()
    let end = try await bookmark(couch, #"{"selector":{"same":1}}"#)
    let after = try await couch.find(#"{"selector":{"same":1},"bookmark":"\#(end)"}"#)
    #expect(after.found == "")
    #expect(after.json["bookmark"]?.string == end)
    #expect(try await bookmark(couch, #"{"selector":{"same":2}}"#) == "nil")
    #expect(try await couch.found(#"{"selector":{"same":1},"limit":1,"bookmark":"nil"}"#) == "a")
  }

  @Test func changedAndDeletedDocumentsDoNotStopTheWalk() async throws {
    let couch = try await letters()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    for options in ["", #","sort":["n"]"#] {
      let query = #""selector":{"n":{"$gt":null}},"limit":2\#(options)"#
      let mark = try await bookmark(couch, "{\(query)}")
      let old = try #require(try await couch.get("b").json["_rev"]?.string)
      try await couch.delete("b", rev: old)
      #expect(try await couch.found(#"{\#(query),"bookmark":"\#(mark)"}"#) == "c d")
      try await couch.put("b", #"{"type":"t","n":"b","same":1}"#)
    }
  }

  @Test func bookmarkOfAnotherWayIsRefused() async throws {
    let couch = try await letters()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let all = try await bookmark(couch, #"{"selector":{"same":1},"limit":1}"#)
    let types = try await bookmark(couch, #"{"selector":{"type":"t"},"limit":1}"#)
    let index = try await bookmark(couch, #"{"selector":{"n":{"$gt":"a"}},"limit":1}"#)
    #expect(Set([all, types, index]).count == 3)
    for mark in [types, index] {
      #expect(
        await refusal {
          try await couch.find(#"{"selector":{"same":1},"bookmark":"\#(mark)"}"#)
        } == "400 invalid_bookmark")
    }
    // Another query on the same index finds its own documents after the cursor, and none before its range.
    #expect(
      try await couch.found(#"{"selector":{"n":{"$gt":"c"}},"bookmark":"\#(index)"}"#) == "d e")
    #expect(
      try await couch.found(#"{"selector":{"n":{"$lt":"b"}},"bookmark":"\#(index)"}"#) == "")
  }

  @Test func indexMadeMeanwhileDoesNotDisturbTheWalk() async throws {
    let couch = try await letters()
    let query = #""selector":{"n":{"$gt":null}},"limit":2"#
    let mark = try await bookmark(couch, "{\(query)}")
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    #expect(try await couch.found(#"{\#(query),"bookmark":"\#(mark)"}"#) == "c d")
  }

  @Test(arguments: [
    "bad-bookmark", "0", "00", "01", "0100", "010000", "01000001", "0100000261", "010000010061",
    "01000001ff", "0100000100", "0103000161", "0200000161", "01000001610000", "0102000161",
    "01020011223344556677", "010000015F", "01000001 61", "g2wAAAABaANkABFub2RlMUBjb3VjaGRi",
    "nil0", "NIL", "\u{0}", "é",
  ])
  func garbageIsRefused(text: String) async throws {
    let couch = try await letters()
    let body = JSONValue.object(["selector": [:], "bookmark": .string(text)]).bytes
    #expect(
      await refusal {
        try await couch.find(String(decoding: body, as: UTF8.self))
      } == "400 invalid_bookmark")
  }

  @Test func anyBytesAreReadOrRefused() async throws {
    let couch = try await letters()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let mark = try await bookmark(couch, #"{"selector":{"n":{"$gt":"a"}},"limit":1}"#)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<400 {
      var bytes = Array(mark.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let offset = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          bytes[offset] = Array("0123456789abcdef".utf8).randomElement(using: &generator) ?? 0x30
        case 1: bytes.remove(at: offset)
        default: bytes.insert(0x30, at: offset)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let query = #"{"selector":{"n":{"$gt":"a"}},"bookmark":"\#(text)"}"#
      let outcome = await refusal { try await couch.find(query) }
      #expect(["none", "400 invalid_bookmark"].contains(outcome))
    }
  }

  @Test func textOfAnyLengthIsBounded() async throws {
    let couch = try await letters()
    let long = String(repeating: "00", count: 5_000)
    #expect(
      await refusal {
        try await couch.find(#"{"selector":{},"bookmark":"\#(long)"}"#)
      } == "400 invalid_bookmark")
    let big = String(repeating: "z", count: 100_000)
    try await couch.put("big", #"{"n":"\#(big)"}"#)
    try await couch.put("big2", #"{"n":"\#(big)z"}"#)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let query = #""selector":{"n":{"$gt":"f"}},"limit":1"#
    let first = try await couch.find("{\(query)}")
    let mark = try #require(first.json["bookmark"]?.string)
    #expect(mark.utf8.count <= 2 * (12 + 512 + QueryLimits.keyBytes))
    let second = try await couch.find(#"{\#(query),"bookmark":"\#(mark)"}"#)
    #expect(Set([first.found, second.found]) == ["big", "big2"])
  }
}
