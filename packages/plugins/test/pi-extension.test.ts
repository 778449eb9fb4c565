/** The extension for pi with a recorded event of pi 0.87.1, and the real program. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import strata, { type Pi } from "../pi/strata.ts"
import { FILLER, type Programs, programs } from "./strata-program.ts"

interface Entry {
  readonly type: string
  readonly id: string
  readonly customType?: string
  readonly data?: unknown
  readonly message?: {
    readonly role: string
    readonly content: readonly { readonly type?: string; readonly text?: string }[]
    readonly toolName?: string
  }
  readonly summary?: string
  readonly firstKeptEntryId?: string
  readonly timestamp?: string
}
interface Result {
  readonly compaction: { readonly summary: string; readonly firstKeptEntryId: string; readonly tokensBefore: number }
}

const RECORDED = JSON.parse(readFileSync(join(import.meta.dirname, "recorded", "pi-0.87.1.json"), "utf8")) as {
  readonly branchEntries: readonly Entry[]
  readonly preparation: { readonly firstKeptEntryId: string; readonly tokensBefore: number }
}

/**
 * The same session with files of a realistic size. For a session as short as the recording, the result would be a list without headings.
 */
const BRANCH = RECORDED.branchEntries.map((entry): Entry => {
  if (entry.message?.toolName !== "read") return entry
  const content = entry.message.content.map(({ text, ...block }) => ({ ...block, text: `${text}\n${FILLER}` }))
  return { ...entry, message: { ...entry.message, content } }
})

const LATER = "2026-11-18T00:00:00.000Z"

let at: Programs
beforeAll(() => {
  at = programs()
})
afterAll(() => at.remove())
afterEach(() => vi.unstubAllEnvs())

interface Settings {
  readonly branch?: readonly Entry[]
  readonly mode?: string
  readonly program?: string
  readonly timeLimitMs?: number
}

/** Simulates what pi does with an extension: one branch, handlers, displayed messages. */
function session({ branch: entriesBefore = BRANCH, mode, program = at.strata, timeLimitMs }: Settings) {
  if (mode !== undefined) vi.stubEnv("STRATA_MODE", mode)
  vi.stubEnv("STRATA_PROGRAM", program)
  const handlers = new Map<string, (event: unknown, context: unknown) => unknown>()
  const branch: Entry[] = [...entriesBefore]
  const shown: string[] = []
  let entries = 0
  const append = (entry: Omit<Entry, "id">) => branch.push({ timestamp: LATER, ...entry, id: `added-${entries++}` })
  strata(
    {
      on: (name: string, handler: never) => handlers.set(name, handler),
      appendEntry: (customType, data) => void append({ type: "custom", customType, data }),
    } as Pi,
    timeLimitMs === undefined ? {} : { timeLimitMs },
  )
  const context = {
    hasUI: true,
    ui: { notify: (text: string) => shown.push(text) },
    sessionManager: { getSessionId: () => "0-1-2-3", getSessionFile: () => undefined, getBranch: () => branch },
  }
  const emit = (name: string, event: object) => handlers.get(name)!(event, context)
  const before = (signal = new AbortController().signal) =>
    emit("session_before_compact", { ...RECORDED, branchEntries: branch, signal }) as Promise<Result | undefined>
  return {
    branch,
    shown,
    append,
    before,
    /** Compacts as pi does: with its own summary, unless the extension provides one. */
    async compact() {
      const result = await before()
      const { summary, firstKeptEntryId } = result?.compaction ?? { ...RECORDED.preparation, summary: "Own summary." }
      append({ type: "compaction", summary, firstKeptEntryId })
      emit("session_compact", { compactionEntry: branch.at(-1), fromExtension: result !== undefined })
      return result
    },
    promptEnded: () => emit("agent_end", {}),
    async sent() {
      const messages = [
        { role: "compactionSummary", summary: "Own summary." },
        { role: "user", content: "Go on." },
      ]
      return ((await emit("context", { messages })) as { messages: typeof messages } | undefined)?.messages
    },
  }
}

describe("the extension for pi", () => {
  it("replaces the summary, and keeps messages from an entry that is a safe cut (BEY-16)", async () => {
    const pi = session({ mode: "replace" })
    const { summary, firstKeptEntryId, tokensBefore } = (await pi.compact())!.compaction
    expect(summary).toContain("] Always answer in British English.")
    expect(summary).toContain("48731")
    expect(summary).toMatch(/failed with exit code 2 .*: make deploy/)
    expect(summary).not.toContain("operating inside pi")
    expect(tokensBefore).toBe(RECORDED.preparation.tokensBefore)
    const kept = pi.branch.slice(pi.branch.findIndex(({ id }) => id === firstKeptEntryId))
    expect(kept[0]?.message?.role).toMatch(/user|assistant/)
    expect(await pi.sent()).toBeUndefined()
    expect(pi.shown).toEqual([
      expect.stringMatching(/^Strata: [\d,]+ tokens became [\d,]+, without a model\. Use \/tree/),
    ])
  })

  it("leaves pi's summary as it is, and adds the record to what is sent (BEY-16)", async () => {
    const pi = session({ mode: "record" })
    expect(await pi.compact()).toBeUndefined()
    expect(pi.branch.at(-2)).toMatchObject({ type: "compaction", summary: "Own summary." })
    const [first, second] = (await pi.sent())!
    expect(first!.summary).toMatch(/^Own summary\.\n\n<system-reminder>\nA record of what was said and done/)
    expect(first!.summary).toContain("] Always answer in British English.")
    expect(first!.summary).toContain("Ticket QX-7001 is next.")
    expect(second).toEqual({ role: "user", content: "Go on." })
  })

  it("leaves a list of user messages if the session is short (L4-36, BEY-16)", async () => {
    const pi = session({ mode: "record", branch: RECORDED.branchEntries })
    await pi.compact()
    const [first] = (await pi.sent())!
    expect(first!.summary).toBe(
      [
        ...["Own summary.", "", "The user said:"],
        "Always answer in British English. The gateway listens on port 48731. read settings1.txt",
        ...["run `make deploy`", "read settings2.txt", "Ticket QX-7001 is next. read settings3.txt"],
      ].join("\n"),
    )
  })

  it("adds the same record after a resume, and none after a compaction without it (BEY-16)", async () => {
    const pi = session({ mode: "record" })
    await pi.compact()
    const resumed = session({ mode: "observe" })
    resumed.branch.splice(0, Number.POSITIVE_INFINITY, ...pi.branch)
    expect(await resumed.sent()).toEqual(await pi.sent())
    await resumed.compact()
    expect(await resumed.sent()).toBeUndefined()
  })

  it.runIf(isWhole).each(["record", "replace"])(
    "carries older generations on and quotes no earlier record: %s (BEY-16)",
    async (mode) => {
      const pi = session({ mode })
      const rounds = BRANCH.filter(({ type }) => type === "message").slice(1)
      for (let generation = 0; generation < 3; generation++) {
        await pi.compact()
        for (const { id, ...entry } of rounds.slice(4)) pi.append(entry)
      }
      const result = await pi.compact()
      const text = result?.compaction.summary ?? (await pi.sent())![0]!.summary!
      expect(text.match(/\] Always answer in British English\./g)).toHaveLength(1)
      expect(text.match(/A record of what was said and done/g)).toHaveLength(1)
      expect(text).toContain("gateway listens on port 48731")
    },
  )

  it.runIf(isWhole)(
    "only observes where nothing else is set, and says what was lost once it is used again (BEY-16)",
    async () => {
      const pi = session({})
      expect(await pi.compact()).toBeUndefined()
      expect(await pi.sent()).toBeUndefined()
      const answer = RECORDED.branchEntries.findLast(({ message }) => message?.role === "assistant")!
      const text = "As settings1.txt says."
      pi.append({ type: "message", message: { ...answer.message!, content: [{ type: "text", text }] } })
      for (let prompts = 0; prompts < 7; prompts++) await pi.promptEnded()
      expect(pi.shown).toEqual([
        expect.stringMatching(/^Strata: \d+ names? .* The compaction lost .* \(.*settings1\.txt.*would have been 0\./),
      ])
    },
  )

  it.each([
    ["missing", /ENOENT/],
    ["other", /unexpected format/],
    ["silent", /took longer than 0\.05 seconds/],
  ] as const)("lets pi compact by itself if the program is %s, and says so once (BEY-16)", async (which, reason) => {
    const pi = session({ mode: "replace", program: at[which], ...(which === "silent" ? { timeLimitMs: 50 } : {}) })
    expect(await pi.compact()).toBeUndefined()
    expect(await pi.compact()).toBeUndefined()
    expect(await pi.sent()).toBeUndefined()
    expect(pi.shown).toEqual([
      expect.stringMatching(/^Strata could not handle this compaction, so pi compacted by itself: /),
    ])
    expect(pi.shown[0]).toMatch(reason)
  })

  it.runIf(isWhole)("lets pi compact by itself if pi has changed (BEY-16)", async () => {
    const pi = session({ mode: "replace" })
    pi.branch.splice(0, Number.POSITIVE_INFINITY, null as never, { type: "unknown", id: "x" })
    expect(await pi.before()).toBeUndefined()
  })

  it("is silent if the user stops the compaction (BEY-16)", async () => {
    const pi = session({ mode: "replace", program: at.silent })
    expect(await pi.before(AbortSignal.abort())).toBeUndefined()
    expect(pi.shown).toEqual([])
  })

  it("names the modes if it is given another one (BEY-16)", async () => {
    const pi = session({ mode: "recrod" })
    await pi.compact()
    expect(pi.shown).toEqual(['Unknown mode "recrod". Use observe, record or replace.'])
  })
})
