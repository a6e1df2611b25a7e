package import TenderCommandLine

extension ToroModule {
  package var help: ModuleHelp {
    ModuleHelp(
      "Toro",
      variables: ["TENDER_TORO_DEVICE"],
      addresses: ["TENDER_TORO_GATEWAY_URL"]
    )
  }
}
