import Documents
import NIOConcurrencyHelpers
import Stores

extension StorageConformance {
  /// Claims about sequence numbers and the change feed.
  static let sequences: [Claim] = [
    Claim("each recorded document takes the next sequence number, in order") { bench in
      try await bench.withStorage { storage in
        let ids = try ["b", "a", "c"].map { text in try DocumentID(text) }
        let count = try await storage.update(loading: Set(ids), at: .start) {
          changes in
          for id in ids { try changes.put(id, base: nil, body: .empty) }
          return changes.mutations.count
        }
        try require(count, is: 3, "the rule's answer")
        let changes = try await storage.changes()
        try require(changes.map(\.sequence), is: [1, 2, 3], "sequences")
        try require(changes.map(\.id), is: ids, "order of changes")
      }
    },
    Claim("ancestors that a graft brings along take no sequence number") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let history = try ["4-d", "3-c", "2-b", "1-a"].map { text in
          try RevisionID(text)
        }
        let changes = try await storage.graft(id, history, #"{"x":1}"#)
        try require(changes.map(\.sequence), is: [1], "sequences")
        let tree = try required(try await storage.tree(id), "the tree")
        try require(tree.history(of: history[0]), is: history, "the history")
        try require(try await storage.body(id, history[1]), is: nil, "an ancestor's body")
        try require(try await storage.graft(id, history, #"{"x":1}"#), is: [], "a repeat's changes")
        try require(try await storage.info().lastSequence, is: 1, "last sequence")
      }
    },
    Claim("ancestors that a known revision turns out to have take one sequence number, and no body")
    {
      bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let ids = try ["4-d", "3-c", "2-b", "1-a"].map { text in
          try RevisionID(text)
        }
        _ = try await storage.graft(id, [ids[3]], #"{"type":"old"}"#)
        _ = try await storage.graft(id, [ids[1]], #"{"type":"lost"}"#)
        _ = try await storage.graft(id, [ids[0]], #"{"type":"new"}"#)
        let before = try await storage.info()
        // The text is not looked at: the store has the revision.
        let changes = try await storage.graft(id, ids, #"{"type":"other"}"#)
        try require(
          changes, is: [Change(sequence: 4, id: id, revision: ids[0], isDeleted: false)], "changes")
        try require(try await storage.changes(), is: changes, "changes as read")
        let tree = try required(try await storage.tree(id), "the tree")
        try require(tree.history(of: ids[0]), is: ids, "the history")
        try require(tree.leaves.map(\.revision), is: [ids[0]], "the leaves")
        let bodies = [#"{"type":"new"}"#, #"{"type":"lost"}"#, nil, #"{"type":"old"}"#]
        for (revision, wanted) in zip(ids, bodies) {
          try require(try await storage.body(id, revision), is: wanted, "body of \(revision)")
        }
        try require(try await storage.document(id)?.text, is: bodies[0], "the document")
        try require(try await storage.ids(ofType: "new"), is: ["a"], "ids by type")
        let info = try await storage.info()
        try require(info.lastSequence, is: 4, "last sequence")
        try require(info.documentCount, is: 1, "documents")
        try require(info.storedBytes, is: before.storedBytes, "bytes")
        try require(try await storage.graft(id, ids, "{}"), is: [], "a repeat's changes")
      }
    },
    Claim("a live leaf that turns out to be an ancestor makes way for the tombstone below it") {
      bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (old, dead) = (try RevisionID("1-a"), try RevisionID("2-b"))
        _ = try await storage.graft(id, [old], #"{"type":"t"}"#)
        _ = try await storage.graft(id, [dead], "{}", isDeleted: true)
        try require(try await storage.document(id)?.revision, is: old, "the winner")
        let changes = try await storage.graft(id, [dead, old], "{}", isDeleted: true)
        try require(changes.map(\.revision), is: [dead], "the winner in the feed")
        try require(changes.map(\.isDeleted), is: [true], "tombstones in the feed")
        try require(try await storage.document(id)?.isDeleted, is: true, "deleted")
        try require(try await storage.body(id, old), is: #"{"type":"t"}"#, "the ancestor's body")
        try require(try await storage.ids(ofType: "t"), is: [], "ids by type")
        let info = try await storage.info()
        try require([info.documentCount, info.deletedCount], is: [0, 1], "counts")
      }
    },
    Claim("a leaf that turns out to be an old ancestor loses its body") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let length = StoreLimits.storedAncestors + 2
        let path = try (0..<length).map { place in
          try RevisionID("\(length - place)-x")
        }
        _ = try await storage.graft(id, Array(path.suffix(1)), #"{"old":true}"#)
        _ = try await storage.graft(id, Array(path.prefix(length - 2)), "{}")
        let (second, first) = (path[length - 2], path[length - 1])
        try require(try await storage.body(id, first), is: #"{"old":true}"#, "a leaf's body")
        // Told of a revision that is no leaf.
        _ = try await storage.graft(id, [path[length - 3], second, first], "{}")
        let tree = try required(try await storage.tree(id), "the tree")
        try require(tree.history(of: path[0]), is: path, "the history")
        try require(try await storage.body(id, first), is: nil, "an old ancestor's body")
      }
    },
    Claim("a rule that records nothing takes no sequence number") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let answer = try await storage.update(loading: [id], at: .start) { _ in 7
        }
        try require(answer, is: 7, "the answer")
        try require(try await storage.changes(), is: [], "changes")
        try require(try await storage.info().lastSequence, is: 0, "last sequence")
      }
    },
    Claim("a document stands in the feed once, at its last change") { bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        let first = try await storage.put(a, "{}")
        try await storage.put(b, "{}")
        let second = try await storage.put(a, #"{"x":1}"#, base: first, isDeleted: true)
        let changes = try await storage.changes()
        try require(changes.map(\.sequence), is: [2, 3], "sequences")
        try require(changes.map(\.id), is: [b, a], "ids")
        try require(changes.last?.revision, is: second, "revision")
        try require(changes.map(\.isDeleted), is: [false, true], "tombstones")
        try require(try await storage.document(a)?.sequence, is: 3, "the document's sequence")
        try require(
          try await storage.changes(after: 0, limit: 1).map(\.sequence), is: [2], "a page")
        try require(try await storage.changes(after: 2).map(\.sequence), is: [3], "the next page")
        try require(try await storage.changes(after: 3), is: [], "the end")
        try require(try await storage.changes(after: 99), is: [], "the future")
        try require(try await storage.changes(after: .max), is: [], "the furthest future")
        try require(try await storage.changes(after: .min).count, is: 2, "the furthest past")
      }
    },
    Claim("a reader that polls under eight writers sees every change once, in order") { bench in
      try await bench.withStorage { storage in
        let (writers, each) = (8, 25)
        let isDone = NIOLockedValueBox(false)
        async let seen = poll(storage) { isDone.withLockedValue { $0 } }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<writers {
            group.addTask {
              for number in 0..<each {
                try await storage.put(try DocumentID("\(writer)/\(number)"), "{}")
              }
            }
          }
          do { try await group.waitForAll() } catch {
            isDone.withLockedValue { $0 = true }
            throw error
          }
        }
        isDone.withLockedValue { $0 = true }
        let total = Int64(writers * each)
        try require(try await seen, is: Array(1...total), "sequences seen")
      }
    },
  ]

  /// Reads page after page until it is told to stop and nothing is left.
  private static func poll(
    _ storage: any StoreStorage, until isDone: @escaping @Sendable () -> Bool
  ) async throws -> [Int64] {
    var seen: [Int64] = []
    while true {
      // Asked before reading, so that what was written before the end is read after it.
      let isLast = isDone()
      let page = try await storage.changes(after: seen.last ?? 0, limit: 7)
      seen += page.map(\.sequence)
      if page.isEmpty, isLast { return seen }
      await Task.yield()
    }
  }
}
