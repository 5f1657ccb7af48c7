import PersistenceCore

/// A struct that wraps a value, stored as the wrapped kind.
struct Wrapped<Raw: SampledValue>: RawRepresentable, SampledValue {
  var rawValue: Raw

  static var samples: [Wrapped] { Raw.samples.map(Wrapped.init) }
  var asStored: Wrapped { Wrapped(rawValue: rawValue.asStored) }
}

/// An enum over integers of one width.
enum Level: Int16, CaseIterable, SampledValue {
  case lowest = -32768
  case middle = 0
  case highest = 32767
}
