import Documents
import Testing

/// Values that were not parsed from a text, and the writer.
@Suite struct JSONValueTests {
  @Test func literalsAreWrittenInTheirOrder() {
    let value: JSONValue = ["b": 1, "a": [true, nil, "x\n\u{e9}"], "c": [:], "d": []]
    let text = "{\"b\":1,\"a\":[true,null,\"x\\n\u{e9}\"],\"c\":{},\"d\":[]}"
    #expect(String(decoding: value.bytes, as: UTF8.self) == text)
  }

  @Test func stringsAreEqualByBytesOnly() {
    let composed: JSONValue = "\u{e9}"
    let decomposed: JSONValue = "e\u{301}"
    #expect(composed != decomposed)
    #expect(composed == "\u{e9}")
    let object: JSONObject = ["\u{e9}": 1, "e\u{301}": 2]
    #expect(object.count == 2)
    #expect(object["e\u{301}"] == 2)
  }

  @Test func objectsAreEqualInAnyOrder() {
    let one: JSONValue = ["a": 1, "b": ["c": 2, "d": 3]]
    let other: JSONValue = ["b": ["d": 3, "c": 2], "a": 1]
    #expect(one == other)
    #expect(one != ["a": 1, "b": ["c": 2, "d": 4]])
    #expect(one != ["a": 1, "c": ["c": 2, "d": 3]])
    #expect(one != ["a": 1])
    #expect(([1, 2] as JSONValue) != [2, 1])
  }

  @Test func kindsAreNeverEqual() {
    let values: [JSONValue] = [nil, false, 0, "", [], [:], "0", "false"]
    for (index, value) in values.enumerated() {
      #expect(!values.dropFirst(index + 1).contains(value))
    }
  }

  @Test func memberIsReplacedInItsPlace() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3]
    #expect(object.members.map(\.name) == ["a", "b"])
    object["a"] = "new"
    object.append("c", 4)
    object.append("b", 5)
    #expect(object.members.map(\.name) == ["a", "b", "c"])
    #expect(object["a"] == "new")
    object["a"] = nil
    object["z"] = nil
    #expect(object == ["b": 5, "c": 4])
    #expect(!object.isEmpty)
  }

  @Test func accessorsAnswerForTheirKindAlone() throws {
    let value = try JSONValue(
      parsing: Array("{\"s\":\"x\",\"i\":7,\"b\":true,\"a\":[1.5],\"n\":null}".utf8), limits: .small
    )
    #expect(value["s"]?.string == "x")
    #expect(value["i"]?.int == 7)
    #expect(value["b"]?.bool == true)
    #expect(value["a"]?.array?.first?.number?.text == "1.5")
    #expect(value["n"] == .null)
    #expect(value.object?.count == 5)
    #expect(value["s"]?["x"] == nil)
    #expect(value["s"]?.int == nil)
    #expect(value["a"]?.object == nil)
  }

  @Test func writerSplicesStoredBytes() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("id", "a\"b")
    writer.members(of: Array("{\"x\":1.0,\"y\":[ ]}".utf8))
    writer.members(of: Array("{}".utf8))
    writer.member("hotel", raw: Array("{\"n\":1e2}".utf8))
    writer.name("list")
    writer.beginArray()
    writer.int(-1)
    writer.bool(true)
    writer.null()
    writer.beginObject()
    writer.endObject()
    writer.beginArray()
    writer.endArray()
    writer.raw(Array("\"z\"".utf8)[...])
    writer.endArray()
    writer.member("n", 5)
    writer.member("v", ["a": 1] as JSONValue)
    writer.member("t", false)
    writer.endObject()
    let text =
      "{\"id\":\"a\\\"b\",\"x\":1.0,\"y\":[ ],\"hotel\":{\"n\":1e2},"
      + "\"list\":[-1,true,null,{},[],\"z\"],\"n\":5,\"v\":{\"a\":1},\"t\":false}"
    #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
  }
}
