/// What is wrong with a condition, and where.
package struct WhereError: Error, Equatable {
  /// What is wrong and what would be right.
  package let message: String
  /// How many scalars stand before the place.
  package let position: Int

  /// The message, the part of the condition around the place, and a mark under the place.
  package func explanation(of condition: String) -> String {
    let reach = 60
    // Control characters would move the mark and might move the terminal's cursor.
    let scalars = condition.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : String($0) }
    let start = max(0, position - reach)
    let end = min(scalars.count, position + reach)
    let before = (start > 0 ? "…" : "") + scalars[start..<min(position, end)].joined()
    let after = scalars[min(position, end)..<end].joined() + (end < scalars.count ? "…" : "")
    let mark = String(repeating: " ", count: before.count) + "^"
    return "at character \(position + 1) of the condition: \(message)\n  \(before)\(after)\n  \(mark)"
  }
}
