import Foundation

extension AllKinds {
  /// A record of random values, extremes included; each optional is nil a third of the time.
  static func random(using random: inout SeededGenerator) -> AllKinds {
    var record = AllKinds(id: random.uuid())
    record.bool = random.oneIn(2)
    record.int8 = random.pick([.min, .max, Int8(random.int(-128...127))])
    record.int16 = random.pick([.min, .max, Int16(random.int(-32768...32767))])
    record.int32 = random.pick([.min, .max, Int32(truncatingIfNeeded: random.next())])
    record.int64 = random.pick([.min, .max, Int64(bitPattern: random.next())])
    record.int = random.pick([.min, .max, Int(truncatingIfNeeded: random.next())])
    record.uint8 = random.pick([.min, .max, UInt8(random.int(0...255))])
    record.uint16 = random.pick([.min, .max, UInt16(random.int(0...65535))])
    record.uint32 = random.pick([.min, .max, UInt32(truncatingIfNeeded: random.next())])
    record.float = Float.sample(using: &random)
    record.double = Double.sample(using: &random)
    record.string = random.text(0...40)
    record.bytes = (0..<random.int(0...40)).map { _ in UInt8(random.int(0...255)) }
    record.data = Data((0..<random.int(0...40)).map { _ in UInt8(random.int(0...255)) })
    record.date = Date.sample(using: &random)
    record.uuid = random.uuid()
    record.url = URL.sample(using: &random)
    record.decimal = Decimal.sample(using: &random)
    record.grade = random.pick(Grade.allCases)
    record.metres = Metres(rawValue: Double.sample(using: &random))
    record.list = (0..<random.int(0...4)).map { _ in random.text(0...9) }
    record.address = Address(
      street: random.text(0...20), number: Int64(bitPattern: random.next()),
      position: [Double.sample(using: &random)],
      notes: [random.text(1...4): random.oneIn(2) ? nil : random.text(0...4)])
    record.optional.fill(from: record) { random.oneIn(3) }
    return record
  }
}

extension AllKinds.Optionals {
  /// Copies the values of the optional fields, except those that are to be nil.
  mutating func fill(from record: AllKinds, isNil: () -> Bool) {
    bool = isNil() ? nil : record.bool
    int8 = isNil() ? nil : record.int8
    int16 = isNil() ? nil : record.int16
    int32 = isNil() ? nil : record.int32
    int64 = isNil() ? nil : record.int64
    int = isNil() ? nil : record.int
    uint8 = isNil() ? nil : record.uint8
    uint16 = isNil() ? nil : record.uint16
    uint32 = isNil() ? nil : record.uint32
    float = isNil() ? nil : record.float
    double = isNil() ? nil : record.double
    string = isNil() ? nil : record.string
    bytes = isNil() ? nil : record.bytes
    data = isNil() ? nil : record.data
    date = isNil() ? nil : record.date
    uuid = isNil() ? nil : record.uuid
    url = isNil() ? nil : record.url
    decimal = isNil() ? nil : record.decimal
    grade = isNil() ? nil : record.grade
    metres = isNil() ? nil : record.metres
    list = isNil() ? nil : record.list
    address = isNil() ? nil : record.address
  }
}
