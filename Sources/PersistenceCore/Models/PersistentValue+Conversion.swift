import PersistenceDriver
import PersistencePrimitives

extension PersistentValueConvertible {
  /// Converts a stored value to its property's type.
  static func converted(from value: PersistentValue) throws -> Self {
    try value.withCell { cell in
      try withUnsafePointer(to: cell) {
        try read(from: Row(cells: UnsafeBufferPointer(start: $0, count: 1)), at: 0)
      }
    }
  }
}

extension PersistentValue {
  /// Calls a closure with a cell that borrows the value.
  fileprivate func withCell<Result>(_ body: (RowCell) throws -> Result) throws -> Result {
    switch self {
    case .null: try body(.null)
    case .bool(let value): try body(.bool(value))
    case .integer(let value): try body(.integer(value))
    case .double(let value): try body(.double(value))
    case .date(let value): try body(.date(value))
    case .uuid(let value): try body(.uuid(value))
    case .bytes(let value): try value.withUnsafeBytes { try body(.bytes($0)) }
    case .text(var value): try value.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    case .document(var value): try value.withUTF8 { try body(.document(UnsafeRawBufferPointer($0))) }
    case .decimal(let value):
      try Array(value.canonicalText.utf8).withUnsafeBytes { try body(.decimal($0)) }
    }
  }
}
