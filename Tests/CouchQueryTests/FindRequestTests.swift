import CouchQuery
import Stores
import Testing

struct FindRequestTests {
  @Test(
    arguments: [
      ("{}", "missing_required_key"), (#"{"selector":5}"#, "invalid_selector_json"),
      (#"{"selector":{},"x":1}"#, "invalid_key"),
      (#"{"selector":{},"limit":-1}"#, "invalid_non_neg_integer"),
      (#"{"selector":{},"limit":1.5}"#, "invalid_non_neg_integer"),
      (#"{"selector":{},"limit":null}"#, "invalid_non_neg_integer"),
      (#"{"selector":{},"skip":"1"}"#, "invalid_non_neg_integer"),
      (#"{"selector":{},"sort":"a"}"#, "invalid_sort_json"),
      (#"{"selector":{},"sort":[2]}"#, "invalid_sort_field"),
      (#"{"selector":{},"sort":[""]}"#, "invalid_sort_field"),
      (#"{"selector":{},"sort":[{"a":"up"}]}"#, "invalid_sort_field"),
      (#"{"selector":{},"sort":[{"a":"asc","b":"asc"}]}"#, "invalid_sort_field"),
      (#"{"selector":{},"sort":[{"a":"asc"},{"b":"desc"}]}"#, "unsupported_mixed_sort"),
      (#"{"selector":{},"sort":["a..b"]}"#, "invalid_field_name"),
      (#"{"selector":{},"fields":"a"}"#, "invalid_fields"),
      (#"{"selector":{},"fields":[1]}"#, "invalid_field"),
      (#"{"selector":{},"fields":[""]}"#, "invalid_field_name"),
      (#"{"selector":{},"use_index":["a","b","c"]}"#, "invalid_index_name"),
      (#"{"selector":{},"use_index":"a/b/c"}"#, "invalid_index_name"),
      (#"{"selector":{},"use_index":5}"#, "invalid_index_name"),
      (#"{"selector":{},"use_index":[1]}"#, "invalid_index_name"),
      (#"{"selector":{},"bookmark":5}"#, "invalid_bookmark"),
      (#"{"selector":{},"conflicts":1}"#, "invalid_boolean"),
      (#"{"selector":{},"execution_stats":"true"}"#, "invalid_boolean"),
      (#"{"selector":{},"update":null}"#, "invalid_boolean"),
      (#"{"selector":{},"stable":"x"}"#, "invalid_boolean"),
      (#"{"selector":{},"stale":"no"}"#, "invalid_ok_or_false_value"),
      (#"{"selector":{},"r":0}"#, "invalid_pos_integer"),
      (#"{"selector":{},"partition":"p"}"#, "bad_request"),
    ])
  func malformedRequestIsRefusedInCouchDBsWords(body: String, error: String) async throws {
    #expect(refusal { try FindRequest(json(body)) } == "400 \(error)")
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
        == "400 invalid_fields")
    let sort = (0...QueryLimits.indexFields).map { "\"f\($0)\"" }.joined(separator: ",")
    #expect(
      refusal { try FindRequest(json(#"{"selector":{},"sort":[\#(sort)]}"#)) }
        == "400 invalid_sort_json")
  }
}
