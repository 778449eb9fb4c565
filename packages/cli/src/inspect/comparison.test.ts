/** `strata inspect` of several files: the same sums on the screen, in JSON and on the page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { strataHere } from "../../test/strata-here.ts"

const MODEL = "claude-opus-4-5"

interface Shape {
  readonly session: string
  readonly numbers: readonly number[]
  readonly model?: string
  /** Turn before the compaction. */
  readonly compactedAfter?: number
}

/** A transcript in which turn 3 reads nothing from the cache. */
function transcript({ session, numbers, model = MODEL, compactedAfter }: Shape): string {
  let parentUuid: string | null = null
  const lines: object[] = []
  const add = (uuid: string, n: number, fields: object) => {
    const timestamp = new Date(Date.UTC(2026, 5, 1, 9, n)).toISOString()
    lines.push({ uuid, parentUuid, timestamp, sessionId: session, cwd: "/p", version: "2.1.325", ...fields })
    parentUuid = uuid
  }
  for (const n of numbers) {
    const usage = {
      ...{ input_tokens: 10, output_tokens: 20 },
      ...{ cache_read_input_tokens: n === 3 ? 0 : 100_000, cache_creation_input_tokens: n === 3 ? 100_000 : 500 },
    }
    const content = [{ type: "text", text: `parseTokens is in src/parser${n}.ts` }]
    const message = { id: `msg_${n}`, role: "assistant", model, content, usage }
    const diagnostics = n === 3 ? { cache_miss_reason: { type: "tools_changed" } } : null
    add(`u${n}`, n, { type: "user", message: { role: "user", content: `question ${n}` } })
    add(`a${n}`, n, { type: "assistant", message: { ...message, diagnostics } })
    if (n !== compactedAfter) continue
    const compactMetadata = { trigger: "auto", preTokens: 100_000 }
    add(`b${n}`, n, { type: "system", subtype: "compact_boundary", logicalParentUuid: `a${n}`, compactMetadata })
    const summary = "This session is being continued. Something was parsed."
    add(`s${n}`, n, { type: "user", isCompactSummary: true, message: { role: "user", content: summary } })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("")
}

function files(shapes: Readonly<Record<string, Shape>>) {
  const folder = mkdtempSync(join(tmpdir(), "strata-comparison-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const paths = Object.entries(shapes).map(([name, shape]) => {
    const path = join(folder, name)
    writeFileSync(path, transcript(shape))
    return path
  })
  return { folder, paths }
}

const inspect = (args: readonly string[]) => strataHere(["inspect", ...args], { cwd: tmpdir(), env: {} })

const FORKED = {
  "fork.jsonl": { session: "fork", numbers: [1, 2, 3, 4, 9], compactedAfter: 4 },
  "parent.jsonl": { session: "parent", numbers: [1, 2, 3, 4, 5, 6], compactedAfter: 4 },
}

test("BEY-10 a fork's repeated responses, losses and compactions count once in the sum", async () => {
  const { paths } = files(FORKED)
  const { stdout } = await inspect(["--json", ...paths])
  const { conversations, total } = JSON.parse(stdout)
  const alone = JSON.parse((await inspect(["--json", paths[1]!])).stdout).total
  expect(conversations.map(({ cache }: { cache: { requests: number } }) => cache.requests)).toEqual([6, 7])
  expect(total).toMatchObject({ requests: 8, broken: { breaks: 1, dollars: alone.broken.dollars } })
  expect(total.money.estimated.unrecorded).toEqual(alone.money.estimated.unrecorded)
  const [fork] = conversations
  const own = fork.money.dollars - alone.money.dollars
  expect(total.money.dollars).toBeGreaterThan(alone.money.dollars)
  expect(total.money.dollars).toBeLessThan(2 * alone.money.dollars + own)
  expect(total.shared).toMatchObject([{ responses: 5, file: paths[0], countedIn: paths[1] }])
  const printed = (await inspect([...paths])).stdout.replaceAll(/\s+/g, " ")
  expect(printed).toContain("fork.jsonl: 5 responses are also in parent.jsonl and counted there.")
})

test("BEY-10 an estimated compaction is reported in one sentence on the screen, in JSON and on the page", async () => {
  const { folder, paths } = files({ "one.jsonl": FORKED["parent.jsonl"] })
  const sentence = /About \$0\.0\d+ of it is estimated, for 1 compaction that the transcript does not record\./
  const page = join(folder, "page.html")
  const { stdout } = await inspect([...paths, "--html", page])
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(sentence)
  expect((await inspect(["--json", ...paths])).stdout).toMatch(sentence)
  expect(readFileSync(page, "utf8")).toMatch(sentence)
})

test("BEY-10 what a compaction lost, and the API's reason for a lost cache with its cost", async () => {
  const { folder, paths } = files({ "one.jsonl": { ...FORKED["parent.jsonl"], numbers: [1, 2, 3, 4, 5, 4.5] } })
  const page = join(folder, "page.html")
  const { stdout } = await inspect([...paths, "--html", page])
  expect(stdout).toContain("kept 0% of 1 name used again; lost: parseTokens")
  expect(stdout).toMatch(/\$0\.\d+ +system prompt or tools chang.* +tools changed/)
  const drawn = readFileSync(page, "utf8")
  expect(drawn).toMatch(
    /<td>\$0\.\d+<\/td><td class="long">system prompt or tools changed, or evicted; the API says: tools/,
  )
  expect(drawn).toMatch(/<td>0% of 1 name<\/td><td class="long">parseTokens<\/td>/)
})

test("BEY-10 page and screen have the same total, and an unknown price is never $0", async () => {
  const { folder, paths } = files({
    ...FORKED,
    "strange.jsonl": { session: "strange", numbers: [11, 12, 13], model: "no-one-knows-1" },
  })
  const page = join(folder, "page.html")
  const { stdout } = await inspect([...paths, "--html", page])
  const drawn = readFileSync(page, "utf8")
  const onScreen = stdout.match(/^all .* >(\$[\d.]+)$/m)?.[1]
  const onPage = drawn.match(/<tr class="total">.*?<td>more than (\$[\d.]+)<\/td>/s)?.[1]
  expect(onScreen).toBeDefined()
  expect(onPage).toBe(onScreen)
  expect(drawn).toContain("<td>unknown</td>")
  for (const text of [stdout, drawn]) expect(text).not.toMatch(/\$0(\.0+)?(?![\d.])/)
})
