import Hotels
import Stores
import Testing

@Suite struct BookmarkBatchTests {
  private func refusal(_ text: String) -> ServiceError? {
    do {
      _ = try batch(text)
      return nil
    } catch {
      return error as? ServiceError
    }
  }

  @Test func addAndRemoveAreReadInOrder() throws {
    let batch = try batch(#"{"add":[{"id":"b"},{"id":7}],"remove":["x",8]}"#)
    #expect(batch.add.map(\.id.text) == ["b", "hotel_7"])
    #expect(batch.remove.map(\.text) == ["x", "hotel_8"])
  }

  @Test func eitherMayBeAbsent() throws {
    #expect(try batch("{}").add.isEmpty)
    #expect(try batch(#"{"remove":["x"]}"#).remove.count == 1)
  }

  @Test(arguments: [
    "[]", "1", #"{"add":{}}"#, #"{"remove":"x"}"#, #"{"remove":[null]}"#, #"{"remove":[""]}"#,
    #"{"remove":["_x"]}"#, #"{"remove":["bookmarkedhotels"]}"#, #"{"remove":[1.5]}"#,
    #"{"delete":[]}"#, #"{"restore":{}}"#, #"{"restore":[{"id":"a"}]}"#,
    #"{"restore":[{"id":"a","rev":"x"}]}"#, #"{"restore":[{"id":"","rev":"1-a"}]}"#,
    #"{"restore":[{"id":"a","rev":"1-a","former":null}]}"#,
    #"{"restore":[{"id":"a","rev":"1-a","former":{"rev":"1-a","place":-1}}]}"#,
    #"{"restore":[{"id":"a","rev":"1-a","former":{"rev":"1-a","place":0,"after":""}}]}"#,
    #"{"restore":[{"id":"a","rev":"1-a","more":1}]}"#,
  ])
  func otherShapesAreRefused(text: String) {
    #expect(refusal(text)?.code == .invalidDocument)
  }

  @Test func itemThatIsNoHotelIsNamedByItsPlace() {
    let error = refusal(#"{"add":[{"id":"a"},3]}"#)
    #expect(error?.code == .invalidDocument)
    #expect(error?.reason.hasPrefix("add[1]") == true)
  }

  @Test(arguments: [
    #"{"id":null}"#, #"{"id":""}"#, #"{"id":null,"name":"A"}"#, "{}", #"{"bookmarked":true}"#,
  ])
  func hotelWithoutAnIDIsNoHotel(item: String) {
    let error = refusal(#"{"add":[\#(item)]}"#)
    #expect(error?.code == .invalidDocument)
    #expect(error?.reason.hasPrefix("add[0]: A hotel") == true)
  }

  @Test(arguments: [
    (#"{"id":"a"}"#, false), (#"{"_id":"a","type":"hotel","bookmarked":true}"#, false),
    (#"{"id":"a","name":"A"}"#, true), (#"{"name":"A"}"#, true),
  ])
  func onlyFactsReplaceWhatABookmarkSays(item: String, replaces: Bool) throws {
    #expect(try batch(#"{"add":[\#(item)]}"#).add.map(\.replaces) == [replaces])
  }

  @Test(arguments: [
    #"{"restore":[{"id":"a","rev":"1-a"},{"id":"a","rev":"1-a"}]}"#,
    #"{"remove":["a"],"restore":[{"id":"a","rev":"1-a"}]}"#,
    #"{"add":[{"id":"a"},{"id":"a"}]}"#, #"{"add":[{"id":"a"}],"remove":["a"]}"#,
    #"{"remove":["a","a"]}"#, #"{"add":[{"id":"z"},{"id":5}],"remove":["a",5]}"#,
  ])
  func idThatStandsTwiceIsNamed(text: String) {
    let error = refusal(text)
    #expect(error?.code == .invalidDocument)
    #expect(error?.reason.contains("twice") == true)
  }

  @Test func twoHundredItemsAreTakenAndOneMoreIsRefused() throws {
    let hundred = (0..<100).map { #"{"id":"a\#($0)"}"# }.joined(separator: ",")
    func ids(_ count: Int) -> String { (0..<count).map { "\"r\($0)\"" }.joined(separator: ",") }
    #expect(try batch("{\"add\":[\(hundred)],\"remove\":[\(ids(100))]}").remove.count == 100)
    #expect(refusal("{\"add\":[\(hundred)],\"remove\":[\(ids(101))]}")?.code == .invalidDocument)
    #expect(refusal("{\"remove\":[\(ids(201))]}")?.code == .invalidDocument)
  }
}
