import Documents
package import Stores

extension StorageConformance {
  static let locals: [Claim] = [
    Claim("local documents are written, replaced and removed, in no feed and no count") { bench in
      try await bench.withStorage { storage in
        let id = try LocalID(client: "_local/\u{e9}%2f")
        try require(try await storage.local(id), is: nil, "before")
        let first = LocalDocument(revision: 1, body: Array("{}".utf8))
        try await storage.setLocal(id, first)
        try require(try await storage.local(id), is: first, "written")
        let other = try LocalID(client: "_local/e\u{301}%2f")
        try require(try await storage.local(other), is: nil, "the same id decomposed")
        let second = LocalDocument(revision: 2, body: [0, 255, 10])
        try await storage.setLocal(id, second)
        try require(try await storage.local(id), is: second, "replaced")
        let info = try await storage.info()
        try require(info.lastSequence, is: 0, "last sequence")
        try require(info.documentCount + info.deletedCount, is: 0, "documents")
        try await storage.setLocal(id, nil)
        try require(try await storage.local(id), is: nil, "removed")
      }
    },
    Claim("local documents are committed with the documents of their update") { bench in
      try await bench.withStorage { storage in
        let (id, note) = (try DocumentID("a"), LocalID(receipt: "once"))
        let seen = try await storage.update(loading: [id], at: .start) {
          changes in
          let before = try changes.local(note) != nil
          try changes.put(id, base: nil, body: .empty)
          changes.write(LocalEdit(note, LocalDocument(revision: 1, body: [7])))
          return [before, try changes.local(note) != nil, try changes.tree(id) != nil]
        }
        try require(seen, is: [false, true, true], "the note before; note and document after")
        let both = try await storage.read { view in
          [try view.local(note) != nil, try view.document(id) != nil]
        }
        try require(both, is: [true, true], "note and document")
      }
    },
    Claim("a local document is forgotten after its time, and not before") { bench in
      try await bench.withStorage { storage in
        let (short, long) = (LocalID(receipt: "short"), LocalID(receipt: "long"))
        let document = LocalDocument(revision: 1, body: [1])
        let end = Timestamp.start.adding(seconds: 60)
        try await storage.setLocal(short, document, expires: end)
        try await storage.setLocal(long, document)
        try require(try await storage.local(short), is: document, "at once")
        for (moment, isThere) in [(59, true), (61, false)] {
          let seen = try await storage.update(
            loading: [], at: .start.adding(seconds: Int64(moment))
          ) { changes in
            [try changes.local(short) != nil, try changes.local(long) != nil]
          }
          try require(seen, is: [isThere, true], "after \(moment) seconds")
        }
        try await storage.setLocal(short, document, expires: end.adding(seconds: 60))
        let again = try await storage.update(loading: [], at: end.adding(seconds: 1)) {
          changes in try changes.local(short) != nil
        }
        try require(again, is: true, "written again with a later end")
      }
    },
    Claim("local documents whose time is over are named until they are removed") { bench in
      try await bench.withStorage { storage in
        let end = Timestamp.start.adding(seconds: 60)
        let document = LocalDocument(revision: 1, body: [1])
        for number in 0..<3 {
          try await storage.setLocal(LocalID(receipt: "\(number)"), document, expires: end)
        }
        try await storage.setLocal(LocalID(receipt: "stays"), document)
        for (moment, limit, count) in [(59, 9, 0), (60, 2, 2), (60, 9, 3)] {
          let ids = try await storage.read { view in
            try view.expiredLocals(at: .start.adding(seconds: Int64(moment)), limit: limit)
          }
          try require(ids.count, is: count, "\(limit) after \(moment) seconds")
        }
        try await storage.setLocal(LocalID(receipt: "1"), nil)
        let ids = try await storage.read { view in
          try view.expiredLocals(at: end, limit: 9).map(\.text).sorted()
        }
        try require(ids, is: ["receipt/0", "receipt/2"], "what is left")
      }
    },
    Claim("local documents are walked in byte order, both ways, without those whose time is over") {
      bench in
      try await bench.withStorage { storage in
        let texts = ["_local/a", "_local/b", "_local/e\u{301}", "_local/\u{e9}", "receipt/x"]
        let end = Timestamp.start.adding(seconds: 60)
        for (number, text) in texts.enumerated().reversed() {
          let document = LocalDocument(revision: Int64(number), body: [UInt8(number)])
          let expires = text.utf8.last == UInt8(ascii: "b") ? end : nil
          try await storage.setLocal(LocalID(stored: text), document, expires: expires)
        }
        let early = try await locals(storage, DocumentRange(), at: .start)
        try require(early, is: [0, 1, 2, 3, 4], "all")
        let cases: [(DocumentRange, [Int64])] = [
          (DocumentRange(), [0, 2, 3, 4]), (DocumentRange(descending: true), [4, 3, 2, 0]),
          (DocumentRange(start: "_local/", end: "_local0"), [0, 2, 3]),
          (DocumentRange(start: "_local/b"), [2, 3, 4]),
          (DocumentRange(start: "_local/a\u{0}"), [2, 3, 4]),
          (DocumentRange(end: "_local/e\u{301}"), [0, 2]),
          (DocumentRange(end: "_local/e\u{301}", includesEnd: false), [0]),
          (DocumentRange(end: "_local/e\u{301}", includesEnd: false, descending: true), [0]),
          (DocumentRange(start: "x", end: "a"), []), (DocumentRange(end: ""), []),
        ]
        for (range, wanted) in cases {
          try require(
            try await locals(storage, range, at: end.adding(seconds: 1)), is: wanted, "\(range)")
        }
        let first = try await locals(storage, DocumentRange(), at: .start, limit: 1)
        try require(first, is: [0], "a stop")
      }
    },
    Claim("clients' local documents are counted with their bytes, the service's own notes not") {
      bench in
      try await bench.withStorage { storage in
        try require(try await usage(storage), is: [0, 0], "an empty store's")
        for (text, length) in [("_local/a", 3), ("_local/\u{e9}", 4), ("receipt/_local/", 90)] {
          let body = [UInt8](repeating: 1, count: length)
          try await storage.setLocal(
            LocalID(stored: text), LocalDocument(revision: 1, body: body))
        }
        try require(try await usage(storage), is: [2, 7], "two documents'")
        let id = LocalID(stored: "_local/a")
        try await storage.setLocal(id, LocalDocument(revision: 2, body: []))
        try require(try await usage(storage), is: [2, 4], "with an empty one")
        try await storage.setLocal(id, nil)
        try require(try await usage(storage), is: [1, 4], "without it")
      }
    },
  ]

  /// Checks that a document and a local document that can't be read hide no others, and that their ids are known. Each
  /// engine's tests damage them in their own way.
  /// - Parameter damage: changes the bodies of the document and the local document `b`, and returns the store.
  package static func requireReach(
    in storage: any StoreStorage, damaging damage: () async throws -> any StoreStorage
  ) async throws -> any StoreStorage {
    let ids = ["a", "b", "c"]
    for id in ids {
      try await storage.put(DocumentID(id), "{}")
      try await storage.setLocal(LocalID(receipt: id), LocalDocument(revision: 1, body: [1]))
    }
    let damaged = try await damage()
    let found = try await damaged.read { view in
      var found: [[String]] = [[], [], []]
      try view.allLocals(DocumentRange()) { id, document in
        found[document == nil ? 1 : 0].append(id.text)
        return true
      }
      try view.documents(DocumentRange()) { document in
        found[2].append(document.id.text)
        return false
      }
      let next = try view.count(DocumentRange(start: "a\u{0}"), among: 1).last
      found[2] += [next?.text ?? ""]
      try view.documents(DocumentRange(start: "b\u{0}")) { document in
        found[2].append(document.id.text)
        return true
      }
      if try unlessDamaged({ try view.document(DocumentID("b")) }) != nil { found[2] = [] }
      if try unlessDamaged({ try view.locals(DocumentRange()) { _, _ in true } }) != nil {
        found[1] = []
      }
      return found
    }
    let locals = ids.map { LocalID(receipt: $0).text }
    try require(found, is: [[locals[0], locals[2]], [locals[1]], ids], "what can be read")
    return damaged
  }

  private static func usage(_ storage: any StoreStorage) async throws -> [Int64] {
    try await storage.read { view in
      let usage = try view.localUsage(of: LocalID.clientPrefix)
      return [usage.count, usage.bytes]
    }
  }

  /// The revisions of the local documents in a range at a moment. The body of each must be its revision.
  private static func locals(
    _ storage: any StoreStorage, _ range: DocumentRange, at now: Timestamp, limit: Int = .max
  ) async throws -> [Int64] {
    try await storage.update(loading: [], at: now) { changes in
      let view = changes.view
      var found: [Int64] = []
      try view.locals(range) { id, document in
        guard try view.local(id) == document, document.body == [UInt8(document.revision)] else {
          return false
        }
        found.append(document.revision)
        return found.count < limit
      }
      return found
    }
  }
}
