import Foundation
import PersistenceCore

/// Changed copies of a store, which one worker process opens in turn: it may crash or hang.
struct StoreVariants {
  /// A change of one file.
  struct Variant {
    /// The file, relative to the store's folder.
    let file: String
    /// The change, in words.
    let name: String
    /// Changes the file's bytes.
    let apply: (Data) -> Data
  }

  /// The answer of the worker to one copy.
  struct Answer {
    let variant: Variant
    /// The first word: `digest`, `error`, `untyped`, `kept` or `lost:`.
    let kind: String
    let text: String

    /// The change and the answer, for messages.
    var description: String { "\(variant.file), \(variant.name): \(text)" }
  }

  let original: StoreUnderTest
  let variants: [Variant]

  /// Opens each changed copy in a worker, with a mode of its command `examine`, and returns its answers.
  ///
  /// A worker that crashes, or does not answer within half a minute, is a failure.
  func examine(_ mode: String = "read", file: StaticString = #fileID, line: UInt = #line) throws -> [Answer] {
    let root = original.folder.deletingLastPathComponent().appendingPathComponent("variants-\(mode)")
    try? FileManager.default.removeItem(at: root)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    for (number, variant) in variants.enumerated() {
      let copy = root.appendingPathComponent("\(number)")
      try FileManager.default.copyItem(at: original.folder, to: copy)
      let target = copy.appendingPathComponent(variant.file)
      try variant.apply(Data(contentsOf: target)).write(to: target)
    }
    let worker = try StoreUnderTest(original.context, folder: root).worker(
      "examine", "\(variants.count)", mode)
    defer { worker.kill() }
    return try variants.enumerated().map { number, variant in
      do {
        let text = try worker.wait(for: "end \(number).", seconds: 30)
        return Answer(variant: variant, kind: String(text.prefix { $0 != " " }), text: text)
      } catch {
        throw ConformanceFailure(
          "\(variant.file), \(variant.name)", expected: "the records, or a typed error",
          found: "the process crashed or hung; \(error)", file: file, line: line)
      }
    }
  }
}
