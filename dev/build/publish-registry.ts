/** A registry for the test of publishing, in a separate thread. It records uploads and returns them. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { parentPort } from "node:worker_threads"

interface Document {
  readonly name: string
  readonly versions: Readonly<Record<string, object>>
}

const documents = new Map<string, Document>()
let refused: string | undefined

const server = createServer(async (request, response) => {
  const path = decodeURIComponent((request.url ?? "/").split("?")[0]!).slice(1)
  const send = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  if (path === refused) return void send(500, { error: "not now" })
  if (request.method === "PUT") {
    documents.set(path, (await json(request)) as Document)
    return void send(201, { ok: true })
  }
  const known = documents.get(path)
  return void (known ? send(200, known) : send(404, { error: "not found" }))
}).listen(0, "127.0.0.1", () => parentPort!.postMessage((server.address() as AddressInfo).port))

/** A message either names a package to refuse from now on, or requests the list of uploads. */
parentPort!.on("message", (message: { readonly refuse?: string }) => {
  if ("refuse" in message) refused = message.refuse
  parentPort!.postMessage([...documents.values()].map(({ name, versions }) => [name, ...Object.keys(versions)]))
})
