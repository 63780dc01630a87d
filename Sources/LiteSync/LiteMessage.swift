import CouchSync
package import Stores

/// A request of the peer, or one for it, as its transport has read it.
package struct LiteRequest: Sendable {
  /// The property `Profile`, which names the operation.
  package let profile: String
  /// The other properties, by their names.
  package var properties: [String: String]
  package let body: [UInt8]
  /// Whether no answer is wanted.
  package let isNoReply: Bool
  /// Whether it was longer than its transport keeps, so that the body is missing.
  package let isTooLong: Bool

  package init(
    _ profile: String, _ properties: [String: String] = [:], body: [UInt8] = [],
    isNoReply: Bool = false, isTooLong: Bool = false
  ) {
    (self.profile, self.properties, self.body) = (profile, properties, body)
    (self.isNoReply, self.isTooLong) = (isNoReply, isTooLong)
  }

  subscript(name: String) -> String? { properties[name] }

  /// The bytes of its properties and its body.
  package var byteCount: Int {
    properties.reduce(body.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }

  /// The most bytes of the checkpoints in its answer: it asks for them in few bytes.
  package var answerBytes: Int {
    switch profile {
    case "getCheckpoint": CouchDatabase.checkpointBytes
    case "getCollections": LiteSession.defaultNames.count * CouchDatabase.checkpointBytes
    default: 0
    }
  }

  /// Whether a property says yes, as LiteCore reads it.
  func flag(_ name: String) -> Bool {
    ["true", "1", "yes"].contains(properties[name]?.lowercased() ?? "")
  }
}

/// The answer to a request.
package struct LiteReply: Sendable {
  package let properties: [String: String]
  package let body: [UInt8]
  /// The error instead of an answer; nil for an answer.
  package let error: LiteError?
  /// The attachment whose bytes are the body; nil for none.
  package let attachment: AttachmentFacts?

  package init(
    _ properties: [String: String] = [:], body: [UInt8] = [], error: LiteError? = nil,
    attachment: AttachmentFacts? = nil
  ) {
    (self.properties, self.body, self.error) = (properties, body, error)
    self.attachment = attachment
  }
}

/// An error as Couchbase Lite understands it.
///
/// A client counts a document as done after most errors and does not send it again. It sends the document in its next
/// session after 503. So what may pass later is always 503, whatever its status is in other protocols.
package struct LiteError: Error, Sendable, Equatable {
  /// The property `Error-Domain`.
  package let domain: String
  /// The property `Error-Code`.
  package let code: Int
  /// The text for a person.
  package let reason: String

  package init(_ domain: String, _ code: Int, _ reason: String) {
    (self.domain, self.code, self.reason) = (domain, code, reason)
  }

  /// An error in the statuses of HTTP.
  static func http(_ code: Int, _ reason: String) -> LiteError { LiteError("HTTP", code, reason) }

  /// Whether a client sends a document again after it, in its next session.
  var isPassing: Bool { domain == "HTTP" && code == 503 }

  /// Whether a client says by it that it does not have a blob. LiteCore's own errors have its own codes.
  var isAbsence: Bool {
    domain == "LiteCore" && code == 7 || ["HTTP", "BLIP"].contains(domain) && code < 500
  }

  /// - Parameter status: the status of a code in HTTP.
  init(_ error: ServiceError, status: (ServiceError.Code) -> Int) {
    let code = status(error.code)
    // Bytes that no earlier revision has may come later, by another client.
    let isPassing = code == 429 || code >= 500 || error.code == .missingStub
    self = .http(isPassing ? 503 : code, error.reason)
  }
}
