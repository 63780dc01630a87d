import CouchSync
import Documents
import Glibc
import HTTPServer
import Hummingbird
import Scheduling
import Stores

/// The body of a `_bulk_docs`.
enum BulkBody: Sendable {
  /// One that was parsed in memory.
  case short(BulkRequest)
  /// One that is in a file.
  case long(LongBulkRequest)

  /// The body with other documents; those of a long one are changed whenever they are read.
  func changed(
    _ change: @escaping @Sendable (JSONNode, _ isNewEdit: Bool) async throws -> JSONNode
  ) async throws -> BulkBody {
    switch self {
    case .short(var request):
      let isNewEdit = request.isNewEdit
      try await request.change { try await change($0, isNewEdit) }
      return .short(request)
    case .long(var request):
      request.change = { [isNewEdit = request.isNewEdit] in try await change($0, isNewEdit) }
      return .long(request)
    }
  }
}

extension Call {
  /// The body of a `POST` to `_bulk_docs`. A long one is read as a stream; beyond ``CouchLimits/bulkPartBytes`` it goes
  /// to a file on the account of the caller's address.
  /// - Parameter stored: the most bytes that the database may have.
  /// - Throws: ``Problem`` 413 for more than the database could store, 415, and 503 if there is no room for it now; 400
  ///   for a body that is not a request.
  func couchBulk(
    _ limits: DocumentLimits, stored: Int64, _ files: BodyFiles
  ) async throws -> BulkBody {
    try requireJSON(isNamed: true)
    let limit = Self.bulkLimit(stored: stored, files)
    if let declared = self[.contentLength].flatMap({ Int($0) }) {
      guard declared <= limit else { throw Self.tooLarge(limit) }
      if declared <= CouchLimits.bulkPartBytes, self[.contentEncoding] == nil {
        let bytes = try await body(upTo: CouchLimits.bulkPartBytes)
        return .short(try await BulkRequest.read(bytes, limits: limits))
      }
    }
    var (held, reserved, count) = ([UInt8](), 0, 0)
    var filed: FiledBulk?
    for try await piece in try streamedBody() {
      count += piece.count
      guard count <= limit else { throw Self.tooLarge(limit) }
      held += piece
      try reserve(held.count, beyond: &reserved)
      if filed == nil, held.count > CouchLimits.bulkPartBytes {
        filed = FiledBulk(file: files.file(for: address))
      }
      guard filed != nil, held.count >= FiledBulk.pieceBytes else { continue }
      try await filed?.append(held)
      held = []
    }
    guard var filed else { return .short(try await BulkRequest.read(held, limits: limits)) }
    try await filed.append(held)
    let request = try filed.request()
    try reserve(request.longestPart, beyond: &reserved)
    return .long(request)
  }

  /// The most bytes of a body: what the database may store and a tenth, but never less than any request may have, nor
  /// more than one address may have in files.
  private static func bulkLimit(stored: Int64, _ files: BodyFiles) -> Int {
    let (sum, overflows) = stored.addingReportingOverflow(stored / 10)
    let most = overflows ? Int.max : Int(clamping: sum)
    return min(max(CouchLimits.bulk.maximumBytes, most), files.bytesPerAddress)
  }
}

/// A `_bulk_docs` that is put into a file as it arrives.
private struct FiledBulk {
  /// Bytes that are put into the file at once.
  static let pieceBytes = 256 << 10

  let file: BodyFile
  private var scanner = LongBulkRequest.scanner

  init(file: BodyFile) { self.file = file }

  /// Puts the next bytes into the file, and finds the documents in them.
  /// - Throws: 413 for too many documents; 503 and 507 if there is no room.
  mutating func append(_ bytes: [UInt8]) async throws {
    for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
      scanner.take(Array(bytes[start..<min(start + Self.pieceBytes, bytes.count)]))
      try await Slice.giveWay()
    }
    try BulkRequest.check(count: scanner.elements.count)
    do { try await file.append(bytes) } catch { throw Self.problem(error) }
  }

  /// The request, when all of it has arrived.
  /// - Throws: 400 for a body that is not a request; 413 for too much besides its documents.
  func request() throws -> LongBulkRequest {
    try LongBulkRequest(scanner) { [file] range in
      do throws(BodyFiles.Failure) {
        return try await file.read(range)
      } catch { throw Self.problem(error) }
    }
  }

  private static func problem(_ failure: BodyFiles.Failure) -> any Error {
    switch failure {
    case .full: Problem(.overloaded)
    case .disk(let number):
      ServiceError(
        [ENOSPC, EDQUOT, EFBIG].contains(number) ? .storageFull : .unavailable,
        "There is no room to hold this body", detail: "errno \(number)")
    }
  }
}
