import Crypto
import Documents
import JSON
import Stores

/// What is kept of a batch for its retries: the answer, and what tells the request from another.
///
/// `{"fingerprint":hex,"expires":ms,"answer":{…}}`
struct BatchReceipt {
  private let answer: BatchAnswer
  private let fingerprint: [UInt8]
  private let expires: Timestamp

  /// The receipt of an answer.
  init(_ answer: BatchAnswer, fingerprint: [UInt8], expires: Timestamp) {
    self.answer = answer
    self.fingerprint = fingerprint
    self.expires = expires
  }

  /// Reads a receipt as ``bytes`` wrote it; nil for one that is past its time, or anything else.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let root = try? ParsedJSON(bytes, limits: .request).root,
      let milliseconds = root["expires"]?.int,
      let text = root["fingerprint"]?.string, let fingerprint = Hex.bytes(text.utf8),
      let answer = root["answer"]
    else { return nil }
    expires = Timestamp(milliseconds: Int64(milliseconds))
    guard expires > now else { return nil }
    self.answer = BatchAnswer(kept: answer)
    self.fingerprint = fingerprint
  }

  /// The receipt's JSON.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("fingerprint", Hex.string(fingerprint))
    writer.member("expires", Int(clamping: expires.milliseconds))
    writer.member("answer", raw: answer.bytes)
    writer.endObject()
    return writer.bytes
  }

  /// The kept answer.
  /// - Throws: `receiptMismatch` when the receipt is another request's.
  func answer(to request: ReceiptRequest) throws -> BatchAnswer {
    guard fingerprint == request.fingerprint else {
      throw ServiceError(
        .receiptMismatch, "The idempotency key was used for another request before")
    }
    return answer
  }
}

/// A wish that a repeated batch is answered and not done again: an idempotency key and what tells one
/// request from another.
///
/// Source: IETF draft "The Idempotency-Key HTTP Header Field".
package struct ReceiptRequest: Sendable {
  /// The client's key; compared by its bytes.
  package let key: String
  /// SHA-256 of the request, 32 bytes.
  package let fingerprint: [UInt8]
  /// How long the answer is kept, in seconds.
  package let lifetimeSeconds: Int64

  /// A receipt's request.
  /// - Returns: nil when the key has not 1 to ``BookmarkLimits/receiptKeyBytes`` bytes.
  package init?(
    key: String, fingerprint: [UInt8], lifetimeSeconds: Int64 = BookmarkLimits.receiptSeconds
  ) {
    guard (1...BookmarkLimits.receiptKeyBytes).contains(key.utf8.count) else { return nil }
    self.key = key
    self.fingerprint = fingerprint
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// The local document that keeps the answer: ``LocalID/batchPrefix`` and the SHA-256 of the key.
  var id: LocalID {
    LocalID(batch: Hex.string(Array(SHA256.hash(data: Array(key.utf8)))))
  }
}

/// What a batch did, item by item, and the batch that undoes it.
package struct BatchAnswer: Sendable {
  /// What became of one item.
  package struct Item: Sendable, Equatable {
    /// The hotel.
    package let id: HotelID
    /// 201 bookmarked, 200 was bookmarked already (its facts changed or not), 204 unbookmarked, 404 was not
    /// bookmarked. Of an undo also 409, somebody has changed it since, and 410, what it said is no longer kept; both
    /// are left alone.
    package let status: Int
    /// Whether given facts took the place of others.
    package let isReplaced: Bool

    init(id: HotelID, status: Int, isReplaced: Bool = false) {
      self.id = id
      self.status = status
      self.isReplaced = isReplaced
    }
  }

  /// The items: those of `add` in order, then those of `remove`, then those of `restore`.
  package internal(set) var results: [Item] = []
  /// Whether the answer was kept from an earlier request with the same idempotency key.
  package internal(set) var isReplay = false
  /// What brings the former state back, in the order of the results.
  package internal(set) var undo: [Restoration] = []

  /// The answer's JSON: `{"results":[{"id","status"}…],"undo":{"restore":[…]}}`. The undo is the body of the batch
  /// that brings the former bookmarks back.
  package var bytes: [UInt8] {
    var bytes = Array(#"{"results":["#.utf8)
    for (place, item) in results.enumerated() {
      bytes += (place > 0 ? #",{"id":"# : #"{"id":"#).utf8
      JSONWriter.appendString(item.id.text, to: &bytes)
      bytes += #","status":\#(item.status)\#(item.isReplaced ? #","replaced":true"# : "")}"#.utf8
    }
    bytes += #"],"undo":{"restore":["#.utf8
    for (place, item) in undo.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      item.append(to: &bytes)
    }
    bytes += "]}}".utf8
    return bytes
  }
}

extension BatchAnswer {
  /// Reads an answer as ``bytes`` wrote it, for a retry; what can't be read is left out.
  init(kept node: JSONNode) {
    isReplay = true
    for item in node["results"]?.elements.map(\.self) ?? [] {
      guard let id = item["id"]?.string.flatMap({ HotelID($0) }), let status = item["status"]?.int
      else { continue }
      results.append(
        Item(id: id, status: status, isReplaced: item["replaced"]?.bool == true))
    }
    undo = node["undo"]?["restore"]?.elements.compactMap { Restoration($0) } ?? []
  }
}
