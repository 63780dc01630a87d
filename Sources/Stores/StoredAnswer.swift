import Documents

/// A ``KeptAnswer`` as it is stored, with the digest of its request.
///
/// It is a local document:
/// `{"request":hex,"expires":ms,"accepted":ms,"status":201,"location":path}` with one of
/// - the content, if it is short: `"fields":[name,value…],"changed":[{"id","rev"}…],"body":text`;
/// - `"apart":true`: the content is a local document of its own, which can go before this one does;
/// - `"gone":true`: there is no content.
struct StoredAnswer {
  /// A content of at most this many bytes is stored in the same document. It would free too little to be worth a document.
  static let shortBytes = 256
  /// The longest path of what was made that outlives the content, in bytes.
  private static let locationBytes = 256

  /// The digest of the request.
  let request: [UInt8]
  let expires: Timestamp
  /// When the write was accepted; nil if its client waited.
  let accepted: Timestamp?
  /// The answer. If the content is apart, as if that were gone.
  let answer: KeptAnswer
  /// Whether the content is a local document of its own.
  private(set) var isApart = false

  init(_ answer: KeptAnswer, to request: [UInt8], expires: Timestamp, accepted: Timestamp? = nil) {
    self.answer = answer
    self.request = request
    self.expires = expires
    self.accepted = accepted
  }

  /// Reads a stored answer; nil for one that has expired, and for any other bytes.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let root = try? ParsedJSON(bytes, limits: .stored).root,
      let milliseconds = root["expires"]?.int, let status = root["status"]?.int,
      let request = root["request"]?.string.flatMap({ Hex.bytes($0.utf8) })
    else { return nil }
    expires = Timestamp(milliseconds: Int64(milliseconds))
    guard expires > now else { return nil }
    accepted = root["accepted"]?.int.map { Timestamp(milliseconds: Int64($0)) }
    self.request = request
    isApart = root["apart"]?.bool == true
    answer =
      isApart || root["gone"]?.bool == true
      ? KeptAnswer(goneWith: status, location: root["location"]?.string)
      : KeptAnswer(status: status, content: root)
  }

  /// The answer with the content that is stored apart; unchanged if that is gone.
  func with(content: [UInt8]?) -> StoredAnswer {
    guard isApart, let content,
      let root = try? ParsedJSON(content, limits: .stored).root
    else { return self }
    return StoredAnswer(
      KeptAnswer(status: answer.status, content: root), to: request, expires: expires,
      accepted: accepted)
  }

  /// The answer's content as JSON. The body is stored in it as a string, so that it is returned byte for byte.
  var content: [UInt8] { return JSONWriter.object { writer in appendContent(to: &writer) } }

  private func appendContent(to writer: inout JSONWriter) {
    writer.array("fields", of: answer.fields) { field, writer in
      writer.string(field.name)
      writer.string(field.value)
    }
    writer.name("changed")
    KeptAnswer.append(answer.changes, to: &writer)
    if !answer.body.isEmpty { writer.member("body", String(decoding: answer.body, as: UTF8.self)) }
  }

  /// Where the content of an answer is.
  enum Place {
    case inside
    /// In a local document of its own.
    case apart
    case nowhere
  }

  /// The document's JSON.
  func bytes(contentIn place: Place) -> [UInt8] {
    return JSONWriter.object { writer in
      writer.member("request", Hex.string(request))
      writer.member("expires", Int(clamping: expires.milliseconds))
      if let accepted { writer.member("accepted", Int(clamping: accepted.milliseconds)) }
      writer.member("status", answer.status)
      if let location = answer.location, location.utf8.count <= Self.locationBytes {
        writer.member("location", location)
      }
      switch place {
      case .inside: appendContent(to: &writer)
      case .apart: writer.member("apart", true)
      case .nowhere: writer.member("gone", true)
      }
    }
  }
}

extension KeptAnswer {
  fileprivate init(status: Int, content root: JSONNode) {
    let texts = root["fields"]?.elements.compactMap(\.string) ?? []
    let fields = stride(from: 0, to: texts.count - 1, by: 2).map { index in
      Field(name: texts[index], value: texts[index + 1])
    }
    let body = root["body"]?.string.map { Array($0.utf8) } ?? []
    let changes: [Change] =
      root["changed"]?.elements.compactMap { node in
        guard let id = node["id"]?.string, let text = node["rev"]?.string,
          let revision = try? RevisionID(text)
        else { return nil }
        return Change(id: DocumentID(stored: id), revision: revision)
      } ?? []
    self.init(status: status, fields: fields, body: body)
    self.changes = changes
  }
}
