import Documents
import Stores

extension StorageConformance {
  static let indexes: [Claim] = [
    Claim("an index is there once it was advanced, and knows how far it has come") { bench in
      try await bench.withStorage { storage in
        let (index, other) = (IndexID("one"), IndexID("other"))
        try require(try await storage.indexedSequence(index), is: nil, "before")
        try require(try await storage.indexes(), is: [], "no index")
        try require(try await storage.ids(in: index), is: [], "entries of no index")
        try await storage.edit(try advance(index, [], upTo: 0))
        try require(try await storage.indexedSequence(index), is: 0, "an empty index")
        try await storage.edit(try advance(index, [("a", [1])], upTo: 7))
        try require(try await storage.indexedSequence(index), is: 7, "after an advance")
        try require(try await storage.indexedSequence(other), is: nil, "another index")
        try require(try await storage.ids(in: other), is: [], "another index's entries")
        let info = try await storage.info()
        try require(info.lastSequence, is: 0, "the store's own sequence")
        try require(info.documentCount + info.deletedCount, is: 0, "documents")
      }
    },
    Claim("the names of indexes come in byte order, and are told apart by their bytes") { bench in
      try await bench.withStorage { storage in
        let names = ["\u{0}", "B", "a", "e\u{301}", "\u{e9}"].map { IndexID($0) }
        for name in names.reversed() {
          try await storage.edit(try advance(name, [], upTo: Int64(name.text.utf8.count)))
        }
        try require(try await storage.indexes(), is: names, "names")
        for name in names {
          let sequence = try await storage.indexedSequence(name)
          try require(sequence, is: Int64(name.text.utf8.count), "\(name)")
        }
      }
    },
    Claim("entries come in the order of their keys' bytes, then of their ids, both ways") { bench in
      try await bench.withStorage { storage in
        let index = IndexID("order")
        let ordered: [(String, [UInt8])] = [
          ("z", []), ("b", [0]), ("c", [0]), ("a", [0, 0]), ("y", [0, 255]), ("d", [1]),
          ("e\u{301}", [127]), ("\u{e9}", [127]), ("x", [128]), ("w", [255]), ("v", [255, 255]),
        ]
        try await storage.edit(try advance(index, ordered.reversed(), upTo: 1))
        let ids = ordered.map(\.0)
        try require(
          try await storage.ids(in: index).map { Array($0.utf8) }, is: ids.map { Array($0.utf8) },
          "upwards")
        let down = try await storage.ids(in: index, IndexRange(descending: true))
        try require(
          down.map { Array($0.utf8) }, is: ids.reversed().map { Array($0.utf8) }, "downwards")
        try require(try await storage.ids(in: index, limit: 2), is: ["z", "b"], "a stop")
        let last = try await storage.ids(in: index, IndexRange(descending: true), limit: 1)
        try require(last, is: ["v"], "a stop on the way down")
      }
    },
    Claim("a range of keys holds its start and leaves out its end") { bench in
      try await bench.withStorage { storage in
        let index = IndexID("range")
        let entries: [(String, [UInt8])] = [
          ("a", [1]), ("b", [1, 0]), ("c", [2]), ("d", [2]), ("e", [2, 7]), ("f", [3]),
        ]
        try await storage.edit(try advance(index, entries, upTo: 1))
        // Another index, whose entry must not be found.
        try await storage.edit(try advance(IndexID("next"), [("x", [2])], upTo: 1))
        let cases: [(IndexRange, [String])] = [
          (IndexRange(start: [2]), ["c", "d", "e", "f"]),
          (IndexRange(end: [2]), ["a", "b"]),
          (IndexRange(start: [2], end: [3]), ["c", "d", "e"]),
          (IndexRange(start: [1, 0], end: [2, 7]), ["b", "c", "d"]),
          (IndexRange(start: [2], end: [2]), []),
          (IndexRange(start: [3], end: [2]), []),
          (IndexRange(start: [2], end: [3], descending: true), ["e", "d", "c"]),
          (IndexRange(start: [2], descending: true), ["f", "e", "d", "c"]),
          (IndexRange(start: [9]), []), (IndexRange(end: []), []),
          (IndexRange(start: [2], id: "c"), ["d", "e", "f"]),
          (IndexRange(start: [2], end: [3], id: "b"), ["c", "d", "e"]),
          (IndexRange(start: [2], end: [3], id: "e"), ["e"]),
          (IndexRange(end: [2], descending: true, id: "e"), ["d", "c", "b", "a"]),
          (IndexRange(start: [2], end: [2], descending: true, id: "e"), ["d", "c"]),
        ]
        for (range, wanted) in cases {
          try require(try await storage.ids(in: index, range), is: wanted, "\(range)")
        }
      }
    },
    Claim("an advance replaces the entries of its documents and leaves the others") { bench in
      try await bench.withStorage { storage in
        let index = IndexID("replaced")
        try await storage.edit(
          try advance(index, [("a", [1]), ("b", [2]), ("c", [3]), ("d", [4])], upTo: 4))
        let ids = try ["a", "b", "x"].map { text in try DocumentID(text) }
        let moved = IndexEntry(id: ids[0], key: [9])
        try await storage.edit(.advance(index, documents: ids, entries: [moved], sequence: 6))
        try require(try await storage.ids(in: index), is: ["c", "d", "a"], "entries")
        try require(try await storage.indexedSequence(index), is: 6, "how far")
        try await storage.edit(try advance(index, [("c", [3]), ("b", [5])], upTo: 8))
        try require(try await storage.ids(in: index), is: ["c", "d", "b", "a"], "entries again")
      }
    },
    Claim("an entry comes with what the index keeps of its document, where that is wanted") {
      bench in
      try await bench.withStorage { storage in
        let index = IndexID("kept")
        let contents: [(id: String, content: [UInt8]?)] = [
          ("a", nil), ("b", []), ("c", [0, 255, 0]), ("d", [UInt8](repeating: 7, count: 5_000)),
        ]
        let entries = try contents.map { id, content in
          IndexEntry(id: try DocumentID(id), key: [1], content: content)
        }
        let ids = entries.map(\.id)
        try await storage.edit(.advance(index, documents: ids, entries: entries, sequence: 1))
        try await storage.edit(try advance(IndexID("other"), [("c", [1])], upTo: 1))
        let wanted = IndexRange(start: [1], end: [2], wantsContent: true)
        try require(try await storage.entries(of: index, wanted), is: entries, "entries")
        var down = wanted
        down.descending = true
        try require(
          try await storage.entries(of: index, down), is: entries.reversed(), "downwards")
        try require(
          try await storage.entries(of: index, IndexRange()).map(\.content),
          is: [nil, nil, nil, nil], "where it is not wanted")
        let other = try await storage.entries(of: IndexID("other"), wanted)
        try require(other.map(\.content), is: [nil], "another index's")
        let changed = [
          IndexEntry(id: ids[2], key: [1], content: [9]), IndexEntry(id: ids[3], key: [1]),
        ]
        try await storage.edit(
          .advance(index, documents: Array(ids[2...]), entries: changed, sequence: 2))
        try require(
          try await storage.entries(of: index, wanted), is: entries[..<2] + changed, "replaced")
      }
    },
    Claim("indexes are edited in order, several in one update, and removed alone") { bench in
      try await bench.withStorage { storage in
        let (one, two) = (IndexID("one"), IndexID("two"))
        try await storage.edit(
          try advance(one, [("a", [1])], upTo: 1), try advance(two, [("a", [5])], upTo: 2),
          try advance(one, [("b", [0])], upTo: 3))
        try require(try await storage.ids(in: one), is: ["b", "a"], "the first")
        try require(try await storage.ids(in: two), is: ["a"], "the second")
        try await storage.edit(.remove(one, entries: 9))
        try require(try await storage.indexes(), is: [two], "those left")
        try require(try await storage.ids(in: one), is: [], "entries of a removed one")
        try require(try await storage.ids(in: two), is: ["a"], "the other's entries")
        try await storage.edit(.remove(one, entries: 9))
        try await storage.edit(.remove(two, entries: 9), try advance(two, [("z", [1])], upTo: 9))
        try require(try await storage.ids(in: two), is: ["z"], "one made anew")
        try await storage.edit(try advance(one, [], upTo: 1))
        try require(try await storage.ids(in: one), is: [], "one of an old name")
      }
    },
    Claim("an index is removed in parts, and is not there any more from the first on") { bench in
      try await bench.withStorage { storage in
        let index = IndexID("parts")
        let all = try advance(index, [("a", [1]), ("b", [2]), ("c", [3])], upTo: 3)
        try await storage.edit(all)
        try await storage.edit(.remove(index, entries: 2))
        try require(try await storage.ids(in: index), is: ["c"], "what is left")
        try require(try await storage.indexedSequence(index), is: nil, "how far")
        try require(try await storage.indexes(), is: [index], "an index that has entries")
        try await storage.edit(all)
        try require(try await storage.ids(in: index), is: ["a", "b", "c"], "one built anew")
        try require(try await storage.indexedSequence(index), is: 3, "how far, anew")
        try await storage.edit(.remove(index, entries: 2), .remove(index, entries: 2))
        try require(try await storage.indexes(), is: [], "none is left")
      }
    },
    Claim("a rule that throws leaves indexes as they were; an update sees those before") {
      bench in
      try await bench.withStorage { storage in
        let index = IndexID("kept")
        try await storage.edit(try advance(index, [("a", [1])], upTo: 1))
        let id = try DocumentID("taken")
        try await storage.put(id, "{}")
        do {
          try await storage.update(loading: [id], at: .start) { changes in
            changes.write(.remove(index, entries: 9))
            guard try changes.view.document(id) == nil else {
              throw DocumentError.conflict
            }
          }
          throw ConformanceFailure(description: "the error is lost")
        } catch is DocumentError {}
        try require(try await storage.ids(in: index), is: ["a"], "entries")
        let seen = try await storage.update(loading: [], at: .start) { changes in
          try changes.view.indexedSequence(index)
        }
        try require(seen, is: 1, "the index in an update")
      }
    },
  ]

  static func advance(
    _ index: IndexID, _ entries: [(String, [UInt8])], upTo sequence: Int64
  ) throws -> IndexEdit {
    let entries = try entries.map { id, key in
      IndexEntry(id: try DocumentID(id), key: key)
    }
    return .advance(index, documents: entries.map(\.id), entries: entries, sequence: sequence)
  }
}
