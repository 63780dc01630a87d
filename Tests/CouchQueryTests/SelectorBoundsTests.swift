import CouchQuery
import Documents
import Testing

struct SelectorBoundsTests {
  /// A range in mathematical notation, such as `[1,5)`; `-` for none.
  private func bounds(_ selector: String, _ field: String) throws -> String {
    guard let bounds = try Selector(json(selector)).bounds(of: FieldPath(field)) else { return "-" }
    func text(_ node: JSONNode?) -> String {
      node.map { String(decoding: $0.minified, as: UTF8.self) } ?? ""
    }
    return (bounds.includesLower ? "[" : "(") + text(bounds.lower) + ".." + text(bounds.upper)
      + (bounds.includesUpper ? "]" : ")") + (bounds.isEquality ? "=" : "")
      + (bounds.isEmpty ? "!" : "")
  }

  @Test(
    arguments: [
      (#"{"a":5}"#, "[5..5]="), (#"{"a":{"$gt":1,"$lte":5}}"#, "(1..5]"),
      (#"{"a":{"$lt":5},"b":1}"#, "[..5)"), (#"{"a":{"$gte":"x"}}"#, #"["x"..]"#),
      (#"{"$and":[{"a":{"$gte":1}},{"a":{"$gt":1}},{"a":{"$lt":9}}]}"#, "(1..9)"),
      (#"{"a":{"$gte":1,"$lte":1.0}}"#, "[1..1.0]="), (#"{"a":{"$gt":5,"$lt":1}}"#, "(5..1)!"),
      (#"{"a":{"$gt":5,"$lte":5}}"#, "(5..5]!"), (#"{"b":1}"#, "-"), (#"{"a":{"$ne":1}}"#, "-"),
      (#"{"a.b":1}"#, "-"), (#"{"$not":{"a":{"$gt":3}}}"#, "[..3]"),
      (#"{"a":null}"#, "[null..null]="),
      (#"{"a":{"$exists":true}}"#, "-"), (#"{"a":{"$nin":[1]}}"#, "-"), ("{}", "-"),
      (#"{"$or":[{"a":3},{"a":1},{"a":2}]}"#, "[1..3]"), (#"{"$or":[{"a":3},{"b":1}]}"#, "-"),
      (#"{"$or":[{"a":{"$gt":3}},{"a":{"$lt":1}}]}"#, "-"), (#"{"$or":[]}"#, "-"),
      (#"{"$or":[{"a":{"$gt":3}},{"a":3}]}"#, "[3..]"), (#"{"$and":[]}"#, "-"),
      (#"{"a":{"$gt":0},"$or":[{"a":3},{"a":1}]}"#, "[1..3]"),
      (#"{"a":{"$in":[3,1]}}"#, "[1..{})"), (#"{"a":{"$in":[{},{"x":1}]}}"#, #"[[]..{"x":1}]"#),
      (#"{"a":{"$in":[]}}"#, "-"), (#"{"a":{"$type":"number"}}"#, #"(true.."")"#),
      (#"{"a":{"$type":"string"}}"#, #"[""..[])"#), (#"{"a":{"$type":"other"}}"#, "-"),
      (#"{"a":{"$mod":[2,1]}}"#, #"(true.."")"#), (#"{"a":{"$regex":"x"}}"#, #"[""..[])"#),
      (#"{"a":{"$size":1}}"#, "[[]..{})"), (#"{"a":{"$elemMatch":{"$gt":1}}}"#, "[[]..{})"),
      (#"{"a":{"$keyMapMatch":{"$eq":"k"}}}"#, "[{}..]"), (#"{"a":{"$not":{"$regex":"x"}}}"#, "-"),
      (#"{"a":{"$beginsWith":"Hotel Aurora"}}"#, #"["Hotel".."Hotem")"#),
      (#"{"a":{"$beginsWith":"é"}}"#, #"[""..[])"#),
      (#"{"a":{"$beginsWith":"fizZ"}}"#, #"["fizZ".."fj")"#),
      (#"{"a":{"$beginsWith":"zz"}}"#, #"["zz"..[])"#),
      (#"{"a":{"$beginsWith":"A9"}}"#, #"["A9".."Aa")"#),
      (#"{"a":{"$beginsWith":""}}"#, #"[""..[])"#),
    ] as [(String, String)])
  func boundsAreWhatTheConjunctionDemands(selector: String, range: String) throws {
    #expect(try bounds(selector, "a") == range)
  }

  /// `_id` has byte order and bounds from strings only.
  @Test(
    arguments: [
      (#"{"_id":{"$gt":null}}"#, "-"), (#"{"_id":{"$gte":"a","$lt":"B"}}"#, #"["a".."B")!"#),
      (#"{"_id":{"$gte":"B","$lt":"a"}}"#, #"["B".."a")"#), (#"{"_id":"x"}"#, #"["x".."x"]="#),
      (#"{"_id":{"$in":["a","B",7]}}"#, #"["B".."a"]"#), (#"{"_id":{"$lt":{}}}"#, "-"),
      (#"{"_id":{"$beginsWith":"hotel_"}}"#, #"["hotel_".."hotel`")"#),
      (#"{"_id":{"$beginsWith":"a\#u{D7FF}"}}"#, #"["a\#u{D7FF}".."a\#u{E000}")"#),
      (#"{"_id":{"$beginsWith":"a\#u{10FFFF}"}}"#, #"["a\#u{10FFFF}".."b")"#),
      (#"{"_id":{"$beginsWith":"\#u{10FFFF}"}}"#, #"["\#u{10FFFF}"..)"#),
      (#"{"_id":{"$type":"string"}}"#, "-"),
    ] as [(String, String)])
  func idsAreBoundedByBytes(selector: String, range: String) throws {
    #expect(try bounds(selector, "_id") == range)
  }

  @Test(
    arguments: [
      (#"{"a":1}"#, "a", true), (#"{"a":1}"#, "b", false), ("{}", "a", false),
      (#"{"a":{"$exists":false}}"#, "a", false), (#"{"a":{"$exists":true}}"#, "a", true),
      (#"{"a":{"$ne":1}}"#, "a", true), (#"{"a":{"$not":{"$regex":"x"}}}"#, "a", true),
      (#"{"a":1,"b":2}"#, "b", true), (#"{"a.b":1}"#, "a.b", true),
      // As in CouchDB, a part of a field does not stand for the field.
      (#"{"a.b":1}"#, "a", false), (#"{"a":{"b":1}}"#, "a", false), (#"{"a":1}"#, "a.b", false),
      (#"{"$or":[{"a":1},{"b":1}]}"#, "a", false), (#"{"$or":[{"a":1},{"a":2}]}"#, "a", true),
      // Alone it returns no document.
      (#"{"$or":[]}"#, "a", true), (#"{"x":1,"$or":[]}"#, "a", false),
      (#"{"x":1,"$or":[{"a":1},{"$and":[{"a":2}]}]}"#, "a", true),
      (#"{"a":{"$elemMatch":{"b":1}}}"#, "b", false),
      (#"{"a":{"$not":{"$exists":true}}}"#, "a", false),
      (#"{"$nor":[{"a":1},{"b":1}]}"#, "b", true), (#"{"a":{"$and":[]}}"#, "a", false),
    ] as [(String, String, Bool)])
  func fieldsThatMustBeThereAreKnown(selector: String, field: String, isRequired: Bool) throws {
    #expect(try Selector(json(selector)).requires(FieldPath(field)) == isRequired)
  }
}
