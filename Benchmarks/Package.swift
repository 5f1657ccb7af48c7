// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

func persistence(_ rooms: [String]) -> [Target.Dependency] {
  rooms.map { .product(name: "Persistence\($0)", package: "Persistence") }
    + [.product(name: "Logging", package: "swift-log")]
}

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persistence", path: ".."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .target(name: "SeededRandom", swiftSettings: settings),
    .executableTarget(
      name: "FirstTen", dependencies: ["SeededRandom"] + persistence(["Core", "SQLite", "LMDB"]),
      swiftSettings: settings),
    .executableTarget(
      name: "Endurance", dependencies: ["SeededRandom"] + persistence(["Core", "SQLite", "LMDB", "JSON"]),
      swiftSettings: settings),
  ]
)
