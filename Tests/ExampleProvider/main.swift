import TenderCommands
import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

ProcessGuard.begin()
let providers = Providers(Providers.all + [.init(ExampleModule(), SimulatedExample())])
_exit(Program.run(Array(CommandLine.arguments.dropFirst()), garbled: nil, providers: providers))
