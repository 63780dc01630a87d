import Testing

/// How conditions combine, and how absent fields affect them.
struct SelectorTests {
  @Test(arguments: ["{}", #"{"_id":"a"}"#, #"{"x":null}"#])
  func emptySelectorMatchesEverything(document: String) throws {
    #expect(try selects("{}", document))
  }

  @Test(
    arguments: [
      (#"{"user_id":11}"#, true), (#"{"_id":"foo"}"#, true), (#"{"_id":"foo","_rev":"bar"}"#, true),
      (#"{"user_id":1234}"#, false), (#"{"user_id":"11"}"#, false),
      (#"{"_id":"foo","_rev":"quux"}"#, false), (#"{"_id":{"$beginsWith":"f"}}"#, true),
      (#"{"user_id":{"$beginsWith":"f"}}"#, false),
    ] as [(String, Bool)])
  func fieldsAreJoinedByAnd(selector: String, matches: Bool) throws {
    let document = #"{"_id":"foo","_rev":"bar","user_id":11}"#
    #expect(try selects(selector, document) == matches)
  }

  /// CouchDB's own tests: an empty list in `$and`, `$or` and `$nor` matches, negated or not. Then it does not matter
  /// whether the field exists.
  @Test(arguments: [
    #"{"x":{"$and":[]}}"#, #"{"x":{"$or":[]}}"#, #"{"x":{"$nor":[]}}"#, #"{"$or":[]}"#,
    #"{"x":{"$not":{"$and":[]}}}"#, #"{"x":{"$not":{"$or":[]}}}"#, #"{"$nor":[]}"#, #"{"$and":[]}"#,
  ])
  func emptyListsHold(selector: String) throws {
    for document in [#"{"x":0}"#, #"{"x":[]}"#, "{}"] {
      #expect(try selects(selector, document))
    }
  }

  @Test(
    arguments: [
      (#"{"x":{"$and":[{"$gt":3},{"$lt":7}]}}"#, [false, true, false, false]),
      (#"{"x":{"$gt":3,"$lt":7}}"#, [false, true, false, false]),
      (#"{"$and":[{"x":{"$gt":3}},{"x":{"$lt":7}}]}"#, [false, true, false, false]),
      (#"{"x":{"$not":{"$and":[{"$gt":3},{"$lt":7}]}}}"#, [true, false, true, false]),
      (#"{"x":{"$or":[{"$lt":3},{"$gt":7}]}}"#, [true, false, true, false]),
      (#"{"$or":[{"x":2},{"x":6},{"y":1}]}"#, [true, true, false, false]),
      (#"{"x":{"$not":{"$or":[{"$lt":3},{"$gt":7}]}}}"#, [false, true, false, false]),
      (#"{"x":{"$nor":[{"$lt":3},{"$gt":7}]}}"#, [false, true, false, false]),
      (#"{"x":{"$not":{"$nor":[{"$lt":3},{"$gt":7}]}}}"#, [true, false, true, false]),
      (#"{"$not":{"$not":{"x":6}}}"#, [false, true, false, false]),
      (#"{"x":{"$gte":1,"$lte":9},"$nor":[{"x":2},{"x":9}]}"#, [false, true, false, false]),
      // With `$exists` negated, a document without the field matches.
      (#"{"x":{"$not":{"$exists":true,"$eq":6}}}"#, [true, false, true, true]),
    ] as [(String, [Bool])])
  func conditionsAreCombined(selector: String, matches: [Bool]) throws {
    for (document, matches) in zip([#"{"x":2}"#, #"{"x":6}"#, #"{"x":9}"#, "{}"], matches) {
      #expect(try selects(selector, document) == matches, "\(document)")
    }
  }

  @Test(
    arguments: [
      (#"{"twitter":{"$exists":true}}"#, [true, true, false]),
      (#"{"twitter":{"$exists":false}}"#, [false, false, true]),
      (#"{"twitter":{"$not":{"$exists":true}}}"#, [false, false, true]),
      (#"{"twitter":{"$not":{"$exists":false}}}"#, [true, true, false]),
      (#"{"twitter":null}"#, [false, true, false]),
      (#"{"twitter":{"$ne":"notamatch"}}"#, [true, true, false]),
      (#"{"twitter":{"$lt":1}}"#, [false, true, false]),
      (#"{"twitter":{"$lte":null}}"#, [false, true, false]),
      (#"{"twitter":{"$and":[{"$lte":"@z"},{"$ne":null}]}}"#, [true, false, false]),
      (#"{"twitter":{"$gte":null}}"#, [true, true, false]),
      (#"{"twitter":{"$nin":["a"]}}"#, [true, true, false]),
      (#"{"$not":{"twitter":"@b"}}"#, [true, true, false]),
      (#"{"twitter":{"$not":{"$regex":"b"}}}"#, [true, true, false]),
    ] as [(String, [Bool])])
  func missingIsNotNull(selector: String, matches: [Bool]) throws {
    let documents = [#"{"twitter":"@a"}"#, #"{"twitter":null}"#, "{}"]
    for (document, matches) in zip(documents, matches) {
      #expect(try selects(selector, document) == matches, "\(document)")
    }
  }

  /// If a value on the path is no object, a nested field does not even count as absent, as in CouchDB.
  @Test(
    arguments: [
      (#"{"a":{"b":1}}"#, false), (#"{"a":{}}"#, true), ("{}", true), (#"{"a":1}"#, false),
      (#"{"a":null}"#, false), (#"{"a":[]}"#, false), (#"{"a":[{"b":1}]}"#, false),
    ] as [(String, Bool)])
  func nestedFieldIsAbsentInAnObjectAlone(document: String, matches: Bool) throws {
    #expect(try selects(#"{"a.b":{"$exists":false}}"#, document) == matches)
    #expect(try selects(#"{"a":{"b":{"$exists":false}}}"#, document) == matches)
  }

  @Test(
    arguments: [
      (#"{"imdb":{"rating":8}}"#, true), (#"{"imdb.rating":8}"#, true),
      (#"{"imdb":{"rating":{"$gt":7}}}"#, true), (#"{"imdb":{"rating":{"$gt":7,"$lt":8}}}"#, false),
      (#"{"imdb":{"rating":8,"votes":3}}"#, true), (#"{"imdb":{"rating":8,"votes":4}}"#, false),
      (#"{"imdb":{"$exists":true,"rating":8}}"#, true), (#"{"imdb":{"x.y":1}}"#, true),
      (#"{"a\\.b":1}"#, true), (#"{"a.b":1}"#, false), (#"{"\\$price":5}"#, true),
      (#"{"imdb":{"\\$eq":6}}"#, true), (#"{"tags.1":"b"}"#, true), (#"{"tags":{"1":"b"}}"#, true),
      (#"{"tags.1":"a"}"#, false), (#"{"tags.2":{"$exists":false}}"#, false),
      (#"{"imdb":{"rating":8,"votes":3,"$eq":6,"x":{"y":1}}}"#, false),
    ] as [(String, Bool)])
  func nestedFieldsAreReached(selector: String, matches: Bool) throws {
    let document = """
      {"imdb":{"rating":8,"votes":3,"$eq":6,"x":{"y":1}},"a.b":1,"$price":5,"tags":["a","b"]}
      """
    #expect(try selects(selector, document) == matches)
  }

  /// In `_id`, strings compare by bytes, as in CouchDB.
  @Test(
    arguments: [
      (#"{"_id":{"$lt":"a"}}"#, true), (#"{"name":{"$lt":"a"}}"#, false),
      (#"{"_id":{"$gt":null}}"#, true), (#"{"_id":{"$gt":{}}}"#, true),
      (#"{"_id":{"$lt":[]}}"#, false), (#"{"_id":{"$in":["B","C"]}}"#, true),
      (#"{"_id":{"$not":{"$lt":"a"}}}"#, false), (#"{"_id":{"$gte":"B"}}"#, true),
    ] as [(String, Bool)])
  func idsCompareByBytes(selector: String, matches: Bool) throws {
    #expect(try selects(selector, #"{"_id":"B","name":"B"}"#) == matches)
  }

  @Test func conditionsWithoutAFieldAskAboutTheDocument() throws {
    #expect(try selects(#"{"$and":[{"$type":"object"},{"x":1}]}"#, #"{"x":1}"#))
    #expect(try !selects(#"{"$and":[{}]}"#, #"{"x":1}"#))
    #expect(try !selects(#"{"$or":[7]}"#, #"{"x":1}"#))
    #expect(try selects(#"{"$and":[{"$keyMapMatch":{"$eq":"x"}},{}]}"#, "{}") == false)
  }
}
