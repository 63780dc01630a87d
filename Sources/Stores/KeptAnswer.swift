package import Documents
package import JSON

/// The stored answer to a write: what its client received, or would have received.
package struct KeptAnswer: Sendable, Equatable {
  /// One header field.
  package struct Field: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The value.
    package let value: String

    /// Creates a field.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A document that the write changed.
  package struct Change: Sendable, Equatable {
    /// The document's id.
    package let id: DocumentID
    /// The document's new revision.
    package let revision: RevisionID
  }

  /// The status code. From 400 on, the write was refused.
  package let status: Int
  /// The header fields of this answer: `Location`, `ETag`.
  package let fields: [Field]
  /// The body, JSON; empty when there is none.
  package let body: [UInt8]
  /// The changes of the write, in the order of their sequence numbers.
  package internal(set) var changes: [Change] = []
  /// Whether this is only the list of changes: the process that carries the write out has not stored the complete
  /// answer yet, or has stopped before that.
  package private(set) var isPartial = false

  /// Creates an answer.
  package init(status: Int, fields: [Field] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Whether the write was refused.
  package var isRejection: Bool { status >= 400 }

  /// Creates an answer that only says that the write was carried out and what it changed.
  init(of changes: [Change]) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("changed")
    Self.append(changes, to: &writer)
    writer.endObject()
    self.init(status: 200, body: writer.bytes)
    self.changes = changes
    isPartial = true
  }

  /// Writes changed documents: `[{"id","rev"}…]`.
  package static func append(_ changes: [Change], to writer: inout JSONWriter) {
    writer.beginArray()
    for change in changes {
      writer.beginObject()
      writer.member("id", change.id.text)
      writer.member("rev", change.revision.description)
      writer.endObject()
    }
    writer.endArray()
  }
}

/// A ``KeptAnswer`` as it is stored in a local document, with the digest of its request.
///
/// `{"request":hex,"expires":ms,"accepted":ms,"status":201,"fields":[name,value…],"changed":[{"id","rev"}…],"body":text}`, and
/// `"partial":true` for an answer that is not complete.
struct AnswerNote {
  /// The digest of the request.
  let request: [UInt8]
  /// When the answer expires.
  let expires: Timestamp
  /// When the write was accepted; nil if its client waited.
  let accepted: Timestamp?
  /// The answer.
  let answer: KeptAnswer

  /// Creates a note.
  init(
    _ answer: KeptAnswer, to request: [UInt8], expires: Timestamp, accepted: Timestamp? = nil
  ) {
    self.answer = answer
    self.request = request
    self.expires = expires
    self.accepted = accepted
  }

  /// Reads a note that ``bytes`` wrote; nil for one that has expired, and for any other bytes.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let root = try? ParsedJSON(bytes, limits: .stored).root,
      let milliseconds = root["expires"]?.int, let status = root["status"]?.int,
      let request = root["request"]?.string.flatMap({ Hex.bytes($0.utf8) })
    else { return nil }
    expires = Timestamp(milliseconds: Int64(milliseconds))
    guard expires > now else { return nil }
    accepted = root["accepted"]?.int.map { Timestamp(milliseconds: Int64($0)) }
    self.request = request
    let texts = root["fields"]?.elements.compactMap(\.string) ?? []
    let fields = stride(from: 0, to: texts.count - 1, by: 2).map { index in
      KeptAnswer.Field(name: texts[index], value: texts[index + 1])
    }
    let body = root["body"]?.string.map { Array($0.utf8) } ?? []
    var answer = KeptAnswer(status: status, fields: fields, body: body)
    answer.changes =
      root["changed"]?.elements.compactMap { node in
        guard let id = node["id"]?.string, let text = node["rev"]?.string,
          let revision = try? RevisionID(text)
        else { return nil }
        return KeptAnswer.Change(id: DocumentID(stored: id), revision: revision)
      } ?? []
    if root["partial"]?.bool == true { answer = KeptAnswer(of: answer.changes) }
    self.answer = answer
  }

  /// The note's JSON. The body is stored in it as a string, so that it is returned byte for byte.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("request", Hex.string(request))
    writer.member("expires", Int(clamping: expires.milliseconds))
    if let accepted { writer.member("accepted", Int(clamping: accepted.milliseconds)) }
    writer.member("status", answer.status)
    writer.name("fields")
    writer.beginArray()
    for field in answer.fields {
      writer.string(field.name)
      writer.string(field.value)
    }
    writer.endArray()
    writer.name("changed")
    KeptAnswer.append(answer.changes, to: &writer)
    if answer.isPartial { writer.member("partial", true) }
    if !answer.body.isEmpty {
      writer.member("body", String(decoding: answer.body, as: UTF8.self))
    }
    writer.endObject()
    return writer.bytes
  }
}
