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
    Claim("a decision without history leaves its documents the bodies of their leaves alone") {
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
        _ = try await storage.update([id, none], at: .start) { _ throws(StoreError) in
          var decision = Decision(value: ())
          decision.withoutHistory = [id, none]
          return decision
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
  ]

  private static func purgeLeaves(
    _ storage: any StoreStorage, _ id: DocumentID, _ isWanted: (RevisionTree.Node) -> Bool
  ) async throws {
    let tree = try required(try await storage.tree(id), "the tree to purge")
    let leaves = tree.nodes.filter { $0.isLeaf && isWanted($0) }.map(\.revision)
    _ = try await storage.purge(id, to: tree.purging(Set(leaves)))
  }

  /// Counts every body anew.
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
  /// Bytes of a document's bodies.
  fileprivate func storedBytes(of id: DocumentID) async throws -> Int64 {
    try await read { view throws(StoreError) in try view.storedBytes(of: id) }
  }
}
