import Testing

/// The structure classes of JSONTestSuite (`y_`, `n_` and `i_` `array`, `object` and `structure`).
@Suite struct JSONStructureTests {
  @Test(
    .bug(id: "J03"),
    arguments: [
      "[[]   ]", "[\"\"]", "[]", "[\"a\"]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]",
      " [1]", "[1,null,null,null,2]", "[2] ", "[ 4]", "[-0]", "[123]", "{}", "{\"asd\":\"sdf\"}",
      "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"\":0}", "{\"foo\\u0000bar\": 42}",
      "{ \"min\": -1.0e+28, \"max\": 1.0e+28 }", "{\"x\":[{\"id\": \"x\"}], \"id\": \"x\"}",
      "{\"a\":[]}", "{\"title\":\"\\u041f\\u043e\\u043b\"}", "{\n\"a\": \"b\"\n}", "false", "42",
      "-0.1", "null", "\"asd\"", "true", "\"\"", "[\"a\"]\n", "[true]", " [] ", "\t\r\n [ ] \t\r\n",
      "[{},[[]],{\"a\":{}}]",
    ])
  func wellFormedTextIsAccepted(_ text: String) {
    #expect(JSONReading.fault(text) == nil)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal("[1 true]", 3), JSONRefusal("[\"\": 1]", 3), JSONRefusal("[\"\"],", 4),
      JSONRefusal("[,1]", 1), JSONRefusal("[1,,2]", 3), JSONRefusal("[\"x\",,]", 5),
      JSONRefusal("[\"x\"]]", 5), JSONRefusal("[\"\",]", 4), JSONRefusal("[\"x\"", 4),
      JSONRefusal("[x", 1), JSONRefusal("[3[4]]", 2), JSONRefusal("[1:2]", 2),
      JSONRefusal("[,]", 1), JSONRefusal("[-]", 2), JSONRefusal("[   , \"\"]", 4),
      JSONRefusal("[\"a\",\n4\n,1,", 11), JSONRefusal("[1,]", 3), JSONRefusal("[1,,]", 3),
      JSONRefusal("[\"a\u{b}\"\\f]", 3), JSONRefusal("[*]", 1), JSONRefusal("[\"\"", 3),
      JSONRefusal("[1,", 3), JSONRefusal("[1,\n1\n,1", 8), JSONRefusal("[{}", 3),
      JSONRefusal("[fals]", 1), JSONRefusal("[nul]", 1), JSONRefusal("[tru]", 1),
      JSONRefusal("[True]", 1), JSONRefusal("nulll", 4), JSONRefusal("tru", 0),
    ])
  func brokenArrayOrWordIsRefusedAtTheByte(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal("[\"x\", truth]", 6), JSONRefusal("{[: \"x\"}\n", 1),
      JSONRefusal("{\"x\", null}", 4), JSONRefusal("{\"x\"::\"b\"}", 5),
      JSONRefusal("{\"a\":\"a\" 123}", 9), JSONRefusal("{key: 'value'}", 1),
      JSONRefusal("{\"a\" b}", 5), JSONRefusal("{:\"b\"}", 1), JSONRefusal("{\"a\" \"b\"}", 5),
      JSONRefusal("{\"a\":", 5), JSONRefusal("{\"a\"", 4), JSONRefusal("{1:1}", 1),
      JSONRefusal("{9999E9999:1}", 1), JSONRefusal("{null:null,null:null}", 1),
      JSONRefusal("{\"id\":0,,,,,}", 8), JSONRefusal("{'a':0}", 1), JSONRefusal("{\"id\":0,}", 8),
      JSONRefusal("{\"a\":\"b\"}/**/", 9), JSONRefusal("{\"a\":\"b\"}/**//", 9),
      JSONRefusal("{\"a\":\"b\"}//", 9), JSONRefusal("{\"a\":\"b\"}/", 9),
      JSONRefusal("{\"a\":\"b\",,\"c\":\"d\"}", 9), JSONRefusal("{a: \"b\"}", 1),
      JSONRefusal("{\"a\":\"a", 7), JSONRefusal("{ \"foo\" : \"bar\", \"a\" }", 21),
      JSONRefusal("{\"a\":\"b\"}#", 9), JSONRefusal("{\"a\":/*x*/\"b\"}", 5),
      JSONRefusal("{,}", 1), JSONRefusal("{\"a\":1,\"b\"}", 10), JSONRefusal("{\"a\":1;", 6),
    ])
  func brokenObjectIsRefusedAtTheByte(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal("", 0), JSONRefusal(" ", 1), JSONRefusal("<.>", 0), JSONRefusal("[<null>]", 1),
      JSONRefusal("[1]x", 3), JSONRefusal("[1]]", 3), JSONRefusal("[asd]", 1),
      JSONRefusal("{}}", 2), JSONRefusal("{\"\":", 4), JSONRefusal("{\"a\":/*comment*/\"b\"}", 5),
      JSONRefusal("{\"a\": true} \"x\"", 12), JSONRefusal("['", 1), JSONRefusal("[", 1),
      JSONRefusal("[,", 1), JSONRefusal("[{", 2), JSONRefusal("[\"a", 3), JSONRefusal("[\"a\"", 4),
      JSONRefusal("{", 1), JSONRefusal("{]", 1), JSONRefusal("{,", 1), JSONRefusal("{[", 1),
      JSONRefusal("{\"a", 3), JSONRefusal("{'a'", 1), JSONRefusal("[\"\\{[\"\\{[\"\\{[\"\\{", 2),
      JSONRefusal("*", 0), JSONRefusal("{\"a\":\"b\"}#{}", 9), JSONRefusal("[\\u000A\"\"]", 1),
      JSONRefusal("[1", 2), JSONRefusal("[ false, nul", 9), JSONRefusal("[ true, fals", 8),
      JSONRefusal("[ false, tru", 9), JSONRefusal("{\"asd\":\"asd\"", 12), JSONRefusal("]", 0),
      JSONRefusal("}", 0), JSONRefusal(",", 0), JSONRefusal(":", 0), JSONRefusal("[1}", 2),
      JSONRefusal("{\"a\":1]", 6), JSONRefusal("abc", 0), JSONRefusal("'a'", 0),
    ])
  func brokenStructureIsRefusedAtTheByte(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal([0x5B, 0x00, 0x5D], 1), JSONRefusal([0x5B, 0x0C, 0x5D], 1),
      JSONRefusal([0x5B, 0x0B, 0x5D], 1), JSONRefusal([0x5B, 0x5D, 0x00], 2),
      JSONRefusal([0x00], 0), JSONRefusal([0x5B, 0xE2, 0x81, 0xA0, 0x5D], 1),
      JSONRefusal([0xC2, 0xA0, 0x5B, 0x5D], 0), JSONRefusal([0x5B, 0xE5], 1),
      JSONRefusal([0x5B, 0xEF, 0xBC, 0x91, 0x5D], 1), JSONRefusal([0xC3, 0xA5], 0),
      JSONRefusal([0x5B, 0xC3, 0xA5, 0x5D], 1), JSONRefusal([0x5B, 0x61, 0xE5, 0x5D], 1),
      JSONRefusal([0x7B, 0xF0, 0x9F, 0x87, 0xA8, 0x7D], 1), JSONRefusal([0xE9], 0),
      JSONRefusal([0x5B, 0x31, 0x5D, 0x1A], 3), JSONRefusal([0x5B, 0x1E, 0x5D], 1),
    ])
  func otherBytesBetweenTokensAreRefused(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }
}
