import PersistenceDriver

extension EvolutionCost {
  var wireName: String {
    switch self {
    case .catalog: "catalog"
    case .indexes: "indexes"
    case .rewrite: "rewrite"
    }
  }

  init?(wireName: String) {
    switch wireName {
    case "catalog": self = .catalog
    case "indexes": self = .indexes
    case "rewrite": self = .rewrite
    default: return nil
    }
  }
}
