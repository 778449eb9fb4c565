import type { Message } from "@strata/core"
import type { Transcript } from "@strata/transcripts"
import { replayClearing as replay } from "@strata/transcripts/replay"
import { describe, expect, it } from "vitest"
import { importTranscript } from "../../../transcripts/src/import/import-file.ts"
import { placedEntries } from "../../../transcripts/src/import/imported-entries.ts"
import { terminalSequence } from "../display/output.ts"
import { colourStyle, plainStyle } from "../display/terminal.ts"
import { analyse } from "./analysis.ts"
import { layers } from "./report.ts"

const MINUTE = 60_000

/** Thirty commands, with a pause in the middle. */
function recording({ pauseMinutes = 0, model = "claude-opus-4-5" } = {}): Transcript {
  const entries: Message[] = []
  let at = Date.UTC(2026, 0, 1)
  const place = () => ({
    uuid: `m${entries.length}`,
    parentUuid: entries.at(-1)?.uuid ?? null,
    timestamp: new Date(at).toISOString(),
  })
  entries.push({ ...place(), type: "user", message: { role: "user", content: "Look around." } })
  for (let turn = 0; turn < 30; turn++) {
    const id = `t${turn}`
    const call = { type: "tool_use" as const, id, name: "Bash", input: { command: "ls" } }
    entries.push({
      ...place(),
      type: "assistant",
      message: { id: `r${turn}`, role: "assistant", model, content: [call] },
    })
    at += turn === 14 ? pauseMinutes * MINUTE : MINUTE / 6
    const result = { type: "tool_result" as const, tool_use_id: id, content: "const answer = 42\n".repeat(300) }
    entries.push({ ...place(), type: "user", message: { role: "user", content: [result] } })
  }
  const report = { lines: 61, understood: {}, notUnderstood: {}, notes: [] }
  return { file: "talk.jsonl", format: "claude-code", id: "talk", model, report, entries, aside: [] }
}

async function section(transcript: Transcript, { style = plainStyle, width = 80 } = {}): Promise<readonly string[]> {
  return layers({ analysis: { ...(await analyse(transcript)), layers: await replay(transcript) }, style, width })
}

describe("CACHE-5 strata inspect --layers", () => {
  it("reads as a page a person can follow: the policies, then what ours would have done", async () => {
    const lines = await section(recording({ pauseMinutes: 90 }))
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      Layers 1 and 2  what they would have done, by replay
        Strata saves $0.3098 (26%), compared with sending everything, with the same
        pauses and compactions. Sizes are estimates, without system prompt and tools.
        policy           cost  saved   peak  cached  put aside  cleared
        nothing         $1.19         70.6K     90%
        keep-last-10    $3.27  -175%  26.1K     17%                  19
        sliding-3       $1.19         70.6K     90%
        strata        $0.8783    26%  47.2K     88%                  10
        Strata would have acted 1 time:
        turn  what        tokens    saved  why
          16  10 cleared   23.4K  $0.3098  a long pause: the cache was gone
      "
    `)
  })

  it("says so where nothing would have been done", async () => {
    const text = (await section(recording())).join(" ")
    expect(text).toContain("Strata changes nothing, compared with sending everything, with the same pauses")
    expect(text).not.toContain("Strata would have acted")
  })

  it("compares in tokens where no price is known", async () => {
    const text = (await section(recording({ pauseMinutes: 90, model: "some-model" }))).join("\n")
    expect(text).toContain("as input tokens")
    expect(text).toMatch(/Strata saves [\d.]+K tokens \(\d+%\)/)
    expect(text).not.toContain("$")
  })

  it("says that pauses are not known where the record has no times", async () => {
    const timed = recording({ pauseMinutes: 90 })
    const entries = timed.entries.map((entry, i) => ({ ...entry, timestamp: new Date(i).toISOString() }))
    expect((await section({ ...timed, entries })).join(" ")).toContain("no times, so the replay assumes no pauses")
  })

  it("highlights ours", async () => {
    const lines = await section(recording({ pauseMinutes: 90 }), { style: colourStyle })
    expect(lines.find((line) => line.includes("strata"))).toContain(terminalSequence("1m"))
    expect(lines.find((line) => line.includes("sliding-3"))).not.toContain(terminalSequence("1m"))
  })

  it("has nothing to say where it was not asked for, or nothing was answered", async () => {
    expect(layers({ analysis: await analyse(recording()), style: plainStyle, width: 80 })).toEqual([])
    expect(await section({ ...recording(), entries: [] })).toEqual([])
  })
})

describe("JRN-6 CACHE-5 strata inspect --layers after a compaction of another program", () => {
  const MODEL = "claude-opus-4-5"
  const SHORT = "const answer = 42\n".repeat(300)

  /** Twelve results, a compaction, then a pause of an hour: compacted results cannot be cleared. */
  async function saved(boundary: object, next: string) {
    const lines: object[] = []
    const add = (uuid: string, line: object, minute = lines.length) =>
      lines.push({
        ...{ uuid, parentUuid: (lines.at(-1) as { uuid?: string })?.uuid ?? null },
        timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, minute)).toISOString(),
        ...line,
      })
    const user = (content: unknown) => ({ type: "user", message: { role: "user", content } })
    const answer = (id: string, block: object) => ({
      type: "assistant",
      message: { id, role: "assistant", model: MODEL, content: [block] },
    })
    add("u0", user("Look around."))
    for (let turn = 0; turn < 12; turn++) {
      const id = `t${turn}`
      add(`a${turn}`, answer(`r${turn}`, { type: "tool_use", id, name: "Bash", input: { command: "ls" } }))
      add(`u${turn + 1}`, user([{ type: "tool_result", tool_use_id: id, content: SHORT }]))
    }
    add("a12", answer("r12", { type: "text", text: "Done." }))
    const compacted = {
      type: "system",
      subtype: "compact_boundary",
      parentUuid: null,
      content: "Conversation compacted",
    }
    add("boundary", { ...compacted, logicalParentUuid: "a12", ...boundary })
    add("summary", { ...user("It listed files."), isCompactSummary: true })
    add("next", { ...user("Go on."), parentUuid: next }, 3 * 3_600)
    add("last", answer("last", { type: "text", text: "Going on." }), 3 * 3_600 + 1)
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    const transcript = placedEntries(importTranscript({ name: "talk.jsonl", text })[0]!)
    const { reports } = await replay({ ...transcript, model: MODEL })
    return Object.fromEntries(
      reports.map(({ policy, requests }) => [policy, requests.at(-1)!.context < 1_000 ? "small" : "whole"]),
    )
  }
  const SMALL = { nothing: "small", "keep-last-10": "small", "sliding-3": "small", strata: "small" }

  it("that kept messages, and whose next message is linked to one of them", async () => {
    const preservedMessages = { anchorUuid: "summary", uuids: ["a12"] }
    expect(await saved({ compactMetadata: { trigger: "auto", preTokens: 9, preservedMessages } }, "a12")).toEqual(SMALL)
  })

  it("whose link to what came before leads nowhere", async () => {
    expect(
      await saved({ compactMetadata: { trigger: "auto", preTokens: 9 }, logicalParentUuid: "elsewhere" }, "summary"),
    ).toEqual(SMALL)
  })
})
