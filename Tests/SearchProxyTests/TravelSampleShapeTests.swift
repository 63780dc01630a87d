import Hotels
import SearchProxy
import Testing

/// The answers of both generations and of their ports to other languages, and the pages that are made from them.
@Suite struct TravelSampleShapeTests {
  @Test func firstGenerationRowsKeepTheirFieldsButNone() async throws {
    let page = try await page(of: .json(Golden.v1))
    #expect(page.ids == ["hotel_7001", "hotel_7002"])
    #expect(
      page.bodies.first == """
        {"address":"1 Quay Road, ME1 1AA, Medway, United Kingdom","city":"Medway",\
        "country":"United Kingdom","description":"Ten beds.","id":"hotel_7001",\
        "name":"Quay Hostel"}
        """)
    #expect(page.bodies.last?.contains(#""Caf\u00e9 &quot;Mill&quot;.""#) == true)
    #expect(page.source == .upstream)
    #expect(page.next == nil)
  }

  @Test func secondGenerationRowsGetTheSameIdEveryTime() async throws {
    let first = try await page(of: .json(Golden.v2))
    let again = try await page(of: .json(Golden.v2))
    #expect(first.ids == again.ids)
    #expect(first.ids.first?.hasPrefix("hotel_") == true)
    #expect(first.ids.first?.utf8.count == 22)
    #expect(
      first.bodies == [
        """
        {"address":"1 Quay Road, ME1 1AA, Medway, United Kingdom","description":"Ten beds.",\
        "name":"Quay Hostel"}
        """
      ])
  }

  @Test func missingFieldsDoNotChangeTheIdOfARowWithoutOne() async throws {
    let bare = try await page(of: .json(#"{"data":[{"name":"Inn"}]}"#))
    let padded = try await page(
      of: .json(#"{"data":[{"state":null, "name" : "Inn","id":null,"city":"None"}]}"#))
    #expect(bare.ids == padded.ids)
    #expect(padded.bodies == [#"{"name":"Inn"}"#])
  }

  @Test(arguments: [
    (#"{"id":"hotel_5","name":"a"}"#, "hotel_5", #"{"id":"hotel_5","name":"a"}"#),
    (#"{"id":"hotelhotel_5","name":"a"}"#, "hotel_5", #"{"id":"hotel_5","name":"a"}"#),
    (#"{"id":5,"name":"a"}"#, "hotel_5", #"{"id":"hotel_5","name":"a"}"#),
    (#"{"id":"5","name":"a"}"#, "hotel_5", #"{"id":"hotel_5","name":"a"}"#),
    (#"{"docid":"hotel_5","name":"a"}"#, "hotel_5", #"{"docid":"hotel_5","name":"a"}"#),
    (#"{"id":"ritz/1","price":1.0}"#, "ritz/1", #"{"id":"ritz/1","price":1.0}"#),
  ])
  func spellingsOfAnIdAreBroughtTogether(row: String, id: String, body: String) async throws {
    let page = try await page(of: .json(#"{"data":[\#(row)]}"#))
    #expect(page.ids == [id])
    #expect(page.bodies == [body])
  }

  @Test(arguments: [
    Golden.v2Rejected,
    #"{"data":[]}"#,
    #"{"data":null}"#,
    #"{"context":"FTS search rejected - no search terms were provided"}"#,
    #"{"context":["FTS search"],"data":null}"#,
    #"{"context":null,"data":null,"error":null}"#,
    #"{}"#,
  ])
  func nothingFoundIsAnEmptyPage(body: String) async throws {
    let page = try await page(of: .json(body))
    #expect(page.ids.isEmpty)
    #expect(page.next == nil)
  }

  @Test(arguments: [#"["x"]"#, #""x""#, "null", #"{"a":1}"#])
  func anyContextWillDo(context: String) async throws {
    let page = try await page(of: .json(#"{"context":\#(context),"data":[{"id":"hotel_1"}]}"#))
    #expect(page.ids == ["hotel_1"])
  }

  @Test func rowsThatAreNoHotelsArePassedOver() async throws {
    let page = try await page(
      of: .json(
        #"{"data":[null,"x",7,[],{},{"name":null},{"id":"_x"},{"id":true},{"id":"hotel_1"}]}"#))
    #expect(page.ids == ["hotel_1"])
  }

  @Test func aHotelThatIsThereTwiceIsShownOnce() async throws {
    let page = try await page(
      of: .json(#"{"data":[{"id":"hotelhotel_1","n":1},{"id":2},{"id":1,"n":2}]}"#))
    #expect(page.bodies == [#"{"id":"hotel_1","n":1}"#, #"{"id":"hotel_2"}"#])
  }

  @Test func jsonWithoutAContentTypeIsUnderstood() async throws {
    let page = try await page(of: .answer(200, [], Array(Golden.v1.utf8)))
    #expect(page.ids.count == 2)
  }

  @Test func http10WithoutALengthIsUnderstood() async throws {
    let head = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
    let page = try await page(of: .raw(Array((head + Golden.v1).utf8)))
    #expect(page.ids.count == 2)
  }

  @Test(arguments: [
    (limit: 100, offset: 0, first: "hotel_1", count: 100, next: nil as Int?),
    (limit: 20, offset: 0, first: "hotel_1", count: 20, next: 20),
    (limit: 20, offset: 80, first: "hotel_81", count: 20, next: nil),
    (limit: 20, offset: 79, first: "hotel_80", count: 20, next: 99),
    (limit: 20, offset: 99, first: "hotel_100", count: 1, next: nil),
  ])
  func pagesAreCutFromTheRows(
    limit: Int, offset: Int, first: String, count: Int, next: Int?
  ) async throws {
    let page = try await withUpstream(script: { _ in .json(Golden.v1(rows: 100)) }) { upstream, _ in
      try await upstream.search(HotelQuery(description: "inn", limit: limit, offset: offset))
    }
    #expect(page.ids.first == first)
    #expect(page.ids.count == count)
    #expect(page.next == next)
  }

  @Test func offsetPastTheRowsIsAnEmptyPage() async throws {
    let page = try await withUpstream(script: { _ in .json(Golden.v1(rows: 3)) }) { upstream, _ in
      try await upstream.search(HotelQuery(description: "inn", offset: HotelQuery.maximumOffset))
    }
    #expect(page.ids.isEmpty)
    #expect(page.next == nil)
  }
}
