import Documents
import Hotels
import JSON

/// A row of a file, read as a hotel.
enum HotelRow {
  /// A hotel, and what became of the row's members.
  case hotel(Hotel, HotelText, [HotelForm.Column])
  /// No row.
  case nothing
  /// A row that is no hotel and no fault either, such as an airport: what it is.
  case other(String)
  case fault(RowFault)

  /// The limits of one row's JSON. Its size is limited by ``RowSplitter/maximumRowBytes``.
  private static let limits = JSONLimits(
    maximumBytes: RowSplitter.maximumRowBytes + 4, maximumDepth: BracketStack.maximumDepth)

  /// Reads a row's text.
  /// - Parameter isKeyed: whether the row is an object of one member, an id with its hotel.
  init(_ text: [UInt8], isKeyed: Bool) {
    do {
      let root: JSONNode
      do { root = try ParsedJSON(text, limits: Self.limits).root } catch {
        throw RowFault(error, in: text)
      }
      self = try Self.read(root, isKeyed: isKeyed)
    } catch let fault as RowFault {
      self = .fault(fault)
    } catch {
      self = .fault(RowFault(error))
    }
  }

  private static func read(_ root: JSONNode, isKeyed: Bool) throws -> HotelRow {
    // Firebase writes a list with holes for a map of numbers.
    guard !root.isNull else { return .nothing }
    guard root.kind == .object else { throw RowFault(RowFault.notAnObject) }
    if !isKeyed, let hotel = try documented(root) { return hotel }
    guard let object = root.value.object else { throw RowFault(RowFault.notAnObject) }
    if isKeyed, object.members.first?.value.object == nil { return .other("value without a hotel") }
    let row = WrappedRow(TypedValues.plain(object))
    if let other = other(row, isKeyed: isKeyed) { return .other(other) }
    var form = HotelForm(row.hotel, outside: row.outside)
    guard let name = form.hotel["name"]?.string, !name.isEmpty else { throw noName(row.hotel) }
    let id = try RowID.text(of: row, isKeyed: isKeyed)
    form.setID(id ?? RowID.computed(for: form.hotel, named: name))
    let node = try ParsedJSON(JSONValue.object(form.hotel).bytes, limits: .request).root
    return .hotel(try Hotel(node, from: .upstream), HotelText(node), form.columns)
  }

  /// A row that already has the documented form. Its text stays as it is.
  private static func documented(_ root: JSONNode) throws -> HotelRow? {
    guard DocumentedForm.fits(root) else { return nil }
    return .hotel(
      try Hotel(root, from: .upstream), HotelText(root),
      root.members.filter { !$0.nameStartsWithUnderscore }.map {
        HotelForm.Column(name: $0.name, outcome: .kept)
      })
  }

  /// What a row is about if it is no hotel.
  private static func other(_ row: WrappedRow, isKeyed: Bool) -> String? {
    let around = [row.hotel] + row.outside
    for object in around {
      if let kind = object["type"]?.string.flatMap(HotelKinds.other) { return kind }
      if object["_deleted"]?.bool == true || object["deleted"]?.bool == true {
        return "deleted document"
      }
      for name in ["_id", "id"] where object[name]?.string?.hasPrefix("_design/") == true {
        return "design document"
      }
    }
    if !isKeyed, let key = row.key {
      if let kind = HotelKinds.other(key) { return kind }
      // Elasticsearch's bulk format has a line before each document.
      let isAction = ["index", "create", "update", "delete"].contains(key)
      if isAction, row.hotel.members.allSatisfy({ $0.name.hasPrefix("_") }) { return "bulk action" }
    }
    // Overpass answers the points of a building without tags.
    let isUntagged = WrappedRow.isElement(row.hotel) && row.hotel["tags"] == nil
    return isUntagged && !WrappedRow.hasName(row.hotel) ? "element without tags" : nil
  }

  private static func noName(_ hotel: JSONObject) -> RowFault {
    let hasNumber = hotel.members.contains {
      HotelAliases.match($0.name.utf8)?.meaning == .name && $0.value.number != nil
    }
    return RowFault(
      hasNumber ? "The row's name is a number, not a text." : RowFault.noName)
  }
}

/// Why a row is not a hotel.
struct RowFault: Error, Equatable {
  /// A sentence about this row.
  let reason: String
  /// The same for all rows with this kind of fault.
  let kind: String
  /// Whether the row's bytes are not UTF-8, so that the whole file probably has another encoding.
  let isEncoding: Bool

  /// Whether the row may have rows in it.
  var mayHaveRows: Bool { kind == Self.notAnObject || kind == Self.noName }

  init(_ reason: String) {
    (self.reason, kind, isEncoding) = (reason, reason, reason == Self.notUTF8)
  }

  /// A row that is no JSON text.
  static let notUTF8 = "The row is not UTF-8."
  static let notAnObject = "The row is not a JSON object."
  static let noName = "The row has no name."

  init(_ error: JSONError, in text: [UInt8]) {
    isEncoding = error.code == .invalidUTF8 && String(validating: text, as: UTF8.self) == nil
    reason = isEncoding ? Self.notUTF8 : DocumentError(error).reason
    kind = isEncoding ? reason : error.code.rawValue
  }

  /// A row that is no hotel.
  init(_ error: any Error) {
    let reason = (error as? DocumentError)?.reason ?? "The row can't be read."
    (self.reason, kind, isEncoding) = (reason, reason, false)
  }
}
