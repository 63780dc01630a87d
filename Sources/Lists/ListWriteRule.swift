package import Documents
import JSON
package import Stores

/// What a member may write into a list's store by sync.
///
/// A reader writes nothing. Nobody removes the list's own document, or changes in it who owns the list and who is on it:
/// the owner does that by `/v1/lists`. Drafts are their authors' alone, so none comes in here.
package struct ListWriteRule: Sendable {
  /// What the ids of drafts start with.
  package static let draftPrefix = "draft:"

  private let list: AccountID
  private let role: ListRole

  /// The rule for one member.
  package init(_ list: AccountID, role: ListRole) {
    self.list = list
    self.role = role
  }

  /// Refuses by the id alone; nil to go on.
  package func refusal(of id: DocumentID) -> ServiceError? {
    guard role.mayWrite else { return .readersRead }
    guard id.text.utf8.starts(with: Self.draftPrefix.utf8) else { return nil }
    return ServiceError(
      .forbidden, "A draft belongs into its author's own store, not into a list's")
  }

  /// Refuses by what a revision says; nil to let it in.
  /// - Parameter parent: the revision that it goes on from.
  package func refusal(
    of id: DocumentID, after parent: RevisionID?, body: DocumentBody, isDeleted: Bool,
    in view: any StoreView
  ) throws -> ServiceError? {
    guard id == ListDocument.id(of: list) else { return nil }
    guard !isDeleted else {
      return ServiceError(
        .forbidden, "The list's own document stays: DELETE /v1/lists/{id} ends it")
    }
    guard let next = try? JSONValue(parsing: body.bytes, limits: .stored).object,
      next["title"]?.string != nil
    else { return ServiceError(.forbidden, "The list's own document needs a title") }
    let former = try former(id, parent, in: view)
    guard ListDocument.owned.allSatisfy({ former?[$0] == next[$0] }) else {
      return ServiceError(
        .forbidden, "Who owns a list and who is on it is changed by /v1/lists/{id} alone")
    }
    return nil
  }

  /// What the document said before; the winner where its parent is no longer known.
  private func former(
    _ id: DocumentID, _ parent: RevisionID?, in view: any StoreView
  ) throws -> JSONObject? {
    let known = try parent.flatMap { try view.body(id, $0) }
    guard let bytes = try known ?? view.document(id)?.body else { return nil }
    return try JSONValue(parsing: bytes, limits: .stored).object
  }
}
