import Documents

/// The forms in which Couchbase Lite names revisions.
package enum LiteForm: Sendable {
  /// `N-<digits>`, up to version 3, and in 4 without version vectors.
  case trees
  /// ``LiteVersion``, in version 4.
  case vectors
}

/// How revisions are written for Couchbase Lite, and found again by what it writes.
enum LiteRevision {
  /// The digits of a revision. LiteCore takes only an even number of lower-case hexadecimal digits. A digest of another
  /// kind, which other replicators may make, is replaced by a hash of it.
  static func digest(of revision: RevisionID) -> String {
    let text = revision.digest.text
    let bytes = text.utf8
    let isTaken =
      bytes.count >= LiteVersion.treeDigits && bytes.count.isMultiple(of: 2)
      && bytes.allSatisfy(LiteVersion.isDigit)
    return isTaken ? text : Hex.digest(of: text, digits: 32)
  }

  static func text(_ revision: RevisionID, in form: LiteForm) -> String {
    switch form {
    case .trees: "\(revision.generation)-\(digest(of: revision))"
    case .vectors: LiteVersion(revision).text
    }
  }

  /// The revision of a tree that a text names; nil for an unknown one.
  static func find(_ text: String, in tree: RevisionTree) -> RevisionID? {
    if text.utf8.contains(UInt8(ascii: "@")) {
      guard let version = LiteVersion(text) else { return nil }
      return tree.nodes.last { LiteVersion($0.revision) == version }?.revision
    }
    guard let revision = try? RevisionID(text) else { return nil }
    if tree[revision] != nil { return revision }
    return tree.nodes.last {
      $0.revision.generation == revision.generation
        && digest(of: $0.revision).utf8.elementsEqual(revision.digest.text.utf8)
    }?.revision
  }

  /// The revisions of a tree that a client has seen, by its history or its version vector. A vector names only the newest
  /// version of each maker, who has seen its own older ones. Revisions of trees have no such order.
  static func seen(by texts: [String], in tree: RevisionTree) -> [RevisionID] {
    let versions = texts.compactMap { LiteVersion($0) }.filter { !$0.isTree }
    let named = texts.compactMap { find($0, in: tree) }
    guard !versions.isEmpty else { return named }
    return named
      + tree.nodes.map(\.revision).filter { revision in
        let version = LiteVersion(revision)
        return versions.contains { $0.maker == version.maker && $0.time >= version.time }
      }
  }

  /// The version vector of a winner: its version, and the newest older version of each other maker. The versions of
  /// branches that end in a tombstone belong to it: who closed them has merged them.
  static func vector(of winner: RevisionID, in tree: RevisionTree) -> [LiteVersion] {
    var isOlder = tree.nodes.map { $0.isLeaf && ($0.isDeleted || $0.revision == winner) }
    for index in tree.nodes.indices.reversed() where isOlder[index] {
      if let parent = tree.nodes[index].parent { isOlder[parent] = true }
    }
    let current = LiteVersion(winner)
    var newest: [String: LiteVersion] = [:]
    for (node, isOlder) in zip(tree.nodes, isOlder) where isOlder {
      let version = LiteVersion(node.revision)
      guard version.maker != current.maker else { continue }
      if let known = newest[version.maker], known.time >= version.time { continue }
      newest[version.maker] = version
    }
    return [current] + newest.values.sorted { ($0.time, $0.maker) > ($1.time, $1.maker) }
  }

  /// A vector as LiteCore writes it.
  static func text(_ vector: [LiteVersion]) -> String {
    guard let current = vector.first else { return "" }
    let older = vector.dropFirst().map(\.text).joined(separator: ", ")
    return older.isEmpty ? current.text : current.text + "; " + older
  }
}
