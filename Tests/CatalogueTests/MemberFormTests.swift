import Documents
import Hotels
import Testing

@testable import Catalogue

/// The forms of a hotel's members, one row each, and the hotel that it must become.
@Suite struct MemberFormTests {
  /// A row and the members that the hotel must have, both as JSON.
  static let rows: [(String, String)] = [
    (#"{"hotel_name":"A"}"#, #"{"name":"A"}"#), (#"{"HOTELNAME":"A"}"#, #"{"name":"A"}"#),
    (#"{"title":"A"}"#, #"{"name":"A"}"#),
    (#"{"title":"A\u0000 B\nC"}"#, #"{"name":"A B C"}"#),
    (#"{"id":1,"name":"A\nB"}"#, #"{"name":"A B"}"#),
    (#"{"name":"\u200b","title":"A"}"#, #"{"name":"A"}"#),
    (#"{"name":"A","title":"Paris"}"#, #"{"name":"A","title":"Paris"}"#),
    (#"{"name":{"fr":"A","en":"B"}}"#, #"{"name":"B"}"#),
    (#"{"displayName":{"text":"A","languageCode":"fr"}}"#, #"{"name":"A"}"#),
    (#"{"name":"A","lat":51.5,"lng":-0.1}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (#"{"name":"A","latitude":"51.5","longitude":"-0.1"}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (#"{"name":"A","geo":{"lat":"51.5","lng":"-0.1"}}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (#"{"name":"A","geo":"51.5,-0.1"}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (
      #"{"name":"A","location":{"type":"Point","coordinates":[-0.1,51.5]}}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","coordinates":[-0.1,51.5]}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (#"{"name":"A","latlng":[51.5,-0.1]}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (
      #"{"name":"A","geometry":{"location":{"lat":51.5,"lng":-0.1}}}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","_geoloc":{"lat":51.5,"lng":-0.1}}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (
      #"{"name":"A","geometry":{"type":"Polygon","coordinates":[[[-0.2,51],[0,51],[0,52],[-0.2,51]]]}}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","position":"51.5 N, 0.1 W"}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (#"{"name":"A","geo":{"lat":95,"lon":1}}"#, #"{"geo":null}"#),
    (
      #"{"name":"A","geom":"SRID=3857;POINT(-11131.9491 6710219.0832)"}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (
      #"{"name":"A","geom":"0000000001BFB999999999999A4049C00000000000"}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","geom":"POINT (652000 6862000)"}"#, #"{"geo":null}"#),
    (
      #"{"name":"A","country":"GB","lat":-0.1,"lng":51.5}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","country":"NA","city":"NA"}"#, #"{"country":"NA","city":null}"#),
    (
      #"{"name":"A","hasWifi":true,"pool":0,"Pets allowed":"Y"}"#,
      #"{"amenities":["wifi","Pets allowed"],"hasWifi":true}"#
    ),
    (
      #"{"name":"A","wifi":"WAHR","pool":"FALSCH","spa":"VERDADERO","bar":"FAUX","gym":"ИСТИНА"}"#,
      #"{"amenities":["wifi","spa","gym"]}"#
    ),
    (
      #"{"name":"A","amenities.0.id":1,"amenities.0.name":"Spa","amenities[1]":"Bar"}"#,
      #"{"amenities":["Spa","Bar"],"amenities.0.id":1}"#
    ),
    (
      #"{"name":"A","location":[{"name":"city","value":"C"},{"name":"zip","value":"1"},{"name":"state","value":"S"},{"name":"x","value":1},{"name":"y","value":2}]}"#,
      #"{"city":"C","postcode":"1","state":"S"}"#
    ),
    (#"{"id":1,"name":"A","City, Country":"C, France"}"#, #"{"city":"C","country":"France"}"#),
    (
      #"{"name":"A","features.rooms":1,"services_fee":0,"features.spa":1}"#,
      #"{"amenities":["spa"],"features.rooms":1,"services_fee":0}"#
    ),
    (#"{"name":"A","isDisabled":true}"#, #"{"amenities":null,"isDisabled":true}"#),
    (
      #"{"name":"A","hasDisabledAccess":true}"#,
      #"{"amenities":["disabled access"],"hasDisabledAccess":true}"#
    ),
    (#"{"id":1,"name":"A","free_parking":true}"#, #"{"amenities":null,"free_parking":true}"#),
    (
      #"{"name":"A","geo":{"lat":51.5,"lon":-0.1,"accuracy":"ROOFTOP"}}"#,
      #"{"geo":{"lat":51.5,"lon":-0.1,"accuracy":"ROOFTOP"}}"#
    ),
    (
      #"{"name":"A","address":{"street":"B 1","city":"C","country":"D","postalCode":"E"}}"#,
      #"{"address":"B 1","city":"C","country":"D","postcode":"E"}"#
    ),
    (
      #"{"name":"A","address":{"@type":"PostalAddress","streetAddress":"B 1","addressLocality":"C","addressRegion":"S","addressCountry":{"name":"D"}}}"#,
      #"{"address":"B 1","city":"C","state":"S","country":"D"}"#
    ),
    (
      #"{"name":"A","location":{"address1":"B 1","city":"C","lat":51.5,"lng":-0.1}}"#,
      #"{"address":"B 1","city":"C","geo":{"lat":51.5,"lon":-0.1}}"#
    ),
    (#"{"name":"A","address":["B 1","1000 C"]}"#, #"{"address":"B 1, 1000 C"}"#),
    (
      #"{"name":"A","addr:street":"rue B","addr:housenumber":"3","addr:country":"FR"}"#,
      #"{"address":"3 rue B","country":"FR"}"#
    ),
    (
      #"{"name":"A","addr:street":"Bstraße","addr:housenumber":"3","addr:country":"DE"}"#,
      #"{"address":"Bstraße 3"}"#
    ),
    (
      #"{"name":"A","contact":{"phone":12345,"website":"https://a.example"}}"#,
      #"{"phone":"12345","url":"https://a.example"}"#
    ),
    (#"{"name":"A","location":"Rue B, Paris"}"#, #"{"address":"Rue B, Paris"}"#),
    (#"{"name":"A","type":"Hotel"}"#, #"{"type":"hotel"}"#),
    (#"{"name":"A","type":"Resort"}"#, #"{"category":"Resort","type":null}"#),
    (#"{"name":"A","tourism":"guest_house"}"#, #"{"category":"guest_house"}"#),
    (#"{"name":"A","@type":["Hotel","Resort"]}"#, #"{"category":"Hotel, Resort"}"#),
    (#"{"name":"A","amenities":"wifi, pool"}"#, #"{"amenities":["wifi","pool"]}"#),
    (#"{"name":"A","facilities":"['wifi', 'pool']"}"#, #"{"amenities":["wifi","pool"]}"#),
    (
      #"{"name":"A","amenities":[{"name":"wifi"},{"name":"pool","value":false}]}"#,
      #"{"amenities":["wifi"]}"#
    ),
    (#"{"name":"A","amenities":{"free_wifi":true,"pool":false}}"#, #"{"amenities":["free wifi"]}"#),
    (
      #"{"name":"A","amenities":{"roomService":true,"hasSpa":true,"Bar":"yes","cableTV":1}}"#,
      #"{"amenities":["room service","spa","Bar","cable tv"]}"#
    ),
    (
      #"{"name":"A","description":"<p>A &amp; B <b>pool</b></p>"}"#,
      #"{"description":"A & B pool"}"#
    ),
    (
      #"{"name":"A","description":"x<br/>y<script>1<2</script> &eacute;&#233;&#xE9; &lt; 3"}"#,
      #"{"description":"x\ny ééé < 3"}"#
    ),
    (#"{"name":"A","description":"&lt;p&gt;x&lt;/p&gt;"}"#, #"{"description":"x"}"#),
    (#"{"name":"Bed & Breakfast <3, A<B"}"#, #"{"name":"Bed & Breakfast <3, A<B"}"#),
    (#"{"name":"A","nightly_rate":{"amount":247.5,"currency":"EUR"}}"#, #"{"price":"EUR 247.5"}"#),
    (
      #"{"name":"A","lat":"48°51'57.6\"N","lon":"2° 19′ 48″ W"}"#,
      #"{"geo":{"lat":48.866,"lon":-2.33}}"#
    ),
    (#"{"name":"A","x":2.33,"y":48.866}"#, #"{"geo":{"lat":48.866,"lon":2.33}}"#),
    (#"{"name":"A","x":652000,"y":6862000}"#, #"{"x":652000,"y":6862000}"#),
    (#"{"name":"A","geo_point_2d":[51.5,-0.1]}"#, #"{"geo":{"lat":51.5,"lon":-0.1}}"#),
    (
      #"{"name":"A","amenity_groups":[{"group_name":"G","amenities":["wifi","lift"]},{"amenities":["pool"]}]}"#,
      #"{"amenities":["wifi","lift","pool"]}"#
    ),
    (
      #"{"name":"A","category":{"id":"1","name":"Hotel"}}"#, #"{"category":null}"#
    ),
    (
      #"{"name":"A","addresses":[{"freeform":"B 1","locality":"C","country":"DE"}]}"#,
      #"{"address":"B 1","city":"C","country":"DE"}"#
    ),
    (#"{"NOMBRE":"A","DIRECCIÓN":"B 1","País":"D"}"#, #"{"address":"B 1","country":"D"}"#),
    (#"{"НАЗВАНИЕ":"A","Город":"C"}"#, #"{"name":"A","city":"C"}"#),
    (#"{"name":"A","Site Address":"B 1"}"#, #"{"address":"B 1","url":null}"#),
    (#"{"name":"A","Post address":"B 1"}"#, #"{"address":"B 1","email":null}"#),
    (#"{"name":"A","Posta Adresi":"B 1"}"#, #"{"address":"B 1","email":null}"#),
    (#"{"name":"A","post_url":"https://b.c"}"#, #"{"email":null}"#),
    (
      #"{"name":"A","Indirizzo posta elettronica":"b@c.it","Adresse du site":"c.it"}"#,
      #"{"email":"b@c.it","url":"c.it"}"#
    ),
    (#"{"name":"A","Street":"B 1","Address 2":"Floor 3"}"#, #"{"address":"B 1"}"#),
    (#"{"name":"A","Address 1":"B 1","Address 2":"Floor 3"}"#, #"{"address":"B 1"}"#),
    (
      #"{"name":"A","lat_deg":48,"lat_min":51.5,"lon_deg":2,"lon_min":20.5}"#,
      #"{"geo":null}"#
    ),
    (#"{"name":"A","min_lat":48.1,"min_lon":2.1,"max_lat":49.1,"max_lon":2.9}"#, #"{"geo":null}"#),
    (#"{"name":"A","lat_deg":48.86,"lon_deg":2.33}"#, #"{"geo":{"lat":48.86,"lon":2.33}}"#),
    (
      #"{"name":"A","address":[{"lang":"fr","value":"a"},{"lang":"en","value":"B 1"},{"lang":"en","value":"C"}]}"#,
      #"{"address":"B 1, C"}"#
    ),
    (#"{"name":"A","Site":"B","Internet":"yes","ホームページ有無":"有"}"#, #"{"url":null,"Site":"B"}"#),
    (#"{"name":"A","LAN":"Yes","Län":"B"}"#, #"{"state":"B"}"#),
    (#"{"name":"A","stars":4,"x":{"y":1}}"#, #"{"stars":4,"x":{"y":1}}"#),
  ]

  @Test(arguments: rows)
  func aMemberGetsItsDocumentedForm(_ row: String, _ expected: String) throws {
    guard case .hotel(let hotel, _, _) = HotelRow(Array(row.utf8), isKeyed: false) else {
      Issue.record("no hotel")
      return
    }
    let members = try ParsedJSON(hotel.body.bytes, limits: .document).root
    for (name, value) in try JSONValue(parsing: Array(expected.utf8), limits: .small).object?
      .members ?? []
    {
      #expect((members[name]?.value ?? .null).bytes == value.bytes, "\(members.value)")
    }
  }

  @Test(
    arguments: [
      (#""id":1.0"#, "hotel_1"), (#""id":-5"#, "hotel_-5"), (#""id":"7""#, "hotel_7"),
      (#""id":"3.0""#, "hotel_3"), (#""id":1e3"#, "hotel_1000"), (#""_id":{"$oid":"5f"}"#, "5f"),
      (#""id":12345678901234567890123"#, "hotel_12345678901234567890123"),
      (#""hotelId":"H-1""#, "H-1"), (#""id":null,"docid":"x""#, "x"),
      (#""_id":{"$numberLong":"12"}"#, "hotel_12"),
    ])
  func idsOfAllKindsAreRead(_ member: String, _ id: String) {
    #expect(Self.id(#"{\#(member),"name":"A"}"#) == id)
  }

  @Test(arguments: [#""id":{}"#, #""id":1.5"#, #""id":true"#, #""id":"_x""#])
  func whatIsNoIDIsAFault(_ member: String) {
    #expect(Self.id(#"{\#(member),"name":"A"}"#) == nil)
  }

  @Test func anIDWithoutOneComesFromNameAndPlace() {
    let id = Self.id(#"{"name":"A","address":"B 1","city":"C","price":1,"x":1}"#)
    #expect(id?.hasPrefix("hotel_") == true && id?.count == 22)
    #expect(id == Self.id(#"{"price":2,"city":"C","hotelName":"A","address":"B 1"}"#))
    #expect(id != Self.id(#"{"name":"A","address":"B 1","city":"D"}"#))
    #expect(
      Self.id(#"{"name":"A","lat":1,"lon":2}"#) != Self.id(#"{"name":"A","lat":1,"lon":3}"#))
  }

  @Test func aKeyIsTheIDWhereAWrapperHasTheName() {
    let row =
      #"{"XkAbc":{"location":{"lat":51.5,"lon":-0.1},"attributes":{"name":"A","city":"C"}}}"#
    guard case .hotel(let hotel, let text, _) = HotelRow(Array(row.utf8), isKeyed: true) else {
      Issue.record("no hotel")
      return
    }
    #expect(hotel.id.text == "XkAbc" && text.name == "A")
  }

  /// Each of its points is behind the name of an address.
  @Test(.timeLimit(.minutes(1))) func aLongNameOfAddressesMeansNothing() {
    let name = String(repeating: "adresse.", count: 100_000) + "city"
    #expect(HotelAliases.match(name.utf8) == nil)
    #expect(HotelAliases.match("forretningsadresse.poststed".utf8)?.meaning == .city)
  }

  /// "сайт" with a letter and a mark, as programs of a Mac write names, and full-width letters.
  @Test(arguments: [
    ("са\u{438}\u{306}т", "са\u{439}т", HotelAliases.Meaning.url),
    ("Te\u{301}le\u{301}phone", "Téléphone", .phone), ("Ｃｉｔｙ", "City", .city),
  ])
  func aNameSaysTheSameInEachNormalForm(
    _ one: String, other: String, is meaning: HotelAliases.Meaning
  ) {
    #expect(HotelAliases.match(one.utf8)?.meaning == meaning)
    #expect(HotelAliases.match(other.utf8)?.meaning == meaning)
  }

  /// A list under a mistyped name would be read by nobody, and a name of two meanings would have the last one.
  @Test func eachListOfWordsIsReadAndEachNameHasOneMeaning() {
    let meanings = HotelAliases.Meaning.allCases.map(\.rawValue)
    #expect(Set(ImportWords.lists.keys) == Set(ImportWords.allCases.map(\.rawValue) + meanings))
    let names = meanings.flatMap { meaning in
      Set((ImportWords.lists[meaning] ?? []).map { HotelAliases.letters(of: $0.utf8) })
    }
    #expect(Set(names).count == names.count)
  }

  private static func id(_ row: String) -> String? {
    guard case .hotel(let hotel, _, _) = HotelRow(Array(row.utf8), isKeyed: false) else {
      return nil
    }
    return hotel.id.text
  }

  @Test(
    arguments: [
      (
        #"{"id":1,"name":"A","address":{"city":"C","floor":{}},"phone":true,"_x":1}"#,
        ["address.floor", "phone", "_x"]
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Point","coordinates":[651300,6862600]}}"#,
        ["geometry"]
      ),
      (
        #"{"type":"Feature","properties":{"name":"A","lat":1,"lon":2},"geometry":{"type":"Point","coordinates":[]}}"#,
        []
      ),
    ] as [(String, [String])])
  func whatIsLeftOutIsNamed(_ row: String, _ expected: [String]) {
    guard case .hotel(_, _, let columns) = HotelRow(Array(row.utf8), isKeyed: false) else {
      Issue.record("no hotel")
      return
    }
    let names = columns.filter { $0.kept == nil }.map(\.name)
    #expect(names == expected)
  }

  @Test(arguments: [1, 300])
  func anObjectThatManyHotelsNameMakesNoFileMuchLarger(_ members: Int) throws {
    let hotels = (1...400).map {
      #""Hotel:\#($0)":{"__typename":"Hotel","name":"A \#($0)","address":{"__ref":"Address:1"}}"#
    }
    let line = String(repeating: "x", count: (64 << 10) / members)
    let lines = (1...members).map { #""line\#($0)":"\#(line)""# }.joined(separator: ",")
    let text =
      #"{"ROOT_QUERY":{},"Address:1":{"street":{\#(lines)}},\#(hotels.joined(separator: ","))}"#
    let rows = try #require(LinkedObjects.rows(in: Array(text.utf8)))
    #expect(rows.count > 7 << 20 && rows.count < 9 << 20)
  }

  @Test func objectsOfARowAreJoinedOnceOnly() {
    let text = #"""
      {"@graph":[{"@type":"Hotel","@id":"#h","name":"A","address":{"@id":"#a"}},{"@id":"#a","addressLocality":"Rome"}]}
      """#
    func count(isInner: Bool) -> Int? {
      let bytes = Array(text.utf8)
      let row = SplitRow(ordinal: 1, line: 1, content: .text(bytes))
      return NestedRows(bytes, isInner: isInner)?.rows(of: row).count
    }
    #expect(count(isInner: false) == 1)
    #expect(count(isInner: true) != 1)
  }
}
