import Glibc
import HTTPTypes
import Hummingbird
import NIOCore

/// The ceiling for the server's reads: Hummingbird with one route, no middleware and a constant answer.
///
/// Arguments: the port, and the number of bytes of an answer. The header fields are those of a document.
@main
struct EmptyHandler {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard let port = arguments.first, let count = arguments.last, arguments.count == 2, count >= 0
    else { return print("usage: empty-handler PORT BYTES") }
    let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: count)
    let fields: HTTPFields = [
      .contentType: "application/json", .cacheControl: "must-revalidate",
      .eTag: "\"1-0123456789abcdef0123456789abcdef\"", .xContentTypeOptions: "nosniff",
    ]
    let router = Router()
    router.get("/couch/{db}/{docid}") { _, _ in
      Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: body))
    }
    try await Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in
        print("at http://127.0.0.1:\(channel.localAddress?.port ?? port)")
        fflush(nil)
      }
    ).run()
  }
}
