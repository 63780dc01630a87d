import Documents

/// What the kept answers to one person's writes take in a store, by the hour in which they expire.
///
/// A sum for each hour is a local document that expires with the last of its answers. So a write with a key reads at most
/// 26 short documents, however many answers there are.
struct AnswerLedger {
  /// The answers of one hour.
  private struct Sum: Equatable {
    var count: Int64 = 0
    /// The bytes of the contents that are stored apart.
    var bytes: Int64 = 0
  }

  private static let hourSeconds: Int64 = 3_600
  /// How many digits the number of an hour has in an id.
  private static let hourDigits = 8

  private let folder: String
  private let known: [Int64: Sum]
  private var sums: [Int64: Sum]

  /// Reads the sums of one person, or of all.
  /// - Parameter folder: the prefix of their ids.
  /// - Throws: the errors of the view.
  init(below folder: String, in view: any StoreView) throws {
    var known: [Int64: Sum] = [:]
    try view.locals(.below(folder)) { id, document in
      if let hour = Int64(AnswerKeys.last(of: id)),
        let root = try? ParsedJSON(document.body, limits: .small).root
      {
        known[hour] = Sum(
          count: Int64(root["notes"]?.int ?? 0), bytes: Int64(root["bytes"]?.int ?? 0))
      }
      return true
    }
    (self.folder, self.known, sums) = (folder, known, known)
  }

  /// How many answers there are.
  var count: Int64 { sums.values.reduce(0) { $0 + $1.count } }
  /// The bytes of their contents, without the short ones.
  var bytes: Int64 { sums.values.reduce(0) { $0 + $1.bytes } }

  /// Counts answers that come, or go with negative numbers.
  mutating func add(_ count: Int64 = 0, bytes: Int64 = 0, expiring end: Timestamp) {
    let hour = end.seconds / Self.hourSeconds
    var sum = sums[hour] ?? Sum()
    sum.count = max(0, sum.count + count)
    sum.bytes = max(0, sum.bytes + bytes)
    sums[hour] = sum
  }

  /// Counts what another ledger has counted since it was read.
  mutating func add(_ other: AnswerLedger) {
    for (hour, sum) in other.sums {
      let before = other.known[hour] ?? Sum()
      add(
        sum.count - before.count, bytes: sum.bytes - before.bytes,
        expiring: Timestamp(seconds: hour * Self.hourSeconds))
    }
  }

  /// Takes off what another ledger had counted when it was read, for some of its hours.
  /// - Parameter ids: those of the hours' sums.
  mutating func remove(_ ids: [LocalID], of other: AnswerLedger) {
    for hour in ids.compactMap({ Int64(AnswerKeys.last(of: $0)) }) where sums[hour] != nil {
      let sum = other.known[hour] ?? Sum()
      add(-sum.count, bytes: -sum.bytes, expiring: Timestamp(seconds: hour * Self.hourSeconds))
    }
  }

  /// The edits that store what was counted.
  var edits: [LocalEdit] {
    sums.filter { known[$0.key] != $0.value }.sorted { $0.key < $1.key }.map { hour, sum in
      let body: JSONValue = [
        "notes": .number(JSONNumber(Int(clamping: sum.count))),
        "bytes": .number(JSONNumber(Int(clamping: sum.bytes))),
      ]
      let digits = String(hour)
      let padding = String(repeating: "0", count: max(0, Self.hourDigits - digits.utf8.count))
      return LocalEdit(
        LocalID(stored: folder + padding + digits),
        LocalDocument(revision: 1, body: body.bytes),
        expires: Timestamp(seconds: (hour + 1) * Self.hourSeconds))
    }
  }
}

/// The ids of what is kept of answers, besides the answers themselves (``LocalID/answerPrefix``).
enum AnswerKeys {
  /// The prefix of the contents of one person's answers, in the order in which they expire.
  static func contents(of owner: AccountID) -> String {
    LocalID.receiptPrefix + "answer-content/" + owner.text + "/"
  }

  /// The prefix of the sums of one person's answers.
  static func sums(of owner: AccountID) -> String {
    LocalID.receiptPrefix + "answer-sum/" + owner.text + "/"
  }

  /// The prefix of the sums of all members' answers in a list's store.
  static let allSums = LocalID.receiptPrefix + "answer-sums/"

  /// The prefix of one person's answers.
  static func answers(of owner: AccountID) -> String { LocalID.answerPrefix + owner.text + "/" }

  /// The content of an answer.
  static func content(_ name: WriteReceipt.Name, expiring end: Timestamp) -> LocalID {
    LocalID(
      stored: contents(of: name.owner)
        + Hex.string(0, UInt64(clamping: end.milliseconds)) + "/" + name.token)
  }

  /// When the content of this id expires; nil for another id.
  static func expiry(of id: LocalID, below folder: String) -> Timestamp? {
    let digits = String(
      decoding: id.text.utf8.dropFirst(folder.utf8.count).prefix(32), as: UTF8.self)
    return UInt64(digits, radix: 16).map { Timestamp(milliseconds: Int64(clamping: $0)) }
  }

  /// The text after the last slash of an id.
  static func last(of id: LocalID) -> String {
    let start = id.text.utf8.lastIndex(of: UInt8(ascii: "/")).map(id.text.utf8.index(after:))
    return String(id.text[(start ?? id.text.startIndex)...])
  }
}

extension StoreChanges {
  /// Stores an answer until it expires, in the place of a former one of the same name.
  ///
  /// In a list's store they count for its owner; see ``StoreRoom``. No answer is refused for that: a person can always delete.
  ///
  /// When the contents of the person's answers take more than ``StoreLimits/receiptBytes``, the oldest go. That they were
  /// given stays known, so that nothing is done twice.
  /// - Throws: `quotaExceeded` for more than ``StoreLimits/receipts`` answers.
  mutating func keep(
    _ stored: StoredAnswer, as name: WriteReceipt.Name, in store: StoreName,
    within limits: StoreLimits
  ) throws {
    let share = limits.receiptBytes
    var ledger = try AnswerLedger(below: AnswerKeys.sums(of: name.owner), in: view)
    let former = try local(name.id)
    let isFurther = try !removeContent(of: name, former, from: &ledger)
    guard !isFurther || ledger.count < limits.receipts else {
      throw ServiceError(
        .quotaExceeded,
        "At most \(limits.receipts) requests with an idempotency key or a receipt are known, each for a "
          + "day: send the request without a key, or later")
    }
    let content = stored.answer.isGone ? nil : stored.content
    var place = content == nil ? StoredAnswer.Place.nowhere : .inside
    if let content, content.count > StoredAnswer.shortBytes {
      let bytes = Int64(content.count)
      place = bytes <= share ? .apart : .nowhere
      if place == .apart {
        try makeRoom(for: bytes, of: name.owner, in: share, &ledger)
        write(
          LocalEdit(
            AnswerKeys.content(name, expiring: stored.expires),
            LocalDocument(revision: 1, body: content), expires: stored.expires))
        ledger.add(bytes: bytes, expiring: stored.expires)
      }
    }
    ledger.add(1, expiring: stored.expires)
    write(
      LocalEdit(
        name.id,
        LocalDocument(
          revision: (former?.revision ?? 0) &+ 1, body: stored.bytes(contentIn: place)),
        expires: stored.expires))
    for edit in ledger.edits { write(edit) }
    guard case .list = store else { return }
    var all = try AnswerLedger(below: AnswerKeys.allSums, in: view)
    all.add(ledger)
    for edit in all.edits { write(edit) }
  }

  /// Removes the content of a former answer of this name and takes both off the sums.
  private mutating func removeContent(
    of name: WriteReceipt.Name, _ former: LocalDocument?, from ledger: inout AnswerLedger
  ) throws -> Bool {
    guard let former else { return false }
    guard let stored = StoredAnswer(parsing: former.body, at: Timestamp(milliseconds: .min)) else {
      return true
    }
    var bytes = 0
    if stored.isApart {
      let id = AnswerKeys.content(name, expiring: stored.expires)
      bytes = try local(id)?.body.count ?? 0
      write(LocalEdit(id, nil))
    }
    ledger.add(-1, bytes: -Int64(bytes), expiring: stored.expires)
    return true
  }

  /// Removes the oldest contents of a person's answers until there is room for another one.
  private mutating func makeRoom(
    for bytes: Int64, of owner: AccountID, in share: Int64, _ ledger: inout AnswerLedger
  ) throws {
    guard ledger.bytes + bytes > share else { return }
    let folder = AnswerKeys.contents(of: owner)
    let removed = Set(locals.lazy.filter { $0.document == nil }.map(\.id))
    var freed = ledger.bytes + bytes - share
    var oldest: [LocalID] = []
    try view.locals(.below(folder)) { id, document in
      guard !removed.contains(id) else { return true }
      oldest.append(id)
      freed -= Int64(document.body.count)
      if let end = AnswerKeys.expiry(of: id, below: folder) {
        ledger.add(bytes: -Int64(document.body.count), expiring: end)
      }
      return freed > 0
    }
    for id in oldest { write(LocalEdit(id, nil)) }
  }
}

extension StoreView {
  /// The stored answer to a person's write, with its content if that is still there; nil when there is none.
  func storedAnswer(_ name: WriteReceipt.Name, at now: Timestamp) throws -> StoredAnswer? {
    guard let stored = try local(name.id).flatMap({ StoredAnswer(parsing: $0.body, at: now) })
    else { return nil }
    guard stored.isApart else { return stored }
    return stored.with(content: try local(AnswerKeys.content(name, expiring: stored.expires))?.body)
  }
}
