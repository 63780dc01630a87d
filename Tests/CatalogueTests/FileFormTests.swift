import Catalogue
import Documents
import Foundation
import Hotels
import TestSupport
import Testing

/// Files as people have them. In each there are the same two hotels, as far as its form can say them.
@Suite struct FileFormTests {
  struct File: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let ids: [String]
    /// How many rows are left out.
    var others = 0

    init(_ name: String, _ text: String, ids: [String] = ["hotel_1", "hotel_2"], others: Int = 0) {
      (self.name, bytes, self.ids, self.others) = (name, Array(text.utf8), ids, others)
    }

    var testDescription: String { name }
  }

  private static let one =
    #"{"id":1,"name":"Hôtel d'Alger","city":"Paris","geo":{"lat":48.866,"lon":2.33}}"#
  private static let two =
    #"{"id":2,"name":"Zürcher Schloß","city":"Zürich","geo":{"lat":47.37,"lon":8.54}}"#
  private static let list = "[\(one),\(two)]"
  private static let both = [one, two]

  private static func wrapped(_ name: String, beside: String = "") -> String {
    "[" + both.map { "{\(beside)\"\(name)\":\($0)}" }.joined(separator: ",") + "]"
  }

  static let objects: [File] = [
    File("array", list), File("one on each line", one + "\n" + two + "\n"),
    File("byte order mark", "\u{FEFF}" + list),
    File("byte order mark, CRLF and blank lines", "\u{FEFF}\r\n" + one + "\r\n\r\n" + two + "\r\n"),
    File("RFC 7464 sequence", "\u{1E}" + one + "\n\u{1E}" + two + "\n"),
    File("hotels", #"{"total":2,"hotels":\#(list)}"#),
    File("hotels pretty", "{\n \"hotels\": [\n  \(one),\n  \(two)\n ]\n}\n"),
    File("hotels behind users", #"{"users":[{"id":1,"name":"u"}],"hotels":\#(list)}"#),
    File("data before value", #"{"value":[{"name":"x"}],"data":\#(list)}"#),
    File("value", #"{"@odata.context":"x","value":\#(list)}"#),
    File("results", #"{"results":\#(list),"status":"OK"}"#),
    File("records", #"{"records":\#(list)}"#), File("docs", #"{"docs":\#(list),"bookmark":"nil"}"#),
    File("the only list", #"{"page":1,"stays":\#(list),"tags":["a"]}"#),
    File("a list two deep", #"{"data":{"hotels":\#(list),"cities":[{"name":"Paris"}]}}"#),
    File(
      "response.docs", #"{"responseHeader":{"status":0},"response":{"numFound":2,"docs":\#(list)}}"#
    ),
    File(
      "rows[].doc",
      #"{"total_rows":2,"rows":\#(wrapped("doc", beside: #""id":"h","key":"h","value":{"rev":"1-a"},"#))}"#
    ),
    File(
      "hits.hits[]._source",
      #"{"took":1,"hits":{"total":{"value":2},"hits":\#(wrapped("_source", beside: #""_index":"h","_id":"x","#))}}"#
    ),
    File("edges[].node", #"{"data":{"hotels":{"edges":\#(wrapped("node"))}}}"#),
    File("wrapped once", wrapped("hotel")), File("wrapped in a bucket", wrapped("travel-sample")),
    File(
      "wrapped on each line",
      both.map { #"{"_index":"h","_source":\#($0)}"# }.joined(separator: "\n")),
    File(
      "Strapi",
      #"{"data":[\#(both.map { #"{"attributes":\#($0)}"# }.joined(separator: ","))],"meta":{}}"#),
    File(
      "JSON:API",
      #"{"data":[{"type":"hotels","id":"1","attributes":{"name":"Hôtel d'Alger","city":"Paris","latitude":48.866,"longitude":2.33}},{"type":"hotels","id":"2","attributes":{"name":"Zürcher Schloß","city":"Zürich","latitude":47.37,"longitude":8.54}}]}"#
    ),
    File(
      "Airtable",
      #"{"records":[{"id":"recA","createdTime":"2026-01-01","fields":{"Hotel Name":"Hôtel d'Alger","City":"Paris","Location":"48.866,2.33"}},{"id":"recB","fields":{"Hotel Name":"Zürcher Schloß","City":"Zürich","Location":"47.37,8.54"}}]}"#,
      ids: ["recA", "recB"]),
    File(
      "map from id to hotel",
      #"{"hotel_1":{"name":"Hôtel d'Alger","city":"Paris","geo":{"lat":48.866,"lon":2.33}},"hotel_2":{"name":"Zürcher Schloß","city":"Zürich","geo":{"lat":47.37,"lon":8.54}}}"#
    ),
    File(
      "map below hotels",
      #"{"users":{"u":{"name":"x"}},"hotels":{"1":\#(one.replacingOccurrences(of: #""id":1,"#, with: "")),"2":\#(two.replacingOccurrences(of: #""id":2,"#, with: ""))}}"#
    ),
    File(
      "one hotel with rooms",
      #"{"id":1,"name":"Hôtel d'Alger","city":"Paris","geo":{"lat":48.866,"lon":2.33},"rooms":[{"name":"Single"},{"name":"Double"}]}"#,
      ids: ["hotel_1"]),
    File("one hotel, wrapped", #"{"hotel":\#(one)}"#, ids: ["hotel_1"]),
    File(
      "mongoexport",
      #"{"_id":{"$oid":"5f01"},"name":"Hôtel d'Alger","city":"Paris","geo":{"lat":{"$numberDouble":"48.866"},"lon":{"$numberDouble":"2.33"}}}"#
        + "\n"
        + #"{"_id":{"$oid":"5f02"},"name":"Zürcher Schloß","city":"Zürich","geo":{"lat":47.37,"lon":8.54}}"#,
      ids: ["5f01", "5f02"]),
    File(
      "Firestore",
      #"{"documents":[{"name":"projects/p/databases/(default)/documents/hotels/a1","fields":{"name":{"stringValue":"Hôtel d'Alger"},"city":{"stringValue":"Paris"},"geo":{"geoPointValue":{"latitude":48.866,"longitude":2.33}}},"createTime":"x"},{"name":"projects/p/databases/(default)/documents/hotels/a2","fields":{"name":{"stringValue":"Zürcher Schloß"},"city":{"stringValue":"Zürich"},"geo":{"geoPointValue":{"latitude":47.37,"longitude":8.54}}}}]}"#,
      ids: ["a1", "a2"]),
    File(
      "DynamoDB",
      #"{"Item":{"id":{"N":"1"},"name":{"S":"Hôtel d'Alger"},"city":{"S":"Paris"},"lat":{"N":"48.866"},"lng":{"N":"2.33"}}}"#
        + "\n"
        + #"{"Item":{"id":{"N":"2"},"name":{"S":"Zürcher Schloß"},"city":{"S":"Zürich"},"lat":{"N":"47.37"},"lng":{"N":"8.54"}}}"#
    ),
    File(
      "GeoJSON",
      #"{"type":"FeatureCollection","name":"stays","features":[{"type":"Feature","id":"node/1","properties":{"name":"Hôtel d'Alger","tourism":"hotel","addr:city":"Paris"},"geometry":{"type":"Point","coordinates":[2.33,48.866]}},{"type":"Feature","id":"node/2","properties":{"name":"Zürcher Schloß","addr:city":"Zürich"},"geometry":{"type":"Point","coordinates":[8.54,47.37]}}]}"#,
      ids: ["node/1", "node/2"]),
    File(
      "features on each line",
      #"{"type":"Feature","id":"node/1","properties":{"name":"Hôtel d'Alger","addr:city":"Paris"},"geometry":{"type":"Point","coordinates":[2.33,48.866]}}"#
        + "\n"
        + #"{"type":"Feature","id":"node/2","properties":{"name":"Zürcher Schloß","addr:city":"Zürich"},"geometry":{"type":"Point","coordinates":[8.54,47.37]}}"#,
      ids: ["node/1", "node/2"]),
    File(
      "Overpass",
      #"{"version":0.6,"osm3s":{"copyright":"x"},"elements":[{"type":"node","id":1,"lat":48.866,"lon":2.33,"tags":{"name":"Hôtel d'Alger","tourism":"hotel","addr:city":"Paris"}},{"type":"way","id":2,"center":{"lat":47.37,"lon":8.54},"nodes":[3],"tags":{"name":"Zürcher Schloß","tourism":"hotel","addr:city":"Zürich"}},{"type":"node","id":3,"lat":1,"lon":1}]}"#,
      ids: ["node/1", "way/2"], others: 1),
    File("a list with holes", #"{"hotels":[null,\#(one),null,\#(two)]}"#),
    File(
      "pages on each line", both.map { #"{"hotels":[\#($0)],"page":1}"# }.joined(separator: "\n")),
    File(
      "pages in an array", "[" + both.map { #"{"data":[\#($0)]}"# }.joined(separator: ",") + "]"),
    File("an array in an array", "[\(list)]"),
    File(
      "bulk format",
      both.map { #"{"index":{"_index":"h"}}"# + "\n" + $0 }.joined(separator: "\n"), others: 2),
    File(
      "a whole travel-sample",
      list.dropLast()
        + #",{"id":3,"type":"airport","airportname":"X"},{"id":4,"type":"Airline","name":"Y"},{"id":5,"type":"route"},{"id":6,"type":"landmark","name":"Z"}]"#,
      others: 4),
  ]

  static let tables: [File] = [
    File(
      "commas",
      "id,Hotel Name,City,Latitude,Longitude\n1,Hôtel d'Alger,Paris,48.866,2.33\n2,Zürcher Schloß,Zürich,47.37,8.54\n"
    ),
    File(
      "semicolons and decimal commas",
      "id;hotel_name;town;lat;lng\r\n1;Hôtel d'Alger;Paris;48,866;2,33\r\n2;Zürcher Schloß;Zürich;47,37;8,54"
    ),
    File(
      "tabs",
      "id\tname\tcity\tlat\tlon\n1\tHôtel d'Alger\tParis\t48.866\t2.33\n2\tZürcher Schloß\tZürich\t47.37\t8.54\n"
    ),
    File(
      "bars",
      "id|name|city|coordinates\n1|Hôtel d'Alger|Paris|48.866, 2.33\n2|Zürcher Schloß|Zürich|47.37, 8.54\n"
    ),
    File(
      "sep= and a byte order mark",
      "\u{FEFF}sep=;\r\nid;name;city;lat;lon\r\n1;Hôtel d'Alger;Paris;48.866;2.33\r\n2;Zürcher Schloß;Zürich;47.37;8.54\r\n"
    ),
    File(
      "line ends and marks in quotation marks",
      "id,\"name\",city,address,lat,lon\n1,Hôtel d'Alger,Paris,\"3 rue \"\"d’Alger\"\"\r\n2e étage, à gauche\",48.866,2.33\n2,\"Zürcher Schloß\",Zürich,,47.37,8.54\n\n"
    ),
    File(
      "CR",
      "id,name,city,lat,lon\r1,Hôtel d'Alger,Paris,48.866,2.33\r2,Zürcher Schloß,Zürich,47.37,8.54\r"
    ),
    File(
      "a title above the table",
      "Hotels,,,,\n,,,,\nid,name,city,lat,lon\n1,Hôtel d'Alger,Paris,48.866,2.33\n"
        + "2,Zürcher Schloß,Zürich,47.37,8.54\n"),
    File(
      "well-known text",
      "id,name,city,geom\n1,Hôtel d'Alger,Paris,POINT (2.33 48.866)\n2,Zürcher Schloß,Zürich,SRID=4326;POINT(8.54 47.37)\n"
    ),
    File(
      "a column without a name, and missing values",
      ",id,name,city,lat,lon,phone\n0,1.0,Hôtel d'Alger,Paris,48.866,2.33\n1,2.0,Zürcher Schloß,Zürich,47.37,8.54,\n"
    ),
  ]

  @Test(arguments: objects + tables)
  func everyFormGivesTheSameHotels(_ file: File) async throws {
    try await CatalogueFixture.run { fixture async throws in
      for chunk in [1, 7, 1 << 16] {
        let summary = try await fixture.importing(file.bytes, isForced: false, chunk: chunk)
        #expect(summary.hotels == file.ids.count)
        #expect(summary.progress.otherRows == file.others)
      }
      let page = try await fixture.catalogue.search(HotelQuery(matching: .phrase))
      #expect(page.hotels.map(\.id.text) == file.ids)
      for hotel in page.hotels {
        let facts = try ParsedJSON(hotel.body.bytes, limits: .document).root
        let isFirst = hotel.id.text == file.ids[0]
        #expect(facts["name"]?.string == (isFirst ? "Hôtel d'Alger" : "Zürcher Schloß"))
        #expect(facts["city"]?.string == (isFirst ? "Paris" : "Zürich"))
        #expect(facts["geo"]?["lat"]?.double == (isFirst ? 48.866 : 47.37))
        #expect(facts["geo"]?["lon"]?.double == (isFirst ? 2.33 : 8.54))
      }
      #expect(fixture.directory.names.allSatisfy { $0 != "catalogue.spool" })
    }
  }

  @Test(
    arguments: [
      ("", .empty, "no hotel"), ("7", .malformed, "neither JSON"), ("\"text\"", .malformed, "CSV"),
      ("id,city\n1,Paris\n", .malformed, "name"), (#"["a","b"]"#, .empty, "object"),
      (#"{"hotels":["a","b"]}"#, .empty, "object"), (#"{"hotels":[]}"#, .empty, "no hotel"),
      (#"[{"id":1,"name":1}]"#, .empty, "name is a number"), ("{\"hotels\":[{", .truncated, "ends"),
      (#"{"type":"airport","id":1}"#, .empty, "airport"), ("<html></html>", .malformed, "HTML"),
      ("id,name\n1,\"A\n", .truncated, "quotation mark"),
      (#"{"a":[{"name":"x"}],"b":[{"name":"y"}]}"#, .malformed, "several lists"),
      (#"{"hotels":[{"name":"x"}]]"#, .empty, "bracket"),
      ("id,name\n1,A,B\n", .empty, "3 values"),
    ] as [(String, CatalogueError.Code, String)])
  func whatIsWrongIsSaid(_ text: String, _ code: CatalogueError.Code, _ word: String) async throws {
    try await expectRefusal(Array(text.utf8), code, word)
  }

  @Test(
    arguments: [
      (Array("[{\"name\":\"H".utf8) + [0xF4] + Array("tel\"}]".utf8), .doubtful, "UTF-8"),
      (Array("id,name\n1,H".utf8) + [0xF4] + Array("tel\n2,A\n".utf8), .doubtful, "UTF-8"),
      // "ホテル名,住所" in Shift JIS.
      (
        [0x83, 0x7A, 0x83, 0x65, 0x83, 0x8B, 0x96, 0xBC, 0x2C, 0x8F, 0x5A, 0x8F, 0x8A, 0x0A, 0x61],
        .malformed, "UTF-8"
      ),
      ([0xFF, 0xFE, 0x5B, 0, 0x5D, 0], .malformed, "UTF-16"),
      ([0xFE, 0xFF, 0, 0x5B, 0, 0x5D], .malformed, "UTF-16"),
      ([60, 0, 0, 0, 2] + Array("name".utf8), .malformed, "BSON"),
      ([0x5B, 0, 0x5D, 0], .malformed, "UTF-16"), ([0, 0x5B, 0, 0x5D], .malformed, "UTF-16"),
      ([0, 0, 0, 14, 10, 9] + Array("OSMHeader".utf8), .malformed, "PBF"),
      ([0x50, 0x4B, 3, 4, 0, 0], .malformed, "CSV in UTF-8"),
      (Array("PAR1".utf8) + [0x15, 4], .malformed, "Parquet"),
      (Array("Obj".utf8) + [1, 4], .malformed, "Avro"),
      (Array("ARROW1".utf8) + [0, 0], .malformed, "Arrow"),
      (Array("BZh91AY&SY".utf8), .malformed, "gzip"),
      ([0x28, 0xB5, 0x2F, 0xFD, 4], .malformed, "gzip"),
      (Array("SQLite format 3".utf8) + [0], .malformed, "SQLite"),
    ] as [([UInt8], CatalogueError.Code, String)])
  func anotherEncodingIsSaid(_ bytes: [UInt8], _ code: CatalogueError.Code, _ word: String)
    async throws
  {
    try await expectRefusal(bytes, code, word)
  }

  private func expectRefusal(
    _ bytes: [UInt8], _ code: CatalogueError.Code, _ word: String
  ) async throws {
    try await CatalogueFixture.run { fixture async throws in
      for chunk in [1, 1 << 16] {
        let error = await #expect(throws: CatalogueError.self) {
          try await fixture.importing(bytes, onBadRow: .skip, isForced: false, chunk: chunk)
        }
        #expect(error?.code == code)
        #expect(error?.reason.contains(word) == true, "\(error?.reason ?? "")")
      }
      #expect(fixture.directory.names == ["catalogue.lock"])
    }
  }

  /// An object larger than a row is read twice, from a file.
  @Test func aLargeObjectIsSearchedForItsHotels() async throws {
    let rows = (1...1_000).map {
      Rows.hotel(
        $0, "Hotel \($0)", #""city":"Paris","description":"\#(String(repeating: "x", count: 300))""#
      )
    }
    let text = #"{"users":[{"name":"u"}],"hotels":[\#(rows.joined(separator: ","))]}"#
    let map =
      "{"
      + (1...1_000).map {
        #""h\#($0)":{"name":"Hotel \#($0)","city":"Paris","about":"\#(String(repeating: "x", count: 300))"}"#
      }.joined(separator: ",\n") + "}"
    try await CatalogueFixture.run { fixture async throws in
      for text in [text, map] {
        #expect(text.utf8.count > 1 << 18)
        let summary = try await fixture.importing(text, isForced: false)
        #expect(summary.hotels == 1_000 && summary.progress.badRows == 0)
      }
      #expect(
        fixture.directory.names == [
          "catalogue.lock", "catalogue.sqlite", "catalogue.sqlite.former",
        ])
    }
  }

  @Test func largeListsUnderNamesOfPlacesAreReadTogether() async throws {
    let count = repetitions(150, nightly: 1_500)
    let note = String(repeating: "x", count: 135_000 / count)
    func list(_ city: String) -> String {
      let rows = (1...count).map { number in
        #"{"name": "\#(city) \#(number)", "note": "] } , \"\#(note)"}"#
      }
      return "[" + rows.joined(separator: ",\n") + "]"
    }
    let text =
      #"{"data": {"France": {"Paris": "# + list("Paris") + #", "Lyon": []}, "UK": {"London": "#
      + list("London") + #"}, "meta": {"tags": ["a", "b"]}}, "z": [1, {"a": [2]}]}"#
    #expect(text.utf8.count > 256 * 1024)
    for chunk in [4_099, 1 << 20] {
      try await CatalogueFixture.run { fixture async throws in
        let summary = try await fixture.importing(text, isForced: false, chunk: chunk)
        #expect(summary.hotels == 2 * count && summary.progress.badRows == 0)
        #expect(try await fixture.ids("London \(count - 1)", in: "london, uk").count == 1)
        #expect(try await fixture.ids("Paris \(count)", in: "france").count == 1)
      }
    }
  }

  @Test func anEventOfACalendarMayBeLong() async throws {
    let filler = String(
      repeating: "X-NOTE:" + String(repeating: "y", count: 200) + "\r\n", count: 1_500)
    func event(_ name: String, _ more: String = "") -> String {
      "BEGIN:VEVENT\r\nSUMMARY:\(name)\r\n\(more)LOCATION:Rue 1\r\nEND:VEVENT\r\n"
    }
    let text =
      "BEGIN:VCALENDAR\r\n" + filler + event("First") + event("Long", filler) + event("Last")
      + "END:VCALENDAR\r\n"
    try await CatalogueFixture.run { fixture async throws in
      let summary = try await fixture.importing(text, onBadRow: .skip, chunk: 1_000)
      #expect(summary.hotels == 2 && summary.badRows.map(\.ordinal) == [2])
      await #expect(throws: CatalogueError.self) {
        try await fixture.importing(String(text.dropLast(40)))
      }
    }
  }

  @Test func aDryRunChangesNothingAndSaysWhatWouldBecome() async throws {
    let text =
      "id,hotelName,Latitude,Longitude,stars,price\n"
      + (1...12).map { "\($0),Hotel \($0),48.5,2.25,3,€ 1\n" }.joined()
      + "13,,1,1,1,1\n"
    try await CatalogueFixture.run(rows: [Rows.hotel(99, "Old")]) { fixture async throws in
      let summary = try await fixture.importing(
        text, onBadRow: .skip, isForced: false, isDryRun: true)
      #expect(summary.hotels == 12)
      let lines = summary.found.lines
      #expect(lines.count { $0.hasPrefix("hotel ") } == 5)
      #expect(lines.contains("column hotelName became name in 12 rows"))
      #expect(lines.contains("column Latitude became geo in 12 rows"))
      #expect(lines.contains("column stars is kept in 12 rows"))
      #expect(lines.contains("fault: The row has no name. First in row 13, line 14; 1 row."))
      #expect(try await fixture.ids() == ["hotel_99"])
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
    }
  }
}
