import type { RestorePlan } from "@strata/core"
import type { PlannedFile } from "@strata/core/conversation"
import { expect, test } from "vitest"
import { describeRestore, restoreLines } from "../display/restored.ts"
import type { CommandTarget } from "./command-target.ts"
import type { DialogDraft } from "./dialog.ts"
import { rewind } from "./slash-commands.ts"

const file = (name: string, more: Partial<PlannedFile> = {}): PlannedFile => ({
  path: `/project/${name}`,
  name,
  action: "restore",
  needsConsent: false,
  ...more,
})
const CHANGED = file("mine.txt", { needsConsent: true, why: "someone else changed it since" })
const PLAN: RestorePlan = {
  files: [
    file("a.txt"),
    file("b.txt", { action: "remove" }),
    file("out.txt", { action: "leave", why: "a command changed it" }),
  ],
  more: 0,
}

/** A chat that chooses options by label, and records questions and actions. */
function chat(plan: RestorePlan, answers: readonly string[]) {
  const asked: DialogDraft[] = []
  const done: unknown[] = []
  const target = {
    agent: {
      conversation: {
        userMessages: () => ({ messages: [{ uuid: "u1", text: "Fix it", at: "2026-01-01T00:00:00Z" }], rules: [] }),
        planRestore: async () => plan,
      },
    },
    now: () => new Date("2026-01-01T00:10:00Z"),
    ask: async (draft: DialogDraft) => {
      const wanted = answers[asked.push(draft) - 1]
      const index = draft.options.findIndex(({ label }) => label.startsWith(wanted ?? "?"))
      return index < 0 ? { type: "dismissed" } : { type: "chosen", index }
    },
    notice: (text: string) => done.push(text),
    rewind: async (uuid: string, restore?: object) => done.push({ uuid, ...restore }),
  } as unknown as CommandTarget
  return { target, asked, done }
}

test("/rewind names what happens to each file before it acts, and restores them on request", async () => {
  const { target, asked, done } = chat(PLAN, ["Fix it", "Go back and restore"])
  await rewind(target)
  expect(asked[1]).toMatchObject({ title: "The agent changed 3 files after that message." })
  expect(asked[1]!.body!.text.split("\n")).toEqual([
    "restore  a.txt",
    "remove   b.txt: the agent created it",
    "leave    out.txt: a command changed it",
  ])
  expect(asked[1]!.options.map(({ hint }) => hint)).toEqual(["files stay unchanged", "2 files of 3", undefined])
  expect(done).toEqual([{ uuid: "u1", plan: PLAN, overwrite: false }])
})

test("/rewind leaves the files, or does nothing at all", async () => {
  const only = chat(PLAN, ["Fix it", "Go back in the conversation only"])
  await rewind(only.target)
  expect(only.done).toEqual([{ uuid: "u1" }])
  for (const answer of ["Cancel", "dismissed"]) {
    const none = chat(PLAN, ["Fix it", answer])
    await rewind(none.target)
    expect(none.done).toEqual(["Nothing was changed."])
  }
})

test("/rewind asks nothing more where no file changed, and offers no restore where none is possible", async () => {
  const unchanged = chat({ files: [], more: 0 }, ["Fix it"])
  await rewind(unchanged.target)
  expect(unchanged.done).toEqual([{ uuid: "u1" }])
  const lost = chat({ files: [PLAN.files[2]!], more: 4 }, ["Fix it", "Cancel"])
  await rewind(lost.target)
  expect(lost.asked[1]).toMatchObject({ why: "None of them can be restored:" })
  expect(lost.asked[1]!.options).toHaveLength(2)
  expect(lost.asked[1]!.body!.text).toContain("4 more that commands changed")
})

test("/rewind asks before it overwrites what someone else changed", async () => {
  const plan = { files: [CHANGED], more: 0 }
  const no = chat(plan, ["Fix it", "Go back and restore", "No"])
  await rewind(no.target)
  expect(no.asked[2]!.title).toBe("1 file is not as the agent left it. Overwrite?")
  expect(no.done).toEqual([{ uuid: "u1", plan, overwrite: false }])
  const yes = chat(plan, ["Fix it", "Go back and restore", "Yes"])
  await rewind(yes.target)
  expect(yes.done).toEqual([{ uuid: "u1", plan, overwrite: true }])
  const cancel = chat(plan, ["Fix it", "Go back and restore", "Cancel"])
  await rewind(cancel.target)
  expect(cancel.done).toEqual(["Nothing was changed."])
})

test("what was restored, in a sentence for each outcome", () => {
  const skipped = Array.from({ length: 7 }, (_, i) => ({ name: `${i}.txt`, why: "it is a link now" }))
  expect(describeRestore({ restored: ["a", "b"], removed: ["c"], skipped: skipped.slice(0, 1) })).toBe(
    "Restored 2 files. Removed 1 file that the agent created. Left 1 file unchanged: 0.txt (it is a link now).",
  )
  expect(describeRestore({ restored: [], removed: [], skipped })).toMatch(/^Left 7 files unchanged: .*, 2 more\.$/)
  expect(describeRestore({ restored: [], removed: [], skipped: [] })).toBe("No file was changed.")
  expect(restoreLines({ files: [CHANGED], more: 0 })).toEqual([
    "restore  mine.txt: someone else changed it since, so you are asked first",
  ])
})
