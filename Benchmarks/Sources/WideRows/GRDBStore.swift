import Foundation
import GRDB

/// The product as a record of GRDB, written by hand as its documentation advises for speed.
struct GRDBProduct: FetchableRecord, PersistableRecord {
  static let databaseTableName = "product"

  let product: Product

  init(_ product: Product) { self.product = product }

  init(row: Row) {
    product = Product(
      sku: row[0],
      stock: row[1],
      reserved: row[2],
      sold: row[3],
      returned: row[4],
      reviews: row[5],
      minimum: row[6],
      maximum: row[7],
      ordered: row[8],
      shelf: row[9],
      supplier: row[10],
      name: row[11],
      category: row[12],
      brand: row[13],
      details: row[14],
      color: row[15],
      size: row[16],
      material: row[17],
      price: row[18],
      cost: row[19],
      weight: row[20],
      tax: row[21],
      width: row[22],
      height: row[23],
      depth: row[24],
      discount: row[25],
      addedAt: Date(timeIntervalSinceReferenceDate: row[26]),
      soldAt: (row[27] as Double?).map(Date.init(timeIntervalSinceReferenceDate:)),
      isActive: row[28],
      isFragile: row[29])
  }

  func encode(to container: inout PersistenceContainer) {
    container["sku"] = product.sku
    container["stock"] = product.stock
    container["reserved"] = product.reserved
    container["sold"] = product.sold
    container["returned"] = product.returned
    container["reviews"] = product.reviews
    container["minimum"] = product.minimum
    container["maximum"] = product.maximum
    container["ordered"] = product.ordered
    container["shelf"] = product.shelf
    container["supplier"] = product.supplier
    container["name"] = product.name
    container["category"] = product.category
    container["brand"] = product.brand
    container["details"] = product.details
    container["color"] = product.color
    container["size"] = product.size
    container["material"] = product.material
    container["price"] = product.price
    container["cost"] = product.cost
    container["weight"] = product.weight
    container["tax"] = product.tax
    container["width"] = product.width
    container["height"] = product.height
    container["depth"] = product.depth
    container["discount"] = product.discount
    container["addedAt"] = product.addedAt.timeIntervalSinceReferenceDate
    container["soldAt"] = product.soldAt?.timeIntervalSinceReferenceDate
    container["isActive"] = product.isActive
    container["isFragile"] = product.isFragile
  }
}

/// The products in a database of GRDB, with the settings of the others.
final class GRDBStore {
  private let pool: DatabasePool

  init(_ path: String) throws {
    pool = try DatabasePool(path: path)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
      try database.execute(sql: RawSQLite.table)
    }
  }

  /// Inserts products, or replaces those with the same keys.
  func save(_ products: some Sequence<Product>) throws {
    try pool.write { database in for product in products { try GRDBProduct(product).upsert(database) } }
  }

  func all() throws -> [Product] {
    try pool.read { database in
      let cursor = try GRDBProduct.order(Column("sku")).fetchCursor(database)
      var products: [Product] = []
      while let record = try cursor.next() { products.append(record.product) }
      return products
    }
  }

  func find(_ skus: [String]) throws -> Int {
    var found = 0
    for sku in skus {
      let product = try pool.read { database in
        try GRDBProduct.filter(Column("sku") == sku).fetchOne(database)?.product
      }
      found += product == nil ? 0 : 1
    }
    return found
  }

  func listed() throws -> [Listed] {
    try pool.read { database in
      let rows = try Row.fetchCursor(
        database, GRDBProduct.select(Column("sku"), Column("price"), Column("isActive")).order(Column("sku")))
      var found: [Listed] = []
      while let row = try rows.next() { found.append(Listed(sku: row[0], price: row[1], isActive: row[2])) }
      return found
    }
  }

  func count(priceFrom price: Double) throws -> Int {
    try pool.read { try GRDBProduct.filter(Column("price") >= price).fetchCount($0) }
  }
}
