import Crypto
import Documents

extension UserName {
  /// The name of whom another issuer means: a hash of both, so that two issuers' same subject are two people, and
  /// a name tells nothing of either.
  init(issuer: String, subject: String) {
    // The length before the issuer keeps the two apart.
    let text = "\(issuer.utf8.count):\(issuer)\(subject)"
    self.init(issuedDigits: Hex.string(Array(SHA256.hash(data: Array(text.utf8)))))
  }
}
