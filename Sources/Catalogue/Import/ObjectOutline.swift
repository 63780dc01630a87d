/// Finds the hotels in one JSON object, chunk by chunk: a list of objects, or a map from id to hotel.
///
/// It recognises only strings, names and brackets; ``RowSplitter`` and the parser check the rows. Its memory is bounded.
struct ObjectOutline {
  /// Where the hotels are.
  struct Rows: Equatable {
    /// The names of the members that lead there.
    let path: [String]
    /// The offsets of the list's or the map's brackets.
    let range: Range<Int>
    /// The line of the first bracket.
    let line: Int
    /// Whether it is a map from id to hotel.
    let isMap: Bool
    /// Whether objects in it have names, and are no small part of the object.
    let hasNames: Bool
    /// Whether they are hotels although the object around them has a name, too: they have places, or are under `hotels`. In
    /// a row, places under an unknown name are near the hotel.
    let areHotels: Bool
    /// Whether their list has a known name.
    let isNamed: Bool
    /// Whether there is one object only, and no list around it.
    let isOne: Bool
    /// Where the names of the columns are, if the rows are lists of values.
    var header: Range<Int>?
    /// The lists, if there is one for each place; see ``GroupedLists``.
    var groups: GroupedLists?
  }

  /// What is known about an object that may be a hotel.
  enum Likeness: Comparable {
    case none, hasName, hasNameAndPlace
    /// The place is an address or a position, not just a city.
    case hasNameAndAddress
  }

  /// An open bracket.
  private struct Frame {
    let isArray: Bool
    let name: String
    let start: Int
    let line: Int
    var hasName = false
    var hasPlace = false
    /// Whether the place is an address or a position, not just a city.
    var hasAddress = false
    /// Whether there are `labels`, as an entity of Wikidata has them; see ``WikibaseEntity``.
    var hasLabels = false
    /// How many members an object has.
    var members = 0
    /// Whether there is a list of hotels inside, at any depth.
    var hasHotels = false
    /// How many objects and other values are directly inside.
    var objects = 0
    var others = 0
    /// How many of the objects are hotels by themselves, and the most that is known about one.
    var hotels = 0
    var most = Likeness.none
    /// How many of the objects have names, but no places.
    var names = 0
    /// As ``most``, with a hotel that is wrapped once.
    var mostWrapped = Likeness.none
    /// The name of the last object.
    var lastObject = ""
    /// How many objects say a place and have a name that may be a hotel's, and the first of those names.
    var placesByName = 0
    var firstNames: [String] = []

    var likeness: Likeness { hasName ? named : .none }
    /// What is known if there is a name.
    var named: Likeness { hasAddress ? .hasNameAndAddress : hasPlace ? .hasNameAndPlace : .hasName }
  }

  private struct Candidate {
    let rows: Rows
    let rank: OutlineRank
    /// Whether there are lists of hotels in its objects.
    let hasHotels: Bool

    /// Whether it is a list of hotels under an unknown name.
    var isOneOfMany: Bool { rank.kind == .hotels && !rank.isNamed && !rows.isMap }
  }

  /// How many levels are looked at. Deeper brackets are only counted.
  private static let deepest = 16
  /// The most bytes of a name that are kept.
  private static let longestName = 128
  /// The most lists and maps that are remembered.
  private static let mostCandidates = 64
  /// The most names of a map's objects of which is asked whether they are cities.
  private static let mostNames = 64
  private static let namesOfHeaders: Set = ["columns", "headers", "header", "fields"]
  private static let namesOfDescriptions: Set = [
    "columns", "cols", "fields", "rowtype", "meta", "columninfo",
  ]

  private var frames: [Frame] = []
  private var deeper = 0
  private var candidates: [Candidate] = []
  /// Lists of texts that may name the columns, by the path of the object that they are in.
  private var headers: [[String]: Range<Int>] = [:]
  /// Lists of objects that may describe the columns.
  private var descriptions: [(parent: [String], range: Range<Int>)] = []
  /// Where the file says in which reference system its positions are: GeoJSON's `crs`, ArcGIS's `spatialReference`.
  private(set) var reference: Range<Int>?
  /// Whether it is OpenAPI, or a collection of Postman's or Insomnia's requests, and not what they answer.
  private var describesAPI = false
  private static let namesOfAPIs = ["openapi", "swagger", "_postman_id", "__export_format"].map {
    Array($0.utf8)
  }
  private var root = Likeness.none
  /// The texts of the root's members.
  private(set) var texts = RootTexts()
  private var isEnded = false
  private var (isInString, isName, isAfterColon) = (false, false, false)
  private var string = StringScan()
  private var name: [UInt8] = []
  /// The offset of the byte that is looked at.
  private var offset = 0
  private var line: Int
  private let isRow: Bool

  /// Makes an outline of a text that starts on a line.
  /// - Parameter isRow: whether it is a row, which may be a hotel itself, not a whole file.
  init(line: Int, isRow: Bool = false) { (self.line, self.isRow) = (line, isRow) }

  /// Looks at the next bytes.
  /// - Throws: `malformed` for brackets that do not match.
  mutating func take(_ bytes: [UInt8]) throws(CatalogueError) {
    let base = offset
    var index = 0
    while index < bytes.count {
      // Most bytes are in texts, and mean nothing.
      if isInString, !isName, !texts.isOpen, !string.isEscaped {
        while index < bytes.count, !RowScan.endsPlainText(bytes[index]) { index &+= 1 }
        guard index < bytes.count else { break }
      }
      offset = base + index
      let byte = bytes[index]
      if isInString { takeInString(byte) } else { try take(byte) }
      if byte == 0x0A { line &+= 1 }
      index &+= 1
    }
    offset = base + bytes.count
  }

  /// Where the hotels are; nil if the whole object is one hotel, or nothing that is known.
  /// - Throws: `truncated` inside of the object; `malformed` for several lists that may be meant.
  func rows() throws(CatalogueError) -> Rows? {
    guard isEnded else {
      throw CatalogueError(.truncated, "The file ends inside its JSON object.", line: line)
    }
    let reason =
      texts.areOfType("Topology")
      ? "The file is TopoJSON. Save it as GeoJSON; QGIS, ogr2ogr and mapshaper do it."
      : describesAPI ? "The file describes an API. Save an answer of that API with hotels." : nil
    if let reason { throw CatalogueError(.malformed, reason, line: line) }
    guard !texts.areOfType("Feature") else { return nil }
    let rest = candidates.filter { candidate in
      !descriptions.contains { $0.range == candidate.rows.range }
    }
    let hasRows = rest.contains { $0.rank.isKnown && $0.rank.kind <= .values }
    var found = (hasRows ? rest : candidates).sorted { $0.rank < $1.rank }
    let first = root > .none ? found.first { $0.rank.isHotels || $0.hasHotels } : nil
    guard var best = first ?? found.first else { return nil }
    // One object with a name may be what describes a table: Socrata's `meta.view`.
    if best.rows.isOne,
      let table = found.first(where: {
        $0.rank.kind == .values && $0.rank.isKnown && self.header(of: $0) != nil
      })
    {
      (best, found) = (table, [table])
    }
    let header = header(of: best)
    if root > .none, header == nil, !isList(best) { return nil }
    let equal = found.filter { !(best.rank < $0.rank) }
    // A known name says more than names of places, unless it is there below each of them.
    let lists = best.rank.isNamed ? equal : found.filter(\.isOneOfMany)
    if root == .none, let groups = GroupedLists(lists.map(\.rows.path)) {
      var rows = best.rows
      rows.groups = groups
      return rows
    }
    // Maps of hotels may have maps of their rooms.
    let outer = equal.first { one in
      equal.allSatisfy { $0.rows.path.starts(with: one.rows.path) }
    }
    guard let chosen = outer ?? (best.rank.kind == .nothing ? best : nil) else {
      let names = equal.prefix(5).map { $0.rows.path.joined(separator: ".") }
      throw CatalogueError(
        .malformed,
        "The file has several lists that may be the hotels: \(names.joined(separator: ", ")). "
          + "Keep one, or name it hotels.")
    }
    var rows = chosen.rows
    rows.header = header
    return rows
  }

  /// Whether an object with a name is a list of hotels with a title, not a hotel itself.
  private func isList(_ best: Candidate) -> Bool {
    switch best.rank.kind {
    case .hotels: best.rank.isKnown || best.hasHotels || root == .hasName && best.rows.areHotels
    case .nothing: best.rank.isKnown && root == .hasName
    case .objects, .values: false
    }
  }

  /// The list that names or describes the columns of these rows; nil if there is none.
  private func header(of best: Candidate) -> Range<Int>? {
    guard best.rank.kind == .objects || best.rank.kind == .values else { return nil }
    let parent = Array(best.rows.path.dropLast())
    if best.rank.kind == .values, let header = headers[parent] { return header }
    let others = descriptions.filter { $0.range != best.rows.range }
    let beside = others.first { $0.parent == parent }
    return best.rank.isKnown ? (beside ?? (others.count == 1 ? others[0] : nil))?.range : nil
  }

  // MARK: Bytes

  private mutating func takeInString(_ byte: UInt8) {
    if string.ends(at: byte) {
      if isName { name = GroupedLists.unescaped(name) }
      isInString = false
      texts.end()
      return
    }
    if isName, name.count < Self.longestName { name.append(byte) }
    if texts.isOpen { texts.take(byte) }
  }

  private mutating func take(_ byte: UInt8) throws(CatalogueError) {
    switch byte {
    case UInt8(ascii: "\""):
      isInString = true
      isName = deeper == 0 && frames.last?.isArray == false && !isAfterColon
      if frames.count == 1, deeper == 0, isAfterColon { texts.begin(name) }
      if isName { name = [] } else { countValue() }
    case UInt8(ascii: ":"):
      isAfterColon = true
      noteMember()
    case UInt8(ascii: ","): isAfterColon = false
    case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): try close(byte)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
      UInt8(ascii: "n"):
      countValue()
    default: break
    }
  }

  /// Notes a value in an array that is no object. Only whether there are some is of interest.
  private mutating func countValue() {
    guard deeper == 0, let last = frames.indices.last, frames[last].isArray else { return }
    frames[last].others += 1
  }

  /// Notes what a member says about its object.
  private mutating func noteMember() {
    guard deeper == 0, let last = frames.indices.last, !frames[last].isArray else { return }
    frames[last].members += 1
    if frames.count < 3, Self.namesOfAPIs.contains(name) { describesAPI = true }
    if name.elementsEqual("labels".utf8) { frames[last].hasLabels = true }
    if frames[last].hasLabels, name.elementsEqual("claims".utf8) {
      (frames[last].hasName, frames[last].hasPlace, frames[last].hasAddress) = (true, true, true)
    }
    switch HotelAliases.match(name)?.meaning {
    case .name: frames[last].hasName = true
    case .address, .street, .position, .latitude, .postcode:
      (frames[last].hasPlace, frames[last].hasAddress) = (true, true)
    case .city, .country: frames[last].hasPlace = true
    default: break
    }
  }

  // MARK: Brackets

  private mutating func open(_ byte: UInt8) {
    guard deeper == 0, frames.count < Self.deepest else {
      deeper += 1
      return
    }
    let isMember = frames.last.map { !$0.isArray } ?? false
    frames.append(
      Frame(
        isArray: byte == UInt8(ascii: "["),
        name: isMember ? String(decoding: name, as: UTF8.self) : "", start: offset, line: line))
    isAfterColon = false
  }

  private mutating func close(_ byte: UInt8) throws(CatalogueError) {
    guard deeper == 0 else {
      deeper -= 1
      return
    }
    guard let frame = frames.popLast(), frame.isArray == (byte == UInt8(ascii: "]")) else {
      throw CatalogueError(.malformed, "A bracket does not match.", line: line)
    }
    if frames.count == 1, frame.name == "crs" || frame.name == "spatialReference" {
      reference = frame.start..<offset + 1
    }
    consider(frame)
    if frames.isEmpty { (isEnded, root) = (true, frame.likeness) }
    guard let last = frames.indices.last else { return }
    if frame.hasHotels || frame.isArray && frame.most > .none && OutlineRank.isHotels(frame.name) {
      frames[last].hasHotels = true
    }
    guard !frame.isArray else {
      if frames[last].isArray { frames[last].others += 1 }
      return
    }
    if frame.likeness == .none, frame.hasPlace, !frame.hasHotels, Self.isHotelName(frame.name) {
      frames[last].placesByName += 1
      if frames[last].firstNames.count < Self.mostNames {
        frames[last].firstNames.append(frame.name)
      }
    }
    frames[last].objects += 1
    frames[last].lastObject = frame.name
    if frame.likeness > .none { frames[last].hotels += 1 }
    if frame.likeness == .hasName { frames[last].names += 1 }
    frames[last].most = max(frames[last].most, frame.likeness)
    let wrapped = frame.most > .none ? max(frame.most, frame.named) : .none
    frames[last].mostWrapped = max(frames[last].mostWrapped, frame.likeness, wrapped)
  }

  /// Remembers a list or a map that has ended, unless it is inside of a row.
  private mutating func consider(_ frame: Frame) {
    guard !frames.contains(where: \.isArray) else { return }
    let path = frames.dropFirst().map(\.name) + (frames.isEmpty ? [] : [frame.name])
    if frame.likeness >= .hasNameAndPlace {
      forgetInside(path, keepsLists: frames.isEmpty && !frame.hasAddress)
    }
    let isMap = !frame.isArray
    if frame.isArray, frame.objects == 0, frame.others > 0, headers.count < Self.mostCandidates,
      Self.namesOfHeaders.contains(HotelAliases.letters(of: frame.name.utf8))
    {
      headers[Array(path.dropLast())] = frame.start..<offset + 1
    }
    if frame.isArray, frame.objects > 0, frame.others == 0,
      descriptions.count < Self.mostCandidates,
      Self.namesOfDescriptions.contains(HotelAliases.letters(of: frame.name.utf8))
    {
      descriptions.append((Array(path.dropLast()), frame.start..<offset + 1))
    }
    let isByName =
      isMap && !isRow && frame.placesByName > 1
      && frame.placesByName == frame.members
      && GroupedLists(frame.firstNames.map { [$0] }) == nil
    if isMap, !isByName {
      guard frame.likeness == .none, frame.hotels > 0, frame.hotels * 2 >= frame.objects,
        frame.objects > 1 || !WrappedRow.isWrapper(frame.lastObject),
        frame.objects * 2 >= frame.members,
        // The members of a row are a hotel, its guest and its room, not hotels, unless all have places.
        !isRow || !path.isEmpty || frame.names == 0
      else { return }
    }
    let rank = OutlineRank(
      path: path, objects: frame.objects, others: frame.others,
      likeness: isByName ? .hasNameAndPlace : isMap ? frame.most : frame.mostWrapped, isMap: isMap)
    // An API that answers no hotels may say why.
    guard rank.kind < .values || rank.isKnown, !["errors", "warnings"].contains(frame.name)
    else { return }
    let isOne = isMap && frame.objects == 1
    let rows = Rows(
      path: path, range: frame.start..<offset + 1, line: frame.line, isMap: isMap,
      hasNames: rank.kind == .hotels
        && (rank.isNamed || rank.likeness >= .hasNameAndPlace || path.count < 2 && !isMap),
      areHotels: rank.kind == .hotels && !isOne
        && (rank.likeness == .hasNameAndAddress && (rank.isNamed || !isRow) || rank.isHotels
          || frame.hasHotels),
      isNamed: rank.isNamed, isOne: isOne)
    candidates.append(Candidate(rows: rows, rank: rank, hasHotels: frame.hasHotels))
    if candidates.count > Self.mostCandidates {
      candidates.sort { $0.rank < $1.rank }
      candidates.removeLast()
    }
  }

  /// Whether the name of a member in a map may be a hotel's name, not its id or a word of the file's format.
  static func isHotelName(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first.properties.isAlphabetic,
      !first.properties.isLowercase, !name.contains("_"),
      name.contains(where: { $0.isLetter && !$0.isUppercase })
    else { return false }
    return HotelAliases.match(name.utf8) == nil && !HotelAliases.isContainer(name)
      && !WrappedRow.isWrapper(name)
  }

  /// Forgets what is inside of a hotel, such as its rooms, but not a list of hotels.
  /// - Parameter keepsLists: whether a list under a known name may be one of hotels because the object around it has no
  ///   address.
  private mutating func forgetInside(_ path: [String], keepsLists: Bool) {
    candidates.removeAll {
      $0.rows.path.starts(with: path)
        && !($0.rank.kind == .hotels
          && ($0.rank.isHotels || keepsLists && $0.rank.isKnown && $0.rows.areHotels))
    }
  }
}
