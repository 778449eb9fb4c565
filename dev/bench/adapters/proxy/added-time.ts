/**
 * Measures the time that the proxy adds to a request, compared with a proxy that only forwards bytes. Both get the same list in turn, each
 * in a separate process. The server answers after 150 ms. Then measures the first request of new processes, bundled like the program.
 *
 *     npm run bench -- proxy
 */
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { setTimeout as wait } from "node:timers/promises"
import { Program, SOURCE } from "../../../../packages/adapters/test/proxy/program/start.ts"
import { bundleProgram } from "../../../build/bundle-program.ts"
import { bundlePackages } from "../../../tests/bundle.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../../measure.ts"
import { GrowingList, startStepServer } from "../growing-list.ts"

const ROOT = join(import.meta.dirname, "..", "..", "..", "..")
const TEST_BUILD = join(ROOT, ".test-build")
const SIZES = isShort ? [200_000] : [200_000, 1_000_000]
const ROUNDS = isShort ? 20 : 120
const WARM_UP = isShort ? 2 : 10 // rounds
const WINDOW = 2_000_000 // so large that nothing is compacted: sending the full list takes longest
const PAUSE_MS = 30 // while the client runs a tool
const STARTS = isShort ? 3 : 9
const LATER_MS = 1_000 // time until the first request; no client starts faster

const agent = new Agent({ keepAlive: true })
const headers = { "content-type": "application/json", "x-api-key": "none", "x-session-id": "one" }

async function ask(url: string, body: Buffer): Promise<number> {
  const { ms } = await timed(async () => {
    const { hostname, port, pathname } = new URL(`${url}/v1/messages`)
    const sent = request({ agent, hostname, port, path: pathname, method: "POST", headers })
    sent.setHeader("content-length", body.length)
    sent.end(body)
    const [answer] = (await once(sent, "response")) as [IncomingMessage]
    const text = await buffer(answer)
    const passed = answer.headers["strata-passed-through"]
    if (answer.statusCode !== 200 || passed) throw new Error(`${answer.statusCode} ${passed ?? ""} ${text}`)
  })
  return ms
}

const server = await startStepServer()

async function measureSize(file: string, tokens: number, directory: string): Promise<void> {
  const bare = await Program.start(file, ["bare", server.url])
  const managed = await Program.start(file, ["managed", server.url, directory, `${WINDOW}`])
  const list = new GrowingList(tokens)
  const added: number[] = []
  const processor: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round++, list.grow()) {
    const body = list.body()
    const isBareFirst = round % 2 === 0
    const before = isBareFirst ? await ask(bare.url, body) : 0
    const processorBefore = await managed.processorMs()
    const through = await ask(managed.url, body)
    const spent = (await managed.processorMs()) - processorBefore
    const straight = isBareFirst ? before : await ask(bare.url, body)
    await wait(PAUSE_MS)
    if (round < 0) continue
    added.push(through - straight)
    processor.push(spent)
  }
  await bare.kill()
  await managed.kill()
  console.log(
    `  ${tokens.toLocaleString("en")} tokens (${(list.body().length / 1e6).toFixed(1)} MB): adds ${milliseconds(quantile(added, 0.5))} in the median, p99 ${milliseconds(quantile(added, 0.99))}; ${milliseconds(quantile(processor, 0.5))} of processor time, what it does meanwhile included`,
  )
}

/** Measures the first request of a new process, with the proxy and without it. */
async function measureFirst(file: string, { tokens, later }: { tokens: number; later: boolean }, place: () => string) {
  const body = new GrowingList(tokens).body()
  const added: number[] = []
  for (let start = -1; start < STARTS; start++) {
    const cache = join(place(), "..", "compile-cache")
    const first = async (args: readonly string[]) => {
      const program = await Program.start(file, args, cache)
      if (later) await wait(LATER_MS)
      const ms = await ask(program.url, body)
      await program.kill()
      return ms
    }
    const straight = await first(["bare", server.url])
    const through = await first(["managed", server.url, place(), `${WINDOW}`])
    if (start >= 0) added.push(through - straight)
  }
  const when = later ? "a second after it listens" : "as soon as it listens"
  console.log(
    `  the first request, ${tokens.toLocaleString("en")} tokens, ${when}: adds ${milliseconds(quantile(added, 0.5))} in the median of ${STARTS} processes, at most ${milliseconds(Math.max(...added))}`,
  )
}

await inTemporaryDirectory(async (directory) => {
  let places = 0
  const place = () => {
    const made = join(directory, `${++places}`)
    mkdirSync(made)
    return made
  }
  mkdirSync(TEST_BUILD, { recursive: true })
  const bundled = mkdtempSync(join(TEST_BUILD, "bench-")) // inside the workspace, so that libraries resolve
  process.once("exit", () => rmSync(bundled, { recursive: true, force: true }))
  await bundlePackages(ROOT, bundled)
  const output = join(bundled, "bench", "dist")
  await bundleProgram({ main: SOURCE, output })
  const file = join(output, "main.js")
  for (const tokens of SIZES) await measureSize(file, tokens, place())
  for (const tokens of [10_000, 200_000])
    for (const later of [false, true]) await measureFirst(file, { tokens, later }, place)
})
server.close()
agent.destroy()
