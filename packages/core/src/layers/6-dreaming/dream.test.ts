import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { changeFiles, dreamProject, FIGURES, filesBelow, memoriesIn, memoryText, OTHERS } from "../../../test/dreams.ts"
import { isWhole } from "../../../test/size.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { LOCK_FILE } from "../../journal/file/consolidate-lock.ts"
import type { DreamState } from "./dream-task.ts"

const HOUR = 3_600_000
const order = { figures: FIGURES, force: true }

const WORDS = ["harbour", "lantern", "meadow", "orchard", "pebble", "quarry", "ribbon", "saddle"]

function eightMemories() {
  const at = dreamProject(scratchDirectory())
  at.write(
    Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => [
        `fact-${n}.md`,
        memoryText(`Fact ${n}`, `Number ${n} is known since spring.\n\n${WORDS[n]}: ${WORDS[n]}s and ${WORDS[n]}ed.`),
      ]),
    ),
  )
  return at
}

const copiesOf = (directory: string) => {
  const copies = join(dirname(directory), "dreams", "copies")
  return existsSync(copies) ? readdirSync(copies) : []
}

describe("L6-6 a dream is one change", () => {
  test.runIf(isWhole)(
    "L6-6 L6-7 what was added, changed and removed is one change with a reason; a removal is in the archive",
    async () => {
      const at = eightMemories()
      const removed = at.read("fact-7.md")
      const end = await at
        .dreaming(
          changeFiles(
            () => ({
              "fact-0.md": memoryText("Fact 0", "Number 0 and number 7 are known since spring."),
              "fact-7.md": undefined,
              "new.md": memoryText("Fact 8", "Number 8 is new."),
            }),
            "Fact 7 says the same as fact 0.",
          ),
        )
        .dream(order)
      expect(end).toMatchObject({
        state: "installed",
        change: { by: "dream", why: "Fact 7 says the same as fact 0." },
        message: expect.stringMatching(/1 added, 1 changed, 1 moved to the archive\. .*strata memory revert \d+/),
      })
      expect(existsSync(join(at.directory, "fact-7.md"))).toBe(false)
      expect(at.read("archive/fact-7.md")).toBe(removed)
      const history = await at.bank.history()
      expect(history.filter(({ by }) => by === "dream")).toHaveLength(1)
      const diff = await at.bank.diff(history.at(-1)!.id)
      expect(diff).toContain("+Number 8 is new.")
      expect(diff).toContain("-Number 7 is known since spring.")
      expect(copiesOf(at.directory)).toEqual([])
    },
  )

  test.runIf(isWhole)("L6-6 undo restores every byte", async () => {
    const at = eightMemories()
    await at.bank.all()
    const before = memoriesIn(at.everything())
    const end = await at
      .dreaming(
        changeFiles(() => ({
          "fact-1.md": undefined,
          "fact-2.md": memoryText("Fact 2", "The meadows and meadowed orchards, orcharded since spring, are known.", {
            supersedes: ["fact-3.md"],
          }),
          "MEMORY.md": "- [Fact 2](fact-2.md)\n",
        })),
      )
      .dream(order)
    if (end.state !== "installed") throw new Error(end.message)
    expect(memoriesIn(at.everything())).not.toEqual(before)
    await at.bank.revert(end.change.id)
    expect(memoriesIn(at.everything())).toEqual(before)
  })

  test("L6-5 killed, failed or refused, the memory is as it was, and the lock has its earlier time", async () => {
    const at = eightMemories()
    await at.bank.all()
    await at.dreaming(changeFiles(() => ({}))).dream(order)
    const lock = join(at.directory, LOCK_FILE)
    const earlier = statSync(lock).mtime
    at.write({ "fact-0.md": memoryText("Fact 0", "Number 0 is new since then.") })
    await at.bank.all()
    const before = at.everything()
    at.clock.advance(30 * HOUR)
    const edit = changeFiles(() => ({ "fact-1.md": undefined }))

    const dreaming = at.dreaming(async (task) => {
      await edit(task)
      dreaming.kill()
      return { ended: "done", why: "", responses: [] }
    })
    expect(await dreaming.dream(order)).toMatchObject({ state: "killed" })
    expect(dreaming.state).toMatchObject({ status: "killed", phase: "updating", files: ["fact-1.md"] })

    const failing = at.dreaming(async (task) => {
      await edit(task)
      return { ended: "failed", why: "", responses: [], error: new Error("no connection") }
    })
    expect(await failing.dream(order)).toMatchObject({
      state: "failed",
      message: "The dream failed (no connection). The memory is unchanged.",
    })

    const unfinished = at.dreaming(async (task) => ({ ...(await edit(task)), ended: "unfinished" }))
    expect((await unfinished.dream(order)).message).toContain("not done after 30 turns")
    expect(new Map([...at.everything()].filter(([path]) => !path.startsWith("archive")))).toEqual(before)
    expect(statSync(lock).mtime).toEqual(earlier)
    expect(copiesOf(at.directory)).toEqual([])
  })
})

describe("BEY-9 a secret that someone wrote by hand", () => {
  const SECRET = `sk-ant-api03-${"Ab3dE6gH9j".repeat(9)}AA`

  test("BEY-9 is masked in the copy, in the state that others can watch, and in a change that waits; accepting still works", async () => {
    const at = eightMemories()
    at.write({ "fact-0.md": memoryText("Fact 0", `Number 0.\n\nThe key is ${SECRET}.`) })
    let copied = ""
    const dreaming = at.dreaming(
      async (task) => {
        copied = readFileSync(join(task.directory, "fact-0.md"), "utf8")
        task.onTurn({ text: `I see ${SECRET}`, calls: [`Grep ${SECRET}`] })
        const text = `${memoryText("Fact 0", `Number 0, known.\n\n${copied.slice(copied.indexOf("The key"))}`).trimEnd()}\n`
        return changeFiles(() => ({ "fact-0.md": text }), `The key ${SECRET} stays.`)(task)
      },
      { asksFirst: true },
    )
    expect(await dreaming.dream(order)).toMatchObject({ state: "pending" })
    expect(copied).toContain("[secret removed")
    const dreams = join(dirname(at.directory), "dreams")
    const kept = readdirSync(dreams, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n")
    expect(kept).toContain("[secret removed")
    expect(kept).not.toContain(SECRET)
    expect((await dreaming.review())!.diff).not.toContain(SECRET)
    expect(await dreaming.accept()).toMatchObject({ state: "installed" })
    expect(at.read("fact-0.md")).toContain("Number 0, known.")
  })
})

describe("L6-7 consent and edits made meanwhile", () => {
  test("L6-7 more than a quarter removed waits for consent; accept installs it, reject drops it", async () => {
    const at = eightMemories()
    await at.bank.all()
    const before = memoriesIn(at.everything())
    const dreaming = at.dreaming(
      changeFiles(() => ({ "fact-0.md": undefined, "fact-1.md": undefined, "fact-2.md": undefined })),
    )
    expect(await dreaming.dream(order)).toMatchObject({
      state: "pending",
      message: expect.stringContaining("3 of 8 memories would go out of view, which is more than a quarter."),
    })
    expect(memoriesIn(at.everything())).toEqual(before)
    const review = await dreaming.review()
    expect(review).toMatchObject({ removals: ["fact-0.md", "fact-1.md", "fact-2.md"], lost: expect.any(Array) })
    expect(review!.diff).toContain("-Number 1 is known since spring.")
    expect(await dreaming.reject()).toBe(true)
    expect(await dreaming.accept()).toEqual({ state: "none" })

    await dreaming.dream(order)
    expect(await dreaming.accept()).toMatchObject({ state: "installed" })
    expect(at.read("archive/fact-1.md")).toBe(before.get("fact-1.md"))
    expect(await dreaming.review()).toBeUndefined()
  })

  test.runIf(isWhole)("L6-7 a quarter is allowed, and a file that is emptied counts", async () => {
    const at = eightMemories()
    const two = at.dreaming(changeFiles(() => ({ "fact-0.md": undefined, "fact-1.md": undefined })))
    expect(await two.dream(order)).toMatchObject({ state: "installed" })
    at.write({ "fact-7.md": memoryText("Fact 7", "Number 7 is new since then.") })
    const gutted = at.dreaming(
      changeFiles(() =>
        Object.fromEntries([2, 3].map((n) => [`fact-${n}.md`, memoryText(`Fact ${n}`, "All is well.")])),
      ),
    )
    expect(await gutted.dream(order)).toMatchObject({ state: "pending" })
  })

  test.runIf(isWhole)(
    "L6-7 one memory that claims to supersede all others has no effect if it says something else",
    async () => {
      const at = eightMemories()
      const supersedes = Array.from({ length: 8 }, (_, n) => `fact-${n}.md`)
      const dreaming = at.dreaming(
        changeFiles(() => ({ "all.md": memoryText("Everything", "All is well.", { supersedes }) })),
      )
      await dreaming.dream(order)
      expect((await at.bank.all()).filter(({ supersededBy }) => supersededBy !== undefined)).toEqual([])
    },
  )

  test.runIf(isWhole)(
    "L6-7 a hand edit in another file or line stays; one in the same line refuses the dream",
    async () => {
      const at = eightMemories()
      await at.bank.all()
      const during = (text: string) =>
        at.dreaming(async (task) => {
          at.write({ "fact-1.md": text, "fact-5.md": memoryText("Fact 5", "Mine now.") })
          return changeFiles(({ directory }) => ({
            "fact-1.md": readFileSync(join(directory, "fact-1.md"), "utf8").replace("is known", "was merged"),
          }))(task)
        })
      const elsewhere = `${at.read("fact-1.md")}A line of mine.\n`
      expect(await during(elsewhere).dream(order)).toMatchObject({ state: "installed" })
      expect(at.read("fact-1.md")).toContain("A line of mine.")
      expect(at.read("fact-1.md")).toContain("was merged")
      expect(at.read("fact-5.md")).toContain("Mine now.")

      const mine = memoryText("Fact 1", "Number 1 is mine.")
      at.write({ "fact-6.md": memoryText("Fact 6", "Number 6 is new since then.") })
      const refused = at.dreaming(async (task) => {
        at.write({ "fact-1.md": mine })
        return changeFiles(() => ({ "fact-1.md": memoryText("Fact 1", "Number 1 is the dream's.") }))(task)
      })
      expect(await refused.dream(order)).toMatchObject({
        state: "refused",
        message: expect.stringContaining("fact-1.md changed during the dream"),
      })
      expect(at.read("fact-1.md")).toBe(mine)
    },
  )

  test.runIf(isWhole)("the setting ask keeps every change for the person", async () => {
    const at = eightMemories()
    const dreaming = at.dreaming(
      changeFiles(() => ({ "fact-0.md": memoryText("Fact 0", "Reworded since spring.") })),
      {
        asksFirst: true,
      },
    )
    expect(await dreaming.dream(order)).toMatchObject({ state: "pending" })
    expect(await dreaming.accept()).toMatchObject({ state: "installed" })
  })
})

describe("L6-1 nothing to do costs nothing", () => {
  test.runIf(isWhole)(
    "L6-1 without memories, after a dream, and with memories that share no word: no request and no write",
    async () => {
      let asked = 0
      const counting = async () => {
        asked++
        return { ended: "done", why: "Nothing to consolidate.", responses: [] } as const
      }
      const everythingAt = (at: ReturnType<typeof dreamProject>) => filesBelow(dirname(at.directory))
      const empty = dreamProject(scratchDirectory())
      expect(await empty.dreaming(counting).dream(order)).toMatchObject({ state: "nothing" })

      const apart = dreamProject(scratchDirectory())
      apart.write(OTHERS)
      await apart.bank.all()
      const before = everythingAt(apart)
      expect(await apart.dreaming(counting).dream(order)).toMatchObject({ state: "nothing" })
      expect(everythingAt(apart)).toEqual(before)
      expect(asked).toBe(0)

      const at = eightMemories()
      await at.dreaming(counting).dream(order)
      expect(asked).toBe(1)
      const after = everythingAt(at)
      expect(await at.dreaming(counting).dream(order)).toMatchObject({ state: "nothing", responses: [] })
      expect(everythingAt(at)).toEqual(after)
      expect(asked).toBe(1)
      at.write({ "fact-1.md": memoryText("Fact 1", "Number 1 is known since summer.") })
      await at.dreaming(counting).dream(order)
      expect(asked).toBe(2)
    },
  )
})

describe("L6-5 a dream can be watched", () => {
  test.runIf(isWhole)("L6-5 phase and status, tool uses, files, the last 30 turns", async () => {
    const at = eightMemories()
    const seen: DreamState[] = []
    const dreaming = at.dreaming(async (task) => {
      for (let turn = 0; turn < 40; turn++) {
        task.onTurn({ text: `turn ${turn}`, calls: ["Read a.md", "Grep x"] })
        if (turn === 20) task.onWrite("fact-0.md")
      }
      return { ended: "done", why: "", responses: [] }
    })
    dreaming.on((state) => seen.push(state))
    await dreaming.dream(order)
    expect(seen[0]).toMatchObject({ phase: "starting", status: "running" })
    expect(seen.findIndex(({ phase }) => phase === "updating")).toBe(22)
    expect(seen.at(-1)).toMatchObject({ status: "completed", toolUses: 80, files: ["fact-0.md"] })
    expect(seen.at(-1)!.turns).toHaveLength(30)
    expect(seen.at(-1)!.turns.at(-1)!.text).toBe("turn 39")
    const { dream } = await dreaming.overview({ figures: FIGURES })
    expect(dream).toEqual(seen.at(-1))
  })

  test("L6-5 another object, as in another process, sees it and ends it", async () => {
    const at = eightMemories()
    const watcher = at.dreaming(changeFiles(() => ({})))
    const dreaming = at.dreaming(async (task) => {
      task.onTurn({ text: "looking", calls: [] })
      expect((await watcher.overview({ figures: FIGURES })).dream).toMatchObject({ status: "running" })
      expect(await watcher.killAny()).toMatchObject({ state: "asked" })
      const ended = new Promise((resolve) => task.signal.addEventListener("abort", resolve))
      at.clock.advance(1_000)
      await ended
      return { ended: "aborted", why: "", responses: [] }
    })
    expect(await dreaming.dream(order)).toMatchObject({ state: "killed" })
    expect(await watcher.killAny()).toEqual({ state: "none", why: "No dream is running." })
  })

  test.runIf(isWhole)(
    "L6-1 a dream that waits for consent, a running one, and a day's limit hold back the next one",
    async () => {
      const at = eightMemories()
      for (const id of ["a", "b", "c", "d", "e"]) at.write({ [`../${id}.jsonl`]: "{}\n" })
      let spent = 0
      const daily = {
        spentOn: async () => spent,
        add: async (dollars: number) => {
          spent += dollars
          return spent
        },
      }
      const response = {
        id: "r",
        model: "m",
        content: [],
        stop_reason: "end_turn",
        usage: { input_tokens: 1, output_tokens: 1 },
      }
      const dreaming = at.dreaming(
        async (task) => {
          expect(await dreaming.dream({ figures: FIGURES })).toMatchObject({ state: "skipped", gate: "running" })
          return {
            ...(await changeFiles(() => ({ "fact-0.md": memoryText("Fact 0", "Number 0, known.") }))(task)),
            responses: [response],
          }
        },
        { daily, dollarsFor: () => 3 },
      )
      expect(await dreaming.dream({ figures: FIGURES })).toMatchObject({ state: "installed" })
      expect(spent).toBe(3)
      expect(await dreaming.dream({ figures: FIGURES })).toMatchObject({ state: "skipped", gate: "too-soon" })
      at.clock.advance(25 * HOUR)
      at.write({ "fact-6.md": memoryText("Fact 6", "Number 6 is new since then.") })
      const open = { ...FIGURES, conversations: 0 }
      expect(await dreaming.dream({ figures: open })).toMatchObject({
        gate: "daily-limit",
        message:
          "No dream now: memory work of this project has cost $3.00 today, and the limit is $2 a day (memory-daily-limit).",
      })
      expect(await dreaming.overview({ figures: open })).toMatchObject({
        dream: { dollars: 3 },
        gates: { open: false, gate: "daily-limit" },
        skipped: { gate: "daily-limit", at: at.clock.now().toISOString() },
        today: { spent: 3, limit: 2 },
      })
      spent = 0
      at.clock.advance(HOUR)
      const hold = { gate: "waiting", message: "A message of yours was waiting for an answer." } as const
      expect(await dreaming.dream({ figures: open, hold })).toMatchObject({ state: "skipped", ...hold })
      expect((await dreaming.overview({ figures: open })).skipped).toMatchObject(hold)
      at.clock.advance(HOUR)
      const waiting = at.dreaming(
        changeFiles(() => ({ "fact-1.md": "All is well.\n" })),
        { asksFirst: true },
      )
      expect(await waiting.dream({ figures: open })).toMatchObject({ state: "pending" })
      at.clock.advance(25 * HOUR)
      expect(await waiting.dream({ figures: open })).toMatchObject({ state: "skipped", gate: "unreviewed" })
    },
  )
})
