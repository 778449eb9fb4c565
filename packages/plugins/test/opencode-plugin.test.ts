/** The plugin for opencode with messages of a session of opencode 1.18.18, and the real program. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { type Input, Strata } from "../opencode/strata.ts"
import { FILLER, type Programs, programs } from "./strata-program.ts"

interface SessionMessage {
  readonly info: {
    readonly id: string
    readonly sessionID: string
    readonly role: string
    readonly [field: string]: unknown
  }
  readonly parts: {
    type: string
    text?: string
    readonly state?: { readonly output?: string }
    readonly [field: string]: unknown
  }[]
}

/** Two prompts, a compaction, one prompt, and another compaction. */
const SHORT = JSON.parse(
  readFileSync(join(import.meta.dirname, "recorded", "opencode-1.18.18.json"), "utf8"),
) as readonly SessionMessage[]
/**
 * The same session with files of a realistic size. For a session as short as the recording, the result would be a list without headings.
 */
const RECORDED = SHORT.map(({ info, parts }) => ({
  info,
  parts: parts.map((part) =>
    part.tool === "read" ? { ...part, state: { ...part.state, output: `${part.state?.output}\n${FILLER}` } } : part,
  ),
}))
const SESSION = RECORDED[0]!.info.sessionID

let at: Programs
beforeAll(() => {
  at = programs()
})
afterAll(() => at.remove())

interface Settings {
  readonly recorded?: readonly SessionMessage[]
  readonly mode?: string
  readonly program?: string
  readonly timeLimitMs?: number
}

/** Simulates what opencode does with a plugin: hooks, a session, displayed messages. `changed` simulates differences of later versions. */
async function session(
  { recorded = RECORDED, ...settings }: Settings,
  changed: { readonly noTextHook?: boolean } = {},
) {
  const messages: SessionMessage[] = structuredClone(recorded.slice(0, 6))
  const shown: string[] = []
  const client = {
    session: {
      messages: async () => ({ data: structuredClone(messages) }),
      message: async ({ path }) => ({
        data: structuredClone(messages.find(({ info }) => info.id === path.messageID)!),
      }),
    },
    app: { log: async ({ body }) => shown.push(body.message) },
    tui: { showToast: () => Promise.reject(new Error("there is no screen")) },
  } as Input["client"]
  const hooks = await Strata({ client }, { program: at.strata, ...settings })
  return {
    messages,
    shown,
    add: (...more: readonly SessionMessage[]) => messages.push(...structuredClone(more)),
    /** Compacts as opencode does. Returns the model's prompt and the stored summary. */
    async compact({ answer = "Own summary.", tail = 0 } = {}) {
      const id = `msg_order_${messages.length}`
      const head = structuredClone(messages.slice(0, messages.length - tail))
      const start = messages.at(-tail || messages.length)?.info.id
      const order = { ...RECORDED[6]!, info: { ...RECORDED[6]!.info, id } }
      order.parts = [{ type: "compaction", auto: true, ...(start === undefined ? {} : { tail_start_id: start }) }]
      messages.push(order)
      const output: { context: string[]; prompt?: string } = { context: [] }
      await hooks["experimental.session.compacting"]({ sessionID: SESSION }, output)
      await hooks["experimental.chat.messages.transform"]({}, { messages: head as never })
      const asked = [output.prompt ?? "Write an anchored summary.", ...output.context, ...head.map(textOf)].join("\n")
      const summary = structuredClone(RECORDED[7]!)
      messages.push({
        info: { ...summary.info, id: `${id}_summary`, parentID: id },
        parts: [{ type: "text", text: answer }],
      })
      const userText = { text: answer }
      if (!changed.noTextHook)
        await hooks["experimental.text.complete"]({ sessionID: SESSION, messageID: `${id}_summary` }, userText)
      messages.at(-1)!.parts[0]!.text = userText.text
      return { asked, summary: userText.text }
    },
    happens: (type: string) => hooks.event({ event: { type, properties: { sessionID: SESSION } } }),
    /** Completes the model's answer to a prompt. */
    async answered(id: string, text: string) {
      const output = { text }
      await hooks["experimental.text.complete"]({ sessionID: SESSION, messageID: id }, output)
      return output.text
    },
    /** The messages of the next request. */
    async sent() {
      const view = structuredClone(messages)
      await hooks["experimental.chat.messages.transform"]({}, { messages: view as never })
      return view
    },
  }
}

const textOf = ({ parts }: SessionMessage) => parts.map(({ text }) => text ?? "").join("\n")

describe("the plugin for opencode", () => {
  it("adds the record after opencode's own summary (BEY-16)", async () => {
    const opencode = await session({ mode: "record" })
    const { asked, summary } = await opencode.compact()
    expect(asked).toMatch(/^Write an anchored summary\./)
    expect(asked).toContain("gateway listens on port 48731")
    expect(asked).toContain("After your summary, a computed record is added")
    expect(summary).toMatch(/^Own summary\.\n\n<system-reminder>\nA record of what was said and done/)
    expect(summary).toContain("] Always answer in British English.")
    expect(summary).toMatch(/failed with exit code 2 .*: make deploy/)
    expect(await opencode.sent()).toEqual(opencode.messages)
    expect(opencode.shown).toEqual([expect.stringMatching(/^Strata added a record of [\d,]+ tokens after opencode's/)])
  })

  it("replaces the summary, and the request for it has nothing of the conversation (BEY-16)", async () => {
    const opencode = await session({ mode: "replace" })
    const { asked, summary } = await opencode.compact({ answer: "done", tail: 2 })
    expect(asked).toBe("The summary of this conversation exists already. Answer with one word: done.")
    expect(summary).toMatch(/^This conversation continues an earlier one/)
    expect(summary).toContain("] Always answer in British English.")
    expect(await opencode.sent()).toEqual(opencode.messages)
    expect(opencode.shown).toEqual([expect.stringMatching(/^Strata: [\d,]+ tokens, written without a model/)])
  })

  it.runIf(isWhole).each(["record", "replace"])(
    "quotes no list of an earlier compaction: %s (L4-36, BEY-16)",
    async (mode) => {
      const opencode = await session({ mode, recorded: SHORT })
      await opencode.compact()
      opencode.add(...RECORDED.slice(8, 11))
      const { summary } = await opencode.compact()
      expect(summary).not.toMatch(/^The user said:$/m)
      for (const userText of ["Always answer in British English.", "run `make deploy`", "Ticket QX-7001 is next."])
        expect(summary.split(userText)).toHaveLength(2)
    },
  )

  it.runIf(isWhole).each(["record", "replace"])(
    "carries older generations on and quotes no earlier record: %s (BEY-16)",
    async (mode) => {
      const opencode = await session({ mode })
      await opencode.compact({ tail: 2 })
      opencode.add(...RECORDED.slice(8, 11))
      await opencode.compact()
      opencode.add(...RECORDED.slice(8, 11))
      const { summary } = await opencode.compact()
      expect(summary.match(/\] Always answer in British English\./g)).toHaveLength(1)
      expect(summary.match(/A record of what was said and done/g)).toHaveLength(1)
      expect(summary).toContain("gateway listens on port 48731")
      expect(summary).toContain("Ticket QX-7001 is next.")
    },
  )

  it.runIf(isWhole)("quotes no record of another mode (BEY-16)", async () => {
    const before = await session({ mode: "record" })
    await before.compact()
    const opencode = await session({ mode: "replace" })
    opencode.messages.splice(0, Number.POSITIVE_INFINITY, ...before.messages)
    opencode.add(...RECORDED.slice(8, 11))
    const { summary } = await opencode.compact()
    expect(summary).toContain("Own summary.")
    expect(summary.match(/A record of what was said and done/g)).toHaveLength(1)
  })

  it.runIf(isWhole)("changes no other text, and nothing after an attempt that failed (BEY-16)", async () => {
    const opencode = await session({ mode: "replace" })
    const whole = await session({ mode: "replace" }, { noTextHook: true })
    await opencode.compact()
    expect(await opencode.answered(RECORDED[5]!.info.id, "An answer.")).toBe("An answer.")
    await whole.compact()
    const summary = whole.messages.pop()! // opencode stops at an error: there is no summary
    expect(summary.info.summary).toBe(true)
    expect(await whole.sent()).toEqual(whole.messages)
    expect(await whole.answered(RECORDED[5]!.info.id, "An answer.")).toBe("An answer.")
  })

  it("sends the text in place of the answer that was not replaced (BEY-16)", async () => {
    const opencode = await session({ mode: "replace" }, { noTextHook: true })
    await opencode.compact({ answer: "done" })
    opencode.add(...RECORDED.slice(8, 11))
    const summary = (await opencode.sent()).find(({ info }) => info.summary === true)!
    expect(textOf(summary)).toContain("] Always answer in British English.")
  })

  it.runIf(isWhole)(
    "only observes where nothing else is set, and says what was lost once it is used again (BEY-16)",
    async () => {
      const opencode = await session({})
      const { asked, summary } = await opencode.compact()
      expect(asked).not.toContain("record")
      expect(summary).toBe("Own summary.")
      await opencode.happens("session.compacted")
      const answer = RECORDED[5]!
      const text = "As settings1.txt says."
      opencode.add({
        info: { ...answer.info, id: "msg_new", time: { created: Date.UTC(2026, 10, 18) } },
        parts: [{ type: "text", text }],
      })
      for (let prompts = 0; prompts < 7; prompts++) await opencode.happens("session.idle")
      expect(opencode.shown).toEqual([
        expect.stringMatching(/^Strata: \d+ names? .* The compaction lost .* \(.*settings1\.txt.*would have been 0\./),
      ])
    },
  )

  it.each([
    ["missing", /ENOENT/],
    ["other", /unexpected format/],
    ["silent", /took longer than 0\.05 seconds/],
  ] as const)(
    "lets opencode compact by itself if the program is %s, and says so once (BEY-16)",
    async (which, reason) => {
      const limit = which === "silent" ? { timeLimitMs: 50 } : {}
      const opencode = await session({ mode: "replace", program: at[which], ...limit })
      for (const { asked, summary } of [await opencode.compact(), await opencode.compact()]) {
        expect(asked).toContain("gateway listens on port 48731")
        expect(summary).toBe("Own summary.")
      }
      expect(opencode.shown).toEqual([
        expect.stringMatching(/^Strata could not handle this compaction, so opencode compacted/),
      ])
      expect(opencode.shown[0]).toMatch(reason)
    },
  )
})
