/** What the page says about a compaction, over HTTP: why it happened, what it kept, and what it left out. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { BROWSER, launch } from "./browser.ts"
import { COMPACTION_LEVEL, type CompactedOptions, compactedConversation } from "./compacted-conversation.ts"
import { findings, openTab, sourceOf, startTrial, type TrialPages } from "./trial-pages.ts"

describe("BEY-10 a compaction in words", () => {
  let dir: string
  let trial: TrialPages
  let headers: { readonly cookie: string }
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "strata-compactions-"))
    const made = (name: string, options: Pick<CompactedOptions, "instructions" | "route">) =>
      compactedConversation({ dir: join(dir, name), cwd: join(dir, `${name}-work`), ...options })
    const [automatic, manual] = [
      await made("automatic", {}),
      await made("manual", { instructions: "Keep the decisions, <b>drop</b> the rest." }),
    ]
    const notes = await made("notes", { instructions: "Take the notes.", route: "notes" })
    trial = await startTrial(
      sourceOf({
        automatic: { title: "Automatic", location: automatic.at },
        manual: { title: "Manual", location: manual.at },
        notes: { title: "Notes", location: notes.at },
        lossy: { title: "Lossy", location: { file: claudeTranscript(dir) } },
      }),
    )
    const entered = await fetch(trial.page.address, { redirect: "manual" })
    headers = { cookie: entered.headers.get("set-cookie")!.split(";")[0]! }
  })
  afterAll(async () => {
    await trial?.page.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Rows by label, in the order of the page. */
  async function rowsOf(id: string): Promise<readonly string[]> {
    const page = await (await fetch(`${trial.base}/c/${id}/compactions`, { headers })).text()
    const rows = page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>|<span class="name">(.*?)<\/span>/gs)
    return [...rows].map(([, label, words = "", name]) =>
      label === undefined ? name! : `${label}: ${words.replace(/<[^>]*>/g, "")}`,
    )
  }

  it("an automatic one names its level, what stayed word for word, and every file by its path", async () => {
    const rows = await rowsOf("automatic")
    expect(rows).toContain(
      `started: Automatically: the window held 27,554 tokens, and the level is ${COMPACTION_LEVEL.toLocaleString("en")} tokens.`,
    )
    expect(rows).toContain("summary: Written without a model. It cost nothing: no request of its own.")
    expect(rows).toContain("your messages: All 13 word for word.")
    expect(rows).toContain("your rules: 1 of 1 word for word.")
    expect(rows).toContain(
      "changed files: All 6 by name: src/part-2.ts, src/part-4.ts, src/part-6.ts, src/part-8.ts, src/part-10.ts, src/part-12.ts.",
    )
    expect(rows).toContain("added again: 5 files.")
    expect(rows).toContain("tool results: 11 of 12 left the window.")
    expect(rows).toContain(`file: ${join(dir, "automatic-work", "src", "part-11.ts")}`)
    expect(rows.some((row) => row.startsWith("instructions"))).toBe(false)
    expect(rows).not.toContain("file")
  })

  it("one from the notes does not say that it cost nothing, because the notes were paid for", async () => {
    expect(await rowsOf("notes")).toContain(
      "summary: Written from the notes. No request of its own: the notes kept meanwhile are the summary.",
    )
  })

  it.skipIf(BROWSER === undefined)("fits a phone, however long the paths of its files are", async () => {
    const browser = await launch()
    const { tab, complaints } = await openTab(browser, trial, { viewport: { width: 375, height: 800 } })
    for (const id of ["automatic", "manual", "lossy"]) {
      await tab.goto(`${trial.base}/c/${id}/compactions`)
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect({ id, overflow, complaints, findings: await findings(tab) }).toEqual({
        ...{ id, overflow: 0, complaints: [], findings: [] },
      })
    }
    await browser.close()
  })

  it("a manual one quotes the instructions", async () => {
    const rows = await rowsOf("manual")
    expect(rows).toContain("started: By hand: you asked for it.")
    expect(rows).toContain("instructions: “Keep the decisions, &lt;b&gt;drop&lt;/b&gt; the rest.”")
    expect(rows.find((row) => row.startsWith("record"))).toMatch(
      /^record: Standing rules, .* characters, computed from the journal\.$/,
    )
  })

  it("one with losses names the messages, rules, files and names that are missing", async () => {
    const rows = await rowsOf("lossy")
    expect(rows).toContain("instructions: “only the port”")
    expect(rows).toContain("summary: Written by another program, which does not record how.")
    expect(rows).toContain("last messages: None stayed as it was.")
    expect(rows).toContain("tool results: 1 of 1 left the window.")
    expect(rows).toContain("your messages: 1 not in the window: “Never touch the lexer. Write the parser.”.")
    expect(rows).toContain("your rules: 1 not word for word: “Never touch the lexer.”.")
    expect(rows).toContain("changed files: Not named: src/parser.ts.")
    expect(rows).toContain("used again: Still there: 50% of 2 names. Lost: “src/parser.ts”.")
  })
})

/** A transcript of Claude Code whose summary names only the port. */
function claudeTranscript(dir: string): string {
  const file = join(dir, "lossy.jsonl")
  writeFileSync(file, "")
  let parentUuid: string | null = null
  let lines = 0
  const write = (line: object) => {
    const uuid = `00000000-0000-4000-8000-${String(++lines).padStart(12, "0")}`
    const place = { uuid, parentUuid, sessionId: "lossy", cwd: "/work", version: "2.1.37", isSidechain: false }
    appendFileSync(file, `${JSON.stringify({ ...place, timestamp: "2026-01-01T00:00:00.000Z", ...line })}\n`)
    parentUuid = uuid
  }
  const user = (content: unknown, flags = {}) => write({ type: "user", message: { role: "user", content }, ...flags })
  const answer = (content: unknown) =>
    write({
      type: "assistant",
      message: { ...{ id: `m${lines}`, role: "assistant", model: "claude-opus-4-6", content }, usage: USAGE },
    })
  user("Never touch the lexer. Write the parser.")
  answer([{ type: "tool_use", id: "t1", name: "Write", input: { file_path: "/work/src/parser.ts", content: "8443" } }])
  user([{ type: "tool_result", tool_use_id: "t1", content: "File created successfully at: /work/src/parser.ts" }])
  answer([{ type: "text", text: "It listens on 8443." }])
  write({
    ...{ type: "system", subtype: "compact_boundary", content: "Conversation compacted", isMeta: false },
    ...{ parentUuid: null, logicalParentUuid: parentUuid, compactMetadata: { trigger: "manual", preTokens: 100_000 } },
  })
  user("The port is 8443.", { isCompactSummary: true })
  user(
    "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>only the port</command-args>",
  )
  answer([{ type: "text", text: "I look at src/parser.ts again for 8443." }])
  return file
}

const USAGE = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
