import CouchSync
import Documents

/// The forms in which Couchbase Lite names revisions.
package enum LiteForm: Sendable {
  /// `N-<digits>`, up to version 3, and in 4 without version vectors.
  case trees
  /// ``LiteVersion``, in version 4.
  case vectors

  /// The first generation that can't be written: LiteCore refuses all changes of a request with one. A version has 40
  /// bits for the digits, and a generation in the other 24.
  var endOfGenerations: Int {
    let (trees, versions) = SyncDevice.Client.endOfLiteGenerations
    return self == .vectors ? versions : trees
  }
}

/// How revisions are written for Couchbase Lite. ``LiteNames`` finds them again by what it writes.
enum LiteRevision {
  /// The digits of a revision. LiteCore takes only an even number of lower-case hexadecimal digits. A digest of another
  /// kind, which other replicators may make, is replaced by a hash of it.
  static func digest(of revision: RevisionID) -> String {
    let text = revision.digest.text
    let isTaken = text.utf8.count.isMultiple(of: 2) && text.utf8.allSatisfy(LiteVersion.isDigit)
    return isTaken ? text : Hex.digest(of: text, digits: 32)
  }

  static func text(_ revision: RevisionID, in form: LiteForm) -> String {
    switch form {
    case .trees: "\(revision.generation)-\(digest(of: revision))"
    case .vectors: LiteVersion(revision).text
    }
  }

  /// The name of a winner.
  static func text(_ winner: RevisionID, of tree: RevisionTree, in form: LiteForm) -> String {
    let version = form == .vectors ? vector(of: winner, in: tree).first : nil
    return version?.text ?? text(winner, in: form)
  }

  /// The version vector of a winner: its version, and the newest older version of each other maker. The versions of
  /// branches that end in a tombstone belong to it: who closed them has merged them.
  ///
  /// Such a branch may have been the winner before. Its versions may be newer by their times than that of the winner, and
  /// a client that has them would keep them. Then the winner has a version above all of them.
  static func vector(of winner: RevisionID, in tree: RevisionTree) -> [LiteVersion] {
    var isOlder = tree.nodes.map { $0.isLeaf && ($0.isDeleted || $0.revision == winner) }
    for index in tree.nodes.indices.reversed() where isOlder[index] {
      if let parent = tree.nodes[index].parent { isOlder[parent] = true }
    }
    var newest: [String: LiteVersion] = [:]
    for (node, isOlder) in zip(tree.nodes, isOlder) where isOlder {
      let version = LiteVersion(node.revision)
      if let known = newest[version.maker], known.time >= version.time { continue }
      newest[version.maker] = version
    }
    var current = LiteVersion(winner)
    if let known = newest[current.maker], known.time > current.time {
      current = LiteVersion(winner, above: newest[LiteVersion.treeMaker]?.time ?? 0)
    }
    newest[current.maker] = nil
    return [current] + newest.values.sorted { ($0.time, $0.maker) > ($1.time, $1.maker) }
  }

  /// Whether a client of version 4 takes a revision that it has from version 3 for newer than a winner, whose version it is
  /// told: it compares them as versions, and never asks for the winner. Source: LiteCore, `findAncestors`.
  static func isNewer(_ text: String, than told: @autoclosure () -> LiteVersion?) -> Bool {
    guard let version = (try? RevisionID(text)).map({ LiteVersion($0) }), version.isTree,
      let told = told()
    else { return false }
    return told.isTree && version.time > told.time
  }

  /// A vector as LiteCore writes it.
  static func text(_ vector: [LiteVersion]) -> String {
    guard let current = vector.first else { return "" }
    let older = vector.dropFirst().map(\.text).joined(separator: ", ")
    return older.isEmpty ? current.text : current.text + "; " + older
  }
}
