/** The scorecard of a small recording, computed manually, in the table, the JSON and the page. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Score } from "@strata/transcripts/replay"
import { afterAll, beforeAll, expect, test } from "vitest"
import { conversation } from "../../core/test/builders.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, type Place } from "./strata-process.ts"

let place: Place
beforeAll(() => {
  place = emptyPlace()
  mkdirSync(place.cwd, { recursive: true })
  writeFileSync(join(place.cwd, "small.jsonl"), recorded())
})
afterAll(() => place.remove())

const MODEL = "claude-opus-4-6"
/** Dollars per million tokens. */
const PRICE = { input: 5, write: 6.25, read: 0.5, output: 25 }

/** Five requests. The window of 60,000 has its threshold at 27,000, so the fourth follows a compaction. */
function recorded(): string {
  const usage = (cache_read_input_tokens: number, cache_creation_input_tokens: number) => ({
    model: MODEL,
    usage: { input_tokens: 0, output_tokens: 100, cache_read_input_tokens, cache_creation_input_tokens },
  })
  const long = (about: string) =>
    Array.from({ length: 900 }, (_, i) => `line ${i} of ${about} in plain words`).join("\n")
  const { messages } = conversation()
    .user("Always use two spaces. Change the port in src/server.ts.")
    .call("Read", { file_path: "/p/src/server.ts" }, usage(0, 6_000))
    .result(`const LISTEN_PORT_8317 = 8317\n${long("the server")}`)
    .call("Edit", { file_path: "/p/src/server.ts", old_string: "8317", new_string: "9000" }, usage(6_000, 12_000))
    .result("The file was edited.")
    .call("Read", { file_path: "/p/src/client.ts" }, usage(18_000, 200))
    .result(long("the client"))
    .say("The client reads well.", usage(18_200, 12_000))
    .user("Thanks. Which constant was it?")
    .say("It was LISTEN_PORT_8317.", usage(30_200, 300))
  return messages
    .map((message, i) => ({ ...message, timestamp: new Date(Date.UTC(2026, 0, 1) + i * 40_000).toISOString() }))
    .map((message) => `${JSON.stringify({ sessionId: "s", version: "2.1.0", cwd: "/p", ...message })}\n`)
    .join("")
}

const compare = (...more: string[]) =>
  strataHere(["compare", join(place.cwd, "small.jsonl"), "--window", "60000", "--policies", "strata", ...more], place)

interface Request {
  readonly purpose: string
  readonly context: number
  readonly counts: Record<"input" | "output" | "cacheWrite5m" | "cacheRead", number>
}

test("BEY-7 every figure of the scorecard is what a calculation by hand gives", async () => {
  const { scorecard, conversations } = JSON.parse((await compare("--json")).stdout)
  const score = (name: string): Score => scorecard.scores.find(({ policy }: Score) => policy === name)
  const written = 6_000 + 12_000 + 200 + 12_000 + 300
  const read = 6_000 + 18_000 + 18_200 + 30_200
  const everything = (written * PRICE.write + read * PRICE.read + 5 * 100 * PRICE.output) / 1e6
  expect(score("none").cost).toBeCloseTo(everything, 4) // block sizes are rounded, so one token of difference is possible
  expect(score("none").hitRatio).toBeCloseTo(read / (read + written), 4)
  expect(score("none")).toMatchObject({
    ...{ peak: 30_500, invalid: 0, compactions: 0, blockedMs: 0 },
    namesInView: { count: 2, of: 2 }, // the edited path and the constant
  })
  const { requests } = conversations[0].reports[1] as { requests: Request[] }
  expect(requests.map(({ purpose }) => purpose)).toEqual([
    ...["conversation", "conversation", "conversation", "summary", "conversation"],
    ...["recall", "conversation"], // the constant was no longer in view
  ])
  const { context, counts } = requests[3]!
  expect(counts.cacheRead).toBe(18_200) // the prefix cached by the previous request
  expect(context).toBeGreaterThanOrEqual(30_200) // the complete context, and the request for the summary
  const paid = requests.map(
    ({ counts: { input, output, cacheWrite5m, cacheRead } }) =>
      (input * PRICE.input + cacheWrite5m * PRICE.write + cacheRead * PRICE.read + output * PRICE.output) / 1e6,
  )
  const cost = paid.reduce((sum, one) => sum + one)
  expect(score("claude-style").cost).toBeCloseTo(cost, 9)
  expect(score("claude-style").relative.none).toBeCloseTo(cost / everything, 3)
  expect(score("none").relative["claude-style"]).toBeCloseTo(everything / cost, 3)
  expect(score("strata").relative.optimum).toBeCloseTo(score("strata").cost / score("optimum").cost, 9)
  const evidence = {
    ...{ peak: context, invalid: 0, compactions: 1, blockedMs: 30_000 },
    namesInView: { count: 1, of: 2 },
    trailPrecision: { count: 2, of: 2 }, // server.ts and client.ts
    trailRecall: { count: 1, of: 1 }, // server.ts
    rulesVerbatim: { count: 1, of: 1 }, // "Always use two spaces."
  }
  expect(score("claude-style")).toMatchObject(evidence)
  expect(score("strata")).toMatchObject({
    ...evidence,
    ...{ peak: expect.any(Number), blockedMs: 0 }, // its summary is written in the background and installed one request later
    namesInView: { count: 2, of: 2 }, // the summary's record contains the result with the constant
    namesWithinSearch: { count: 2, of: 2 },
  })
})

test("BEY-7 the table and the page have the same figures", async () => {
  const { stdout } = await compare("--html", "small.html")
  const page = readFileSync(join(place.cwd, "small.html"), "utf8")
  const inPage = (name: string) => {
    const [row] = page.match(new RegExp(`<tr[^>]*><th[^>]*>${name}</th>(<td[^>]*>[^<]*</td>)+`))!
    return [...row.matchAll(/<td[^>]*>([^<]*)/g)].map(([, cell]) => cell)
  }
  const inTable = (name: string) =>
    stdout.split("\n").flatMap((line) => (line.startsWith(`${name} `) ? line.trim().split(/ {2,}/).slice(1) : []))
  for (const name of ["none", "claude-style", "strata", "optimum"]) expect(inTable(name)).toEqual(inPage(name))
  const [cost, ...others] = inTable("none")
  expect(cost).toBe("$0.2393")
  expect(others.slice(3, -1)).toEqual(["70%", "30.5K", "0", "0", "100%", "-", "-", "-", "-", "0 s"])
  expect(inTable("strata").slice(6, -1)).toEqual(["0", "1", "100%", "100%", "100%", "100%", "100%", "0 s"])
})
