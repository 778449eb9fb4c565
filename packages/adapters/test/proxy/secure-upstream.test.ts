import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createPlainServer } from "node:http"
import { createServer } from "node:https"
import { type AddressInfo, connect, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { describe, expect, onTestFinished, test } from "vitest"
import { needs } from "../../../core/test/needs.ts"
import { ANSWER_EVENTS, ask, eventText, HELLO, proxy, remembering } from "./raw-upstream.ts"

/** Created for this test, and trusted only while it runs. */
function certificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), "certificate-"))
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  const kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
  execFileSync("openssl", [...kind, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" })
  const made = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(directory, { recursive: true })
  const before = getCACertificates("default")
  setDefaultCACertificates([...before, made.cert.toString()])
  onTestFinished(() => setDefaultCACertificates(before))
  return made
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

const answering = () =>
  createServer(certificate(), (request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" }).end(eventText(ANSWER_EVENTS))
  })

describe("BEY-11: an upstream with https", needs("openssl"), () => {
  test("is reached, and its answer is read", async () => {
    const port = await listening(answering())
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: `https://localhost:${port}`, plans })
    for (const _ of [1, 2])
      expect((await ask(`${url}/v1/messages`, { body: HELLO })).body.toString()).toBe(eventText(ANSWER_EVENTS))
    expect(calls.map(({ name }) => name)).toEqual(["take", "answered", "take", "answered"])
  })

  test("whose certificate no one vouches for gets nothing", async () => {
    const server = answering()
    setDefaultCACertificates([])
    const port = await listening(server)
    const { url } = await proxy({ upstream: `https://localhost:${port}`, plans: remembering().plans })
    const answer = await ask(`${url}/v1/messages`, { headers: { "x-api-key": "sk" }, body: HELLO })
    expect(answer.status).toBe(502)
    expect(answer.body.toString()).toMatch(/SELF_SIGNED|UNABLE_TO/)
  })

  test("is reached through the network's own proxy, if the environment names one", async () => {
    const port = await listening(answering())
    const asked: string[] = []
    const tunnel = createPlainServer().on("connect", (request, socket) => {
      asked.push(request.url ?? "")
      const through = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"))
      through.on("error", () => socket.destroy()).pipe(socket)
      socket.on("error", () => through.destroy()).pipe(through)
    })
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${await listening(tunnel)}` }
    const { plans } = remembering()
    const { url } = await proxy({ upstream: `https://localhost:${port}`, plans, environment })
    expect((await ask(`${url}/v1/messages`, { body: HELLO })).status).toBe(200)
    expect(asked).toEqual([`localhost:${port}`])
  })
})
