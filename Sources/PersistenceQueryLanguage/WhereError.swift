/// An error in a condition, with its position.
package struct WhereError: Error, Equatable {
  /// The reason and the correction.
  package let message: String
  /// The number of scalars before the error.
  package let position: Int

  /// The message, the surrounding part of the condition, and a caret under the error.
  package func explanation(of condition: String) -> String {
    let contextLength = 60
    // Control characters would move the caret and the terminal's cursor.
    let scalars = condition.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : String($0) }
    let start = max(0, position - contextLength)
    let end = min(scalars.count, position + contextLength)
    let before = (start > 0 ? "…" : "") + scalars[start..<min(position, end)].joined()
    let after = scalars[min(position, end)..<end].joined() + (end < scalars.count ? "…" : "")
    let caret = String(repeating: " ", count: before.count) + "^"
    return "at character \(position + 1) of the condition: \(message)\n  \(before)\(after)\n  \(caret)"
  }
}
