import PersistenceMigration

/// Prints the comparison of a model in two stores.
struct ComparisonPrinter {
  let output: ByteOutput

  func print(_ model: ComparisonReport.Model) throws {
    let name = TerminalText.safe(model.name)
    switch model.presence {
    case .onlyLeft: return try output.line("- \(name): \(model.onlyLeft) records, only in A")
    case .onlyRight: return try output.line("+ \(name): \(model.onlyRight) records, only in B")
    case .both: break
    }
    guard !model.isEqual else {
      let digest = model.left.map { String($0.digest.description.prefix(16)) } ?? ""
      return try output.line("= \(name): \(model.unchanged) records, digest \(digest)")
    }
    try output.line(
      "* \(name): \(model.unchanged) equal, \(model.onlyLeft) only in A, \(model.onlyRight) only in B, "
        + "\(model.changed) changed")
    for line in model.schemaDifferences { try output.line("  schema: \(TerminalText.safe(line))") }
    if !model.isComparedByKey {
      try output.line("  the primary keys differ, so only counts and digests were compared")
      if let left = model.left, let right = model.right {
        try output.line("  A: \(left.count) records, digest \(left.digest)")
        try output.line("  B: \(right.count) records, digest \(right.digest)")
      }
    }
    for difference in model.differences {
      try output.line("  \(difference.kind.rawValue) \(TerminalText.safe("\(difference.key)"))")
      for field in difference.fields {
        try output.line(
          "      \(TerminalText.safe(field.name)): \(TerminalText.safe(field.left)) in A, "
            + "\(TerminalText.safe(field.right)) in B")
      }
    }
    let hidden = model.differenceCount - model.differences.count
    if hidden > 0 { try output.line("  … and \(hidden) more") }
  }
}
