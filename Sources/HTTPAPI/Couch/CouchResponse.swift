import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Logging

extension Response {
  /// CouchDB's caching rule: caches have to revalidate an answer.
  static let couchFields: HTTPFields = [.cacheControl: "must-revalidate"]

  /// The answer of an operation, with an entity tag if it has a revision.
  static func couch(
    _ answer: CouchAnswer, type: String = "application/json", location: String? = nil
  ) -> Response {
    var fields = couchFields
    if let revision = answer.revision { fields[.eTag] = "\"\(revision)\"" }
    if let location { fields[.location] = location }
    return .inPieces(answer.pieces, status: answer.outcome.status, type: type, headers: fields)
  }

  /// `{"ok":true}`.
  static func couchDone(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields = couchFields
  ) -> Response { .json(status, headers: headers) { $0.member("ok", true) } }

  /// The answer to a write of a document or of one of its attachments. As in CouchDB the answer to `batch=ok` has no
  /// revision, although the document is already written here.
  /// - Parameter url: that of CouchDB's API on this server.
  static func couchWritten(
    _ answer: CouchAnswer, _ parameters: CouchParameters, _ call: Call, at url: String,
    attachment: AttachmentName? = nil
  ) -> Response {
    guard parameters["batch"] == "ok", let id = answer.written else {
      let location = answer.location(in: call.arguments["db"] ?? "", at: url)
      let rest = attachment.map { "/" + $0.text.urlSegment } ?? ""
      return .couch(answer, location: location.map { $0 + rest })
    }
    return .json(.accepted, headers: couchFields) { writer in
      writer.member("ok", true)
      writer.member("id", id.text)
    }
  }
}

extension CouchAnswer.Outcome {
  /// The status of the answer.
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .done: .ok
    case .created: .created
    case .accepted: .accepted
    case .refused: .expectationFailed
    }
  }
}

extension CouchAnswer {
  /// The URL of a written document; nil if it was deleted.
  /// - Parameter database: the database's name, as sent.
  /// - Parameter url: that of CouchDB's API on this server.
  func location(in database: String, at url: String) -> String? {
    guard outcome == .created else { return nil }
    return written.map { url + "/\(database)/" + PathSegment.path(ofDocument: $0.text) }
  }

  /// Warns the operator of a `validate_doc_update` function, which is not run.
  func warnOfUnrunRules(_ call: Call) {
    guard hasUnrunRules else { return }
    call.context.logger.warning(
      "a peer's design document has validate_doc_update, which is stored and not run")
  }
}
