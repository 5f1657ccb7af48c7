package import PersistenceCore

#if canImport(PersistenceJSON)
  import PersistenceJSON
#endif
#if canImport(PersistenceLMDB)
  import PersistenceLMDB
#endif
#if canImport(PersistenceSQLite)
  import PersistenceSQLite
#endif

extension ContextUnderTest {
  /// The contexts that the suite is run against: an engine is one line here.
  private static var known: [ContextUnderTest] {
    var known = [ContextUnderTest(name: "memory", engine: nil)]
    #if canImport(PersistenceSQLite)
      known.append(ContextUnderTest(name: "sqlite", engine: .sqlite))
    #endif
    #if canImport(PersistenceLMDB)
      known.append(ContextUnderTest(name: "lmdb", engine: .lmdb, smallestStore: ["mapsize": "8MiB"]))
    #endif
    #if canImport(PersistenceJSON)
      known.append(ContextUnderTest(name: "json", engine: .json))
    #endif
    return known
  }

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
  ///   - rule: The rule that the others are excused from.
  ///   - name: The capability's name, for the report.
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
