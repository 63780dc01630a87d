import Documents
import Testing

/// Repeated member names. JSONTestSuite accepts `y_object_duplicated_key` and similar texts as well formed. This
/// parser refuses them, because readers disagree on which member counts (CVE-2017-12635).
@Suite struct JSONDuplicateTests {
  @Test(arguments: [
    ("{\"a\":1,\"a\":1}", 7, "/a"), ("{\"a\":1,\"\\u0061\":2}", 7, "/a"),
    ("{\"\\u0061\":1,\"a\":2}", 12, "/a"), ("{\"\":1,\"b\":0,\"\":2}", 12, "/"),
    ("{\"x\":{\"a\":1,\"b\":2,\"a\":3}}", 18, "/x/a"),
    ("{\"y\":[1],\"docs\":[{\"n\":[]},[0],{\"_id\":\"1\",\"_id\":\"2\"}]}", 41, "/docs/2/_id"),
    ("[[],{\"a/b~c\":0,\"a/b~c\":0}]", 15, "/1/a~1b~0c"),
    ("{\"roles\":[\"_admin\"],\"roles\":[]}", 20, "/roles"),
    ("{\"a\":{\"\\n\":{\"k\":0,\"k\":1}}}", 18, "/a/\n/k"),
    ("{\"b\":0,\"a\":0,\"a\":0,\"b\":0}", 13, "/a"),
    ("{\"\\u00e9\":1,\"\u{e9}\":2}", 12, "/\u{e9}"),
  ])
  func repeatedNameIsRefusedWithItsPointer(_ text: String, _ offset: Int, _ pointer: String) {
    let error = JSONError(code: .duplicateKey, offset: offset, pointer: pointer)
    #expect(JSONReading.fault(text) == error)
    #expect(JSONReading.fault(text)?.reason.contains(pointer) == true)
  }

  @Test(arguments: [
    "{\"e\u{301}\":1,\"\u{e9}\":2}", "{\"a\":1,\"A\":2}",
    "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}",
    "{\"a\":1,\"a\\u0000\":2,\"a \":3}", "{\"12345678\":0,\"123456789\":0}",
    "{\"abcd\":0,\"acbd\":0}",
    "{\"\\u0065\\u0301\":1,\"\\u00e9\":2}",
  ])
  func namesOfDifferentBytesStandTogether(_ text: String) {
    #expect(JSONReading.fault(text) == nil)
  }

  @Test(arguments: [2, 3, 16, 31, 32, 33, 34, 100, 1000])
  func repeatedNameIsFoundWhereverItStands(_ count: Int) {
    let names = (0..<count).map { "\"a name with a long shared start \($0)\"" }
    for (first, second) in [(0, 1), (0, count - 1), (count / 2, count - 1), (count - 2, count - 1)]
    where first != second {
      var repeated = names
      repeated[second] = names[first]
      let head = repeated[..<second].map { $0.utf8.count + 3 }.reduce(1, +)
      let text = "{" + repeated.map { $0 + ":0" }.joined(separator: ",") + "}"
      #expect(JSONReading.fault(text)?.code == .duplicateKey)
      #expect(JSONReading.fault(text)?.offset == head)
    }
    #expect(JSONReading.fault("{" + names.map { $0 + ":0" }.joined(separator: ",") + "}") == nil)
  }

  @Test func pointerOfMoreThanAKibibyteIsLeftOut() {
    for (length, hasPointer) in [(1023, true), (1024, false)] {
      let name = "\"" + String(repeating: "k", count: length) + "\""
      let error = JSONReading.fault("{\(name):0,\(name):0}")
      #expect(error?.code == .duplicateKey)
      #expect((error?.pointer != nil) == hasPointer)
    }
  }
}
