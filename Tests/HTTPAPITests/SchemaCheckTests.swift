import Documents
import Testing

/// The schema check finds faults. Every other test depends on it.
@Suite struct SchemaCheckTests {
  @Test(arguments: [
    (#"{"type":"string"}"#, #""a""#, true), (#"{"type":"string"}"#, "1", false),
    (#"{"type":["string","integer"]}"#, "1", true), (#"{"type":"integer"}"#, "1.0", false),
    (#"{"type":"number"}"#, "1.5", true), (#"{"type":"object"}"#, "[]", false),
    (#"{"required":["a"]}"#, #"{"a":null}"#, true), (#"{"required":["a"]}"#, "{}", false),
    (#"{"properties":{"a":{"const":1}}}"#, #"{"a":2}"#, false),
    (#"{"properties":{"a":{"const":1}}}"#, #"{"b":2}"#, true),
    (#"{"items":{"enum":[1,2]}}"#, "[1,2,1]", true), (#"{"items":{"enum":[1,2]}}"#, "[3]", false),
    (#"{"minimum":1,"maximum":3}"#, "3", true), (#"{"minimum":1}"#, "0", false),
    (#"{"maximum":3}"#, "4", false), (#"{"minLength":1}"#, #""""#, false),
    (#"{"maxLength":1}"#, #""ab""#, false), (#"{"pattern":"^[a-f]+$"}"#, #""abc""#, true),
    (#"{"pattern":"^[a-f]+$"}"#, #""xyz""#, false), (##"{"$ref":"#/a/b"}"##, "true", true),
    (##"{"$ref":"#/a/b"}"##, "1", false), (##"{"$ref":"#/a/c"}"##, "1", false),
    (#"{"additionalProperties":false}"#, #"{"a":1}"#, false),
    (#"{"anyOf":[{"const":1},{"const":2}]}"#, "3", false), (#"{"colour":"red"}"#, "1", false),
    (#"{"minProperties":1}"#, "{}", false), (#"{"minProperties":1}"#, #"{"a":1}"#, true),
    (#"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, false),
    (#"{"dependentRequired":{"a":["b"]}}"#, #"{"c":1}"#, true),
    (#"{"description":"anything"}"#, "1", true),
  ])
  func schemaFindsWhatIsWrong(schema: String, text: String, isValid: Bool) throws {
    let check = SchemaCheck(["a": ["b": ["type": "boolean"]]])
    let schema = try JSONValue(parsing: Array(schema.utf8), limits: .small)
    #expect(check.faults(Array(text.utf8), schema).isEmpty == isValid)
  }
}
