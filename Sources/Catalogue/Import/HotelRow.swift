import Documents
import Hotels

/// A row of a file, read as a hotel.
enum HotelRow {
  /// A hotel, and what became of the row's members.
  case hotel(Hotel, HotelText, [HotelForm.Column])
  /// What a page of the web has beside its hotels, by schema.org's type, or Django's fixtures by their model. It may be a
  /// hotel if the file has no other.
  case besideHotels(type: String, Hotel, HotelText, [HotelForm.Column])
  /// No row.
  case nothing
  /// A row that is no hotel and no fault either, such as an airport: what it is.
  case other(String)
  /// A line of Elasticsearch's bulk format: the id of the hotel on the next line.
  case action(id: String?)
  case fault(RowFault)

  var isFault: Bool {
    if case .fault = self { true } else { false }
  }

  /// Whether the row may have the hotels in it: it has no name, no place, or a list of hotels.
  var mayHaveRows: Bool {
    switch self {
    case .fault(let fault): fault.mayHaveRows
    case .hotel(_, _, let columns):
      !columns.contains(where: \.isOwnPlace)
        || columns.contains { $0.isAsItWas && OutlineRank.isHotels($0.name) }
    case .besideHotels, .nothing, .other, .action: false
    }
  }

  /// Whether the row has nothing but a name, as a list with a title has.
  var isTitle: Bool {
    guard case .hotel(_, _, let columns) = self else { return false }
    return !columns.contains { $0.isFact && $0.name != GroupedLists.source }
  }

  /// The limits of one row's JSON. Its size is limited by ``RowSplitter/maximumRowBytes``.
  static let limits = JSONLimits(
    maximumBytes: RowSplitter.maximumRowBytes + 4, maximumDepth: BracketStack.maximumDepth)

  /// Reads a row's text.
  /// - Parameter isKeyed: whether the row is an object of one member, an id with its hotel.
  /// - Parameter action: the id that the line before the row says.
  /// - Parameter place: the city and the country under which the row stands; empty if it stands under none.
  /// - Parameter reference: the plane of the file's positions if they are in metres.
  init(
    _ text: [UInt8], isKeyed: Bool, action: String? = nil, in place: JSONObject = JSONObject(),
    on reference: MapReference? = nil
  ) {
    do {
      let root: JSONNode
      do { root = try LooseJSON.parsed(text).root } catch { throw RowFault(error, in: text) }
      self = try Self.read(root, isKeyed: isKeyed, action, place, reference)
    } catch let fault as RowFault {
      self = .fault(fault)
    } catch { self = .fault(RowFault(error)) }
  }

  private static func read(
    _ root: JSONNode, isKeyed: Bool, _ action: String?, _ place: JSONObject,
    _ reference: MapReference?
  ) throws -> HotelRow {
    // Firebase writes a list with holes for a map of numbers.
    guard !root.isNull else { return .nothing }
    guard root.kind == .object else { throw RowFault(RowFault.notAnObject) }
    if !isKeyed, place.isEmpty, let hotel = try documented(root) { return hotel }
    guard let object = root.value.object else { throw RowFault(RowFault.notAnObject) }
    if isKeyed, object.members.first?.value.object == nil { return .other("value without a hotel") }
    let named = isKeyed ? WrappedRow.named(object) : nil
    let found = named ?? reference.map { SpatialForms.inDegrees(object, of: $0) } ?? object
    let row = WrappedRow(TypedValues.plain(found))
    if !isKeyed, isAction(row) { return .action(id: try RowID.text(of: row, isKeyed: false)) }
    if let other = other(row, isKeyed: isKeyed) { return .other(other) }
    // phpMyAdmin's export has a table in a row: `{"type": "table", "name": …, "data": […]}`.
    guard row.hotel["type"] != "table" || row.hotel["data"]?.array == nil else {
      throw RowFault(RowFault.noName)
    }
    // A sheet of Google's API, with its cells.
    guard row.hotel["sheetId"] == nil || !row.outside.contains(where: { $0["data"] != nil }) else {
      throw RowFault(RowFault.cells)
    }
    guard !isByColumns(row.hotel) else { throw RowFault(RowFault.byColumns) }
    var form = HotelForm(row.hotel, outside: row.outside, in: place)
    guard let name = form.hotel["name"]?.string, !name.isEmpty else { throw noName(row.hotel) }
    let id = try RowID.text(of: row, isKeyed: isKeyed && named == nil) ?? action
    form.setID(id ?? RowID.computed(for: form.hotel, named: name))
    let node = try ParsedJSON(JSONValue.object(form.hotel).bytes, limits: .request).root
    let hotel = try Hotel(node, from: .upstream)
    if let type = row.hotel["@type"] ?? row.outside.first(where: { $0["pk"] != nil })?["model"],
      !HotelKinds.isLodging(type, hasPlace: form.columns.contains(where: \.isPlace))
    {
      let name = TextForms.text(type) ?? "thing"
      return .besideHotels(type: name, hotel, HotelText(node), form.columns)
    }
    return .hotel(hotel, HotelText(node), form.columns)
  }

  /// A row that already has the documented form. Its text stays as it is.
  private static func documented(_ root: JSONNode) throws -> HotelRow? {
    guard DocumentedForm.fits(root) else { return nil }
    return .hotel(
      try Hotel(root, from: .upstream), HotelText(root),
      root.members.filter { !$0.nameStartsWithUnderscore }.map {
        HotelForm.Column(name: $0.name, kept: $0.name)
      })
  }

  /// What a row is about if it is no hotel.
  private static func other(_ row: WrappedRow, isKeyed: Bool) -> String? {
    let around = [row.hotel] + row.outside
    for object in around {
      let hasChildren = object["children"]?.array?.isEmpty == false
      let type = object["type"] ?? object["TYPE"]
      if !hasChildren, let kind = type?.string.flatMap(HotelKinds.other) { return kind }
      if let kind = object["@type"]?.string.flatMap(HotelKinds.otherOnPage) { return kind }
      // CouchDB's continuous feed ends so, and pouchdb-dump says after each part how far it is.
      if object["last_seq"] != nil, !WrappedRow.hasName(object) { return "end of changes" }
      if object.count == 1, object["seq"] != nil { return "end of changes" }
      if isHeader(object) { return "header" }
      if WrappedRow.isChange(object), object["after"]?.object == nil { return "deleted document" }
      if object["_deleted"]?.bool == true || object["deleted"]?.bool == true {
        return "deleted document"
      }
      for name in ["_id", "id"] where object[name]?.string?.hasPrefix("_design/") == true {
        return "design document"
      }
    }
    if let kind = HotelKinds.otherOnMap(row.hotel, isElement: row.isElement) { return kind }
    if !isKeyed, let key = row.key {
      if let kind = HotelKinds.other(key) { return kind }
    }
    // Takeout has places whose names Google has lost.
    if row.outside.contains(where: { $0["type"]?.string == "Feature" }),
      row.hotel["google_maps_url"] ?? row.hotel["Google Maps URL"] != nil,
      row.hotel["location"]?.object == nil, !WrappedRow.hasName(row.hotel)
    {
      return "saved place without a name"
    }
    guard !WrappedRow.hasName(row.hotel) else { return nil }
    // Overpass answers the points of a building without tags.
    if WrappedRow.isElement(row.hotel) {
      return row.hotel["tags"] == nil ? "element without tags" : nil
    }
    // Of the places to stay in OpenStreetMap, many have no name.
    return row.isElement ? "element without a name" : nil
  }

  /// Whether a line of Elasticsearch's bulk format that stands before a document.
  private static func isAction(_ row: WrappedRow) -> Bool {
    row.key.map { ["index", "create", "update", "delete"].contains($0) } == true
      && row.hotel.members.allSatisfy { $0.name.hasPrefix("_") }
  }

  /// Whether a row that stands before a table in phpMyAdmin's export, or says which database pouchdb-dump has read.
  private static func isHeader(_ object: JSONObject) -> Bool {
    let type = object["type"]?.string
    return object["db_info"]?.object != nil || type == "header" && object["version"] != nil
      || type == "database" && object.count == 2
  }

  /// Whether the values of all hotels stand under each name: `{"name": ["A", "B"], "city": ["C", "D"]}`, or with a number
  /// before each.
  private static func isByColumns(_ object: JSONObject) -> Bool {
    // Polars has columns with a type each.
    if object["datatype"] != nil, object["values"]?.array != nil { return true }
    let name = object.members.first { HotelAliases.match($0.name.utf8)?.meaning == .name }?.value
    if let values = name?.array, values.count > 1 {
      return object.members.allSatisfy { $0.value.array?.count == values.count }
    }
    guard let values = name?.object?.members, !values.isEmpty else { return false }
    return values.allSatisfy { $0.name.utf8.allSatisfy { (0x30...0x39).contains($0) } }
  }

  private static func noName(_ hotel: JSONObject) -> RowFault {
    let hasNumber = hotel.members.contains {
      HotelAliases.match($0.name.utf8)?.meaning == .name && $0.value.number != nil
    }
    let hasText = hotel.members.contains { $0.value.string?.hasPrefix("[{\"") == true }
    if hotel["value"]?["rev"] ?? hotel["changes"]?.array?.first?["rev"] != nil {
      return RowFault(RowFault.noDocument)
    }
    return RowFault(
      hasNumber
        ? "The row's name is a number, not a text." : hasText ? RowFault.inText : RowFault.noName)
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
  var mayHaveRows: Bool { [Self.notAnObject, Self.noName, Self.inText].contains(kind) }

  init(_ reason: String) {
    (self.reason, kind, isEncoding) = (reason, reason, reason == Self.notUTF8)
  }

  /// A row that is no JSON text.
  static let notUTF8 = "The row is not UTF-8."
  static let notAnObject = "The row is not a JSON object."
  static let noName = "The row has no name."
  static let inText =
    "The row has no name, but a list in JSON as a text. Save that list (with jq: .NAME | fromjson)."
  static let noDocument =
    "The row has the id of a document, but not the document. Ask CouchDB with include_docs=true."
  static let cells =
    "The file has the cells of Google's spreadsheets with their looks. Take the answer of spreadsheets.values, or save the sheet as CSV."
  static let byColumns =
    "The file has a list of values under each name. Save it by rows: in pandas with orient='records', in Google Sheets' API with majorDimension=ROWS."

  init(_ error: JSONError, in text: [UInt8]) {
    isEncoding = error.code == .invalidUTF8 && String(validating: text, as: UTF8.self) == nil
    let hint = error.code == .invalidJSON ? LooseJSON.hint(at: error.offset, in: text) : ""
    reason = isEncoding ? Self.notUTF8 : DocumentError(error).reason + hint
    kind = isEncoding ? reason : error.code.rawValue
  }

  /// A row that is no hotel.
  init(_ error: any Error) {
    let reason = (error as? DocumentError)?.reason ?? "The row can't be read."
    (self.reason, kind, isEncoding) = (reason, reason, false)
  }
}
