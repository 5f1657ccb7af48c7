/// A reader of bytes that others wrote, with the properties that it has for every input.
///
/// `make fuzz-coverage` runs a target under libFuzzer, and the tests run it over its corpus.
struct FuzzTarget: Sendable {
  /// The name of the target, and of the folder with its corpus.
  let name: String
  /// Inputs that the reader accepts, from which the fuzzer starts.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Reads an input; throws ``FuzzFailure``, or an error that the reader does not document, if a property does not hold.
  let run: @Sendable (UnsafeRawBufferPointer) throws -> Void
}

extension FuzzTarget {
  static let all: [FuzzTarget] = [
    rows, keys, catalog, json, records, journal, index, tokens, conditions, predicates, batches, csv, ndjson,
    urls,
  ]
}

/// A property that does not hold for an input.
struct FuzzFailure: Error, CustomStringConvertible {
  let description: String
}

/// Throws a failure unless a property holds.
func require(_ holds: Bool, _ property: @autoclosure () -> String) throws {
  guard holds else { throw FuzzFailure(description: property()) }
}

/// The result of a reader; nil if the reader refuses the input with an error of its documented type.
func accepted<Result, Failure: Error>(_: Failure.Type, _ body: () throws -> Result) throws -> Result? {
  do {
    return try body()
  } catch is Failure {
    return nil
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes after the first one, which selects what the target does with them.
  var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: dropFirst()) }

  /// The bytes as text; nil if they are not UTF-8.
  var text: String? { String(validating: self, as: UTF8.self) }
}
