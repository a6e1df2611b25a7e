import TenderTestSupport
import Testing
import Toro

@Suite struct ReaderGrowthTests {
  /// Complete packets, endless chains, and single bytes.
  @Test(
    arguments: [[1, 0, 2, 0x90, 0, 0x93], [1, 1, 1, 5, 4], [1, 0x40, 2, 0x90, 0, 0xd3]] as [[UInt8]]
  )
  func `reads packets in time that grows with them alone`(_ piece: [UInt8]) {
    Growth.expectLinear(base: 6000) { size in
      let bytes = (0..<(size / piece.count)).flatMap { _ in piece }
      var decoder = FrameDecoder()
      for byte in bytes { _ = try? decoder.receive([byte]) }
      var whole = FrameDecoder()
      _ = try? whole.receive(bytes)
    }
  }
}
