import Documents
import Stores

extension StorageConformance {
  /// Claims about histories so long that an engine may store their old revisions in pieces. The engine in memory keeps
  /// whole trees, so it is what others are compared with, and not tested by them.
  package static let longHistories: [Claim] = [
    Claim("a history is the same however long it is, whatever is grafted onto it and purged") {
      bench in
      let memory = MemoryEngine()
      let reference = try required(
        try await memory.open(StorageBench.name, creating: true), "the store in memory")
      try await bench.withStorage { storage in
        let stores = [storage, reference]
        for (times, step) in [(150, 40), (45, 3), (70, 100), (33, 0), (900, 500)] {
          for store in stores { try await store.editOften(times) }
          try await requireEqual(storage, reference, "after \(times) edits")
          let tree = try required(try await reference.tree(.often), "the tree")
          let winner = try required(tree.winner?.revision, "the winner")
          let history = Array(tree.history(of: winner).dropFirst(step))
          let branch = RevisionID(
            generation: (history.first?.generation ?? 0) + 1, digest: "branch")
          for store in stores { try await store.graft(.often, [branch] + history, "{}") }
          try await requireEqual(storage, reference, "with a branch \(step) steps below")
          for store in stores { try await store.editOften(50) }
          try await requireEqual(storage, reference, "edited beside the branch")
          for store in stores { try await store.purge([branch]) }
          try await requireEqual(storage, reference, "without the branch")
        }
        for store in stores { try await store.purge(nil) }
        try require(try await storage.tree(.often) == nil, "a purged document is there")
        // Nothing of the former document may come back.
        for store in stores { try await store.editOften(100) }
        try await requireEqual(storage, reference, "made again")
      }
    }
  ]

  private static func requireEqual(
    _ storage: any StoreStorage, _ reference: any StoreStorage, _ what: String
  ) async throws {
    let (found, wanted) = (try await storage.historyOfOften(), try await reference.historyOfOften())
    try require(found.histories, is: wanted.histories, "the leaves' histories \(what)")
    try require(found.bodies, is: wanted.bodies, "the bodies \(what)")
  }
}

extension DocumentID {
  fileprivate static let often = DocumentID(stored: "often")
}

extension StoreStorage {
  /// Edits a document a number of times. Every tenth edit deletes it.
  fileprivate func editOften(_ times: Int) async throws {
    for number in 0..<times {
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8))
      try await update(loading: [.often], at: .start) { changes in
        let base = try changes.view.newest(.often)?.winner
        try changes.put(
          .often, base: base?.isDeleted == true ? nil : base?.revision, body: body,
          isDeleted: number % 10 == 9)
      }
    }
  }

  /// Purges leaves; nil purges the document.
  fileprivate func purge(_ leaves: Set<RevisionID>?) async throws {
    try await update(loading: [.often], at: .start) { changes in
      let tree = try changes.view.tree(.often) ?? RevisionTree()
      changes.purge(
        Purge(id: .often, tree: leaves.map { tree.purging($0) } ?? RevisionTree()))
    }
  }

  /// The history of each leaf, and the body of each revision.
  fileprivate func historyOfOften() async throws -> (
    histories: [RevisionID: [RevisionID]], bodies: [RevisionID: [UInt8]]
  ) {
    try await read { view in
      let tree = try required(try view.tree(.often), "the tree")
      var bodies: [RevisionID: [UInt8]] = [:]
      for node in tree.nodes {
        bodies[node.revision] = try view.body(.often, of: node, in: tree)
      }
      let leaves = tree.leaves.map(\.revision)
      return (
        Dictionary(uniqueKeysWithValues: leaves.map { ($0, tree.history(of: $0)) }), bodies
      )
    }
  }
}
