package import Documents
package import JSON

/// The answer to a write, kept for whoever asks for it again: what its client was told, or would have been.
package struct KeptAnswer: Sendable, Equatable {
  /// One header field.
  package struct Field: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The value.
    package let value: String

    /// A field.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A document that the write changed.
  package struct Change: Sendable, Equatable {
    /// Which one.
    package let id: DocumentID
    /// The revision that it got.
    package let revision: RevisionID
  }

  /// The status code. From 400 on, the write was not carried out.
  package let status: Int
  /// The header fields that belong to this answer: `Location`, `ETag`.
  package let fields: [Field]
  /// The body, JSON; empty for none.
  package let body: [UInt8]
  /// What the write changed, in the order of its sequence numbers.
  package internal(set) var changes: [Change] = []

  /// An answer.
  package init(status: Int, fields: [Field] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Whether the write was refused.
  package var isRejection: Bool { status >= 400 }

  /// An answer of which only this is known: that the write was carried out, and what it changed.
  init(of changes: [Change]) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("changed")
    Self.append(changes, to: &writer)
    writer.endObject()
    self.init(status: 200, body: writer.bytes)
    self.changes = changes
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

/// A ``KeptAnswer`` as a local document holds it, with what tells the request from another.
///
/// `{"request":hex,"expires":ms,"status":201,"fields":[name,value…],"changed":[{"id","rev"}…],"body":text}`
struct AnswerNote {
  /// The digest of the request.
  let request: [UInt8]
  /// When the answer is forgotten.
  let expires: Timestamp
  /// The answer.
  let answer: KeptAnswer

  /// A note.
  init(_ answer: KeptAnswer, to request: [UInt8], expires: Timestamp) {
    self.answer = answer
    self.request = request
    self.expires = expires
  }

  /// Reads a note as ``bytes`` wrote it; nil for one that is past its time, or anything else.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let root = try? ParsedJSON(bytes, limits: .stored).root,
      let milliseconds = root["expires"]?.int, let status = root["status"]?.int,
      let request = root["request"]?.string.flatMap({ Hex.bytes($0.utf8) })
    else { return nil }
    expires = Timestamp(milliseconds: Int64(milliseconds))
    guard expires > now else { return nil }
    self.request = request
    let texts = root["fields"]?.elements.compactMap(\.string) ?? []
    let fields = stride(from: 0, to: texts.count - 1, by: 2).map { place in
      KeptAnswer.Field(name: texts[place], value: texts[place + 1])
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
    self.answer = answer
  }

  /// The note's JSON. The body is a text in it, so that it comes back byte for byte.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("request", Hex.string(request))
    writer.member("expires", Int(clamping: expires.milliseconds))
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
    if !answer.body.isEmpty {
      writer.member("body", String(decoding: answer.body, as: UTF8.self))
    }
    writer.endObject()
    return writer.bytes
  }
}
