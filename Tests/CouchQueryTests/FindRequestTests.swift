import CouchQuery
import Stores
import Testing

struct FindRequestTests {
  @Test(
    arguments: [
      ("{}", "missingRequiredKey"), (#"{"selector":5}"#, "invalidSelectorJSON"),
      (#"{"selector":{},"x":1}"#, "invalidKey"),
      (#"{"selector":{},"limit":-1}"#, "invalidNonNegativeInteger"),
      (#"{"selector":{},"limit":1.5}"#, "invalidNonNegativeInteger"),
      (#"{"selector":{},"limit":null}"#, "invalidNonNegativeInteger"),
      (#"{"selector":{},"skip":"1"}"#, "invalidNonNegativeInteger"),
      (#"{"selector":{},"sort":"a"}"#, "invalidSortJSON"),
      (#"{"selector":{},"sort":[2]}"#, "invalidSortField"),
      (#"{"selector":{},"sort":[""]}"#, "invalidSortField"),
      (#"{"selector":{},"sort":[{"a":"up"}]}"#, "invalidSortField"),
      (#"{"selector":{},"sort":[{"a":"asc","b":"asc"}]}"#, "invalidSortField"),
      (#"{"selector":{},"sort":[{"a":"asc"},{"b":"desc"}]}"#, "unsupportedMixedSort"),
      (#"{"selector":{},"sort":["a..b"]}"#, "invalidFieldName"),
      (#"{"selector":{},"fields":"a"}"#, "invalidFields"),
      (#"{"selector":{},"fields":[1]}"#, "invalidField"),
      (#"{"selector":{},"fields":[""]}"#, "invalidFieldName"),
      (#"{"selector":{},"use_index":["a","b","c"]}"#, "invalidIndexName"),
      (#"{"selector":{},"use_index":"a/b/c"}"#, "invalidIndexName"),
      (#"{"selector":{},"use_index":5}"#, "invalidIndexName"),
      (#"{"selector":{},"use_index":[1]}"#, "invalidIndexName"),
      (#"{"selector":{},"bookmark":5}"#, "invalidBookmark"),
      (#"{"selector":{},"conflicts":1}"#, "invalidBoolean"),
      (#"{"selector":{},"execution_stats":"true"}"#, "invalidBoolean"),
      (#"{"selector":{},"update":null}"#, "invalidBoolean"),
      (#"{"selector":{},"stable":"x"}"#, "invalidBoolean"),
      (#"{"selector":{},"stale":"no"}"#, "invalidStaleValue"),
      (#"{"selector":{},"r":0}"#, "invalidPositiveInteger"),
      (#"{"selector":{},"partition":"p"}"#, "badRequest"),
    ])
  func malformedRequestIsRefused(body: String, error: String) async throws {
    #expect(refusal { try FindRequest(json(body)) } == error)
  }

  @Test func optionsOfAClusterAreTaken() throws {
    _ = try FindRequest(
      json(
        #"""
        {"selector":{},"r":3,"stale":"ok","update":false,"stable":true,"partition":"","bookmark":null,
        "use_index":null,"allow_fallback":true}
        """#))
  }

  @Test func reasonsNameWhatIsWrong() throws {
    let call = { (body: String) in
      do {
        _ = try FindRequest(json(body))
        return ""
      } catch let error as ServiceError {
        return error.reason
      }
    }
    #expect(try call(#"{"selector":{},"foo":1}"#) == "Invalid key foo for this request.")
    #expect(try call("{}") == "Missing required key: selector")
    #expect(
      try call(#"{"selector":{},"bookmark":"bad-bookmark"}"#)
        == #"Invalid bookmark value: "bad-bookmark""#)
    #expect(
      try call(#"{"selector":{},"sort":["a",{"b":"desc"}]}"#)
        == "Sorts currently only support a single direction for all fields.")
  }

  @Test func longListsAreRefused() async throws {
    let fields = (0...QueryLimits.projectedFields).map { "\"f\($0)\"" }.joined(separator: ",")
    #expect(
      refusal { try FindRequest(json(#"{"selector":{},"fields":[\#(fields)]}"#)) }
        == "invalidFields")
    let sort = (0...QueryLimits.indexFields).map { "\"f\($0)\"" }.joined(separator: ",")
    #expect(
      refusal { try FindRequest(json(#"{"selector":{},"sort":[\#(sort)]}"#)) }
        == "invalidSortJSON")
  }
}
