{"schema":2,"record":"note","command":"transact","level":"note","text":"reference T-20261124-XMYEYK3","at":"2026-11-24T11:16:19Z"}
{"schema":2,"record":"note","command":"transact","level":"note","text":"consent given: to this payment alone (--consent pis)","at":"2026-11-24T11:16:19Z"}
