import Testing

@testable import HotelBookmarks

@Suite struct SettingKeyTests {
  @Test func namesFollowTheConventions() {
    let names = SettingKey.allCases.map { [$0.rawValue, $0.flagName, $0.environmentName] }
    #expect(
      names == [
        ["hostname", "hostname", "HOTEL_BOOKMARKS_HOSTNAME"],
        ["port", "port", "HOTEL_BOOKMARKS_PORT"],
        ["operationsPort", "operations-port", "HOTEL_BOOKMARKS_OPERATIONS_PORT"],
        ["couchPort", "couch-port", "HOTEL_BOOKMARKS_COUCH_PORT"],
        ["data", "data", "HOTEL_BOOKMARKS_DATA"],
        ["database", "database", "HOTEL_BOOKMARKS_DATABASE"],
        [
          "databasePasswordFile", "database-password-file",
          "HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE",
        ],
        [
          "databaseConnections", "database-connections", "HOTEL_BOOKMARKS_DATABASE_CONNECTIONS",
        ],
        ["upstream", "upstream", "HOTEL_BOOKMARKS_UPSTREAM"],
        [
          "upstreamCredentialsFile", "upstream-credentials-file",
          "HOTEL_BOOKMARKS_UPSTREAM_CREDENTIALS_FILE",
        ],
        ["upstreamNetworks", "upstream-networks", "HOTEL_BOOKMARKS_UPSTREAM_NETWORKS"],
        ["upstreamCaFile", "upstream-ca-file", "HOTEL_BOOKMARKS_UPSTREAM_CA_FILE"],
        [
          "upstreamMilliseconds", "upstream-milliseconds", "HOTEL_BOOKMARKS_UPSTREAM_MILLISECONDS",
        ],
        ["searchMilliseconds", "search-milliseconds", "HOTEL_BOOKMARKS_SEARCH_MILLISECONDS"],
        ["publicUrl", "public-url", "HOTEL_BOOKMARKS_PUBLIC_URL"],
        ["origins", "origins", "HOTEL_BOOKMARKS_ORIGINS"],
        ["trustedProxies", "trusted-proxies", "HOTEL_BOOKMARKS_TRUSTED_PROXIES"],
        [
          "tlsCertificateFile", "tls-certificate-file", "HOTEL_BOOKMARKS_TLS_CERTIFICATE_FILE",
        ],
        ["tlsKeyFile", "tls-key-file", "HOTEL_BOOKMARKS_TLS_KEY_FILE"],
        ["connections", "connections", "HOTEL_BOOKMARKS_CONNECTIONS"],
        [
          "connectionsPerAddress", "connections-per-address",
          "HOTEL_BOOKMARKS_CONNECTIONS_PER_ADDRESS",
        ],
        ["requestsAtOnce", "requests-at-once", "HOTEL_BOOKMARKS_REQUESTS_AT_ONCE"],
        ["overloadMilliseconds", "overload-milliseconds", "HOTEL_BOOKMARKS_OVERLOAD_MILLISECONDS"],
        ["requestSeconds", "request-seconds", "HOTEL_BOOKMARKS_REQUEST_SECONDS"],
        [
          "requestProcessorMilliseconds", "request-processor-milliseconds",
          "HOTEL_BOOKMARKS_REQUEST_PROCESSOR_MILLISECONDS",
        ],
        ["guestsPerHour", "guests-per-hour", "HOTEL_BOOKMARKS_GUESTS_PER_HOUR"],
        ["guestBytesPerDay", "guest-bytes-per-day", "HOTEL_BOOKMARKS_GUEST_BYTES_PER_DAY"],
        ["guestOverallBytes", "guest-overall-bytes", "HOTEL_BOOKMARKS_GUEST_OVERALL_BYTES"],
        ["ownedListBytes", "owned-list-bytes", "HOTEL_BOOKMARKS_OWNED_LIST_BYTES"],
        ["keptBytes", "kept-bytes", "HOTEL_BOOKMARKS_KEPT_BYTES"],
        ["issuers", "issuers", "HOTEL_BOOKMARKS_ISSUERS"],
        ["issuerKeys", "issuer-keys", "HOTEL_BOOKMARKS_ISSUER_KEYS"],
        ["issuerNetworks", "issuer-networks", "HOTEL_BOOKMARKS_ISSUER_NETWORKS"],
        [
          "replicationNetworks", "replication-networks", "HOTEL_BOOKMARKS_REPLICATION_NETWORKS",
        ],
        ["openStores", "open-stores", "HOTEL_BOOKMARKS_OPEN_STORES"],
        ["databaseDocuments", "database-documents", "HOTEL_BOOKMARKS_DATABASE_DOCUMENTS"],
        ["databaseBytes", "database-bytes", "HOTEL_BOOKMARKS_DATABASE_BYTES"],
        [
          "databaseDocumentBytes", "database-document-bytes",
          "HOTEL_BOOKMARKS_DATABASE_DOCUMENT_BYTES",
        ],
        ["databaseTreeBytes", "database-tree-bytes", "HOTEL_BOOKMARKS_DATABASE_TREE_BYTES"],
        ["tombstoneDays", "tombstone-days", "HOTEL_BOOKMARKS_TOMBSTONE_DAYS"],
        ["backups", "backups", "HOTEL_BOOKMARKS_BACKUPS"],
        ["backupEvery", "backup-every", "HOTEL_BOOKMARKS_BACKUP_EVERY"],
        ["backupKeep", "backup-keep", "HOTEL_BOOKMARKS_BACKUP_KEEP"],
        ["audit", "audit", "HOTEL_BOOKMARKS_AUDIT"],
        ["adminName", "admin-name", "HOTEL_BOOKMARKS_ADMIN_NAME"],
        [
          "adminPasswordFile", "admin-password-file", "HOTEL_BOOKMARKS_ADMIN_PASSWORD_FILE",
        ],
        ["logLevel", "log-level", "HOTEL_BOOKMARKS_LOG_LEVEL"],
        ["logFormat", "log-format", "HOTEL_BOOKMARKS_LOG_FORMAT"],
        ["showCost", "show-cost", "HOTEL_BOOKMARKS_SHOW_COST"],
        ["drainSeconds", "drain-seconds", "HOTEL_BOOKMARKS_DRAIN_SECONDS"],
      ])
  }
}
