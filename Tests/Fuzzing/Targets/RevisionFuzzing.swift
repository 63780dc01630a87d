@testable import Documents

/// Revisions: ids have one spelling and one order, stored trees keep their bytes, peers' histories come in any order.
enum RevisionFuzzing {
  static func check(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: checkIDs(rest)
    case 1: checkStoredTree(rest)
    case 2: checkHistories(rest)
    default: checkDocument(rest)
    }
  }

  private static func checkIDs(_ bytes: [UInt8]) {
    let texts = bytes.split(separator: 0, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
    let ids = texts.compactMap { text in attempt { try RevisionID(text) } }
    for id in ids {
      let text = id.description
      claim(attempt { try RevisionID(text) } == id, "an id reads as itself")
      claim(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 }, "safe in an ETag")
      claim(!(id < id), "no id is below itself")
    }
    for left in ids {
      for right in ids {
        let relations = [left < right, right < left, left == right].count { $0 }
        claim(relations == 1, "exactly one of <, >, =")
        for third in ids where left < right && right < third {
          claim(left < third, "the order is transitive")
        }
      }
    }
  }

  private static func checkStoredTree(_ bytes: [UInt8]) {
    let decoded = bytes.withUnsafeBytes { raw in attempt { try RevisionTree(decoding: raw) } }
    guard let decoded else { return }
    claim(decoded.encoded == bytes, "a stored tree has one spelling")
    claim(decoded.winner?.revision == decoded.leaves.first?.revision, "the winner leads the leaves")
    var pruned = decoded
    pruned.prune(to: 3)
    claim(pruned.winner?.revision == decoded.winner?.revision, "pruning keeps the winner")
    checkCoding(pruned)
  }

  private static func checkCoding(_ tree: RevisionTree) {
    let bytes = tree.encoded
    let again = bytes.withUnsafeBytes { raw in attempt { try RevisionTree(decoding: raw) } }
    claim(again == tree, "a tree is stored as it is")
  }

  /// Each byte makes one history. Two orders of arrival make the same tree.
  private static func checkHistories(_ bytes: [UInt8]) {
    let histories = bytes.prefix(24).map(history)
    let (one, other) = (tree(of: histories), tree(of: histories.reversed()))
    claim(one.parents == other.parents, "the order of arrival does not matter")
    claim(leaves(one) == leaves(other), "nor for the leaves")
    claim(one.winner?.revision == other.winner?.revision, "nor for the winner")
    checkCoding(one)
    checkCoding(other)
  }

  /// A path of up to four generations in a small fixed forest, without its oldest revisions.
  private static func history(_ byte: UInt8) -> [RevisionID] {
    let newest = Int(byte & 3) + 1
    let oldest = min(newest, Int(byte >> 2 & 3) + 1)
    return stride(from: newest, through: oldest, by: -1).map { generation in
      // A revision's digest identifies its whole path, as a hash does.
      let branch = (Int(byte) >> 4) >> max(0, 4 - generation)
      return RevisionID(generation: generation, digest: "\(generation)x\(branch)")
    }
  }

  private static func tree(of histories: [[RevisionID]]) -> RevisionTree {
    var tree = RevisionTree()
    for history in histories { _ = attempt { try tree.graft(history, isDeleted: false) } }
    return tree
  }

  private static func leaves(_ tree: RevisionTree) -> [String] {
    tree.leaves.map(\.revision.description)
  }

  private static func checkDocument(_ bytes: [UInt8]) {
    guard let root = attempt({ try ParsedJSON(bytes, limits: .document).root }),
      let document = attempt({ try IncomingDocument(root) })
    else { return }
    if let history = document.history {
      claim(!history.isEmpty, "a history has a revision")
      claim(
        zip(history, history.dropFirst()).allSatisfy { $0.generation == $1.generation + 1 },
        "one generation a step")
      claim(document.revision == nil || document.revision == history.first, "_rev comes first")
      var tree = RevisionTree()
      let added = attempt { try tree.graft(history, isDeleted: document.isDeleted) }
      claim(added == .revision, "a first history is grafted")
      checkCoding(tree)
    }
    let again = attempt { try DocumentBody(parsing: document.body.bytes) }
    claim(again == document.body, "a body reads as itself")
  }
}
