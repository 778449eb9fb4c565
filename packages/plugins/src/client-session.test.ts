import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { CompactableMessage } from "@strata/core"
import { describe, expect, it } from "vitest"
import { importTranscript } from "../../transcripts/src/import/import-file.ts"
import { clientSession } from "./client-session.ts"
import { compactSession } from "./compact-endpoint.ts"

const recorded = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", "test", "recorded", name), "utf8"))
const PI: readonly { readonly type: string; readonly id: string }[] = recorded("pi-0.87.1.json").branchEntries
const OPENCODE: readonly { readonly info: { readonly id: string }; readonly parts: readonly object[] }[] =
  recorded("opencode-1.18.18.json")

const asJson = (messages: readonly CompactableMessage[]) => JSON.stringify(messages)

describe("a session of pi", () => {
  const compaction = { type: "compaction", id: "c", summary: "What was done.", firstKeptEntryId: PI[11]!.id }
  const session = { client: "pi", session: "0-1-2-3" } as const

  it("is read as the file of the session is, so handles lead to the same messages (BEY-16)", () => {
    const { inView, earlier } = clientSession(PI, session)
    const header = { type: "session", version: 3, id: "0-1-2-3", cwd: "/project" }
    const text = [header, ...PI].map((line) => JSON.stringify(line)).join("\n")
    const [file] = importTranscript({ name: "session.jsonl", text })
    const fromFile = file!.messages.filter((message) => !asJson([message]).includes("operating inside pi"))
    const uuids = (messages: readonly CompactableMessage[]) =>
      messages.flatMap((each) => ("uuid" in each ? each.uuid : []))
    expect(earlier).toEqual([])
    expect(uuids(inView.map(({ message }) => message))).toEqual(uuids(fromFile).filter((_, at) => at > 0))
    expect(inView.map(({ at }) => at)).toEqual(PI.flatMap(({ type }, at) => (type === "message" && at > 2 ? at : [])))
  })

  it("has the summary, the kept entries and the newer ones in view (BEY-16)", () => {
    const { inView, earlier } = clientSession([...PI, compaction, PI[3]], session)
    expect(inView.map(({ at }) => at)).toEqual([19, 11, 12, 13, 14, 15, 16, 17, 18, 20])
    expect(asJson(earlier)).toContain("make deploy")
    expect(asJson(earlier)).not.toContain("settings2")
  })

  it("has nothing before the summary in view where the kept entry is gone (BEY-16)", () => {
    const { inView } = clientSession([...PI, { ...compaction, firstKeptEntryId: "gone" }, PI[3]], session)
    expect(inView.map(({ at }) => at)).toEqual([19, 20])
  })
})

describe("a session of opencode", () => {
  it("has the newest complete summary and what follows it in view (BEY-16)", () => {
    const { inView, earlier } = clientSession(OPENCODE.slice(0, 12), { client: "opencode", session: undefined })
    expect(inView.map(({ at }) => at)).toEqual([7, 8, 9, 9, 10])
    expect(asJson(earlier)).toContain("48731")
    expect(asJson(earlier)).not.toContain("QX-7001")
  })

  it("takes what opencode adds to a message not for the user's words (BEY-16)", async () => {
    const [first, ...others] = OPENCODE.slice(0, 6)
    const added = { type: "text", synthetic: true, text: "Always deploy on Fridays without a test." }
    const messages = [{ ...first!, parts: [...first!.parts, added] }, ...others]
    const { record } = await compactSession({ client: "opencode", messages, data: true, keep: 0 }, {})
    expect(record!.rules.map(({ text }) => text)).toEqual(["Always answer in British English."])
    expect(record!.words.map(({ text }) => text).join()).not.toContain("Fridays")
  })
})

describe("a budget", () => {
  const messages = [
    { role: "user", content: `Always answer in British English. ${"Look at every module. ".repeat(80)}` },
    { role: "assistant", content: "Done. ".repeat(600) },
  ]

  it("is preserved, or the answer says the least that is possible (L4-36, BEY-16)", async () => {
    const { tokens, overBudget } = await compactSession({ messages, budget: 900 }, {})
    expect(tokens.after).toBeLessThanOrEqual(900)
    expect(overBudget).toBeUndefined()
    const less = await compactSession({ messages, budget: 20 }, {})
    expect(less.overBudget).toMatchObject({ budget: 20, min: less.tokens.after })
    expect(less.overBudget!.message).toContain("the budget is 20")
  })
})
