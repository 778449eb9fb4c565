/**
 * Listens and sends its address to its parent process, and the processor time so far on request.
 *
 *     main.ts bare|managed UPSTREAM [DIRECTORY] [WINDOW]
 */
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { Conversations, newSecret, startProxy } from "../../../src/proxy/index.ts"
import { MODEL } from "./model.ts"

const [, , how, upstream = "", dir = "", window = ""] = process.argv

if (how === "bare") process.send!({ url: await serveBare() })
else await serveManaged()
process.on("disconnect", () => process.exit())
process.on("message", () => process.send!({ processor: process.cpuUsage() }))

/** Relays bytes in both directions, and does nothing else. */
function serveBare(): Promise<string> {
  const { hostname, port } = new URL(upstream)
  const server = createServer({ noDelay: true }, (request, response) => {
    const { method, url, rawHeaders } = request
    const sent = httpRequest({ hostname, port, method, path: url, headers: rawHeaders }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
    })
    request.pipe(sent)
  })
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

async function serveManaged(): Promise<void> {
  const settings = window === "" ? {} : { settings: { models: { [MODEL]: { window: Number(window) } } } }
  const plans = new Conversations({ upstream, cwd: dir, env: {}, dir, ...settings })
  const { url } = await startProxy({ upstream, plans, secret: newSecret() })
  process.send!({ url })
  await plans.warmUp()
}
