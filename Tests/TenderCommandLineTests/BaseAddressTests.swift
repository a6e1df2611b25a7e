import TenderCommandLine
import TenderModel
import Testing

/// The message if only some base addresses are set.
@Suite struct BaseAddressTests {
  @Test func `names one that is missing, or several`() {
    let start = "some base addresses are set, and "
    #expect(Fault.basesMissing(["A_URL"]).message == start + "A_URL is not")
    #expect(Fault.basesMissing(["A_URL", "B_URL"]).message == start + "A_URL and B_URL are not")
  }
}
