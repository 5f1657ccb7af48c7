import Foundation
import PersistenceCore

/// One version of a model in a program of the fuzzer: what an app's schema and its rules say of the past.
///
/// Numbers identify fields through all versions, so that the reference model needs no names.
public struct FuzzPast: Sendable, Codable, Hashable {
  struct Field: Sendable, Codable, Hashable {
    let number: Int
    var formerNames: [String] = []
    /// The value of records from before the field.
    var fill: PersistentValue?
    /// The value that replaces nil.
    var replacement: PersistentValue?
    /// The fields whose texts make a computed value; empty if the field is not computed.
    var sources: [Name] = []
    /// Whether a rule restores the field, which an earlier version removed; nil if none does.
    var isRestored: Bool?
  }

  struct Name: Sendable, Codable, Hashable {
    let number: Int
    var name: String
    var formerNames: [String] = []
  }

  /// Earlier names of the model.
  var formerNames: [String]
  /// By position.
  var fields: [Field]
  /// The fields that a rule removes.
  var removed: [Name]
  /// The removed field that the step restores; nil if the step opens the store, or uses it.
  var restored: Name?

  init(was formerNames: [String], _ fields: [Field], removed: [Name]) {
    (self.formerNames, self.fields, self.removed) = (formerNames, fields, removed)
  }

  /// Reads a version from its JSON, as the source of a test contains it.
  ///
  /// - Parameter json: The text.
  /// - Throws: `DecodingError` if the text is not a version.
  public init(json: String) throws {
    self = try JSONDecoder().decode(FuzzPast.self, from: Data(json.utf8))
  }

  /// The version as JSON.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

extension FuzzStep {
  /// The version of the program that runs the step; nil if the step is not about versions.
  var past: FuzzPast? {
    if case .declared(let words, _) = self { words.past } else { nil }
  }
}

extension FuzzProgram {
  /// Whether the steps are those of versions of an app, which remember the past in the store's ledger.
  var isVersioned: Bool { steps.contains { $0.past != nil } }
}
