package import Documents
package import Stores

/// Decides what a member may write to a list's store by sync.
///
/// A reader may write nothing. No one may delete the list's own document or change its owner and members; the owner
/// does that through `/v1/lists`. Titles, texts and days are those that `/v1/lists` takes (``ListText``, ``TripDates``). Drafts belong to their
/// author's own store and are refused.
package struct ListWriteRule: Sendable {
  private let list: AccountID
  private let role: ListRole

  package init(_ list: AccountID, role: ListRole) {
    self.list = list
    self.role = role
  }

  /// The refusal that follows from a document's id; nil for none.
  package func refusal(of id: DocumentID) -> ServiceError? {
    guard role.mayWrite else { return .readersRead }
    guard ListDraft.isDraft(id) else { return nil }
    return ServiceError(.forbidden, "A draft belongs in its author's own store, not in a list's")
  }

  /// The refusal that follows from a revision's contents; nil for none.
  /// - Parameter parent: the revision before it.
  package func refusal(
    of id: DocumentID, after parent: RevisionID?, body: DocumentBody, isDeleted: Bool,
    in view: any StoreView
  ) throws -> ServiceError? {
    guard id == ListDocument.id(of: list) else {
      return isDeleted ? nil : try refusal(ofNote: id, body)
    }
    guard !isDeleted else {
      return ServiceError(
        .forbidden,
        "The list's own document can't be deleted: DELETE /v1/lists/{id} deletes the list")
    }
    guard let next = try? JSONValue(parsing: body.bytes, limits: .stored).object,
      let title = next["title"]?.string
    else { return ServiceError(.forbidden, "The list's own document needs a title") }
    if let error = Self.fault(title, next["markdown"]?.string) { return error }
    do { _ = try TripDates(of: next) } catch { return Self.forbidden(error) }
    let former = try former(id, parent, in: view)
    guard ListDocument.owned.allSatisfy({ former?[$0] == next[$0] }) else {
      return ServiceError(
        .forbidden, "Only /v1/lists/{id} can change the owner and the members of a list")
    }
    return nil
  }

  /// The refusal of a note whose title or text is too long; nil for any other document.
  private func refusal(ofNote id: DocumentID, _ body: DocumentBody) throws -> ServiceError? {
    guard let title = ListNote.title(of: id, in: list.text) else { return nil }
    // The text is no longer than the body that contains it.
    guard body.bytes.count > ListLimits.markdownBytes else { return Self.fault(title, nil) }
    let root = try? ParsedJSON(body.bytes, limits: .stored).root
    return Self.fault(title, root?["markdown"]?.string)
  }

  /// 403 `forbidden` for texts that ``ListText`` refuses: a replicator goes on with the other documents.
  private static func fault(_ title: String, _ markdown: String?) -> ServiceError? {
    do {
      _ = try ListText.title(title)
      _ = try markdown.map(ListText.markdown)
      return nil
    } catch { return forbidden(error) }
  }

  private static func forbidden(_ error: any Error) -> ServiceError {
    ServiceError(.forbidden, ServiceError(error)?.reason ?? "")
  }

  /// The former contents: the parent's, or the winner's when the parent's are no longer stored.
  private func former(
    _ id: DocumentID, _ parent: RevisionID?, in view: any StoreView
  ) throws -> JSONObject? {
    let known = try parent.flatMap { try view.body(id, $0) }
    guard let bytes = try known ?? view.document(id)?.body else { return nil }
    return try JSONValue(parsing: bytes, limits: .stored).object
  }
}
