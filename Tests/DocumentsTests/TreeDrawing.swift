import Documents

/// A revision tree as text: `1-a(2-b† 2-c(3-d*))`. `†` marks a tombstone and `*` the winner. A revision's children are
/// in brackets behind it. Spaces separate siblings and roots.
struct TreeDrawing: Sendable {
  private var rest: Substring.UTF8View
  private var tree = RevisionTree()
  private var marked: RevisionID?

  static func tree(_ text: String) throws -> RevisionTree {
    var drawing = TreeDrawing(rest: Substring(text).utf8)
    try drawing.readSiblings(below: nil)
    guard drawing.rest.isEmpty else { throw InvalidDrawing() }
    if let marked = drawing.marked, drawing.tree.winner?.revision != marked {
      throw InvalidDrawing()
    }
    return drawing.tree
  }

  /// Draws a tree: siblings in ascending order, the winner marked.
  static func draw(_ tree: RevisionTree) -> String {
    drawing(of: nil, in: tree, winner: tree.winner?.revision)
  }

  private struct InvalidDrawing: Error {}

  private init(rest: Substring.UTF8View) { self.rest = rest }

  private mutating func readSiblings(below parent: RevisionID?) throws {
    while let first = rest.first, first != UInt8(ascii: ")") {
      if first == UInt8(ascii: " ") {
        rest.removeFirst()
        continue
      }
      try readNode(below: parent)
    }
  }

  private mutating func readNode(below parent: RevisionID?) throws {
    let name = rest.prefix { !Self.marks.contains($0) }
    rest = rest.dropFirst(name.count)
    let revision = try RevisionID(String(Substring(name)))
    let isDeleted = skip("†")
    try tree.insert(revision, below: parent, isDeleted: isDeleted)
    if skip("*") { marked = revision }
    if skip("(") {
      try readSiblings(below: revision)
      guard skip(")") else { throw InvalidDrawing() }
    }
  }

  private static let marks = Set("† *()".utf8)

  private mutating func skip(_ mark: String) -> Bool {
    guard rest.starts(with: mark.utf8) else { return false }
    rest = rest.dropFirst(mark.utf8.count)
    return true
  }

  private static func drawing(of parent: Int?, in tree: RevisionTree, winner: RevisionID?) -> String
  {
    tree.nodes.indices.filter { tree.nodes[$0].parent == parent }
      .sorted { tree.nodes[$0].revision < tree.nodes[$1].revision }
      .map { index in
        let node = tree.nodes[index]
        let below = drawing(of: index, in: tree, winner: winner)
        return node.revision.description + (node.isDeleted ? "†" : "")
          + (node.revision == winner ? "*" : "") + (below.isEmpty ? "" : "(" + below + ")")
      }
      .joined(separator: " ")
  }
}

extension RevisionID {
  /// Several revisions, separated by spaces.
  static func list(_ text: String) throws -> [RevisionID] {
    try text.split(separator: " ").map { try RevisionID(String($0)) }
  }
}

extension DocumentBody {
  static func text(_ text: String) throws -> DocumentBody {
    try DocumentBody(parsing: Array(text.utf8))
  }
}

extension IncomingDocument {
  static func text(_ text: String) throws -> IncomingDocument {
    try IncomingDocument(ParsedJSON(Array(text.utf8), limits: .document).root)
  }
}
