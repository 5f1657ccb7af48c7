import PersistenceDriver

/// Words as a shell reads them.
enum ShellText {
  /// A word in quotation marks where a shell would read it otherwise.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || "-_./:=,@%+".utf8.contains(byte)
      }
    return isPlain ? word : "'" + Substring(word).parts("'").joined(separator: "'\\''") + "'"
  }
}
