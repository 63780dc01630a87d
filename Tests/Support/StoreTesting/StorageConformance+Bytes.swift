import Documents
import Stores

extension StorageConformance {
  /// Claims about the bytes that a store counts.
  static let bytes: [Claim] = [
    Claim("the bytes of every kept body are counted, as if counted anew, whatever is written") {
      bench in
      try await bench.withStorage { storage in
        let (id, other) = (try DocumentID("a"), try DocumentID("b"))
        let chain = try await storage.putChain(id, count: StoreLimits.storedAncestors + 5)
        try await requireCounted(storage, [id], "a chain")
        for leaf in ["1-a", "1-b"] {
          _ = try await storage.graft(other, [try RevisionID(leaf)], #"{"leaf":"\#(leaf)"}"#)
        }
        try await requireCounted(storage, [id, other], "a losing leaf")
        try await storage.put(other, "{}", base: RevisionID("1-b"), isDeleted: true)
        try await requireCounted(storage, [id, other], "a leaf that came to win")
        try await storage.put(id, "{}", base: chain.last, isDeleted: true)
        try await requireCounted(storage, [id, other], "a tombstone")
        try await purgeLeaves(storage, other) { $0.revision.generation == 1 }
        try await requireCounted(storage, [id, other], "a purged leaf")
        try await purgeLeaves(storage, id) { _ in true }
        try await requireCounted(storage, [id, other], "a purged document")
        try require(
          try await storage.storedBytes(of: id), is: 0, "bytes of a document that is gone")
      }
    },
    Claim("an update without history leaves its documents the bodies of their leaves alone") {
      bench in
      try await bench.withStorage { storage in
        let (id, other) = (try DocumentID("a"), try DocumentID("b"))
        let chain = try await storage.putChain(id, count: 4)
        _ = try await storage.putChain(other, count: 4)
        _ = try await storage.graft(id, [try RevisionID("1-0")], #"{"losing":1}"#)
        let before = try await storage.storedBytes(of: other)
        let last = try await storage.put(id, #"{"n":4}"#, base: chain.last, keepsHistory: false)
        try require(try await storage.storedBytes(of: id), is: 7 + 12, "bytes of both leaves")
        try require(try await storage.storedBytes(of: other), is: before, "another's bytes")
        for revision in chain {
          try require(try await storage.body(id, revision), is: nil, "body of \(revision)")
        }
        try require(try await storage.tree(id)?.nodes.count, is: 6, "revision ids")
        try await requireCounted(storage, [id, other], "no history")
        try await storage.put(id, "{}", base: last, isDeleted: true, keepsHistory: false)
        try require(try await storage.storedBytes(of: id), is: 2 + 12, "bytes after deletion")
        try await requireCounted(storage, [id, other], "a deletion")
      }
    },
    Claim("documents without history keep their leaves' bodies, their trees and their numbers") {
      bench in
      try await bench.withStorage { storage in
        let (id, other, none) = (try DocumentID("a"), try DocumentID("b"), try DocumentID("c"))
        let chain = try await storage.putChain(id, count: 4)
        _ = try await storage.putChain(other, count: 4)
        _ = try await storage.graft(id, [try RevisionID("1-0")], #"{"losing":1}"#)
        let (tree, info) = (try await storage.tree(id), try await storage.info())
        let others = try await storage.storedBytes(of: other)
        try await storage.update(loading: [id, none], at: .start) { changes in
          for id in [id, none] { changes.dropHistory(of: id) }
        }
        for revision in chain.dropLast() {
          try require(try await storage.body(id, revision), is: nil, "body of \(revision)")
        }
        let losing = try await storage.body(id, RevisionID("1-0"))
        try require(losing, is: #"{"losing":1}"#, "a leaf's body")
        try require(try await storage.tree(id), is: tree, "the tree")
        try require(try await storage.storedBytes(of: other), is: others, "another's bytes")
        let last = try await storage.info().lastSequence
        try require(last, is: info.lastSequence, "the last number")
        try await requireCounted(storage, [id, other], "dropped history")
      }
    },
    Claim("documents lose the bodies of those ancestors that are named, and no others") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let chain = try await storage.putChain(id, count: 5)
        try await storage.update(loading: [id], at: .start) { changes in
          let revisions: Set = [chain[1], chain[3], chain[4], try RevisionID("9-unknown")]
          changes.forget(ForgottenBodies(of: id, revisions: revisions))
        }
        for (index, revision) in chain.enumerated() {
          let body = try await storage.body(id, revision)
          try require(body == nil, is: [1, 3].contains(index), "no body of \(revision)")
        }
        try await requireCounted(storage, [id], "forgotten bodies")
      }
    },
    Claim(
      "an update that edits a document and drops its history keeps the new leaves' bodies alone"
    ) {
      bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let chain = try await storage.putChain(id, count: 4)
        let losing = try RevisionID("1-0")
        _ = try await storage.graft(id, [losing], #"{"losing":1}"#)
        let last = try await storage.update(loading: [id], at: .start) { changes in
          let tree = try changes.view.newest(id)
          var edits = DocumentEdits(id, in: tree, limit: changes.historyLimits)
          _ = try edits.put(base: losing, body: .empty, isDeleted: true)
          let last = try edits.put(
            base: chain.last, body: DocumentBody(parsing: Array(#"{"n":4}"#.utf8)), isDeleted: false
          )
          changes.write(edits.finish())
          changes.dropHistory(of: id)
          return last
        }
        for revision in chain + [losing] {
          try require(try await storage.body(id, revision), is: nil, "body of \(revision)")
        }
        try require(try await storage.body(id, last), is: #"{"n":4}"#, "the winner's body")
        try require(try await storage.storedBytes(of: id), is: 7 + 2, "bytes of both leaves")
        try await requireCounted(storage, [id], "an edit without history")
      }
    },
  ]

  private static func purgeLeaves(
    _ storage: any StoreStorage, _ id: DocumentID, _ isWanted: (RevisionTree.Node) -> Bool
  ) async throws {
    let tree = try required(try await storage.tree(id), "the tree to purge")
    let leaves = tree.nodes.filter { $0.isLeaf && isWanted($0) }.map(\.revision)
    _ = try await storage.purge(id, to: tree.purging(Set(leaves)))
  }

  /// Compares the store's counts with a new count of all bodies.
  private static func requireCounted(
    _ storage: any StoreStorage, _ ids: [DocumentID], _ what: String
  ) async throws {
    var (stored, winners): (Int64, Int64) = (0, 0)
    for id in ids {
      var bytes: Int64 = 0
      for node in try await storage.tree(id)?.nodes ?? [] {
        bytes += Int64(try await storage.body(id, node.revision)?.utf8.count ?? 0)
      }
      try require(try await storage.storedBytes(of: id), is: bytes, "\(what): bytes of \(id.text)")
      stored += bytes
      winners += Int64(try await storage.document(id)?.body.count ?? 0)
    }
    let info = try await storage.info()
    try require(info.bodyBytes, is: winners, "\(what): winners' bytes")
    try require(info.keptBytes, is: stored - winners, "\(what): other bytes")
    try require(info.storedBytes, is: stored, "\(what): bytes")
  }
}

extension StoreStorage {
  fileprivate func storedBytes(of id: DocumentID) async throws -> Int64 {
    try await read { view in try view.storedBytes(of: id) }
  }
}

extension StorageConformance {
  /// Claims about the feed in descending order and about counts.
  static let counts: [Claim] = [
    Claim("the feed is walked down from any number, each document at its last change") { bench in
      try await bench.withStorage { storage in
        try require(try await storage.changes(upTo: 9), is: [], "an empty store's feed")
        try await fiveChanges(storage)
        let all = try await storage.changes()
        try require(try await storage.changes(upTo: .max), is: all.reversed(), "the whole feed")
        let cases: [(Int64, Int, [Int64])] = [
          (6, 99, [6, 5, 4, 2]), (5, 99, [5, 4, 2]), (3, 99, [2]), (2, 99, [2]), (1, 99, []),
          (0, 99, []), (.min, 99, []), (6, 2, [6, 5]), (4, 1, [4]), (6, 0, []),
        ]
        for (sequence, limit, wanted) in cases {
          let found = try await storage.changes(upTo: sequence, limit: limit).map(\.sequence)
          try require(found, is: wanted, "\(limit) up to \(sequence)")
        }
        try require(try await storage.changes(upTo: 5, limit: 1)[0].isDeleted, is: true, "deleted")
      }
    },
    Claim("the changes behind a number are counted exactly, gaps or not") { bench in
      try await bench.withStorage { storage in
        try require(try await storage.changeCount(after: 0), is: 0, "an empty store's changes")
        try await fiveChanges(storage)
        for sequence in [Int64.min, -1, 0, 1, 2, 3, 4, 5, 6, 7, .max] {
          let wanted = Int64(try await storage.changes(after: sequence).count)
          try require(
            try await storage.changeCount(after: sequence), is: wanted, "after \(sequence)")
        }
        // An engine may count long feeds in another way than short ones, so both are tested.
        for number in 0..<120 { try await storage.put(try DocumentID("n\(number)"), "{}") }
        for sequence in stride(from: Int64(0), through: 126, by: 3) {
          let wanted = Int64(try await storage.changes(after: sequence).count)
          try require(
            try await storage.changeCount(after: sequence), is: wanted, "after \(sequence) of 126")
        }
      }
    },
    Claim("counts stay exact when documents change, come and go between them") { bench in
      try await bench.withStorage { storage in
        let ids = try (0..<150).map { number in
          try DocumentID("n\(number)")
        }
        for id in ids { try await storage.put(id, "{}") }
        let walk: [Int64] = [40, 43, 47, 90, 91, 149, 20, 44, 151, 160]
        for (step, id) in ids.enumerated() where step.isMultiple(of: 7) {
          for sequence in walk {
            let wanted = Int64(try await storage.changes(after: sequence, limit: 999).count)
            try require(
              try await storage.changeCount(after: sequence), is: wanted, "\(step): \(sequence)")
          }
          let base = try await storage.document(id)?.revision
          switch step / 7 % 4 {
          case 0: try await storage.put(id, #"{"x":1}"#, base: base)
          case 1: try await storage.put(id, "{}", base: base, isDeleted: true)
          case 2: try await storage.purge(id)
          default: try await storage.put(try DocumentID("new\(step)"), "{}")
          }
        }
      }
    },
    Claim("an update counts what updates before it wrote") { bench in
      try await bench.withStorage { storage in
        let counts = try await withThrowingTaskGroup(of: [Int64].self) { group in
          for number in 0..<20 {
            group.addTask {
              let id = try DocumentID("\(number)")
              return try await storage.update(loading: [id], at: .start) {
                changes in
                let view = changes.view
                try changes.put(id, base: nil, body: .empty)
                let last = try view.info().lastSequence
                return [
                  last, try view.changeCount(after: 0),
                  Int64(try view.count(DocumentRange(), among: 99).count),
                  Int64(try view.changes(upTo: last, limit: 99).count),
                ]
              }
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        for count in counts {
          try require(Set(count).count, is: 1, "last number, changes, documents, rows: \(count)")
        }
        try require(Set(counts.map { $0[0] }), is: Set(0..<20), "states seen")
      }
    },
    Claim("a range is counted as it is walked, with and without tombstones") { bench in
      try await bench.withStorage { storage in
        try require(
          try await storage.count(DocumentRange(), among: 1), is: 0, "an empty store's documents")
        for text in ["a", "b", "c", "d", "e\u{301}", "\u{e9}"] {
          try await storage.put(try DocumentID(text), "{}")
        }
        for text in ["b", "\u{e9}", "gone"] {
          let id = try DocumentID(text)
          let base = try await storage.document(id)?.revision
          try await storage.put(id, #"{"x":1}"#, base: base, isDeleted: true)
        }
        let bounds: [String?] = [nil, "", "a", "aa", "b", "b\u{0}", "d", "e\u{301}", "\u{e9}", "z"]
        for start in bounds {
          for end in bounds {
            for flags in 0..<8 {
              let range = DocumentRange(
                start: start, end: end, includesEnd: flags & 1 == 0, descending: flags & 2 == 0,
                includesDeleted: flags & 4 == 0)
              let wanted = try await storage.ids(in: range).count
              for ids in [1, 2, 99] {
                try require(
                  try await storage.count(range, among: ids), is: wanted, "\(ids) of \(range)")
              }
            }
          }
        }
      }
    },
  ]

  /// Adds a, b and c, then changes a, deletes b and adds d. The feed then has the numbers 2, 4, 5 and 6.
  private static func fiveChanges(_ storage: any StoreStorage) async throws {
    let (a, b) = (try DocumentID("a"), try DocumentID("b"))
    let first = try await storage.put(a, "{}")
    try await storage.put(try DocumentID("c"), "{}")
    let third = try await storage.put(b, "{}")
    try await storage.put(a, #"{"x":1}"#, base: first)
    try await storage.put(b, "{}", base: third, isDeleted: true)
    try await storage.put(try DocumentID("d"), "{}")
  }
}
