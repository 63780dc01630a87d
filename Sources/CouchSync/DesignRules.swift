import Documents
import Lanes
import Stores

/// The rules of design documents, `validate_doc_update`: they guard data elsewhere, and here nothing runs them. Who
/// writes one is told so; one that a peer's replication brings is stored, and its database says so ever after.
enum DesignRules {
  /// The member that holds a rule.
  static let member = "validate_doc_update"

  /// Whether a design document has a rule.
  static func isIn(_ document: JSONNode) -> Bool {
    document[member].map { !$0.isNull } ?? false
  }

  /// What a database says of a design document with a rule.
  static func warning(of id: DocumentID) -> String {
    "\(id.text): \(member) is stored, and nothing runs it"
  }

  /// The answer to who writes one.
  static let refusal = CouchError(
    403, "forbidden",
    "validate_doc_update is not run here and would guard nothing: leave it out, or guard by _security"
  )
}

/// Looks in slices for the design documents of a database whose rules are not run.
struct DesignRulesReader: Sendable {
  /// How many are named at most.
  static let most = 100
  /// How many design documents are looked at.
  static let mostDesigns = 1_000

  private var range: DocumentRange? = AllDocumentsQuery.Scope.designs.part(
    of: DocumentRange())
  /// The ids of the documents that have rules, as far as they have been looked at.
  private(set) var ids: [DocumentID] = []

  private var looked = 0

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are looked at.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    guard let walked = range else { return true }
    var rest: DocumentRange?
    try view.documents(walked) { document throws(StoreError) in
      if let root = try? ParsedJSON(document.body, limits: .stored).root, DesignRules.isIn(root) {
        ids.append(document.id)
      }
      looked += 1
      guard ids.count < Self.most, looked < Self.mostDesigns else { return false }
      guard Slice.isOver else { return true }
      rest = walked.behind(document.id.text)
      return false
    }
    range = rest
    return rest == nil
  }
}
