import Documents
import Stores

extension StorageConformance {
  static let documents: [Claim] = [
    Claim("a document comes back as it was put, byte for byte") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let text = #"{"n":1.0,"big":12345678901234567890,"e":"\u00e9\u0000","z":null,"a":[1E2]}"#
        let revision = try await storage.put(id, text)
        let document = try required(try await storage.document(id), "the document")
        try require(document.text, is: text, "the body")
        try require(document.revision, is: revision, "the revision")
        try require(document.isDeleted, is: false, "deleted")
        try require(document.sequence, is: 1, "the sequence")
        try require(try await storage.document(try DocumentID("b"))?.id, is: nil, "an unused id")
        try require(try await storage.tree(try DocumentID("b")), is: nil, "an unused id's tree")
      }
    },
    Claim("ids are told apart and ordered by their bytes") { bench in
      try await bench.withStorage { storage in
        // In byte order; "é" occurs composed and decomposed.
        let texts = [
          "\r\n", "%2f", "/\u{338}", "A", "_design/x", "a", "e\u{301}", "\u{e9}", "\u{202e}x",
          "\u{ff21}", String(repeating: "\u{1f3e8}", count: 128), "\u{1f468}\u{200d}\u{1f469}",
        ]
        for text in texts.reversed() { try await storage.put(try DocumentID(text), "{}") }
        try require(try await storage.info().documentCount, is: Int64(texts.count), "documents")
        let found = try await storage.ids(in: DocumentRange())
        try require(found.map { Array($0.utf8) }, is: texts.map { Array($0.utf8) }, "ids")
        for text in texts {
          let document = try await storage.document(try DocumentID(text))
          try require(document.map { Array($0.id.text.utf8) }, is: Array(text.utf8), "an id")
        }
      }
    },
    Claim("ranges hold their bounds, both ways, and stop when told") { bench in
      try await bench.withStorage { storage in
        for text in ["a", "b", "c", "d"] { try await storage.put(try DocumentID(text), "{}") }
        let cases: [(DocumentRange, [String])] = [
          (DocumentRange(start: "b"), ["b", "c", "d"]),
          (DocumentRange(end: "c"), ["a", "b", "c"]),
          (DocumentRange(end: "c", includesEnd: false), ["a", "b"]),
          (DocumentRange(start: "aa", end: "cc"), ["b", "c"]),
          (DocumentRange(start: "b", end: "b"), ["b"]),
          (DocumentRange(start: "b", end: "b", includesEnd: false), []),
          (DocumentRange(start: "c", end: "b"), []),
          (DocumentRange(start: ""), ["a", "b", "c", "d"]),
          (DocumentRange(end: ""), []),
          (DocumentRange(descending: true), ["d", "c", "b", "a"]),
          (DocumentRange(start: "b", end: "d", includesEnd: false, descending: true), ["c", "b"]),
          (DocumentRange(start: "b\u{0}"), ["c", "d"]),
        ]
        for (range, wanted) in cases {
          try require(try await storage.ids(in: range), is: wanted, "\(range)")
        }
        try require(try await storage.ids(in: DocumentRange(), limit: 2), is: ["a", "b"], "a stop")
        let last = try await storage.ids(in: DocumentRange(descending: true), limit: 1)
        try require(last, is: ["d"], "a stop on the way down")
      }
    },
    Claim("tombstones are walked where asked, and found by id") { bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        let first = try await storage.put(a, #"{"x":1}"#)
        try await storage.put(b, "{}")
        let second = try await storage.put(a, #"{"by":"me"}"#, base: first, isDeleted: true)
        try require(try await storage.ids(in: DocumentRange()), is: ["b"], "live ids")
        let all = try await storage.ids(in: DocumentRange(includesDeleted: true))
        try require(all, is: ["a", "b"], "all ids")
        let document = try required(try await storage.document(a), "the tombstone")
        try require(document.isDeleted, is: true, "deleted")
        try require(document.revision, is: second, "revision")
        try require(document.text, is: #"{"by":"me"}"#, "a tombstone's fields")
      }
    },
    Claim("documents are found by type, live ones alone, as their winners say") { bench in
      try await bench.withStorage { storage in
        let ids = try ["c", "a", "b", "d"].map { text in try DocumentID(text)
        }
        var revisions: [RevisionID] = []
        for id in ids { revisions.append(try await storage.put(id, #"{"type":"hotel"}"#)) }
        try require(try await storage.ids(ofType: "hotel"), is: ["a", "b", "c", "d"], "all")
        try await storage.put(ids[0], #"{"type":"other"}"#, base: revisions[0])
        try await storage.put(ids[1], #"{"type":"hotel"}"#, base: revisions[1], isDeleted: true)
        try await storage.put(ids[2], #"{"type":7}"#, base: revisions[2])
        try require(try await storage.ids(ofType: "hotel"), is: ["d"], "those left")
        try require(try await storage.ids(ofType: "other"), is: ["c"], "another type")
        try require(try await storage.ids(ofType: "7"), is: [], "a type that is no string")
        try require(try await storage.ids(ofType: ""), is: [], "the empty type")
      }
    },
    Claim("types are told apart by their bytes") { bench in
      try await bench.withStorage { storage in
        try await storage.put(try DocumentID("a"), "{\"type\":\"\u{e9}\"}")
        try await storage.put(try DocumentID("b"), "{\"type\":\"e\u{301}\"}")
        try require(try await storage.ids(ofType: "\u{e9}"), is: ["a"], "composed")
        try require(try await storage.ids(ofType: "e\u{301}"), is: ["b"], "decomposed")
      }
    },
    Claim("a body of a mebibyte comes back whole") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("large")
        let half = String(repeating: "\u{1f3e8}", count: (1 << 19) / 4 - 8)
        let text = "{\"a\":\"\(half)\",\"b\":\"\(half)\"}"
        try await storage.put(id, text)
        try require(try await storage.document(id)?.text.utf8.count, is: text.utf8.count, "length")
        try require(try await storage.document(id)?.text == text, "the body differs")
        try require(try await storage.info().bodyBytes, is: Int64(text.utf8.count), "bytes counted")
      }
    },
  ]
}
