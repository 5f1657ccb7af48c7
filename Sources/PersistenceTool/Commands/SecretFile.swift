#if CommandLineTool && HTTP
  import Foundation

  /// The permissions of a file with a secret.
  enum SecretFile {
    /// Warns if the group or all users may read a file; the system may not say.
    static func check(_ file: String, of secret: String, _ warn: (String) throws -> Void) rethrows {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      guard let permissions = attributes?[.posixPermissions] as? NSNumber, permissions.intValue & 0o044 != 0
      else { return }
      try warn("warning: other users can read \(secret) in \(file); run: chmod 600 \(file)")
    }
  }
#endif
