import Testing

struct SelectorOutputTests {
  /// The first cases are those of CouchDB's own tests.
  @Test(
    arguments: [
      ("{}", "{}"), (#"{"x":{}}"#, #"{"x":{"$eq":{}}}"#),
      (#"{"$not":{"x":{}}}"#, #"{"x":{"$ne":{}}}"#), (#"{"x":{"a":1}}"#, #"{"x.a":{"$eq":1}}"#),
      (#"{"x":{"a":1,"b":2}}"#, #"{"$and":[{"x.a":{"$eq":1}},{"x.b":{"$eq":2}}]}"#),
      (#"{"x.b":2}"#, #"{"x.b":{"$eq":2}}"#), (#"{"a":1.0}"#, #"{"a":{"$eq":1.0}}"#),
      (#"{"a":{"$gt":5,"$lt":10}}"#, #"{"$and":[{"a":{"$gt":5}},{"a":{"$lt":10}}]}"#),
      (#"{"$not":{"a":{"$gt":10}}}"#, #"{"a":{"$lte":10}}"#),
      (
        #"{"$not":{"$and":[{"a":{"$gt":10}},{"a":{"$lt":5}}]}}"#,
        #"{"$or":[{"a":{"$lte":10}},{"a":{"$gte":5}}]}"#
      ),
      (#"{"$nor":[{"a":1},{"b":{"$in":[1]}}]}"#, #"{"$and":[{"a":{"$ne":1}},{"b":{"$nin":[1]}}]}"#),
      (#"{"$not":{"$nor":[{"a":1}]}}"#, #"{"$or":[{"a":{"$eq":1}}]}"#),
      (#"{"$not":{"a":{"$exists":true}}}"#, #"{"a":{"$exists":false}}"#),
      (#"{"a":{"$not":{"$regex":"x"}}}"#, #"{"a":{"$not":{"$regex":"x"}}}"#),
      (
        #"{"f":{"$elemMatch":{"$gte":80,"$lt":85}}}"#,
        #"{"f":{"$elemMatch":{"$and":[{"":{"$gte":80}},{"":{"$lt":85}}]}}}"#
      ),
      (
        #"{"f":{"$allMatch":{"$not":{"a":{"b":1}}}}}"#,
        #"{"f":{"$allMatch":{"$not":{"a.b":{"$eq":1}}}}}"#
      ),
      (#"{"a":{"$mod":[3,1]}}"#, #"{"a":{"$mod":[3,1]}}"#),
      (#"{"a":{"$size":3}}"#, #"{"a":{"$size":3}}"#),
      (#"{"a":{"$all":[2,1,2]}}"#, #"{"a":{"$all":[2,1,2]}}"#),
      (#"{"a":{"$type":"null"}}"#, #"{"a":{"$type":"null"}}"#),
      (#"{"a":{"$beginsWith":"x"}}"#, #"{"a":{"$beginsWith":"x"}}"#),
      (
        #"{"a":{"$keyMapMatch":{"$eq":"k"}}}"#, #"{"a":{"$keyMapMatch":{"":{"$eq":"k"}}}}"#
      ), (#"{"\\$a":{"b\\.c":1}}"#, #"{"\\$a.b\\.c":{"$eq":1}}"#),
    ] as [(String, String)])
  func selectorIsShownAsItIsUnderstood(selector: String, shown: String) throws {
    #expect(try normalized(selector) == shown)
    #expect(try normalized(shown) == shown)
  }
}
