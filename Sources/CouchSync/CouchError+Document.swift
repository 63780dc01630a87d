package import Documents

extension CouchError {
  /// What the document rules' refusal is for a client.
  package init(_ error: DocumentError) {
    switch error.code {
    case .conflict: self.init(409, "conflict", error.reason)
    case .missing, .deleted: self.init(404, "not_found", error.reason)
    case .invalidID: self.init(400, "illegal_docid", error.reason)
    case .invalidRevision: self.init(400, "bad_request", error.reason)
    case .invalidDocument: self.init(400, "doc_validation", error.reason)
    case .invalidJSON, .tooLarge:
      guard let json = error.json else {
        self.init(413, "document_too_large", error.reason)
        return
      }
      self.init(json)
    case .attachmentsUnsupported: self.init(415, "bad_content_type", error.reason)
    case .tooManyLeaves: self.init(409, "too_many_leaves", error.reason)
    case .revisionCollision: self.init(409, "rev_collision", error.reason)
    case .damaged: self.init(500, "integrity_error", error.reason)
    }
  }

  /// What the parser's refusal of a request's body is for a client: `bad_request` for a text that is no
  /// JSON at all, otherwise the name of the rule that it breaks.
  package init(_ error: JSONError) {
    switch error.code {
    case .invalidJSON, .invalidUTF8: self.init(400, "bad_request", error.reason)
    case .tooLarge, .tooManyValues: self.init(413, "too_large", error.reason)
    case .duplicateKey, .tooDeep, .tooManyMembers, .stringTooLong, .numberOutOfRange:
      self.init(400, error.code.rawValue, error.reason)
    }
  }

  /// The refusal as it stands in an array of a peer's revisions (`new_edits=false`).
  ///
  /// What no repetition could make acceptable is `forbidden` there: PouchDB reports such a document as
  /// denied and goes on, while any other word makes it push the same batch again for ever.
  var forReplication: CouchError {
    switch error {
    case "bad_content_type", "bad_request", "document_too_large", "illegal_docid",
      "doc_validation", "rev_collision", "too_many_leaves":
      CouchError(403, "forbidden", reason, detail: detail)
    default: self
    }
  }
}
