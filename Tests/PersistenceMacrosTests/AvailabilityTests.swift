import Foundation
import Testing

@Suite("Availability of the extension")
struct AvailabilityTests {
  @Test("the extension has the availability of the model and its enclosing types")
  func availability() {
    let body = "{\n  var id: Int\n}"
    #expect(attributes("@Persistent\nstruct A \(body)").isEmpty)
    #expect(
      attributes(
        "@available(macOS 26, iOS 26, *)\n@Persistent\n@available(*, deprecated)\npublic struct A \(body)")
        == ["@available(macOS 26, iOS 26, *)", "@available(*, deprecated)"])
    #expect(
      attributes("@Persistent @MainActor @available(macOS, introduced: 26) @frozen struct A \(body)")
        == ["@available(macOS, introduced: 26)"])
    let nested = "@available(macOS 25, iOS 25, *) @MainActor enum Outer {\n@Persistent"
    #expect(attributes("\(nested) struct A \(body)\n}") == ["@available(macOS 25, iOS 25, *)"])
    #expect(
      attributes("\(nested) @available(macOS 26, *) struct A \(body)\n}")
        == ["@available(macOS 26, *)", "@available(macOS 25, iOS 25, *)"])
    #expect(
      attributes("\(nested) @available(iOS 26, macOS 26, *) struct A \(body)\n}")
        == ["@available(iOS 26, macOS 26, *)"])
    #expect(
      attributes("@available(*, unavailable) extension Outer {\n@Persistent struct A \(body)\n}")
        == ["@available(*, unavailable)"])
    #expect(
      attributes("#if os(macOS)\n@available(macOS 26, *)\n#endif\n@Persistent\nstruct A \(body)")
        == ["#if os(macOS)", "@available(macOS 26, *)", "#endif"])
  }

  /// The attributes before the extension.
  private func attributes(_ source: String) -> [String] {
    let lines = expansion(of: source).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    guard let place = lines.firstIndex(where: { $0.hasPrefix("nonisolated extension") }) else { return [] }
    let before = lines[..<place].reversed().prefix { $0.hasPrefix("@") || $0.hasPrefix("#") }
    return before.reversed()
  }
}
