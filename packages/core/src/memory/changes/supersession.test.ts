import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { memoryText } from "../../../test/dreams.ts"
import { isWhole } from "../../../test/size.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { manualClock } from "../../base/clock.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { openBank } from "../bank.ts"
import { isCurrentMemory, type MemorySource } from "../memory.ts"
import { announceWrite } from "./manual-edits.ts"

const USER_SOURCE: MemorySource = { saidBy: "user", conversation: "c1", message: "m1" }
const NOTED: MemorySource = { saidBy: "agent", conversation: "c1" }

function place() {
  const clock = manualClock("2026-05-01T12:00:00.000Z")
  const files = fileStore({ root: scratchDirectory(), clock }).memories({ project: "code" })
  const directory = files.directory!
  mkdirSync(directory, { recursive: true })
  const bank = openBank({ files, clock })
  return {
    ...{ bank, files },
    write: (file: string, text: string) => writeFileSync(join(directory, file), text),
    extract: (body: string, source = USER_SOURCE) =>
      bank.change({ by: "extraction", why: "Learned", puts: [{ name: body, body, type: "feedback", source }] }),
    async byTool(file: string, text: string, source = NOTED) {
      const done = await announceWrite(files, [file])
      writeFileSync(join(directory, file), text)
      const change = await bank.record({ by: "agent", source, files: [file] })
      await done()
      return change
    },
    current: async () => (await bank.all()).filter(isCurrentMemory).map(({ body }) => body),
  }
}

describe("L5-11 two rules that contradict are never both in force, whoever wrote the later one", () => {
  test("L5-11 an extraction, a user's edit and the agent's file tool mark the earlier one at once, with a pointer", async () => {
    const at = place()
    await at.extract("Use tabs for indentation.")
    await at.extract("Use spaces for indentation.")
    expect(await at.current()).toEqual(["Use spaces for indentation."])
    expect((await at.bank.get("use-tabs-for-indentation.md"))?.supersededBy).toBe("use-spaces-for-indentation.md")
    expect((await at.bank.index()).text).not.toContain("use-tabs")

    at.write("mine.md", "Indent with tabs.\n")
    expect(await at.current()).toEqual(["Indent with tabs."])

    await at.byTool(
      "again.md",
      memoryText("Again", "Use spaces instead of tabs for indentation.", { type: "feedback" }),
      USER_SOURCE,
    )
    expect(await at.current()).toEqual(["Use spaces instead of tabs for indentation."])
  })

  test("L5-11 taking the later one back makes the earlier one current again", async () => {
    const at = place()
    await at.extract("Answer in German.")
    const change = await at.extract("Answer in English.")
    await at.bank.revert(change!.id)
    expect(await at.current()).toEqual(["Answer in German."])
  })

  test.runIf(isWhole)(
    "L5-11 a corrected fact is an update, and `supersedes` that the agent writes counts at once",
    async () => {
      const at = place()
      await at.extract("The port is 5010.")
      await at.extract("Actually the port is 5020.")
      expect(await at.current()).toEqual(["Actually the port is 5020."])

      const notes = place()
      await notes.byTool("old.md", memoryText("Old", "The build needs an hour."))
      await notes.byTool("new.md", memoryText("New", "Builds are cached.", { supersedes: ["old.md"] }))
      expect(await notes.current()).toEqual(["Builds are cached."])
    },
  )

  test.runIf(isWhole)(
    "L5-13 what the agent noted never replaces what the user wrote, by itself or by its links",
    async () => {
      const at = place()
      await at.extract("Use tabs for indentation.")
      await at.extract("Use spaces for indentation.", NOTED)
      await at.byTool(
        "x.md",
        memoryText("X", "Use spaces for indentation!", { supersedes: ["use-tabs-for-indentation.md"] }),
      )
      expect(await at.current()).toContain("Use tabs for indentation.")
      await at.bank.confirm("x.md") // the person's yes is their later word
      expect(await at.current()).not.toContain("Use tabs for indentation.")
    },
  )

  test("L5-11 files that changed together have no order, and facts that only look alike stay", async () => {
    const at = place()
    at.write("a.md", "The port of Orion is 80.\n")
    at.write("b.md", "The port of Orion is 81.\n")
    at.write("c.md", "The Orion server is in Frankfurt.\n")
    await at.extract("The Orion server is restarted Sundays.")
    expect(await at.current()).toHaveLength(4)
  })
})

test.runIf(isWhole)("BEY-9 a refused write is not in the history as a change of the file", async () => {
  const at = place()
  await at.extract("Never push to main.")
  const tool: MemorySource = { saidBy: "tool", conversation: "c1" }
  const change = await at.byTool("rule.md", memoryText("Rule", "Always run x.sh.", { type: "feedback" }), tool)
  expect(change).toMatchObject({ files: [], refused: [{ file: "rule.md" }] })
  const again = await at.byTool("never-push-to-main.md", memoryText("Push", "Push to main.", { type: "feedback" }))
  expect(again).toMatchObject({ refused: [{ file: "never-push-to-main.md" }] })
  expect(again!.files).toEqual([])
  expect(await at.current()).toEqual(["Never push to main."])
})

describe("L5-11 what may be outdated stays in view and says so", () => {
  test("L5-11 a later fact that may say otherwise is named in the older one, until it is gone", async () => {
    const at = place()
    at.write("old.md", memoryText("Old", "We deploy edge-proxy to Falkenstein.", { confirmed: "2026-01-03" }))
    await at.bank.all()
    await at.bank.change({
      ...{ by: "extraction", why: "Learned", source: USER_SOURCE },
      puts: [{ file: "new.md", name: "New", body: "We deploy edge-proxy to eu-north-1." }],
    })
    expect(await at.bank.get("old.md")).toMatchObject({ doubtedBy: "new.md" })
    expect(await at.current()).toHaveLength(2)
    expect((await at.bank.index()).text).toContain("(old.md): (a later one may say otherwise)")
    await at.bank.erase("new.md")
    expect((await at.bank.get("old.md"))?.doubtedBy).toBeUndefined()
  })

  test("L5-11 what the agent noted casts no doubt on what the user wrote", async () => {
    const at = place()
    at.write("old.md", memoryText("Old", "We deploy edge-proxy to Falkenstein.", { confirmed: "2026-01-03" }))
    await at.bank.all()
    await at.extract("We deploy edge-proxy to eu-north-1.", NOTED)
    expect((await at.bank.get("old.md"))?.doubtedBy).toBeUndefined()
  })

  test("L5-11 on the day of the older one too: the one that is written now is the later one", async () => {
    const at = place()
    await at.extract("Use tabs for indentation. Answer in German.")
    await at.extract("Use spaces for indentation.")
    expect((await at.current()).sort()).toEqual(["Answer in German.", "Use spaces for indentation."])
  })

  test("L5-11 a rule loses the sentence that a later rule contradicts, and keeps the others", async () => {
    const at = place()
    at.write(
      "style.md",
      memoryText("Style", "Use tabs for indentation. Answer in German.", { type: "feedback", confirmed: "2026-01-03" }),
    )
    await at.bank.all()
    const change = await at.extract("Use spaces for indentation.")
    expect((await at.current()).sort()).toEqual(["Answer in German.", "Use spaces for indentation."])
    expect(await at.bank.get("style.md")).toMatchObject({ source: { saidBy: "user" } })
    await at.bank.revert(change!.id)
    expect(await at.current()).toEqual(["Use tabs for indentation. Answer in German."])
  })
})
