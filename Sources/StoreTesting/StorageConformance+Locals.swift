import Documents
import Stores

extension StorageConformance {
  /// Claims about local documents.
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
    Claim("local documents are committed with the documents of their decision") { bench in
      try await bench.withStorage { storage in
        let (id, note) = (try DocumentID("a"), LocalID(receipt: "once"))
        let wrote = try await storage.update([id], at: .start) { view throws(StoreError) in
          let isKnown = try view.local(note) != nil
          let mutation = try applying { () throws(DocumentError) in
            try Edit.put(id, in: nil, base: nil, body: .empty)
          }
          return Decision(
            [mutation], locals: [LocalEdit(note, LocalDocument(revision: 1, body: [7]))],
            value: !isKnown)
        }
        try require(wrote.value, is: true, "the note before")
        let both = try await storage.read { view throws(StoreError) in
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
          let seen = try await storage.update([], at: .start.adding(seconds: Int64(moment))) {
            view throws(StoreError) in
            let seen = [try view.local(short) != nil, try view.local(long) != nil]
            return Decision(value: seen)
          }
          try require(seen.value, is: [isThere, true], "after \(moment) seconds")
        }
        try await storage.setLocal(short, document, expires: end.adding(seconds: 60))
        let again = try await storage.update([], at: end.adding(seconds: 1)) {
          view throws(StoreError) in Decision(value: try view.local(short) != nil)
        }
        try require(again.value, is: true, "written again with a later end")
      }
    },
  ]
}
