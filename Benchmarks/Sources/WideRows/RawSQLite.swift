import CRawSQLite
import Foundation

/// An error of a contender's engine, or a wrong result.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The products in SQLite's C API, with statements that are prepared once.
final class RawSQLite {
  /// The table of all contenders that use SQL: the text key is an index beside the rows, as wide rows have it.
  static let table = """
    CREATE TABLE product (
      sku TEXT NOT NULL, stock INTEGER NOT NULL, reserved INTEGER NOT NULL, sold INTEGER NOT NULL,
      returned INTEGER NOT NULL, reviews INTEGER NOT NULL, minimum INTEGER, maximum INTEGER, ordered
      INTEGER, shelf INTEGER, supplier INTEGER, name TEXT NOT NULL, category TEXT NOT NULL, brand TEXT NOT
      NULL, details TEXT NOT NULL, color TEXT, size TEXT, material TEXT, price REAL NOT NULL, cost REAL
      NOT NULL, weight REAL NOT NULL, tax REAL NOT NULL, width REAL, height REAL, depth REAL, discount
      REAL, addedAt REAL NOT NULL, soldAt REAL, isActive INTEGER NOT NULL, isFragile INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX product_sku ON product (sku);
    """

  private let handle: OpaquePointer
  private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  private var statements: [String: OpaquePointer] = [:]

  init(_ path: String) throws {
    var made: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &made, flags, nil) == SQLITE_OK, let made else {
      throw Failure("SQLite does not open \(path)")
    }
    handle = made
    try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
    try run(Self.table)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  private func run(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
      throw Failure(String(cString: sqlite3_errmsg(handle)))
    }
  }

  private func prepared(_ text: String) throws -> OpaquePointer {
    if let known = statements[text] { return known }
    var made: OpaquePointer?
    guard sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil) == SQLITE_OK,
      let made
    else { throw Failure(String(cString: sqlite3_errmsg(handle))) }
    statements[text] = made
    return made
  }

  /// Inserts products, or replaces those with the same keys.
  func save(_ products: some Sequence<Product>) throws {
    try run("BEGIN IMMEDIATE")
    let statement = try prepared(Self.saving)
    for product in products {
      bind(product, statement)
      guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure("an insertion failed") }
      sqlite3_reset(statement)
    }
    try run("COMMIT")
  }

  private static let saving: String = {
    let columns = Mirror(reflecting: Product(number: 0)).children.compactMap(\.label)
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT INTO product VALUES (\(places)) ON CONFLICT (sku) DO UPDATE SET \(changes)"
  }()

  func all() throws -> [Product] {
    let statement = try prepared("SELECT * FROM product ORDER BY sku")
    var products: [Product] = []
    while sqlite3_step(statement) == SQLITE_ROW { products.append(product(statement)) }
    sqlite3_reset(statement)
    return products
  }

  func find(_ sku: String) throws -> Product? {
    let statement = try prepared("SELECT * FROM product WHERE sku = ?")
    sqlite3_bind_text(statement, 1, sku, -1, transient)
    defer { sqlite3_reset(statement) }
    return sqlite3_step(statement) == SQLITE_ROW ? product(statement) : nil
  }

  func listed() throws -> [Listed] {
    let statement = try prepared("SELECT sku, price, isActive FROM product ORDER BY sku")
    var found: [Listed] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      found.append(
        Listed(
          sku: text(statement, 0), price: sqlite3_column_double(statement, 1), isActive: bool(statement, 2)))
    }
    sqlite3_reset(statement)
    return found
  }

  func count(priceFrom price: Double) throws -> Int {
    let statement = try prepared("SELECT COUNT(*) FROM product WHERE price >= ?")
    sqlite3_bind_double(statement, 1, price)
    defer { sqlite3_reset(statement) }
    return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : -1
  }

  private func bind(_ product: Product, _ statement: OpaquePointer) {
    bind(statement, 1, product.sku)
    bind(statement, 2, product.stock)
    bind(statement, 3, product.reserved)
    bind(statement, 4, product.sold)
    bind(statement, 5, product.returned)
    bind(statement, 6, product.reviews)
    bind(statement, 7, product.minimum)
    bind(statement, 8, product.maximum)
    bind(statement, 9, product.ordered)
    bind(statement, 10, product.shelf)
    bind(statement, 11, product.supplier)
    bind(statement, 12, product.name)
    bind(statement, 13, product.category)
    bind(statement, 14, product.brand)
    bind(statement, 15, product.details)
    bind(statement, 16, product.color)
    bind(statement, 17, product.size)
    bind(statement, 18, product.material)
    bind(statement, 19, product.price)
    bind(statement, 20, product.cost)
    bind(statement, 21, product.weight)
    bind(statement, 22, product.tax)
    bind(statement, 23, product.width)
    bind(statement, 24, product.height)
    bind(statement, 25, product.depth)
    bind(statement, 26, product.discount)
    bind(statement, 27, product.addedAt.timeIntervalSinceReferenceDate)
    bind(statement, 28, product.soldAt?.timeIntervalSinceReferenceDate)
    bind(statement, 29, Int64(product.isActive ? 1 : 0))
    bind(statement, 30, Int64(product.isFragile ? 1 : 0))
  }

  private func bind(_ statement: OpaquePointer, _ place: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(statement, place, value) } else { sqlite3_bind_null(statement, place) }
  }

  private func bind(_ statement: OpaquePointer, _ place: Int32, _ value: Double?) {
    if let value { sqlite3_bind_double(statement, place, value) } else { sqlite3_bind_null(statement, place) }
  }

  private func bind(_ statement: OpaquePointer, _ place: Int32, _ value: String?) {
    if let value {
      sqlite3_bind_text(statement, place, value, Int32(value.utf8.count), transient)
    } else {
      sqlite3_bind_null(statement, place)
    }
  }

  private func product(_ row: OpaquePointer) -> Product {
    Product(
      sku: text(row, 0),
      stock: sqlite3_column_int64(row, 1),
      reserved: sqlite3_column_int64(row, 2),
      sold: sqlite3_column_int64(row, 3),
      returned: sqlite3_column_int64(row, 4),
      reviews: sqlite3_column_int64(row, 5),
      minimum: isNull(row, 6) ? nil : sqlite3_column_int64(row, 6),
      maximum: isNull(row, 7) ? nil : sqlite3_column_int64(row, 7),
      ordered: isNull(row, 8) ? nil : sqlite3_column_int64(row, 8),
      shelf: isNull(row, 9) ? nil : sqlite3_column_int64(row, 9),
      supplier: isNull(row, 10) ? nil : sqlite3_column_int64(row, 10),
      name: text(row, 11),
      category: text(row, 12),
      brand: text(row, 13),
      details: text(row, 14),
      color: isNull(row, 15) ? nil : text(row, 15),
      size: isNull(row, 16) ? nil : text(row, 16),
      material: isNull(row, 17) ? nil : text(row, 17),
      price: sqlite3_column_double(row, 18),
      cost: sqlite3_column_double(row, 19),
      weight: sqlite3_column_double(row, 20),
      tax: sqlite3_column_double(row, 21),
      width: isNull(row, 22) ? nil : sqlite3_column_double(row, 22),
      height: isNull(row, 23) ? nil : sqlite3_column_double(row, 23),
      depth: isNull(row, 24) ? nil : sqlite3_column_double(row, 24),
      discount: isNull(row, 25) ? nil : sqlite3_column_double(row, 25),
      addedAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 26)),
      soldAt: isNull(row, 27) ? nil : Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 27)),
      isActive: bool(row, 28),
      isFragile: bool(row, 29))
  }

  private func isNull(_ row: OpaquePointer, _ column: Int32) -> Bool {
    sqlite3_column_type(row, column) == SQLITE_NULL
  }

  private func bool(_ row: OpaquePointer, _ column: Int32) -> Bool { sqlite3_column_int64(row, column) != 0 }

  private func text(_ row: OpaquePointer, _ column: Int32) -> String {
    let bytes = UnsafeBufferPointer(
      start: sqlite3_column_text(row, column), count: Int(sqlite3_column_bytes(row, column)))
    return String(decoding: bytes, as: UTF8.self)
  }
}
