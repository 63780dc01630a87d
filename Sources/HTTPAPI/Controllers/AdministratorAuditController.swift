import Accounts
import Documents
import Hummingbird
import JSON

/// The audit log, for the administrator.
struct AdministratorAuditController: Sendable {
  let accounts: AccountService

  var routes: [Route] {
    [
      .administrator(.get, "/v1/admin/audit") { call in
        let query = try call.query("since", "newest", "after")
        let since = try query["since"].map { text throws(Problem) in
          guard let time = Timestamp(rfc3339: text) else {
            throw Problem(
              .badRequest, "invalid_parameter", "since must be a time, as 2026-11-28T00:00:00Z")
          }
          return time
        }
        guard ["true", "false", nil].contains(query["newest"]) else {
          throw Problem(.badRequest, "invalid_parameter", "newest must be true or false")
        }
        let page = try await accounts.audit(
          since: since, newest: query["newest"] == "true",
          after: try query.text("after", maximumBytes: 128))
        return .json { writer in
          writer.member("kept", accounts.audit.mode.rawValue)
          writer.name("entries")
          writer.beginArray()
          for line in page.lines { writer.raw(line) }
          writer.endArray()
          if let next = page.next { writer.member("next", next) }
        }
      }
    ]
  }
}
