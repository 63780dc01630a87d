import TestSupport
import Testing

@testable import HotelBookmarks

@Suite struct ControlTests {
  @Test func linesAreReadBack() {
    let lines: [ControlLine] = [
      .progress(done: 3, of: 9), .finding(file: "stores/ab", reason: "a \"b\"\nc"),
      .result(message: "3 files", isDamaged: true), .failure("no"),
      .failure("set it", isConfiguration: true), .text("a: b"),
    ]
    for line in lines {
      #expect(line.bytes.count { $0 == 0x0A } == 1)
      #expect(ControlLine(line.bytes) == line)
    }
    for request in [
      ControlPeer.Request.backup(to: "/a b/ü"), .verify, .repair, .user(.list), .user(.delete("ä")),
      .user(.add(name: "n", password: "p\n\"")), .user(.changePassword(name: "n", password: "")),
      .user(.resetPassword(name: "n")), .move(to: "postgres://db/x", password: nil),
      .move(to: "postgresql://db/x", password: "p\n\""),
      .replace(store: "user/ab", from: "/a b"), .replace(store: "stores/ab", from: nil),
    ] {
      #expect(ControlPeer.Request(request.line) == request)
    }
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"do":"backup"}"#, #"{"do":"backup","to":"relative"}"#, #"{"do":"erase"}"#,
    #"{"do":"verify","to":"/x"}"#, #"{"do":1}"#, #"{"do":"user add","name":"n"}"#,
    #"{"do":"user delete"}"#, #"{"do":"move"}"#, #"{"do":"move","to":"/x"}"#,
    #"{"do":"replace","from":"/x"}"#,
  ])
  func otherRequestsAreNotKnown(text: String) {
    #expect(ControlPeer.Request(Array((text + "\n").utf8)) == nil)
  }

  @Test func aSocketIsReachedThroughALongPath() async throws {
    let directory = try TemporaryDirectory()
    for name in ["short", String(repeating: "long", count: 20)] {
      let path = directory.path + "/" + name
      let opened = ControlSocket.listen(at: path)
      let socket = try #require(opened.descriptor, "\(opened.failure)")
      let client = try #require(ControlSocket.connect(to: path))
      ControlPeer(descriptor: client).close()
      ControlPeer(descriptor: socket).close()
      #expect(ControlSocket.connect(to: path) == nil)
    }
    #expect(ControlSocket.connect(to: directory.path + "/nobody") == nil)
  }
}
