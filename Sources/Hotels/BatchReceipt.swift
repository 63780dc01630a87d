import Documents
import Stores

/// What is kept of a batch for its retries: the answer, with the former bookmarks by revision only, since
/// their bodies are in the documents' histories.
///
/// `{"fingerprint":hex,"expires":ms,"results":[[id,status]…],"restored":[[id,rev]…],"withdrawn":[id…]}`
struct BatchReceipt {
  private let value: JSONValue
  private let fingerprint: [UInt8]

  /// The receipt of an answer.
  init(_ answer: BatchAnswer, fingerprint: [UInt8], expires: Timestamp) {
    self.fingerprint = fingerprint
    value = [
      "fingerprint": .string(Hex.string(fingerprint)),
      "expires": .number(JSONNumber(Int(expires.milliseconds))),
      "results": .array(
        answer.results.map { [.string($0.id.text), .number(JSONNumber($0.status))] }),
      "restored": .array(
        answer.restored.map { [.string($0.id.text), .string($0.revision.description)] }),
      "withdrawn": .array(answer.withdrawn.map { .string($0.text) }),
    ]
  }

  /// Reads a receipt as ``bytes`` wrote it; nil for one that is past its time, or anything else.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let value = try? JSONValue(parsing: bytes, limits: .request),
      let expires = value["expires"]?.int, Timestamp(milliseconds: Int64(expires)) > now,
      let text = value["fingerprint"]?.string, let fingerprint = Hex.bytes(text.utf8)
    else { return nil }
    self.value = value
    self.fingerprint = fingerprint
  }

  /// The receipt's JSON.
  var bytes: [UInt8] { value.bytes }

  /// The kept answer. Its undo leaves out a bookmark whose former revision was compacted away since.
  /// - Throws: `receiptMismatch` when the receipt is another request's; `store`.
  func answer(
    to request: ReceiptRequest, in view: any StoreView
  ) throws(HotelError) -> BatchAnswer {
    guard fingerprint == request.fingerprint else {
      throw HotelError(
        .receiptMismatch, "The idempotency key was used for another request before")
    }
    var results: [BatchAnswer.Item] = []
    for item in value["results"]?.array ?? [] {
      guard let id = Self.id(item.array?.first), let status = item.array?.last?.int else {
        continue
      }
      results.append(BatchAnswer.Item(id: id, status: status))
    }
    var restored: [Bookmark] = []
    for item in value["restored"]?.array ?? [] {
      if let bookmark = try Self.former(item, in: view) { restored.append(bookmark) }
    }
    let withdrawn = (value["withdrawn"]?.array ?? []).compactMap { Self.id($0) }
    return BatchAnswer(results: results, isReplay: true, restored: restored, withdrawn: withdrawn)
  }

  private static func former(
    _ item: JSONValue, in view: any StoreView
  ) throws(HotelError) -> Bookmark? {
    guard let id = id(item.array?.first), let text = item.array?.last?.string,
      let revision = try? RevisionID(text)
    else { return nil }
    let body = try reading { () throws(StoreError) in try view.body(id.documentID, revision) }
    return body.map {
      Bookmark(id: id, revision: revision, bookmarkedAt: Timestamp(milliseconds: 0), hotel: $0)
    }
  }

  private static func id(_ value: JSONValue?) -> HotelID? { value?.string.flatMap { HotelID($0) } }
}
