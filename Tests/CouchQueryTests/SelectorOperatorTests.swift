import Testing

/// Which values of a field `x` each operator and its `$not` match.
struct SelectorOperatorTests {
  /// Values that an operator matches, and values that it does not match.
  struct Case: Sendable, CustomTestStringConvertible {
    let condition: String
    let matching: [String]
    let others: [String]
    var testDescription: String { condition }
  }

  /// The cases of CouchDB's own tests (`mango_selector.erl`), and more.
  private static let comparisons = [
    Case(
      condition: #"{"$lt":5}"#, matching: ["4", "4.999", "-1e300", "null", "false", "true"],
      others: ["5", "6", "5.0", #""a""#, "[]", "{}"]),
    Case(
      condition: #"{"$lt":"hello"}"#, matching: [#""held""#, #""""#, "5", "null"],
      others: [#""hello""#, #""help""#, #""Hello""#, "[]"]),
    Case(
      condition: #"{"$lt":[1,2,3]}"#, matching: ["[1,2,2]", "[1,2]", "[]", "9"],
      others: ["[1,2,3]", "[1,2,4]", "[1,3]", "{}"]),
    Case(condition: #"{"$lte":5}"#, matching: ["4", "5", "5.0"], others: ["6", "5.0000001"]),
    Case(
      condition: #"{"$lte":"hello"}"#, matching: [#""held""#, #""hello""#], others: [#""help""#]),
    Case(
      condition: #"{"$lte":[1,2,3]}"#, matching: ["[1,2,2]", "[1,2]", "[1,2,3]"],
      others: ["[1,2,4]", "[1,3]"]),
    Case(
      condition: #"{"$gt":5}"#, matching: ["6", #""""#, "[]", "{}"], others: ["4", "5", "null"]),
    Case(
      condition: #"{"$gt":"hello"}"#, matching: [#""help""#, "[]"],
      others: [#""held""#, #""hello""#, "1"]),
    Case(
      condition: #"{"$gt":null}"#, matching: ["false", "0", #""""#, "[]", "{}"], others: ["null"]),
    Case(
      condition: #"{"$gte":[1,2,3]}"#, matching: ["[1,2,3]", "[1,2,4]", "[1,3]"],
      others: ["[1,2,2]", "[1,2]"]),
    Case(
      condition: #"{"$gte":null}"#, matching: ["null", "false", "0", #""""#, "[]", "{}"], others: []
    ),
    Case(
      condition: #"{"$eq":5}"#, matching: ["5", "5.0", "50e-1"], others: ["6", #""5""#, "[5]"]),
    Case(
      condition: #"{"$eq":"hello"}"#, matching: [#""hello""#, #""h\u0065llo""#],
      others: [#""help""#, #""Hello""#, #""hello\u0000""#]),
    Case(
      condition: #"{"$eq":[1,[2,3,4],5]}"#, matching: ["[1,[2,3,4],5]", "[1.0,[2,3,4],5]"],
      others: ["[1,[2,3,4]]", "[1,[2,3,4],5,6]", "[1,[2,7,4],5]"]),
    Case(
      condition: #"{"$eq":{"a":{"b":{"c":7}}}}"#, matching: [#"{"a":{"b":{"c":7}}}"#],
      others: [
        #"{"a":{"b":{"c":8}}}"#, #"{"a":{"b":{"d":7}}}"#, #"{"a":{"d":{"c":7}}}"#, "{}",
        #"{"a":{"b":{"c":7}},"z":1}"#,
      ]),
    Case(condition: #"{"$ne":5}"#, matching: ["6", "null", #""5""#], others: ["5", "5.0"]),
    Case(condition: "null", matching: ["null"], others: ["false", "0", "[]"]),
    Case(condition: "{}", matching: ["{}"], others: [#"{"a":1}"#, "[]", "null"]),
    Case(condition: "[1,2]", matching: ["[1,2]"], others: ["[2,1]", "1", "[1]", "[1,2,3]"]),
  ]

  private static let lists = [
    Case(condition: #"{"$in":[]}"#, matching: [], others: ["0", "true", #""foo""#, "[]", "[1]"]),
    Case(
      condition: #"{"$in":[42,false,"bar",[["nested"],"list"],{"b":2}]}"#,
      matching: [
        "42", "42.0", "false", #""bar""#, #"{"b":2}"#, "[0,42]", "[0,false]", #"[0,"bar"]"#,
        #"[0,{"b":2}]"#, #"[0,[["nested"],"list"]]"#,
      ],
      others: ["43", "true", #""bars""#, #"{"b":2,"c":3}"#, #"[["nested"],"list"]"#, "[]"]),
    Case(condition: #"{"$nin":[]}"#, matching: ["0", "true", #""foo""#, "[]"], others: []),
    Case(
      condition: #"{"$nin":[42,false,"bar",[["nested"],"list"],{"b":2}]}"#,
      matching: ["43", "true", #""bars""#, #"{"b":2,"c":3}"#, #"[["nested"],"list"]"#, "[]"],
      others: [
        "42", "false", #""bar""#, #"{"b":2}"#, "[0,42]", "[0,false]", #"[0,"bar"]"#,
        #"[0,{"b":2}]"#,
        #"[0,[["nested"],"list"]]"#,
      ]),
    Case(condition: #"{"$all":[]}"#, matching: [], others: ["[]", "[42]", "{}", #""foo""#]),
    Case(
      condition: #"{"$all":[1,2,3,4]}"#, matching: ["[3,2,4,1]", "[0,4,3,5,2,1,6]"],
      others: ["[3,2,4]", "[]", "1", "[[1,2,3,4]]"]),
    Case(condition: #"{"$all":[1,1]}"#, matching: ["[1]", "[2,1.0]"], others: ["[2]"]),
    Case(
      condition: #"{"$all":[[1,2,3,4]]}"#, matching: ["[1,2,3,4]", "[5,[1,2,3,4],6]"],
      others: ["[4,3,2,1]", "[1,3,4]", "[]", "[5,[1,3,4],6]", "[5,[1,3,2,4],6]"]),
    Case(
      condition: #"{"$all":["hello"]}"#, matching: [#"["hello"]"#, #"[0,"hello",1]"#],
      others: [#""hello""#, "[]"]),
    Case(
      condition: #"{"$all":[{"a":1}]}"#, matching: [#"[{"a":1}]"#], others: [#"[{"a":1,"b":2}]"#]),
    Case(
      condition: #"{"$size":3}"#, matching: ["[0,0,0]"],
      others: ["3", #""fun""#, "[0,0]", "[0,0,0,0]", #"{"a":1,"b":2,"c":3}"#]),
    Case(condition: #"{"$size":0}"#, matching: ["[]"], others: ["[0]", "{}", "null"]),
    Case(
      condition: #"{"$size":99999999999999999999}"#, matching: [], others: ["[]", "[1]", "null"]),
  ]

  private static let others = [
    Case(
      condition: #"{"$type":"null"}"#, matching: ["null"], others: ["false", "{}", "0"]),
    Case(condition: #"{"$type":"boolean"}"#, matching: ["true", "false"], others: ["0", "null"]),
    Case(
      condition: #"{"$type":"number"}"#, matching: ["42", "3.14", "0", "1e300"],
      others: ["true", "[1]", #""1""#]),
    Case(condition: #"{"$type":"string"}"#, matching: [#""""#, #""hello""#], others: ["[]"]),
    Case(condition: #"{"$type":"array"}"#, matching: ["[]", "[1,2]"], others: ["{}", #""hi""#]),
    Case(
      condition: #"{"$type":"object"}"#, matching: ["{}", #"{"a":1}"#],
      others: [#"[{"a":1}]"#, "null"]),
    Case(condition: #"{"$type":"integer"}"#, matching: [], others: ["1", "null", "[]"]),
    Case(
      condition: #"{"$mod":[28,1]}"#,
      matching: [
        "1", "29", "57", "280000000000000000000000000000000000001",
      ], others: ["58", #""57""#, "57.0", "57e0", "-27", "null"]),
    Case(condition: #"{"$mod":[-3,-1]}"#, matching: ["-1", "-4"], others: ["1", "2", "4", "-3"]),
    Case(condition: #"{"$mod":[2,0]}"#, matching: ["0", "-0", "-2"], others: ["1", "-1", "2.0"]),
    Case(
      condition: #"{"$mod":[-9223372036854775808,-1]}"#, matching: ["-1", "-9223372036854775809"],
      others: ["1", "9223372036854775809"]),
    Case(
      condition: #"{"$regex":"^[0-9a-f]+$"}"#, matching: [#""3a0df5e""#],
      others: [#""""#, #""3a0gf5e""#, "42", #"["a"]"#]),
    Case(
      condition: #"{"$regex":"(?i)new.*"}"#, matching: [#""New York""#, #""renew""#],
      others: [#""York""#]),
    Case(
      condition: #"{"$beginsWith":"foo"}"#, matching: [#""foo""#, #""food""#, #""fool me once""#],
      others: [#""more food""#, #""fo""#, #""Food""#, "42", #"["foo"]"#]),
    Case(condition: #"{"$beginsWith":""}"#, matching: [#""""#, #""a""#], others: ["1", "null"]),
    Case(
      condition: #"{"$allMatch":{"$eq":0}}"#, matching: ["[0]", "[0,0.0]"],
      others: ["[]", "[1]", "[0,1]", "0", #"{"a":0}"#]),
    Case(
      condition: #"{"$elemMatch":{"$eq":0}}"#, matching: ["[0]", "[0,1]"],
      others: ["[]", "[1]", "0"]
    ),
    Case(
      condition: #"{"$elemMatch":{"$ne":0}}"#, matching: ["[1]", "[0,1]"], others: ["[]", "[0]"]),
    Case(
      condition: #"{"$elemMatch":{"$gte":80,"$lt":85}}"#, matching: ["[1,82]", "[80]"],
      others: ["[79,85]", "[]"]),
    Case(
      condition: #"{"$elemMatch":{"foo":{"$gte":1},"bam":true}}"#,
      matching: [#"[{"foo":2,"bam":true}]"#],
      others: [#"[{"foo":1,"bar":2}]"#, #"[{"foo":1},{"bam":true}]"#, "[1]"]),
    Case(
      condition: #"{"$allMatch":{"foo":{"$mod":[2,1]},"bar":{"$mod":[2,0]}}}"#,
      matching: [#"[{"foo":1,"bar":2},{"foo":3,"bar":4}]"#],
      others: [#"[{"foo":1,"bar":2},{"foo":4,"bar":4}]"#]),
    Case(
      condition: #"{"$elemMatch":{"$not":{"y":1}}}"#, matching: ["[1]", #"[{"y":2}]"#, "[{}]"],
      others: [#"[{"y":1}]"#, "[]"]),
    Case(
      condition: #"{"$elemMatch":{"$nor":[{"$eq":1},{"$eq":2}]}}"#, matching: ["[1,3]"],
      others: ["[1,2]", "[]"]),
    Case(
      condition: #"{"$elemMatch":{"$elemMatch":{"$gt":3}}}"#, matching: ["[[1],[2,4]]"],
      others: ["[4]", "[[1,2]]"]),
    Case(
      condition: #"{"$keyMapMatch":{"$regex":"^[a-z]+$"}}"#,
      matching: [#"{"hello":0}"#, #"{"a":1,"b":2}"#, #"{"a":1,"b4":2}"#],
      others: [#"{"b4":2}"#, "{}", #"["a"]"#, #""a""#]),
    Case(
      condition: #"{"$keyMapMatch":{"$eq":"secondary"}}"#, matching: [#"{"s\u0065condary":1}"#],
      others: [#"{"primary":"secondary"}"#]),
  ]

  @Test(arguments: comparisons + lists + others)
  func operatorLetsThrough(_ example: Case) throws {
    for value in example.matching {
      #expect(try selects(#"{"x":\#(example.condition)}"#, #"{"x":\#(value)}"#), "\(value)")
    }
    for value in example.others {
      #expect(try !selects(#"{"x":\#(example.condition)}"#, #"{"x":\#(value)}"#), "\(value)")
    }
  }

  @Test(arguments: comparisons + lists + others)
  func notLetsTheOthersThrough(_ example: Case) throws {
    for value in example.matching {
      #expect(
        try !selects(#"{"$not":{"x":\#(example.condition)}}"#, #"{"x":\#(value)}"#), "\(value)")
    }
    for value in example.others {
      #expect(
        try selects(#"{"$not":{"x":\#(example.condition)}}"#, #"{"x":\#(value)}"#), "\(value)")
    }
  }

  /// A condition on an absent field never holds, except `$exists: false`.
  @Test(arguments: comparisons + lists + others)
  func missingFieldMeetsNothing(_ example: Case) throws {
    for document in ["{}", #"{"y":1}"#] {
      #expect(try !selects(#"{"x":\#(example.condition)}"#, document))
      #expect(try !selects(#"{"$not":{"x":\#(example.condition)}}"#, document))
      #expect(try !selects(#"{"$nor":[{"x":\#(example.condition)}]}"#, document))
    }
  }
}
