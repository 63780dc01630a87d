/// The limits of lists. `GET /v1/limits` shows them.
package enum ListLimits {
  /// The most lists that one account has made and is on. A list that was handed on to it does not count here.
  package static let owned = 100
  /// The most lists that one account has joined.
  package static let joined = 200
  /// The most lists of which one account is a member.
  package static let perAccount = owned + joined
  /// The most bytes of all lists of one owner, unless an operator sets another number: 1 GiB.
  package static let ownedBytes: Int64 = 1 << 30
  /// The most members of a list, the owner included.
  package static let members = 1_000
  /// The most open invitations of a list.
  package static let openInvitations = 100
  /// The most invitations of a list that are known after they were used or withdrawn, or have expired.
  static let endedInvitations = 100
  /// The most links that show a list.
  package static let links = 20
  /// The most hotels and notes of one answer to such a link.
  package static let linkPage = 100
  /// The most open invitations of one account by name. Beyond, the oldest goes of whoever made most.
  package static let openToAccount = 50
  /// The most accounts whose invitations one account does not see.
  package static let blockedInviters = 1_000
  /// The most bytes of a list's title that an invitation by name shows.
  package static let invitationTitleBytes = 64
  /// The most drafts of one member on a list.
  package static let drafts = 200
  /// The most bytes of one member's drafts on a list: 4 MiB. They are read together.
  package static let draftBytes = 4 << 20
  /// How often a text is merged anew, because others have changed it meanwhile, before the writer is told.
  static let mergeAttempts = 64
  /// A page of notes ends once it has this many bytes: 1 MiB.
  package static let pageBytes = 1 << 20
  /// A page of lists ends once their titles, descriptions and members have this many bytes: 512 KiB.
  package static let listPageBytes = 512 << 10
  /// How many bytes a member counts for on a page of lists. To read a member takes as long as to read a text of this length.
  package static let memberPageBytes = 1 << 10
  /// The most lists or notes in one answer.
  package static let page = 50
  /// The most bytes of a list's or a note's title.
  package static let titleBytes = 256
  /// The most bytes of a list's description or of a note, in markdown: 256 KiB.
  package static let markdownBytes = 256 << 10
  /// How long an invitation is open when the owner does not say, in seconds: 7 days.
  package static let invitationSeconds: Int64 = 7 * 86_400
  /// How long a list stays without an owner, in seconds: 30 days.
  static let ownerlessSeconds: Int64 = 30 * 86_400
  /// How long it is known that an account was on a list, in seconds: 90 days.
  static let leftSeconds: Int64 = 90 * 86_400
  /// The longest time that an invitation may be open, in seconds: 30 days.
  package static let longestInvitationSeconds: Int64 = 30 * 86_400
}
