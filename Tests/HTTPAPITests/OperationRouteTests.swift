import Documents
import HTTPTypes
import Hotels
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

@Suite struct OperationRouteTests {
  @Test func everyLimitHasAUnit() async throws {
    try await APIFixture.open { api in
      let limits = try await api.call(.get, "/v1/limits").json["limits"]?.array ?? []
      let names = limits.compactMap { $0["name"]?.string }
      #expect(Set(names).count == limits.count)
      for limit in limits {
        #expect(limit["unit"]?.string?.isEmpty == false)
        #expect((limit["value"]?.int ?? 0) > 0)
      }
      let values = Dictionary(
        uniqueKeysWithValues: limits.map { ($0["name"]?.string ?? "", $0["value"]?.int ?? 0) })
      let some = [
        "documentBytes": JSONLimits.document.maximumBytes,
        "documentIDBytes": DocumentID.maximumBytes,
        "guestDocuments": Int(StoreLimits.guest.documents),
        "storeBytes": Int(StoreLimits.full.bytes), "hotelBytes": BookmarkLimits.hotelBytes,
        "batchItems": BookmarkLimits.batchItems, "searchLimit": HotelQuery.maximumLimit,
        "uriBytes": RequestTarget.maximumBytes,
      ]
      for (name, value) in some { #expect(values[name] == value, "\(name)") }
    }
  }

  @Test func readinessTellsStoresFromUpstream() async throws {
    try await APIFixture.open { api in
      let ready = try await api.call(.get, "/readyz")
      #expect(ready.status == 200)
      #expect(
        ready.text
          == #"{"status":"ready","stores":"writable","writes":true,"upstream":"available"}"#)
      api.search.fail(with: .unavailable)
      let degraded = try await api.call(.get, "/readyz")
      #expect(degraded.status == 200)
      #expect(degraded["status"] == "degraded")
      #expect(degraded["upstream"] == "The search fails")
      api.engine.setReadOnly(true)
      let unavailable = try await api.call(.get, "/readyz")
      #expect(unavailable.status == 503)
      #expect(unavailable["status"] == "unavailable")
    }
  }

  @Test func operatorsAndTheCuriousAreAnswered() async throws {
    try await APIFixture.open { api in
      #expect(try await api.call(.get, "/healthz")["status"] == "alive")
      let metrics = try await api.call(.get, "/metrics")
      #expect(metrics.text == "stores_open 0\n")
      #expect(metrics.headers[.contentType]?.contains("version=0.0.4") == true)
      #expect(try await api.call(.get, "/openapi.yaml").text == APIFixture.contract)
    }
  }

  @Test func damagedStoreIsNeverAnEmptyOne() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let id = try #require(try await api.call(.get, "/v1/me", token: token)["id"])
      api.engine.setDamaged(.guest(try #require(AccountID(id))))
      for (method, path) in [
        (HTTPRequest.Method.get, "/v1/bookmarks"), (.get, "/v1/bookmarks/a"), (.get, "/v1/me"),
        (.put, "/v1/bookmarks/a"), (.delete, "/v1/bookmarks/a"), (.get, "/v1/hotels/a"),
      ] {
        let reply = try await api.call(
          method, path, token: token, body: method == .put ? "{}" : nil)
        #expect(reply.status == 503, "\(path)")
        #expect(reply.error == "store_damaged", "\(path)")
      }
    }
  }

  @Test(arguments: [
    (ServiceError.Code.storageFull, 507, "insufficient_storage"), (.overloaded, 429, "overloaded"),
    (.readOnly, 503, "read_only"), (.storage, 503, "storage_error"),
    (.integrity, 500, "integrity_error"),
  ])
  func failedWriteIsSaid(code: ServiceError.Code, status: Int, error: String) async throws {
    let writes: [(HTTPRequest.Method, String, String?)] = [
      (.put, "/v1/bookmarks/b", "{}"), (.delete, "/v1/bookmarks/a", nil),
      (.post, "/v1/bookmarks", #"{"remove":["a"]}"#),
    ]
    for (method, path, body) in writes {
      try await APIFixture.open { api in
        let token = try await api.guest()
        try await api.bookmark("a", token)
        let id = try #require(try await api.call(.get, "/v1/me", token: token)["id"])
        let store = StoreName.guest(try #require(AccountID(id)))
        api.engine.failWrites(to: store, with: ServiceError(code, "why", detail: "secret detail"))
        let reply = try await api.call(method, path, token: token, body: body)
        #expect(reply.status == status, "\(path)")
        #expect(reply.error == error, "\(path)")
        #expect(!reply.text.contains("secret detail"))
        #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["a"])
      }
    }
  }
}
