import Foundation
import PersistenceCore
import SeededRandom

/// A record of thirty fields with a text key, thirteen optional fields of which half are nil, and a text of 4 KiB.
struct Product: PersistentRecord, Hashable {
  var sku: String
  var stock: Int64
  var reserved: Int64
  var sold: Int64
  var returned: Int64
  var reviews: Int64
  var minimum: Int64?
  var maximum: Int64?
  var ordered: Int64?
  var shelf: Int64?
  var supplier: Int64?
  var name: String
  var category: String
  var brand: String
  var details: String
  var color: String?
  var size: String?
  var material: String?
  var price: Double
  var cost: Double
  var weight: Double
  var tax: Double
  var width: Double?
  var height: Double?
  var depth: Double?
  var discount: Double?
  var addedAt: Date
  var soldAt: Date?
  var isActive: Bool
  var isFragile: Bool

  static let schema = RecordSchema<Product>(
    "Product",
    fields: [
      .field("sku", \.sku), .field("stock", \.stock), .field("reserved", \.reserved),
      .field("sold", \.sold), .field("returned", \.returned), .field("reviews", \.reviews),
      .field("minimum", \.minimum), .field("maximum", \.maximum), .field("ordered", \.ordered),
      .field("shelf", \.shelf), .field("supplier", \.supplier), .field("name", \.name),
      .field("category", \.category), .field("brand", \.brand), .field("details", \.details),
      .field("color", \.color), .field("size", \.size), .field("material", \.material),
      .field("price", \.price), .field("cost", \.cost), .field("weight", \.weight), .field("tax", \.tax),
      .field("width", \.width), .field("height", \.height), .field("depth", \.depth),
      .field("discount", \.discount), .field("addedAt", \.addedAt), .field("soldAt", \.soldAt),
      .field("isActive", \.isActive), .field("isFragile", \.isFragile),
    ], key: [\.sku])

  var primaryKey: String { sku }

  init(
    sku: String, stock: Int64, reserved: Int64, sold: Int64, returned: Int64, reviews: Int64,
    minimum:
      Int64?, maximum: Int64?, ordered: Int64?, shelf: Int64?, supplier: Int64?, name: String,
    category:
      String, brand: String, details: String, color: String?, size: String?, material: String?,
    price:
      Double, cost: Double, weight: Double, tax: Double, width: Double?, height: Double?, depth: Double?,
    discount: Double?, addedAt: Date, soldAt: Date?, isActive: Bool, isFragile: Bool
  ) {
    self.sku = sku
    self.stock = stock
    self.reserved = reserved
    self.sold = sold
    self.returned = returned
    self.reviews = reviews
    self.minimum = minimum
    self.maximum = maximum
    self.ordered = ordered
    self.shelf = shelf
    self.supplier = supplier
    self.name = name
    self.category = category
    self.brand = brand
    self.details = details
    self.color = color
    self.size = size
    self.material = material
    self.price = price
    self.cost = cost
    self.weight = weight
    self.tax = tax
    self.width = width
    self.height = height
    self.depth = depth
    self.discount = discount
    self.addedAt = addedAt
    self.soldAt = soldAt
    self.isActive = isActive
    self.isFragile = isFragile
  }

  init(from row: borrowing Row) throws {
    sku = try row.decode(at: 0)
    stock = try row.decode(at: 1)
    reserved = try row.decode(at: 2)
    sold = try row.decode(at: 3)
    returned = try row.decode(at: 4)
    reviews = try row.decode(at: 5)
    minimum = try row.decode(at: 6)
    maximum = try row.decode(at: 7)
    ordered = try row.decode(at: 8)
    shelf = try row.decode(at: 9)
    supplier = try row.decode(at: 10)
    name = try row.decode(at: 11)
    category = try row.decode(at: 12)
    brand = try row.decode(at: 13)
    details = try row.decode(at: 14)
    color = try row.decode(at: 15)
    size = try row.decode(at: 16)
    material = try row.decode(at: 17)
    price = try row.decode(at: 18)
    cost = try row.decode(at: 19)
    weight = try row.decode(at: 20)
    tax = try row.decode(at: 21)
    width = try row.decode(at: 22)
    height = try row.decode(at: 23)
    depth = try row.decode(at: 24)
    discount = try row.decode(at: 25)
    addedAt = try row.decode(at: 26)
    soldAt = try row.decode(at: 27)
    isActive = try row.decode(at: 28)
    isFragile = try row.decode(at: 29)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(sku, at: 0)
    row.encode(stock, at: 1)
    row.encode(reserved, at: 2)
    row.encode(sold, at: 3)
    row.encode(returned, at: 4)
    row.encode(reviews, at: 5)
    row.encode(minimum, at: 6)
    row.encode(maximum, at: 7)
    row.encode(ordered, at: 8)
    row.encode(shelf, at: 9)
    row.encode(supplier, at: 10)
    row.encode(name, at: 11)
    row.encode(category, at: 12)
    row.encode(brand, at: 13)
    row.encode(details, at: 14)
    row.encode(color, at: 15)
    row.encode(size, at: 16)
    row.encode(material, at: 17)
    row.encode(price, at: 18)
    row.encode(cost, at: 19)
    row.encode(weight, at: 20)
    row.encode(tax, at: 21)
    row.encode(width, at: 22)
    row.encode(height, at: 23)
    row.encode(depth, at: 24)
    row.encode(discount, at: 25)
    row.encode(addedAt, at: 26)
    row.encode(soldAt, at: 27)
    row.encode(isActive, at: 28)
    row.encode(isFragile, at: 29)
  }

  /// The product of a number, which is the same in every run.
  init(number: Int) {
    var generator = SplitMix(state: UInt64(number))
    func next() -> Int64 { Int64(generator.next() % 1_000_000) }
    func maybe<Value>(_ value: () -> Value) -> Value? { generator.next() % 2 == 0 ? nil : value() }
    sku = Self.sku(number)
    stock = next()
    reserved = next()
    sold = next()
    returned = next()
    reviews = next()
    minimum = maybe { next() }
    maximum = maybe { next() }
    ordered = maybe { next() }
    shelf = maybe { next() }
    supplier = maybe { next() }
    name = "name \(next())"
    category = "category \(next())"
    brand = "brand \(next())"
    details = String(repeating: "What there is to know of a product. ", count: 117)
    color = maybe { "color \(next())" }
    size = maybe { "size \(next())" }
    material = maybe { "material \(next())" }
    price = Double(next()) / 8
    cost = Double(next()) / 8
    weight = Double(next()) / 8
    tax = Double(next()) / 8
    width = maybe { Double(next()) / 8 }
    height = maybe { Double(next()) / 8 }
    depth = maybe { Double(next()) / 8 }
    discount = maybe { Double(next()) / 8 }
    addedAt = Date(timeIntervalSinceReferenceDate: Double(next()))
    soldAt = maybe { Date(timeIntervalSinceReferenceDate: Double(next())) }
    isActive = next() % 2 == 0
    isFragile = next() % 2 == 0
  }

  /// The key of a number; keys are not in the order of numbers.
  static func sku(_ number: Int) -> String {
    "product \(String(UInt32(truncatingIfNeeded: number) &* 2_654_435_761, radix: 36))"
  }
}

/// The part of a product that a list shows.
struct Listed: Hashable {
  var sku: String
  var price: Double
  var isActive: Bool
}
