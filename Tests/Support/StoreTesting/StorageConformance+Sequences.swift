import Documents
import NIOConcurrencyHelpers
import Stores

extension StorageConformance {
  static let purges: [Claim] = [
    Claim("where the winner is purged the next leaf wins, with its body, at a new number") {
      bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        let (root, loser, winner) = (
          try RevisionID("1-r"), try RevisionID("2-l"), try RevisionID("2-w")
        )
        _ = try await storage.graft(a, [root], #"{"type":"root"}"#)
        _ = try await storage.graft(a, [loser, root], #"{"type":"l","n":12345}"#)
        _ = try await storage.graft(a, [winner, root], #"{"type":"w"}"#)
        try await storage.put(b, "{}")
        let born = try await storage.document(a)?.created
        let tree = try required(try await storage.tree(a), "the tree").purging([winner])
        let later = Timestamp.start.adding(seconds: 60)
        try await storage.purge(a, to: tree, at: later)
        let document = try required(try await storage.document(a), "the document")
        try require(document.revision, is: loser, "the winner")
        try require(document.text, is: #"{"type":"l","n":12345}"#, "its body")
        try require(document.sequence, is: 5, "its number")
        try require(document.created, is: born, "its birth")
        try require(document.updated, is: later, "its last change")
        try require(try await storage.tree(a), is: tree, "the tree")
        try require(try await storage.body(a, winner), is: nil, "the purged body")
        try require(try await storage.body(a, root), is: #"{"type":"root"}"#, "the root's body")
        try require(try await storage.changes().map(\.sequence), is: [4, 5], "the feed")
        try require(try await storage.ids(ofType: "l"), is: ["a"], "ids by type")
        try require(try await storage.ids(ofType: "w"), is: [], "ids by the purged type")
        let info = try await storage.info()
        try require(info.lastSequence, is: 5, "last sequence")
        try require(info.documentCount, is: 2, "documents")
        try require(info.bodyBytes, is: Int64(document.body.count + 2), "bytes")
      }
    },
    Claim("where a losing leaf is purged the winner stays, at a new number") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (loser, winner) = (try RevisionID("1-a"), try RevisionID("1-b"))
        _ = try await storage.graft(id, [winner], #"{"w":1}"#)
        _ = try await storage.graft(id, [loser], #"{"l":1}"#)
        let tree = try required(try await storage.tree(id), "the tree").purging([loser])
        try await storage.purge(id, to: tree)
        let document = try required(try await storage.document(id), "the document")
        try require(document.revision, is: winner, "the winner")
        try require(document.text, is: #"{"w":1}"#, "its body")
        try require(document.sequence, is: 3, "its number")
        try require(try await storage.body(id, loser), is: nil, "the purged body")
        // When the revision comes again, its body comes too.
        _ = try await storage.graft(id, [loser], #"{"l":2}"#)
        try require(try await storage.body(id, loser), is: #"{"l":2}"#, "the body of a peer")
      }
    },
    Claim("a document whose tombstone is purged lives, and one whose life is purged is dead") {
      bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (dead, live) = (try RevisionID("1-z"), try RevisionID("1-a"))
        _ = try await storage.graft(id, [dead], "{}", isDeleted: true)
        _ = try await storage.graft(id, [live], #"{"x":1}"#)
        let tree = try required(try await storage.tree(id), "the tree")
        try await storage.purge(id, to: tree.purging([live]))
        try require(try await storage.document(id)?.isDeleted, is: true, "deleted")
        var info = try await storage.info()
        try require([info.documentCount, info.deletedCount], is: [0, 1], "live and deleted")
        _ = try await storage.graft(id, [live], #"{"x":1}"#)
        try await storage.purge(id, to: tree.purging([dead]))
        try require(try await storage.document(id)?.isDeleted, is: false, "deleted again")
        info = try await storage.info()
        try require([info.documentCount, info.deletedCount], is: [1, 0], "live and deleted again")
      }
    },
    Claim("a document without leaves is gone from everywhere, and the number goes on") { bench in
      try await bench.withStorage { storage in
        let (id, other) = (try DocumentID("a"), try DocumentID("b"))
        let revisions = try await storage.putChain(id, count: 3)
        try await storage.put(other, #"{"type":"t"}"#)
        let index = IndexID("index")
        try await storage.edit(try advance(index, [("a", [1]), ("b", [2])], upTo: 4))
        try await storage.purge(id)
        try require(try await storage.document(id)?.id, is: nil, "the document")
        try require(try await storage.tree(id), is: nil, "the tree")
        for revision in revisions {
          try require(try await storage.body(id, revision), is: nil, "a body")
        }
        try require(try await storage.changes().map(\.id), is: [other], "the feed")
        try require(try await storage.changes(upTo: 99).map(\.id), is: [other], "the feed down")
        let all = try await storage.ids(in: DocumentRange(includesDeleted: true))
        try require(all, is: ["b"], "ids")
        try require(try await storage.ids(in: index), is: ["b"], "an index")
        let info = try await storage.info()
        try require(info.lastSequence, is: 5, "last sequence")
        try require([info.documentCount, info.deletedCount], is: [1, 0], "live and deleted")
        try require(info.bodyBytes, is: Int64(#"{"type":"t"}"#.utf8.count), "bytes")
        for sequence in Int64(0)...6 {
          try require(
            try await storage.changeCount(after: sequence), is: sequence < 4 ? 1 : 0,
            "changes after \(sequence)")
        }
      }
    },
    Claim("an id whose document was purged begins anew, also after the store was closed") { bench in
      let id = try DocumentID("a")
      try await bench.withStorage { storage in
        let revisions = try await storage.putChain(id, count: 30)
        _ = try await storage.graft(id, [try RevisionID("1-x")], #"{"x":1}"#)
        try await storage.put(id, "{}", base: revisions.last, isDeleted: true)
        try await storage.purge(id)
      }
      try await bench.withStorage { storage in
        try require(try await storage.info().lastSequence, is: 33, "last sequence")
        try require(try await storage.info().deletedCount, is: 0, "tombstones")
        let revision = try await storage.put(id, #"{"n":0}"#)
        try require(revision.generation, is: 1, "its generation")
        let document = try required(try await storage.document(id), "the document")
        try require(document.sequence, is: 34, "its number")
        try require(try await storage.tree(id)?.nodes.count, is: 1, "revisions")
        try require(try await storage.body(id, try RevisionID("1-x")), is: nil, "an old body")
        try require(try await storage.changeCount(after: 33), is: 1, "changes")
      }
    },
    Claim("one update writes and purges, and a throwing one does neither") { bench in
      try await bench.withStorage { storage in
        let ids = try ["a", "b", "c"].map { text in try DocumentID(text) }
        for id in ids { try await storage.put(id, "{}") }
        try await storage.update(loading: Set(ids), at: .start) { changes in
          changes.write(try mutation(ids[0], in: changes.view))
          changes.purge(Purge(id: ids[1], tree: RevisionTree()))
        }
        try require(try await storage.changes(after: 3).map(\.sequence), is: [4], "rows")
        try require(try await storage.changes().map(\.id), is: [ids[2], ids[0]], "the feed")
        try require(try await storage.info().lastSequence, is: 5, "last sequence")
        do {
          try await storage.update(loading: [ids[2]], at: .start) { changes in
            changes.purge(Purge(id: ids[2], tree: RevisionTree()))
            guard try changes.view.document(ids[2]) == nil else {
              throw DocumentError.conflict
            }
          }
          throw ConformanceFailure(description: "the error is lost")
        } catch is DocumentError {}
        try require(try await storage.document(ids[2])?.id, is: ids[2], "the document")
        try await storage.purge(try DocumentID("never"))
        try require(try await storage.info().lastSequence, is: 5, "after a purge of nothing")
      }
    },
    Claim("an update that changes one document twice is refused") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        try await storage.put(id, "{}")
        for purges in [false, true] {
          do {
            try await storage.update(loading: [id], at: .start) { changes in
              changes.write(try mutation(id, in: changes.view))
              if purges {
                changes.purge(Purge(id: id, tree: RevisionTree()))
              } else {
                changes.write(try mutation(id, in: changes.view))
              }
            }
            throw ConformanceFailure(description: "it was taken")
          } catch let error as ServiceError { try require(error.code, is: .storage, "code") }
        }
        try require(try await storage.info().lastSequence, is: 1, "last sequence")
      }
    },
    Claim("an ancestor that a purge leaves far from every leaf loses its body") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let root = try await storage.put(id, #"{"r":1}"#)
        let side = try RevisionID("2-side")
        _ = try await storage.graft(id, [side, root], #"{"s":1}"#)
        let depth = StoreLimits.storedAncestors + 5
        let chain = try (2...depth).reversed().map { number in
          try RevisionID("\(number)-c")
        }
        _ = try await storage.graft(id, chain + [root], #"{"c":1}"#)
        try require(try await storage.body(id, root), is: #"{"r":1}"#, "the root's body before")
        let tree = try required(try await storage.tree(id), "the tree").purging([side])
        try await storage.purge(id, to: tree)
        try require(try await storage.document(id)?.revision, is: chain[0], "the winner")
        try require(try await storage.tree(id)?.nodes.count, is: depth, "revisions")
        try require(try await storage.body(id, root), is: nil, "the root's body after")
      }
    },
  ]

  private static func mutation(
    _ id: DocumentID, in view: any StoreView
  ) throws -> Mutation {
    let (tree, base) = (try view.tree(id), try view.document(id)?.revision)
    return try Edit.put(id, in: tree, base: base, body: .empty)
  }
}

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
        // The sent body is ignored, because the store has the revision.
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
        let path = try (0..<length).map { index in
          try RevisionID("\(length - index)-x")
        }
        _ = try await storage.graft(id, Array(path.suffix(1)), #"{"old":true}"#)
        _ = try await storage.graft(id, Array(path.prefix(length - 2)), "{}")
        let (second, first) = (path[length - 2], path[length - 1])
        try require(try await storage.body(id, first), is: #"{"old":true}"#, "a leaf's body")
        // The newest revision of this history is not a leaf.
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

  /// Reads pages until `isDone` returns true and the feed has no more changes.
  private static func poll(
    _ storage: any StoreStorage, until isDone: @escaping @Sendable () -> Bool
  ) async throws -> [Int64] {
    var seen: [Int64] = []
    while true {
      // Called before the read, so that changes from before the end are in the page.
      let isLast = isDone()
      let page = try await storage.changes(after: seen.last ?? 0, limit: 7)
      seen += page.map(\.sequence)
      if page.isEmpty, isLast { return seen }
      await Task.yield()
    }
  }
}
