import PersistenceCore

/// The limits of what every context can do.
struct FuzzLimits: Sendable {
  var largestKey = Int.max
  var largestValue = Int.max
  var hasExactDates = true
  /// Whether every context can change the schema of a model.
  var changesSchemas = true

  init(_ capabilities: [Capabilities]) {
    for capabilities in capabilities {
      largestKey = min(largestKey, capabilities.largestKey ?? .max)
      largestValue = min(largestValue, capabilities.largestValue ?? .max)
      if !capabilities.dropsModels { changesSchemas = false }
      if capabilities.datePrecision != .exact { hasExactDates = false }
    }
  }
}
