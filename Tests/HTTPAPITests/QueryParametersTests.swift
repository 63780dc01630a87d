import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct QueryParametersTests {
  private static let known = ["limit", "a"]

  @Test(
    arguments: [
      (nil, nil), ("", nil), ("a=1", "1"), ("a=", ""), ("a", ""), ("a=b=c", "b=c"), ("%61=1", "1"),
      ("&&a=1&", "1"), ("a=x+y", "x y"), ("a=x%2By", "x+y"), ("a=%C3%A9", "\u{E9}"),
      ("limit=1", nil),
    ] as [(String?, String?)])
  func queryIsDecoded(query: String?, value: String?) throws {
    #expect(try QueryParameters(query, known: Self.known)["a"] == value)
  }

  @Test(arguments: [
    ("b=1", "unknown_parameter"), ("A=1", "unknown_parameter"), ("=1", "unknown_parameter"),
    ("a=1&a=1", "invalid_parameter"), ("a=1&%61=2", "invalid_parameter"), ("a=%zz", "invalid_uri"),
    ("a=%00", "invalid_uri"), ("a=%ff", "invalid_uri"), ("%f=1", "invalid_uri"),
  ])
  func queryThatIsWrongIsRefused(query: String, error: String) throws {
    let problem = try #require(throws: Problem.self) {
      try QueryParameters(query, known: Self.known)
    }
    #expect(problem.status == .badRequest)
    #expect(problem.error == error)
  }

  @Test func unknownNameIsAnsweredWithTheKnownOnes() throws {
    let problem = try #require(throws: Problem.self) {
      try QueryParameters("colour=red", known: Self.known)
    }
    #expect(problem.reason.contains("limit, a"))
  }

  @Test(
    arguments: [
      (nil, 20), ("limit=1", 1), ("limit=100", 100), ("limit=007", 7), ("limit=", nil),
      ("limit=0", nil), ("limit=101", nil), ("limit=-1", nil), ("limit=+1", nil),
      ("limit=1.0", nil),
      ("limit=1e1", nil), ("limit=9223372036854775808", nil), ("limit=%D9%A1", nil),
    ] as [(String?, Int?)])
  func wholeNumbersHaveBounds(query: String?, value: Int?) throws {
    let parameters = try QueryParameters(query, known: Self.known)
    let read = Result { try parameters.int("limit", in: 1...100, default: 20) }
    #expect((try? read.get()) == value)
  }

  @Test func textsHaveALength() throws {
    let parameters = try QueryParameters("a=%C3%A9%C3%A9", known: Self.known)
    #expect(try parameters.text("a", maximumBytes: 4) == "\u{E9}\u{E9}")
    #expect(throws: Problem.self) { try parameters.text("a", maximumBytes: 3) }
    #expect(try parameters.text("limit", maximumBytes: 1) == nil)
  }
}
