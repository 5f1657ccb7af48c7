public import PersistenceCore
import PersistenceDriverSupport
import PersistencePrimitives

/// Opens stores of every release with the code of today, on every engine.
///
/// ```swift
/// @Test func releases() async throws {
///   try await EvolutionTester(Shop.self, in: "Schemas").run(on: [.memory, .sqlite, .lmdb]) { repository in
///     #expect(try repository.filter(Film.self, where: \.budget >= 0).count() > 0)
///   }
/// }
/// ```
///
/// `SchemaHistory` keeps the releases, in files such as `Schemas/released/1.4.0.json`. For each release, the tester makes
/// a store with the edge values of each kind and with random values. It opens the store with the schema, directly and
/// by way of later releases, and compares each field that no rule computes, bit for bit. On engines with files, it also
/// continues from the files that a kill would leave at each step of the opening. It opens each store twice: the second
/// opening must write nothing.
///
/// A model that a ``EvolutionRule/step(making:run:)`` writes is not compared, and neither are computed properties: your
/// closure can check them. Opening by way of a release whose rules computed values is skipped, because only that
/// release's code can compute them.
public struct EvolutionTester {
  private let schema: any StoreSchema.Type
  private let history: SchemaHistory
  private let values: [String: [PersistentValue]]
  private let seed: UInt64

  /// Creates a tester.
  ///
  /// - Parameters:
  ///   - schema: The models, and the rules of their evolution.
  ///   - folder: The folder of the files, as `SchemaHistory` takes it.
  ///   - values: The values of fields for which not every value of the kind is valid, by the names of the model and the
  ///     field in a release or now: `["Movie.length": ["1:57"], "Film.rating": ["PG", "R"]]`. A nested value is given as
  ///     its JSON: `["Film.cast": ["[]", "[\"Weaver\"]"]]`.
  ///   - seed: The seed of random values; the same seed gives the same stores.
  ///   - file: The calling file.
  public init(
    _ schema: any StoreSchema.Type, in folder: String,
    values: [String: [any PersistentValueConvertible]] = [:], seed: UInt64 = 1, file: String = #filePath
  ) {
    self.schema = schema
    self.seed = seed
    history = SchemaHistory(of: schema, in: folder, file: file)
    self.values = values.mapValues { $0.map { FuzzValue.stored($0.persistentValue) } }
  }

  /// Tests all releases on all engines.
  ///
  /// The stores are in temporary folders. A release of a few models takes a fraction of a second on each engine.
  ///
  /// - Parameters:
  ///   - engines: The engines.
  ///   - body: Checks one opened store; called once for each release and engine.
  /// - Throws: ``ConformanceFailure`` that names the release, the engine, the model, the field and the values that
  ///   differ, or contains the error of an opening or of the closure; ``PersistenceError`` with code
  ///   ``PersistenceError/Code/invalidRequest`` if no release is recorded, or `values` names no released field.
  public func run(on engines: [StorageEngine], _ body: (Repository) async throws -> Void = { _ in })
    async throws
  {
    let releases = try history.releases()
    let present = try history.document()
    let values = try givenValues(releases, present)
    for engine in engines {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      let context = ContextUnderTest(engine: engine).standing(in: scratch)
      for (number, release) in releases.enumerated() {
        let repository = try ReleaseTrial(
          schema: schema, present: present, release: release, later: Array(releases[(number + 1)...]),
          context: context, values: values, seed: seed
        ).run()
        do {
          try await body(repository)
        } catch {
          throw ConformanceFailure(
            "release \(release.version) on \(engine.scheme)", expected: "the closure returns",
            found: "\(error)", file: #fileID, line: #line)
        }
        try repository.close()
      }
    }
  }

  /// The values of fields, those of documents from their JSON.
  private func givenValues(_ releases: [ReleaseTrial.Release], _ present: SchemaDocument) throws
    -> [String: [PersistentValue]]
  {
    guard !releases.isEmpty else {
      throw PersistenceError.invalidRequest(
        "the history of \(schema) contains no release; record one with SchemaHistory.record(as:)")
    }
    var fieldsByName: [String: [FieldSchema]] = [:]
    for (number, release) in releases.enumerated() {
      let later = releases[(number + 1)...].map(\.document) + [present]
      for model in release.document.models {
        let lineage = FieldLineage(model, through: later)
        for (position, field) in model.fields.enumerated() {
          for name in Set(lineage.names(of: position, model)) {
            fieldsByName[name, default: []].append(field.schema)
          }
        }
      }
    }
    var given: [String: [PersistentValue]] = [:]
    for (name, values) in values {
      guard let fields = fieldsByName[name] else {
        throw PersistenceError.invalidRequest(
          "no release has a field \(name); use the names of the model and the field in a release, or now")
      }
      let isNested = fields.allSatisfy { $0.kind == .document }
      let values = values.map { value in
        guard isNested, case .text(let json) = value else { return value }
        return (try? JSONDocument.canonical(json)).map { .document($0) } ?? value
      }
      let isValid = fields.allSatisfy { field in values.allSatisfy { FuzzValue.isValid($0, field) } }
      guard isValid, !values.isEmpty else {
        throw PersistenceError.invalidRequest(
          "the values of \(name) are not all \(isNested ? "JSON, such as \"[]\"" : fields[0].kind.rawValue)")
      }
      given[name] = values
    }
    return given
  }
}
