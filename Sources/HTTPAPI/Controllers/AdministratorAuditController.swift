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
            throw Problem.invalidParameter("since must be a time, as 2026-11-28T00:00:00Z")
          }
          return time
        }
        let page = try await accounts.audit(
          since: since, newest: try query.isSet("newest"),
          after: try query.text("after", maximumBytes: 128))
        return .json { writer in
          writer.member("kept", accounts.audit.mode.rawValue)
          writer.array("entries", of: page.lines) { $1.raw($0) }
          if let next = page.next { writer.member("next", next) }
        }
      }
    ]
  }
}
