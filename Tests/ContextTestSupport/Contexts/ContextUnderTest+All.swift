package import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

extension ContextUnderTest {
  /// The contexts that the suite is run against: an engine is one line here.
  private static let known = [
    ContextUnderTest(name: "memory", engine: nil),
    ContextUnderTest(name: "sqlite", engine: .sqlite),
    ContextUnderTest(name: "lmdb", engine: .lmdb, smallestStore: ["mapsize": "8MiB"]),
    ContextUnderTest(name: "json", engine: .json),
  ]

  /// Every context, or those that the environment variable `CONTEXTS` names, as in `CONTEXTS="memory lmdb"`.
  package static let all: [ContextUnderTest] = {
    guard let chosen = Environment["CONTEXTS"] else { return known }
    let names = chosen.split(separator: " ").map(String.init)
    return known.filter { names.contains($0.name) }
  }()

  /// All engines, for URLs.
  package static let engines = known.compactMap(\.engine)

  /// The contexts that declare a capability; the others are printed as excused from the rule by it.
  ///
  /// - Parameters:
  ///   - capability: What the rule needs.
  ///   - name: The capability's name, for the report.
  ///   - rule: The rule that the others are excused from.
  /// - Returns: The contexts that are not excused.
  package static func all(
    with capability: (Capabilities) -> Bool, named name: String, rule: String
  ) -> [ContextUnderTest] {
    all.filter { context in
      do {
        if try capability(context.capabilities()) { return true }
        print("excused: \(context) from \(rule), which needs \(name)")
        return false
      } catch {
        // A context that cannot even be opened is not excused: its tests say why.
        return true
      }
    }
  }

  /// The contexts whose stores outlive them.
  package static func durable(_ rule: String) -> [ContextUnderTest] {
    all(with: \.isDurable, named: "isDurable", rule: rule)
  }

  /// The contexts whose stores several processes may open at once.
  package static func multiProcess(_ rule: String) -> [ContextUnderTest] {
    all(with: \.isMultiProcess, named: "isMultiProcess", rule: rule)
  }
}
