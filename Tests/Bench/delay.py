"""Passes TCP connections on, each byte as many milliseconds later as half a round trip takes.

usage: delay.py LISTEN-PORT TARGET-PORT ROUND-TRIP-MILLISECONDS, all on this machine
"""
import asyncio
import sys

listening, target, round_trip = (int(word) for word in sys.argv[1:4])


async def carry(reader, writer):
    """Reads as fast as bytes come, so that what is under way grows with the delay, as on a long line."""
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()

    async def deliver():
        while True:
            due, data = await queue.get()
            if (left := due - loop.time()) > 0:
                await asyncio.sleep(left)
            if not data:
                break
            writer.write(data)
            await writer.drain()
        writer.close()

    delivering = asyncio.ensure_future(deliver())
    try:
        while data := await reader.read(65536):
            queue.put_nowait((loop.time() + round_trip / 2000, data))
    except ConnectionError:
        pass
    queue.put_nowait((loop.time() + round_trip / 2000, b""))
    try:
        await delivering
    except ConnectionError:
        pass


async def accept(reader, writer):
    # The handshake of TCP takes a round trip too.
    await asyncio.sleep(round_trip / 1000)
    there = await asyncio.open_connection("127.0.0.1", target)
    await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))


async def main():
    server = await asyncio.start_server(accept, "127.0.0.1", listening, backlog=512)
    await server.serve_forever()


asyncio.run(main())
