package import Documents
package import JSON
import NIOConcurrencyHelpers

/// A write whose answer is kept in the very update that carries it out, for a client that may not have heard it: its
/// retry with the same idempotency key is answered and not done again, and its receipt never says of a write that it
/// is committed which is not there.
///
/// It travels as ``current`` with the task that carries the write out. The update whose outcome ``encodes(_:)`` knows
/// how to answer writes the answer as a local document, in the same transaction. A use case that says nothing of its
/// answer is served, too: its first update that writes anything notes that, and the answer follows in an update of its
/// own (``DocumentStore/keep(_:of:)``). Where the server stops between the two, it is known what was changed, but not
/// in which words it would have been answered.
package final class WriteReceipt: Sendable {
  /// The write that the task carries out; nil for one whose answer nobody keeps, and for upkeep on its way.
  @TaskLocal package static var current: WriteReceipt?

  /// Makes the answer of what an update, or the use case behind it, comes out with; nil for anything else. Runs inside
  /// the transaction.
  package typealias Encoding = @Sendable (any Sendable) -> KeptAnswer?

  /// Which answer: whose, and of which of their writes.
  package struct Name: Hashable, Sendable {
    /// Who writes.
    package let owner: AccountID
    /// 32 hex digits: of the idempotency key's digest, or drawn for the receipt.
    package let token: String

    /// A name.
    package init(owner: AccountID, token: String) {
      self.owner = owner
      self.token = token
    }

    /// The local document that keeps the answer.
    package var id: LocalID { LocalID(answer: token, to: owner.text) }
  }

  /// The request was carried out before: this is the answer of that time, and nothing was written now.
  package struct AnsweredBefore: Error {
    /// The answer.
    package let answer: KeptAnswer
  }

  /// What is kept of it.
  package struct Kept: Sendable {
    /// In which store.
    package let store: StoreName
    /// The answer.
    package let answer: KeptAnswer
    /// Whether it is the answer that the use case gives, and not just what was changed.
    package let isWhole: Bool
  }

  private struct State {
    var encoding: Encoding?
    var kept: Kept?
    var isOver = false

    /// Whether the next update may be the one that is answered.
    var isNext: Bool { kept == nil && !isOver }
  }

  /// Whose write it is, and which.
  package let name: Name
  /// The digest of the request, which tells it from another one with the same key.
  package let request: [UInt8]
  private let stores: [StoreName]
  private let state = NIOLockedValueBox(State())

  /// A write that begins.
  /// - Parameter stores: where the answer may be kept: where it is looked for.
  package init(_ name: Name, request: [UInt8], in stores: [StoreName]) {
    self.name = name
    self.request = request
    self.stores = stores
  }

  /// Runs a step towards the write that is to be answered: what it writes is not yet that write.
  nonisolated(nonsending) package static func aside<Value>(
    _ step: () async throws -> Value
  ) async rethrows -> Value {
    try await $current.withValue(nil) { try await step() }
  }

  /// Says how the outcome of the use case is answered; before it runs.
  package func encodes(_ encoding: @escaping Encoding) {
    state.withLockedValue { $0.encoding = encoding }
  }

  /// What is kept so far; nil for a write that has changed nothing.
  package var kept: Kept? { state.withLockedValue { $0.kept } }

  /// Ends it: what a task that outlives the request writes is no part of it.
  package func end() { state.withLockedValue { $0.isOver = true } }

  /// - Throws: ``AnsweredBefore`` where the store has the answer of an earlier request, `receiptMismatch` where that
  ///   was another request.
  func checkEarlier(
    in view: any StoreView, of store: StoreName, at now: Timestamp
  ) throws {
    guard state.withLockedValue({ $0.isNext }), stores.contains(store),
      let note = try view.local(name.id).flatMap({ AnswerNote(parsing: $0.body, at: now) }),
      !note.answer.isRejection
    else { return }
    throw AnsweredBefore(answer: try note.answer(to: request))
  }

  /// What an update writes besides; nil for one that is not to be answered.
  func entry(
    of outcome: any Sendable, in changes: StoreChanges, of store: StoreName, at now: Timestamp
  ) throws -> (edit: LocalEdit, kept: Kept)? {
    guard stores.contains(store), let state = state.withLockedValue({ $0.isNext ? $0 : nil })
    else { return nil }
    let changed = changes.mutations.map { mutation in
      KeptAnswer.Change(id: mutation.id, revision: mutation.revision)
    }
    var answer: KeptAnswer
    if let encoding = state.encoding {
      guard let encoded = encoding(changes.outcome ?? outcome) else { return nil }
      answer = encoded
      answer.changes = changed
    } else {
      guard !changes.isEmpty else { return nil }
      answer = KeptAnswer(of: changed)
    }
    let edit = try name.edit(answer, to: request, over: changes.view, at: now)
    return (edit, Kept(store: store, answer: answer, isWhole: state.encoding != nil))
  }

  /// Takes note that an update with an ``entry(of:in:of:at:)`` is committed.
  func note(_ kept: Kept) { state.withLockedValue { $0.kept = kept } }
}

extension WriteReceipt.Name {
  /// What keeps an answer for its time.
  fileprivate func edit(
    _ answer: KeptAnswer, to request: [UInt8], over view: any StoreView, at now: Timestamp
  ) throws -> LocalEdit {
    let expires = now.adding(seconds: StoreLimits.receiptSeconds)
    let note = AnswerNote(answer, to: request, expires: expires)
    let revision = (try view.local(id)?.revision ?? 0) &+ 1
    return LocalEdit(id, LocalDocument(revision: revision, body: note.bytes), expires: expires)
  }
}

extension AnswerNote {
  /// The answer.
  /// - Throws: `receiptMismatch` when it is another request's.
  fileprivate func answer(to request: [UInt8]) throws -> KeptAnswer {
    guard self.request == request else { throw ServiceError.receiptMismatch }
    return answer
  }
}

extension ServiceError {
  /// 422 for a key that was used for another request.
  package static let receiptMismatch = ServiceError(
    .receiptMismatch, "The idempotency key was used for another request before")
}

extension DocumentStore {
  /// The kept answer to a write; nil where there is none.
  /// - Parameter request: the digest of the request that it must be an answer to; nil for any.
  /// - Throws: `receiptMismatch` for the answer to another request, unless that was a refusal.
  package func answer(
    kept name: WriteReceipt.Name, to request: [UInt8]? = nil
  ) async throws -> KeptAnswer? {
    let moment = now()
    return try await readInline { view in
      let note = try view.local(name.id).flatMap { AnswerNote(parsing: $0.body, at: moment) }
      guard let note, let request, !note.answer.isRejection else { return note?.answer }
      return try note.answer(to: request)
    }
  }

  /// Keeps an answer that no update has kept, or that is to take the place of what one did. A refusal never takes the
  /// place of another answer: what failed may have been carried out all the same.
  /// - Parameter answer: nil to forget it; what was changed is what it was.
  /// - Throws: as ``update(loading:_:)``.
  package func keep(_ answer: KeptAnswer?, of receipt: WriteReceipt) async throws {
    let (name, request, moment) = (receipt.name, receipt.request, now())
    let changed = receipt.kept?.answer.changes ?? []
    try await WriteReceipt.$current.withValue(nil) {
      try await update { changes in
        guard var answer else { return changes.write(LocalEdit(name.id, nil)) }
        answer.changes = changed
        if answer.isRejection {
          let note = try changes.view.local(name.id).flatMap {
            AnswerNote(parsing: $0.body, at: moment)
          }
          guard note?.answer.isRejection ?? true else { return }
        }
        changes.write(try name.edit(answer, to: request, over: changes.view, at: moment))
      }
    }
  }
}

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
